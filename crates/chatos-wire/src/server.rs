//! MCP servers, their tools, and signing in to them.

use std::collections::BTreeMap;

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Every server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServerList {
    pub items: Vec<ServerView>,
}

/// Tools that wait for a person.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PinList {
    pub items: Vec<PinView>,
}

/// What a person approves.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApproveInput {
    /// The server: its identity, id or name.
    pub identity: String,
    /// Tools: a name each, or a name with the digest that was shown.
    pub tools: Vec<ApprovedTool>,
}

/// A tool to approve.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ApprovedTool {
    /// As it is now.
    Name(String),
    /// As it was shown.
    Shown {
        /// The tool's own name.
        tool: String,
        /// From the list of tools that wait.
        digest: String,
    },
}

/// What was approved.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Approved {
    pub approved: Vec<String>,
}

/// A file of another client.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServerImportInput {
    /// The text of the file.
    #[serde(default)]
    pub text: Option<String>,
    /// The same, as JSON.
    #[serde(default)]
    pub json: Option<Value>,
    /// Take the servers over; without it they are only listed.
    #[serde(default)]
    pub apply: bool,
}

/// Where to sign in.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInBody {
    /// One of the places the server names; absent: the one of the last sign-in, or the first.
    #[serde(default)]
    pub issuer: Option<String>,
}

/// A tool of a server, for its page.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerToolView {
    /// The server's own name.
    pub name: String,
    pub title: String,
    pub description: String,
    pub input_schema: Value,
    /// As the server says; nothing relies on it.
    pub annotations: Value,
    /// `approved`, or `changed` or `new`: off until a person approves it.
    pub state: String,
    /// Why it is off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The tools of a server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerTools {
    pub items: Vec<ServerToolView>,
    /// Tools that were left out, and why.
    pub problems: Vec<String>,
}

/// The newest lines of a server's log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServerLogView {
    /// Where the file is.
    pub path: String,
    /// `{ts, source, level, text}`, oldest first.
    pub items: Vec<Value>,
}

/// A server found in a file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundServer {
    pub name: String,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Names of the variables it gets; the values are not shown.
    pub env_names: Vec<String>,
    /// What a person should look at before or after taking it over.
    pub warnings: Vec<String>,
}

/// What an import found and did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ServerImport {
    pub found: Vec<FoundServer>,
    /// Ids of the servers that were added; empty without `apply`.
    pub imported: Vec<String>,
}

/// A tool that waits for a person, or what a person approved.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinView {
    pub identity: String,
    /// The server's id and name, where it still exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    pub server: String,
    pub tool: String,
    /// `approved`, `changed` or `new`.
    pub state: String,
    pub digest: String,
    /// The tool as the server offers it now, in full.
    pub now: Value,
    /// The tool as it was approved, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<String>,
    pub decided_by: String,
}

/// A server to be added, or what changes about one; absent keys stay as they are.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServerInput {
    /// Unique among all servers.
    pub name: Option<String>,
    /// `cmd://program words…`, `http(s)://…` or `ws(s)://…`.
    pub url: Option<String>,
    /// Instead of `url`: the program and its words, each for itself.
    pub argv: Option<Vec<String>>,
    pub description: Option<String>,
    pub enabled: Option<bool>,
    pub allow_main: Option<bool>,
    pub allow_sub: Option<bool>,
    /// Without a sign of life, 1,000 to 86,400,000; null = the setting.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<u64>")]
    pub timeout_ms: Option<Option<u64>>,
    /// In all.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<u64>")]
    pub max_timeout_ms: Option<Option<u64>>,
    /// To start, 1,000 to 600,000; null = what its plugin declares, else the setting.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<u64>")]
    pub start_timeout_ms: Option<Option<u64>>,
    /// Added to `_meta` of every call; null removes it.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub call_meta: Option<Option<Value>>,
    /// Where a program runs.
    pub cwd: Option<String>,
    /// Allow addresses of this machine and its network.
    pub allow_private: Option<bool>,
    /// Folders the server is told about when it asks (`roots/list`), as absolute paths; none by default.
    pub roots: Option<Vec<String>>,
    pub tags: Option<Vec<String>>,
    /// Credentials of a remote server.
    pub auth: Option<AuthInput>,
    /// Variables of a program; a value of null keeps the stored one, names left out are removed.
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// How to sign in where the server wants that and does not say all of it itself; null removes it.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<OauthInput>")]
    pub oauth: Option<Option<OauthInput>>,
}

/// A registration made beforehand at the place where one signs in, and what to ask for.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OauthInput {
    /// Absent keeps the stored one, an empty one removes it.
    pub client_id: Option<String>,
    /// Stored sealed, never shown again; absent keeps the stored one, an empty one removes it.
    pub client_secret: Option<String>,
    /// Asked for instead of what the server asks for; absent keeps them.
    pub scopes: Option<Vec<String>>,
}

impl std::fmt::Debug for OauthInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OauthInput").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// Credentials. They are stored sealed and never shown again.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AuthInput {
    /// `none`, `token`, `basic` or `headers`.
    pub kind: String,
    /// Sent as `Authorization: Bearer`; absent keeps the stored one.
    pub token: Option<String>,
    /// Sent as `Authorization: Basic`.
    pub username: Option<String>,
    pub password: Option<String>,
    /// Further headers; a value of null keeps the stored one.
    pub headers: Option<BTreeMap<String, Option<String>>>,
}

impl std::fmt::Debug for AuthInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuthInput").field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// The sign-in of a server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInView {
    /// `none`, `needed`, `pending` or `signed_in`.
    pub state: String,
    /// A person can sign in to this server.
    pub possible: bool,
    /// Who was signed in at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// The rights that were given.
    pub scopes: Vec<String>,
    /// The rights it asks for, when it asks.
    pub wanted: Vec<String>,
    /// When what was given ends, unless it is renewed; with `pending`: when the sign-in must be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// It is renewed without a person.
    pub can_refresh: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Why the last sign-in failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ServerFailure>,
}

/// A sign-in that was begun.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignInStart {
    /// Where the person signs in.
    pub url: String,
    pub issuer: String,
    /// All places the server names; one of them can be asked for.
    pub issuers: Vec<String>,
    /// The host of `url`.
    pub host: String,
    /// The rights that are asked for.
    pub scopes: Vec<String>,
    /// When it must be done.
    pub expires_at: String,
}

/// A sign-in that was ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SignedOut {
    /// The place of the sign-in confirmed that it ended what it had given.
    pub revoked: bool,
}

/// A server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    /// Names it in this API.
    pub id: String,
    /// The key of grants: `admin:<id>` or `app:<pluginId>/<appId>`.
    pub identity: String,
    pub name: String,
    pub url: String,
    /// The words of a program, as they are started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// `in-process`, `stdio`, `http` or `ws`.
    pub transport: String,
    pub description: String,
    pub enabled: bool,
    /// Only `enabled` may be changed.
    pub locked: bool,
    pub allow_main: bool,
    pub allow_sub: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_timeout_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_meta: Option<Map<String, Value>>,
    /// Where a program runs; empty = the project of the host.
    pub cwd: String,
    /// Addresses of this machine and its network are allowed.
    pub allow_private: bool,
    /// Folders it is told about when it asks (`roots/list`): those a person set, none otherwise.
    pub roots: Vec<String>,
    pub auth: AuthView,
    pub sign_in: SignInView,
    /// `builtin`, `app`, `user` or `import`.
    pub source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_id: Option<String>,
    pub tags: Vec<String>,
    pub state: ServerStateView,
}

/// What may be told about credentials.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthView {
    /// `none`, `token`, `basic` or `headers`.
    pub kind: String,
    /// Something is stored; it is never shown.
    pub has_value: bool,
    pub header_names: Vec<String>,
    /// Names of variables a program gets.
    pub env_names: Vec<String>,
    /// What a person said about signing in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<OauthView>,
}

/// What a person said about signing in to a server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthView {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// A secret is stored; it is never shown.
    pub has_secret: bool,
    pub scopes: Vec<String>,
}

/// Where a server is in its life.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerStateView {
    /// `off`, `stopped`, `starting`, `ready`, `backoff`, `failed`, or `sign_in`: a person has to sign in.
    pub phase: String,
    /// When that began.
    pub since: String,
    /// `legacy` or `modern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// As the server says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<Value>,
    /// Tools in its newest list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<usize>,
    /// Calls it works on.
    pub in_flight: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Times it was started again after a failure.
    pub restarts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_try_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<ServerFailure>,
}

/// The last failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerFailure {
    pub code: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    pub at: String,
    /// The last lines of its error stream.
    pub stderr: Vec<String>,
}

/// Tells an absent key from a null one.
#[expect(clippy::option_option, reason = "absent keeps a value, null removes it")]
fn given<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(
    reader: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(reader).map(Some)
}

/// Which tools are wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PinQuery {
    /// Changed, new, approved or all; changed and new when absent.
    pub state: Option<String>,
    /// Id, identity or name.
    pub server: Option<String>,
}

/// How much of a log is wanted.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ServerLogQuery {
    /// 1 to 2000.
    pub limit: Option<usize>,
}
