//! What a server may offer besides tools: documents, prompts, completions, a log for the client.
//!
//! The built-in servers offer tools only and say so; what is not offered here is an unknown method to
//! every client.

use std::collections::BTreeMap;
use std::sync::Arc;

use chatos_tool::{Content, Document};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::client::ClientRound;
use crate::tool::BoxFuture;

/// Everything besides tools. Absent means not offered.
#[derive(Clone, Default)]
pub struct Features {
    /// Documents under addresses.
    pub resources: Option<Arc<dyn Resources>>,
    /// Prompts for a person to choose.
    pub prompts: Option<Arc<dyn Prompts>>,
    /// Proposals for arguments of the two above.
    pub completions: Option<Arc<dyn Completions>>,
    /// Tools write to the client's log.
    pub logging: bool,
}

/// Something a client's list or document is no longer right about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of documents.
    Resources,
    /// The document at this address.
    Resource(String),
}

/// A document in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceInfo {
    /// Its address.
    pub uri: String,
    /// For programs.
    pub name: String,
    /// For people and models.
    pub description: String,
    /// Such as `text/plain`.
    pub mime_type: String,
}

/// A family of documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate {
    /// The address with names in braces (RFC 6570).
    pub uri_template: String,
    /// For programs.
    pub name: String,
    /// For people and models.
    pub description: String,
    /// Such as `text/plain`.
    pub mime_type: String,
}

/// Documents.
pub trait Resources: Send + Sync {
    /// Those with an address of their own.
    fn list(&self) -> Vec<ResourceInfo>;
    /// Families.
    fn templates(&self) -> Vec<ResourceTemplate>;
    /// What is at an address; `None` when nothing is.
    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Option<Vec<Document>>>;
}

/// A prompt in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptInfo {
    /// Its name.
    pub name: String,
    /// For people and models.
    pub description: String,
    /// What it wants to know.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// For people.
    pub description: String,
    /// The prompt cannot be had without it.
    pub required: bool,
}

/// A prompt somebody wants. Required arguments are there.
#[derive(Debug, Clone, Copy)]
pub struct PromptCall<'a> {
    /// One of the list.
    pub name: &'a str,
    /// As they came.
    pub arguments: &'a Map<String, Value>,
    /// What the client answered to an earlier round.
    pub answers: &'a BTreeMap<String, Value>,
    /// What the prompt wanted back.
    pub state: Option<&'a Value>,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptReply {
    /// The messages.
    Messages(Vec<PromptMessage>),
    /// The client is asked first, modern clients only.
    Ask(ClientRound),
}

impl PromptReply {
    /// Messages of a person.
    pub fn user(parts: impl IntoIterator<Item = Content>) -> Self {
        let message = |content| PromptMessage { role: "user", content };
        Self::Messages(parts.into_iter().map(message).collect())
    }
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// What it says.
    pub content: Content,
}

/// Prompts.
pub trait Prompts: Send + Sync {
    /// All of them.
    fn list(&self) -> Vec<PromptInfo>;
    /// One of the list.
    fn get<'a>(&'a self, call: PromptCall<'a>) -> BoxFuture<'a, PromptReply>;
}

/// Whose argument is being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionOf<'a> {
    /// The prompt with this name.
    Prompt(&'a str),
    /// The family of documents with this template.
    Template(&'a str),
}

/// Proposals.
pub trait Completions: Send + Sync {
    /// Values that begin like `typed`, best first.
    fn complete(&self, of: CompletionOf<'_>, argument: &str, typed: &str) -> Vec<String>;
}
