//! Models, vendors that are known, and tests of both.

use std::collections::BTreeMap;

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// All models.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ModelList {
    pub items: Vec<ModelView>,
}

/// One model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelView {
    pub id: String,
    pub name: String,
    pub provider: String,
    /// The provider's own name of it.
    pub model: String,
    pub base_url: String,
    /// A secret's name, or a variable's; may be empty.
    pub api_key_name: String,
    pub description: String,
    pub is_default: bool,
    pub enabled: bool,
    /// 0: as the provider says.
    pub context_tokens: u32,
    /// 0: as the provider says.
    pub max_output_tokens: u32,
    pub temperature: Option<f64>,
    /// Empty, `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    pub reasoning_effort: String,
    pub supports_vision: bool,
    pub supports_reasoning: bool,
    pub supports_tools: bool,
    pub supports_parallel_tools: bool,
    /// `auto`, or `none`: tools are offered only until the first tool round.
    pub tool_followup: String,
    /// Values may be `secret:<name>`.
    pub extra_headers: Map<String, Value>,
    /// Values may be `secret:<name>`.
    pub extra_body: Map<String, Value>,
    /// Per million tokens; unknown is not free.
    pub price_input: Option<f64>,
    pub price_output: Option<f64>,
    pub price_cache_read: Option<f64>,
    pub price_cache_write: Option<f64>,
    pub currency: String,
    /// `user`, `builtin`, `detected` or `import`.
    pub source: String,
    /// Who said what about it, by member: `person`, `vendor`, `learned`, `catalogue` or `guess`; nobody where absent.
    /// `prices` stands for all of them.
    pub sources: BTreeMap<String, String>,
    pub facts: ModelFactsView,
    /// It can be asked now, as far as that is known without asking.
    pub usable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ModelProblem>,
    /// What it will not get, though it can be used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_test: Option<LastTest>,
    pub created_at: String,
    pub updated_at: String,
}

/// What is known about a model besides.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelFactsView {
    /// How it is spoken to: `openai` (chat completions), `responses`, `anthropic`, `gemini` or `ollama`; empty for the
    /// demo.
    pub api: String,
    /// Tokens of one call that are reckoned with, whoever said so.
    pub window: u64,
    pub window_source: String,
    /// It reads PDF files.
    pub pdf: bool,
    /// Words for how hard it may think.
    pub efforts: Vec<String>,
    /// It takes marks for what to cache.
    pub cache_control: bool,
    /// Tools of one request; 0: unknown.
    pub max_tools: u32,
    pub price_tiers: Vec<PriceTierView>,
    /// The day the prices are of, as `2026-01-31`; empty where they are unknown.
    pub prices_as_of: String,
}

/// Prices of calls whose whole input is above a number of tokens, per million tokens.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PriceTierView {
    pub above: u64,
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// Models of a vendor or server that can chat.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferedModels {
    pub items: Vec<OfferedModel>,
    /// `vendor`: its own list. `catalogue`: what ChatOS ships, because the vendor gave none.
    pub source: String,
    /// Why the vendor gave none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ModelProblem>,
}

/// One model that a vendor or server offers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferedModel {
    pub id: String,
    /// Tokens of its window; 0 where nobody knows.
    pub context_tokens: u32,
    pub supports_vision: bool,
    pub supports_reasoning: bool,
    pub supports_tools: bool,
    /// What a million tokens of input cost.
    pub price_input: Option<f64>,
    pub price_output: Option<f64>,
    pub currency: String,
    /// It is among the models already.
    pub added: bool,
}

/// What was heard about models when their vendors were asked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RefreshedModels {
    pub items: Vec<RefreshedModel>,
}

/// What became of one model that was asked about.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefreshedModel {
    pub id: String,
    pub name: String,
    /// Whether its vendor answered at all.
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ModelProblem>,
    /// Tokens of one call, and who said so.
    pub window: u64,
    pub window_source: String,
}

/// Which models to ask about.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshOrder {
    /// Id or name; all when absent.
    pub model: Option<String>,
}

/// Why a model cannot be used.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ModelProblem {
    /// One of the classes of failures.
    pub code: String,
    pub message: String,
}

/// How the last test ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastTest {
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub latency_ms: i64,
    pub at: String,
}

/// What may be said about a model; what is absent stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelInput {
    pub name: Option<String>,
    pub provider: Option<String>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub api_key_name: Option<String>,
    /// Stored as the secret `apiKeyName` and never given back.
    pub api_key: Option<String>,
    pub description: Option<String>,
    pub is_default: Option<bool>,
    pub enabled: Option<bool>,
    pub context_tokens: Option<u32>,
    pub max_output_tokens: Option<u32>,
    pub temperature: Option<f64>,
    pub reasoning_effort: Option<String>,
    pub supports_vision: Option<bool>,
    pub supports_reasoning: Option<bool>,
    pub supports_tools: Option<bool>,
    pub supports_parallel_tools: Option<bool>,
    pub tool_followup: Option<String>,
    pub extra_headers: Option<Map<String, Value>>,
    pub extra_body: Option<Map<String, Value>>,
    pub price_input: Option<f64>,
    pub price_output: Option<f64>,
    pub price_cache_read: Option<f64>,
    pub price_cache_write: Option<f64>,
    pub currency: Option<String>,
    pub source: Option<String>,
}

/// How a test ended.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTestView {
    pub ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub latency_ms: u64,
}

/// Vendors that are known.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PresetList {
    pub items: Vec<PresetView>,
}

/// A vendor that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PresetView {
    pub id: String,
    pub name: String,
    /// How it is spoken to.
    pub provider: String,
    pub base_url: String,
    /// What its key is usually called; empty when it needs none.
    pub api_key_name: String,
    /// Names to begin with; the vendor knows more.
    pub models: Vec<String>,
}

/// Models of servers on this machine.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DetectedModels {
    pub found: Vec<DetectedModel>,
}

/// A pasted key or address. It has no `Debug`: it may be a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pasted {
    pub text: String,
}

/// What it was taken for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecognisedView {
    /// `key`, `url` or `nothing`.
    pub kind: String,
    pub provider: String,
    pub name: String,
    pub base_url: String,
    pub api_key_name: String,
    /// Names to begin with.
    pub models: Vec<String>,
    /// Other vendors whose keys look the same.
    pub others: Vec<PresetView>,
}

/// A model that could be added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetectedModel {
    /// How it is spoken to.
    pub provider: String,
    pub base_url: String,
    pub model: String,
    /// For people.
    pub name: String,
    /// It is among the models already.
    pub added: bool,
}
