//! A setting: the table of all of them, their ranges and texts, and the layers of values one of which is in force.
//!
//! No I/O: flags and environment are given by the host, stored values by `chatos-store`.

mod fault;
mod language;
mod settings;
mod spec;
mod table;
mod value;

pub use fault::{refused_setting, unknown_setting};
pub use language::{Languages, languages};
pub use settings::{Effective, SettingSource, Settings, SettingsInput};
pub use spec::{
    EnvRule, Fallback, Section, SettingKind, SettingSpec, Weakens, check_value, find_setting, nearest_setting,
};
pub use table::SETTINGS;
pub use value::SettingIssue;
