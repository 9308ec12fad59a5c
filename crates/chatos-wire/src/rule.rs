//! Approval rules: what a person decided once for many questions.

use schemars::JsonSchema;
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
}

/// Whether a rule rests.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRule {
    pub paused: bool,
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
}

/// What to try the rules on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TryRules {
    /// A command as an agent would run it, sandboxed and without network.
    pub command: String,
    /// The real path of the project.
    pub project: String,
}

/// What the rules would say.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulesTried {
    /// `allow`, `ask` or `deny`.
    pub decision: String,
    /// Why somebody would be asked.
    pub why: String,
    /// The commands as they were read.
    pub words: Vec<Vec<String>>,
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
}
