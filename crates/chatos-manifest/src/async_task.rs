//! `callMeta.asyncTask` (ai-contributions §11.1): which tools answer later through the prompt log.

use serde_json::{Map, Value};

use crate::fields::{Object, Read, Report};
use crate::{ProblemCode, Source, Text, quote};

/// The checked configuration. Absent when AsyncTask does not apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsyncTask {
    /// Tool names as written; compared without case. `*` is every tool.
    pub tools: Vec<String>,
    /// Key of `_meta` that carries the task id.
    pub task_id_key: String,
    /// Clamped to 200–5,000.
    pub poll_interval_ms: u64,
    /// Clamped to 1 s – 24 h.
    pub timeout_ms: u64,
}

/// The only file results are read from (seed 003 §1).
const PROMPT_FILE: &str = "ui-prompts.jsonl";
/// Keys of `_meta` that mean something else.
const RESERVED_KEYS: &[&str] = &["chatos", "traceparent", "workdir", "progressToken"];

impl AsyncTask {
    /// True when a call of `tool` (the server's own name) is answered later.
    pub fn covers(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == "*" || name.to_lowercase() == tool.to_lowercase())
    }
}

/// Reads `asyncTask` of a callMeta object.
pub(crate) fn parse(call_meta: &Object<'_>, report: &mut Report) -> Read<Option<AsyncTask>> {
    let Some(value) = call_meta.get("asyncTask") else { return Ok(None) };
    let Value::Object(map) = value else {
        return Err(invalid(call_meta, "asyncTask", report, "must be an object", "必须是对象"));
    };
    let object = Object {
        map,
        pointer: call_meta.at("asyncTask"),
        label: "ai.mcp.callMeta.asyncTask",
        scope: call_meta.scope,
    };
    let tools = tools(&object, report)?;
    let task_id_key = task_id_key(&object, report)?;
    match object.get("resultSource") {
        None => {}
        Some(Value::String(source)) if source.trim() == "ui_prompts" => {}
        Some(_) => {
            return Err(invalid(
                &object,
                "resultSource",
                report,
                "must be \"ui_prompts\"",
                "必须是 \"ui_prompts\"",
            ));
        }
    }
    if object.get("uiPromptFile").is_some_and(|file| file.as_str().map(str::trim) != Some(PROMPT_FILE)) {
        let message = Text::new(
            format!("{} can only be {PROMPT_FILE}; that file is used", object.name("uiPromptFile")),
            format!("{} 只能是 {PROMPT_FILE}；将使用该文件", object.name("uiPromptFile")),
        );
        report.warn(Source::Ai, ProblemCode::AsyncPromptFile, object.at("uiPromptFile"), message);
    }
    let poll_interval_ms = millis(&object, "pollIntervalMs", 1_000, 200, 5_000, report)?;
    let timeout_ms = millis(&object, "timeoutMs", 7_200_000, 1_000, 86_400_000, report)?;
    if tools.is_empty() {
        return Ok(None);
    }
    warn_static_id(call_meta.map, &task_id_key, call_meta, report);
    Ok(Some(AsyncTask { tools, task_id_key, poll_interval_ms, timeout_ms }))
}

fn invalid(
    object: &Object<'_>,
    key: &str,
    report: &mut Report,
    en: &str,
    zh: &str,
) -> crate::fields::Refused {
    let name = object.name(key);
    object.refuse(
        report,
        ProblemCode::AsyncInvalid,
        key,
        Text::new(format!("{name} {en}"), format!("{name} {zh}")),
    )
}

fn tools(object: &Object<'_>, report: &mut Report) -> Read<Vec<String>> {
    let wrong = "must be a list of tool names";
    let wrong_zh = "必须是工具名称列表";
    match object.get("tools") {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => {
            let mut tools = Vec::new();
            for item in items {
                let Value::String(name) = item else {
                    return Err(invalid(object, "tools", report, wrong, wrong_zh));
                };
                let name = name.trim();
                if !name.is_empty() && !tools.iter().any(|known| known == name) {
                    tools.push(name.to_owned());
                }
            }
            Ok(tools)
        }
        Some(_) => Err(invalid(object, "tools", report, wrong, wrong_zh)),
    }
}

fn task_id_key(object: &Object<'_>, report: &mut Report) -> Read<String> {
    match object.get("taskIdKey") {
        None => Ok("taskId".to_owned()),
        Some(Value::String(key)) if !key.trim().is_empty() => {
            let key = key.trim();
            if RESERVED_KEYS.contains(&key) || is_refused_key(key) {
                let en = format!("may not be {}", quote(key));
                let zh = format!("不能是 {}", quote(key));
                return Err(invalid(object, "taskIdKey", report, &en, &zh));
            }
            Ok(key.to_owned())
        }
        Some(_) => {
            Err(invalid(object, "taskIdKey", report, "must be a non-empty string", "必须是非空字符串"))
        }
    }
}

fn millis(
    object: &Object<'_>,
    key: &str,
    default: u64,
    min: u64,
    max: u64,
    report: &mut Report,
) -> Read<u64> {
    match object.get(key) {
        None => Ok(default),
        // Clamped as a double first, so that neither huge nor negative numbers wrap.
        Some(value) => match value.as_f64() {
            Some(n) => Ok(n.clamp(min as f64, max as f64) as u64),
            None => Err(invalid(object, key, report, "must be a number", "必须是数字")),
        },
    }
}

fn warn_static_id(call_meta: &Map<String, Value>, key: &str, object: &Object<'_>, report: &mut Report) {
    if call_meta.contains_key(key) {
        let message = Text::new(
            format!("ai.mcp.callMeta.{key} is a constant; the host sets a new task id for each call"),
            format!("ai.mcp.callMeta.{key} 是常量；宿主会为每次调用设置新的任务 id"),
        );
        report.warn(Source::Ai, ProblemCode::StaticTaskId, object.at(key), message);
    }
}

/// Keys that would change objects themselves in a JavaScript server (ai-contributions §9).
pub(crate) fn is_refused_key(key: &str) -> bool {
    matches!(key, "__proto__" | "constructor" | "prototype")
}
