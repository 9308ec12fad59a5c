//! The catalogue of subagents.

use chatos_wire::status::{Done, Empty};
use chatos_wire::subagent::{SubImport, SubImportOrder, SubagentCatalogue};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/subagents", "Subagents by plugin", list);
    routes.post("/api/v1/subagents/import", "Subagents of a folder: shown first, taken with `apply`", import);
    routes.delete("/api/v1/subagents/{id}", "Removes a plugin of subagents", remove);
    routes.post("/api/v1/subagents/{id}/enable", "Switches a plugin of subagents on", enable);
    routes.post("/api/v1/subagents/{id}/disable", "Switches a plugin of subagents off", disable);
}

async fn import(app: App, _: Caller, Body(order): Body<SubImportOrder>) -> Result<SubImport, ApiError> {
    Ok(app.host().runs().import_subagents(&order.path, order.apply, order.digest).await?)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    app.host().runs().remove_subagents(&id).await?;
    Ok(Done { ok: true })
}

async fn list(app: App, _: Caller, (): ()) -> Result<SubagentCatalogue, ApiError> {
    let (plugins, problems) = blocking(app.host(), |host| host.runs().subagents()).await?;
    Ok(SubagentCatalogue { plugins, problems })
}

async fn enable(app: App, _: Caller, (Path(id), _): (Path<String>, Body<Empty>)) -> Result<Done, ApiError> {
    app.host().runs().enable_subagents(&id, true).await?;
    Ok(Done { ok: true })
}

async fn disable(app: App, _: Caller, (Path(id), _): (Path<String>, Body<Empty>)) -> Result<Done, ApiError> {
    app.host().runs().enable_subagents(&id, false).await?;
    Ok(Done { ok: true })
}
