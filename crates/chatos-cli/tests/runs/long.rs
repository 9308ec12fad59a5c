//! The long run (working-day §13 point 6): one message, many calls, models with small windows that count what they
//! are sent and refuse what is too long, and a host that is killed in between.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chatos_testkit::{Script, eventually};
use serde_json::{Value, json};

use crate::kill::answer_all;
use crate::support::{Stand, last, messages, offered, send, session};

/// Calls of the ordinary run; `CHATOS_LONG` asks for more.
const CALLS: usize = 60;
/// How often the host is killed on the way.
const KILLS: usize = 4;
const TASK: &str = "TASK-7c1: read all the parts, then say done";

/// How a scripted vendor counts and refuses.
struct Vendor {
    window: u64,
    /// Bytes of a token.
    bytes: f64,
    refuse: fn(u64, u64) -> (u16, Value),
    refused: AtomicUsize,
    /// Requests that were too long after the first refusal told the window.
    too_long_later: AtomicUsize,
    without_task: AtomicUsize,
    summaries: AtomicUsize,
    faults: Mutex<Vec<String>>,
    /// The messages of the last request, and how often the next one did not begin with them.
    before: Mutex<Vec<Value>>,
    broken: AtomicUsize,
}

impl Vendor {
    fn new(window: u64, bytes: f64, refuse: fn(u64, u64) -> (u16, Value)) -> Arc<Self> {
        Arc::new(Self {
            window,
            bytes,
            refuse,
            refused: AtomicUsize::new(0),
            too_long_later: AtomicUsize::new(0),
            without_task: AtomicUsize::new(0),
            summaries: AtomicUsize::new(0),
            faults: Mutex::default(),
            before: Mutex::default(),
            broken: AtomicUsize::new(0),
        })
    }

    fn tokens(&self, request: &Value) -> u64 {
        let tools = request.get("tools").map_or(0, |tools| tools.to_string().len());
        ((request["messages"].to_string().len() + tools) as f64 / self.bytes) as u64
    }

    /// Counts, checks and answers.
    fn answer(&self, request: &Value, act: impl Fn(&Value) -> Script) -> Script {
        let tokens = self.tokens(request);
        if tokens + 64 > self.window {
            if self.refused.fetch_add(1, Ordering::Relaxed) > 0 {
                self.too_long_later.fetch_add(1, Ordering::Relaxed);
            }
            let (status, body) = (self.refuse)(tokens, self.window);
            return Script::Refuse { status, headers: Vec::new(), body };
        }
        self.pairs(request);
        let (_, text) = last(request);
        if request.get("tools").is_none() && text.contains("Summarise it for yourself") {
            let number = self.summaries.fetch_add(1, Ordering::Relaxed);
            return Script::counted(Script::say(format!("SUMMARY {number}: parts were read")), tokens);
        }
        if !request["messages"].to_string().contains("TASK-7c1") {
            self.without_task.fetch_add(1, Ordering::Relaxed);
        }
        let now = request["messages"].as_array().cloned().unwrap_or_default();
        let mut before = self.before.lock().unwrap();
        if !now.starts_with(&before) {
            self.broken.fetch_add(1, Ordering::Relaxed);
        }
        *before = now;
        Script::counted(act(request), tokens)
    }

    /// Every call has its result right behind it, and no result is alone.
    fn pairs(&self, request: &Value) {
        let mut open: Vec<String> = Vec::new();
        for message in request["messages"].as_array().into_iter().flatten() {
            let role = message["role"].as_str().unwrap_or_default();
            if role == "tool" {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                match open.iter().position(|open| open == id) {
                    Some(at) => drop(open.remove(at)),
                    None => self.fault(format!("a result without its call: {id}")),
                }
                continue;
            }
            if !open.is_empty() {
                self.fault(format!("calls without results: {open:?}"));
            }
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            open = calls.filter_map(|call| call["id"].as_str().map(str::to_owned)).collect();
        }
    }

    fn fault(&self, what: String) {
        self.faults.lock().unwrap().push(what);
    }
}

fn llama_cpp(tokens: u64, window: u64) -> (u16, Value) {
    let error = json!({ "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": window,
        "message": format!("request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it") });
    (400, json!({ "error": error }))
}

/// A vendor that says nothing but that it is too long.
fn silent(_: u64, _: u64) -> (u16, Value) {
    (
        400,
        json!({ "error": { "message": "Please reduce the length of the messages or completion.", "type": "invalid_request_error" } }),
    )
}

fn deepseek(tokens: u64, window: u64) -> (u16, Value) {
    let message = format!(
        "This model's maximum context length is {window} tokens. However, you requested {tokens} tokens ({tokens} in the \
         messages, 0 in the completion). Please reduce the length of the messages or completion."
    );
    (
        400,
        json!({ "error": { "message": message, "type": "invalid_request_error", "code": "invalid_request_error" } }),
    )
}

#[expect(clippy::disallowed_methods, reason = "CI asks for the long form by a variable")]
fn calls() -> usize {
    std::env::var("CHATOS_LONG").ok().and_then(|n| n.parse().ok()).unwrap_or(CALLS)
}

/// Sizes of the results: mostly small, now and then far beyond any window.
fn size(number: usize) -> usize {
    match number % 10 {
        3 => 40_000,
        7 => 8_000,
        9 if number % 50 == 49 => 900_000,
        _ => 700 + (number % 7) * 150,
    }
}

/// One run against a vendor, killed on its way.
fn run_against(vendor: &Arc<Vendor>, wanted: usize, kills: usize) {
    let made = Arc::new(AtomicUsize::new(0));
    let (counting, seen) = (Arc::clone(vendor), Arc::clone(&made));
    let counts: Arc<Mutex<Option<std::path::PathBuf>>> = Arc::default();
    let file = Arc::clone(&counts);
    let stand = Stand::new(move |request| {
        counting.answer(request, |request| {
            let done = file.lock().unwrap().as_ref().map_or(0, |path| lines(path));
            seen.store(done, Ordering::Relaxed);
            let Some(name) = offered(request, "big").filter(|_| done < wanted) else {
                return Script::say("done");
            };
            // Two at once now and then, as models do.
            let ask = |number: usize| {
                let arguments = json!({ "key": format!("k-{number}"), "size": size(number) });
                (format!("call-{number}"), name.clone(), arguments.to_string())
            };
            let calls = if done % 5 == 4 { vec![ask(done + 1), ask(done + 2)] } else { vec![ask(done + 1)] };
            Script::Answer { text: String::new(), calls }
        })
    });
    *counts.lock().unwrap() = Some(stand.counts.clone());
    let mut host = stand.sandbox.serve();
    host.ask("PATCH", "/api/v1/settings", Some(&json!({ "maxToolPasses": 700, "runMaxToolCalls": 2000 })));
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, TASK);
    // Each stretch of work ends with a kill somewhere in the middle of a call, the last one with the run.
    let stretch = wanted / (kills + 1);
    for killed in 0..=kills {
        let until = (killed < kills).then_some(stretch * (killed + 1));
        eventually("a stretch of a long run", || {
            let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
            match now["state"].as_str().unwrap_or_default() {
                "done" => {
                    assert_eq!(killed, kills, "the host was killed as often as it should be");
                    return Some(());
                }
                "interrupted" => {
                    host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
                }
                "waiting_prompt" => drop(answer_all(&host, || "worked")),
                "failed" | "aborted" => panic!("{now}"),
                _ => {}
            }
            until.filter(|calls| made.load(Ordering::Relaxed) >= *calls).map(|_| ())
        });
        if until.is_some() {
            host.kill();
            host = stand.sandbox.serve();
        }
    }
    assert_eq!(*vendor.faults.lock().unwrap(), Vec::<String>::new());
    assert_eq!(vendor.without_task.load(Ordering::Relaxed), 0, "the task is in every request");
    assert!(vendor.summaries.load(Ordering::Relaxed) > 0, "nothing was summarised");
    let refused = vendor.refused.load(Ordering::Relaxed);
    assert!(refused <= 6, "{refused} requests were too long");
    // A request begins with the one before, unless the context was made smaller in between.
    let smaller = stand.lines("events.jsonl").iter().filter(|line| line["type"] == "summary").count();
    let broken = vendor.broken.load(Ordering::Relaxed);
    assert!(broken <= smaller + 3 * refused, "{broken} new beginnings, {smaller} smaller contexts");
    // Nothing is lost of what was said and answered: only requests are shorter.
    let said = messages(&host, &chat);
    let results: Vec<&Value> = said.iter().filter(|message| message["role"] == "tool").collect();
    assert!(results.len() >= wanted, "{} results", results.len());
    for result in results.iter().filter(|result| result["isError"] != true) {
        let content = result["content"].as_str().unwrap_or_default();
        if content.contains("a person confirmed") {
            continue;
        }
        // The server says which call it was: an id that a model gives twice is replaced.
        let number: usize = content["k-".len()..].split(' ').next().unwrap().parse().unwrap();
        let whole = size(number).min(120_000);
        assert!(content.len() + 200 >= whole, "call {number} kept {} of {whole} bytes", content.len());
    }
    assert_eq!(said.iter().filter(|message| message["role"] == "user").count(), 1);
    host.stop();
}

fn lines(path: &std::path::Path) -> usize {
    std::fs::read_to_string(path).map(|text| text.lines().count()).unwrap_or_default()
}

#[test]
fn a_window_of_8k_on_this_machine_lasts_for_a_whole_run() {
    let vendor = Vendor::new(8_192, 3.4, llama_cpp);
    run_against(&vendor, calls(), KILLS);
}

#[test]
fn a_vendor_that_names_no_number_is_learned_from() {
    let vendor = Vendor::new(6_000, 2.2, silent);
    run_against(&vendor, calls() / 2, KILLS / 2);
}

#[test]
fn a_vendor_that_counts_the_messages_is_believed() {
    let vendor = Vendor::new(7_000, 2.6, deepseek);
    run_against(&vendor, calls() / 2, KILLS / 2);
}
