//! The connected client as a tool may use it: its person's forms, its model, its folders, its log.
//!
//! An older client gets requests of the server while the call goes on. A modern one gets them as the
//! end of the call and calls again with the answers; `state` is what the tool wants back then, sealed
//! on the way. Questions to a person with a record in the queue are `person`'s matter.

use std::collections::BTreeMap;
use std::sync::Arc;

use chatos_tool::{CanceledBy, Needed, Reason, Text, ToolError};
use serde_json::Value;

use crate::context::{CallCx, Suspension};
use crate::person::{Era, Form};
use crate::tool::BoxFuture;

/// What a client may be able to do for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Show a form to its person.
    Elicitation,
    /// Run its model.
    Sampling,
    /// Name its folders.
    Roots,
}

impl Capability {
    /// The key in the capabilities of a client.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }
}

/// One thing a client is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum ClientAsk {
    /// A form for its person.
    Form(Form),
    /// A message of its model; the parameters of `sampling/createMessage`.
    Sample(Value),
    /// The list of its folders.
    Roots,
}

impl ClientAsk {
    /// What the client must be able to do.
    pub fn capability(&self) -> Capability {
        match self {
            Self::Form(_) => Capability::Elicitation,
            Self::Sample(_) => Capability::Sampling,
            Self::Roots => Capability::Roots,
        }
    }

    /// Whether this can be the answer; what is no answer is asked again.
    fn accepts(&self, answer: &Value) -> bool {
        match self {
            Self::Form(_) => answer["action"].is_string(),
            Self::Sample(_) => answer["role"].is_string() && !answer["content"].is_null(),
            Self::Roots => answer["roots"].is_array(),
        }
    }
}

/// How important a line of the client's log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For whoever looks for a mistake.
    Debug,
    /// Ordinary.
    Info,
    /// Ordinary, but worth seeing.
    Notice,
    /// May become a problem.
    Warning,
    /// Something failed.
    Error,
    /// A part is out of order.
    Critical,
    /// Somebody has to act.
    Alert,
    /// Nothing works.
    Emergency,
}

/// The connected client.
pub trait ClientDoor: Send + Sync {
    /// How it is asked.
    fn era(&self) -> Era;
    /// Whether it said that it can.
    fn offers(&self, capability: Capability) -> bool;
    /// Asks and waits, older clients only. `None`: it answered with an error or is gone.
    fn ask(&self, ask: ClientAsk) -> BoxFuture<'_, Option<Value>>;
    /// Sends a line to its log, when it wants lines of this severity.
    fn log(&self, severity: Severity, data: Value) -> BoxFuture<'_, ()>;
}

/// The client of one call, with what this call brought along.
#[derive(Clone)]
pub struct ClientLink {
    /// The client.
    pub door: Arc<dyn ClientDoor>,
    /// Its answers to an earlier round.
    pub answers: BTreeMap<String, Value>,
    /// What the tool wanted back.
    pub state: Option<Value>,
}

/// Requests that go to the client together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClientRound {
    /// Under names the tool knows them by.
    pub requests: Vec<(String, ClientAsk)>,
    /// Comes back with the answers. Answers without it do not count then.
    pub state: Option<Value>,
}

impl ClientRound {
    /// One request.
    pub fn one(name: &str, ask: ClientAsk) -> Self {
        Self::default().and(name, ask)
    }

    /// One more.
    #[must_use]
    pub fn and(mut self, name: &str, ask: ClientAsk) -> Self {
        self.requests.push((name.to_owned(), ask));
        self
    }

    /// What comes back with the answers.
    #[must_use]
    pub fn state(mut self, state: Value) -> Self {
        self.state = Some(state);
        self
    }

    /// The answers among `given`, or the requests that are still open.
    pub(crate) fn answered(
        &self,
        given: &BTreeMap<String, Value>,
        state: Option<&Value>,
    ) -> Result<BTreeMap<String, Value>, Self> {
        let counts = self.state.is_none() || self.state.as_ref() == state;
        let mut answers = BTreeMap::new();
        let mut open = Self { requests: Vec::new(), state: self.state.clone() };
        for (name, ask) in &self.requests {
            match given.get(name).filter(|answer| counts && ask.accepts(answer)) {
                Some(answer) => {
                    answers.insert(name.clone(), answer.clone());
                }
                None => open.requests.push((name.clone(), ask.clone())),
            }
        }
        // All or nothing: the next round brings all its answers at once.
        if open.requests.is_empty() {
            Ok(answers)
        } else {
            Err(Self { requests: self.requests.clone(), ..open })
        }
    }
}

impl CallCx {
    /// Whether the connected client can do this.
    pub fn client_offers(&self, capability: Capability) -> bool {
        self.client.as_ref().is_some_and(|client| client.door.offers(capability))
    }

    /// What an earlier round of this call wanted back.
    pub fn round_state(&self) -> Option<&Value> {
        self.client.as_ref().and_then(|client| client.state.as_ref())
    }

    /// Asks the client and gives its answers, all of them. An error means that the call ends: a modern
    /// client calls again.
    pub async fn ask_client(&self, round: ClientRound) -> Result<BTreeMap<String, Value>, ToolError> {
        let Some(client) = &self.client else { return Err(cannot(None)) };
        let modern = client.door.era() == Era::Modern;
        let missing = round.requests.iter().map(|(_, ask)| ask.capability());
        if let Some(missing) = missing.into_iter().find(|capability| !client.door.offers(*capability)) {
            return Err(if modern {
                self.suspend(Suspension::Missing(missing))
            } else {
                cannot(Some(missing))
            });
        }
        if modern {
            return round
                .answered(&client.answers, client.state.as_ref())
                .map_err(|open| self.suspend(Suspension::Client(open)));
        }
        let mut answers = BTreeMap::new();
        for (name, ask) in round.requests {
            let by_person = matches!(ask, ClientAsk::Form(_));
            let asked = self.unless_stopped(client.door.ask(ask));
            let answer = if by_person { self.while_person(asked).await } else { asked.await };
            let answer = answer?.ok_or_else(|| {
                ToolError::unavailable(
                    Needed::Process,
                    Text::new(
                        format!("the client did not answer `{name}`"),
                        format!("客户端没有回答 `{name}`"),
                    ),
                )
            })?;
            answers.insert(name, answer);
        }
        Ok(answers)
    }

    /// Writes a line into the client's own log; a client that wants none gets none.
    pub async fn log_to_client(&self, severity: Severity, data: Value) {
        if let Some(client) = &self.client {
            client.door.log(severity, data).await;
        }
    }

    /// Ends the call with something else than a result. The error is never seen.
    pub(crate) fn suspend(&self, why: Suspension) -> ToolError {
        *self.suspended.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(why);
        ToolError::canceled(CanceledBy::Caller)
    }
}

fn cannot(missing: Option<Capability>) -> ToolError {
    let what = missing.map_or("a client", Capability::as_str);
    let message = match missing {
        None => Text::fixed("this call has no client that could be asked", "此调用没有可以询问的客户端"),
        Some(missing) => Text::new(
            format!("the connected client does not offer `{}`", missing.as_str()),
            format!("所连接的客户端不支持 `{}`", missing.as_str()),
        ),
    };
    ToolError::new(Reason::NotSupported { what: what.to_owned() }, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_round_is_complete_or_open_as_a_whole() {
        let round = ClientRound::one("a", ClientAsk::Roots).and("b", ClientAsk::Sample(json!({})));
        let given = |value: Value| serde_json::from_value::<BTreeMap<String, Value>>(value).unwrap();
        let roots = json!({"roots": []});
        let sample = json!({"role": "assistant", "content": {"type": "text", "text": "x"}});
        let whole = given(json!({"a": roots, "b": sample, "else": 1}));
        assert_eq!(round.answered(&whole, None).unwrap().len(), 2);
        for part in
            [json!({}), json!({"a": roots}), json!({"a": 1, "b": sample}), json!({"c": roots, "b": sample})]
        {
            assert_eq!(round.answered(&given(part), None).unwrap_err(), round);
        }
    }

    #[test]
    fn answers_without_their_state_do_not_count() {
        let round = ClientRound::one("a", ClientAsk::Roots).state(json!({"step": 1}));
        let given = BTreeMap::from([("a".to_owned(), json!({"roots": []}))]);
        assert!(round.answered(&given, None).is_err());
        assert!(round.answered(&given, Some(&json!({"step": 2}))).is_err());
        assert!(round.answered(&given, Some(&json!({"step": 1}))).is_ok());
    }
}
