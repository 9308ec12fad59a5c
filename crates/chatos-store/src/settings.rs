//! Settings: one table, one stored map of what differs from the defaults, one effective value each.
//!
//! Precedence is flag, environment, stored setting, default (tools §13). Values are refused when
//! written out of range, and clamped with one warning when read out of range.

mod table;
mod value;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};

use chatos_tool::Text;
use serde_json::Value;

use crate::db::{Store, lock};
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

pub use table::SETTINGS;
pub use value::SettingIssue;

/// The shape of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// On or off.
    Bool,
    /// A whole number in a range; `zero_off` allows 0 below `min` with the meaning "off".
    Int {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
        /// 0 is legal besides the range.
        zero_off: bool,
    },
    /// One of a few words.
    Enum {
        /// The words.
        options: &'static [&'static str],
        /// Other spellings and the word each stands for.
        aliases: &'static [(&'static str, &'static str)],
    },
    /// Free text.
    Text {
        /// Longest, in bytes.
        max: usize,
    },
    /// The address of a proxy, `off`, or nothing.
    Proxy,
    /// A list of texts.
    List {
        /// Most items.
        max_items: usize,
        /// Every item is an absolute path.
        absolute_paths: bool,
    },
    /// A map from a name to a number.
    IntMap {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
}

/// The default, in a form a constant can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// A switch.
    Bool(bool),
    /// A number.
    Int(i64),
    /// A word or text.
    Text(&'static str),
    /// `[]`.
    EmptyList,
    /// `{}`.
    EmptyMap,
}

/// How an older environment name maps to the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvRule {
    /// The text is the value.
    Value,
    /// A true value means this word; anything else is no value.
    OneMeans(&'static str),
    /// False and true mean these words.
    ZeroOne(&'static str, &'static str),
}

/// Which group of the Settings page a setting belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the headings")]
pub enum Section {
    General,
    Safety,
    Limits,
    Concurrency,
    Agents,
    Logging,
    Confirmation,
    Apps,
    Data,
}

impl Section {
    /// The heading's stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::General => "General",
            Self::Safety => "Safety",
            Self::Limits => "Limits",
            Self::Concurrency => "Concurrency",
            Self::Agents => "Agents",
            Self::Logging => "Logging",
            Self::Confirmation => "Confirmation",
            Self::Apps => "Apps",
            Self::Data => "Data",
        }
    }
}

/// Which values make ChatOS less safe than its defaults; choosing one is audited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weakens {
    /// None.
    Never,
    /// `true`.
    WhenTrue,
    /// `false`.
    WhenFalse,
    /// This word.
    WhenText(&'static str),
    /// Any item.
    WhenFilled,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct SettingSpec {
    /// The stable public name.
    pub key: &'static str,
    /// Shape and range.
    pub kind: SettingKind,
    /// The default.
    pub fallback: Fallback,
    /// Group on the page.
    pub section: Section,
    /// Older environment names besides `CHATOS_SET_<KEY>`.
    pub env: &'static [(&'static str, EnvRule)],
    /// The flag that decides it for one process.
    pub flag: Option<&'static str>,
    /// Takes effect at the next start.
    pub restart: bool,
    /// Values that weaken safety.
    pub weakens: Weakens,
    /// English and Chinese label.
    pub label: (&'static str, &'static str),
    /// English and Chinese explanation.
    pub description: (&'static str, &'static str),
}

impl SettingSpec {
    /// The default as JSON.
    pub fn default_value(&self) -> Value {
        match self.fallback {
            Fallback::Bool(value) => Value::Bool(value),
            Fallback::Int(value) => Value::from(value),
            Fallback::Text(value) => Value::from(value),
            Fallback::EmptyList => Value::Array(Vec::new()),
            Fallback::EmptyMap => Value::Object(serde_json::Map::new()),
        }
    }

    /// `shellTimeoutMs` → `CHATOS_SET_SHELL_TIMEOUT_MS`; dots become underscores.
    pub fn env_name(&self) -> String {
        env_name(self.key)
    }

    /// Whether this value makes ChatOS less safe.
    pub fn weakens_with(&self, value: &Value) -> bool {
        match self.weakens {
            Weakens::Never => false,
            Weakens::WhenTrue => value == &Value::Bool(true),
            Weakens::WhenFalse => value == &Value::Bool(false),
            Weakens::WhenText(word) => value.as_str() == Some(word),
            Weakens::WhenFilled => value.as_array().is_some_and(|items| !items.is_empty()),
        }
    }
}

/// `pluginEnv.<pluginId>`: names of extra variables passed to that plugin. The one family of keys.
const PLUGIN_ENV: SettingSpec = SettingSpec {
    key: "pluginEnv.",
    kind: SettingKind::List { max_items: 64, absolute_paths: false },
    fallback: Fallback::EmptyList,
    section: Section::Apps,
    env: &[],
    flag: None,
    restart: false,
    weakens: Weakens::WhenFilled,
    label: ("Environment of a plugin", "插件环境变量"),
    description: ("Names of extra variables passed to that plugin", "额外传递给该插件的环境变量名"),
};

/// Checks a value strictly and returns its normal form.
pub(crate) fn check_value(spec: &SettingSpec, value: &Value) -> Result<Value, Vec<SettingIssue>> {
    value::check(spec, value)
}

/// The row for a key; keys of the `pluginEnv.` family share one.
pub fn find_setting(key: &str) -> Option<&'static SettingSpec> {
    if key.strip_prefix("pluginEnv.").is_some_and(|id| !id.is_empty() && id.len() <= 128) {
        return Some(&PLUGIN_ENV);
    }
    SETTINGS.iter().find(|spec| spec.key == key)
}

/// The known key a mistyped one probably means.
pub fn nearest_setting(key: &str) -> Option<&'static str> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(['_', '-', '.', ' '], "");
    let wanted = plain(key);
    SETTINGS
        .iter()
        .map(|spec| (value::edit_distance(&plain(spec.key), &wanted), spec.key))
        .filter(|(distance, _)| *distance <= 3)
        .min()
        .map(|(_, key)| key)
}

fn env_name(key: &str) -> String {
    let mut name = String::from("CHATOS_SET_");
    for (index, c) in key.char_indices() {
        match c {
            '.' | '-' => name.push('_'),
            c if c.is_ascii_uppercase() && index > 0 => {
                name.push('_');
                name.push(c);
            }
            c => name.push(c.to_ascii_uppercase()),
        }
    }
    name
}

/// Where an effective value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingSource {
    /// A flag of this process.
    Flag(String),
    /// An environment variable.
    Env(String),
    /// Stored by a person.
    Stored,
    /// Nobody said anything.
    Default,
}

/// What is in force for one setting, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Effective {
    /// The value in force.
    pub value: Value,
    /// Who decided it.
    pub source: SettingSource,
    /// A value that was ignored or clamped, said once.
    pub warning: Option<Text>,
    /// When the stored value was written.
    pub updated_at: Option<i64>,
}

/// Why a setting was not stored.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The value cannot be meant; every reason.
    #[error("the value is refused")]
    Refused(Vec<SettingIssue>),
    /// The database could not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What decides besides the database: flags and environment of this process.
#[derive(Debug, Clone, Default)]
pub struct SettingsInput {
    /// Values given as flags, by key, already parsed.
    pub flags: BTreeMap<String, Value>,
    /// The environment variables that may name settings.
    pub env: BTreeMap<String, String>,
}

/// The snapshot every reader uses; writes go through to the database first.
pub struct Settings {
    input: SettingsInput,
    stored: RwLock<BTreeMap<String, (Value, i64)>>,
    // Check, write and snapshot update happen in one order for all writers.
    writing: Mutex<()>,
    revision: AtomicU64,
}

impl Settings {
    /// Reads the stored values.
    pub fn load(store: &Store, input: SettingsInput) -> Result<Self, StoreError> {
        let settings = Self::unstored(input);
        settings.reload(store)?;
        Ok(settings)
    }

    /// Flags, environment and defaults, where there is no database yet.
    pub fn unstored(input: SettingsInput) -> Self {
        Self { input, stored: RwLock::default(), writing: Mutex::new(()), revision: AtomicU64::new(0) }
    }

    /// Rises with every change; readers keep what they made of the values until then.
    pub fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.revision.fetch_add(1, Ordering::Release);
    }

    /// Reads the stored values again; another process may have changed them. `true` when it did.
    pub fn reload(&self, store: &Store) -> Result<bool, StoreError> {
        let _order = lock(&self.writing);
        let stored = store.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT key, value, updated_at FROM settings")?;
            let rows = statement.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })?;
            let mut map = BTreeMap::new();
            for row in rows {
                let (key, text, at) = row?;
                // The CHECK of the table guarantees JSON; anything else is damage: null fits no setting, so
                // it counts as unset and is told.
                map.insert(key, (serde_json::from_str(&text).unwrap_or(Value::Null), at));
            }
            Ok(map)
        })?;
        let mut known = self.stored.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let other = *known != stored;
        if other {
            *known = stored;
            drop(known);
            self.changed();
        }
        Ok(other)
    }

    /// What is in force for `key`; `None` for a key nobody knows.
    pub fn effective(&self, key: &str) -> Option<Effective> {
        let spec = find_setting(key)?;
        let mut warning = None;
        if let Some(value) = self.input.flags.get(key) {
            let source = SettingSource::Flag(spec.flag.unwrap_or("--set").to_owned());
            return Some(Effective { value: value.clone(), source, warning, updated_at: None });
        }
        let own = env_name(key);
        let names = std::iter::once((own.as_str(), EnvRule::Value)).chain(spec.env.iter().copied());
        for (name, rule) in names {
            let Some(text) = self.input.env.get(name) else { continue };
            match value::from_env(spec, rule, text) {
                Ok(Some((value, clamped))) => {
                    let source = SettingSource::Env(name.to_owned());
                    return Some(Effective {
                        value,
                        source,
                        warning: clamped.then(|| value::clamped(name)),
                        updated_at: None,
                    });
                }
                Ok(None) => {}
                Err(()) => warning = Some(value::ignored(name)),
            }
        }
        let stored = self.stored.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((stored, at)) = stored.get(key) {
            match value::fit(spec, stored) {
                Some((value, clamped)) => {
                    let warning = if clamped { Some(value::clamped(key)) } else { warning };
                    let source = SettingSource::Stored;
                    return Some(Effective { value, source, warning, updated_at: Some(*at) });
                }
                None => warning = Some(value::ignored(key)),
            }
        }
        Some(Effective {
            value: spec.default_value(),
            source: SettingSource::Default,
            warning,
            updated_at: None,
        })
    }

    /// The effective value as a switch.
    pub fn bool(&self, key: &str) -> bool {
        self.effective(key).and_then(|e| e.value.as_bool()).unwrap_or_default()
    }

    /// The effective value as a number.
    pub fn int(&self, key: &str) -> i64 {
        self.effective(key).and_then(|e| e.value.as_i64()).unwrap_or_default()
    }

    /// The effective value as a text.
    pub fn text(&self, key: &str) -> String {
        self.effective(key).and_then(|e| e.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Keys of families that have a stored value.
    pub fn stored_family_keys(&self) -> Vec<String> {
        let stored = self.stored.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        stored.keys().filter(|key| key.starts_with(PLUGIN_ENV.key)).cloned().collect()
    }

    /// Stores a value; on an error nothing was changed.
    pub fn set(&self, store: &Store, key: &str, value: &Value, by: &str) -> Result<(), SettingError> {
        let spec = find_setting(key)
            .ok_or_else(|| StoreError::new(StoreErrorKind::NotFound, format!("no setting `{key}`")))?;
        let _order = lock(&self.writing);
        let value = value::check(spec, value).map_err(SettingError::Refused)?;
        self.check_pair(key, &value).map_err(|issue| SettingError::Refused(vec![issue]))?;
        if value == spec.default_value() {
            return Ok(self.forget(store, key)?);
        }
        let at = now_ms();
        let row = (key.to_owned(), value.to_string(), at, by.to_owned());
        store.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO settings (key, value, updated_at, updated_by) VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (key) DO UPDATE SET value = excluded.value,
                           updated_at = excluded.updated_at, updated_by = excluded.updated_by",
                )?
                .execute(row)?;
            Ok(())
        })?;
        let mut stored = self.stored.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        stored.insert(key.to_owned(), (value, at));
        drop(stored);
        self.changed();
        Ok(())
    }

    /// Goes back to the default.
    pub fn reset(&self, store: &Store, key: &str) -> Result<(), StoreError> {
        let _order = lock(&self.writing);
        self.forget(store, key)
    }

    fn forget(&self, store: &Store, key: &str) -> Result<(), StoreError> {
        let name = key.to_owned();
        store.write(move |connection| {
            connection.prepare_cached("DELETE FROM settings WHERE key = ?1")?.execute([name])?;
            Ok(())
        })?;
        let mut stored = self.stored.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        stored.remove(key);
        drop(stored);
        self.changed();
        Ok(())
    }

    /// The two time limits of a call belong together: the total is never shorter than the idle one.
    fn check_pair(&self, key: &str, value: &Value) -> Result<(), SettingIssue> {
        let number = value.as_i64().unwrap_or_default();
        let broken = match key {
            "mcpTimeoutMs" => number > self.int("mcpMaxTimeoutMs"),
            "mcpMaxTimeoutMs" => number < self.int("mcpTimeoutMs"),
            _ => false,
        };
        if broken { Err(value::pair_issue()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
