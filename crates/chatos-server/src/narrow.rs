//! Calls the page makes for an app: who it is comes from the page's own session, what it may do is
//! decided here again (host-api §5, security T5). Everything that is not listed is refused. Chats and agents
//! need only the right to own ones here; whose they are is looked at where they are read.

use axum::http::{HeaderMap, Method};
pub(crate) use chatos_apps::AppCaller;
use chatos_host::Host;
use chatos_tool::{ErrorCode, Fault, Text};

/// The header by which the page says for which app it calls.
pub(crate) const HEADER: &str = "x-chatos-app";

/// What an app needs for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// No app may make it.
    Refused,
    /// Every app may make it for itself.
    Free,
    /// An app with this capability may make it.
    Needs(&'static str),
}

fn access(method: &Method, path: &str, own: &AppCaller) -> Access {
    let Some(path) = path.strip_prefix("/api/v1/") else { return Access::Refused };
    let words: Vec<&str> = path.split('/').collect();
    let is = |wanted: &Method| method == wanted;
    let is_own = |plugin: &str, app: &str| plugin == own.plugin_id && app == own.app_id;
    match words.as_slice() {
        ["prompts"] if is(&Method::POST) => Access::Needs("prompts"),
        ["prompts", "log"] if is(&Method::GET) => Access::Needs("prompts"),
        ["prompts", _, "response" | "consume"] if is(&Method::POST) => Access::Needs("prompts"),
        ["prompts", _, "wait"] if is(&Method::GET) => Access::Needs("prompts"),
        ["plugins"] if is(&Method::GET) => Access::Needs("registry"),
        ["apps", plugin, app, "backend"] if is(&Method::POST) && is_own(plugin, app) => {
            Access::Needs("backend")
        }
        ["apps", "calls", _, "cancel"] if is(&Method::POST) => Access::Needs("backend"),
        ["apps", plugin, app, "closed" | "wanted"] if is(&Method::POST) && is_own(plugin, app) => {
            Access::Free
        }
        ["admin", "state"] | ["models" | "secrets"] if is(&Method::GET) => Access::Needs("admin.read"),
        ["sessions", "search"] => Access::Refused,
        ["agents" | "sessions"] | ["agents" | "sessions", _] | ["sessions", _, "messages"]
            if is(&Method::GET) =>
        {
            Access::Needs("chat.own")
        }
        ["agents" | "sessions"] | ["sessions", _, "send" | "abort"] if is(&Method::POST) => {
            Access::Needs("chat.own")
        }
        ["agents", _] if is(&Method::PUT) || is(&Method::DELETE) => Access::Needs("chat.own"),
        _ => Access::Refused,
    }
}

/// The app a request is made for, checked; `None` when it is made for the person.
pub(crate) fn check(
    host: &Host,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<AppCaller>, Fault> {
    let mut values = headers.get_all(HEADER).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let named = value.to_str().ok().and_then(|value| value.split_once('/'));
    let (Some((plugin, app)), None) = (named, values.next()) else {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed(
                "`X-ChatOS-App` is `<pluginId>/<appId>`",
                "`X-ChatOS-App` 的写法是 `<pluginId>/<appId>`",
            ),
        ));
    };
    let mut caller = AppCaller { plugin_id: plugin.to_owned(), app_id: app.to_owned(), may: Vec::new() };
    let capability = match access(method, path, &caller) {
        Access::Free => return Ok(Some(caller)),
        Access::Needs(capability) => capability,
        Access::Refused => {
            return Err(Fault::new(
                ErrorCode::PermissionDenied,
                Text::new(
                    format!("an app may not call {method} {path}"),
                    format!("应用不能调用 {method} {path}"),
                ),
            ));
        }
    };
    caller.may = host.apps().app_allowed(plugin, app)?;
    if !caller.has(capability) {
        return Err(host.apps().not_granted(plugin, capability));
    }
    Ok(Some(caller))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_reaches_its_own_members_and_nothing_else() {
        let own = AppCaller { plugin_id: "p".to_owned(), app_id: "a".to_owned(), may: Vec::new() };
        let ask = |method: &str, path: &str| access(&method.parse().unwrap(), path, &own);
        assert_eq!(ask("POST", "/api/v1/prompts"), Access::Needs("prompts"));
        assert_eq!(ask("POST", "/api/v1/apps/p/a/backend"), Access::Needs("backend"));
        assert_eq!(ask("GET", "/api/v1/sessions/s/messages"), Access::Needs("chat.own"));
        assert_eq!(ask("DELETE", "/api/v1/agents/x"), Access::Needs("chat.own"));
        assert_eq!(ask("GET", "/api/v1/models"), Access::Needs("admin.read"));
        assert_eq!(ask("POST", "/api/v1/apps/p/a/closed"), Access::Free);
        for (method, path) in [
            ("POST", "/api/v1/apps/other/a/backend"),
            ("POST", "/api/v1/apps/p/other/backend"),
            ("GET", "/api/v1/prompts"),
            ("GET", "/api/v1/prompts/x"),
            ("POST", "/api/v1/prompts/x/take"),
            ("POST", "/api/v1/prompts/x/close"),
            ("POST", "/api/v1/prompts/x/snooze"),
            ("GET", "/api/v1/channels"),
            ("POST", "/api/v1/channels"),
            ("PATCH", "/api/v1/channels/x"),
            ("DELETE", "/api/v1/channels/x"),
            ("POST", "/api/v1/channels/x/connect"),
            ("POST", "/api/v1/channels/x/test"),
            ("POST", "/api/v1/presence"),
            ("PUT", "/api/v1/grants"),
            ("GET", "/api/v1/prompts/x/together"),
            ("POST", "/api/v1/prompts/x/together"),
            ("POST", "/api/v1/prompts/bulk"),
            ("POST", "/api/v1/prompts/bulk/preview"),
            ("GET", "/api/v1/rules/uses"),
            ("POST", "/api/v1/rules/backtest"),
            ("GET", "/api/v1/rules/proposals"),
            ("GET", "/api/v1/access"),
            ("POST", "/api/v1/access"),
            ("POST", "/api/v1/access/explain"),
            ("DELETE", "/api/v1/access/x"),
            ("GET", "/api/v1/clients"),
            ("GET", "/api/v1/clients/x"),
            ("POST", "/api/v1/clients/seen"),
            ("POST", "/api/v1/clients/allow"),
            ("POST", "/api/v1/clients/forget"),
            ("GET", "/api/v1/acp/detect"),
            ("POST", "/api/v1/acp/agents"),
            ("GET", "/api/v1/acp/sessions/x"),
            ("POST", "/api/v1/acp/sessions/x"),
            ("GET", "/api/v1/grants/servers"),
            ("POST", "/api/v1/grants/servers"),
            ("POST", "/api/v1/plugins/p/trust"),
            ("PUT", "/api/v1/settings/x"),
            ("PUT", "/api/v1/secrets/x"),
            ("GET", "/api/v1/state-key"),
            ("POST", "/api/v1/state-key/rotate"),
            ("POST", "/api/v1/state-key/move"),
            ("DELETE", "/api/v1/sessions/x"),
            ("DELETE", "/api/v1/sessions/x/messages/y"),
            ("POST", "/api/v1/sessions/import"),
            ("PATCH", "/api/v1/sessions/x"),
            ("POST", "/api/v1/sessions/x/retry"),
            ("GET", "/api/v1/sessions/x/events"),
            ("GET", "/api/v1/sessions/search"),
            ("POST", "/api/v1/apps/other/a/wanted"),
            ("POST", "/api/v1/apps/p/roots/forget"),
            ("POST", "/api/v1/tools/call"),
            ("GET", "/api/v1/passed-on"),
            ("POST", "/api/v1/passed-on/ask"),
            ("GET", "/api/v1/mentions"),
            ("POST", "/api/v1/mentions/read"),
            ("POST", "/api/v1/auth/code"),
            ("GET", "/api/v1/auth/challenge"),
            ("POST", "/api/v1/auth/renew"),
            ("GET", "/api/v1/browsers"),
            ("DELETE", "/api/v1/browsers"),
            ("DELETE", "/api/v1/browsers/x"),
            ("GET", "/api/v1/audit"),
            ("GET", "/api/v1/instructions"),
            ("PUT", "/api/v1/instructions"),
            ("GET", "/api/v1/commands"),
            ("GET", "/api/v1/commands/own"),
            ("PUT", "/api/v1/commands/own/x"),
            ("DELETE", "/api/v1/commands/own/x"),
        ] {
            assert_eq!(ask(method, path), Access::Refused, "{method} {path}");
        }
    }
}
