//! Programs that ask over a connection of their own, and which of them may decide about their own calls
//! (inbox §1.5).

use chatos_host::AllowOrder;
use chatos_wire::client::{AllowClient, ClientList, ClientView, ClientsForgotten, ForgetClient};

use super::tasks::blocking;
use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/clients", "Programs that ask over a connection of their own", list);
    routes.post("/api/v1/clients/allow", "Let a program decide about its own calls", allow);
    routes.post("/api/v1/clients/forget", "Forget a program", forget);
}

async fn list(app: App, _: Caller, (): ()) -> Result<ClientList, ApiError> {
    typed(serde_json::json!({ "items": blocking(&app, |host| host.clients()).await? }))
}

async fn allow(app: App, _: Caller, Body(body): Body<AllowClient>) -> Result<ClientView, ApiError> {
    let order = AllowOrder {
        name: body.name,
        program: body.program,
        project: body.project.map(Into::into),
        pid: body.pid,
    };
    typed(blocking(&app, move |host| host.allow_client(&order)).await?)
}

async fn forget(app: App, _: Caller, Body(body): Body<ForgetClient>) -> Result<ClientsForgotten, ApiError> {
    let forgotten = blocking(&app, move |host| host.forget_client(&body.id)).await?;
    Ok(ClientsForgotten { ok: true, forgotten })
}
