//! Settings with their effective values, where they come from, and what may be entered.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method};
use axum::routing::get;
use chatos_host::{
    Effective, ErrorCode, Fault, Lang, SETTINGS, SettingKind, SettingSource, SettingSpec, Text, find_setting,
    iso_from_ms,
};
use chatos_wire::setting::{Setting, SettingList, SettingType, SettingValue, TextPair, ValueSource};

use crate::api::{ApiError, Body, Routes, lang_of};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    routes.read::<SettingList>("/api/v1/settings", "Every setting with its effective value", &[], get(list));
    let one = get(read).put(write).delete(reset);
    routes.read::<Setting>("/api/v1/settings/{key}", "One setting", &[], one);
    routes.document::<SettingValue, Setting>(Method::PUT, "/api/v1/settings/{key}", "Store a value");
    routes.document_act::<Setting>(Method::DELETE, "/api/v1/settings/{key}", "Go back to the default");
}

async fn list(State(app): State<App>, headers: HeaderMap) -> Json<SettingList> {
    let lang = lang_of(&headers, app.host().lang());
    let settings = app.host().settings();
    let fixed = SETTINGS.iter().map(|spec| spec.key.to_owned());
    let items = fixed.chain(settings.stored_family_keys()).filter_map(|key| view(&app, &key, lang)).collect();
    Json(SettingList { items })
}

async fn read(
    State(app): State<App>,
    headers: HeaderMap,
    Path(key): Path<String>,
) -> Result<Json<Setting>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    view(&app, &key, lang).map(Json).ok_or_else(|| app.host().unknown_setting(&key).into())
}

async fn write(
    State(app): State<App>,
    headers: HeaderMap,
    Path(key): Path<String>,
    Body(body): Body<SettingValue>,
) -> Result<Json<Setting>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    refuse_decided(&app, &key)?;
    let host = app.host().clone();
    let name = key.clone();
    let stored = tokio::task::spawn_blocking(move || host.set_setting(&name, &body.value, "person")).await;
    stored.map_err(|error| bug(&error))??;
    view(&app, &key, lang).map(Json).ok_or_else(|| app.host().unknown_setting(&key).into())
}

async fn reset(
    State(app): State<App>,
    headers: HeaderMap,
    Path(key): Path<String>,
) -> Result<Json<Setting>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let host = app.host().clone();
    let name = key.clone();
    let done = tokio::task::spawn_blocking(move || host.reset_setting(&name)).await;
    done.map_err(|error| bug(&error))??;
    view(&app, &key, lang).map(Json).ok_or_else(|| app.host().unknown_setting(&key).into())
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

fn bug(error: &tokio::task::JoinError) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same(error.to_string()))
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
        SettingKind::Text { .. } | SettingKind::Proxy => SettingType::String,
        SettingKind::List { max_items, .. } => SettingType::List { max_items },
        SettingKind::IntMap { min, max } => SettingType::Map { min, max },
    }
}
