//! The words of vendors: codes that mean one thing with everybody, and sentences of those who have no code.

use crate::Class;

/// A sentence of a vendor, in lower case; the numbers stand right behind these texts.
pub(super) struct Row {
    #[cfg_attr(not(test), expect(dead_code, reason = "read by people and by the test of every row"))]
    pub(super) vendor: &'static str,
    /// All of these are in it.
    pub(super) sentences: &'static [&'static str],
    pub(super) class: Class,
    pub(super) limit: &'static [&'static str],
    pub(super) requested: &'static [&'static str],
    pub(super) input: &'static [&'static str],
}

const fn row(vendor: &'static str, sentences: &'static [&'static str]) -> Row {
    Row { vendor, sentences, class: Class::ContextLength, limit: &[], requested: &[], input: &[] }
}

/// Codes and types. `invalid_request_error` and the like say nothing and are not here.
pub(super) const CODES: &[(&str, Class)] = &[
    ("context_length_exceeded", Class::ContextLength),
    ("exceed_context_size_error", Class::ContextLength),
    ("string_above_max_length", Class::ContextLength),
    ("request_too_large", Class::ContextLength),
    ("1261", Class::ContextLength),
    ("insufficient_quota", Class::Quota),
    ("billing_hard_limit_reached", Class::Quota),
    ("billing_error", Class::Quota),
    ("insufficient_balance", Class::Quota),
    ("exceeded_current_quota_error", Class::Quota),
    ("arrearage", Class::Quota),
    ("1113", Class::Quota),
    ("api_key_invalid", Class::Auth),
    ("invalid_api_key", Class::Auth),
    ("authentication_error", Class::Auth),
    ("unauthenticated", Class::Auth),
    ("1000", Class::Auth),
    ("1001", Class::Auth),
    ("1002", Class::Auth),
    ("1003", Class::Auth),
    ("1004", Class::Auth),
    ("permission_error", Class::Permission),
    ("permission_denied", Class::Permission),
    ("1220", Class::Permission),
    ("model_not_found", Class::NotFound),
    ("not_found_error", Class::NotFound),
    ("not_found", Class::NotFound),
    ("1211", Class::NotFound),
    ("content_filter", Class::ContentFilter),
    ("content_policy_violation", Class::ContentFilter),
    ("data_inspection_failed", Class::ContentFilter),
    ("1301", Class::ContentFilter),
    ("rate_limit_exceeded", Class::RateLimited),
    ("rate_limit_error", Class::RateLimited),
    ("resource_exhausted", Class::RateLimited),
    ("throttlingexception", Class::RateLimited),
    ("1302", Class::RateLimited),
    ("1305", Class::RateLimited),
    ("array_above_max_length", Class::InvalidRequest),
    ("invalid_prompt", Class::InvalidRequest),
    ("invalid_encrypted_content", Class::InvalidRequest),
];

/// These say only that something broke; a sentence beside them may say more.
pub(super) const SERVER_CODES: &[&str] = &[
    "server_error",
    "overloaded_error",
    "api_error",
    "timeout_error",
    "unavailable",
    "internal",
    "deadline_exceeded",
];

/// Sentences, the more special ones first. They are as vendors and their clients write them down; none was recorded
/// from a running service yet.
pub(super) const ROWS: &[Row] = &[
    Row {
        limit: &["limit "],
        requested: &["requested "],
        ..row("Groq", &["request too large", "limit ", "requested "])
    },
    Row {
        input: &["exceed context limit: "],
        limit: &["> "],
        ..row("Anthropic", &["exceed context limit: "])
    },
    Row {
        requested: &["prompt is too long: "],
        limit: &["tokens > "],
        ..row("Anthropic", &["prompt is too long"])
    },
    Row { class: Class::Quota, ..row("Anthropic", &["credit balance"]) },
    Row {
        requested: &["token count (", "token count of "],
        limit: &["allowed (", "allowed of "],
        ..row("Gemini", &["input token count", "exceeds the maximum number of tokens"])
    },
    Row {
        limit: &["maximum context length is "],
        requested: &["requested about "],
        ..row("OpenRouter", &["maximum context length is ", "requested about "])
    },
    Row {
        limit: &["maximum context length is "],
        requested: &["you requested "],
        input: &["tokens ("],
        ..row("DeepSeek, vLLM", &["maximum context length is ", "in the messages"])
    },
    Row {
        limit: &["maximum context length is "],
        requested: &["you requested ", "resulted in ", "request has "],
        ..row("OpenAI, vLLM", &["maximum context length is "])
    },
    row("OpenAI", &["exceeds the context window"]),
    Row {
        class: Class::InvalidRequest,
        limit: &["maximum length "],
        ..row("OpenAI", &["array too long", "maximum length "])
    },
    Row { limit: &["[1, "], ..row("Qwen", &["range of input length should be"]) },
    Row {
        limit: &["token limit: "],
        requested: &["requested: "],
        ..row("Kimi", &["exceeded model token limit"])
    },
    row("GLM", &["prompt exceeds max length"]),
    row("GLM", &["prompt too long"]),
    Row {
        requested: &["prompt contains "],
        limit: &["too large for model with "],
        ..row("Mistral", &["too large for model with "])
    },
    row("Groq", &["reduce the length of the messages or completion"]),
    Row {
        requested: &["request ("],
        limit: &["context size ("],
        ..row("llama.cpp", &["exceeds the available context size"])
    },
    row("llama.cpp", &["context size has been exceeded"]),
    row("vLLM", &["max_tokens must be at least 1, got -"]),
    row("Ollama", &["exceeded max context length"]),
    row("Ollama", &["input length exceeds the context length"]),
    Row {
        requested: &["n_keep: "],
        limit: &["n_ctx: "],
        ..row("LM Studio", &["greater than the context length"])
    },
    Row { limit: &["context length of only "], ..row("LM Studio", &["context length of only "]) },
    Row { class: Class::Config, ..row("LM Studio", &["no models loaded"]) },
    row("litellm", &["contextwindowexceedederror"]),
    Row { class: Class::NotFound, ..row("litellm", &["invalid model name"]) },
    row("Bedrock", &["input is too long for requested model"]),
    Row {
        limit: &["maximum prompt length is "],
        requested: &["request contains "],
        ..row("xAI", &["maximum prompt length is "])
    },
    row("others", &["longer than the model's context length"]),
    row("MiniMax", &["context window exceeds limit"]),
];
