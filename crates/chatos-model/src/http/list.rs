//! Small questions beside the conversation: which models a vendor has, and what it says about them.

use std::time::Duration;

use chatos_net::Addresses;
use serde_json::Value;
use zeroize::Zeroizing;

use super::client::{Connections, Outgoing};
use super::{LIST_BYTES, REFUSAL_BYTES, Secrets, scrub};
use crate::{Class, ModelError, Protocol};

/// One question, and with what it is asked.
pub(crate) struct Question<'a> {
    pub(crate) protocol: Protocol,
    pub(crate) provider: &'a str,
    pub(crate) base_url: &'a str,
    pub(crate) path: &'a str,
    /// A POST where there is one.
    pub(crate) body: Option<&'a Value>,
    pub(crate) secrets: &'a Secrets,
    /// From the first byte to the last.
    pub(crate) patience: Duration,
}

/// Asks; an answer that is not JSON, or none in time, is an error that says so.
pub(crate) async fn ask_json(
    connections: &Connections,
    question: &Question<'_>,
) -> Result<Value, ModelError> {
    let asked = asked(connections, question);
    let answer = match tokio::time::timeout(question.patience, asked).await {
        Ok(answer) => answer,
        Err(_) => Err(ModelError::new(Class::Network, "no answer came")),
    };
    answer.map_err(|error| scrub(error, &question.secrets.values))
}

async fn asked(connections: &Connections, question: &Question<'_>) -> Result<Value, ModelError> {
    let mut outgoing = match question.body {
        Some(body) => Outgoing::post(question.base_url, question.path, body)?,
        None => Outgoing::new(question.base_url, question.path)?,
    };
    if question.protocol == Protocol::Anthropic {
        outgoing.header("anthropic-version", "2023-06-01")?;
    }
    if let Some(key) = &question.secrets.key {
        let (name, value) = question.protocol.auth(question.provider, key);
        outgoing.header(name, &Zeroizing::new(value))?;
    }
    for (name, value) in &question.secrets.headers {
        outgoing.header(name, value)?;
    }
    let sent = connections.send(outgoing, Addresses::Private, question.secrets.proxy.as_ref());
    let mut answer = sent.await?;
    if answer.status != 200 {
        let body = answer.body.collect(REFUSAL_BYTES, question.patience).await;
        return Err(question.protocol.refused(answer.status, None, &body));
    }
    let body = answer.body.collect(LIST_BYTES, question.patience).await;
    serde_json::from_slice(&body).map_err(|_| ModelError::new(Class::Server, "the list is not JSON"))
}
