//! The examples of tools §5, and the rules around them.

use serde_json::json;

use super::*;
use crate::text::Text;
use crate::tool_error::{CanceledBy, DenyRule, Phase, Reason, Resource};
use crate::validation::{Issue, IssueCode};

fn stamp() -> Stamp {
    Stamp {
        server: "code_writer".into(),
        tool: "edit_file".into(),
        trace: Trace {
            trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736".into()),
            span_id: Some("00f067aa0ba902b7".into()),
            parent_span_id: None,
            root_agent_id: None,
            agent_id: None,
            sub_agent_id: None,
            run_id: None,
            session_id: None,
            tool_name: Some("edit_file".into()),
        },
        elapsed_ms: 14,
        ts: "2026-01-11T00:00:00.000Z".into(),
    }
}

fn answer(ended: Ended, data: Value, text: &str) -> Answer {
    Answer {
        ended,
        data,
        text: text.into(),
        opening: Opening::Sign,
        keep: Keep::Head,
        cuts: Vec::new(),
        private: Vec::new(),
        parts: Vec::new(),
    }
}

fn seal(answer: Answer) -> Envelope {
    Envelope::seal(answer, stamp(), TextLimits::default(), Lang::En)
}

#[test]
fn success_has_exactly_the_documented_keys() {
    let envelope = seal(answer(Ended::Ok, json!({"path": "src/app.js"}), "Edited src/app.js."));
    assert_eq!(
        envelope.result(),
        json!({
            "content": [{"type": "text", "text": "✓ Edited src/app.js."}],
            "isError": false,
            "structuredContent": {
                "status": "ok", "code": "ok", "data": {"path": "src/app.js"},
                "chatos": {"server": "code_writer", "tool": "edit_file", "trace": stamp().trace,
                           "elapsedMs": 14, "size": 22 + 21, "ts": "2026-01-11T00:00:00.000Z"},
            },
        })
    );
    let keys: Vec<_> = envelope.structured().as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["status", "code", "data", "chatos"]);
}

#[test]
fn a_refused_argument_reads_as_in_the_specification() {
    let issue = Issue::new("/maxResults", IssueCode::UnknownKey, Text::fixed("unknown key", "未知的键"))
        .hint(Text::fixed("did you mean \"max_results\"?", "您是否想写 \"max_results\"？"));
    let envelope = seal(Answer::failed(ToolError::invalid(vec![issue.clone()])));
    assert_eq!(envelope.text, "✗ [invalid_argument] /maxResults: unknown key. Did you mean \"max_results\"?");
    let structured = envelope.structured();
    assert_eq!((&structured["status"], &structured["code"]), (&json!("invalid"), &json!("invalid_argument")));
    assert_eq!(structured["data"], Value::Null);
    assert_eq!(structured["error"]["details"]["issues"][0]["path"], "/maxResults");
    assert_eq!(structured["error"]["retryable"], false);
    assert_eq!(envelope.result()["isError"], true);
    let two = seal(Answer::failed(ToolError::invalid(vec![issue.clone(), issue])));
    assert_eq!(two.text.lines().count(), 3);
    assert!(two.text.starts_with("✗ [invalid_argument] 2 argument problems\n- /maxResults"));
}

#[test]
fn partial_keeps_its_work_and_is_no_error() {
    let reason = ToolError::new(
        Reason::ResourceExhausted { resource: Resource::Files, limit: Some(50_000), actual: None },
        Text::fixed("search stopped after 50000 files", "搜索在 50000 个文件后停止"),
    )
    .hint(Text::fixed("narrow path or glob", "请缩小路径或通配符"));
    let envelope = seal(answer(Ended::Partial(reason), json!({"complete": false}), "1 match"));
    assert_eq!(
        envelope.text,
        "◐ 1 match\n[resource_exhausted] search stopped after 50000 files. Narrow path or glob"
    );
    let result = envelope.result();
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["error"]["details"], json!({"resource": "files", "limit": 50000}));
}

#[test]
fn waiting_and_canceling_are_no_errors() {
    let data = json!({"needs": {"kind": "stdin", "resume": {"tool": "t", "arguments": {}}}});
    let needs = seal(answer(Ended::NeedsInput, data, "Password:"));
    assert_eq!((needs.status, needs.code), (Status::NeedsInput, "needs_input"));
    assert!(needs.text.starts_with('?'));
    assert_eq!(needs.structured()["error"]["type"], "needs_input");

    let declined =
        ToolError::canceled(CanceledBy::Person).data(json!({"confirmed": false, "request_id": "r"}));
    let canceled = seal(Answer::failed(declined));
    assert_eq!(canceled.text, "– the person declined; nothing was changed");
    assert_eq!(canceled.result()["isError"], false);
    assert_eq!(canceled.structured()["error"]["details"], json!({"by": "person"}));
}

#[test]
fn the_note_of_a_no_is_in_the_text_as_the_persons_words() {
    let declined = || ToolError::declined(Some("use\nthe other folder\u{1b}"));
    let text = seal(Answer::failed(declined())).text;
    assert_eq!(text, "– the person declined; nothing was changed. Their note: \"use the other folder\"");
    assert_eq!(declined().message.zh, "用户拒绝，未做任何更改。备注：“use the other folder”");
    assert_eq!(ToolError::declined(Some(" \n")), ToolError::canceled(CanceledBy::Person));
}

#[test]
fn statuses_and_errors_follow_the_table() {
    let rows = [
        (ToolError::denied(DenyRule::LandConfig, Text::same("m")), "denied", true, false),
        (ToolError::timeout(1, Phase::Run), "timeout", true, true),
        (ToolError::internal("r"), "error", true, false),
        (ToolError::new(Reason::RateLimited { retry_after_ms: 1 }, Text::same("m")), "error", true, true),
        (ToolError::canceled(CanceledBy::Caller), "canceled", false, false),
    ];
    for (error, status, is_error, retryable) in rows {
        let envelope = seal(Answer::failed(error));
        assert_eq!(envelope.status.as_str(), status);
        assert_eq!(envelope.status.is_error(), is_error);
        assert_eq!(envelope.structured()["error"]["retryable"], retryable);
    }
}

#[test]
fn a_cut_is_announced_three_times() {
    let limits = TextLimits { result_chars: 1000, line_chars: 200 };
    let lines = "a line\n".repeat(1000);
    let data = json!({"contents": lines, "path": "a"});
    let envelope = Envelope::seal(answer(Ended::Ok, data, &lines), stamp(), limits, Lang::En);
    assert!(envelope.text.contains("bytes, ") && envelope.text.contains(" lines omitted"));
    assert_eq!(envelope.data["truncated"], true);
    let cuts = &envelope.structured()["chatos"]["truncated"];
    assert_eq!((&cuts[0]["field"], &cuts[1]["field"]), (&json!("/contents"), &json!("text")));
    assert_eq!(envelope.status, Status::Ok, "truncation alone keeps the status");
    assert_eq!(envelope.size, envelope.text.len() + compact_len(&envelope.data));
}

#[test]
fn every_outcome_fits_the_published_schema() {
    let data = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let schema = crate::schema::publish(&output_schema(&data), Lang::En);
    let declined =
        ToolError::canceled(CanceledBy::Person).data(json!({"confirmed": false, "request_id": "r"}));
    let needs = json!({"needs": {"kind": "stdin", "resume": {"tool": "t", "arguments": {}}}});
    let limits = TextLimits { result_chars: 1000, line_chars: 200 };
    let envelopes = [
        seal(answer(Ended::Ok, json!({"path": "a"}), "x")),
        seal(answer(Ended::Noop, json!({"path": "a"}), "x")),
        seal(answer(Ended::Partial(ToolError::internal("r")), json!({"path": "a"}), "x")),
        seal(answer(Ended::NeedsInput, needs, "x")),
        seal(Answer::failed(declined)),
        seal(Answer::failed(ToolError::invalid(vec![Issue::new("/a", IssueCode::Type, Text::same("m"))]))),
        Envelope::seal(answer(Ended::Ok, json!({"path": "p".repeat(9000)}), "x"), stamp(), limits, Lang::Zh),
    ];
    for envelope in envelopes {
        let structured = envelope.structured();
        assert_eq!(crate::schema::mismatches(&schema, &structured), Vec::<String>::new(), "{structured}");
    }
    let found =
        crate::schema::mismatches(&schema, &json!({"status": "fine", "code": "ok", "data": 7, "more": 1}));
    assert_eq!(found.len(), 4, "{found:?}");
}

#[test]
fn a_hint_begins_with_a_capital_letter_but_a_name_keeps_its_spelling() {
    assert_eq!(super::words::sentence("try again"), "Try again");
    assert_eq!(super::words::sentence("list_tasks shows the ids"), "list_tasks shows the ids");
    assert_eq!(super::words::sentence(""), "");
}
