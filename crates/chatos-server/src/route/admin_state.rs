//! `host.admin.state()`: what apps may know of the settings, gathered from the routes people use
//! (host-api §6.2). Secrets and credentials are masked whatever those routes say.

use axum::extract::Request;
use axum::http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::api::ApiError;
use crate::app::App;
use crate::auth::HOST_SESSION;
use crate::blocking::blocking;
use crate::caller::Caller;

/// One part is at most this large; a larger one is left out.
const PART_BYTES: usize = 8 * 1024 * 1024;
const MASK: &str = "********";
/// Names of members that hold credentials, wherever they are.
const MASKED: [&str; 6] = ["auth", "apiKey", "token", "password", "headers", "secret"];

pub(crate) async fn read(app: App, _: Caller, (): ()) -> Result<Value, ApiError> {
    let models = part(&app, "/api/v1/models").await;
    let secrets = part(&app, "/api/v1/secrets").await.into_iter().map(secret).collect::<Vec<_>>();
    let servers = part(&app, "/api/v1/mcp-servers").await;
    let subagents = part(&app, "/api/v1/subagents").await;
    let prompts = part(&app, "/api/v1/system-prompts").await;
    let tasks = part(&app, "/api/v1/tasks?limit=200").await;
    let settings = part(&app, "/api/v1/settings").await;
    let land_configs = part(&app, "/api/v1/land-configs").await;
    let events = blocking(app.host(), |host| Ok(host.apps().events_for_apps())).await?;
    let mut data = json!({
        "models": models, "secrets": [], "mcpServers": servers, "subagents": subagents, "prompts": prompts,
        "events": events, "tasks": tasks, "settings": settings, "landConfigs": land_configs,
    });
    mask(&mut data);
    data["secrets"] = json!(secrets);
    Ok(json!({
        "data": data, "dbPath": "", "uiFlags": { "developerMode": false, "exposeSubagents": true },
    }))
}

/// The list a route gives; empty where there is no such route or it fails.
async fn part(app: &App, path: &str) -> Vec<Value> {
    let Ok(mut request) = Request::builder().method(Method::GET).uri(path).body(axum::body::Body::empty())
    else {
        return Vec::new();
    };
    request.extensions_mut().insert(HOST_SESSION);
    let response = app.route(request).await;
    if !response.status().is_success() {
        return Vec::new();
    }
    let body = http_body_util::Limited::new(response.into_body(), PART_BYTES).collect().await;
    let value: Value =
        body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok()).unwrap_or(Value::Null);
    match value {
        Value::Array(items) => items,
        // Lists answer `{items}`, older ones name what they list.
        Value::Object(map) => map
            .into_iter()
            .find_map(|(_, member)| match member {
                Value::Array(items) => Some(items),
                _ => None,
            })
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

fn secret(item: Value) -> Value {
    let name = item["name"].as_str().or_else(|| item.as_str()).unwrap_or_default().to_owned();
    json!({
        "id": item["id"].as_str().unwrap_or(&name), "name": name,
        "description": item["description"].as_str().unwrap_or_default(), "value": MASK,
        "hasValue": item["hasValue"].as_bool().unwrap_or(true),
    })
}

/// Replaces what looks like a credential, at every depth.
fn mask(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(map) => {
            for (name, member) in map.iter_mut() {
                if MASKED.contains(&name.as_str()) && !member.is_boolean() && !member.is_null() {
                    *member = Value::from(MASK);
                } else {
                    mask(member);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_masked_at_every_depth() {
        let mut value =
            json!({ "servers": [{ "auth": { "token": "canary" }, "nested": { "password": "canary" } }] });
        mask(&mut value);
        assert!(!value.to_string().contains("canary"), "{value}");
        assert_eq!(secret(json!({ "name": "KEY" }))["value"], MASK);
    }
}
