//! Real files, several writers, rotation, torn lines, refusals.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::*;

const FREE: Rotation = Rotation { max_bytes: 0, max_lines: 0, keep_files: 3 };

struct Place {
    dir: tempfile::TempDir,
    warnings: Arc<AtomicUsize>,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), warnings: Arc::default() }
    }

    fn log(&self) -> ToolLog {
        let warnings = Arc::clone(&self.warnings);
        ToolLog::new(
            self.path(),
            Box::new(move |_, _| {
                warnings.fetch_add(1, Ordering::Relaxed);
            }),
        )
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("tool-log.jsonl")
    }

    fn former(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "tool-log.jsonl")
            .collect();
        names.sort();
        names
    }

    fn all_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for name in self.former().into_iter().chain(["tool-log.jsonl".to_owned()]) {
            let text = std::fs::read_to_string(self.dir.path().join(name)).unwrap();
            lines.extend(text.lines().map(str::to_owned));
        }
        lines
    }
}

#[test]
fn lines_are_appended_with_a_private_mode() {
    let place = Place::new();
    std::fs::write(place.path(), "").unwrap();
    let log = place.log();
    log.append("one", FREE);
    log.append("two\nthree", FREE);
    assert_eq!(std::fs::read_to_string(place.path()).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(std::fs::metadata(place.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_torn_last_line_is_closed_first() {
    let place = Place::new();
    std::fs::write(place.path(), "{\"torn\":").unwrap();
    place.log().append("whole", FREE);
    assert_eq!(std::fs::read_to_string(place.path()).unwrap(), "{\"torn\":\nwhole\n");
}

#[test]
fn both_limits_rotate_by_rename_and_old_files_go() {
    let place = Place::new();
    let log = place.log();
    let rotation = Rotation { max_bytes: 40, max_lines: 0, keep_files: 2 };
    for n in 0..20 {
        log.append(&format!("line number {n:03}"), rotation);
    }
    assert_eq!(place.former().len(), 2, "{:?}", place.former());
    assert_eq!(place.all_lines().len(), 6);
    assert_eq!(place.all_lines().last().unwrap(), "line number 019");

    let place = Place::new();
    let log = place.log();
    let rotation = Rotation { max_bytes: 0, max_lines: 3, keep_files: 50 };
    for n in 0..10 {
        log.append(&format!("{n}"), rotation);
    }
    assert_eq!(place.former().len(), 3);
    assert_eq!(place.all_lines(), (0..10).map(|n| n.to_string()).collect::<Vec<_>>());
}

#[test]
fn a_line_larger_than_the_limit_is_still_written() {
    let place = Place::new();
    let rotation = Rotation { max_bytes: 10, max_lines: 0, keep_files: 5 };
    let log = place.log();
    log.append(&"x".repeat(100), rotation);
    log.append(&"y".repeat(100), rotation);
    assert_eq!(place.all_lines().len(), 2);
    assert_eq!(place.former().len(), 1);
}

#[test]
fn lines_of_another_process_count_and_its_rotation_is_followed() {
    let place = Place::new();
    let rotation = Rotation { max_bytes: 0, max_lines: 4, keep_files: 9 };
    let (ours, theirs) = (place.log(), place.log());
    for n in 0..20 {
        let log = if n % 2 == 0 { &ours } else { &theirs };
        log.append(&n.to_string(), rotation);
    }
    assert_eq!(place.all_lines().len(), 20);
    for name in place.former() {
        assert_eq!(std::fs::read_to_string(place.dir.path().join(name)).unwrap().lines().count(), 4);
    }
}

#[test]
fn many_writers_lose_nothing() {
    let place = Place::new();
    let rotation = Rotation { max_bytes: 4000, max_lines: 0, keep_files: 50 };
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let log = place.log();
            scope.spawn(move || {
                for n in 0..100 {
                    log.append(
                        &format!("{{\"writer\":{writer},\"n\":{n},\"pad\":\"{}\"}}", "p".repeat(40)),
                        rotation,
                    );
                }
            });
        }
    });
    assert_eq!(place.warnings.load(Ordering::Relaxed), 0);
    let mut lines = place.all_lines();
    assert!(lines.iter().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    lines.sort();
    lines.dedup();
    assert_eq!(lines.len(), 800);
}

#[test]
fn a_log_that_cannot_be_written_warns_once() {
    let place = Place::new();
    std::fs::create_dir(place.path()).unwrap();
    let log = place.log();
    log.append("one", FREE);
    log.append("two", FREE);
    assert_eq!(place.warnings.load(Ordering::Relaxed), 1);
    std::fs::remove_dir(place.path()).unwrap();
    log.append("three", FREE);
    assert_eq!(std::fs::read_to_string(place.path()).unwrap(), "three\n");
    assert_eq!(place.warnings.load(Ordering::Relaxed), 1);
}

#[test]
fn a_link_is_not_followed_and_a_held_lock_does_not_block() {
    let place = Place::new();
    let target = place.dir.path().join("target");
    std::fs::write(&target, "").unwrap();
    std::os::unix::fs::symlink(&target, place.path()).unwrap();
    place.log().append("x", FREE);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "");
    assert_eq!(place.warnings.load(Ordering::Relaxed), 1);

    let place = Place::new();
    let holder = File::create(place.path()).unwrap();
    rustix::fs::flock(&holder, FlockOperation::LockExclusive).unwrap();
    place.log().append("x", FREE);
    assert_eq!(place.warnings.load(Ordering::Relaxed), 1);
}

#[test]
fn held_lines_come_in_order_before_what_is_written_after_them() {
    let place = Place::new();
    let log = place.log();
    log.write_held();
    assert!(!place.path().exists(), "nothing was held");
    log.hold("one\ntwo", FREE);
    log.hold("three", FREE);
    assert!(!place.path().exists(), "they wait");
    log.append("four", FREE);
    assert_eq!(place.all_lines(), ["one", "two", "three", "four"]);
    log.hold("five", FREE);
    log.write_held();
    log.write_held();
    assert_eq!(place.all_lines(), ["one", "two", "three", "four", "five"]);
    // As much as is worth waiting for, not more.
    log.hold(&"x".repeat(HELD_BYTES), FREE);
    assert_eq!(place.all_lines().len(), 6);
    // Lines that are counted do not wait.
    log.hold("counted", Rotation { max_lines: 100, ..FREE });
    assert_eq!(place.all_lines().len(), 7);
    // Held lines begin a new file like others.
    let small = Rotation { max_bytes: HELD_BYTES as u64, ..FREE };
    log.hold("seven", small);
    log.hold("eight", small);
    log.write_held();
    assert_eq!(place.former().len(), 1);
    assert_eq!(std::fs::read_to_string(place.path()).unwrap(), "seven\neight\n");
    assert_eq!(place.warnings.load(Ordering::Relaxed), 0);
}
