//! Calls over real sockets: streams, cuts, refusals, time-outs, cancelling, keys.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use chatos_model::{
    Answer, Class, Connections, Event, HttpParts, HttpProvider, Message, ModelError, Params, Patience,
    Protocol, Provider, Request, Secrets,
};
use futures_util::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

const KEY: &str = "sk-canary-0123456789abcdef";

/// What the server does with one request.
#[derive(Clone)]
enum Act {
    /// Sends these bytes and keeps the connection.
    Send(String),
    /// Sends these bytes and closes.
    Cut(String),
    /// Sends these bytes and then nothing more.
    Hang(String),
}

struct Vendor {
    base: String,
    /// Heads and bodies as they came.
    seen: Arc<Mutex<Vec<String>>>,
}

/// A server that does `acts` one after the other, and the last one for ever.
async fn vendor(acts: Vec<Act>) -> Vendor {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (told, acts) = (Arc::clone(&seen), Arc::new(acts));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&acts), Arc::clone(&told)));
        }
    });
    Vendor { base, seen }
}

async fn serve(mut stream: TcpStream, acts: Arc<Vec<Act>>, seen: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read_request(&mut stream).await {
        let at = {
            let mut seen = seen.lock().unwrap();
            seen.push(request);
            seen.len() - 1
        };
        match acts[at.min(acts.len() - 1)].clone() {
            Act::Send(bytes) => stream.write_all(bytes.as_bytes()).await.unwrap(),
            Act::Cut(bytes) => {
                stream.write_all(bytes.as_bytes()).await.unwrap();
                return;
            }
            Act::Hang(bytes) => {
                stream.write_all(bytes.as_bytes()).await.unwrap();
                // Until the client goes.
                let mut rest = [0; 64];
                while stream.read(&mut rest).await.is_ok_and(|n| n > 0) {}
                return;
            }
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_lowercase().strip_prefix("content-length:").map(|n| n.trim().parse::<usize>())
                })
                .and_then(Result::ok)
                .unwrap_or(0);
            if body.len() >= length {
                return Some(text);
            }
        }
        match stream.read(&mut piece).await {
            Ok(n) if n > 0 => all.extend_from_slice(&piece[..n]),
            _ => return None,
        }
    }
}

fn answer(status: &str, kind: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
}

fn chunk(text: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
}

const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn sse(body: &str) -> String {
    answer("200 OK", "text/event-stream", "", body)
}

fn provider(base: &str, patience: Patience) -> HttpProvider {
    speaking(Protocol::OpenAi, base, patience)
}

fn speaking(protocol: Protocol, base: &str, patience: Patience) -> HttpProvider {
    HttpProvider::new(HttpParts {
        protocol,
        provider: "openai".to_owned(),
        base_url: format!("{base}/v1"),
        secrets: Arc::new(|| {
            let key = Zeroizing::new(KEY.to_owned());
            Ok(Secrets { key: Some(key.clone()), values: vec![key], ..Secrets::default() })
        }),
        connections: Connections::default(),
        dialect: Arc::default(),
        patience,
    })
}

fn request() -> Request {
    Request {
        messages: vec![Message::user("hi")],
        params: Params { model: "m".to_owned(), temperature: Some(0.5), ..Params::default() },
        ..Request::default()
    }
}

async fn ask(provider: &HttpProvider, cancel: CancellationToken) -> Result<Answer, ModelError> {
    let mut stream = provider.stream(request(), cancel);
    let mut whole = Answer::default();
    while let Some(event) = stream.next().await {
        whole.take(&event?);
    }
    Ok(whole)
}

#[tokio::test]
async fn a_stream_arrives_and_the_connection_is_used_again() {
    let vendor = vendor(vec![Act::Send(sse(&format!("{}{}{END}", chunk("Hel"), chunk("lo"))))]).await;
    let provider = provider(&vendor.base, Patience::default());
    for _ in 0..3 {
        assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap().text, "Hello");
    }
    let seen = vendor.seen.lock().unwrap();
    assert!(seen[0].starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].to_lowercase().contains(&format!("authorization: bearer {KEY}")));
    assert!(seen[0].to_lowercase().contains("accept-encoding: identity"));
}

#[tokio::test]
async fn who_does_not_have_the_newer_api_is_spoken_to_by_the_older_one() {
    let nothing = answer("404 Not Found", "application/json", "", "{\"detail\":\"Not Found\"}");
    let chat = sse(&format!("{}{END}", chunk("older")));
    let vendor = vendor(vec![Act::Send(nothing), Act::Send(chat)]).await;
    let provider = speaking(Protocol::Responses, &vendor.base, Patience::default());
    for _ in 0..2 {
        assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap().text, "older");
    }
    let calls: Vec<String> =
        vendor.seen.lock().unwrap().iter().map(|seen| seen.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(calls, ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]);
}

#[tokio::test]
async fn a_model_that_is_not_there_is_no_reason_to_speak_otherwise() {
    let body = "{\"error\":{\"message\":\"The model `m` does not exist\",\"code\":\"model_not_found\"}}";
    let vendor = vendor(vec![Act::Send(answer("404 Not Found", "application/json", "", body))]).await;
    let provider = speaking(Protocol::Responses, &vendor.base, Patience::default());
    assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap_err().class, Class::NotFound);
    assert_eq!(vendor.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn lines_of_json_arrive_as_a_stream() {
    let body = "{\"message\":{\"content\":\"Hel\"},\"done\":false}\n{\"message\":{\"content\":\"lo\"},\"done\":true}\n";
    let vendor = vendor(vec![Act::Send(answer("200 OK", "application/x-ndjson", "", body))]).await;
    let provider = speaking(Protocol::Ollama, &vendor.base, Patience::default());
    assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap().text, "Hello");
    assert!(vendor.seen.lock().unwrap()[0].starts_with("POST /v1/api/chat "));
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken_too() {
    let body = r#"{"choices":[{"message":{"content":"whole"},"finish_reason":"stop"}]}"#;
    let vendor = vendor(vec![Act::Send(answer("200 OK", "application/json", "", body))]).await;
    let provider = provider(&vendor.base, Patience::default());
    assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap().text, "whole");
}

#[tokio::test]
async fn faults_have_their_class_and_never_the_key() {
    let error = |text: &str| format!("{{\"error\":{{\"message\":\"{text}\"}}}}");
    let leak = error(&format!("wrong key {KEY}"));
    let cases = [
        (Act::Send(answer("401 Unauthorized", "application/json", "", &leak)), Class::Auth),
        (Act::Send(answer("403 Forbidden", "application/json", "", &leak)), Class::Permission),
        (Act::Send(answer("404 Not Found", "text/plain", "", KEY)), Class::NotFound),
        (Act::Send(answer("500 Oops", "text/html", "", &leak)), Class::Server),
        (Act::Send(answer("200 OK", "text/html", "", "<html>")), Class::Config),
        (
            Act::Send(answer("302 Found", "text/plain", "location: http://other.example/\r\n", "")),
            Class::Config,
        ),
        (Act::Send(answer("200 OK", "text/event-stream", "content-encoding: gzip\r\n", "x")), Class::Server),
        (Act::Send(sse(&format!("data: not json {KEY}\n\n"))), Class::Server),
        (Act::Send(sse(&chunk("half"))), Class::Network),
        (
            Act::Cut(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 999\r\n\r\ndata: {"
                    .to_owned(),
            ),
            Class::Network,
        ),
        (Act::Cut(String::new()), Class::Network),
        (Act::Cut("garbage".to_owned()), Class::Network),
    ];
    for (act, class) in cases {
        let vendor = vendor(vec![act]).await;
        let provider = provider(&vendor.base, Patience::default());
        let error = ask(&provider, CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.class, class, "{error}");
        assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    }
}

#[tokio::test]
async fn the_wish_to_wait_is_heard() {
    let refusal = answer("429 Slow Down", "application/json", "retry-after: 2\r\n", "{}");
    let vendor = vendor(vec![Act::Send(refusal)]).await;
    let error =
        ask(&provider(&vendor.base, Patience::default()), CancellationToken::new()).await.unwrap_err();
    assert_eq!(
        (error.class, error.retry_after_ms, error.status),
        (Class::RateLimited, Some(2_000), Some(429))
    );
}

#[tokio::test]
async fn a_member_a_vendor_refuses_is_left_out_from_then_on() {
    let refusal = r#"{"error":{"message":"no","type":"invalid_request_error","param":"temperature"}}"#;
    let refusal = answer("400 Bad Request", "application/json", "", refusal);
    let vendor = vendor(vec![Act::Send(refusal), Act::Send(sse(&format!("{}{END}", chunk("ok"))))]).await;
    let provider = provider(&vendor.base, Patience::default());
    for _ in 0..2 {
        assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap().text, "ok");
    }
    let seen = vendor.seen.lock().unwrap();
    let asked: Vec<bool> = seen.iter().map(|request| request.contains("temperature")).collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn silence_ends_by_itself_and_a_cancel_ends_it_at_once() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let short = Duration::from_millis(200);
    let long = Duration::from_secs(600);
    for (bytes, patience) in [
        (String::new(), Patience { first: short, idle: long }),
        (head.to_owned(), Patience { first: long, idle: short }),
    ] {
        let vendor = vendor(vec![Act::Hang(bytes.clone())]).await;
        let error = ask(&provider(&vendor.base, patience), CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.class, Class::Network);
        let patient = provider(&vendor.base, Patience { first: long, idle: long });
        let cancel = CancellationToken::new();
        let asked = tokio::spawn({
            let cancel = cancel.clone();
            async move { ask(&patient, cancel).await }
        });
        while vendor.seen.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
        assert_eq!(asked.await.unwrap().unwrap_err().class, Class::Canceled);
    }
}

#[tokio::test]
async fn nothing_is_sent_without_a_key_that_is_needed_or_to_nobody() {
    let vendor = vendor(vec![Act::Send(sse(END))]).await;
    let provider = HttpProvider::new(HttpParts {
        protocol: Protocol::OpenAi,
        provider: "openai".to_owned(),
        base_url: vendor.base.clone(),
        secrets: Arc::new(|| Err(ModelError::new(Class::Config, "no key named X; add it under Secrets"))),
        connections: Connections::default(),
        dialect: Arc::default(),
        patience: Patience::default(),
    });
    assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap_err().class, Class::Config);
    assert!(vendor.seen.lock().unwrap().is_empty());
    for (base, class) in [
        ("http://127.0.0.1:1", Class::Network),
        ("http://169.254.169.254", Class::Config),
        ("http://user:pass@127.0.0.1:1", Class::Config),
        ("ftp://127.0.0.1", Class::Config),
        ("not an address", Class::Config),
    ] {
        let provider = self::provider(base, Patience::default());
        assert_eq!(ask(&provider, CancellationToken::new()).await.unwrap_err().class, class, "{base}");
    }
}

#[tokio::test]
async fn pieces_are_told_as_they_come() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let first = chunk("early");
    let vendor = vendor(vec![Act::Hang(format!("{head}{:x}\r\n{first}\r\n", first.len()))]).await;
    let provider = provider(&vendor.base, Patience::default());
    let mut stream = provider.stream(request(), CancellationToken::new());
    assert_eq!(stream.next().await, Some(Ok(Event::Text("early".to_owned()))));
}
