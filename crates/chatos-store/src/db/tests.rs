//! Opening, group commit, isolation of failing jobs, newer and foreign databases.
#![expect(clippy::disallowed_methods, reason = "tests look into the files with a connection of their own")]

use super::*;
use std::sync::atomic::AtomicUsize;

pub(crate) fn options(dir: &Path) -> OpenOptions {
    OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: true,
    }
}

#[test]
fn what_was_written_is_there_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    store.set_meta("k", "v").unwrap();
    let instance = store.instance_id().unwrap();
    assert_eq!(instance.len(), 36);
    store.close();
    assert_eq!(store.set_meta("k", "w").unwrap_err().kind, StoreErrorKind::Unavailable);
    let store = Store::open(options(dir.path())).unwrap();
    assert_eq!(store.meta("k").unwrap().as_deref(), Some("v"));
    assert_eq!(store.instance_id().unwrap(), instance);
}

#[test]
fn a_failing_or_panicking_job_undoes_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let failed = store.write(|c| {
        c.execute("INSERT INTO meta (key, value) VALUES ('bad', '1')", [])?;
        Err::<(), _>(StoreError::new(StoreErrorKind::Invalid, "no"))
    });
    assert_eq!(failed.unwrap_err().kind, StoreErrorKind::Invalid);
    let panicked = store.write(|c| {
        c.execute("INSERT INTO meta (key, value) VALUES ('worse', '1')", [])?;
        if c.is_autocommit() { Ok(()) } else { panic!("boom") }
    });
    assert!(panicked.unwrap_err().message.contains("boom"));
    store.set_meta("good", "1").unwrap();
    assert_eq!(store.meta("bad").unwrap(), None);
    assert_eq!(store.meta("worse").unwrap(), None);
    assert_eq!(store.meta("good").unwrap().as_deref(), Some("1"));
}

#[test]
fn many_threads_write_and_all_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (store, done) = (&store, &done);
            scope.spawn(move || {
                for number in 0..50 {
                    store.set_meta(&format!("{thread}-{number}"), "x").unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(done.load(Ordering::Relaxed), 400);
    let count: i64 = store
        .read(|c| Ok(c.query_row("SELECT count(*) FROM meta WHERE value = 'x'", [], |r| r.get(0))?))
        .unwrap();
    assert_eq!(count, 400);
}

#[test]
fn a_newer_a_foreign_and_a_garbage_file_are_refused_untouched() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    store
        .write(|c| Ok(c.execute("INSERT INTO schema_migrations VALUES (999, 'future', 'x', 0)", [])?))
        .unwrap();
    store.close();
    let error = Store::open(options(dir.path())).err().unwrap();
    assert_eq!(error.kind, StoreErrorKind::Newer);
    assert!(error.message.contains("newer ChatOS (schema 999"));

    let foreign = tempfile::tempdir().unwrap();
    Connection::open(foreign.path().join("state.db")).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    assert_eq!(Store::open(options(foreign.path())).err().unwrap().kind, StoreErrorKind::Foreign);

    let garbage = tempfile::tempdir().unwrap();
    let bytes = vec![b'z'; 8192];
    std::fs::write(garbage.path().join("state.db"), &bytes).unwrap();
    assert_eq!(Store::open(options(garbage.path())).err().unwrap().kind, StoreErrorKind::Corrupt);
    assert_eq!(std::fs::read(garbage.path().join("state.db")).unwrap(), bytes);
}

#[test]
fn a_process_that_may_not_migrate_refuses_an_empty_database() {
    let dir = tempfile::tempdir().unwrap();
    let refused = Store::open(OpenOptions { migrate: false, ..options(dir.path()) });
    assert_eq!(refused.err().unwrap().kind, StoreErrorKind::Older);
}

#[test]
fn the_file_is_private_and_the_check_is_clean() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let mode = std::fs::metadata(dir.path().join("state.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(store.check(crate::CheckDepth::Deep).unwrap(), []);
}

#[test]
fn a_backup_taken_while_writing_is_whole_and_daily_copies_are_limited() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    store.set_meta("before", "1").unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..200).for_each(|n| store.set_meta("n", &n.to_string()).unwrap()));
        let copy = dir.path().join("copy.db");
        store.backup_to(&copy).unwrap();
        let found: String = Connection::open(&copy)
            .unwrap()
            .query_row("SELECT value FROM meta WHERE key = 'before'", [], |r| r.get(0))
            .unwrap();
        assert_eq!(found, "1");
        writer.join().unwrap();
    });
    // What a killed process left goes with the next copy; what somebody may be writing stays.
    let backups = dir.path().join("backups");
    std::fs::create_dir_all(&backups).unwrap();
    for (name, hours) in
        [("before-schema-3-a.partial", 2), ("daily-b.partial-journal", 2), ("daily-c.partial", 0)]
    {
        let file = std::fs::File::create(backups.join(name)).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(hours * 3600))
            .unwrap();
    }
    assert!(store.daily_backup(2).unwrap().is_some());
    let mut half_made: Vec<_> =
        std::fs::read_dir(&backups).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    half_made.retain(|name| name.to_string_lossy().contains(".partial"));
    assert_eq!(half_made, ["daily-c.partial"]);
    assert!(store.daily_backup(2).unwrap().is_none());
    assert_eq!(crate::list_backups(&dir.path().join("backups")).len(), 1);
}

#[test]
fn a_look_that_fails_in_a_snapshot_leaves_no_old_view_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    store.set_meta("a", "1").unwrap();
    let failed = store.read_at_once(|connection| {
        connection.query_row("SELECT count(*) FROM meta", [], |_| Ok(()))?;
        Err::<(), _>(StoreError::new(StoreErrorKind::Internal, "on purpose"))
    });
    assert_eq!(failed.unwrap_err().message, "on purpose");
    store.set_meta("a", "2").unwrap();
    let seen: String = store
        .read_at_once(|connection| {
            Ok(connection.query_row("SELECT value FROM meta WHERE key = 'a'", [], |row| row.get(0))?)
        })
        .unwrap();
    assert_eq!(seen, "2");
}
