//! Bringing a database to this binary's schema, one migration per transaction, never back.

use chatos_tool::hex;
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

use crate::backup;
use crate::db::OpenOptions;
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

struct Migration {
    version: u32,
    name: &'static str,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "first_schema", sql: include_str!("migrations/0001_first_schema.sql") },
    Migration { version: 2, name: "counts", sql: include_str!("migrations/0002_counts.sql") },
    Migration { version: 3, name: "trusted_modes", sql: include_str!("migrations/0003_trusted_modes.sql") },
    Migration { version: 4, name: "runs", sql: include_str!("migrations/0004_runs.sql") },
    Migration { version: 5, name: "servers", sql: include_str!("migrations/0005_servers.sql") },
    Migration { version: 6, name: "lists", sql: include_str!("migrations/0006_lists.sql") },
    Migration { version: 7, name: "agent_makers", sql: include_str!("migrations/0007_agent_makers.sql") },
    Migration { version: 8, name: "notes_by_task", sql: include_str!("migrations/0008_notes_by_task.sql") },
    Migration { version: 9, name: "undos", sql: include_str!("migrations/0009_undos.sql") },
    Migration { version: 10, name: "server_roots", sql: include_str!("migrations/0010_server_roots.sql") },
    Migration { version: 11, name: "app_rights", sql: include_str!("migrations/0011_app_rights.sql") },
    Migration { version: 12, name: "prompt_texts", sql: include_str!("migrations/0012_prompt_texts.sql") },
    Migration { version: 13, name: "client_grants", sql: include_str!("migrations/0013_client_grants.sql") },
    Migration { version: 14, name: "flat_lists", sql: include_str!("migrations/0014_flat_lists.sql") },
    Migration {
        version: 15,
        name: "server_start_time",
        sql: include_str!("migrations/0015_server_start_time.sql"),
    },
    Migration { version: 16, name: "clients", sql: include_str!("migrations/0016_clients.sql") },
    Migration { version: 17, name: "versions", sql: include_str!("migrations/0017_versions.sql") },
    Migration {
        version: 18,
        name: "approval_rules",
        sql: include_str!("migrations/0018_approval_rules.sql"),
    },
    Migration { version: 19, name: "context", sql: include_str!("migrations/0019_context.sql") },
    Migration { version: 20, name: "model_facts", sql: include_str!("migrations/0020_model_facts.sql") },
    Migration { version: 21, name: "instructions", sql: include_str!("migrations/0021_instructions.sql") },
    Migration { version: 22, name: "server_texts", sql: include_str!("migrations/0022_server_texts.sql") },
    Migration { version: 23, name: "documents", sql: include_str!("migrations/0023_documents.sql") },
    Migration { version: 24, name: "reach", sql: include_str!("migrations/0024_reach.sql") },
    Migration {
        version: 25,
        name: "question_facts",
        sql: include_str!("migrations/0025_question_facts.sql"),
    },
    Migration { version: 26, name: "acp", sql: include_str!("migrations/0026_acp.sql") },
    Migration { version: 27, name: "browsers", sql: include_str!("migrations/0027_browsers.sql") },
    Migration { version: 28, name: "answer_tokens", sql: include_str!("migrations/0028_answer_tokens.sql") },
    Migration { version: 29, name: "environment", sql: include_str!("migrations/0029_environment.sql") },
    Migration {
        version: 30,
        name: "client_records",
        sql: include_str!("migrations/0030_client_records.sql"),
    },
    Migration { version: 31, name: "acp_session", sql: include_str!("migrations/0031_acp_session.sql") },
    Migration { version: 32, name: "access", sql: include_str!("migrations/0032_access.sql") },
    Migration { version: 33, name: "stops", sql: include_str!("migrations/0033_stops.sql") },
    Migration { version: 34, name: "acp_begun", sql: include_str!("migrations/0034_acp_begun.sql") },
];

/// The schema this binary reads and writes.
pub const SCHEMA_VERSION: u32 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// Applies what is missing. Returns the version found when something was applied to an existing database.
pub(crate) fn run(connection: &mut Connection, options: &OpenOptions) -> Result<Option<u32>, StoreError> {
    let found = schema_of(connection)?;
    refuse_newer(found)?;
    if found == SCHEMA_VERSION {
        return Ok(None);
    }
    if !options.migrate {
        return Err(StoreError::new(
            StoreErrorKind::Older,
            format!("the database has schema {found}, this program needs {SCHEMA_VERSION}"),
        ));
    }
    if found > 0 {
        backup::before_migration(connection, options, found)?;
    }
    for migration in MIGRATIONS.iter().filter(|m| m.version > found) {
        apply(connection, migration)?;
    }
    Ok((found > 0).then_some(found))
}

/// There are no down-migrations: what a newer ChatOS made is left to it.
pub fn refuse_newer(found: u32) -> Result<(), StoreError> {
    if found <= SCHEMA_VERSION {
        return Ok(());
    }
    Err(StoreError::new(
        StoreErrorKind::Newer,
        format!("made by a newer ChatOS (schema {found}; this one knows {SCHEMA_VERSION})"),
    ))
}

fn apply(connection: &mut Connection, migration: &Migration) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
           version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
         ) STRICT",
    )?;
    let done: Option<u32> = transaction
        .query_row("SELECT version FROM schema_migrations WHERE version = ?1", [migration.version], |row| {
            row.get(0)
        })
        .optional()?;
    if done.is_none() {
        // Two processes may start on an empty directory at once: the loser finds the work done.
        transaction.execute_batch(migration.sql)?;
        if migration.version == 1 {
            let instance = uuid::Uuid::now_v7().to_string();
            transaction.execute(
                "INSERT INTO meta (key, value) VALUES ('instance_id', ?1), ('created_at', ?2), ('schema_min_reader', '1')",
                (instance, now_ms().to_string()),
            )?;
        }
        transaction.execute(
            "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
            (migration.version, migration.name, checksum(migration.sql), now_ms()),
        )?;
    }
    transaction.commit()?;
    Ok(())
}

/// The newest applied migration, 0 for an empty database.
pub fn schema_of(connection: &Connection) -> Result<u32, StoreError> {
    let tables: u32 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migrations'",
        [],
        |row| row.get(0),
    )?;
    if tables == 0 {
        let others: u32 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if others > 0 {
            return Err(StoreError::new(
                StoreErrorKind::Foreign,
                "the file is an SQLite database, but not one of ChatOS",
            ));
        }
        return Ok(0);
    }
    let version =
        connection
            .query_row("SELECT coalesce(max(version), 0) FROM schema_migrations", [], |row| row.get(0))?;
    Ok(version)
}

/// Migrations whose recorded text differs from this binary's: the database was made by another build.
pub(crate) fn changed_migrations(connection: &Connection) -> Result<Vec<u32>, StoreError> {
    let mut changed = Vec::new();
    for migration in MIGRATIONS {
        let recorded: Option<String> = connection
            .query_row(
                "SELECT checksum FROM schema_migrations WHERE version = ?1",
                [migration.version],
                |row| row.get(0),
            )
            .optional()?;
        if recorded.is_some_and(|text| text != checksum(migration.sql)) {
            changed.push(migration.version);
        }
    }
    Ok(changed)
}

fn checksum(sql: &str) -> String {
    hex(&Sha256::digest(sql.as_bytes()))
}
