//! What commands may use beyond their sandbox, project by project: listed, opened and taken back by a person
//! (working-day §1.6).

use std::path::PathBuf;

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::access::{AccessExplained, AccessKind, AccessList, AccessView, AllowAccess, ExplainAccess};
use chatos_wire::rule::{RulesTried, TryRules};
use serde_json::{Map, json};

use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

/// As long as a command of an agent may be.
const MAX_COMMAND: usize = 32_768;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/access", "What commands may use besides, by project", list);
    routes.post("/api/v1/access", "Open a path or a machine to the commands of a project", allow);
    routes.delete("/api/v1/access/{id}", "Take it back", revoke);
    routes.post("/api/v1/access/explain", "What a command could touch and why, without running it", explain);
}

async fn list(app: App, _: Caller, (): ()) -> Result<AccessList, ApiError> {
    let items = blocking(app.host(), |host| chatos_access::list(host.store(), None)).await?;
    Ok(AccessList { items })
}

/// The real path of a project's folder.
fn folder(given: &str) -> Result<PathBuf, Fault> {
    let root = std::fs::canonicalize(given).ok().filter(|root| root.is_dir() && root.is_absolute());
    root.ok_or_else(|| {
        let shown: String = given.chars().take(200).collect();
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("`{shown}` is no folder"), format!("`{shown}` 不是文件夹")),
        )
        .code("bad_access")
        .hint(Text::fixed("give the folder of a project", "请给出项目文件夹"))
    })
}

async fn allow(app: App, _: Caller, Body(body): Body<AllowAccess>) -> Result<AccessView, ApiError> {
    let view = blocking(app.host(), move |host| {
        let root = folder(&body.root)?;
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

async fn explain(app: App, cx: Caller, Body(body): Body<ExplainAccess>) -> Result<AccessExplained, ApiError> {
    let lang = cx.lang;
    let explained = blocking(app.host(), move |host| {
        if body.command.trim().is_empty() || body.command.len() > MAX_COMMAND {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/command: 1 to 32768 bytes are needed", "/command：需要 1 到 32768 字节"),
            ));
        }
        let found = host.tools().explain_command(&folder(&body.root)?, &body.command, lang)?;
        if !found.rules_may_answer {
            return Ok((found.view, None));
        }
        let path = host.environment().variables().get("PATH").map_or("", String::as_str);
        let wanted =
            TryRules { command: Some(body.command), project: found.view.root.clone(), ..TryRules::default() };
        let tried = host.inbox().try_rules(&wanted, path, lang)?;
        Ok((found.view, Some(tried)))
    });
    let (mut view, tried) = explained.await?;
    if let Some(tried) = tried {
        let tried: RulesTried = typed(tried)?;
        view.decision = tried.decision.parse().unwrap_or(view.decision);
        view.rules = Some(tried);
    }
    Ok(view)
}

fn fields(view: &AccessView) -> Map<String, serde_json::Value> {
    let all = json!({ "id": view.id, "root": view.root, "kind": view.kind, "value": view.value });
    all.as_object().cloned().unwrap_or_default()
}
