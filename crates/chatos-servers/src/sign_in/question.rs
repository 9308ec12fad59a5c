//! A sign-in that an agent's work needs, as questions in the queue (ui-prompts §1): whether to sign in, one
//! per server however many calls need it, and then at which address (ui-prompts §10.2, §11). Nothing is
//! fetched before the first answer and nothing is opened before the second. Both outlive the host.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard, PoisonError};

use chatos_inbox::{Question, ServerVoice, Verdict, page_question};
use chatos_prompts::{Item, Owner, Prompts, Query, RequestId, Scope, View};
use chatos_tool::{Fault, Lang, Text, Trace, in_both};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{RETURN_PATH, asked, blocking};
use crate::catalogue::ServerRecord;
use crate::parts::ServersParts;
use crate::servers::{Inner, Servers};

/// What problems and refusals say of a server that wants a person to sign in.
pub const SIGN_IN: &str = "sign_in_needed";
/// How the ids of these questions begin.
pub const PREFIX: &str = "sign-in-";
/// The answer that begins a sign-in.
const YES: &str = "sign_in";

/// Which question it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Whether,
    Where,
}

impl Step {
    fn number(self) -> u8 {
        match self {
            Self::Whether => 1,
            Self::Where => 2,
        }
    }
}

/// How the ids of a server's questions begin; an id says nothing about the server.
fn mark(identity: &str) -> String {
    let digest = Sha256::digest(identity.as_bytes());
    let name: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{PREFIX}{name}-")
}

fn new_id(identity: &str, step: Step) -> String {
    format!("{}{}-{}", mark(identity), step.number(), uuid::Uuid::now_v7())
}

/// Everything pending that fits. Blocks.
pub fn pending(prompts: &Prompts, until: Option<i64>, fits: impl Fn(&Item) -> bool) -> Vec<Item> {
    let mut found = Vec::new();
    let mut query = Query { view: View::NeedsYou, until, limit: 200, ..Query::default() };
    loop {
        let page = match prompts.list(&query) {
            Ok(page) => page,
            Err(error) => {
                tracing::warn!(%error, "open questions cannot be listed");
                return found;
            }
        };
        found.extend(page.items.into_iter().filter(|item| fits(item)));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => return found,
        }
    }
}

/// Most questions about sign-ins that are looked at when a host starts; the newest.
const MOST_LEFT: usize = 200;

/// Questions that wait for an answer or whose answer nobody has seen to. Blocks.
fn unattended(prompts: &Prompts, started_at: i64) -> Vec<Item> {
    let ids = prompts.find_prefix(PREFIX, MOST_LEFT);
    let items: Vec<Item> = ids.iter().filter_map(|id| prompts.get(id)).collect();
    let followed: HashSet<String> = items
        .iter()
        .filter(|item| item.prompt.get("url").is_some())
        .filter_map(|item| item.prompt.get("chain")?.get("id")?.as_str().map(str::to_owned))
        .collect();
    let left = |item: &Item| item.needs_you() || is_left(item, &followed, started_at);
    items.into_iter().filter(left).collect()
}

/// Whether an answer came that no process has acted on: while this host started, or, for a yes, shortly
/// before.
fn is_left(item: &Item, followed: &HashSet<String>, started_at: i64) -> bool {
    let Some(answer) = item.answer.as_ref().filter(|answer| answer.verified) else { return false };
    if answer.at >= started_at {
        return !followed.contains(item.request_id.as_str());
    }
    item.prompt.get("url").is_none()
        && answer.response.get("selection").and_then(Value::as_str) == Some(YES)
        && answer.at >= started_at - super::PATIENCE_MS
        && !followed.contains(item.request_id.as_str())
}

fn is_of(item: &Item, identity: &str) -> bool {
    item.request_id.as_str().starts_with(&mark(identity)) && item.owner == Some(Owner::mcp(identity))
}

impl Servers {
    /// Browsers reach this host here; where a sign-in that is begun in the queue comes back to.
    pub fn reached_at(&self, address: String) {
        self.inner().address.get_or_init(|| address);
    }

    /// An agent needs a server, by its name or identity, that wants a person to sign in. The person finds
    /// it in the queue; the agent does not wait for it.
    pub fn ask_to_sign_in(&self, server: &str) {
        let (inner, server) = (Arc::clone(self.inner()), server.to_owned());
        tokio::spawn(async move {
            if let Err(fault) = inner.ask_once(&server).await {
                tracing::warn!(%fault, server, "a sign-in is needed and cannot be asked for");
            }
        });
    }

    /// Goes on with questions that an earlier process asked, also with those that were answered before
    /// anybody here could see to it.
    pub async fn pick_up_sign_ins(&self) -> Result<(), Fault> {
        let inner = self.inner();
        let catalogue = inner.catalogue().await?;
        let parts = inner.parts();
        let open = blocking(move || {
            let desk = parts.inbox.questions()?;
            Ok::<_, Fault>(unattended(desk.prompts(), parts.started_at))
        });
        for item in open.await?? {
            let known = catalogue.servers.iter().find(|known| is_of(&item, known.identity().as_str()));
            match known.filter(|known| known.sign_in.is_some() && known.enabled) {
                Some(known) => {
                    let second = item.prompt.get("url").is_some();
                    let step = if second { Step::Where } else { Step::Whether };
                    inner.attend(Arc::clone(known), item.request_id.to_string(), step);
                }
                None if item.needs_you() => {
                    let id = item.request_id;
                    inner.close_questions(move |candidate| candidate.request_id == id).await;
                }
                None => {}
            }
        }
        Ok(())
    }
}

impl Inner {
    fn declined(&self) -> MutexGuard<'_, HashSet<String>> {
        self.declined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attended(&self) -> MutexGuard<'_, HashSet<String>> {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask_once(self: &Arc<Self>, server: &str) -> Result<(), Fault> {
        let parts = self.parts();
        let known = Arc::clone(self.catalogue().await?.wanted(server)?);
        // Whoever runs a single command reads it there; with a host there is somebody to find it later.
        if !parts.serving || known.sign_in.is_none() {
            return Ok(());
        }
        let identity = known.identity().as_str().to_owned();
        let _one = self.asking.lock().await;
        // A no counts until somebody signs in, or the host starts again.
        if self.declined().contains(&identity) {
            return Ok(());
        }
        let (looking, wanted) = (Arc::clone(&parts), identity.clone());
        let is_open = blocking(move || {
            let desk = looking.inbox.questions()?;
            Ok::<_, Fault>(!pending(desk.prompts(), None, |item| is_of(item, &wanted)).is_empty())
        });
        if is_open.await?? {
            return Ok(());
        }
        let wanted = known.key().and_then(|key| self.pool.status(key)).as_ref().and_then(asked);
        let scopes = wanted.map(|challenge| challenge.scopes()).unwrap_or_default();
        let asker = asker(&parts, &known);
        let mut question =
            asker.question(in_both(parts.lang(), |lang| whether(known.name(), &scopes, lang)), None);
        let id = new_id(&identity, Step::Whether);
        question.prompt["chain"] = chain(&id, Step::Whether);
        (question.id, question.kept) = (Some(id), true);
        self.put(&parts, known, question, Step::Whether).await
    }

    /// Asks and sees to the answer.
    async fn put(
        self: &Arc<Self>,
        parts: &Arc<ServersParts>,
        known: Arc<ServerRecord>,
        question: Question,
        step: Step,
    ) -> Result<(), Fault> {
        let id = parts.inbox.ask(question).await?;
        self.attend(known, id, step);
        Ok(())
    }

    /// Sees to the answer; once, whoever asks for it.
    fn attend(self: &Arc<Self>, known: Arc<ServerRecord>, id: String, step: Step) {
        let inner = Arc::clone(self);
        if !inner.attended().insert(id.clone()) {
            return;
        }
        tokio::spawn(async move {
            let parts = inner.parts();
            let owner = Owner::mcp(known.identity().as_str());
            let verdict = parts.inbox.verdict(&id, &owner).await;
            let done = match (verdict, step) {
                (Ok(verdict), Step::Whether) => inner.decided(&parts, known, &id, &verdict).await,
                (Ok(verdict), Step::Where) => {
                    inner.sent_off(&known, &verdict).await;
                    Ok(())
                }
                // The host stops; the next one goes on with it.
                (Err(fault), _) => Err(fault),
            };
            if let Err(fault) = done {
                tracing::debug!(%fault, "a question about a sign-in goes no further");
            }
            inner.attended().remove(&id);
        });
    }

    /// The person said whether.
    async fn decided(
        self: &Arc<Self>,
        parts: &Arc<ServersParts>,
        known: Arc<ServerRecord>,
        first: &str,
        verdict: &Verdict,
    ) -> Result<(), Fault> {
        if !chose(verdict, YES) {
            self.note_no(&known, verdict);
            return Ok(());
        }
        let lang = parts.lang();
        let asker = asker(parts, &known);
        let Some(address) = self.address.get() else { return Ok(()) };
        let redirect = format!("{}{RETURN_PATH}", address.trim_end_matches('/'));
        let begun = Servers::of(self).begin_sign_in(&known.id, &redirect, None).await;
        let question = begun.and_then(|start| {
            let say = Text::new(
                format!("Sign in to `{}` on this page. ChatOS learns of it by itself.", plain(known.name())),
                format!("请在此网页登录 `{}`。ChatOS 会自动得知结果。", plain(known.name())),
            );
            let mut question =
                page_question(&asker, say.get(lang), &start.url).map_err(|reason| unusable(&reason))?;
            question.id = Some(new_id(known.identity().as_str(), Step::Where));
            question.kept = true;
            // The state of the sign-in is good for that long.
            question.prompt["timeoutMs"] = json!(super::PATIENCE_MS);
            question.prompt["chain"] = chain(first, Step::Where);
            Ok(question)
        });
        match question {
            Ok(question) => self.put(parts, known, question, Step::Where).await,
            Err(fault) => {
                let mut answer = asker.question(failed(known.name(), &fault, lang), None);
                answer.owner = Owner::host_run();
                parts.inbox.ask(answer).await.map(drop)
            }
        }
    }

    /// The person went to the page, or not.
    async fn sent_off(self: &Arc<Self>, known: &ServerRecord, verdict: &Verdict) {
        if chose(verdict, "open") {
            return;
        }
        if self.note_no(known, verdict)
            && let Some(kept) = known.sign_in.clone()
            && let Ok(Err(reason)) = blocking(move || kept.abandon()).await
        {
            tracing::warn!(reason, "a sign-in that nobody wants cannot be dropped");
        }
    }

    /// A person's no is remembered; a question that the host closed says nothing.
    fn note_no(&self, known: &ServerRecord, verdict: &Verdict) -> bool {
        let by_host = verdict.response.get("code").and_then(Value::as_str);
        let is_no = matches!(verdict.status.as_str(), "ok" | "canceled") && by_host.is_none();
        if is_no {
            self.declined().insert(known.identity().as_str().to_owned());
        }
        is_no
    }

    /// Nobody has to answer any more: somebody signed in, or the server is gone or needs no sign-in.
    pub(crate) async fn answered_otherwise(&self, identity: &str) {
        self.declined().remove(identity);
        let identity = identity.to_owned();
        self.close_questions(move |item| is_of(item, &identity)).await;
    }

    async fn close_questions(&self, fits: impl Fn(&Item) -> bool + Send + 'static) {
        let parts = self.parts();
        let closed = blocking(move || {
            let desk = parts.inbox.questions()?;
            for item in pending(desk.prompts(), None, fits) {
                let id: &RequestId = &item.request_id;
                desk.prompts().abort(Scope::Request(id));
            }
            Ok::<(), Fault>(())
        });
        match closed.await {
            Ok(Ok(())) => {}
            Ok(Err(fault)) | Err(fault) => tracing::warn!(%fault, "a question about a sign-in stays open"),
        }
    }
}

fn asker(parts: &ServersParts, known: &ServerRecord) -> ServerVoice {
    let identity = known.identity().as_str().to_owned();
    // Of no run: it is answered when the person has time, also after the run.
    ServerVoice { identity, server: known.name().to_owned(), trace: Trace::default(), lang: parts.lang() }
}

fn chose(verdict: &Verdict, wanted: &str) -> bool {
    verdict.status == "ok" && verdict.response.get("selection").and_then(Value::as_str) == Some(wanted)
}

/// Named after its first question.
fn chain(first: &str, step: Step) -> Value {
    json!({ "id": first, "step": step.number(), "of": 2 })
}

/// Good between backticks.
fn plain(text: &str) -> String {
    text.chars().filter(|c| *c != '`' && !c.is_control()).take(120).collect()
}

fn whether(server: &str, scopes: &[String], lang: Lang) -> Value {
    let name = plain(server);
    let rights: Vec<String> = scopes.iter().take(20).map(|scope| format!("`{}`", plain(scope))).collect();
    let rights = rights.join(", ");
    let (title, mut text, asks, yes, no) = match lang {
        Lang::En => (
            format!("{name} wants you to sign in"),
            format!("An agent needs the server `{name}`, which wants you to sign in on its website."),
            format!("It asks for: {rights}"),
            "Sign in…",
            "Not now",
        ),
        Lang::Zh => (
            format!("{name} 需要你登录"),
            format!("智能体需要使用服务器 `{name}`，它要求你在其网站登录。"),
            format!("请求的权限：{rights}"),
            "登录…",
            "暂不",
        ),
    };
    if !rights.is_empty() {
        text = format!("{text}\n\n{asks}");
    }
    json!({
        "kind": "choice", "title": title, "message": text,
        "options": [{ "value": YES, "label": yes }, { "value": "not_now", "label": no }],
    })
}

fn failed(server: &str, fault: &Fault, lang: Lang) -> Value {
    let name = plain(server);
    let title = match lang {
        Lang::En => format!("The sign-in to {name} cannot begin"),
        Lang::Zh => format!("无法开始登录 {name}"),
    };
    let mut text = fault.message.get(lang).to_owned();
    if let Some(hint) = &fault.hint {
        text = format!("{text}\n\n{}", hint.get(lang));
    }
    json!({ "kind": "result", "title": title, "markdown": text, "isError": true })
}

fn unusable(reason: &str) -> Fault {
    Fault::new(
        chatos_tool::ErrorCode::Unavailable,
        Text::new(
            format!("the page of the sign-in cannot be opened: {reason}"),
            format!("无法打开登录网页：{reason}"),
        ),
    )
    .code("sign_in_failed")
}
