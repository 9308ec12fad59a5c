//! Chats: made, listed, changed, deleted, searched, read in pages.

use std::sync::Arc;

use chatos_apps::{AppCaller, check_workspace};
use chatos_store::{SessionPatch, SessionRow, Store, StoreError, UsageBy, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::RunState;
use chatos_wire::event::{ChatChange, HostEvent, SessionChanged};
use chatos_wire::session::{
    MessagePage, MessageView, RunBrief, SearchHit, SessionChange, SessionOrder, SessionView,
};

use super::desk::Runs;
use chatos_records::{message_view, no_session, session_view, summary_view, usage_view};

/// Longest title.
const TITLE_CHARS: usize = 200;
/// Most messages of one page.
const PAGE: u32 = 500;

impl Runs {
    /// Makes a chat.
    pub async fn create_session(&self, order: SessionOrder) -> Result<SessionView, Fault> {
        let row = self.new_session(order).await?;
        let row = self.work(move |store| store.create_session(row)).await?;
        let view = session_view(row, None, None);
        self.sessions_changed(&view.id, ChatChange::Created);
        Ok(view)
    }

    /// Makes a chat of a file; it is only read.
    pub async fn import_chat(&self, text: String) -> Result<SessionView, Fault> {
        let session = self.new_session(SessionOrder::default()).await?;
        let redactor = self.open()?.redactor.clone();
        let chat = chatos_blocking::run(move || chatos_archive::ChatOfFile::read(&text, &redactor));
        let chat = chat.await.map_err(|error| super::desk::broken(&error))??;
        let row = self.work(move |store| chat.put(store, session)).await?;
        let view = session_view(row, None, None);
        self.sessions_changed(&view.id, ChatChange::Created);
        Ok(view)
    }

    /// Makes a chat for an app: it works where a person lets the app, whatever the order says.
    pub async fn create_app_session(
        &self,
        caller: &AppCaller,
        order: SessionOrder,
    ) -> Result<SessionView, Fault> {
        let parts = self.open()?;
        let (asking, by) = (Arc::clone(&parts), caller.clone());
        let wanted = order.agent_id.clone().filter(|id| !id.is_empty());
        let agent = chatos_blocking::run(move || match wanted {
            Some(id) => asking.apps.reach_answering(&by, &id).map(|()| id),
            None => asking.apps.agent_of_app(&by.plugin_id).map(|agent| agent.id),
        });
        let agent = agent.await.map_err(|error| super::desk::broken(&error))??;
        let (plugin, app) = (caller.plugin_id.as_str(), caller.app_id.as_str());
        let order = SessionOrder { agent_id: Some(agent), ..order };
        // Whatever else is wrong with it is said before a person is asked about a folder.
        let mut row = self.new_session(order.clone()).await?;
        let placed = parts.apps.place_for_app(plugin, app, order.workspace_root.as_deref()).await?;
        row.workspace_root = placed.root;
        let (plugin, wished) = (plugin.to_owned(), placed.wished);
        let row = self
            .work(move |store| {
                let row = store.create_app_session(row, &plugin, &wished)?;
                with_run(store, row, false)
            })
            .await?;
        self.sessions_changed(&row.id, ChatChange::Created);
        Ok(SessionView { pending_root: placed.pending, ..row })
    }

    /// Chats of a plugin, in the order of [`Runs::sessions`].
    pub async fn app_sessions(
        &self,
        plugin: &str,
        archived: bool,
        limit: u32,
        offset: u32,
    ) -> Result<Vec<SessionView>, Fault> {
        let plugin = plugin.to_owned();
        self.work(move |store| {
            let rows = store.sessions_of_plugin(&plugin, archived, limit, offset)?;
            rows.into_iter().map(|row| with_run(store, row, false)).collect()
        })
        .await
    }

    /// A row for a new chat, checked.
    pub(super) async fn new_session(&self, order: SessionOrder) -> Result<SessionRow, Fault> {
        let parts = self.open()?;
        let workspace = order.workspace_root.unwrap_or_default();
        check_workspace(&workspace)?;
        let (agent, model) = (order.agent_id, order.model_id);
        let (agent, model) = chatos_blocking::run(move || {
            let agent = match agent.filter(|id| !id.is_empty()) {
                Some(written) => parts.agents.find(&written)?.id,
                None => parts.agents.first_agent()?.id,
            };
            let model = match model.filter(|id| !id.is_empty()) {
                Some(id) => parts.models.resolve(Some(&id))?.id,
                None => String::new(),
            };
            Ok::<_, Fault>((agent, model))
        })
        .await
        .map_err(|error| super::desk::broken(&error))??;
        let now = now_ms();
        Ok(SessionRow {
            id: uuid::Uuid::now_v7().to_string(),
            title: clean_title(order.title.as_deref().unwrap_or_default()),
            agent_id: agent,
            model_id: model,
            workspace_root: workspace,
            created_at: now,
            updated_at: now,
            ..SessionRow::default()
        })
    }

    /// Chats, pinned ones first, then the most recent.
    pub async fn sessions(&self, archived: bool, limit: u32, offset: u32) -> Result<Vec<SessionView>, Fault> {
        self.work(move |store| {
            let rows = store.sessions(archived, limit, offset)?;
            rows.into_iter().map(|row| with_run(store, row, false)).collect()
        })
        .await
    }

    /// One chat with what it used.
    pub async fn session(&self, id: &str) -> Result<SessionView, Fault> {
        let wanted = id.to_owned();
        let found = self
            .work(move |store| store.session(&wanted)?.map(|row| with_run(store, row, true)).transpose())
            .await?;
        found.ok_or_else(|| no_session(id))
    }

    /// Changes a chat.
    pub async fn change_session(&self, id: &str, change: SessionChange) -> Result<SessionView, Fault> {
        if let Some(root) = &change.workspace_root {
            check_workspace(root)?;
        }
        let parts = self.open()?;
        let chosen = change.workspace_root.clone();
        let (agent, model) = (change.agent_id.clone(), change.model_id.clone());
        chatos_blocking::run(move || {
            if let Some(id) = agent {
                parts.agents.agent(&id)?;
            }
            if let Some(id) = model.filter(|id| !id.is_empty()) {
                parts.models.resolve(Some(&id))?;
            }
            Ok::<_, Fault>(())
        })
        .await
        .map_err(|error| super::desk::broken(&error))??;
        let patch = SessionPatch {
            title: change.title.map(|title| clean_title(&title)),
            title_was: None,
            agent_id: change.agent_id,
            model_id: change.model_id,
            workspace_root: change.workspace_root,
            pinned: change.pinned,
            archived: change.archived,
        };
        let wanted = id.to_owned();
        let changed = self
            .work(move |store| {
                store.update_session(&wanted, patch)?.map(|row| with_run(store, row, false)).transpose()
            })
            .await?;
        let view = changed.ok_or_else(|| no_session(id))?;
        if let (Some(plugin), Some(root)) = (view.made_by.clone(), chosen.filter(|root| !root.is_empty())) {
            let parts = self.open()?;
            // A folder a person chose for it.
            chatos_blocking::run(move || parts.apps.root_chosen(&plugin, &root))
                .await
                .map_err(|error| super::desk::broken(&error))??;
        }
        self.sessions_changed(id, ChatChange::Changed);
        Ok(view)
    }

    /// Deletes a chat; what runs in it is stopped first.
    pub async fn delete_session(&self, id: &str) -> Result<(), Fault> {
        self.session(id).await?;
        self.stop_all(id).await;
        let wanted = id.to_owned();
        if !self.work(move |store| store.delete_session(&wanted)).await? {
            return Err(no_session(id));
        }
        self.sessions_changed(id, ChatChange::Deleted);
        Ok(())
    }

    pub(super) fn sessions_changed(&self, id: &str, change: ChatChange) {
        let changed = SessionChanged { id: id.to_owned(), change };
        self.parts().events.publish(HostEvent::SessionChanged(changed));
    }

    /// A page of messages, oldest first, before the message of the given id.
    pub async fn messages(
        &self,
        session: &str,
        limit: u32,
        before: Option<String>,
    ) -> Result<MessagePage, Fault> {
        let wanted = session.to_owned();
        let page = self
            .work(move |store| {
                if store.session(&wanted)?.is_none() {
                    return Ok(None);
                }
                let before = match before {
                    None => None,
                    Some(id) => Some(store.message(&id)?.map_or(0, |message| message.seq)),
                };
                let (rows, has_more) = store.messages(&wanted, before, limit.clamp(1, PAGE))?;
                let messages: Vec<MessageView> =
                    rows.into_iter().map(|row| message_view(store, row)).collect();
                let summaries = store.summaries(&wanted)?.into_iter().map(summary_view).collect();
                Ok(Some(MessagePage { messages, has_more, summaries }))
            })
            .await?;
        page.ok_or_else(|| no_session(session))
    }

    /// Other versions of messages and what followed them.
    pub async fn left_messages(&self, session: &str) -> Result<Vec<MessageView>, Fault> {
        let id = session.to_owned();
        let view = move |store: &Store| {
            Ok(store.left_messages(&id)?.into_iter().map(|row| message_view(store, row)).collect())
        };
        self.work(view).await
    }

    /// A file beside a message: its type and its bytes.
    pub async fn attachment(&self, session: &str, id: &str) -> Result<(String, String, Vec<u8>), Fault> {
        let (session, wanted) = (session.to_owned(), id.to_owned());
        let found = self
            .work(move |store| {
                let file = store.attachment(&session, &wanted)?;
                Ok(file.and_then(|file| Some((file.name, file.mime, store.blob(&file.blob)?))))
            })
            .await?;
        found.ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(
                    format!("there is no file `{id}` in this chat"),
                    format!("此会话中没有文件 `{id}`"),
                ),
            )
        })
    }

    /// Messages that contain a text.
    pub async fn search(&self, text: &str, limit: u32) -> Result<Vec<SearchHit>, Fault> {
        let wanted = text.trim().to_owned();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        self.work(move |store| {
            let hits = store.search_messages(&wanted, limit.clamp(1, 200))?;
            Ok(hits
                .into_iter()
                .map(|hit| SearchHit {
                    excerpt: excerpt(&hit.content, &wanted),
                    session_id: hit.session_id,
                    session_title: hit.session_title,
                    message_id: hit.message_id,
                    seq: hit.seq,
                    role: hit.role,
                    created_at: chatos_store::iso_from_ms(hit.created_at),
                })
                .collect())
        })
        .await
    }
}

fn with_run(store: &Store, row: SessionRow, usage: bool) -> Result<SessionView, StoreError> {
    let open = store.open_runs(&row.id)?;
    let run = open.iter().find(|run| run.state != RunState::Queued).or_else(|| open.first());
    let run = run.map(|run| RunBrief {
        id: run.id.clone(),
        state: run.state,
        started_at: run.started_at.map(chatos_store::iso_from_ms),
        trace_id: run.trace_id.clone(),
        reason: run.stop_reason,
    });
    let used = if usage {
        Some(store.usage(UsageBy::Session, 0, Some(&row.id))?.into_iter().map(usage_view).collect())
    } else {
        None
    };
    let made_by = store.session_maker(&row.id)?;
    Ok(SessionView { made_by, ..session_view(row, run, used) })
}

/// A title of one line.
pub(super) fn clean_title(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS).collect()
}

/// What a chat is called before anybody named it: the first words of its question.
pub(super) fn first_words(question: &str) -> String {
    clean_title(question).chars().take(60).collect()
}

fn excerpt(text: &str, wanted: &str) -> String {
    const AROUND: usize = 80;
    let lower = text.to_lowercase();
    let at = lower.find(&wanted.to_lowercase()).unwrap_or_default();
    let start = lower[..at].chars().count().saturating_sub(AROUND);
    text.chars().skip(start).take(AROUND * 2 + wanted.chars().count()).collect()
}
