//! What a setting is: its key, shape, range, default, names in the environment and texts.

use serde_json::Value;

use crate::table::SETTINGS;
use crate::value::{self, SettingIssue};

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
    /// A part of the day, `22:00-07:00`, with days or without; or nothing.
    Hours,
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
    /// A list with these items, in this order.
    List(&'static [&'static str]),
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
            Fallback::List(items) => items.iter().copied().map(Value::from).collect(),
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
pub(crate) const PLUGIN_ENV: SettingSpec = SettingSpec {
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
pub fn check_value(spec: &SettingSpec, value: &Value) -> Result<Value, Vec<SettingIssue>> {
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

pub(crate) fn env_name(key: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        let mut seen = std::collections::BTreeSet::new();
        for spec in SETTINGS {
            assert!(seen.insert(spec.key), "{} twice", spec.key);
            assert!(value::check(spec, &spec.default_value()).is_ok(), "default of {}", spec.key);
            for text in [spec.label.0, spec.label.1, spec.description.0, spec.description.1] {
                assert!(!text.is_empty(), "{}", spec.key);
            }
        }
        assert_eq!(find_setting("shellTimeoutMs").unwrap().env_name(), "CHATOS_SET_SHELL_TIMEOUT_MS");
        assert_eq!(
            find_setting("uiApps.syncAiContributes").unwrap().env_name(),
            "CHATOS_SET_UI_APPS_SYNC_AI_CONTRIBUTES"
        );
    }
}
