//! `chatos prompts` with the real program: with a host and without one, killed in the middle, beside
//! other programs that write what they like.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

#[path = "support/surroundings.rs"]
#[allow(dead_code, reason = "each test file uses its own part")]
mod surroundings;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use chatos_testkit::{Outcome, RunningHost, Sandbox};
use serde_json::{Value, json};
use surroundings::Surroundings;

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn log(sandbox: &Sandbox) -> PathBuf {
    sandbox.state().join("ui-prompts.jsonl")
}

fn lines(sandbox: &Sandbox) -> Vec<Value> {
    let bytes = fs::read(log(sandbox)).unwrap_or_default();
    bytes.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

fn append(sandbox: &Sandbox, bytes: &[u8]) {
    let file = fs::File::options().append(true).create(true).open(log(sandbox));
    file.unwrap().write_all(bytes).unwrap();
}

fn foreign_request(id: &str, prompt: &Value) -> String {
    let entry = json!({"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":id,"prompt":prompt});
    format!("{entry}\n")
}

fn foreign_response(id: &str, response: &Value) -> String {
    let entry = json!({"ts":"2026-01-11T00:00:09.000Z","type":"ui_prompt","action":"response","requestId":id,"response":response});
    format!("{entry}\n")
}

fn choice() -> Value {
    json!({"kind":"choice","title":"Which?","options":[{"value":"x"},{"value":"y"}]})
}

/// Writes a prompt where `--file` finds it.
fn file(sandbox: &Sandbox, prompt: &Value) -> String {
    let path = sandbox.root().join("prompt.json");
    fs::write(&path, prompt.to_string()).unwrap();
    path.to_string_lossy().into_owned()
}

fn ask(sandbox: &Sandbox, prompt: &Value) -> String {
    let asked = sandbox.run(&["prompts", "request", "--file", &file(sandbox, prompt), "--json"]);
    assert_eq!(asked.status, 0, "{asked:?}");
    asked.json()["requestId"].as_str().unwrap().to_owned()
}

fn list(sandbox: &Sandbox, flags: &[&str]) -> Vec<String> {
    let mut args = vec!["prompts", "list", "--json"];
    args.extend(flags);
    let page = sandbox.run(&args).json();
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    items.iter().map(|i| i["requestId"].as_str().unwrap().to_owned()).collect()
}

fn show(sandbox: &Sandbox, id: &str) -> Value {
    sandbox.run(&["prompts", "show", id, "--json"]).json()
}

fn answer(sandbox: &Sandbox, id: &str, value: &str) -> Outcome {
    sandbox.run(&["prompts", "answer", id, "--ok", "--select", value, "--json"])
}

/// Waits for what must come; a slow machine only takes longer.
fn eventually(what: &str, check: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !check() {
        assert!(Instant::now() < end, "it never happened: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// `prompts request --wait` as a process of its own.
struct Asking(Child);

impl Asking {
    fn start(sandbox: &Sandbox, prompt: &Value) -> Self {
        let file = file(sandbox, prompt);
        let mut command = sandbox.command(&["prompts", "request", "--file", &file, "--wait", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn is_waiting(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    fn end(mut self) -> Outcome {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Outcome { status: self.0.wait().unwrap().code().unwrap_or(-1), stdout, stderr }
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        // Both fail harmlessly when it has ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn maybe(sandbox: &Sandbox, host: bool) -> Option<RunningHost> {
    host.then(|| sandbox.serve())
}

#[test]
fn a_question_lives_through_all_commands_with_and_without_a_host() {
    for with_host in [false, true] {
        let sandbox = sandbox();
        let host = maybe(&sandbox, with_host);
        assert_eq!(list(&sandbox, &[]), [""; 0]);
        let id = ask(&sandbox, &choice());
        assert_eq!(list(&sandbox, &[]), [id.as_str()]);
        assert!(sandbox.run(&["prompts", "list"]).stdout.contains("Which?"));
        let shown = show(&sandbox, &id[..id.len() - 2]);
        assert_eq!((&shown["requestId"], &shown["state"]), (&json!(id), &json!("pending")));
        assert_eq!(shown["prompt"]["source"], "cli");

        let wrong = answer(&sandbox, &id, "z");
        assert_eq!((wrong.status, wrong.code()), (1, "selection_unknown".to_owned()), "{wrong:?}");
        let unknown = sandbox.run(&["prompts", "answer", "nothing-like-it", "--cancel", "--json"]);
        assert_eq!((unknown.status, unknown.code()), (4, "unknown_request".to_owned()));
        let usage = sandbox.run(&["prompts", "answer", &id]);
        assert_eq!(usage.status, 2, "not a terminal, and no flags: {usage:?}");
        let pinned = sandbox.run(&[
            "prompts",
            "answer",
            &id,
            "--ok",
            "--select",
            "x",
            "--shown",
            "sha256:00",
            "--json",
        ]);
        assert_eq!((pinned.status, pinned.code()), (1, "shown_mismatch".to_owned()));
        assert_eq!(list(&sandbox, &[]), [id.as_str()], "nothing was recorded");

        assert_eq!(answer(&sandbox, &id, "x").status, 0);
        let again = answer(&sandbox, &id, "y");
        assert_eq!((again.status, again.code()), (1, "already_answered".to_owned()));
        assert_eq!(again.json()["error"]["details"]["by"], "person:cli");
        assert_eq!(list(&sandbox, &["--history"]), [id.as_str()]);
        assert_eq!(show(&sandbox, &id)["answer"]["response"]["selection"], "x");

        let bad =
            file(&sandbox, &json!({"prompt":{"kind":"kv","fields":[{"key":""},{"key":"a","secret":1}]}}));
        let bad = sandbox.run(&["prompts", "request", "--file", &bad, "--json"]);
        assert_eq!(bad.status, 1, "{bad:?}");
        let errors = bad.json()["error"]["details"]["errors"].clone();
        let paths: Vec<&str> =
            errors.as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["/prompt/fields/0", "/prompt/fields/1/secret"]);

        // A question of another program: its answer stands in the file.
        append(
            &sandbox,
            foreign_request("other-1", &json!({"kind":"kv","fields":[{"key":"a","required":true}]}))
                .as_bytes(),
        );
        let missing = sandbox.run(&["prompts", "answer", "other-1", "--ok", "--json"]);
        assert_eq!((missing.status, missing.code()), (1, "required_missing".to_owned()));
        let done = sandbox.run(&["prompts", "answer", "other-1", "--ok", "--value", "a=1=2", "--json"]);
        assert_eq!(done.status, 0, "{done:?}");
        let line = lines(&sandbox).pop().unwrap();
        assert_eq!(
            (&line["requestId"], &line["response"]["values"]["a"]),
            (&json!("other-1"), &json!("1=2"))
        );

        append(&sandbox, b"{\"torn\n\xff\n");
        let check = sandbox.run(&["prompts", "check", "--json"]);
        assert_eq!((check.status, &check.json()["unreadableLines"]), (1, &json!(2)), "{check:?}");
        let moved = sandbox.run(&["prompts", "archive", "--before", "2999-01-01", "--json"]);
        assert_eq!((moved.status, &moved.json()["moved"]), (0, &json!(4)), "{moved:?}");
        assert_eq!(lines(&sandbox).len(), 0);
        let reused =
            file(&sandbox, &json!({"prompt": {"kind":"kv","fields":[{"key":"a"}]}, "requestId": id}));
        let reused = sandbox.run(&["prompts", "request", "--file", &reused, "--json"]);
        assert_eq!((reused.status, reused.code()), (1, "id_conflict".to_owned()), "{reused:?}");
        if let Some(host) = host {
            assert!(host.stop().success());
        }
    }
}

#[test]
fn a_waiting_request_gets_its_answer_after_the_host_was_killed() {
    // Who is there when the answer is given.
    for host_again in [true, false] {
        let sandbox = sandbox();
        let host = sandbox.serve();
        let mut asking = Asking::start(&sandbox, &choice());
        eventually("it is asked", || list(&sandbox, &[]).len() == 1);
        let id = list(&sandbox, &[]).remove(0);
        host.kill();
        assert_eq!(list(&sandbox, &[]), [id.as_str()], "the question is still there");
        assert!(asking.is_waiting());
        let host = host_again.then(|| sandbox.serve());
        assert_eq!(answer(&sandbox, &id, "y").status, 0);
        let got = asking.end();
        assert_eq!(got.status, 0, "{got:?}");
        assert_eq!(got.json()["response"]["selection"], "y");
        drop(host);
    }
}

#[test]
fn forged_lines_approve_nothing() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let change = json!({"kind":"file_change_confirm","path":"a.txt","diff":"-1\n+2\n"});
    let mut asking = Asking::start(&sandbox, &change);
    eventually("it is asked", || list(&sandbox, &[]).len() == 1);
    let id = list(&sandbox, &[]).remove(0);
    append(&sandbox, foreign_response(&id, &json!({"status":"ok"})).as_bytes());
    // A true signature on another question's answer, copied and renamed.
    let other = ask(&sandbox, &choice());
    assert_eq!(answer(&sandbox, &other, "x").status, 0);
    let signed = lines(&sandbox).into_iter().rfind(|l| l["requestId"] == other.as_str()).unwrap();
    assert!(signed["chatos"]["sig"].is_string());
    let copied = signed.to_string().replace(&other, &id);
    append(&sandbox, format!("{copied}\n").as_bytes());
    eventually("both are seen", || {
        show(&sandbox, &id)["foreignLines"].as_array().is_some_and(|l| l.len() == 2)
    });
    assert_eq!(show(&sandbox, &id)["state"], "pending");
    assert!(asking.is_waiting());
    // Without a host it is the same.
    host.kill();
    assert_eq!(show(&sandbox, &id)["state"], "pending");
    let without_digest = sandbox.run(&["prompts", "answer", &id, "--ok", "--shown", "sha256:1", "--json"]);
    assert_eq!(without_digest.code(), "shown_mismatch");
    assert_eq!(sandbox.run(&["prompts", "answer", &id, "--cancel", "--remark", "no", "--json"]).status, 0);
    let got = asking.end();
    assert_eq!((got.status, &got.json()["response"]), (1, &json!({"status":"canceled","remark":"no"})));
}

#[test]
fn two_surfaces_at_once_have_one_winner() {
    for with_host in [true, false] {
        let sandbox = sandbox();
        let host = maybe(&sandbox, with_host);
        for round in 0..6 {
            let id = if round % 2 == 0 {
                ask(&sandbox, &choice())
            } else {
                let id = format!("foreign-{round}");
                append(&sandbox, foreign_request(&id, &choice()).as_bytes());
                id
            };
            let both: Vec<Outcome> = std::thread::scope(|scope| {
                let hands = ["x", "y"].map(|value| {
                    let (sandbox, id) = (&sandbox, &id);
                    scope.spawn(move || answer(sandbox, id, value))
                });
                hands.into_iter().map(|hand| hand.join().unwrap()).collect()
            });
            let mut ends: Vec<i32> = both.iter().map(|end| end.status).collect();
            ends.sort_unstable();
            assert_eq!(ends, [0, 1], "{both:?}");
            let winner = both.iter().position(|end| end.status == 0).unwrap();
            assert_eq!(both[1 - winner].code(), "already_answered");
            let answer = show(&sandbox, &id)["answer"]["response"]["selection"].clone();
            assert_eq!(answer, ["x", "y"][winner]);
        }
        drop(host);
    }
}

fn everything_below(dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            everything_below(&path, found);
        } else if path.is_file() {
            found.push((path.clone(), fs::read(&path).unwrap_or_default()));
        }
    }
}

#[test]
fn a_secret_reaches_its_asker_and_stands_nowhere() {
    const SECRET: &str = "n3ver-Wr1tten-d0wn";
    for with_host in [true, false] {
        let sandbox = sandbox();
        let host = maybe(&sandbox, with_host);
        // The state is there before two commands use it at once.
        sandbox.run(&["doctor", "--json"]);
        let prompt = json!({"kind":"kv","fields":[{"key":"token","secret":true},{"key":"name"}]});
        let asking = Asking::start(&sandbox, &prompt);
        eventually("it is asked", || list(&sandbox, &[]).len() == 1);
        let id = list(&sandbox, &[]).remove(0);
        let mut command = sandbox
            .command(&["prompts", "answer", &id, "--ok", "--secret", "token", "--value", "name=n", "--json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut answering = command.spawn().unwrap();
        answering.stdin.take().unwrap().write_all(format!("{SECRET}\n").as_bytes()).unwrap();
        assert!(answering.wait().unwrap().success());
        let got = asking.end();
        assert_eq!(got.status, 0, "{got:?}");
        assert_eq!(got.json()["response"]["values"], json!({"token": SECRET, "name": "n"}));
        let line = lines(&sandbox).pop().unwrap();
        assert_eq!(line["response"]["values"], json!({"token":"******","name":"n"}));
        let seen = show(&sandbox, &id).to_string() + &sandbox.run(&["prompts", "list", "--all"]).stdout;
        assert!(!seen.contains(SECRET));
        drop(host);
        let mut files = Vec::new();
        everything_below(sandbox.root(), &mut files);
        assert!(files.len() > 3);
        for (path, bytes) in files {
            assert!(!bytes.windows(SECRET.len()).any(|w| w == SECRET.as_bytes()), "{}", path.display());
        }
    }
}

#[test]
fn a_log_that_is_cut_replaced_or_deleted_loses_no_served_question() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let first = ask(&sandbox, &choice());
    let is_asked =
        |id: &str| lines(&sandbox).iter().any(|l| l["requestId"] == id && l["action"] == "request");
    fs::write(log(&sandbox), "").unwrap();
    eventually("cut: it is written again", || is_asked(&first));
    fs::rename(log(&sandbox), sandbox.root().join("moved")).unwrap();
    append(&sandbox, foreign_request("newcomer", &choice()).as_bytes());
    eventually("replaced: it is written again", || is_asked(&first));
    eventually("both are listed", || list(&sandbox, &[]).len() == 2);
    fs::remove_file(log(&sandbox)).unwrap();
    let second = ask(&sandbox, &choice());
    eventually("deleted: a new log", || is_asked(&second));
    for id in [&first, &second] {
        assert_eq!(answer(&sandbox, id, "x").status, 0);
    }
    let check = sandbox.run(&["prompts", "check", "--json"]).json();
    assert!(check["replaced"].as_u64().unwrap() >= 2, "{check}");
    drop(host);
}

#[test]
fn a_log_that_cannot_be_written_waits_in_the_store() {
    let sandbox = sandbox();
    let rights = Surroundings::without_rights();
    let state = sandbox.state().to_string_lossy().into_owned();
    let serve = ["serve", "--no-open", "--ready-json", "--port", "0", "--state-dir", &state];
    let host = RunningHost::start(rights.command(&sandbox, "", &serve)).unwrap();
    let before = ask(&sandbox, &choice());
    // The same bytes behind the path, but read-only.
    let bytes = fs::read(log(&sandbox)).unwrap();
    let copy = sandbox.state().join("copy");
    fs::write(&copy, bytes).unwrap();
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(log(&sandbox), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::rename(&copy, log(&sandbox)).unwrap();
    mode(0o400);
    let path = file(&sandbox, &choice());
    let asked = sandbox.run(&["prompts", "request", "--file", &path, "--json"]).json();
    assert_eq!((&asked["ok"], &asked["mirrored"]), (&json!(true), &json!(false)));
    let waiting = asked["requestId"].as_str().unwrap().to_owned();
    assert_eq!(list(&sandbox, &[]), [before.as_str(), waiting.as_str()], "recorded all the same");
    let check = sandbox.run(&["prompts", "check", "--json"]);
    assert_eq!(check.status, 1);
    assert!(check.json()["unwritable"].as_str().unwrap().contains("ui-prompts.jsonl"));
    assert_eq!(answer(&sandbox, &waiting, "x").json()["mirrored"], json!(false));
    mode(0o600);
    eventually("both lines follow", || {
        lines(&sandbox).iter().filter(|l| l["requestId"] == waiting.as_str()).count() == 2
    });
    drop(host);
}

#[test]
fn a_full_disk_loses_nothing_and_says_so() {
    let Some(mounts) = Surroundings::own_mounts() else {
        chatos_testkit::skip!("nobody like us may mount here (unshare)")
    };
    let sandbox = sandbox();
    let state = sandbox.state().to_string_lossy().into_owned();
    let path = file(&sandbox, &choice());
    let program = sandbox.program().to_string_lossy().into_owned();
    let out = sandbox.root().to_string_lossy().into_owned();
    // Three mebibytes for the state; everything the commands say goes elsewhere.
    let script = format!(
        r#"mkdir -p '{state}' && mount -t tmpfs -o size=3m,mode=0700 none '{state}' || exit 99
run() {{ name=$1; shift; '{program}' prompts "$@" --json --state-dir '{state}' >'{out}'/$name.out 2>'{out}'/$name.err; echo $? >'{out}'/$name.rc; }}
run first request --file '{path}'
dd if=/dev/zero of='{state}/filler' bs=64k 2>/dev/null
dd if=/dev/zero of='{state}/filler2' bs=1 count=65536 2>/dev/null
run full request --file '{path}'
rm '{state}/filler' '{state}/filler2'
run later request --file '{path}'
run list list
run check check
cp '{state}/ui-prompts.jsonl' '{out}'/log
"#
    );
    let ended = mounts.script(&sandbox, &script);
    assert_eq!(ended.status, 0, "{ended:?}");
    let read = |name: &str| fs::read_to_string(sandbox.root().join(name)).unwrap();
    let json = |name: &str| -> Value {
        serde_json::from_str(&read(name)).unwrap_or_else(|_| panic!("{name}: {}", read(name)))
    };
    assert_eq!(read("first.rc").trim(), "0", "{}", read("first.out"));
    let full = json("full.out");
    if read("full.rc").trim() == "0" {
        assert_eq!(full["mirrored"], json!(false), "{full}");
    } else {
        let code = full["error"]["code"].as_str().unwrap();
        assert!(matches!(code, "resource_exhausted" | "unavailable" | "disk_full"), "{full}");
        assert_eq!(read("full.rc").trim(), "5", "{full}");
    }
    assert_eq!(read("later.rc").trim(), "0", "{}", read("later.out"));
    let ids: Vec<String> = json("list.out")["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|i| i["requestId"].as_str().unwrap().to_owned())
        .collect();
    for name in ["first.out", "later.out"] {
        assert!(ids.contains(&json(name)["requestId"].as_str().unwrap().to_owned()), "{name}: {ids:?}");
    }
    assert_eq!(read("check.rc").trim(), "0", "{}", read("check.out"));
    // What was refused is not there, what was accepted is, once.
    let expected = if read("full.rc").trim() == "0" { 3 } else { 2 };
    assert_eq!(ids.len(), expected);
    let whole = read("log").lines().filter(|l| serde_json::from_str::<Value>(l).is_ok()).count();
    assert!(whole >= 2, "{}", read("log"));
}

#[test]
fn a_line_of_a_hundred_megabytes_hides_nothing_and_costs_no_memory() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    append(&sandbox, foreign_request("before", &choice()).as_bytes());
    let piece = vec![b'x'; 1 << 20];
    append(&sandbox, b"{\"type\":\"ui_prompt\",\"x\":\"");
    for _ in 0..100 {
        append(&sandbox, &piece);
    }
    append(&sandbox, format!("\"}}\n{}", foreign_request("after", &choice())).as_bytes());
    eventually("both are listed", || {
        list(&sandbox, &[]) == ["after", "before"] || list(&sandbox, &[]) == ["before", "after"]
    });
    let check = sandbox.run(&["prompts", "check", "--json"]).json();
    assert_eq!(check["lines"]["too_long"]["count"], 1, "{check}");
    let status = fs::read_to_string(format!("/proc/{}/status", host.pid())).unwrap();
    let peak: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|kib| kib.trim().trim_end_matches(" kB").parse().ok())
        .unwrap();
    assert!(peak < 256 << 10, "{peak} KiB at the peak");
    // And so without a host.
    host.kill();
    assert_eq!(list(&sandbox, &[]).len(), 2);
}

#[test]
fn watch_says_what_comes_and_goes() {
    for with_host in [true, false] {
        let sandbox = sandbox();
        let host = maybe(&sandbox, with_host);
        let first = ask(&sandbox, &choice());
        let mut command = sandbox.command(&["prompts", "watch", "--json"]);
        command.stdout(Stdio::piped());
        let mut watching = command.spawn().unwrap();
        let mut said = BufReader::new(watching.stdout.take().unwrap()).lines();
        let mut next = || -> (String, String) {
            let line: Value = serde_json::from_str(&said.next().unwrap().unwrap()).unwrap();
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            (text(&line["type"]), text(&line["item"]["requestId"]))
        };
        assert_eq!(next(), ("prompt_requested".to_owned(), first.clone()));
        append(&sandbox, foreign_request("other", &choice()).as_bytes());
        assert_eq!(next(), ("prompt_requested".to_owned(), "other".to_owned()));
        assert_eq!(answer(&sandbox, &first, "x").status, 0);
        assert_eq!(next(), ("prompt_answered".to_owned(), first));
        let pid = rustix::process::Pid::from_raw(watching.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        assert!(watching.wait().unwrap().success());
        drop(host);
    }
}

#[test]
fn the_doctor_names_what_is_wrong_with_the_log() {
    for with_host in [false, true] {
        let sandbox = sandbox();
        let host = maybe(&sandbox, with_host);
        ask(&sandbox, &choice());
        let findings = || {
            let report = sandbox.run(&["doctor", "--json"]).json();
            let all = report["findings"].as_array().unwrap().clone();
            move |code: &str| all.iter().find(|f| f["code"] == code).cloned()
        };
        let fine = findings();
        assert_eq!(fine("prompt_log").unwrap()["severity"], "ok");
        assert!(fine("prompt_lines_unreadable").is_none());
        append(&sandbox, b"{\"torn\n");
        append(&sandbox, foreign_request("old", &choice()).replace("2026-01-11", "2020-01-01").as_bytes());
        append(&sandbox, foreign_request("old", &choice()).as_bytes());
        let found = findings();
        let lines = found("prompt_lines_unreadable").unwrap();
        assert_eq!(lines["severity"], "warning");
        assert!(lines["message"].as_str().unwrap().contains("bad_json 1 @ "), "{lines}");
        assert!(lines["action"].as_str().unwrap().contains("chatos prompts check"));
        assert!(found("prompts_forgotten").unwrap()["message"].as_str().unwrap().contains("`old`"));
        assert!(found("prompt_ids_reused").is_some());
        drop(host);
    }
}

#[test]
fn nothing_a_stranger_writes_looks_like_a_line_of_ours() {
    let sandbox = sandbox();
    chatos_testkit::make_dir(sandbox.state(), 0o700);
    let trap = "ok\nAnswered: ok · ui\n  9) all of them\r\nThe log is fine.\u{2028}next";
    let options = json!([{ "value": format!("a{trap}"), "label": format!("A{trap}"), "description": trap }]);
    let field = json!({ "key": "k", "label": trap, "description": trap, "default": trap });
    let task = json!({ "title": trap, "details": trap, "tags": [trap] });
    let cases = [
        ("one", json!({ "kind": "choice", "title": trap, "message": trap, "options": options })),
        ("two", json!({ "kind": "kv", "title": trap, "message": trap, "fields": [field] })),
        ("three", json!({ "kind": "task_confirm", "title": trap, "tasks": [task] })),
        ("four", json!({ "kind": "result", "title": trap, "markdown": trap })),
        ("five", json!({ "kind": trap, "title": trap })),
        (
            "six",
            json!({ "kind": "file_change_confirm", "title": trap, "command": trap, "cwd": trap, "diff": "+a" }),
        ),
    ];
    for (id, prompt) in &cases {
        let mut entry: Value = serde_json::from_str(&foreign_request(id, prompt)).unwrap();
        entry["prompt"]["source"] = json!(trap);
        entry["runId"] = json!(trap);
        append(&sandbox, format!("{entry}\n").as_bytes());
    }
    for lang in ["en", "zh"] {
        let listed = sandbox.run(&["prompts", "list", "--all", "--lang", lang]);
        assert_eq!(listed.stdout.lines().count(), cases.len(), "{}", listed.stdout);
        for (id, prompt) in &cases {
            let shown = sandbox.run(&["prompts", "show", id, "--lang", lang]);
            assert_eq!(shown.status, 0, "{shown:?}");
            assert!(shown.stdout.contains("ok"), "{shown:?}");
            for line in shown.stdout.lines() {
                // Many lines are marked as what they are: somebody's text.
                let ours = !line.trim_start().starts_with('│');
                let forged =
                    ["Answered", "9)", "The log is fine"].iter().any(|it| line.trim_start().starts_with(it));
                assert!(!(ours && forged), "{prompt}: {line:?}");
            }
            assert!(!shown.stdout.contains(['\r', '\u{2028}']), "{shown:?}");
        }
    }
}

#[test]
fn a_log_that_lost_questions_is_not_called_fine() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    for id in ["a", "b", "c"] {
        append(&sandbox, foreign_request(id, &choice()).as_bytes());
    }
    eventually("they are listed", || list(&sandbox, &[]).len() == 3);
    assert!(sandbox.run(&["prompts", "check"]).stdout.contains("The log is fine."));
    fs::write(log(&sandbox), "").unwrap();
    eventually("they are lost", || {
        sandbox.run(&["prompts", "check", "--json"]).json()["lost"].as_u64() == Some(3)
    });
    let check = sandbox.run(&["prompts", "check", "--json"]);
    assert_eq!((check.status, &check.json()["ok"]), (1, &json!(false)), "{check:?}");
    for (lang, fine, named) in [("en", "fine", "3 questions"), ("zh", "正常", "3 个其他程序的问题")]
    {
        let said = sandbox.run(&["prompts", "check", "--lang", lang]);
        assert!(said.stdout.contains(named) && !said.stdout.contains(fine), "{said:?}");
    }
    drop(host);
}
