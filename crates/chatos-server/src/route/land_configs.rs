//! land_configs (agents §2).

use chatos_host::Host;
use chatos_policy::{DEVELOPER, LandConfig, SAFE_DEFAULT, schema};
use chatos_tool::Fault;
use chatos_wire::agent::{CopyInput, LandList, LandName, LandView};
use chatos_wire::status::Done;
use serde_json::Value;

use crate::answer::Created;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Members, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/land-configs", "land_configs", list);
    routes.post("/api/v1/land-configs", "Make a land_config", create);
    routes.get("/api/v1/land-configs/schema", "JSON Schema of a land_config", described);
    routes.get("/api/v1/land-configs/{id}", "One land_config", read);
    routes.put("/api/v1/land-configs/{id}", "Replace a land_config", update);
    routes.delete("/api/v1/land-configs/{id}", "Remove a land_config nobody uses", remove);
    routes.post("/api/v1/land-configs/{id}/copy", "Copy a land_config under another name", copy);
}

async fn list(app: App, _: Caller, (): ()) -> Result<LandList, ApiError> {
    let items = blocking(app.host(), |host| {
        host.agents().land_configs()?.into_iter().map(|land| view(host, land, Vec::new())).collect()
    })
    .await?;
    Ok(LandList { items })
}

async fn described(_: App, _: Caller, (): ()) -> Result<Value, ApiError> {
    Ok(schema())
}

async fn read(app: App, _: Caller, Path(id): Path<String>) -> Result<LandView, ApiError> {
    blocking(app.host(), move |host| view(host, host.agents().land_config(&id)?, Vec::new())).await
}

async fn create(
    app: App,
    _: Caller,
    Members(body, _): Members<LandConfig>,
) -> Result<Created<LandView>, ApiError> {
    let view = blocking(app.host(), move |host| {
        let (land, warnings) = host.agents().create_land(body)?;
        view(host, land, warnings)
    })
    .await?;
    Ok(Created(view))
}

async fn update(
    app: App,
    _: Caller,
    (Path(id), Members(body, _)): (Path<String>, Members<LandConfig>),
) -> Result<LandView, ApiError> {
    let view = blocking(app.host(), move |host| {
        let (land, warnings) = host.agents().update_land(&id, body)?;
        view(host, land, warnings)
    })
    .await?;
    Ok(view)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.agents().remove_land(&id)).await?;
    Ok(Done { ok: true })
}

async fn copy(
    app: App,
    _: Caller,
    (Path(id), Body(body)): (Path<String>, Body<CopyInput>),
) -> Result<Created<LandView>, ApiError> {
    let view =
        blocking(app.host(), move |host| view(host, host.agents().copy_land(&id, &body.name)?, Vec::new()))
            .await?;
    Ok(Created(view))
}

fn view(host: &Host, land: LandConfig, warnings: Vec<String>) -> Result<LandView, Fault> {
    let users = host.agents().land_users(&land.id)?;
    Ok(LandView {
        builtin: land.id == SAFE_DEFAULT || land.id == DEVELOPER,
        used_by: users.into_iter().map(|(id, name)| LandName { id, name }).collect(),
        land,
        warnings,
    })
}
