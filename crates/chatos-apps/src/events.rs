//! What apps are told of the host's record of events (host-api §6.2): when something happened, of which
//! kind, how it ended. What was said stays where it is; chats have members of their own.

use serde_json::{Map, Value, json};

use crate::apps::Apps;

/// Events an app is told of (host-api §6.2).
const NEWEST: usize = 200;
/// Enough for that many lines; of longer ones there are fewer.
const BYTES: u64 = 1024 * 1024;
/// Members of a payload that say how something went.
const TOLD: [&str; 14] = [
    "sessionId",
    "trace",
    "state",
    "reason",
    "server",
    "tool",
    "callId",
    "code",
    "status",
    "elapsedMs",
    "usage",
    "modelId",
    "jobId",
    "attempt",
];

impl Apps {
    /// The newest events, newest first. Blocks on disk.
    pub fn events_for_apps(&self) -> Vec<Value> {
        let path = self.dir().path().join("events.jsonl");
        chatos_records::newest_events(&path, BYTES, NEWEST).iter().map(told).collect()
    }
}

fn told(line: &Value) -> Value {
    let payload: Map<String, Value> = TOLD
        .iter()
        .filter_map(|name| line["payload"].get(name).map(|value| ((*name).to_owned(), value.clone())))
        .collect();
    json!({
        "seq": line["seq"], "ts": line["ts"], "type": line["type"], "runId": line["runId"], "payload": payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_left_out() {
        let line = json!({
            "seq": 1, "ts": "t", "type": "assistant", "runId": "r",
            "payload": { "sessionId": "s", "text": "canary", "args": { "x": "canary" }, "state": "done" },
        });
        let seen = told(&line);
        assert_eq!(seen["payload"], json!({ "sessionId": "s", "state": "done" }));
        assert!(!seen.to_string().contains("canary"));
    }
}
