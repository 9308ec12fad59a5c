//! Tools by hand: what there is, calling one through the host's one path, and the log of calls.

use std::time::Duration;

use chatos_calls::ToolCall;
use chatos_policy::Role;
use chatos_records::ToolLogFilter;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::status::Empty;
use chatos_wire::tool::{
    CallInput, CallNewsQuery, CallResult, CallStateView, CancelResult, NamedCallInput, PassOrder, PassedOn,
    PassedQuery, ToolHints, ToolLogQuery, ToolLogView, ToolNews, ToolNewsQuery, ToolQuery, ToolServer,
    ToolServers, ToolView, ToolsetProblem,
};
use serde_json::Value;

use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

/// security T2.8: as much as a message of the protocol may have.
const CALL_BYTES: usize = 8 << 20;

/// The longest wait for servers that tell what they offer.
const LONGEST_LOOK: Duration = Duration::from_secs(5);
/// The longest single wait for news of a call.
const MAX_WAIT_MS: u64 = 25_000;

pub(crate) fn add(routes: &mut Routes) {
    routes.get(
        "/api/v1/tools",
        "Built-in servers and their tools without schemas, or the tools of an agent",
        list,
    );
    routes.get("/api/v1/tools/{server}", "One server with the schemas of its tools", show);
    routes.post(
        "/api/v1/tools/{server}/{tool}/call",
        "Call a tool and wait for its result; closing the connection cancels it",
        call,
    );
    routes.post("/api/v1/tools/call", "Call a tool named in the body", call_named);
    routes.get(
        "/api/v1/tools/calls/{callId}",
        "How a call by hand stands: whether it runs, and what it asked a person",
        call_state,
    );
    routes.post("/api/v1/tools/calls/{callId}/cancel", "Cancel a running call", cancel);
    routes.get("/api/v1/passed-on", "Prompts, resources and instructions of an agent's servers", passed_on);
    routes.post(
        "/api/v1/passed-on/ask",
        "Ask a granted server for a prompt, a resource or a completion",
        pass_on,
    );
    routes.get("/api/v1/tool-news", "Waits until tools, servers or grants changed", news);
    routes.get("/api/v1/tool-log", "Calls of tools, newest first", log);
}

async fn list(app: App, cx: Caller, Query(query): Query<ToolQuery>) -> Result<ToolServers, ApiError> {
    let lang = cx.lang;
    if let Some(agent) = query.agent.filter(|agent| !agent.trim().is_empty()) {
        let role = match query.role.as_deref() {
            None | Some("main") => Role::Main,
            Some("sub") => Role::Sub,
            Some(_) => {
                let text = Text::fixed("role: main or sub", "role：main 或 sub");
                return Err(Fault::new(ErrorCode::InvalidArgument, text).into());
            }
        };
        let patience = query.wait_ms.map(Duration::from_millis);
        let (mut tools, problems) = app.host().tools_of_agent(&agent, role, lang, patience).await?;
        if !query.told {
            for tool in &mut tools {
                tool.told = None;
            }
        }
        let problems = problems.into_iter().map(|problem| ToolsetProblem {
            server: problem.server,
            tool: problem.tool,
            code: problem.code.to_owned(),
            message: problem.message.get(lang).to_owned(),
            stderr: problem.stderr,
        });
        return Ok(ToolServers {
            servers: Vec::new(),
            tools: Some(tools),
            problems: Some(problems.collect()),
        });
    }
    let servers = app.host().tools().list(lang, false)?;
    let servers = servers.into_iter().map(typed).collect::<Result<_, _>>()?;
    Ok(ToolServers { servers, tools: None, problems: None })
}

async fn passed_on(app: App, cx: Caller, Query(query): Query<PassedQuery>) -> Result<PassedOn, ApiError> {
    let outcome = app.host().outcome_of(query.agent, Role::Main).await?;
    let wait = Duration::from_millis(query.wait_ms.unwrap_or_default()).min(LONGEST_LOOK);
    Ok(app.host().servers().passed_on(&outcome, wait, cx.lang).await?)
}

async fn pass_on(app: App, _: Caller, Body(order): Body<PassOrder>) -> Result<Value, ApiError> {
    let outcome = app.host().outcome_of(order.agent, Role::Main).await?;
    Ok(app.host().servers().pass_on(&outcome, &order.server, &order.method, order.params).await?)
}

async fn show(app: App, cx: Caller, Path(server): Path<String>) -> Result<ToolServer, ApiError> {
    let lang = cx.lang;
    let host = app.host();
    if let Ok(found) = host.tools().describe(&server, lang) {
        return typed(found);
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
    Ok(ToolServer {
        name: view.name,
        id: view.id,
        title: view.description,
        instructions: String::new(),
        needs_root: false,
        tools: tools.collect(),
    })
}

async fn call(
    app: App,
    cx: Caller,
    (Path((server, tool)), Body(input)): (Path<(String, String)>, Body<CallInput, CALL_BYTES>),
) -> Result<CallResult, ApiError> {
    run(&app, cx.lang, server, tool, input).await
}

async fn call_named(
    app: App,
    cx: Caller,
    Body(input): Body<NamedCallInput, CALL_BYTES>,
) -> Result<CallResult, ApiError> {
    let NamedCallInput {
        server,
        tool,
        arguments,
        meta,
        session,
        root,
        for_client,
        call_id,
        agent,
        resume,
        trail,
    } = input;
    let input = CallInput { arguments, meta, session, root, for_client, call_id, agent, resume, trail };
    run(&app, cx.lang, server, tool, input).await
}

async fn run(
    app: &App,
    lang: Lang,
    server: String,
    tool: String,
    input: CallInput,
) -> Result<CallResult, ApiError> {
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
        resume: input.resume,
        lang,
        trail: input.trail,
    };
    typed(app.host().calls().call(call).await?)
}

async fn news(app: App, _: Caller, Query(query): Query<ToolNewsQuery>) -> Result<ToolNews, ApiError> {
    let wait = Duration::from_millis(query.wait_ms.min(MAX_WAIT_MS));
    Ok(app.host().tool_news(query.since, wait).await)
}

async fn call_state(
    app: App,
    _: Caller,
    (Path(id), Query(news)): (Path<String>, Query<CallNewsQuery>),
) -> Result<CallStateView, ApiError> {
    let limit = Duration::from_millis(news.wait_ms.min(MAX_WAIT_MS));
    let state = app.host().tools().call_state(&id, news.after, news.said, limit).await;
    Ok(CallStateView {
        running: state.running,
        questions: state.questions,
        said: state.said,
        says: state.says,
        progress: state.progress.map(|(done, _)| done),
        total: state.progress.and_then(|(_, total)| total),
    })
}

async fn cancel(
    app: App,
    _: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<CancelResult, ApiError> {
    Ok(CancelResult { canceled: app.host().tools().cancel(&id) })
}

async fn log(app: App, _: Caller, Query(wanted): Query<ToolLogQuery>) -> Result<ToolLogView, ApiError> {
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
    let page = blocking(app.host(), move |_| {
        let mut page = host.tools().log(&filter)?;
        chatos_inbox::clients::name_calls(host.store(), &mut page.items);
        Ok(page)
    })
    .await?;
    Ok(ToolLogView { items: page.items, next_cursor: page.next_cursor })
}
