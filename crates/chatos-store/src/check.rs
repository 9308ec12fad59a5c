//! Is the database whole? Used at start and by `chatos doctor`; reads only.

use crate::db::Store;
use crate::error::StoreError;
use crate::migrate::changed_migrations;

/// How thoroughly to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// `quick_check`: structure without cross-checking indexes.
    Quick,
    /// `integrity_check`: everything.
    Deep,
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckFinding {
    /// SQLite found damage.
    Damaged(String),
    /// A row points to a row that is not there.
    ForeignKey {
        /// The table with the dangling reference.
        table: String,
        /// How many rows.
        rows: usize,
    },
    /// A migration was applied with another text than this binary has.
    MigrationChanged(u32),
}

impl Store {
    /// Checks structure, references and migration records.
    pub fn check(&self, depth: CheckDepth) -> Result<Vec<CheckFinding>, StoreError> {
        self.read_long(|connection| {
            let mut findings = Vec::new();
            let pragma = match depth {
                CheckDepth::Quick => "PRAGMA quick_check(20)",
                CheckDepth::Deep => "PRAGMA integrity_check(20)",
            };
            let mut statement = connection.prepare(pragma)?;
            for line in statement.query_map([], |row| row.get::<_, String>(0))? {
                let line = line?;
                if line != "ok" {
                    findings.push(CheckFinding::Damaged(line));
                }
            }
            let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
            let mut tables: Vec<(String, usize)> = Vec::new();
            for table in statement.query_map([], |row| row.get::<_, String>(0))? {
                let table = table?;
                match tables.iter_mut().find(|(name, _)| *name == table) {
                    Some((_, rows)) => *rows += 1,
                    None => tables.push((table, 1)),
                }
            }
            findings.extend(tables.into_iter().map(|(table, rows)| CheckFinding::ForeignKey { table, rows }));
            findings.extend(changed_migrations(connection)?.into_iter().map(CheckFinding::MigrationChanged));
            Ok(findings)
        })
    }
}
