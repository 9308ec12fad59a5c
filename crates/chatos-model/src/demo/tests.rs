//! The demo model does real things with what it is offered, and says what it is.

use super::*;
use crate::{Answer, ToolCall};

fn tool(name: &str) -> Tool {
    Tool { name: name.to_owned(), description: String::new(), parameters: json!({ "type": "object" }) }
}

fn user(text: &str) -> Message {
    Message::user(text)
}

fn ask(messages: Vec<Message>, tools: &[&str]) -> Answer {
    let tools = tools.iter().map(|name| tool(name)).collect();
    let request = Request { messages, tools, ..Request::default() };
    let mut whole = Answer::default();
    for event in answer(&request) {
        whole.take(&event);
    }
    assert_eq!(answer(&request), answer(&request), "the same request has the same answer");
    whole
}

/// The conversation goes on with what a tool said.
fn went_on(mut messages: Vec<Message>, first: &Answer, content: &str, is_error: bool) -> Vec<Message> {
    let call: &ToolCall = &first.tool_calls[0];
    messages.push(Message::Assistant {
        text: first.text.clone(),
        reasoning: Vec::new(),
        tool_calls: first.tool_calls.clone(),
    });
    messages.push(Message::Tool {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: content.to_owned(),
        is_error,
        images: Vec::new(),
    });
    messages
}

#[test]
fn it_streams_and_says_what_it_is() {
    let request = Request { messages: vec![user("hello")], ..Request::default() };
    let events = answer(&request);
    assert!(events.iter().filter(|event| matches!(event, Event::Text(_))).count() > 5);
    assert_eq!(events.last(), Some(&Event::Done(Stop::End)));
    let whole = ask(vec![user("hello")], &[]);
    assert!(whole.text.contains("demo model"));
    assert!(whole.usage.is_some_and(|usage| usage.estimated && usage.output > 0));
    assert!(ask(vec![user("你好")], &[]).text.contains("演示模型"));
    assert!(ask(Vec::new(), &[]).tool_calls.is_empty());
}

#[test]
fn it_calls_the_offered_tool_once_and_tells_the_result() {
    let messages = vec![user("list files")];
    let first = ask(messages.clone(), &["mcp_project_files_list_directory"]);
    assert_eq!(first.tool_calls[0].name, "mcp_project_files_list_directory");
    assert_eq!(first.stop, Some(Stop::ToolUse));
    let arguments: Value = serde_json::from_str(&first.tool_calls[0].arguments).unwrap();
    assert_eq!(arguments, json!({ "path": "." }));
    let second = ask(
        went_on(messages.clone(), &first, "README.md\n```x```", false),
        &["mcp_project_files_list_directory"],
    );
    assert!(second.tool_calls.is_empty() && second.text.contains("README.md"));
    assert!(
        second.text.contains("````\nREADME.md\n```x```\n````"),
        "a fence in the result does not end ours"
    );
    let failed =
        ask(went_on(messages, &first, "no such directory", true), &["mcp_project_files_list_directory"]);
    assert!(failed.tool_calls.is_empty() && failed.text.contains("no such directory"));
}

#[test]
fn what_it_shows_has_no_ids_and_no_footer() {
    let id = "01a1e7e8-173e-700a-abde-1b7d11bd7f14";
    let messages = vec![user("show my tasks")];
    let first = ask(messages.clone(), &["list_tasks"]);
    let listed = format!("[todo] read (id={id}, session={id}) #demo\n📄 a.txt (6 B)\n(1 total, 1 open)");
    let told = ask(went_on(messages, &first, &listed, false), &["list_tasks"]).text;
    assert!(told.contains("[todo] read #demo\n📄 a.txt (6 B)\n(1 total, 1 open)"), "{told}");
    assert!(!told.contains("demo model") && !told.contains("#/agents/models"), "{told}");
}

#[test]
fn without_a_grant_it_says_so_and_calls_nothing() {
    for text in ["list files", "add a task: x", "ask me something", "run a sub agent", "show me a diff"] {
        let answer = ask(vec![user(text)], &["mcp_other_thing"]);
        assert!(answer.tool_calls.is_empty(), "{text}");
        assert!(answer.text.contains("permissions profile"), "{text}: {}", answer.text);
    }
    // A name that only ends alike is another tool.
    assert!(ask(vec![user("list files")], &["mcp_x_mylist_directoryx"]).tool_calls.is_empty());
}

#[test]
fn a_new_task_is_shown_in_the_list_and_ids_differ() {
    let tools = ["mcp_task_manager_add_task", "mcp_task_manager_list_tasks"];
    let messages = vec![user("添加任务：写周报")];
    let first = ask(messages.clone(), &tools);
    assert!(first.tool_calls[0].arguments.contains("写周报"));
    let messages = went_on(messages, &first, "added", false);
    let second = ask(messages.clone(), &tools);
    assert_eq!(second.tool_calls[0].name, "mcp_task_manager_list_tasks");
    assert_ne!(second.tool_calls[0].id, first.tool_calls[0].id);
    let third = ask(went_on(messages, &second, "- 写周报", false), &tools);
    assert!(third.tool_calls.is_empty() && third.text.contains("写周报"));
}

#[test]
fn every_intent_with_a_tool_sends_arguments_that_are_json() {
    let tools = [
        "get_current_time",
        "mcp_a_list_directory",
        "mcp_a_add_task",
        "mcp_a_list_tasks",
        "mcp_a_prompt_key_values",
        "mcp_a_prompt_choices",
        "mcp_a_write_file",
        "mcp_a_run_sub_agent",
    ];
    for text in [
        "what time is it",
        "list files",
        "todo x",
        "list tasks",
        "ask me something",
        "let me choose",
        "show a diff",
        "run a sub agent",
        "让我选择",
        "问我",
        "修改文件",
        "运行子智能体",
    ] {
        let answer = ask(vec![user(text)], &tools);
        assert_eq!(answer.tool_calls.len(), 1, "{text}");
        let arguments: Value = serde_json::from_str(&answer.tool_calls[0].arguments).unwrap();
        assert!(arguments.is_object(), "{text}");
    }
}

#[test]
fn what_it_does_not_understand_leads_to_the_models_page() {
    for text in ["explain relativity", "量子力学是什么", "\u{0}\u{feff}", "🙂"] {
        let answer = ask(vec![user(text)], &[]);
        assert!(answer.text.contains("#/agents/models"), "{text}");
    }
    let picture = Message::User {
        text: "look".to_owned(),
        images: vec![crate::Image { mime: "image/png".to_owned(), data: String::new(), pixels: None }],
        documents: Vec::new(),
    };
    assert!(ask(vec![picture], &[]).text.contains("pictures"));
}

#[test]
fn a_summary_is_made_of_sentences_of_the_text() {
    let text = "summarise: First things first. This is by far the longest sentence of all of them here. Short. Last.";
    let answer = ask(vec![user(text)], &[]);
    for sentence in ["First things first.", "longest sentence", "Last."] {
        assert!(answer.text.contains(sentence), "{}", answer.text);
    }
    let talk = vec![user("hello there friend"), user("summarise")];
    assert!(ask(talk, &[]).text.contains("hello there friend"));
}

#[test]
fn ordered_calls_are_made_one_after_the_other() {
    let tools = ["mcp_com_example_demo_app_echo", "mcp_com_example_demo_app_report_run"];
    let asked =
        vec![user("/calls [{\"tool\": \"echo\", \"args\": {\"text\": \"hi\"}}, {\"tool\": \"report_run\"}]")];
    let first = ask(asked.clone(), &tools);
    assert_eq!(first.tool_calls[0].name, tools[0]);
    assert_eq!(first.tool_calls[0].arguments, r#"{"text":"hi"}"#);
    let next = went_on(asked, &first, "hi", false);
    let second = ask(next.clone(), &tools);
    assert_eq!(
        (second.tool_calls[0].name.as_str(), second.tool_calls[0].arguments.as_str()),
        (tools[1], "{}")
    );
    let last = ask(went_on(next, &second, "broken", true), &tools);
    assert!(
        last.tool_calls.is_empty() && last.text.contains("hi") && last.text.contains("broken"),
        "{}",
        last.text
    );
}

#[test]
fn an_order_that_cannot_be_read_or_done_says_so() {
    let said = |text: &str| ask(vec![user(text)], &["mcp_a_echo"]);
    for bad in ["/call echo {", "/call echo [1]", "/calls {}", "/calls [{}]", "/call "] {
        let answer = said(bad);
        assert!(answer.tool_calls.is_empty() && !answer.text.is_empty(), "{bad}: {}", answer.text);
    }
    assert!(said("/call nothing {}").text.contains("`mcp_a_echo`"));
    assert_eq!(said("/call mcp_a_echo").tool_calls.len(), 1);
    assert!(said("/callous people").tool_calls.is_empty());
}

#[test]
fn after_a_no_it_does_not_say_that_it_did_it() {
    let tools = ["mcp_a_write_file"];
    for (text, no, said) in [
        ("show a diff", "– the person declined; nothing was changed. Their note: \"no\"", "You said no"),
        ("修改文件", "– 用户拒绝，未做任何更改", "你拒绝了"),
    ] {
        let first = ask(vec![user(text)], &tools);
        let messages = went_on(vec![user(text)], &first, no, false);
        let answer = ask(messages, &tools);
        assert!(answer.text.contains(said), "{}", answer.text);
    }
}
