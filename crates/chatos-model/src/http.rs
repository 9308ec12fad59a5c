//! A vendor over HTTP: one connection per call under way, kept ones reused, every wait bounded.
//!
//! Nothing is followed, nothing is decompressed, and credentials go to the configured origin only.
//! They are asked for when a call begins and dropped when it was sent.

mod client;
mod error;
mod list;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_net::{Addresses, Proxy};
use futures_util::{FutureExt, StreamExt, stream};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

use crate::{
    Class, Decoder, Dialect, Event, EventStream, ModelError, Protocol, Provider, Request, retry_after,
};

pub use client::Connections;
use client::{Body, Outgoing};
use error::{cancelled, scrub};
pub(crate) use list::{Question, ask_json};

/// How long each part of a call may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until the answer begins. A model on this machine may be loaded from disk first.
    pub first: Duration,
    /// Between two pieces of an answer. Vendors that think long send comments meanwhile.
    pub idle: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { first: Duration::from_secs(300), idle: Duration::from_secs(180) }
    }
}

/// What only the moment of a call knows. It has no `Debug`: these are secrets.
#[derive(Default)]
pub struct Secrets {
    /// The vendor's key.
    pub key: Option<Zeroizing<String>>,
    /// Headers, their secrets filled in.
    pub headers: Vec<(String, Zeroizing<String>)>,
    /// Members of the body, their secrets filled in.
    pub body: Map<String, Value>,
    /// The proxy on the way, if there is one.
    pub proxy: Option<Proxy>,
    /// Every secret among them, to be taken out of what a vendor says.
    pub values: Vec<Zeroizing<String>>,
}

/// Finds the secrets of a call. It may block; it is asked on a thread for that.
pub type FindSecrets = dyn Fn() -> Result<Secrets, ModelError> + Send + Sync;

/// What a vendor was seen to refuse, shared by the calls of a session.
pub type SharedDialect = Arc<Mutex<Dialect>>;

/// A model behind an address.
pub struct HttpProvider {
    inner: Arc<Inner>,
}

struct Inner {
    protocol: Protocol,
    provider: String,
    base_url: String,
    secrets: Arc<FindSecrets>,
    connections: Connections,
    dialect: SharedDialect,
    patience: Patience,
}

/// Everything a provider is made of.
pub struct HttpParts {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// The provider's word; some differ in the header of the key.
    pub provider: String,
    /// Where it answers.
    pub base_url: String,
    /// Its secrets.
    pub secrets: Arc<FindSecrets>,
    /// Kept connections.
    pub connections: Connections,
    /// What it refuses.
    pub dialect: SharedDialect,
    /// How long it may take.
    pub patience: Patience,
}

/// Bytes of a refusal that are read.
const REFUSAL_BYTES: usize = 64 * 1024;
/// Bytes of a whole answer. No model writes that much; an endless one must not fill memory.
const ANSWER_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a list of models.
const LIST_BYTES: usize = 4 * 1024 * 1024;
/// A vendor may refuse this many members one after the other.
const LESSONS: usize = 6;

impl HttpProvider {
    /// Puts it together; nothing is opened.
    pub fn new(parts: HttpParts) -> Self {
        let HttpParts { protocol, provider, base_url, secrets, connections, dialect, patience } = parts;
        Self {
            inner: Arc::new(Inner { protocol, provider, base_url, secrets, connections, dialect, patience }),
        }
    }
}

/// Posts a JSON document without credentials to an address a person chose; on this machine too.
pub async fn post_json(
    connections: &Connections,
    base_url: &str,
    path: &str,
    body: &Value,
    patience: Duration,
) -> Result<(), ModelError> {
    let outgoing = Outgoing::post(base_url, path, body)?;
    let asked = async {
        let mut answer = connections.send(outgoing, Addresses::Private, None).await?;
        let said = answer.body.collect(REFUSAL_BYTES, patience).await;
        if (200..300).contains(&answer.status) {
            return Ok(());
        }
        let class = ModelError::class_of_status(answer.status);
        let said: String = String::from_utf8_lossy(&said).chars().take(200).collect();
        Err(ModelError::new(class, said).with_status(answer.status))
    };
    match tokio::time::timeout(patience, asked).await {
        Ok(answer) => answer,
        Err(_) => Err(ModelError::new(Class::Network, "no answer came")),
    }
}

impl Provider for HttpProvider {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let start = (Phase::Start(Arc::clone(&self.inner), Box::new(request)), cancel);
        stream::unfold(start, |(phase, cancel)| async move {
            let stepped = tokio::select! {
                biased;
                () = cancel.cancelled(), if !matches!(phase_kind(&phase), Kind::Ended) => Err(cancelled()),
                stepped = step(phase) => stepped,
            };
            match stepped {
                Ok(None) => None,
                Ok(Some((event, phase))) => Some((Ok(event), (phase, cancel))),
                Err(error) => Some((Err(error), (Phase::Ended, cancel))),
            }
        })
        .boxed()
    }
}

enum Phase {
    Start(Arc<Inner>, Box<Request>),
    Reading(Box<Reading>),
    Ended,
}

enum Kind {
    Live,
    Ended,
}

fn phase_kind(phase: &Phase) -> Kind {
    match phase {
        Phase::Ended => Kind::Ended,
        _ => Kind::Live,
    }
}

/// An answer under way.
struct Reading {
    ready: VecDeque<Event>,
    /// `None` once the bytes have ended.
    source: Option<(Body, Decoder)>,
    idle: Duration,
    bytes: usize,
    values: Vec<Zeroizing<String>>,
}

async fn step(phase: Phase) -> Result<Option<(Event, Phase)>, ModelError> {
    let mut reading = match phase {
        Phase::Ended => return Ok(None),
        Phase::Start(inner, request) => Box::new(inner.begin(*request).await?),
        Phase::Reading(reading) => reading,
    };
    match reading.next().await {
        Ok(Some(event @ Event::Done(_))) => {
            reading.finish();
            Ok(Some((event, Phase::Ended)))
        }
        Ok(Some(event)) => Ok(Some((event, Phase::Reading(reading)))),
        Ok(None) => Ok(None),
        Err(error) => Err(scrub(error, &reading.values)),
    }
}

impl Reading {
    /// Takes the end of the bytes if it is there already, so that the connection can be used again.
    /// It is not waited for: a vendor that keeps a finished answer open only loses its connection.
    fn finish(&mut self) {
        if let Some((body, _)) = &mut self.source {
            while let Some(Ok(Some(_))) = body.piece().now_or_never() {}
        }
    }

    async fn next(&mut self) -> Result<Option<Event>, ModelError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some((body, decoder)) = &mut self.source else { return Ok(None) };
            match tokio::time::timeout(self.idle, body.piece()).await {
                Err(_) => {
                    let text = format!(
                        "the answer stopped in the middle: nothing came for {} s (modelSilenceSeconds)",
                        self.idle.as_secs()
                    );
                    return Err(ModelError::new(Class::Network, text));
                }
                Ok(Err(error)) => return Err(error),
                Ok(Ok(Some(piece))) => {
                    self.bytes = self.bytes.saturating_add(piece.len());
                    if self.bytes > ANSWER_BYTES {
                        return Err(ModelError::new(Class::Server, "the answer has no end"));
                    }
                    self.ready.extend(decoder.feed(&piece)?);
                }
                Ok(Ok(None)) => {
                    if let Some((_, decoder)) = self.source.take() {
                        self.ready.extend(decoder.end()?);
                    }
                }
            }
        }
    }
}

impl Inner {
    /// Sends the request, without what this vendor does not want to hear.
    async fn begin(&self, mut request: Request) -> Result<Reading, ModelError> {
        let find = Arc::clone(&self.secrets);
        let found = chatos_blocking::run(move || find()).await;
        let secrets = found.map_err(|error| ModelError::new(Class::Config, error.to_string()))??;
        request.params.extra_body.extend(secrets.body.clone());
        for _ in 0..=LESSONS {
            let dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match self.attempt(&request, &dialect, &secrets).await {
                Ok(mut reading) => {
                    reading.values = secrets.values;
                    return Ok(reading);
                }
                Err(error) => {
                    let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
                    if !dialect.learn(&error) && !dialect.learn_call(self.protocol, &error) {
                        drop(dialect);
                        return Err(scrub(error, &secrets.values));
                    }
                }
            }
        }
        Err(ModelError::new(Class::InvalidRequest, "the vendor refuses one member after the other"))
    }

    async fn attempt(
        &self,
        request: &Request,
        dialect: &Dialect,
        secrets: &Secrets,
    ) -> Result<Reading, ModelError> {
        let protocol = self.protocol.spoken(dialect);
        let wire = protocol.wire(request, dialect);
        let mut outgoing = Outgoing::post(&self.base_url, &wire.path, &wire.body)?;
        for (name, value) in &wire.headers {
            outgoing.header(name, value)?;
        }
        if let Some(key) = &secrets.key {
            let (name, value) = protocol.auth(&self.provider, key);
            outgoing.header(name, &Zeroizing::new(value))?;
        }
        for (name, value) in &secrets.headers {
            outgoing.header(name, value)?;
        }
        // Addresses of models come from a person alone, who may well mean this machine; the address
        // of cloud metadata is refused even so (security T20).
        let sent = self.connections.send(outgoing, Addresses::Private, secrets.proxy.as_ref());
        let answer = tokio::time::timeout(self.patience.first, sent).await;
        let mut answer = answer.map_err(|_| {
            let waited = self.patience.first.as_secs();
            let text = format!("no answer came within {waited} s; is the model server busy, loading or stuck? (modelSilenceSeconds)");
            ModelError::new(Class::Network, text)
        })??;
        if !(200..300).contains(&answer.status) {
            let wait = answer.header("retry-after").and_then(|text| retry_after(text, Timestamp::now()));
            let wait = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
            if (300..400).contains(&answer.status) {
                let to = answer.header("location").unwrap_or("nowhere").to_owned();
                let text = format!("the address leads elsewhere ({to}); use the address of the model itself");
                return Err(ModelError::new(Class::Config, text).with_status(answer.status));
            }
            let body = answer.body.collect(REFUSAL_BYTES, self.patience.idle).await;
            return Err(protocol.refused(answer.status, wait, &body));
        }
        if answer
            .header("content-encoding")
            .is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity"))
        {
            return Err(ModelError::new(Class::Server, "the answer is compressed, which was not asked for"));
        }
        let kind = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
        if kind.starts_with("text/html") {
            let text = "a web page answers there, not a model; look at the address";
            return Err(ModelError::new(Class::Config, text).with_status(answer.status));
        }
        let idle = self.patience.idle;
        let mut reading =
            Reading { ready: VecDeque::new(), source: None, idle, bytes: 0, values: Vec::new() };
        if kind.starts_with("application/json") {
            let body = answer.body.collect(ANSWER_BYTES, idle).await;
            reading.ready.extend(protocol.whole(&body)?);
        } else {
            reading.source = Some((answer.body, protocol.decoder()));
        }
        Ok(reading)
    }
}
