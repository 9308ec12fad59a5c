//! `chatos version`, `upgrade` and `service`: releases from a server on this machine, signed with a key of the test.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chatos_testkit::{Outcome, Sandbox};
use ring::signature::{Ed25519KeyPair, KeyPair};
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::sandbox;

const NEW: &str = "9.9.9";
/// Steps an exchange has (`chatos-install/src/swap.rs`).
const STEPS: u32 = 6;

/// A release page with one release on it.
struct Releases {
    url: String,
    pair: Ed25519KeyPair,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Releases {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let files = Arc::new(Mutex::new(BTreeMap::new()));
        let shared = Arc::clone(&files);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that was killed is no reason to stop.
                answer(stream, &shared).ok();
            }
        });
        Self { url, pair: Ed25519KeyPair::from_seed_unchecked(&[3; 32]).unwrap(), files }
    }

    fn key(&self) -> String {
        STANDARD.encode([b"Ed\0\0\0\0\0\0\0\x01".as_slice(), self.pair.public_key().as_ref()].concat())
    }

    /// Puts a release on the page: what the program is, and which version it says it is.
    fn publish(&self, version: &str, program: &str) {
        let system = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
        let name = format!("chatos-{version}-{system}");
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_mode(0o755);
        header.set_size(program.len() as u64);
        tar.append_data(&mut header, format!("{name}/chatos"), program.as_bytes()).unwrap();
        let archive = zstd::bulk::compress(&tar.into_inner().unwrap(), 1).unwrap();
        let changes = format!("## {version}\n\n- Everything is better.\n").into_bytes();
        let files =
            BTreeMap::from([("CHANGES.md".to_owned(), changes), (format!("{name}.tar.zst"), archive)]);
        let sums: String = files
            .iter()
            .map(|(name, content)| {
                let sum: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
                format!("{sum}  {name}\n")
            })
            .collect();
        let comment = format!("chatos {version} 2026-11-17T00:00:00Z");
        let signature = self.pair.sign(sums.as_bytes());
        let whole = self.pair.sign(&[signature.as_ref(), comment.as_bytes()].concat());
        let line = STANDARD.encode([b"Ed\0\0\0\0\0\0\0\x01".as_slice(), signature.as_ref()].concat());
        let minisig =
            format!("untrusted comment: x\n{line}\ntrusted comment: {comment}\n{}\n", STANDARD.encode(whole));
        let mut given = self.files.lock().unwrap();
        *given = files;
        given.insert("SHA256SUMS".to_owned(), sums.into_bytes());
        given.insert("SHA256SUMS.minisig".to_owned(), minisig.into_bytes());
    }

    fn change(&self, name_ends: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut files = self.files.lock().unwrap();
        let (_, content) = files.iter_mut().find(|(name, _)| name.ends_with(name_ends)).unwrap();
        change(content);
    }
}

fn answer(mut stream: TcpStream, files: &Mutex<BTreeMap<String, Vec<u8>>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    // As release pages do: the address of the newest leads to the file's own.
    if path.starts_with("/latest/download/") {
        return write!(
            stream,
            "HTTP/1.1 302 Found\r\nLocation: /download/v9.9.9/{name}\r\nContent-Length: 0\r\n\r\n"
        );
    }
    match files.lock().unwrap().get(&name) {
        Some(content) => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len())?;
            stream.write_all(content)
        }
        None => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    }
}

/// The program installed in a folder of its own: a second name of the built one.
fn installed(sandbox: &Sandbox, folder: &str) -> Sandbox {
    let folder = sandbox.root().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("chatos");
    if fs::hard_link(sandbox.program(), &program).is_err() {
        fs::copy(sandbox.program(), &program).unwrap();
    }
    let mut other = Sandbox::new(program);
    other.set_state(sandbox.state());
    other
}

/// A newer program: it says so, and does everything else as this one.
fn newer(version: &str) -> String {
    let real = env!("CARGO_BIN_EXE_chatos");
    format!(
        "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'chatos {version}'; else exec '{real}' \"$@\"; fi\n"
    )
}

fn upgrade(sandbox: &Sandbox, releases: &Releases, more: &[&str]) -> Outcome {
    let key = releases.key();
    let mut args = vec!["upgrade", "--json", "--from", &releases.url, "--key", &key];
    args.extend(more);
    sandbox.run(&args)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn folder(sandbox: &Sandbox) -> PathBuf {
    sandbox.program().parent().unwrap().to_owned()
}

fn says(sandbox: &Sandbox) -> String {
    sandbox.run(&["--version"]).stdout.trim().to_owned()
}

#[test]
fn an_upgrade_is_checked_tells_what_changed_and_can_be_undone() {
    let home = sandbox();
    let own = installed(&home, "program");
    let before = own.run(&["version", "--json"]).json();
    assert_eq!(before["version"], env!("CARGO_PKG_VERSION"));
    assert!(before["schema"].as_u64().unwrap() > 10 && before["running"].is_null(), "{before}");
    let releases = Releases::start();
    releases.publish(NEW, &newer(NEW));

    let looked = upgrade(&own, &releases, &["--check"]).json();
    assert_eq!((&looked["state"], &looked["to"]), (&Value::from("available"), &Value::from(NEW)));
    assert_eq!(names(&folder(&own)), ["chatos"], "a look changes nothing");

    let done = upgrade(&own, &releases, &[]).json();
    assert_eq!(done["state"], "upgraded");
    assert!(done["changes"].as_str().unwrap().contains("Everything is better."));
    assert_eq!(says(&own), "chatos 9.9.9");
    assert_eq!(names(&folder(&own)), ["chatos", "chatos.former"]);

    // As a person does whose new program does not start.
    let mut former = Sandbox::new(folder(&own).join("chatos.former"));
    former.set_state(home.state());
    let back = former.run(&["upgrade", "--undo"]);
    assert_eq!(back.status, 0, "{back:?}");
    assert_eq!(says(&own), format!("chatos {}", env!("CARGO_PKG_VERSION")));
    let again = upgrade(&own, &releases, &["--to", NEW]).json();
    assert_eq!(again["state"], "upgraded");
}

#[test]
fn a_release_that_is_not_ours_or_does_not_run_changes_nothing() {
    let home = sandbox();
    let own = installed(&home, "program");
    let releases = Releases::start();
    let refused = |code: &str, more: &[&str]| {
        let outcome = upgrade(&own, &releases, more);
        assert_ne!(outcome.status, 0, "{code}: {outcome:?}");
        assert_eq!(outcome.code(), code, "{outcome:?}");
        assert!(outcome.json()["error"]["hint"].is_string());
        assert_eq!(names(&folder(&own)), ["chatos"], "{code} left something");
    };
    refused("release_unreachable", &[]);
    releases.publish(NEW, &newer(NEW));
    releases.change("SHA256SUMS", |sums| sums.push(b'\n'));
    refused("release_signature", &[]);
    releases.publish(NEW, &newer(NEW));
    releases.change(".tar.zst", |archive| archive[20] ^= 1);
    refused("release_broken", &[]);
    releases.publish("9.9.8", &newer("9.9.8"));
    refused("release_broken", &["--to", NEW]);
    releases.publish(NEW, "#!/bin/sh\nexit 3\n");
    refused("release_does_not_run", &[]);
    releases.publish(NEW, &newer("1.1.1"));
    refused("release_does_not_run", &[]);
    releases.publish("0.0.1", &newer("0.0.1"));
    refused("release_older", &[]);
    releases.publish(env!("CARGO_PKG_VERSION"), &newer("x"));
    assert_eq!(upgrade(&own, &releases, &[]).json()["state"], "current");
    assert_eq!(own.run(&["upgrade", "--undo", "--json"]).code(), "no_former");
    let plain =
        own.run(&["upgrade", "--json", "--from", "http://releases.invalid", "--key", &releases.key()]);
    assert_eq!(plain.code(), "release_address");
    assert_eq!(own.run(&["upgrade", "--json"]).code(), "no_releases", "a build without releases says so");

    let npm = installed(&home, "node_modules/@chatos/linux-x64/bin");
    releases.publish(NEW, &newer(NEW));
    assert_eq!(upgrade(&npm, &releases, &[]).code(), "program_managed");
}

#[test]
fn a_kill_at_any_step_leaves_a_working_program_and_all_data() {
    let home = sandbox();
    for title in ["one", "two", "three"] {
        assert_eq!(home.run(&["tasks", "add", title]).status, 0);
    }
    let releases = Releases::start();
    releases.publish(NEW, &newer(NEW));
    let (old, new) = (format!("chatos {}", env!("CARGO_PKG_VERSION")), format!("chatos {NEW}"));
    let mut seen = Vec::new();
    for step in 1..=STEPS {
        let mut own = installed(&home, &format!("step {step}"));
        own.set_variable("CHATOS_HALT_UPGRADE", step.to_string());
        let killed = upgrade(&own, &releases, &[]);
        assert_eq!(killed.status, -1, "step {step} was not reached: {killed:?}");
        let version = says(&own);
        assert!(version == old || version == new, "step {step}: {version}");
        seen.push(version == new);
        let tasks = own.run(&["tasks", "list", "--all", "--json"]).json();
        assert_eq!(tasks["items"].as_array().unwrap().len(), 3, "step {step}: {tasks}");

        own.set_variable("CHATOS_HALT_UPGRADE", "0");
        if version == old {
            assert_eq!(upgrade(&own, &releases, &[]).json()["state"], "upgraded", "step {step}");
        }
        assert_eq!(says(&own), new);
        assert_eq!(names(&folder(&own)), ["chatos", "chatos.former"], "step {step}");
    }
    assert_eq!(seen, [false, false, false, false, false, true], "the last step is the exchange");
    let mut own = installed(&home, "whole");
    own.set_variable("CHATOS_HALT_UPGRADE", (STEPS + 1).to_string());
    assert_eq!(
        upgrade(&own, &releases, &[]).json()["state"],
        "upgraded",
        "there is one step more than is tested"
    );
}

#[test]
fn the_first_start_of_another_version_copies_the_database_once() {
    let home = sandbox();
    let copies = || {
        let folder = home.state().join("backups");
        if folder.exists() {
            names(&folder).into_iter().filter(|name| name.starts_with("before-version-")).collect()
        } else {
            Vec::new()
        }
    };
    home.serve().stop();
    assert_eq!(copies(), Vec::<String>::new(), "a new state holds nothing to keep");
    assert_eq!(home.run(&["tasks", "add", "kept"]).status, 0);
    let database = Connection::open(home.state().join("state.db")).unwrap();
    database.execute("UPDATE meta SET value = '0.0.1' WHERE key = 'program_version'", []).unwrap();
    drop(database);
    home.serve().stop();
    home.serve().stop();
    let made = copies();
    assert_eq!(made.len(), 1, "{made:?}");
    let copy = Connection::open(home.state().join("backups").join(&made[0])).unwrap();
    let count = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM tasks WHERE title = 'kept'"), 1);
    assert_eq!(count("SELECT count(*) FROM meta WHERE key = 'program_version' AND value = '0.0.1'"), 1);
}

/// What the manager of services is told; the real one is not there where tests run.
#[test]
fn a_service_is_described_started_and_taken_away() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let mut home = sandbox();
    let bin = home.root().join("managers");
    fs::create_dir(&bin).unwrap();
    let (manager, told) = (bin.join("systemctl"), home.root().join("told"));
    let script = |status: u8| {
        let text = format!("#!/bin/sh\necho \"$@\" >>'{}'\necho no bus >&2\nexit {status}\n", told.display());
        fs::write(&manager, text).unwrap();
        fs::set_permissions(&manager, fs::Permissions::from_mode(0o755)).unwrap();
    };
    home.set_variable("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let unit = home.home().join(".config/systemd/user/chatos.service");

    script(1);
    let failed = home.run(&["service", "install", "--json"]);
    assert_eq!(failed.code(), "service_manager");
    assert!(failed.stdout.contains("no bus"), "{failed:?}");
    assert!(!unit.exists(), "a service that does not run is not left");

    script(0);
    let done = home.run(&["service", "install", "--port", "7999", "--json"]).json();
    assert_eq!((&done["state"], &done["port"]), (&Value::from("installed"), &Value::from(7999)));
    let text = fs::read_to_string(&unit).unwrap();
    assert!(text.contains("\"serve\" \"--no-open\" \"--port\" \"7999\""), "{text}");
    assert!(text.contains(&format!("\"--state-dir\" \"{}\"", home.state().display())), "{text}");
    assert_eq!(home.run(&["service", "remove", "--json"]).json()["state"], "removed");
    assert!(!unit.exists());
    assert_eq!(home.run(&["service", "remove", "--json"]).json()["state"], "absent");
    let lines = fs::read_to_string(&told).unwrap();
    let expected = "--user daemon-reload\n--user daemon-reload\n--user enable chatos.service\n\
                    --user restart chatos.service\n--user disable --now chatos.service\n--user daemon-reload\n";
    assert_eq!(lines, expected);
}
