//! Chats: their lists and messages, sending, stopping.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::Sender;
use chatos_wire::session::{
    Compacted, EventBatch, MessagePage, SearchResults, SendOrder, Sent, SessionChange, SessionList,
    SessionOrder, SessionView,
};
use chatos_wire::status::{Done, Empty};
use serde::Deserialize;

use crate::api::{ApiError, Body, Query, Routes};
use crate::app::App;
use crate::narrow::AppCaller;
use crate::route::plugins::blocking;

/// A message with its files is larger than other bodies: 4 images of 10 MiB as Base64, and text.
const SEND_BYTES: usize = 64 * 1024 * 1024;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    archived: bool,
    limit: Option<u32>,
    cursor: Option<String>,
    before_id: Option<String>,
    q: String,
    since: u64,
    wait_ms: u64,
}

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<SessionList>(
        "/api/v1/sessions",
        "Chats, pinned ones first, then the most recent",
        &[
            ("archived", "the archived ones instead"),
            ("limit", "at most so many"),
            ("cursor", "the next page"),
        ],
        get(list).post(create),
    );
    routes.document::<SessionOrder, SessionView>(Method::POST, "/api/v1/sessions", "Makes a chat");
    routes.read::<SearchResults>(
        "/api/v1/sessions/search",
        "Messages that contain a text",
        &[("q", "the text"), ("limit", "at most so many")],
        get(search),
    );
    routes.read::<SessionView>(
        "/api/v1/sessions/{id}",
        "One chat with what it used",
        &[],
        get(read).patch(change).delete(remove),
    );
    routes.document::<SessionChange, SessionView>(Method::PATCH, "/api/v1/sessions/{id}", "Changes a chat");
    routes.document_act::<Done>(Method::DELETE, "/api/v1/sessions/{id}", "Deletes a chat with its messages");
    routes.read::<MessagePage>(
        "/api/v1/sessions/{id}/messages",
        "A page of messages, oldest first",
        &[("limit", "at most so many"), ("beforeId", "those before this message")],
        get(messages),
    );
    routes.read::<EventBatch>(
        "/api/v1/sessions/{id}/events",
        "Events of a chat after a position, waiting for the first one",
        &[("since", "the position; 0 tells the present one"), ("waitMs", "how long to wait")],
        get(events),
    );
    routes.write::<SendOrder, Sent>(
        Method::POST,
        "/api/v1/sessions/{id}/send",
        "Sends a message; the answer comes as events",
        202,
        post(send),
    );
    routes.write::<Empty, Done>(
        Method::POST,
        "/api/v1/sessions/{id}/abort",
        "Stops the answer under way",
        200,
        post(abort),
    );
    routes.write::<Empty, Sent>(
        Method::POST,
        "/api/v1/sessions/{id}/retry",
        "Sends the last message of the person again",
        202,
        post(retry),
    );
    routes.write::<Empty, Compacted>(
        Method::POST,
        "/api/v1/sessions/{id}/compact",
        "Summarises the beginning of the chat for the model",
        200,
        post(compact),
    );
    routes.router = std::mem::take(&mut routes.router)
        .route("/api/v1/sessions/{id}/attachments/{attachment}", get(attachment));
}

/// Refuses a chat that the calling app may not reach; a person reaches all.
async fn reach(
    app: &App,
    caller: Option<&Extension<AppCaller>>,
    id: &str,
    capability: &'static str,
) -> Result<(), ApiError> {
    let Some(Extension(caller)) = caller.cloned() else { return Ok(()) };
    let id = id.to_owned();
    blocking(app, move |host| host.reach_session(&caller, &id, capability)).await
}

async fn list(
    State(app): State<App>,
    caller: Option<Extension<AppCaller>>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<SessionList>, ApiError> {
    let limit = wanted.limit.unwrap_or(100).clamp(1, 500);
    let offset = wanted.cursor.and_then(|cursor| cursor.parse::<u32>().ok()).unwrap_or_default();
    let runs = app.host().runs();
    let mut items = match caller.filter(|Extension(caller)| !caller.has("chat.read")) {
        Some(Extension(caller)) => {
            runs.app_sessions(&caller.plugin_id, wanted.archived, limit + 1, offset).await?
        }
        None => runs.sessions(wanted.archived, limit + 1, offset).await?,
    };
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    Ok(Json(SessionList { items, next_cursor: more.then(|| (offset + limit).to_string()) }))
}

async fn create(
    State(app): State<App>,
    caller: Option<Extension<AppCaller>>,
    Body(order): Body<SessionOrder>,
) -> Result<Response, ApiError> {
    let runs = app.host().runs();
    let made = match caller {
        Some(Extension(caller)) => runs.create_app_session(&caller, order).await?,
        None => runs.create_session(order).await?,
    };
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

async fn read(
    State(app): State<App>,
    caller: Option<Extension<AppCaller>>,
    Path(id): Path<String>,
) -> Result<Json<SessionView>, ApiError> {
    reach(&app, caller.as_ref(), &id, "chat.read").await?;
    Ok(Json(app.host().runs().session(&id).await?))
}

async fn change(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(change): Body<SessionChange>,
) -> Result<Json<SessionView>, ApiError> {
    Ok(Json(app.host().runs().change_session(&id, change).await?))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    app.host().runs().delete_session(&id).await?;
    Ok(Json(Done { ok: true }))
}

async fn search(
    State(app): State<App>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<SearchResults>, ApiError> {
    let items = app.host().runs().search(&wanted.q, wanted.limit.unwrap_or(50)).await?;
    Ok(Json(SearchResults { items }))
}

async fn messages(
    State(app): State<App>,
    caller: Option<Extension<AppCaller>>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<MessagePage>, ApiError> {
    reach(&app, caller.as_ref(), &id, "chat.read").await?;
    let limit = wanted.limit.unwrap_or(100);
    Ok(Json(app.host().runs().messages(&id, limit, wanted.before_id).await?))
}

async fn events(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<EventBatch>, ApiError> {
    let wait = std::time::Duration::from_millis(wanted.wait_ms);
    Ok(Json(app.host().runs().follow(&id, wanted.since, wait).await?))
}

async fn send(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Option<Extension<AppCaller>>,
    headers: HeaderMap,
    Body(order): Body<SendOrder, SEND_BYTES>,
) -> Result<Response, ApiError> {
    let traceparent = headers.get("traceparent").and_then(|value| value.to_str().ok()).map(str::to_owned);
    reach(&app, caller.as_ref(), &id, "chat.write").await?;
    let sender = Sender { traceparent, by_app: caller.map(|Extension(caller)| caller), cli: false };
    let sent = app.host().runs().send(&id, order, sender).await?;
    Ok((StatusCode::ACCEPTED, Json(sent)).into_response())
}

async fn abort(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Option<Extension<AppCaller>>,
    _body: Body<Empty>,
) -> Result<Json<Done>, ApiError> {
    reach(&app, caller.as_ref(), &id, "chat.write").await?;
    match caller {
        Some(Extension(caller)) => app.host().runs().abort_by_app(&id, &caller).await?,
        None => app.host().runs().abort_session(&id).await?,
    }
    Ok(Json(Done { ok: true }))
}

async fn retry(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Response, ApiError> {
    Ok((StatusCode::ACCEPTED, Json(app.host().runs().retry(&id).await?)).into_response())
}

async fn compact(
    State(app): State<App>,
    Path(id): Path<String>,
    _body: Body<Empty>,
) -> Result<Json<Compacted>, ApiError> {
    Ok(Json(Compacted { ok: true, made: app.host().runs().compact(&id).await? }))
}

/// A file of a chat. Only images are shown by a browser; everything else is a download (security T3).
async fn attachment(
    State(app): State<App>,
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
