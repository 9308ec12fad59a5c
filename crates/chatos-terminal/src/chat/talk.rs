//! One chat behind a terminal: who is spoken to, sending, hearing, stopping.

use std::path::PathBuf;

use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::command::{Filled, MentionList, MentionedFiles};
use chatos_wire::run::RunView;
use chatos_wire::session::{Attachment, EventBatch, Sent, SessionView};
use hyper::Method;
use serde_json::{Value, json};

use super::files::File;
use crate::args::{Chat, Instructions};
use crate::client::Api;
use crate::names::Names;
use crate::output::{Output, Paint, visible, width};
use crate::prompts::Desk;
use chatos_desk::encode;

/// Columns of a folder in the status line.
const FOLDER: usize = 32;

/// Messages among which the one that was just sent is.
const NEWEST: usize = 20;

/// How long one look for events stays open.
const WAIT_MS: u32 = 20_000;

/// What becomes of a message while a run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// It waits its turn.
    Queue,
    /// It corrects the run.
    Steer,
}

pub(super) struct Talk<'a> {
    pub(super) desk: &'a Desk,
    pub(super) output: &'a Output,
    /// Where the person is.
    pub(super) here: PathBuf,
    pub(super) id: String,
    /// Files that go with the next message.
    pub(super) files: Vec<File>,
    /// The chat was made here, and perhaps nothing was said in it.
    made: bool,
    /// The model that answers the next message, where a command names one.
    answer_by: Option<String>,
    /// How full the model's window is, in hundredths, since the last answer.
    pub(super) context: Option<u64>,
    /// Where chats work that name no folder.
    project: String,
    /// What every message says about texts of the project; nothing where nobody can be asked.
    pub(super) instructions: Option<&'static str>,
    api: &'a Api,
    since: u64,
}

impl<'a> Talk<'a> {
    /// The chat the options name, or a new one.
    pub(super) async fn begin(
        desk: &'a Desk,
        output: &'a Output,
        options: &Chat,
        here: PathBuf,
    ) -> Result<Self, Fault> {
        let api =
            desk.api().ok_or_else(|| Fault::new(ErrorCode::Internal, Text::same("the chat has no host")))?;
        let names = Names::new(api, output.lang);
        let mut order = json!({});
        if let Some(written) = &options.agent {
            order["agentId"] = json!(names.agent(written).await?);
        }
        if let Some(written) = &options.model {
            order["modelId"] = json!(names.model(written).await?);
        }
        let status = api.get_json("/api/v1/status", output.lang).await?;
        let project = status["projectRoot"].as_str().unwrap_or_default().to_owned();
        let mut talk = Self {
            desk,
            output,
            here,
            id: String::new(),
            files: Vec::new(),
            made: false,
            answer_by: None,
            context: None,
            project,
            instructions: options.instructions.map(Instructions::as_str),
            api,
            since: 0,
        };
        match &options.session {
            Some(written) => {
                let id = names.chat(written).await?;
                talk.open(id).await?;
                if order.as_object().is_some_and(|order| !order.is_empty()) {
                    talk.change(&order).await?;
                }
            }
            None => talk.make(&order).await?,
        }
        Ok(talk)
    }

    pub(super) fn api(&self) -> &'a Api {
        self.api
    }

    pub(super) fn lang(&self) -> Lang {
        self.output.lang
    }

    pub(super) fn names(&self) -> Names<'a> {
        Names::new(self.api, self.lang())
    }

    pub(super) fn path(&self, rest: &str) -> String {
        format!("/api/v1/sessions/{}{rest}", encode(&self.id))
    }

    /// Makes a chat and goes there.
    pub(super) async fn make(&mut self, order: &Value) -> Result<(), Fault> {
        let path = "/api/v1/sessions";
        let made = self.api.ask::<SessionView>(Method::POST, path, Some(order), self.lang()).await?;
        self.open(made.body.id).await?;
        self.made = true;
        Ok(())
    }

    /// Leaves the chat; one that was made here and in which nothing was said is not kept.
    pub(super) async fn leave(&mut self) {
        if !std::mem::take(&mut self.made) {
            return;
        }
        let empty = self.session().await.is_ok_and(|chat| chat.last_message_at.is_none());
        if empty && let Err(fault) = self.api.call(Method::DELETE, &self.path(""), None, self.lang()).await {
            self.output.fault(&fault);
        }
    }

    /// Goes to a chat; what happens there from now on is heard.
    pub(super) async fn open(&mut self, id: String) -> Result<(), Fault> {
        self.leave().await;
        (self.id, self.since, self.context) = (id, 0, None);
        let batch = self.events_within(0).await?;
        self.since = batch.next;
        Ok(())
    }

    pub(super) async fn session(&self) -> Result<SessionView, Fault> {
        Ok(self.api.get::<SessionView>(&self.path(""), self.lang()).await?.body)
    }

    pub(super) async fn change(&self, order: &Value) -> Result<(), Fault> {
        self.api.call(Method::PATCH, &self.path(""), Some(order), self.lang()).await.map(drop)
    }

    /// Sends a message with the files that wait for it.
    pub(super) async fn send(&mut self, text: &str, how: How) -> Result<Sent, Fault> {
        let files: Vec<Value> = self.files.iter().map(File::to_json).collect();
        let mode = if how == How::Steer { "steer" } else { "queue" };
        self.send_as(json!({ "text": text, "attachments": files, "mode": mode })).await
    }

    /// Says something else in the place of a message of the person.
    pub(super) async fn say_instead(&mut self, message: &str, text: &str) -> Result<Sent, Fault> {
        let files: Vec<Value> = self.files.iter().map(File::to_json).collect();
        self.send_as(json!({ "text": text, "attachments": files, "mode": "queue", "replaces": message }))
            .await
    }

    async fn send_as(&mut self, mut body: Value) -> Result<Sent, Fault> {
        if let Some(word) = self.instructions {
            body["instructions"] = json!(word);
        }
        if let Some(model) = self.answer_by.take() {
            body["answerBy"] = json!(model);
        }
        // Reading a document may take its time.
        let sent = self.api.call_patiently(Method::POST, &self.path("/send"), Some(&body), self.lang()).await;
        let sent = match sent {
            Err(fault) if fault.code == "extract_failed" => return Err(self.names_next(fault)),
            sent => crate::client::typed::<Sent>(sent?)?,
        };
        let documents = self.files.iter().any(File::is_document);
        self.files.clear();
        if documents {
            self.say_notes(&sent.body.user_message_id).await;
        }
        Ok(sent.body)
    }

    /// Says what a person should know about the documents of a message. It is sent already, so that nothing that
    /// goes wrong here is a failure of sending it.
    async fn say_notes(&self, message: &str) {
        let newest = crate::chats::messages(self.api(), self.output, &self.id, Some(NEWEST)).await;
        let newest = newest.unwrap_or_default().into_iter().find(|one| one.id == message);
        for file in newest.into_iter().flat_map(|message| message.attachments) {
            if let Some(note) = file.note.and_then(super::files::noted) {
                self.output
                    .aside(Paint::Warn, &format!("{}: {}", visible(&file.name), note.get(self.lang())));
            }
        }
    }

    /// A document cannot be read: a person who sends the message again sends its name alone.
    fn names_next(&mut self, fault: Fault) -> Fault {
        let unread = fault.details.as_ref().and_then(|details| details["file"].as_str()).unwrap_or_default();
        for file in self.files.iter_mut().filter(|file| file.name == unread) {
            file.name_only = true;
        }
        fault.hint(Text::fixed(
            "send the message again to send only its name (without a conversation: --names-only)",
            "再次发送消息即可只发送文件名（非对话模式请加 --names-only）",
        ))
    }

    /// The text that a typed command becomes; what a person should know about it is said, and the files it names
    /// wait for the message.
    pub(super) async fn filled(&mut self, typed: &str) -> Result<String, Fault> {
        let body = json!({ "session": self.id, "text": typed });
        let path = "/api/v1/commands/fill";
        let filled = self.api.call_patiently(Method::POST, path, Some(&body), self.lang()).await?;
        let filled = crate::client::typed::<Filled>(filled)?.body;
        for notice in &filled.notices {
            self.output.aside(Paint::Warn, &visible(notice));
        }
        self.hold(filled.files);
        self.take_files(&filled.mentions).await?;
        self.answer_by = filled.answer_by;
        Ok(filled.text)
    }

    /// The files and resources that a text names with `@` wait for the message; what is no file is just text.
    pub(super) async fn mention(&mut self, text: &str) -> Result<(), Fault> {
        let paths = chatos_commands::mentioned(text);
        self.take_files(&paths).await
    }

    /// Files and resources that match what is typed behind an `@`, the best first.
    pub(super) async fn mentions_like(&self, typed: &str) -> Vec<String> {
        let path = format!("/api/v1/mentions?session={}&q={}&waitMs=2000", encode(&self.id), encode(typed));
        let found = self.api.get::<MentionList>(&path, self.lang()).await;
        let items = found.map(|found| found.body.items).unwrap_or_default();
        items.into_iter().map(|item| visible(&item.path)).collect()
    }

    async fn take_files(&mut self, paths: &[String]) -> Result<(), Fault> {
        if paths.is_empty() {
            return Ok(());
        }
        let body = json!({ "session": self.id, "paths": paths });
        let path = "/api/v1/mentions/read";
        let read = self.api.call_patiently(Method::POST, path, Some(&body), self.lang()).await?;
        let read = crate::client::typed::<MentionedFiles>(read)?.body;
        self.hold(read.files);
        Ok(())
    }

    /// Files that wait for the next message.
    fn hold(&mut self, files: Vec<Attachment>) {
        for file in files {
            let bytes = file.data.as_deref().and_then(chatos_host::decode_base64).unwrap_or_default();
            let name = visible(&file.name);
            let note = Text::new(format!("Goes along: {name}"), format!("一并发送：{name}"));
            self.output.aside(Paint::Dim, note.get(self.lang()));
            self.files.push(File::new(&file.name, bytes, file.origin));
        }
    }

    /// Asks for the last answer again.
    pub(super) async fn retry(&self) -> Result<Sent, Fault> {
        let path = self.path("/retry");
        let sent = self.api.ask::<Sent>(Method::POST, &path, Some(&json!({})), self.lang()).await?;
        Ok(sent.body)
    }

    /// Stops what is under way.
    pub(super) async fn stop(&self) -> Result<(), Fault> {
        self.api.call(Method::POST, &self.path("/abort"), Some(&json!({})), self.lang()).await.map(drop)
    }

    /// What happened since the last look, waiting for the first event.
    pub(super) async fn events(&mut self) -> Result<EventBatch, Fault> {
        let batch = self.events_within(WAIT_MS).await?;
        self.since = batch.next;
        Ok(batch)
    }

    async fn events_within(&self, wait_ms: u32) -> Result<EventBatch, Fault> {
        let path = self.path(&format!("/events?since={}&waitMs={wait_ms}", self.since));
        let batch = self.api.call_patiently(Method::GET, &path, None, self.lang()).await?;
        Ok(crate::client::typed::<EventBatch>(batch)?.body)
    }

    pub(super) async fn is_over(&self, run: &str) -> Result<bool, Fault> {
        let path = format!("/api/v1/runs/{}", encode(run));
        Ok(self.api.get::<RunView>(&path, self.lang()).await?.state.is_over())
    }

    /// Where a chat works.
    pub(super) fn folder(&self, session: &SessionView, agent: &Value) -> String {
        let own = agent["workspaceRoot"].as_str().unwrap_or_default();
        let known = [session.workspace_root.as_str(), own, &self.project];
        known.into_iter().find(|folder| !folder.is_empty()).unwrap_or_default().to_owned()
    }

    /// The model that answers here: the chat's, the agent's or the default one.
    pub(super) async fn model(&self, session: &SessionView, agent: &Value) -> Result<Option<Value>, Fault> {
        let models = self.names().items("/api/v1/models").await?;
        let wanted = session.model_id.as_deref().or(agent["modelId"].as_str());
        Ok(models.into_iter().find(|model| match wanted {
            Some(id) => model["id"] == id || model["name"] == id,
            None => model["isDefault"] == true,
        }))
    }

    pub(super) async fn agent(&self, session: &SessionView) -> Result<Value, Fault> {
        self.api.get_json(&format!("/api/v1/agents/{}", encode(&session.agent_id)), self.lang()).await
    }

    /// `agent · model · folder · ctx 41% · $0.12`.
    pub(super) async fn status(&self) -> Result<String, Fault> {
        let session = self.session().await?;
        let agent = self.agent(&session).await?;
        let model = self.model(&session, &agent).await?;
        let of = |value: &Value| visible(value["name"].as_str().unwrap_or_default());
        let mut parts = vec![of(&agent)];
        parts.extend(model.as_ref().map(of));
        parts.push(short(&visible(&self.folder(&session, &agent))));
        parts.extend(self.context.map(|share| format!("ctx {share}%")));
        for used in session.usage.iter().flatten() {
            if let (Some(cost), Some(currency)) = (used.cost.filter(|cost| *cost > 0.0), &used.currency) {
                parts.push(if currency == "USD" {
                    format!("${cost:.2}")
                } else {
                    format!("{cost:.2} {currency}")
                });
            }
        }
        parts.retain(|part| !part.is_empty());
        Ok(parts.join(" · "))
    }
}

/// The end of a path that is too long for a line with other things on it.
fn short(path: &str) -> String {
    if width(path) <= FOLDER {
        return path.to_owned();
    }
    let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path);
    format!("…/{name}")
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    Done,
    Stopped,
    Failed(Box<Fault>),
}

/// The run an event ends, and how.
pub(super) fn end_of(event: &Value) -> Option<(&str, End)> {
    let end = match event["type"].as_str()? {
        "assistant_done" => End::Done,
        "assistant_aborted" => End::Stopped,
        "assistant_error" => End::Failed(Box::new(failed(event))),
        _ => return None,
    };
    Some((event["runId"].as_str()?, end))
}

fn failed(event: &Value) -> Fault {
    let message = event["message"].as_str().unwrap_or_default().to_owned();
    let class = match event["code"].as_str().unwrap_or_default() {
        "auth" | "permission" => ErrorCode::PermissionDenied,
        "not_found" | "config" => ErrorCode::NotFound,
        "rate_limited" | "quota" => ErrorCode::RateLimited,
        _ => ErrorCode::Unavailable,
    };
    Fault::new(class, Text::same(message)).hint(Text::fixed(
        "`chatos models test` tries the model alone",
        "`chatos models test` 可单独测试模型",
    ))
}
