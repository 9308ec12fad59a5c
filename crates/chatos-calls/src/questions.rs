//! What servers ask in the middle of a call: a question for the person, a model's answer.

use chatos_agent::{Asker, CallContext, elicit};
use chatos_mcp::{Asked, ElicitAnswer, Elicitation, Later};
use chatos_servers::ServerQuestions;
use chatos_tool::Trace;
use serde_json::Value;

use super::desk::{Calls, CallsSlot};

fn asker(calls: &Calls, asked: &Asked, server: String) -> Asker {
    let identity = asked.server.as_str().to_owned();
    match calls.active().last_of(&asked.calls) {
        Some(CallContext { trace, lang, sampling, observer, .. }) => {
            Asker { identity, server, trace, lang, sampling, observer }
        }
        // Outside any call nobody granted it anything.
        None => Asker::alone(identity, server, Trace::default(), calls.parts().lang()),
    }
}

/// Through the slot servers ask the queue and the models.
impl ServerQuestions for CallsSlot {
    fn elicit(&self, asked: Asked, server: String, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        let Some(calls) = self.get() else { return Box::pin(async { Ok(ElicitAnswer::Cancel) }) };
        let (asker, ports) = (asker(&calls, &asked, server), calls.ports());
        let canceled = asked.canceled.clone();
        // On its own, so that a question whose server is gone is closed in order.
        let work = tokio::spawn(async move { elicit(&ports, &asker, &ask, canceled.cancelled()).await });
        Box::pin(async move { work.await.unwrap_or(Ok(ElicitAnswer::Cancel)) })
    }

    fn sample(&self, asked: Asked, server: String, params: Value) -> Later<Result<Value, String>> {
        let Some(calls) = self.get() else { return Box::pin(async { Err("stopping".to_owned()) }) };
        let asker = asker(&calls, &asked, server);
        calls.ports().sample(asker, params, asked.canceled)
    }
}
