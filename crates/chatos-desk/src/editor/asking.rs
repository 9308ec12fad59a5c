//! Questions of a chat, asked in the editor too (other-agents §5): approvals as the protocol's requests for permission
//! where a person lets this editor decide, plain questions as forms where it draws them. The queue has every one of
//! them; the first answer counts, and what was answered there is taken back here.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chatos_foreign::acp;
use chatos_layer::person::{form_answer, form_of};
use chatos_prompts::kind::{Prompt, read_lenient};
use chatos_prompts::{Object, RequestId, whole};
use chatos_tool::Lang;
use hyper::Method;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{Editor, Refusal};
use crate::encode;

/// How long one look for an answer in the queue stays open.
const WAIT_MS: u32 = 20_000;
/// Between two looks at a host that just went away, or at a question that is not there yet.
const PAUSE: Duration = Duration::from_millis(100);
/// Most looks for a question that is being written down.
const LOOKS: u32 = 100;
/// The options of a permission.
const YES: &str = "allow";
const NO: &str = "reject";

/// How a question is put to the editor.
enum Put {
    Permission(Value),
    Form(Value),
}

impl Editor {
    /// Asks a question of this chat here too, unless that is done already. `call`: the call that waits for it.
    pub(super) fn ask_here(self: &Arc<Self>, session: &str, request: &str, call: &str) {
        {
            let mut asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
            if request.is_empty() || !asking.insert(request.to_owned()) {
                return;
            }
        }
        let (editor, session, request, call) =
            (Arc::clone(self), session.to_owned(), request.to_owned(), call.to_owned());
        tokio::spawn(async move {
            if let Err(Refusal(_, error)) = editor.question(&session, &request, &call).await {
                tracing::debug!(error, request, "a question was not asked in the editor");
            }
            editor.asking.lock().unwrap_or_else(PoisonError::into_inner).remove(&request);
        });
    }

    /// Asks what is open in a chat, for an editor that comes back to it.
    pub(super) async fn ask_open(self: &Arc<Self>, session: &str) -> Result<(), Refusal> {
        let open = self.ask(Method::GET, "/api/v1/prompts?view=needs_you", None).await?;
        for item in open["items"].as_array().into_iter().flatten().filter(|item| item["sessionId"] == session)
        {
            self.ask_here(session, item["requestId"].as_str().unwrap_or_default(), "");
        }
        Ok(())
    }

    /// The editor replied to something we asked it.
    pub(super) fn replied(&self, message: &Value) {
        let Some(id) = message["id"].as_u64() else { return };
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        if let Some(waiting) = waiting {
            // Whoever waited has heard the answer elsewhere.
            waiting.send(message["result"].clone()).ok();
        }
    }

    async fn question(&self, session: &str, request: &str, call: &str) -> Result<(), Refusal> {
        let path = format!("/api/v1/prompts/{}", encode(request));
        let view = self.written(&path).await?;
        let Some((prompt, put)) = self.put(session, request, call, &view).await else { return Ok(()) };
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, reply) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, sender);
        let (method, params) = match &put {
            Put::Permission(params) => ("session/request_permission", params),
            Put::Form(params) => ("elicitation/create", params),
        };
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.out.send(message).await.ok();
        let reply = tokio::select! {
            reply = reply => reply.unwrap_or_default(),
            () = self.answered_elsewhere(&path) => {
                self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
                let params = json!({ "requestId": id });
                let message = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
                self.out.send(message).await.ok();
                return Ok(());
            }
        };
        // A dialogue that was closed is no answer: the question is still in the queue.
        let Some(response) = response_to(&put, &prompt, &reply) else { return Ok(()) };
        let body = json!({ "response": response, "shown": view["shown"], "by": "client" });
        self.ask(Method::POST, &format!("{path}/response"), Some(&body)).await.map(drop)
    }

    /// The question; its call is told of it a moment before it is written down.
    async fn written(&self, path: &str) -> Result<Value, Refusal> {
        let mut left = LOOKS;
        loop {
            match self.ask(Method::GET, path, None).await {
                Err(Refusal(acp::NOT_FOUND, _)) if left > 0 => left -= 1,
                found => return found,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// How this question is asked here; `None`: it is answered in the queue alone.
    async fn put(&self, session: &str, request: &str, call: &str, view: &Value) -> Option<(Prompt, Put)> {
        let body = view["prompt"].as_object()?;
        let prompt = read_lenient(body, &RequestId::parse(request).ok()?).prompt?;
        // What is cut or cannot be shown is not approved here.
        if view["state"] != "pending" || view["metadataOnly"] == true || whole::is_partial(body) {
            return None;
        }
        let decides = !view["effect"].is_null() || prompt.kind.decides_effect();
        if decides {
            if view["card"]["risk"] == "high" || !self.may_decide(session).await {
                return None;
            }
            return Some((prompt, Put::Permission(self.permission(session, request, call, body))));
        }
        let draws =
            self.can.lock().unwrap_or_else(PoisonError::into_inner)["elicitation"]["form"].is_object();
        let form = form_of(&prompt, self.lang).filter(|_| draws)?;
        let mut params = json!({
            "mode": "form", "sessionId": session, "message": form.message, "requestedSchema": form.schema,
        });
        if !call.is_empty() {
            params["toolCallId"] = json!(call);
        }
        Some((prompt, Put::Form(params)))
    }

    /// A question about a call as the protocol asks it. A change is drawn with the call itself.
    fn permission(&self, session: &str, request: &str, call: &str, prompt: &Object) -> Value {
        let text = |key: &str| prompt.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        let id = if call.is_empty() { request } else { call };
        let mut told = json!({ "toolCallId": id, "status": "pending" });
        if let Some(title) = text("title") {
            told["title"] = json!(title);
        }
        let mut shown: Vec<String> = text("message").map(str::to_owned).into_iter().collect();
        if let Some(command) = text("command") {
            shown.push(format!("```sh\n{command}\n```"));
            shown.extend(text("cwd").map(str::to_owned));
        }
        if let Some(diff) = text("diff") {
            shown.push(format!("```diff\n{diff}\n```"));
        }
        // The call was shown with its change; an editor that came later has not seen it.
        if !shown.is_empty() && (call.is_empty() || text("diff").is_none()) {
            told["content"] =
                json!([{ "type": "content", "content": { "type": "text", "text": shown.join("\n\n") } }]);
        }
        let (yes, no) = match self.lang {
            Lang::En => ("Allow", "Reject"),
            Lang::Zh => ("允许", "拒绝"),
        };
        json!({
            "sessionId": session, "toolCall": told,
            "options": [
                { "optionId": YES, "name": yes, "kind": "allow_once" },
                { "optionId": NO, "name": no, "kind": "reject_once" },
            ],
        })
    }

    /// Whether a person lets this editor decide about the calls of its chats in this folder (inbox §1.5).
    async fn may_decide(&self, session: &str) -> bool {
        let (name, _) = self.name.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (beside, root) = (Arc::clone(self.line.beside()), self.root(session));
        let asked = tokio::task::spawn_blocking(move || beside.may_decide(&name, root.as_deref()));
        // What is not known is not allowed.
        asked.await.unwrap_or(false)
    }

    /// Returns when the question is answered or withdrawn in the queue.
    async fn answered_elsewhere(&self, path: &str) {
        loop {
            let waited = self.ask(Method::GET, &format!("{path}/wait?timeoutMs={WAIT_MS}"), None).await;
            match waited {
                Ok(state) if state["state"] == "closed" => return,
                Ok(_) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

/// What the editor replied, as an answer of the queue; `None`: it gave none.
fn response_to(put: &Put, prompt: &Prompt, reply: &Value) -> Option<Value> {
    match put {
        Put::Permission(_) => match reply["outcome"]["optionId"].as_str() {
            Some(YES) => Some(form_answer(prompt, &Object::new())),
            Some(NO) => Some(json!({ "status": "canceled" })),
            _ => None,
        },
        Put::Form(_) => match reply["action"].as_str() {
            Some("accept") => {
                Some(form_answer(prompt, reply["content"].as_object().unwrap_or(&Object::new())))
            }
            Some("decline") => Some(json!({ "status": "canceled", "declined": true })),
            _ => None,
        },
    }
}
