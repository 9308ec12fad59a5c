//! What servers ask in the middle of a call: a question for the person, a model's answer.

use std::sync::{Arc, OnceLock, Weak};

use chatos_agent::{Asker, CallContext, elicit};
use chatos_mcp::{Asked, ElicitAnswer, Elicitation, Later};
use chatos_servers::ServerQuestions;
use chatos_tool::Trace;
use serde_json::Value;

use super::ActiveCalls;
use crate::host::Host;

/// Answers servers with the queue and the models of a host.
pub(crate) struct HostQuestions {
    /// Filled when the host stands.
    pub(crate) host: Arc<OnceLock<Weak<Host>>>,
    pub(crate) active: Arc<ActiveCalls>,
}

impl HostQuestions {
    fn host(&self) -> Option<Arc<Host>> {
        self.host.get()?.upgrade()
    }

    fn asker(&self, host: &Host, asked: &Asked, server: String) -> Asker {
        let identity = asked.server.as_str().to_owned();
        match self.active.last_of(&asked.calls) {
            Some(CallContext { trace, lang, sampling, observer, .. }) => {
                Asker { identity, server, trace, lang, sampling, observer }
            }
            // Outside any call nobody granted it anything.
            None => Asker::alone(identity, server, Trace::default(), host.lang()),
        }
    }
}

impl ServerQuestions for HostQuestions {
    fn elicit(&self, asked: Asked, server: String, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        let Some(host) = self.host() else { return Box::pin(async { Ok(ElicitAnswer::Cancel) }) };
        let (asker, ports) = (self.asker(&host, &asked, server), host.calls().ports());
        let canceled = asked.canceled.clone();
        // On its own, so that a question whose server is gone is closed in order.
        let work = tokio::spawn(async move { elicit(&ports, &asker, &ask, canceled.cancelled()).await });
        Box::pin(async move { work.await.unwrap_or(Ok(ElicitAnswer::Cancel)) })
    }

    fn sample(&self, asked: Asked, server: String, params: Value) -> Later<Result<Value, String>> {
        let Some(host) = self.host() else { return Box::pin(async { Err("stopping".to_owned()) }) };
        let asker = self.asker(&host, &asked, server);
        host.calls().ports().sample(asker, params, asked.canceled)
    }
}
