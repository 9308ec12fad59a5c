//! Noticing that the database was changed, by this process or another, without reading it.

use crate::db::{Store, lock};
use crate::error::StoreError;

impl Store {
    /// A number that differs from an earlier one when anything was committed in between, by anybody.
    /// Costs microseconds; callers keep what they read until it changes.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        // The number belongs to a connection, so it has one of its own.
        let mut watch = lock(self.watch_cell());
        let connection = match watch.take() {
            Some(connection) => connection,
            None => self.connect_reader()?,
        };
        let version = connection
            .prepare_cached("PRAGMA data_version")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)));
        if version.is_ok() {
            *watch = Some(connection);
        }
        Ok(version?)
    }

    /// Two numbers that differ when tasks were added, changed or deleted: cheap at any size.
    pub fn tasks_stamp(&self) -> Result<(i64, i64), StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT (SELECT coalesce(max(updated_at), 0) FROM tasks), (SELECT coalesce(sum(total), 0) FROM task_counts)",
            )?;
            Ok(statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })
    }

    /// A number that differs when entries were added to a journal or deleted.
    pub fn journal_stamp(&self) -> Result<i64, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT coalesce(sum(entries), 0) FROM journal_counts")?;
            Ok(statement.query_row([], |row| row.get(0))?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::OpenOptions;
    use crate::db::tests::options;

    #[test]
    fn changes_of_this_and_of_another_process_are_noticed_and_quiet_is_quiet() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(options(dir.path())).unwrap();
        let first = store.data_version().unwrap();
        assert_eq!(store.data_version().unwrap(), first);
        store.set_meta("a", "1").unwrap();
        let second = store.data_version().unwrap();
        assert_ne!(second, first);
        assert_eq!(store.data_version().unwrap(), second);
        let other = Store::open(OpenOptions { migrate: false, ..options(dir.path()) }).unwrap();
        other.set_meta("a", "2").unwrap();
        assert_ne!(store.data_version().unwrap(), second);
    }
}
