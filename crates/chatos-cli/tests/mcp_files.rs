//! File servers as real processes against every path trick, special files, full and read-only disks: as
//! whoever runs the tests, and as a user without rights where the tests run as root.

#[path = "support/surroundings.rs"]
#[expect(dead_code, reason = "these tests use a part of it")]
mod surroundings;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use chatos_testkit::{McpClient, McpEra, Sandbox, child};
use rustix::fs::{FileType, Mode};
use serde_json::{Value, json};
use surroundings::{Surroundings, as_root};

const NOBODY: u32 = 65534;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// What must work for a test to mean anything.
fn sure<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the test cannot be prepared: {error:?}"),
    }
}

/// A root with every trick in it, and a secret beside it.
struct Ground {
    dir: tempfile::TempDir,
    program: PathBuf,
    user: Option<u32>,
}

impl Ground {
    fn new(user: Option<u32>) -> Self {
        let dir = sure(tempfile::Builder::new().prefix("chatos-files-").tempdir());
        for name in ["root/sub", "outside", "home"] {
            sure(std::fs::create_dir_all(dir.path().join(name)));
        }
        sure(std::fs::write(dir.path().join("outside/secret.txt"), "TOP SECRET\n"));
        sure(std::fs::write(dir.path().join("root/plain.txt"), "one\ntwo\nthree\n"));
        // The user without rights must reach the program; the build directory may be closed to them.
        let mut program = PathBuf::from(env!("CARGO_BIN_EXE_chatos"));
        if user.is_some() {
            let copy = dir.path().join("chatos");
            sure(std::fs::copy(&program, &copy));
            program = copy;
        }
        Self { dir, program, user }
    }

    fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().join(rel)
    }

    /// Everything belongs to whoever the server runs as.
    fn hand_over(&self) {
        sure(std::fs::set_permissions(self.dir.path(), std::fs::Permissions::from_mode(0o755)));
        if let Some(user) = self.user {
            let owner = format!("{user}:{user}");
            let done = sure(child("chown").args(["-hR", &owner]).arg(self.dir.path()).status());
            assert!(done.success());
        }
    }

    fn command(&self, server: &str, root: &Path, more: &[&str]) -> Command {
        let mut command = child(&self.program);
        command
            .args(["mcp", server, "--write", "--lang", "en", "--confirm-file-changes=false", "--state-dir"])
            .arg(self.path("state"))
            .arg("--root")
            .arg(root)
            .args(more)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", "")
            .current_dir(self.dir.path());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    fn connect(&self, server: &str, more: &[&str]) -> McpClient {
        self.hand_over();
        McpClient::connect(self.command(server, &self.path("root"), more), McpEra::Legacy, json!({})).0
    }
}

/// `code` and the rule, kind or resource behind it.
fn verdict(result: &Value) -> String {
    let envelope = &result["structuredContent"];
    let details = &envelope["error"]["details"];
    let more = ["rule", "kind", "resource"].iter().find_map(|key| details[key].as_str());
    let code = envelope["code"].as_str().unwrap_or("?");
    more.map_or_else(|| code.to_owned(), |more| format!("{code}/{more}"))
}

fn users() -> Vec<Option<u32>> {
    if as_root() { vec![None, Some(NOBODY)] } else { vec![None] }
}

#[test]
fn no_path_trick_reads_or_writes_outside_the_root() {
    for user in users() {
        let ground = Ground::new(user);
        let (root, outside) = (ground.path("root"), ground.path("outside"));
        symlink(outside.join("secret.txt"), root.join("link")).unwrap();
        symlink("../outside/secret.txt", root.join("relative")).unwrap();
        symlink(outside.join("fresh.txt"), root.join("dangling")).unwrap();
        symlink(&outside, root.join("out")).unwrap();
        symlink("/proc/self/root", root.join("magic")).unwrap();
        symlink("/proc/self/cwd/outside", root.join("cwd")).unwrap();
        symlink("loop-b", root.join("loop-a")).unwrap();
        symlink("loop-a", root.join("loop-b")).unwrap();
        symlink("link", root.join("chain")).unwrap();
        symlink("plain.txt", root.join("inside")).unwrap();
        std::fs::hard_link(outside.join("secret.txt"), root.join("hard")).unwrap();
        let mut client = ground.connect("code_maintainer", &[]);
        let absolute = outside.join("secret.txt").to_string_lossy().into_owned();
        let through_root = root.join("../outside/secret.txt").to_string_lossy().into_owned();
        let under_proc = format!("/proc/self/root{absolute}");
        let tricks = [
            (absolute.as_str(), "permission_denied/outside_root"),
            ("/etc/passwd", "permission_denied/outside_root"),
            ("../outside/secret.txt", "permission_denied/outside_root"),
            ("sub/../../outside/secret.txt", "permission_denied/outside_root"),
            ("./././../outside/secret.txt", "permission_denied/outside_root"),
            (through_root.as_str(), "permission_denied/outside_root"),
            (under_proc.as_str(), "permission_denied/outside_root"),
            ("/dev/zero", "permission_denied/outside_root"),
            ("link", "permission_denied/symlink_escape"),
            ("relative", "permission_denied/symlink_escape"),
            ("chain", "permission_denied/symlink_escape"),
            ("out/secret.txt", "permission_denied/symlink_escape"),
            ("out/../outside/secret.txt", "permission_denied/symlink_escape"),
            ("cwd/secret.txt", "permission_denied/symlink_escape"),
            ("magic/etc/passwd", "permission_denied/symlink_escape"),
            ("loop-a", "permission_denied/symlink_escape"),
        ];
        for (path, expected) in tricks {
            let mut tries = vec![
                ("read_file", json!({"path": path})),
                ("read_file_raw", json!({"path": path})),
                ("read_file_range", json!({"path": path, "start_line": 1, "end_line": 2})),
                ("write_file", json!({"path": path, "contents": "PWNED"})),
                ("write_file", json!({"path": path, "contents": "PWNED", "mode": "append"})),
                ("edit_file", json!({"path": path, "old_string": "TOP", "new_string": "PWNED"})),
            ];
            // A link may be moved or replaced itself; nothing may pass through one.
            if path.contains('/') {
                tries.extend([
                    ("copy_path", json!({"from": path, "to": "stolen.txt"})),
                    ("copy_path", json!({"from": "plain.txt", "to": path, "overwrite": true})),
                    ("move_path", json!({"from": "plain.txt", "to": path, "overwrite": true})),
                ]);
            }
            for (tool, arguments) in tries {
                let result = client.call(tool, arguments.clone());
                let found = verdict(&result);
                assert!(
                    found.starts_with("permission_denied/"),
                    "{user:?} {tool} {arguments}: {found} {result}"
                );
                assert!(!result.to_string().contains("TOP SECRET"), "{tool} {arguments}: {result}");
            }
            let refused = client.call("read_file", json!({"path": path}));
            assert_eq!(verdict(&refused), expected, "{user:?} {path}: {refused}");
            let text = std::fs::read_to_string(outside.join("secret.txt")).unwrap();
            assert_eq!(text, "TOP SECRET\n", "{path}");
            assert!(!outside.join("fresh.txt").exists());
        }
        // A link to a missing file outside: neither read nor made.
        assert!(
            verdict(&client.call("write_file", json!({"path": "dangling", "contents": "x"})))
                .starts_with("permission_denied")
        );
        assert!(!outside.join("fresh.txt").exists());
        let patch = "*** Begin Patch\n*** Add File: ../outside/patched.txt\n+x\n*** End Patch\n";
        assert!(
            verdict(&client.call("apply_patch", json!({"patch": patch}))).starts_with("permission_denied")
        );
        assert!(!outside.join("patched.txt").exists());
        // Walks follow no link; a link inside the root is followed by name.
        let found = client
            .call("search_text", json!({"query": "SECRET", "include_hidden": true, "include_ignored": true}));
        let paths: Vec<&str> = found["structuredContent"]["data"]["matches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|found| found["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, ["hard"], "the hard link is a file of the root, nothing else is");
        assert_eq!(verdict(&client.call("read_file", json!({"path": "inside"}))), "ok");
        // A hard link is replaced, so the file outside keeps its content.
        let replaced = client.call("write_file", json!({"path": "hard", "contents": "mine\n"}));
        assert_eq!(
            replaced["structuredContent"]["data"]["warnings"].as_array().unwrap().len(),
            1,
            "{replaced}"
        );
        assert_eq!(std::fs::read_to_string(outside.join("secret.txt")).unwrap(), "TOP SECRET\n");
        for path in [".", "", "/", root.to_str().unwrap()] {
            let result = client.call("delete_path", json!({"path": path}));
            assert!(result["isError"] == true, "{path}: {result}");
            assert!(root.join("plain.txt").exists());
        }
    }
}

#[test]
fn special_files_odd_names_and_huge_files_never_block() {
    for user in users() {
        let ground = Ground::new(user);
        let root = ground.path("root");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("fifo"),
            FileType::Fifo,
            Mode::from_raw_mode(0o666),
            0,
        )
        .unwrap();
        let _listener = UnixListener::bind(root.join("socket")).unwrap();
        let device = rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("device"),
            FileType::CharacterDevice,
            Mode::from_raw_mode(0o666),
            rustix::fs::makedev(1, 5),
        );
        std::fs::write(root.join("binary"), b"\x7fELF\0\0\0").unwrap();
        std::fs::File::create(root.join("huge")).unwrap().set_len(10 << 30).unwrap();
        std::fs::write(root.join(OsStr::from_bytes(b"odd-\xff\xfe.txt")), "odd name\n").unwrap();
        std::fs::write(root.join("latin"), b"caf\xe9\n").unwrap();
        let mut client = ground.connect("code_maintainer", &[]);
        let mut special = vec!["fifo", "socket"];
        if device.is_ok() {
            special.push("device");
        }
        for path in &special {
            for tool in ["read_file", "read_file_raw"] {
                assert_eq!(
                    verdict(&client.call(tool, json!({"path": path}))),
                    "not_supported",
                    "{tool} {path}"
                );
            }
            for (tool, arguments) in [
                ("write_file", json!({"path": path, "contents": "x"})),
                ("edit_file", json!({"path": path, "old_string": "a", "new_string": "b"})),
            ] {
                assert_eq!(verdict(&client.call(tool, arguments)), "not_supported", "{tool} {path}");
            }
            let stat = client.call("stat_path", json!({"path": path}));
            assert_eq!(stat["structuredContent"]["data"]["type"], "other", "{stat}");
        }
        for (tool, arguments, expected) in [
            ("read_file", json!({"path": "binary"}), "not_supported"),
            ("edit_file", json!({"path": "binary", "old_string": "E", "new_string": "F"}), "not_supported"),
            ("edit_file", json!({"path": "latin", "old_string": "caf", "new_string": "x"}), "not_supported"),
            ("read_file", json!({"path": "huge"}), "not_supported"),
            (
                "edit_file",
                json!({"path": "huge", "old_string": "a", "new_string": "b"}),
                "resource_exhausted/file_bytes",
            ),
            ("copy_path", json!({"from": "huge", "to": "huger"}), "resource_exhausted/write_bytes"),
            ("read_file", json!({"path": "a\u{0}b"}), "invalid_argument"),
            ("read_file", json!({"path": "x".repeat(300)}), "invalid_argument"),
            ("read_file", json!({"path": "x/".repeat(2100)}), "invalid_argument"),
            ("write_file", json!({"path": "y".repeat(300), "contents": ""}), "invalid_argument"),
            ("read_file", json!({"path": "PLAIN.TXT"}), "not_found"),
            ("read_file", json!({"path": "sub"}), "invalid_argument"),
            ("list_directory", json!({"path": "plain.txt"}), "invalid_argument"),
            ("read_file", json!({"path": "plain.txt/x"}), "invalid_argument"),
            ("read_file", json!({"path": "plain.txt", "start_line": 99}), "invalid_argument"),
            ("read_file", json!({"path": "plain.txt", "maxLines": 3}), "invalid_argument"),
            ("write_file", json!({"path": "b", "contents_base64": "***"}), "invalid_argument"),
            ("write_file", json!({"path": "b"}), "invalid_argument"),
            (
                "write_file",
                json!({"path": "b", "contents": "x", "chunks": [{"content": "y"}]}),
                "invalid_argument",
            ),
            ("search_text", json!({"query": "(", "mode": "regex"}), "invalid_argument"),
            (
                "write_file",
                json!({"path": "plain.txt", "contents": "x", "mode": "create"}),
                "conflict/exists",
            ),
        ] {
            let result = client.call(tool, arguments.clone());
            let found = verdict(&result);
            assert_eq!(found, expected, "{tool} {arguments}: {result}");
        }
        assert!(!root.join("b").exists() && !root.join("huger").exists());
        let near = client.call("read_file", json!({"path": "plain.txt", "maxLines": 3}));
        assert!(near.to_string().contains("max_lines"), "the nearest known name is said: {near}");
        let listed = client.call("list_directory", json!({})).to_string();
        assert!(listed.contains("odd-") && listed.contains("plain.txt"));
        let stat = client.call("stat_path", json!({"path": "huge"}));
        assert_eq!(stat["structuredContent"]["data"]["size_bytes"], 10_u64 << 30, "{stat}");
        let search = client.call("search_text", json!({"query": "odd name"}));
        let skipped = &search["structuredContent"]["data"]["skipped"];
        assert!(
            skipped["too_large"].as_u64().unwrap() >= 1 && skipped["binary"].as_u64().unwrap() >= 1,
            "{search}"
        );
        assert_eq!(search["structuredContent"]["data"]["matches"].as_array().unwrap().len(), 1, "{search}");
    }
}

#[test]
fn the_state_directory_is_closed_even_inside_the_root() {
    let ground = Ground::new(None);
    ground.hand_over();
    let whole = ground.dir.path().to_owned();
    let (mut client, _) =
        McpClient::connect(ground.command("code_maintainer", &whole, &[]), McpEra::Modern, json!({}));
    // The first call makes the state.
    assert_eq!(verdict(&client.call("write_file", json!({"path": "root/x.txt", "contents": "x"}))), "ok");
    assert!(ground.path("state/state.db").exists());
    for (tool, arguments) in [
        ("read_file", json!({"path": "state/state.db"})),
        ("list_directory", json!({"path": "state"})),
        ("search_text", json!({"query": "a", "path": "state"})),
        ("write_file", json!({"path": "state/evil", "contents": "x"})),
        ("delete_path", json!({"path": "state"})),
        ("move_path", json!({"from": "state", "to": "elsewhere"})),
        ("copy_path", json!({"from": "state", "to": "elsewhere"})),
        ("move_path", json!({"from": "root/x.txt", "to": "state/x"})),
    ] {
        let result = client.call(tool, arguments.clone());
        assert_eq!(verdict(&result), "permission_denied/protected_path", "{tool} {arguments}: {result}");
    }
    let listed = client.call("list_directory", json!({"depth": 3, "includeHidden": true}));
    assert!(!listed.to_string().contains("state.db"), "{listed}");
    let found = client
        .call("search_text", json!({"query": "SQLite", "include_hidden": true, "include_ignored": true}));
    assert!(!found.to_string().contains("state.db"), "{found}");
    assert!(!ground.path("elsewhere").exists() && ground.path("root/x.txt").exists());
}

#[test]
fn without_write_and_without_a_person_nothing_is_changed() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.root().join("work")).unwrap();
    let start = |more: &[&str]| {
        let mut args = vec!["mcp", "code_writer", "--root", "work"];
        args.extend(more);
        McpClient::connect(sandbox.command(&args), McpEra::Legacy, json!({})).0
    };
    let mut reading = start(&[]);
    let listed = reading.request("tools/list", json!({}));
    assert!(!listed.to_string().contains("write_file"), "{listed}");
    let refused = reading.begin_call("write_file", json!({"path": "a", "contents": "x"}));
    assert_eq!(reading.reply(refused)["error"]["code"], -32602);
    let mut asking = start(&["--write"]);
    let denied = asking.call("write_file", json!({"path": "a", "contents": "x"}));
    assert_eq!(verdict(&denied), "permission_denied/no_person", "{denied}");
    let mut sure = start(&["--write", "--confirm-file-changes=false"]);
    std::fs::create_dir(sandbox.root().join("work/.git")).unwrap();
    let always = sure.call("write_file", json!({"path": ".git/config", "contents": "x"}));
    assert_eq!(
        verdict(&always),
        "permission_denied/no_person",
        "asked even with confirmations off: {always}"
    );
    assert!(!sandbox.root().join("work/a").exists() && !sandbox.root().join("work/.git/config").exists());
}

#[test]
fn files_that_change_while_they_are_read_or_edited_are_noticed() {
    let ground = Ground::new(None);
    let root = ground.path("root");
    let mut client = ground.connect("code_writer", &[]);
    let read = client.call("read_file", json!({"path": "plain.txt"}));
    let sha = read["structuredContent"]["data"]["sha256"].clone();
    std::fs::write(root.join("plain.txt"), "other\n").unwrap();
    for (tool, arguments) in [
        ("write_file", json!({"path": "plain.txt", "contents": "mine", "expected_sha256": sha})),
        (
            "edit_file",
            json!({"path": "plain.txt", "old_string": "other", "new_string": "x", "expected_sha256": sha}),
        ),
        ("delete_path", json!({"path": "plain.txt", "expected_sha256": sha})),
    ] {
        assert_eq!(verdict(&client.call(tool, arguments)), "conflict/changed_on_disk", "{tool}");
    }
    assert_eq!(std::fs::read_to_string(root.join("plain.txt")).unwrap(), "other\n");
    // A file that grows and shrinks all the time: every answer is whole, the server stays.
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let path = root.join("moving.txt");
            let mut long = true;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let text = if long { "line of text\n".repeat(5000) } else { "short\n".to_owned() };
                std::fs::write(&path, text).unwrap();
                long = !long;
            }
        });
        for _ in 0..40 {
            let read = client.call("read_file", json!({"path": "moving.txt", "max_lines": 10}));
            let code = verdict(&read);
            assert!(
                ["ok", "not_found", "conflict/changed_on_disk", "invalid_argument"].contains(&code.as_str()),
                "{read}"
            );
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_killed_server_leaves_nothing_beside_the_files_once_a_host_starts() {
    let ground = Ground::new(None);
    // Large enough to be caught at work.
    std::fs::create_dir(ground.path("root/tree")).unwrap();
    for number in 0..2_000 {
        std::fs::write(ground.path(&format!("root/tree/{number}")), "x".repeat(100)).unwrap();
    }
    let litter = || {
        let names = std::fs::read_dir(ground.path("root")).unwrap().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".chatos-")).count()
    };
    let mut client = ground.connect("code_maintainer", &[]);
    client.begin_call("copy_path", json!({ "from": "tree", "to": "copy" }));
    chatos_testkit::eventually("the copy is under way", || (litter() > 0).then_some(()));
    client.signal(rustix::process::Signal::KILL);
    client.ended();
    assert!(litter() > 0 && !ground.path("root/copy").exists(), "killed in the middle");
    // No tool is called in that folder again; the host has another project.
    let mut command = child(&ground.program);
    command
        .args(["serve", "--no-open", "--ready-json", "--port", "0", "--state-dir"])
        .arg(ground.path("state"))
        .env_clear()
        .env("HOME", ground.path("home"))
        .env("PATH", "")
        .current_dir(ground.path("home"));
    let host = match chatos_testkit::RunningHost::start(command) {
        Ok(host) => host,
        Err(outcome) => panic!("{outcome:?}"),
    };
    chatos_testkit::eventually("nothing is left beside the files", || (litter() == 0).then_some(()));
    assert!(ground.path("root/tree/1999").exists() && !ground.path("root/copy").exists());
    drop(host);
}

#[test]
fn a_full_and_a_read_only_disk_leave_every_file_as_it_was() {
    let Some(surroundings) = Surroundings::own_mounts() else {
        chatos_testkit::skip!("nobody like us may mount here (unshare)")
    };
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.root().join("disk")).unwrap();
    let state = sandbox.state().to_string_lossy().into_owned();
    let args = [
        "mcp",
        "code_maintainer",
        "--root",
        "disk",
        "--write",
        "--confirm-file-changes=false",
        "--lang",
        "en",
        "--state-dir",
        &state,
    ];
    let full = surroundings.command(
        &sandbox,
        "mount -t tmpfs -o size=256k none disk && printf 'old\\n' > disk/a.txt && printf 'old\\n' > disk/b.txt \
         && (cat /dev/zero > disk/filler; head -c 250000 /dev/zero > disk/filler)",
        &args,
    );
    let (mut client, _) = McpClient::connect(full, McpEra::Legacy, json!({}));
    let big = "x".repeat(200_000);
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "contents": big})),
        ("write_file", json!({"path": "new.txt", "contents": big})),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Update File: b.txt\n@@\n-old\n+new\n*** Add File: c.txt\n+{big}\n*** End Patch\n")}),
        ),
    ] {
        let result = client.call(tool, arguments);
        assert_eq!(verdict(&result), "resource_exhausted/disk", "{tool}: {result}");
    }
    for path in ["a.txt", "b.txt"] {
        let read = client.call("read_file_raw", json!({"path": path}));
        assert_eq!(read["content"][0]["text"], "old\n", "{read}");
    }
    let listed = client.call("list_directory", json!({"includeHidden": true}));
    let names: Vec<&str> = listed["structuredContent"]["data"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a.txt", "b.txt", "filler"], "no draft is left");
    client.hang_up();
    client.ended();
    let closed = surroundings.command(
        &sandbox,
        "mount -t tmpfs -o size=256k none disk && printf 'old\\n' > disk/a.txt && mount -o remount,ro disk",
        &args,
    );
    let (mut client, _) = McpClient::connect(closed, McpEra::Legacy, json!({}));
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "contents": "new"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "old", "new_string": "new"})),
        ("delete_path", json!({"path": "a.txt"})),
        ("move_path", json!({"from": "a.txt", "to": "b.txt"})),
    ] {
        let result = client.call(tool, arguments);
        assert_eq!(verdict(&result), "permission_denied/file_mode", "{tool}: {result}");
    }
    assert_eq!(client.call("read_file_raw", json!({"path": "a.txt"}))["content"][0]["text"], "old\n");
}

#[test]
fn results_are_cut_where_they_say_so() {
    let ground = Ground::new(None);
    let root = ground.path("root");
    let lines: String = (1..=5000).map(|n| format!("line {n} with some text\n")).collect();
    std::fs::write(root.join("long.txt"), lines).unwrap();
    std::fs::write(root.join("wide.txt"), "w".repeat(100_000)).unwrap();
    for n in 0..300 {
        std::fs::write(root.join(format!("sub/f{n}.txt")), "needle\n").unwrap();
    }
    let mut client = ground.connect("project_files", &["--max-result-chars", "2000"]);
    for (tool, arguments) in [
        ("read_file", json!({"path": "long.txt"})),
        ("read_file", json!({"path": "wide.txt"})),
        ("list_directory", json!({"path": "sub", "limit": 2000})),
        ("search_text", json!({"query": "needle", "max_results": 200})),
        ("find_files", json!({"pattern": "**/*.txt", "limit": 2000})),
    ] {
        let result = client.call(tool, arguments);
        let envelope = &result["structuredContent"];
        let chars: usize = result["content"]
            .as_array()
            .unwrap()
            .iter()
            .map(|block| block["text"].as_str().unwrap().chars().count())
            .sum();
        assert!(chars <= 2000, "{tool}: {chars}");
        assert_eq!(envelope["data"]["truncated"], true, "{tool}: {envelope}");
        assert!(!result["_meta"]["chatos"]["truncated"].as_array().unwrap().is_empty(), "{tool}");
        assert!(
            envelope["data"].to_string().len() <= 8_200,
            "{tool}: {}",
            envelope["data"].to_string().len()
        );
    }
}

/// Small reads of an older client are answered where they are read; nobody may see a difference.
#[test]
fn the_short_way_of_a_read_answers_like_the_long_one() {
    let sandbox = sandbox();
    let root = sure(tempfile::tempdir());
    sure(std::fs::write(root.path().join("small.txt"), "one\ntwo\n"));
    sure(std::fs::write(root.path().join("large.txt"), "a line of a large file\n".repeat(50_000)));
    let place = root.path().display().to_string();
    let server = || sandbox.command(&["mcp", "project_files", "--lang", "en", "--root", &place]);
    let calls = [
        ("read_file", json!({"path": "small.txt"})),
        ("read_file", json!({"path": "large.txt", "start_line": 40_000, "max_lines": 3})),
        ("read_file", json!({"path": "missing.txt"})),
        ("read_file", json!({"path": "../outside.txt"})),
        ("read_file", json!({"path": "small.txt", "strat_line": 2})),
        ("stat_path", json!({"path": "small.txt"})),
    ];
    let answers = |era| {
        let (mut client, _) = McpClient::connect(server(), era, json!({}));
        calls.clone().map(|(tool, arguments)| {
            let mut result = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
            let chatos = &mut result["_meta"]["chatos"];
            for own in ["trace", "elapsedMs", "ts"] {
                assert!(!chatos[own].is_null(), "{chatos}");
                chatos[own] = Value::Null;
            }
            ["content", "structuredContent", "isError", "_meta"].map(|key| result[key].clone())
        })
    };
    assert_eq!(answers(McpEra::Legacy), answers(McpEra::Modern));

    // Many at once, between other requests: every one has its answer and two lines in the log.
    let (mut client, _) = McpClient::connect(server(), McpEra::Legacy, json!({}));
    let lines = || {
        let log = sure(std::fs::read_to_string(sandbox.state().join("tool-log.jsonl")));
        log.lines().map(|line| sure(serde_json::from_str::<Value>(line))).collect::<Vec<_>>()
    };
    let before = lines().len();
    for n in 0..300 {
        let path = if n % 50 == 0 { "large.txt" } else { "small.txt" };
        let id = if n % 2 == 0 { json!(n + 1000) } else { json!(format!("call \"{n}\"")) };
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "read_file", "arguments": {"path": path}}}));
        if n % 30 == 0 {
            client.send(&json!({"jsonrpc": "2.0", "id": format!("ping {n}"), "method": "ping"}));
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 310 {
        let answer = client.message();
        assert!(answer["error"].is_null(), "{answer}");
        assert!(seen.insert(answer["id"].to_string()), "twice: {answer}");
    }
    let new = lines().split_off(before);
    assert_eq!(new.len(), 600);
    for kind in ["tool_call", "tool_result"] {
        assert_eq!(new.iter().filter(|line| line["type"] == kind).count(), 300, "{kind}");
    }
}
