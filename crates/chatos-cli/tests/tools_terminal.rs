//! `chatos tools call` and the person at the terminal: asked there with and without a host, and nothing is
//! left in the queue when the person goes away.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

#[path = "support/terminal.rs"]
mod terminal;

use std::time::{Duration, Instant};

use chatos_testkit::Sandbox;
use serde_json::{Value, json};
use terminal::Terminal;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new(env!("CARGO_BIN_EXE_chatos"));
    std::fs::create_dir(sandbox.root().join("work")).unwrap();
    sandbox
}

/// Looks until it is so; a slow machine only takes longer.
fn until(what: &str, mut look: impl FnMut() -> bool) {
    let began = Instant::now();
    while !look() {
        assert!(began.elapsed() < Duration::from_secs(60), "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A change that has to be confirmed.
fn write<'a>(path: &'a str, lang: &'a str) -> [&'a str; 10] {
    ["tools", "call", "code_writer", "write_file", path, "contents=hello", "--root", "work", "--lang", lang]
}

fn exists(sandbox: &Sandbox, name: &str) -> bool {
    sandbox.root().join("work").join(name).exists()
}

/// The newest question and how it ended.
fn last(sandbox: &Sandbox) -> Value {
    sandbox.run(&["prompts", "list", "--all", "--json"]).json()["items"][0].take()
}

fn open(sandbox: &Sandbox) -> Value {
    sandbox.run(&["prompts", "list", "--json"]).json()["items"].take()
}

#[test]
fn a_change_is_approved_or_refused_in_the_terminal_without_a_host() {
    let sandbox = sandbox();
    let mut yes = Terminal::start(&sandbox, &write("path=yes.txt", "en"));
    yes.expect("Create yes.txt?").expect("yes.txt").expect("+hello").expect("a = approve");
    assert!(!exists(&sandbox, "yes.txt"), "nothing happens before the answer");
    yes.enter("a").expect("Answered").expect("✓ Created yes.txt");
    assert_eq!(yes.end().0, Some(0));
    assert!(exists(&sandbox, "yes.txt"));
    assert_eq!(last(&sandbox)["answer"]["by"], "person:cli");

    let mut no = Terminal::start(&sandbox, &write("path=no.txt", "zh"));
    no.expect("创建 no.txt？").expect("a = 同意").enter("r").expect("备注").enter("今天不行");
    no.expect("c = 附备注拒绝").enter("c").expect("已回答").expect("–");
    assert_eq!(no.end().0, Some(1), "canceled");
    assert!(!exists(&sandbox, "no.txt"));
    assert_eq!(last(&sandbox)["answer"]["response"], json!({ "status": "canceled", "remark": "今天不行" }));
    assert_eq!(open(&sandbox), json!([]));
}

#[test]
fn a_question_that_is_left_interrupted_or_hung_up_is_canceled() {
    let sandbox = sandbox();
    let mut left = Terminal::start(&sandbox, &write("path=a.txt", "en"));
    left.expect("a = approve").enter("q");
    assert_eq!(left.end().0, Some(1));
    let mut interrupted = Terminal::start(&sandbox, &write("path=a.txt", "en"));
    interrupted.expect("a = approve").press("\u{3}");
    assert_eq!(interrupted.end().0, Some(1));
    let mut hung_up = Terminal::start(&sandbox, &write("path=a.txt", "en"));
    hung_up.expect("a = approve");
    drop(hung_up);
    until("all of them are closed", || open(&sandbox) == json!([]));
    let all = sandbox.run(&["prompts", "list", "--all", "--json"]).json();
    let items = all["items"].as_array().unwrap();
    assert_eq!(items.len(), 3, "{all}");
    for item in items {
        assert_eq!(item["answer"]["status"], "canceled", "{item}");
    }
    assert!(!exists(&sandbox, "a.txt"));
}

#[test]
fn the_question_of_a_killed_command_is_closed_by_the_next_host() {
    let sandbox = sandbox();
    let killed = chatos_testkit::Terminal::start(sandbox.command(&write("path=a.txt", "en")));
    killed.wait_for("a = approve");
    let kill = chatos_testkit::child("kill").args(["-9", &killed.pid().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(killed.end().0, -1);
    let host = sandbox.serve();
    until("it is closed", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        list["items"] == json!([])
    });
    assert_eq!(last(&sandbox)["answer"]["response"]["code"], "asker_gone");
    assert!(host.stop().success());
}

#[test]
fn without_a_terminal_and_a_host_it_is_refused_at_once_and_says_what_to_do() {
    let sandbox = sandbox();
    for (lang, words, advice) in
        [("en", "none can be reached", "chatos serve"), ("zh", "无法联系到任何人", "终端")]
    {
        let refused = sandbox.run(&write("path=a.txt", lang));
        assert_eq!(refused.status, 3, "{refused:?}");
        assert!(refused.stdout.contains(words) && refused.stdout.contains(advice), "{}", refused.stdout);
    }
    assert_eq!(open(&sandbox), json!([]));
    assert!(!exists(&sandbox, "a.txt"));
}

#[test]
fn with_a_host_the_terminal_and_the_queue_both_ask_and_the_first_answer_counts() {
    let sandbox = sandbox();
    let host = sandbox.serve();
    let mut here = Terminal::start(&sandbox, &write("path=here.txt", "en"));
    here.expect("a = approve").enter("a").expect("✓ Created here.txt");
    assert_eq!(here.end().0, Some(0));
    let mut there = Terminal::start(&sandbox, &write("path=there.txt", "en"));
    there.expect("a = approve");
    let item = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json()["items"][0].take();
    let answer = json!({ "response": { "status": "ok" }, "shown": item["shown"] });
    let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
    assert_eq!(host.ask("POST", &path, Some(&answer)).status, 200);
    there.expect("✓ Created there.txt");
    assert_eq!(there.end().0, Some(0));
    // Without a terminal the question waits in the queue, and it is said where.
    let mut waiting = sandbox.command(&write("path=queue.txt", "en"));
    waiting.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut waiting = waiting.stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut said = String::new();
    let mut from = std::io::BufReader::new(waiting.stderr.take().unwrap());
    std::io::BufRead::read_line(&mut from, &mut said).unwrap();
    // It is said a moment before the question is in the queue.
    let mut id = Value::Null;
    until("the question is in the queue", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        id = list["items"].get(0).map(|item| item["requestId"].clone()).unwrap_or_default();
        id.is_string()
    });
    assert!(said.contains(&format!("chatos prompts answer {}", id.as_str().unwrap())), "{said}");
    assert_eq!(sandbox.run(&["prompts", "answer", id.as_str().unwrap(), "--cancel"]).status, 0);
    assert_eq!(waiting.wait().unwrap().code(), Some(1));
    assert!(!exists(&sandbox, "queue.txt"));
    assert!(host.stop().success());
}
