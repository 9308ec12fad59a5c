//! Journals that an older program kept in files, taken over once per project (state §3.4).

use rusqlite::OptionalExtension;

use super::{JournalEntry, ProjectInfo, ProjectIteration, insert_items, without_user, write_info};
use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// What was found in a project's files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalImport {
    /// The project's real path.
    pub root: String,
    /// The directory it was found in; one import each.
    pub source: String,
    /// A digest of the files.
    pub fingerprint: String,
    /// Entries; ids that are taken already stay as they are.
    pub entries: Vec<JournalEntry>,
    /// Facts, used where the project has none yet.
    pub info: Option<ProjectInfo>,
    /// Iterations.
    pub iterations: Vec<ProjectIteration>,
    /// Lines that could not be read.
    pub skipped: u64,
}

impl Store {
    /// Whether the files of this place were taken over already.
    pub fn journal_imported(&self, source: &str) -> Result<bool, StoreError> {
        self.read(|connection| {
            let known = connection
                .prepare_cached("SELECT 1 FROM imports WHERE source = ?1 AND kind = 'journal'")?
                .query_row([source], |_| Ok(()))
                .optional()?;
            Ok(known.is_some())
        })
    }

    /// Takes everything over in one transaction; `false` when another process was first.
    pub fn import_journal(&self, import: JournalImport) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let counts = serde_json::json!({
                "entries": import.entries.len(),
                "iterations": import.iterations.len(),
                "info": import.info.is_some(),
                "skipped": import.skipped,
            });
            let first = connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO imports (source, kind, fingerprint, counts, imported_at)
                     VALUES (?1, 'journal', ?2, ?3, ?4)",
                )?
                .execute((&import.source, &import.fingerprint, counts.to_string(), now_ms()))?;
            if first == 0 {
                return Ok(false);
            }
            for entry in &import.entries {
                let new = connection
                    .prepare_cached(
                        "INSERT OR IGNORE INTO journal_entries
                           (id, project_root, title, summary, details, run_id, session_id, created_at)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    )?
                    .execute(rusqlite::params![
                        entry.id,
                        import.root,
                        entry.title,
                        entry.summary,
                        entry.details,
                        entry.run_id,
                        entry.session_id,
                        entry.created_at,
                    ])?;
                if new > 0 {
                    let lists = [
                        ("tag", &entry.tags),
                        ("file", &entry.files),
                        ("highlight", &entry.highlights),
                        ("next_step", &entry.next_steps),
                    ];
                    insert_items(connection, &entry.id, &lists)?;
                }
            }
            let known = super::info_of(connection, &import.root)?.is_some();
            if !known && (import.info.is_some() || !import.iterations.is_empty()) {
                let mut info = import.info.clone().unwrap_or_default();
                info.git_url = without_user(&info.git_url);
                write_info(connection, &import.root, &info)?;
            }
            for iteration in &import.iterations {
                let new = connection
                    .prepare_cached(
                        "INSERT OR IGNORE INTO project_iterations (id, root, title, summary, details, created_at)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    )?
                    .execute((
                        &iteration.id,
                        &import.root,
                        &iteration.title,
                        &iteration.summary,
                        &iteration.details,
                        iteration.created_at,
                    ))?;
                for tag in iteration.tags.iter().filter(|_| new > 0) {
                    connection
                        .prepare_cached(
                            "INSERT OR IGNORE INTO project_iteration_tags (iteration_id, tag) VALUES (?1, ?2)",
                        )?
                        .execute((&iteration.id, tag))?;
                }
            }
            Ok(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::tests::options;

    #[test]
    fn files_are_taken_over_once_and_known_facts_win() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        let entry = JournalEntry {
            id: "old-1".into(),
            created_at: 5,
            title: "t".into(),
            tags: vec!["x".into()],
            ..JournalEntry::default()
        };
        let import = JournalImport {
            root: "/p".into(),
            source: "/p/.old".into(),
            fingerprint: "f".into(),
            entries: vec![entry],
            info: Some(ProjectInfo { git_url: "https://u:p@h/r".into(), ..ProjectInfo::default() }),
            iterations: vec![ProjectIteration { id: "it-1".into(), ..ProjectIteration::default() }],
            skipped: 2,
        };
        assert!(!store.journal_imported("/p/.old").unwrap());
        assert!(store.import_journal(import.clone()).unwrap());
        assert!(!store.import_journal(import).unwrap());
        assert!(store.journal_imported("/p/.old").unwrap());
        let (entries, total) = store.list_journal("/p", "x", "", 10, 0).unwrap();
        assert_eq!((entries[0].id.as_str(), total), ("old-1", 1));
        let (info, iterations, _) = store.project_info("/p", 10).unwrap();
        assert_eq!((info.unwrap().git_url.as_str(), iterations.len()), ("https://h/r", 1));
    }
}
