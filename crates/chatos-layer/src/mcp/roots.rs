//! Folders an older client says it works in (other-agents §3.2): asked for once, and again after it said that
//! they are others.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::Mutex;

use super::door::Door;
use crate::client::{Capability, ClientAsk, ClientDoor};

/// A client that does not answer has said nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// More than any client has open.
const MOST: usize = 64;

#[derive(Default)]
pub(super) struct ClientRoots {
    revision: AtomicU64,
    // What it said, with the revision it was asked at. Held while it is asked: one question serves all calls.
    known: Mutex<Option<(u64, Vec<PathBuf>)>>,
}

impl ClientRoots {
    /// The client has others now.
    pub(super) fn changed(&self) {
        self.revision.fetch_add(1, Ordering::Relaxed);
    }

    /// Those that are directories here, in the client's order.
    pub(super) async fn of(&self, context: &RequestContext<RoleServer>) -> Vec<PathBuf> {
        let modern = |version: ProtocolVersion| version >= ProtocolVersion::V_2026_07_28;
        let client = Door::new(context, None);
        if context.protocol_version().is_none_or(modern) || !client.offers(Capability::Roots) {
            return Vec::new();
        }
        let mut known = self.known.lock().await;
        let revision = self.revision.load(Ordering::Relaxed);
        if let Some((_, roots)) = known.as_ref().filter(|(at, _)| *at == revision) {
            return roots.clone();
        }
        let said = tokio::time::timeout(PATIENCE, client.ask(ClientAsk::Roots)).await.ok().flatten();
        let roots = said.map(|said| read(&said)).unwrap_or_default();
        *known = Some((revision, roots.clone()));
        roots
    }
}

fn read(said: &Value) -> Vec<PathBuf> {
    let uris = said["roots"].as_array().into_iter().flatten().filter_map(|root| root["uri"].as_str());
    uris.filter_map(path_of).filter(|path| path.is_dir()).take(MOST).collect()
}

/// The path of a `file://` address on this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(left.next())?, digit(left.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    let text = String::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then(|| PathBuf::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_folder_is_read_and_nothing_else() {
        let path = |uri: &str| path_of(uri).map(|path| path.to_string_lossy().into_owned());
        assert_eq!(path("file:///home/u/my%20work").as_deref(), Some("/home/u/my work"));
        assert_eq!(path("file://localhost/a").as_deref(), Some("/a"));
        assert_eq!(path("file:///%E5%B7%A5%E4%BD%9C").as_deref(), Some("/工作"));
        for bad in [
            "/home/u",
            "https://x/a",
            "file://other/a",
            "file://",
            "file:///a%00b",
            "file:///%zz",
            "file:///%f",
        ] {
            assert_eq!(path(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_folders_that_are_there_count() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        std::fs::write(&file, "").unwrap();
        let uri = |path: &std::path::Path| format!("file://{}", path.display());
        let said = serde_json::json!({ "roots": [
            { "uri": uri(&file) }, { "uri": uri(&place.path().join("gone")) }, { "name": "none" },
            { "uri": uri(place.path()) },
        ] });
        assert_eq!(read(&said), [place.path()]);
        assert!(read(&serde_json::json!({ "roots": "x" })).is_empty());
    }
}
