//! Whether a model can be used now, without asking it.

use std::collections::BTreeMap;

use chatos_store::{ModelRecord, ModelTest};
use chatos_tool::{Fault, Text};

use super::ModelDesk;
use super::edit::{needs_key, secret_reference};
use crate::fault::store_fault;

/// What is known about a model besides its record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelState {
    /// It can be asked.
    pub usable: bool,
    /// Why not: a class of agents §1.2 and a sentence.
    pub problem: Option<(&'static str, Text)>,
    /// How the last test ended.
    pub last_test: Option<ModelTest>,
}

impl ModelDesk<'_> {
    /// The state of each of these models, by id.
    pub fn states(&self, models: &[ModelRecord]) -> Result<BTreeMap<String, ModelState>, Fault> {
        let mut tests: BTreeMap<String, ModelTest> =
            self.host.store().model_tests().map_err(|error| store_fault(&error))?.into_iter().collect();
        let secrets: BTreeMap<String, bool> = self
            .host
            .list_secrets()?
            .into_iter()
            .map(|secret| (secret.name.to_ascii_lowercase(), secret.openable))
            .collect();
        let from_env = self.host.settings().bool("modelKeysFromEnv");
        let key_problem = |name: &str| match secrets.get(&name.to_ascii_lowercase()) {
            Some(true) => None,
            Some(false) => Some(Text::new(
                format!("the secret `{name}` cannot be opened"),
                format!("无法打开密钥 `{name}`"),
            )),
            None if from_env && self.host.environment().get(name).is_some() => None,
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
            let state = ModelState { usable, problem, last_test: tests.remove(&model.id) };
            states.insert(model.id.clone(), state);
        }
        Ok(states)
    }
}

/// agents §1.3.
pub(super) fn no_key(name: &str) -> Text {
    Text::new(
        format!("no key named {name}; add it under Secrets"),
        format!("没有名为 {name} 的密钥；请在“密钥”中添加"),
    )
}
