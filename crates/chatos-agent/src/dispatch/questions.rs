//! Questions of a server to the person, in the old way (a request in the middle of a call) and in the new
//! one (a result that needs input): one prompt each in the queue, the answer typed and checked
//! (ui-prompts §10, mcp "elicitation").

use std::sync::Arc;

use chatos_inbox::{Question, ServerVoice, Verdict, page_effect, page_question};
use chatos_mcp::{ElicitAnswer, Elicitation, InputRequest};
use chatos_prompts::{Effect, Owner, elicitation};
use chatos_tool::{ErrorCode, Lang, Trace};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use chatos_mcp::file_uri;

use super::WaitKind;
use super::ports::{Ports, ToolEvent};
use super::{CallEnd, CallObserver, NoObserver};

/// Who asks, and where the question belongs.
#[derive(Clone)]
pub struct Asker {
    /// The server.
    pub identity: String,
    /// What people call it.
    pub server: String,
    /// The call it works on, as far as that is known.
    pub trace: Trace,
    /// The language of our own words.
    pub lang: Lang,
    /// The grant of the call allows the server to ask a model.
    pub sampling: bool,
    /// Who hears of it.
    pub observer: Arc<dyn CallObserver>,
}

impl Asker {
    /// A server that asks outside any call.
    pub fn alone(identity: String, server: String, trace: Trace, lang: Lang) -> Self {
        Self { identity, server, trace, lang, sampling: false, observer: Arc::new(NoObserver) }
    }

    /// In whose name it asks.
    pub fn owner(&self) -> Owner {
        Owner::mcp(&self.identity)
    }

    /// A question of it; `effect` is what an answer decides.
    pub fn question(&self, prompt: Value, effect: Option<Effect>) -> Question {
        self.voice().question(prompt, effect)
    }

    fn voice(&self) -> ServerVoice {
        ServerVoice {
            identity: self.identity.clone(),
            server: self.server.clone(),
            trace: self.trace.clone(),
            lang: self.lang,
        }
    }
}

/// The prompt of a question, or why it cannot be asked; the reason names the property (−32602).
fn prompt_of(asker: &Asker, ask: &Elicitation) -> Result<Question, String> {
    match ask {
        Elicitation::Form { message, schema } => {
            let prompt =
                elicitation::prompt(&asker.server, message, schema).map_err(|error| error.to_string())?;
            Ok(asker.question(prompt, None))
        }
        Elicitation::Url { message, url, .. } => page_question(&asker.voice(), message, url),
    }
}

/// The server is told of a yes only when that is used, once, for this very address.
async fn settled(
    ports: &Arc<dyn Ports>,
    asker: &Asker,
    ask: &Elicitation,
    request_id: &str,
    verdict: &Verdict,
) -> ElicitAnswer {
    let answer = answer_of(ask, verdict);
    let (Elicitation::Url { url, .. }, ElicitAnswer::Accept(_)) = (ask, &answer) else { return answer };
    match ports.use_approval(request_id.to_owned(), page_effect(&asker.identity, url)).await {
        Ok(_opened) => answer,
        Err(fault) => {
            tracing::warn!(%fault, server = asker.server, "a page is not opened");
            ElicitAnswer::Cancel
        }
    }
}

/// What the server is told about an answer.
fn answer_of(ask: &Elicitation, verdict: &Verdict) -> ElicitAnswer {
    match ask {
        Elicitation::Form { schema, .. } => match elicitation::Schema::parse(schema) {
            Ok(schema) => match elicitation::outcome(&schema, &verdict.response) {
                elicitation::Outcome::Accept(values) => ElicitAnswer::Accept(values),
                elicitation::Outcome::Decline => ElicitAnswer::Decline,
                elicitation::Outcome::Cancel => ElicitAnswer::Cancel,
            },
            Err(_) => ElicitAnswer::Cancel,
        },
        Elicitation::Url { .. } => {
            let chosen = verdict.response.get("selection").and_then(Value::as_str);
            let declined = verdict.response.get("declined") == Some(&Value::Bool(true));
            match (verdict.status.as_str(), chosen) {
                ("ok", Some("open")) => ElicitAnswer::Accept(Map::new()),
                ("ok", _) => ElicitAnswer::Decline,
                ("canceled", _) if declined => ElicitAnswer::Decline,
                _ => ElicitAnswer::Cancel,
            }
        }
    }
}

/// Asks and waits, for a server that asks in the old way. `canceled` resolves when the server withdraws
/// the question or is gone; its prompt is closed then.
pub async fn elicit(
    ports: &Arc<dyn Ports>,
    asker: &Asker,
    ask: &Elicitation,
    canceled: impl Future<Output = ()>,
) -> Result<ElicitAnswer, String> {
    let question = prompt_of(asker, ask)?;
    let request_id = match ports.ask(question).await {
        Ok(id) => id,
        Err(fault) => {
            tracing::warn!(%fault, server = asker.server, "a question of a server cannot be asked");
            return Ok(ElicitAnswer::Cancel);
        }
    };
    tell_waiting(ports, asker, &request_id, WaitKind::Elicitation);
    let verdict = tokio::select! {
        verdict = ports.verdict(request_id.clone(), asker.owner()) => verdict,
        () = canceled => {
            ports.withdraw(request_id.clone(), asker.owner(), "asker_gone").await;
            asker.observer.answered(&request_id, "canceled");
            return Ok(ElicitAnswer::Cancel);
        }
    };
    match verdict {
        Ok(verdict) => {
            asker.observer.answered(&request_id, &verdict.status);
            Ok(settled(ports, asker, ask, &request_id, &verdict).await)
        }
        Err(fault) => {
            tracing::warn!(%fault, server = asker.server, "a question of a server has no answer");
            asker.observer.answered(&request_id, "error");
            Ok(ElicitAnswer::Cancel)
        }
    }
}

/// The result of a call whose card the person may have left, as an entry to read (ui-prompts §5).
pub(super) async fn deliver(ports: &Arc<dyn Ports>, asker: &Asker, tool: &str, end: &CallEnd) {
    let server = &asker.server;
    let title = match (asker.lang, end.is_error) {
        (Lang::En, false) => format!("{tool} of {server} is done"),
        (Lang::En, true) => format!("{tool} of {server} failed"),
        (Lang::Zh, false) => format!("{server} 的 {tool} 已完成"),
        (Lang::Zh, true) => format!("{server} 的 {tool} 失败"),
    };
    let text = ports.redactor().text(&end.envelope.text).into_owned();
    let mut prompt = json!({ "kind": "result", "title": title, "markdown": text });
    if end.is_error {
        prompt["isError"] = json!(true);
    }
    let mut question = asker.question(prompt, None);
    question.owner = Owner::host_run();
    question.source = format!("{server}/{tool}");
    if let Err(fault) = ports.ask(question).await {
        tracing::warn!(%fault, tool, "the result of a long call is not in the queue");
    }
}

pub(super) fn tell_waiting(ports: &Arc<dyn Ports>, asker: &Asker, request_id: &str, kind: WaitKind) {
    asker.observer.waiting(request_id, kind);
    ports.event(ToolEvent::Waiting { request_id, trace: &asker.trace });
}

/// Questions of a modern server that are in the queue: its own key, what it asked, the prompt's id.
pub(super) struct Open {
    pub(super) key: String,
    pub(super) request: InputRequest,
    pub(super) prompt: Option<String>,
}

/// The questions with the ids they will have in the queue. What needs no person has no prompt. Nothing
/// is asked when one of them cannot be.
pub(super) fn plan(requests: Vec<(String, InputRequest)>) -> Result<Vec<Open>, String> {
    let named = requests.into_iter().map(|(key, request)| {
        let prompt = match &request {
            InputRequest::Elicitation(_) => Some(uuid::Uuid::now_v7().to_string()),
            InputRequest::Sampling(_) | InputRequest::Roots => None,
            InputRequest::Unknown(_) => return Err(format!("it asks for something unknown in `{key}`")),
        };
        Ok(Open { key, request, prompt })
    });
    named.collect()
}

/// Puts every planned question into the queue. One that is there already stays as it is.
pub(super) async fn ask_all(ports: &Arc<dyn Ports>, asker: &Asker, open: &[Open]) -> Result<(), String> {
    let mut questions = Vec::new();
    for Open { request, prompt, .. } in open {
        if let (InputRequest::Elicitation(ask), Some(id)) = (request, prompt) {
            questions.push(Question { id: Some(id.clone()), kept: true, ..prompt_of(asker, ask)? });
        }
    }
    for question in questions {
        match ports.ask(question).await {
            Ok(_) => {}
            Err(fault) if fault.class == ErrorCode::Conflict => {}
            Err(fault) => return Err(fault.message.en.into_owned()),
        }
    }
    Ok(())
}

/// Waits for every answer; gives them by the server's keys.
pub(super) async fn answers(
    ports: &Arc<dyn Ports>,
    asker: &Asker,
    open: &[Open],
    roots: &[String],
    cancel: &CancellationToken,
) -> Result<Map<String, Value>, String> {
    let mut answers = Map::new();
    for Open { key, request, prompt } in open {
        let answer = match (request, prompt) {
            (InputRequest::Elicitation(ask), Some(id)) => {
                tell_waiting(ports, asker, id, WaitKind::Elicitation);
                let verdict = ports.verdict(id.clone(), asker.owner()).await;
                let verdict = verdict.map_err(|fault| fault.message.en.into_owned())?;
                asker.observer.answered(id, &verdict.status);
                settled(ports, asker, ask, id, &verdict).await.to_json()
            }
            // What a person set for this server, never where the call works: a server that was given a folder of
            // its own would take the other instead.
            (InputRequest::Roots, _) => {
                let roots: Vec<Value> = roots.iter().map(|root| json!({ "uri": file_uri(root) })).collect();
                json!({ "roots": roots })
            }
            (InputRequest::Sampling(params), _) => {
                ports.sample(asker.clone(), params.clone(), cancel.clone()).await?
            }
            _ => return Err(format!("`{key}` cannot be answered")),
        };
        answers.insert(key.clone(), answer);
    }
    Ok(answers)
}

/// Closes what nobody waits for any more.
pub(super) async fn withdraw(ports: &Arc<dyn Ports>, asker: &Asker, open: &[Open], code: &'static str) {
    for id in open.iter().filter_map(|open| open.prompt.as_ref()) {
        ports.withdraw(id.clone(), asker.owner(), code).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker() -> Asker {
        let trace: Trace = serde_json::from_value(json!({})).unwrap();
        Asker::alone("admin:1".into(), "weather".into(), trace, Lang::En)
    }

    #[test]
    fn addresses_are_shown_whole_and_only_safe_ones_are_asked() {
        let url = |url: &str| Elicitation::Url { message: "sign in".into(), url: url.into(), id: None };
        let question = prompt_of(&asker(), &url("https://xn--80ak6aa92e.com/path?q=1")).unwrap();
        let message = question.prompt["message"].as_str().unwrap();
        assert!(
            message.contains("`https://xn--80ak6aa92e.com/path?q=1`")
                && message.contains("**xn--80ak6aa92e.com**")
        );
        assert!(message.contains("may look like others") && question.effect.is_some());
        assert!(prompt_of(&asker(), &url("http://127.0.0.1:8/x")).is_ok());
        for bad in ["http://a.example/", "https://u@a.example/", "https:///x", "ftp://a.example"] {
            assert!(prompt_of(&asker(), &url(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn answers_keep_their_types_and_no_means_no() {
        let schema = json!({ "type": "object", "required": ["n"], "properties": {
            "n": { "type": "integer" }, "on": { "type": "boolean" } } });
        let ask = Elicitation::Form { message: "m".into(), schema };
        let verdict = |status: &str, response: Value| Verdict {
            status: status.into(),
            response: response.as_object().unwrap().clone(),
        };
        let ok = verdict("ok", json!({ "status": "ok", "values": { "n": "12", "on": "true" } }));
        let ElicitAnswer::Accept(values) = answer_of(&ask, &ok) else { panic!() };
        assert_eq!(Value::Object(values), json!({ "n": 12, "on": true }));
        let no = verdict("canceled", json!({ "status": "canceled", "declined": true }));
        assert_eq!(answer_of(&ask, &no), ElicitAnswer::Decline);
        let gone = verdict("timeout", json!({ "status": "timeout" }));
        assert_eq!(answer_of(&ask, &gone), ElicitAnswer::Cancel);
    }
}
