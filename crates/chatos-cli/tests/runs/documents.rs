//! Documents as attachments (working-day §7): their text reaches the model, is the same after a kill and in a fork, and
//! what cannot be read is refused before anything is kept. The files were made by `tests/documents/make.py`.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_testkit::{McpClient, McpEra, RunningHost, Script, zips};
use serde_json::{Value, json};

use crate::instructions::reply;
use crate::support::{Stand, last, messages, offered, session, until};

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/documents").join(name)
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).unwrap()
}

fn file(name: &str, bytes: &[u8]) -> Value {
    json!({ "name": name, "mime": "", "data": STANDARD.encode(bytes) })
}

fn send(host: &RunningHost, chat: &str, text: &str, files: &[Value]) -> (u16, Value) {
    let path = format!("/api/v1/sessions/{chat}/send");
    let sent = host.ask("POST", &path, Some(&json!({ "text": text, "attachments": files })));
    (sent.status, sent.json())
}

/// What the person said in a request, files included.
fn said(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap().iter();
    let users = messages.filter(|message| message["role"] == "user");
    users.filter_map(|message| message["content"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Room for all of them; a model nobody knows has little.
fn widen(host: &RunningHost) {
    let models = host.ask("GET", "/api/v1/models", None).json();
    let own = models["items"].as_array().unwrap().iter().find(|model| model["name"] == "scripted").unwrap();
    let path = format!("/api/v1/models/{}", own["id"].as_str().unwrap());
    let changed = host.ask("PUT", &path, Some(&json!({ "contextTokens": 200_000 })));
    assert!(changed.status < 300, "{}", changed.text());
}

#[test]
fn the_text_of_every_kind_reaches_the_model_and_stays_the_same() {
    let stand = Stand::new(|_| Script::say("read"));
    let host = stand.sandbox.serve();
    widen(&host);
    let chat = session(&host, &stand.agent);
    let names = [
        "report.pdf",
        "minutes.docx",
        "plan.pptx",
        "levels.xlsx",
        "letter.odt",
        "sums.ods",
        "unprintable.pdf",
    ];
    let files: Vec<Value> = names.iter().map(|name| file(name, &bytes(name))).collect();
    let (status, sent) = send(&host, &chat, "look at these", &files);
    assert_eq!(status, 202, "{sent}");
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let heard = said(&stand.model.requests()[0]);
    for words in [
        "File `report.pdf`:\n```\n[page 1 of 30]\nQuarterly report, part 1",
        "# Minutes of the river board",
        "The dam is raised & the canary-docx sings < 3 times.",
        "- first point\n- second point",
        "| Ada \\| Bo | yes |",
        "会议结束。",
        "## Slide 1: Plan for spring\n\n- canary-pptx\n- second line\n\nNotes: Say this slowly.",
        "| 2026 | 4.2 |",
        "| 2026-01-31 | 4.25 | canary-xlsx |",
        "| 2026-02-01 12:30:00 | TRUE | a\\|b |",
        "[500 more rows are not shown; 2000 of 2500 are]",
        "## A letter\n\nDear all,   canary-odt\tgreets you.\n\n- one\n- two",
        "| 1 | canary-ods |",
        "[page 2 of 2]",
    ] {
        assert!(heard.contains(words), "{words}\n---\n{heard}");
    }
    // What is shown: the files as they are, and what to know about them.
    let shown = messages(&host, &chat);
    let attached = shown[0]["attachments"].as_array().unwrap();
    assert_eq!(attached[0]["mime"], "application/pdf");
    assert_eq!((&attached[0].get("note"), &attached[3]["note"]), (&None, &json!("rows")));
    let original = host.ask("GET", attached[1]["url"].as_str().unwrap(), None);
    assert_eq!(original.body, bytes("minutes.docx"));

    // After a kill, and in a fork, the model is sent the same bytes again.
    host.kill();
    let host = stand.sandbox.serve();
    let (_, sent) = send(&host, &chat, "and now?", &[]);
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let requests = stand.model.requests();
    let (first, second) = (&requests[0]["messages"], &requests[1]["messages"]);
    let length = first.as_array().unwrap().len();
    assert_eq!(first.as_array().unwrap()[..], second.as_array().unwrap()[..length], "the prefix is the same");
    let end = messages(&host, &chat).last().unwrap()["id"].as_str().unwrap().to_owned();
    let fork =
        host.ask("POST", &format!("/api/v1/sessions/{chat}/messages/{end}/fork"), Some(&json!({}))).json();
    let (_, sent) = send(&host, fork["id"].as_str().unwrap(), "in the copy", &[]);
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    assert_eq!(
        stand.model.requests()[2]["messages"].as_array().unwrap()[..length],
        first.as_array().unwrap()[..]
    );
}

#[test]
fn a_long_text_is_cut_and_read_on_with_read_result() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        let Some(name) = offered(request, "read_result").filter(|_| role == "user") else {
            return Script::say(format!("read: {}", text.contains("canary-page-30")));
        };
        // The marker of what is left out names the file.
        let at = text.find("read_result").unwrap();
        let id = text[at..]
            .split(|c: char| !c.is_ascii_hexdigit() && c != '-')
            .find(|word| word.len() == 36)
            .unwrap();
        Script::call("c1", name, &json!({ "id": id, "pattern": "canary-page-30" }))
    });
    let host = stand.sandbox.serve();
    let body = json!({ "value": 4000 });
    let set = host.ask("PUT", "/api/v1/settings/toolResultChars", Some(&body));
    assert!(set.status < 300, "{}", set.text());
    let chat = session(&host, &stand.agent);
    let (status, sent) = send(&host, &chat, "look", &[file("report.pdf", &bytes("report.pdf"))]);
    assert_eq!(status, 202, "{sent}");
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    assert_eq!(messages(&host, &chat).last().unwrap()["content"], "read: true");
}

#[test]
fn what_cannot_be_read_is_refused_in_words_and_may_go_by_its_name() {
    let stand = Stand::new(|_| Script::say("ok"));
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let entries = [
        zips::file("word/document.xml", &vec![b'a'; 64 * 1024 * 1024]),
        zips::file("[Content_Types].xml", b"<Types/>"),
    ];
    let bomb = zips::zip(&entries, b"");
    for (name, bytes, reason) in [
        ("locked.pdf", bytes("locked.pdf"), "encrypted"),
        ("truncated.pdf", bytes("truncated.pdf"), "damaged"),
        ("panics.pdf", bytes("panics.pdf"), "damaged"),
        ("endless.pdf", bytes("endless.pdf"), "crashed"),
        ("bomb.docx", bomb, "too_large"),
        ("half.docx", bytes("minutes.docx")[..20_000].to_vec(), "damaged"),
    ] {
        let (status, refused) = send(&host, &chat, "look", &[file(name, &bytes)]);
        assert_eq!((status, &refused["error"]["code"]), (422, &json!("extract_failed")), "{name}: {refused}");
        assert_eq!(refused["error"]["details"], json!({ "file": name, "reason": reason }), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(name), "{refused}");
    }
    let plain = zips::zip(&[zips::file("a", b"a")], b"");
    let (status, refused) = send(&host, &chat, "look", &[file("a.zip", &plain)]);
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("unsupported_file")), "{refused}");
    assert!(refused["error"]["hint"].as_str().unwrap().contains("docx"), "{refused}");
    assert!(
        messages(&host, &chat).is_empty() && stand.model.requests().is_empty(),
        "nothing was kept or sent"
    );

    // A person decides to send the name; a scan goes with a warning.
    let mut named = file("locked.pdf", &bytes("locked.pdf"));
    named["nameOnly"] = json!(true);
    let (status, sent) = send(&host, &chat, "look", &[named, file("scanned.pdf", &bytes("scanned.pdf"))]);
    assert_eq!(status, 202, "{sent}");
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let heard = said(&stand.model.requests()[0]);
    assert!(heard.contains("[file locked.pdf: ") && heard.contains("its content is not here"), "{heard}");
    assert!(heard.contains("[scanned: hardly any text"), "{heard}");
    let notes: Vec<Value> = messages(&host, &chat)[0]["attachments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["note"].clone())
        .collect();
    assert_eq!(notes, [json!("name_only"), json!("scanned")]);
}

#[test]
fn a_terminal_attaches_documents_and_says_why_not() {
    let stand =
        Stand::new(|request| Script::say(format!("heard: {}", said(request).contains("canary-docx"))));
    let run = |args: &[&str]| stand.sandbox.run(args);
    let docx = path("minutes.docx");
    let heard = run(&["chat", "--agent", &stand.agent, "-p", "look", "--attach", docx.to_str().unwrap()]);
    assert!(heard.status == 0 && heard.stdout.contains("heard: true"), "{heard:?}");
    let locked = path("locked.pdf");
    let locked = locked.to_str().unwrap();
    let refused = run(&["chat", "--agent", &stand.agent, "-p", "look", "--attach", locked]);
    assert!(refused.status == 1 && refused.stderr.contains("password"), "{refused:?}");
    assert!(refused.stderr.contains("--names-only"), "{refused:?}");
    let named = run(&["chat", "--agent", &stand.agent, "-p", "look", "--attach", locked, "--names-only"]);
    assert!(named.status == 0 && named.stdout.contains("heard: false"), "{named:?}");
    let program =
        run(&["chat", "--agent", &stand.agent, "-p", "look", "--attach", env!("CARGO_BIN_EXE_chatos")]);
    assert!(program.status == 1, "{program:?}");
}

/// A chat with a model that reads PDF by what is known of it.
fn with_reading_model(host: &RunningHost, stand: &Stand, provider: &str, model: &str) -> String {
    let order =
        json!({ "name": "reading", "provider": provider, "model": model, "baseUrl": stand.model.base_url() });
    let made = host.ask("POST", "/api/v1/models", Some(&order));
    assert!(made.status < 300, "{}", made.text());
    let order = json!({ "agentId": stand.agent, "modelId": made.json()["id"] });
    let chat = host.ask("POST", "/api/v1/sessions", Some(&order)).json();
    chat["id"].as_str().unwrap().to_owned()
}

/// A PDF reaches a model that reads it as it is, and is the same after a kill; a word document goes as text.
fn reads_itself(provider: &'static str, model: &str, at: &str) {
    let stand = Stand::new(move |_| reply(provider, "read"));
    let host = stand.sandbox.serve();
    let chat = with_reading_model(&host, &stand, provider, model);
    let pdf = bytes("scanned.pdf");
    let files = [file("scanned.pdf", &pdf), file("minutes.docx", &bytes("minutes.docx"))];
    let (status, sent) = send(&host, &chat, "look", &files);
    assert_eq!(status, 202, "{sent}");
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    // Its pages are seen: there is nothing to warn of.
    let shown = messages(&host, &chat);
    assert_eq!(shown[0]["attachments"][0].get("note"), None, "{shown:?}");
    host.kill();
    let host = stand.sandbox.serve();
    let (_, sent) = send(&host, &chat, "and now?", &[]);
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let requests = stand.model.requests();
    let data = STANDARD.encode(&pdf);
    for request in &requests {
        let found =
            request.pointer(at).and_then(Value::as_str).unwrap_or_else(|| panic!("{at}: {request:#}"));
        assert!(found == data || found == format!("data:application/pdf;base64,{data}"), "{found}");
        let whole = request.to_string();
        assert!(whole.contains("[file scanned.pdf: ") && whole.contains("sent as it is"), "{whole}");
        assert!(whole.contains("canary-docx") && !whole.contains("[scanned: hardly any text"), "{whole}");
    }
    host.stop();
}

#[test]
fn a_pdf_goes_to_anthropic_as_it_is() {
    reads_itself("anthropic", "claude-sonnet-4-5", "/messages/0/content/0/source/data");
}

#[test]
fn a_pdf_goes_to_gemini_as_it_is() {
    reads_itself("gemini", "gemini-2.5-pro", "/contents/0/parts/0/inlineData/data");
}

#[test]
fn a_pdf_goes_to_openai_as_it_is() {
    reads_itself("openai", "gpt-4.1", "/messages/1/content/1/file/file_data");
}

#[test]
fn a_model_that_refuses_a_pdf_after_all_gets_its_text() {
    let stand = Stand::new(|request| {
        if request.to_string().contains("file_data") {
            let message = "Invalid content type 'file': this model does not read PDF.";
            return Script::Refuse {
                status: 400,
                headers: Vec::new(),
                body: json!({ "error": { "message": message, "code": "invalid" } }),
            };
        }
        Script::say("read")
    });
    let host = stand.sandbox.serve();
    let chat = with_reading_model(&host, &stand, "openai", "gpt-4.1");
    let (status, sent) = send(&host, &chat, "look", &[file("report.pdf", &bytes("report.pdf"))]);
    assert_eq!(status, 202, "{sent}");
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    assert!(
        said(stand.model.requests().last().unwrap()).contains("[page 1 of 30]\nQuarterly report, part 1")
    );
}

#[test]
fn a_reader_that_is_slow_or_greedy_is_ended_and_said_to_be() {
    // Words that do not pack well: the size of the document is no bomb, but reading it takes memory.
    let mut xml = String::from("<w:document xmlns:w=\"w\"><w:body>");
    let mut number = 1_u64;
    while xml.len() < 16 * 1024 * 1024 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        xml.push_str(&format!(
            "<w:p><w:r><w:t>{number:016x}{:016x}</w:t></w:r></w:p>",
            number.rotate_left(21)
        ));
    }
    xml.push_str("</w:body></w:document>");
    let parts =
        [zips::file("word/document.xml", xml.as_bytes()), zips::file("[Content_Types].xml", b"<Types/>")];
    let large = zips::zip(&parts, b"");
    for (limits, name, bytes, reason, words) in [
        ("1,512", "report.pdf", bytes("report.pdf"), "slow", "longer than 1 milliseconds"),
        ("30000,64", "large.docx", large, "memory", "more than 64 MiB of memory"),
    ] {
        let mut stand = Stand::new(|_| Script::say("ok"));
        stand.sandbox.set_variable("CHATOS_DOCUMENT_LIMITS", limits);
        let host = stand.sandbox.serve();
        let chat = session(&host, &stand.agent);
        let (status, refused) = send(&host, &chat, "look", &[file(name, &bytes)]);
        assert_eq!(status, 422, "{refused}");
        assert_eq!(refused["error"]["details"], json!({ "file": name, "reason": reason }), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(words), "{refused}");
        assert!(messages(&host, &chat).is_empty(), "nothing was kept");
    }
}

#[test]
fn a_terminal_says_that_a_scan_has_no_text() {
    let stand = Stand::new(|_| Script::say("ok"));
    let scan = path("scanned.pdf");
    let args = ["chat", "--agent", &stand.agent, "-p", "look", "--attach", scan.to_str().unwrap()];
    let told = stand.sandbox.run(&args);
    assert!(told.status == 0 && told.stderr.contains("scanned.pdf: scanned, hardly any text"), "{told:?}");
    let zh: Vec<&str> = args.into_iter().chain(["--lang", "zh"]).collect();
    let told = stand.sandbox.run(&zh);
    assert!(told.stderr.contains("扫描件，几乎没有可读取的文字"), "{told:?}");
}

#[test]
fn a_tool_reads_the_text_of_documents_and_says_why_not() {
    let stand = Stand::new(|_| Script::say("ok"));
    let root = stand.sandbox.root().join("project");
    std::fs::create_dir_all(&root).unwrap();
    for name in ["report.pdf", "minutes.docx", "locked.pdf"] {
        std::fs::copy(path(name), root.join(name)).unwrap();
    }
    std::fs::write(root.join("plain.pdf"), "no document at all\n").unwrap();
    let server = stand.sandbox.command(&["mcp", "project_files", "--root", root.to_str().unwrap()]);
    let mut client = McpClient::connect(server, McpEra::Legacy, json!({})).0;
    let mut read = |arguments: Value| client.call("read_file", arguments);
    let found = read(json!({ "path": "minutes.docx" }));
    assert!(found.to_string().contains("canary-docx"), "{found:#}");
    let found = read(json!({ "path": "report.pdf", "start_line": 2, "max_lines": 1 }));
    assert!(found.to_string().contains("Quarterly report, part 1"), "{found:#}");
    let found = read(json!({ "path": "locked.pdf" }));
    assert!(
        found.to_string().contains("it needs a password") && found.to_string().contains("not_supported"),
        "{found:#}"
    );
    let found = read(json!({ "path": "plain.pdf" }));
    assert!(found.to_string().contains("no document at all"), "{found:#}");
}
