//! Models come with their facts: from what is shipped, from vendors' lists and from local servers, each with who said
//! it; a person's word survives. Servers here are on loopback and speak as Ollama, LM Studio and others do.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use chatos_testkit::{RunningHost, Sandbox, eventually};
use serde_json::{Value, json};

/// Answers each path with a document, as long as the test runs; anything else is not found.
struct Lists {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Lists {
    fn start(answer: impl Fn(&str, &Value) -> Option<Value> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, asked) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
        let noted = Arc::clone(&asked);
        // Ends with the process of the test.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    if stream.read_line(&mut line).unwrap_or(0) < 3 {
                        break;
                    }
                    if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    head.push_str(&line);
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).unwrap();
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                noted.lock().unwrap().push(head);
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                let (status, text) = match answer(&path, &body) {
                    Some(document) => ("200 OK", document.to_string()),
                    None => ("404 Not Found", "{}".to_owned()),
                };
                let reply = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
                    text.len()
                );
                stream.get_mut().write_all(reply.as_bytes()).ok();
            }
        });
        Self { port, asked }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_chatos"))
}

fn ask(host: &RunningHost, method: &str, path: &str, body: &Value) -> Value {
    let answer = host.ask(method, &format!("/api/v1/{path}"), (method != "GET").then_some(body));
    assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

#[test]
fn a_well_known_model_needs_nothing_but_its_name() {
    let sandbox = sandbox();
    for (id, vendor, window, vision, reasoning, api) in [
        ("claude-sonnet-4-5", "anthropic", 200_000, true, true, "anthropic"),
        ("gpt-5", "openai", 400_000, true, true, "responses"),
        ("gemini-2.5-pro", "gemini", 1_048_576, true, true, "gemini"),
        ("deepseek-v4-pro", "openai", 1_000_000, false, true, "openai"),
    ] {
        let added = sandbox.run(&["models", "add", id, "--json"]);
        assert_eq!(added.status, 0, "{added:?}");
        let model = added.json();
        assert_eq!(model["provider"], vendor, "{model}");
        assert_eq!(
            (&model["contextTokens"], &model["supportsVision"], &model["supportsReasoning"]),
            (&json!(window), &json!(vision), &json!(reasoning)),
            "{model}"
        );
        assert!(model["priceInput"].as_f64().unwrap() > 0.0 && model["priceOutput"].as_f64().unwrap() > 0.0);
        assert_eq!((&model["currency"], &model["facts"]["api"]), (&json!("USD"), &json!(api)));
        assert_eq!(model["facts"]["pricesAsOf"].as_str().unwrap().len(), 10);
        for member in ["contextTokens", "supportsVision", "prices", "maxOutputTokens"] {
            assert_eq!(model["sources"][member], "catalogue", "{member}: {model}");
        }
    }
    let words = sandbox.run(&["models", "add", "claude-opus-4-5"]);
    assert!(
        words.stdout.contains("window 200000") && words.stdout.contains("per million tokens"),
        "{words:?}"
    );
    // A model nobody knows is OpenAI's, as before, and nothing about it is made up.
    let unknown = sandbox.run(&["models", "add", "nobody-knows-this", "--json"]).json();
    assert_eq!((&unknown["contextTokens"], &unknown["priceInput"]), (&json!(0), &Value::Null));
    assert_eq!(
        (&unknown["facts"]["window"], &unknown["facts"]["windowSource"]),
        (&json!(128_000), &json!("default"))
    );
}

#[test]
fn a_persons_value_survives_a_refresh_and_goes_with_a_reset() {
    let lists = Lists::start(|path, _| {
        let model = json!({ "id": "big", "context_length": 64_000,
            "architecture": { "input_modalities": ["text", "image"], "output_modalities": ["text"] },
            "pricing": { "prompt": "0.000002", "completion": "0.000004" } });
        (path == "/v1/models").then(|| json!({ "data": [model, { "id": "text-embedding-x" }] }))
    });
    let sandbox = sandbox();
    let host = sandbox.serve();
    // What makes no text of text is not offered for a chat, though its server lists it.
    let of_it = ["models", "offered", "--provider", "openai_compatible", "--url", &lists.url(), "--json"];
    let list = sandbox.run(&of_it).json();
    let ids: Vec<&Value> = list["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
    assert_eq!((&list["source"], ids), (&json!("vendor"), vec![&json!("big")]), "{list}");
    let order =
        json!({ "name": "m", "provider": "openai_compatible", "model": "big", "baseUrl": lists.url() });
    let made = ask(&host, "POST", "models", &order);
    let id = made["id"].as_str().unwrap().to_owned();
    // What the server says comes by itself.
    let model = eventually("the facts of the server", || {
        let model = ask(&host, "GET", &format!("models/{id}"), &Value::Null);
        (model["contextTokens"] == 64_000).then_some(model)
    });
    assert_eq!(
        (&model["sources"]["contextTokens"], &model["supportsVision"]),
        (&json!("vendor"), &json!(true))
    );
    assert_eq!((&model["priceInput"], &model["priceOutput"]), (&json!(2.0), &json!(4.0)));
    let mine =
        json!({ "contextTokens": 50_000, "supportsVision": false, "priceInput": 9.0, "currency": "EUR" });
    ask(&host, "PUT", &format!("models/{id}"), &mine);
    let told = ask(&host, "POST", "models/refresh", &json!({}));
    assert_eq!((&told["items"][0]["ok"], &told["items"][0]["window"]), (&json!(true), &json!(50_000)));
    let model = ask(&host, "GET", &format!("models/{id}"), &Value::Null);
    for (member, value) in mine.as_object().unwrap() {
        assert_eq!(&model[member], value, "{member}");
    }
    assert_eq!(
        (&model["sources"]["contextTokens"], &model["sources"]["prices"]),
        (&json!("person"), &json!("person"))
    );
    let refreshed = sandbox.run(&["models", "refresh", "m"]);
    assert!(refreshed.stdout.contains("50000 (person)"), "{refreshed:?}");
    let reset = sandbox.run(&["models", "reset", "m", "--json"]).json();
    assert_eq!(
        (&reset["contextTokens"], &reset["sources"]["contextTokens"]),
        (&json!(64_000), &json!("vendor"))
    );
    assert_eq!((&reset["supportsVision"], &reset["currency"]), (&json!(true), &json!("USD")));
    // A vendor that is gone changes nothing.
    let gone = json!({ "baseUrl": "http://127.0.0.1:9/v1" });
    ask(&host, "PUT", &format!("models/{id}"), &gone);
    let told = ask(&host, "POST", "models/refresh", &json!({ "model": "m" }));
    assert_eq!(
        (&told["items"][0]["ok"], &told["items"][0]["problem"]["code"]),
        (&json!(false), &json!("network"))
    );
    host.stop();
}

#[test]
fn ollama_offers_no_encoders_and_says_its_windows() {
    let lists = Lists::start(|path, body| match path {
        "/api/tags" => Some(json!({ "models": [
            { "name": "qwen3:8b", "details": { "family": "qwen3" } },
            { "name": "nomic-embed-text:latest", "details": { "family": "nomic-bert" } },
            { "name": "plain:latest", "details": { "family": "llama" } },
        ] })),
        "/api/ps" => Some(json!({ "models": [] })),
        "/api/show" if body["model"] == "qwen3:8b" => Some(json!({
            "capabilities": ["completion", "tools", "thinking"], "model_info": { "qwen3.context_length": 40_960 } })),
        "/api/show" if body["model"] == "plain:latest" => Some(json!({
            "capabilities": ["completion", "vision"], "model_info": { "llama.context_length": 8_192 } })),
        "/api/show" => Some(json!({ "capabilities": ["embedding"] })),
        _ => None,
    });
    let mut sandbox = sandbox();
    let list =
        sandbox.run(&["models", "offered", "--provider", "ollama", "--url", &lists.url(), "--json"]).json();
    assert_eq!(list["source"], "vendor");
    let of = |id: &str| list["items"].as_array().unwrap().iter().find(|item| item["id"] == id).cloned();
    assert_eq!(of("nomic-embed-text:latest"), None);
    let qwen = of("qwen3:8b").unwrap();
    assert_eq!(
        (&qwen["contextTokens"], &qwen["supportsTools"], &qwen["supportsReasoning"]),
        (&json!(40_960), &json!(true), &json!(true))
    );
    let plain = of("plain:latest").unwrap();
    assert_eq!(
        (&plain["contextTokens"], &plain["supportsTools"], &plain["supportsVision"]),
        (&json!(8_192), &json!(false), &json!(true))
    );
    // How much is kept ready for it is chosen, not more than it takes.
    let order = ["models", "add", "qwen3:8b", "--provider", "ollama", "--url", &lists.url(), "--json"];
    let added = sandbox.run(&order).json();
    assert_eq!(
        (&added["facts"]["api"], &added["facts"]["window"]),
        (&json!("ollama"), &json!(32_768)),
        "{added}"
    );
    // Found on this computer: the same.
    sandbox.set_variable("OLLAMA_HOST", format!("127.0.0.1:{}", lists.port));
    let found = sandbox.run(&["models", "detect", "--json"]).json();
    let names: Vec<&str> =
        found["found"].as_array().unwrap().iter().filter_map(|item| item["model"].as_str()).collect();
    assert_eq!(names, ["qwen3:8b", "plain:latest"]);
}

#[test]
fn lm_studio_says_what_is_loaded_and_a_small_window_is_said_with_the_fix() {
    let lists = Lists::start(|path, _| {
        (path == "/api/v0/models").then(|| {
            json!({ "data": [
            { "id": "small", "type": "llm", "max_context_length": 131_072, "loaded_context_length": 4_096 },
            { "id": "nomic", "type": "embeddings" },
        ] })
        })
    });
    let sandbox = sandbox();
    let list =
        sandbox.run(&["models", "offered", "--provider", "lmstudio", "--url", &lists.url(), "--json"]).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!(list["items"][0]["contextTokens"], 4_096);
    let host = sandbox.serve();
    let order = json!({ "name": "s", "provider": "lmstudio", "model": "small", "baseUrl": lists.url() });
    let made = ask(&host, "POST", "models", &order);
    ask(&host, "POST", "models/refresh", &json!({}));
    let model = ask(&host, "GET", &format!("models/{}", made["id"].as_str().unwrap()), &Value::Null);
    let warning = model["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("4096") && warning.contains("lms load small --context-length 32768"),
        "{warning}"
    );
    host.stop();
}

#[test]
fn a_key_without_a_name_is_kept_under_one_and_sent_with_the_list() {
    let lists = Lists::start(|path, _| {
        (path == "/v1/models").then(|| json!({ "data": [{ "id": "mine", "max_model_len": 32_768 }] }))
    });
    let sandbox = sandbox();
    let added = sandbox.run_elsewhere(
        &["models", "add", "mine", "--url", &lists.url(), "--key", "--json"],
        "sk-canary-list\n",
    );
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(added.json()["apiKeyName"], "LOCAL_API_KEY");
    assert!(!added.stdout.contains("canary"));
    let refreshed = sandbox.run(&["models", "refresh", "--json"]).json();
    assert_eq!(
        (&refreshed["items"][0]["ok"], &refreshed["items"][0]["window"]),
        (&json!(true), &json!(32_768))
    );
    let heads = lists.asked.lock().unwrap().join("\n").to_ascii_lowercase();
    assert!(heads.contains("authorization: bearer sk-canary-list"), "{heads}");
    // Without a list the form still has what is shipped, and says why.
    let shipped = sandbox.run(&["models", "offered", "--provider", "anthropic", "--json"]).json();
    assert_eq!((&shipped["source"], &shipped["problem"]["code"]), (&json!("catalogue"), &json!("config")));
    assert!(shipped["items"].as_array().unwrap().iter().any(|item| item["id"] == "claude-sonnet-4-5"));
}
