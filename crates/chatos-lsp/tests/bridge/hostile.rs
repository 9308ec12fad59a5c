//! Servers that behave badly, input that is wrong, and what is left when it is over.

use chatos_layer::{SandboxUse, ShellSettings};

use super::*;

fn code(answer: &(Value, String)) -> &str {
    answer.0["code"].as_str().unwrap()
}

#[tokio::test]
async fn bad_input_is_refused_with_what_to_do() {
    let bench = Bench::new("good");
    bench.write("big.fk", &"x".repeat(600 << 10));
    std::fs::write(bench.path("latin.fk"), b"caf\xe9\n").unwrap();
    bench.write("plain.txt", "x\n");
    std::os::unix::fs::symlink("/etc", bench.path("out")).unwrap();
    for (arguments, code_word, word) in [
        (json!({"path": "../x.fk", "line": 1, "character": 1}), "permission_denied", "outside"),
        (json!({"path": "/etc/passwd", "line": 1, "character": 1}), "permission_denied", "outside"),
        (json!({"path": "out/passwd", "line": 1, "character": 1}), "permission_denied", "link"),
        (json!({"path": "none.fk", "line": 1, "character": 1}), "not_found", "none.fk"),
        (json!({"path": "plain.txt", "line": 1, "character": 1}), "not_supported", "list_lsp_servers"),
        (json!({"path": "latin.fk", "line": 1, "character": 1}), "not_supported", "UTF-8"),
        (json!({"path": "big.fk", "line": 1, "character": 1}), "resource_exhausted", "524288"),
        (json!({"path": "one.fk", "line": 1, "character": 99}), "invalid_argument", "symbol"),
        (json!({"path": "one.fk", "line": 99, "character": 1}), "invalid_argument", "lines"),
        (json!({"path": "one.fk", "line": 1}), "invalid_argument", "symbol"),
        (json!({"path": "one.fk", "symbol": "zeta"}), "invalid_argument", "zeta"),
        (json!({"path": "one.fk", "symbol": "beta", "server_id": "nope"}), "invalid_argument", "nope"),
    ] {
        let answer = bench.call("lsp_hover", arguments.clone()).await;
        assert_eq!(code(&answer), code_word, "{arguments}: {}", answer.1);
        assert!(answer.1.contains(word), "{arguments}: {}", answer.1);
    }
    std::fs::write(bench.dir.path().join("state/lsp-servers.json"), "{\"servers\": []}").unwrap();
    let answer = bench.hover("beta").await;
    assert_eq!(code(&answer), "unavailable");
    assert!(answer.1.contains("lsp-servers.json"), "{}", answer.1);
    bench.end().await;
}

#[tokio::test]
async fn a_missing_program_says_how_to_install_it() {
    let bench = Bench::new("good");
    let config = json!({"servers": {"pyright": {"command": "no-such-program"}}});
    std::fs::write(bench.dir.path().join("state/lsp-servers.json"), config.to_string()).unwrap();
    bench.write("x.py", "x = 1\n");
    let answer = bench.call("lsp_hover", json!({"path": "x.py", "line": 1, "character": 1})).await;
    assert_eq!(code(&answer), "unavailable");
    assert_eq!(answer.0["error"]["details"]["install"], "npm install -g pyright", "{:#}", answer.0);
    bench.end().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    for (mode, word) in
        [("exits", "too old"), ("garbage", "Welcome"), ("refuses", "not today"), ("silent", "initialize")]
    {
        let lsp = LspSettings { timeout: Duration::from_secs(2), ..LspSettings::default() };
        let bench = Bench::with(mode, ToolSettings { lsp, ..quiet() });
        let answer = bench.hover("beta").await;
        assert_eq!(code(&answer), "unavailable", "{mode}: {}", answer.1);
        assert!(answer.1.contains(word), "{mode}: {}", answer.1);
        bench.end().await;
    }
}

#[tokio::test]
async fn a_server_that_dies_is_started_again_once_and_left_alone_when_it_goes_on() {
    let bench = Bench::new("die-once");
    let answer = bench.hover("beta").await;
    assert!(answer.1.contains("**beta**"), "{}", answer.1);
    assert_eq!(bench.seen("initialize"), 2);
    bench.end().await;

    let bench = Bench::new("die-always");
    for _ in 0..2 {
        assert_eq!(code(&bench.hover("beta").await), "unavailable");
    }
    let started = bench.seen("initialize");
    let answer = bench.hover("beta").await;
    assert!(answer.1.contains("three times"), "{}", answer.1);
    assert!(answer.1.contains("exit code 9"), "{}", answer.1);
    assert_eq!(bench.seen("initialize"), started, "it is left alone");
    let forced = bench.call("start_lsp_server", json!({"server_id": "fake", "force": true})).await;
    assert_eq!(forced.0["status"], "ok");
    bench.end().await;
}

#[tokio::test]
async fn garbage_floods_and_requests_harm_nobody_else() {
    for (mode, word) in [("garbage-later", "no message"), ("huge", "99999999999")] {
        let bench = Bench::new(mode);
        let answer = bench.hover("beta").await;
        assert_eq!(code(&answer), "unavailable", "{}", answer.1);
        assert!(answer.1.contains(word), "{mode}: {}", answer.1);
        bench.end().await;
    }
    for (mode, word) in [("flood", "**beta**"), ("asks", "-32601 [null,null] false")] {
        let bench = Bench::new(mode);
        let answer = bench.hover("beta").await;
        assert!(answer.1.contains(word), "{mode}: {}", answer.1);
        bench.end().await;
    }
    let bench = Bench::new("poor");
    let answer = bench.call("lsp_call_hierarchy", json!({"path": "one.fk", "symbol": "beta"})).await;
    assert_eq!(code(&answer), "not_supported");
    bench.end().await;
}

#[tokio::test]
async fn a_hang_ends_with_the_time_and_the_next_call_has_another_server() {
    let lsp = LspSettings { timeout: Duration::from_secs(1), ..LspSettings::default() };
    let bench = Bench::with("hang", ToolSettings { lsp, ..quiet() });
    // The server has told what the text declares, and then says nothing any more.
    let answer = bench.hover("beta").await;
    assert_eq!(code(&answer), "timeout", "{}", answer.1);
    assert!(answer.1.contains("next call"), "{}", answer.1);
    let answer = bench.call("lsp_document_symbols", json!({"path": "one.fk"})).await;
    assert_eq!(answer.0["status"], "ok");
    assert_eq!(bench.seen("initialize"), 2);
    bench.end().await;
}

#[tokio::test]
async fn a_canceled_call_cancels_at_the_server_and_frees_its_place_at_once() {
    let bench = Bench::new("hang");
    let request = bench.request("lsp_hover", json!({"path": "one.fk", "symbol": "beta"}));
    let cancel = request.cancel.clone();
    let asked = async {
        while bench.seen("textDocument/hover") == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
        tokio::time::Instant::now()
    };
    let (answer, canceled) = tokio::join!(bench.send(request), asked);
    assert_eq!(code(&answer), "canceled");
    assert!(canceled.elapsed() < Duration::from_secs(1));
    let until = tokio::time::Instant::now() + PATIENCE;
    while bench.seen("$/cancelRequest") == 0 {
        assert!(tokio::time::Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(bench.call("lsp_document_symbols", json!({"path": "one.fk"})).await.0["status"], "ok");
    bench.end().await;
}

#[tokio::test]
async fn idle_servers_stop_and_the_oldest_makes_room() {
    let lsp = LspSettings { idle_stop: Some(Duration::from_millis(300)), ..LspSettings::default() };
    let bench = Bench::with("good", ToolSettings { lsp, ..quiet() });
    bench.hover("beta").await;
    none_left(&bench.dir.path().join("root")).await;
    assert_eq!(bench.seen("shutdown"), 1, "politely");
    assert_eq!(bench.seen("exit"), 1);
    assert_eq!(bench.hover("beta").await.0["status"], "ok", "started again");
    bench.end().await;

    let lsp = LspSettings { max_servers: 1, ..LspSettings::default() };
    let bench = Bench::with("good", ToolSettings { lsp, ..quiet() });
    let script = std::fs::canonicalize(bench.path("fixture.mjs")).unwrap();
    let one = |ext: &str| json!({"command": "node", "args": [script, "good"], "fileExtensions": [ext], "languages": [ext]});
    let config = json!({"servers": {"fake": one("fk"), "other": one("ot")}});
    std::fs::write(bench.dir.path().join("state/lsp-servers.json"), config.to_string()).unwrap();
    bench.write("x.ot", "word\n");
    bench.hover("beta").await;
    bench.call("lsp_hover", json!({"path": "x.ot", "symbol": "word"})).await;
    let (list, _) = bench.call("list_lsp_servers", json!({})).await;
    let running: Vec<&Value> =
        list["data"]["servers"].as_array().unwrap().iter().filter(|one| one["running"] == true).collect();
    assert_eq!(running.len(), 1);
    assert_eq!(running[0]["id"], "other");
    bench.end().await;
}

#[tokio::test]
async fn nothing_is_left_however_it_ends() {
    // With a grandchild that left its group, and one that ignores everything but KILL.
    for mode in ["family", "stubborn"] {
        let bench = Bench::new(mode);
        assert_eq!(bench.hover("beta").await.0["status"], "ok", "{mode}");
        assert!(!processes(&bench.dir.path().join("root")).is_empty());
        bench.end().await;
    }
    let bench = Bench::new("family");
    for _ in 0..100 {
        assert_eq!(bench.hover("beta").await.0["status"], "ok");
        let stopped = bench.call("stop_lsp_server", json!({"server_id": "fake", "force": true})).await;
        assert_eq!(stopped.0["status"], "ok");
    }
    none_left(&bench.dir.path().join("root")).await;
    bench.end().await;
}

#[tokio::test]
async fn a_language_server_sees_no_secret_and_stays_inside_its_boundary() {
    let shell = ShellSettings::default();
    let bench = Bench::with("good", ToolSettings { shell, ..quiet() });
    bench.hover("beta").await;
    let env = bench.text(".env");
    assert!(!env.contains("canary"), "{env}");
    let env: Value = serde_json::from_str(&env).unwrap();
    assert!(env["XDG_CACHE_HOME"].as_str().unwrap().contains("lsp-workspaces/fake-"));
    assert!(env["FAKE"].as_str().unwrap().starts_with("fake /"));
    let (list, _) = bench.call("list_lsp_servers", json!({})).await;
    let level = list["data"]["servers"][0]["sandbox"].as_str().unwrap();
    assert_eq!(level, chatos_shell::Kernel::here().level().as_str());
    bench.end().await;
}

#[tokio::test]
async fn without_a_sandbox_servers_run_but_not_the_programs_of_a_project() {
    let servers = |bench: &Bench| {
        let script = std::fs::canonicalize(bench.path("fixture.mjs")).unwrap();
        // A project may bring a program; what a person named lies elsewhere.
        std::fs::create_dir_all(bench.path("node_modules/.bin")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", bench.path("node_modules/.bin/brought-along")).unwrap();
        let own = json!({"servers": {
            "fake": {"command": "node", "args": [script, "good"], "fileExtensions": ["fk"]},
            "brought": {"command": "brought-along", "args": ["-c", "exit 5"], "fileExtensions": ["br"]},
        }});
        std::fs::write(bench.dir.path().join("state/lsp-servers.json"), own.to_string()).unwrap();
        bench.write("x.br", "word\n");
    };
    let shell = ShellSettings { sandbox: SandboxUse::Off, ..ShellSettings::default() };
    let bench = Bench::with("good", ToolSettings { shell, ..quiet() });
    servers(&bench);
    assert!(bench.hover("beta").await.1.contains("**beta**"));
    let (list, _) = bench.call("list_lsp_servers", json!({})).await;
    let all = &list["data"]["servers"];
    assert_eq!((&all[0]["id"], &all[0]["installed"]), (&json!("brought"), &json!(false)));
    assert_eq!((&all[1]["id"], &all[1]["sandbox"]), (&json!("fake"), &json!("none")));
    let answer = bench.call("lsp_hover", json!({"path": "x.br", "symbol": "word"})).await;
    assert_eq!(code(&answer), "unavailable");
    assert!(answer.1.contains("not installed"), "{}", answer.1);
    bench.end().await;

    if chatos_shell::Kernel::here().level() > chatos_shell::Level::None {
        let bench = Bench::new("good");
        servers(&bench);
        let (list, _) = bench.call("list_lsp_servers", json!({})).await;
        assert_eq!(list["data"]["servers"][0]["installed"], true, "inside a boundary it may be used");
        let answer = bench.call("lsp_hover", json!({"path": "x.br", "symbol": "word"})).await;
        assert!(answer.1.contains("exit code 5"), "{}", answer.1);
        bench.end().await;
    }
}
