//! What commands may use beyond their sandbox, project by project: listed, opened and taken back by a person
//! (working-day §1.6).

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::access::{AccessKind, AccessList, AccessView, AllowAccess};
use serde_json::{Map, json};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/access", "What commands may use besides, by project", list);
    routes.post("/api/v1/access", "Open a path or a machine to the commands of a project", allow);
    routes.delete("/api/v1/access/{id}", "Take it back", revoke);
}

async fn list(app: App, _: Caller, (): ()) -> Result<AccessList, ApiError> {
    let items = blocking(app.host(), |host| chatos_access::list(host.store(), None)).await?;
    Ok(AccessList { items })
}

async fn allow(app: App, _: Caller, Body(body): Body<AllowAccess>) -> Result<AccessView, ApiError> {
    let view = blocking(app.host(), move |host| {
        let root = std::fs::canonicalize(&body.root).ok().filter(|root| root.is_dir() && root.is_absolute());
        let root = root.ok_or_else(|| {
            let shown: String = body.root.chars().take(200).collect();
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("`{shown}` is no folder"), format!("`{shown}` 不是文件夹")),
            )
            .code("bad_access")
            .hint(Text::fixed("give the folder of a project", "请给出项目文件夹"))
        })?;
        let path = (body.kind != AccessKind::Host).then(|| std::path::Path::new(&body.value));
        let variable = |name: &str| host.environment().get(name);
        if let Some(text) = path.and_then(|path| chatos_access::unopenable(path, variable)) {
            return Err(Fault::new(ErrorCode::InvalidArgument, text).code("bad_access"));
        }
        let view = chatos_access::allow(host.store(), &root, body.kind, &body.value, "")?;
        host.audit("access_allowed", fields(&view));
        Ok(view)
    });
    view.await
}

async fn revoke(app: App, _: Caller, Path(id): Path<String>) -> Result<AccessView, ApiError> {
    let view = blocking(app.host(), move |host| {
        let view = chatos_access::revoke(host.store(), &id)?;
        host.audit("access_revoked", fields(&view));
        Ok(view)
    });
    view.await
}

fn fields(view: &AccessView) -> Map<String, serde_json::Value> {
    let all = json!({ "id": view.id, "root": view.root, "kind": view.kind, "value": view.value });
    all.as_object().cloned().unwrap_or_default()
}
