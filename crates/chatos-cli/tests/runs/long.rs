//! The long run (working-day §13 point 6): one message, many calls, vendors of every protocol with small windows that
//! count what they are sent, hold it against their rules and refuse what is too long, and a host that is killed in
//! between. `CHATOS_LONG=500` makes it as long as it is meant: so many calls and twenty kills for each vendor.

mod vendor;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chatos_testkit::{Script, eventually};
use serde_json::{Value, json};

use crate::kill::answer_all;
use crate::support::{Stand, messages, send, session};
use vendor::{Speaks, Vendor};

/// Calls of the ordinary run; `CHATOS_LONG` asks for more.
const CALLS: usize = 40;
/// How often the host is killed on the way, ordinarily and in the long form.
const KILLS: (usize, usize) = (2, 20);
const TASK: &str = "TASK-7c1: read all the parts, then say done";

#[expect(clippy::disallowed_methods, reason = "the long form is asked for by a variable")]
fn wanted() -> (usize, usize) {
    let long = std::env::var("CHATOS_LONG").ok().and_then(|n| n.parse().ok());
    long.map_or((CALLS, KILLS.0), |calls| (calls, KILLS.1))
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
fn run_against(vendor: &Arc<Vendor>, model: &Value, settings: &Value) {
    let (wanted, kills) = wanted();
    let made = Arc::new(AtomicUsize::new(0));
    let (counting, seen) = (Arc::clone(vendor), Arc::clone(&made));
    let counts: Arc<Mutex<Option<std::path::PathBuf>>> = Arc::default();
    let file = Arc::clone(&counts);
    let stand = Stand::speaking(model, move |request| {
        counting.answer(request, || {
            let done = file.lock().unwrap().as_ref().map_or(0, |path| lines(path));
            seen.store(done, Ordering::Relaxed);
            let Some(name) = counting.offered(request, "big").filter(|_| done < wanted) else {
                return Script::say("done");
            };
            // Two at once now and then, as models do.
            let ask = |number: usize| {
                let arguments = json!({ "key": format!("k-{number}"), "size": size(number) });
                (format!("call-{number}"), name.clone(), arguments.to_string())
            };
            let calls = if done % 5 == 4 { vec![ask(done + 1), ask(done + 2)] } else { vec![ask(done + 1)] };
            Script::thinking(format!("thought {done}"), Script::Answer { text: String::new(), calls })
        })
    });
    *counts.lock().unwrap() = Some(stand.counts.clone());
    let mut host = stand.sandbox.serve();
    let limits = json!({ "maxToolPasses": 500, "runMaxToolCalls": 2000 });
    for (key, value) in [&limits, settings].into_iter().flat_map(|all| all.as_object().unwrap()) {
        let set = host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&json!({ "value": value })));
        assert!(set.status < 300, "{key}: {}", set.text());
    }
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
                "failed" | "aborted" => panic!("{now} {:?}", vendor.faults.lock().unwrap()),
                _ => {}
            }
            until.filter(|calls| made.load(Ordering::Relaxed) >= *calls).map(|_| ())
        });
        if until.is_some() {
            host.kill();
            host = stand.sandbox.serve();
        }
    }
    let (refused, later) =
        (vendor.refused.load(Ordering::Relaxed), vendor.refused_later.load(Ordering::Relaxed));
    let summaries = vendor.summaries.load(Ordering::Relaxed);
    let broken = vendor.broken.load(Ordering::Relaxed);
    // By the journal: a mark and its step are one write, the line in the record of events comes after it, and a kill may
    // fall in between.
    let journal = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
    let steps = journal["steps"].as_array().unwrap();
    let smaller = steps.iter().filter(|step| step["kind"] == "compact" && step["state"] == "done").count();
    let figures = format!(
        "{:?}: {} requests, {} calls, {kills} kills, {refused} too long ({later} after the first), {summaries} asked for \
         a summary, {smaller} times smaller, {broken} new beginnings",
        vendor.speaks,
        stand.model.asked(),
        lines(&stand.counts),
    );
    assert_eq!(*vendor.faults.lock().unwrap(), Vec::<String>::new());
    assert_eq!(vendor.without_task.load(Ordering::Relaxed), 0, "the task is in every request");
    assert!(summaries > 0, "nothing was summarised");
    assert!(refused <= 6, "{refused} requests were too long");
    // A request begins with the one before, after a kill as well, unless the context was made smaller in between.
    assert!(broken <= smaller, "{figures}");
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
    let vendor = Vendor::new(Speaks::Chat, 8_192, 3.4, vendor::llama_cpp);
    run_against(&vendor, &json!({}), &json!({}));
}

#[test]
fn a_vendor_that_names_no_number_is_learned_from() {
    let vendor = Vendor::new(Speaks::Chat, 6_000, 2.2, vendor::groq);
    run_against(&vendor, &json!({}), &json!({}));
}

#[test]
fn a_vendor_that_wants_its_thinking_back_gets_it_throughout() {
    let vendor = Vendor::new(Speaks::DeepSeek, 7_000, 2.6, vendor::deepseek);
    run_against(&vendor, &json!({}), &json!({}));
}

#[test]
fn items_of_the_responses_api_stay_in_pairs() {
    let vendor = Vendor::new(Speaks::Responses, 9_000, 2.8, vendor::openai);
    let model = json!({ "provider": "openai_responses", "supportsReasoning": true });
    run_against(&vendor, &model, &json!({}));
}

#[test]
fn signed_thinking_goes_back_in_the_messages_api() {
    let vendor = Vendor::new(Speaks::Messages, 12_000, 2.8, vendor::anthropic);
    let model = json!({ "provider": "anthropic", "reasoningEffort": "minimal", "maxOutputTokens": 1024 });
    run_against(&vendor, &model, &json!({}));
}

#[test]
fn signatures_of_gemini_go_back_on_their_calls() {
    let vendor = Vendor::new(Speaks::Gemini, 9_000, 2.8, vendor::gemini);
    run_against(&vendor, &json!({ "provider": "gemini", "model": "gemini-3-scripted" }), &json!({}));
}

#[test]
fn ollama_is_never_sent_more_than_the_window_that_was_asked_for() {
    let vendor = Vendor::new(Speaks::Ollama, 8_192, 3.2, vendor::groq);
    run_against(&vendor, &json!({ "provider": "ollama" }), &json!({ "ollamaContextTokens": 8_192 }));
}
