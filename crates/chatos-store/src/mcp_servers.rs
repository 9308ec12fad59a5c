//! Tool servers a person, an import or the program itself put into the database (state §3.2). What
//! their credentials are is sealed before it comes here.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::reseal::refuse_outdated;
use crate::time::now_ms;

/// Who put a row there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerSource {
    /// The program.
    BuiltIn,
    /// A person.
    User,
    /// A mirror of an app's own server.
    App,
    /// Taken from another client's file.
    Import,
}

impl ServerSource {
    /// The word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "builtin",
            Self::User => "user",
            Self::App => "app",
            Self::Import => "import",
        }
    }

    fn read(word: &str) -> Self {
        match word {
            "builtin" => Self::BuiltIn,
            "app" => Self::App,
            "import" => Self::Import,
            _ => Self::User,
        }
    }
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerRow {
    pub id: String,
    pub name: String,
    /// `cmd://…`, `http(s)://…`, `ws(s)://…`; empty for built-in ones.
    pub url: String,
    /// A word for people; what counts is the address.
    pub transport: String,
    pub description: String,
    pub enabled: bool,
    /// Only `enabled` may be changed.
    pub locked: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
    pub timeout_ms: Option<i64>,
    pub max_timeout_ms: Option<i64>,
    /// How long it may take to start; `None` = what its plugin declares, else the setting.
    pub start_timeout_ms: Option<i64>,
    /// A JSON object.
    pub call_meta: Option<String>,
    pub auth_sealed: Option<String>,
    pub source: ServerSource,
    /// Empty unless an app's.
    pub plugin_id: String,
    /// See above.
    pub app_id: String,
    /// Where a program runs; empty = the host's start directory.
    pub cwd: String,
    /// Addresses of this machine and its network are allowed.
    pub allow_private: bool,
    /// Folders it is told about when it asks for roots.
    pub roots: Vec<String>,
    pub tags: Vec<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

const COLUMNS: &str =
    "id, name, url, transport, description, enabled, locked, allow_main, allow_sub, timeout_ms,
    max_timeout_ms, call_meta, auth_sealed, source, plugin_id, app_id, cwd, allow_private, roots, created_at,
    updated_at, start_timeout_ms";

fn read(row: &Row<'_>) -> rusqlite::Result<ServerRow> {
    Ok(ServerRow {
        id: row.get(0)?,
        name: row.get(1)?,
        url: row.get(2)?,
        transport: row.get(3)?,
        description: row.get(4)?,
        enabled: row.get(5)?,
        locked: row.get(6)?,
        allow_main: row.get(7)?,
        allow_sub: row.get(8)?,
        timeout_ms: row.get(9)?,
        max_timeout_ms: row.get(10)?,
        call_meta: row.get(11)?,
        auth_sealed: row.get(12)?,
        source: ServerSource::read(&row.get::<_, String>(13)?),
        plugin_id: row.get(14)?,
        app_id: row.get(15)?,
        cwd: row.get(16)?,
        allow_private: row.get(17)?,
        // What cannot be read is told to nobody.
        roots: serde_json::from_str(&row.get::<_, String>(18)?).unwrap_or_default(),
        created_at: row.get(19)?,
        updated_at: row.get(20)?,
        start_timeout_ms: row.get(21)?,
        tags: Vec::new(),
    })
}

impl Store {
    /// All servers by name.
    pub fn mcp_servers(&self) -> Result<Vec<ServerRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM mcp_servers ORDER BY name COLLATE NOCASE");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows: Vec<ServerRow> = statement.query_map([], read)?.collect::<Result<_, _>>()?;
            for row in &mut rows {
                row.tags = tags(connection, &row.id)?;
            }
            Ok(rows)
        })
    }

    /// One server.
    pub fn mcp_server(&self, id: &str) -> Result<Option<ServerRow>, StoreError> {
        self.read(|connection| find(connection, id))
    }

    /// What people call the server with this identity (`admin:<id>`); `None` when it is gone or an app's.
    pub fn server_name(&self, identity: &str) -> Result<Option<String>, StoreError> {
        let Some(id) = identity.strip_prefix("admin:") else { return Ok(None) };
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT name FROM mcp_servers WHERE id = ?1")?;
            Ok(statement.query_row([id], |row| row.get(0)).optional()?)
        })
    }

    /// Adds a server, or replaces the one with its id. Its name is nobody else's.
    pub fn put_mcp_server(&self, row: ServerRow) -> Result<ServerRow, StoreError> {
        self.write(move |connection| {
            let now = now_ms();
            let taken: Option<String> = connection
                .query_row(
                    "SELECT id FROM mcp_servers WHERE name = ?1 COLLATE NOCASE AND id <> ?2",
                    [&row.name, &row.id],
                    |row| row.get(0),
                )
                .optional()?;
            if taken.is_some() {
                let text = format!("another server is called `{}`", row.name);
                return Err(StoreError::new(StoreErrorKind::Conflict, text));
            }
            let kept: Option<Option<String>> = connection
                .query_row("SELECT auth_sealed FROM mcp_servers WHERE id = ?1", [&row.id], |row| row.get(0))
                .optional()?;
            refuse_outdated(connection, row.auth_sealed.as_deref(), kept.flatten().as_deref())?;
            connection.execute(
                "INSERT INTO mcp_servers (id, name, url, transport, description, enabled, locked, allow_main,
                   allow_sub, timeout_ms, max_timeout_ms, call_meta, auth_sealed, source, plugin_id, app_id, cwd,
                   allow_private, roots, created_at, updated_at, start_timeout_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
                   ?20, ?21)
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url,
                   transport = excluded.transport, description = excluded.description, enabled = excluded.enabled,
                   allow_main = excluded.allow_main, allow_sub = excluded.allow_sub,
                   timeout_ms = excluded.timeout_ms, max_timeout_ms = excluded.max_timeout_ms,
                   start_timeout_ms = excluded.start_timeout_ms,
                   call_meta = excluded.call_meta, auth_sealed = excluded.auth_sealed, cwd = excluded.cwd,
                   allow_private = excluded.allow_private, roots = excluded.roots,
                   updated_at = excluded.updated_at",
                params![
                    row.id,
                    row.name,
                    row.url,
                    row.transport,
                    row.description,
                    row.enabled,
                    row.locked,
                    row.allow_main,
                    row.allow_sub,
                    row.timeout_ms,
                    row.max_timeout_ms,
                    row.call_meta,
                    row.auth_sealed,
                    row.source.as_str(),
                    row.plugin_id,
                    row.app_id,
                    row.cwd,
                    row.allow_private,
                    serde_json::json!(row.roots).to_string(),
                    now,
                    row.start_timeout_ms,
                ],
            )?;
            connection.execute("DELETE FROM mcp_server_tags WHERE server_id = ?1", [&row.id])?;
            let mut statement = connection.prepare_cached(
                "INSERT INTO mcp_server_tags (server_id, tag) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?;
            for tag in &row.tags {
                statement.execute([&row.id, tag])?;
            }
            find(connection, &row.id)?.ok_or_else(|| missing(&row.id))
        })
    }

    /// Removes a server and what was approved of its tools. `false`: there was none.
    pub fn remove_mcp_server(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let gone = connection.execute("DELETE FROM mcp_servers WHERE id = ?1", [&id])? > 0;
            let identity = format!("admin:{id}");
            connection.execute("DELETE FROM tool_pins WHERE server_identity = ?1", [&identity])?;
            connection.execute("DELETE FROM server_eras WHERE server_identity = ?1", [&identity])?;
            Ok(gone)
        })
    }

    /// Makes sure that every built-in server has its row: `(id, name, on at first)`. What a person
    /// switched stays; a server of somebody else with the name gives way (state §5).
    pub fn seed_built_in_servers(&self, servers: Vec<(String, String, bool)>) -> Result<(), StoreError> {
        self.write(move |connection| {
            for (id, name, on) in &servers {
                let known: Option<(String, bool, String)> = connection
                    .query_row("SELECT name, locked, source FROM mcp_servers WHERE id = ?1", [id], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                    })
                    .optional()?;
                if known.as_ref().is_some_and(|(known, locked, source)| {
                    known == name && *locked && source == "builtin"
                }) {
                    continue;
                }
                connection.execute(
                    "UPDATE mcp_servers SET name = name || ' (2)' WHERE name = ?1 COLLATE NOCASE AND id <> ?2",
                    [name, id],
                )?;
                connection.execute(
                    "INSERT INTO mcp_servers (id, name, url, transport, enabled, locked, source, created_at, updated_at)
                     VALUES (?1, ?2, '', 'in-process', ?3, 1, 'builtin', ?4, ?4)
                     ON CONFLICT (id) DO UPDATE SET name = excluded.name, locked = 1, source = 'builtin',
                       transport = 'in-process', url = ''",
                    params![id, name, on, now_ms()],
                )?;
            }
            Ok(())
        })
    }
}

fn find(connection: &Connection, id: &str) -> Result<Option<ServerRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM mcp_servers WHERE id = ?1");
    let row = connection.prepare_cached(&sql)?.query_row([id], read).optional()?;
    row.map(|mut row| {
        row.tags = tags(connection, id)?;
        Ok(row)
    })
    .transpose()
}

fn tags(connection: &Connection, id: &str) -> Result<Vec<String>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT tag FROM mcp_server_tags WHERE server_id = ?1 ORDER BY tag")?;
    Ok(statement.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn missing(id: &str) -> StoreError {
    StoreError::new(StoreErrorKind::NotFound, format!("there is no server `{id}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &std::path::Path) -> Store {
        let options = crate::OpenOptions {
            path: dir.join("state.db"),
            backups: dir.join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        };
        Store::open(options).unwrap()
    }

    fn row(id: &str, name: &str) -> ServerRow {
        ServerRow {
            id: id.into(),
            name: name.into(),
            url: "cmd://x".into(),
            transport: "stdio".into(),
            description: String::new(),
            enabled: true,
            locked: false,
            allow_main: true,
            allow_sub: false,
            timeout_ms: Some(5),
            max_timeout_ms: None,
            start_timeout_ms: Some(90_000),
            call_meta: Some("{}".into()),
            auth_sealed: None,
            source: ServerSource::User,
            plugin_id: String::new(),
            app_id: String::new(),
            cwd: "/w".into(),
            allow_private: true,
            roots: vec!["/data".into()],
            tags: vec!["b".into(), "a".into()],
            created_at: 0,
            updated_at: 0,
        }
    }

    #[test]
    fn a_server_is_kept_changed_and_removed_with_its_pins() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let kept = store.put_mcp_server(row("1", "one")).unwrap();
        assert_eq!((kept.tags.as_slice(), kept.timeout_ms), (&["a".to_owned(), "b".to_owned()][..], Some(5)));
        assert_eq!((kept.roots.as_slice(), kept.start_timeout_ms), (&["/data".to_owned()][..], Some(90_000)));
        let conflict = store.put_mcp_server(row("2", "ONE")).unwrap_err();
        assert_eq!(conflict.kind, StoreErrorKind::Conflict);
        let changed = ServerRow { enabled: false, tags: Vec::new(), roots: Vec::new(), ..kept.clone() };
        store.put_mcp_server(changed).unwrap();
        let read = store.mcp_server("1").unwrap().unwrap();
        assert!(
            !read.enabled
                && read.tags.is_empty()
                && read.roots.is_empty()
                && read.created_at == kept.created_at
        );
        store.first_pins("admin:1", vec![("t".into(), "d".into(), "{}".into())], "first connection").unwrap();
        assert!(store.remove_mcp_server("1").unwrap());
        assert!(store.tool_pins(Some("admin:1")).unwrap().is_empty());
        assert!(!store.remove_mcp_server("1").unwrap());
    }

    #[test]
    fn built_in_rows_stay_as_a_person_switched_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        store.put_mcp_server(row("mine", "shell_tasks")).unwrap();
        let seeds = vec![
            ("b1".to_owned(), "shell_tasks".to_owned(), true),
            ("b2".to_owned(), "chrome".to_owned(), false),
        ];
        store.seed_built_in_servers(seeds.clone()).unwrap();
        let built_in = store.mcp_server("b1").unwrap().unwrap();
        assert!(built_in.locked && built_in.enabled && built_in.source == ServerSource::BuiltIn);
        assert!(!store.mcp_server("b2").unwrap().unwrap().enabled);
        assert_eq!(store.mcp_server("mine").unwrap().unwrap().name, "shell_tasks (2)");
        store.put_mcp_server(ServerRow { enabled: false, ..built_in }).unwrap();
        store.seed_built_in_servers(seeds).unwrap();
        let again = store.mcp_server("b1").unwrap().unwrap();
        assert!(!again.enabled && again.locked);
    }
}
