//! The connected client as a road to the person: elicitation, in the way of its era.

use rmcp::model::{
    ClientResult, CustomRequest, ElicitationAction, InputRequest, ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};

use super::door::draws_forms;
use crate::person::{Elicited, Elicitor, Era, Form};
use crate::tool::BoxFuture;

/// Most characters of the name a client gives itself.
const NAME_CHARS: usize = 64;

/// The client of one request, when it said that it can ask a person.
pub(super) fn elicitor(context: &RequestContext<RoleServer>) -> Option<Client> {
    let capabilities = context.client_capabilities();
    let can = capabilities.and_then(|can| can.elicitation).as_ref().is_some_and(draws_forms);
    let version = context.protocol_version().filter(|_| can)?;
    let name = context.client_info().map(|client| plain(&client.name)).unwrap_or_default();
    (version >= ProtocolVersion::V_2025_06_18).then(|| Client { peer: context.peer.clone(), version, name })
}

/// The name a client gives itself, as people are shown it.
fn plain(name: &str) -> String {
    let odd = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let plain: String = name.chars().filter(|c| !odd(*c)).take(NAME_CHARS).collect();
    plain.trim().to_owned()
}

pub(super) struct Client {
    name: String,
    peer: Peer<RoleServer>,
    version: ProtocolVersion,
}

impl Elicitor for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn era(&self) -> Era {
        if self.version >= ProtocolVersion::V_2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    fn can_ask(&self, form: &Form) -> bool {
        !form.multi_select || self.version >= ProtocolVersion::V_2025_11_25
    }

    fn elicit(&self, form: Form) -> BoxFuture<'_, Elicited> {
        Box::pin(async move {
            let params = params(&form, &self.version);
            let request =
                ServerRequest::CustomRequest(CustomRequest::new("elicitation/create", Some(params)));
            let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
            let Ok(mut handle) = sent else { return Elicited::Dismissed };
            // The question may be answered elsewhere first: the client is then told to close its form.
            let mut open = CloseForm { peer: self.peer.clone(), id: Some(handle.id.clone()) };
            let response = (&mut handle.rx).await;
            open.id = None;
            match response {
                Ok(Ok(ClientResult::ElicitResult(result))) => elicited(&result.action, result.content),
                Ok(Ok(ClientResult::CustomResult(result))) => from_json(&result.0),
                // An error, or the connection is gone: the person was not asked.
                _ => Elicited::Dismissed,
            }
        })
    }
}

/// Withdraws the form when the wait ends without its answer.
struct CloseForm {
    peer: Peer<RoleServer>,
    id: Option<rmcp::model::RequestId>,
}

impl Drop for CloseForm {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let peer = self.peer.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        // Nobody joins it: it ends with the connection at the latest.
        runtime.spawn(async move {
            let reason = Some("answered elsewhere".to_owned());
            let params = rmcp::model::CancelledNotificationParam::new(Some(id), reason);
            if let Err(error) = peer.notify_cancelled(params).await {
                tracing::debug!(%error, "a form could not be withdrawn");
            }
        });
    }
}

/// The form as the client of this version reads it.
pub(super) fn params(form: &Form, version: &ProtocolVersion) -> Value {
    let mut schema = form.schema.clone();
    if *version < ProtocolVersion::V_2025_11_25 {
        // Options with titles had another form before.
        for property in schema["properties"].as_object_mut().into_iter().flat_map(|map| map.values_mut()) {
            let Some(Value::Array(options)) = property.get("oneOf").cloned() else { continue };
            let column =
                |key: &str| -> Vec<Value> { options.iter().map(|option| option[key].clone()).collect() };
            property["enum"] = Value::Array(column("const"));
            property["enumNames"] = Value::Array(column("title"));
            if let Some(map) = property.as_object_mut() {
                map.shift_remove("oneOf");
            }
        }
        return json!({ "message": form.message, "requestedSchema": schema });
    }
    json!({ "mode": "form", "message": form.message, "requestedSchema": schema })
}

/// The form inside an `input_required` result.
pub(super) fn input_request(form: &Form) -> Result<InputRequest, serde_json::Error> {
    serde_json::from_value(json!({
        "method": "elicitation/create",
        "params": params(form, &ProtocolVersion::V_2026_07_28),
    }))
}

/// What a client brought back.
pub(super) fn from_json(result: &Value) -> Elicited {
    match result["action"].as_str() {
        Some("accept") => accepted(result.get("content").cloned()),
        Some("decline") => Elicited::Decline,
        _ => Elicited::Dismissed,
    }
}

fn elicited(action: &ElicitationAction, content: Option<Value>) -> Elicited {
    match action {
        ElicitationAction::Accept => accepted(content),
        ElicitationAction::Decline => Elicited::Decline,
        _ => Elicited::Dismissed,
    }
}

/// A form in which nothing had to be filled in may come back without content.
fn accepted(content: Option<Value>) -> Elicited {
    match content {
        Some(Value::Object(content)) => Elicited::Accept(content),
        None | Some(Value::Null) => Elicited::Accept(serde_json::Map::new()),
        Some(_) => Elicited::Dismissed,
    }
}
