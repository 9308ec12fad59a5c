//! A message of a person: kept first, then answered, queued, or given to the run under way (agents §7).

use std::sync::Arc;

use chatos_apps::AppCaller;
use chatos_documents::Attached;
use chatos_policy::Role;
use chatos_records::{message_view, no_session, trace_ids};
use chatos_store::{AttachmentRow, Kept, MessageRow, NewMessage, RunRow, SessionPatch, SessionRow, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::chat_event::{ChatBody, MessageBody};
use chatos_wire::event::{ChatChange, Nothing};
use chatos_wire::instructions::InstructionOrder;
use chatos_wire::run_line::{RunLine, TextLine};
use chatos_wire::session::{SendMode, SendOrder, Sent, VersionDeleted};
use chatos_wire::{MessageKind, MessageRole, RunKind, RunState};
use serde_json::json;

use super::desk::Runs;
use super::sessions::first_words;

/// Longest text of one message.
const TEXT_BYTES: usize = 1024 * 1024;
/// Longest wish for a summary.
const WISH_BYTES: usize = 4 * 1024;
/// Messages that wait for their turn in one chat.
const QUEUED: usize = 50;

/// How a message came.
#[derive(Debug, Clone, Default)]
pub struct Sender {
    /// The trace it continues, as the header has it.
    pub traceparent: Option<String>,
    /// Sent by this app, which may not queue behind a person.
    pub by_app: Option<AppCaller>,
    /// Sent from a terminal.
    pub cli: bool,
}

impl Runs {
    /// Takes a message. When this returns the message is kept, whatever happens next.
    pub async fn send(&self, session: &str, mut order: SendOrder, sender: Sender) -> Result<Sent, Fault> {
        let parts = self.open()?;
        let mut files = decode(&order)?;
        let message_id = message_id(&order)?;
        let row = {
            let id = session.to_owned();
            self.work(move |store| store.session(&id)).await?.ok_or_else(|| no_session(session))?
        };
        not_only_read(&row)?;
        if order.client_message_id.is_some()
            && let Some(sent) = self.sent_before(session, &message_id).await?
        {
            return Ok(sent);
        }
        self.documents().read_all(&mut files).await?;
        let under_way = self.under_way(session).await;
        if let Some(replaced) = &order.replaces {
            if under_way.is_some() && order.mode != Some(SendMode::Replace) {
                return Err(answering());
            }
            let row = self.replaceable(session, replaced).await?;
            if files.is_empty() {
                files = self.files_of(&row).await?;
            }
            if files.is_empty() && order.text.trim().is_empty() {
                return Err(nothing_said());
            }
            order.replaces = Some(if row.version_of.is_empty() { row.id } else { row.version_of });
        }
        if let Some(active) = &under_way {
            if sender.by_app.is_some() {
                return Err(answering());
            }
            match order.mode.unwrap_or_default() {
                SendMode::Steer => {
                    if !files.is_empty() {
                        return Err(Fault::new(
                            ErrorCode::InvalidArgument,
                            Text::fixed("a correction has no files", "纠正消息不能带附件"),
                        ));
                    }
                    let said = TextLine { message_id, text: order.text };
                    let message = self.steer_as(&active.run_id, said, false).await?;
                    return Ok(Sent {
                        run_id: active.run_id.clone(),
                        user_message_id: message,
                        assistant_message_id: None,
                        queued: false,
                    });
                }
                SendMode::Replace => self.stop_and_wait(active).await,
                SendMode::Queue => {}
            }
        }
        let (session_id, limit) = (session.to_owned(), QUEUED);
        let waiting = self.work(move |store| store.open_runs(&session_id)).await?;
        if order.replaces.is_some() && !waiting.is_empty() {
            return Err(unfinished());
        }
        if waiting.iter().filter(|run| run.state == RunState::Queued).count() >= limit {
            return Err(Fault::new(
                ErrorCode::ResourceExhausted,
                Text::new(
                    format!("{limit} messages wait in this chat already"),
                    format!("此会话已有 {limit} 条消息在等待"),
                ),
            ));
        }
        // What cannot run is refused before anything is kept.
        let (agent, model) = {
            let (parts, row, order) = (Arc::clone(&parts), row.clone(), order.clone());
            let app = sender.by_app.clone();
            let images = files.iter().any(Attached::is_picture);
            chatos_blocking::run(move || super::begin::check(&parts, &row, &order, app.as_ref(), images))
                .await
                .map_err(|error| super::desk::broken(&error))??
        };
        if let Ok(record) = parts.models.resolve(Some(model.as_str()).filter(|id| !id.is_empty())) {
            chatos_documents::seen_by_model(&mut files, super::begin::native(&parts, &record));
        }
        let plugin = sender.by_app.as_ref().map(|caller| caller.plugin_id.clone());
        let kept = self.keep(message_id.clone(), row, order, &sender, files, agent, model).await;
        let sent = match kept {
            // The same message came twice at the same moment: the other one was first.
            Err(fault) if fault.class == ErrorCode::Conflict => {
                return self.sent_before(session, &message_id).await?.ok_or(fault);
            }
            kept => kept?,
        };
        if let Some(plugin) = plugin {
            self.app_runs().insert(sent.run_id.clone(), plugin);
        }
        let started = self.start_next(session).await?;
        Ok(Sent { queued: started.as_ref() != Some(&sent.run_id), ..sent })
    }

    /// Has the last message of the person answered again, in the place of the answer it had.
    pub async fn retry(&self, session: &str) -> Result<Sent, Fault> {
        self.session(session).await?;
        if self.under_way(session).await.is_some() {
            return Err(answering());
        }
        let Some(row) = self.last_asked(session).await? else {
            return Err(Fault::new(
                ErrorCode::NotFound,
                Text::fixed("there is no message to send again", "没有可以重新发送的消息"),
            ));
        };
        let order = SendOrder {
            text: row.content,
            replaces: Some(row.id),
            instructions: Some(InstructionOrder::Ask),
            ..SendOrder::default()
        };
        self.send(session, order, Sender::default()).await
    }

    /// The newest message of the person that was to be answered.
    pub(super) async fn last_asked(&self, session: &str) -> Result<Option<MessageRow>, Fault> {
        let id = session.to_owned();
        self.work(move |store| {
            let (rows, _) = store.messages(&id, None, 500)?;
            let asked = |row: &MessageRow| row.role == MessageRole::User && row.kind == MessageKind::Normal;
            Ok(rows.into_iter().rfind(asked))
        })
        .await
    }

    /// Shows another version of a message, with everything that followed it.
    pub async fn select_version(&self, session: &str, message: &str) -> Result<(), Fault> {
        self.session(session).await?;
        if self.under_way(session).await.is_some() {
            return Err(answering());
        }
        let (id, wanted) = (session.to_owned(), message.to_owned());
        let unfinished_runs = self
            .work(move |store| {
                let open = store.open_runs(&id)?;
                if open.is_empty() {
                    store.select_version(&id, &wanted)?;
                }
                Ok(!open.is_empty())
            })
            .await?;
        if unfinished_runs {
            return Err(unfinished());
        }
        self.open()?;
        self.emitter(session, "").chat(ChatBody::MessagesRefresh(Nothing {}));
        self.sessions_changed(session, ChatChange::Changed);
        Ok(())
    }

    /// Deletes a version of a person's message with all that hangs on it; `dry` only says how much that is.
    pub async fn delete_version(
        &self,
        session: &str,
        message: &str,
        dry: bool,
    ) -> Result<VersionDeleted, Fault> {
        self.session(session).await?;
        if self.under_way(session).await.is_some() {
            return Err(answering());
        }
        let (id, wanted) = (session.to_owned(), message.to_owned());
        let (open, found) = self
            .work(move |store| {
                let open = !store.open_runs(&id)?.is_empty();
                let found = if dry || open {
                    store.version_size(&id, &wanted)
                } else {
                    store.delete_version(&id, &wanted)
                };
                Ok((open, found?))
            })
            .await?;
        let size = found.ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(
                    format!("this chat has no message `{message}` of the person"),
                    format!("此会话中没有用户消息 `{message}`"),
                ),
            )
        })?;
        if open {
            return Err(unfinished());
        }
        let said = VersionDeleted { deleted: !dry, messages: size.messages, others: size.others };
        if !dry {
            let parts = self.open()?;
            let fields = json!({ "session": session, "message": message, "messages": size.messages });
            parts.audit.note("messages_deleted", fields.as_object().cloned().unwrap_or_default());
            self.emitter(session, "").chat(ChatBody::MessagesRefresh(Nothing {}));
            self.sessions_changed(session, ChatChange::Changed);
        }
        Ok(said)
    }

    /// A message that may be said differently: one of the person that the chat shows.
    async fn replaceable(&self, session: &str, message: &str) -> Result<MessageRow, Fault> {
        let id = message.to_owned();
        let found = self.work(move |store| store.message(&id)).await?;
        let shown = found.filter(|row| {
            row.session_id == session
                && row.role == MessageRole::User
                && row.kind == MessageKind::Normal
                && row.left_with.is_empty()
        });
        shown.ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(
                    format!("/replaces: this chat shows no message `{message}` of the person"),
                    format!("/replaces：此会话中没有显示用户消息 `{message}`"),
                ),
            )
        })
    }

    async fn files_of(&self, row: &MessageRow) -> Result<Vec<Attached>, Fault> {
        let files = row.attachments.clone();
        self.work(move |store| {
            let found = files.into_iter().filter_map(|file| {
                Some(Attached {
                    bytes: store.blob(&file.blob)?,
                    text: store.kept(&file.text_blob).unwrap_or_default(),
                    name: file.name,
                    mime: file.mime,
                    note: file.note,
                    origin: file.origin,
                })
            });
            Ok(found.collect())
        })
        .await
    }

    /// Summarises the beginning of a chat, at once or before the next step of the run under way; `wish` is what
    /// a person wants kept. Gives whether it was done already.
    pub async fn compact(&self, session: &str, wish: &str) -> Result<bool, Fault> {
        self.open()?;
        let wish = wish.trim();
        if wish.len() > WISH_BYTES {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/instructions: at most 4 KiB", "/instructions：最多 4 KiB"),
            ));
        }
        let row = {
            let id = session.to_owned();
            self.work(move |store| store.session(&id)).await?.ok_or_else(|| no_session(session))?
        };
        not_only_read(&row)?;
        if let Some(active) = self.under_way(session).await
            && active.steer.ask_compact(wish.to_owned())
        {
            return Ok(false);
        }
        let run_id = uuid::Uuid::now_v7().to_string();
        let run = RunRow {
            id: run_id.clone(),
            kind: RunKind::Chat,
            session_id: row.id.clone(),
            agent_id: row.agent_id.clone(),
            root_run_id: run_id.clone(),
            role: Role::Main,
            model_id: row.model_id.clone(),
            task: "/compact".to_owned(),
            state: RunState::Queued,
            trace_id: trace_ids::new_trace(),
            span_id: trace_ids::new_span(),
            created_at: now_ms(),
            ..RunRow::default()
        };
        // On its own: who asked may go away in the middle, and a run left there would never end.
        let (runs, wish) = (self.clone(), wish.to_owned());
        let made = tokio::spawn(async move { runs.summarise(run, &wish).await }).await;
        let failed = Text::same("work of a run failed");
        let made = made.map_err(|error| Fault::new(ErrorCode::Internal, failed).caused_by(&error))??;
        if made { Ok(true) } else { Err(nothing_to_compact()) }
    }

    /// Corrects a run under way. Gives the id of the message.
    pub async fn steer(&self, run_id: &str, text: &str, abort_call: bool) -> Result<String, Fault> {
        let said = TextLine { message_id: uuid::Uuid::now_v7().to_string(), text: text.to_owned() };
        self.steer_as(run_id, said, abort_call).await
    }

    /// What became of a message that was taken before.
    async fn sent_before(&self, session: &str, message: &str) -> Result<Option<Sent>, Fault> {
        let id = message.to_owned();
        let found = self
            .work(move |store| {
                let Some(row) = store.message(&id)? else { return Ok(None) };
                let run = store.run(&row.run_id)?;
                Ok(Some((row, run)))
            })
            .await?;
        let Some((row, run)) = found else { return Ok(None) };
        if row.session_id != session || row.role != MessageRole::User {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::fixed(
                    "/clientMessageId: another message has this id",
                    "/clientMessageId：另一条消息已使用此 id",
                ),
            ));
        }
        let answer = run
            .as_ref()
            .filter(|_| row.kind == MessageKind::Normal)
            .and_then(|run| serde_json::from_str::<serde_json::Value>(&run.options).ok())
            .and_then(|options| options["answerId"].as_str().map(str::to_owned));
        Ok(Some(Sent {
            run_id: row.run_id,
            user_message_id: row.id,
            assistant_message_id: answer,
            queued: run.is_some_and(|run| run.state == RunState::Queued),
        }))
    }

    #[expect(clippy::too_many_arguments, reason = "everything a message consists of, looked at before")]
    async fn keep(
        &self,
        message_id: String,
        session: SessionRow,
        order: SendOrder,
        sender: &Sender,
        files: Vec<Attached>,
        agent: String,
        model: String,
    ) -> Result<Sent, Fault> {
        let now = now_ms();
        let run_id = uuid::Uuid::now_v7().to_string();
        let answer_id = uuid::Uuid::now_v7().to_string();
        let app = sender.by_app.as_ref().map(|by| by.plugin_id.clone());
        let through =
            sender.by_app.as_ref().map(|by| self.open().map(|parts| parts.apps.through(by))).transpose()?;
        let parent = sender.traceparent.as_deref().and_then(trace_ids::incoming);
        let (trace_id, parent_span) = parent.unwrap_or_else(|| (trace_ids::new_trace(), String::new()));
        let run = RunRow {
            id: run_id.clone(),
            kind: if sender.cli { RunKind::Cli } else { RunKind::Chat },
            session_id: session.id.clone(),
            agent_id: agent.clone(),
            root_run_id: run_id.clone(),
            role: Role::Main,
            model_id: model.clone(),
            task: order.text.chars().take(300).collect(),
            state: RunState::Queued,
            trace_id,
            span_id: trace_ids::new_span(),
            parent_span_id: parent_span,
            user_message_id: message_id.clone(),
            options: json!({
                "answerId": answer_id, "app": app, "through": through,
                // An app decides nothing about texts of a project.
                "instructions": order.instructions.filter(|_| sender.by_app.is_none()),
                "effort": order.effort,
            })
            .to_string(),
            created_at: now,
            ..RunRow::default()
        };
        let row = MessageRow {
            id: message_id.clone(),
            session_id: session.id.clone(),
            run_id: run_id.clone(),
            user_message_id: message_id.clone(),
            role: MessageRole::User,
            content: order.text.clone(),
            created_at: now,
            version_of: order.replaces.clone().unwrap_or_default(),
            ..MessageRow::default()
        };
        let title = first_words(&order.text);
        let patch = SessionPatch {
            title: (session.title.is_empty() && !title.is_empty()).then_some(title),
            agent_id: (session.agent_id != agent).then_some(agent),
            model_id: order.model_id.as_ref().filter(|_| order.answer_by.is_none()).map(|_| model),
            ..SessionPatch::default()
        };
        let id = session.id.clone();
        let view = self
            .work(move |store| {
                let mut kept = Vec::with_capacity(files.len());
                for file in files {
                    let kind = if file.is_picture() { "image" } else { "file" };
                    let row = AttachmentRow {
                        id: uuid::Uuid::now_v7().to_string(),
                        kind: kind.to_owned(),
                        name: file.name,
                        mime: file.mime,
                        size: file.bytes.len() as i64,
                        note: file.note,
                        origin: file.origin,
                        ..AttachmentRow::default()
                    };
                    kept.push((row, store.keep_blob(&file.bytes)?, store.keep(&file.text)?));
                }
                let message_id = row.id.clone();
                let message = NewMessage { row, structured: Kept::default(), calls: Vec::new(), files: kept };
                store.enqueue_run(run, None, Some(message))?;
                store.update_session(&id, patch)?;
                let row = store.message(&message_id)?;
                Ok(row.map(|row| message_view(store, row)))
            })
            .await?;
        if let Some(view) = view {
            self.open()?;
            let emitter = self.emitter(&session.id, &run_id);
            emitter.chat(ChatBody::UserMessage(MessageBody { message: Box::new(view) }));
            let text = emitter.redactor.text(&order.text).into_owned();
            emitter.line(RunLine::User(TextLine { message_id: message_id.clone(), text }));
        }
        self.sessions_changed(&session.id, ChatChange::Changed);
        Ok(Sent { run_id, user_message_id: message_id, assistant_message_id: Some(answer_id), queued: true })
    }
}

fn nothing_said() -> Fault {
    Fault::new(ErrorCode::InvalidArgument, Text::fixed("/text: write something", "/text：请输入内容"))
}

pub(super) fn nothing_to_compact() -> Fault {
    Fault::new(ErrorCode::Conflict, Text::fixed("there is nothing to summarize yet", "还没有可以总结的内容"))
        .code("nothing_to_compact")
        .hint(Text::fixed(
            "for more room choose a model with a larger window",
            "如需更大空间，请选择上下文窗口更大的模型",
        ))
}

/// A chat that came from a file has no next message.
fn not_only_read(row: &SessionRow) -> Result<(), Fault> {
    if row.imported_at.is_none() {
        return Ok(());
    }
    Err(Fault::new(
        ErrorCode::Conflict,
        Text::fixed("this chat was imported and is only read", "此会话由文件导入，仅供阅读"),
    )
    .code("chat_read_only")
    .hint(Text::fixed("continue in a copy: fork it at its last message", "请从最后一条消息创建副本并继续")))
}

fn answering() -> Fault {
    Fault::new(ErrorCode::Conflict, Text::fixed("this chat is answering already", "此会话正在回答中"))
        .code("run_active")
        .hint(Text::fixed("wait for the end of the run, or stop it", "请等待运行结束，或将其停止"))
}

fn unfinished() -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::fixed(
            "this chat has an unfinished run or messages that wait",
            "此会话有未完成的运行或排队的消息",
        ),
    )
    .hint(Text::fixed("continue or discard it first", "请先继续或放弃它"))
}

/// The id a message gets: the sender's own, or a new one.
fn message_id(order: &SendOrder) -> Result<String, Fault> {
    let Some(given) = &order.client_message_id else { return Ok(uuid::Uuid::now_v7().to_string()) };
    uuid::Uuid::try_parse(given).map(|id| id.to_string()).map_err(|_| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("/clientMessageId: a UUID is needed", "/clientMessageId：需要 UUID"),
        )
    })
}

/// The files of a message, checked.
fn decode(order: &SendOrder) -> Result<Vec<Attached>, Fault> {
    // A message said again may have had files alone.
    if order.text.trim().is_empty() && order.attachments.is_empty() && order.replaces.is_none() {
        return Err(nothing_said());
    }
    if order.text.len() > TEXT_BYTES {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("/text: at most 1 MiB", "/text：最多 1 MiB"),
        ));
    }
    chatos_documents::attached(&order.attachments)
}
