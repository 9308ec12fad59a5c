//! Tools by hand: what there is, calling one through the host's one path, and the log of calls.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method};
use axum::routing::{get, post};
use chatos_host::policy_api::Role;
use chatos_host::{ErrorCode, Fault, Text, ToolCall, ToolLogFilter};
use chatos_wire::status::Empty;
use chatos_wire::tool::{
    CallInput, CallResult, CallStateView, CancelResult, NamedCallInput, ToolHints, ToolLogView, ToolServer,
    ToolServers, ToolView, ToolsetProblem,
};
use serde::Deserialize;
use serde_json::Value;

use super::tasks::blocking;
use crate::api::{ApiError, Body, Query, Routes, lang_of};
use crate::app::App;

/// security T2.8: as much as a message of the protocol may have.
const CALL_BYTES: usize = 8 << 20;

/// The longest single wait for news of a call.
const MAX_WAIT_MS: u64 = 25_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListQuery {
    agent: Option<String>,
    role: Option<String>,
}

/// Which news of a call are waited for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallNews {
    #[serde(default)]
    after: usize,
    #[serde(default)]
    wait_ms: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    r#type: String,
    server: String,
    tool: String,
    status: String,
    code: String,
    run_id: String,
    session_id: String,
    call_id: String,
    is_error: Option<bool>,
    q: String,
    since: String,
    until: String,
    limit: Option<usize>,
    cursor: Option<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<ToolServers>(
        "/api/v1/tools",
        "Built-in servers and their tools without schemas, or the tools of an agent",
        &[("agent", "id or name of an agent"), ("role", "main or sub")],
        get(list),
    );
    routes.read::<ToolServer>(
        "/api/v1/tools/{server}",
        "One server with the schemas of its tools",
        &[],
        get(show),
    );
    routes.write::<CallInput, CallResult>(
        Method::POST,
        "/api/v1/tools/{server}/{tool}/call",
        "Call a tool and wait for its result; closing the connection cancels it",
        200,
        post(call),
    );
    routes.write::<NamedCallInput, CallResult>(
        Method::POST,
        "/api/v1/tools/call",
        "Call a tool named in the body",
        200,
        post(call_named),
    );
    routes.read::<CallStateView>(
        "/api/v1/tools/calls/{callId}",
        "How a call by hand stands: whether it runs, and what it asked a person",
        &[("after", "questions known already"), ("waitMs", "wait this long for another, at most 25000")],
        get(call_state),
    );
    routes.write::<Empty, CancelResult>(
        Method::POST,
        "/api/v1/tools/calls/{callId}/cancel",
        "Cancel a running call",
        200,
        post(cancel),
    );
    let query = &[
        ("type", "tool_call, tool_result or tool_error"),
        ("server", "exact"),
        ("tool", "exact"),
        ("status", "exact"),
        ("code", "exact"),
        ("runId", "exact"),
        ("sessionId", "exact"),
        ("callId", "exact"),
        ("isError", "true or false"),
        ("q", "anywhere in the record"),
        ("since", "not before this time, ISO 8601"),
        ("until", "not after this time, ISO 8601"),
        ("limit", "1 to 500"),
        ("cursor", "from the page before"),
    ];
    routes.read::<ToolLogView>("/api/v1/tool-log", "Calls of tools, newest first", query, get(log));
}

async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Query(query): Query<ListQuery>,
) -> Result<Json<ToolServers>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    if let Some(agent) = query.agent.filter(|agent| !agent.trim().is_empty()) {
        let role = match query.role.as_deref() {
            None | Some("main") => Role::Main,
            Some("sub") => Role::Sub,
            Some(_) => {
                let text = Text::fixed("role: main or sub", "role：main 或 sub");
                return Err(Fault::new(ErrorCode::InvalidArgument, text).into());
            }
        };
        let (tools, problems) = app.host().servers().tools_of_agent(&agent, role, lang).await?;
        let problems = problems.into_iter().map(|problem| ToolsetProblem {
            server: problem.server,
            tool: problem.tool,
            code: problem.code.to_owned(),
            message: problem.message.get(lang).to_owned(),
            stderr: problem.stderr,
        });
        return Ok(Json(ToolServers {
            servers: Vec::new(),
            tools: Some(tools),
            problems: Some(problems.collect()),
        }));
    }
    let servers = app.host().tools().list(lang, false)?;
    let servers = servers.into_iter().map(typed).collect::<Result<_, _>>()?;
    Ok(Json(ToolServers { servers, tools: None, problems: None }))
}

async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Path(server): Path<String>,
) -> Result<Json<ToolServer>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let host = app.host();
    if let Ok(found) = host.tools().describe(&server, lang) {
        return Ok(Json(typed(found)?));
    }
    let view = host.servers().show(&server, lang).await?;
    let tools = host.servers().tools(&server, lang).await?;
    let hint = |annotations: &Value, key: &str| annotations[key] == true;
    let tools = tools.items.into_iter().map(|tool| ToolView {
        annotations: ToolHints {
            title: tool.title.clone(),
            read_only_hint: hint(&tool.annotations, "readOnlyHint"),
            destructive_hint: hint(&tool.annotations, "destructiveHint"),
            idempotent_hint: hint(&tool.annotations, "idempotentHint"),
            open_world_hint: hint(&tool.annotations, "openWorldHint"),
        },
        name: tool.name,
        title: tool.title,
        description: tool.description,
        confirm: "none".to_owned(),
        version: 1,
        input_schema: Some(tool.input_schema),
        output_schema: None,
    });
    Ok(Json(ToolServer {
        name: view.name,
        id: view.id,
        title: view.description,
        instructions: String::new(),
        needs_root: false,
        tools: tools.collect(),
    }))
}

async fn call(
    State(app): State<App>,
    headers: HeaderMap,
    Path((server, tool)): Path<(String, String)>,
    Body(input): Body<CallInput, CALL_BYTES>,
) -> Result<Json<CallResult>, ApiError> {
    run(&app, &headers, server, tool, input).await
}

async fn call_named(
    State(app): State<App>,
    headers: HeaderMap,
    Body(input): Body<NamedCallInput, CALL_BYTES>,
) -> Result<Json<CallResult>, ApiError> {
    let NamedCallInput { server, tool, arguments, meta, session, root, for_client, call_id, agent } = input;
    let input = CallInput { arguments, meta, session, root, for_client, call_id, agent };
    run(&app, &headers, server, tool, input).await
}

async fn run(
    app: &App,
    headers: &HeaderMap,
    server: String,
    tool: String,
    input: CallInput,
) -> Result<Json<CallResult>, ApiError> {
    // Who calls by hand reads the answer; agents get the language of the settings.
    let lang = lang_of(headers, app.host().lang());
    let id = input.call_id.filter(|id| !id.trim().is_empty());
    if id.as_ref().is_some_and(|id| id.len() > 256 || id.contains('\0')) {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("/callId: at most 256 bytes without NUL", "/callId：最多 256 字节且不含 NUL"),
        )
        .into());
    }
    let project = app.host().project();
    let root = match input.root {
        Some(root) if input.for_client && !std::path::Path::new(&root).is_absolute() => {
            let text = Text::fixed("/root: an absolute path is needed", "/root：需要绝对路径");
            return Err(Fault::new(ErrorCode::InvalidArgument, text).into());
        }
        Some(root) => project.join(root),
        None if input.for_client => std::path::PathBuf::new(),
        None => project.to_owned(),
    };
    let call = ToolCall {
        server,
        tool,
        arguments: input.arguments,
        meta: input.meta,
        session: if input.session.is_empty() { "api".to_owned() } else { input.session },
        root,
        for_client: input.for_client,
        call_id: id,
        agent: input.agent.filter(|agent| !agent.trim().is_empty()),
        lang,
    };
    Ok(Json(typed(app.host().tools().call(call).await?)?))
}

async fn call_state(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(news): Query<CallNews>,
) -> Json<CallStateView> {
    let limit = Duration::from_millis(news.wait_ms.min(MAX_WAIT_MS));
    let state = app.host().tools().call_state(&id, news.after, limit).await;
    Json(CallStateView { running: state.running, questions: state.questions })
}

async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(Empty {}): Body<Empty>,
) -> Result<Json<CancelResult>, ApiError> {
    Ok(Json(CancelResult { canceled: app.host().tools().cancel(&id) }))
}

async fn log(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Json<ToolLogView>, ApiError> {
    let filter = ToolLogFilter {
        kind: wanted.r#type,
        server: wanted.server,
        tool: wanted.tool,
        status: wanted.status,
        code: wanted.code,
        run_id: wanted.run_id,
        session_id: wanted.session_id,
        call_id: wanted.call_id,
        is_error: wanted.is_error,
        query: wanted.q,
        since: wanted.since,
        until: wanted.until,
        limit: wanted.limit.unwrap_or(100).clamp(1, 500),
        cursor: wanted.cursor,
    };
    let host = app.host().clone();
    let page = blocking(&app, move |_| host.tools().log(&filter)).await?;
    Ok(Json(ToolLogView { items: page.items, next_cursor: page.next_cursor }))
}

/// The host speaks JSON here; the route promises a shape.
fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(|error| {
        Fault::new(ErrorCode::Internal, Text::same("a tool description has another shape"))
            .caused_by(&error)
            .into()
    })
}
