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
        product: None,
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
            "structuredContent": {"status": "ok", "code": "ok", "data": {"path": "src/app.js"}},
            "_meta": {"chatos": {"server": "code_writer", "tool": "edit_file", "trace": stamp().trace,
                      "elapsedMs": 14, "size": 22 + 21, "ts": "2026-01-11T00:00:00.000Z"}},
        })
    );
    assert_eq!(envelope.context(), envelope.result()["_meta"]["chatos"]);
}

/// What a model pays for the envelope itself.
#[test]
fn success_costs_at_most_sixty_bytes_beside_its_data() {
    for ended in [Ended::Ok, Ended::Noop] {
        let envelope = seal(answer(ended, json!({"path": "src/app.js"}), "Edited src/app.js."));
        let structured = envelope.structured().unwrap();
        let beside = compact_len(&structured) - compact_len(&structured["data"]);
        assert!(beside <= 60, "{beside} bytes: {structured}");
    }
}

fn product(ended: Ended, opening: Opening, text: &str, part: &str) -> Answer {
    let at = text.find(part).unwrap();
    let product = Some(at..at + part.len());
    Answer { opening, product, ..answer(ended, json!({"path": "a"}), text) }
}

#[test]
fn a_product_that_is_text_is_in_the_data_as_well() {
    let stop = || ToolError::timeout(1, Phase::Run);
    let endings = [
        (Ended::Ok, Opening::Header),
        (Ended::Ok, Opening::Sign),
        (Ended::Noop, Opening::Sign),
        (Ended::Partial(stop()), Opening::Header),
        (Ended::Partial(stop()), Opening::Sign),
        (Ended::Failed(stop()), Opening::Header),
    ];
    for (ended, opening) in endings {
        let envelope = seal(product(ended, opening, "# a\n\n一\ntwo\n[sha256: 9f]", "一\ntwo\n"));
        assert_eq!(envelope.product(), Some("一\ntwo\n"), "{}", envelope.text);
        let result = envelope.result();
        assert_eq!(result["structuredContent"]["data"], json!({"path": "a", "text": "一\ntwo\n"}));
        assert_eq!(envelope.structured().unwrap(), result["structuredContent"]);
        assert_eq!(envelope.size, envelope.text.len() + compact_len(&result["structuredContent"]["data"]));
        let mut written = Vec::new();
        envelope.write_result(&mut written).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), result);
    }
}

#[test]
fn a_product_is_cut_by_the_rule_of_the_text() {
    let limits = TextLimits { result_chars: 1000, line_chars: 200 };
    let keeps = [(Keep::Head, true, false), (Keep::Tail, false, true), (Keep::HeadTail, true, true)];
    for (keep, head, tail) in keeps {
        let lines = format!("first\n{}last\n", "a line\n".repeat(1000));
        let text = format!("# a\n\n{lines}[sha256: 9f]");
        let answer = Answer { keep, ..product(Ended::Ok, Opening::Header, &text, &lines) };
        let envelope = Envelope::seal(answer, stamp(), limits, Lang::En);
        let shown = envelope.product().unwrap();
        assert!(shown.chars().count() <= 1000 && shown.contains(" lines omitted"), "{shown}");
        assert_eq!((shown.starts_with("first\n"), shown.ends_with("last\n")), (head, tail), "{shown}");
        assert_eq!(envelope.structured().unwrap()["data"]["truncated"], true);
    }
    let long = "x".repeat(500);
    let text = format!("# a\n\n{long}");
    let envelope =
        Envelope::seal(product(Ended::Ok, Opening::Header, &text, &long), stamp(), limits, Lang::En);
    assert_eq!(envelope.product(), Some(format!("{} …(+300 chars)", "x".repeat(200)).as_str()));
}

/// A client that hands only the structured part to its model would drop them.
#[test]
fn a_result_with_a_picture_a_sound_or_a_document_has_no_structured_part() {
    let document = crate::content::Document {
        uri: "test://a".into(),
        mime_type: "text/plain".into(),
        body: crate::content::DocumentBody::Text("hello".into()),
    };
    let media = [
        Content::Image { data: "AA==".into(), mime_type: "image/png".into() },
        Content::Audio { data: "AA==".into(), mime_type: "audio/wav".into() },
        Content::document(document),
    ];
    for part in media {
        let with = Answer { parts: vec![part], ..answer(Ended::Ok, json!({"path": "a"}), "See it.") };
        let envelope = seal(with);
        assert_eq!((envelope.structured(), envelope.result().get("structuredContent")), (None, None));
        assert_eq!(envelope.result()["_meta"]["chatos"]["tool"], "edit_file");
    }
    let texts = Answer { parts: vec![Content::text("more")], ..answer(Ended::Ok, json!({}), "See it.") };
    assert!(seal(texts).structured().is_some());
}

#[test]
fn a_refused_argument_reads_as_in_the_specification() {
    let issue = Issue::new("/maxResults", IssueCode::UnknownKey, Text::fixed("unknown key", "未知的键"))
        .hint(Text::fixed("did you mean \"max_results\"?", "你是否想写 \"max_results\"？"));
    let envelope = seal(Answer::failed(ToolError::invalid(vec![issue.clone()])));
    assert_eq!(envelope.text, "✗ [invalid_argument] /maxResults: unknown key. Did you mean \"max_results\"?");
    let structured = envelope.structured().unwrap();
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
    assert_eq!(needs.structured().unwrap()["error"]["type"], "needs_input");

    let declined =
        ToolError::canceled(CanceledBy::Person).data(json!({"confirmed": false, "request_id": "r"}));
    let canceled = seal(Answer::failed(declined));
    assert_eq!(canceled.text, "– the person declined; nothing was changed");
    assert_eq!(canceled.result()["isError"], false);
    assert_eq!(canceled.structured().unwrap()["error"]["details"], json!({"by": "person"}));
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
        assert_eq!(envelope.structured().unwrap()["error"]["retryable"], retryable);
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
    let cuts = &envelope.context()["truncated"];
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
        let structured = envelope.structured().unwrap();
        assert_eq!(crate::schema::mismatches(&schema, &structured), Vec::<String>::new(), "{structured}");
    }
    let found =
        crate::schema::mismatches(&schema, &json!({"status": "fine", "code": "ok", "data": 7, "more": 1}));
    assert_eq!(found.len(), 3, "{found:?}");
    let whole = crate::schema::publish(&output_schema(&with_text(data)), Lang::En);
    let read = seal(product(Ended::Ok, Opening::Header, "# a\n\nx", "x")).structured().unwrap();
    assert_eq!(crate::schema::mismatches(&whole, &read), Vec::<String>::new(), "{read}");
    let without = json!({"status": "ok", "code": "ok", "data": {"path": "a"}});
    assert_eq!(crate::schema::mismatches(&whole, &without).len(), 1, "the product is promised");
}

#[test]
fn a_hint_begins_with_a_capital_letter_but_a_name_keeps_its_spelling() {
    assert_eq!(super::words::sentence("try again"), "Try again");
    assert_eq!(super::words::sentence("list_tasks shows the ids"), "list_tasks shows the ids");
    assert_eq!(super::words::sentence(""), "");
}
