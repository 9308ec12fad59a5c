//! Settings with their effective values, where they come from, and what may be entered.

use chatos_settings::{
    Effective, SETTINGS, SettingKind, SettingSource, SettingSpec, find_setting, unknown_setting,
};
use chatos_store::iso_from_ms;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::setting::{Setting, SettingList, SettingType, SettingValue, TextPair, ValueSource};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/settings", "Every setting with its effective value", list);
    routes.get("/api/v1/settings/{key}", "One setting", read);
    routes.put("/api/v1/settings/{key}", "Store a value", write);
    routes.delete("/api/v1/settings/{key}", "Go back to the default", reset);
}

async fn list(app: App, cx: Caller, (): ()) -> Result<SettingList, ApiError> {
    let lang = cx.lang;
    let settings = app.host().settings();
    let fixed = SETTINGS.iter().map(|spec| spec.key.to_owned());
    let items = fixed.chain(settings.stored_family_keys()).filter_map(|key| view(&app, &key, lang)).collect();
    Ok(SettingList { items })
}

async fn read(app: App, cx: Caller, Path(key): Path<String>) -> Result<Setting, ApiError> {
    let lang = cx.lang;
    view(&app, &key, lang).ok_or_else(|| unknown_setting(&key).into())
}

async fn write(
    app: App,
    cx: Caller,
    (Path(key), Body(body)): (Path<String>, Body<SettingValue>),
) -> Result<Setting, ApiError> {
    let lang = cx.lang;
    refuse_decided(&app, &key)?;
    let name = key.clone();
    blocking(app.host(), move |host| host.set_setting(&name, &body.value, "person")).await?;
    view(&app, &key, lang).ok_or_else(|| unknown_setting(&key).into())
}

async fn reset(app: App, cx: Caller, Path(key): Path<String>) -> Result<Setting, ApiError> {
    let lang = cx.lang;
    let name = key.clone();
    blocking(app.host(), move |host| host.reset_setting(&name)).await?;
    view(&app, &key, lang).ok_or_else(|| unknown_setting(&key).into())
}

/// Storing a value that a flag or variable overrides would look like success and change nothing.
fn refuse_decided(app: &App, key: &str) -> Result<(), Fault> {
    let Some(effective) = app.host().settings().effective(key) else { return Ok(()) };
    let name = match effective.source {
        SettingSource::Flag(name) | SettingSource::Env(name) => name,
        SettingSource::Stored | SettingSource::Default => return Ok(()),
    };
    Err(Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("`{key}` is decided by `{name}` for this process"),
            format!("`{key}` 在当前进程中由 `{name}` 决定"),
        ),
    )
    .hint(Text::new(
        format!("start ChatOS without `{name}`"),
        format!("请在不带 `{name}` 的情况下启动 ChatOS"),
    )))
}

fn view(app: &App, key: &str, lang: Lang) -> Option<Setting> {
    let spec = find_setting(key)?;
    let Effective { value, source, warning, updated_at } = app.host().settings().effective(key)?;
    let (source, source_name) = match source {
        SettingSource::Flag(name) => (ValueSource::Flag, Some(name)),
        SettingSource::Env(name) => (ValueSource::Env, Some(name)),
        SettingSource::Stored => (ValueSource::Setting, None),
        SettingSource::Default => (ValueSource::Default, None),
    };
    let both = |(en, zh): (&str, &str)| TextPair { zh: zh.to_owned(), en: en.to_owned() };
    Some(Setting {
        key: key.to_owned(),
        default: spec.default_value(),
        editable: source_name.is_none(),
        source,
        source_name,
        section: spec.section.as_str().to_owned(),
        kind: kind(spec),
        restart: spec.restart,
        weakens_safety: spec.weakens_with(&value),
        value,
        warning: warning.map(|warning| warning.get(lang).to_owned()),
        label: both(spec.label),
        description: both(spec.description),
        updated_at: updated_at.map(iso_from_ms),
    })
}

fn kind(spec: &SettingSpec) -> SettingType {
    match spec.kind {
        SettingKind::Bool => SettingType::Bool,
        SettingKind::Int { min, max, zero_off } => SettingType::Int { min, max, zero_means_off: zero_off },
        SettingKind::Enum { options, .. } => {
            SettingType::Enum { options: options.iter().map(|option| (*option).to_owned()).collect() }
        }
        SettingKind::Text { .. } | SettingKind::Proxy | SettingKind::Hours => SettingType::String,
        SettingKind::List { max_items, .. } => SettingType::List { max_items },
        SettingKind::IntMap { min, max } => SettingType::Map { min, max },
    }
}
