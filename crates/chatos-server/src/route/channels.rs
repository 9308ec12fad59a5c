//! Where a person is told of questions, over HTTP (inbox §5.1): list, add, change, connect, test, remove; and whether they
//! are at a page.

use chatos_wire::channel::{ChannelList, ChannelPatch, ChannelView, NewChannel, PresenceOrder};
use chatos_wire::status::{Done, Empty};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/channels", "Where you are told of questions", list);
    routes.post("/api/v1/channels", "Add a channel", create);
    routes.patch("/api/v1/channels/{id}", "Pause or change a channel", change);
    routes.delete("/api/v1/channels/{id}", "Remove a channel with its key", remove);
    routes.post("/api/v1/channels/{id}/connect", "Make a code with which a chat is connected", connect);
    routes.post("/api/v1/channels/{id}/test", "Send a test", test);
    routes.post("/api/v1/presence", "A page is in use, or went out of sight", present);
}

async fn list(app: App, _: Caller, (): ()) -> Result<ChannelList, ApiError> {
    Ok(app.host().reach().list().await?)
}

async fn create(app: App, _: Caller, Body(body): Body<NewChannel>) -> Result<ChannelView, ApiError> {
    Ok(app.host().reach().add(&body).await?)
}

async fn change(
    app: App,
    _: Caller,
    (Path(id), Body(body)): (Path<String>, Body<ChannelPatch>),
) -> Result<ChannelView, ApiError> {
    Ok(app.host().reach().change(&id, &body).await?)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.reach().remove(&id)).await?;
    Ok(Done { ok: true })
}

async fn connect(
    app: App,
    _: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<ChannelView, ApiError> {
    Ok(app.host().reach().connect(&id).await?)
}

async fn test(
    app: App,
    cx: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<ChannelView, ApiError> {
    Ok(app.host().reach().test(&id, cx.lang).await?)
}

async fn present(app: App, _: Caller, Body(body): Body<PresenceOrder>) -> Result<Done, ApiError> {
    app.host().reach().present(&body.page, body.visible);
    Ok(Done { ok: true })
}
