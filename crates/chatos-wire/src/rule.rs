//! Approval rules: what a person decided once for many questions.

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// All rules of this state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuleList {
    pub rules: Vec<RuleView>,
}

/// One rule as it is listed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleView {
    pub id: String,
    /// The record; nothing where it was changed outside ChatOS, and so does not count.
    pub rule: Option<Map<String, Value>>,
    /// Its signature is that of this state.
    pub ours: bool,
    /// Its time is over.
    pub ended: bool,
    /// How often it answered.
    pub uses: i64,
    pub last_used_at: Option<String>,
    pub created_at: String,
}

/// A rule to keep, as `chatos.rules` has it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRule {
    pub rule: Map<String, Value>,
    /// It comes from elsewhere: it is kept paused.
    #[serde(default)]
    pub imported: bool,
    /// The person saw which of their earlier answers it differs from.
    #[serde(default, rename = "alsoDifferent")]
    pub also_different: bool,
}

/// Whether a rule rests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRule {
    pub paused: bool,
    /// The person saw which of their earlier answers it differs from.
    #[serde(default, rename = "alsoDifferent")]
    pub also_different: bool,
}

/// A rule that was kept, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuleKept {
    /// Nothing where it was only proposed.
    pub id: Option<String>,
    pub rule: Map<String, Value>,
}

/// A rule made from a question.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleOfPrompt {
    /// `run`, `chat` or `project`.
    pub scope: String,
    /// How many days it holds; 30 when absent.
    pub days: Option<i64>,
    /// The person saw which of their earlier answers it differs from.
    #[serde(default, rename = "alsoDifferent", skip_serializing_if = "std::ops::Not::not")]
    pub also_different: bool,
    /// For a tool of another server: whatever its arguments are.
    #[serde(default, rename = "anyArguments", skip_serializing_if = "std::ops::Not::not")]
    pub any_arguments: bool,
}

/// A record to compare with past answers; nothing is kept.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BacktestRule {
    pub rule: Map<String, Value>,
}

/// How a rule compares with what the person said before.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleBacktest {
    /// Past answers about the same tool.
    pub considered: i64,
    /// The rule would have said the same.
    pub same: i64,
    /// It would have said something else, or the person refused the same thing elsewhere.
    pub different: i64,
    /// The person would have been asked all the same.
    pub still_asked: i64,
    /// Which questions those that differ are, newest first.
    pub different_ids: Vec<String>,
    /// Those of them that were refused where the rule would hold: such a rule is not kept.
    pub refused_ids: Vec<String>,
    /// All of it in one sentence.
    pub sentence: String,
}

/// Rules that past answers suggest.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuleProposals {
    pub proposals: Vec<RuleProposal>,
}

/// A rule that past answers suggest; it is not kept.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleProposal {
    pub rule: Map<String, Value>,
    /// The same for all chats of the folder, where `rule` is for one chat.
    #[serde(default)]
    pub wider: Option<Map<String, Value>>,
    /// How many approvals suggest it.
    pub count: i64,
    pub first_at: String,
    pub last_at: String,
    /// Some of the calls, newest first.
    pub examples: Vec<String>,
    pub backtest: RuleBacktest,
}

/// What to try the rules on: a command, or a tool with its arguments.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TryRules {
    /// A command as an agent would run it, sandboxed and without network.
    pub command: Option<String>,
    /// The server of the tool: its identity, or the name of a built-in one.
    pub server: Option<String>,
    /// The server's own name of the tool.
    pub tool: Option<String>,
    pub arguments: Option<Map<String, Value>>,
    /// The real path of the project.
    pub project: String,
    /// The agent that would call.
    pub agent: Option<String>,
    /// The chat it would call in.
    pub chat: Option<String>,
    /// In chats (`main`) or as a subagent (`sub`).
    pub role: Option<String>,
    /// The other program that would call, by its name.
    pub client: Option<String>,
}

/// What rules answered of late, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuleUses {
    pub uses: Vec<RuleUse>,
}

/// A question that nobody was asked, because a rule answered it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleUse {
    /// The number of its audit record.
    pub seq: u64,
    pub at: String,
    pub rule: String,
    /// The rule's name as it was then.
    pub name: String,
    /// The rule is still there and answers.
    pub active: bool,
    /// `allow` or `deny`.
    pub decision: String,
    /// What the question would have been called.
    pub title: String,
    /// The command or the path.
    pub about: String,
    pub tool: String,
    /// The folder, by its real path.
    pub project: Option<String>,
    pub run_id: Option<String>,
    pub session_id: Option<String>,
    /// The changed file below the folder, where that is what it did: `changes` knows it.
    pub path: Option<String>,
}

/// What the rules would say.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulesTried {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// Why somebody would be asked.
    pub why: String,
    /// The rule that decides.
    pub by: Option<String>,
    /// The commands as they were read.
    pub words: Vec<Vec<String>>,
    /// What stands between them.
    pub joins: Vec<String>,
    /// Which file each program is; nothing where it is none that counts.
    pub programs: Vec<Option<String>>,
    /// Why it is not made of literal words.
    pub not_literal: Option<String>,
    /// Each rule with the first thing that did not fit.
    pub rules: Vec<RuleLooked>,
}

/// What became of one rule.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RuleLooked {
    pub rule: String,
    pub name: String,
    pub failed: Option<String>,
    /// The same in words.
    pub why: Option<String>,
}
