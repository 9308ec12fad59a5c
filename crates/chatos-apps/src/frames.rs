//! Frame revisions: which bytes of a plugin may be served to its frames, under which unguessable name
//! (host-api §2.2). A revision is minted for one digest; when the digest, the grants or trust change,
//! its name is gone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use chatos_manifest::PluginId;
use chatos_paths::{Beneath, InsideError};
use chatos_plugins::{Digest, Inventory, Origin, Snapshot};
use chatos_tool::{Fault, hex};
use sha2::{Digest as _, Sha256};

use crate::apps::Apps;

/// Handshake nonces kept; each belongs to one opening of an app. More openings than this are not on
/// one person's screen.
const NONCES: usize = 4_096;

/// What a person added to the policy of a plugin's frames.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FramePolicy {
    /// Hosts frames may connect to, as the person wrote them.
    pub hosts: Vec<String>,
    /// Frames may evaluate text as code (`'unsafe-eval'`).
    pub unsafe_eval: bool,
}

impl FramePolicy {
    /// CSP sources of the hosts.
    pub fn sources(&self) -> Vec<String> {
        self.hosts.iter().filter_map(|host| network_sources(host)).flatten().collect()
    }
}

/// One state of a plugin's files, for one origin of the page.
#[derive(Debug)]
pub struct Revision {
    /// Its name in addresses.
    pub rev: String,
    /// The plugin whose files these are.
    pub plugin: PluginId,
    /// The page that may show its frames.
    pub ui_origin: String,
    /// What a person added to the policy of its frames.
    pub policy: FramePolicy,
    /// A plugin under development: nothing is cached, files are served as they are.
    pub dev: bool,
    dir: PathBuf,
    digest: Digest,
    /// SHA-256 of every file, in hex.
    hashes: HashSet<String>,
}

/// What a request for a revision meets.
#[derive(Debug)]
pub enum Looked {
    /// The revision is current and may be served.
    Found(Arc<Revision>),
    /// No plugin has this hash.
    Unknown,
    /// The plugin may not be used.
    Untrusted,
    /// There was one, or there might have been; open the app again.
    Gone,
}

/// A file of a plugin.
#[derive(Debug)]
pub enum FrameAsset {
    /// Its bytes, which are those of the revision.
    Bytes(Vec<u8>),
    /// There is no such file inside the plugin.
    Missing,
    /// It is not the file any more that the revision was made of.
    Changed,
}

/// The current revisions of all plugins, and the nonces of opened apps.
#[derive(Default)]
pub(crate) struct Revisions {
    minted: u64,
    by_hash: HashMap<String, Vec<Arc<Revision>>>,
    nonces: HashSet<String>,
    order: VecDeque<String>,
}

/// The name of a plugin in its origin: 20 hex digits of SHA-256 of the id (host-api §2.1).
pub fn frame_hash(plugin: &str) -> String {
    hex(&Sha256::digest(plugin.as_bytes())[..10])
}

/// 128 random bits in base32, lower case.
pub(crate) fn random_name() -> Result<String, Fault> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Fault::new(
            chatos_tool::ErrorCode::Unavailable,
            chatos_tool::Text::fixed("the system gives no random numbers", "系统无法提供随机数"),
        )
        .caused_by(&std::io::Error::other(error.to_string()))
    })?;
    let mut bits = u128::from_be_bytes(bytes);
    let mut name = String::with_capacity(26);
    for _ in 0..26 {
        name.push(char::from(LETTERS[(bits & 31) as usize]));
        bits >>= 5;
    }
    Ok(name)
}

/// CSP sources of a host a person allowed; `None` when it is none. Wildcards are not hosts.
pub(crate) fn network_sources(value: &str) -> Option<Vec<String>> {
    let (scheme, rest) = match value.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, value),
    };
    if scheme.is_some_and(|scheme| !matches!(scheme, "http" | "https" | "ws" | "wss")) {
        return None;
    }
    let (name, port) = rest.split_once(':').map_or((rest, None), |(name, port)| (name, Some(port)));
    let named = !name.is_empty()
        && name.len() <= 253
        && name.split('.').all(|label| {
            !label.is_empty()
                && label.len() <= 63
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        });
    let numbered = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    if !named || !numbered {
        return None;
    }
    let rest = rest.to_ascii_lowercase();
    Some(match scheme {
        Some(scheme) => vec![format!("{scheme}://{rest}")],
        None => vec![format!("https://{rest}"), format!("wss://{rest}")],
    })
}

impl Revision {
    /// Reads a file of the plugin. Only bytes of the revision are given: what was changed since a
    /// person trusted it is not served, not even before the watcher noticed (security T6).
    pub fn read(&self, path: &str) -> FrameAsset {
        let opened = Beneath::open(&self.dir).map_err(|_| InsideError::Missing(path.to_owned()));
        let Ok(inside) = opened.and_then(|root| root.file(path)) else { return FrameAsset::Missing };
        let mut bytes = Vec::new();
        if let Err(error) = inside.into_file().read_to_end(&mut bytes) {
            tracing::warn!(%error, plugin = %self.plugin, path, "a file of a plugin cannot be read");
            return FrameAsset::Missing;
        }
        if self.dev || self.hashes.contains(&hex(&Sha256::digest(&bytes))) {
            FrameAsset::Bytes(bytes)
        } else {
            FrameAsset::Changed
        }
    }
}

impl Revisions {
    /// The revision for these bytes, minted when they are new. Others of the plugin are gone then.
    pub(crate) fn take(
        &mut self,
        plugin: &chatos_plugins::Plugin,
        found: &Inventory,
        ui_origin: &str,
        policy: &FramePolicy,
    ) -> Result<Arc<Revision>, Fault> {
        let all = self.by_hash.entry(frame_hash(plugin.id().as_str())).or_default();
        all.retain(|known| known.digest == found.digest && known.policy == *policy);
        if let Some(known) = all.iter().find(|known| known.ui_origin == ui_origin) {
            return Ok(Arc::clone(known));
        }
        self.minted += 1;
        let revision = Arc::new(Revision {
            rev: format!("{}-{}", self.minted, random_name()?),
            plugin: plugin.id().clone(),
            ui_origin: ui_origin.to_owned(),
            policy: policy.clone(),
            dev: plugin.loaded.origin == Origin::Dev,
            dir: plugin.loaded.dir.clone(),
            digest: found.digest.clone(),
            hashes: found.files.iter().map(|file| file.sha256.clone()).collect(),
        });
        all.push(Arc::clone(&revision));
        Ok(revision)
    }

    pub(crate) fn new_nonce(&mut self) -> Result<String, Fault> {
        let nonce = random_name()?;
        self.nonces.insert(nonce.clone());
        self.order.push_back(nonce.clone());
        while self.order.len() > NONCES {
            if let Some(old) = self.order.pop_front() {
                self.nonces.remove(&old);
            }
        }
        Ok(nonce)
    }

    /// Forgets the revisions of a plugin; the newest name, when there was one.
    pub(crate) fn forget(&mut self, plugin: &PluginId) -> Option<String> {
        let all = self.by_hash.remove(&frame_hash(plugin.as_str()))?;
        all.last().map(|revision| revision.rev.clone())
    }

    /// Whether all revisions of a plugin are of these bytes.
    pub(crate) fn is_current(&self, plugin: &PluginId, digest: Option<&Digest>) -> bool {
        let all = self.by_hash.get(&frame_hash(plugin.as_str()));
        all.is_none_or(|all| all.iter().all(|revision| Some(&revision.digest) == digest))
    }

    /// Plugins with a revision.
    pub(crate) fn plugins(&self) -> Vec<PluginId> {
        self.by_hash.values().filter_map(|all| all.first()).map(|first| first.plugin.clone()).collect()
    }

    fn current(&self, hash: &str, rev: &str) -> Option<Arc<Revision>> {
        self.by_hash.get(hash)?.iter().find(|known| known.rev == rev).cloned()
    }
}

impl Apps {
    /// A nonce that was minted here.
    pub fn knows_nonce(&self, nonce: &str) -> bool {
        self.revisions().nonces.contains(nonce)
    }
}

impl Apps {
    /// What a request for revision `rev` of the plugin with this hash meets.
    pub fn frame_revision(&self, hash: &str, rev: &str) -> Result<Looked, Fault> {
        let snapshot = self.plugins()?.snapshot();
        let found = self.revisions().current(hash, rev);
        if let Some(revision) = found {
            return Ok(match snapshot.plugin(&revision.plugin) {
                Some(plugin) if !plugin.is_trusted() => Looked::Untrusted,
                Some(plugin) if plugin.loaded.dir == revision.dir => Looked::Found(revision),
                _ => Looked::Gone,
            });
        }
        Ok(match by_hash(&snapshot, hash) {
            None => Looked::Unknown,
            Some(false) => Looked::Untrusted,
            Some(true) => Looked::Gone,
        })
    }

    /// Whether frames of the plugin with this hash may be served at all; `None` when there is none.
    pub fn frame_plugin_trusted(&self, hash: &str) -> Result<Option<bool>, Fault> {
        Ok(by_hash(&self.plugins()?.snapshot(), hash))
    }
}

/// Whether the plugin in use with this hash is trusted.
fn by_hash(snapshot: &Snapshot, hash: &str) -> Option<bool> {
    let mut active = snapshot.plugins.iter().filter(|plugin| plugin.active);
    active.find(|plugin| frame_hash(plugin.id().as_str()) == hash).map(|plugin| plugin.is_trusted())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_documented_one() {
        assert_eq!(frame_hash("com.example.tools"), "025e8f2bba989c090664");
    }

    #[test]
    fn names_are_128_bits_and_never_the_same() {
        let names: HashSet<String> = (0..1_000).map(|_| random_name().unwrap()).collect();
        assert_eq!(names.len(), 1_000);
        assert!(names.iter().all(|name| name.len() == 26));
    }

    #[test]
    fn only_plain_hosts_can_be_allowed() {
        assert_eq!(
            network_sources("API.example.com").unwrap(),
            ["https://api.example.com", "wss://api.example.com"]
        );
        assert_eq!(network_sources("http://a.example:8080").unwrap(), ["http://a.example:8080"]);
        for bad in [
            "",
            "*",
            "*.example.com",
            "https:",
            "https://",
            "ftp://a.example",
            "a.example/path",
            "a b",
            "a;script-src",
            "a.example:0",
            "a.example:99999",
            "user@a.example",
            "-a.example",
            "'unsafe-inline'",
            "data:",
            "a..b",
        ] {
            assert_eq!(network_sources(bad), None, "{bad}");
        }
    }
}
