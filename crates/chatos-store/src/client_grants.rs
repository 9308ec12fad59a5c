//! Programs that connect to us, and which of them a person lets decide about their own calls (inbox §1.5).

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::db::Store;
use crate::error::StoreError;

/// How a program is recognised: by all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientKey {
    /// What it calls itself.
    pub name: String,
    /// The real path of its executable.
    pub program: String,
    /// What an interpreter runs; else empty.
    pub script: String,
    /// The user it runs as.
    pub uid: u32,
}

/// A program that was seen, or allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientGrantRow {
    /// Names the row.
    pub id: String,
    /// The program.
    pub key: ClientKey,
    /// Allowed under this directory only; empty for everywhere.
    pub project: String,
    /// Milliseconds since 1970.
    pub seen_at: i64,
    /// When a person allowed it.
    pub allowed_at: Option<i64>,
}

const COLUMNS: &str = "id, name, program, script, uid, project, seen_at, allowed_at";

impl Store {
    /// All of them, by name.
    pub fn client_grants(&self) -> Result<Vec<ClientGrantRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM client_grants ORDER BY name, program, script, project");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([], read)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Where this program is allowed; an empty text is everywhere.
    pub fn client_allowed(&self, key: &ClientKey) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT project FROM client_grants
                 WHERE name = ?1 AND program = ?2 AND script = ?3 AND uid = ?4 AND allowed_at IS NOT NULL",
            )?;
            let rows =
                statement.query_map(params![key.name, key.program, key.script, key.uid], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes that a program was there; what is known of it stays.
    pub fn see_client(&self, id: &str, key: ClientKey, at: i64) -> Result<(), StoreError> {
        let known = self.read(|connection| find(connection, &key, ""))?.is_some();
        if known {
            return Ok(());
        }
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = "INSERT OR IGNORE INTO client_grants (id, name, program, script, uid, project, seen_at)
                       VALUES (?1, ?2, ?3, ?4, ?5, '', ?6)";
            let row = params![id, key.name, key.program, key.script, key.uid, at];
            connection.prepare_cached(sql)?.execute(row)?;
            Ok(())
        })
    }

    /// Allows a program, under `project` or, when that is empty, everywhere. Gives the row.
    pub fn allow_client(
        &self,
        id: &str,
        key: ClientKey,
        project: &str,
        at: i64,
    ) -> Result<Option<ClientGrantRow>, StoreError> {
        let (id, project) = (id.to_owned(), project.to_owned());
        self.write(move |connection| {
            let sql =
                "INSERT INTO client_grants (id, name, program, script, uid, project, seen_at, allowed_at)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
                       ON CONFLICT (name, program, script, uid, project) DO UPDATE SET allowed_at = ?7";
            let row = params![id, key.name, key.program, key.script, key.uid, project, at];
            connection.prepare_cached(sql)?.execute(row)?;
            find(connection, &key, &project)
        })
    }

    /// Forgets a program and what it was allowed. Gives what there was.
    pub fn forget_client(&self, id: &str) -> Result<Option<ClientGrantRow>, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = format!("DELETE FROM client_grants WHERE id = ?1 RETURNING {COLUMNS}");
            Ok(connection.prepare_cached(&sql)?.query_row([id], read).optional()?)
        })
    }
}

fn find(
    connection: &Connection,
    key: &ClientKey,
    project: &str,
) -> Result<Option<ClientGrantRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM client_grants
         WHERE name = ?1 AND program = ?2 AND script = ?3 AND uid = ?4 AND project = ?5"
    );
    let wanted = params![key.name, key.program, key.script, key.uid, project];
    Ok(connection.prepare_cached(&sql)?.query_row(wanted, read).optional()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<ClientGrantRow> {
    Ok(ClientGrantRow {
        id: row.get(0)?,
        key: ClientKey { name: row.get(1)?, program: row.get(2)?, script: row.get(3)?, uid: row.get(4)? },
        project: row.get(5)?,
        seen_at: row.get(6)?,
        allowed_at: row.get(7)?,
    })
}
