//! Traces to a collector on this machine (agents §14): sent when a run ended, one tree, without contents
//! unless they are asked for.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use chatos_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, session, until};

/// A collector: refuses the first request as busy, takes the others.
fn collector() -> (u16, Receiver<(String, Value)>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut status = "503 Busy";
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while lines.read_line(&mut head).is_ok_and(|read| read > 2) {
                let last = head.lines().last().unwrap_or_default().to_ascii_lowercase();
                if let Some(value) = last.strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            lines.read_exact(&mut body).unwrap();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}");
            stream.write_all(answer.as_bytes()).unwrap();
            if status == "200 OK" && sender.send((head, serde_json::from_slice(&body).unwrap())).is_err() {
                return;
            }
            status = "200 OK";
        }
    });
    (port, receiver)
}

#[test]
fn a_finished_run_is_sent_to_the_collector() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "count")) {
            ("user", Some(name)) => Script::call("c1", name, &json!({ "key": text })),
            _ => Script::say("the end"),
        }
    });
    let (port, sent) = collector();
    let host = stand.sandbox.serve();
    let set = |key: &str, value: Value| {
        let path = format!("/api/v1/settings/{key}");
        let done = host.ask("PUT", &path, Some(&json!({ "value": value })));
        assert!(done.status < 300, "{}", done.text());
    };
    set("otlpEndpoint", json!(format!("http://127.0.0.1:{port}")));
    for content in ["off", "on"] {
        set("otlpContent", json!(content));
        let chat = session(&host, &stand.agent);
        let run = send(&host, &chat, "my-own-words");
        let run = until(&host, &run, &["done", "failed"]);
        let (head, document) = sent.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(head.starts_with("POST /v1/traces "), "{head}");
        let spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
        let roots = spans.iter().filter(|span| span["parentSpanId"] == "").count();
        assert_eq!((spans.len(), roots), (4, 1), "{document}");
        assert!(spans.iter().all(|span| span["traceId"] == run["traceId"]));
        let whole = document.to_string();
        assert_eq!(whole.contains("my-own-words"), content == "on", "{whole}");
        assert_eq!(whole.contains("gen_ai.tool.call.result"), content == "on");
    }
    host.stop();
}
