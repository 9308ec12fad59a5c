//! Everything a start can meet that it must not trip over: each has its error, its hint, its exit
//! status, and nothing on disk is harmed. Always the real program.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]
#![expect(clippy::disallowed_methods, reason = "tests look into the database with a connection of their own")]

#[path = "support/surroundings.rs"]
mod surroundings;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chatos_testkit::{Outcome, RunningHost, Sandbox, make_dir};
use rusqlite::Connection;
use serde_json::json;
use surroundings::{Surroundings, as_root};

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

/// A start that must not succeed, with the error as JSON.
fn refused(sandbox: &Sandbox) -> Outcome {
    match sandbox.try_serve(&["--json"]) {
        Ok(_) => panic!("it started"),
        Err(outcome) => outcome,
    }
}

/// The error has its code, its exit status and advice, and says the same to people in two languages.
fn check(outcome: &Outcome, status: i32, code: &str) {
    assert_eq!((outcome.status, outcome.code().as_str()), (status, code), "{outcome:?}");
    let error = &outcome.json()["error"];
    assert!(error["message"].as_str().is_some_and(|text| text.len() > 10), "{outcome:?}");
    assert!(error["hint"].as_str().is_some_and(|text| text.len() > 10), "{outcome:?}");
    assert_eq!(outcome.stderr, "", "{outcome:?}");
}

/// What people see: the error and a hint on stderr, nothing on stdout, also in Chinese.
fn check_for_people(sandbox: &Sandbox, args: &[&str], status: i32) {
    for (lang, zh, error, hint) in [("en", false, "error: ", "\nhint: "), ("zh", true, "错误：", "\n提示：")]
    {
        let mut args = args.to_vec();
        args.extend(["--lang", lang]);
        let Err(outcome) = RunningHost::start(sandbox.command(&args)) else { panic!("it started") };
        assert_eq!(outcome.status, status, "{outcome:?}");
        assert_eq!(outcome.stdout, "", "{outcome:?}");
        assert!(outcome.stderr.starts_with(error), "{outcome:?}");
        assert!(outcome.stderr.contains(hint), "{outcome:?}");
        assert_eq!(outcome.stderr.chars().any(|c| c >= '\u{4e00}'), zh, "{outcome:?}");
        assert!(!outcome.stderr.contains("panicked"), "{outcome:?}");
    }
}

/// Every file below a directory with its bytes, so that "nothing harmed" is a comparison. The host's
/// own log and lock say that somebody tried; everything else must be as it was.
fn bytes_below(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![dir.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                open.push(path);
            } else if !matches!(name.as_str(), "host.lock" | "host-log.jsonl" | "state.db-shm") {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A state that was in use: settings, audit records, a key; stopped cleanly.
fn used() -> Sandbox {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for (key, value) in [("retry", json!(7)), ("toolResultChars", json!(54_321))] {
        let path = format!("/api/v1/settings/{key}");
        assert_eq!(host.ask("PUT", &path, Some(&json!({ "value": value }))).status, 200);
    }
    assert!(host.stop().success());
    sandbox
}

fn setting(host: &RunningHost, key: &str) -> serde_json::Value {
    host.ask("GET", &format!("/api/v1/settings/{key}"), None).json()["value"].clone()
}

// Ports ---------------------------------------------------------------------------------------

#[test]
fn a_port_taken_by_a_stranger_is_named_with_its_owner() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let sandbox = sandbox();
    let outcome = sandbox.run(&["serve", "--no-open", "--json", "--port", &port]);
    check(&outcome, 5, "port_taken");
    assert_eq!(outcome.json()["error"]["details"]["pid"], std::process::id());
    check_for_people(&sandbox, &["serve", "--no-open", "--port", &port], 5);
    // The state was opened and released in good order: the next start is clean.
    assert!(sandbox.serve().stop().success());
}

#[test]
fn a_port_taken_on_the_other_loopback_family_counts_as_taken() {
    let Ok(stranger) = TcpListener::bind("[::1]:0") else {
        chatos_testkit::skip!("this machine has no IPv6 loopback")
    };
    let port = stranger.local_addr().unwrap().port().to_string();
    check(&sandbox().run(&["serve", "--no-open", "--json", "--port", &port]), 5, "port_taken");
}

#[test]
fn a_port_taken_by_another_host_of_ours_is_named_with_its_pid() {
    let first = sandbox();
    let host = first.serve();
    let port = host.port.to_string();
    let outcome = sandbox().run(&["serve", "--no-open", "--json", "--port", &port]);
    check(&outcome, 5, "port_taken");
    assert_eq!(outcome.json()["error"]["details"]["pid"], host.pid());
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn without_a_wish_the_next_free_port_is_taken() {
    // Where something else holds the default port already, that is just as good.
    let _taken = TcpListener::bind("127.0.0.1:7878");
    let sandbox = sandbox();
    let command = sandbox.command(&["serve", "--no-open", "--ready-json"]);
    let host = RunningHost::start(command).unwrap_or_else(|outcome| panic!("{outcome:?}"));
    assert!(host.port > 7878 && host.port <= 7928, "{}", host.port);
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn nonsense_on_the_command_line_is_wrong_usage() {
    let sandbox = sandbox();
    for args in [
        &["serve", "--port", "65536"][..],
        &["serve", "--port", "-1"],
        &["serve", "--port", "http"],
        &["serve", "--host", "localhost"],
        &["serve", "--host", "0.0.0.0"],
        &["serve", "--host", "0.0.0.0", "--allow-remote"],
        &["serve", "--host", "0.0.0.0", "--allow-host", "box"],
        &["serve", "--allow-host", "http://box/"],
        &["serve", "--lang", "fr"],
        &["serve", "--no-such-flag"],
        &["no-such-command"],
        &["settings", "set", "retry", "many"],
        &["settings", "set", "retry"],
    ] {
        let outcome = sandbox.run(args);
        assert_eq!(outcome.status, 2, "{args:?}: {outcome:?}");
        assert!(!sandbox.state().exists(), "{args:?} touched the disk");
        let mut args = args.to_vec();
        args.push("--json");
        let outcome = sandbox.run(&args);
        assert_eq!(outcome.status, 2, "{args:?}: {outcome:?}");
        assert!(!outcome.code().is_empty(), "{args:?}: {outcome:?}");
    }
}

// The state directory -------------------------------------------------------------------------

#[test]
fn a_file_in_the_place_of_the_state_directory_is_left_alone() {
    let mut sandbox = sandbox();
    let file = sandbox.root().join("precious");
    fs::write(&file, "mine").unwrap();
    for state in [file.clone(), file.join("below")] {
        sandbox.set_state(state);
        check(&refused(&sandbox), 5, "state_dir_not_a_directory");
    }
    check_for_people(&sandbox, &["serve", "--no-open"], 5);
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_refused() {
    let mut sandbox = sandbox();
    let state = sandbox.root().join("locked");
    make_dir(&state, 0o500);
    sandbox.set_state(&state);
    let around = Surroundings::without_rights();
    let outcome = around.run(&sandbox, "", &["serve", "--no-open", "--json", "--port", "0"]);
    check(&outcome, 5, "state_dir_unusable");
    assert!(outcome.json()["error"]["hint"].as_str().unwrap().contains("writable"), "{outcome:?}");
    // A directory that would have to be made inside it, too.
    sandbox.set_state(state.join("deeper/still"));
    let outcome = around.run(&sandbox, "", &["serve", "--no-open", "--json", "--port", "0"]);
    check(&outcome, 5, "state_dir_unusable");
    assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
}

#[test]
fn a_read_only_mount_is_refused_with_its_reason() {
    let mut sandbox = sandbox();
    let Some(around) = Surroundings::own_mounts() else {
        // No right to mount here. What the kernel itself mounts is not writable for anybody either.
        sandbox.set_state("/sys/chatos-state");
        check(&refused(&sandbox), 5, "state_dir_unusable");
        return;
    };
    let mount = sandbox.root().join("mount");
    make_dir(&mount, 0o700);
    sandbox.set_state(mount.join("state"));
    let setup = format!(
        "mount -t tmpfs none '{0}' && mkdir -m 700 '{0}/state' && mount -o remount,ro '{0}'",
        mount.display()
    );
    let outcome = around.run(&sandbox, &setup, &["serve", "--no-open", "--json", "--port", "0"]);
    check(&outcome, 5, "state_dir_unusable");
    assert!(outcome.json()["error"]["hint"].as_str().unwrap().contains("read-only"), "{outcome:?}");
    // A state in use whose mount has become read-only, as after a disk error.
    let setup = format!(
        "mount -t tmpfs none '{0}' && '{1}' settings set retry 7 --state-dir '{0}/state' >/dev/null && \
         mount -o remount,ro '{0}'",
        mount.display(),
        sandbox.program().display()
    );
    let outcome = around.run(&sandbox, &setup, &["serve", "--no-open", "--json", "--port", "0"]);
    check(&outcome, 5, "state_dir_unusable");
}

#[test]
fn a_directory_of_somebody_else_is_refused() {
    let mut sandbox = sandbox();
    if as_root() {
        let state = sandbox.root().join("theirs");
        make_dir(&state, 0o700);
        std::os::unix::fs::chown(&state, Some(65_534), Some(65_534)).unwrap();
        sandbox.set_state(state);
    } else {
        sandbox.set_state("/etc");
    }
    let outcome = refused(&sandbox);
    check(&outcome, 3, "state_dir_foreign_owner");
    assert!(!sandbox.state().join("state.db").exists());
}

#[test]
fn a_wide_state_directory_is_narrowed_and_told() {
    let sandbox = sandbox();
    make_dir(sandbox.state(), 0o755);
    fs::set_permissions(sandbox.state(), fs::Permissions::from_mode(0o755)).unwrap();
    let host = sandbox.serve();
    assert_eq!(fs::metadata(sandbox.state()).unwrap().permissions().mode() & 0o777, 0o700);
    let status = host.ask("GET", "/api/v1/status", None).json();
    assert!(status["notices"].to_string().contains("mode_narrowed"), "{status}");
}

#[test]
fn strange_names_of_state_directories_work() {
    for name in ["with space", "状态", "-dash", "quote'\"", "a%20b", "new\nline"] {
        let mut sandbox = sandbox();
        sandbox.set_state(sandbox.root().join(name));
        let host = sandbox.serve();
        assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200, "{name}");
        assert!(host.stop().success(), "{name}");
        assert!(sandbox.state().join("state.db").is_file(), "{name}");
    }
}

// Two hosts -----------------------------------------------------------------------------------

#[test]
fn a_second_host_is_told_where_the_first_one_is() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let outcome = refused(&sandbox);
    check(&outcome, 5, "already_running");
    let error = outcome.json()["error"].clone();
    assert_eq!(error["details"]["pid"], host.pid());
    let message = error["message"].as_str().unwrap();
    assert!(message.contains(&format!("http://127.0.0.1:{}/", host.port)), "{message}");
    assert!(message.contains(&format!("pid {}", host.pid())), "{message}");
    check_for_people(&sandbox, &["serve", "--no-open"], 5);
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
    // Killed without a word: the next start succeeds at once, whatever host.json still says.
    host.kill();
    assert!(sandbox.state().join("host.json").is_file());
    assert!(sandbox.serve().stop().success());
    assert!(!sandbox.state().join("host.json").exists());
}

#[test]
fn of_a_hundred_starts_at_once_exactly_one_runs() {
    let sandbox = sandbox();
    let children: Vec<_> = (0..100)
        .map(|_| {
            let mut command = sandbox.command(&["serve", "--no-open", "--json", "--port", "0"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    // The winner serves until it is told to stop; everybody else ends by itself.
    let watcher = std::thread::spawn(move || {
        let mut results = Vec::new();
        let mut open = children;
        while open.len() > 1 {
            let mut still = Vec::new();
            for mut child in open {
                match child.try_wait().unwrap() {
                    Some(_) => results.push(child.wait_with_output().unwrap()),
                    None => still.push(child),
                }
            }
            open = still;
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        (results, open.pop().unwrap())
    });
    let (results, winner) = watcher.join().unwrap();
    let announced: serde_json::Value =
        serde_json::from_slice(&fs::read(sandbox.state().join("host.json")).unwrap()).unwrap();
    assert_eq!(announced["pid"], winner.id());
    for output in results {
        let outcome = Outcome {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        check(&outcome, 5, "already_running");
        assert_eq!(outcome.json()["error"]["details"]["url"], announced["url"]);
    }
    assert_eq!(sandbox.run(&["status"]).status, 0);
    assert_eq!(sandbox.run(&["stop"]).status, 0);
    assert!(winner.wait_with_output().unwrap().status.success());
}

#[test]
fn garbage_in_the_announcement_and_a_link_as_lock_do_no_harm() {
    let sandbox = used();
    fs::write(sandbox.state().join("host.json"), b"\x00\xff{not json").unwrap();
    assert_eq!(sandbox.run(&["status"]).status, 1);
    assert!(sandbox.serve().stop().success());
    // A link in the place of the lock could make us lock, or create, a file elsewhere.
    let elsewhere = sandbox.root().join("elsewhere");
    fs::remove_file(sandbox.state().join("host.lock")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.state().join("host.lock")).unwrap();
    check(&refused(&sandbox), 5, "host_lock_unusable");
    assert!(!elsewhere.exists());
}

// The database --------------------------------------------------------------------------------

/// Puts the database into a state, starts, and expects a refusal that changed no byte.
#[track_caller]
fn refused_untouched(sandbox: &Sandbox, code: &str, status: i32) {
    let before = bytes_below(sandbox.state());
    let outcome = refused(sandbox);
    check(&outcome, status, code);
    check_for_people(sandbox, &["serve", "--no-open"], status);
    let doctor = sandbox.run(&["doctor", "--json"]);
    assert_eq!(doctor.status, 1, "{doctor:?}");
    let finding = &doctor.json()["findings"][0];
    assert_eq!(finding["severity"], "error", "{doctor:?}");
    assert!(finding["code"].as_str().unwrap().starts_with("database_"), "{doctor:?}");
    assert!(finding["action"].is_string(), "{doctor:?}");
    let after = bytes_below(sandbox.state());
    assert!(before == after, "{:?} became {:?}", before.keys(), after.keys());
}

#[test]
fn garbage_as_database_is_kept_and_refused() {
    let sandbox = used();
    let database = sandbox.state().join("state.db");
    for content in [&b"z"[..], &[b'z'; 8192], b"SQLite format 3\0", &[0; 4096]] {
        fs::write(&database, content).unwrap();
        refused_untouched(&sandbox, "database_corrupt", 5);
    }
}

#[test]
fn a_shortened_database_is_kept_and_refused() {
    let sandbox = used();
    let database = sandbox.state().join("state.db");
    let whole = fs::read(&database).unwrap();
    for length in [0, 1, 100, 4096, whole.len() / 2 / 4096 * 4096, whole.len() - 4096, whole.len() - 1] {
        fs::write(&database, &whole[..length]).unwrap();
        eprintln!("{length} of {} bytes", whole.len());
        refused_untouched(&sandbox, "database_corrupt", 5);
    }
    fs::remove_file(&database).unwrap();
    refused_untouched(&sandbox, "database_corrupt", 5);
    fs::write(&database, &whole).unwrap();
    let host = sandbox.serve();
    assert_eq!(setting(&host, "retry"), 7);
}

#[test]
fn a_page_of_noise_is_found_at_start() {
    let sandbox = used();
    let database = sandbox.state().join("state.db");
    let whole = fs::read(&database).unwrap();
    let pages = whole.len() / 4096;
    for page in [1, 2, pages / 2] {
        let mut flipped = whole.clone();
        for byte in &mut flipped[page * 4096..page * 4096 + 64] {
            *byte ^= 0xff;
        }
        fs::write(&database, &flipped).unwrap();
        eprintln!("page {page} of {pages}");
        refused_untouched(&sandbox, "database_corrupt", 5);
    }
}

#[test]
fn a_lost_log_is_noticed() {
    // Killed, so that the newest commits are in the log only; then the log disappears.
    let sandbox = used();
    let host = sandbox.serve();
    for number in 1..=8 {
        let body = json!({ "value": number });
        assert_eq!(host.ask("PUT", "/api/v1/settings/retry", Some(&body)).status, 200);
    }
    // Records of the audit log, so that it is ahead of the database.
    for _ in 0..3 {
        host.ask("PUT", "/api/v1/settings/shellSafetyMode", Some(&json!({ "value": "relaxed" })));
    }
    host.kill();
    assert!(fs::metadata(sandbox.state().join("state.db-wal")).unwrap().len() > 0);
    fs::remove_file(sandbox.state().join("state.db-wal")).unwrap();
    fs::remove_file(sandbox.state().join("state.db-shm")).ok();
    let host = sandbox.serve();
    let status = host.ask("GET", "/api/v1/status", None).json();
    assert!(status["notices"].to_string().contains("database_behind"), "{status}");
}

#[test]
fn a_log_without_its_database_is_not_thrown_away() {
    let sandbox = used();
    let host = sandbox.serve();
    host.ask("PUT", "/api/v1/settings/retry", Some(&json!({ "value": 9 })));
    host.kill();
    let database = sandbox.state().join("state.db");
    let log = fs::read(sandbox.state().join("state.db-wal")).unwrap();
    assert!(!log.is_empty());
    let whole = fs::read(&database).unwrap();
    fs::remove_file(&database).unwrap();
    refused_untouched(&sandbox, "database_corrupt", 5);
    fs::write(&database, b"").unwrap();
    refused_untouched(&sandbox, "database_corrupt", 5);
    fs::write(&database, whole).unwrap();
    assert_eq!(setting(&sandbox.serve(), "retry"), 9);
}

#[test]
fn a_database_of_a_newer_chatos_is_left_to_it() {
    let sandbox = used();
    let database = sandbox.state().join("state.db");
    Connection::open(&database)
        .unwrap()
        .execute("INSERT INTO schema_migrations VALUES (999, 'future', 'x', 0)", [])
        .unwrap();
    refused_untouched(&sandbox, "database_newer", 5);
    let outcome = refused(&sandbox);
    assert!(outcome.json()["error"]["message"].as_str().unwrap().contains("schema 999"), "{outcome:?}");
}

#[test]
fn a_database_of_another_program_is_not_changed() {
    let sandbox = sandbox();
    make_dir(sandbox.state(), 0o700);
    let database = sandbox.state().join("state.db");
    let foreign = Connection::open(&database).unwrap();
    foreign.execute_batch("CREATE TABLE photos (name TEXT); INSERT INTO photos VALUES ('cat');").unwrap();
    drop(foreign);
    refused_untouched(&sandbox, "database_foreign", 5);
}

#[test]
fn a_link_or_directory_in_the_place_of_the_database_is_refused() {
    let sandbox = sandbox();
    make_dir(sandbox.state(), 0o700);
    let database = sandbox.state().join("state.db");
    let elsewhere = sandbox.root().join("elsewhere.db");
    std::os::unix::fs::symlink(&elsewhere, &database).unwrap();
    check(&refused(&sandbox), 5, "database_unavailable");
    assert!(!elsewhere.exists());
    fs::remove_file(&database).unwrap();
    make_dir(&database, 0o700);
    check(&refused(&sandbox), 5, "database_unavailable");
    assert_eq!(fs::read_dir(&database).unwrap().count(), 0);
}

#[test]
fn a_database_somebody_else_holds_is_reported_not_waited_for_ever() {
    let sandbox = used();
    let stranger = Connection::open(sandbox.state().join("state.db")).unwrap();
    stranger.execute_batch("BEGIN IMMEDIATE").unwrap();
    let outcome = sandbox.run(&["settings", "set", "retry", "5", "--json"]);
    check(&outcome, 5, "database_unavailable");
    stranger.execute_batch("COMMIT").unwrap();
    assert_eq!(sandbox.run(&["settings", "set", "retry", "5", "--json"]).status, 0);
}

// Home, environment, settings -----------------------------------------------------------------

#[test]
fn without_a_home_the_places_must_be_named() {
    let sandbox = sandbox();
    for home in [None, Some(""), Some("relative/home"), Some(".")] {
        let command = |args: &[&str]| {
            let mut command = sandbox.bare(args);
            command.env_remove("HOME");
            if let Some(home) = home {
                command.env("HOME", home);
            }
            command
        };
        let outcome = sandbox.run_command(command(&["serve", "--no-open", "--json", "--port", "0"]));
        check(&outcome, 5, "home_missing");
        // With both places named there is nothing to miss.
        let mut whole = command(&["settings", "set", "retry", "4", "--json"]);
        whole.arg("--state-dir").arg(sandbox.state()).env("XDG_CONFIG_HOME", sandbox.root().join("config"));
        assert_eq!(sandbox.run_command(whole).status, 0);
        assert!(!sandbox.root().join("relative").exists());
    }
}

#[test]
fn nonsense_in_the_environment_is_named() {
    let sandbox = sandbox();
    for (name, value, code) in [
        ("CHATOS_STATE_ROOT", "relative", "path_not_absolute"),
        ("MODEL_CLI_HOST_APP", "../escape", "host_app_invalid"),
        ("MODEL_CLI_HOST_APP", "a/b", "host_app_invalid"),
    ] {
        let mut command = sandbox.bare(&["serve", "--no-open", "--json", "--port", "0"]);
        command.env(name, value);
        check(&sandbox.run_command(command), 5, code);
    }
    let mut command = sandbox.command(&["serve", "--no-open", "--json", "--port", "0"]);
    command.arg("--project").arg("/no/such/project");
    check(&sandbox.run_command(command), 4, "not_found");
}

#[test]
fn nonsense_for_settings_is_ignored_with_a_warning() {
    let mut sandbox = used();
    let database = Connection::open(sandbox.state().join("state.db")).unwrap();
    // Out of range, of the wrong shape, unknown, huge, and (past the table's own check) not even JSON.
    database.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    let huge = format!("\"{}\"", "x".repeat(1024 * 1024));
    for (key, value) in [
        ("retry", "99999"),
        ("maxToolPasses", "\"many\""),
        ("logLevel", "\"shout\""),
        ("confirmFileChanges", "[true]"),
        ("no.such.setting", "1"),
        ("subagentDefaultModel", huge.as_str()),
        ("toolWarnCount", "{not json"),
    ] {
        database
            .execute(
                "INSERT INTO settings VALUES (?1, ?2, 0, 'x') ON CONFLICT (key) DO UPDATE SET value = ?2",
                [key, value],
            )
            .unwrap();
    }
    drop(database);
    sandbox.set_variable("CHATOS_SET_SHELL_TIMEOUT_MS", "soon");
    sandbox.set_variable("MODEL_CLI_MCP_TIMEOUT_MS", "-5");
    let host = sandbox.serve();
    let list = host.ask("GET", "/api/v1/settings", None).json();
    let item =
        |key: &str| list["items"].as_array().unwrap().iter().find(|i| i["key"] == key).unwrap().clone();
    assert_eq!(item("retry")["value"], 10);
    for key in ["maxToolPasses", "logLevel", "confirmFileChanges", "toolWarnCount", "shellTimeoutMs"] {
        let item = item(key);
        assert_eq!(item["value"], item["default"], "{key}");
        assert!(item["warning"].as_str().is_some_and(|text| !text.is_empty()), "{key}: {item}");
    }
    assert!(item("retry")["warning"].is_string());
    assert!(item("subagentDefaultModel")["value"].as_str().unwrap().len() <= 4096);
    let doctor = host.ask("GET", "/api/v1/doctor", None).json();
    assert!(doctor["findings"].to_string().contains("setting_ignored"), "{doctor}");
    assert_eq!(doctor["ok"], true, "{doctor}");
    assert!(host.stop().success());
    // Nothing was thrown away: what this version does not understand may mean something to another.
    let database = Connection::open(sandbox.state().join("state.db")).unwrap();
    let kept: i64 = database
        .query_row("SELECT count(*) FROM settings WHERE key = 'no.such.setting'", [], |r| r.get(0))
        .unwrap();
    assert_eq!(kept, 1);
}

// The key -------------------------------------------------------------------------------------

#[test]
fn a_key_place_that_cannot_be_written_is_named() {
    let sandbox = sandbox();
    make_dir(&sandbox.home().join(".config"), 0o500);
    let around = Surroundings::without_rights();
    let outcome = around.run(&sandbox, "", &["serve", "--no-open", "--json", "--port", "0"]);
    check(&outcome, 5, "state_key_unusable");
    fs::set_permissions(sandbox.home().join(".config"), fs::Permissions::from_mode(0o700)).unwrap();
    // The failed start left a state that the next one takes over.
    assert!(sandbox.serve().stop().success());
}

#[test]
fn a_damaged_key_file_is_never_overwritten() {
    let sandbox = used();
    let keys = sandbox.home().join(".config/chatos/keys");
    let key = fs::read_dir(&keys).unwrap().flatten().next().unwrap().path();
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let whole = fs::read(&key).unwrap();
    for damaged in [&b""[..], b"short", &[b'z'; 64], &[b'0'; 63], &[b'0'; 4096]] {
        fs::write(&key, damaged).unwrap();
        check(&refused(&sandbox), 5, "state_key_unusable");
        assert_eq!(fs::read(&key).unwrap(), damaged);
    }
    fs::write(&key, whole).unwrap();
    assert_eq!(setting(&sandbox.serve(), "retry"), 7);
}

#[test]
fn a_lost_key_starts_with_a_warning() {
    let sandbox = used();
    fs::remove_dir_all(sandbox.home().join(".config")).unwrap();
    let host = sandbox.serve();
    assert_eq!(setting(&host, "retry"), 7);
    let status = host.ask("GET", "/api/v1/status", None).json();
    assert!(status["notices"].to_string().contains("state_key_changed"), "{status}");
}

// Disk full -----------------------------------------------------------------------------------

#[test]
fn a_full_disk_refuses_the_start_and_keeps_what_was_there() {
    let mut sandbox = sandbox();
    let Some(around) = Surroundings::own_mounts() else {
        // No right to mount: a limit on file sizes makes every write fail half way instead.
        let command = sandbox.under("sh");
        let script = "ulimit -f 16; exec \"$0\" \"$@\"";
        let outcome = around_limit(&sandbox, command, script);
        assert_eq!(outcome.status, 5, "{outcome:?}");
        return;
    };
    let mount = sandbox.root().join("mount");
    make_dir(&mount, 0o700);
    sandbox.set_state(mount.join("state"));
    // Empty and full: nothing fits.
    let setup = format!(
        "mount -t tmpfs -o size=64k none '{0}' && mkdir -m 700 '{0}/state' && \
         {{ dd if=/dev/zero of='{0}/filler' bs=4k 2>/dev/null || true; }}",
        mount.display()
    );
    let outcome = around.run(&sandbox, &setup, &["serve", "--no-open", "--json", "--port", "0"]);
    assert_eq!(outcome.status, 5, "{outcome:?}");
    assert!(outcome.json()["error"]["hint"].as_str().unwrap().contains("space"), "{outcome:?}");
    // In use, then full: a write is refused with the right words, the old value is there, and after
    // making room it works.
    let script = format!(
        "mount -t tmpfs -o size=8m none '{0}' && \
         chatos() {{ '{1}' \"$@\" --state-dir '{0}/state' --json; }} && \
         chatos settings set retry 7 >/dev/null && \
         {{ dd if=/dev/zero of='{0}/filler' bs=4k 2>/dev/null || true; }} && \
         {{ chatos settings set retry 5; echo \"status $?\"; }} && \
         rm '{0}/filler' && \
         chatos settings get retry && chatos settings set retry 4 && chatos doctor --deep",
        mount.display(),
        sandbox.program().display()
    );
    let outcome = around.script(&sandbox, &script);
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(outcome.status, 0, "{outcome:?}");
    assert!(lines[0].contains("\"disk_full\"") || lines[0].contains("state_dir_unusable"), "{outcome:?}");
    assert_eq!(lines[1], "status 5", "{outcome:?}");
    assert!(lines[2].contains("\"value\":7"), "{outcome:?}");
    assert!(lines[3].contains("\"value\":4"), "{outcome:?}");
}

fn around_limit(sandbox: &Sandbox, mut command: std::process::Command, script: &str) -> Outcome {
    command.args(["-c", script]).arg(sandbox.program());
    command.args(["serve", "--no-open", "--json", "--port", "0", "--state-dir"]).arg(sandbox.state());
    sandbox.run_command(command)
}

#[test]
fn a_running_host_survives_a_full_disk() {
    let mut sandbox = sandbox();
    let Some(around) = Surroundings::own_mounts() else {
        // The full disk is tried by a file size limit in the other test.
        chatos_testkit::skip!("nobody like us may mount here (unshare)")
    };
    let mount = sandbox.root().join("mount");
    make_dir(&mount, 0o700);
    sandbox.set_state(mount.join("state"));
    let setup = format!("mount -t tmpfs -o size=24m none '{}'", mount.display());
    let mut args = vec!["serve", "--no-open", "--ready-json", "--port", "0"];
    args.extend(["--state-dir", sandbox.state().to_str().unwrap()]);
    let host =
        RunningHost::start(around.command(&sandbox, &setup, &args)).unwrap_or_else(|o| panic!("{o:?}"));
    let put = |value: u64| {
        host.ask("PUT", "/api/v1/settings/toolResultChars", Some(&json!({ "value": value }))).status
    };
    assert_eq!(put(5_000), 200);
    // The mount is the host's own; its root leads there.
    let inside = PathBuf::from(format!("/proc/{}/root{}", host.pid(), mount.display()));
    let filler = inside.join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    let block = [0; 4096];
    while file.write_all(&block).is_ok() {}
    drop(file);
    let mut refusals = 0;
    for value in 6_000..6_040 {
        match put(value) {
            200 => {}
            507 => refusals += 1,
            status => panic!("{value}: {status}"),
        }
    }
    assert!(refusals > 0);
    let before = setting(&host, "toolResultChars");
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
    fs::remove_file(&filler).unwrap();
    assert_eq!(setting(&host, "toolResultChars"), before);
    assert_eq!(put(9_999), 200);
    assert_eq!(setting(&host, "toolResultChars"), 9_999);
    let doctor = host.ask("GET", "/api/v1/doctor?deep=true", None).json();
    assert_eq!(doctor["ok"], true, "{doctor}");
    assert!(host.stop().success());
}
