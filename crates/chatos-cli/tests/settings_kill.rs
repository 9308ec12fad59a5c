//! Kills the real host at random moments while settings are written, over and over: what was
//! acknowledged is there afterwards, and every start succeeds (security P10, state §11).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use chatos_testkit::{Random, RunningHost, Sandbox, Wire};
use serde_json::{Value, json};

/// Together more than 200 kills; separate states, so that both cores have work while disks sync.
const LANES: usize = 4;
const KILLS: usize = 54;
/// Each writer owns its keys, so that "the last acknowledged value" is well defined.
const WRITERS: [&[&str]; 3] = [
    &["toolResultChars", "shellTimeoutMs"],
    &["filesystemMaxFileBytes", "confirmMainTaskCreate"],
    &["subagentDefaultModel", "runMaxToolCalls"],
];

/// What a key may hold after a kill: the acknowledged value, or the one that was on its way.
#[derive(Debug, Clone, Default)]
struct Known {
    acknowledged: Option<Value>,
    under_way: Option<Value>,
}

type Model = BTreeMap<&'static str, Known>;

#[test]
fn two_hundred_kills_lose_no_acknowledged_setting() {
    let kills = AtomicUsize::new(0);
    let writes = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                let mut random = Random::new();
                let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
                let mut model = Model::new();
                for round in 0..KILLS {
                    let host = sandbox.serve();
                    check(&host, &mut model, random.seed(), round);
                    writes.fetch_add(write_until_killed(host, &mut model, &mut random), Ordering::Relaxed);
                    kills.fetch_add(1, Ordering::Relaxed);
                    if random.below(4) == 0 {
                        kill_while_starting(&sandbox, &mut random);
                        kills.fetch_add(1, Ordering::Relaxed);
                    }
                }
                let host = sandbox.serve();
                check(&host, &mut model, random.seed(), KILLS);
                assert!(host.stop().success());
                // The whole state survived, not only the settings: records, chain, structure.
                let doctor = sandbox.run(&["doctor", "--deep", "--json"]);
                assert_eq!(doctor.status, 0, "seed {}: {doctor:?}", random.seed());
                let audit = sandbox.run(&["audit", "verify", "--json"]);
                assert_eq!(audit.status, 0, "seed {}: {audit:?}", random.seed());
            });
        }
    });
    assert!(kills.into_inner() >= 200);
    // A loop in which nothing is acknowledged before the kill would prove nothing.
    assert!(writes.into_inner() > 200);
}

/// Every key holds what was acknowledged, or what was on its way when the host died.
fn check(host: &RunningHost, model: &mut Model, seed: u64, round: usize) {
    let list = host.ask("GET", "/api/v1/settings", None);
    assert_eq!(list.status, 200, "seed {seed}");
    let list = list.json();
    let items = list["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (key, known) in model.iter_mut() {
        let item = items.iter().find(|item| item["key"] == *key).unwrap();
        let found = (item["source"] == "setting").then(|| item["value"].clone());
        let allowed = found == known.acknowledged || (known.under_way.is_some() && found == known.under_way);
        let reset = known.under_way == Some(Value::Null) && found.is_none();
        assert!(allowed || reset, "seed {seed}, round {round}: `{key}` holds {found:?}, expected {known:?}");
        *known = Known { acknowledged: found, under_way: None };
    }
}

fn write_until_killed(host: RunningHost, model: &mut Model, random: &mut Random) -> usize {
    let moment = Duration::from_micros(random.below(40_000));
    let stop = AtomicBool::new(false);
    let shared = Mutex::new(std::mem::take(model));
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for keys in WRITERS {
            let (shared, stop, done) = (&shared, &stop, &done);
            let (port, token) = (host.port, host.token.clone());
            let mut random = Random::with_seed(random.next_u64());
            scope.spawn(move || {
                let Ok(mut wire) = Wire::open(port) else { return };
                while !stop.load(Ordering::Relaxed) {
                    let key = keys[random.below(keys.len() as u64) as usize];
                    let value = new_value(key, &mut random);
                    shared.lock().unwrap().entry(key).or_default().under_way = Some(value.clone());
                    let path = format!("/api/v1/settings/{key}");
                    let answer = if value.is_null() {
                        wire.ask(&token, "DELETE", &path, None)
                    } else {
                        wire.ask(&token, "PUT", &path, Some(&json!({ "value": value })))
                    };
                    let Ok(answer) = answer else { return };
                    assert_eq!(answer.status, 200, "{key} = {value}: {}", answer.text());
                    let acknowledged = (!value.is_null()).then_some(value);
                    let known = Known { acknowledged, under_way: None };
                    shared.lock().unwrap().insert(key, known);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(moment);
        host.kill();
        stop.store(true, Ordering::Relaxed);
    });
    *model = shared.into_inner().unwrap();
    done.into_inner()
}

/// Null means: back to the default.
fn new_value(key: &str, random: &mut Random) -> Value {
    if random.below(10) == 0 {
        return Value::Null;
    }
    match key {
        // True, because storing the default is the same as a reset.
        "confirmMainTaskCreate" => Value::Bool(true),
        "subagentDefaultModel" => Value::from(format!("model-{}", random.next_u64())),
        "filesystemMaxFileBytes" => Value::from(2_000 + random.below(200_000)),
        _ => Value::from(3_000 + random.below(90_000)),
    }
}

/// A host may also die while it opens the state.
fn kill_while_starting(sandbox: &Sandbox, random: &mut Random) {
    let args = ["serve", "--no-open", "--port", "0"];
    let mut command = sandbox.command(&args);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut process = command.spawn().unwrap();
    std::thread::sleep(Duration::from_micros(random.below(60_000)));
    process.kill().ok();
    process.wait().unwrap();
}
