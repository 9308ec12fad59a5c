//! What belongs to apps and where they may work: chats they made, folders a person was asked about, and
//! what they tried without being allowed to (host-api §5).

use rusqlite::{Connection, OptionalExtension, params};

use crate::db::Store;
use crate::error::StoreError;
use crate::sessions::{SessionRow, insert_session, read_session, session_of};
use crate::time::now_ms;

/// How a folder stands for an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppRootMode {
    /// A person is asked.
    Asked,
    /// As any other folder.
    Full,
    /// Nothing writes there.
    Read,
    /// Not at all.
    No,
}

impl AppRootMode {
    /// The word in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Full => "full",
            Self::Read => "read",
            Self::No => "no",
        }
    }

    /// The mode of a word; one nobody knows allows nothing.
    fn read(word: &str) -> Self {
        match word {
            "asked" => Self::Asked,
            "full" => Self::Full,
            "read" => Self::Read,
            _ => Self::No,
        }
    }
}

/// A folder beside an app's data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppRootRow {
    /// The plugin.
    pub plugin_id: String,
    /// Its real path.
    pub root: String,
    /// What a person said.
    pub mode: AppRootMode,
    /// The question; empty when a person chose the folder unasked.
    pub request_id: String,
    /// Milliseconds since 1970.
    pub decided_at: i64,
    /// Where the decision was made.
    pub decided_by: String,
}

impl Store {
    /// Makes a chat for an app.
    pub fn create_app_session(
        &self,
        row: SessionRow,
        plugin_id: &str,
        wished_root: &str,
    ) -> Result<SessionRow, StoreError> {
        let (plugin_id, wished_root) = (plugin_id.to_owned(), wished_root.to_owned());
        self.write(move |connection| {
            insert_session(connection, &row)?;
            connection.execute(
                "INSERT INTO session_makers (session_id, plugin_id, wished_root) VALUES (?1, ?2, ?3)",
                params![row.id, plugin_id, wished_root],
            )?;
            read_session(connection, &row.id)?.ok_or_else(StoreError::closed)
        })
    }

    /// The plugin that made a chat; none for a person's own.
    pub fn session_maker(&self, session_id: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT plugin_id FROM session_makers WHERE session_id = ?1";
            Ok(connection.prepare_cached(sql)?.query_row([session_id], |row| row.get(0)).optional()?)
        })
    }

    /// Chats a plugin made, in the order of [`Store::sessions`].
    pub fn sessions_of_plugin(
        &self,
        plugin_id: &str,
        archived: bool,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {} FROM sessions WHERE (archived_at IS NOT NULL) = ?1
                   AND id IN (SELECT session_id FROM session_makers WHERE plugin_id = ?2)
                 ORDER BY pinned DESC, coalesce(last_message_at, created_at) DESC, id DESC LIMIT ?3 OFFSET ?4",
                crate::sessions::COLUMNS
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map((archived, plugin_id, limit, offset), session_of)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The folder an app wished for its agent.
    pub fn set_agent_wish(&self, agent_id: &str, wished_root: &str) -> Result<(), StoreError> {
        let (agent_id, wished_root) = (agent_id.to_owned(), wished_root.to_owned());
        self.write(move |connection| {
            connection.execute(
                "UPDATE agent_makers SET wished_root = ?2 WHERE agent_id = ?1",
                params![agent_id, wished_root],
            )?;
            Ok(())
        })
    }

    /// Folders of one plugin, or all.
    pub fn app_roots(&self, plugin_id: Option<&str>) -> Result<Vec<AppRootRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT plugin_id, root, mode, request_id, decided_at, decided_by FROM app_roots
                 WHERE ?1 IS NULL OR plugin_id = ?1 ORDER BY plugin_id, root",
            )?;
            let rows = statement.query_map(params![plugin_id], |row| {
                Ok(AppRootRow {
                    plugin_id: row.get(0)?,
                    root: row.get(1)?,
                    mode: AppRootMode::read(&row.get::<_, String>(2)?),
                    request_id: row.get(3)?,
                    decided_at: row.get(4)?,
                    decided_by: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Records what is known of a folder in place of what was. With a yes, the chats and agents that wished
    /// for it work there from then on.
    pub fn put_app_root(&self, row: AppRootRow) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO app_roots (plugin_id, root, mode, request_id, decided_at, decided_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (plugin_id, root) DO UPDATE SET mode = excluded.mode,
                   request_id = excluded.request_id, decided_at = excluded.decided_at,
                   decided_by = excluded.decided_by",
                params![
                    row.plugin_id,
                    row.root,
                    row.mode.as_str(),
                    row.request_id,
                    row.decided_at,
                    row.decided_by
                ],
            )?;
            if matches!(row.mode, AppRootMode::Full | AppRootMode::Read) {
                move_in(connection, &row)?;
            }
            Ok(())
        })
    }

    /// Forgets a folder; true when it was known. What the plugin made works in `data_dir` again.
    pub fn forget_app_root(&self, plugin_id: &str, root: &str, data_dir: &str) -> Result<bool, StoreError> {
        let [plugin_id, root, data_dir] = [plugin_id, root, data_dir].map(str::to_owned);
        self.write(move |connection| {
            let gone = connection.execute(
                "DELETE FROM app_roots WHERE plugin_id = ?1 AND root = ?2",
                params![plugin_id, root],
            )?;
            for (table, makers, id) in OWNED {
                let sql = format!(
                    "UPDATE {table} SET workspace_root = ?3, updated_at = ?4
                     WHERE (workspace_root = ?2 OR substr(workspace_root, 1, length(?2) + 1) = ?2 || '/')
                       AND id IN (SELECT {id} FROM {makers} WHERE plugin_id = ?1)"
                );
                connection.execute(&sql, params![plugin_id, root, data_dir, now_ms()])?;
            }
            Ok(gone > 0)
        })
    }

    /// Remembers that an app tried something it may not.
    pub fn note_capability_wish(&self, plugin_id: &str, capability: &str) -> Result<(), StoreError> {
        let (plugin_id, capability) = (plugin_id.to_owned(), capability.to_owned());
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO capability_wishes (plugin_id, capability, wished_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (plugin_id, capability) DO UPDATE SET wished_at = excluded.wished_at",
                params![plugin_id, capability, now_ms()],
            )?;
            Ok(())
        })
    }

    /// What apps of a plugin tried and may not.
    pub fn capability_wishes(&self, plugin_id: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT capability FROM capability_wishes WHERE plugin_id = ?1 ORDER BY capability";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([plugin_id], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}

/// What apps make, with who made it.
const OWNED: [(&str, &str, &str); 2] =
    [("sessions", "session_makers", "session_id"), ("agents", "agent_makers", "agent_id")];

fn move_in(connection: &Connection, row: &AppRootRow) -> Result<(), StoreError> {
    for (table, makers, id) in OWNED {
        let sql = format!(
            "UPDATE {table} SET workspace_root = ?2, updated_at = ?3 WHERE id IN
               (SELECT {id} FROM {makers} WHERE plugin_id = ?1 AND wished_root = ?2)"
        );
        connection.execute(&sql, params![row.plugin_id, row.root, now_ms()])?;
    }
    Ok(())
}

/// A plugin was removed: nothing of this is kept for another one of its id.
pub(crate) fn forget(connection: &Connection, plugin_id: &str) -> Result<(), StoreError> {
    for table in ["session_makers", "app_roots", "capability_wishes"] {
        connection.execute(&format!("DELETE FROM {table} WHERE plugin_id = ?1"), [plugin_id])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::tests::options;

    fn session(id: &str) -> SessionRow {
        SessionRow { id: id.to_owned(), workspace_root: "/data/p".to_owned(), ..SessionRow::default() }
    }

    fn root(mode: AppRootMode) -> AppRootRow {
        AppRootRow {
            plugin_id: "p".to_owned(),
            root: "/work".to_owned(),
            mode,
            request_id: "r".to_owned(),
            decided_at: 1,
            decided_by: "person".to_owned(),
        }
    }

    #[test]
    fn a_folder_counts_for_what_wished_for_it_and_for_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        store.create_session(session("theirs")).unwrap();
        store.create_app_session(session("wishes"), "p", "/work").unwrap();
        store.create_app_session(session("other"), "p", "").unwrap();
        store.create_app_session(session("q"), "q", "/work").unwrap();
        let at = |id: &str| store.session(id).unwrap().unwrap().workspace_root;
        let all = || ["theirs", "wishes", "other", "q"].map(at);
        for mode in [AppRootMode::Asked, AppRootMode::No] {
            store.put_app_root(root(mode)).unwrap();
            assert_eq!(all(), ["/data/p"; 4], "{mode:?}");
        }
        store.put_app_root(root(AppRootMode::Read)).unwrap();
        assert_eq!(all(), ["/data/p", "/work", "/data/p", "/data/p"]);
        assert_eq!(store.app_roots(Some("p")).unwrap(), [root(AppRootMode::Read)]);
        assert!(store.app_roots(Some("q")).unwrap().is_empty());
        assert!(store.forget_app_root("p", "/work", "/data/p").unwrap());
        assert_eq!(all(), ["/data/p"; 4]);
    }

    #[test]
    fn a_plugin_has_the_chats_it_made_until_it_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        store.create_session(session("theirs")).unwrap();
        store.create_app_session(session("own"), "p", "").unwrap();
        store.note_capability_wish("p", "chat.read").unwrap();
        store.note_capability_wish("p", "chat.read").unwrap();
        let ids = |plugin: &str| -> Vec<String> {
            let rows = store.sessions_of_plugin(plugin, false, 10, 0).unwrap();
            rows.into_iter().map(|row| row.id).collect()
        };
        assert_eq!((ids("p"), ids("q")), (vec!["own".to_owned()], vec![]));
        assert_eq!(store.session_maker("own").unwrap().as_deref(), Some("p"));
        assert_eq!(store.session_maker("theirs").unwrap(), None);
        assert_eq!(store.capability_wishes("p").unwrap(), ["chat.read"]);
        store.forget_plugin("p").unwrap();
        assert_eq!(store.session_maker("own").unwrap(), None);
        assert!(store.capability_wishes("p").unwrap().is_empty());
        assert!(store.session("own").unwrap().is_some());
    }
}
