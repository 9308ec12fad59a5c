//! Programs that ask over a connection of their own.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

/// Programs that were seen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClientList {
    /// Those that wanted to decide about their own calls, and those that may.
    pub items: Vec<ClientView>,
    /// Their sessions of the last thirty days, newest first.
    pub sessions: Vec<ClientSession>,
}

/// A program's session with us.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientSession {
    pub id: String,
    /// `gateway`, `hook`, `acp_agent` or `acp_editor`.
    pub kind: String,
    /// What it calls itself.
    pub name: String,
    pub version: Option<String>,
    /// Tells apart programs of one name in one folder, from 1.
    pub number: u32,
    /// It said no name; this is that of its process.
    pub unconfirmed: bool,
    /// The folder it works in.
    pub root: Option<String>,
    /// Where that folder comes from: `flag`, `roots`, `cwd`, `acp`, `hook` or `none`.
    pub root_from: Option<String>,
    /// The last part of that folder.
    pub project: Option<String>,
    /// What it calls its session.
    pub label: Option<String>,
    /// Its executable, or what an interpreter runs.
    pub program: Option<String>,
    /// Whose tools it uses: id or name of an agent.
    pub agent: Option<String>,
    pub pid: Option<u32>,
    pub first_at: String,
    pub seen_at: String,
    /// Its process is there now.
    pub connected: bool,
    /// Open questions.
    pub waiting: usize,
    /// It may decide about its own calls.
    pub may_decide: bool,
}

/// A session with what it may use and what it did last.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientDetail {
    pub session: ClientSession,
    /// Servers whose tools it may call here; empty for a program that only asks.
    pub uses: Vec<ClientUse>,
    /// Its last questions, newest first.
    pub questions: Vec<ClientQuestion>,
    /// Its last calls, newest first.
    pub calls: Vec<ClientCall>,
}

/// A server that a program may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientUse {
    pub server: String,
    pub tools: usize,
    /// Tools of these that ask a person each time.
    pub asks: usize,
}

/// A question of a program.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientQuestion {
    pub request_id: String,
    pub title: String,
    pub kind: Option<String>,
    pub asked_at: String,
    pub answered_at: Option<String>,
    /// `ok`, `canceled`, `timeout` or `error`; absent while it is open.
    pub status: Option<String>,
    /// Why it was closed without a person.
    pub code: Option<String>,
}

/// A call of a program.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientCall {
    pub at: String,
    pub server: String,
    pub tool: String,
    pub status: String,
    pub is_error: bool,
}

/// A session was written down by the process it belongs to.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientSeen {
    /// Its id.
    pub id: String,
}

/// A program that was seen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientView {
    pub id: String,
    /// What it calls itself.
    pub name: String,
    /// Its executable.
    pub program: String,
    /// What an interpreter runs.
    pub script: Option<String>,
    pub uid: u32,
    /// Only under this directory.
    pub project: Option<String>,
    pub seen_at: String,
    /// It may decide about its own calls.
    pub allowed: bool,
    pub allowed_at: Option<String>,
}

/// Which program may decide about its own calls.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllowClient {
    /// What it calls itself.
    pub name: String,
    /// Its executable or script, where several have that name.
    pub program: Option<String>,
    /// Only under this directory; everywhere when absent.
    pub project: Option<String>,
    /// The process that asks for it; no program allows itself.
    pub pid: Option<u32>,
}

/// Which program is forgotten.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetClient {
    /// The id of the program or of one of its sessions, or what it calls itself.
    pub id: String,
}

/// How many were forgotten.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClientsForgotten {
    pub ok: bool,
    pub forgotten: usize,
}
