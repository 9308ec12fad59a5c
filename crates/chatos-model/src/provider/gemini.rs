//! `generateContent` of Gemini.

use serde_json::{Map, Value, json};

use crate::protocol::cut_off;
use crate::refusal::{self, Place};
use crate::{Class, Dialect, Effort, Event, Image, Message, ModelError, Request, Stop, Usage, Wire};

/// The request.
pub(crate) fn wire(request: &Request, dialect: &Dialect) -> Wire {
    let params = &request.params;
    let mut body = Map::new();
    if !request.system.is_empty() {
        let parts: Vec<_> = request.system.iter().map(|text| json!({ "text": text })).collect();
        body.insert("systemInstruction".to_owned(), json!({ "parts": parts }));
    }
    body.insert("contents".to_owned(), contents(&request.messages, &params.model, dialect.sends(SIGNATURES)));
    if !request.tools.is_empty() {
        let declarations: Vec<_> = request
            .tools
            .iter()
            .map(|tool| {
                let (parameters, _) = reduce(&tool.parameters);
                let mut declared = json!({ "name": tool.name, "description": tool.description });
                // An object without members is refused; no parameters at all is accepted.
                let empty = parameters.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
                if !empty {
                    declared["parameters"] = parameters;
                }
                declared
            })
            .collect();
        body.insert("tools".to_owned(), json!([{ "functionDeclarations": declarations }]));
    }
    let mut config = Map::new();
    if let Some(most) = params.max_output_tokens {
        config.insert("maxOutputTokens".to_owned(), json!(most));
    }
    if let Some(temperature) = params.temperature {
        config.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(effort) = params.effort {
        let budget = match effort {
            Effort::None => 0,
            Effort::Minimal => 512,
            Effort::Low => 1024,
            Effort::Medium => 8192,
            Effort::High | Effort::XHigh | Effort::Max => 24_576,
        };
        let thinking = json!({ "thinkingBudget": budget, "includeThoughts": budget > 0 });
        config.insert("thinkingConfig".to_owned(), thinking);
    }
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    // A model name may come as `models/x`; anything else in it must not reach the path unescaped.
    let model = params.model.strip_prefix("models/").unwrap_or(&params.model);
    let model: String = model
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect();
    Wire {
        path: format!("models/{model}:streamGenerateContent?alt=sse"),
        headers: Vec::new(),
        body: Value::Object(body),
    }
}

/// The member of a [`Dialect`] for signatures: a vendor that calls one broken is asked without them.
pub(crate) const SIGNATURES: &str = "thoughtSignature";
/// What the API documents for a call that another model made, or whose signature is lost.
const UNSIGNED: &str = "skip_thought_signature_validator";

fn contents(messages: &[Message], model: &str, signed: bool) -> Value {
    let signs = model.rsplit('/').next().unwrap_or(model).starts_with("gemini-3");
    let turn = messages.iter().rposition(|message| matches!(message, Message::User { .. })).unwrap_or(0);
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let (role, parts) = match message {
            Message::User { text, images, documents } => {
                let files = documents.iter().map(|file| inline(&file.mime, &file.data));
                let mut parts: Vec<_> = files.chain(images.iter().map(picture)).collect();
                if !text.is_empty() {
                    parts.push(json!({ "text": text }));
                }
                ("user", parts)
            }
            Message::Assistant { text, tool_calls, .. } => {
                let mut parts = Vec::new();
                if !text.is_empty() {
                    parts.push(json!({ "text": text }));
                }
                parts.extend(tool_calls.iter().enumerate().map(|(index, call)| {
                    let args = serde_json::from_str::<Value>(&call.arguments).ok();
                    let args = args.filter(Value::is_object).unwrap_or_else(|| json!({}));
                    let mut part = json!({ "functionCall": { "name": call.name, "args": args } });
                    if let Some(signature) = call.opaque.as_ref().filter(|_| signed) {
                        part["thoughtSignature"] = signature.clone();
                    } else if signs && index == 0 && at > turn {
                        part["thoughtSignature"] = json!(UNSIGNED);
                    }
                    part
                }));
                ("model", parts)
            }
            Message::Tool { name, content, is_error, images, .. } => {
                let member = if *is_error { "error" } else { "result" };
                let result = json!({ "functionResponse": { "name": name, "response": { member: content } } });
                // A result is text alone; its pictures stand behind it.
                ("user", std::iter::once(result).chain(images.iter().map(picture)).collect())
            }
        };
        if parts.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            _ => out.push((role, parts)),
        }
    }
    out.into_iter().map(|(role, parts)| json!({ "role": role, "parts": parts })).collect()
}

fn picture(image: &Image) -> Value {
    inline(&image.mime, &image.data)
}

fn inline(mime: &str, data: &str) -> Value {
    json!({ "inlineData": { "mimeType": mime, "data": data } })
}

/// What the API accepts of a schema.
const ACCEPTED: [&str; 16] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "items",
    "anyOf",
];

/// Deepest schema that is followed; deeper parts become "any".
const DEEPEST: usize = 24;
/// Most parts of one reduced schema.
const MOST_PARTS: usize = 4000;

/// Reduces a JSON Schema to the accepted subset, and names the keywords that were lost.
pub fn reduce(schema: &Value) -> (Value, Vec<String>) {
    let mut lost = Lost { keywords: std::collections::BTreeSet::new(), left: MOST_PARTS };
    let reduced = reduce_at(schema, schema, 0, &mut lost);
    (reduced, lost.keywords.into_iter().collect())
}

/// What a reduction lost, and how many parts it may still write.
struct Lost {
    keywords: std::collections::BTreeSet<String>,
    left: usize,
}

impl Lost {
    fn insert(&mut self, keyword: impl Into<String>) {
        self.keywords.insert(keyword.into());
    }
}

fn reduce_at(schema: &Value, root: &Value, depth: usize, lost: &mut Lost) -> Value {
    let Some(map) = schema.as_object().filter(|_| depth < DEEPEST) else { return json!({}) };
    // References that refer to each other grow without end; the rest of such a schema is "any".
    let Some(left) = lost.left.checked_sub(1) else {
        lost.insert("$ref");
        return json!({});
    };
    lost.left = left;
    if let Some(target) = map.get("$ref").and_then(Value::as_str) {
        // Only references inside the same schema; a circle ends at the depth limit.
        let found = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        if found.is_none() {
            lost.insert("$ref");
        }
        return found.map_or_else(|| json!({}), |found| reduce_at(found, root, depth + 1, lost));
    }
    let mut out = Map::new();
    for (keyword, value) in map {
        match keyword.as_str() {
            "type" => match value {
                // `["string", "null"]` is a nullable string.
                Value::Array(types) => {
                    let mut real = types.iter().filter(|kind| kind.as_str() != Some("null"));
                    if let Some(first) = real.next() {
                        out.insert("type".to_owned(), first.clone());
                    }
                    if real.next().is_some() {
                        lost.insert("type");
                    }
                    if types.iter().any(|kind| kind.as_str() == Some("null")) {
                        out.insert("nullable".to_owned(), json!(true));
                    }
                }
                kind => {
                    out.insert("type".to_owned(), kind.clone());
                }
            },
            "const" => {
                out.insert("enum".to_owned(), json!([value]));
            }
            "oneOf" | "anyOf" => {
                let options = value.as_array().into_iter().flatten();
                let options: Vec<_> =
                    options.map(|option| reduce_at(option, root, depth + 1, lost)).collect();
                out.insert("anyOf".to_owned(), Value::Array(options));
            }
            "properties" => {
                let members = value.as_object().into_iter().flatten();
                let members: Map<_, _> = members
                    .map(|(name, member)| (name.clone(), reduce_at(member, root, depth + 1, lost)))
                    .collect();
                out.insert("properties".to_owned(), Value::Object(members));
            }
            "items" => {
                out.insert("items".to_owned(), reduce_at(value, root, depth + 1, lost));
            }
            "$schema" | "$defs" | "definitions" | "$id" | "default" | "examples" | "additionalProperties" => {
            }
            accepted if ACCEPTED.contains(&accepted) => {
                out.insert(keyword.clone(), value.clone());
            }
            other => {
                lost.insert(other);
            }
        }
    }
    // Only texts may be enumerated, and an enumeration is a text.
    if let Some(Value::Array(options)) = out.get_mut("enum") {
        let texts = options.iter().map(|option| match option {
            Value::String(text) => json!(text),
            other => json!(other.to_string()),
        });
        let texts: Vec<_> = texts.collect();
        if out.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "string") {
            lost.insert("enum");
            out.remove("enum");
        } else {
            out.insert("type".to_owned(), json!("string"));
            out.insert("enum".to_owned(), Value::Array(texts));
        }
    }
    if out.get("type").and_then(Value::as_str) == Some("array") && !out.contains_key("items") {
        out.insert("items".to_owned(), json!({}));
    }
    Value::Object(out)
}

/// A streamed answer so far.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    calls: usize,
    stop: Option<Stop>,
}

impl Decoding {
    pub(crate) fn chunk(&mut self, chunk: &Value) -> Result<Vec<Event>, ModelError> {
        if chunk.get("error").is_some() {
            let refused = refusal::read(Place::Stream, chunk);
            return Err(refused.unwrap_or_else(|| ModelError::new(Class::Server, chunk.to_string())));
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            return Err(ModelError::new(Class::ContentFilter, format!("the prompt was refused: {reason}")));
        }
        let mut events = Vec::new();
        let parts = chunk.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            if let Some(call) = part.get("functionCall") {
                let index = self.calls;
                self.calls += 1;
                let text = |member: &str| call.get(member).and_then(Value::as_str).map(str::to_owned);
                events.push(Event::ToolUse {
                    index,
                    id: Some(text("id").unwrap_or_else(|| format!("call_{index}"))),
                    name: Some(text("name").unwrap_or_default()),
                    args_delta: call.get("args").unwrap_or(&json!({})).to_string(),
                    opaque: part.get("thoughtSignature").cloned(),
                });
            } else if let Some(text) =
                part.get("text").and_then(Value::as_str).filter(|text| !text.is_empty())
            {
                let thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
                let text = text.to_owned();
                events.push(if thought { Event::Reasoning(text) } else { Event::Text(text) });
            }
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            let number = |member: &str| usage.get(member).and_then(Value::as_u64).unwrap_or(0);
            let cached = number("cachedContentTokenCount").min(number("promptTokenCount"));
            events.push(Event::Usage(Usage {
                input: number("promptTokenCount") - cached,
                output: number("candidatesTokenCount") + number("thoughtsTokenCount"),
                cache_read: cached,
                cache_write: 0,
                estimated: false,
            }));
        }
        if let Some(reason) = chunk.pointer("/candidates/0/finishReason").and_then(Value::as_str) {
            self.stop = Some(match reason {
                "MAX_TOKENS" => Stop::Length,
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" => Stop::ContentFilter,
                _ if self.calls > 0 => Stop::ToolUse,
                _ => Stop::End,
            });
        }
        Ok(events)
    }

    pub(crate) fn end(&mut self) -> Result<Vec<Event>, ModelError> {
        match self.stop {
            Some(stop) => Ok(vec![Event::Done(stop)]),
            None => Err(cut_off()),
        }
    }
}
