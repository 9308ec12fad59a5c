//! In which projects a person lets texts of the project be used (packages §4.3). They grant nothing; what they say is
//! read anew each time.

use rusqlite::OptionalExtension;

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// A person's word about one project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct ProjectConsent {
    /// The real path of its root.
    pub root: String,
    /// Whether the texts are used: `use` or `skip`.
    pub instructions: String,
    /// Where it was said: `chat`, `page`, `cli`.
    pub decided_by: String,
    pub decided_at: i64,
    /// Paths and digests of what was used last, as JSON.
    pub seen: String,
}

impl Store {
    /// What was said about a project.
    pub fn project_consent(&self, root: &str) -> Result<Option<ProjectConsent>, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT root, instructions, decided_by, decided_at, seen FROM project_consents WHERE root = ?1",
                )?
                .query_row([root], |row| {
                    Ok(ProjectConsent {
                        root: row.get(0)?,
                        instructions: row.get(1)?,
                        decided_by: row.get(2)?,
                        decided_at: row.get(3)?,
                        seen: row.get(4)?,
                    })
                })
                .optional()?)
        })
    }

    /// Keeps a person's word; without one the project is asked about again.
    pub fn set_project_consent(&self, root: &str, word: Option<&str>, by: &str) -> Result<(), StoreError> {
        let (root, word, by) = (root.to_owned(), word.map(str::to_owned), by.to_owned());
        self.write(move |connection| {
            match &word {
                Some(word) => connection
                    .prepare_cached(
                        "INSERT INTO project_consents (root, instructions, decided_by, decided_at)
                         VALUES (?1, ?2, ?3, ?4)
                         ON CONFLICT (root) DO UPDATE SET instructions = excluded.instructions,
                           decided_by = excluded.decided_by, decided_at = excluded.decided_at",
                    )?
                    .execute((&root, word, &by, now_ms()))?,
                None => connection
                    .prepare_cached("DELETE FROM project_consents WHERE root = ?1")?
                    .execute([&root])?,
            };
            Ok(())
        })
    }

    /// Notes what was used of a project.
    pub fn note_project_seen(&self, root: &str, seen: &str) -> Result<(), StoreError> {
        let (root, seen) = (root.to_owned(), seen.to_owned());
        self.write(move |connection| {
            connection
                .prepare_cached("UPDATE project_consents SET seen = ?2 WHERE root = ?1")?
                .execute((&root, &seen))?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::tests::options;

    #[test]
    fn a_word_is_kept_changed_and_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        assert_eq!(store.project_consent("/p").unwrap(), None);
        store.set_project_consent("/p", Some("use"), "chat").unwrap();
        store.note_project_seen("/p", "{\"AGENTS.md\":\"x\"}").unwrap();
        store.set_project_consent("/p", Some("skip"), "page").unwrap();
        let word = store.project_consent("/p").unwrap().unwrap();
        assert_eq!((word.instructions.as_str(), word.decided_by.as_str()), ("skip", "page"));
        assert_eq!(word.seen, "{\"AGENTS.md\":\"x\"}");
        store.set_project_consent("/p", None, "page").unwrap();
        assert_eq!(store.project_consent("/p").unwrap(), None);
    }
}
