//! What goes out, and what a refusal means.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use chatos_model::provider::gemini::reduce;
use chatos_model::{
    Class, Dialect, Document, Effort, Image, Message, Params, Protocol, Reasoning, Request, Tool, ToolCall,
    protocol_for, protocol_of,
};
use serde_json::{Value, json};

fn picture(data: &str) -> Image {
    Image { mime: "image/png".into(), data: data.into(), pixels: None }
}

/// The same request, and the tools returned pictures: the first one, the second two.
fn seeing() -> Request {
    let mut request = request();
    for (message, pictures) in request.messages[2..].iter_mut().zip([vec!["b25l"], vec!["dHdv", "dHdvMg=="]])
    {
        let Message::Tool { images, .. } = message else { panic!("{message:?}") };
        *images = pictures.into_iter().map(picture).collect();
    }
    request
}

fn request() -> Request {
    let thinking = json!({ "type": "thinking", "thinking": "t", "signature": "s" });
    Request {
        system: vec!["You help.".into(), "Be brief.".into()],
        messages: vec![
            Message::User { text: "Look".into(), images: vec![picture("AA==")], documents: Vec::new() },
            Message::Assistant {
                text: String::new(),
                reasoning: vec![Reasoning { text: "t".into(), opaque: Some(thinking) }],
                tool_calls: vec![
                    ToolCall {
                        id: "1".into(),
                        name: "read".into(),
                        arguments: "{\"p\":1}".into(),
                        opaque: None,
                    },
                    ToolCall {
                        id: "2".into(),
                        name: "read".into(),
                        arguments: "not json".into(),
                        opaque: None,
                    },
                ],
            },
            Message::Tool {
                call_id: "1".into(),
                name: "read".into(),
                content: "one".into(),
                is_error: false,
                images: Vec::new(),
            },
            Message::Tool {
                call_id: "2".into(),
                name: "read".into(),
                content: "bad".into(),
                is_error: true,
                images: Vec::new(),
            },
        ],
        tools: vec![Tool {
            name: "read".into(),
            description: "Reads".into(),
            parameters: json!({ "type": "object", "properties": { "p": { "type": "integer" } } }),
        }],
        params: Params {
            model: "m".into(),
            max_output_tokens: Some(100),
            temperature: Some(0.5),
            effort: None,
            thinks: false,
            room: None,
            window: Some(8_192),
            cache_key: Some("chat-1".into()),
            parallel_tools: Some(false),
            replay: chatos_model::Replay::Auto,
            extra_body: json!({ "service_tier": "flex" }).as_object().unwrap().clone(),
        },
    }
}

#[test]
fn openai() {
    let wire = Protocol::OpenAi.wire(&request(), &Dialect::default());
    let body = wire.body;
    assert_eq!(wire.path, "chat/completions");
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "You help.\n\nBe brief." }));
    assert_eq!(body["messages"][1]["content"][1]["image_url"]["url"], "data:image/png;base64,AA==");
    assert_eq!(body["messages"][2]["content"], Value::Null);
    assert_eq!(body["messages"][2]["tool_calls"][1]["function"]["arguments"], "not json");
    assert_eq!(body["messages"][3], json!({ "role": "tool", "tool_call_id": "1", "content": "one" }));
    assert_eq!((&body["max_completion_tokens"], &body["service_tier"]), (&json!(100), &json!("flex")));
    assert_eq!(body["parallel_tool_calls"], false);
}

#[test]
fn a_vendor_that_refuses_a_member_is_asked_again_without_it_once() {
    let mut dialect = Dialect::default();
    let refusal =
        |error: Value| Protocol::OpenAi.refused(400, None, json!({ "error": error }).to_string().as_bytes());
    let by_param = refusal(json!({ "message": "Unsupported", "param": "max_completion_tokens" }));
    assert!(dialect.learn(&by_param));
    assert!(!dialect.learn(&by_param), "the same refusal again is not news");
    let body = Protocol::OpenAi.wire(&request(), &dialect).body;
    assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(100), None));
    assert!(dialect.learn(&refusal(json!({ "message": "Unknown parameter: 'stream_options'." }))));
    assert!(Protocol::OpenAi.wire(&request(), &dialect).body.get("stream_options").is_none());
    // What carries meaning is never dropped, and other classes teach nothing.
    assert!(!dialect.learn(&refusal(json!({ "message": "bad", "param": "messages" }))));
    assert!(!dialect.learn(&refusal(json!({ "message": "bad", "param": "tools[0].function" }))));
    assert!(!dialect.learn(&Protocol::OpenAi.refused(500, None, b"'temperature'")));
}

#[test]
fn anthropic() {
    let wire = Protocol::Anthropic.wire(&request(), &Dialect::default());
    let body = wire.body;
    assert_eq!(wire.headers, [("anthropic-version", "2023-06-01".to_owned())]);
    assert!(body["system"][0].get("cache_control").is_none());
    assert_eq!(body["system"][1]["cache_control"]["type"], "ephemeral");
    assert_eq!(body["tools"][0]["cache_control"]["type"], "ephemeral");
    // Three messages: both tool results in one; no thinking goes back where none is asked for.
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[1]["content"][1]["input"], json!({}), "what was no object is sent as none");
    assert_eq!(messages[2]["content"][1]["is_error"], true);
    assert_eq!((&body["max_tokens"], &body["temperature"]), (&json!(100), &json!(0.5)));
    let thinking = Request { params: Params { effort: Some(Effort::Low), ..request().params }, ..request() };
    let body = Protocol::Anthropic.wire(&thinking, &Dialect::default()).body;
    assert_eq!(body["thinking"]["budget_tokens"], 2048);
    assert!(body["max_tokens"].as_u64().unwrap() > 2048 && body.get("temperature").is_none());
    assert_eq!(body["messages"][1]["content"][0]["signature"], "s", "thinking comes first and unchanged");
    // Both together are no more than what fits behind the question.
    for (room, bound, budget) in [(9_000, 2_148, 2_048), (2_100, 2_100, 2_000), (500, 2_048, 1_948)] {
        let short = Request { params: Params { room: Some(room), ..thinking.params.clone() }, ..request() };
        let body = Protocol::Anthropic.wire(&short, &Dialect::default()).body;
        assert_eq!(
            (&body["max_tokens"], &body["thinking"]["budget_tokens"]),
            (&json!(bound), &json!(budget)),
            "{room}"
        );
    }
    let mut by_hand = request();
    by_hand.params.extra_body.insert("thinking".into(), json!({ "type": "adaptive" }));
    let body = Protocol::Anthropic.wire(&by_hand, &Dialect::default()).body;
    assert_eq!(body["messages"][1]["content"][0]["signature"], "s", "thinking that a person switched on");
}

#[test]
fn gemini() {
    let odd = Request { params: Params { model: "models/a/../b?x".into(), ..request().params }, ..request() };
    let wire = Protocol::Gemini.wire(&odd, &Dialect::default());
    assert_eq!(wire.path, "models/a%2F..%2Fb%3Fx:streamGenerateContent?alt=sse");
    let contents = wire.body["contents"].as_array().unwrap();
    let roles: Vec<_> = contents.iter().map(|content| content["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "model", "user"]);
    assert_eq!(contents[2]["parts"][1]["functionResponse"]["response"], json!({ "error": "bad" }));
}

/// The request after an answer with sealed thinking before its calls.
fn sealed() -> Request {
    let item = |sealed: &str| json!({ "type": "reasoning", "summary": [], "encrypted_content": sealed });
    let mut request = request();
    let Message::Assistant { reasoning, .. } = &mut request.messages[1] else { panic!() };
    *reasoning = [("A", json!(0)), ("B", json!(1)), ("C", json!("text")), ("D", json!(7))]
        .map(|(sealed, before)| {
            let opaque = Some(json!({ "item": item(sealed), "before": before }));
            Reasoning { text: "t".into(), opaque }
        })
        .to_vec();
    request.params.thinks = true;
    request
}

#[test]
fn responses() {
    let wire = Protocol::Responses.wire(&sealed(), &Dialect::default());
    let body = wire.body;
    assert_eq!(wire.path, "responses");
    assert_eq!(body["instructions"], "You help.\n\nBe brief.");
    assert_eq!((&body["store"], &body["stream"]), (&json!(false), &json!(true)));
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(
        (&body["reasoning"], &body["max_output_tokens"]),
        (&json!({ "summary": "auto" }), &json!(100))
    );
    assert_eq!((&body["prompt_cache_key"], &body["service_tier"]), (&json!("chat-1"), &json!("flex")));
    assert_eq!((&body["tools"][0]["name"], &body["tools"][0]["strict"]), (&json!("read"), &json!(false)));
    // Each piece of thinking stands right before what it led to; one whose companion is gone stays away.
    let input = body["input"].as_array().unwrap();
    let kinds: Vec<_> = input.iter().map(|item| item["type"].as_str().unwrap()).collect();
    let expected = [
        "message",
        "reasoning",
        "function_call",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_call_output",
    ];
    assert_eq!(kinds, expected);
    assert_eq!((&input[1]["encrypted_content"], &input[3]["encrypted_content"]), (&json!("A"), &json!("B")));
    assert!(input.iter().all(|item| item.get("id").is_none()));
    assert_eq!(input[0]["content"][1]["image_url"], "data:image/png;base64,AA==");
    assert_eq!(input[4]["arguments"], "not json");
    assert_eq!(input[5], json!({ "type": "function_call_output", "call_id": "1", "output": "one" }));
    // The next request begins with this one.
    let mut later = sealed();
    later.messages.push(Message::Assistant {
        text: "I see".into(),
        reasoning: Vec::new(),
        tool_calls: Vec::new(),
    });
    let next = Protocol::Responses.wire(&later, &Dialect::default()).body;
    assert!(next["input"].as_array().unwrap().starts_with(input));
    // How hard: the word as it is.
    let mut hard = sealed();
    hard.params.effort = Some(Effort::XHigh);
    assert_eq!(Protocol::Responses.wire(&hard, &Dialect::default()).body["reasoning"]["effort"], "xhigh");
    // A model that does not think is not asked to.
    let plain = Protocol::Responses.wire(&request(), &Dialect::default()).body;
    assert!(plain.get("reasoning").is_none() && plain.get("include").is_none());
}

#[test]
fn responses_are_learned_from() {
    let refusal = |error: Value| {
        Protocol::Responses.refused(400, None, json!({ "error": error }).to_string().as_bytes())
    };
    let mut dialect = Dialect::default();
    let sealed_wrong = json!({ "message": "The encrypted content gAAA could not be verified.", "code": "invalid_encrypted_content" });
    assert!(dialect.learn(&refusal(sealed_wrong.clone())));
    assert!(!dialect.learn(&refusal(sealed_wrong)), "once");
    let body = Protocol::Responses.wire(&sealed(), &dialect).body;
    assert!(body["input"].as_array().unwrap().iter().all(|item| item["type"] != "reasoning"));
    assert!(
        dialect.learn(&refusal(json!({ "message": "Unsupported parameter", "param": "reasoning.summary" })))
    );
    assert!(Protocol::Responses.wire(&sealed(), &dialect).body.get("reasoning").is_none());
    let include =
        json!({ "message": "Encrypted content is not supported with this model.", "param": "include" });
    assert!(dialect.learn(&refusal(include)));
    assert!(Protocol::Responses.wire(&sealed(), &dialect).body.get("include").is_none());
    let alone = "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
    assert!(Dialect::default().learn(&refusal(json!({ "message": alone }))));
}

#[test]
fn gemini_is_asked_without_signatures_that_it_calls_broken() {
    let mut dialect = Dialect::default();
    let error = json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "Corrupted thought signature." } });
    assert!(dialect.learn(&Protocol::Gemini.refused(400, None, error.to_string().as_bytes())));
    let mut signed = request();
    signed.params.model = "gemini-3-pro".into();
    let Message::Assistant { tool_calls, .. } = &mut signed.messages[1] else { panic!() };
    tool_calls[0].opaque = Some(json!("mine"));
    let part =
        |dialect: &Dialect| Protocol::Gemini.wire(&signed, dialect).body["contents"][1]["parts"][0].clone();
    assert_eq!(part(&Dialect::default())["thoughtSignature"], "mine");
    assert_eq!(part(&dialect)["thoughtSignature"], "skip_thought_signature_validator");
}

#[test]
fn ollama() {
    let mut asked = request();
    asked.params.thinks = true;
    asked.params.extra_body =
        json!({ "options": { "top_k": 5 }, "keep_alive": "1h" }).as_object().unwrap().clone();
    let wire = Protocol::Ollama.wire(&asked, &Dialect::default());
    let body = wire.body;
    assert_eq!(wire.path, "api/chat");
    let options = json!({ "num_ctx": 8192, "num_predict": 100, "temperature": 0.5, "top_k": 5 });
    assert_eq!((&body["options"], &body["keep_alive"]), (&options, &json!("1h")));
    assert_eq!(
        (&body["truncate"], &body["shift"], &body["think"]),
        (&json!(false), &json!(false), &json!(true))
    );
    assert_eq!(body["messages"][0]["content"], "You help.\n\nBe brief.");
    assert_eq!(body["messages"][1], json!({ "role": "user", "content": "Look", "images": ["AA=="] }));
    let said = &body["messages"][2];
    assert_eq!(
        (&said["thinking"], &said["tool_calls"][0]["function"]["arguments"]),
        (&json!("t"), &json!({ "p": 1 }))
    );
    assert_eq!(
        said["tool_calls"][1]["function"]["arguments"],
        json!({}),
        "what was no object is sent as none"
    );
    let result = json!({ "role": "tool", "content": "one", "tool_name": "read", "tool_call_id": "1" });
    assert_eq!(body["messages"][3], result);
    for (model, effort, think) in [
        ("qwen3", Effort::None, json!(false)),
        ("qwen3", Effort::High, json!(true)),
        ("gpt-oss:20b", Effort::None, json!("low")),
        ("gpt-oss:20b", Effort::XHigh, json!("high")),
    ] {
        let params = Params { model: model.into(), effort: Some(effort), ..asked.params.clone() };
        let body = Protocol::Ollama.wire(&Request { params, ..asked.clone() }, &Dialect::default()).body;
        assert_eq!(body["think"], think, "{model} {effort:?}");
    }
    let mut dialect = Dialect::default();
    for words in ["registry.ollama.ai/library/x does not support tools", "\"x\" does not support thinking"] {
        let refused = Protocol::Ollama.refused(400, None, json!({ "error": words }).to_string().as_bytes());
        assert!(dialect.learn(&refused), "{words}");
    }
    let body = Protocol::Ollama.wire(&asked, &dialect).body;
    assert!(body.get("tools").is_none() && body.get("think").is_none());
    assert!(body["messages"][2].get("thinking").is_none());
}

#[test]
fn pictures_of_tools_reach_the_model_over_every_protocol() {
    let body = Protocol::Responses.wire(&seeing(), &Dialect::default()).body;
    let outputs: Vec<_> = body["input"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|item| item["type"] == "function_call_output")
        .collect();
    let seen = |data: &str| json!({ "type": "input_image", "detail": "auto", "image_url": format!("data:image/png;base64,{data}") });
    assert_eq!(outputs[0]["output"], json!([{ "type": "input_text", "text": "one" }, seen("b25l")]));
    assert_eq!(outputs[1]["output"][2], seen("dHdvMg=="));

    let body = Protocol::Ollama.wire(&seeing(), &Dialect::default()).body;
    let said = body["messages"].as_array().unwrap();
    assert_eq!(said[3]["content"], "one\n[picture 1 of call 1 follows]");
    let pictures = json!({ "role": "user", "content": "Pictures returned by the tools above:", "images": ["b25l", "dHdv", "dHdvMg=="] });
    assert_eq!(said[5..], [pictures]);

    let body = Protocol::OpenAi.wire(&seeing(), &Dialect::default()).body;
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[3]["content"], "one\n[picture 1 of call 1 follows]");
    assert_eq!(messages[4]["content"], "bad\n[picture 1 of call 2 follows]\n[picture 2 of call 2 follows]");
    // One message behind all results of the pass, for no result may be apart from its call.
    let url = |data: &str| json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{data}") } });
    let text = json!({ "type": "text", "text": "Pictures returned by the tools above:" });
    let content = json!([text, url("b25l"), url("dHdv"), url("dHdvMg==")]);
    assert_eq!(messages[5..], [json!({ "role": "user", "content": content })]);
    // What is said next comes behind it, and what was said before stays.
    let mut later = seeing();
    later.messages.push(Message::Assistant {
        text: "I see".into(),
        reasoning: Vec::new(),
        tool_calls: Vec::new(),
    });
    let next = Protocol::OpenAi.wire(&later, &Dialect::default()).body;
    assert!(next["messages"].as_array().unwrap().starts_with(messages));

    let body = Protocol::Anthropic.wire(&seeing(), &Dialect::default()).body;
    let results = body["messages"][2]["content"].as_array().unwrap();
    let block = |data: &str| json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } });
    assert_eq!(results[0]["content"], json!([{ "type": "text", "text": "one" }, block("b25l")]));
    assert_eq!(results[1]["content"][2], block("dHdvMg=="));
    assert!(results[1].get("is_error").is_none(), "a failure may have text alone");
    assert_eq!(results.len(), 2);

    let body = Protocol::Gemini.wire(&seeing(), &Dialect::default()).body;
    let parts = body["contents"][2]["parts"].as_array().unwrap();
    let kinds: Vec<_> = parts.iter().map(|part| part.as_object().unwrap().keys().next().unwrap()).collect();
    assert_eq!(kinds, ["functionResponse", "inlineData", "functionResponse", "inlineData", "inlineData"]);
    assert_eq!(parts[1]["inlineData"], json!({ "mimeType": "image/png", "data": "b25l" }));
}

#[test]
fn gemini_schemas_are_reduced_and_say_what_was_lost() {
    let schema = json!({
        "$schema": "x", "type": "object", "additionalProperties": false, "patternProperties": {},
        "properties": {
            "a": { "type": ["string", "null"], "pattern": "^x" },
            "b": { "$ref": "#/$defs/b" },
            "c": { "const": "only" },
            "d": { "type": "array" },
            "e": { "type": "integer", "enum": [1, 2] },
            "loop": { "$ref": "#/$defs/loop" },
        },
        "$defs": { "b": { "type": "boolean" }, "loop": { "type": "object", "properties": { "n": { "$ref": "#/$defs/loop" } } } },
    });
    let (reduced, lost) = reduce(&schema);
    assert_eq!(reduced["properties"]["a"], json!({ "type": "string", "nullable": true }));
    assert_eq!(reduced["properties"]["b"], json!({ "type": "boolean" }));
    assert_eq!(reduced["properties"]["c"], json!({ "enum": ["only"], "type": "string" }));
    assert_eq!(reduced["properties"]["d"]["items"], json!({}));
    assert_eq!(reduced["properties"]["e"], json!({ "type": "integer" }));
    assert_eq!(lost, ["enum", "pattern", "patternProperties"]);
    assert!(reduced.get("additionalProperties").is_none());
}

#[test]
fn refusals_are_classed_by_status_and_type() {
    let openai =
        |status, body: Value| Protocol::OpenAi.refused(status, None, body.to_string().as_bytes()).class;
    let error = |code: &str| json!({ "error": { "message": "m", "code": code } });
    assert_eq!(openai(401, error("")), Class::Auth);
    assert_eq!(openai(429, error("insufficient_quota")), Class::Quota);
    assert_eq!(openai(429, error("x")), Class::RateLimited);
    assert_eq!(openai(400, error("context_length_exceeded")), Class::ContextLength);
    assert_eq!(openai(404, error("model_not_found")), Class::NotFound);
    assert_eq!(openai(503, json!("oops")), Class::Server);
    assert_eq!(openai(400, json!({ "error": "plain text" })), Class::InvalidRequest);
    // A message that says "unauthorized" under status 500 is still the server's fault.
    assert_eq!(openai(500, json!({ "error": { "message": "401 unauthorized" } })), Class::Server);
    let anthropic = |status, kind: &str, message: &str| {
        let body = json!({ "type": "error", "error": { "type": kind, "message": message } }).to_string();
        Protocol::Anthropic.refused(status, Some(2_000), body.as_bytes())
    };
    assert_eq!(anthropic(529, "overloaded_error", "m").class, Class::Server);
    assert_eq!(
        anthropic(400, "invalid_request_error", "prompt is too long: 1 > 0").class,
        Class::ContextLength
    );
    assert_eq!(anthropic(429, "rate_limit_error", "m").retry_after_ms, Some(2_000));
    let gemini =
        |status, body: Value| Protocol::Gemini.refused(status, None, body.to_string().as_bytes()).class;
    let key = json!({ "error": { "message": "m", "status": "INVALID_ARGUMENT", "details": [{ "reason": "API_KEY_INVALID" }] } });
    assert_eq!(gemini(400, key), Class::Auth);
    assert_eq!(gemini(502, json!("<html>")), Class::Server);
}

#[test]
fn a_vendors_page_of_html_is_cut_and_harmless() {
    let page = format!("<html>\u{1b}[31m{}", "x".repeat(10_000));
    let error = Protocol::OpenAi.refused(502, None, page.as_bytes());
    assert!(error.message.chars().count() <= 600 && !error.message.contains('\u{1b}'));
}

#[test]
fn names_of_providers() {
    for name in ["openai", "OpenAI_Compatible", "azure", "deepseek", "custom", "lmstudio"] {
        assert_eq!(protocol_of(name), Some(Protocol::OpenAi), "{name}");
    }
    assert_eq!(protocol_of("demo"), None);
    assert_eq!(protocol_of("ollama"), Some(Protocol::Ollama));
    // At OpenAI's own address its newer API is spoken, unless the older one is asked for; elsewhere it is a choice.
    for (provider, base_url, expected) in [
        ("openai", "https://api.openai.com/v1", Protocol::Responses),
        ("openai_compatible", "https://api.openai.com/v1", Protocol::OpenAi),
        ("openai", "http://127.0.0.1:8080/v1", Protocol::OpenAi),
        ("openai", "https://openrouter.ai/api/v1", Protocol::OpenAi),
        ("openai_responses", "https://x.openai.azure.com/openai/v1", Protocol::Responses),
        ("ollama", "http://127.0.0.1:11434/v1", Protocol::Ollama),
    ] {
        let mut record = chatos_store::ModelRecord::new("m", provider, "gpt-5");
        base_url.clone_into(&mut record.base_url);
        assert_eq!(protocol_for(&record), Some(expected), "{provider} {base_url}");
    }
    assert_eq!(Protocol::OpenAi.auth("azure", "k"), ("api-key", "k".to_owned()));
    assert_eq!(Protocol::OpenAi.auth("openai", "k"), ("authorization", "Bearer k".to_owned()));
}

#[test]
fn gemini_schemas_that_refer_to_themselves_stay_small() {
    let members: serde_json::Map<String, serde_json::Value> =
        (0..12).map(|number| (format!("m{number}"), json!({ "$ref": "#" }))).collect();
    let (reduced, lost) = reduce(&json!({ "type": "object", "properties": members }));
    assert!(reduced.to_string().len() < 1 << 20);
    assert_eq!(lost, ["$ref"]);
}

/// A file that goes along as it is, in each vendor's words; and as text where the vendor was seen to refuse it.
#[test]
fn documents() {
    let mut request = request();
    let Message::User { text, documents, .. } = &mut request.messages[0] else { panic!() };
    text.push_str("\n\n[file a.pdf]");
    documents.push(Document {
        name: "a.pdf".into(),
        mime: "application/pdf".into(),
        data: "JVBERg==".into(),
        tokens: 2_000,
        label: "\n\n[file a.pdf]".into(),
        text: "\n\nFile `a.pdf`: words".into(),
    });
    let said = |protocol: Protocol, dialect: &Dialect| protocol.wire(&request, dialect).body;
    let usual = Dialect::default();
    let body = said(Protocol::OpenAi, &usual);
    assert_eq!(
        body["messages"][1]["content"][1],
        json!({ "type": "file", "file": { "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg==" } })
    );
    let body = said(Protocol::Anthropic, &usual);
    let source = json!({ "type": "base64", "media_type": "application/pdf", "data": "JVBERg==" });
    assert_eq!(
        body["messages"][0]["content"][0],
        json!({ "type": "document", "source": source, "title": "a.pdf" })
    );
    let body = said(Protocol::Gemini, &usual);
    let inline = json!({ "mimeType": "application/pdf", "data": "JVBERg==" });
    assert_eq!(body["contents"][0]["parts"][0], json!({ "inlineData": inline }));

    let mut taught = Dialect::default();
    let refusal = |message: &str| {
        let body =
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } });
        Protocol::Anthropic.refused(400, None, body.to_string().as_bytes())
    };
    assert!(!taught.learn(&refusal("see the documentation")));
    assert!(taught.learn(&refusal("messages.0.content.0.pdf.source.base64.data: The PDF was not valid.")));
    for protocol in [Protocol::OpenAi, Protocol::Anthropic, Protocol::Gemini] {
        let body = said(protocol, &taught).to_string();
        assert!(body.contains("Look\\n\\nFile `a.pdf`: words") && !body.contains("JVBERg=="), "{body}");
    }
}
