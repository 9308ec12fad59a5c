//! Documents, prompts and completions the suite looks for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chatos_layer::{
    BoxFuture, ClientAsk, ClientRound, CompletionOf, Completions, Features, Form, PromptArgument, PromptCall,
    PromptInfo, PromptReply, Prompts, ResourceInfo, ResourceTemplate, Resources,
};
use chatos_tool::{Content, Document, DocumentBody};
use serde_json::{Value, json};

/// One red dot.
pub(super) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// Whether the prompt that comes and goes is there.
pub(super) static EXTRA_PROMPT: AtomicBool = AtomicBool::new(false);

pub(super) fn features() -> Features {
    Features {
        resources: Some(Arc::new(Shelf)),
        prompts: Some(Arc::new(Desk)),
        completions: Some(Arc::new(Guess)),
        logging: true,
    }
}

pub(super) fn document(uri: &str, mime_type: &str, body: DocumentBody) -> Document {
    Document { uri: uri.to_owned(), mime_type: mime_type.to_owned(), body }
}

pub(super) fn text(uri: &str, mime_type: &str, text: impl Into<String>) -> Document {
    document(uri, mime_type, DocumentBody::Text(text.into()))
}

pub(super) fn picture() -> Content {
    Content::Image { data: PNG.to_owned(), mime_type: "image/png".to_owned() }
}

struct Shelf;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

impl Resources for Shelf {
    fn list(&self) -> Vec<ResourceInfo> {
        let info = |uri: &str, name: &str, description: &str, mime_type: &str| ResourceInfo {
            uri: uri.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            mime_type: mime_type.to_owned(),
        };
        vec![
            info(TEXT, "static-text", "A text that never changes", "text/plain"),
            info(BINARY, "static-binary", "A picture that never changes", "image/png"),
            info(WATCHED, "watched-resource", "A text to watch", "text/plain"),
        ]
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            uri_template: "test://template/{id}/data".to_owned(),
            name: "template".to_owned(),
            description: "Data for an id".to_owned(),
            mime_type: "application/json".to_owned(),
        }]
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Option<Vec<Document>>> {
        let found = match uri {
            TEXT => Some(text(uri, "text/plain", "This is the content of the static text resource.")),
            BINARY => Some(document(uri, "image/png", DocumentBody::Blob(PNG.to_owned()))),
            WATCHED => Some(text(uri, "text/plain", "Watched.")),
            _ => uri
                .strip_prefix("test://template/")
                .and_then(|rest| rest.strip_suffix("/data"))
                .filter(|id| !id.is_empty() && !id.contains('/'))
                .map(|id| {
                    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                    text(uri, "application/json", data.to_string())
                }),
        };
        Box::pin(async move { found.map(|document| vec![document]) })
    }
}

struct Desk;

impl Prompts for Desk {
    fn list(&self) -> Vec<PromptInfo> {
        let prompt = |name: &str, arguments: &[&str]| PromptInfo {
            name: name.to_owned(),
            description: format!("The prompt {name}"),
            arguments: arguments
                .iter()
                .map(|name| PromptArgument {
                    name: (*name).to_owned(),
                    description: format!("The argument {name}"),
                    required: true,
                })
                .collect(),
        };
        let mut list = vec![
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt("test_input_required_result_prompt", &[]),
        ];
        if EXTRA_PROMPT.load(Ordering::Relaxed) {
            list.push(prompt("test_extra_prompt", &[]));
        }
        list
    }

    fn get<'a>(&'a self, call: PromptCall<'a>) -> BoxFuture<'a, PromptReply> {
        let argument = |name: &str| call.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let reply = match call.name {
            "test_prompt_with_arguments" => PromptReply::user([Content::text(format!(
                "Prompt with arguments: arg1='{}', arg2='{}'",
                argument("arg1"),
                argument("arg2")
            ))]),
            "test_prompt_with_embedded_resource" => PromptReply::user([
                Content::document(text(
                    argument("resourceUri"),
                    "text/plain",
                    "Embedded resource content for testing.",
                )),
                Content::text("Please process the embedded resource above."),
            ]),
            "test_prompt_with_image" => {
                PromptReply::user([picture(), Content::text("Please analyze the image above.")])
            }
            "test_input_required_result_prompt" => match call.answers.get("user_context") {
                Some(answer) if answer["action"] == "accept" => PromptReply::user([Content::text(format!(
                    "Use this context: {}",
                    answer["content"]["context"].as_str().unwrap_or_default()
                ))]),
                _ => PromptReply::Ask(ClientRound::one(
                    "user_context",
                    form("What context should the prompt use?", json!({"context": {"type": "string"}})),
                )),
            },
            _ => PromptReply::user([Content::text("This is a simple prompt for testing.")]),
        };
        Box::pin(async move { reply })
    }
}

/// A form in which everything has to be filled in.
pub(super) fn form(message: &str, properties: Value) -> ClientAsk {
    let required: Vec<String> =
        properties.as_object().into_iter().flat_map(|map| map.keys().cloned()).collect();
    optional_form(message, json!({"type": "object", "properties": properties, "required": required}))
}

pub(super) fn optional_form(message: &str, schema: Value) -> ClientAsk {
    ClientAsk::Form(Form { message: message.to_owned(), schema, multi_select: false })
}

struct Guess;

impl Completions for Guess {
    fn complete(&self, of: CompletionOf<'_>, argument: &str, typed: &str) -> Vec<String> {
        let known: &[&str] = match (of, argument) {
            (CompletionOf::Prompt("test_prompt_with_arguments"), "arg1") => &["paris", "park", "party"],
            (CompletionOf::Template("test://template/{id}/data"), "id") => &["123", "456"],
            _ => &[],
        };
        known.iter().filter(|value| value.starts_with(typed)).map(|value| (*value).to_owned()).collect()
    }
}
