//! `chatos chat` in a pipe: one message, its reply on stdout, and an exit status that says how it ended.

use std::fs::File;

use chatos_testkit::{Outcome, Script};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered};

fn decide(request: &Value) -> Script {
    let (role, text) = last(request);
    match text.as_str() {
        _ if role == "tool" => Script::say(format!("got: {text}")),
        "count" => Script::call("call-1", offered(request, "count").unwrap(), &json!({ "key": "one" })),
        "fail" => {
            Script::Refuse { status: 401, headers: Vec::new(), body: json!({ "error": { "message": "no" } }) }
        }
        _ => Script::say(format!("you said {text}")),
    }
}

/// Runs the program with these bytes on its standard input.
fn piped(stand: &Stand, args: &[&str], stdin: &[u8]) -> Outcome {
    let file = stand.sandbox.root().join("stdin");
    std::fs::write(&file, stdin).unwrap();
    let mut command = stand.sandbox.command(args);
    command.stdin(File::open(&file).unwrap());
    stand.sandbox.run_command(command)
}

#[test]
fn a_pipe_is_the_message_and_only_the_reply_is_on_stdout() {
    let stand = Stand::new(decide);
    let said = piped(&stand, &["chat", "--agent", "counter"], "what is 语言?\n".as_bytes());
    assert_eq!((said.status, said.stdout.as_str()), (0, "you said what is 语言?\n"), "{said:?}");
    let said = piped(&stand, &["chat", "--agent", "COUNT"], b"count");
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(said.stdout, "got: counted one\n", "{said:?}");
    assert!(said.stderr.contains("counter count") && !said.stderr.contains('\u{1b}'), "{said:?}");
    let empty = piped(&stand, &["chat", "--agent", "counter"], b" \n");
    assert_eq!(empty.status, 2, "{empty:?}");
    let binary = piped(&stand, &["chat", "--agent", "counter"], b"\xff\xfe");
    assert_eq!(binary.status, 2, "{binary:?}");
    let chinese = piped(&stand, &["chat", "--agent", "counter", "--lang", "zh"], b"");
    assert!(chinese.stderr.contains("标准输入中没有消息"), "{chinese:?}");
}

#[test]
fn data_beside_a_message_and_attached_files_go_along() {
    let stand = Stand::new(decide);
    let notes = stand.sandbox.root().join("my notes.txt");
    std::fs::write(&notes, "the notes").unwrap();
    let args = ["chat", "--agent", "counter", "-p", "sum up", "--attach", notes.to_str().unwrap()];
    let said = piped(&stand, &args, b"line one\nline two\n");
    assert_eq!(said.status, 0, "{said:?}");
    let asked = stand.model.requests().last().unwrap()["messages"].to_string();
    for part in ["sum up", "stdin.txt", "line two", "my notes.txt", "the notes"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let shown = stand.sandbox.run(&["chats", "show", "last", "--json"]).json();
    let names: Vec<&str> = shown["messages"][0]["attachments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["my notes.txt", "stdin.txt"]);
    let gone = piped(&stand, &["chat", "-p", "x", "--attach", "not-there.txt"], b"");
    assert_eq!(gone.status, 4, "{gone:?}");
    std::fs::write(&notes, b"\x00\xff\xfe").unwrap();
    let binary = piped(&stand, &["chat", "-p", "x", "--attach", notes.to_str().unwrap()], b"");
    assert_eq!(binary.status, 1, "{binary:?}");
    let long = piped(&stand, &["chat", "-p", "x"], &vec![b'a'; 2 * 1024 * 1024 + 1]);
    assert_eq!(long.status, 2, "{long:?}");
}

#[test]
fn a_chat_goes_on_and_a_failed_run_is_one() {
    let stand = Stand::new(decide);
    let first = piped(&stand, &["chat", "--agent", "counter", "-p", "first"], b"");
    assert_eq!(first.status, 0, "{first:?}");
    let again = piped(&stand, &["chat", "--session", "last", "-p", "second"], b"");
    assert_eq!(again.status, 0, "{again:?}");
    let asked = stand.model.requests().last().unwrap()["messages"].to_string();
    assert!(asked.contains("first") && asked.contains("second"), "{asked}");
    let failed = piped(&stand, &["chat", "--session", "last"], b"fail");
    assert_eq!(failed.status, 1, "{failed:?}");
    assert!(failed.stderr.contains("error:"), "{failed:?}");
    let unknown = piped(&stand, &["chat", "--agent", "countre", "-p", "x"], b"");
    assert_eq!(unknown.status, 4, "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `counter`?"), "{unknown:?}");
}

#[test]
fn a_question_left_open_is_five_with_its_id_and_the_run_goes_on_when_it_is_answered() {
    let stand = Stand::asking("count", decide);
    let host = stand.sandbox.serve();
    let asked = piped(&stand, &["chat", "--agent", "counter", "-p", "count"], b"");
    assert_eq!(asked.status, 5, "{asked:?}");
    let open = stand.sandbox.run(&["prompts", "list", "--json"]).json();
    let id = open["items"][0]["requestId"].as_str().unwrap();
    assert!(asked.stderr.contains(id), "{asked:?}");
    assert_eq!(stand.counted("one"), 0);
    let answered = stand.sandbox.run(&["prompts", "answer", id, "--ok", "--select", "once"]);
    assert_eq!(answered.status, 0, "{answered:?}");
    let run =
        host.ask("GET", "/api/v1/runs?limit=1", None).json()["items"][0]["id"].as_str().unwrap().to_owned();
    crate::support::until(&host, &run, &["done"]);
    assert_eq!(stand.counted("one"), 1);
}
