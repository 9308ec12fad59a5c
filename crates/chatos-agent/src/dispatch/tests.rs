//! The dispatcher with a host that only writes down what it is asked for.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chatos_inbox::{Question, Verdict};
use chatos_mcp::{Later, NoHooks, Pool, PoolOptions};
use chatos_prompts::effect::Difference;
use chatos_prompts::{Approval, Effect, Owner, Prompts, Ruling, Unasked};
use chatos_tool::{Answer, Envelope, LogLevel, LogRules, Redactor, Stamp, TextLimits, Trace};
use serde_json::json;

use super::*;
use chatos_servers::{AppPlace, OfferedTool, ServerOffer, Word};

/// A host without anything behind it.
struct Recorder {
    pool: Pool,
    work: Duration,
    built_in: Mutex<Vec<BuiltInCall>>,
    asked: Mutex<Vec<Question>>,
    approved: bool,
    /// What the server and its tool are, look by look; the last one stays.
    standings: Mutex<Vec<Standing>>,
}

impl Recorder {
    fn new(work: Duration) -> Arc<Self> {
        Arc::new(Self {
            pool: Pool::new(PoolOptions::new(Arc::new(NoHooks))),
            work,
            built_in: Mutex::default(),
            asked: Mutex::default(),
            approved: true,
            standings: Mutex::new(vec![Standing::default()]),
        })
    }

    /// Where every call is asked, and the tool or its server may change under the answer.
    fn asking(standings: Vec<Standing>) -> Arc<Self> {
        let mut made = Self::new(Duration::ZERO);
        if let Some(recorder) = Arc::get_mut(&mut made) {
            (recorder.approved, recorder.standings) = (false, Mutex::new(standings));
        }
        made
    }
}

fn none<T: Send + 'static>(value: T) -> Later<T> {
    Box::pin(async move { value })
}

fn refused() -> Fault {
    Fault::new(chatos_tool::ErrorCode::Unavailable, Text::same("not here"))
}

impl Ports for Recorder {
    fn read_result(
        &self,
        _: chatos_tool::Trace,
        arguments: Map<String, Value>,
    ) -> Later<Result<(String, Value), chatos_tool::ToolError>> {
        Box::pin(async move { Ok((format!("read {}", arguments["id"]), Value::Null)) })
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn settings(&self) -> CallSettings {
        CallSettings {
            soft_deadline: Duration::from_millis(50),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(60),
            text: TextLimits { result_chars: 10_000, line_chars: 2_000 },
            log: LogRules { level: LogLevel::Off, ..LogRules::default() },
            confirm_timeout: None,
            state_dir: "/state".into(),
            session_root: "/home".into(),
        }
    }

    fn redactor(&self) -> Arc<Redactor> {
        Arc::default()
    }

    fn built_in(&self, call: BuiltInCall, _: Approval) -> Later<Result<Envelope, Fault>> {
        let stamp = Stamp {
            server: call.server.clone(),
            tool: call.tool.clone(),
            trace: serde_json::from_value(json!({})).unwrap(),
            elapsed_ms: u64::try_from(self.work.as_millis()).unwrap(),
            ts: String::new(),
        };
        let error = ToolError::new(Reason::Canceled { by: CanceledBy::Person }, Text::same("no"));
        let error = if self.work.is_zero() { error } else { ToolError::timeout(1, chatos_tool::Phase::Run) };
        let envelope = Envelope::seal(Answer::failed(error), stamp, self.settings().text, Lang::En);
        self.built_in.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        let work = self.work;
        Box::pin(async move {
            tokio::time::sleep(work).await;
            Ok(envelope)
        })
    }

    fn prompts(&self) -> Later<Result<Prompts, Fault>> {
        none(Err(refused()))
    }

    fn ask(&self, question: Question) -> Later<Result<String, Fault>> {
        let id = question.id.clone().unwrap_or_else(|| "q".to_owned());
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(question);
        none(Ok(id))
    }

    fn verdict(&self, _: String, _: Owner) -> Later<Result<Verdict, Fault>> {
        let response = json!({ "status": "ok", "selection": "once" });
        let response = response.as_object().cloned().unwrap_or_default();
        none(Ok(Verdict { status: "ok".to_owned(), response }))
    }

    fn once_more(&self, _: String, _: Effect) -> Later<Option<Approval>> {
        none(None)
    }

    fn changed_since(&self, _: String, _: Effect) -> Later<Option<Difference>> {
        none(None)
    }

    fn use_approval(&self, request_id: String, effect: Effect) -> Later<Result<Approval, Fault>> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let same = asked.iter().any(|question| {
            question.id.as_ref() == Some(&request_id) && question.effect.as_ref() == Some(&effect)
        });
        none(if same {
            Ok(Approval::unasked(Unasked::NotWanted))
        } else {
            Err(refused().code("shown_mismatch"))
        })
    }

    fn standing(&self, _: ServerIdentity, _: String) -> Later<Result<Standing, Fault>> {
        let mut standings = self.standings.lock().unwrap_or_else(PoisonError::into_inner);
        let now = if standings.len() > 1 { standings.remove(0) } else { standings[0].clone() };
        none(Ok(now))
    }

    fn withdraw(&self, _: String, _: Owner, _: &'static str) -> Later<()> {
        none(())
    }

    fn log(&self, _: String) {}

    fn event(&self, _: ToolEvent<'_>) {}

    fn keep_task(&self, _: TaskRow) -> Later<Result<(), Fault>> {
        none(Ok(()))
    }

    fn task_time(&self, _: String) -> Later<Option<TaskTime>> {
        none(None)
    }

    fn end_task(&self, _: String, _: &'static str) -> Later<()> {
        none(())
    }

    fn keep_ask(&self, _: OpenAsk) -> Later<Result<(), Fault>> {
        none(Ok(()))
    }

    fn end_ask(&self, _: String) -> Later<()> {
        none(())
    }

    fn sample(&self, _: Asker, _: Value, _: CancellationToken) -> Later<Result<Value, String>> {
        none(Err("no".to_owned()))
    }

    fn approved(&self, run_id: String, identity: ServerIdentity, tool: String) -> Later<bool> {
        none(
            self.approved
                && (run_id.as_str(), identity.as_str(), tool.as_str()) == ("run_7", "admin:3", "read"),
        )
    }

    fn rule_on(&self, _: Effect, _: Trace) -> Later<Ruling> {
        none(Ruling::Ask)
    }

    fn keep_approval(&self, _: String, _: ServerIdentity, _: String) -> Later<Result<(), Fault>> {
        none(Ok(()))
    }

    fn hold_app(&self, _: &AppPlace, _: &str) -> Option<Box<dyn std::any::Any + Send + Sync>> {
        None
    }

    fn open_ask(&self, _: String) -> Later<Option<OpenAsk>> {
        none(None)
    }

    fn begin(&self, _: CallContext) {}

    fn end(&self, _: &str) {}

    fn audit(&self, _: &'static str, _: Value) {}
}

fn set() -> Toolset {
    let route = ServerRoute {
        identity: ServerIdentity::admin("3"),
        name: "project_files".to_owned(),
        normalized: "project_files".to_owned(),
        road: Road::BuiltIn,
        transport: Transport::InProcess,
        app: None,
        call_meta: None,
        async_task: None,
        roots: Vec::new(),
        idle: None,
        total: None,
    };
    let tool = |name: &str, word| OfferedTool {
        tool: name.to_owned(),
        title: None,
        description: String::new(),
        input_schema: json!({ "type": "object" }),
        annotations: Value::Null,
        told: Arc::default(),
        word,
        asks_itself: false,
        read_only: true,
        idempotent: true,
    };
    let changed = Word::Refuse { code: "tool_changed", why: Text::same("changed") };
    let tools = vec![tool("read", Word::Ask), tool("changed", changed)];
    let offer = ServerOffer { route: Arc::new(route), tools, sampling: false };
    Toolset::build(vec![offer], Vec::new(), Lang::En)
}

fn order(tool: &str) -> CallOrder {
    let trace = json!({
        "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7",
        "parentSpanId": "b7ad6b7169203331", "rootAgentId": "ag_1", "agentId": "ag_1", "subAgentId": null,
        "runId": "run_7", "sessionId": "ses_3", "toolName": null,
    });
    CallOrder {
        tool: ToolRef::Direct { server: "project_files".to_owned(), tool: tool.to_owned() },
        arguments: json!({ "path": "a" }).as_object().cloned().unwrap(),
        raw_arguments: None,
        trace: serde_json::from_value(trace).unwrap(),
        call_id: "call_2".to_owned(),
        user_message_id: Some("msg_9".to_owned()),
        role: Role::Main,
        workdir: "/home/u/work/shop".into(),
        lang: Lang::En,
        people: Lang::En,
        cancel: CancellationToken::new(),
        extra_meta: Map::new(),
        resume: None,
        to_queue: false,
        together: None,
    }
}

async fn call(ports: &Arc<Recorder>, order: CallOrder) -> CallEnd {
    let dispatcher = Dispatcher::new(Arc::clone(ports) as Arc<dyn Ports>);
    dispatcher.call(&set(), order, Arc::new(NoObserver)).await
}

/// ai-contributions §10, for a server of this process: no app, and the workspace as its directory.
#[tokio::test]
async fn a_built_in_server_receives_exactly_this() {
    let ports = Recorder::new(Duration::ZERO);
    call(&ports, order("read")).await;
    let received = ports.built_in.lock().unwrap();
    assert_eq!(
        Value::Object(received[0].meta.clone()),
        json!({
            "workdir": "/home/u/work/shop", "sessionId": "ses_3", "runId": "run_7",
            "userMessageId": "msg_9", "user_message_id": "msg_9",
            "toolCallId": "call_2", "tool_call_id": "call_2",
            "chatos": { "trace": {
                "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7",
                "parentSpanId": "b7ad6b7169203331", "rootAgentId": "ag_1", "agentId": "ag_1",
                "subAgentId": null, "runId": "run_7", "sessionId": "ses_3", "toolName": "read",
            } },
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        })
    );
    assert_eq!(Value::Object(received[0].arguments.clone()), json!({ "path": "a" }), "never changed");
    assert!(ports.asked.lock().unwrap().is_empty(), "allowed for this run, and taken back: nothing to read");
}

#[tokio::test]
async fn what_worked_past_the_soft_deadline_is_delivered_once() {
    let ports = Recorder::new(Duration::from_millis(120));
    let end = call(&ports, order("read")).await;
    let asked = ports.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (&asked[0].prompt["kind"], asked[0].source.as_str()),
        (&json!("result"), "project_files/read")
    );
    assert_eq!(asked[0].prompt["markdown"], json!(end.envelope.text));
    assert_eq!(asked[0].prompt["isError"], true);
}

#[tokio::test]
async fn a_changed_tool_is_refused_by_a_rule_of_its_own() {
    let ports = Recorder::new(Duration::ZERO);
    let end = call(&ports, order("changed")).await;
    let error = end.envelope.error.unwrap();
    assert_eq!(
        (end.envelope.code, &error["details"]["rule"]),
        ("permission_denied", &json!("tool_not_approved")),
        "{error}"
    );
    assert!(ports.built_in.lock().unwrap().is_empty());
}

fn standing(tool: &str, plugin: &str) -> Standing {
    Standing { tool_digest: Some(tool.to_owned()), server_digest: Some(plugin.to_owned()) }
}

#[tokio::test]
async fn a_tool_that_changed_under_the_answer_is_not_called_and_asked_again() {
    for (changed, said) in [(standing("t2", "p1"), "the tool"), (standing("t1", "p2"), "the plugin")] {
        // Asked about the first; it is another one when the answer is there, and stays so.
        let ports = Recorder::asking(vec![standing("t1", "p1"), changed]);
        call(&ports, order("read")).await;
        let asked = ports.asked.lock().unwrap();
        assert_eq!(asked.len(), 2, "asked again");
        let message = asked[1].prompt["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("Changed after you approved: {said}.")), "{message}");
        assert_ne!(asked[0].id, asked[1].id);
        assert_eq!(ports.built_in.lock().unwrap().len(), 1, "called for the second yes only");
    }
}

#[tokio::test]
async fn a_tool_that_changes_under_every_answer_is_never_called() {
    let ports = Recorder::asking((0..8).map(|n| standing(&n.to_string(), "p")).collect());
    let end = call(&ports, order("read")).await;
    let error = end.envelope.error.unwrap();
    assert_eq!(
        (end.envelope.code, &error["details"]["kind"]),
        ("conflict", &json!("shown_mismatch")),
        "{error}"
    );
    assert_eq!(ports.asked.lock().unwrap().len(), 3);
    assert!(ports.built_in.lock().unwrap().is_empty());
}

#[tokio::test]
async fn arguments_that_a_question_shows_in_part_are_kept_whole_and_differ_in_their_last_byte() {
    let mut seen = std::collections::BTreeSet::new();
    for last in ["1", "2"] {
        let ports = Recorder::asking(vec![standing("t", "p")]);
        let mut long = order("read");
        long.arguments.insert("path".to_owned(), json!(format!("{}{last}", "a line\n".repeat(5_000))));
        call(&ports, long).await;
        let asked = ports.asked.lock().unwrap();
        let question = &asked[0];
        assert!(question.prompt["message"].as_str().unwrap().chars().count() < 10_000);
        assert!(
            question.prompt["diffRef"]["shownLines"].as_u64() < question.prompt["diffRef"]["lines"].as_u64()
        );
        assert!(question.whole.as_deref().unwrap().contains(&format!("a line\\n{last}")));
        let prompt = question.prompt.as_object().unwrap();
        seen.insert(chatos_prompts::shown::digest(prompt, Some(&question.effect.as_ref().unwrap().material)));
    }
    assert_eq!(seen.len(), 2);
}
