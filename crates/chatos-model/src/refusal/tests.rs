//! One body per row of the table, and bodies that look like them and are not.

use serde_json::json;

use super::*;

type Numbers = (Option<u64>, Option<u64>, Option<u64>);

const NONE: Numbers = (None, None, None);

fn check(name: &str, place: Place, body: &Value, class: Class, numbers: Numbers) {
    let error = read(place, body).unwrap();
    assert_eq!(error.class, class, "{name}: {error:?}");
    assert_eq!((error.limit, error.requested, error.input), numbers, "{name}: {error:?}");
}

fn at(status: u16) -> Place {
    Place::Status(status)
}

#[test]
fn too_long_in_the_words_of_every_vendor() {
    let openai = |message: &str| json!({ "error": { "message": message, "type": "invalid_request_error" } });
    let cases: Vec<(&str, Place, Value, Numbers)> = vec![
        (
            "OpenAI by code",
            at(400),
            json!({ "error": { "message": "This model's maximum context length is 128000 tokens. However, your messages resulted in 130521 tokens.",
                "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded" } }),
            (Some(128_000), Some(130_521), None),
        ),
        ("OpenAI by sentence", at(400), openai("Your input exceeds the context window of this model."), NONE),
        (
            "OpenAI Responses, in the stream",
            Place::Stream,
            json!({ "type": "response.failed", "response": { "error": {
                "code": "context_length_exceeded", "message": "Your input exceeds the context window." } } }),
            NONE,
        ),
        (
            "Anthropic",
            at(400),
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long: 201205 tokens > 200000 maximum" } }),
            (Some(200_000), Some(201_205), None),
        ),
        (
            "Anthropic, with the answer",
            at(400),
            json!({ "type": "error", "error": { "type": "invalid_request_error",
                "message": "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again" } }),
            (Some(200_000), None, Some(188_240)),
        ),
        (
            "Anthropic, bytes",
            at(413),
            json!({ "type": "error", "error": { "type": "request_too_large", "message": "Request exceeds the maximum size" } }),
            NONE,
        ),
        (
            "Gemini in a list",
            at(400),
            json!([{ "error": { "code": 400, "status": "INVALID_ARGUMENT",
                "message": "The input token count (1048599) exceeds the maximum number of tokens allowed (1048575)." } }]),
            (Some(1_048_575), Some(1_048_599), None),
        ),
        (
            "Gemini nested as text",
            at(400),
            json!({ "error": { "code": 400, "message":
                "{\"error\": {\"code\": 400, \"message\": \"The input token count (9) exceeds the maximum number of tokens allowed (8).\", \"status\": \"INVALID_ARGUMENT\"}}" } }),
            (Some(8), Some(9), None),
        ),
        (
            "DeepSeek",
            at(400),
            openai(
                "This model's maximum context length is 131072 tokens. However, you requested 140004 tokens (131812 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
            ),
            (Some(131_072), Some(140_004), Some(131_812)),
        ),
        (
            "Qwen",
            at(400),
            json!({ "error": { "code": "invalid_parameter_error", "message": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]" } }),
            (Some(129_024), None, None),
        ),
        (
            "Kimi",
            at(400),
            openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)"),
            (Some(262_144), Some(270_000), None),
        ),
        (
            "GLM",
            at(400),
            json!({ "error": { "code": "1261", "message": "Prompt exceeds max length" } }),
            NONE,
        ),
        (
            "Mistral",
            at(400),
            json!({ "object": "error", "message": "Prompt contains 40130 tokens and 0 draft tokens, too large for model with 32768 maximum context length", "type": "invalid_request_prompt", "code": "3051" }),
            (Some(32_768), Some(40_130), None),
        ),
        ("Groq", at(400), openai("Please reduce the length of the messages or completion."), NONE),
        (
            "Groq by the minute",
            at(413),
            json!({ "error": { "message": "Request too large for model `m` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 7021, please reduce your message size and try again.",
                "type": "tokens", "code": "rate_limit_exceeded" } }),
            (Some(6_000), Some(7_021), None),
        ),
        (
            "OpenRouter",
            at(400),
            json!({ "error": { "code": 400, "message": "This endpoint's maximum context length is 163840 tokens. However, you requested about 170021 tokens (168000 of text input, 1021 of tool input, 1000 in the output)." } }),
            (Some(163_840), Some(170_021), None),
        ),
        (
            "OpenRouter around a vendor",
            at(400),
            json!({ "error": { "code": 400, "message": "Provider returned error", "metadata": { "provider_name": "x",
                "raw": "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}" } } }),
            (Some(8), Some(9), None),
        ),
        (
            "llama.cpp",
            at(400),
            json!({ "error": { "code": 400, "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error", "n_prompt_tokens": 9001, "n_ctx": 8192 } }),
            (Some(8_192), Some(9_001), None),
        ),
        (
            "llama.cpp, older",
            at(500),
            json!({ "error": { "code": 500, "message": "Context size has been exceeded.", "type": "server_error" } }),
            NONE,
        ),
        (
            "vLLM",
            at(400),
            json!({ "object": "error", "type": "BadRequestError", "code": 400, "message": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages, 100 in the completion)." }),
            (Some(4_096), Some(5_000), Some(4_900)),
        ),
        (
            "vLLM without room for an answer",
            at(400),
            json!({ "object": "error", "type": "BadRequestError", "code": 400, "message": "max_tokens must be at least 1, got -12." }),
            NONE,
        ),
        (
            "Ollama",
            at(400),
            json!({ "error": "prompt too long; exceeded max context length by 4 tokens" }),
            NONE,
        ),
        ("Ollama, other", at(400), json!({ "error": "the input length exceeds the context length" }), NONE),
        (
            "LM Studio in a stream",
            Place::Stream,
            json!({ "error": { "message": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 5220>= n_ctx: 4096)." } }),
            (Some(4_096), None, None),
        ),
        (
            "LM Studio",
            at(400),
            json!({ "error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens" }),
            (Some(4_096), None, None),
        ),
        (
            "litellm",
            at(400),
            json!({ "error": { "code": "400", "type": null, "message": "litellm.BadRequestError: ContextWindowExceededError: OpenAIException - too long" } }),
            NONE,
        ),
        (
            "litellm around a vendor",
            at(400),
            json!({ "error": { "code": "400", "message": "litellm.BadRequestError: AnthropicException - {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}. Received Model Group=x" } }),
            (Some(8), Some(9), None),
        ),
        (
            "Bedrock",
            at(400),
            json!({ "__type": "ValidationException", "message": "Input is too long for requested model." }),
            NONE,
        ),
        (
            "xAI",
            at(400),
            json!({ "code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }),
            (Some(131_072), Some(140_000), None),
        ),
        ("another", at(400), openai("The prompt is longer than the model's context length"), NONE),
        ("MiniMax", at(400), openai("invalid params, context window exceeds limit"), NONE),
    ];
    for (name, place, body, numbers) in &cases {
        let numbers =
            if *name == "LM Studio in a stream" { (numbers.0, Some(5_220), None) } else { *numbers };
        check(name, *place, body, Class::ContextLength, numbers);
    }
    // Every sentence of the table is in one of the bodies above or below.
    let all: String = cases.iter().map(|(_, _, body, _)| body.to_string().to_lowercase()).collect();
    for row in ROWS.iter().filter(|row| row.class == Class::ContextLength) {
        assert!(
            row.sentences.iter().all(|part| all.contains(part)),
            "no body for {} {:?}",
            row.vendor,
            row.sentences
        );
    }
}

#[test]
fn other_refusals_keep_their_class() {
    let cases: Vec<(&str, Place, Value, Class, Numbers)> = vec![
        (
            "OpenAI quota",
            at(429),
            json!({ "error": { "message": "You exceeded your current quota", "code": "insufficient_quota" } }),
            Class::Quota,
            NONE,
        ),
        (
            "OpenAI rates",
            at(429),
            json!({ "error": { "message": "Rate limit reached for tokens: maximum context length is irrelevant", "code": "rate_limit_exceeded" } }),
            Class::RateLimited,
            NONE,
        ),
        (
            "OpenAI tools",
            at(400),
            json!({ "error": { "message": "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 360 instead.", "param": "tools", "code": "array_above_max_length" } }),
            Class::InvalidRequest,
            (Some(128), None, None),
        ),
        (
            "Azure filter",
            at(400),
            json!({ "error": { "message": "The response was filtered", "code": "content_filter", "status": 400 } }),
            Class::ContentFilter,
            NONE,
        ),
        (
            "Anthropic overloaded",
            at(529),
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } }),
            Class::Server,
            NONE,
        ),
        (
            "Anthropic credit",
            at(400),
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API." } }),
            Class::Quota,
            NONE,
        ),
        (
            "Gemini rates",
            at(429),
            json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota exceeded for metric", "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "31s" }] } }),
            Class::RateLimited,
            NONE,
        ),
        (
            "Gemini key",
            at(400),
            json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.", "details": [{ "reason": "API_KEY_INVALID" }] } }),
            Class::Auth,
            NONE,
        ),
        (
            "DeepSeek balance",
            at(402),
            json!({ "error": { "message": "Insufficient Balance", "type": "unknown_error" } }),
            Class::Quota,
            NONE,
        ),
        (
            "Qwen filter",
            at(400),
            json!({ "error": { "code": "data_inspection_failed", "message": "Input data may contain inappropriate content." } }),
            Class::ContentFilter,
            NONE,
        ),
        (
            "Qwen debts",
            at(400),
            json!({ "code": "Arrearage", "message": "Access denied, please make sure your account is in good standing." }),
            Class::Quota,
            NONE,
        ),
        (
            "Kimi quota",
            at(429),
            json!({ "error": { "type": "exceeded_current_quota_error", "message": "Your account is suspended" } }),
            Class::Quota,
            NONE,
        ),
        (
            "GLM key",
            at(401),
            json!({ "error": { "code": "1002", "message": "Authorization Token invalid" } }),
            Class::Auth,
            NONE,
        ),
        (
            "GLM balance",
            at(429),
            json!({ "error": { "code": "1113", "message": "Insufficient balance" } }),
            Class::Quota,
            NONE,
        ),
        (
            "GLM model",
            at(400),
            json!({ "error": { "code": "1211", "message": "Unknown Model" } }),
            Class::NotFound,
            NONE,
        ),
        (
            "GLM rights",
            at(400),
            json!({ "error": { "code": 1220, "message": "no access" } }),
            Class::Permission,
            NONE,
        ),
        (
            "GLM filter",
            at(400),
            json!({ "error": { "code": "1301", "message": "unsafe" } }),
            Class::ContentFilter,
            NONE,
        ),
        (
            "GLM rates",
            at(429),
            json!({ "error": { "code": "1302", "message": "High concurrency" } }),
            Class::RateLimited,
            NONE,
        ),
        (
            "llama.cpp loading",
            at(503),
            json!({ "error": { "code": 503, "message": "Loading model", "type": "unavailable_error" } }),
            Class::Server,
            NONE,
        ),
        ("Ollama model", at(404), json!({ "error": "model 'x' not found" }), Class::NotFound, NONE),
        (
            "LM Studio empty",
            at(400),
            json!({ "error": { "message": "No models loaded. Please load a model in the developer page." } }),
            Class::Config,
            NONE,
        ),
        (
            "litellm model",
            at(400),
            json!({ "error": { "code": "400", "message": "Invalid model name passed in model=x" } }),
            Class::NotFound,
            NONE,
        ),
        (
            "Bedrock rates",
            at(400),
            json!({ "__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again." }),
            Class::RateLimited,
            NONE,
        ),
    ];
    for (name, place, body, class, numbers) in &cases {
        check(name, *place, body, *class, *numbers);
    }
}

#[test]
fn what_only_looks_like_it_is_not() {
    let plain = |message: &str| json!({ "error": { "message": message, "type": "invalid_request_error" } });
    for (name, place, body, class) in [
        (
            "a sentence of a stranger in a 401",
            at(401),
            plain("prompt is too long: 9 tokens > 8 maximum"),
            Class::Auth,
        ),
        ("a 403", at(403), plain("maximum context length is 5 tokens"), Class::Permission),
        (
            "waiting",
            at(400),
            plain("Too many tokens, please wait: maximum context length is 5"),
            Class::RateLimited,
        ),
        ("a tool's name", at(400), plain("Unknown tool `context_size`"), Class::InvalidRequest),
        ("a bad member", at(400), plain("max_tokens must be at least 1, got 0"), Class::InvalidRequest),
        (
            "a broken server",
            at(500),
            json!({ "error": { "message": "boom", "type": "server_error" } }),
            Class::Server,
        ),
    ] {
        check(name, place, &body, class, NONE);
    }
    assert!(read(at(400), &json!({ "ok": true })).is_none());
    assert!(read(at(400), &json!([])).is_none());
    // Gateways that wrap for ever are not followed for ever.
    let mut wrapped = json!({ "error": { "message": "prompt is too long" } });
    for _ in 0..6 {
        wrapped = json!({ "error": { "message": wrapped.to_string() } });
    }
    assert!(read(at(400), &wrapped).is_some());
}
