//! Steps of a subagent as its callers see them (servers §9): texts cut, cuts said.

use chatos_store::ToolCallRow;
use chatos_wire::session::MessageView;
use serde_json::{Value, json};

const TEXT_CHARS: usize = 8_000;
const REASONING_CHARS: usize = 6_000;

pub fn assistant(text: &str, reasoning: &str) -> Value {
    let mut step = json!({});
    put(&mut step, "text", text, TEXT_CHARS);
    if !reasoning.is_empty() {
        put(&mut step, "reasoning", reasoning, REASONING_CHARS);
    }
    step
}

pub fn call(call: &ToolCallRow) -> Value {
    json!({ "call_id": call.call_id, "tool": call.tool, "server": call.server, "args": call.args_preview })
}

pub fn result(call_id: &str, message: &MessageView) -> Value {
    let mut step = json!({
        "call_id": call_id, "tool": message.tool, "status": message.status, "code": message.code,
        "elapsed_ms": message.elapsed_ms,
    });
    put(&mut step, "text", &message.content, TEXT_CHARS);
    step
}

fn put(step: &mut Value, key: &str, text: &str, max: usize) {
    let length = text.chars().count();
    let short: String = text.chars().take(max).collect();
    step[key] = Value::from(short);
    if length > max {
        step[format!("{key}_truncated")] = Value::from(true);
        step[format!("{key}_length")] = Value::from(length);
    }
}
