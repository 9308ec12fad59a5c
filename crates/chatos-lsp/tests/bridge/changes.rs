//! Tools that change files.

use super::*;

fn rename(apply: bool) -> Value {
    json!({"path": "one.fk", "line": 2, "symbol": "beta", "new_name": "delta", "apply": apply})
}

#[tokio::test]
async fn a_rename_is_shown_then_made_in_all_files() {
    let bench = Bench::new("good");
    bench.call("lsp_hover", json!({"path": "two.fk", "symbol": "uses"})).await;
    let (shown, text) = bench.call("lsp_rename", rename(false)).await;
    assert_eq!(shown["data"]["result"]["applied"], false, "{shown:#}");
    assert!(
        text.contains("-beta gamma")
            && text.contains("+delta gamma")
            && text.contains("would change 2 file(s)"),
        "{text}"
    );
    let place = |line: u32, from: u32| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": from + 4}});
    let edits = [("one.fk", place(1, 9)), ("one.fk", place(2, 1)), ("two.fk", place(1, 6))]
        .map(|(path, range)| json!({"path": path, "range": range, "new_text": "delta"}));
    assert_eq!(shown["data"]["result"]["edit"]["edits"], json!(edits), "from 1, in UTF-16");
    assert_eq!(bench.text("two.fk"), "uses beta\n", "nothing happened yet");
    let (made, text) = bench.call("lsp_rename", rename(true)).await;
    assert_eq!(made["data"]["result"]["applied"], true, "{made:#}");
    assert_eq!(bench.text("one.fk"), "alpha 中 delta\ndelta gamma\n");
    assert_eq!(bench.text("two.fk"), "uses delta\n");
    assert!(text.contains("no errors or warnings"), "the servers say what it means: {text}");
    let (taken, text) =
        bench.call("lsp_rename", json!({"path": "one.fk", "symbol": "delta", "new_name": "taken"})).await;
    assert_eq!(taken["code"], "invalid_argument");
    assert!(text.contains("the name is taken"), "{text}");
    bench.end().await;
}

#[tokio::test]
async fn a_person_sees_the_whole_diff_and_may_say_no() {
    let bench = Bench::with("good", ToolSettings { confirm_file_changes: true, ..quiet() });
    bench.call("lsp_hover", json!({"path": "two.fk", "symbol": "uses"})).await;
    let answered = async {
        let (id, entry) = bench.queue.asked().await;
        let diff = entry.request.prompt["diff"].as_str().unwrap().to_owned();
        bench.queue.reply(&id, json!({"status": "canceled"}), "ui", None);
        diff
    };
    let ((declined, _), diff) = tokio::join!(bench.call("lsp_rename", rename(true)), answered);
    assert_eq!(declined["status"], "canceled", "{declined:#}");
    for part in ["+++ b/one.fk", "+++ b/two.fk", "+uses delta"] {
        assert!(diff.contains(part), "{diff}");
    }
    assert_eq!(bench.text("two.fk"), "uses beta\n");
    bench.end().await;
}

#[tokio::test]
async fn files_are_made_moved_and_removed_or_nothing_is() {
    let bench = Bench::new("files");
    let (made, _) = bench.call("lsp_rename", rename(true)).await;
    assert_eq!(made["status"], "ok", "{made:#}");
    assert_eq!(bench.text("deep/renamed.fk"), "alpha 中 delta\ndelta gamma\n");
    assert_eq!(bench.text("made.fk"), "made\n");
    assert!(!bench.path("one.fk").exists() && !bench.path("two.fk").exists());
    bench.end().await;

    let bench = Bench::new("files");
    bench.write("made.fk", "in the way\n");
    let (refused, _) = bench.call("lsp_rename", rename(true)).await;
    assert_eq!(refused["code"], "conflict", "{refused:#}");
    assert_eq!(bench.text("made.fk"), "in the way\n");
    assert!(bench.path("one.fk").exists() && bench.path("two.fk").exists());
    bench.end().await;
}

#[tokio::test]
async fn what_must_not_be_applied_is_refused_whole() {
    for (mode, code, word) in [
        ("outside", "permission_denied", "outside"),
        ("overlap", "conflict", "overlap"),
        ("older", "conflict", "version"),
        ("nonsense", "not_supported", "not understood"),
    ] {
        let bench = Bench::new(mode);
        let (refused, text) = bench.call("lsp_rename", rename(true)).await;
        assert_eq!(refused["code"], code, "{mode}: {text}");
        assert!(text.contains(word), "{mode}: {text}");
        assert_eq!(bench.text("one.fk"), "alpha 中 beta\nbeta gamma\n", "{mode}");
        bench.end().await;
    }
}

#[tokio::test]
async fn formatting_keeps_the_form_of_a_file() {
    let bench = Bench::new("good");
    std::fs::write(bench.path("one.fk"), "one  \r\ntwo\r\n").unwrap();
    let (made, _) = bench.call("lsp_format_document", json!({"path": "one.fk", "apply": true})).await;
    assert_eq!(made["data"]["result"]["applied"], true, "{made:#}");
    assert_eq!(made["data"]["result"]["edits"][0]["range"]["start"], json!({"line": 1, "character": 1}));
    assert_eq!(bench.text("one.fk"), "one\r\ntwo\r\n");
    let (again, _) = bench.call("lsp_format_document", json!({"path": "one.fk", "apply": true})).await;
    assert_eq!(again["status"], "noop");
    bench.end().await;
}

#[tokio::test]
async fn actions_are_offered_shown_and_applied() {
    let bench = Bench::new("good");
    bench.write("one.fk", "is BAD here\nother\n");
    let (offered, text) = bench.call("lsp_code_actions", json!({"path": "one.fk", "line": 1})).await;
    assert_eq!(offered["data"]["result"]["actions"][0]["title"], "Fix the bad word", "{text}");
    let fix = |apply: bool| json!({"path": "one.fk", "line": 1, "title": "Fix the bad word", "apply": apply});
    let (_, text) = bench.call("lsp_code_actions", fix(false)).await;
    assert!(text.contains("-is BAD here\n+is good here"), "{text}");
    let (made, text) = bench.call("lsp_code_actions", fix(true)).await;
    assert_eq!(made["data"]["result"]["change"]["applied"], true, "{made:#}");
    assert!(text.contains("no errors or warnings"), "the problem is gone: {text}");
    let command = json!({"path": "one.fk", "line": 1, "title": "run a command", "apply": true});
    let (made, _) = bench.call("lsp_code_actions", command).await;
    assert_eq!(made["status"], "ok", "{made:#}");
    assert_eq!(bench.text("one.fk"), "// by command\nis good here\nother\n");
    for (title, code) in [
        ("Only in an editor", "not_supported"),
        ("Not now", "invalid_argument"),
        ("Nothing", "invalid_argument"),
    ] {
        let wanted = json!({"path": "one.fk", "line": 1, "title": title, "apply": true});
        assert_eq!(bench.call("lsp_code_actions", wanted).await.0["code"], code, "{title}");
    }
    let (bare, _) = bench.call("lsp_code_actions", json!({"path": "one.fk", "line": 1, "apply": true})).await;
    assert_eq!(bare["code"], "invalid_argument");
    bench.end().await;
}

#[tokio::test]
async fn a_server_that_does_not_know_the_whole_project_renames_nothing() {
    let lsp = LspSettings { timeout: Duration::from_secs(1), ..LspSettings::default() };
    let bench = Bench::with("loading", ToolSettings { lsp, ..quiet() });
    let (shown, text) = bench.call("lsp_rename", rename(false)).await;
    assert_eq!(shown["status"], "ok");
    assert!(text.contains("still analysing (Loading)"), "{text}");
    let (refused, text) = bench.call("lsp_rename", rename(true)).await;
    assert_eq!(refused["code"], "timeout", "{text}");
    assert!(text.contains("nothing was changed"), "{text}");
    assert_eq!(bench.text("one.fk"), "alpha 中 beta\nbeta gamma\n");
    bench.end().await;
}
