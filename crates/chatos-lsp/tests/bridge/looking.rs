//! Tools that change nothing.

use super::*;

#[tokio::test]
async fn every_question_has_its_answer() {
    let bench = Bench::new("good");
    let (hover, text) = bench.call("lsp_hover", json!({"path": "one.fk", "line": 1, "character": 9})).await;
    assert_eq!(hover["status"], "ok", "{hover:#}");
    assert_eq!(hover["data"]["position"], json!({"line": 1, "character": 9}));
    assert_eq!(hover["data"]["document"]["language_id"], "fake");
    assert!(text.starts_with("one.fk:1:9\n**beta** of "), "{text}");
    let (by_symbol, _) = bench.hover("gamma").await;
    assert_eq!(by_symbol["data"]["position"], json!({"line": 2, "character": 6}));
    bench.call("lsp_hover", json!({"path": "two.fk", "symbol": "uses"})).await;
    let (found, text) =
        bench.call("lsp_references", json!({"path": "one.fk", "line": 2, "symbol": "beta"})).await;
    let places: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(
        places,
        ["one.fk:1:9  alpha 中 beta", "one.fk:2:1  beta gamma", "two.fk:1:6  uses beta"],
        "{found:#}"
    );
    let (cut, text) =
        bench.call("lsp_references", json!({"path": "one.fk", "symbol": "beta", "limit": 1})).await;
    assert_eq!(
        (cut["data"]["truncated"].as_bool(), cut["data"]["result"].as_array().unwrap().len()),
        (Some(true), 1)
    );
    assert!(text.contains("2 more of 3"), "{text}");
    let (definition, _) = bench.call("lsp_definition", json!({"path": "one.fk", "symbol": "gamma"})).await;
    assert_eq!(definition["data"]["result"][0]["path"], "one.fk");
    let (items, text) = bench.call("lsp_completion", json!({"path": "one.fk", "symbol": "beta"})).await;
    assert_eq!(items["data"]["result"]["items"][0]["insert_text"], "alpha()");
    assert!(text.contains("alpha (variable)\nbeta (function)  fn beta()"), "{text}");
    let (_, text) = bench.call("lsp_document_symbols", json!({"path": "one.fk"})).await;
    assert!(text.contains("1:1-1 class outer\n  2:1-2 method inner  fn"), "{text}");
    let (named, _) = bench.call("lsp_workspace_symbols", json!({"query": "q", "server_id": "fake"})).await;
    assert_eq!(named["data"]["result"].as_array().unwrap().len(), 2);
    let (calls, text) = bench.call("lsp_call_hierarchy", json!({"path": "one.fk", "symbol": "alpha"})).await;
    assert_eq!(calls["data"]["result"]["function"], "alpha");
    assert!(text.contains("function caller  one.fk:1:1  alpha 中 beta  @2"), "{text}");
    let out = json!({"path": "one.fk", "symbol": "alpha", "direction": "outgoing"});
    assert!(bench.call("lsp_call_hierarchy", out).await.1.contains("function callee"));
    let (nothing, _) = bench.call("lsp_hover", json!({"path": "one.fk", "line": 1, "character": 8})).await;
    assert_eq!(nothing["status"], "ok");
    assert_eq!(bench.seen("textDocument/didOpen"), 2, "a text is opened once");
    bench.end().await;
}

#[tokio::test]
async fn a_server_that_counts_bytes_is_understood() {
    let bench = Bench::new("utf8");
    let (hover, text) = bench.call("lsp_hover", json!({"path": "one.fk", "line": 1, "character": 9})).await;
    assert!(text.contains("**beta**"), "{hover:#}");
    let (_, text) = bench.call("lsp_references", json!({"path": "one.fk", "symbol": "beta"})).await;
    assert!(text.contains("one.fk:1:9"), "{text}");
    bench.write("one.fk", "alpha 中文 betas\nbeta gamma\n");
    let (_, text) = bench.call("lsp_hover", json!({"path": "one.fk", "line": 1, "symbol": "betas"})).await;
    assert!(text.contains("**betas**"), "a change in the middle of a line arrives: {text}");
    bench.end().await;
}

#[tokio::test]
async fn the_text_on_disk_counts_whoever_changed_it() {
    for mode in ["good", "full"] {
        let bench = Bench::new(mode);
        bench.call("lsp_hover", json!({"path": "two.fk", "symbol": "uses"})).await;
        bench.hover("alpha").await;
        bench.write("two.fk", "nothing of it here\n");
        let (found, text) = bench.call("lsp_references", json!({"path": "one.fk", "symbol": "beta"})).await;
        assert_eq!(found["data"]["result"].as_array().unwrap().len(), 2, "{text}");
        std::fs::remove_file(bench.path("two.fk")).unwrap();
        bench.hover("alpha").await;
        assert_eq!(bench.seen("textDocument/didClose"), 1);
        bench.end().await;
    }
}

#[tokio::test]
async fn problems_are_waited_for_and_fresh_or_not() {
    let bench = Bench::new("good");
    let (clean, text) = bench.call("lsp_get_diagnostics", json!({"path": "one.fk"})).await;
    assert_eq!(
        (clean["status"].as_str(), clean["data"]["result"]["fresh"].as_bool()),
        (Some("ok"), Some(true))
    );
    assert!(text.contains("no problems"), "{text}");
    bench.write("one.fk", "fine\nis BAD here\n");
    let (bad, text) = bench.call("lsp_get_diagnostics", json!({"path": "one.fk"})).await;
    assert_eq!(bad["data"]["result"]["version"], 2);
    assert_eq!(text, "one.fk\none.fk:2:4 error fake [E1]: bad word in line 2");
    bench.end().await;

    let bench = Bench::new("late");
    bench.call("lsp_get_diagnostics", json!({"path": "one.fk"})).await;
    bench.write("one.fk", "is BAD here\n");
    let (late, text) = bench.call("lsp_get_diagnostics", json!({"path": "one.fk", "wait_ms": 300})).await;
    assert_eq!(
        (late["status"].as_str(), late["code"].as_str()),
        (Some("partial"), Some("timeout")),
        "{text}"
    );
    assert_eq!(late["data"]["result"]["fresh"], false);
    bench.end().await;

    for mode in ["unversioned", "pull"] {
        let bench = Bench::new(mode);
        bench.write("one.fk", "BAD\n");
        let (bad, text) = bench.call("lsp_get_diagnostics", json!({"path": "one.fk"})).await;
        assert_eq!(bad["data"]["result"]["fresh"], true, "{mode}: {text}");
        assert!(text.contains(if mode == "pull" { "warning: pulled" } else { "bad word" }), "{text}");
        bench.end().await;
    }
}

#[tokio::test]
async fn an_empty_answer_of_a_busy_server_is_not_believed() {
    let bench = Bench::new("busy");
    let (hover, text) = bench.hover("alpha").await;
    assert!(text.contains("**alpha**"), "{hover:#}");
    bench.end().await;
    let bench = Bench::new("modified");
    assert!(bench.hover("alpha").await.1.contains("**alpha**"), "asked again");
    bench.end().await;
}

#[tokio::test]
async fn servers_are_listed_started_stopped_and_shared() {
    let bench = Bench::new("good");
    let (list, text) = bench.call("list_lsp_servers", json!({})).await;
    assert_eq!(list["data"]["servers"][0]["id"], "fake");
    assert!(text.starts_with("fake [.fk] installed\ntypescript"), "{text}");
    let (started, _) = bench.call("start_lsp_server", json!({"server_id": "fake"})).await;
    assert_eq!((started["status"].as_str(), started["data"]["running"].as_bool()), (Some("ok"), Some(true)));
    let again = bench.call("start_lsp_server", json!({"server_id": "fake"})).await.0;
    assert_eq!(again["status"], "noop");
    let calls = (0..20).map(|_| bench.hover("beta"));
    let mut said: Vec<String> = Vec::new();
    for (_, text) in futures(calls).await {
        said.push(text);
    }
    said.dedup();
    assert_eq!(said.len(), 1, "twenty callers share one process: {said:?}");
    assert_eq!(bench.seen("initialize"), 1);
    let (list, _) = bench.call("list_lsp_servers", json!({})).await;
    assert_eq!(list["data"]["servers"][0]["version"], "fake 1.2");
    assert_eq!(bench.call("stop_lsp_server", json!({"server_id": "fake"})).await.0["data"]["running"], false);
    none_left(&bench.dir.path().join("root")).await;
    assert_eq!(bench.call("stop_lsp_server", json!({"server_id": "fake"})).await.0["status"], "noop");
    let (unknown, text) = bench.call("start_lsp_server", json!({"server_id": "fakee"})).await;
    assert_eq!(unknown["code"], "invalid_argument");
    assert!(text.contains("Did you mean `fake`?"), "{text}");
    bench.end().await;
}

async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    futures_util::future::join_all(all).await
}

/// What pyenv and its like put on the search path are scripts that look for the rest of their installation.
#[tokio::test]
async fn a_server_behind_a_shim_of_a_version_manager_runs() {
    let bench = Bench::new("good");
    let pyenv = bench.dir.path().join("home/.pyenv");
    let put = |rel: &str, text: String| {
        let path = pyenv.join(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    put("shims/fake-server", format!("#!/bin/sh\nexec \"{}/libexec/run\" \"$@\"\n", pyenv.display()));
    put("libexec/run", "#!/bin/sh\nexec node \"$@\"\n".to_owned());
    let script = std::fs::canonicalize(bench.path("fixture.mjs")).unwrap();
    let config = json!({ "servers": { "fake": {
        "command": "fake-server", "args": [script, "good"], "fileExtensions": ["fk"], "languages": ["fake"],
    } } });
    std::fs::write(bench.dir.path().join("state/lsp-servers.json"), config.to_string()).unwrap();
    let answer = bench.hover("beta").await;
    assert_eq!(answer.0["status"], "ok", "{}", answer.1);
    bench.end().await;
}
