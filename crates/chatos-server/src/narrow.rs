//! Calls the page makes for an app: who it is comes from the page's own session, what it may do is
//! decided here again (host-api §5, security T5). Everything that is not listed is refused.

use axum::http::{HeaderMap, Method};
use chatos_host::{ErrorCode, Fault, Host, Text};

/// The header by which the page says for which app it calls.
pub(crate) const HEADER: &str = "x-chatos-app";

/// The app a call is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppCaller {
    pub(crate) plugin_id: String,
    pub(crate) app_id: String,
    /// It may read other owners' questions.
    pub(crate) reads_all: bool,
}

impl AppCaller {
    /// `<pluginId>/<appId>`.
    pub(crate) fn key(&self) -> String {
        format!("{}/{}", self.plugin_id, self.app_id)
    }

    /// As the owner of questions.
    pub(crate) fn owner(&self) -> String {
        format!("app:{}", self.key())
    }
}

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
        ["apps", plugin, app, "closed"] if is(&Method::POST) => {
            (*plugin == own.plugin_id && *app == own.app_id).then_some("")?
        }
        ["admin", "state"] | ["models" | "secrets"] if is(&Method::GET) => "admin.read",
        ["agents" | "sessions"] | ["agents" | "sessions", _] | ["sessions", _, "messages"]
            if is(&Method::GET) =>
        {
            "chat.read"
        }
        ["sessions"] | ["sessions", _, "send" | "abort"] if is(&Method::POST) => "chat.write",
        ["agents"] if is(&Method::POST) => "agents.write",
        ["agents", _] if is(&Method::PUT) || is(&Method::DELETE) => "agents.write",
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
    let mut caller = AppCaller { plugin_id: plugin.to_owned(), app_id: app.to_owned(), reads_all: false };
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
    host.require_capability(plugin, app, capability)?;
    caller.reads_all =
        capability == "prompts" && host.require_capability(plugin, app, "prompts.readAll").is_ok();
    Ok(Some(caller))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_reaches_its_own_members_and_nothing_else() {
        let own = AppCaller { plugin_id: "p".to_owned(), app_id: "a".to_owned(), reads_all: false };
        let ask = |method: &str, path: &str| needed(&method.parse().unwrap(), path, &own);
        assert_eq!(ask("POST", "/api/v1/prompts"), Some("prompts"));
        assert_eq!(ask("POST", "/api/v1/apps/p/a/backend"), Some("backend"));
        assert_eq!(ask("GET", "/api/v1/sessions/s/messages"), Some("chat.read"));
        assert_eq!(ask("DELETE", "/api/v1/agents/x"), Some("agents.write"));
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
            ("POST", "/api/v1/tools/call"),
            ("POST", "/api/v1/auth/code"),
            ("GET", "/api/v1/audit"),
        ] {
            assert_eq!(ask(method, path), None, "{method} {path}");
        }
    }
}
