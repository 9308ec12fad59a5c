//! Chats named by their model after the first answer (working-day §9). Nothing waits for it, and a chat that nobody
//! named keeps the first words of its question.

use std::sync::Arc;
use std::time::Duration;

use chatos_agent::titles;
use chatos_model::{CompleteOrder, Message};
use chatos_store::{RunRow, SessionPatch, Store, StoreError};
use chatos_tool::{Fault, Lang};
use chatos_wire::MessageRole;
use chatos_wire::event::ChatChange;

use super::desk::Runs;
use super::sessions::{clean_title, first_words};

/// A name that takes longer is not worth it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Enough for a name and a short thought before it.
const TOKENS: u32 = 1_000;
/// Newest messages in which the answer is looked for.
const NEWEST: u32 = 20;

/// Has the chat of a run that is done named, in its own time.
pub(super) fn name_later(runs: &Runs, run: RunRow, lang: Lang) {
    let wish = runs.parts().settings.text("chatTitles");
    if wish == "off" {
        return;
    }
    let named = runs.clone();
    runs.parts().life.spawn(Box::pin(async move {
        let id = run.id.clone();
        match tokio::time::timeout(PATIENCE, name(&named, run, lang, wish == "always")).await {
            Ok(Ok(())) => {}
            Ok(Err(fault)) => tracing::info!(%fault, run = id, "a chat keeps the first words as its title"),
            Err(_) => tracing::info!(run = id, "the model took too long to name a chat"),
        }
    }));
}

async fn name(runs: &Runs, run: RunRow, lang: Lang, local_too: bool) -> Result<(), Fault> {
    let parts = runs.parts();
    let (asking, of) = (Arc::clone(parts), run.clone());
    let wanted = runs
        .work(move |store| {
            let Some((title, question, answer)) = unnamed(store, &of)? else { return Ok(None) };
            let model = asking.models.resolve(Some(&of.model_id)).ok();
            let may = model.is_some_and(|model| {
                model.provider != "demo" && (local_too || !asking.models.is_local(&model))
            });
            Ok(may.then(|| (title, titles::order(lang, &question, &answer))))
        })
        .await?;
    let Some((title, text)) = wanted else { return Ok(()) };
    let order = CompleteOrder {
        messages: vec![Message::user(text)],
        model_id: Some(run.model_id),
        max_output_tokens: Some(TOKENS),
        agent_id: run.agent_id,
        run_id: run.id,
        root_run_id: run.root_run_id,
        session_id: run.session_id.clone(),
        ..CompleteOrder::default()
    };
    let said = parts.models.complete(order, parts.life.stop().child_token()).await?;
    let Some(named) = titles::read(&parts.redactor.text(&said.text)) else { return Ok(()) };
    let (id, named) = (run.session_id.clone(), clean_title(&named));
    let patch = SessionPatch { title: Some(named), title_was: Some(title), ..SessionPatch::default() };
    runs.work(move |store| store.update_session(&id, patch)).await?;
    runs.sessions_changed(&run.session_id, ChatChange::Changed);
    Ok(())
}

/// The title, question and answer of a chat that is called by the first words of this run's question.
fn unnamed(store: &Store, run: &RunRow) -> Result<Option<(String, String, String)>, StoreError> {
    let (Some(chat), Some(question)) =
        (store.session(&run.session_id)?, store.message(&run.user_message_id)?)
    else {
        return Ok(None);
    };
    if chat.title.is_empty() || chat.title != first_words(&question.content) {
        return Ok(None);
    }
    let (newest, _) = store.messages(&run.session_id, None, NEWEST)?;
    let answered =
        newest.into_iter().rfind(|row| row.role == MessageRole::Assistant && !row.content.is_empty());
    Ok(answered.map(|answer| (chat.title, question.content, answer.content)))
}
