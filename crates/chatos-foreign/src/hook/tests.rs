//! What programs send and are told.

use serde_json::{Value, json};

use super::*;

fn call(program: Program, event: &str, tool: &str, input: Value, cwd: &std::path::Path) -> Call {
    let input = match program {
        Program::Opencode => {
            json!({ "tool": tool, "args": input, "sessionID": "s", "callID": "c", "directory": cwd })
        }
        _ => {
            json!({ "hook_event_name": event, "tool_name": tool, "tool_input": input, "cwd": cwd, "session_id": "s" })
        }
    };
    Call::read(program, input.to_string().as_bytes()).unwrap()
}

#[test]
fn nothing_unreadable_is_a_call() {
    for program in Program::ALL {
        for input in [
            "",
            "[]",
            "{",
            "null",
            "{\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"cwd\":\"/\"}",
        ] {
            assert!(Call::read(program, input.as_bytes()).is_err(), "{program:?} {input}");
        }
        assert!(Call::read(program, &vec![b' '; MAX_INPUT + 1]).is_err());
    }
    let relative = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "x" });
    assert!(Call::read(Program::Claude, relative.to_string().as_bytes()).is_err());
}

#[test]
fn only_a_yes_of_a_person_is_a_yes() {
    for program in Program::ALL {
        for event in ["PermissionRequest", "PreToolUse", "BeforeTool", "tool.execute.before"] {
            for answer in [Answer::Deny("why".into()), Answer::Stop("why".into()), Answer::Own("why".into())]
            {
                let said = answer.say(program, event);
                assert!(!said.stdout.contains("\"allow\""), "{program:?} {event} {said:?}");
                assert!(said.code == 0 || said.code == 2);
            }
            let said = Answer::None.say(program, event);
            assert!(!said.stdout.contains("\"allow\"") && said.code == 0);
        }
    }
    let said = Answer::Allow.say(Program::Claude, "PreToolUse");
    assert_eq!(
        said.stdout,
        r#"{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"approved in ChatOS","hookEventName":"PreToolUse"}}"#
    );
    let said = Answer::Deny("no".into()).say(Program::Codex, "PermissionRequest");
    assert_eq!(
        said.stdout,
        r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"no"},"hookEventName":"PermissionRequest"}}"#
    );
    assert_eq!(Answer::Own("x".into()).say(Program::Opencode, "").code, 2);
    for (program, event, word) in [
        (Program::Claude, "PreToolUse", r#""continue":false"#),
        (Program::Claude, "PermissionRequest", r#""interrupt":true"#),
        (Program::Gemini, "BeforeTool", r#""continue":false"#),
    ] {
        let said = Answer::Stop("no".into()).say(program, event);
        assert!(said.stdout.contains(word) && said.stdout.contains("deny"), "{program:?} {said:?}");
    }
}

#[test]
fn tools_that_read_and_our_own_are_left_to_the_program() {
    let place = tempfile::tempdir().unwrap();
    let asked = |program, event, tool: &str, only: &[&str]| {
        let only: Vec<String> = only.iter().map(|word| (*word).to_owned()).collect();
        call(program, event, tool, json!({}), place.path()).is_asked(&only)
    };
    assert!(asked(Program::Claude, "PreToolUse", "Bash", &[]));
    assert!(!asked(Program::Claude, "PreToolUse", "Read", &[]));
    assert!(asked(Program::Claude, "PreToolUse", "Read", &["Re*"]));
    assert!(!asked(Program::Claude, "PreToolUse", "Bash", &["Re*"]));
    assert!(!asked(Program::Claude, "PreToolUse", "mcp__chatos__write_file", &["*"]));
    assert!(!asked(Program::Claude, "PermissionRequest", "AskUserQuestion", &[]));
    assert!(asked(Program::Gemini, "BeforeTool", "run_shell_command", &[]));
    assert!(asked(Program::Opencode, "", "some_server_tool", &[]));
}

#[test]
fn a_file_is_asked_about_as_its_difference() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.txt"), "one\ntwo\n").unwrap();
    let input = json!({ "file_path": "a.txt", "old_string": "two", "new_string": "2" });
    let edit = call(Program::Claude, "PreToolUse", "Edit", input, place.path());
    let asked = edit.question("cl_x", Some(5_000), Lang::En).unwrap();
    assert_eq!(asked.prompt["title"], "Edit a.txt?");
    assert!(asked.prompt["diff"].as_str().unwrap().contains("-two\n+2"), "{:?}", asked.prompt);
    assert_eq!((asked.effect.name.as_str(), &asked.prompt["timeoutMs"]), ("file_change", &json!(5_000)));
    std::fs::write(place.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    assert_ne!(
        edit.question("cl_x", None, Lang::En).unwrap().effect,
        asked.effect,
        "the file is another one now"
    );

    let write = call(
        Program::Opencode,
        "",
        "write",
        json!({ "filePath": place.path().join("b.txt"), "content": "x\n" }),
        place.path(),
    );
    let asked = write.question("cl_x", None, Lang::Zh).unwrap();
    assert_eq!(asked.prompt["title"], "创建 b.txt？");
    assert_eq!(asked.prompt["words"]["en"]["title"], "Create b.txt?", "for a page in the other language");
}

#[test]
fn commands_are_shown_as_they_will_run() {
    let place = tempfile::tempdir().unwrap();
    let shell = call(
        Program::Codex,
        "PermissionRequest",
        "Bash",
        json!({ "command": ["bash", "-lc", "rm -rf x"], "workdir": "sub" }),
        place.path(),
    );
    let asked = shell.question("cl_x", None, Lang::En).unwrap();
    assert_eq!(asked.prompt["command"], "rm -rf x");
    assert_eq!(asked.prompt["cwd"], json!(place.path().join("sub")));
    let other = call(Program::Gemini, "BeforeTool", "mcp_mail_send", json!({ "to": "a" }), place.path());
    let asked = other.question("cl_x", None, Lang::En).unwrap();
    assert_eq!(asked.prompt["kind"], "choice");
    assert!(asked.prompt["message"].as_str().unwrap().contains("\"to\": \"a\""));
    let response = |text: &str| serde_json::from_str::<Value>(text).unwrap().as_object().unwrap().clone();
    assert!(asked.agrees(&response(r#"{"status":"ok","selection":"once"}"#)));
    for no in [r#"{"status":"ok"}"#, r#"{"status":"ok","selection":"no"}"#, r#"{"status":"canceled"}"#] {
        assert!(!asked.agrees(&response(no)), "{no}");
    }
}

#[test]
fn commands_are_told_apart_in_a_list() {
    let title = |command: &str| {
        let input = json!({ "command": command });
        let call =
            json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input, "cwd": "/p" });
        let call = Call::read(Program::Claude, call.to_string().as_bytes()).unwrap();
        let question = call.question("cl_1", None, Lang::En).unwrap();
        assert_eq!(question.prompt["command"], command, "the whole of it");
        question.prompt["title"].as_str().unwrap().to_owned()
    };
    assert_eq!(title("cargo publish"), "Run “cargo publish”?");
    assert_eq!(title("make\nrm -rf x"), "Run “make…”?");
    assert_eq!(title(&"语".repeat(60)), format!("Run “{}…”?", "语".repeat(48)));
}
