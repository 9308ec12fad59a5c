//! Tickets for the event WebSocket, and the upgrade itself.

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{FromRequestParts, Query, Request};
use axum::http::{StatusCode, header};
use axum::response::Response;
use chatos_wire::auth::Ticket;
use chatos_wire::status::Empty;
use serde::Deserialize;

use crate::api::ApiError;
use crate::app::App;
use crate::auth::TICKET_LIFE;
use crate::caller::Caller;
use crate::guard::bearer;
use crate::input::Body;
use crate::socket;
use crate::table::Routes;

#[derive(Debug, Deserialize)]
struct Since {
    since: Option<u64>,
}

/// security T2.8: a frame from a client is at most this large.
const FRAME_BYTES: usize = 1024 * 1024;

pub(crate) fn add(routes: &mut Routes) {
    routes.post("/api/v1/events/ticket", "A ticket for one event WebSocket", ticket);
    routes.bytes("/api/v1/events", upgrade);
}

async fn ticket(app: App, cx: Caller, _: Body<Empty>) -> Result<Ticket, ApiError> {
    let session = cx.session()?;
    Ok(Ticket { ticket: app.auth().new_ticket(session), expires_in_ms: TICKET_LIFE.as_millis() as u64 })
}

/// The ticket is taken before the upgrade is accepted; Origin was checked before routing.
async fn upgrade(app: App, _: Caller, request: Request) -> Result<Response, ApiError> {
    let mut parts = request.into_parts().0;
    let socket = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let headers = &parts.headers;
    let refused = |status| Err(ApiError::Status(status));
    let offered =
        headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let ticket =
        offered.flat_map(|value| value.split(',')).find_map(|part| part.trim().strip_prefix("ticket."));
    let session = ticket.and_then(|ticket| app.auth().take_ticket(ticket));
    let Some(session) = session else { return refused(StatusCode::UNAUTHORIZED) };
    // Browsers cannot send a token here; whoever does must be the session that asked for the ticket.
    if headers.contains_key(header::AUTHORIZATION) && bearer(app.auth(), headers) != Some(session) {
        return refused(StatusCode::UNAUTHORIZED);
    }
    let Ok(Since { since }) = Query::<Since>::try_from_uri(&parts.uri).map(|query| query.0) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    let is_page = headers.contains_key(header::ORIGIN);
    let Ok(socket) = socket else { return refused(StatusCode::UPGRADE_REQUIRED) };
    Ok(socket.protocols(["chatos.v1"]).max_message_size(FRAME_BYTES).max_frame_size(FRAME_BYTES).on_upgrade(
        move |socket| async move {
            // A browser names the page it shows; programs do not.
            let _page = is_page.then(|| app.host().apps().page_opened());
            socket::run(app.clone(), socket, session, since).await;
        },
    ))
}
