//! Whether a model can be used now, without asking it.

use std::collections::BTreeMap;

use chatos_store::{ModelRecord, ModelTest};
use chatos_tool::{Fault, Text};
use serde_json::Value;

use super::edit::{needs_key, secret_reference};
use super::facts::{Source, Window, window_of};
use super::{Models, address};
use crate::provider::gemini::reduce;

/// What is known about a model besides its record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelState {
    /// It can be asked.
    pub usable: bool,
    /// Why not: a class of agents §1.2 and a sentence.
    pub problem: Option<(&'static str, Text)>,
    /// What it will not get, though it can be used.
    pub warnings: Vec<Text>,
    /// How the last test ended.
    pub last_test: Option<ModelTest>,
}

impl Models {
    /// The state of each of these models, by id. `schemas` gives the tools that may be offered to one, by name.
    pub fn states(
        &self,
        models: &[ModelRecord],
        schemas: &dyn Fn() -> Vec<(String, Value)>,
    ) -> Result<BTreeMap<String, ModelState>, Fault> {
        let mut tests: BTreeMap<String, ModelTest> = self.parts().store.model_tests()?.into_iter().collect();
        let secrets: BTreeMap<String, bool> = self
            .parts()
            .secrets
            .list()?
            .into_iter()
            .map(|secret| (secret.name.to_ascii_lowercase(), secret.openable))
            .collect();
        let key_problem = |name: &str| match secrets.get(&name.to_ascii_lowercase()) {
            Some(true) => None,
            Some(false) => Some(Text::new(
                format!("the secret `{name}` cannot be opened"),
                format!("无法打开密钥 `{name}`"),
            )),
            None if self.key_of_environment(name).is_some() => None,
            None => Some(no_key(name)),
        };
        let mut states = BTreeMap::new();
        for model in models {
            let mut names: Vec<&str> = Vec::new();
            if !model.api_key_name.is_empty() {
                names.push(&model.api_key_name);
            }
            let values = model.extra_headers.values().chain(model.extra_body.values());
            names.extend(values.filter_map(|value| secret_reference(value.as_str()?)));
            let mut problem = names.iter().find_map(|name| key_problem(name));
            if problem.is_none() && names.is_empty() && needs_key(&model.base_url) {
                problem = Some(Text::fixed(
                    "this vendor needs a key; name one in the model",
                    "该提供方需要密钥；请在模型中指定",
                ));
            }
            let problem = problem.map(|text| ("config", text));
            let usable = model.enabled && problem.is_none();
            let mut warnings: Vec<Text> = small_window(model, self.window(model)).into_iter().collect();
            if model.provider == "gemini" {
                warnings.extend(lost_keywords(schemas()));
            }
            let state = ModelState { usable, problem, warnings, last_test: tests.remove(&model.id) };
            states.insert(model.id.clone(), state);
        }
        Ok(states)
    }
}

/// Work with tools needs room; what a local server was started with is the person's to change.
const ROOM: u64 = 16_384;

/// A local model that is loaded with too small a window, and the exact fix.
fn small_window(model: &ModelRecord, window: Window) -> Option<Text> {
    let measured = matches!(window.source, Source::Vendor | Source::Learned);
    if window.tokens >= ROOM || !measured || !address::is_local(&model.base_url) {
        return None;
    }
    let (tokens, id) = (window.tokens, &model.model);
    let (en, zh) = match model.provider.as_str() {
        "lmstudio" => (
            format!("reload it with `lms load {id} --context-length 32768`"),
            format!("请用 `lms load {id} --context-length 32768` 重新加载"),
        ),
        // How much it keeps ready is asked for with each call.
        "ollama" if window_of(model).tokens > tokens => (
            "raise the setting `ollamaContextTokens`".to_owned(),
            "请调大设置 `ollamaContextTokens`".to_owned(),
        ),
        "ollama" => ("choose a model with a larger window".to_owned(), "请选择上下文更大的模型".to_owned()),
        _ => (
            "start its server with more, as `llama-server -c 32768` or `vllm serve --max-model-len 32768`"
                .to_owned(),
            "请以更大的上下文启动服务，例如 `llama-server -c 32768` 或 `vllm serve --max-model-len 32768`"
                .to_owned(),
        ),
    };
    Some(Text::new(
        format!("it is loaded with a window of {tokens} tokens, too few for work with tools; {en}"),
        format!("当前加载的上下文只有 {tokens} 个 token，不足以使用工具；{zh}"),
    ))
}

/// agents §1.2: what this vendor does not take of the schemas of these tools.
fn lost_keywords(schemas: Vec<(String, Value)>) -> Option<Text> {
    let mut keywords: BTreeMap<String, String> = BTreeMap::new();
    for (tool, schema) in schemas {
        for keyword in reduce(&schema).1 {
            keywords.entry(keyword).or_insert_with(|| tool.clone());
        }
    }
    let list: Vec<String> =
        keywords.iter().take(12).map(|(keyword, tool)| format!("`{keyword}` ({tool})")).collect();
    let list = list.join(", ");
    (!list.is_empty()).then(|| {
        Text::new(
            format!("this vendor takes only a part of JSON Schema; left out of tools: {list}"),
            format!("该提供方仅支持部分 JSON Schema；以下关键字会从工具中省略：{list}"),
        )
    })
}

/// agents §1.3.
pub(super) fn no_key(name: &str) -> Text {
    Text::new(
        format!("no key named {name}; add it under Secrets"),
        format!("没有名为 {name} 的密钥；请在“密钥”中添加"),
    )
}
