//! Which era of the protocol a server speaks, found out once (mcp, era).
//!
//! The newest revision has no handshake: `server/discover` is asked, and every request carries who we
//! are. A server that does not know it, or says nothing, gets the older `initialize`.

use serde_json::{Map, Value, json};

use crate::failure::{Failure, Waited};
use crate::hooks::Offers;
use crate::router::Ended;
use crate::session::{Ask, Session, Wait};
use crate::transport::http::VERSION as VERSION_HEADER;

/// The revision without sessions.
pub const MODERN: &str = "2026-07-28";
/// The newest revision with a handshake, which we propose; a server answers with its own.
pub const LEGACY: &str = "2025-11-25";
/// Every revision with a handshake; a server that answers with another one is not understood.
const LEGACY_VERSIONS: [&str; 5] = ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", LEGACY];
/// No such version: the data of the error names what the server supports.
const UNSUPPORTED_VERSION: i64 = -32022;
/// Refusals only a modern server sends.
const MODERN_REFUSALS: [i64; 2] = [-32020, -32021];

/// An era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// With a handshake and requests from the server.
    Legacy,
    /// Every request stands alone.
    Modern,
}

impl Era {
    /// As text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// Who a server says it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// Its era.
    pub era: Era,
    /// The revision in use.
    pub version: String,
    /// Name, title, version, as it says.
    pub info: Value,
    /// What it can do.
    pub capabilities: Value,
    /// How it wants to be used.
    pub instructions: Option<String>,
}

/// Who we are to servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Our name.
    pub name: String,
    /// For people.
    pub title: String,
    /// Our version.
    pub version: String,
}

impl Default for Identity {
    fn default() -> Self {
        Self {
            name: "chatos".to_owned(),
            title: "ChatOS".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

impl Identity {
    fn to_json(&self) -> Value {
        json!({ "name": self.name, "title": self.title, "version": self.version })
    }
}

/// What every message of a modern connection carries.
pub(crate) fn modern_meta(identity: &Identity, offers: Offers) -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!(MODERN));
    meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), identity.to_json());
    meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities(offers, Era::Modern));
    meta
}

fn capabilities(offers: Offers, era: Era) -> Value {
    let mut all = Map::new();
    if offers.elicitation {
        all.insert("elicitation".to_owned(), json!({ "form": {}, "url": {} }));
    }
    if offers.sampling {
        all.insert("sampling".to_owned(), json!({}));
    }
    if offers.roots {
        all.insert("roots".to_owned(), json!({}));
    }
    let mut extensions = Map::new();
    if offers.tasks && era == Era::Modern {
        extensions.insert("io.modelcontextprotocol/tasks".to_owned(), json!({}));
    }
    if offers.views {
        let kinds = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
        extensions.insert("io.modelcontextprotocol/ui".to_owned(), kinds);
    }
    if !extensions.is_empty() {
        all.insert("extensions".to_owned(), Value::Object(extensions));
    }
    Value::Object(all)
}

/// What the probe found.
enum Probe {
    Modern(Peer),
    Legacy,
}

/// Agrees on an era. `known` is what was found the last time. The caller bounds the time.
pub(crate) async fn shake(
    session: &Session,
    identity: &Identity,
    offers: Offers,
    known: Option<Era>,
) -> Result<Peer, Ended> {
    if known == Some(Era::Legacy) {
        return initialize(session, identity, offers).await;
    }
    let mut discover = Box::pin(discover(session, identity, offers));
    match tokio::time::timeout(session.times.probe, &mut discover).await {
        Ok(probe) => match probe? {
            Probe::Modern(peer) => Ok(peer),
            Probe::Legacy => initialize(session, identity, offers).await,
        },
        // Silence: a slow start, or a server that ignores what it does not know. Whichever question
        // it answers decides.
        Err(_) => {
            let mut older = Box::pin(initialize(session, identity, offers));
            tokio::select! {
                biased;
                probe = &mut discover => match probe {
                    Ok(Probe::Modern(peer)) => Ok(peer),
                    Ok(Probe::Legacy) | Err(_) => older.await,
                },
                peer = &mut older => match peer {
                    Ok(peer) => Ok(peer),
                    // A slow modern server refuses the old handshake; its answer to the probe is near.
                    Err(refused) => match discover.await {
                        Ok(Probe::Modern(peer)) => Ok(peer),
                        Ok(Probe::Legacy) | Err(_) => Err(refused),
                    },
                },
            }
        }
    }
}

async fn discover(session: &Session, identity: &Identity, offers: Offers) -> Result<Probe, Ended> {
    let mut asked = 0;
    let result = loop {
        asked += 1;
        let error = match ask_discover(session, identity, offers).await {
            Ok(result) => break result,
            Err(Ended { failure: Failure::Rpc(error), .. }) if !MODERN_REFUSALS.contains(&error.code) => {
                error
            }
            // Servers from before this revision refuse what has no session, each in its own way.
            Err(Ended {
                failure: Failure::Http { status: 400..=599, .. } | Failure::Protocol { .. },
                ..
            }) => {
                return Ok(Probe::Legacy);
            }
            Err(ended) => return Err(ended),
        };
        let supported = error.data.as_ref().and_then(|data| data.get("supported")).and_then(Value::as_array);
        let Some(supported) = supported.filter(|_| error.code == UNSUPPORTED_VERSION) else {
            return Ok(Probe::Legacy);
        };
        // A server in the middle of an update may refuse and name the very version it was asked with.
        if asked == 1 && supported.iter().any(|version| version == MODERN) {
            continue;
        }
        if supported.iter().any(is_legacy_version) {
            return Ok(Probe::Legacy);
        }
        let detail = format!("it speaks none of our versions: {error}");
        return Err(Ended { failure: Failure::Protocol { detail }, sent: true });
    };
    let versions = result.get("supportedVersions").and_then(Value::as_array);
    // A server that answers every unknown method with an empty result is an old one.
    let Some(versions) = versions else { return Ok(Probe::Legacy) };
    if !versions.iter().any(|version| version == MODERN) {
        if versions.iter().any(is_legacy_version) {
            return Ok(Probe::Legacy);
        }
        let detail = "it speaks none of our versions".to_owned();
        return Err(Ended { failure: Failure::Protocol { detail }, sent: true });
    }
    let info = result.pointer("/_meta/io.modelcontextprotocol~1serverInfo").cloned().unwrap_or(Value::Null);
    Ok(Probe::Modern(peer(Era::Modern, MODERN.to_owned(), info, &result)))
}

async fn ask_discover(session: &Session, identity: &Identity, offers: Offers) -> Result<Value, Ended> {
    let mut params = Map::new();
    params.insert("_meta".to_owned(), Value::Object(modern_meta(identity, offers)));
    let wait = Wait::total(Waited::Start, session.times.init);
    let mut ask = Ask::new("server/discover", params, wait);
    ask.headers = vec![
        (VERSION_HEADER.to_owned(), MODERN.to_owned()),
        ("Mcp-Method".to_owned(), "server/discover".to_owned()),
    ];
    session.ask(ask).await
}

fn is_legacy_version(version: &Value) -> bool {
    version.as_str().is_some_and(|version| LEGACY_VERSIONS.contains(&version))
}

async fn initialize(session: &Session, identity: &Identity, offers: Offers) -> Result<Peer, Ended> {
    let params = json!({
        "protocolVersion": LEGACY,
        "capabilities": capabilities(offers, Era::Legacy),
        "clientInfo": identity.to_json(),
    });
    let params = params.as_object().cloned().unwrap_or_default();
    let wait = Wait::total(Waited::Start, session.times.init);
    let result = session.ask(Ask::new("initialize", params, wait)).await?;
    let Some(version) = result.get("protocolVersion").and_then(Value::as_str) else {
        let detail = "its answer to `initialize` names no version".to_owned();
        return Err(Ended { failure: Failure::Protocol { detail }, sent: true });
    };
    if !LEGACY_VERSIONS.contains(&version) {
        let shown: String = version.chars().filter(|c| !c.is_control()).take(40).collect();
        let detail = format!(
            "it answers with the protocol version `{shown}`; known are {} and {MODERN}",
            LEGACY_VERSIONS.join(", ")
        );
        return Err(Ended { failure: Failure::Protocol { detail }, sent: true });
    }
    let info = result.get("serverInfo").cloned().unwrap_or(Value::Null);
    Ok(peer(Era::Legacy, version.to_owned(), info, &result))
}

fn peer(era: Era, version: String, info: Value, result: &Value) -> Peer {
    let capabilities = result.get("capabilities").filter(|value| value.is_object()).cloned();
    let instructions = result.get("instructions").and_then(Value::as_str).map(str::to_owned);
    Peer { era, version, info, capabilities: capabilities.unwrap_or_else(|| json!({})), instructions }
}
