//! Runs, traces, tokens and money.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chatos_records::{ToolLogFilter, client_run, client_steps, is_client_run};
use chatos_wire::RunKind;
use chatos_wire::run::{
    BranchOrder, Corrected, Correction, ExportQuery, RunPage, RunQuery, RunView, TraceView, UsageList,
    UsageQuery,
};
use chatos_wire::session::SessionView;
use chatos_wire::status::{Done, Empty};

use crate::answer::{Accepted, Created};
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

/// Records of the tool log that are read for one program's work: each call has two.
const CLIENT_RECORDS: usize = 400;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/runs", "Runs, newest first", list);
    routes.get("/api/v1/runs/{id}", "One run with its steps", show);
    routes.post("/api/v1/runs/{id}/abort", "Stops a run", abort);
    routes.post(
        "/api/v1/runs/{id}/resume",
        "Continues an interrupted run, or one that failed because its chat was too long",
        resume,
    );
    routes.post("/api/v1/runs/{id}/discard", "Gives up an interrupted run", discard);
    routes.post("/api/v1/runs/{id}/steer", "Corrects a run under way", steer);
    routes.post("/api/v1/runs/{id}/branch", "A new chat whose history ends at a step", branch);
    routes.bytes("/api/v1/runs/{id}/export", export);
    routes.get("/api/v1/traces/{id}", "All spans of a trace", trace);
    routes.get("/api/v1/usage", "Tokens and money", usage);
}

async fn list(app: App, _: Caller, Query(query): Query<RunQuery>) -> Result<RunPage, ApiError> {
    if query.kind.as_deref() == Some(RunKind::Client.as_str()) {
        let most = query.limit.unwrap_or(50).clamp(1, 200) as usize;
        let sessions = blocking(app.host(), |host| chatos_inbox::clients::sessions(host.store())).await?;
        // An editor's work is in the runs of its chats.
        let runs = sessions.into_iter().filter(|session| session.kind != "acp_editor").map(client_run);
        let wanted = |run: &RunView| query.state.as_ref().is_none_or(|state| state == run.state.as_str());
        return Ok(RunPage { items: runs.filter(wanted).take(most).collect(), next_cursor: None });
    }
    Ok(app.host().records().list(query).await?)
}

async fn show(app: App, _: Caller, Path(id): Path<String>) -> Result<RunView, ApiError> {
    if is_client_run(&id) {
        return blocking(app.host(), move |host| {
            let (session, questions) = chatos_inbox::clients::session(host.store(), &id)?;
            let filter = ToolLogFilter { session_id: id, limit: CLIENT_RECORDS, ..ToolLogFilter::default() };
            let steps = client_steps(&host.tools().log(&filter)?.items, questions);
            Ok(RunView { steps: Some(steps), children: Some(Vec::new()), ..client_run(session) })
        })
        .await;
    }
    Ok(app.host().records().show(&id, false).await?)
}

async fn abort(app: App, _: Caller, (Path(id), _): (Path<String>, Body<Empty>)) -> Result<Done, ApiError> {
    app.host().runs().abort(&id).await?;
    Ok(Done { ok: true })
}

async fn resume(
    app: App,
    _: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<Accepted<Done>, ApiError> {
    app.host().runs().resume(&id).await?;
    Ok(Accepted(Done { ok: true }))
}

async fn discard(app: App, _: Caller, (Path(id), _): (Path<String>, Body<Empty>)) -> Result<Done, ApiError> {
    app.host().runs().discard(&id).await?;
    Ok(Done { ok: true })
}

async fn steer(
    app: App,
    _: Caller,
    (Path(id), Body(correction)): (Path<String>, Body<Correction>),
) -> Result<Corrected, ApiError> {
    let message_id = app.host().runs().steer(&id, &correction.text, correction.abort_call).await?;
    Ok(Corrected { ok: true, message_id })
}

async fn branch(
    app: App,
    _: Caller,
    (Path(id), Body(branch)): (Path<String>, Body<BranchOrder>),
) -> Result<Created<SessionView>, ApiError> {
    let session = app.host().runs().branch(&id, branch.step).await?;
    Ok(Created(session))
}

async fn export(
    app: App,
    _: Caller,
    (Path(id), Query(query)): (Path<String>, Query<ExportQuery>),
) -> Result<Response, ApiError> {
    let format = if query.format.is_empty() { "jsonl" } else { &query.format };
    let made = app.host().records().export(&id, format).await?;
    if query.wrap {
        let value = match made.mime {
            "application/zip" => serde_json::json!({ "name": made.name, "base64": base64(&made.bytes) }),
            "application/x-ndjson" => {
                let lines: Vec<serde_json::Value> = made
                    .bytes
                    .split(|byte| *byte == b'\n')
                    .filter_map(|line| serde_json::from_slice(line).ok())
                    .collect();
                serde_json::json!({ "name": made.name, "lines": lines })
            }
            _ => serde_json::from_slice(&made.bytes).unwrap_or_default(),
        };
        return Ok(axum::Json(value).into_response());
    }
    let mut response = made.bytes.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(made.mime));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{}\"", made.name)) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

fn base64(bytes: &[u8]) -> String {
    chatos_host::encode_base64(bytes)
}

async fn trace(app: App, _: Caller, Path(id): Path<String>) -> Result<TraceView, ApiError> {
    Ok(app.host().records().trace(&id).await?)
}

async fn usage(app: App, _: Caller, Query(query): Query<UsageQuery>) -> Result<UsageList, ApiError> {
    let items = app.host().records().usage(&query.by, query.since.as_deref()).await?;
    Ok(UsageList { items })
}
