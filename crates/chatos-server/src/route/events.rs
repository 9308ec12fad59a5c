//! Tickets for the event WebSocket, and the upgrade itself.

use axum::Json;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Extension, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use chatos_wire::auth::Ticket;
use chatos_wire::status::Empty;
use serde::Deserialize;

use crate::api::{Body, Routes, bare};
use crate::app::App;
use crate::auth::{SessionId, TICKET_LIFE};
use crate::guard::bearer;
use crate::socket;

#[derive(Debug, Deserialize)]
struct Since {
    since: Option<u64>,
}

/// security T2.8: a frame from a client is at most this large.
const FRAME_BYTES: usize = 1024 * 1024;

pub(crate) fn add(routes: &mut Routes) {
    routes.write::<Empty, Ticket>(
        Method::POST,
        "/api/v1/events/ticket",
        "A ticket for one event WebSocket",
        200,
        post(ticket),
    );
    routes.router = std::mem::take(&mut routes.router).route("/api/v1/events", get(upgrade));
}

async fn ticket(
    State(app): State<App>,
    Extension(session): Extension<SessionId>,
    _body: Body<Empty>,
) -> Json<Ticket> {
    Json(Ticket { ticket: app.auth().new_ticket(session), expires_in_ms: TICKET_LIFE.as_millis() as u64 })
}

/// The ticket is taken before the upgrade is accepted; Origin was checked before routing.
async fn upgrade(
    State(app): State<App>,
    headers: HeaderMap,
    since: Result<Query<Since>, axum::extract::rejection::QueryRejection>,
    socket: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let offered =
        headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let ticket =
        offered.flat_map(|value| value.split(',')).find_map(|part| part.trim().strip_prefix("ticket."));
    let session = ticket.and_then(|ticket| app.auth().take_ticket(ticket));
    let Some(session) = session else { return bare(StatusCode::UNAUTHORIZED) };
    // Browsers cannot send a token here; whoever does must be the session that asked for the ticket.
    if headers.contains_key(header::AUTHORIZATION) && bearer(app.auth(), &headers) != Some(session) {
        return bare(StatusCode::UNAUTHORIZED);
    }
    let Ok(Query(Since { since })) = since else { return bare(StatusCode::BAD_REQUEST) };
    let Ok(socket) = socket else { return bare(StatusCode::UPGRADE_REQUIRED) };
    socket
        .protocols(["chatos.v1"])
        .max_message_size(FRAME_BYTES)
        .max_frame_size(FRAME_BYTES)
        .on_upgrade(move |socket| socket::run(app, socket, session, since))
}
