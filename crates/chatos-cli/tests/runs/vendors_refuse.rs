//! Every refusal of the table (working-day §3, §13 point 7) said to a running host in the middle of a run: what the
//! person is told, what the host learns, and what it sends next. Bodies that only look like one are treated as what
//! they are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chatos_testkit::{RunningHost, Script, ScriptedModel, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, offered, send, session, until};

#[path = "../../../chatos-model/tests/refusals/mod.rs"]
#[expect(dead_code, reason = "what only the reader of bodies is held against")]
mod bodies;

use bodies::{By, Next, Refusal};

/// The window a person gave every model here: larger than any that a vendor names.
const WINDOW: u64 = 2_000_000;
/// Calls before the request that is refused.
const CALLS: usize = 2;
/// Bytes of a result.
const RESULT: usize = 30_000;
/// Rows that are tried side by side.
const AT_ONCE: usize = 6;
/// What summaries are asked for with.
const SUMMARY: &str = "Summarise it for yourself";

/// The requests of a run, in order, without those for a summary.
type Passes = Arc<Mutex<Vec<Value>>>;

/// A vendor that lets two calls be made, refuses what comes then, once, and is content with what comes after that.
fn vendor(row: &Refusal) -> (ScriptedModel, Passes) {
    let passes = Passes::default();
    let (kept, refusal) = (Arc::clone(&passes), row.clone());
    let model = ScriptedModel::start(move |request| {
        if conversation(request).is_none() {
            // Asked what it can do, which it does not say.
            return Script::Refuse { status: 404, headers: Vec::new(), body: json!({}) };
        }
        let text = request.to_string();
        let tokens = text.len() as u64 / 3;
        if text.contains(SUMMARY) {
            return Script::counted(Script::say("two parts were read"), tokens);
        }
        let mut passes = kept.lock().unwrap();
        let pass = passes.len();
        passes.push(request.clone());
        let answer = match (pass, refusal.by) {
            (0..CALLS, _) => {
                let call = json!({ "key": format!("k-{pass}"), "size": RESULT });
                let call = Script::call(format!("call_0{pass}"), offered(request, "big").unwrap(), &call);
                // Only Gemini signs its calls without being asked to think.
                if refusal.spoken == "gemini" { Script::thinking("signed", call) } else { call }
            }
            (CALLS, By::Status(status)) => {
                return Script::Refuse { status, headers: Vec::new(), body: refusal.body.clone() };
            }
            (CALLS, By::Stream) => return Script::Raw { body: format!("data: {}\n\n", refusal.body) },
            _ => Script::say("done"),
        };
        Script::counted(answer, tokens)
    });
    (model, passes)
}

fn conversation(request: &Value) -> Option<&Vec<Value>> {
    ["messages", "input", "contents"].iter().find_map(|member| request[*member].as_array())
}

/// How many tools are offered, in the words of any vendor.
fn tools(request: &Value) -> usize {
    let declared = request.pointer("/tools/0/functionDeclarations").unwrap_or(&request["tools"]);
    declared.as_array().map_or(0, Vec::len)
}

/// The longest answer that is asked for.
fn longest_answer(request: &Value) -> &Value {
    let names = ["max_completion_tokens", "max_output_tokens", "max_tokens"];
    names.iter().find_map(|name| request.get(name)).unwrap_or(&Value::Null)
}

/// Every value under this name, wherever it is.
fn named<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(name));
            members.values().for_each(|member| named(member, name, found));
        }
        Value::Array(all) => all.iter().for_each(|one| named(one, name, found)),
        _ => {}
    }
}

fn all_named<'a>(value: &'a Value, name: &str) -> Vec<&'a Value> {
    let mut found = Vec::new();
    named(value, name, &mut found);
    found
}

/// What is wrong, by row.
struct Complaints<'a> {
    row: &'a Refusal,
    all: Vec<String>,
}

impl Complaints<'_> {
    fn unless(&mut self, right: bool, what: &str, seen: &dyn std::fmt::Debug) {
        if !right {
            self.all.push(format!("{}: {what}: {seen:?}", self.row.name));
        }
    }
}

/// Plays a row and compares what is seen from outside with what the table says.
fn play(stand: &Stand, host: &RunningHost, row: &Refusal) -> Vec<String> {
    let (vendor, passes) = vendor(row);
    let body = json!({
        "name": row.name, "provider": row.spoken, "model": "scripted", "baseUrl": vendor.base_url(),
        "contextTokens": WINDOW, "maxOutputTokens": 20_000, "temperature": 0.3,
    });
    let made = host.ask("POST", "/api/v1/models", Some(&body));
    assert!(made.status < 300, "{}: {}", row.name, made.text());
    let model = made.json()["id"].as_str().unwrap().to_owned();
    let chat = session(host, &stand.agent);
    let chosen = json!({ "modelId": model });
    assert_eq!(host.ask("PATCH", &format!("/api/v1/sessions/{chat}"), Some(&chosen)).status, 200);
    let id = send(host, &chat, "read both parts");
    let run = until(host, &id, &["done", "failed"]);
    let events = eventually("the end of the run in the record", || {
        let all = stand.lines("events.jsonl").into_iter();
        let all: Vec<Value> = all.filter(|event| event["payload"]["trace"]["runId"] == id.as_str()).collect();
        all.iter().any(|event| event["type"] == "run_finished").then_some(all)
    });
    let of = |kind: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["type"] == kind).map(|event| &event["payload"]).collect()
    };
    let passes = passes.lock().unwrap().clone();
    let mut wrong = Complaints { row, all: Vec::new() };
    let ends = row.next == Next::Ends;
    let (state, expected) = (&run["state"], if ends { "failed" } else { "done" });
    wrong.unless(state == expected, "the run", &(state, &run["error"]));
    let asked = passes.len();
    wrong.unless(asked == CALLS + 1 + usize::from(!ends), "requests", &asked);
    // The class, as the person or whoever watches is told of it. What is left out or sent again is not told.
    let retried: Vec<&Value> = of("model_retry").into_iter().map(|retry| &retry["class"]).collect();
    match row.next {
        Next::Ends => wrong.unless(run["error"]["code"] == row.class, "the class", &run["error"]),
        Next::Again | Next::Shorter | Next::Answer(_) | Next::Tools(_) => {
            wrong.unless(retried == [&json!(row.class)], "the class", &retried);
        }
        Next::Without(_) | Next::With(_) | Next::ShortIds => {
            wrong.unless(retried.is_empty(), "it is not waited", &retried);
        }
    }
    // Who watches is told that the context became smaller, and why.
    let smaller: Vec<&Value> = of("summary").into_iter().map(|told| &told["kind"]).collect();
    match row.next {
        Next::Shorter => {
            wrong.unless(smaller.first() == Some(&&json!("overflow")), "made smaller", &smaller);
        }
        _ => wrong.unless(smaller.is_empty(), "made smaller", &smaller),
    }
    // The window: what the vendor names is believed for the rest of the chat, nothing else is.
    let context = of("usage").last().map(|usage| usage["context"].clone()).unwrap_or_default();
    let (window, source) = (context["window"].as_u64().unwrap_or_default(), &context["windowSource"]);
    if row.class == "context_length" && !ends {
        wrong.unless(source == "learned", "the window", &context);
        match row.limit {
            Some(limit) => wrong.unless(window == limit, "the window", &context),
            // Less than what was refused, and not much less.
            None => {
                let before = passes.get(CALLS).map_or(0, |request| request.to_string().len() as u64 / 3);
                let near = before / 2..before;
                wrong.unless(near.contains(&window), "the window", &(&context, near));
            }
        }
    } else {
        wrong.unless((window, source) == (WINDOW, &json!("person")), "the window", &context);
    }
    if let [.., refused, next] = &passes[..]
        && !ends
    {
        next_request(row, refused, next, &mut wrong);
    }
    if let Next::Tools(most) = row.next {
        let known = host.ask("GET", &format!("/api/v1/models/{model}"), None).json();
        let kept = known.pointer("/facts/maxTools").unwrap_or(&Value::Null);
        wrong.unless(*kept == json!(most), "what is kept of the model", &known);
    }
    wrong.all
}

/// What was sent behind the refusal.
fn next_request(row: &Refusal, refused: &Value, next: &Value, wrong: &mut Complaints<'_>) {
    let (before, after) = (refused.to_string().len(), next.to_string().len());
    match row.next {
        Next::Ends => {}
        Next::Again => wrong.unless(refused == next, "the same again", &(before, after)),
        Next::Shorter => {
            wrong.unless(after * 10 < before * 9, "shorter", &(before, after));
            // What was asked for is in it whatever went.
            wrong.unless(next.to_string().contains("read both parts"), "the task", &next);
        }
        Next::Answer(most) => {
            wrong.unless(*longest_answer(next) == json!(most), "the answer", longest_answer(next));
            wrong.unless(conversation(refused) == conversation(next), "the conversation", &(before, after));
        }
        Next::Without(member) => {
            let (there, gone) = (all_named(refused, member), all_named(next, member));
            wrong.unless(!there.is_empty(), "there is nothing to leave out", &member);
            wrong.unless(gone.is_empty(), "left out", &gone);
            wrong.unless(
                conversation(next).map(Vec::len) == conversation(refused).map(Vec::len),
                "the rest",
                &after,
            );
        }
        Next::With(member) => {
            let (there, added) = (all_named(refused, member), all_named(next, member));
            wrong.unless(there.is_empty(), "there is nothing to add", &there);
            wrong.unless(added.len() == CALLS, "added", &added);
        }
        Next::Tools(most) => {
            wrong.unless(tools(refused) as u64 > most, "tools before", &tools(refused));
            wrong.unless((1..=most).contains(&(tools(next) as u64)), "tools", &tools(next));
        }
        Next::ShortIds => {
            let nine = |id: &&Value| {
                let id = id.as_str().unwrap_or_default();
                id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
            };
            let made = all_named(next, "tool_calls");
            let calls: Vec<&Value> = made.into_iter().flat_map(|calls| all_named(calls, "id")).collect();
            let results = all_named(next, "tool_call_id");
            wrong.unless(calls.len() == CALLS && calls.iter().all(nine), "ids of calls", &calls);
            wrong.unless(calls == results, "ids of results", &results);
        }
    }
}

/// Plays these rows, several side by side, and says everything that is wrong.
fn play_all(rows: &[Refusal]) {
    let stand = Stand::new(|_| Script::say("nobody asks this one"));
    let host = stand.sandbox.serve();
    let at = AtomicUsize::new(0);
    let wrong: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(row) = rows.get(at.fetch_add(1, Ordering::SeqCst)) {
                    let found = play(&stand, &host, row);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    host.stop();
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} complaints about {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn what_is_too_long_is_sent_shorter_in_the_words_of_every_vendor() {
    let rows = bodies::too_long();
    assert!(rows.len() >= 36, "{}", rows.len());
    play_all(&rows);
}

#[test]
fn other_refusals_end_the_run_or_are_answered_with_what_the_vendor_wants() {
    let rows = bodies::others();
    assert!(rows.len() >= 33, "{}", rows.len());
    play_all(&rows);
}

#[test]
fn what_only_looks_too_long_makes_nothing_shorter() {
    let rows = bodies::controls();
    assert!(rows.len() >= 8 && rows.iter().all(|row| row.class != "context_length"));
    play_all(&rows);
}
