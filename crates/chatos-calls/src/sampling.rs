//! A server asks the model: only where the grant of its call says so, and only when the person agrees
//! (ui-prompts §10.3). What it costs is counted with the run.

use std::sync::Arc;

use chatos_agent::{Asker, Ports, ToolEvent, WaitKind};
use chatos_inbox::Question;
use chatos_model::{CompleteOrder, Image, Message};
use chatos_prompts::whole::{self, Whole};
use chatos_prompts::{Effect, Object, effect};
use chatos_store::{ModelRecord, RunRow};
use chatos_tool::{Fault, Lang, in_both};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::active::ActiveCalls;
use super::parts::CallParts;

/// What the server is told when it may not.
const NOT_GRANTED: &str = "sampling is not allowed for this server";
/// What it is told when the person said no.
const REJECTED: &str = "rejected by the user";
/// Most characters of its messages in the question.
const SHOWN_CHARS: usize = 8_000;
/// Longest answer a server may ask for.
const MOST_TOKENS: u64 = 1_000_000;

/// What a server wants to know.
struct Wanted {
    system: Option<String>,
    messages: Vec<Message>,
    max_tokens: Option<u32>,
    temperature: Option<f64>,
}

/// Asks the person, then the model. The error is what the server is told.
pub(super) async fn sample(
    parts: &Arc<CallParts>,
    active: &ActiveCalls,
    ports: &Arc<dyn Ports>,
    asker: Asker,
    params: Value,
    canceled: CancellationToken,
) -> Result<Value, String> {
    if !asker.sampling {
        return Err(NOT_GRANTED.to_owned());
    }
    let wanted = read(&params)?;
    let (run, model) = model_of(parts, &asker).await.map_err(|fault| fault.message.en.into_owned())?;
    let session = asker.trace.session_id.clone().unwrap_or_default();
    if !active.may_sample(&session, &asker.identity) {
        let chosen = consent(parts, ports, &asker, &model, &wanted, params, &canceled).await?;
        let details = json!({
            "identity": asker.identity, "runId": asker.trace.run_id, "model": model.id, "decision": chosen,
        });
        ports.audit("sampling", details);
        match chosen.as_str() {
            "once" => {}
            "session" => active.allow_sampling(&session, &asker.identity),
            _ => return Err(REJECTED.to_owned()),
        }
    }
    let (run_id, root_run_id, session_id) =
        run.map(|run| (run.id, run.root_run_id, run.session_id)).unwrap_or_default();
    let order = CompleteOrder {
        tools: Vec::new(),
        system: wanted.system.into_iter().collect(),
        messages: wanted.messages,
        model_id: Some(model.id),
        max_output_tokens: wanted.max_tokens,
        temperature: wanted.temperature,
        agent_id: asker.trace.agent_id.clone().unwrap_or_default(),
        run_id,
        root_run_id,
        session_id,
    };
    let said = parts.models.complete(order, canceled).await.map_err(|fault| fault.message.en.into_owned())?;
    let stop = if said.stop == "length" { "maxTokens" } else { "endTurn" };
    Ok(json!({
        "role": "assistant", "content": { "type": "text", "text": said.text }, "model": model.model,
        "stopReason": stop,
    }))
}

/// The run the call belongs to, and its model; the default one without.
async fn model_of(parts: &Arc<CallParts>, asker: &Asker) -> Result<(Option<RunRow>, ModelRecord), Fault> {
    let (parts, run_id) = (Arc::clone(parts), asker.trace.run_id.clone());
    let found = chatos_blocking::run(move || {
        let run = run_id.and_then(|id| parts.store.run(&id).ok().flatten());
        let wanted = run.as_ref().map(|run| run.model_id.clone()).filter(|id| !id.is_empty());
        let model = parts.models.resolve(wanted.as_deref())?;
        Ok((run, model))
    });
    found.await.map_err(|error| super::parts::failed(&error))?
}

/// Puts the question into the queue and waits; gives what was chosen.
async fn consent(
    parts: &Arc<CallParts>,
    ports: &Arc<dyn Ports>,
    asker: &Asker,
    model: &ModelRecord,
    wanted: &Wanted,
    params: Value,
    canceled: &CancellationToken,
) -> Result<String, String> {
    let (mut prompt, text) = question(parts, asker, model, wanted);
    if text.len() > whole::MAX_BYTES {
        return Err("the messages are too large to be shown to the person".to_owned());
    }
    let whole = Whole::of(&text, SHOWN_CHARS);
    if whole.is_cut {
        prompt["diffRef"] = whole.reference();
    }
    let whole = whole.is_cut.then(|| text.clone());
    let what = |model: &ModelRecord| {
        Effect::new("sampling", Object::new())
            .with("identity", json!(asker.identity))
            .with("model", json!({ "id": model.id, "name": model.model }))
            .with("arguments", effect::arguments(&params))
    };
    let asked = ports.ask(Question { whole, ..asker.question(prompt, Some(what(model))) }).await;
    let request_id = asked.map_err(|fault| fault.message.en.into_owned())?;
    asker.observer.waiting(&request_id, WaitKind::Sampling);
    ports.event(ToolEvent::Waiting { request_id: &request_id, trace: &asker.trace });
    let verdict = tokio::select! {
        verdict = ports.verdict(request_id.clone(), asker.owner()) => verdict,
        () = canceled.cancelled() => {
            ports.withdraw(request_id.clone(), asker.owner(), "aborted").await;
            asker.observer.answered(&request_id, "canceled");
            return Err("canceled".to_owned());
        }
    };
    let verdict = verdict.map_err(|fault| fault.message.en.into_owned());
    let status = verdict.as_ref().map_or("error", |verdict| verdict.status.as_str());
    asker.observer.answered(&request_id, status);
    let verdict = verdict?;
    let chosen = verdict.response.get("selection").and_then(Value::as_str).unwrap_or_default();
    if verdict.status != "ok" || !matches!(chosen, "once" | "session") {
        return Ok("deny".to_owned());
    }
    // The model as it is now: what the person agreed to, once.
    let (_, now) = model_of(parts, asker).await.map_err(|fault| fault.message.en.into_owned())?;
    let used = ports.use_approval(request_id, what(&now)).await;
    used.map(|_approval| chosen.to_owned()).map_err(|fault| fault.message.en.into_owned())
}

/// The prompt, and the whole text it is about.
fn question(parts: &CallParts, asker: &Asker, model: &ModelRecord, wanted: &Wanted) -> (Value, String) {
    let model = &model.name;
    let said: Vec<String> = wanted
        .system
        .iter()
        .map(|text| format!("system: {text}"))
        .chain(wanted.messages.iter().map(|message| match message {
            Message::Assistant { text, .. } => format!("assistant: {text}"),
            Message::User { text, images, .. } if images.is_empty() => format!("user: {text}"),
            Message::User { text, images, .. } => format!("user: {text} [+{} images]", images.len()),
            Message::Tool { content, .. } => format!("tool: {content}"),
        }))
        .collect();
    let text = parts.redactor.text(&said.join("\n\n")).into_owned();
    let shown = Whole::of(&text, SHOWN_CHARS).shown.to_owned();
    let fence = "`".repeat(longest_run(&shown).max(2) + 1);
    let limit = wanted.max_tokens.map_or_else(|| "–".to_owned(), |limit| limit.to_string());
    let prompt = |lang| said_in(lang, asker, model, &limit, &shown, &fence);
    (in_both(asker.lang, prompt), text)
}

fn said_in(lang: Lang, asker: &Asker, model: &str, limit: &str, shown: &str, fence: &str) -> Value {
    let server = &asker.server;
    let (title, message, once, session, deny) = match lang {
        Lang::En => (
            format!("Let {server} ask your model?"),
            format!(
                "`{server}` asks **{model}** for an answer of at most {limit} tokens, at your cost.\n\n\
                 {fence}\n{shown}\n{fence}"
            ),
            "Once",
            "For this chat",
            "No",
        ),
        Lang::Zh => (
            format!("允许 {server} 调用你的模型？"),
            format!(
                "`{server}` 请求 **{model}** 作答，最多 {limit} 个词元，费用由你承担。\n\n\
                 {fence}\n{shown}\n{fence}"
            ),
            "仅此一次",
            "本次对话",
            "不允许",
        ),
    };
    let mut options = vec![json!({ "value": "once", "label": once })];
    // Without a chat there is nothing to remember it for.
    if asker.trace.session_id.is_some() {
        options.push(json!({ "value": "session", "label": session }));
    }
    options.push(json!({ "value": "deny", "label": deny }));
    json!({ "kind": "choice", "title": title, "message": message, "options": options })
}

/// The longest run of back-ticks, so that no text ends its own block.
fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut now = 0;
    for c in text.chars() {
        now = if c == '`' { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}

/// The parameters of `sampling/createMessage`, or what is wrong with them.
fn read(params: &Value) -> Result<Wanted, String> {
    let messages = params["messages"].as_array().filter(|all| !all.is_empty());
    let messages = messages.ok_or("`messages` is needed")?;
    if params.get("tools").is_some_and(|tools| tools.as_array().is_none_or(|tools| !tools.is_empty())) {
        return Err("`tools` is not offered".to_owned());
    }
    let mut read = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let (text, images) = content(&message["content"]).map_err(|why| format!("message {at}: {why}"))?;
        read.push(match message["role"].as_str() {
            Some("user") => Message::User { text, images, documents: Vec::new() },
            Some("assistant") if images.is_empty() => {
                Message::Assistant { text, reasoning: Vec::new(), tool_calls: Vec::new() }
            }
            _ => return Err(format!("message {at}: `role` is neither user nor assistant with text")),
        });
    }
    let max_tokens = params["maxTokens"].as_u64().map(|limit| limit.clamp(1, MOST_TOKENS));
    Ok(Wanted {
        system: params["systemPrompt"].as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned),
        messages: read,
        max_tokens: max_tokens.and_then(|limit| u32::try_from(limit).ok()),
        temperature: params["temperature"].as_f64(),
    })
}

/// One block or several.
fn content(content: &Value) -> Result<(String, Vec<Image>), String> {
    let one = std::slice::from_ref(content);
    let blocks = content.as_array().map_or(one, Vec::as_slice);
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for block in blocks {
        let field = |key: &str| block[key].as_str().map(str::to_owned);
        match block["type"].as_str() {
            Some("text") => texts.push(field("text").ok_or("a text block without `text`")?),
            Some("image") => {
                let (data, mime) = field("data").zip(field("mimeType")).ok_or("an image without `data`")?;
                images.push(Image { data, mime, pixels: None });
            }
            other => return Err(format!("`{}` blocks are not taken", other.unwrap_or("untyped"))),
        }
    }
    Ok((texts.join("\n"), images))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_strictly() {
        let wanted = read(&json!({
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "a" } },
                { "role": "assistant", "content": [{ "type": "text", "text": "b" }, { "type": "text", "text": "c" }] },
            ],
            "systemPrompt": "s", "maxTokens": 7, "temperature": 0.5,
        }))
        .unwrap();
        assert_eq!(
            (wanted.system.as_deref(), wanted.max_tokens, wanted.temperature),
            (Some("s"), Some(7), Some(0.5))
        );
        let Message::Assistant { text, .. } = &wanted.messages[1] else { panic!() };
        assert_eq!(text, "b\nc");
        for bad in [
            json!({}),
            json!({ "messages": [] }),
            json!({ "messages": [{ "role": "system", "content": { "type": "text", "text": "x" } }] }),
            json!({ "messages": [{ "role": "user", "content": { "type": "tool_use" } }] }),
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "x" } }], "tools": [{}] }),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
        assert_eq!(longest_run("a ``` b `"), 3);
    }
}
