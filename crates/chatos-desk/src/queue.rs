//! The queue of a server in its own process: the running host's API, or the store where none runs.
//!
//! A host may come and go while a question waits. Every step looks who is there; a question keeps its
//! id, so asking twice asks once, and its answer is found wherever it was given.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chatos_asking::{
    DeskOwner, DeskQueue, asked_id, question_payload, queue_error, taken_part, verdict, withdraw_code,
};
use chatos_layer::{AskRequest, BoxFuture, PromptQueue, QueueError, Reach, Redactor, Verdict, Withdraw};
use chatos_paths::Announcement;
use chatos_prompts::{Approval, Effect, Object, Owner, RequestId};
use chatos_tool::{ErrorCode, Fault, Lang};
use hyper::Method;
use serde_json::{Value, json};

use crate::line::PATIENCE;
use crate::{Beside, HostApi, encode};

/// How long one waiting call to the host stays open.
const WAIT_MS: u64 = 25_000;
/// Between two looks at a host that just went away or just came.
const PAUSE: Duration = Duration::from_millis(100);

/// Questions of this process, in the queue of its state.
pub struct Queue {
    beside: Arc<Beside>,
    local: DeskQueue<Beside>,
    redactor: Arc<Redactor>,
}

impl Queue {
    /// The queue of the state this process stands beside.
    pub fn new(beside: Arc<Beside>, redactor: Arc<Redactor>) -> Self {
        Self { local: DeskQueue::new(Arc::clone(&beside)), beside, redactor }
    }

    /// The host that runs now. Its token is a secret from here on (tools §9.2).
    async fn host(&self) -> Option<Announcement> {
        let beside = Arc::clone(&self.beside);
        let host = chatos_blocking::run(move || beside.running()).await.ok().flatten()?;
        self.redactor.learn(&host.token);
        Some(host)
    }

    /// Calls the host's API; `None` when no host is there to answer. One that has just started reads its log first.
    async fn remote(&self, method: Method, path: &str, body: Option<&Value>) -> Option<Result<Value, Fault>> {
        let began = tokio::time::Instant::now();
        loop {
            let host = self.host().await?;
            match HostApi::new(host).call(method.clone(), path, body, Lang::En).await {
                Err(fault) if fault.code == "loading" && began.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(fault) if gone(&fault) => return None,
                done => return Some(done),
            }
        }
    }

    /// Knows the question here too; it may have been asked through a host that is no more.
    async fn here(&self, id: &RequestId) -> Result<&DeskQueue<Beside>, QueueError> {
        self.local.adopt(id).await?;
        Ok(&self.local)
    }
}

/// The host died, or is about to stop, or its token is that of an earlier start.
fn gone(fault: &Fault) -> bool {
    fault.code == "host_unreachable"
        || fault.class == ErrorCode::Timeout
        || (fault.class == ErrorCode::Unavailable && fault.code == "unavailable")
        || (fault.class == ErrorCode::PermissionDenied && fault.code != "not_owner")
}

fn path(id: &RequestId, rest: &str) -> String {
    format!("/api/v1/prompts/{}/{rest}", encode(id.as_str()))
}

impl PromptQueue for Queue {
    fn reach(&self) -> BoxFuture<'_, Reach> {
        self.local.reach()
    }

    fn ask(&self, request: AskRequest) -> BoxFuture<'_, Result<RequestId, QueueError>> {
        Box::pin(async move {
            let id = request.id.clone().unwrap_or_else(RequestId::mint);
            // The same store, whoever writes the question.
            self.local.keep_text(&request).await?;
            let by = self.beside.asked_by(request.trace.run_id.as_deref());
            let payload = question_payload(&request, by, Some(&id));
            for _ in 0..3 {
                if let Some(asked) = self.remote(Method::POST, "/api/v1/prompts", Some(&payload)).await {
                    return asked_id(&asked.map_err(|fault| queue_error(&fault))?);
                }
                // The host may have recorded it before it went: then it is known here, and not asked again.
                if self.local.adopt(&id).await.is_ok() {
                    return Ok(id);
                }
                match self.local.ask_as(&request, &id).await {
                    Ok(id) => return Ok(id),
                    // A host that has just started holds the lock.
                    Err(QueueError::Unavailable(why)) if self.host().await.is_none() => {
                        return Err(QueueError::Unavailable(why));
                    }
                    Err(QueueError::Unavailable(_)) => tokio::time::sleep(PAUSE).await,
                    Err(error) => return Err(error),
                }
            }
            Err(QueueError::Unavailable(chatos_tool::Text::fixed(
                "the host comes and goes; the question could not be asked",
                "主机不断启动和停止，无法提问",
            )))
        })
    }

    fn wait<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Verdict, QueueError>> {
        Box::pin(async move {
            let call = format!("{}?timeoutMs={WAIT_MS}", path(id, "wait"));
            loop {
                match self.remote(Method::GET, &call, None).await {
                    Some(Ok(state)) => {
                        if let Some(verdict) = verdict(&state) {
                            return Ok(verdict);
                        }
                        continue;
                    }
                    Some(Err(fault)) if fault.class != ErrorCode::Unavailable => {
                        return Err(queue_error(&fault));
                    }
                    Some(Err(_)) | None => {}
                }
                // Woken by the log, judged by the store: this wait also sees what a later host records.
                match self.here(id).await {
                    Ok(local) => return local.wait(id).await,
                    Err(QueueError::Unavailable(_)) => tokio::time::sleep(PAUSE * 5).await,
                    Err(error) => return Err(error),
                }
            }
        })
    }

    fn verdict<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Option<Verdict>, QueueError>> {
        Box::pin(async move {
            let call = format!("{}?timeoutMs=0", path(id, "wait"));
            match self.remote(Method::GET, &call, None).await {
                Some(state) => Ok(verdict(&state.map_err(|fault| queue_error(&fault))?)),
                None => self.here(id).await?.verdict(id).await,
            }
        })
    }

    fn take<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        secrets: bool,
    ) -> BoxFuture<'a, Result<Option<Object>, QueueError>> {
        Box::pin(async move {
            let body = json!({ "owner": owner.as_str(), "secrets": secrets });
            match self.remote(Method::POST, &path(id, "take"), Some(&body)).await {
                Some(Ok(taken)) => Ok(taken_part(taken)),
                Some(Err(fault)) if fault.code == "nothing_private" => Ok(None),
                Some(Err(fault)) => Err(queue_error(&fault)),
                None => self.here(id).await?.take(id, owner, secrets).await,
            }
        })
    }

    fn withdraw<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        why: Withdraw,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async move {
            let body = json!({ "owner": owner.as_str(), "code": withdraw_code(why) });
            match withdraw_code(why) {
                // The host keeps the clock of what has expired.
                None if self.host().await.is_some() => return Ok(()),
                None => {}
                Some(_) => {
                    if let Some(closed) = self.remote(Method::POST, &path(id, "close"), Some(&body)).await {
                        return closed.map(drop).map_err(|fault| queue_error(&fault));
                    }
                }
            }
            self.here(id).await?.withdraw(id, owner, why).await
        })
    }

    fn answer<'a>(
        &'a self,
        id: &'a RequestId,
        response: &'a Value,
        shown: &'a str,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        Box::pin(async move {
            let body = json!({ "response": response, "shown": shown, "by": "client" });
            match self.remote(Method::POST, &path(id, "response"), Some(&body)).await {
                Some(answered) => answered.map(drop).map_err(|fault| queue_error(&fault)),
                None => self.here(id).await?.answer(id, response, shown).await,
            }
        })
    }
    fn use_approval<'a>(
        &'a self,
        id: &'a RequestId,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<Approval, QueueError>> {
        // One conditional update in the store that the host shares: no way round it, and none over the API.
        self.local.use_approval(id, effect)
    }

    fn may_decide<'a>(&'a self, client: &'a str, root: Option<&'a Path>) -> BoxFuture<'a, bool> {
        let (beside, client, root) = (Arc::clone(&self.beside), client.to_owned(), root.map(Path::to_owned));
        Box::pin(async move {
            let asked = chatos_blocking::run(move || beside.may_decide(&client, root.as_deref()));
            // What is not known is not allowed.
            asked.await.unwrap_or(false)
        })
    }
}
