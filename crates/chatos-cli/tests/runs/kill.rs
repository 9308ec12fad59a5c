//! The host is killed at every step of a run and at random moments, over and over: what was acknowledged
//! is there, no call is made twice without a person's word, every run can be continued or given up
//! (agents §16.3, security P11).

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use chatos_testkit::{Random, RunningHost, Script};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

/// A random loop of this many kills; CI sets more.
const KILLS: usize = 12;
const CHATS: usize = 4;

/// Counts the key of the message, then says so.
fn counting(request: &Value) -> Script {
    let (role, text) = last(request);
    if role == "tool" {
        return Script::say(format!("done: {text}"));
    }
    let Some(name) = offered(request, "count") else { return Script::say("no tool") };
    Script::call(format!("call-{text}"), name, &json!({ "key": text }))
}

/// Answers every open question of uncertain calls; gives the keys a person sent again.
pub(crate) fn answer_all(host: &RunningHost, choice: impl Fn(&Value) -> &'static str) -> Vec<String> {
    let mut again = Vec::new();
    let Ok(list) = host.try_ask("GET", "/api/v1/prompts?view=needs_you&limit=200", None) else {
        return again;
    };
    for item in list.json()["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let id = item["requestId"].as_str().unwrap_or_default();
        let Ok(whole) = host.try_ask("GET", &format!("/api/v1/prompts/{id}"), None) else { continue };
        let whole = whole.json();
        let chosen = choice(&whole);
        let body = json!({ "response": { "status": "ok", "selection": chosen }, "shown": whole["shown"] });
        let done = host.try_ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
        if chosen == "again" && done.is_ok_and(|answer| answer.status < 300) {
            let text = whole.to_string();
            again.extend(
                text.split("k-")
                    .skip(1)
                    .filter_map(|rest| {
                        let key: String =
                            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
                        (!key.is_empty()).then(|| format!("k-{key}"))
                    })
                    .take(1),
            );
        }
    }
    again
}

/// Continues everything that was interrupted and waits until nothing is open any more.
fn settle(host: &RunningHost, choice: impl Fn() -> &'static str, again: &mut BTreeMap<String, usize>) {
    let began = Instant::now();
    loop {
        let mut open = 0;
        for state in ["interrupted", "queued", "running", "waiting_prompt", "waiting_async"] {
            let list = host.ask("GET", &format!("/api/v1/runs?state={state}&limit=200"), None).json();
            for run in list["items"].as_array().unwrap() {
                open += 1;
                if state == "interrupted" {
                    let id = run["id"].as_str().unwrap();
                    let done = host.ask("POST", &format!("/api/v1/runs/{id}/resume"), Some(&json!({})));
                    assert!(done.status == 202 || done.status == 409, "{}", done.text());
                }
            }
        }
        for key in answer_all(host, |_| choice()) {
            *again.entry(key).or_default() += 1;
        }
        if open == 0 {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(180), "runs stay open");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_call_cut_off_in_the_middle_is_asked_about_and_never_repeated_silently() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "slow")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => Script::call("c1", name, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
    for (choice, runs) in [("worked", 1), ("failed", 1), ("again", 2)] {
        let host = stand.sandbox.serve();
        let chat = session(&host, &stand.agent);
        let key = format!("k-{choice}");
        let run = send(&host, &chat, &key);
        let began = Instant::now();
        while stand.counted(&key) == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "the tool was not called");
            std::thread::sleep(Duration::from_millis(10));
        }
        host.kill();
        let host = stand.sandbox.serve();
        until(&host, &run, &["interrupted"]);
        let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
        assert_eq!(resumed.status, 202, "{}", resumed.text());
        until(&host, &run, &["waiting_prompt"]);
        // Killed while it asks: the same question is still there.
        let asked = |host: &RunningHost| {
            let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
            list["items"][0]["requestId"].as_str().map(str::to_owned)
        };
        let first = asked(&host);
        assert!(first.is_some());
        host.kill();
        let host = stand.sandbox.serve();
        until(&host, &run, &["interrupted"]);
        host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
        until(&host, &run, &["waiting_prompt"]);
        assert_eq!(asked(&host), first, "one question, over restarts");
        assert_eq!(stand.counted(&key), 1);
        answer_all(&host, |_| choice);
        if choice == "again" {
            let began = Instant::now();
            while stand.counted(&key) < 2 {
                assert!(began.elapsed() < Duration::from_secs(60), "not run again");
                std::thread::sleep(Duration::from_millis(10));
            }
            host.ask("POST", &format!("/api/v1/runs/{run}/abort"), Some(&json!({})));
        }
        until(&host, &run, &["done", "aborted"]);
        assert_eq!(stand.counted(&key), runs);
        host.stop();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "CI asks for more kills by a variable")]
fn kills_at_random_lose_nothing_and_repeat_nothing() {
    let kills: usize = std::env::var("CHATOS_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(KILLS);
    let stand = Stand::new(counting);
    let mut random = Random::new();
    let mut acknowledged: BTreeMap<String, String> = BTreeMap::new();
    let mut again: BTreeMap<String, usize> = BTreeMap::new();
    let mut runs: BTreeSet<String> = BTreeSet::new();
    let mut chats: Vec<String> = Vec::new();
    let mut number = 0;
    for _ in 0..kills {
        let host = stand.sandbox.serve();
        while chats.len() < CHATS {
            chats.push(session(&host, &stand.agent));
        }
        // Some of what was interrupted goes on, some is given up, some waits for another start.
        let list = host.ask("GET", "/api/v1/runs?state=interrupted&limit=200", None).json();
        for run in list["items"].as_array().unwrap() {
            let id = run["id"].as_str().unwrap();
            let what = match random.below(10) {
                0 => "discard",
                1 => continue,
                _ => "resume",
            };
            host.ask("POST", &format!("/api/v1/runs/{id}/{what}"), Some(&json!({})));
        }
        for chat in &chats {
            number += 1;
            let key = format!("k-{number}");
            let path = format!("/api/v1/sessions/{chat}/send");
            let sent = host.ask("POST", &path, Some(&json!({ "text": key })));
            if sent.status == 202 {
                let sent = sent.json();
                acknowledged.insert(sent["userMessageId"].as_str().unwrap().to_owned(), key);
                runs.insert(sent["runId"].as_str().unwrap().to_owned());
            }
        }
        for key in answer_all(&host, |_| if random_bit() { "worked" } else { "failed" }) {
            *again.entry(key).or_default() += 1;
        }
        std::thread::sleep(Duration::from_millis(random.below(250)));
        host.kill();
    }
    let host = stand.sandbox.serve();
    settle(&host, || "worked", &mut again);
    let mut there: BTreeMap<String, String> = BTreeMap::new();
    for chat in &chats {
        let said = messages(&host, chat);
        let seqs: Vec<i64> = said.iter().map(|message| message["seq"].as_i64().unwrap()).collect();
        let expected: Vec<i64> = (seqs[0]..seqs[0] + seqs.len() as i64).collect();
        assert_eq!(seqs, expected, "the order has no gap");
        for message in said.iter().filter(|message| message["role"] == "user") {
            let id = message["id"].as_str().unwrap().to_owned();
            there.insert(id, message["content"].as_str().unwrap().to_owned());
        }
    }
    for (id, key) in &acknowledged {
        assert_eq!(there.get(id), Some(key), "an acknowledged message is gone");
    }
    for id in &runs {
        let run = host.ask("GET", &format!("/api/v1/runs/{id}"), None).json();
        let state = run["state"].as_str().unwrap_or_default();
        assert!(matches!(state, "done" | "failed" | "aborted" | "discarded"), "{run}");
    }
    for key in acknowledged.values() {
        let allowed = 1 + again.get(key).copied().unwrap_or_default();
        assert!(stand.counted(key) <= allowed, "{key} was counted {} times", stand.counted(key));
    }
    assert_eq!(host.stop().code(), Some(0));
}

/// A bit that differs from call to call; which one does not matter.
fn random_bit() -> bool {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .is_ok_and(|since| since.subsec_micros() % 2 == 0)
}
