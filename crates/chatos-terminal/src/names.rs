//! What people call things, looked up through the API; the rule itself is [`chatos_tool::names`].

use chatos_tool::names::{Named, Noun, pick, unknown};
use chatos_tool::{ErrorCode, Fault, Lang};
use chatos_wire::agent::FIRST_AGENT;
use serde_json::Value;

use crate::client::Api;
use chatos_desk::encode;

/// Chats that are read at once.
const PAGE: usize = 500;

/// The lists of one host.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    api: &'a Api,
    lang: Lang,
}

impl<'a> Names<'a> {
    pub fn new(api: &'a Api, lang: Lang) -> Self {
        Self { api, lang }
    }

    /// The id of an agent; `default` is the one a chat begins with.
    pub async fn agent(self, written: &str) -> Result<String, Fault> {
        let items = self.items("/api/v1/agents").await?;
        if written == "default" && !items.iter().any(|item| text(item, "id") == written) {
            let first = items.iter().find(|item| text(item, "id") == FIRST_AGENT).or(items.first());
            let first = first.ok_or_else(|| unknown(Noun::AGENT, written, None))?;
            return Ok(text(first, "id").to_owned());
        }
        self.pick(Noun::AGENT, written, &items, &["name"])
    }

    /// The id of a model; `default` is the default one.
    pub async fn model(self, written: &str) -> Result<String, Fault> {
        let items = self.items("/api/v1/models").await?;
        let default = items.iter().find(|item| written == "default" && item["isDefault"] == true);
        if let Some(default) = default {
            return Ok(text(default, "id").to_owned());
        }
        self.pick(Noun::MODEL, written, &items, &["name", "model"])
    }

    /// The id of a permissions profile.
    pub async fn profile(self, written: &str) -> Result<String, Fault> {
        let items = self.items("/api/v1/land-configs").await?;
        self.pick(Noun::PROFILE, written, &items, &["name"])
    }

    /// The id of a chat; `last` is the one that was used last.
    pub async fn chat(self, written: &str) -> Result<String, Fault> {
        if written == "last" {
            let newest = self.chats(false).await?.into_iter().max_by_key(|chat| used(chat).to_owned());
            let newest = newest.ok_or_else(|| unknown(Noun::CHAT, written, None))?;
            return Ok(text(&newest, "id").to_owned());
        }
        let path = format!("/api/v1/sessions/{}", encode(written));
        if !written.is_empty() && self.api.get_json(&path, self.lang).await.is_ok() {
            return Ok(written.to_owned());
        }
        let mut all = self.chats(false).await?;
        all.extend(self.chats(true).await?);
        self.pick(Noun::CHAT, written, &all, &["title"])
    }

    /// The name of a server, where only its name will do; what nobody answers to is left to the host, which knows more
    /// names than the list has.
    pub async fn server(self, written: &str) -> Result<String, Fault> {
        let items = self.items("/api/v1/mcp-servers").await?;
        let id = match self.pick(Noun::SERVER, written, &items, &["name", "identity"]) {
            Err(fault) if fault.class == ErrorCode::NotFound => return Ok(written.to_owned()),
            found => found?,
        };
        let found = items.iter().find(|item| text(item, "id") == id);
        Ok(found.map_or(written, |item| text(item, "name")).to_owned())
    }

    /// The id of one thing of a list that answers to its id and to these members.
    pub async fn one(self, noun: Noun, list: &str, members: &[&str], written: &str) -> Result<String, Fault> {
        self.pick(noun, written, &self.items(list).await?, members)
    }

    /// All chats, or all archived ones, the pinned ones first.
    pub async fn chats(self, archived: bool) -> Result<Vec<Value>, Fault> {
        let mut all = Vec::new();
        let mut cursor = String::new();
        loop {
            let path = format!("/api/v1/sessions?archived={archived}&limit={PAGE}{cursor}");
            let page = self.api.get_json(&path, self.lang).await?;
            all.extend(page["items"].as_array().cloned().unwrap_or_default());
            let Some(next) = page["nextCursor"].as_str() else { return Ok(all) };
            cursor = format!("&cursor={}", encode(next));
        }
    }

    /// Everything of a list, such as `/api/v1/models`.
    pub async fn items(self, path: &str) -> Result<Vec<Value>, Fault> {
        let list = self.api.get_json(path, self.lang).await?;
        Ok(list["items"].as_array().cloned().unwrap_or_default())
    }

    fn pick(self, noun: Noun, written: &str, items: &[Value], members: &[&str]) -> Result<String, Fault> {
        let named =
            |item: &Value| Named::new(text(item, "id"), members.iter().map(|member| text(item, member)));
        let known: Vec<Named> = items.iter().map(named).collect();
        pick(noun, written, &known).map(|found| found.id.clone())
    }
}

/// When something was last said in a chat.
pub fn used(chat: &Value) -> &str {
    chat["lastMessageAt"].as_str().unwrap_or_else(|| text(chat, "updatedAt"))
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}
