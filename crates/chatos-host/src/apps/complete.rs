//! `ctx.llm.complete` of backends: one question, one answer, no stream (host-api §9.3).

use std::sync::Arc;

use chatos_manifest::PluginId;
use chatos_model::Message;
use chatos_plugins::backend::BackendError;
use chatos_store::{DEMO_MODEL, ModelRecord};
use chatos_tool::{ErrorCode, Fault};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::host::Host;
use crate::runs::CompleteOrder;

/// An answer longer than this is cut off with an error; it would not fit a message.
const ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Whether there is a model to ask. The demo model answers chats only where a person chose it.
pub(super) fn has_model(host: &Host) -> bool {
    let models = host.store().models().unwrap_or_default();
    models.iter().any(|model| model.enabled && (model.id != DEMO_MODEL || model.is_default))
}

pub(super) async fn complete(
    host: &Arc<Host>,
    plugin: &PluginId,
    payload: &Value,
    cancel: CancellationToken,
) -> Result<Value, BackendError> {
    let text = |name: &str| payload[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    let Some(input) = text("input").or_else(|| text("prompt")) else {
        return Err(BackendError::new("invalid_argument", "input is required", "缺少 input"));
    };
    let model = choose(host, text("modelId"), text("modelName"))?;
    tracing::info!(%plugin, model = %model.name, "a backend asks a model");
    let order = CompleteOrder {
        system: text("systemPrompt").map(str::to_owned).into_iter().collect(),
        messages: vec![Message::User { text: input.to_owned(), images: Vec::new() }],
        model_id: Some(model.id),
        // host-api §9.3: it counts as usage of the plugin.
        agent_id: format!("plugin:{plugin}"),
        ..CompleteOrder::default()
    };
    let said = host.runs().complete(order, cancel).await.map_err(|fault| refused(&fault))?;
    if said.text.len() > ANSWER_BYTES {
        return Err(BackendError::new(
            "resource_exhausted",
            "the answer is larger than 16 MiB",
            "回答超过 16 MiB",
        ));
    }
    Ok(json!({ "ok": true, "model": model.name, "content": said.text }))
}

/// `modelId` beats `modelName`; neither: the default, else the first.
fn choose(host: &Host, id: Option<&str>, name: Option<&str>) -> Result<ModelRecord, BackendError> {
    let store = |error: chatos_store::StoreError| {
        BackendError::new("unavailable", error.message.clone(), error.message)
    };
    let models: Vec<ModelRecord> =
        host.store().models().map_err(store)?.into_iter().filter(|model| model.enabled).collect();
    if let Some(id) = id {
        let found = models.into_iter().find(|model| model.id == id);
        return found.ok_or_else(|| {
            BackendError::new(
                "not_found",
                format!("modelId not found: {id}"),
                format!("没有找到 modelId：{id}"),
            )
        });
    }
    if let Some(name) = name {
        let found =
            models.into_iter().find(|model| model.name.eq_ignore_ascii_case(name) || model.model == name);
        return found.ok_or_else(|| {
            BackendError::new(
                "not_found",
                format!("modelName not found: {name}"),
                format!("没有找到 modelName：{name}"),
            )
        });
    }
    let usable = |model: &&ModelRecord| model.id != DEMO_MODEL || model.is_default;
    let first = models.iter().find(|model| model.is_default).or_else(|| models.iter().find(usable));
    first.cloned().ok_or_else(|| BackendError::new("unavailable", "No models configured", "没有配置模型"))
}

fn refused(fault: &Fault) -> BackendError {
    let code = match fault.class {
        ErrorCode::RateLimited => "rate_limited",
        ErrorCode::Canceled => "canceled",
        _ => "unavailable",
    };
    BackendError::new(code, fault.message.en.clone(), fault.message.zh.clone())
}
