//! Vendors of the long run: each counts its requests, has a window and holds what it is sent against its own rules.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chatos_testkit::Script;
use serde_json::{Value, json};

/// Whose protocol and rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaks {
    Chat,
    /// Chat completions that want thinking back beside every call.
    DeepSeek,
    Responses,
    Messages,
    Gemini,
    Ollama,
}

/// One message of a request, whatever its shape.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    Words(String),
    /// Ids or names of calls, and whether the thinking that belongs to them is there as it should be.
    Calls(Vec<String>, bool),
    Result(String),
}

/// How a scripted vendor counts and refuses.
pub(super) struct Vendor {
    pub(super) speaks: Speaks,
    pub(super) window: u64,
    /// Bytes of a token.
    bytes: f64,
    refuse: fn(u64, u64) -> (u16, Value),
    pub(super) refused: AtomicUsize,
    /// Requests that were too long after the first refusal told the window.
    pub(super) refused_later: AtomicUsize,
    /// Requests whose answer would not have fitted behind them, though they did.
    pub(super) crowded: AtomicUsize,
    /// How often the next one had as many messages and a shorter answer.
    pub(super) shortened: AtomicUsize,
    /// Messages and longest answer of a request that was refused for its answer.
    too_much: Mutex<Option<(usize, u64)>>,
    /// Most definitions of tools in a request.
    pub(super) most_tools: AtomicUsize,
    pub(super) without_task: AtomicUsize,
    pub(super) summaries: AtomicUsize,
    /// Requests in which a picture was.
    pub(super) pictures: AtomicUsize,
    /// The tools of the first request; they never change.
    tools: Mutex<Option<Value>>,
    pub(super) faults: Mutex<Vec<String>>,
    /// The messages of the last request, and how often the next one did not begin with them.
    before: Mutex<Vec<Value>>,
    pub(super) broken: AtomicUsize,
}

impl Vendor {
    pub(super) fn new(
        speaks: Speaks,
        window: u64,
        bytes: f64,
        refuse: fn(u64, u64) -> (u16, Value),
    ) -> Arc<Self> {
        Arc::new(Self {
            speaks,
            window,
            bytes,
            refuse,
            refused: AtomicUsize::new(0),
            refused_later: AtomicUsize::new(0),
            crowded: AtomicUsize::new(0),
            shortened: AtomicUsize::new(0),
            too_much: Mutex::default(),
            most_tools: AtomicUsize::new(0),
            without_task: AtomicUsize::new(0),
            summaries: AtomicUsize::new(0),
            pictures: AtomicUsize::new(0),
            tools: Mutex::default(),
            faults: Mutex::default(),
            before: Mutex::default(),
            broken: AtomicUsize::new(0),
        })
    }

    /// The conversation of a request.
    fn list<'a>(&self, request: &'a Value) -> &'a [Value] {
        let member = match self.speaks {
            Speaks::Responses => "input",
            Speaks::Gemini => "contents",
            _ => "messages",
        };
        request[member].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Tokens of one message. Ollama's words are denser in some results, which no count before foretells.
    fn weight(&self, message: &Value) -> f64 {
        let text = message.to_string();
        let dense = self.speaks == Speaks::Ollama && text.contains("3 abcdefghijklmnopqrstuvwxyz");
        text.len() as f64 / if dense { self.bytes / 2.2 } else { self.bytes }
    }

    /// Tokens of the rest.
    fn rest(&self, request: &Value) -> f64 {
        let rest = ["tools", "instructions", "system", "systemInstruction"];
        let length: usize =
            rest.iter().filter_map(|member| request.get(member)).map(|value| value.to_string().len()).sum();
        length as f64 / self.bytes
    }

    /// Counts, checks and answers.
    pub(super) fn answer(&self, request: &Value, act: impl Fn() -> Script) -> Script {
        let list = self.list(request);
        let mut tokens = (self.rest(request) + list.iter().map(|said| self.weight(said)).sum::<f64>()) as u64;
        if self.speaks == Speaks::Ollama && request["options"]["num_ctx"] != json!(self.window) {
            self.fault(format!("num_ctx is {}", request["options"]["num_ctx"]));
        }
        let tools = request["tools"].as_array().map_or(0, Vec::len);
        self.most_tools.fetch_max(tools, Ordering::Relaxed);
        if matches!(self.speaks, Speaks::Chat | Speaks::Responses) && tools > MOST_TOOLS {
            self.fault(format!("{tools} tools"));
        }
        let answer = request["max_tokens"].as_u64().unwrap_or_default();
        if let Some((said, longest)) = self.too_much.lock().unwrap().take()
            && said == list.len()
            && answer < longest
        {
            self.shortened.fetch_add(1, Ordering::Relaxed);
        }
        let is_long = tokens + 64 > self.window;
        let is_crowded = self.speaks == Speaks::Messages && !is_long && tokens + answer > self.window;
        if is_long || is_crowded {
            if self.refused.fetch_add(1, Ordering::Relaxed) > 0 {
                self.refused_later.fetch_add(1, Ordering::Relaxed);
            }
            if is_crowded {
                self.crowded.fetch_add(1, Ordering::Relaxed);
                *self.too_much.lock().unwrap() = Some((list.len(), answer));
                let (status, body) = anthropic_answer(tokens, answer, self.window);
                return Script::Refuse { status, headers: Vec::new(), body };
            }
            if self.speaks != Speaks::Ollama {
                let (status, body) = (self.refuse)(tokens, self.window);
                return Script::Refuse { status, headers: Vec::new(), body };
            }
            // An older server: the oldest messages go without a word, and what is left is counted.
            let mut oldest =
                list.iter().filter(|said| said["role"] != "system").map(|said| self.weight(said));
            while tokens + 64 > self.window {
                let Some(weight) = oldest.next() else { break };
                tokens = tokens.saturating_sub(weight as u64);
            }
        }
        self.hold(list);
        let text = self.words(list.last());
        if request.get("tools").is_none() && text.contains("Summarise it for yourself") {
            let number = self.summaries.fetch_add(1, Ordering::Relaxed);
            return Script::counted(Script::say(format!("SUMMARY {number}: parts were read")), tokens);
        }
        if !list.iter().any(|said| said.to_string().contains("TASK-7c1")) {
            self.without_task.fetch_add(1, Ordering::Relaxed);
        }
        let whole = request.to_string();
        if PICTURES.iter().any(|mark| whole.contains(mark)) {
            self.pictures.fetch_add(1, Ordering::Relaxed);
        }
        if whole.contains(crate::lived::SECRET) {
            self.fault("something secret of the home".to_owned());
        }
        // Behind a summary the open to-dos stand, in the host's own words.
        if whole.contains("[conversation_summary]") && !whole.contains(super::TODO) {
            self.fault("a summary without what is open".to_owned());
        }
        let tools = self.tools.lock().unwrap().get_or_insert_with(|| request["tools"].clone()).clone();
        if unmarked_tools(&tools) != unmarked_tools(&request["tools"]) {
            self.fault("the tools are others than before".to_owned());
        }
        let now: Vec<Value> = list.iter().map(unmarked).collect();
        let mut before = self.before.lock().unwrap();
        if !now.starts_with(&before) {
            self.broken.fetch_add(1, Ordering::Relaxed);
            let at = now.iter().zip(before.iter()).position(|(one, other)| one != other);
            let first = self.words(at.map(|at| &now[at]));
            // Something is a line now, or cut, or summarised; nothing else may change the beginning.
            let may = ["read_result", "[conversation_summary]", "[a picture was left out]"];
            if !may.iter().any(|mark| first.contains(mark)) {
                let was = self.words(at.map(|at| &before[at]));
                self.fault(format!(
                    "{} messages became {}: {was:.200} is {first:.200}",
                    before.len(),
                    now.len()
                ));
            }
        }
        *before = now;
        Script::counted(act(), tokens)
    }

    fn words(&self, message: Option<&Value>) -> String {
        message.map(Value::to_string).unwrap_or_default()
    }

    /// Every call has its result right behind it, no result is alone, and thinking stands where it has to.
    fn hold(&self, list: &[Value]) {
        let mut open: Vec<String> = Vec::new();
        for said in self.read(list) {
            match said {
                Said::Result(id) => match open.iter().position(|open| *open == id) {
                    Some(at) => drop(open.remove(at)),
                    None => self.fault(format!("a result without its call: {id}")),
                },
                Said::Words(_) if open.is_empty() => {}
                Said::Words(words) => {
                    self.fault(format!("calls without results: {open:?} before {words:.80}"));
                }
                Said::Calls(ids, thought) => {
                    if !open.is_empty() {
                        self.fault(format!("calls without results: {open:?}"));
                    }
                    if !thought {
                        self.fault(format!("{ids:?} came without the thinking before them"));
                    }
                    open = ids;
                }
            }
        }
    }

    fn fault(&self, what: String) {
        self.faults.lock().unwrap().push(what);
    }

    fn read(&self, list: &[Value]) -> Vec<Said> {
        match self.speaks {
            Speaks::Chat | Speaks::DeepSeek | Speaks::Ollama => {
                list.iter().map(|said| self.chat(said)).collect()
            }
            Speaks::Responses => self.items(list),
            Speaks::Messages | Speaks::Gemini => list.iter().flat_map(|said| self.parts(said)).collect(),
        }
    }

    fn chat(&self, said: &Value) -> Said {
        let text = |member: &str| said[member].as_str().unwrap_or_default().to_owned();
        if said["role"] == "tool" {
            return Said::Result(text("tool_call_id"));
        }
        let calls = said["tool_calls"].as_array().into_iter().flatten();
        let ids: Vec<String> = calls.filter_map(|call| call["id"].as_str().map(str::to_owned)).collect();
        if ids.is_empty() {
            return Said::Words(said["content"].to_string());
        }
        let thought = match self.speaks {
            Speaks::DeepSeek => text("reasoning_content").starts_with("thought "),
            Speaks::Ollama => text("thinking").starts_with("thought "),
            _ => true,
        };
        Said::Calls(ids, thought)
    }

    /// Calls that follow one another are one pass; a sealed thought stands right before the first of them.
    fn items(&self, list: &[Value]) -> Vec<Said> {
        let mut out: Vec<Said> = Vec::new();
        let mut sealed = false;
        for item in list {
            let id = item["call_id"].as_str().unwrap_or_default().to_owned();
            match item["type"].as_str().unwrap_or_default() {
                "reasoning" => {
                    if sealed || item.get("id").is_some() || !item["encrypted_content"].is_string() {
                        self.fault(format!("an odd piece of thinking: {item}"));
                    }
                    sealed = true;
                    continue;
                }
                "function_call" => match out.last_mut() {
                    Some(Said::Calls(ids, _)) if !sealed => ids.push(id),
                    _ => out.push(Said::Calls(vec![id], sealed)),
                },
                "function_call_output" => out.push(Said::Result(id)),
                _ => out.push(Said::Words(item["content"].to_string())),
            }
            if sealed && matches!(out.last(), Some(Said::Result(_))) {
                self.fault("a piece of thinking without what it led to".to_owned());
            }
            sealed = false;
        }
        if sealed {
            self.fault("thinking at the end".to_owned());
        }
        out
    }

    fn parts(&self, said: &Value) -> Vec<Said> {
        let member = if self.speaks == Speaks::Gemini { "parts" } else { "content" };
        let parts = said[member].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut out = Vec::new();
        let mut calls: Vec<String> = Vec::new();
        let mut thought = false;
        for (at, part) in parts.iter().enumerate() {
            let word = |pointer: &str| part.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            match part["type"].as_str().unwrap_or_default() {
                "thinking" => {
                    thought = at == 0 && word("/signature").is_some_and(|s| s.starts_with("signed thought "));
                }
                "tool_use" => calls.extend(word("/id")),
                "tool_result" => out.push(Said::Result(word("/tool_use_id").unwrap_or_default())),
                _ => {
                    if let Some(name) = word("/functionCall/name") {
                        thought |= calls.is_empty()
                            && word("/thoughtSignature").is_some_and(|s| s.starts_with("signed thought "));
                        calls.push(name);
                    } else if part.get("inlineData").is_some() {
                        // A picture of the result before it.
                    } else if let Some(name) = word("/functionResponse/name") {
                        out.push(Said::Result(name));
                    } else {
                        out.push(Said::Words(part.to_string()));
                    }
                }
            }
        }
        if !calls.is_empty() {
            out.push(Said::Calls(calls, thought));
        }
        out
    }
}

/// Definitions of tools that OpenAI's endpoints take.
pub(super) const MOST_TOOLS: usize = 128;

/// How a picture looks in the request of each vendor.
const PICTURES: [&str; 5] =
    ["\"image_url\"", "\"input_image\"", "\"inlineData\"", "\"images\":[", "\"type\":\"image\""];

fn unmarked_tools(tools: &Value) -> Vec<Value> {
    let mut tools = tools.as_array().cloned().unwrap_or_default();
    for tool in &mut tools {
        tool.as_object_mut().map(|tool| tool.remove("cache_control"));
    }
    tools
}

/// A message without marks for caches, which move on.
fn unmarked(said: &Value) -> Value {
    let mut said = said.clone();
    for block in said["content"].as_array_mut().into_iter().flatten() {
        block.as_object_mut().map(|block| block.remove("cache_control"));
    }
    said
}

pub(super) fn llama_cpp(tokens: u64, window: u64) -> (u16, Value) {
    let error = json!({ "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": window,
        "message": format!("request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it") });
    (400, json!({ "error": error }))
}

/// A vendor that says nothing but that it is too long.
pub(super) fn groq(_: u64, _: u64) -> (u16, Value) {
    (
        400,
        json!({ "error": { "message": "Please reduce the length of the messages or completion.", "type": "invalid_request_error" } }),
    )
}

pub(super) fn deepseek(tokens: u64, window: u64) -> (u16, Value) {
    let message = format!(
        "This model's maximum context length is {window} tokens. However, you requested {tokens} tokens ({tokens} in the \
         messages, 0 in the completion). Please reduce the length of the messages or completion."
    );
    (
        400,
        json!({ "error": { "message": message, "type": "invalid_request_error", "code": "invalid_request_error" } }),
    )
}

pub(super) fn openai(_: u64, _: u64) -> (u16, Value) {
    let error = json!({ "code": "context_length_exceeded", "type": "invalid_request_error", "param": "input",
        "message": "Your input exceeds the context window of this model. Please adjust your input and try again." });
    (400, json!({ "error": error }))
}

pub(super) fn anthropic(tokens: u64, window: u64) -> (u16, Value) {
    let message = format!("prompt is too long: {tokens} tokens > {window} maximum");
    (400, json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } }))
}

/// The other sentence: the input fits, and the answer that was asked for does not fit behind it.
fn anthropic_answer(tokens: u64, answer: u64, window: u64) -> (u16, Value) {
    let message = format!(
        "input length and `max_tokens` exceed context limit: {tokens} + {answer} > {window}, decrease input length or \
         `max_tokens` and try again"
    );
    (400, json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } }))
}

pub(super) fn gemini(tokens: u64, window: u64) -> (u16, Value) {
    let message =
        format!("The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window}).");
    (400, json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": message } }))
}
