//! What is in force: flag, environment, stored value, default, in this order (tools §13).
//!
//! Values are clamped with one warning when read out of range. Nothing is read or written here; the stored
//! values are given by `chatos-store`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use chatos_tool::Text;
use serde_json::Value;

use crate::language::{Languages, languages};
use crate::spec::{EnvRule, PLUGIN_ENV, SettingSpec, env_name, find_setting};
use crate::value::{self, SettingIssue};

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

/// What decides besides the database: flags and environment of this process.
#[derive(Debug, Clone, Default)]
pub struct SettingsInput {
    /// Values given as flags, by key, already parsed.
    pub flags: BTreeMap<String, Value>,
    /// The environment variables that may name settings.
    pub env: BTreeMap<String, String>,
}

/// The snapshot every reader uses. Whoever stores values writes them first, then tells it here. Clones are the
/// same settings.
#[derive(Clone)]
pub struct Settings(Arc<Snapshot>);

struct Snapshot {
    input: SettingsInput,
    stored: RwLock<BTreeMap<String, (Value, i64)>>,
    // Check, write and snapshot update happen in one order for all writers.
    writing: Mutex<()>,
    revision: AtomicU64,
}

impl Settings {
    /// Flags, environment and defaults, where there is no database yet.
    pub fn unstored(input: SettingsInput) -> Self {
        Self(Arc::new(Snapshot {
            input,
            stored: RwLock::default(),
            writing: Mutex::new(()),
            revision: AtomicU64::new(0),
        }))
    }

    /// Rises with every change; readers keep what they made of the values until then.
    pub fn revision(&self) -> u64 {
        self.0.revision.load(Ordering::Acquire)
    }

    fn changed(&self) {
        self.0.revision.fetch_add(1, Ordering::Release);
    }

    /// What is in force for `key`; `None` for a key nobody knows.
    pub fn effective(&self, key: &str) -> Option<Effective> {
        let spec = find_setting(key)?;
        let mut warning = None;
        if let Some(value) = self.0.input.flags.get(key) {
            let source = SettingSource::Flag(spec.flag.unwrap_or("--set").to_owned());
            return Some(Effective { value: value.clone(), source, warning, updated_at: None });
        }
        let own = env_name(key);
        let names = std::iter::once((own.as_str(), EnvRule::Value)).chain(spec.env.iter().copied());
        for (name, rule) in names {
            let Some(text) = self.0.input.env.get(name) else { continue };
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
        let stored = self.0.stored.read().unwrap_or_else(PoisonError::into_inner);
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

    /// Which language people and models are spoken to, of this process and these settings.
    pub fn languages(&self) -> Languages {
        languages(&self.0.input.env, self)
    }

    /// The effective value as a switch.
    pub fn bool(&self, key: &str) -> bool {
        self.effective(key).and_then(|e| e.value.as_bool()).unwrap_or_default()
    }

    /// The effective value as a number.
    pub fn int(&self, key: &str) -> i64 {
        self.effective(key).and_then(|e| e.value.as_i64()).unwrap_or_default()
    }

    /// The effective value as a list of texts.
    pub fn list(&self, key: &str) -> Vec<String> {
        let value = self.effective(key).map(|effective| effective.value).unwrap_or_default();
        let items = value.as_array().into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// The effective value as a text.
    pub fn text(&self, key: &str) -> String {
        self.effective(key).and_then(|e| e.value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Keys of families that have a stored value.
    pub fn stored_family_keys(&self) -> Vec<String> {
        let stored = self.0.stored.read().unwrap_or_else(PoisonError::into_inner);
        stored.keys().filter(|key| key.starts_with(PLUGIN_ENV.key)).cloned().collect()
    }

    /// Taken by whoever writes, from the check until the snapshot knows: all writers go in one order.
    pub fn writing(&self) -> MutexGuard<'_, ()> {
        self.0.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stored values as they were read, with the time each was written. `true` when any is another.
    pub fn replace_stored(&self, values: BTreeMap<String, (Value, i64)>) -> bool {
        let mut known = self.0.stored.write().unwrap_or_else(PoisonError::into_inner);
        let other = *known != values;
        if other {
            *known = values;
            drop(known);
            self.changed();
        }
        other
    }

    /// One value was stored, or is not stored any more.
    pub fn note_stored(&self, key: &str, value: Option<(Value, i64)>) {
        let mut stored = self.0.stored.write().unwrap_or_else(PoisonError::into_inner);
        match value {
            Some(value) => drop(stored.insert(key.to_owned(), value)),
            None => drop(stored.remove(key)),
        }
        drop(stored);
        self.changed();
    }

    /// The normal form of a value that may be stored beside the others in force, or every reason against it.
    pub fn check(&self, spec: &SettingSpec, key: &str, value: &Value) -> Result<Value, Vec<SettingIssue>> {
        let value = value::check(spec, value)?;
        self.check_pair(key, &value).map_err(|issue| vec![issue])?;
        Ok(value)
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
