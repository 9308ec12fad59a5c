//! Mirroring what apps contribute into the Admin DB (ai-contributions §8). The plan is pure and made
//! in `chatos-contribution`; here it meets the rows and the key that seals credentials.

use std::collections::{BTreeMap, HashMap, HashSet};

use chatos_contribution::AppContribution;
use chatos_contribution::sync::{
    Action, CurrentRow, DesiredRow, Entity, Fields, Plan, RowKey, World, auth_digest, desired_rows, plan,
    plan_off, plan_uninstall,
};
use chatos_manifest::{AppId, Auth, PluginId, Problem, ProblemCode, Source};
use chatos_plugins::Snapshot;
use chatos_store::{AppEntity, AppRow, AppRowChange, StoreError};
use chatos_tool::Fault;

use crate::auth::StoredAuth;
use crate::parts::ServersParts;

/// The setting that turns it on.
pub const SETTING: &str = "uiApps.syncAiContributes";

impl ServersParts {
    /// Brings the rows of all trusted plugins up to date, or withdraws them when the setting is off. A
    /// failure is a problem of that plugin and touches no other.
    pub fn sync_contributions(&self, snapshot: &Snapshot) {
        let Ok(desk) = self.plugins.plugins() else { return };
        let mut problems = Vec::new();
        if self.settings.bool(SETTING) {
            let mut by_plugin: BTreeMap<PluginId, Vec<AppContribution>> = BTreeMap::new();
            for contribution in snapshot.contributions() {
                by_plugin.entry(contribution.plugin_id.clone()).or_default().push(contribution);
            }
            for (plugin, contributions) in by_plugin {
                let rows: Vec<DesiredRow> = contributions.iter().flat_map(desired_rows).collect();
                match self.sync_plugin(&plugin, &rows) {
                    Ok(found) => problems.extend(found),
                    Err(error) => problems.push(failed(&plugin, &error)),
                }
            }
        } else {
            match self.store.plugins_with_rows() {
                Ok(plugins) => {
                    for plugin in plugins.iter().filter_map(|id| PluginId::parse(id).ok()) {
                        let done = self
                            .world(&plugin)
                            .and_then(|world| self.execute(&plugin, plan_off(&world)).map(|_| ()));
                        if let Err(error) = done {
                            problems.push(failed(&plugin, &error));
                        }
                    }
                }
                Err(error) => tracing::error!(%error, "rows of apps cannot be read"),
            }
        }
        desk.set_sync_problems(problems);
    }

    /// The setting was changed.
    pub fn sync_setting_changed(&self) {
        if let Ok(desk) = self.plugins.plugins() {
            let _in_order = desk.following();
            self.sync_contributions(&desk.snapshot());
        }
    }

    /// Removes all rows of a plugin; how many there were.
    pub fn remove_synced_rows(&self, plugin: &PluginId) -> Result<usize, Fault> {
        let removed = self.world(plugin).and_then(|world| self.execute(plugin, plan_uninstall(&world)));
        removed.map_err(Fault::from)
    }

    fn sync_plugin(&self, plugin: &PluginId, rows: &[DesiredRow]) -> Result<Vec<Problem>, StoreError> {
        let world = self.world(plugin)?;
        let Plan { actions, problems } = plan(plugin, rows, &world);
        self.execute(plugin, actions)?;
        Ok(problems)
    }

    /// The rows as they are.
    fn world(&self, plugin: &PluginId) -> Result<World, StoreError> {
        let store = &self.store;
        let mut world = World::default();
        for row in store.app_rows(plugin.as_str())? {
            let Some(key) = row_key(&row) else { continue };
            let mut current: HashMap<String, String> = row.current.clone();
            if row.entity == AppEntity::Server {
                current.insert("auth".to_owned(), self.current_auth(&row));
            }
            world.rows.insert(key, CurrentRow { id: row.id, current, synced: row.synced });
        }
        for (entity, app, lang) in store.app_tombstones(plugin.as_str())? {
            if let (Ok(app_id), Some(lang)) = (AppId::parse(&app), known_lang(&lang)) {
                world.tombstones.insert(RowKey { entity: from_store(entity), app_id, lang });
            }
        }
        let others = |rows: Vec<chatos_store::NamedRow>| -> HashSet<String> {
            rows.into_iter()
                .filter(|row| !(row.source == "app" && row.plugin_id == plugin.as_str()))
                .map(|row| row.name.to_lowercase())
                .collect()
        };
        world.server_names = others(store.server_names()?);
        world.prompt_names = others(store.prompt_names()?);
        Ok(world)
    }

    /// The digest of stored credentials. What cannot be opened counts as the person's own, and is never
    /// overwritten.
    fn current_auth(&self, row: &AppRow) -> String {
        if row.auth_sealed.is_none() {
            return String::new();
        }
        match self.open_auth(&row.id, row.auth_sealed.as_deref()) {
            Ok(stored) => auth_digest(&stored.into()),
            Err(_) => "unreadable".to_owned(),
        }
    }

    fn seal(&self, row: &str, auth: Option<&Auth>) -> Result<Option<String>, StoreError> {
        auth.map_or(Ok(None), |auth| self.seal_auth(row, &StoredAuth::from(auth)))
    }

    fn execute(&self, plugin: &PluginId, actions: Vec<Action>) -> Result<usize, StoreError> {
        // An unchanged contribution writes nothing at all.
        if actions.is_empty() {
            return Ok(0);
        }
        let mut changes = Vec::with_capacity(actions.len());
        for action in actions {
            changes.push(match action {
                Action::Insert(row) => {
                    let id = uuid::Uuid::now_v7().to_string();
                    AppRowChange::Insert {
                        entity: to_store(row.key.entity),
                        auth_sealed: self.seal(&id, row.auth.as_ref())?,
                        id,
                        app_id: row.key.app_id.to_string(),
                        lang: row.key.lang.to_owned(),
                        fields: owned(row.fields),
                    }
                }
                Action::Update { id, key, fields, auth } => AppRowChange::Update {
                    entity: to_store(key.entity),
                    auth_sealed: self.seal(&id, auth.as_ref())?,
                    id,
                    fields: owned(fields),
                },
                Action::Delete { id, key } => AppRowChange::Delete { entity: to_store(key.entity), id },
                Action::Release { id, key } => AppRowChange::Release { entity: to_store(key.entity), id },
            });
        }
        self.store.change_app_rows(plugin.as_str(), changes)
    }
}

fn owned(fields: Fields) -> Vec<(String, String)> {
    fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()
}

fn failed(plugin: &PluginId, error: &StoreError) -> Problem {
    let message = chatos_manifest::Text::new(
        format!("What the plugin contributes could not be saved: {error}"),
        format!("无法保存该插件的贡献内容：{error}"),
    );
    Problem::new(ProblemCode::SyncFailed, "", message).source(Source::Sync).of_plugin(plugin)
}

fn to_store(entity: Entity) -> AppEntity {
    match entity {
        Entity::Server => AppEntity::Server,
        Entity::Prompt => AppEntity::Prompt,
    }
}

fn from_store(entity: AppEntity) -> Entity {
    match entity {
        AppEntity::Server => Entity::Server,
        AppEntity::Prompt => Entity::Prompt,
    }
}

fn known_lang(lang: &str) -> Option<&'static str> {
    ["", "zh", "en"].into_iter().find(|known| *known == lang)
}

fn row_key(row: &AppRow) -> Option<RowKey> {
    Some(RowKey {
        entity: from_store(row.entity),
        app_id: AppId::parse(&row.app_id).ok()?,
        lang: known_lang(&row.lang)?,
    })
}
