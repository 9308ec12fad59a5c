//! What a person approved of each server's tools, by digest (security T18).

use rusqlite::params;

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// Whether a tool may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PinState {
    /// As it was approved.
    Approved,
    /// Approved once, other now; off until a person agrees.
    Changed,
    /// Never approved; off until a person agrees.
    New,
}

impl PinState {
    /// The word in the database and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Changed => "changed",
            Self::New => "new",
        }
    }

    fn read(word: &str) -> Self {
        match word {
            "approved" => Self::Approved,
            "changed" => Self::Changed,
            _ => Self::New,
        }
    }
}

/// One tool of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRow {
    pub identity: String,
    pub tool: String,
    /// Of an approved tool: what was approved. Of the others: what the server offers now.
    pub digest: String,
    /// The tool as it was then, and for a changed one as it was approved: `{now, approved?}` as JSON.
    pub spec: String,
    pub state: PinState,
    pub decided_at: Option<i64>,
    pub decided_by: String,
}

impl Store {
    /// Pins of one server, or of all.
    pub fn tool_pins(&self, identity: Option<&str>) -> Result<Vec<PinRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT server_identity, tool, digest, spec_blob, state, decided_at, decided_by FROM tool_pins
                 WHERE ?1 IS NULL OR server_identity = ?1 ORDER BY server_identity, tool",
            )?;
            let rows = statement.query_map([identity], |row| {
                Ok(PinRow {
                    identity: row.get(0)?,
                    tool: row.get(1)?,
                    digest: row.get(2)?,
                    spec: row.get(3)?,
                    state: PinState::read(&row.get::<_, String>(4)?),
                    decided_at: row.get(5)?,
                    decided_by: row.get(6)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Approves the first list of a server: `(tool, digest, spec)`. Nothing happens when the server has
    /// pins already: a second "first time" would approve what nobody has seen.
    pub fn first_pins(
        &self,
        identity: &str,
        tools: Vec<(String, String, String)>,
        by: &'static str,
    ) -> Result<bool, StoreError> {
        let identity = identity.to_owned();
        self.write(move |connection| {
            let known: bool = connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM tool_pins WHERE server_identity = ?1)",
                [&identity],
                |row| row.get(0),
            )?;
            if known {
                return Ok(false);
            }
            let mut statement = connection.prepare_cached(
                "INSERT INTO tool_pins (server_identity, tool, digest, spec_blob, state, decided_at, decided_by)
                 VALUES (?1, ?2, ?3, ?4, 'approved', ?5, ?6)",
            )?;
            let now = now_ms();
            for (tool, digest, spec) in &tools {
                statement.execute(params![identity, tool, digest, spec, now, by])?;
            }
            Ok(true)
        })
    }

    /// Notes tools that are not what was approved: `(tool, state, digest, spec)`. An approved row that
    /// changed keeps nothing that would let it be used; one of the same digest stays, approved meanwhile or
    /// not. Returns the names that were written.
    pub fn note_pins(
        &self,
        identity: &str,
        tools: Vec<(String, PinState, String, String)>,
    ) -> Result<Vec<String>, StoreError> {
        let identity = identity.to_owned();
        self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "INSERT INTO tool_pins (server_identity, tool, digest, spec_blob, state) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (server_identity, tool) DO UPDATE SET digest = excluded.digest,
                   spec_blob = excluded.spec_blob, state = excluded.state, decided_at = NULL, decided_by = ''
                 WHERE tool_pins.digest <> excluded.digest",
            )?;
            let mut noted = Vec::new();
            for (tool, state, digest, spec) in &tools {
                if statement.execute(params![identity, tool, digest, spec, state.as_str()])? > 0 {
                    noted.push(tool.clone());
                }
            }
            Ok(noted)
        })
    }

    /// A person approves tools as they were shown: `(tool, digest)`. One whose digest is another one by
    /// now stays as it is. Returns the approved names.
    pub fn approve_pins(
        &self,
        identity: &str,
        tools: Vec<(String, String)>,
        by: &str,
    ) -> Result<Vec<String>, StoreError> {
        let (identity, by) = (identity.to_owned(), by.to_owned());
        self.write(move |connection| {
            let mut done = Vec::new();
            for (tool, digest) in tools {
                let changed = connection.execute(
                    "UPDATE tool_pins SET state = 'approved', decided_at = ?4, decided_by = ?5
                     WHERE server_identity = ?1 AND tool = ?2 AND digest = ?3",
                    params![identity, tool, digest, now_ms(), by],
                )?;
                if changed > 0 {
                    done.push(tool);
                }
            }
            Ok(done)
        })
    }

    /// Forgets one thing of a server that is not there any more.
    pub fn forget_pin(&self, identity: &str, tool: &str) -> Result<(), StoreError> {
        let (identity, tool) = (identity.to_owned(), tool.to_owned());
        self.write(move |connection| {
            let sql = "DELETE FROM tool_pins WHERE server_identity = ?1 AND tool = ?2";
            connection.execute(sql, [&identity, &tool])?;
            Ok(())
        })
    }

    /// Forgets what was approved of a server, so that its next list is the first one.
    pub fn forget_pins(&self, identity: &str) -> Result<(), StoreError> {
        let identity = identity.to_owned();
        self.write(move |connection| {
            connection.execute("DELETE FROM tool_pins WHERE server_identity = ?1", [&identity])?;
            Ok(())
        })
    }
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

    #[test]
    fn only_what_was_shown_can_be_approved() {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path());
        let first = |tool: &str, digest: &str| (tool.to_owned(), digest.to_owned(), "{}".to_owned());
        assert!(store.first_pins("app:a/b", vec![first("x", "1"), first("y", "1")], "trust").unwrap());
        assert!(!store.first_pins("app:a/b", vec![first("z", "1")], "trust").unwrap());
        let note =
            |tool: &str, state, digest: &str| (tool.to_owned(), state, digest.to_owned(), "{}".to_owned());
        let news = || vec![note("x", PinState::Changed, "2"), note("z", PinState::New, "1")];
        assert_eq!(store.note_pins("app:a/b", news()).unwrap(), ["x", "z"]);
        assert!(store.note_pins("app:a/b", news()).unwrap().is_empty(), "of two who see it one notes it");
        let states = || -> Vec<(String, PinState)> {
            store.tool_pins(Some("app:a/b")).unwrap().into_iter().map(|pin| (pin.tool, pin.state)).collect()
        };
        assert_eq!(
            states(),
            [("x".into(), PinState::Changed), ("y".into(), PinState::Approved), ("z".into(), PinState::New)]
        );
        let wanted = vec![("x".to_owned(), "1".to_owned()), ("z".to_owned(), "1".to_owned())];
        assert_eq!(store.approve_pins("app:a/b", wanted, "person").unwrap(), ["z"]);
        assert_eq!(states()[0].1, PinState::Changed, "an older look approves nothing");
        assert!(store.note_pins("app:a/b", news()).unwrap().is_empty());
        assert_eq!(states()[2].1, PinState::Approved, "an older look takes no approval back");
    }
}
