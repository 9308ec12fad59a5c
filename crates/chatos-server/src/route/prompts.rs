//! The queue over HTTP: lists, one item, asking, answering, waiting, drafts, archive (ui-prompts §12.2).

use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method};
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::prompts_api::Surface;
use chatos_host::{Fault, Lang, PromptDesk, PromptList as Wanted, PromptReply};
use chatos_wire::prompt::{
    ArchiveOrder, PromptAnswer, PromptAsked, PromptAsker, PromptDraft, PromptEntries, PromptIds, PromptList,
    PromptRecorded, PromptRequest, PromptText, PromptsArchived,
};
use chatos_wire::status::Done;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{ApiError, Body, Query, Routes, lang_of};
use crate::app::App;
use crate::auth::SessionId;
use crate::narrow::AppCaller;
use crate::route::tasks::blocking;

/// security T2.8: questions and answers may carry results of this size.
const PROMPT_BYTES: usize = 8 * 1024 * 1024;
/// The longest a waiting call stays open; askers ask again.
const WAIT_MOST: Duration = Duration::from_secs(60);
const WAIT_DEFAULT: Duration = Duration::from_secs(25);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Named {
    /// Ids such as `..` cannot travel in a path; here they can.
    id: Option<String>,
    client: Option<String>,
    timeout_ms: Option<u64>,
    app: Option<String>,
    read_all: bool,
    prefix: Option<String>,
    from: Option<usize>,
    lines: Option<usize>,
}

pub(crate) fn add(routes: &mut Routes) {
    let query = &[
        ("view", "needs_you, results, history or all"),
        ("runId", "only this run"),
        ("source", "exact"),
        ("kind", "exact"),
        ("status", "of the answer"),
        ("q", "in title, message and source"),
        ("since", "ISO time"),
        ("until", "ISO time"),
        ("cursor", "from the page before"),
        ("limit", "1 to 200"),
        ("auto", "true or false: answered by the host itself or not"),
    ];
    let path = "/api/v1/prompts";
    routes.read::<PromptList>(path, "Questions to the person", query, get(list).post(ask));
    routes.document::<PromptRequest, PromptAsked>(Method::POST, path, "Ask the person");
    let query = &[("id", "the id, where it cannot travel in the path")];
    routes.read::<Value>("/api/v1/prompts/{id}", "One question with its answer", query, get(one));
    let query = &[("from", "the first line, from 0"), ("lines", "how many, at most 5000")];
    routes.read::<PromptText>(
        "/api/v1/prompts/{id}/diff",
        "The whole text of a question, in parts; what was not given cannot be approved",
        query,
        get(text),
    );
    let path = "/api/v1/prompts/{id}/response";
    routes.write::<PromptAnswer, PromptRecorded>(
        Method::POST,
        path,
        "Answer a question; the first answer wins",
        200,
        post(answer),
    );
    let query = &[("timeoutMs", "how long to wait, at most 60000")];
    routes.read::<Value>("/api/v1/prompts/{id}/wait", "Wait for the verified answer", query, get(wait));
    let path = "/api/v1/prompts/{id}/take";
    routes.write::<PromptAsker, Value>(
        Method::POST,
        path,
        "Take the private values, exactly once",
        200,
        post(take),
    );
    let path = "/api/v1/prompts/{id}/close";
    routes.write::<PromptAsker, Value>(Method::POST, path, "Withdraw a question", 200, post(close));
    let path = "/api/v1/prompts/{id}/consume";
    routes.write::<PromptAsker, Done>(
        Method::POST,
        path,
        "Erase the private values of an app's question",
        200,
        post(consume),
    );
    let path = "/api/v1/prompts/{id}/draft";
    let query = &[("client", "an id the browser keeps")];
    let drafts = get(read_draft).put(write_draft).delete(delete_draft);
    routes.read::<PromptDraft>(path, "What this browser had typed", query, drafts);
    routes.document::<PromptDraft, Done>(Method::PUT, path, "Keep what was typed");
    routes.document_act::<Done>(Method::DELETE, path, "Forget what was typed");
    let path = "/api/v1/prompts/archive";
    routes.write::<ArchiveOrder, PromptsArchived>(
        Method::POST,
        path,
        "Move old answered questions to the archive",
        200,
        post(archive),
    );
    let query =
        &[("app", "pluginId/appId: as this app may see it"), ("readAll", "the app has prompts.readAll")];
    routes.read::<PromptEntries>("/api/v1/prompts/log", "The log as entries", query, get(log));
    let query = &[("prefix", "at least four characters")];
    routes.read::<PromptIds>("/api/v1/prompts/find", "Ids that begin with a prefix", query, get(find));
    routes.read::<Value>("/api/v1/prompts/check", "What is wrong with the log", &[], get(check));
}

/// Runs work at the desk off the async threads, in the caller's language.
async fn at_desk<T: Send + 'static>(
    app: &App,
    headers: &HeaderMap,
    work: impl FnOnce(&PromptDesk, Lang) -> Result<T, Fault> + Send + 'static,
) -> Result<T, ApiError> {
    let lang = lang_of(headers, app.host().lang());
    blocking(app, move |host| work(host.prompts()?, lang)).await
}

fn id_of(path: String, named: &Named) -> String {
    named.id.clone().unwrap_or(path)
}

async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(at_desk(&app, &headers, move |desk, lang| desk.list(&wanted, lang)).await?))
}

async fn one(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
) -> Result<Json<Value>, ApiError> {
    let id = id_of(path, &named);
    Ok(Json(at_desk(&app, &headers, move |desk, lang| desk.show(&id, lang)).await?))
}

async fn text(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    Extension(session): Extension<SessionId>,
) -> Result<Json<Value>, ApiError> {
    let id = id_of(path, &named);
    let (from, lines) = (named.from.unwrap_or_default(), named.lines.unwrap_or(usize::MAX));
    Ok(Json(at_desk(&app, &headers, move |desk, _| desk.text(&id, from, lines, &viewer(session))).await?))
}

/// Who looks: one signed-in browser, or the programs with the token of this start.
fn viewer(session: SessionId) -> String {
    session.0.to_string()
}

async fn ask(
    State(app): State<App>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
    Body(mut body): Body<Value, PROMPT_BYTES>,
) -> Result<Json<Value>, ApiError> {
    if let (Some(Extension(caller)), Some(body)) = (&caller, body.as_object_mut()) {
        // Who asks is known from the page; what the body says about it does not count (host-api §6.3).
        body.retain(|name, _| matches!(name.as_str(), "prompt" | "requestId" | "runId"));
        body.insert("owner".to_owned(), Value::from(caller.owner()));
    }
    let source = if from_page(&headers) { "ui" } else { "api" };
    Ok(Json(at_desk(&app, &headers, move |desk, lang| desk.request(&body, source, lang)).await?))
}

// A page names itself by its origin, which the guard has checked; everybody else is the API.
fn from_page(headers: &HeaderMap) -> bool {
    headers.contains_key("origin")
}

async fn answer(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    caller: Option<Extension<AppCaller>>,
    Extension(session): Extension<SessionId>,
    Body(mut body): Body<Value, PROMPT_BYTES>,
) -> Result<Json<Value>, ApiError> {
    if let (Some(Extension(caller)), Some(body)) = (&caller, body.as_object_mut()) {
        body.retain(|name, _| matches!(name.as_str(), "response" | "runId" | "shown"));
        body.insert("app".to_owned(), Value::from(caller.key()));
    }
    let id = id_of(path, &named);
    let surface = if from_page(&headers) { Surface::Ui } else { Surface::Api };
    let answered = at_desk(&app, &headers, move |desk, lang| {
        let reply = PromptReply { viewer: viewer(session), ..PromptReply::from_payload(&body)? };
        desk.respond(&id, &reply, surface, lang)
    });
    Ok(Json(answered.await?))
}

async fn wait(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    caller: Option<Extension<AppCaller>>,
) -> Result<Json<Value>, ApiError> {
    let id = id_of(path, &named);
    if let Some(Extension(caller)) = &caller {
        let (own, asked) = (caller.owner(), id.clone());
        at_desk(&app, &headers, move |desk, _| desk.owned_by(&asked, &own)).await?;
    }
    let patience = named.timeout_ms.map_or(WAIT_DEFAULT, Duration::from_millis).min(WAIT_MOST);
    let cancel = app.host().shutdown().child_token();
    let mut waited = app.host().prompts()?.wait(&id, patience, &cancel).await?;
    if let (Some(Extension(caller)), true) = (caller, waited["state"] == "closed") {
        let private =
            at_desk(&app, &headers, move |desk, _| desk.private_answer(&id, &caller.owner())).await?;
        if let Some(response) = private {
            waited["response"] = response;
        }
    }
    Ok(Json(waited))
}

async fn take(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    Body(body): Body<PromptAsker>,
) -> Result<Json<Value>, ApiError> {
    let id = id_of(path, &named);
    let taken = at_desk(&app, &headers, move |desk, _| {
        desk.take(&id, &Value::from(body.owner), body.secrets.unwrap_or(true))
    });
    Ok(Json(taken.await?))
}

async fn consume(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    caller: Option<Extension<AppCaller>>,
    Body(body): Body<PromptAsker>,
) -> Result<Json<Value>, ApiError> {
    let id = id_of(path, &named);
    let owner = caller.map_or(body.owner, |Extension(caller)| caller.owner());
    let done = at_desk(&app, &headers, move |desk, _| desk.consume(&id, &Value::from(owner)));
    Ok(Json(done.await?))
}

async fn close(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    Body(body): Body<PromptAsker>,
) -> Result<Json<Value>, ApiError> {
    let id = id_of(path, &named);
    let closed = at_desk(&app, &headers, move |desk, _| {
        desk.withdraw(&id, &Value::from(body.owner), body.code.as_deref().unwrap_or("aborted"))
    });
    Ok(Json(closed.await?))
}

async fn read_draft(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
) -> Result<Json<Value>, ApiError> {
    let (id, client) = (id_of(path, &named), named.client.unwrap_or_default());
    Ok(Json(at_desk(&app, &headers, move |desk, _| desk.draft(&id, &client)).await?))
}

async fn write_draft(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
    Body(body): Body<Value>,
) -> Result<Json<Value>, ApiError> {
    let (id, client) = (id_of(path, &named), named.client.unwrap_or_default());
    Ok(Json(at_desk(&app, &headers, move |desk, _| desk.save_draft(&id, &client, &body["draft"])).await?))
}

async fn delete_draft(
    State(app): State<App>,
    headers: HeaderMap,
    Path(path): Path<String>,
    Query(named): Query<Named>,
) -> Result<Json<Value>, ApiError> {
    let (id, client) = (id_of(path, &named), named.client.unwrap_or_default());
    Ok(Json(at_desk(&app, &headers, move |desk, _| desk.delete_draft(&id, &client)).await?))
}

async fn archive(
    State(app): State<App>,
    headers: HeaderMap,
    Body(body): Body<ArchiveOrder>,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(at_desk(&app, &headers, move |desk, _| desk.archive(body.before.as_deref())).await?))
}

async fn log(
    State(app): State<App>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
    Query(named): Query<Named>,
) -> Result<Json<Value>, ApiError> {
    let (as_app, read_all) = match caller {
        Some(Extension(caller)) => (Some(caller.key()), caller.has("prompts.readAll")),
        None => (named.app, named.read_all),
    };
    Ok(Json(at_desk(&app, &headers, move |desk, _| desk.log(as_app.as_deref(), read_all)).await?))
}

async fn check(State(app): State<App>, headers: HeaderMap) -> Result<Json<Value>, ApiError> {
    Ok(Json(at_desk(&app, &headers, |desk, _| desk.check()).await?))
}

async fn find(
    State(app): State<App>,
    headers: HeaderMap,
    Query(named): Query<Named>,
) -> Result<Json<Value>, ApiError> {
    let prefix = named.prefix.unwrap_or_default();
    Ok(Json(at_desk(&app, &headers, move |desk, _| Ok(json!({ "ids": desk.find(&prefix)? }))).await?))
}
