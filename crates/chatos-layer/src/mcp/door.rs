//! The client of one request, for tools that ask it something themselves.

use rmcp::model::{
    ClientCapabilities, ClientResult, CustomNotification, CustomRequest, ElicitationCapability, InputRequest,
    InputRequests, ProtocolVersion, ServerNotification, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Value, json};

use super::elicit;
use crate::client::{Capability, ClientAsk, ClientDoor, ClientRound, Severity};
use crate::person::Era;
use crate::tool::BoxFuture;

pub(super) struct Door {
    peer: Peer<RoleServer>,
    version: ProtocolVersion,
    capabilities: ClientCapabilities,
    // The least severe line it wants; `None` is no line at all.
    wants: Option<Severity>,
}

impl Door {
    /// `wants` is what an older client asked for on this connection; a modern one says it per request.
    pub(super) fn new(context: &RequestContext<RoleServer>, wants: Option<Severity>) -> Self {
        // A client that said no version is as old as they come.
        let version = context.protocol_version().unwrap_or(ProtocolVersion::V_2025_03_26);
        let capabilities = context.client_capabilities().unwrap_or_default();
        let modern = version >= ProtocolVersion::V_2026_07_28;
        let asked = context.meta.log_level().and_then(|level| serde_json::from_value(json!(level)).ok());
        let wants = wants.and_then(|wants| if modern { asked } else { Some(wants) });
        Self { peer: context.peer.clone(), version, capabilities, wants }
    }
}

impl ClientDoor for Door {
    fn era(&self) -> Era {
        if self.version >= ProtocolVersion::V_2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    fn offers(&self, capability: Capability) -> bool {
        match capability {
            Capability::Elicitation => self.capabilities.elicitation.as_ref().is_some_and(draws_forms),
            Capability::Sampling => self.capabilities.sampling.is_some(),
            Capability::Roots => self.capabilities.roots.is_some(),
        }
    }

    fn ask(&self, ask: ClientAsk) -> BoxFuture<'_, Option<Value>> {
        Box::pin(async move {
            let (method, params) = request(&ask, &self.version);
            let request = ServerRequest::CustomRequest(CustomRequest::new(method, Some(params)));
            let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
            match sent.ok()?.await_response().await {
                Ok(ClientResult::CustomResult(result)) => Some(result.0),
                Ok(result) => serde_json::to_value(result).ok(),
                Err(error) => {
                    tracing::debug!(%error, method, "the client did not answer");
                    None
                }
            }
        })
    }

    fn log(&self, severity: Severity, data: Value) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.wants.is_none_or(|least| severity < least) {
                return;
            }
            let params = json!({ "level": severity, "data": data });
            let line = CustomNotification::new("notifications/message", Some(params));
            if let Err(error) =
                self.peer.send_notification(ServerNotification::CustomNotification(line)).await
            {
                tracing::debug!(%error, "a line for the client's log was lost");
            }
        })
    }
}

/// A client that names neither mode means forms: that was the only one at first.
pub(super) fn draws_forms(modes: &ElicitationCapability) -> bool {
    modes.form.is_some() || modes.url.is_none()
}

fn request(ask: &ClientAsk, version: &ProtocolVersion) -> (&'static str, Value) {
    match ask {
        ClientAsk::Form(form) => ("elicitation/create", elicit::params(form, version)),
        ClientAsk::Sample(params) => ("sampling/createMessage", params.clone()),
        ClientAsk::Roots => ("roots/list", json!({})),
    }
}

/// The requests of a round inside an `input_required` result.
pub(super) fn input_requests(round: &ClientRound) -> Result<InputRequests, serde_json::Error> {
    let one = |(name, ask): &(String, ClientAsk)| {
        let (method, params) = request(ask, &ProtocolVersion::V_2026_07_28);
        let request: InputRequest = serde_json::from_value(json!({ "method": method, "params": params }))?;
        Ok((name.clone(), request))
    };
    round.requests.iter().map(one).collect()
}
