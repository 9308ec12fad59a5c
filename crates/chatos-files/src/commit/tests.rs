//! Commits under faults: at every write, fsync, rename and link, once and for ever, all or nothing.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;
use crate::fs::RealFs;
use crate::fs::faulty::{Fault, FaultyFs};
use crate::root::Protected;
use crate::stop::Never;
use crate::testing::Fixture;
use crate::tree::Purpose;

fn put(path: &str, old: Option<&str>, new: &str) -> Step {
    Step::Put {
        path: path.into(),
        expected: old.map(|old| Digest::of(old.as_bytes()).into()),
        content: new.as_bytes().into(),
        mode: None,
        like: None,
    }
}

fn fixture() -> Fixture {
    let f = Fixture::new();
    f.write("a.txt", "old a")
        .write("dir/b.txt", "old b")
        .write("gone.txt", "old gone")
        .write("tree/x/y", "y");
    f.write("moved.txt", "moving")
        .write("over.txt", "overwritten")
        .write("deadtree/1", "1")
        .write("deadtree/s/2", "2");
    f.write("dst/old", "old dst");
    std::fs::set_permissions(f.path("a.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../a.txt", f.path("tree/link")).unwrap();
    f
}

/// One of everything: changed files, new files in new directories, removals, moves and copies.
fn everything(f: &Fixture) -> Vec<Step> {
    let source = f.root.existing("tree", Last::Itself).unwrap();
    let measure = tree::measure(&f.root, &source, Purpose::Transfer, &Never).unwrap();
    vec![
        put("a.txt", Some("old a"), "new a"),
        put("dir/b.txt", Some("old b"), "new b"),
        put("new/deep/c.txt", None, "created"),
        put("new/deep/d.txt", None, "created too"),
        Step::Remove { path: "gone.txt".into(), expected: Some(Digest::of(b"old gone").into()) },
        Step::Remove { path: "deadtree".into(), expected: None },
        Step::Rename { from: "moved.txt".into(), to: "over.txt".into(), overwrite: true },
        Step::Copy { from: "tree".into(), to: "dst".into(), overwrite: true, measure },
    ]
}

#[test]
fn a_commit_does_everything_and_leaves_nothing_behind() {
    let f = fixture();
    let committed = f.commit(everything(&f)).unwrap();
    assert_eq!(committed.warnings, Vec::<String>::new());
    assert_eq!(f.read("a.txt"), b"new a");
    assert_eq!(f.path("a.txt").metadata().unwrap().mode() & 0o777, 0o640);
    assert_eq!(f.read("new/deep/d.txt"), b"created too");
    assert!(!f.path("gone.txt").exists() && !f.path("deadtree").exists() && !f.path("moved.txt").exists());
    assert_eq!(f.read("over.txt"), b"moving");
    assert_eq!(f.read("dst/x/y"), b"y");
    assert!(!f.path("dst/old").exists());
    assert_eq!(std::fs::read_link(f.path("dst/link")).unwrap().to_str(), Some("../a.txt"));
    assert_eq!(f.journals(), 0);
    assert!(f.snapshot().iter().all(|(path, ..)| !path.contains(".chatos-")));
}

/// Acceptance 3 of the tool layer: a fault at each write, fsync and rename.
#[test]
fn a_fault_at_any_call_leaves_every_file_as_it_was() {
    for fault in [Fault::Once(Errno::IO), Fault::Once(Errno::NOSPC), Fault::Short] {
        let mut at = 1;
        loop {
            let f = fixture();
            let before = f.snapshot();
            let fs = FaultyFs::new(at, fault);
            let done = f.engine(&fs).commit(everything(&f), &Never, &mut ());
            if !fs.fired() {
                done.unwrap();
                break;
            }
            match done {
                Err(_) => {
                    assert_eq!(f.snapshot(), before, "{fault:?} at call {at}");
                    f.engine(&RealFs).recover().unwrap();
                    assert_eq!(f.snapshot(), before, "{fault:?} at call {at}, after a start");
                }
                // Past the last step only leftovers can fail to go; the next start removes them. A
                // refused second name is no fault either: the old file is set aside instead.
                Ok(_) => {
                    f.engine(&RealFs).recover().unwrap();
                    assert_eq!(f.read("a.txt"), b"new a");
                    assert!(f.snapshot().iter().all(|(path, ..)| !path.contains(".chatos-")), "call {at}");
                }
            }
            assert_eq!(f.journals(), 0, "{fault:?} at call {at}");
            at += 1;
            assert!(at < 500, "the commit never ends");
        }
        assert!(at > 40, "the faults were not reached: {at}");
    }
}

/// As after kill -9 or a power cut: nothing works any more from the k-th call on.
#[test]
fn a_death_at_any_call_is_undone_or_finished_at_the_next_start() {
    let done = {
        let f = fixture();
        f.commit(everything(&f)).unwrap();
        f.snapshot()
    };
    let (mut undone, mut finished) = (0, 0);
    for at in 1.. {
        let f = fixture();
        let before = f.snapshot();
        let fs = FaultyFs::new(at, Fault::Stop);
        let outcome = f.engine(&fs).commit(everything(&f), &Never, &mut ());
        if !fs.fired() {
            outcome.unwrap();
            break;
        }
        f.engine(&RealFs).recover().unwrap();
        let after = f.snapshot();
        if after == before {
            assert!(outcome.is_err(), "call {at}: reported as done and undone");
            undone += 1;
        } else {
            let bare = |all: &[(String, u32, Vec<u8>)]| -> Vec<(String, Vec<u8>)> {
                all.iter().map(|(path, _, content)| (path.clone(), content.clone())).collect()
            };
            assert_eq!(bare(&after), bare(&done), "call {at}: neither old nor new");
            finished += 1;
        }
        assert_eq!(f.engine(&RealFs).recover().unwrap(), recover_nothing(), "call {at}");
        assert!(at < 500);
    }
    assert!(undone > 20 && finished > 2, "{undone} undone, {finished} finished");
}

/// One edit of `a.txt`, which needs no durable journal.
fn single(f: &Fixture, text: &str) -> Vec<Step> {
    let old = String::from_utf8(f.read("a.txt")).unwrap();
    vec![put("a.txt", Some(&old), text)]
}

#[test]
fn a_journal_of_a_single_change_is_used_again() {
    let f = fixture();
    let names = || -> Vec<_> {
        let dir = std::fs::read_dir(f.journals.dir()).unwrap();
        dir.map(|entry| entry.unwrap().path()).collect()
    };
    f.commit(single(&f, "one")).unwrap();
    let kept = names();
    assert_eq!((kept.len(), f.journals()), (1, 0));
    for text in ["two", "three, which is longer", "4"] {
        f.commit(single(&f, text)).unwrap();
        assert_eq!((f.read("a.txt"), names(), f.journals()), (text.into(), kept.clone(), 0));
    }
    // Held by this process: nobody takes it for a leftover.
    let other = Journals::new(f.journals.dir().to_owned());
    let beside = Engine { root: &f.root, fs: &RealFs, journals: &other };
    assert_eq!(beside.recover().unwrap(), recover_nothing());
    assert_eq!(names(), kept);
    // Somebody cleaned up.
    std::fs::remove_file(&kept[0]).unwrap();
    f.commit(single(&f, "five")).unwrap();
    assert!(names().len() == 1 && names() != kept);
    let Fixture { dir, journals, .. } = f;
    let place = journals.dir().to_owned();
    drop(journals);
    assert_eq!(std::fs::read_dir(place).unwrap().count(), 0, "it goes with its process");
    drop(dir);
}

/// The same faults where the journal is one that was used before.
#[test]
fn a_fault_in_a_later_single_change_leaves_the_file_old_or_new() {
    for fault in [Fault::Once(Errno::IO), Fault::Once(Errno::NOSPC), Fault::Short, Fault::Stop] {
        for at in 1.. {
            let f = fixture();
            f.commit(single(&f, "before")).unwrap();
            let old = f.snapshot();
            let fs = FaultyFs::new(at, fault);
            let done = f.engine(&fs).commit(single(&f, "after"), &Never, &mut ());
            if !fs.fired() {
                done.unwrap();
                assert!(at > 5, "the faults were not reached: {at}");
                break;
            }
            f.engine(&RealFs).recover().unwrap();
            let wanted: &[u8] = if done.is_ok() { b"after" } else { b"before" };
            assert_eq!(f.read("a.txt"), wanted, "{fault:?} at call {at}");
            if done.is_err() {
                assert_eq!(f.snapshot(), old, "{fault:?} at call {at}");
            }
            f.commit(single(&f, "again")).unwrap();
            assert_eq!((f.read("a.txt"), f.journals()), (b"again".to_vec(), 0), "{fault:?} at call {at}");
            assert!(f.snapshot().iter().all(|(path, ..)| !path.contains(".chatos-")), "{fault:?} at {at}");
        }
    }
}

fn recover_nothing() -> super::recover::Recovered {
    super::recover::Recovered::default()
}

/// A recovery that dies itself is repeated by the next one.
#[test]
fn a_death_in_the_recovery_is_recovered_too() {
    for at in [20, 35, 50, 60, 70, 75, 80] {
        for again in 1..12 {
            let f = fixture();
            let before = f.snapshot();
            let fs = FaultyFs::new(at, Fault::Stop);
            let outcome = f.engine(&fs).commit(everything(&f), &Never, &mut ());
            let second = FaultyFs::new(again, Fault::Stop);
            let engine = f.engine(&second);
            drop(engine.recover());
            f.engine(&RealFs).recover().unwrap();
            if outcome.is_err() && f.snapshot() != before {
                assert_eq!(f.read("a.txt"), b"new a", "{at}/{again}");
                assert_eq!(f.read("dst/x/y"), b"y", "{at}/{again}");
            }
            assert!(f.snapshot().iter().all(|(path, ..)| !path.contains(".chatos-")), "{at}/{again}");
            assert_eq!(f.journals(), 0);
        }
    }
}

#[test]
fn single_writes_are_undone_at_every_fault_too() {
    for steps in [
        |_: &Fixture| vec![put("a.txt", Some("old a"), "new a")],
        |_: &Fixture| vec![put("new/dir/file", None, "x")],
        |_: &Fixture| vec![Step::Remove { path: "deadtree".into(), expected: None }],
        |_: &Fixture| vec![Step::Rename { from: "tree".into(), to: "new/tree".into(), overwrite: false }],
    ] {
        for at in 1.. {
            let f = fixture();
            let before = f.snapshot();
            let fs = FaultyFs::new(at, Fault::Once(Errno::IO));
            let done = f.engine(&fs).commit(steps(&f), &Never, &mut ());
            if !fs.fired() {
                break;
            }
            f.engine(&RealFs).recover().unwrap();
            if done.is_err() {
                assert_eq!(f.snapshot(), before, "call {at}");
            }
            assert!(f.snapshot().iter().all(|(path, ..)| !path.contains(".chatos-")), "call {at}");
        }
    }
}

#[test]
fn the_next_host_puts_every_folder_right_that_a_dead_process_worked_in() {
    for at in 1..200 {
        let f = fixture();
        let before = f.snapshot();
        let fs = FaultyFs::new(at, Fault::Stop);
        let done = f.engine(&fs).commit(everything(&f), &Never, &mut ());
        if !fs.fired() {
            return;
        }
        // Nobody calls a tool in that folder any more; only its journal names it.
        let journals = Journals::new(f.outside("journal"));
        recover_everywhere(&journals, &Protected::default()).unwrap();
        let after = f.snapshot();
        assert!(after.iter().all(|(path, ..)| !path.contains(".chatos-")), "call {at}");
        assert!(done.is_ok() || after == before || f.read("a.txt") == b"new a", "call {at}");
        // Drafts of a journal say nothing yet, and go when they are old.
        let listed = std::fs::read_dir(f.outside("journal")).unwrap().flatten();
        let is_left = |entry: &std::fs::DirEntry| {
            entry.path().extension().is_some_and(|end| end == "json") && entry.metadata().unwrap().len() > 0
        };
        assert_eq!(listed.filter(is_left).count(), 0, "call {at}");
    }
    panic!("the commit never ended");
}

#[test]
fn what_changed_meanwhile_is_a_conflict_and_nothing_is_written() {
    let f = fixture();
    let before = f.snapshot();
    for steps in [
        vec![put("dir/b.txt", Some("old b"), "new"), put("a.txt", Some("another"), "new")],
        vec![put("dir/b.txt", Some("old b"), "new"), put("a.txt", None, "new")],
        vec![put("dir/b.txt", Some("old b"), "new"), put("missing", Some("x"), "new")],
        vec![put("dir/b.txt", Some("old b"), "new"), put("dir/../dir/b.txt", Some("old b"), "newer")],
        vec![
            put("a.txt", Some("old a"), "x"),
            Step::Remove { path: "gone.txt".into(), expected: Some(Digest::of(b"?").into()) },
        ],
    ] {
        assert!(matches!(f.commit(steps), Err(FileError::Conflict { .. })));
        assert_eq!(f.snapshot(), before);
    }
    assert!(matches!(
        f.commit(vec![Step::Remove { path: ".".into(), expected: None }]),
        Err(FileError::Denied { rule: DenyRule::ProtectedPath, .. })
    ));
}

#[test]
fn links_stay_links_hard_links_are_told_and_modes_are_kept() {
    let f = fixture();
    symlink("a.txt", f.path("link")).unwrap();
    std::fs::hard_link(f.path("a.txt"), f.outside("other-name")).unwrap();
    let committed = f.commit(vec![put("link", Some("old a"), "through")]).unwrap();
    assert!(f.path("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(f.read("a.txt"), b"through");
    assert_eq!(std::fs::read(f.outside("other-name")).unwrap(), b"old a");
    assert!(committed.warnings[0].starts_with("hard_links: `a.txt`"));
    std::fs::set_permissions(f.path("dir/b.txt"), std::fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(
        f.commit(vec![put("dir/b.txt", Some("old b"), "x")]),
        Err(FileError::Denied { rule: DenyRule::FileMode, .. })
    ));
    std::fs::set_permissions(f.path("gone.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
    f.commit(vec![put("gone.txt", Some("old gone"), "script")]).unwrap();
    assert_eq!(f.path("gone.txt").metadata().unwrap().mode() & 0o7777, 0o755);
}

#[test]
fn a_person_who_wrote_after_the_death_keeps_their_text() {
    let f = fixture();
    for at in 1.. {
        let fs = FaultyFs::new(at, Fault::Stop);
        let steps = vec![put("a.txt", Some("old a"), "new a"), put("dir/b.txt", Some("old b"), "new b")];
        let done = f.engine(&fs).commit(steps, &Never, &mut ());
        if f.read("a.txt") == b"new a" && f.read("dir/b.txt") == b"old b" {
            assert!(done.is_err());
            break;
        }
        f.engine(&RealFs).recover().unwrap();
        assert!(at < 100);
    }
    f.write("a.txt", "the person's");
    f.engine(&RealFs).recover().unwrap();
    assert_eq!(f.read("a.txt"), b"the person's");
    assert_eq!(f.read("dir/b.txt"), b"old b");
}

#[test]
fn two_writers_of_one_file_never_mix_and_the_slower_one_is_told() {
    let f = std::sync::Arc::new(fixture());
    f.write("shared", "0");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let f = f.clone();
            std::thread::spawn(move || {
                let mut won = 0_u64;
                while won < 25 {
                    let now = String::from_utf8(f.read("shared")).unwrap();
                    let next = (now.parse::<u64>().unwrap() + 1).to_string();
                    match f.commit(vec![put("shared", Some(&now), &next)]) {
                        Ok(_) => won += 1,
                        Err(FileError::Conflict { kind: ConflictKind::ChangedOnDisk, .. }) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(f.read("shared"), b"100");
}
