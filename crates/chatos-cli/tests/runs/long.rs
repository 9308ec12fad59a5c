//! The long run (working-day §13 point 6): one message, many calls (reads of 1 KB to 1 MB, edits, commands, pictures) in a
//! home that has been lived in, vendors of every protocol with small windows that count what they are sent, hold it
//! against their rules and refuse what is too long, and a host that is killed in between. `CHATOS_LONG=500` makes it as
//! long as it is meant: so many calls and twenty kills for each vendor, and windows as large as theirs.

mod stored;
mod vendor;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chatos_testkit::{Random, RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::kill::answer_all;
use crate::lived::{self, Lived};
use crate::support::{Stand, messages, node, offered, send, session};
use vendor::{Speaks, Vendor};

/// Calls of the ordinary run; `CHATOS_LONG` asks for more.
const CALLS: usize = 40;
/// How often the host is killed on the way, ordinarily and in the long form.
const KILLS: (usize, usize) = (2, 20);
const TASK: &str = "TASK-7c1: read all the parts, then say done";
/// What the model writes down at the beginning and nobody ever ticks off.
const TODO: &str = "TODO-9f2";

// Fixed row ids of the built-in servers that are used besides the counter.
const CODE_MAINTAINER: &str = "b10599fb-bda3-439f-9143-565fc2a2700c";
const SHELL_TASKS: &str = "a176d672-15f4-43c5-8c5f-6516cad8240f";
const TASK_MANAGER: &str = "56b1ee50-8160-4ec8-89ed-b65c81b8a3fd";

/// What is done by a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Edit,
    Command,
    Picture,
}

fn kind(number: usize) -> Kind {
    match number % 8 {
        2 => Kind::Edit,
        5 => Kind::Command,
        6 if number % 16 == 6 => Kind::Picture,
        _ => Kind::Read,
    }
}

/// A command of ordinary work, by what the home has; its last act is one more line in `shell.log`.
fn command(number: usize, lived: &Lived) -> String {
    let mut all = vec!["true"];
    // A host that was killed in the middle of a commit leaves Git's lock behind, as it does for people.
    let git = "rm -f .git/index.lock && git add -A && git commit -qm work --allow-empty && git st && git log --oneline -1";
    for (there, command) in [
        (lived.git, git),
        (lived.npm, "node -v && npm --version"),
        (lived.cargo, "cargo --version"),
        (lived.python, "python3 -c 'print(1)'"),
    ] {
        all.extend(there.then_some(command));
    }
    format!("{} && echo s-{number} >> shell.log", all[number / 8 % all.len()])
}

/// The project of the run, and what was done in it.
#[derive(Debug, Clone)]
struct Place {
    root: std::path::PathBuf,
    counts: std::path::PathBuf,
}

impl Place {
    /// Everything that was done, once each.
    fn done(&self) -> Vec<String> {
        let files = [self.counts.clone(), self.root.join("shell.log"), self.root.join("work.txt")];
        let read = |path: &std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let all = files.iter().map(read).collect::<String>();
        all.lines().filter(|line| *line != "END").map(str::to_owned).collect()
    }

    /// What somebody who looks says of a call that a kill cut off.
    fn became_of(&self, asked: &Value) -> &'static str {
        let (text, done) = (asked.to_string(), self.done());
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        if words.any(|word| done.iter().any(|line| line == word)) { "worked" } else { "again" }
    }
}

/// An agent that may read, edit, run commands and keep to-dos in a project of the home.
fn worker(host: &RunningHost, stand: &Stand, root: &std::path::Path, more_tools: usize) -> String {
    let post = |path: &str, body: Value| {
        let made = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()["id"].as_str().unwrap().to_owned()
    };
    let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
    let servers = servers["items"].as_array().unwrap();
    let counter = servers.iter().find(|server| server["name"] == "counter").unwrap()["id"].clone();
    let mut granted = vec![json!({ "id": counter })];
    if more_tools > 0 {
        let script = stand.sandbox.root().join("many.cjs");
        std::fs::write(&script, MANY).unwrap();
        let argv = json!([node(), script.to_str().unwrap(), more_tools.to_string()]);
        granted.push(json!({ "id": post("mcp-servers", json!({ "name": "many", "argv": argv })) }));
    }
    for (id, tool) in
        [(SHELL_TASKS, "run_shell_command"), (CODE_MAINTAINER, "edit_file"), (TASK_MANAGER, "add_task")]
    {
        granted.push(json!({ "id": id, "tools": { "allow": [tool] } }));
    }
    let main = json!({ "mcpServers": granted });
    let land = post("land-configs", json!({ "name": "working", "main": main, "sub": { "mcpServers": [] } }));
    post("agents", json!({ "name": "worker", "mode": "flow", "landConfigId": land, "workspaceRoot": root }))
}

#[expect(clippy::disallowed_methods, reason = "the long form is asked for by a variable")]
fn long_form() -> Option<usize> {
    std::env::var("CHATOS_LONG").ok().and_then(|n| n.parse().ok())
}

/// Calls and kills of this run.
fn wanted() -> (usize, usize) {
    long_form().map_or((CALLS, KILLS.0), |calls| (calls, KILLS.1))
}

/// A window that fills within the calls of this run: a small one, or the real one of the vendor.
fn window(small: u64, real: u64) -> u64 {
    if long_form().is_some_and(|calls| calls >= 500) { real } else { small }
}

/// What is set for a run before it begins.
struct Plan {
    model: Value,
    settings: Value,
    /// Tools of a further server, which nobody calls.
    more_tools: usize,
}

impl Plan {
    fn new(model: Value) -> Self {
        Self { model, settings: json!({}), more_tools: 0 }
    }
}

/// A server with so many tools.
const MANY: &str = r"
const count = Number(process.argv[2]);
const lines = require('readline').createInterface({ input: process.stdin });
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
const inputSchema = { type: 'object', properties: { name: { type: 'string' } } };
const tools = Array.from({ length: count }, (_, n) => ({ name: `other_${n}`, description: `Does thing ${n}.`, inputSchema }));
lines.on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') {
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } } });
  } else if (method === 'tools/list') {
    send({ id, result: { tools } });
  } else if (id !== undefined) {
    send({ id, result: {} });
  }
});
";

/// Sizes of the results: mostly small, now and then far beyond any window.
fn size(number: usize) -> usize {
    match number % 10 {
        3 => 40_000,
        7 => 8_000,
        9 if number % 50 == 49 => 900_000,
        _ => 700 + (number % 7) * 150,
    }
}

/// A call of a tool by its definition, or by its name where that is on demand.
fn call(request: &Value, id: String, tool: &str, arguments: &Value) -> (String, String, String) {
    match offered(request, tool) {
        Some(name) => (id, name, arguments.to_string()),
        None => {
            let wrapped = json!({ "name": format!("mcp_counter_{tool}"), "arguments": arguments });
            (id, "call_tool".to_owned(), wrapped.to_string())
        }
    }
}

/// What came of a run.
struct Ran {
    host: RunningHost,
    place: Place,
    /// The messages of its chat.
    said: Vec<Value>,
    requests: usize,
    /// How often its context was made smaller.
    smaller: usize,
    _stand: Stand,
}

/// One run against a vendor, killed on its way.
fn run(vendor: &Arc<Vendor>, plan: &Plan, wanted: usize, kills: usize) -> Ran {
    let made = Arc::new(AtomicUsize::new(0));
    let (counting, seen) = (Arc::clone(vendor), Arc::clone(&made));
    let begun: Arc<Mutex<Option<(Place, Lived)>>> = Arc::default();
    let working = Arc::clone(&begun);
    let mut stand = Stand::speaking(&plan.model, move |request| {
        counting.answer(request, || {
            let Some((place, lived)) = working.lock().unwrap().clone() else { return Script::say("done") };
            let done = place.done().len();
            seen.store(done, Ordering::Relaxed);
            if done >= wanted {
                return Script::say("done");
            }
            if !request.to_string().contains(TODO) {
                let arguments = json!({ "title": format!("{TODO}: all parts are read") });
                let calls = vec![call(request, "to-do".to_owned(), "add_task", &arguments)];
                return Script::thinking("thought 0", Script::Answer { text: String::new(), calls });
            }
            let ask = |number: usize| {
                let (tool, arguments) = match kind(number) {
                    Kind::Read => ("big", json!({ "key": format!("k-{number}"), "size": size(number) })),
                    Kind::Picture => ("count", json!({ "key": format!("picture-1-{}x30", 40 + number) })),
                    Kind::Command => ("run_shell_command", json!({ "command": command(number, &lived) })),
                    Kind::Edit => {
                        let new = format!("e-{number}\nEND");
                        ("edit_file", json!({ "path": "work.txt", "old_string": "END", "new_string": new }))
                    }
                };
                call(request, format!("call-{number}"), tool, &arguments)
            };
            // Two at once now and then, as models do.
            let calls = if done % 5 == 4 { vec![ask(done + 1), ask(done + 2)] } else { vec![ask(done + 1)] };
            Script::thinking(format!("thought {done}"), Script::Answer { text: String::new(), calls })
        })
    });
    let lived = lived::settle(&mut stand.sandbox);
    let root = stand.sandbox.home().canonicalize().unwrap().join("code/project");
    lived::put(&root, "work.txt", "END\n");
    if lived.git {
        let mut init = chatos_testkit::child("git");
        assert!(init.args(["init", "-q"]).current_dir(&root).status().unwrap().success());
    }
    let place = Place { root: root.clone(), counts: stand.counts.clone() };
    *begun.lock().unwrap() = Some((place.clone(), lived));
    let mut host = stand.sandbox.serve();
    let limits = json!({ "maxToolPasses": 500, "runMaxToolCalls": 2000, "confirmFileChanges": false });
    for (key, value) in [&limits, &plan.settings].into_iter().flat_map(|all| all.as_object().unwrap()) {
        let set = host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&json!({ "value": value })));
        assert!(set.status < 300, "{key}: {}", set.text());
    }
    let chat = session(&host, &worker(&host, &stand, &root, plan.more_tools));
    let run = send(&host, &chat, TASK);
    let mut random = Random::new();
    // Each stretch of work is cut by a kill at some call of it, the last one ends with the run.
    let stretch = wanted / (kills + 1);
    for killed in 0..=kills {
        let at = stretch * killed + 1 + random.below(stretch as u64) as usize;
        let until = (killed < kills).then_some(at);
        // A slow machine takes long over a stretch; what must not happen is that nothing more is asked.
        let mut is_over = false;
        while !is_over {
            let asked = stand.model.asked();
            is_over = eventually("one more request of a long run", || {
                let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
                match now["state"].as_str().unwrap_or_default() {
                    "done" => {
                        assert_eq!(killed, kills, "the host was killed as often as it should be");
                        return Some(true);
                    }
                    "interrupted" => {
                        host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
                    }
                    "waiting_prompt" => drop(answer_all(&host, |asked| place.became_of(asked))),
                    "failed" | "aborted" => panic!("{now} {:?}", vendor.faults.lock().unwrap()),
                    _ => {}
                }
                let is_far = until.is_some_and(|calls| made.load(Ordering::Relaxed) >= calls);
                (is_far || stand.model.asked() > asked).then_some(is_far)
            });
        }
        if until.is_some() {
            host.kill();
            host = stand.sandbox.serve();
        }
    }
    // By the journal: a mark and its step are one write, the line in the record of events comes after it, and a kill may
    // fall in between.
    let journal = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
    let steps = journal["steps"].as_array().unwrap();
    let smaller = steps.iter().filter(|step| step["kind"] == "compact" && step["state"] == "done").count();
    let (said, requests) = (messages(&host, &chat), stand.model.asked());
    Ran { host, place, said, requests, smaller, _stand: stand }
}

/// A run that is killed as often as it should be, held against everything it has to keep to.
fn run_against(vendor: &Arc<Vendor>, plan: &Plan) {
    let (wanted, kills) = wanted();
    let ran = run(vendor, plan, wanted, kills);
    let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
    let (refused, summaries, broken) =
        (count(&vendor.refused), count(&vendor.summaries), count(&vendor.broken));
    let done = ran.place.done();
    let figures = format!(
        "{:?}, window {}: {} requests, {} calls, {kills} kills, {refused} too long ({} after the first, {} with their \
         answer only), {summaries} asked for a summary, {} times smaller, {broken} new beginnings, at most {} tools",
        vendor.speaks,
        vendor.window,
        ran.requests,
        done.len(),
        count(&vendor.refused_later),
        count(&vendor.crowded),
        ran.smaller,
        count(&vendor.most_tools),
    );
    #[expect(clippy::print_stdout, reason = "what the run measured, for whoever asks with --no-capture")]
    {
        println!("{figures}");
    }
    assert_eq!(*vendor.faults.lock().unwrap(), Vec::<String>::new());
    assert_eq!(count(&vendor.without_task), 0, "the task is in every request");
    assert!(count(&vendor.pictures) > 0, "pictures reach the model");
    // In a large window it is enough that old results become lines.
    assert!(summaries > 0 || (vendor.window > 100_000 && ran.smaller > 0), "nothing was summarised");
    assert!(refused <= 6, "{figures}");
    // A request begins with the one before, after a kill as well, unless the context was made smaller in between.
    assert!(broken <= ran.smaller, "{figures}");
    // Nothing is lost of what was said and answered: only requests are shorter.
    stored::check(&ran.said, wanted);
    // Nothing was done twice, and nothing was asked but what became of calls that a kill cut off.
    let once: std::collections::BTreeSet<&String> = done.iter().collect();
    assert_eq!(once.len(), done.len(), "{done:?}");
    let asked = ran.host.ask("GET", "/api/v1/prompts?view=all&limit=200", None).json();
    let asked = asked["items"].as_array().unwrap().len();
    assert!(asked <= 2 * kills, "{asked} questions");
    ran.host.stop();
}

#[test]
fn what_is_stored_is_what_a_run_without_limits_stores() {
    let small = Vendor::new(Speaks::Chat, 8_192, 3.4, vendor::llama_cpp);
    let endless = Vendor::new(Speaks::Chat, u64::MAX / 2, 3.4, vendor::llama_cpp);
    let limited = run(&small, &Plan::new(json!({})), CALLS, 0);
    let free = run(&endless, &Plan::new(json!({ "contextTokens": 50_000_000 })), CALLS, 0);
    assert!(limited.smaller > 0, "nothing was made smaller");
    assert_eq!((endless.refused.load(Ordering::Relaxed), free.smaller), (0, 0));
    stored::same(&limited.said, &limited.place.root, &free.said, &free.place.root);
    limited.host.stop();
    free.host.stop();
}

#[test]
fn a_window_of_8k_on_this_machine_lasts_for_a_whole_run() {
    let vendor = Vendor::new(Speaks::Chat, 8_192, 3.4, vendor::llama_cpp);
    run_against(&vendor, &Plan::new(json!({})));
}

#[test]
fn a_vendor_that_names_no_number_is_learned_from() {
    let vendor = Vendor::new(Speaks::Chat, 12_000, 2.2, vendor::groq);
    // Somebody believed that its window is larger.
    run_against(&vendor, &Plan::new(json!({ "contextTokens": 20_000 })));
    assert!(vendor.refused.load(Ordering::Relaxed) > 0, "there was nothing to learn");
}

#[test]
fn a_vendor_that_takes_128_tools_never_sees_129() {
    let vendor = Vendor::new(Speaks::Chat, window(14_000, 128_000), 3.0, vendor::openai);
    let model = json!({ "contextTokens": window(16_000, 400_000) });
    run_against(&vendor, &Plan { more_tools: 200, ..Plan::new(model) });
    let most = vendor.most_tools.load(Ordering::Relaxed);
    assert!((1..=vendor::MOST_TOOLS).contains(&most), "{most} tools");
}

#[test]
fn a_vendor_that_wants_its_thinking_back_gets_it_throughout() {
    let vendor = Vendor::new(Speaks::DeepSeek, window(10_000, 128_000), 2.6, vendor::deepseek);
    run_against(&vendor, &Plan::new(json!({ "contextTokens": window(0, 400_000) })));
}

#[test]
fn items_of_the_responses_api_stay_in_pairs() {
    let vendor = Vendor::new(Speaks::Responses, 11_000, 2.8, vendor::openai);
    run_against(&vendor, &Plan::new(json!({ "provider": "openai_responses", "supportsReasoning": true })));
}

#[test]
fn signed_thinking_goes_back_in_the_messages_api() {
    let vendor = Vendor::new(Speaks::Messages, 12_000, 2.8, vendor::anthropic);
    let model = json!({ "provider": "anthropic", "reasoningEffort": "minimal", "maxOutputTokens": 1024 });
    run_against(&vendor, &Plan::new(model));
}

#[test]
fn an_answer_that_does_not_fit_behind_its_input_becomes_shorter() {
    let vendor = Vendor::new(Speaks::Messages, window(20_000, 200_000), 2.8, vendor::anthropic);
    // Somebody believed that the window is larger, so the answer asked for is too long before the input is.
    let model = json!({ "provider": "anthropic", "reasoningEffort": "minimal",
        "contextTokens": window(30_000, 600_000), "maxOutputTokens": window(10_000, 32_000) });
    run_against(&vendor, &Plan::new(model));
    assert!(vendor.crowded.load(Ordering::Relaxed) > 0, "the second sentence was never said");
    assert!(
        vendor.shortened.load(Ordering::Relaxed) > 0,
        "no answer was made shorter instead of the conversation"
    );
}

#[test]
fn signatures_of_gemini_go_back_on_their_calls() {
    let vendor = Vendor::new(Speaks::Gemini, 11_000, 2.8, vendor::gemini);
    run_against(&vendor, &Plan::new(json!({ "provider": "gemini", "model": "gemini-3-scripted" })));
}

#[test]
fn ollama_is_never_sent_more_than_the_window_that_was_asked_for() {
    let vendor = Vendor::new(Speaks::Ollama, 8_192, 3.2, vendor::groq);
    let settings = json!({ "ollamaContextTokens": 8_192 });
    run_against(&vendor, &Plan { settings, ..Plan::new(json!({ "provider": "ollama" })) });
}
