//! Models: records, keys resolved at the moment of a call, and something to talk to.

mod address;
mod complete;
mod detect;
mod edit;
mod facts;
mod keys;
mod offered;
mod presets;
mod proxy;
mod state;
mod test;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chatos_events::Events;
use chatos_paths::Environment;
use chatos_settings::Settings;
use chatos_store::{ModelRecord, Secrets, Store};
use chatos_tool::{ErrorCode, Fault, Redactor, Text};
use zeroize::Zeroizing;

use crate::demo::Demo;
use crate::http::{Connections, HttpParts, HttpProvider, Patience, SharedDialect};
use crate::protocol::{Protocol, protocol_of};
use crate::stream::Provider;

pub use complete::{CompleteOrder, Completion};
pub use edit::{effort_of, prices_of};
pub use facts::{Source, Window, window_of};
pub use presets::{PRESETS, Preset, Recognised, recognise};
pub use state::ModelState;
pub use test::ModelAnswer;

/// What models are made from.
pub struct ModelParts {
    pub store: Store,
    pub settings: Settings,
    pub secrets: Secrets,
    /// Keys may stand in it where a person allows that; it may name a proxy.
    pub environment: Environment,
    /// The variable that holds the key of every model whose own key is nowhere; only a sandbox has one.
    pub spare_key: Option<&'static str>,
    /// Learns every key before it is used.
    pub redactor: Arc<Redactor>,
    pub events: Events,
}

/// The models of one state, and what calls to them share. Clones are the same. Reading blocks on the database;
/// async callers use a blocking thread.
#[derive(Clone)]
pub struct Models(Arc<Shared>);

struct Shared {
    parts: ModelParts,
    connections: Connections,
    // What each vendor was seen to refuse.
    dialects: Mutex<HashMap<(String, String), SharedDialect>>,
    editing: Mutex<()>,
}

impl Models {
    /// Nothing is read or connected before the first use.
    pub fn new(parts: ModelParts) -> Self {
        Self(Arc::new(Shared {
            parts,
            connections: Connections::default(),
            dialects: Mutex::default(),
            editing: Mutex::default(),
        }))
    }

    /// A key out of the environment, by its own name where that is allowed, else the spare one.
    fn key_of_environment(&self, name: &str) -> Option<&str> {
        let parts = self.parts();
        let own = parts.environment.get(name).filter(|_| parts.settings.bool("modelKeysFromEnv"));
        own.or_else(|| parts.environment.get(parts.spare_key?))
    }

    fn parts(&self) -> &ModelParts {
        &self.0.parts
    }

    /// Held from reading a record of a model, agent or prompt to writing what changes about it: of two
    /// changes at once both stay.
    pub fn editing(&self) -> MutexGuard<'_, ()> {
        self.0.editing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kept connections.
    pub fn connections(&self) -> &Connections {
        &self.0.connections
    }

    fn dialect(&self, record: &ModelRecord) -> SharedDialect {
        let mut dialects = self.0.dialects.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (record.base_url.clone(), record.model.clone());
        Arc::clone(dialects.entry(key).or_default())
    }
}

impl Models {
    /// The model with this id or name, or the default one. A model that is gone or switched off is a
    /// fault, never another model.
    pub fn resolve(&self, written: Option<&str>) -> Result<ModelRecord, Fault> {
        let found = match written.map(str::trim).filter(|written| !written.is_empty()) {
            Some(written) => self.get(written)?,
            None => {
                let found = self.parts().store.default_model()?;
                found.ok_or_else(|| no_model("default"))?
            }
        };
        if found.enabled {
            return Ok(found);
        }
        Err(Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("the model `{}` is disabled", found.name),
                format!("模型 `{}` 已停用", found.name),
            ),
        )
        .code("model_disabled")
        .hint(Text::fixed("enable it under Models, or choose another", "请在“模型”中启用它，或选择其他模型")))
    }

    /// Whether this model runs on this computer or in its network.
    pub fn is_local(&self, record: &ModelRecord) -> bool {
        address::is_local(&record.base_url)
    }

    /// Something that answers as this model. Nothing is sent and no key is read before it is asked.
    pub fn open(&self, record: &ModelRecord) -> Result<Arc<dyn Provider>, Fault> {
        self.open_with(record, None)
    }

    /// How long a model may say nothing; between two pieces of an answer less than before its beginning.
    fn patience(&self) -> Patience {
        let seconds = u64::try_from(self.parts().settings.int("modelSilenceSeconds")).unwrap_or_default();
        let first = std::time::Duration::from_secs(seconds.max(1));
        Patience { first, idle: first * 3 / 5 }
    }

    fn open_with(
        &self,
        record: &ModelRecord,
        key: Option<Zeroizing<String>>,
    ) -> Result<Arc<dyn Provider>, Fault> {
        if record.provider == "demo" {
            return Ok(Arc::new(Demo));
        }
        let protocol = protocol_for(record).ok_or_else(|| unknown_provider(&record.provider))?;
        let base_url = match protocol {
            Protocol::Anthropic | Protocol::Ollama => address::unversioned(&record.base_url).to_owned(),
            _ => record.base_url.clone(),
        };
        Ok(Arc::new(HttpProvider::new(HttpParts {
            protocol,
            provider: record.provider.clone(),
            base_url,
            secrets: keys::finder(self, record, key),
            connections: self.0.connections.clone(),
            dialect: self.dialect(record),
            patience: self.patience(),
        })))
    }
}

/// How a model is spoken to: as its provider says, and where that is `openai` at OpenAI's own address, by the newer
/// of its two APIs (working-day §4). `openai_compatible` there keeps the older one.
pub fn protocol_for(record: &ModelRecord) -> Option<Protocol> {
    let own = record.provider == "openai" && facts::vendor_of_address(&record.base_url) == Some("openai");
    if own { Some(Protocol::Responses) } else { protocol_of(&record.provider) }
}

/// No model has this id or name.
fn no_model(written: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no model `{written}`"), format!("没有模型 `{written}`")),
    )
    .code("model_missing")
    .hint(Text::fixed("`chatos models list` shows all of them", "`chatos models list` 会列出全部"))
}

fn unknown_provider(provider: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("there is no provider `{provider}`"), format!("没有提供方 `{provider}`")),
    )
    .hint(Text::fixed(
        "use openai, openai_responses, openai_compatible, anthropic, gemini, ollama or lmstudio",
        "请使用 openai、openai_responses、openai_compatible、anthropic、gemini、ollama 或 lmstudio",
    ))
}
