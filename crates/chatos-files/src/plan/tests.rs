//! Changes from request to disk: forms kept, conflicts found, records written, paths refused.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, symlink};

use chatos_prompts::Unasked;

use super::*;
use crate::entry::FileId;
use crate::fs::RealFs;
use crate::fs::faulty::{Fault, FaultyFs};
use crate::read::ScanCache;
use crate::root::SymlinkPolicy;
use crate::stop::Never;
use crate::testing::{BrokenLog, Fixture, MemoryLog};

fn write(path: &str, text: &str) -> WriteRequest {
    WriteRequest {
        path: path.into(),
        payload: text.into(),
        plain: true,
        exact: false,
        mode: WriteMode::Overwrite,
        expected: None,
        max_bytes: 1 << 20,
    }
}

fn run<T>(f: &Fixture, planned: Result<Planned<T>>) -> Result<(T, Vec<FileChange>)> {
    match planned? {
        Planned::Noop(summary) => Ok((summary, Vec::new())),
        Planned::Change(plan, summary) => {
            let log = MemoryLog::default();
            plan.commit(Approval::unasked(Unasked::NotWanted), &f.engine(&RealFs), &log, &Never)?;
            Ok((summary, log.0.into_inner().unwrap()))
        }
    }
}

fn written(f: &Fixture, request: &WriteRequest) -> Result<(WriteSummary, Vec<FileChange>)> {
    run(f, write_file(&f.root, &ScanCache::default(), request, &Never))
}

fn patch(f: &Fixture, text: &str) -> Result<(PatchSummary, Vec<FileChange>)> {
    let request =
        PatchRequest { base: ".".into(), patch: text.into(), expected: BTreeMap::new(), max_bytes: 1 << 20 };
    run(f, apply_patch(&f.root, &request))
}

fn transfer(from: &str, to: &str, overwrite: bool) -> TransferRequest {
    TransferRequest { from: from.into(), to: to.into(), overwrite }
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> String {
    match result {
        Err(FileError::Conflict { kind, .. }) => kind.as_str().into(),
        Err(FileError::Denied { rule, .. }) => rule.as_str().into(),
        Err(FileError::Invalid { key, .. }) => format!("invalid {key}"),
        Err(FileError::Exhausted { resource, .. }) => resource.as_str().into(),
        Err(FileError::NotFound { .. }) => "not_found".into(),
        Err(FileError::Unsupported { what, .. }) => what.into(),
        other => format!("{other:?}"),
    }
}

#[test]
fn writing_keeps_the_form_of_the_file_unless_exact() {
    let f = Fixture::new();
    f.write("w", b"\xef\xbb\xbfa\r\nb\r\n");
    let (summary, records) = written(&f, &write("w", "x\ny\n")).unwrap();
    assert_eq!(f.read("w"), b"\xef\xbb\xbfx\r\ny\r\n");
    assert_eq!((summary.created, summary.bytes, records.len()), (false, 9, 1));
    assert_eq!(records[0].before, Content::Bytes((*b"\xef\xbb\xbfa\r\nb\r\n").into()));
    written(&f, &WriteRequest { mode: WriteMode::Append, ..write("w", "z\n") }).unwrap();
    assert_eq!(f.read("w"), b"\xef\xbb\xbfx\r\ny\r\nz\r\n");
    written(&f, &WriteRequest { exact: true, ..write("w", "x\n") }).unwrap();
    assert_eq!(f.read("w"), b"x\n");
    assert!(written(&f, &write("w", "x\n")).unwrap().1.is_empty(), "the same bytes are nothing to do");
    written(&f, &write("new/dir/empty", "")).unwrap();
    assert_eq!(f.read("new/dir/empty"), b"");
}

#[test]
fn writing_refuses_what_it_must() {
    let f = Fixture::new();
    f.write("t", "x").write("dir/x", "");
    symlink("../out", f.path("esc")).unwrap();
    symlink("/etc", f.path("etc")).unwrap();
    let case = |request: WriteRequest| kind(written(&f, &request));
    assert_eq!(case(WriteRequest { mode: WriteMode::Create, ..write("t", "y") }), "exists");
    assert_eq!(case(WriteRequest { expected: Some(Digest::of(b"y")), ..write("t", "y") }), "changed_on_disk");
    assert_eq!(
        case(WriteRequest { expected: Some(Digest::of(b"y")), ..write("none", "y") }),
        "changed_on_disk"
    );
    assert_eq!(case(WriteRequest { max_bytes: 3, ..write("t", "1234") }), "write_bytes");
    assert_eq!(case(write("dir", "x")), "invalid /path");
    assert_eq!(case(write(".", "x")), "invalid /path");
    assert_eq!(case(write("esc", "x")), "symlink_escape");
    assert_eq!(case(write("etc/new", "x")), "symlink_escape");
    assert_eq!(case(write("../x", "x")), "outside_root");
    assert_eq!(case(write("/tmp/x", "x")), "outside_root");
    assert_eq!(case(write("t/x", "x")), "invalid /path");
    assert!(!f.outside("out").exists());
}

#[test]
fn edits_keep_line_ends_and_refuse_other_encodings() {
    let f = Fixture::new();
    f.write("crlf", "a\r\nb\r\n").write("mixed", "a\r\nb\nc\r\n").write("latin", b"caf\xe9");
    let edit = |path: &str, old: &str, new: &str| EditRequest {
        path: path.into(),
        old: old.into(),
        new: new.into(),
        expected_replacements: 1,
        tolerant: true,
        expected: None,
        max_bytes: 1 << 20,
    };
    let (summary, _) = run(&f, edit_file(&f.root, &edit("crlf", "a\nb", "a\nx\nb"))).unwrap();
    assert_eq!(f.read("crlf"), b"a\r\nx\r\nb\r\n");
    assert_eq!((summary.diff().added, summary.diff().removed, summary.lines), (1, 0, vec![1]));
    run(&f, edit_file(&f.root, &edit("mixed", "b\r\n", "B\nnew\n"))).unwrap();
    assert_eq!(f.read("mixed"), b"a\r\nB\r\nnew\r\nc\r\n".to_vec());
    assert_eq!(kind(edit_file(&f.root, &edit("latin", "caf", "x"))), "editing text that is not UTF-8");
    assert_eq!(kind(edit_file(&f.root, &edit("crlf", "zzz", "x"))), "count_mismatch");
    assert_eq!(kind(edit_file(&f.root, &edit("crlf", "a", "a"))), "invalid /new_string");
    assert_eq!(kind(edit_file(&f.root, &edit("crlf", "", "x"))), "exists");
    assert_eq!(kind(edit_file(&f.root, &edit("none", "x", "y"))), "not_found");
    run(&f, edit_file(&f.root, &edit("fresh", "", "hello\n"))).unwrap();
    assert_eq!(f.read("fresh"), b"hello\n");
}

const PATCH: &str = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+ONE\n*** Add File: new/n\n+n\n\
                     *** Delete File: d\n*** Update File: m\n*** Move to: moved/m\n@@\n-m\n+M\n*** End Patch";

#[test]
fn a_patch_over_many_files_is_applied_as_a_whole_and_recorded() {
    let f = Fixture::new();
    f.write("a", "one\r\ntwo\r\n").write("d", "gone").write("m", "m\n");
    std::fs::set_permissions(f.path("m"), std::os::unix::fs::PermissionsExt::from_mode(0o751)).unwrap();
    let (summary, records) = patch(&f, PATCH).unwrap();
    assert_eq!(f.read("a"), b"ONE\r\ntwo\r\n");
    assert_eq!(f.read("moved/m"), b"M\n");
    assert_eq!(f.path("moved/m").metadata().unwrap().mode() & 0o777, 0o751);
    assert!(!f.path("d").exists() && !f.path("m").exists());
    let changes: Vec<_> =
        summary.files.iter().map(|file| (file.path.as_str(), file.change.as_str())).collect();
    assert_eq!(changes, [("a", "modified"), ("new/n", "created"), ("d", "deleted"), ("moved/m", "moved")]);
    let mut recorded: Vec<_> = records.iter().map(|row| (row.path.as_str(), row.kind.as_str())).collect();
    recorded.sort_unstable();
    assert_eq!(recorded, [("a", "modified"), ("d", "deleted"), ("moved/m", "moved"), ("new/n", "created")]);
    let (again, records) = patch(&f, PATCH).unwrap();
    assert!(
        records.is_empty() && again.files.iter().all(|file| file.hunks == 0),
        "all of it is there already"
    );
    f.write("d", "back again");
    assert_eq!(kind(patch(&f, PATCH)), "already_applied");
}

/// Row 1 of servers §13, with a fault at every call of the commit.
#[test]
fn a_patch_that_fails_leaves_every_file_as_it_was() {
    for at in 1.. {
        let f = Fixture::new();
        f.write("a", "one\ntwo\n").write("d", "gone").write("m", "m\n");
        let before = f.snapshot();
        let request = PatchRequest {
            base: ".".into(),
            patch: PATCH.into(),
            expected: BTreeMap::new(),
            max_bytes: 1 << 20,
        };
        let Planned::Change(plan, _) = apply_patch(&f.root, &request).unwrap() else { panic!("noop") };
        let fs = FaultyFs::new(at, Fault::Once(rustix::io::Errno::IO));
        let done =
            plan.commit(Approval::unasked(Unasked::NotWanted), &f.engine(&fs), &MemoryLog::default(), &Never);
        if !fs.fired() {
            break;
        }
        if done.is_err() {
            assert_eq!(f.snapshot(), before, "call {at}");
        }
    }
}

#[test]
fn a_bad_last_file_and_every_escape_refuse_the_whole_patch() {
    let f = Fixture::new();
    f.write("a", "one\n").write("b", "two\n");
    symlink("..", f.path("up")).unwrap();
    let before = f.snapshot();
    let good = "*** Begin Patch\n*** Update File: a\n@@\n-one\n+ONE\n";
    for (rest, expected) in [
        ("*** Update File: b\n@@\n-three\n+3\n", "hunk_failed"),
        ("*** Add File: ../x\n+x\n", "outside_root"),
        ("*** Add File: /etc/chatos-x\n+x\n", "outside_root"),
        ("*** Add File: up/x\n+x\n", "symlink_escape"),
        ("*** Delete File: ../../x\n", "outside_root"),
        ("*** Update File: b\n*** Move to: ../b\n@@\n-two\n+2\n", "outside_root"),
        ("*** Add File: b\n+x\n", "exists"),
        ("*** Update File: none\n@@\n-x\n+y\n", "not_found"),
    ] {
        assert_eq!(kind(patch(&f, &format!("{good}{rest}*** End Patch"))), expected, "{rest}");
        assert_eq!(f.snapshot(), before);
    }
    let git = "diff --git a/../../x b/../../x\nnew file mode 100644\n--- /dev/null\n+++ b/../../x\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(kind(patch(&f, git)), "outside_root");
}

#[test]
fn deleting_removes_trees_and_links_but_never_the_root_or_what_links_point_to() {
    let f = Fixture::new();
    f.write("tree/a", "1").write("tree/s/b", "22").write("keep", "k");
    std::fs::create_dir(f.outside("elsewhere")).unwrap();
    std::fs::write(f.outside("elsewhere/precious"), "p").unwrap();
    symlink("../elsewhere", f.path("link")).unwrap();
    symlink("../../elsewhere", f.path("tree/link")).unwrap();
    let delete = |path: &str, recursive: bool| run(&f, delete_path(&f.root, path, recursive, None, &Never));
    for path in [".", "tree/..", f.root.path().to_str().unwrap()] {
        assert_eq!(kind(delete(path, true)), "protected_path", "{path}");
    }
    assert_eq!(kind(delete("..", true)), "outside_root");
    assert_eq!(kind(delete("link/precious", true)), "symlink_escape");
    assert_eq!(kind(delete("tree", false)), "exists");
    let (summary, records) = delete("tree", true).unwrap();
    assert_eq!((summary.files, summary.bytes, records.len()), (3, 3, 3));
    assert!(records.iter().any(|row| row.before == Content::Bytes((*b"22").into())));
    delete("link", true).unwrap();
    assert!(f.outside("elsewhere/precious").exists() && !f.path("link").exists());
    let (summary, records) = delete("nothing/there", true).unwrap();
    assert_eq!((summary.files, records.len()), (0, 0));
    assert_eq!(
        kind(run(&f, delete_path(&f.root, "keep", true, Some(&Digest::of(b"?")), &Never))),
        "changed_on_disk"
    );
}

#[test]
fn moving_and_copying_follow_the_rules_of_both_ends() {
    let f = Fixture::new();
    f.write("a", "A").write("dir/x", "x").write("dst", "old").write("d2/y", "y");
    let mv =
        |from: &str, to: &str, over: bool| run(&f, move_path(&f.root, &transfer(from, to, over), &Never));
    let cp =
        |from: &str, to: &str, over: bool| run(&f, copy_path(&f.root, &transfer(from, to, over), &Never));
    assert_eq!(kind(mv("none", "x", false)), "not_found");
    assert_eq!(kind(mv("a", "dst", false)), "exists");
    assert_eq!(kind(mv("dir", "dir/sub/new", false)), "invalid /to");
    assert_eq!(kind(mv(".", "x", false)), "protected_path");
    assert_eq!(kind(mv("a", ".", true)), "protected_path");
    assert_eq!(kind(mv("a", "../a", false)), "outside_root");
    assert_eq!(kind(cp("dir/x", "dir", true)), "invalid /to");
    for to in ["a", "./a", "dir/../a"] {
        let (summary, records) = mv("a", to, true).unwrap();
        assert_eq!((summary.files, records.len(), f.read("a")), (0, 0, b"A".to_vec()), "{to}");
    }
    let inode = FileId::of(&rustix::fs::stat(f.path("a")).unwrap());
    let (_, records) = mv("a", "deep/er/a", false).unwrap();
    assert_eq!(FileId::of(&rustix::fs::stat(f.path("deep/er/a")).unwrap()), inode);
    assert_eq!((records[0].kind.as_str(), records[0].mode), ("moved", "move"));
    let (_, records) = cp("dir", "d2", true).unwrap();
    assert_eq!((f.read("d2/x"), f.path("d2/y").exists()), (b"x".to_vec(), false), "replaced, not merged");
    assert_eq!(records.len(), 2, "what was replaced is recorded too");
    let (_, records) = mv("dir", "dst", true).unwrap();
    assert_eq!((f.read("dst/x"), records[0].mode), (b"x".to_vec(), "move_overwrite"));
    symlink("../../secret", f.path("dst/deep")).unwrap_or(());
    symlink("x", f.path("dst/near")).unwrap();
    assert_eq!(kind(cp("dst", "copy", false)), "symlink_escape");
}

#[test]
fn protected_directories_cannot_be_carried_away_with_their_parents() {
    let f = Fixture::with(SymlinkPolicy::Deny, &["root/home/state"]);
    f.write("home/state/db", "x").write("home/other", "y");
    assert_eq!(kind(delete_path(&f.root, "home", true, None, &Never)), "protected_path");
    assert_eq!(kind(move_path(&f.root, &transfer("home", "away", false), &Never)), "protected_path");
    assert_eq!(kind(copy_path(&f.root, &transfer("home", "away", false), &Never)), "protected_path");
    f.write("src/x", "");
    assert_eq!(kind(move_path(&f.root, &transfer("src", "home", true), &Never)), "protected_path");
    assert_eq!(kind(copy_path(&f.root, &transfer("src/x", "home/state/x", false), &Never)), "protected_path");
}

#[test]
fn what_changed_between_the_question_and_the_answer_is_a_conflict() {
    let f = Fixture::new();
    f.write("tree/a", "1").write("t", "x");
    let Planned::Change(plan, _) = delete_path(&f.root, "tree", true, None, &Never).unwrap() else {
        panic!("noop")
    };
    f.write("tree/new", "the person's");
    assert_eq!(
        kind(plan.commit(
            Approval::unasked(Unasked::NotWanted),
            &f.engine(&RealFs),
            &MemoryLog::default(),
            &Never
        )),
        "changed_on_disk"
    );
    assert!(f.path("tree/new").exists());
    let Planned::Change(plan, _) = delete_path(&f.root, "t", true, None, &Never).unwrap() else {
        panic!("noop")
    };
    f.write("t", "y");
    assert_eq!(
        kind(plan.commit(
            Approval::unasked(Unasked::NotWanted),
            &f.engine(&RealFs),
            &MemoryLog::default(),
            &Never
        )),
        "changed_on_disk"
    );
    let planned = write_file(&f.root, &ScanCache::default(), &write("t", "mine"), &Never).unwrap();
    let Planned::Change(plan, _) = planned else { panic!("noop") };
    f.write("t", "theirs");
    assert_eq!(
        kind(plan.commit(
            Approval::unasked(Unasked::NotWanted),
            &f.engine(&RealFs),
            &MemoryLog::default(),
            &Never
        )),
        "changed_on_disk"
    );
    assert_eq!(f.read("t"), b"theirs");
}

#[test]
fn a_record_that_cannot_be_stored_is_a_warning_and_the_change_stands() {
    let f = Fixture::new();
    let Planned::Change(plan, _) =
        write_file(&f.root, &ScanCache::default(), &write("t", "x"), &Never).unwrap()
    else {
        panic!("noop")
    };
    let warnings =
        plan.commit(Approval::unasked(Unasked::NotWanted), &f.engine(&RealFs), &BrokenLog, &Never).unwrap();
    assert!(warnings[0].starts_with("change_not_recorded"), "{warnings:?}");
    assert_eq!(f.read("t"), b"x");
}

#[test]
fn sensitive_paths_are_marked_for_a_question() {
    let f = Fixture::new();
    f.write("repo/.git/config", "x").write("repo/a", "a");
    let marked = |planned: Result<Planned<TransferSummary>>| match planned.unwrap() {
        Planned::Change(plan, _) => plan.sensitive,
        Planned::Noop(_) => panic!("noop"),
    };
    assert_eq!(marked(delete_path(&f.root, "repo", true, None, &Never)), Some(Sensitive::Git));
    assert_eq!(marked(delete_path(&f.root, "repo/a", true, None, &Never)), None);
}

#[test]
fn appending_to_what_is_too_large_reads_nothing_of_it() {
    let f = Fixture::new();
    f.write("huge", "");
    std::fs::File::options().write(true).open(f.path("huge")).unwrap().set_len(1 << 40).unwrap();
    struct Once(std::sync::atomic::AtomicUsize);
    impl crate::stop::Stop for Once {
        fn stopped(&self) -> Option<crate::error::Stopped> {
            // Reading asks for every piece whether to go on.
            let asked = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            (asked > 8).then_some(crate::error::Stopped::Canceled)
        }
    }
    let request = WriteRequest { mode: WriteMode::Append, ..write("huge", "x") };
    let stop = Once(std::sync::atomic::AtomicUsize::new(0));
    let refused = write_file(&f.root, &ScanCache::default(), &request, &stop).map(drop);
    assert_eq!(kind(refused), "write_bytes");
}

#[test]
fn refusals_name_the_argument_the_path_and_the_reason_in_both_languages() {
    let f = Fixture::new();
    f.write("a", "x\n");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        f.path("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let case = |from: &str, to: &str| kind(copy_path(&f.root, &transfer(from, to, false), &Never).map(drop));
    assert_eq!(case("a/x", "b"), "invalid /from");
    assert_eq!(case("a", "a/b"), "invalid /to");
    let long = "n".repeat(256);
    assert_eq!((case(&long, "b"), case("a", &long)), ("invalid /from".into(), "invalid /to".into()));
    let fifo = run(&f, copy_path(&f.root, &transfer("fifo", "b", false), &Never)).map(drop);
    match fifo {
        Err(FileError::Unsupported { path, .. }) => assert_eq!(path, "fifo"),
        other => panic!("{other:?}"),
    }
    for (text, en, zh) in [
        ("@@\n-y\n+z\n", "its lines are not in the file", "文件中没有这些行"),
        ("@@ nowhere\n-x\n+z\n", "no line after", "没有包含 `nowhere` 的行"),
    ] {
        let text = format!("*** Begin Patch\n*** Update File: a\n{text}*** End Patch\n");
        match patch(&f, &text).map(drop) {
            Err(FileError::Conflict { message, zh: said, .. }) => {
                assert!(message.contains(en) && said.contains(zh) && !said.contains(en), "{message} {said}");
            }
            other => panic!("{other:?}"),
        }
    }
}
