//! `ai.mcp`: the server an app brings with it (plugin-manifest §2.5, ai-contributions §5). Any bad
//! field drops the whole object, so a server never starts with half of what its author wrote.

use serde_json::{Map, Value};

use crate::ai::AI;
use crate::async_task::{self, is_refused_key};
use crate::fields::{Object, Read, Refused, Report, has_control};
use crate::secret::MASK;
use crate::url::{self, Address, HostClass, UrlFault};
use crate::{AsyncTask, ProblemCode, RelPath, Secret, Source, Text, json, limits, quote};

/// A checked `ai.mcp`.
#[derive(Debug, Clone, PartialEq)]
pub struct McpDecl {
    /// JSON pointer of the object, for problems found later.
    pub pointer: String,
    /// Where the server is.
    pub target: McpTarget,
    /// Added to `_meta` of each call, unexpanded.
    pub call_meta: Option<Map<String, Value>>,
    /// Tools that answer later.
    pub async_task: Option<AsyncTask>,
    /// How long it may take to start, in milliseconds; unset = the setting `mcpStartTimeoutMs`.
    pub start_timeout_ms: Option<u64>,
    /// Plain text.
    pub description: String,
    /// The plugin's own tags.
    pub tags: Vec<String>,
    /// Unset = true.
    pub enabled: Option<bool>,
    /// Unset = true.
    pub allow_main: Option<bool>,
    /// Unset = true.
    pub allow_sub: Option<bool>,
    /// Sent over the network only.
    pub auth: Option<Auth>,
    /// Unknown keys, verbatim.
    pub extra: Map<String, Value>,
}

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpTarget {
    /// `url`, as written.
    Url {
        /// The address.
        url: String,
        /// Class of its host; `None` for `cmd://`.
        class: Option<HostClass>,
    },
    /// A script of the plugin, started as `<program> <entry> <args…>`.
    Entry {
        /// The script.
        entry: RelPath,
        /// What runs it.
        program: McpProgram,
        /// Passed verbatim after the entry.
        args: Vec<String>,
    },
}

/// `ai.mcp.command`: exactly one program, never split into words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpProgram {
    /// A bare name found on `PATH`, or an absolute path.
    Name(String),
    /// A file inside the plugin.
    File(RelPath),
}

/// `ai.mcp.auth`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Auth {
    /// `Authorization: Bearer`.
    pub token: Option<Secret>,
    /// `Authorization: Basic`.
    pub basic: Option<BasicAuth>,
    /// Further headers, in file order.
    pub headers: Vec<(String, Secret)>,
}

/// User name and password.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BasicAuth {
    /// May be empty.
    pub username: String,
    /// May be empty.
    pub password: Option<Secret>,
}

impl Auth {
    /// True when nothing would be sent.
    pub fn is_empty(&self) -> bool {
        self.token.is_none() && self.basic.is_none() && self.headers.is_empty()
    }
}

const KEYS: &[&str] = &[
    "url",
    "entry",
    "command",
    "args",
    "callMeta",
    "startTimeoutMs",
    "description",
    "tags",
    "enabled",
    "allowMain",
    "allowSub",
    "auth",
];

pub(crate) fn parse(value: &Value, pointer: String, report: &mut Report) -> Read<McpDecl> {
    let object = Object::of(value, pointer, "ai.mcp", AI, report)?;
    let target = target(&object, report);
    let meta = call_meta(&object, report);
    let start_timeout_ms = start_timeout(&object, report);
    let description = object.short(report, "description", limits::DESCRIPTION_CHARS);
    let tags = tags(&object, report);
    let enabled = object.bool(report, "enabled");
    let allow_main = object.bool(report, "allowMain");
    let allow_sub = object.bool(report, "allowSub");
    let auth = auth(&object, report);
    let extra = object.extra(report, KEYS);
    let (allow_main, allow_sub) = (allow_main?, allow_sub?);
    if allow_main == Some(false) && allow_sub == Some(false) {
        let message = Text::new(
            "ai.mcp allows neither main nor subagents; it is listed and never used",
            "ai.mcp 既不允许主流程也不允许子智能体；它会被列出但永远不会被使用",
        );
        report.warn(Source::Ai, ProblemCode::NeverUsable, object.pointer.clone(), message);
    }
    let (call_meta, async_task) = meta?;
    Ok(McpDecl {
        target: target?,
        call_meta,
        async_task,
        start_timeout_ms: start_timeout_ms?,
        description: description?.unwrap_or_default().to_owned(),
        tags: tags?,
        enabled: enabled?,
        allow_main,
        allow_sub,
        auth: auth?,
        extra,
        pointer: object.pointer,
    })
}

/// plugins §2.5: a whole number of milliseconds within its limits.
fn start_timeout(object: &Object<'_>, report: &mut Report) -> Read<Option<u64>> {
    let key = "startTimeoutMs";
    let Some(value) = object.get(key) else { return Ok(None) };
    let (least, most) = (limits::START_MS_LEAST, limits::START_MS_MOST);
    match value.as_u64().filter(|ms| (least..=most).contains(ms)) {
        Some(ms) => Ok(Some(ms)),
        None => {
            let (en, zh) =
                (format!("a whole number from {least} to {most}"), format!(" {least} 到 {most} 的整数"));
            Err(object.wrong_type(report, key, &en, &zh, value))
        }
    }
}

fn target(object: &Object<'_>, report: &mut Report) -> Read<McpTarget> {
    let url = object.str(report, "url")?.filter(|text| !text.is_empty());
    let entry = match object.str(report, "entry")?.filter(|text| !text.is_empty()) {
        Some(text) => Some(object.check_path(report, "entry", text)?),
        None => None,
    };
    let program = program(object, report)?;
    let args = args(object, report)?;
    match (url, entry) {
        (Some(url), entry) => {
            if entry.is_some() {
                let message = Text::new(
                    "ai.mcp has both \"url\" and \"entry\"; \"url\" is used",
                    "ai.mcp 同时有 \"url\" 和 \"entry\"；将使用 \"url\"",
                );
                report.warn(Source::Ai, ProblemCode::McpBoth, object.pointer.clone(), message);
            }
            let class = check_url(object, url, report)?;
            Ok(McpTarget::Url { url: url.to_owned(), class })
        }
        (None, Some(entry)) => Ok(McpTarget::Entry { entry, program, args }),
        (None, None) => {
            let message = Text::new(
                "ai.mcp needs \"url\" or \"entry\"; \"command\" alone is not enough",
                "ai.mcp 需要 \"url\" 或 \"entry\"；只有 \"command\" 是不够的",
            );
            Err(report.refuse(AI, ProblemCode::McpNoTarget, object.pointer.clone(), message))
        }
    }
}

fn check_url(object: &Object<'_>, url: &str, report: &mut Report) -> Read<Option<HostClass>> {
    object.check_bytes(report, "url", url, limits::URL_BYTES)?;
    // A literal newline may stand inside the quotes of a cmd:// word; NUL is its parser's to name.
    if has_control(url) && !url.starts_with("cmd://") {
        object.check_control(report, "url", url)?;
    }
    match url::check(url) {
        Ok(Address::Command) => Ok(None),
        Ok(Address::Network { host, class }) => {
            if class == HostClass::LinkLocal {
                let message = Text::new(
                    format!("ai.mcp.url names a link-local address: {host}"),
                    format!("ai.mcp.url 指向链路本地地址：{host}"),
                );
                report.warn(Source::Ai, ProblemCode::UrlLinkLocal, object.at("url"), message);
            }
            Ok(Some(class))
        }
        Err(fault) => {
            let (code, message) = match fault {
                UrlFault::Scheme => {
                    let scheme = quote(url.split(':').next().unwrap_or_default());
                    (
                        ProblemCode::UrlScheme,
                        Text::new(
                            format!(
                                "ai.mcp.url has the scheme {scheme}; http, https, ws, wss and cmd are allowed"
                            ),
                            format!("ai.mcp.url 的协议是 {scheme}；只允许 http、https、ws、wss 和 cmd"),
                        ),
                    )
                }
                // The address itself is not repeated: it holds a password.
                UrlFault::Credentials => (
                    ProblemCode::UrlCredentials,
                    Text::new("ai.mcp.url holds a user name or password", "ai.mcp.url 中含有用户名或密码"),
                ),
                UrlFault::Invalid => (
                    ProblemCode::UrlInvalid,
                    Text::new(
                        format!("ai.mcp.url is not a usable address: {}", quote(url)),
                        format!("ai.mcp.url 不是可用的地址：{}", quote(url)),
                    ),
                ),
            };
            Err(object.refuse(report, code, "url", message))
        }
    }
}

fn program(object: &Object<'_>, report: &mut Report) -> Read<McpProgram> {
    let Some(text) = object.str(report, "command")? else { return Ok(McpProgram::Name("node".to_owned())) };
    if text.is_empty() {
        return Err(object.missing(report, "command"));
    }
    object.check_control(report, "command", text)?;
    object.check_bytes(report, "command", text, limits::PATH_BYTES)?;
    if text != "node" {
        let message = Text::new(
            format!("ai.mcp.command is {}, not node", quote(text)),
            format!("ai.mcp.command 是 {}，而不是 node", quote(text)),
        );
        report.warn(Source::Ai, ProblemCode::UnusualCommand, object.at("command"), message);
    }
    if text.contains('/') && !text.starts_with('/') {
        return Ok(McpProgram::File(object.check_path(report, "command", text)?));
    }
    Ok(McpProgram::Name(text.to_owned()))
}

fn args(object: &Object<'_>, report: &mut Report) -> Read<Vec<String>> {
    let items = object.array(report, "args")?.unwrap_or_default();
    object.check_count(report, "args", items.len(), limits::ARGS)?;
    let mut args = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("{}/{index}", object.at("args"));
        let number = index + 1;
        let fault = match item {
            Value::String(text) if text.contains('\0') => Some((
                ProblemCode::ValueInvalid,
                Text::new(
                    format!("ai.mcp.args #{number} holds a NUL character"),
                    format!("ai.mcp.args 第 {number} 项含有 NUL 字符"),
                ),
            )),
            Value::String(text) if text.len() > limits::ARG_BYTES => Some((
                ProblemCode::ValueTooLong,
                Text::new(
                    format!(
                        "ai.mcp.args #{number} has {} bytes; at most {} are allowed",
                        text.len(),
                        limits::ARG_BYTES
                    ),
                    format!(
                        "ai.mcp.args 第 {number} 项有 {} 字节；最多允许 {} 字节",
                        text.len(),
                        limits::ARG_BYTES
                    ),
                ),
            )),
            Value::String(text) => {
                args.push(text.clone());
                None
            }
            other => Some((
                ProblemCode::WrongType,
                Text::new(
                    format!("ai.mcp.args #{number} must be a string, found {}", json::type_name(other)),
                    format!("ai.mcp.args 第 {number} 项必须是字符串，实际为 {}", json::type_name(other)),
                ),
            )),
        };
        if let Some((code, message)) = fault {
            return Err(report.refuse(AI, code, pointer, message));
        }
    }
    Ok(args)
}

type CallMeta = (Option<Map<String, Value>>, Option<AsyncTask>);

fn call_meta(object: &Object<'_>, report: &mut Report) -> Read<CallMeta> {
    let Some(meta) = object.object(report, "callMeta", "ai.mcp.callMeta", AI)? else {
        return Ok((None, None));
    };
    let whole = Value::Object(meta.map.clone());
    // Serialising a map of JSON values cannot fail; a fault would count as too large.
    let bytes = serde_json::to_vec(&whole).map_or(usize::MAX, |bytes| bytes.len());
    let depth = json::depth(&whole);
    if bytes > limits::CALL_META_BYTES || depth > limits::CALL_META_DEPTH {
        let message = Text::new(
            format!(
                "ai.mcp.callMeta has {bytes} bytes and {depth} levels; at most {} and {} are allowed",
                limits::CALL_META_BYTES,
                limits::CALL_META_DEPTH
            ),
            format!(
                "ai.mcp.callMeta 有 {bytes} 字节、{depth} 层；最多允许 {} 字节、{} 层",
                limits::CALL_META_BYTES,
                limits::CALL_META_DEPTH
            ),
        );
        return Err(object.refuse(report, ProblemCode::MetaTooLarge, "callMeta", message));
    }
    let mut kept = meta.map.clone();
    remove_refused_keys(&mut kept, &meta.pointer, report);
    let checked = Object { map: &kept, ..meta };
    let async_task = async_task::parse(&checked, report)?;
    Ok((Some(kept), async_task))
}

fn remove_refused_keys(map: &mut Map<String, Value>, pointer: &str, report: &mut Report) {
    let refused: Vec<String> = map.keys().filter(|key| is_refused_key(key)).cloned().collect();
    for key in refused {
        map.shift_remove(&key);
        let message = Text::new(
            format!("callMeta key {} is removed", quote(&key)),
            format!("callMeta 的键 {} 已被移除", quote(&key)),
        );
        report.warn(Source::Ai, ProblemCode::MetaKeyRefused, format!("{pointer}/{key}"), message);
    }
    for (key, value) in map.iter_mut() {
        remove_refused_keys_in(value, &format!("{pointer}/{}", json::pointer_token(key)), report);
    }
}

fn remove_refused_keys_in(value: &mut Value, pointer: &str, report: &mut Report) {
    match value {
        Value::Object(map) => remove_refused_keys(map, pointer, report),
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                remove_refused_keys_in(item, &format!("{pointer}/{index}"), report);
            }
        }
        _ => {}
    }
}

fn tags(object: &Object<'_>, report: &mut Report) -> Read<Vec<String>> {
    let items = object.array(report, "tags")?.unwrap_or_default();
    object.check_count(report, "tags", items.len(), limits::TAGS)?;
    let mut tags: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("{}/{index}", object.at("tags"));
        let Value::String(tag) = item else {
            let found = json::type_name(item);
            let message = Text::new(
                format!("ai.mcp.tags #{} must be a string, found {found}", index + 1),
                format!("ai.mcp.tags 第 {} 项必须是字符串，实际为 {found}", index + 1),
            );
            return Err(report.refuse(AI, ProblemCode::WrongType, pointer, message));
        };
        let tag = tag.trim();
        object.check_chars(report, "tags", tag, limits::TAG_CHARS)?;
        object.check_control(report, "tags", tag)?;
        if tag.starts_with("uiapp") {
            let message = Text::new(
                format!("Tag {} is dropped; tags starting with uiapp are the host's", quote(tag)),
                format!("标签 {} 已被丢弃；以 uiapp 开头的标签由宿主设置", quote(tag)),
            );
            report.warn(Source::Ai, ProblemCode::TagReserved, pointer, message);
        } else if !tag.is_empty() && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    Ok(tags)
}

fn auth(object: &Object<'_>, report: &mut Report) -> Read<Option<Auth>> {
    let Some(object) = object.object(report, "auth", "ai.mcp.auth", AI)? else { return Ok(None) };
    // Unknown keys here may hold secrets under another name: they are reported, never kept.
    object.extra(report, &["token", "basic", "headers"]);
    let token = object.str(report, "token")?.filter(|text| !text.is_empty());
    if let Some(token) = token {
        check_header_value(&object, "token", token, report)?;
    }
    let basic = match object.object(report, "basic", "ai.mcp.auth.basic", AI)? {
        None => None,
        Some(basic) => {
            basic.extra(report, &["username", "password"]);
            let username = basic.raw_str(report, "username")?.unwrap_or_default();
            let password = basic.raw_str(report, "password")?;
            check_header_value(&basic, "username", username, report)?;
            check_header_value(&basic, "password", password.unwrap_or_default(), report)?;
            Some(BasicAuth { username: username.to_owned(), password: password.map(Secret::new) })
        }
    };
    let mut headers: Vec<(String, Secret)> = Vec::new();
    if let Some(map) = object.object(report, "headers", "ai.mcp.auth.headers", AI)? {
        for (name, value) in map.map {
            let Value::String(value) = value else {
                return Err(map.wrong_type(report, name, "a string", "字符串", value));
            };
            if !is_header_name(name)
                || is_owned_header(name)
                || headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
            {
                let message = Text::new(
                    format!("ai.mcp.auth.headers: header {} is not allowed", quote(name)),
                    format!("ai.mcp.auth.headers：不允许使用请求头 {}", quote(name)),
                );
                return Err(map.refuse(report, ProblemCode::AuthHeader, name, message));
            }
            check_header_value(&map, name, value.trim(), report)?;
            headers.push((name.clone(), Secret::new(value.trim())));
        }
    }
    let auth = Auth { token: token.map(Secret::new), basic, headers };
    Ok((!auth.is_empty()).then_some(auth))
}

fn check_header_value(
    object: &Object<'_>,
    key: &str,
    value: &str,
    report: &mut Report,
) -> Result<(), Refused> {
    if !value.contains(['\r', '\n', '\0']) {
        return Ok(());
    }
    let name = object.name(key);
    // The value is a secret, so only the fault is told.
    let message = Text::new(
        format!("{name} ({MASK}) holds a line break or NUL"),
        format!("{name}（{MASK}）含有换行或 NUL"),
    );
    Err(object.refuse(report, ProblemCode::AuthHeader, key, message))
}

/// An RFC 9110 token.
fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Headers the transport or the protocol sets itself.
fn is_owned_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(name.as_str(), "host" | "connection" | "transfer-encoding" | "upgrade")
        || ["content-", "sec-", "mcp-"].iter().any(|prefix| name.starts_with(prefix))
}
