//! What a call of a backend can end with (host-api §9.6). The English words are part of the contract.

use chatos_manifest::Text;
use serde_json::{Map, Value, json};

/// One of the codes an app knows (host-api §4).
pub type CodeName = &'static str;

const CODES: [CodeName; 12] = [
    "invalid_argument",
    "not_found",
    "permission_denied",
    "timeout",
    "canceled",
    "conflict",
    "resource_exhausted",
    "unavailable",
    "not_supported",
    "rate_limited",
    "needs_input",
    "internal",
];

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendError {
    /// One of the codes an app knows.
    pub code: CodeName,
    /// In both languages; a thrown error has its own words in both.
    pub message: Text,
    /// What to do about it.
    pub hint: Option<Text>,
    /// More for machines: `log`, `retryAfterMs`.
    pub data: Map<String, Value>,
}

impl BackendError {
    /// With a code and words.
    pub fn new(code: CodeName, en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { code, message: Text::new(en.into(), zh.into()), hint: None, data: Map::new() }
    }

    /// With advice.
    pub fn hint(mut self, en: impl Into<String>, zh: impl Into<String>) -> Self {
        self.hint = Some(Text::new(en.into(), zh.into()));
        self
    }

    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// What the code of another process means here; unknown ones are `internal`.
    pub(super) fn code_of(text: &str) -> CodeName {
        CODES.into_iter().find(|known| *known == text).unwrap_or("internal")
    }

    /// What a plugin threw.
    pub(super) fn thrown(code: &str, message: &str) -> Self {
        Self::new(Self::code_of(code), message, message)
    }

    /// `{code, message}` for the plugin's own process.
    pub(super) fn to_wire(&self) -> Value {
        json!({ "code": -32000, "message": self.message.en, "data": { "code": self.code } })
    }

    pub(super) fn method_required() -> Self {
        Self::new("invalid_argument", "method is required", "缺少 method")
    }

    pub(super) fn timeout(method: &str, limit: std::time::Duration) -> Self {
        let limit = limit.as_millis();
        Self::new(
            "timeout",
            format!("Method \"{method}\" took longer than {limit} ms"),
            format!("方法 \"{method}\" 超过 {limit} 毫秒"),
        )
    }

    pub(super) fn canceled(method: &str) -> Self {
        Self::new(
            "canceled",
            format!("Call of \"{method}\" was canceled"),
            format!("对 \"{method}\" 的调用已取消"),
        )
    }

    pub(super) fn too_large(method: &str) -> Self {
        Self::new(
            "resource_exhausted",
            format!("Parameters of \"{method}\" are larger than 32 MiB"),
            format!("\"{method}\" 的参数超过 32 MiB"),
        )
    }

    pub(super) fn too_many(plugin: &str) -> Self {
        Self::new(
            "resource_exhausted",
            format!("Backend of {plugin} already has 32 calls in flight and 256 waiting"),
            format!("{plugin} 的后端已有 32 个调用在执行、256 个在等待"),
        )
        .hint("wait for some of them to end", "请等待其中一些结束")
    }

    pub(super) fn failed_to_start(plugin: &str, message: &str) -> Self {
        if let Some(module) = missing_package(message) {
            return Self::new(
                "unavailable",
                format!(
                    "Backend of {plugin} failed to start: it needs the module \"{module}\", which neither the package nor ChatOS has"
                ),
                format!("{plugin} 的后端启动失败：它需要模块“{module}”，但安装包和 ChatOS 都没有它"),
            )
            .hint("the author has to bundle it", "需要作者将其打包进来")
            .with("module", module);
        }
        Self::new(
            "unavailable",
            format!("Backend of {plugin} failed to start: {message}"),
            format!("{plugin} 的后端启动失败：{message}"),
        )
    }

    pub(super) fn start_timeout(plugin: &str) -> Self {
        Self::new(
            "timeout",
            format!("Backend of {plugin} failed to start: createUiAppsBackend took longer than 30 s"),
            format!("{plugin} 的后端启动失败：createUiAppsBackend 超过 30 秒"),
        )
    }

    pub(super) fn exited(plugin: &str, how: &str, lines: Vec<String>) -> Self {
        Self::new(
            "unavailable",
            format!("Backend of {plugin} exited ({how})"),
            format!("{plugin} 的后端已退出（{how}）"),
        )
        .with("log", lines)
    }

    pub(super) fn stopped(plugin: &str) -> Self {
        Self::new("unavailable", format!("Backend of {plugin} was stopped"), format!("{plugin} 的后端已停止"))
    }

    pub(super) fn backing_off(plugin: &str, left: std::time::Duration) -> Self {
        let ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX);
        Self::new(
            "unavailable",
            format!("Backend of {plugin} crashed; it is started again in {ms} ms"),
            format!("{plugin} 的后端崩溃了；{ms} 毫秒后重新启动"),
        )
        .with("retryAfterMs", ms)
    }

    pub(super) fn failed(plugin: &str, last: Option<&BackendError>) -> Self {
        let why = last.map(|error| format!(": {}", error.message.en)).unwrap_or_default();
        let why_zh = last.map(|error| format!("：{}", error.message.zh)).unwrap_or_default();
        let mut error = Self::new(
            "unavailable",
            format!("Backend of {plugin} has failed and is not started again{why}"),
            format!("{plugin} 的后端已失败，不再启动{why_zh}"),
        )
        .hint("press restart on the app's page, or change the plugin", "请在应用页面点击重启，或修改插件");
        if let Some(log) = last.and_then(|last| last.data.get("log")) {
            error.data.insert("log".to_owned(), log.clone());
        }
        error
    }
}

/// The package Node did not find, from what it said.
fn missing_package(message: &str) -> Option<&str> {
    let openings = ["Cannot find package '", "Cannot find module '"];
    let rest = openings.iter().find_map(|opening| message.split_once(opening))?.1;
    let name = rest.split_once('\'')?.0;
    // A file that is not there is the plugin's own mistake and said as it is.
    (!name.is_empty() && !name.starts_with(['/', '.'])).then_some(name)
}

impl std::fmt::Display for BackendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message.en)
    }
}

impl std::error::Error for BackendError {}
