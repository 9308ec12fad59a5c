//! The state key: which one it is and where, a new one, another place. Never the key itself (state §6).

use axum::Json;
use axum::extract::State;
use axum::http::Method;
use axum::routing::{get, post};
use chatos_host::{KeyMove, KeyTo, KeyWhere};
use chatos_wire::state::{KeyPlace, KeyRotated, MoveKey, MovedKey, RotateKey, StateKeyView};

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/state-key";
    routes.read::<StateKeyView>(path, "The state key: its id and where it is kept", &[], get(show));
    let path = "/api/v1/state-key/rotate";
    routes.write::<RotateKey, KeyRotated>(Method::POST, path, "A new state key", 200, post(rotate));
    let path = "/api/v1/state-key/move";
    let summary = "Move the state key to the keychain or to a file";
    routes.write::<MoveKey, MovedKey>(Method::POST, path, summary, 200, post(move_key));
}

fn view(state: chatos_host::KeyState) -> StateKeyView {
    let (place, path) = match state.place {
        KeyWhere::Named(path) => ("named", Some(path)),
        KeyWhere::File(path) => ("file", Some(path)),
        KeyWhere::Keychain => ("keychain", None),
    };
    StateKeyView {
        key_id: state.id,
        place: place.to_owned(),
        path: path.map(|path| path.display().to_string()),
        former: state.former,
    }
}

async fn show(State(app): State<App>) -> Json<StateKeyView> {
    Json(view(app.host().key_state()))
}

async fn rotate(
    State(app): State<App>,
    Body(RotateKey {}): Body<RotateKey>,
) -> Result<Json<KeyRotated>, ApiError> {
    let rotated = blocking(&app, |host| host.rotate_key()).await?;
    Ok(Json(KeyRotated {
        from: rotated.from,
        to: rotated.to,
        resealed: rotated.resealed,
        left: rotated.left,
    }))
}

async fn move_key(State(app): State<App>, Body(body): Body<MoveKey>) -> Result<Json<MovedKey>, ApiError> {
    let to = match body.to {
        KeyPlace::Keychain => KeyTo::Keychain,
        KeyPlace::File => KeyTo::File,
    };
    let (done, state) =
        blocking(&app, move |host| host.move_key(to).map(|done| (done, host.key_state()))).await?;
    Ok(Json(MovedKey { moved: done == KeyMove::Moved, key: view(state) }))
}
