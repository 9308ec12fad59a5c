//! Taking over what an older program kept in one table of JSON rows (state §7).
//!
//! A source is read, never written. Everything of it goes in within one transaction, after a copy of
//! the database was made; a row that cannot be taken is named in the report with its reason. A kill at
//! any moment leaves all of it or nothing.

mod admin;
mod agents;
mod chat;
mod merge;
mod old_secret;
mod record;
mod report;
mod source;
mod work;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use chatos_keys::SubKey;
use chatos_store::door::{self, refuse_other_key};
use chatos_store::{Backup, Store, StoreError, StoreErrorKind, now_iso, now_ms};
use rusqlite::{Connection, OptionalExtension};

use self::merge::{Taken, Unfit};
use self::old_secret::OldKey;
use self::record::Record;
use self::report::Reason;
use self::source::Source;

pub use self::report::{ImportCount, ImportReport};

/// The kind of source in the `imports` table.
const KIND: &str = "records";

/// What to take over.
pub struct ImportOrder {
    /// The older database.
    pub source: PathBuf,
    /// Where the report and, for a moment, a copy go.
    pub folder: PathBuf,
    /// Seals what was secret there.
    pub secrets: SubKey,
    /// `MODEL_CLI_SECRET_KEY`.
    pub old_key: Option<String>,
}

/// What is known about a possible source without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportState {
    /// There is nothing.
    Absent,
    /// There is a file nobody looked into yet.
    New,
    /// It was taken over and has the same size still.
    Done,
    /// It was taken over and has changed since; a person decides (state §7.1).
    Changed,
}

/// How an import ended.
#[derive(Debug)]
pub enum ImportOutcome {
    /// The file is something else.
    NotOurs,
    /// Exactly this content was taken over before.
    AlreadyDone {
        /// When.
        at: i64,
        /// Its report.
        report_path: PathBuf,
    },
    /// It is in.
    Done(Box<Imported>),
}

/// A finished import.
#[derive(Debug)]
pub struct Imported {
    /// The real path of the source.
    pub source: PathBuf,
    /// What was done.
    pub report: ImportReport,
    /// Where the report is kept.
    pub report_path: PathBuf,
    /// The copy of the database from before.
    pub backup: Backup,
    /// The older program's key file, which is no longer needed.
    pub old_key_file: Option<PathBuf>,
}

/// Whether a file should be taken over at this start; looks at sizes only.
pub fn import_state(store: &Store, source: &Path) -> Result<ImportState, StoreError> {
    let Ok(path) = std::fs::canonicalize(source) else { return Ok(ImportState::Absent) };
    if !path.is_file() {
        return Ok(ImportState::Absent);
    }
    let name = path.to_string_lossy().into_owned();
    let known: Option<String> = store.read(|connection| {
        let mut statement = connection.prepare_cached("SELECT fingerprint FROM imports WHERE source = ?1")?;
        Ok(statement.query_row([name], |row| row.get(0)).optional()?)
    })?;
    Ok(match known {
        None => ImportState::New,
        Some(known) => {
            let size = known.split(':').next().and_then(|size| size.parse::<u64>().ok());
            if size == Some(source::size_of(&path)) { ImportState::Done } else { ImportState::Changed }
        }
    })
}

/// Takes over a source: all of it or nothing.
pub fn import(store: &Store, order: ImportOrder) -> Result<ImportOutcome, StoreError> {
    door::make_folder(&order.folder)?;
    let Some(source) = Source::open(&order.source, &order.folder)? else {
        return Ok(ImportOutcome::NotOurs);
    };
    let name = source.path.to_string_lossy().into_owned();
    let done: Option<(i64, String)> = store.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT imported_at, report_path FROM imports WHERE source = ?1 AND fingerprint = ?2",
        )?;
        Ok(statement
            .query_row([&name, &source.fingerprint], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    })?;
    if let Some((at, report)) = done {
        return Ok(ImportOutcome::AlreadyDone { at, report_path: PathBuf::from(report) });
    }
    let backup = store.backup_before("import")?;
    let old_key = OldKey::find(&source.path, order.old_key.as_deref());
    let old_key_file =
        source.path.parent().map(|dir| dir.join(old_secret::KEY_FILE)).filter(|path| path.is_file());
    // The name follows from the content, so that an import killed and repeated keeps one report.
    let digest = source.fingerprint.split(':').nth(1).unwrap_or_default();
    let report_path = order.folder.join(format!("import-{}.json", &digest[..digest.len().min(16)]));
    let (instance, blobs, kept_at) = (store.instance_id()?, store.clone(), report_path.clone());
    let path = source.path.clone();
    // Inside the transaction nobody waits for a key that is being changed.
    let secrets = order.secrets.as_of_now();
    let report = store.write(move |target| {
        refuse_other_key(target, secrets.key_id())?;
        let mut import = Import {
            target,
            store: &blobs,
            secrets: &secrets,
            instance: &instance,
            old_key,
            report: ImportReport::default(),
            renamed_secrets: HashMap::new(),
        };
        import.run(&source)?;
        let report = import.report;
        keep_report(&kept_at, &source, &report)?;
        target.execute(
            "INSERT INTO imports (source, kind, fingerprint, counts, report_path, imported_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (source) DO UPDATE SET fingerprint = excluded.fingerprint,
               counts = excluded.counts, report_path = excluded.report_path,
               imported_at = excluded.imported_at",
            (
                &name,
                KIND,
                &source.fingerprint,
                report.counts_json().to_string(),
                kept_at.to_string_lossy(),
                now_ms(),
            ),
        )?;
        Ok(report)
    })?;
    Ok(ImportOutcome::Done(Box::new(Imported { source: path, report, report_path, backup, old_key_file })))
}

/// Every import there was: source, time, counts, report.
pub fn imports(store: &Store) -> Result<Vec<(String, i64, serde_json::Value, PathBuf)>, StoreError> {
    store.read(|connection| {
        let mut statement = connection.prepare_cached(
            "SELECT source, imported_at, counts, report_path FROM imports ORDER BY imported_at DESC",
        )?;
        let rows = statement.query_map([], |row| {
            let counts: String = row.get(2)?;
            let path: String = row.get(3)?;
            let counts = serde_json::from_str(&counts).unwrap_or_default();
            Ok((row.get(0)?, row.get(1)?, counts, PathBuf::from(path)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    })
}

/// One import under way.
struct Import<'a> {
    target: &'a Connection,
    store: &'a Store,
    secrets: &'a SubKey,
    instance: &'a str,
    old_key: Option<OldKey>,
    report: ImportReport,
    // A secret whose name was taken got another one; what refers to it must follow.
    renamed_secrets: HashMap<String, String>,
}

type Mapping = fn(&mut Import<'_>, &mut Record) -> Result<Taken, Unfit>;

/// Tables in the order in which they refer to each other.
const TABLES: [(&str, Mapping); 12] = [
    ("secrets", admin::secret),
    ("models", admin::model),
    ("mcpServers", admin::server),
    ("prompts", admin::prompt),
    ("landConfigs", agents::land_config),
    ("chatAgents", agents::agent),
    ("chatSessions", chat::session),
    ("tasks", work::default_task),
    ("tasks_cli", work::cli_task),
    ("tasks_chat", work::chat_task),
    ("subagents", admin::subagent),
    ("fileChanges", work::file_change),
];

impl Import<'_> {
    fn run(&mut self, source: &Source) -> Result<(), StoreError> {
        let present = source.tables()?;
        for (table, mapping) in TABLES {
            let Some(name) = named(&present, table) else { continue };
            source.each(name, |row| self.row(table, row, mapping))?;
        }
        if let Some(name) = named(&present, "chatMessages") {
            for (_, _, place) in source.message_order(name)? {
                self.row("chatMessages", source.at(place)?, chat::message)?;
            }
        }
        if let Some(name) = named(&present, "settings") {
            source.each(name, |row| self.row("settings", row, admin::settings))?;
        }
        for (name, rows) in &present {
            let known = TABLES.iter().map(|(table, _)| *table).chain(["chatMessages", "settings"]);
            if !known.into_iter().any(|table| same_table(name, table)) {
                let count = self.report.count(name);
                (count.found, count.skipped) = (*rows, *rows);
            }
        }
        Ok(())
    }

    /// One row in a savepoint of its own: what does not fit is undone and named, the rest goes on.
    fn row(
        &mut self,
        table: &str,
        row: Result<Record, (String, Reason)>,
        mapping: Mapping,
    ) -> Result<(), StoreError> {
        self.report.count(table).found += 1;
        let mut record = match row {
            Ok(record) => record,
            Err((id, reason)) => {
                self.report.skip(table, &id, &reason);
                return Ok(());
            }
        };
        self.target.execute_batch("SAVEPOINT row")?;
        let outcome = match mapping(self, &mut record) {
            Err(Unfit::Store(error))
                if !matches!(error.kind, StoreErrorKind::Conflict | StoreErrorKind::Invalid) =>
            {
                return Err(error);
            }
            Err(Unfit::Store(error)) => Err(Reason::Refused(error.message)),
            Err(Unfit::Row(reason)) => Err(reason),
            Ok(taken) => Ok(taken),
        };
        match outcome {
            Ok(taken) => {
                self.target.execute_batch("RELEASE row")?;
                let count = self.report.count(table);
                match taken {
                    Taken::New | Taken::Mended => count.imported += 1,
                    Taken::Newer => count.updated += 1,
                }
                count.repaired += u64::from(matches!(taken, Taken::Mended));
                self.report.unknown(table, record.left());
            }
            Err(reason) => {
                self.target.execute_batch("ROLLBACK TO row; RELEASE row")?;
                self.report.skip(table, &record.id, &reason);
            }
        }
        Ok(())
    }
}

/// Table names are accepted in both spellings too.
fn named<'a>(present: &'a [(String, u64)], table: &str) -> Option<&'a str> {
    present.iter().map(|(name, _)| name.as_str()).find(|name| same_table(name, table))
}

fn same_table(name: &str, table: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    plain(name) == plain(table)
}

fn keep_report(path: &Path, source: &Source, report: &ImportReport) -> Result<(), StoreError> {
    let mut value = report.to_json();
    value["source"] = source.path.to_string_lossy().into();
    value["fingerprint"] = source.fingerprint.as_str().into();
    value["importedAt"] = now_iso().into();
    let text = serde_json::to_vec_pretty(&value)
        .map_err(|error| StoreError::new(StoreErrorKind::Internal, error.to_string()))?;
    door::replace(path, &text).map_err(|e| door::io_error("keep the report of an import", path, &e))
}

#[cfg(test)]
mod tests;
