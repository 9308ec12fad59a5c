//! The tools of the fixture, each a way to behave.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::Server;

/// What `tools/list` offers.
pub(crate) const NAMES: [&str; 6] = ["echo", "files.read", "hang", "crash", "meta", "pid"];

fn text(text: impl Into<String>) -> Value {
    json!({ "content": [{ "type": "text", "text": text.into() }] })
}

fn grandchild(program: &str, arguments: &[&str]) -> io::Result<u32> {
    #[expect(clippy::disallowed_methods, reason = "the fixture leaves processes behind on purpose")]
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).spawn().map(|child| child.id())
}

/// A tool call.
pub(crate) fn call(server: &mut Server, id: &Value, params: &Value) -> io::Result<()> {
    let arguments = &params["arguments"];
    let token = &params["_meta"]["progressToken"];
    match params["name"].as_str().unwrap_or_default() {
        "echo" | "files.read" => server.reply(id, text(arguments["text"].as_str().unwrap_or_default())),
        "meta" => server.reply(id, text(params["_meta"].to_string())),
        "pid" => server.reply(id, text(std::process::id().to_string())),
        "environment" => {
            let names: Vec<String> = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            server.reply(id, text(names.join(" ")))
        }
        "hang" => Ok(()),
        "crash" => {
            writeln!(io::stderr(), "the last words")?;
            Err(io::Error::other("crashes in a call as told"))
        }
        "torn" => {
            server.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"cont").as_bytes())?;
            Err(io::Error::other("tears a line as told"))
        }
        "endless-line" => {
            let chunk = vec![b'x'; 1024 * 1024];
            loop {
                server.raw(&chunk)?;
            }
        }
        "large" => {
            let bytes = arguments["bytes"].as_u64().unwrap_or(0) as usize;
            server.reply(id, text("y".repeat(bytes)))
        }
        "noise" => {
            server.raw(b"\n\r\nlistening on stdio\n\xff\xfe\x00binary\n{\"jsonrpc\":\"2.0\"}\n[]\nnull\n")?;
            server.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/never/heard\",\"params\":{}}\r\n")?;
            server.reply(id, text("through the noise"))
        }
        "drip" => {
            let reply = json!({ "jsonrpc": "2.0", "id": id, "result": text("一滴一滴") }).to_string() + "\n";
            for byte in reply.bytes() {
                server.raw(&[byte])?;
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok(())
        }
        "bad-text" => {
            let open = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"");
            let mut line = open.into_bytes();
            line.extend(b"a\xff\x00\\ud800b\"}]}}\n");
            server.raw(&line)
        }
        "deep" => {
            let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
            server.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{deep}}}\n").as_bytes())
        }
        "wrong-ids" => {
            let number = id.as_u64().unwrap_or(0);
            for wrong in [json!(id.to_string()), json!(number as f64 + 0.5), Value::Null, json!(number + 1_000), json!(-1)] {
                server.reply(&wrong, text("wrong"))?;
            }
            server.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{number}.0,\"result\":{{}}}}\n").as_bytes())?;
            server.send(&json!({ "jsonrpc": "2.0", "result": text("wrong") }))?;
            server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))?;
            server.send(&json!({ "jsonrpc": "2.0", "id": id, "result": text("both"), "error": { "code": 1, "message": "both" } }))?;
            server.reply(id, text("right"))?;
            server.reply(id, text("again"))
        }
        "reverse" => {
            server.held.push(json!([id, arguments["text"]]));
            if server.held.len() == 10 {
                for held in std::mem::take(&mut server.held).iter().rev() {
                    server.reply(&held[0], text(held[1].as_str().unwrap_or_default()))?;
                }
            }
            Ok(())
        }
        "progress" => {
            let count = arguments["count"].as_u64().unwrap_or(3);
            let pause = Duration::from_millis(arguments["pause"].as_u64().unwrap_or(0));
            for n in 0..count {
                server.notify("notifications/progress", json!({ "progressToken": token, "progress": n, "total": count, "message": "going on" }))?;
                std::thread::sleep(pause);
            }
            server.reply(id, text("arrived"))
        }
        "flood" => {
            let count = arguments["count"].as_u64().unwrap_or(0);
            for n in 0..count {
                server.notify("notifications/message", json!({ "level": "info", "data": n }))?;
                server.notify("notifications/tools/list_changed", json!({}))?;
                server.send(&json!({ "jsonrpc": "2.0", "id": format!("p{n}"), "method": "ping" }))?;
            }
            server.reply(id, text("flooded"))
        }
        "stderr-flood" => {
            let line = "e".repeat(1_000);
            for _ in 0..arguments["lines"].as_u64().unwrap_or(0) {
                writeln!(io::stderr(), "{line}")?;
            }
            io::stderr().write_all(&vec![b'z'; 3_000_000])?;
            server.reply(id, text("said it all"))
        }
        "change-tools" => {
            server.version += 1;
            server.notify("notifications/tools/list_changed", json!({}))?;
            server.reply(id, text("changed"))
        }
        "listed" => {
            let listed = server.listed;
            server.reply(id, text(listed.to_string()))
        }
        "cancelled" => {
            let cancelled = json!(server.cancelled).to_string();
            server.reply(id, text(cancelled))
        }
        "ask" => {
            server.held.push(id.clone());
            let method = arguments["method"].as_str().unwrap_or("ping").to_owned();
            let request = json!({ "jsonrpc": "2.0", "id": arguments["id"], "method": method, "params": arguments["params"] });
            server.send(&request)
        }
        "withdraw" => {
            server.send(&json!({ "jsonrpc": "2.0", "id": "w", "method": "elicitation/create",
                                 "params": { "message": "never mind", "requestedSchema": { "type": "object" } } }))?;
            server.notify("notifications/cancelled", json!({ "requestId": "w" }))?;
            server.reply(id, text("withdrawn"))
        }
        "grandchild" => {
            let pid = grandchild("sleep", &["1000"])?;
            server.reply(id, text(pid.to_string()))
        }
        "daemon" => {
            let pid = grandchild("setsid", &["sleep", "1000"])?;
            server.reply(id, text(pid.to_string()))
        }
        "leave-grandchild" => {
            grandchild("sleep", &["1000"])?;
            Err(io::Error::other("dies and leaves its output to a grandchild"))
        }
        "go-deaf" => {
            server.reply(id, text("I hear nothing"))?;
            server.deaf = true;
            Ok(())
        }
        "odd-content" => {
            let content = json!([null, 5, { "type": "hologram", "data": [] }, { "type": "image", "data": 7 }, { "type": "text", "text": "still here" }]);
            server.reply(id, json!({ "content": content }))
        }
        "null-result" => server.reply(id, Value::Null),
        "fail" => server.reply(id, json!({ "content": [{ "type": "text", "text": "it did not work" }], "isError": true })),
        "confirm" => match params.get("inputResponses") {
            Some(answers) => {
                let echoed = json!({ "answers": answers, "state": params["requestState"] });
                server.reply(id, json!({ "resultType": "complete", "content": [{ "type": "text", "text": echoed.to_string() }] }))
            }
            None => server.reply(
                id,
                json!({ "resultType": "input_required", "requestState": "sealed", "inputRequests": {
                    "sure": { "method": "elicitation/create", "params": { "message": "sure?", "requestedSchema": { "type": "object", "properties": { "yes": { "type": "boolean" } } } } } } }),
            ),
        },
        "job" => server.reply(
            id,
            json!({ "resultType": "task", "taskId": "job-1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
                    "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": 60_000, "pollIntervalMs": 50 }),
        ),
        "replies" => {
            let replies = json!(server.replies).to_string();
            server.reply(id, text(replies))
        }
        other => {
            let message = format!("no tool `{other}`");
            server.refuse(id, -32602, &message)
        }
    }
}

/// An answer of the client to a request of ours: the waiting call gets it.
pub(crate) fn answered(server: &mut Server, message: &Value) -> io::Result<()> {
    // Answers to floods of pings go nowhere.
    if message["id"].as_str().is_some_and(|id| id.starts_with('p')) {
        return Ok(());
    }
    match server.held.pop() {
        Some(id) => server.reply(&id, text(message.to_string())),
        None => Ok(()),
    }
}

/// `tasks/get`: works, asks, is done.
pub(crate) fn task(server: &mut Server, id: &Value, params: &Value) -> io::Result<()> {
    server.polls += 1;
    let answered = server.replies.iter().any(|reply| reply.get("inputResponses").is_some());
    let mut task = json!({ "resultType": "complete", "taskId": params["taskId"], "createdAt": "2026-01-01T00:00:00Z",
                           "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": null, "pollIntervalMs": 50 });
    if server.polls == 1 {
        task["status"] = json!("working");
    } else if answered {
        task["status"] = json!("completed");
        task["result"] = text("job done");
    } else {
        task["status"] = json!("input_required");
        task["inputRequests"] = json!({ "n": { "method": "elicitation/create", "params": { "message": "n?", "requestedSchema": { "type": "object" } } } });
    }
    server.reply(id, task)
}
