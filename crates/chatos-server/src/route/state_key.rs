//! The state key: which one it is and where, a new one, another place. Never the key itself (state §6).

use chatos_keys::{KeyMove, KeyTo, KeyWhere};
use chatos_wire::state::{KeyPlace, KeyRotated, MoveKey, MovedKey, RotateKey, StateKeyView};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/state-key", "The state key: its id and where it is kept", show);
    routes.post("/api/v1/state-key/rotate", "A new state key", rotate);
    routes.post("/api/v1/state-key/move", "Move the state key to the keychain or to a file", move_key);
}

fn view(state: chatos_store::KeyState) -> StateKeyView {
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

async fn show(app: App, _: Caller, (): ()) -> Result<StateKeyView, ApiError> {
    Ok(view(app.host().keys().state()))
}

async fn rotate(app: App, _: Caller, Body(RotateKey {}): Body<RotateKey>) -> Result<KeyRotated, ApiError> {
    let rotated = blocking(app.host(), |host| host.keys().rotate()).await?;
    Ok(KeyRotated { from: rotated.from, to: rotated.to, resealed: rotated.resealed, left: rotated.left })
}

async fn move_key(app: App, _: Caller, Body(body): Body<MoveKey>) -> Result<MovedKey, ApiError> {
    let to = match body.to {
        KeyPlace::Keychain => KeyTo::Keychain,
        KeyPlace::File => KeyTo::File,
    };
    let (done, state) =
        blocking(app.host(), move |host| host.keys().move_to(to).map(|done| (done, host.keys().state())))
            .await?;
    Ok(MovedKey { moved: done == KeyMove::Moved, key: view(state) })
}
