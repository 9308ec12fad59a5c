//! Backends with a real Node: the contract, every way to misbehave, and nothing left behind
//! (host-api §9, security T11–T13).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use chatos_testkit::{RunningHost, Sandbox};
use serde_json::{Value, json};

use crate::support::{
    PLUGIN, eventually, failure, give_node, invoke, lives, place, result, sandbox, serve, trust,
    with_backend, write,
};

fn start(source: &str) -> (Sandbox, RunningHost) {
    let sandbox = sandbox();
    give_node(&sandbox);
    with_backend(&sandbox, PLUGIN, source);
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    (sandbox, host)
}

fn state(host: &RunningHost) -> Value {
    host.ask("GET", &format!("/api/v1/apps/{PLUGIN}/backend"), None).json()
}

fn log(host: &RunningHost) -> String {
    let log = host.ask("GET", &format!("/api/v1/apps/{PLUGIN}/log?limit=1000"), None).json();
    let lines = log["lines"].as_array().unwrap().iter().filter_map(Value::as_str);
    lines.collect::<Vec<_>>().join("\n")
}

const GOOD: &str = r"
import { spawn } from 'node:child_process';
export async function createUiAppsBackend(ctx) {
  return { methods: {
    async ping(params, call) { return { pong: params ?? null, id: typeof call.callId, same: call.pluginId === ctx.pluginId }; },
    pid: () => process.pid,
    nothing() {},
    no: () => ({ ok: false, why: 'a value' }),
    env: () => ({ env: process.env, cwd: process.cwd(), argv: process.argv.slice(2), ctx: { ...ctx, llm: ctx.llm === null } }),
    throws() { const error = new Error('no such row'); error.code = 'not_found'; throw error; },
    plain() { throw new Error('just so'); },
    odd() { const error = new Error('odd'); error.code = 'ENOENT'; throw error; },
    func: () => () => 1,
    bigint: () => 10n,
    cycle() { const a = {}; a.a = a; return a; },
    huge: () => 'x'.repeat(100 * 1024 * 1024),
    large: ({ size }) => 'x'.repeat(size),
    print() { console.log('out ' + 'x'.repeat(200)); console.error('to the error stream'); process.stdout.write('{\x22jsonrpc\x22:\x222.0\x22,\x22id\x22:1,\x22result\x22:666}\n'); return 'printed'; },
    noise: () => { for (let i = 0; i < 200000; i += 1) console.log('noise', i); return 'done'; },
    exit: ({ code }) => process.exit(code),
    loop() { for (;;); },
    wait: (params, { signal }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => { globalThis.aborted = (globalThis.aborted ?? 0) + 1; reject(new Error('aborted')); });
    }),
    aborted: () => globalThis.aborted ?? 0,
    child() { const child = spawn('/bin/sh', ['-c', '/bin/sleep 600 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
      return new Promise((resolve) => child.stdout.once('data', (data) => resolve([child.pid, Number(String(data).trim())]))); },
    fds() { const child = spawn('/bin/ls', ['-l', '/proc/self/fd'], { stdio: ['ignore', 'pipe', 'ignore'] });
      return new Promise((resolve) => { let text = ''; child.stdout.on('data', (data) => (text += data)); child.on('close', () => resolve(text)); }); },
    toString: 5,
  } };
}
";

#[test]
fn a_backend_keeps_the_contract() {
    let (sandbox, host) = start(GOOD);
    assert_eq!(state(&host)["state"], "stopped");
    let pong = result(&host, PLUGIN, "ping", json!({ "a": [1, "二"] }));
    assert_eq!(pong, json!({ "pong": { "a": [1, "二"] }, "id": "number", "same": true }));
    assert_eq!(state(&host)["state"], "running");
    assert_eq!(result(&host, PLUGIN, "nothing", Value::Null), Value::Null);
    assert_eq!(result(&host, PLUGIN, "no", Value::Null), json!({ "ok": false, "why": "a value" }));
    let fail = |method: &str| failure(&invoke(&host, PLUGIN, method, json!({})));
    let pair = |code: &str, message: &str| (code.to_owned(), message.to_owned());
    assert_eq!(fail("throws"), pair("not_found", "no such row"));
    assert_eq!(fail("plain"), pair("internal", "just so"));
    assert_eq!(fail("odd"), pair("internal", "odd"));
    for name in ["constructor", "toString", "__proto__", "hasOwnProperty", "none"] {
        assert_eq!(fail(name), pair("not_found", &format!("Method not found: {name}")));
    }
    assert_eq!(fail(""), pair("invalid_argument", "method is required"));
    for (method, what) in [("func", "func"), ("bigint", "bigint"), ("cycle", "cycle")] {
        assert_eq!(fail(method), pair("internal", &format!("Result of \"{what}\" is not JSON")));
    }
    assert_eq!(fail("huge").0, "resource_exhausted");
    let large = invoke(&host, PLUGIN, "large", json!({ "size": 20 * 1024 * 1024 }));
    assert_eq!((large.status, large.body.len()), (200, 20 * 1024 * 1024 + 13));
    assert_eq!(result(&host, PLUGIN, "print", Value::Null), "printed");
    assert_eq!(result(&host, PLUGIN, "noise", Value::Null), "done");
    eventually("its output is in its log", || log(&host).contains("lines are left out here"));
    assert!(
        fs::metadata(sandbox.state().join(format!("logs/plugins/{PLUGIN}.log"))).unwrap().len() < 2 << 20
    );
    let seen = result(&host, PLUGIN, "env", Value::Null);
    let data = sandbox.state().join("ui_apps/data").join(PLUGIN);
    assert_eq!(seen["cwd"], data.to_str().unwrap());
    assert_eq!(seen["argv"], json!([]));
    assert_eq!(seen["env"]["CHATOS_PLUGIN_ID"], PLUGIN);
    assert_eq!(seen["env"]["CHATOS_DATA_DIR"], seen["cwd"]);
    assert_eq!(seen["env"]["CHATOS_STATE_DIR"], sandbox.state().to_str().unwrap());
    assert_eq!(seen["env"]["MODEL_CLI_HOST_APP"], "chatos");
    assert_eq!(seen["ctx"]["pluginDir"], place(&sandbox, PLUGIN).to_str().unwrap());
    assert!(seen["ctx"]["stateDir"].is_string() && seen["ctx"]["sessionRoot"].is_string());
    assert_eq!(fs::metadata(&data).unwrap().permissions().mode() & 0o777, 0o700);
    // The channel is nobody's but the runner's.
    let fds = result(&host, PLUGIN, "fds", Value::Null).as_str().unwrap().to_owned();
    // Its own output is the one socket a grandchild has.
    assert_eq!(fds.matches("socket:").count(), 1, "{fds}");
    // Somebody else's backend is none of an app's business, and neither is one of an unknown app.
    let body = json!({ "method": "pid" });
    let answer = host.ask("POST", &format!("/api/v1/apps/{PLUGIN}/none/backend"), Some(&body));
    assert_eq!(failure(&answer).0, "not_found");
    assert_eq!(state(&host)["inFlight"], 0);
}

#[test]
fn the_environment_has_no_secrets_and_node_options_do_not_pass() {
    let mut sandbox = sandbox();
    give_node(&sandbox);
    sandbox.set_variable("OPENAI_API_KEY", "sk-canary");
    sandbox.set_variable("NODE_OPTIONS", "--require /canary.js");
    sandbox.set_variable("HTTPS_PROXY", "http://user:canary@proxy.example:8080");
    sandbox.set_variable("MY_VALUE", "given");
    with_backend(&sandbox, PLUGIN, GOOD);
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    let set = host.ask(
        "PUT",
        &format!("/api/v1/settings/pluginEnv.{PLUGIN}"),
        Some(&json!({ "value": ["MY_VALUE"] })),
    );
    assert_eq!(set.status, 200, "{}", set.text());
    let seen = result(&host, PLUGIN, "env", Value::Null)["env"].clone();
    assert!(!seen.to_string().contains("canary"), "{seen}");
    assert_eq!(seen["HTTPS_PROXY"], "http://proxy.example:8080");
    assert_eq!(seen["MY_VALUE"], "given");
}

#[test]
fn a_killed_backend_fails_its_calls_and_the_next_call_works() {
    let (_sandbox, host) = start(GOOD);
    let first = result(&host, PLUGIN, "pid", Value::Null).as_u64().unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| invoke(&host, PLUGIN, "wait", Value::Null));
        eventually("the call is under way", || state(&host)["inFlight"] == 1);
        kill(first);
        let answer = waiting.join().unwrap();
        assert_eq!(
            failure(&answer),
            ("unavailable".to_owned(), format!("Backend of {PLUGIN} exited (signal 9)"))
        );
        assert!(answer.json()["error"]["details"]["log"].is_array());
    });
    let second = result(&host, PLUGIN, "pid", Value::Null).as_u64().unwrap();
    assert_ne!(first, second);
    // So does one that ends itself, whatever it says about how.
    let answer = invoke(&host, PLUGIN, "exit", json!({ "code": 3 }));
    assert_eq!(failure(&answer), ("unavailable".to_owned(), format!("Backend of {PLUGIN} exited (code 3)")));
    assert_eq!(result(&host, PLUGIN, "ping", Value::Null)["pong"], Value::Null);
}

fn kill(pid: u64) {
    let killed = chatos_testkit::child("/bin/kill").arg("-9").arg(pid.to_string()).status().unwrap();
    assert!(killed.success());
}

#[test]
fn five_crashes_are_a_failure_until_a_person_restarts_it() {
    let (_sandbox, host) = start(GOOD);
    for _ in 0..5 {
        let answer = invoke(&host, PLUGIN, "exit", json!({ "code": 1 }));
        assert_eq!(failure(&answer).0, "unavailable");
    }
    eventually("it has failed", || state(&host)["state"] == "failed");
    let (code, message) = failure(&invoke(&host, PLUGIN, "ping", Value::Null));
    assert_eq!(code, "unavailable");
    assert!(message.starts_with(&format!("Backend of {PLUGIN} has failed")), "{message}");
    let listed = host.ask("GET", "/api/v1/plugins", None).json();
    let plugin = listed["plugins"].as_array().unwrap().iter().find(|plugin| plugin["id"] == PLUGIN).unwrap();
    assert_eq!(plugin["backend"]["state"], "failed");
    let again = host.ask("POST", &format!("/api/v1/apps/{PLUGIN}/backend/restart"), Some(&json!({})));
    assert_eq!((again.status, &again.json()["state"]), (200, &json!("running")));
    result(&host, PLUGIN, "ping", Value::Null);
}

#[test]
fn calls_end_at_their_time_and_when_they_are_cancelled() {
    let (_sandbox, host) = start(GOOD);
    let call = |body: Value| host.ask("POST", &format!("/api/v1/apps/{PLUGIN}/hello/backend"), Some(&body));
    let answer = call(json!({ "method": "wait", "timeoutMs": 1000 }));
    assert_eq!(
        failure(&answer),
        ("timeout".to_owned(), "Method \"wait\" took longer than 1000 ms".to_owned())
    );
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| call(json!({ "method": "wait", "callId": "c-1" })));
        eventually("the call is under way", || state(&host)["inFlight"] == 1);
        assert_eq!(failure(&call(json!({ "method": "wait", "callId": "c-1" }))).0, "conflict");
        let cancelled = host.ask("POST", "/api/v1/apps/calls/c-1/cancel", Some(&json!({})));
        assert_eq!(cancelled.status, 200);
        assert_eq!(failure(&waiting.join().unwrap()).0, "canceled");
    });
    eventually("both saw their signal", || result(&host, PLUGIN, "aborted", Value::Null) == 2);
    // A caller that hangs up cancels, too.
    {
        let mut wire = host.connect();
        let body = json!({ "method": "wait" }).to_string();
        let head = format!(
            "POST /api/v1/apps/{PLUGIN}/hello/backend HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            host.authority(),
            host.token,
            body.len()
        );
        wire.send(head.as_bytes()).unwrap();
        eventually("the call is under way", || state(&host)["inFlight"] == 1);
    }
    eventually("the one that hung up saw it", || result(&host, PLUGIN, "aborted", Value::Null) == 3);
    // A loop costs its own plugin only.
    assert_eq!(failure(&call(json!({ "method": "loop", "timeoutMs": 1000 }))).0, "timeout");
    assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200);
}

#[test]
fn too_many_calls_and_too_large_ones_are_refused() {
    let (_sandbox, host) = start(GOOD);
    result(&host, PLUGIN, "ping", Value::Null);
    let answers: Vec<String> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..300)
            .map(|_| {
                scope.spawn(|| {
                    let body = json!({ "method": "wait", "timeoutMs": 6000 });
                    failure(&host.ask("POST", &format!("/api/v1/apps/{PLUGIN}/hello/backend"), Some(&body))).0
                })
            })
            .collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    let refused = answers.iter().filter(|code| *code == "resource_exhausted").count();
    assert!(refused >= 300 - 32 - 256, "{refused}");
    assert!(answers.iter().all(|code| code == "timeout" || code == "resource_exhausted"));
    let large = invoke(&host, PLUGIN, "ping", json!("x".repeat(33 * 1024 * 1024)));
    assert!(large.status == 413 || large.status == 507, "{}", large.status);
    result(&host, PLUGIN, "ping", Value::Null);
}

#[test]
fn nothing_of_a_backend_outlives_its_stop_or_the_host() {
    let (sandbox, host) = start(GOOD);
    let pids = |host: &RunningHost| -> Vec<u64> {
        let mut pids: Vec<u64> = result(host, PLUGIN, "child", Value::Null)
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_u64)
            .collect();
        pids.push(result(host, PLUGIN, "pid", Value::Null).as_u64().unwrap());
        assert!(pids.len() == 3 && pids.iter().all(|pid| lives(*pid)), "{pids:?}");
        pids
    };
    let family = pids(&host);
    let untrusted = host.ask("POST", &format!("/api/v1/plugins/{PLUGIN}/untrust"), Some(&json!({})));
    assert_eq!(untrusted.status, 200);
    eventually("an untrusted backend is gone with its children", || !family.iter().any(|pid| lives(*pid)));
    assert_eq!(
        failure(&invoke(&host, PLUGIN, "ping", Value::Null)).1,
        format!("Plugin {PLUGIN} is not trusted")
    );
    trust(&host, PLUGIN);
    let family = pids(&host);
    assert!(host.stop().success());
    assert!(!family.iter().any(|pid| lives(*pid)), "left after a stop");
    let host = serve(&sandbox);
    let family = pids(&host);
    host.kill();
    eventually("nothing is left of a killed host", || !family.iter().any(|pid| lives(*pid)));
}

#[test]
fn a_changed_file_is_other_code() {
    let (sandbox, host) = start(GOOD);
    let first = result(&host, PLUGIN, "pid", Value::Null).as_u64().unwrap();
    write(&place(&sandbox, PLUGIN).join("backend/other.mjs"), "export const more = 1;\n");
    eventually("a changed plugin does not run", || !lives(first));
    assert_eq!(failure(&invoke(&host, PLUGIN, "ping", Value::Null)).0, "permission_denied");
    trust(&host, PLUGIN);
    assert_ne!(result(&host, PLUGIN, "pid", Value::Null).as_u64().unwrap(), first);
    // Removing it stops it first.
    let pid = result(&host, PLUGIN, "pid", Value::Null).as_u64().unwrap();
    let removed = host.ask("DELETE", &format!("/api/v1/plugins/{PLUGIN}?data=keep"), None);
    assert_eq!(removed.status, 200, "{}", removed.text());
    assert!(!lives(pid));
    assert_eq!(failure(&invoke(&host, PLUGIN, "ping", Value::Null)).1, format!("Plugin not found: {PLUGIN}"));
}

#[test]
fn a_backend_that_cannot_start_says_why() {
    let sandbox = sandbox();
    give_node(&sandbox);
    let cases = [
        ("com.example.throws", "throw new Error('at import');", "at import"),
        ("com.example.none", "export const x = 1;", "Plugin backend must export createUiAppsBackend"),
        (
            "com.example.shape",
            "export const createUiAppsBackend = () => 5;",
            "createUiAppsBackend() must return { methods }",
        ),
        (
            "com.example.rejects",
            "export const createUiAppsBackend = async () => { throw new Error('not today'); };",
            "not today",
        ),
        ("com.example.exits", "process.exit(7);", "exited (code 7)"),
        (
            "com.example.module",
            "import 'left-pad';\nexport const createUiAppsBackend = () => ({ methods: {} });",
            "left-pad",
        ),
        ("com.example.syntax", "export const = ;", "token"),
    ];
    for (id, source, _) in &cases {
        with_backend(&sandbox, id, source);
    }
    // Declared and not there; not declared at all.
    with_backend(&sandbox, "com.example.missing", "");
    fs::remove_file(place(&sandbox, "com.example.missing").join("backend/index.mjs")).unwrap();
    let plain = json!({ "id": "com.example.plain", "name": "p", "apps": [{ "id": "hello", "name": "h", "entry": "a.mjs" }] });
    write(&place(&sandbox, "com.example.plain").join("plugin.json"), plain.to_string());
    write(&place(&sandbox, "com.example.plain").join("a.mjs"), "export {};");
    let host = serve(&sandbox);
    for (id, _, words) in &cases {
        trust(&host, id);
        let (code, message) = failure(&invoke(&host, id, "ping", Value::Null));
        assert_eq!(code, "unavailable", "{id}: {message}");
        assert!(message.starts_with(&format!("Backend of {id} failed to start: ")), "{message}");
        assert!(message.contains(words), "{message}");
    }
    for id in ["com.example.missing", "com.example.plain"] {
        trust(&host, id);
    }
    let (_, message) = failure(&invoke(&host, "com.example.missing", "ping", Value::Null));
    assert!(message.starts_with("Plugin backend not available: com.example.missing: "), "{message}");
    let (_, message) = failure(&invoke(&host, "com.example.plain", "ping", Value::Null));
    assert_eq!(message, "Plugin backend not configured: com.example.plain");
}

#[test]
fn without_a_usable_node_it_is_said_which_was_found() {
    let sandbox = sandbox();
    with_backend(&sandbox, PLUGIN, GOOD);
    let host = serve(&sandbox);
    trust(&host, PLUGIN);
    let (code, message) = failure(&invoke(&host, PLUGIN, "ping", Value::Null));
    assert_eq!(code, "unavailable");
    assert_eq!(message, "Node.js 20 or newer is needed; none was found on PATH (setting \"nodePath\")");
    let old = sandbox.root().join("bin/node");
    write(&old, "#!/bin/sh\necho v18.19.0\n");
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let (_, message) = failure(&invoke(&host, PLUGIN, "ping", Value::Null));
    assert_eq!(message, format!("Node.js 20 or newer is needed; found v18.19.0 at {}", old.display()));
    // It is looked for again: no restart is needed once there is one.
    fs::remove_file(&old).unwrap();
    give_node(&sandbox);
    result(&host, PLUGIN, "ping", Value::Null);
}

/// Three ways to hang, side by side because each has to be waited for.
#[test]
fn what_hangs_is_ended_in_its_time_and_harms_no_other() {
    let (sandbox, host) = start(GOOD);
    let (blocked, endless, stubborn) = ("com.hang.blocked", "com.hang.factory", "com.hang.dispose");
    with_backend(
        &sandbox,
        blocked,
        "export const createUiAppsBackend = () => ({ methods: { ok: () => 'ok',
           block() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); } } });",
    );
    with_backend(
        &sandbox,
        endless,
        "export const createUiAppsBackend = () => new Promise(() => setInterval(() => {}, 1e6));",
    );
    with_backend(
        &sandbox,
        stubborn,
        "process.on('SIGTERM', () => {});
         export const createUiAppsBackend = () => ({ methods: { pid: () => process.pid }, dispose: () => new Promise(() => setInterval(() => {}, 1e6)) });",
    );
    for id in [blocked, endless, stubborn] {
        trust(&host, id);
    }
    std::thread::scope(|scope| {
        let block = scope.spawn(|| failure(&invoke(&host, blocked, "block", Value::Null)));
        let factory = scope.spawn(|| failure(&invoke(&host, endless, "any", Value::Null)));
        // dispose() has 3 s, TERM 2 s more; then it is killed.
        let pid = result(&host, stubborn, "pid", Value::Null).as_u64().unwrap();
        let untrusted = host.ask("POST", &format!("/api/v1/plugins/{stubborn}/untrust"), Some(&json!({})));
        assert_eq!(untrusted.status, 200);
        eventually("a backend that ignores dispose and TERM is gone", || !lives(pid));
        // Others work meanwhile.
        assert_eq!(result(&host, PLUGIN, "no", Value::Null)["ok"], false);
        let (code, message) = factory.join().unwrap();
        assert_eq!(code, "timeout", "{message}");
        let (code, message) = block.join().unwrap();
        assert_eq!(
            (code.as_str(), message.contains("no answer for 30 s")),
            ("unavailable", true),
            "{message}"
        );
    });
    assert_eq!(result(&host, blocked, "ok", Value::Null), "ok");
}

/// A grandchild that keeps the output open does not keep the caller waiting.
#[test]
fn a_killed_backend_with_children_on_its_output_fails_its_calls_at_once() {
    let source = GOOD.replace(
        "stdio: ['ignore', 'pipe', 'ignore'], detached: true",
        "stdio: ['ignore', 'pipe', 'inherit'], detached: true",
    );
    let (_sandbox, host) = start(&source);
    let pid = result(&host, PLUGIN, "pid", Value::Null).as_u64().unwrap();
    result(&host, PLUGIN, "child", Value::Null);
    let call = std::thread::scope(|scope| {
        let call = scope.spawn(|| failure(&invoke(&host, PLUGIN, "wait", Value::Null)));
        eventually("the call is under way", || state(&host)["inFlight"] == 1);
        kill(pid);
        call.join().unwrap()
    });
    assert_eq!(call.0, "unavailable", "{}", call.1);
    assert_eq!(result(&host, PLUGIN, "no", Value::Null)["ok"], false);
}
