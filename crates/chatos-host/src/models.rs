//! Models: records, keys resolved at the moment of a call, and something to talk to.

use std::sync::Arc;

use chatos_model::{Demo, Provider};
use chatos_store::ModelRecord;
use chatos_tool::{ErrorCode, Fault, Text};

use crate::fault::store_fault;
use crate::host::Host;

/// Models of one host. Reading blocks on the database; async callers use a blocking thread.
#[derive(Clone, Copy)]
pub struct ModelDesk<'h> {
    host: &'h Arc<Host>,
}

impl Host {
    /// Models.
    pub fn models(self: &Arc<Self>) -> ModelDesk<'_> {
        ModelDesk { host: self }
    }
}

impl ModelDesk<'_> {
    /// The model with this id or name, or the default one. A model that is gone or switched off is a
    /// fault, never another model.
    pub fn resolve(&self, written: Option<&str>) -> Result<ModelRecord, Fault> {
        let store = self.host.store();
        let found = match written.map(str::trim).filter(|written| !written.is_empty()) {
            Some(written) => {
                let found = store.model(written).map_err(|error| store_fault(&error))?;
                found.ok_or_else(|| no_model(written))?
            }
            None => {
                let found = store.default_model().map_err(|error| store_fault(&error))?;
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

    /// Something that answers as this model. Nothing is sent and no key is read before it is asked.
    pub fn open(&self, record: &ModelRecord) -> Result<Arc<dyn Provider>, Fault> {
        match record.provider.as_str() {
            "demo" => Ok(Arc::new(Demo)),
            other => Err(unknown_provider(other)),
        }
    }
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
        "use openai, anthropic, gemini, ollama or lmstudio",
        "请使用 openai、anthropic、gemini、ollama 或 lmstudio",
    ))
}
