//! Lists as vendors and local servers write them.

use super::*;

fn one(list: &Value, id: &str, read_one: fn(&Value) -> Option<Offered>) -> Offered {
    read(list, read_one).into_iter().find(|offered| offered.id == id).unwrap()
}

#[test]
fn openrouter_says_window_pictures_and_prices() {
    let list = json!([
        { "id": "anthropic/claude-x", "context_length": 1_000_000,
          "architecture": { "input_modalities": ["text", "image", "file"], "output_modalities": ["text"] },
          "top_provider": { "context_length": 200_000, "max_completion_tokens": 64_000 },
          "pricing": { "prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003" },
          "supported_parameters": ["tools", "reasoning"] },
        { "id": "openrouter/auto", "context_length": 2_000_000, "pricing": { "prompt": "-1", "completion": "-1" } },
        { "id": "x/painter", "architecture": { "output_modalities": ["image"] } }
    ]);
    let claude = one(&list, "anthropic/claude-x", openai);
    assert_eq!((claude.known.context, claude.known.output), (Some(200_000), Some(64_000)));
    assert_eq!(
        (claude.known.vision, claude.known.pdf, claude.known.tools),
        (Some(true), Some(true), Some(true))
    );
    assert_eq!(claude.known.prices.unwrap().row, [Some(3.0), Some(15.0), Some(0.3), None]);
    assert_eq!(one(&list, "openrouter/auto", openai).known.prices, None);
    assert!(!one(&list, "x/painter", openai).is_chat());
}

#[test]
fn other_openai_shaped_lists_say_it_their_way() {
    let list = json!([
        { "id": "vllm", "max_model_len": 32_768 },
        { "id": "groq", "context_window": 131_072, "max_completion_tokens": 32_768 },
        { "id": "mistral", "max_context_length": 131_072,
          "capabilities": { "completion_chat": true, "function_calling": true, "vision": false } },
        { "id": "mistral-ocr", "capabilities": { "completion_chat": false } },
        { "id": "llama", "owned_by": "llamacpp", "meta": { "n_ctx_train": 8_192 } },
        { "id": "text-embedding-3-small" }, { "id": "tts-1-hd" }, { "id": "whisper-1" }, { "id": "gpt-5" },
        { "id": 7 }, {}, { "id": "x\u{7}" }, { "id": "big", "max_model_len": -1 }
    ]);
    let window = |id: &str| one(&list, id, openai).known.context;
    assert_eq!(
        ["vllm", "groq", "mistral", "llama", "gpt-5", "big"].map(window),
        [Some(32_768), Some(131_072), Some(131_072), Some(8_192), None, None]
    );
    let chats: Vec<String> =
        read(&list, openai).into_iter().filter(Offered::is_chat).map(|offered| offered.id).collect();
    assert_eq!(chats, ["vllm", "groq", "mistral", "llama", "gpt-5", "big"]);
}

#[test]
fn gemini_says_what_a_model_is_for() {
    let list = json!([
        { "name": "models/gemini-2.5-pro", "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
          "supportedGenerationMethods": ["generateContent", "countTokens"], "thinking": true },
        { "name": "models/text-embedding-004", "supportedGenerationMethods": ["embedContent"] },
        { "name": "models/gemini-2.5-flash-preview-tts", "supportedGenerationMethods": ["generateContent"] }
    ]);
    let all = read(&list, gemini);
    assert_eq!(
        all.iter().filter(|one| one.is_chat()).map(|one| one.id.as_str()).collect::<Vec<_>>(),
        ["gemini-2.5-pro"]
    );
    assert_eq!((all[0].known.context, all[0].known.output), (Some(1_048_576), Some(65_536)));
}

#[test]
fn lm_studio_says_what_is_loaded() {
    let v0 = json!([
        { "id": "qwen", "type": "llm", "max_context_length": 32_768, "loaded_context_length": 4_096,
          "capabilities": ["tool_use"] },
        { "id": "seer", "type": "vlm", "max_context_length": 131_072 },
        { "id": "nomic", "type": "embeddings" }
    ]);
    let qwen = one(&v0, "qwen", lm_studio_v0).known;
    assert_eq!(
        (qwen.context, qwen.loaded, qwen.vision, qwen.tools),
        (Some(32_768), Some(4_096), Some(false), Some(true))
    );
    assert_eq!(one(&v0, "seer", lm_studio_v0).known.vision, Some(true));
    assert!(!one(&v0, "nomic", lm_studio_v0).is_chat());
    let v1 = json!([
        { "key": "qwen", "type": "llm", "max_context_length": 32_768,
          "loaded_instances": [{ "config": { "context_length": 8_192 } }],
          "capabilities": { "vision": true, "trained_for_tool_use": false } },
        { "key": "nomic", "type": "embedding" }
    ]);
    let qwen = one(&v1, "qwen", lm_studio_v1).known;
    assert_eq!((qwen.loaded, qwen.vision, qwen.tools), (Some(8_192), Some(true), Some(false)));
    assert!(!one(&v1, "nomic", lm_studio_v1).is_chat());
}

#[test]
fn names_of_one_model_are_known_as_one() {
    assert!(is_id("llama3.1:latest", "llama3.1") && is_id("gemini-2.5-pro", "models/gemini-2.5-pro"));
    assert!(!is_id("llama3.1:8b", "llama3.1:70b"));
}
