//! Texts of a project that go with messages (packages §4): asked about once, sent once over every protocol, the same after
//! a kill, there after two summaries, and never without a person's word.

use std::path::{Path, PathBuf};

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, until};

/// What stands in the project's file and nowhere else.
const MARK: &str = "Speak like a lighthouse keeper.";

fn project(stand: &Stand) -> PathBuf {
    let project = stand.sandbox.root().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::write(project.join("AGENTS.md"), format!("# Rules\n<!-- unseen -->\n{MARK}\n")).unwrap();
    project
}

fn chat(host: &RunningHost, agent: &str, project: &Path) -> String {
    let order = json!({ "agentId": agent, "workspaceRoot": project });
    let made = host.ask("POST", "/api/v1/sessions", Some(&order));
    assert_eq!(made.status, 201, "{}", made.text());
    made.json()["id"].as_str().unwrap().to_owned()
}

fn say(host: &RunningHost, chat: &str, text: &str, word: Option<&str>) -> String {
    let order = json!({ "text": text, "instructions": word });
    let sent = host.ask("POST", &format!("/api/v1/sessions/{chat}/send"), Some(&order));
    assert_eq!(sent.status, 202, "{}", sent.text());
    sent.json()["runId"].as_str().unwrap().to_owned()
}

fn decide(host: &RunningHost, project: &Path, word: Option<&str>) -> Value {
    let done = host.ask("PUT", "/api/v1/instructions", Some(&json!({ "root": project, "consent": word })));
    assert_eq!(done.status, 200, "{}", done.text());
    done.json()
}

fn marks(request: &Value) -> usize {
    request.to_string().matches(MARK).count()
}

/// Whether a request asks for a summary.
fn summarises(request: &Value) -> bool {
    request.to_string().contains("Summarise it for yourself")
}

/// The notices of a state by their code.
fn notices(stand: &Stand, code: &str) -> usize {
    stand
        .lines("events.jsonl")
        .iter()
        .filter(|line| line.to_string().contains(&format!("\"{code}\"")))
        .count()
}

/// The open question, with what was shown of it.
fn question(host: &RunningHost) -> Value {
    eventually("the question", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        let id = list["items"][0]["requestId"].as_str()?.to_owned();
        Some(host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json())
    })
}

fn answer(host: &RunningHost, question: &Value, word: &str) {
    let id = question["requestId"].as_str().unwrap_or_else(|| panic!("{question:#}"));
    let body = json!({ "response": { "status": "ok", "selection": word }, "shown": question["shown"] });
    let done = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
    assert!(done.status < 300, "{}", done.text());
}

/// An answer in the shape of a vendor.
pub(crate) fn reply(provider: &str, text: &str) -> Script {
    let lines = match provider {
        "anthropic" => vec![
            json!({ "type": "message_start", "message": { "usage": { "input_tokens": 9, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": 5 } }),
            json!({ "type": "message_stop" }),
        ],
        "gemini" => vec![json!({
            "candidates": [{ "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 9, "candidatesTokenCount": 5 },
        })],
        _ => return Script::say(text),
    };
    Script::Raw { body: lines.iter().map(|line| format!("data: {line}\n\n")).collect() }
}

/// The messages of a request, whoever's shape it has.
fn said(request: &Value) -> Vec<Value> {
    let all = ["messages", "contents", "input"].into_iter().find_map(|key| request[key].as_array());
    all.cloned().unwrap_or_default()
}

/// Once in every request, on the person's side, over two summaries and a kill.
fn reaches(provider: &'static str) {
    let stand = Stand::new(move |_| reply(provider, &format!("answer {}", "of many words ".repeat(60))));
    let project = project(&stand);
    let mut host = stand.sandbox.serve();
    if provider != "openai" {
        let models = host.ask("GET", "/api/v1/models", None).json();
        let all = models["items"].as_array().unwrap();
        let own = all.iter().find(|model| model["name"] == "scripted").unwrap();
        let path = format!("/api/v1/models/{}", own["id"].as_str().unwrap());
        assert!(host.ask("PUT", &path, Some(&json!({ "provider": provider }))).status < 300);
    }
    decide(&host, &project, Some("use"));
    let chat = chat(&host, &stand.agent, &project);
    let turn = |host: &RunningHost, text: &str| {
        let run = say(host, &chat, text, None);
        until(host, &run, &["done"]);
    };
    for round in 0..2 {
        turn(&host, &format!("first of {round}: {}", "words ".repeat(200)));
        turn(&host, &format!("second of {round}"));
        host.kill();
        host = stand.sandbox.serve();
        turn(&host, &format!("third of {round}"));
        let path = format!("/api/v1/sessions/{chat}/compact");
        let made = host.ask("POST", &path, Some(&json!({})));
        assert!(made.status < 300, "{}", made.text());
    }
    turn(&host, "the last one");
    let requests = stand.model.requests();
    let summaries = requests.iter().filter(|request| summarises(request)).count();
    assert!(summaries >= 2, "{summaries}");
    let mut before: Option<&Value> = None;
    for request in &requests {
        if summarises(request) {
            assert_eq!(marks(request), 0, "a summary is not made of it");
            before = None;
            continue;
        }
        assert_eq!(marks(request), 1, "{provider}: {request:#}");
        let messages = said(request);
        let first = messages.iter().find(|message| message["role"] != "system").unwrap();
        assert_eq!(first["role"], "user");
        assert!(first.to_string().contains(MARK) && first.to_string().contains("[instructions]"));
        assert!(!request.to_string().contains("unseen"));
        if let Some(before) = before {
            let plain =
                |value: &Value| value.to_string().replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
            let earlier: Vec<String> = said(before).iter().map(plain).collect();
            let now: Vec<String> = messages.iter().map(plain).collect();
            if provider != "anthropic" {
                assert!(now.starts_with(&earlier), "a new beginning:\n{earlier:#?}\n{now:#?}");
            }
        }
        before = Some(request);
    }
    let view = host.ask("GET", &format!("/api/v1/instructions?session={chat}"), None).json();
    let sent = view["sent"].as_str().unwrap();
    let shown = serde_json::to_string(sent).unwrap();
    let whole = stand.model.requests()[0].to_string();
    assert!(whole.contains(shown.trim_matches('"')), "what is shown is not what was sent");
    host.stop();
}

#[test]
fn a_projects_text_reaches_openai_once_and_outlives_two_summaries() {
    reaches("openai");
}

#[test]
fn a_projects_text_reaches_anthropic_once_and_outlives_two_summaries() {
    reaches("anthropic");
}

#[test]
fn a_projects_text_reaches_gemini_once_and_outlives_two_summaries() {
    reaches("gemini");
}

#[test]
fn a_projects_text_reaches_the_responses_api_once_and_outlives_two_summaries() {
    reaches("openai_responses");
}

#[test]
fn a_projects_text_reaches_ollama_once_and_outlives_two_summaries() {
    reaches("ollama");
}

#[test]
fn a_person_is_asked_once_also_over_a_kill_and_sees_the_text_before() {
    let stand = Stand::new(|_| Script::say("done"));
    let project = project(&stand);
    let mut host = stand.sandbox.serve();
    let first = chat(&host, &stand.agent, &project);
    let run = say(&host, &first, "hello", Some("ask"));
    let asked = question(&host);
    assert!(asked.to_string().contains("Use this project's instructions?"), "{asked:#}");
    assert!(asked.to_string().contains("AGENTS.md") && !asked.to_string().contains(MARK));
    assert_eq!(stand.model.asked(), 0, "nothing is sent before the answer");
    host.kill();
    host = stand.sandbox.serve();
    until(&host, &run, &["interrupted"]);
    host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
    until(&host, &run, &["waiting_prompt"]);
    let again = question(&host);
    assert_eq!(again["requestId"], asked["requestId"], "the same question");
    answer(&host, &again, "show");
    let shown = eventually("the question with the text", || {
        let now = question(&host);
        (now["requestId"] != asked["requestId"]).then_some(now)
    });
    assert!(shown.to_string().contains(MARK), "{shown:#}");
    answer(&host, &shown, "use");
    until(&host, &run, &["done"]);
    assert_eq!(stand.model.requests().iter().map(marks).collect::<Vec<_>>(), [1]);
    let second = chat(&host, &stand.agent, &project);
    let run = say(&host, &second, "hello", Some("ask"));
    until(&host, &run, &["done"]);
    assert_eq!(marks(stand.model.requests().last().unwrap()), 1);
    // Changed on the disk: used, replaced, and said once.
    std::fs::write(project.join("AGENTS.md"), "Speak like a baker.").unwrap();
    let run = say(&host, &second, "and now?", Some("ask"));
    until(&host, &run, &["done"]);
    let last = stand.model.requests().pop().unwrap().to_string();
    assert!(last.contains("like a baker") && last.contains("take the place of the earlier ones"), "{last}");
    assert_eq!(notices(&stand, "instructions_changed"), 1);
    // Taken back: the model is told, and nothing of it goes into a new chat.
    let view = decide(&host, &project, Some("skip"));
    assert_eq!((view["consent"].as_str(), view["text"].as_str()), (Some("skip"), Some("")));
    assert_eq!(view["files"][0]["state"], "not_consented");
    let run = say(&host, &second, "without", Some("ask"));
    until(&host, &run, &["done"]);
    assert!(stand.model.requests().pop().unwrap().to_string().contains("do not count any more"));
    let third = chat(&host, &stand.agent, &project);
    let run = say(&host, &third, "hello", Some("ask"));
    until(&host, &run, &["done"]);
    assert!(!stand.model.requests().pop().unwrap().to_string().contains("[instructions]"));
    host.stop();
}

#[test]
fn without_a_person_nothing_of_a_project_is_used_and_one_notice_says_so() {
    let stand = Stand::new(|_| Script::say("done"));
    let project = project(&stand);
    let folder = project.to_str().unwrap();
    let plain = stand.sandbox.run(&[
        "--project",
        folder,
        "--lang",
        "en",
        "chat",
        "--agent",
        &stand.agent,
        "-p",
        "hello",
    ]);
    assert_eq!(plain.status, 0, "{}", plain.stderr);
    assert!(plain.stderr.contains("instructions were not used"), "{}", plain.stderr);
    assert_eq!(stand.model.requests().iter().map(marks).sum::<usize>(), 0);
    let used = stand.sandbox.run(&[
        "--project",
        folder,
        "--lang",
        "en",
        "chat",
        "--agent",
        &stand.agent,
        "--instructions",
        "use",
        "-p",
        "hello",
    ]);
    assert_eq!(used.status, 0, "{}", used.stderr);
    assert!(!used.stderr.contains("instructions"), "{}", used.stderr);
    assert_eq!(marks(stand.model.requests().last().unwrap()), 1);
    let list = stand.sandbox.run(&["--project", folder, "--lang", "en", "instructions"]);
    assert!(list.stdout.contains("not decided") && list.stdout.contains("AGENTS.md"), "{}", list.stdout);
    let list = stand.sandbox.run(&["--project", folder, "--lang", "en", "instructions", "--set", "use"]);
    assert!(list.stdout.contains("✓ AGENTS.md"), "{}", list.stdout);
    let explained = stand.sandbox.run(&["--project", folder, "--json", "agent", "explain", &stand.agent]);
    assert_eq!(explained.json()["instructions"]["files"][0]["state"], "used");
    let again = stand.sandbox.run(&["--project", folder, "chat", "--agent", &stand.agent, "-p", "hello"]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert_eq!(marks(stand.model.requests().last().unwrap()), 1);
}

#[test]
fn commands_and_skills_of_a_project_come_with_the_same_word() {
    let stand = Stand::new(|_| Script::say("done"));
    let project = stand.sandbox.root().join("project");
    let put = |path: PathBuf, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    std::fs::create_dir_all(project.join(".git")).unwrap();
    put(project.join(".claude/commands/ship.md"), "Ship $1 to $2.");
    put(
        project.join(".claude/skills/deploy/SKILL.md"),
        "---\ndescription: How we deploy\n---\nFirst the tests.",
    );
    put(stand.sandbox.state().join("skills/mine/SKILL.md"), "---\ndescription: Mine\n---\nMy way.");
    let host = stand.sandbox.serve();
    let chat = chat(&host, &stand.agent, &project);
    let list = || host.ask("GET", &format!("/api/v1/commands?session={chat}&waitMs=0"), None).json();
    let has =
        |list: &Value, key: &str| list["items"].as_array().unwrap().iter().any(|item| item["key"] == key);
    let before = list();
    assert!(
        has(&before, "user:mine") && !has(&before, "cmd:project:ship") && !has(&before, "project:deploy")
    );
    assert!(before["problems"].to_string().contains("chatos instructions --set use"), "{before:#}");
    // A project with nothing but these asks, too.
    let run = say(&host, &chat, "hello", Some("ask"));
    let asked = question(&host);
    assert!(asked.to_string().contains("1 skill, 1 command"), "{asked:#}");
    answer(&host, &asked, "use");
    until(&host, &run, &["done"]);
    let after = list();
    assert!(has(&after, "cmd:project:ship") && has(&after, "project:deploy"), "{after:#}");
    let fill = |text: &str| {
        let filled =
            host.ask("POST", "/api/v1/commands/fill", Some(&json!({ "session": chat, "text": text })));
        assert_eq!(filled.status, 200, "{}", filled.text());
        filled.json()
    };
    assert_eq!(fill("/ship it home")["text"], "Ship it to home.");
    let deploy = fill("/deploy staging");
    assert_eq!(deploy["kind"], "skill");
    let text = deploy["text"].as_str().unwrap();
    assert!(
        text.starts_with("[skill deploy, ") && text.contains("```\nFirst the tests.\n```\n\nstaging"),
        "{text}"
    );
    decide(&host, &project, Some("skip"));
    assert!(
        !has(&list(), "cmd:project:ship") && !has(&list(), "project:deploy") && has(&list(), "user:mine")
    );
    host.stop();
}

#[test]
fn a_sub_agent_gets_the_text_of_the_project_once_too() {
    let stand = Stand::with_subs(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "run_sub_agent")) {
            ("tool", _) => Script::say(format!("got: {text}")),
            (_, Some(router)) => {
                Script::call("to-sub", router, &json!({ "task": "look around", "agent_id": "researcher" }))
            }
            _ => Script::say("looked around"),
        }
    });
    let project = project(&stand);
    let host = stand.sandbox.serve();
    decide(&host, &project, Some("use"));
    let chat = chat(&host, &stand.agent, &project);
    let run = say(&host, &chat, "go", None);
    until(&host, &run, &["done"]);
    let requests = stand.model.requests();
    let of_sub: Vec<&Value> =
        requests.iter().filter(|request| request.to_string().contains("look around")).collect();
    assert!(of_sub.iter().any(|request| offered(request, "run_sub_agent").is_none()), "{requests:#?}");
    for request in &requests {
        assert_eq!(marks(request), 1, "{request:#}");
    }
    host.stop();
}

fn audited(stand: &Stand, kind: &str) -> usize {
    let folder = stand.sandbox.state().join("audit");
    let files = match std::fs::read_dir(&folder) {
        Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
        Err(_) => vec![stand.sandbox.state().join("audit.jsonl")],
    };
    let lines = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<String>();
    lines.lines().filter(|line| line.contains(&format!("\"type\":\"{kind}\""))).count()
}

#[test]
fn a_word_given_elsewhere_closes_the_other_questions_about_the_same_project() {
    let stand = Stand::new(|request| reply("openai", &format!("marks: {}", marks(request))));
    let project = project(&stand);
    let host = stand.sandbox.serve();
    let open =
        |host: &RunningHost| host.ask("GET", "/api/v1/prompts?view=needs_you", None).json()["items"].clone();
    let cut_off = say(&host, &chat(&host, &stand.agent, &project), "one", Some("ask"));
    let first = question(&host);
    host.kill();
    let host = stand.sandbox.serve();
    until(&host, &cut_off, &["interrupted"]);
    // Two more chats of the project wait; one is answered.
    let waiting = say(&host, &chat(&host, &stand.agent, &project), "two", Some("ask"));
    let answered = say(&host, &chat(&host, &stand.agent, &project), "three", Some("ask"));
    let all = eventually("three questions", || {
        let all = open(&host).as_array()?.clone();
        (all.len() == 3).then_some(all)
    });
    let own = all.iter().find(|item| item["runId"] == answered.as_str()).unwrap();
    answer(&host, own, "use");
    for run in [&waiting, &answered] {
        until(&host, run, &["done"]);
    }
    assert_eq!(open(&host), json!([]), "also that of the interrupted run");
    let closed =
        host.ask("GET", &format!("/api/v1/prompts/{}", first["requestId"].as_str().unwrap()), None).json();
    assert_eq!(closed["answer"]["response"]["code"], "superseded", "{closed}");
    assert_eq!(audited(&stand, "prompt_superseded"), 2);
    let resumed = host.ask("POST", &format!("/api/v1/runs/{cut_off}/resume"), Some(&json!({})));
    assert_eq!(resumed.status, 202, "{}", resumed.text());
    until(&host, &cut_off, &["done"]);
    assert!(stand.model.requests().iter().all(|request| marks(request) == 1), "each chat was sent the text");
    host.stop();
}

#[test]
fn a_question_of_the_host_is_read_in_the_language_of_its_reader() {
    let mut stand = Stand::new(|_| Script::say("ok"));
    let project = project(&stand);
    let host = stand.sandbox.serve();
    say(&host, &chat(&host, &stand.agent, &project), "one", Some("ask"));
    let en = question(&host);
    let id = en["requestId"].as_str().unwrap().to_owned();
    assert_eq!(en["title"], "Use this project's instructions?", "{en}");
    stand.sandbox.set_variable("LANG", "zh_CN.UTF-8");
    let zh = stand.sandbox.run(&["prompts", "show", &id, "--json"]).json();
    assert_eq!((&zh["title"], &zh["shown"]), (&json!("使用此项目的说明文件吗？"), &en["shown"]), "{zh}");
    assert_eq!(zh["prompt"]["options"][0]["label"], "在此使用");
    host.stop();
}
