//! Calls the page makes for an app: who it is comes from the page's own session, what it may do is
//! decided here again (host-api §5, security T5). Everything that is not listed is refused. Chats and agents
//! need only the right to own ones here; whose they are is looked at where they are read.

use axum::http::{HeaderMap, Method};
pub(crate) use chatos_host::AppCaller;
use chatos_host::{ErrorCode, Fault, Host, Text};

/// The header by which the page says for which app it calls.
pub(crate) const HEADER: &str = "x-chatos-app";

/// Which capability a call needs; `None` when no app may make it.
fn needed(method: &Method, path: &str, own: &AppCaller) -> Option<&'static str> {
    let words: Vec<&str> = path.strip_prefix("/api/v1/")?.split('/').collect();
    let is = |wanted: &Method| method == wanted;
    Some(match words.as_slice() {
        ["prompts"] if is(&Method::POST) => "prompts",
        ["prompts", "log"] if is(&Method::GET) => "prompts",
        ["prompts", _, "response" | "consume"] if is(&Method::POST) => "prompts",
        ["prompts", _, "wait"] if is(&Method::GET) => "prompts",
        ["plugins"] if is(&Method::GET) => "registry",
        ["apps", plugin, app, "backend"] if is(&Method::POST) => {
            (*plugin == own.plugin_id && *app == own.app_id).then_some("backend")?
        }
        ["apps", "calls", _, "cancel"] if is(&Method::POST) => "backend",
        ["apps", plugin, app, "closed" | "wanted"] if is(&Method::POST) => {
            (*plugin == own.plugin_id && *app == own.app_id).then_some("")?
        }
        ["admin", "state"] | ["models" | "secrets"] if is(&Method::GET) => "admin.read",
        ["sessions", "search"] => return None,
        ["agents" | "sessions"] | ["agents" | "sessions", _] | ["sessions", _, "messages"]
            if is(&Method::GET) =>
        {
            "chat.own"
        }
        ["agents" | "sessions"] | ["sessions", _, "send" | "abort"] if is(&Method::POST) => "chat.own",
        ["agents", _] if is(&Method::PUT) || is(&Method::DELETE) => "chat.own",
        _ => return None,
    })
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
    let Some(capability) = needed(method, path, &caller) else {
        return Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::new(
                format!("an app may not call {method} {path}"),
                format!("应用不能调用 {method} {path}"),
            ),
        ));
    };
    if capability.is_empty() {
        return Ok(Some(caller));
    }
    caller.may = host.app_allowed(plugin, app)?;
    if !caller.has(capability) {
        return Err(host.not_granted(plugin, capability));
    }
    Ok(Some(caller))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_reaches_its_own_members_and_nothing_else() {
        let own = AppCaller { plugin_id: "p".to_owned(), app_id: "a".to_owned(), may: Vec::new() };
        let ask = |method: &str, path: &str| needed(&method.parse().unwrap(), path, &own);
        assert_eq!(ask("POST", "/api/v1/prompts"), Some("prompts"));
        assert_eq!(ask("POST", "/api/v1/apps/p/a/backend"), Some("backend"));
        assert_eq!(ask("GET", "/api/v1/sessions/s/messages"), Some("chat.own"));
        assert_eq!(ask("DELETE", "/api/v1/agents/x"), Some("chat.own"));
        assert_eq!(ask("GET", "/api/v1/models"), Some("admin.read"));
        for (method, path) in [
            ("POST", "/api/v1/apps/other/a/backend"),
            ("POST", "/api/v1/apps/p/other/backend"),
            ("GET", "/api/v1/prompts"),
            ("GET", "/api/v1/prompts/x"),
            ("POST", "/api/v1/prompts/x/take"),
            ("POST", "/api/v1/prompts/x/close"),
            ("PUT", "/api/v1/grants"),
            ("POST", "/api/v1/plugins/p/trust"),
            ("PUT", "/api/v1/settings/x"),
            ("PUT", "/api/v1/secrets/x"),
            ("GET", "/api/v1/state-key"),
            ("POST", "/api/v1/state-key/rotate"),
            ("POST", "/api/v1/state-key/move"),
            ("DELETE", "/api/v1/sessions/x"),
            ("PATCH", "/api/v1/sessions/x"),
            ("POST", "/api/v1/sessions/x/retry"),
            ("GET", "/api/v1/sessions/x/events"),
            ("GET", "/api/v1/sessions/search"),
            ("POST", "/api/v1/apps/other/a/wanted"),
            ("POST", "/api/v1/apps/p/roots/forget"),
            ("POST", "/api/v1/tools/call"),
            ("POST", "/api/v1/auth/code"),
            ("GET", "/api/v1/audit"),
        ] {
            assert_eq!(ask(method, path), None, "{method} {path}");
        }
    }
}
