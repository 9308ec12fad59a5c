//! What vendors say when they refuse (working-day §3): a body per row of the table, what it means, and what is done next.
//! The reader of bodies is held against it, and so is the built program, which is told every one of them in a run.
//! Bodies are as vendors and their clients write them down; none was recorded from a running service yet.

use serde_json::{Value, json};

/// Where it is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Instead of an answer.
    Status(u16),
    /// In the middle of one, behind a 200.
    Stream,
}

/// What a run does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It ends with the class.
    Ends,
    /// It waits and asks the same again.
    Again,
    /// It sends less.
    Shorter,
    /// It asks for an answer of at most so many tokens.
    Answer(u64),
    /// It leaves this member out.
    Without(&'static str),
    /// It sends this member with what the model said.
    With(&'static str),
    /// It offers at most so many tools.
    Tools(u64),
    /// It gives calls names of nine letters and digits.
    ShortIds,
}

/// A body and what it means.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) name: &'static str,
    /// The provider of the model.
    pub(crate) spoken: &'static str,
    pub(crate) by: By,
    pub(crate) body: Value,
    /// The word of its class.
    pub(crate) class: &'static str,
    pub(crate) limit: Option<u64>,
    pub(crate) requested: Option<u64>,
    pub(crate) input: Option<u64>,
    pub(crate) next: Next,
}

impl Refusal {
    fn limit(self, limit: u64) -> Self {
        Self { limit: Some(limit), ..self }
    }

    fn requested(self, requested: u64) -> Self {
        Self { requested: Some(requested), ..self }
    }

    fn input(self, input: u64) -> Self {
        Self { input: Some(input), ..self }
    }

    fn next(self, next: Next) -> Self {
        Self { next, ..self }
    }

    fn spoken(self, provider: &'static str) -> Self {
        Self { spoken: provider, ..self }
    }
}

fn row(name: &'static str, by: By, body: Value, class: &'static str) -> Refusal {
    let next = match class {
        "context_length" => Next::Shorter,
        "rate_limited" | "server" => Next::Again,
        _ => Next::Ends,
    };
    let spoken = "openai_compatible";
    Refusal { name, spoken, by, body, class, limit: None, requested: None, input: None, next }
}

fn at(status: u16) -> By {
    By::Status(status)
}

/// A sentence as most say it.
fn plain(message: &str) -> Value {
    json!({ "error": { "message": message, "type": "invalid_request_error" } })
}

/// A sentence as Anthropic says it.
fn by_anthropic(kind: &str, message: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}

/// A request that is too long, in the words of every vendor.
pub(crate) fn too_long() -> Vec<Refusal> {
    let long = |name, by, body| row(name, by, body, "context_length");
    vec![
        long(
            "OpenAI by code",
            at(400),
            json!({ "error": { "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130521 tokens.",
                "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded" } }),
        )
        .limit(128_000)
        .requested(130_521),
        long("OpenAI by sentence", at(400), plain("Your input exceeds the context window of this model.")),
        long(
            "OpenAI Responses, in the stream",
            By::Stream,
            json!({ "type": "response.failed", "response": { "error": {
                "code": "context_length_exceeded", "message": "Your input exceeds the context window." } } }),
        )
        .spoken("openai_responses"),
        long(
            "Anthropic",
            at(400),
            by_anthropic("invalid_request_error", "prompt is too long: 201205 tokens > 200000 maximum"),
        )
        .spoken("anthropic")
        .limit(200_000)
        .requested(201_205),
        long(
            "Anthropic, with the answer",
            at(400),
            by_anthropic(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
            ),
        )
        .spoken("anthropic")
        .limit(200_000)
        .input(188_240)
        .next(Next::Answer(10_760)),
        long(
            "Anthropic, with hardly room for an answer",
            at(400),
            by_anthropic(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 198240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
            ),
        )
        .spoken("anthropic")
        .limit(200_000)
        .input(198_240),
        long(
            "Anthropic, bytes",
            at(413),
            by_anthropic("request_too_large", "Request exceeds the maximum size"),
        )
        .spoken("anthropic"),
        long(
            "Gemini",
            at(400),
            json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT",
                "message": "The input token count (1048599) exceeds the maximum number of tokens allowed (1048575)." } }),
        )
        .spoken("gemini")
        .limit(1_048_575)
        .requested(1_048_599),
        long(
            "Gemini in a list",
            at(400),
            json!([{ "error": { "code": 400, "status": "INVALID_ARGUMENT",
                "message": "The input token count (131200) exceeds the maximum number of tokens allowed (131072)." } }]),
        )
        .spoken("gemini")
        .limit(131_072)
        .requested(131_200),
        long(
            "Gemini nested as text",
            at(400),
            json!({ "error": { "code": 400, "message":
                "{\"error\": {\"code\": 400, \"message\": \"The input token count (32900) exceeds the maximum number of tokens allowed (32768).\", \"status\": \"INVALID_ARGUMENT\"}}" } }),
        )
        .spoken("gemini")
        .limit(32_768)
        .requested(32_900),
        long(
            "DeepSeek",
            at(400),
            plain(
                "This model's maximum context length is 131072 tokens. However, you requested 140004 tokens (131812 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
            ),
        )
        .spoken("deepseek")
        .limit(131_072)
        .requested(140_004)
        .input(131_812),
        long(
            "DeepSeek, with room for a shorter answer",
            at(400),
            plain(
                "This model's maximum context length is 131072 tokens. However, you requested 140004 tokens (120004 in the messages, 20000 in the completion). Please reduce the length of the messages or completion.",
            ),
        )
        .spoken("deepseek")
        .limit(131_072)
        .requested(140_004)
        .input(120_004)
        .next(Next::Answer(10_068)),
        long(
            "Qwen",
            at(400),
            json!({ "error": { "code": "invalid_parameter_error", "message": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]" } }),
        )
        .limit(129_024),
        long(
            "Kimi",
            at(400),
            plain("Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)"),
        )
        .limit(262_144)
        .requested(270_000),
        long("GLM", at(400), json!({ "error": { "code": "1261", "message": "Prompt exceeds max length" } })),
        long("GLM by sentence", at(400), plain("Prompt too long")),
        long(
            "Mistral",
            at(400),
            json!({ "object": "error", "message": "Prompt contains 40130 tokens and 0 draft tokens, too large for model with 32768 maximum context length", "type": "invalid_request_prompt", "code": "3051" }),
        )
        .limit(32_768)
        .requested(40_130),
        long("Groq", at(400), plain("Please reduce the length of the messages or completion.")),
        long(
            "Groq by the minute",
            at(413),
            json!({ "error": { "message": "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 12000, Requested 14021, please reduce your message size and try again.",
                "type": "tokens", "code": "rate_limit_exceeded" } }),
        )
        .limit(12_000)
        .requested(14_021),
        long(
            "OpenRouter",
            at(400),
            json!({ "error": { "code": 400, "message": "This endpoint's maximum context length is 163840 tokens. However, you requested about 170021 tokens (168000 of text input, 1021 of tool input, 1000 in the output)." } }),
        )
        .limit(163_840)
        .requested(170_021),
        long(
            "OpenRouter around a vendor",
            at(400),
            json!({ "error": { "code": 400, "message": "Provider returned error", "metadata": { "provider_name": "x",
                "raw": "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 201205 tokens > 200000 maximum\"}}" } } }),
        )
        .limit(200_000)
        .requested(201_205),
        long(
            "llama.cpp",
            at(400),
            json!({ "error": { "code": 400, "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error", "n_prompt_tokens": 19_001, "n_ctx": 16_384 } }),
        )
        .limit(16_384)
        .requested(19_001),
        long(
            "llama.cpp with its numbers in words",
            at(400),
            plain("request (19001 tokens) exceeds the available context size (16384 tokens), try increasing it"),
        )
        .limit(16_384)
        .requested(19_001),
        long(
            "llama.cpp, older",
            at(500),
            json!({ "error": { "code": 500, "message": "Context size has been exceeded.", "type": "server_error" } }),
        ),
        long(
            "vLLM",
            at(400),
            json!({ "object": "error", "type": "BadRequestError", "code": 400, "message": "This model's maximum context length is 16384 tokens. However, you requested 20000 tokens (19900 in the messages, 100 in the completion)." }),
        )
        .limit(16_384)
        .requested(20_000)
        .input(19_900),
        long(
            "vLLM without room for an answer",
            at(400),
            json!({ "object": "error", "type": "BadRequestError", "code": 400, "message": "max_tokens must be at least 1, got -12." }),
        ),
        long("Ollama", at(400), json!({ "error": "prompt too long; exceeded max context length by 4 tokens" }))
            .spoken("ollama"),
        long("Ollama, other", at(400), json!({ "error": "the input length exceeds the context length" }))
            .spoken("ollama"),
        long(
            "LM Studio in a stream",
            By::Stream,
            json!({ "error": { "message": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 15220>= n_ctx: 14096)." } }),
        )
        .spoken("lmstudio")
        .limit(14_096)
        .requested(15_220),
        long(
            "LM Studio",
            at(400),
            json!({ "error": "Trying to keep the first 15000 tokens when context the overflows. However, the model is loaded with context length of only 14096 tokens" }),
        )
        .spoken("lmstudio")
        .limit(14_096),
        long(
            "litellm",
            at(400),
            json!({ "error": { "code": "400", "type": null, "message": "litellm.BadRequestError: ContextWindowExceededError: OpenAIException - too long" } }),
        ),
        long(
            "litellm around a vendor",
            at(400),
            json!({ "error": { "code": "400", "message": "litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 201205 tokens > 200000 maximum\"}}. Received Model Group=x" } }),
        )
        .limit(200_000)
        .requested(201_205),
        long(
            "Bedrock",
            at(400),
            json!({ "__type": "ValidationException", "message": "Input is too long for requested model." }),
        ),
        long(
            "xAI",
            at(400),
            json!({ "code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }),
        )
        .limit(131_072)
        .requested(140_000),
        long("another", at(400), plain("The prompt is longer than the model's context length")),
        long("MiniMax", at(400), plain("invalid params, context window exceeds limit")),
        long("413 and nothing else", at(413), Value::Null),
    ]
}

/// Refusals for other reasons.
pub(crate) fn others() -> Vec<Refusal> {
    vec![
        row(
            "OpenAI quota",
            at(429),
            json!({ "error": { "message": "You exceeded your current quota", "code": "insufficient_quota" } }),
            "quota",
        ),
        row(
            "OpenAI rates",
            at(429),
            json!({ "error": { "message": "Rate limit reached for tokens: maximum context length is irrelevant", "code": "rate_limit_exceeded" } }),
            "rate_limited",
        ),
        row(
            "OpenAI tools",
            at(400),
            json!({ "error": { "message": "Invalid 'tools': array too long. Expected an array with maximum length 5, but got an array with length 6 instead.", "param": "tools", "code": "array_above_max_length" } }),
            "invalid_request",
        )
        .limit(5)
        .next(Next::Tools(5)),
        row(
            "Azure filter",
            at(400),
            json!({ "error": { "message": "The response was filtered", "code": "content_filter", "status": 400 } }),
            "content_filter",
        )
        .spoken("azure"),
        row(
            "Anthropic overloaded",
            at(529),
            by_anthropic("overloaded_error", "Overloaded"),
            "server",
        )
        .spoken("anthropic"),
        row(
            "Anthropic credit",
            at(400),
            by_anthropic(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
            ),
            "quota",
        )
        .spoken("anthropic"),
        row(
            "Gemini rates",
            at(429),
            json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded for metric", "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s" }] } }),
            "rate_limited",
        )
        .spoken("gemini"),
        row(
            "Gemini key",
            at(400),
            json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.", "details": [{ "reason": "API_KEY_INVALID" }] } }),
            "auth",
        )
        .spoken("gemini"),
        row(
            "Gemini signatures",
            at(400),
            json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "Corrupted thought signature." } }),
            "invalid_request",
        )
        .spoken("gemini")
        .next(Next::Without("thoughtSignature")),
        row(
            "DeepSeek balance",
            at(402),
            json!({ "error": { "message": "Insufficient Balance", "type": "unknown_error" } }),
            "quota",
        )
        .spoken("deepseek"),
        row(
            "DeepSeek wants its thinking back",
            at(400),
            plain("The `reasoning_content` in the thinking mode must be passed back to the API."),
            "invalid_request",
        )
        .spoken("deepseek")
        .next(Next::With("reasoning_content")),
        row(
            "Qwen filter",
            at(400),
            json!({ "error": { "code": "data_inspection_failed", "message": "Input data may contain inappropriate content." } }),
            "content_filter",
        ),
        row(
            "Qwen debts",
            at(400),
            json!({ "code": "Arrearage", "message": "Access denied, please make sure your account is in good standing." }),
            "quota",
        ),
        row(
            "Kimi quota",
            at(429),
            json!({ "error": { "type": "exceeded_current_quota_error", "message": "Your account is suspended" } }),
            "quota",
        ),
        row(
            "Kimi quota, forbidden",
            at(403),
            json!({ "error": { "type": "exceeded_current_quota_error", "message": "Your account is suspended" } }),
            "quota",
        ),
        row(
            "Kimi wants its thinking back",
            at(400),
            plain(
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
            ),
            "invalid_request",
        )
        .next(Next::With("reasoning_content")),
        row(
            "Kimi has one temperature",
            at(400),
            json!({ "error": { "message": "invalid temperature: only 1 is allowed for this model", "type": "invalid_request_error" } }),
            "invalid_request",
        )
        .next(Next::Without("temperature")),
        row(
            "GLM key",
            at(401),
            json!({ "error": { "code": "1002", "message": "Authorization Token invalid" } }),
            "auth",
        ),
        row(
            "GLM balance",
            at(429),
            json!({ "error": { "code": "1113", "message": "Insufficient balance" } }),
            "quota",
        ),
        row(
            "GLM model",
            at(400),
            json!({ "error": { "code": "1211", "message": "Unknown Model" } }),
            "not_found",
        ),
        row("GLM rights", at(400), json!({ "error": { "code": 1220, "message": "no access" } }), "permission"),
        row("GLM filter", at(400), json!({ "error": { "code": "1301", "message": "unsafe" } }), "content_filter"),
        row(
            "GLM rates",
            at(429),
            json!({ "error": { "code": "1302", "message": "High concurrency" } }),
            "rate_limited",
        ),
        row(
            "GLM rates by the day",
            at(429),
            json!({ "error": { "code": "1305", "message": "Too many requests for this model" } }),
            "rate_limited",
        ),
        row(
            "Mistral wants short ids",
            at(400),
            json!({ "object": "error", "message": "Tool call id was call_0123456789 but must be a-z, A-Z, 0-9, with a length of 9.", "type": "invalid_function_call", "code": "3280" }),
            "invalid_request",
        )
        .next(Next::ShortIds),
        row(
            "OpenRouter credit",
            at(402),
            json!({ "error": { "code": 402, "message": "Insufficient credits" } }),
            "quota",
        ),
        row(
            "llama.cpp loading",
            at(503),
            json!({ "error": { "code": 503, "message": "Loading model", "type": "unavailable_error" } }),
            "server",
        ),
        row("Ollama model", at(404), json!({ "error": "model 'x' not found" }), "not_found").spoken("ollama"),
        row(
            "Ollama without tools",
            at(400),
            json!({ "error": "registry.ollama.ai/library/x does not support tools" }),
            "invalid_request",
        )
        .spoken("ollama")
        .next(Next::Without("tools")),
        row(
            "LM Studio empty",
            at(400),
            json!({ "error": { "message": "No models loaded. Please load a model in the developer page." } }),
            "config",
        )
        .spoken("lmstudio"),
        row(
            "litellm model",
            at(400),
            json!({ "error": { "code": "400", "message": "Invalid model name passed in model=x" } }),
            "not_found",
        ),
        row(
            "Bedrock rates",
            at(400),
            json!({ "__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again." }),
            "rate_limited",
        ),
        row(
            "Bedrock rates, 429",
            at(429),
            json!({ "message": "Too many tokens, please wait before trying again." }),
            "rate_limited",
        ),
    ]
}

/// Bodies that only look like a request that is too long.
pub(crate) fn controls() -> Vec<Refusal> {
    vec![
        row(
            "a sentence of a stranger in a 401",
            at(401),
            plain("prompt is too long: 9 tokens > 8 maximum"),
            "auth",
        ),
        row("a 403", at(403), plain("maximum context length is 5 tokens"), "permission"),
        row(
            "waiting",
            at(400),
            plain("Too many tokens, please wait: maximum context length is 5"),
            "rate_limited",
        ),
        row(
            "rates with a length in them",
            at(429),
            plain("prompt is too long for this minute"),
            "rate_limited",
        ),
        row("a tool's name", at(400), plain("Unknown tool `context_size`"), "invalid_request"),
        row("a bad member", at(400), plain("max_tokens must be at least 1, got 0"), "invalid_request"),
        row(
            "a broken server",
            at(500),
            json!({ "error": { "message": "boom", "type": "server_error" } }),
            "server",
        ),
        row("nothing that is known", at(400), json!({ "ok": true }), "invalid_request"),
    ]
}
