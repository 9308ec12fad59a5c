//! What an import did, row by row where it did not: nothing is left out without being named.

use std::collections::{BTreeMap, BTreeSet};

use chatos_tool::Text;
use serde_json::{Value, json};

/// Keys named per table; a table of free-form objects must not make the report endless.
const UNKNOWN_KEYS: usize = 100;

/// Why a row was not taken as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    NoId,
    NotJson(String),
    NotAnObject,
    Missing(&'static str),
    Unknown(&'static str, String),
    KeyMissing,
    SecretName(String),
    FromPlugin,
    BuiltIn,
    Unedited,
    NotNewer,
    Locked,
    Room,
    NoSession(String),
    Refused(String),
    NotInstalled,
    NotTaken,
}

impl Reason {
    /// Stable code.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NoId => "no_id",
            Self::NotJson(_) => "not_json",
            Self::NotAnObject => "not_an_object",
            Self::Missing(_) => "missing_field",
            Self::Unknown(..) => "unknown_value",
            Self::KeyMissing => "cannot_be_opened",
            Self::SecretName(_) => "bad_name",
            Self::FromPlugin => "from_plugin",
            Self::BuiltIn => "built_in",
            Self::Unedited => "unedited",
            Self::NotNewer => "already_there",
            Self::Locked => "locked",
            Self::Room => "room",
            Self::NoSession(_) => "no_session",
            Self::Refused(_) => "refused",
            Self::NotInstalled => "not_installed",
            Self::NotTaken => "not_taken",
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::NoId => Text::fixed("the row has no id", "该行没有 id"),
            Self::NotJson(why) => {
                Text::new(format!("the row is not JSON: {why}"), format!("该行不是 JSON：{why}"))
            }
            Self::NotAnObject => Text::fixed("the row is not an object", "该行不是对象"),
            Self::Missing(field) => Text::new(format!("`{field}` is missing"), format!("缺少 `{field}`")),
            Self::Unknown(field, value) => Text::new(
                format!("`{field}` has the unknown value `{value}`"),
                format!("`{field}` 的值 `{value}` 未知"),
            ),
            Self::KeyMissing => Text::fixed(
                "it cannot be opened: its key is missing or another one",
                "无法打开：缺少密钥或密钥不符",
            ),
            Self::SecretName(name) => {
                Text::new(format!("`{name}` cannot name a secret"), format!("`{name}` 不能用作密钥名称"))
            }
            Self::FromPlugin => Text::fixed(
                "it comes from a plugin and is made from that again",
                "来自插件，将由插件重新生成",
            ),
            Self::BuiltIn => Text::fixed("it is built in", "内置内容"),
            Self::Unedited => Text::fixed("it is built in and was not edited", "内置且未被编辑"),
            Self::NotNewer => Text::fixed("a row that is not older is there already", "已存在不更旧的行"),
            Self::Locked => Text::fixed("the row that is there is locked", "已存在的行被锁定"),
            Self::Room => Text::fixed("rooms are not taken over", "不导入房间会话"),
            Self::NoSession(id) => {
                Text::new(format!("its session `{id}` was not taken"), format!("其会话 `{id}` 未导入"))
            }
            Self::Refused(why) => {
                Text::new(format!("the database refused it: {why}"), format!("数据库拒绝：{why}"))
            }
            Self::NotInstalled => Text::fixed("it is not installed here", "此处未安装"),
            Self::NotTaken => Text::fixed("rows of this kind are not taken over", "不导入此类数据"),
        }
    }
}

/// Numbers of one table of the source; they add up: found = imported + updated + skipped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCount {
    /// Rows in the source.
    pub found: u64,
    /// New here.
    pub imported: u64,
    /// Were here, older.
    pub updated: u64,
    /// Left out, each with its reason.
    pub skipped: u64,
    /// Of the taken ones: those whose values had to be mended.
    pub repaired: u64,
}

/// What an import did.
#[derive(Debug, Clone, Default)]
pub struct ImportReport {
    counts: BTreeMap<String, ImportCount>,
    skipped: Vec<(String, String, &'static str, Text)>,
    unknown: BTreeMap<String, BTreeSet<String>>,
    notes: Vec<(&'static str, Text)>,
    /// Settings taken that make ChatOS less safe; the host audits them.
    pub weakened: Vec<String>,
}

impl ImportReport {
    /// Numbers per table of the source.
    pub fn counts(&self) -> &BTreeMap<String, ImportCount> {
        &self.counts
    }

    pub(super) fn count(&mut self, table: &str) -> &mut ImportCount {
        self.counts.entry(table.to_owned()).or_default()
    }

    pub(super) fn skip(&mut self, table: &str, id: &str, reason: &Reason) {
        self.count(table).skipped += 1;
        self.skipped.push((table.to_owned(), id.to_owned(), reason.code(), reason.text()));
    }

    pub(super) fn unknown(&mut self, table: &str, keys: impl Iterator<Item = String>) {
        let known = self.unknown.entry(table.to_owned()).or_default();
        for key in keys {
            if known.len() < UNKNOWN_KEYS {
                known.insert(key);
            }
        }
    }

    pub(super) fn note(&mut self, code: &'static str, text: Text) {
        self.notes.push((code, text));
    }

    /// `{table: {found, imported, updated, skipped, repaired}}`.
    pub fn counts_json(&self) -> Value {
        self.counts
            .iter()
            .map(|(table, count)| {
                let value = json!({
                    "found": count.found, "imported": count.imported, "updated": count.updated,
                    "skipped": count.skipped, "repaired": count.repaired,
                });
                (table.clone(), value)
            })
            .collect::<serde_json::Map<_, _>>()
            .into()
    }

    /// The whole report.
    pub fn to_json(&self) -> Value {
        let skipped: Vec<_> = self
            .skipped
            .iter()
            .map(|(table, id, code, text)| {
                json!({ "table": table, "id": id, "code": code, "message": text.en, "messageZh": text.zh })
            })
            .collect();
        let unknown: BTreeMap<_, _> = self.unknown.iter().filter(|(_, keys)| !keys.is_empty()).collect();
        let notes: Vec<_> = self
            .notes
            .iter()
            .map(|(code, text)| json!({ "code": code, "message": text.en, "messageZh": text.zh }))
            .collect();
        json!({ "counts": self.counts_json(), "skipped": skipped, "unknownKeys": unknown, "notes": notes,
            "weakenedSettings": self.weakened })
    }
}
