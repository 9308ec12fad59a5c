//! `apps[]` (plugin-manifest §2.4): one front-end module each, with an optional `ai` part.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::fields::{Object, Read, Report, Scope};
use crate::plugin::id_problem;
use crate::{
    AiManifest, AppId, AppRef, Dropped, ProblemCode, RelPath, Source, Text, ai, json, limits, quote,
};

/// One app that survived parsing.
#[derive(Debug, Clone, PartialEq)]
pub struct AppManifest {
    /// Place in `apps[]`; problems found later point there.
    pub index: usize,
    /// Unique within the plugin.
    pub id: AppId,
    /// Shown to people.
    pub name: String,
    /// Plain text.
    pub description: String,
    /// As written; what may be drawn of it is decided when the plugin is loaded.
    pub icon: String,
    /// The front-end modules.
    pub entry: Entry,
    /// What the app contributes to agents; `None` when `ai` is absent or was dropped.
    pub ai: Option<AiManifest>,
    /// Unknown keys of the app, verbatim.
    pub extra: Map<String, Value>,
}

/// `entry`: the full module and, when given, the compact one.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The module for the full surface.
    pub module: EntryModule,
    /// The module for the compact surface.
    pub compact: Option<EntryModule>,
    /// Unknown keys of `entry`, verbatim.
    pub extra: Map<String, Value>,
}

/// A module path and the pointer that problems about it carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryModule {
    /// Relative to the plugin directory.
    pub path: RelPath,
    /// Where it stands in the manifest.
    pub pointer: String,
}

const APP: Scope = Scope { source: Source::Manifest, dropped: Dropped::App };
const ENTRY: Scope = Scope { source: Source::Entry, dropped: Dropped::App };
const COMPACT: Scope = Scope { source: Source::Entry, dropped: Dropped::Compact };

const KEYS: &[&str] = &["id", "name", "description", "icon", "entry", "ai"];

pub(crate) fn parse_all(top: &Object<'_>, report: &mut Report) -> Read<Vec<AppManifest>> {
    let items = top.array(report, "apps")?.unwrap_or_default();
    if items.len() > limits::APPS {
        let message = Text::new(
            format!("{} apps declared; at most {} are allowed", items.len(), limits::APPS),
            format!("声明了 {} 个应用；最多允许 {} 个", items.len(), limits::APPS),
        );
        return Err(top.refuse(report, ProblemCode::TooManyApps, "apps", message));
    }
    let mut declared = HashSet::new();
    let mut apps = Vec::new();
    for (index, item) in items.iter().enumerate() {
        report.app = Some(AppRef { index, id: None });
        if let Ok(app) = parse_one(index, item, &mut declared, report) {
            apps.push(app);
        }
        report.app = None;
    }
    Ok(apps)
}

fn parse_one(
    index: usize,
    item: &Value,
    declared: &mut HashSet<AppId>,
    report: &mut Report,
) -> Read<AppManifest> {
    let pointer = format!("/apps/{index}");
    let Value::Object(map) = item else {
        let found = json::type_name(item);
        let message =
            Text::new(format!("must be an object, found {found}"), format!("必须是对象，实际为 {found}"));
        return Err(report.refuse(APP, ProblemCode::WrongType, pointer, message));
    };
    let object = Object { map, pointer, label: "", scope: APP };
    let id = app_id(&object, report);
    if let (Ok(id), Some(app)) = (&id, &mut report.app) {
        app.id = Some(id.clone());
    }
    let unique = match &id {
        Ok(id) if !declared.insert(id.clone()) => {
            let plugin =
                report.plugin_id.as_ref().map_or_else(|| "plugin.json".to_owned(), ToString::to_string);
            let message = Text::new(
                format!("App id {} is declared twice in {plugin}", quote(id.as_str())),
                format!("应用 id {} 在 {plugin} 中声明了两次", quote(id.as_str())),
            );
            let scope = Scope { source: Source::Entry, ..APP };
            // Named in the sentence itself, so without the "App #n" in front.
            Err(report.refuse(scope, ProblemCode::DuplicateApp, object.at("id"), message))
        }
        _ => Ok(()),
    };
    let name = object.required_name(report, "name");
    let description = object.short(report, "description", limits::DESCRIPTION_CHARS);
    let icon = object.str(report, "icon");
    let entry = entry(&object, report);
    let ai = object.get("ai").and_then(|value| ai::parse_manifest(value, &object.at("ai"), report));
    let extra = object.extra(report, KEYS);
    unique?;
    Ok(AppManifest {
        index,
        id: id?,
        name: name?,
        description: description?.unwrap_or_default().to_owned(),
        icon: icon?.unwrap_or_default().to_owned(),
        entry: entry?,
        ai,
        extra,
    })
}

fn app_id(object: &Object<'_>, report: &mut Report) -> Read<AppId> {
    let text = match object.str(report, "id")? {
        Some(text) if !text.is_empty() => text,
        _ => return Err(object.missing(report, "id")),
    };
    AppId::parse(text).map_err(|error| {
        let (code, message) = id_problem("App", "应用", text, error, limits::APP_ID_CHARS);
        object.refuse(report, code, "id", message)
    })
}

fn entry(app: &Object<'_>, report: &mut Report) -> Read<Entry> {
    match app.get("entry") {
        None => Err(app.missing(report, "entry")),
        Some(Value::String(text)) => {
            // The bare form means `path`; the pointer is the string itself, which is where it stands.
            let path = RelPath::parse(text.trim()).map_err(|fault| {
                report.refuse(ENTRY, fault.code(), app.at("entry"), fault.message("entry.path", text.trim()))
            })?;
            let module = EntryModule { path, pointer: app.at("entry") };
            Ok(Entry { module, compact: None, extra: Map::new() })
        }
        Some(value @ Value::Object(_)) => {
            let object = Object::of(value, app.at("entry"), "entry", ENTRY, report)?;
            entry_type(&object, &object.at("type"), report)?;
            let path = object.required_path(report, "path");
            let compact = compact(&object, report);
            let extra = object.extra(report, &["type", "path", "compact"]);
            Ok(Entry { module: EntryModule { path: path?, pointer: object.at("path") }, compact, extra })
        }
        Some(other) => Err(app.wrong_type(report, "entry", "an object or a path", "对象或路径", other)),
    }
}

/// `type` must be there and say `module` (seed 001 §3.1).
fn entry_type(object: &Object<'_>, pointer: &str, report: &mut Report) -> Read<()> {
    let label = object.name("type");
    let message = match object.get("type") {
        Some(Value::String(text)) if text.trim() == "module" => return Ok(()),
        Some(Value::String(text)) => Text::new(
            format!("{label} {} is not supported; only \"module\" is", quote(text)),
            format!("不支持 {label} {}；只支持 \"module\"", quote(text)),
        ),
        Some(other) => Text::new(
            format!("{label} must be \"module\", found {}", json::type_name(other)),
            format!("{label} 必须是 \"module\"，实际为 {}", json::type_name(other)),
        ),
        None => Text::new(
            format!("{label} is missing; it must be \"module\""),
            format!("缺少 {label}；它必须是 \"module\""),
        ),
    };
    Err(report.refuse(object.scope, ProblemCode::EntryType, pointer.to_owned(), message))
}

/// Any problem here costs the compact entry only, and always points at `…/entry/compact`.
fn compact(entry: &Object<'_>, report: &mut Report) -> Option<EntryModule> {
    let value = entry.get("compact")?;
    let pointer = entry.at("compact");
    let label = "entry.compact";
    let text = match value {
        Value::String(text) => text,
        Value::Object(map) => {
            let object = Object { map, pointer: pointer.clone(), label, scope: COMPACT };
            object.extra(report, &["type", "path"]);
            entry_type(&object, &pointer, report).ok()?;
            match map.get("path") {
                Some(Value::String(text)) => text,
                other => {
                    let (code, message) = match other {
                        None => (
                            ProblemCode::MissingField,
                            Text::new(
                                format!("{label}.path is required"),
                                format!("缺少必填项 {label}.path"),
                            ),
                        ),
                        Some(found) => (
                            ProblemCode::WrongType,
                            Text::new(
                                format!("{label}.path must be a string, found {}", json::type_name(found)),
                                format!("{label}.path 必须是字符串，实际为 {}", json::type_name(found)),
                            ),
                        ),
                    };
                    report.refuse(COMPACT, code, pointer, message);
                    return None;
                }
            }
        }
        other => {
            let found = json::type_name(other);
            let message = Text::new(
                format!("{label} must be an object or a path, found {found}"),
                format!("{label} 必须是对象或路径，实际为 {found}"),
            );
            report.refuse(COMPACT, ProblemCode::WrongType, pointer, message);
            return None;
        }
    };
    match RelPath::parse(text.trim()) {
        Ok(path) => Some(EntryModule { path, pointer }),
        Err(fault) => {
            report.refuse(
                COMPACT,
                fault.code(),
                pointer,
                fault.message(&format!("{label}.path"), text.trim()),
            );
            None
        }
    }
}
