//! `ctx.llm.complete` of backends: one question, one answer, no stream (host-api §9.3). With tools, those of
//! the plugin's own server and no others, called through the one path every call takes.

use std::sync::Arc;

use chatos_contribution::ServerIdentity;
use chatos_manifest::PluginId;
use chatos_model::{CompleteOrder, Completion, Message};
use chatos_plugins::backend::BackendError;
use chatos_policy::{PromptLang, Role, SAFE_DEFAULT, UiApp};
use chatos_servers::{GrantedTool, Toolset, ToolsetOrder};
use chatos_store::{AgentRecord, DEMO_MODEL, ModelRecord};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::apps::{AppCall, Apps};

/// An answer longer than this is cut off with an error; it would not fit a message.
const ANSWER_BYTES: usize = 16 * 1024 * 1024;
/// Answers of the model in one completion; one that goes on calling is ended.
const PASSES: usize = 16;
/// Calls it may make in all.
const CALLS: usize = 64;
/// What a model is given of one result.
const RESULT_CHARS: usize = 40_000;

/// Whether there is a model to ask. The demo model answers chats only where a person chose it.
pub(crate) fn has_model(apps: &Apps) -> bool {
    let models = apps.store().models().unwrap_or_default();
    models.iter().any(|model| model.enabled && (model.id != DEMO_MODEL || model.is_default))
}

pub(crate) async fn complete(
    apps: &Apps,
    plugin: &PluginId,
    payload: &Value,
    cancel: CancellationToken,
) -> Result<Value, BackendError> {
    let text = |name: &str| payload[name].as_str().map(str::trim).filter(|text| !text.is_empty());
    let Some(input) = text("input").or_else(|| text("prompt")) else {
        return Err(BackendError::new("invalid_argument", "input is required", "缺少 input"));
    };
    let model = choose(apps, text("modelId"), text("modelName"))?;
    tracing::info!(%plugin, model = %model.name, "a backend asks a model");
    let mut order = CompleteOrder {
        system: text("systemPrompt").map(str::to_owned).into_iter().collect(),
        messages: vec![Message::user(input)],
        model_id: Some(model.id),
        // host-api §9.3: it counts as usage of the plugin.
        agent_id: format!("plugin:{plugin}"),
        ..CompleteOrder::default()
    };
    let tools = payload["disableTools"] == Value::Bool(false);
    let set = if tools {
        own_tools(apps, plugin).await.map_err(|fault| refused(&fault))?
    } else {
        Toolset::default()
    };
    let set = Arc::new(set);
    for tool in own_specs(&set) {
        order.tools.push(chatos_model::Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
        });
    }
    let meta = payload["callMeta"].as_object().cloned().unwrap_or_default();
    let mut trace = Vec::new();
    let said = loop {
        let said = apps
            .0
            .parts
            .models
            .complete(order.clone(), cancel.clone())
            .await
            .map_err(|fault| refused(&fault))?;
        if said.tool_calls.is_empty() || order.tools.is_empty() {
            break said;
        }
        answer_calls(apps, &set, said, &meta, &mut order.messages, &mut trace, &cancel).await?;
    };
    if said.text.len() > ANSWER_BYTES {
        return Err(BackendError::new(
            "resource_exhausted",
            "the answer is larger than 16 MiB",
            "回答超过 16 MiB",
        ));
    }
    let mut answer = json!({ "ok": true, "model": model.name, "content": said.text });
    if tools {
        answer["toolTrace"] = json!(trace);
    }
    Ok(answer)
}

/// The tools of the plugin's own servers, as far as the safe default lets an agent use them
/// (host-api §9.3).
async fn own_tools(apps: &Apps, plugin: &PluginId) -> Result<Toolset, Fault> {
    let (asking, id) = (apps.clone(), plugin.clone());
    let outcome = chatos_blocking::run(move || {
        let snapshot = asking.plugins()?.snapshot();
        let apps = snapshot.plugin(&id).map(|found| found.loaded.apps.as_slice()).unwrap_or_default();
        let mut agent = AgentRecord::new("", SAFE_DEFAULT);
        agent.ui_apps = apps
            .iter()
            .map(|app| UiApp {
                plugin_id: id.to_string(),
                app_id: app.manifest.id.to_string(),
                mcp: true,
                prompt: false,
                prompt_lang: PromptLang::default(),
                mcp_server_ids: Vec::new(),
                prompt_ids: Vec::new(),
                extra: Map::new(),
            })
            .collect();
        let own: Vec<_> = apps.iter().map(|app| ServerIdentity::app(&id, &app.manifest.id)).collect();
        let mut outcome = asking.agents().outcome(&agent, Role::Main)?;
        outcome.grants.retain(|identity, _| own.contains(identity));
        Ok::<_, Fault>(outcome)
    });
    let outcome = outcome.await.map_err(|error| {
        Fault::new(ErrorCode::Internal, Text::fixed("the grants failed", "授权计算失败")).caused_by(&error)
    })??;
    apps.servers()?.toolset(ToolsetOrder::new(&outcome, apps.settings().languages().models)).await
}

/// Without the clock that every set has.
fn own_specs(set: &Toolset) -> impl Iterator<Item = &GrantedTool> {
    set.specs().filter(|tool| set.route(&tool.identity).is_some())
}

/// Makes the calls of one answer, one after the other, and puts their results into the conversation.
async fn answer_calls(
    apps: &Apps,
    set: &Arc<Toolset>,
    said: Completion,
    meta: &Map<String, Value>,
    messages: &mut Vec<Message>,
    trace: &mut Vec<Value>,
    cancel: &CancellationToken,
) -> Result<(), BackendError> {
    let passes = messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    if passes >= PASSES || trace.len() + said.tool_calls.len() > CALLS {
        return Err(BackendError::new(
            "resource_exhausted",
            format!("the model went on calling tools after {PASSES} answers or {CALLS} calls"),
            format!("模型在 {PASSES} 次回答或 {CALLS} 次调用后仍在调用工具"),
        ));
    }
    let calls = said.tool_calls.clone();
    messages.push(Message::Assistant {
        text: said.text,
        reasoning: said.reasoning,
        tool_calls: said.tool_calls,
    });
    for call in calls {
        let (content, is_error, args) = tokio::select! {
            made = one_call(apps, set, &call, meta) => made,
            () = cancel.cancelled() => return Err(BackendError::new("canceled", "llm.complete was canceled", "llm.complete 已取消")),
        };
        let result = if is_error { json!({ "error": content }) } else { json!(content) };
        trace.push(json!({ "tool": call.name, "args": args, "result": result }));
        let images = Vec::new();
        messages.push(Message::Tool { call_id: call.id, name: call.name, content, is_error, images });
    }
    Ok(())
}

async fn one_call(
    apps: &Apps,
    set: &Arc<Toolset>,
    call: &chatos_model::ToolCall,
    meta: &Map<String, Value>,
) -> (String, bool, Value) {
    let given = if call.arguments.trim().is_empty() { "{}" } else { call.arguments.as_str() };
    let args: Value = match serde_json::from_str(given) {
        Ok(value @ Value::Object(_)) => value,
        _ => return (format!("the arguments of `{}` are not a JSON object", call.name), true, json!(given)),
    };
    let Some(tool) = own_specs(set).find(|tool| tool.name == call.name) else {
        return (format!("there is no tool `{}`", call.name), true, args);
    };
    let order = AppCall {
        server: tool.identity.as_str().to_owned(),
        tool: tool.tool.clone(),
        arguments: Some(args.clone()),
        meta: meta.clone(),
        lang: apps.lang(),
        ..AppCall::default()
    };
    match apps.0.parts.host.call(Arc::clone(set), order).await {
        Err(fault) => (fault.message.en.into_owned(), true, args),
        Ok(result) => {
            let blocks = result["content"].as_array().into_iter().flatten();
            let mut text: String =
                blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n");
            if let Some((cut, _)) = text.char_indices().nth(RESULT_CHARS) {
                text.truncate(cut);
                text.push('…');
            }
            (text, result["isError"] == Value::Bool(true), args)
        }
    }
}

/// `modelId` beats `modelName`; neither: the default, else the first.
fn choose(apps: &Apps, id: Option<&str>, name: Option<&str>) -> Result<ModelRecord, BackendError> {
    let store = |error: chatos_store::StoreError| {
        BackendError::new("unavailable", error.message.clone(), error.message)
    };
    let models: Vec<ModelRecord> =
        apps.store().models().map_err(store)?.into_iter().filter(|model| model.enabled).collect();
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
