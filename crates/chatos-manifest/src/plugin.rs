//! The top level of `plugin.json` (plugin-manifest §2.1–2.2).

use serde::Serialize;
use serde_json::{Map, Value};

use crate::fields::{Object, Read, Refused, Report, Scope};
use crate::json::{self, FaultKind};
use crate::{
    AppManifest, Dropped, IdError, PluginId, Problem, ProblemCode, RelPath, Source, Text, app, limits, quote,
};

/// A plugin as its manifest describes it, without the parts that had to be dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginManifest {
    /// Identity; never the directory name.
    pub id: PluginId,
    /// Shown to people.
    pub name: String,
    /// Shown to people, not parsed.
    pub version: String,
    /// Plain text.
    pub description: String,
    /// Unverified.
    pub publisher: Option<Publisher>,
    /// Unverified; opened only on a click.
    pub homepage: Option<String>,
    /// Display only.
    pub license: Option<String>,
    /// Narrows what the app's frames may call; `None` = the defaults of the host API.
    pub capabilities: Option<Vec<String>>,
    /// The backend module, when one is declared.
    pub backend: Option<Backend>,
    /// Apps that survived, in manifest order.
    pub apps: Vec<AppManifest>,
    /// Unknown keys, verbatim.
    pub extra: Map<String, Value>,
}

/// Who says to have made the plugin. Nothing is signed, so this is always shown as unverified.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the words of the manifest")]
pub struct Publisher {
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// Unknown keys, verbatim.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// `backend`. A bad one is kept, so that the listing can say that it is not available.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Backend {
    /// `backend.entry` as written; empty when it was not a string.
    pub entry: String,
    /// The path, unless it was refused.
    pub path: Option<RelPath>,
    /// Unknown keys of `backend`, verbatim.
    pub extra: Map<String, Value>,
}

/// The result of [`parse`].
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// `None` when a problem dropped the plugin.
    pub manifest: Option<PluginManifest>,
    /// Errors and warnings in manifest order.
    pub problems: Vec<Problem>,
}

/// Capability names this host knows (host-api §5). Others are warnings.
pub const KNOWN_CAPABILITIES: &[&str] = &[
    "backend",
    "registry",
    "prompts",
    "prompts.readAll",
    "admin.read",
    "chat.own",
    "chat.read",
    "chat.write",
    "agents.write",
    "navigate",
    "network",
    "unsafe-eval",
];

const KEYS: &[&str] = &[
    "manifestVersion",
    "id",
    "name",
    "version",
    "description",
    "backend",
    "apps",
    "publisher",
    "homepage",
    "license",
    "capabilities",
];

const WHOLE: Scope = Scope { source: Source::Manifest, dropped: Dropped::Plugin };
const FIELD: Scope = Scope { source: Source::Manifest, dropped: Dropped::Field };
const BACKEND: Scope = Scope { source: Source::Backend, dropped: Dropped::Backend };

/// Reads the bytes of a `plugin.json`. Never fails: what cannot be used is dropped and reported.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut report = Report::default();
    let manifest = read(bytes, &mut report).ok();
    Parsed { manifest, problems: report.problems }
}

fn read(bytes: &[u8], report: &mut Report) -> Read<PluginManifest> {
    let value = read_json(bytes, report)?;
    let Value::Object(map) = &value else {
        let found = json::type_name(&value);
        let article = if matches!(value, Value::Array(_)) { "an " } else { "" };
        let message = Text::new(
            format!("plugin.json must hold a JSON object, found {article}{found}"),
            format!("plugin.json 必须是 JSON 对象，实际为 {found}"),
        );
        return Err(report.refuse(WHOLE, ProblemCode::WrongType, String::new(), message));
    };
    let top = Object { map, pointer: String::new(), label: "", scope: WHOLE };

    // Each field is read even when an earlier one was refused, so that an author sees all at once.
    let id = plugin_id(&top, report);
    report.plugin_id = id.as_ref().ok().cloned();
    let version_ok = manifest_version(&top, report);
    let name = top.required_name(report, "name");
    let version = top.short(report, "version", limits::VERSION_CHARS);
    let description = top.short(report, "description", limits::DESCRIPTION_CHARS);
    let publisher = publisher(&top, report);
    let field = Object { scope: FIELD, ..top.clone() };
    let homepage = display_text(&field, report, "homepage");
    let license = display_text(&field, report, "license");
    let capabilities = capabilities(&field, report);
    let backend = backend(&top, report);
    let apps = app::parse_all(&top, report);
    let extra = top.extra(report, KEYS);

    version_ok?;
    Ok(PluginManifest {
        id: id?,
        name: name?,
        version: version?.unwrap_or("0.0.0").to_owned(),
        description: description?.unwrap_or_default().to_owned(),
        publisher,
        homepage,
        license,
        capabilities,
        backend,
        apps: apps?,
        extra,
    })
}

fn read_json(bytes: &[u8], report: &mut Report) -> Read<Value> {
    let mut refuse = |code, message| Err(report.refuse(WHOLE, code, String::new(), message));
    if bytes.len() > limits::MANIFEST_BYTES {
        return refuse(ProblemCode::ManifestTooLarge, too_large(bytes.len() as u64));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
            let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() + 1;
            let message = if utf16 {
                Text::new(
                    "plugin.json is UTF-16; it must be UTF-8",
                    "plugin.json 是 UTF-16 编码；必须是 UTF-8",
                )
            } else {
                Text::new(
                    format!("plugin.json line {line}: not valid UTF-8"),
                    format!("plugin.json 第 {line} 行：不是有效的 UTF-8"),
                )
            };
            return refuse(ProblemCode::ManifestSyntax, message);
        }
    };
    json::parse(text, limits::JSON_DEPTH).or_else(|fault| {
        let (code, en, zh) = match &fault.kind {
            FaultKind::Empty => {
                return refuse(
                    ProblemCode::ManifestSyntax,
                    Text::new("plugin.json is empty", "plugin.json 是空文件"),
                );
            }
            FaultKind::Syntax(expected) => (
                ProblemCode::ManifestSyntax,
                format!("column {}: expected {expected}", fault.column),
                format!("第 {} 列：语法错误，此处应为 {expected}", fault.column),
            ),
            FaultKind::TooDeep(max) => (
                ProblemCode::ManifestSyntax,
                format!("nested deeper than {max} levels"),
                format!("嵌套超过 {max} 层"),
            ),
            FaultKind::DuplicateKey(key) => (
                ProblemCode::ManifestDuplicateKey,
                format!("key {} appears twice", quote(key)),
                format!("键 {} 出现了两次", quote(key)),
            ),
        };
        let line = fault.line;
        let en = if matches!(fault.kind, FaultKind::Syntax(_)) {
            format!("plugin.json line {line}, {en}")
        } else {
            format!("plugin.json line {line}: {en}")
        };
        refuse(code, Text::new(en, format!("plugin.json 第 {line} 行：{zh}")))
    })
}

/// The sentence for a manifest of `bytes` bytes; shared with the reader that refuses it unread.
pub(crate) fn too_large(bytes: u64) -> Text {
    let max = limits::MANIFEST_BYTES;
    Text::new(
        format!("plugin.json has {bytes} bytes; at most {max} are allowed"),
        format!("plugin.json 有 {bytes} 字节；最多允许 {max} 字节"),
    )
}

impl Parsed {
    /// The result for a file that was too large to be read at all.
    pub fn too_large(bytes: u64) -> Self {
        Self::failed(ProblemCode::ManifestTooLarge, too_large(bytes))
    }

    /// The result for a file that could not be read.
    pub fn unreadable(message: Text) -> Self {
        Self::failed(ProblemCode::ManifestUnreadable, message)
    }

    fn failed(code: ProblemCode, message: Text) -> Self {
        Self { manifest: None, problems: vec![Problem::new(code, "", message)] }
    }
}

fn plugin_id(top: &Object<'_>, report: &mut Report) -> Read<PluginId> {
    let text = match top.str(report, "id")? {
        Some(text) if !text.is_empty() => text,
        _ => return Err(top.missing(report, "id")),
    };
    PluginId::parse(text).map_err(|error| {
        let (code, message) = id_problem("Plugin", "插件", text, error, limits::PLUGIN_ID_CHARS);
        top.refuse(report, code, "id", message)
    })
}

/// Code and sentence for a refused plugin or app id.
pub(crate) fn id_problem(en: &str, zh: &str, text: &str, error: IdError, max: usize) -> (ProblemCode, Text) {
    let shown = quote(text);
    match error {
        IdError::Reserved => (
            ProblemCode::IdReserved,
            Text::new(format!("{en} id {shown} is reserved"), format!("{zh} id {shown} 是保留名称")),
        ),
        IdError::Invalid if text.len() > max => (
            ProblemCode::IdInvalid,
            Text::new(
                format!("{en} id {shown} has {} characters; at most {max} are allowed", text.chars().count()),
                format!("{zh} id {shown} 有 {} 个字符；最多允许 {max} 个", text.chars().count()),
            ),
        ),
        IdError::Invalid => (
            ProblemCode::IdInvalid,
            Text::new(
                format!("{en} id {shown} may only hold letters, digits, \".\", \"_\", \"-\""),
                format!("{zh} id {shown} 只能包含字母、数字、“.”、“_”、“-”"),
            ),
        ),
    }
}

fn manifest_version(top: &Object<'_>, report: &mut Report) -> Read<()> {
    let Some(value) = top.get("manifestVersion") else { return Ok(()) };
    // 1.0 is the integer 1 in JSON; "1" and 1.5 are not.
    #[expect(clippy::float_cmp, reason = "exactly one is the rule")]
    if value.as_f64().is_some_and(|n| n == 1.0) {
        return Ok(());
    }
    let shown = match value {
        Value::Number(n) => n.to_string(),
        Value::String(text) => quote(text),
        other => json::type_name(other).to_owned(),
    };
    let message = Text::new(
        format!("manifestVersion {shown} is not supported; only 1 is"),
        format!("不支持 manifestVersion {shown}；只支持 1"),
    );
    Err(top.refuse(report, ProblemCode::ManifestVersion, "manifestVersion", message))
}

/// An optional text that is only displayed: a bad one costs itself, not the plugin.
fn display_text(field: &Object<'_>, report: &mut Report, key: &str) -> Option<String> {
    let text = field.short(report, key, limits::DESCRIPTION_CHARS).ok()??;
    field.check_control(report, key, text).ok()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn publisher(top: &Object<'_>, report: &mut Report) -> Option<Publisher> {
    let field = Object { scope: FIELD, ..top.clone() };
    match top.get("publisher")? {
        Value::String(_) => {
            let name = field.name_text(report, "publisher").ok()??;
            (!name.is_empty()).then(|| Publisher {
                name: Some(name.to_owned()),
                url: None,
                email: None,
                extra: Map::new(),
            })
        }
        Value::Object(_) => {
            let object = field.object(report, "publisher", "publisher", FIELD).ok()??;
            let name =
                object.name_text(report, "name").ok().flatten().filter(|t| !t.is_empty()).map(str::to_owned);
            let url = display_text(&object, report, "url");
            let email = display_text(&object, report, "email");
            let extra = object.extra(report, &["name", "url", "email"]);
            Some(Publisher { name, url, email, extra })
        }
        other => {
            let Refused =
                field.wrong_type(report, "publisher", "a string or an object", "字符串或对象", other);
            None
        }
    }
}

/// A list that cannot be read narrows to nothing: falling back to the defaults would widen what the
/// author asked for.
fn capabilities(field: &Object<'_>, report: &mut Report) -> Option<Vec<String>> {
    field.get("capabilities")?;
    let Ok(Some(items)) = field.array(report, "capabilities") else { return Some(Vec::new()) };
    if field.check_count(report, "capabilities", items.len(), limits::CAPABILITIES).is_err() {
        return Some(Vec::new());
    }
    let mut names: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let pointer = format!("{}/{index}", field.at("capabilities"));
        let Value::String(name) = item else {
            let found = json::type_name(item);
            let message = Text::new(
                format!("capabilities #{} must be a string, found {found}", index + 1),
                format!("capabilities 第 {} 项必须是字符串，实际为 {found}", index + 1),
            );
            report.refuse(FIELD, ProblemCode::WrongType, pointer, message);
            continue;
        };
        let name = name.trim();
        if !KNOWN_CAPABILITIES.contains(&name) && !is_network_host(name) {
            let message = Text::new(
                format!("Capability {} is not known", quote(name)),
                format!("未知的能力 {}", quote(name)),
            );
            report.warn(Source::Manifest, ProblemCode::CapabilityUnknown, pointer, message);
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Some(names)
}

/// `network:<host>` names a host a person may grant to the app's frames (host-api §2.3).
fn is_network_host(name: &str) -> bool {
    name.strip_prefix("network:").is_some_and(|host| {
        !host.is_empty()
            && host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'*'))
    })
}

fn backend(top: &Object<'_>, report: &mut Report) -> Option<Backend> {
    top.get("backend")?;
    let Ok(Some(object)) = top.object(report, "backend", "backend", BACKEND) else {
        return Some(Backend::default());
    };
    let extra = object.extra(report, &["entry"]);
    let Ok(text) = object.str(report, "entry") else { return Some(Backend { extra, ..Backend::default() }) };
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        object.missing(report, "entry");
        return Some(Backend { extra, ..Backend::default() });
    };
    let path = object.check_path(report, "entry", text).ok();
    Some(Backend { entry: text.to_owned(), path, extra })
}
