//! Mirroring contributions into the Admin DB (ai-contributions §8), as a plan: given the rows that
//! should be there and the rows that are, what to write. The store executes it in one transaction
//! per plugin; nothing here touches a database.
//!
//! The one promise: a value a person changed is never overwritten, and a row a person deleted does
//! not come back by itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use chatos_manifest::{AppId, Auth, Dropped, PluginId, Problem, ProblemCode, Source, Text, quote};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::AppContribution;

/// Which table a row belongs to; the text is what `synced_values.entity` holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Entity {
    /// `mcp_servers`.
    Server,
    /// `prompts`.
    Prompt,
}

impl Entity {
    /// The name of the table.
    pub fn table(self) -> &'static str {
        match self {
            Entity::Server => "mcp_servers",
            Entity::Prompt => "prompts",
        }
    }
}

/// What owns a synced row: the app and, for prompts, the language (empty for servers). The name is
/// not part of it, so a person may rename a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "columns of the tables")]
pub struct RowKey {
    pub entity: Entity,
    pub app_id: AppId,
    pub lang: &'static str,
}

/// Field values as they are compared and remembered: texts, `1`/`0`, compact JSON, and for `auth` a
/// digest, because `synced_values` is not sealed.
pub type Fields = BTreeMap<&'static str, String>;

/// A row that should exist.
#[derive(Debug, Clone, PartialEq)]
pub struct DesiredRow {
    /// Owner.
    pub key: RowKey,
    /// Values; `name` is always there.
    pub fields: Fields,
    /// The value behind the digest in `fields["auth"]`, to be sealed when written.
    pub auth: Option<Auth>,
}

/// A row that exists, with the values last written by sync.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "columns of the tables")]
pub struct CurrentRow {
    pub id: String,
    pub current: HashMap<String, String>,
    pub synced: HashMap<String, String>,
}

/// Everything the plan for one plugin looks at.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// Rows of this plugin with `source='app'`.
    pub rows: BTreeMap<RowKey, CurrentRow>,
    /// Rows a person deleted.
    pub tombstones: HashSet<RowKey>,
    /// Names of all other server rows, in lower case.
    pub server_names: HashSet<String>,
    /// Names of all other prompt rows, in lower case.
    pub prompt_names: HashSet<String>,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Add the row and remember its values.
    Insert(DesiredRow),
    /// Write `fields` of the row `id`, and remember them.
    Update {
        /// Row id.
        id: String,
        /// Owner.
        key: RowKey,
        /// Fields to write.
        fields: Fields,
        /// To be sealed when `fields` holds `auth`.
        auth: Option<Auth>,
    },
    /// Delete the row (no tombstone: it is not a person who deletes).
    Delete {
        /// Row id.
        id: String,
        /// Owner.
        key: RowKey,
    },
    /// The row has a person's edits and its app no longer wants it: it becomes the person's own
    /// (`source='user'`).
    Release {
        /// Row id.
        id: String,
        /// Owner.
        key: RowKey,
    },
}

/// What to do, and what could not be done.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "see the type")]
pub struct Plan {
    pub actions: Vec<Action>,
    pub problems: Vec<Problem>,
}

/// The rows one app's contribution asks for.
pub fn desired_rows(contribution: &AppContribution) -> Vec<DesiredRow> {
    let mut rows = Vec::new();
    let app_id = &contribution.app_id;
    if let Some(server) = &contribution.mcp {
        let fields = Fields::from([
            ("name", server.name.clone()),
            ("url", server.url.clone()),
            ("description", server.description.clone()),
            ("tags", json!(server.tags).to_string()),
            ("enabled", flag(server.enabled)),
            ("allow_main", flag(server.allow_main)),
            ("allow_sub", flag(server.allow_sub)),
            (
                "call_meta",
                server.call_meta.as_ref().map(|meta| canonical(meta).to_string()).unwrap_or_default(),
            ),
            ("auth", server.auth.as_ref().map(auth_digest).unwrap_or_default()),
        ]);
        let key = RowKey { entity: Entity::Server, app_id: app_id.clone(), lang: "" };
        rows.push(DesiredRow { key, fields, auth: server.auth.clone() });
    }
    if let Some(prompt) = &contribution.mcp_prompt {
        for (lang, name, text) in [("zh", &prompt.names.zh, &prompt.zh), ("en", &prompt.names.en, &prompt.en)]
        {
            // An empty text makes no row.
            if text.is_empty() {
                continue;
            }
            let fields = Fields::from([
                ("name", name.clone()),
                ("title", prompt.title.clone()),
                ("content", text.clone()),
                ("type", "system".to_owned()),
                ("allow_main", flag(true)),
                ("allow_sub", flag(true)),
            ]);
            let key = RowKey { entity: Entity::Prompt, app_id: app_id.clone(), lang };
            rows.push(DesiredRow { key, fields, auth: None });
        }
    }
    rows
}

/// What to change so that the rows of `plugin` follow `desired` as far as people's edits allow. An
/// unchanged contribution gives an empty plan.
pub fn plan(plugin: &PluginId, desired: &[DesiredRow], world: &World) -> Plan {
    let mut plan = Plan::default();
    let mut server_names = world.server_names.clone();
    let mut prompt_names = world.prompt_names.clone();
    for row in desired {
        if world.tombstones.contains(&row.key) {
            continue;
        }
        let taken = match row.key.entity {
            Entity::Server => &mut server_names,
            Entity::Prompt => &mut prompt_names,
        };
        let name = row.fields.get("name").map(String::as_str).unwrap_or_default();
        let name_taken = taken.contains(&name.to_lowercase());
        match world.rows.get(&row.key) {
            None if name_taken => plan.problems.push(name_problem(plugin, &row.key, name)),
            None => {
                taken.insert(name.to_lowercase());
                plan.actions.push(Action::Insert(row.clone()));
            }
            Some(existing) => {
                let mut fields = changed_fields(row, existing);
                if fields.contains_key("name") && name_taken {
                    fields.remove("name");
                    plan.problems.push(name_problem(plugin, &row.key, name));
                }
                if let Some(current) = existing.current.get("name") {
                    taken.insert(current.to_lowercase());
                }
                if !fields.is_empty() {
                    let auth = fields.contains_key("auth").then(|| row.auth.clone()).flatten();
                    let (id, key) = (existing.id.clone(), row.key.clone());
                    plan.actions.push(Action::Update { id, key, fields, auth });
                }
            }
        }
    }
    let wanted: HashSet<&RowKey> = desired.iter().map(|row| &row.key).collect();
    let gone = world.rows.iter().filter(|(key, _)| !wanted.contains(key));
    plan.actions.extend(gone.map(|(key, row)| withdraw(key, row)));
    plan
}

/// The setting was turned off: rows without edits go, edited ones become the person's.
pub fn plan_off(world: &World) -> Vec<Action> {
    world.rows.iter().map(|(key, row)| withdraw(key, row)).collect()
}

/// The plugin was uninstalled: all its rows go.
pub fn plan_uninstall(world: &World) -> Vec<Action> {
    world.rows.iter().map(|(key, row)| Action::Delete { id: row.id.clone(), key: key.clone() }).collect()
}

/// Fields whose current value differs from what sync wrote: a person's edits, which the editor
/// marks.
pub fn edited_fields(row: &CurrentRow) -> Vec<&str> {
    let mut edited: Vec<&str> = row
        .synced
        .iter()
        .filter(|(field, synced)| row.current.get(*field) != Some(synced))
        .map(|(field, _)| field.as_str())
        .collect();
    edited.sort_unstable();
    edited
}

fn withdraw(key: &RowKey, row: &CurrentRow) -> Action {
    let (id, key) = (row.id.clone(), key.clone());
    if edited_fields(row).is_empty() { Action::Delete { id, key } } else { Action::Release { id, key } }
}

/// Fields to write: the plugin's value is new, and the person left the old one alone (or chose the
/// very same value, which then counts as synced again).
fn changed_fields(row: &DesiredRow, existing: &CurrentRow) -> Fields {
    row.fields
        .iter()
        .filter(|(field, wanted)| {
            let current = existing.current.get(**field);
            let synced = existing.synced.get(**field);
            synced != Some(wanted) && (current == synced || current == Some(wanted))
        })
        .map(|(field, wanted)| (*field, wanted.clone()))
        .collect()
}

fn name_problem(plugin: &PluginId, key: &RowKey, name: &str) -> Problem {
    let (en, zh) = match key.entity {
        Entity::Server => ("server", "服务器"),
        Entity::Prompt => ("prompt", "提示词"),
    };
    let message = Text::new(
        format!("A {en} named {} already exists and is left alone", quote(name)),
        format!("已存在名为 {} 的{zh}，保持不变", quote(name)),
    );
    let mut problem = Problem::new(ProblemCode::SyncNameTaken, "", message)
        .source(Source::Sync)
        .dropping(Dropped::Nothing)
        .of_plugin(plugin);
    problem.app = Some(chatos_manifest::AppRef { index: 0, id: Some(key.app_id.clone()) });
    problem
}

fn flag(value: bool) -> String {
    if value { "1" } else { "0" }.to_owned()
}

/// Keys in one order, so that moving lines in a manifest is not a change.
fn canonical(map: &Map<String, Value>) -> Value {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Object(map) => canonical(map),
            Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    let ordered: BTreeMap<&String, Value> = map.iter().map(|(key, value)| (key, sorted(value))).collect();
    Value::Object(ordered.into_iter().map(|(key, value)| (key.clone(), value)).collect())
}

/// A digest of the secret values, so that a change is noticed without keeping them in the clear.
pub fn auth_digest(auth: &Auth) -> String {
    let mut hash = Sha256::new();
    let mut part = |label: &str, value: &str| {
        for text in [label, value] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    };
    if let Some(token) = &auth.token {
        part("token", token.expose());
    }
    if let Some(basic) = &auth.basic {
        part("username", &basic.username);
        part("password", basic.password.as_ref().map_or("", |password| password.expose()));
    }
    for (name, value) in &auth.headers {
        part(name, value.expose());
    }
    let digest = hash.finalize();
    digest.iter().fold("sha256:".to_owned(), |mut text, byte| {
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
        text
    })
}

#[cfg(test)]
mod tests;
