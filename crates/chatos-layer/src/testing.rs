//! Doubles for the tests of the layer and of the servers on it: a queue in memory that a test answers, and a layer around it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chatos_prompts::response::Status;
use chatos_prompts::{Approval, Effect, Object, Owner, RequestId, Unasked};
use chatos_tool::{Redactor, Text, Trace, Transport};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::context::Caller;
use crate::layer::{CallRequest, Layer, LayerParts};
use crate::log::ToolLog;
use crate::meta::CallMeta;
use crate::observer::{CallEvent, Observer};
use crate::person::{AskRequest, PromptQueue, QueueError, Reach, Verdict, Withdraw};
use crate::settings::{FixedSettings, ToolSettings};
use crate::tool::BoxFuture;

/// A queue whose person is the test.
pub struct TestQueue {
    pub reach: Mutex<Reach>,
    questions: watch::Sender<BTreeMap<String, Entry>>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub request: AskRequest,
    pub verdict: Option<Verdict>,
    pub private: Option<Object>,
    pub withdrawn: Option<Withdraw>,
    pub used: bool,
}

impl TestQueue {
    pub fn new(reach: Reach) -> Arc<Self> {
        Arc::new(Self { reach: Mutex::new(reach), questions: watch::channel(BTreeMap::new()).0 })
    }

    /// Waits until a question is there.
    pub async fn asked(&self) -> (RequestId, Entry) {
        let mut questions = self.questions.subscribe();
        let questions =
            questions.wait_for(|all| all.values().any(|entry| entry.verdict.is_none())).await.unwrap();
        let (id, entry) = questions.iter().find(|(_, entry)| entry.verdict.is_none()).unwrap();
        (RequestId::parse(id).unwrap(), entry.clone())
    }

    /// Waits until a question was withdrawn.
    pub async fn withdrawn(&self) -> Withdraw {
        let mut questions = self.questions.subscribe();
        let all =
            questions.wait_for(|all| all.values().any(|entry| entry.withdrawn.is_some())).await.unwrap();
        all.values().find_map(|entry| entry.withdrawn).unwrap()
    }

    pub fn count(&self) -> usize {
        self.questions.borrow().len()
    }

    /// Answers as a person would; `private` is what the private store holds.
    pub fn reply(&self, id: &RequestId, response: Value, by: &str, private: Option<Value>) {
        let response = response.as_object().unwrap().clone();
        let status = Status::read(response["status"].as_str().unwrap());
        self.questions.send_modify(|all| {
            let entry = all.get_mut(id.as_str()).unwrap();
            entry.private = private.map(|value| value.as_object().unwrap().clone());
            let private = entry.private.is_some();
            entry.verdict.get_or_insert(Verdict { status, response, by: Some(by.to_owned()), private });
        });
    }
}

impl PromptQueue for TestQueue {
    fn reach(&self) -> BoxFuture<'_, Reach> {
        let reach = self.reach.lock().unwrap().clone();
        Box::pin(async move { reach })
    }

    fn ask(&self, request: AskRequest) -> BoxFuture<'_, Result<RequestId, QueueError>> {
        Box::pin(async move {
            let id = RequestId::mint();
            let entry = Entry { request, verdict: None, private: None, withdrawn: None, used: false };
            self.questions.send_modify(|all| drop(all.insert(id.as_str().to_owned(), entry)));
            Ok(id)
        })
    }

    fn wait<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Verdict, QueueError>> {
        Box::pin(async move {
            let mut questions = self.questions.subscribe();
            let answered = |all: &BTreeMap<String, Entry>| {
                all.get(id.as_str()).is_some_and(|entry| entry.verdict.is_some())
            };
            let all = questions.wait_for(answered).await.map_err(|_| QueueError::Unknown)?;
            Ok(all[id.as_str()].verdict.clone().unwrap())
        })
    }

    fn verdict<'a>(&'a self, id: &'a RequestId) -> BoxFuture<'a, Result<Option<Verdict>, QueueError>> {
        let verdict = self.questions.borrow().get(id.as_str()).and_then(|entry| entry.verdict.clone());
        Box::pin(async move { Ok(verdict) })
    }

    fn take<'a>(
        &'a self,
        id: &'a RequestId,
        owner: &'a Owner,
        secrets: bool,
    ) -> BoxFuture<'a, Result<Option<Object>, QueueError>> {
        assert_eq!(owner.as_str(), "host:ui_prompter");
        let mut taken = None;
        self.questions.send_modify(|all| {
            let entry = all.get_mut(id.as_str()).unwrap();
            taken = if secrets { entry.private.take() } else { entry.private.clone() };
            if let (false, Some(Value::Object(values))) =
                (secrets, taken.as_mut().and_then(|all| all.get_mut("values")))
            {
                for field in entry.request.prompt["fields"].as_array().unwrap() {
                    if field["secret"] == true {
                        values.insert(field["key"].as_str().unwrap().to_owned(), json!("******"));
                    }
                }
            }
        });
        Box::pin(async move { Ok(taken) })
    }

    fn withdraw<'a>(
        &'a self,
        id: &'a RequestId,
        _: &'a Owner,
        why: Withdraw,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        self.questions.send_modify(|all| {
            let entry = all.get_mut(id.as_str()).unwrap();
            if entry.verdict.is_none() {
                entry.withdrawn = Some(why);
                let response = json!({"status": "canceled", "code": "aborted"}).as_object().unwrap().clone();
                entry.verdict = Some(Verdict {
                    status: Status::Canceled,
                    response,
                    by: Some("host:abort".into()),
                    private: false,
                });
            }
        });
        Box::pin(async { Ok(()) })
    }

    fn answer<'a>(
        &'a self,
        id: &'a RequestId,
        response: &'a Value,
        _shown: &'a str,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        let known = self.questions.borrow().get(id.as_str()).is_some_and(|entry| entry.verdict.is_some());
        if known {
            return Box::pin(async { Err(QueueError::AlreadyAnswered) });
        }
        self.reply(id, response.clone(), "person:client", None);
        Box::pin(async { Ok(()) })
    }

    fn use_approval<'a>(
        &'a self,
        id: &'a RequestId,
        effect: &'a Effect,
    ) -> BoxFuture<'a, Result<Approval, QueueError>> {
        let mut used = Err(QueueError::Unknown);
        self.questions.send_modify(|all| {
            let Some(entry) = all.get_mut(id.as_str()) else { return };
            used = match (entry.request.effect.as_ref() == Some(effect), entry.used) {
                (false, _) => Err(QueueError::ShownMismatch),
                (true, true) => Err(QueueError::AlreadyUsed),
                (true, false) => Ok(Approval::unasked(Unasked::NotWanted)),
            };
            entry.used |= used.is_ok();
        });
        Box::pin(async move { used })
    }
}

/// Keeps the names of what it hears.
#[derive(Default)]
pub struct Heard(pub Mutex<Vec<String>>);

impl Observer for Heard {
    fn event(&self, event: CallEvent) {
        let name = match event {
            CallEvent::Started { .. } => "started".to_owned(),
            CallEvent::Progress { message, .. } => format!("progress {message}"),
            CallEvent::Waiting { .. } => "waiting".to_owned(),
            CallEvent::Finished { status, .. } => format!("finished {}", status.as_str()),
        };
        self.0.lock().unwrap().push(name);
    }
}

/// A layer with its queue and what was heard.
pub struct Bench {
    pub layer: Arc<Layer>,
    pub queue: Arc<TestQueue>,
    pub heard: Arc<Heard>,
    pub redactor: Arc<Redactor>,
}

pub fn bench(settings: ToolSettings, log: Option<&Path>) -> Bench {
    let queue = TestQueue::new(Reach::Host);
    let heard = Arc::new(Heard::default());
    let redactor = Arc::new(Redactor::new());
    let layer = Layer::new(LayerParts {
        settings: Arc::new(FixedSettings::new(settings)),
        log: log.map(|path| {
            ToolLog::new(path.to_owned(), Box::new(|path, error| panic!("{}: {error}", path.display())))
        }),
        redactor: Arc::clone(&redactor),
        queue: Arc::clone(&queue) as Arc<dyn PromptQueue>,
        observer: Arc::clone(&heard) as Arc<dyn Observer>,
    });
    Bench { layer: Arc::new(layer), queue, heard, redactor }
}

/// A call of a tool with nothing special about it.
pub fn call(tool: &str, arguments: Value) -> CallRequest {
    CallRequest {
        tool: tool.to_owned(),
        arguments: Some(arguments),
        meta: Map::new(),
        transport: Transport::InProcess,
        session: "s".to_owned(),
        access: Arc::new(Access::All),
        caller: Caller::Main,
        root: None,
        cancel: CancellationToken::new(),
        closed: CancellationToken::new(),
        progress: None,
        elicitor: None,
        resume: None,
        asked: None,
        approved: None,
        together: None,
        client: None,
        batch: None,
    }
}

/// The trace of a call that brings none.
pub fn trace() -> Trace {
    CallMeta::read(&Map::new(), "t").trace
}

/// Nobody is reachable.
pub fn nobody() -> Reach {
    Reach::None(Text::fixed("no state directory", "没有状态文件夹"))
}
