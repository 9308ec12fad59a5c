//! Undoing on a real disk with a real database.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use chatos_files::diff::diff;
use chatos_store::{ChangeFilter, ChangedContent, OpenOptions};

use super::*;

struct Fixture {
    dir: tempfile::TempDir,
    store: Store,
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        fs::create_dir_all(base.join("root")).unwrap();
        fs::create_dir_all(base.join("state")).unwrap();
        let store = Store::open(OpenOptions {
            path: base.join("state/state.db"),
            backups: base.join("state/backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        })
        .unwrap();
        Self { dir, store }
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.base().join("root").join(rel)
    }

    fn read(&self, rel: &str) -> Option<Vec<u8>> {
        fs::read(self.path(rel)).ok()
    }

    fn home(&self) -> UndoHome {
        UndoHome { state_dir: self.base().join("state"), protected: vec![self.path("guarded")] }
    }

    fn record(
        &self,
        kind: &str,
        path: &str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        text: &str,
    ) -> String {
        let side = |bytes: Option<&'static [u8]>| bytes.map_or(ChangedContent::Absent, ChangedContent::Bytes);
        // Leaked so that the borrowed row can be built in one expression; a test's few bytes.
        let leak = |bytes: Option<&[u8]>| bytes.map(|bytes| &*Box::leak(bytes.to_vec().into_boxed_slice()));
        let root = self.base().join("root").display().to_string();
        let row = NewFileChange {
            run_id: "run",
            session_id: "",
            user_message_id: "",
            server: "code_writer",
            tool: "write_file",
            root: &root,
            path,
            change: kind,
            before: side(leak(before)),
            after: side(leak(after)),
            diff: text,
        };
        self.store.record_file_change(&row).unwrap()
    }

    /// Writes a file as a tool does.
    fn write(&self, rel: &str, bytes: &[u8]) -> String {
        let before = self.read(rel);
        fs::create_dir_all(self.path(rel).parent().unwrap()).unwrap();
        fs::write(self.path(rel), bytes).unwrap();
        let kind = if before.is_some() { "modified" } else { "created" };
        let text = diff(rel, before.as_deref(), rel, Some(bytes)).text;
        self.record(kind, rel, before.as_deref(), Some(bytes), &text)
    }

    fn delete(&self, rel: &str) -> String {
        let before = self.read(rel).unwrap();
        fs::remove_file(self.path(rel)).unwrap();
        self.record("deleted", rel, Some(&before), None, "")
    }

    fn rename(&self, from: &str, to: &str, after: Option<&[u8]>) -> String {
        let before = self.read(from).unwrap();
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
        if let Some(after) = after {
            fs::write(self.path(to), after).unwrap();
        }
        let text = format!("rename from {from}\nrename to {to}\n");
        self.record("moved", to, Some(&before), Some(after.unwrap_or(&before)), &text)
    }

    fn plan(&self, ids: &[&String]) -> Result<UndoPlan, Fault> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).clone()).collect();
        plan(&self.store, &self.home(), &self.store.changes_by_id(&ids).unwrap(), Intent::Undo)
    }

    fn undo(&self, ids: &[&String]) -> Result<(Vec<(String, UndoAction)>, Undone), Fault> {
        let plan = self.plan(ids)?;
        let steps = plan.steps().map(|step| (step.path.clone(), step.action)).collect();
        Ok((steps, plan.commit(&self.store)?))
    }

    /// Refused with this code, and nothing is different on the disk or in the history.
    fn refused(&self, ids: &[&String], code: &str) -> Fault {
        let look = || {
            let mut found = Vec::new();
            let mut dirs = vec![self.base().join("root")];
            while let Some(dir) = dirs.pop() {
                for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
                    let meta = fs::symlink_metadata(&entry).unwrap();
                    found.push((
                        entry.clone(),
                        meta.permissions().mode(),
                        meta.is_file().then(|| fs::read(&entry).ok()),
                    ));
                    if meta.is_dir() {
                        dirs.push(entry);
                    }
                }
            }
            found.sort();
            (found, self.store.changes(&ChangeFilter::default(), 100).unwrap().0.len())
        };
        let before = look();
        let fault = match self.undo(ids) {
            Err(fault) => fault,
            Ok(done) => panic!("undone: {done:?}"),
        };
        assert_eq!(fault.code, code, "{fault:?}");
        assert!(fault.message.en != fault.message.zh, "{fault:?}");
        assert!(look() == before, "something changed");
        fault
    }
}

#[test]
fn creating_changing_deleting_and_moving_are_undone_to_the_byte_and_done_again() {
    let f = Fixture::new();
    let odd = b"\xef\xbb\xbfone\r\ntwo\rthree\n\x00\xff".as_slice();
    fs::write(f.path("kept.txt"), odd).unwrap();
    fs::set_permissions(f.path("kept.txt"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::create_dir(f.path("deep")).unwrap();
    fs::write(f.path("deep/gone"), odd).unwrap();
    fs::write(f.path("here"), odd).unwrap();
    fs::set_permissions(f.path("here"), fs::Permissions::from_mode(0o700)).unwrap();
    let ids = [
        f.write("kept.txt", b"other"),
        f.write("new.txt", b"new"),
        f.delete("deep/gone"),
        f.rename("here", "there/there", None),
    ];
    fs::remove_dir(f.path("deep")).unwrap();
    let all: Vec<&String> = ids.iter().collect();
    let (mut steps, undone) = f.undo(&all).unwrap();
    steps.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [
        ("deep/gone", UndoAction::Recreated),
        ("here", UndoAction::MovedBack),
        ("kept.txt", UndoAction::Restored),
        ("new.txt", UndoAction::Removed),
    ];
    assert_eq!(steps, expected.map(|(path, action)| (path.to_owned(), action)));
    assert_eq!(undone.warnings, Vec::<String>::new());
    for path in ["kept.txt", "deep/gone", "here"] {
        assert_eq!(f.read(path).as_deref(), Some(odd), "{path}");
    }
    let mode = |path: &str| fs::metadata(f.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("kept.txt"), mode("here")), (0o751, 0o700));
    assert!(!f.path("new.txt").exists() && !f.path("there/there").exists() && f.path("there").is_dir());
    for id in &ids {
        let change = f.store.change(id).unwrap().unwrap();
        let undo = change.undone_by.unwrap();
        assert!(undone.changes.contains(&undo));
        let undo = f.store.change(&undo).unwrap().unwrap();
        assert_eq!((undo.row.server.as_str(), undo.row.tool.as_str()), (UNDO_SERVER, UNDO_TOOL));
        assert_eq!(undo.undoes, std::slice::from_ref(id));
        f.refused(&[id], "already_undone");
    }
    // The undo is a change like any other.
    let back: Vec<&String> = undone.changes.iter().collect();
    f.undo(&back).unwrap();
    assert_eq!(f.read("kept.txt").as_deref(), Some(&b"other"[..]));
    assert_eq!(f.read("new.txt").as_deref(), Some(&b"new"[..]));
    assert_eq!(f.read("there/there").as_deref(), Some(odd));
    assert!(!f.path("deep/gone").exists() && !f.path("here").exists());
    assert!(f.store.change(&ids[0]).unwrap().unwrap().undone_by.is_none());
    f.undo(&all).unwrap();
    assert_eq!(f.read("here").as_deref(), Some(odd));
}

#[test]
fn a_chain_is_undone_as_a_whole_and_not_with_a_hole_in_it() {
    let f = Fixture::new();
    fs::write(f.path("a"), "0").unwrap();
    let (one, two, three) = (f.write("a", b"1"), f.write("a", b"2"), f.write("a", b"3"));
    let fault = f.refused(&[&one], "changed_on_disk");
    assert_eq!(fault.details.unwrap()["later"], serde_json::json!([two, three]));
    f.refused(&[&one, &three], "changed_between");
    let (_, undone) = f.undo(&[&three]).unwrap();
    assert_eq!(f.read("a").as_deref(), Some(&b"2"[..]));
    f.undo(&undone.changes.iter().collect::<Vec<_>>()).unwrap();
    let (steps, _) = f.undo(&[&three, &one, &two]).unwrap();
    assert_eq!((steps.len(), f.read("a").as_deref()), (1, Some(&b"0"[..])));

    // Made, moved, changed, moved again: it was not there before.
    let ids =
        [f.write("b", b"1"), f.rename("b", "c", None), f.write("c", b"2"), f.rename("c", "d", Some(b"3"))];
    let (steps, _) = f.undo(&ids.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(steps, [("d".to_owned(), UndoAction::Removed)]);
    assert!(f.read("b").is_none() && f.read("c").is_none() && f.read("d").is_none());

    // Moved over another file, with a change on the way: both are back.
    fs::write(f.path("x"), "x").unwrap();
    fs::set_permissions(f.path("x"), fs::Permissions::from_mode(0o711)).unwrap();
    fs::write(f.path("y"), "y").unwrap();
    let ids = [f.delete("y"), f.rename("x", "y", Some(b"x2"))];
    f.undo(&ids.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!((f.read("x").as_deref(), f.read("y").as_deref()), (Some(&b"x"[..]), Some(&b"y"[..])));

    // Made and removed again: nothing is left of it.
    let ids = [f.write("t", b"1"), f.delete("t")];
    f.refused(&ids.iter().collect::<Vec<_>>(), "nothing_to_undo");
}

#[test]
fn a_move_with_a_change_comes_back_with_its_mode_and_a_link_as_it_is() {
    let f = Fixture::new();
    fs::write(f.path("a"), "before").unwrap();
    fs::set_permissions(f.path("a"), fs::Permissions::from_mode(0o740)).unwrap();
    let id = f.rename("a", "b", Some(b"after"));
    let (_, undone) = f.undo(&[&id]).unwrap();
    assert_eq!((f.read("a").as_deref(), f.read("b")), (Some(&b"before"[..]), None));
    assert_eq!(fs::metadata(f.path("a")).unwrap().permissions().mode() & 0o777, 0o740);
    let record = f.store.change(&undone.changes[0]).unwrap().unwrap();
    assert_eq!((record.row.change.as_str(), record.from.as_deref()), ("moved", Some("b")));

    symlink("anywhere", f.path("link2")).unwrap();
    fs::create_dir(f.path("dir2")).unwrap();
    let link = f.record("moved", "link2", None, None, "rename from link\nrename to link2\n");
    let dir = f.record("moved", "dir2", None, None, "rename from dir\nrename to dir2\n");
    f.undo(&[&link, &dir]).unwrap();
    assert_eq!(fs::read_link(f.path("link")).unwrap(), PathBuf::from("anywhere"));
    assert!(f.path("dir").is_dir() && !f.path("dir2").exists());
    // What is in it now was not in it then.
    fs::write(f.path("dir/more"), "x").unwrap();
    let full = f.record("moved", "dir", None, None, "rename from other\nrename to dir\n");
    f.refused(&[&full], "not_supported");
}

#[test]
fn what_changed_since_is_left_alone() {
    let f = Fixture::new();
    fs::write(f.path("a"), "0").unwrap();
    let (changed, made) = (f.write("a", b"1"), f.write("b", b"1"));
    let removed = {
        fs::write(f.path("c"), "0").unwrap();
        f.delete("c")
    };
    fs::write(f.path("a"), "mine").unwrap();
    f.refused(&[&changed, &made], "changed_on_disk");
    f.refused(&[&made, &changed, &removed], "changed_on_disk");
    fs::write(f.path("c"), "mine").unwrap();
    f.refused(&[&removed], "exists");
    fs::remove_file(f.path("c")).unwrap();
    symlink("nowhere", f.path("c")).unwrap();
    f.refused(&[&removed], "exists");
    fs::remove_file(f.path("b")).unwrap();
    f.refused(&[&made], "changed_on_disk");
    fs::create_dir(f.path("b")).unwrap();
    f.refused(&[&made], "changed_on_disk");

    // A link has the content that is expected, but it is not the file.
    fs::write(f.path("twin"), "1").unwrap();
    fs::remove_dir(f.path("b")).unwrap();
    symlink("twin", f.path("b")).unwrap();
    f.refused(&[&made], "changed_on_disk");

    // A directory on the way became a link, inside or out of the root.
    fs::create_dir(f.path("d")).unwrap();
    let inside = f.write("d/x", b"1");
    fs::rename(f.path("d"), f.path("e")).unwrap();
    symlink("e", f.path("d")).unwrap();
    f.refused(&[&inside], "changed_on_disk");
    fs::remove_file(f.path("d")).unwrap();
    fs::rename(f.path("e"), f.base().join("outside")).unwrap();
    symlink("../outside", f.path("d")).unwrap();
    f.refused(&[&inside], "symlink_escape");
    assert_eq!(fs::read(f.base().join("outside/x")).unwrap(), b"1");
    fs::remove_file(f.path("d")).unwrap();
    fs::write(f.path("d"), "a file").unwrap();
    f.refused(&[&inside], "changed_on_disk");
}

#[test]
fn what_is_not_kept_protected_or_gone_is_refused() {
    let f = Fixture::new();
    fs::write(f.path("a"), "now").unwrap();
    let unknown = f.record("modified", "a", None, Some(b"now"), "");
    assert_eq!(f.refused(&[&unknown], "not_supported").details.unwrap()["reason"], "lost");
    let root = f.base().join("root").display().to_string();
    let template = NewFileChange {
        run_id: "",
        session_id: "",
        user_message_id: "",
        server: "s",
        tool: "t",
        root: &root,
        path: "a",
        change: "modified",
        before: ChangedContent::Omitted("ab", 9),
        after: ChangedContent::Bytes(b"now"),
        diff: "",
    };
    let large = f.store.record_file_change(&template).unwrap();
    assert_eq!(f.refused(&[&large], "not_supported").details.unwrap()["reason"], "omitted");
    // The bytes of the name are lost, and with them where the file was.
    let odd = f.record("deleted", "a\u{fffd}.txt", Some(b"x"), None, "");
    assert_eq!(f.refused(&[&odd], "not_supported").details.unwrap()["reason"], "name_unknown");
    // A large file that came can go, its digest is known; one that moved can come back.
    let big = vec![7_u8; 6 << 20];
    fs::write(f.path("big"), &big).unwrap();
    let digest = chatos_files::Digest::of(&big);
    let omitted = || ChangedContent::Omitted(digest.as_str(), big.len() as u64);
    let moved = NewFileChange {
        path: "big",
        change: "moved",
        before: omitted(),
        after: omitted(),
        diff: "rename from small\nrename to big\n",
        ..template.clone()
    };
    let moved = f.store.record_file_change(&moved).unwrap();
    f.undo(&[&moved]).unwrap();
    let made = NewFileChange {
        path: "small",
        change: "created",
        before: ChangedContent::Absent,
        after: omitted(),
        ..template.clone()
    };
    let made = f.store.record_file_change(&made).unwrap();
    f.undo(&[&made]).unwrap();
    assert!(!f.path("small").exists());

    fs::create_dir(f.path("guarded")).unwrap();
    fs::write(f.path("guarded/x"), "1").unwrap();
    let guarded = f.record("created", "guarded/x", None, Some(b"1"), "");
    f.refused(&[&guarded], "protected_path");
    let outside = f.record("created", "../state/state.db", None, Some(b"1"), "");
    f.refused(&[&outside], "outside_root");
    let state = f.base().join("state/blobs").display().to_string();
    let in_state = NewFileChange {
        root: &state,
        path: "x",
        change: "created",
        before: ChangedContent::Absent,
        ..template.clone()
    };
    let in_state = f.store.record_file_change(&in_state).unwrap();
    f.refused(&[&in_state], "protected_path");
    f.refused(&[&in_state, &guarded], "several_roots");
    let fixed = f.write("fixed", b"1");
    fs::set_permissions(f.path("fixed"), fs::Permissions::from_mode(0o444)).unwrap();
    let again = f.record("modified", "fixed", Some(b"0"), Some(b"1"), "");
    f.refused(&[&again], "file_mode");
    fs::set_permissions(f.path("fixed"), fs::Permissions::from_mode(0o644)).unwrap();

    fs::rename(f.base().join("root"), f.base().join("elsewhere")).unwrap();
    assert_eq!(f.plan(&[&fixed]).unwrap_err().code, "root_gone");
    symlink("elsewhere", f.base().join("root")).unwrap();
    assert_eq!(f.plan(&[&fixed]).unwrap_err().code, "changed_on_disk");
    fs::remove_file(f.base().join("root")).unwrap();
    fs::rename(f.base().join("elsewhere"), f.base().join("root")).unwrap();
    f.undo(&[&fixed]).unwrap();
}
