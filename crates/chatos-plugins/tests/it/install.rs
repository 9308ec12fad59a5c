//! Installing and removing over a real state directory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatos_contribution::DefaultLists;
use chatos_plugins::{
    DataChoice, InstallReport, InstallRequest, Installer, KeptDir, NoProgress, PackageError, Phase, Progress,
    TrustState, TrustStore,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use crate::support::{MINIMAL, World, id, simple, tempdir, tree, write_files};
use chatos_testkit::zips::{file, plugin_entries, zip};

pub(crate) fn installer(world: &World) -> Installer {
    Installer::new(world.ui_apps(), DefaultLists::default())
}

pub(crate) fn install(world: &World, source: &Path) -> Result<InstallReport, PackageError> {
    installer(world).install(&InstallRequest::new(source), &world.registry, &NoProgress)
}

fn source() -> tempfile::TempDir {
    tempdir()
}

fn staging_is_empty(world: &World) -> bool {
    fs::read_dir(world.ui_apps().staging()).unwrap().next().is_none()
}

#[test]
fn row_1_a_directory() {
    let world = World::new();
    let from = source();
    write_files(
        from.path(),
        &[
            ("plugin.json", MINIMAL),
            ("hello/index.mjs", "1"),
            ("bin/run*", "#!"),
            ("node_modules/a/b.js", ""),
            ("node_modules/a/c.js", ""),
            (".git/HEAD", ""),
            ("x.map", ""),
        ],
    );
    let report = install(&world, from.path()).unwrap();
    let plugin = &report.plugins[0];
    assert_eq!(
        (plugin.version.as_str(), plugin.replaced, plugin.trust),
        ("0.1.0", false, TrustState::Untrusted)
    );
    assert_eq!((plugin.files, plugin.excluded), (3, 4));
    assert!(report.log_id.starts_with("ins_") && report.log_id.len() == 30);
    assert_eq!(
        tree(&world.user("com.example.tools")),
        [("bin/run", "755 #!"), ("hello/index.mjs", "644 1"), ("plugin.json", "644 256 bytes")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    let snapshot = world.registry.snapshot();
    assert_eq!(snapshot.plugins[0].trust.state, TrustState::Untrusted);
    assert_eq!(world.registry.digest(&snapshot.plugins[0]).unwrap(), plugin.digest);
    assert!(staging_is_empty(&world));
}

#[test]
fn rows_2_to_4_ids() {
    let world = World::new();
    simple(&world.user("com.example.keep"), "com.example.keep", &["x"]);
    fs::create_dir_all(world.ui_apps().data().join("com.example.keep")).unwrap();
    let before = tree(world.temp.path());
    for (bad, code) in [
        ("..", "id_invalid"),
        (".", "id_invalid"),
        ("a/b", "id_invalid"),
        ("a b", "id_invalid"),
        ("-rf", "id_invalid"),
        ("com.example@ok", "id_invalid"),
        ("node_modules", "id_reserved"),
        ("com.example.ok.", "id_reserved"),
        ("con", "id_reserved"),
    ] {
        let from = source();
        write_files(from.path(), &[("plugin.json", &json!({"id": bad, "name": "x"}).to_string())]);
        let error = install(&world, from.path()).unwrap_err();
        assert_eq!(error.code.as_str(), code, "{bad}");
    }
    fs::remove_file(world.ui_apps().lock_file()).unwrap();
    assert_eq!(tree(world.temp.path()), before);
    let from = source();
    write_files(from.path(), &[("plugin.json", r#"{"id":" com.example.ok ","name":"x"}"#)]);
    assert_eq!(install(&world, from.path()).unwrap().plugins[0].id.as_str(), "com.example.ok");
    assert!(world.user("com.example.ok").is_dir());
}

#[test]
fn row_5_problems_refuse_unless_tolerated() {
    let world = World::new();
    let from = source();
    let app = |id: &str, path: &str| json!({"id": id, "name": id, "entry": path});
    let text = json!({"id": "com.example.x", "name": "x", "apps": [app("a", "a.mjs"), app("b", "../../etc/passwd"), app("c", "a.mjs")]});
    write_files(from.path(), &[("plugin.json", &text.to_string()), ("a.mjs", "export function mount() {}")]);
    let error = install(&world, from.path()).unwrap_err();
    assert_eq!((error.code.as_str(), error.problems.len()), ("path_outside", 1));
    assert!(!world.user("com.example.x").exists());
    let request = InstallRequest { allow_problems: true, ..InstallRequest::new(from.path()) };
    let report = installer(&world).install(&request, &world.registry, &NoProgress).unwrap();
    assert_eq!(report.problems.len(), 1);
    assert_eq!(world.registry.snapshot().plugins[0].loaded.apps.len(), 2);
    // What is wrong with the plugin itself is not tolerated.
    write_files(from.path(), &[("plugin.json", r#"{"id":"com.example.x","name":5}"#)]);
    let error = installer(&world).install(&request, &world.registry, &NoProgress).unwrap_err();
    assert_eq!(error.code.as_str(), "wrong_type");
    write_files(from.path(), &[("plugin.json", r#"{"id":"com.example.x","name":"x","homepage":5}"#)]);
    assert!(installer(&world).install(&request, &world.registry, &NoProgress).is_err());
}

#[test]
fn b8_directories_with_links_and_special_files() {
    let make = |extra: &dyn Fn(&Path)| {
        let from = source();
        simple(from.path(), "com.example.x", &["a"]);
        write_files(from.path(), &[("lib/real.txt", "real")]);
        extra(from.path());
        let world = World::new();
        let result = install(&world, from.path());
        (world, result)
    };
    let (world, result) = make(&|dir| {
        symlink("lib/real.txt", dir.join("link.txt")).unwrap();
        symlink("lib", dir.join("dirlink")).unwrap();
        fs::hard_link(dir.join("lib/real.txt"), dir.join("hard.txt")).unwrap();
    });
    result.unwrap();
    for name in ["link.txt", "dirlink/real.txt", "hard.txt", "lib/real.txt"] {
        let path = world.user("com.example.x").join(name);
        assert!(fs::symlink_metadata(&path).unwrap().is_file(), "{name}");
        assert_eq!(fs::read_to_string(path).unwrap(), "real");
    }
    assert!(fs::symlink_metadata(world.user("com.example.x/dirlink")).unwrap().is_dir());
    for (what, code, extra) in [
        (
            "absolute",
            "entry_outside",
            Box::new(|dir: &Path| symlink("/etc/hostname", dir.join("l")).unwrap()) as Box<dyn Fn(&Path)>,
        ),
        ("relative", "entry_outside", Box::new(|dir: &Path| symlink("../../x", dir.join("l")).unwrap())),
        ("parent directory", "entry_outside", Box::new(|dir: &Path| symlink("..", dir.join("l")).unwrap())),
        ("itself", "entry_outside", Box::new(|dir: &Path| symlink("l", dir.join("l")).unwrap())),
        (
            "its own directory",
            "entry_type",
            Box::new(|dir: &Path| symlink("../lib", dir.join("lib/back")).unwrap()),
        ),
        ("nothing", "entry_type", Box::new(|dir: &Path| symlink("gone", dir.join("l")).unwrap())),
        (
            "a fifo",
            "entry_type",
            Box::new(|dir: &Path| {
                mknodat(CWD, dir.join("f"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
            }),
        ),
        (
            "a socket",
            "entry_type",
            Box::new(|dir: &Path| drop(std::os::unix::net::UnixListener::bind(dir.join("s")).unwrap())),
        ),
        (
            "a fifo behind a link",
            "entry_type",
            Box::new(|dir: &Path| {
                mknodat(CWD, dir.join("f"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
                symlink("f", dir.join("e")).unwrap();
            }),
        ),
        ("case", "entry_collision", Box::new(|dir: &Path| write_files(dir, &[("X", ""), ("x", "")]))),
        ("a backslash", "entry_outside", Box::new(|dir: &Path| write_files(dir, &[("a\\b", "")]))),
    ] {
        let (world, result) = make(&extra);
        let error = result.expect_err(what);
        assert_eq!(error.code.as_str(), code, "{what}: {error}");
        assert!(!world.user("com.example.x").exists() && staging_is_empty(&world), "{what}");
    }
}

#[test]
fn several_plugins_in_one_package() {
    let world = World::new();
    let from = source();
    simple(&from.path().join("one"), "com.example.one", &["a"]);
    simple(&from.path().join("two"), "com.example.two", &["a"]);
    write_files(from.path(), &[("README.md", "not a plugin"), ("docs/x.txt", "")]);
    let report = install(&world, from.path()).unwrap();
    assert_eq!(report.plugins.len(), 2);
    assert_eq!(world.registry.snapshot().plugins.len(), 2);
    // One bad plugin refuses both.
    let world = World::new();
    write_files(&from.path().join("two"), &[("plugin.json", "{}")]);
    assert!(install(&world, from.path()).is_err());
    assert_eq!(world.scan().plugins.len(), 0);
    // The same id twice.
    simple(&from.path().join("two"), "com.example.one", &["a"]);
    assert_eq!(install(&world, from.path()).unwrap_err().code.as_str(), "duplicate_plugin");
}

#[test]
fn updates_replace_whole_and_keep_data_and_trust() {
    let world = World::new();
    let from = source();
    simple(from.path(), "com.example.x", &["a"]);
    write_files(from.path(), &[("old.txt", "1")]);
    install(&world, from.path()).unwrap();
    world.trust("com.example.x");
    let data = world.ui_apps().data_of(&id("com.example.x"));
    write_files(&data, &[("notes/1.md", "mine")]);

    let again = install(&world, from.path()).unwrap();
    assert_eq!(
        (again.plugins[0].trust, again.plugins[0].replaced),
        (TrustState::Trusted, true),
        "identical bytes stay trusted"
    );

    fs::remove_file(from.path().join("old.txt")).unwrap();
    write_files(from.path(), &[("new.txt", "2"), ("a.mjs", "changed")]);
    let manifest = fs::read_to_string(from.path().join("plugin.json"))
        .unwrap()
        .replace("\"version\":\"1\"", "\"version\":\"2\"");
    write_files(from.path(), &[("plugin.json", &manifest)]);
    let dry = InstallRequest { dry_run: true, ..InstallRequest::new(from.path()) };
    let preview = installer(&world).install(&dry, &world.registry, &NoProgress).unwrap();
    let changes: Vec<String> =
        preview.plugins[0].changes.iter().map(|c| format!("{:?} {}", c.change, c.path)).collect();
    assert_eq!(changes, ["Changed a.mjs", "Added new.txt", "Removed old.txt", "Changed plugin.json"]);
    assert!(world.user("com.example.x/old.txt").exists(), "a dry run changes nothing");
    assert!(staging_is_empty(&world));

    let update = install(&world, from.path()).unwrap();
    let plugin = &update.plugins[0];
    assert_eq!(
        (plugin.previous_version.as_deref(), plugin.version.as_str(), plugin.trust),
        (Some("1"), "2", TrustState::Changed)
    );
    assert!(!world.user("com.example.x/old.txt").exists() && world.user("com.example.x/new.txt").exists());
    assert_eq!(fs::read_to_string(data.join("notes/1.md")).unwrap(), "mine");
    assert_eq!(world.registry.snapshot().plugins[0].trust.state, TrustState::Changed);
}

#[test]
fn a_hand_placed_directory_makes_room_by_id_and_others_are_left_alone() {
    let world = World::new();
    simple(&world.user("my-folder"), "com.example.x", &["old"]);
    let from = source();
    simple(from.path(), "com.example.x", &["new"]);
    let report = install(&world, from.path()).unwrap();
    assert!(!world.user("my-folder").exists() && world.user("com.example.x/new.mjs").exists());
    assert!(report.plugins[0].kept[0].to.as_ref().unwrap().join("old.mjs").exists(), "moved, not deleted");
    // A directory with the id's name that holds another plugin.
    simple(&world.user("com.example.y"), "com.example.other", &["z"]);
    simple(from.path(), "com.example.y", &["new"]);
    let error = install(&world, from.path()).unwrap_err();
    assert_eq!(error.code.as_str(), "directory_taken");
    assert!(world.user("com.example.y/z.mjs").exists());
    // A broken installation is repaired by installing again.
    fs::write(world.user("com.example.x/plugin.json"), "{").unwrap();
    simple(from.path(), "com.example.x", &["new"]);
    assert!(install(&world, from.path()).unwrap().plugins[0].replaced);
}

/// Where each folder was that is now kept, by its name.
fn names(kept: &[KeptDir]) -> Vec<String> {
    let mut names: Vec<String> =
        kept.iter().map(|kept| kept.from.file_name().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn installing_deletes_only_what_was_installed() {
    let world = World::new();
    let from = source();
    simple(from.path(), "com.example.x", &["one"]);
    // Both of these were put there by hand: the one with the plugin's own name, and one it shadows.
    for folder in ["com.example.x", "zz-my-work"] {
        simple(&world.user(folder), "com.example.x", &["mine"]);
        write_files(&world.user(folder), &[("notes.txt", folder)]);
    }
    let before = ["com.example.x", "zz-my-work"].map(|folder| tree(&world.user(folder)));
    let dry = InstallRequest { dry_run: true, ..InstallRequest::new(from.path()) };
    let preview = installer(&world).install(&dry, &world.registry, &NoProgress).unwrap();
    assert_eq!(names(&preview.plugins[0].kept), ["com.example.x", "zz-my-work"]);
    assert!(preview.plugins[0].kept.iter().all(|kept| kept.to.is_none()), "nothing was moved yet");

    let report = install(&world, from.path()).unwrap();
    let kept = &report.plugins[0].kept;
    assert_eq!(names(kept), ["com.example.x", "zz-my-work"], "each is named");
    for (folder, then) in kept.iter().zip(before) {
        assert_eq!(tree(folder.to.as_ref().unwrap()), then, "and is where the report says, whole");
    }
    assert!(world.user("com.example.x/one.mjs").exists() && !world.user("zz-my-work").exists());

    // What was installed is replaced without further ado …
    write_files(from.path(), &[("two.txt", "2")]);
    assert_eq!(install(&world, from.path()).unwrap().plugins[0].kept, []);
    // … until somebody changes it.
    write_files(&world.user("com.example.x"), &[("one.mjs", "patched by hand")]);
    let report = install(&world, from.path()).unwrap();
    let patched = report.plugins[0].kept[0].to.clone().unwrap();
    assert_eq!(fs::read_to_string(patched.join("one.mjs")).unwrap(), "patched by hand");
    assert!(staging_is_empty(&world));
}

#[test]
fn removing_deletes_only_what_was_installed() {
    let world = World::new();
    let from = source();
    simple(from.path(), "com.example.x", &["one"]);
    install(&world, from.path()).unwrap();
    world.trust("com.example.x");
    // A copy of it, byte for byte, under another name, and another one: both shadowed.
    for (folder, app) in [("zz-copy", "one"), ("zz-work", "mine")] {
        simple(&world.user(folder), "com.example.x", &[app]);
    }
    let remove =
        || installer(&world).uninstall(&id("com.example.x"), DataChoice::Keep, &world.registry, &NoProgress);
    let done = remove().unwrap();
    assert_eq!(names(&done.kept), ["zz-copy", "zz-work"]);
    assert!(done.kept.iter().all(|kept| kept.to.as_ref().unwrap().join("plugin.json").exists()));
    assert_eq!(world.scan().plugins.len(), 0, "none of them takes its place");
    assert_eq!(remove().unwrap_err().code.as_str(), "not_found");

    // One that was only ever put there by hand can be removed, too; it is not deleted.
    simple(&world.user("com.example.x"), "com.example.x", &["hand"]);
    world.scan();
    let done = remove().unwrap();
    assert!(done.kept[0].to.as_ref().unwrap().join("hand.mjs").exists());
    assert!(!world.user("com.example.x").exists() && staging_is_empty(&world));
    // A record that cannot be read lets nothing be deleted.
    install(&world, from.path()).unwrap();
    fs::write(world.ui_apps().installed_file(), "{").unwrap();
    assert_eq!(names(&remove().unwrap().kept), ["com.example.x"]);
}

#[test]
fn ids_that_differ_in_case() {
    let world = World::new();
    simple(&world.builtin("b"), "com.example.Builtin", &["x"]);
    world.scan();
    let from = source();
    simple(from.path(), "com.example.x", &["a"]);
    install(&world, from.path()).unwrap();
    for other in ["com.example.X", "Com.Example.Builtin"] {
        simple(from.path(), other, &["a"]);
        assert_eq!(install(&world, from.path()).unwrap_err().code.as_str(), "id_case_conflict");
    }
    simple(from.path(), "com.example.Builtin", &["a"]);
    install(&world, from.path()).unwrap();
    assert!(
        !world.registry.snapshot().plugins.iter().any(|p| p.id().as_str() == "com.example.Builtin"
            && p.active
            && p.loaded.origin == chatos_plugins::Origin::User),
        "never displaces it"
    );
}

#[test]
fn what_is_no_package() {
    let world = World::new();
    let from = source();
    fs::write(from.path().join("x.tar"), "").unwrap();
    assert_eq!(install(&world, &from.path().join("x.tar")).unwrap_err().code.as_str(), "not_a_package");
    assert_eq!(install(&world, &from.path().join("gone")).unwrap_err().code.as_str(), "not_found");
    assert_eq!(install(&world, from.path()).unwrap_err().code.as_str(), "package_no_manifest");
    fs::write(from.path().join("x.ZIP"), zip(&plugin_entries("com.example.x"), b"")).unwrap();
    install(&world, &from.path().join("x.ZIP")).unwrap();
    mknodat(CWD, from.path().join("f.zip"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    assert_eq!(install(&world, &from.path().join("f.zip")).unwrap_err().code.as_str(), "not_a_package");
}

/// Counts reports and cancels after some of them.
struct Watchful {
    reports: AtomicU64,
    cancel_after: u64,
    phases: Mutex<Vec<Phase>>,
}

impl Progress for Watchful {
    fn report(&self, phase: Phase, done: u64, total: Option<u64>) {
        assert!(total.is_none_or(|total| done <= total));
        self.reports.fetch_add(1, Ordering::SeqCst);
        let mut phases = self.phases.lock().unwrap();
        if phases.last() != Some(&phase) {
            phases.push(phase);
        }
    }

    fn is_canceled(&self) -> bool {
        self.reports.load(Ordering::SeqCst) >= self.cancel_after
    }
}

#[test]
fn progress_and_cancel_at_any_moment() {
    let world = World::new();
    simple(&world.user("com.example.new"), "com.example.new", &["old"]);
    let from = source();
    let mut entries = plugin_entries("com.example.new");
    entries.extend((0..5).map(|n| file(&format!("f{n}"), &vec![n; 200_000])));
    let path = from.path().join("x.zip");
    fs::write(&path, zip(&entries, b"")).unwrap();
    let mut cancels = 0;
    for cancel_after in 0.. {
        let progress = Watchful { reports: AtomicU64::new(0), cancel_after, phases: Mutex::default() };
        match installer(&world).install(&InstallRequest::new(&path), &world.registry, &progress) {
            Err(error) => {
                assert_eq!(error.code.as_str(), "canceled");
                assert!(world.user("com.example.new/old.mjs").exists() && staging_is_empty(&world));
                cancels += 1;
            }
            Ok(_) => {
                assert_eq!(
                    *progress.phases.lock().unwrap(),
                    [Phase::Reading, Phase::Checking, Phase::Saving, Phase::Swapping]
                );
                break;
            }
        }
    }
    assert!(cancels > 5);
    assert!(!world.user("com.example.new/old.mjs").exists());
}

#[test]
fn one_at_a_time() {
    let world = World::new();
    let from = source();
    simple(from.path(), "com.example.x", &["a"]);
    let held = chatos_paths::FileLock::try_exclusive(&world.ui_apps().lock_file()).unwrap();
    let impatient = installer(&world).with_patience(Duration::from_millis(50));
    let error =
        impatient.install(&InstallRequest::new(from.path()), &world.registry, &NoProgress).unwrap_err();
    assert_eq!(error.code.as_str(), "conflict");
    drop(held);
    // Many at once: each waits for its turn, and the result is whole.
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for n in 0..6 {
            let (world, done) = (&world, &done);
            scope.spawn(move || {
                let from = source();
                simple(from.path(), "com.example.x", &["a"]);
                write_files(from.path(), &[("who.txt", &n.to_string()), ("who2.txt", &n.to_string())]);
                install(world, from.path()).unwrap();
                done.fetch_add(1, Ordering::SeqCst);
            });
        }
    });
    assert_eq!(done.load(Ordering::SeqCst), 6);
    let read = |name: &str| fs::read_to_string(world.user("com.example.x").join(name)).unwrap();
    assert_eq!(read("who.txt"), read("who2.txt"), "never a mixture");
    assert!(staging_is_empty(&world));
}

#[test]
fn removing() {
    let world = World::new();
    simple(&world.builtin("b"), "com.example.builtin", &["x"]);
    let from = source();
    let text = json!({"id": "com.example.x", "name": "x", "apps": [{"id": "a", "name": "a", "entry": "a.mjs", "ai": {"mcp": {"entry": "a.mjs"}}}]});
    write_files(from.path(), &[("plugin.json", &text.to_string()), ("a.mjs", "")]);
    let data = world.ui_apps().data_of(&id("com.example.x"));
    let names = || fs::read_to_string(world.ui_apps().names_file()).unwrap_or_default();
    for (choice, kept) in [(DataChoice::Keep, true), (DataChoice::Delete, false)] {
        install(&world, from.path()).unwrap();
        world.trust("com.example.x");
        write_files(&data, &[("deep/er/notes.md", "mine")]);
        let removed =
            installer(&world).uninstall(&id("com.example.x"), choice, &world.registry, &NoProgress).unwrap();
        assert_eq!(removed.data_deleted, !kept);
        assert!(!world.user("com.example.x").exists() && staging_is_empty(&world));
        assert_eq!(data.join("deep/er/notes.md").exists(), kept);
        assert!(world.trust.get(&id("com.example.x")).unwrap().is_none(), "the trust record goes");
        assert_eq!(names().contains("com.example.x/a"), kept, "names stay reserved while data is kept");
        assert!(world.registry.snapshot().plugin(&id("com.example.x")).is_none());
    }
    let uninstall = |plugin: &str| {
        installer(&world).uninstall(&id(plugin), DataChoice::Delete, &world.registry, &NoProgress)
    };
    assert_eq!(uninstall("com.example.builtin").unwrap_err().code.as_str(), "builtin_not_removable");
    assert_eq!(uninstall("com.example.none").unwrap_err().code.as_str(), "not_found");
    assert!(world.builtin("b").exists());
}

#[test]
fn group_a_13_data_that_is_a_link_to_home() {
    let world = World::new();
    let home = source();
    write_files(home.path(), &[("precious.txt", "keep")]);
    let from = source();
    simple(from.path(), "com.example.x", &["a"]);
    install(&world, from.path()).unwrap();
    let data = world.ui_apps().data_of(&id("com.example.x"));
    symlink(home.path(), &data).unwrap();
    installer(&world)
        .uninstall(&id("com.example.x"), DataChoice::Delete, &world.registry, &NoProgress)
        .unwrap();
    assert!(fs::symlink_metadata(&data).is_err(), "the link is gone");
    assert!(home.path().join("precious.txt").exists(), "home is not");
}

#[test]
fn a_plugin_directory_that_is_a_link_is_never_followed() {
    let world = World::new();
    let elsewhere = source();
    simple(elsewhere.path(), "com.example.x", &["a"]);
    symlink(elsewhere.path(), world.user("com.example.x")).unwrap();
    let from = source();
    simple(from.path(), "com.example.x", &["b"]);
    let error = install(&world, from.path()).unwrap_err();
    assert_eq!(error.code.as_str(), "unavailable", "{error}");
    assert!(elsewhere.path().join("a.mjs").exists() && staging_is_empty(&world));
    let error = installer(&world)
        .uninstall(&id("com.example.x"), DataChoice::Delete, &world.registry, &NoProgress)
        .unwrap_err();
    assert_eq!(error.code.as_str(), "not_found");
}

#[test]
fn group_a_10_shell_syntax_is_only_text() {
    let world = World::new();
    let from = source();
    let canary = world.temp.path().join("canary");
    let shell = format!("$(touch {0}) `touch {0}` ; touch {0} | touch {0} && touch {0}", canary.display());
    let text = json!({"id": "com.example.x", "name": shell, "apps": [{"id": "a", "name": "a", "entry": "a.mjs",
        "ai": {"mcp": {"entry": "a.mjs", "command": shell.replace('/', ":"), "args": [shell, "", "-rf", "\n"]}}}]});
    write_files(from.path(), &[("plugin.json", &text.to_string()), ("a.mjs", "")]);
    install(&world, from.path()).unwrap();
    world.trust("com.example.x");
    assert!(!canary.exists());
    let contribution =
        world.registry.snapshot().contribution(&id("com.example.x"), &"a".parse().unwrap()).unwrap();
    let chatos_contribution::Endpoint::Command { argv } = contribution.mcp.unwrap().endpoint else {
        panic!()
    };
    assert_eq!(
        (argv[0].as_str(), argv[2..].to_vec()),
        (shell.replace('/', ":").as_str(), vec![shell, String::new(), "-rf".into(), "\n".into()])
    );
}

#[test]
fn registry_and_watcher_see_no_gap_during_updates() {
    let world = World::new();
    let from = source();
    simple(from.path(), "com.example.x", &["a"]);
    install(&world, from.path()).unwrap();
    let missing = AtomicUsize::new(0);
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (registry, missing, stop_seen) = (&world.registry, &missing, Arc::clone(&stop));
        scope.spawn(move || {
            while !stop_seen.load(Ordering::SeqCst) {
                if registry.refresh(&chatos_plugins::Refresh::Check).plugins.is_empty() {
                    missing.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        for n in 0..20 {
            write_files(from.path(), &[("n.txt", &n.to_string())]);
            install(&world, from.path()).unwrap();
        }
        stop.store(true, Ordering::SeqCst);
    });
    assert_eq!(missing.load(Ordering::SeqCst), 0);
}
