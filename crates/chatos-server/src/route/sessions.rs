//! Chats: their lists and messages, sending, stopping.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use chatos_runs::Sender;
use chatos_wire::session::{
    ChatImport, CompactOrder, Compacted, DeleteQuery, EventBatch, EventQuery, MessagePage, MessageQuery,
    Scratch, SearchQuery, SearchResults, SendOrder, Sent, SessionChange, SessionList, SessionOrder,
    SessionQuery, SessionView, VersionDeleted,
};
use chatos_wire::status::{Done, Empty};

use crate::answer::{Accepted, Created};
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::narrow::AppCaller;
use crate::route::chat_file;
use crate::table::Routes;

/// A message with its files is larger than other bodies: 50 MiB of files as Base64, and text.
const SEND_BYTES: usize = 72 * 1024 * 1024;
/// A chat in a file: 50 MiB, and what JSON adds to it as a string.
const IMPORT_BYTES: usize = 64 * 1024 * 1024;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/sessions", "Chats, pinned ones first, then the most recent", list);
    routes.post("/api/v1/sessions", "Makes a chat", create);
    routes.post("/api/v1/scratch", "Makes the folder for trying things out, outside every project", scratch);
    routes.post("/api/v1/sessions/import", "Makes a chat of an exported file; it is only read", import);
    routes.get("/api/v1/sessions/search", "Messages that contain a text", search);
    routes.get("/api/v1/sessions/{id}", "One chat with what it used", read);
    routes.patch("/api/v1/sessions/{id}", "Changes a chat", change);
    routes.delete("/api/v1/sessions/{id}", "Deletes a chat with its messages", remove);
    routes.get("/api/v1/sessions/{id}/messages", "A page of messages, oldest first", messages);
    routes.get(
        "/api/v1/sessions/{id}/events",
        "Events of a chat after a position, waiting for the first one",
        events,
    );
    routes.post("/api/v1/sessions/{id}/send", "Sends a message; the answer comes as events", send);
    routes.post("/api/v1/sessions/{id}/abort", "Stops the answer under way", abort);
    routes.post("/api/v1/sessions/{id}/retry", "Answers the last message of the person again", retry);
    routes.post(
        "/api/v1/sessions/{id}/messages/{message}/select",
        "Shows another version of a message, with what followed it",
        select,
    );
    routes.delete(
        "/api/v1/sessions/{id}/messages/{message}",
        "Deletes a version of a person's message with all that hangs on it",
        delete_version,
    );
    routes.post(
        "/api/v1/sessions/{id}/messages/{message}/fork",
        "Makes a chat that begins with this one up to a message",
        fork,
    );
    routes.post(
        "/api/v1/sessions/{id}/compact",
        "Summarises the beginning of the chat for the model",
        compact,
    );
    routes.get("/api/v1/sessions/{id}/export", "The chat as a file, without secrets", chat_file::export);
    routes.bytes("/api/v1/sessions/{id}/attachments/{attachment}", attachment);
}

/// Refuses a chat that the calling app may not reach; a person reaches all.
async fn reach(
    app: &App,
    caller: Option<&AppCaller>,
    id: &str,
    capability: &'static str,
) -> Result<(), ApiError> {
    let Some(caller) = caller.cloned() else { return Ok(()) };
    let id = id.to_owned();
    blocking(app.host(), move |host| host.apps().reach_session(&caller, &id, capability)).await
}

async fn scratch(app: App, _: Caller, _: Body<Empty>) -> Result<Scratch, ApiError> {
    let path = blocking(app.host(), |host| host.scratch()).await?;
    Ok(Scratch { path: path.display().to_string() })
}

async fn list(app: App, cx: Caller, Query(wanted): Query<SessionQuery>) -> Result<SessionList, ApiError> {
    let caller = cx.app;
    let limit = wanted.limit.unwrap_or(100).clamp(1, 500);
    let offset = wanted.cursor.and_then(|cursor| cursor.parse::<u32>().ok()).unwrap_or_default();
    let runs = app.host().runs();
    let mut items = match caller.filter(|caller| !caller.has("chat.read")) {
        Some(caller) => runs.app_sessions(&caller.plugin_id, wanted.archived, limit + 1, offset).await?,
        None => runs.sessions(wanted.archived, limit + 1, offset).await?,
    };
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    Ok(SessionList { items, next_cursor: more.then(|| (offset + limit).to_string()) })
}

async fn create(
    app: App,
    cx: Caller,
    Body(order): Body<SessionOrder>,
) -> Result<Created<SessionView>, ApiError> {
    let caller = cx.app;
    let runs = app.host().runs();
    let made = match caller {
        Some(caller) => runs.create_app_session(&caller, order).await?,
        None => runs.create_session(order).await?,
    };
    Ok(Created(made))
}

async fn read(app: App, cx: Caller, Path(id): Path<String>) -> Result<SessionView, ApiError> {
    let caller = cx.app;
    reach(&app, caller.as_ref(), &id, "chat.read").await?;
    Ok(app.host().runs().session(&id).await?)
}

async fn change(
    app: App,
    _: Caller,
    (Path(id), Body(change)): (Path<String>, Body<SessionChange>),
) -> Result<SessionView, ApiError> {
    Ok(app.host().runs().change_session(&id, change).await?)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    app.host().runs().delete_session(&id).await?;
    Ok(Done { ok: true })
}

async fn search(app: App, _: Caller, Query(wanted): Query<SearchQuery>) -> Result<SearchResults, ApiError> {
    let items = app.host().runs().search(&wanted.q, wanted.limit.unwrap_or(50)).await?;
    Ok(SearchResults { items })
}

async fn messages(
    app: App,
    cx: Caller,
    (Path(id), Query(wanted)): (Path<String>, Query<MessageQuery>),
) -> Result<MessagePage, ApiError> {
    let caller = cx.app;
    reach(&app, caller.as_ref(), &id, "chat.read").await?;
    let limit = wanted.limit.unwrap_or(100);
    Ok(app.host().runs().messages(&id, limit, wanted.before_id).await?)
}

async fn events(
    app: App,
    _: Caller,
    (Path(id), Query(wanted)): (Path<String>, Query<EventQuery>),
) -> Result<EventBatch, ApiError> {
    let wait = std::time::Duration::from_millis(wanted.wait_ms);
    Ok(app.host().runs().follow(&id, wanted.since, wait).await?)
}

async fn send(
    app: App,
    cx: Caller,
    (Path(id), Body(order)): (Path<String>, Body<SendOrder, SEND_BYTES>),
) -> Result<Accepted<Sent>, ApiError> {
    let traceparent = cx.header(&HeaderName::from_static("traceparent")).map(str::to_owned);
    let caller = cx.app;
    reach(&app, caller.as_ref(), &id, "chat.write").await?;
    let sender = Sender { traceparent, by_app: caller, cli: false };
    let sent = app.host().runs().send(&id, order, sender).await?;
    Ok(Accepted(sent))
}

async fn abort(app: App, cx: Caller, (Path(id), _): (Path<String>, Body<Empty>)) -> Result<Done, ApiError> {
    let caller = cx.app;
    reach(&app, caller.as_ref(), &id, "chat.write").await?;
    match caller {
        Some(caller) => app.host().runs().abort_by_app(&id, &caller).await?,
        None => app.host().runs().abort_session(&id).await?,
    }
    Ok(Done { ok: true })
}

async fn retry(
    app: App,
    _: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<Accepted<Sent>, ApiError> {
    Ok(Accepted(app.host().runs().retry(&id).await?))
}

async fn select(
    app: App,
    _: Caller,
    (Path((id, message)), _): (Path<(String, String)>, Body<Empty>),
) -> Result<Done, ApiError> {
    app.host().runs().select_version(&id, &message).await?;
    Ok(Done { ok: true })
}

async fn delete_version(
    app: App,
    _: Caller,
    (Path((id, message)), Query(wanted)): (Path<(String, String)>, Query<DeleteQuery>),
) -> Result<VersionDeleted, ApiError> {
    Ok(app.host().runs().delete_version(&id, &message, wanted.dry_run).await?)
}

async fn import(
    app: App,
    _: Caller,
    Body(order): Body<ChatImport, IMPORT_BYTES>,
) -> Result<Created<SessionView>, ApiError> {
    Ok(Created(app.host().runs().import_chat(order.text).await?))
}

async fn fork(
    app: App,
    _: Caller,
    (Path((id, message)), _): (Path<(String, String)>, Body<Empty>),
) -> Result<Created<SessionView>, ApiError> {
    Ok(Created(app.host().runs().fork(&id, &message).await?))
}

async fn compact(
    app: App,
    _: Caller,
    (Path(id), Body(order)): (Path<String>, Body<CompactOrder>),
) -> Result<Compacted, ApiError> {
    Ok(Compacted { ok: true, made: app.host().runs().compact(&id, &order.instructions).await? })
}

/// A file of a chat. Only images are shown by a browser; everything else is a download (security T3).
async fn attachment(
    app: App,
    _: Caller,
    Path((id, attachment)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let (name, mime, bytes) = app.host().runs().attachment(&id, &attachment).await?;
    let shown = matches!(mime.as_str(), "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    let mut response = bytes.into_response();
    let kind = if shown { mime } else { "application/octet-stream".to_owned() };
    let ascii: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '_' }).collect();
    let place = if shown { "inline" } else { "attachment" };
    let disposition = format!("{place}; filename=\"{ascii}\"");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&kind) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}
