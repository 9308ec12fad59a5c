//! Names that travel in prompt entries: request ids, run ids, owners and answerers.
//!
//! Each is parsed once at the edge (`ui-prompts §2`) and never checked again.

use std::fmt;

use uuid::Uuid;

/// Prefix of the second spelling of a task result's id (seed 003 §3).
pub(crate) const TWIN_PREFIX: &str = "mcp-task:";

/// Longest request or run id in bytes.
const MAX_ID_BYTES: usize = 256;

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id is 1 to 256 bytes after trimming, without control characters")]
pub struct IdError;

/// An id of 1..256 bytes of ASCII without blanks and control characters.
#[inline]
pub(crate) fn is_plain(id: &[u8]) -> bool {
    // No early end: the loop over so few bytes is quickest without branches.
    let other = id.iter().fold(0, |other, b| other | u8::from(!(0x21..0x7f).contains(b)));
    other == 0 && !id.is_empty() && id.len() <= MAX_ID_BYTES
}

/// Trims `text` and applies the rule of `ui-prompts §2`: 1..256 bytes, no control characters.
#[inline]
pub(crate) fn checked(text: &str) -> Result<&str, IdError> {
    // Nearly every id is; then there is nothing to trim or to look up.
    if is_plain(text.as_bytes()) {
        return Ok(text);
    }
    let trimmed = text.trim();
    let fits = !trimmed.is_empty() && trimmed.len() <= MAX_ID_BYTES;
    if fits && !trimmed.chars().any(char::is_control) { Ok(trimmed) } else { Err(IdError) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Trims and checks `text` (`ui-prompts §2`).
            pub fn parse(text: &str) -> Result<Self, IdError> {
                checked(text).map(|id| Self(id.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

id! {
    /// The id of one question and of its answer.
    RequestId
}
id! {
    /// The run a prompt belongs to.
    RunId
}

impl RequestId {
    /// A new time-ordered id, made when the asker gave none.
    pub fn mint() -> Self {
        Self(Uuid::now_v7().to_string())
    }

    /// The other spelling of a task result's id: `X` ↔ `mcp-task:X` (`ui-prompts §4`).
    /// `None` when the other spelling would be longer than an id may be.
    pub fn twin(&self) -> Option<Self> {
        twin_of(&self.0).map(Self)
    }
}

/// See [`RequestId::twin`]; on a text that is already known to be an id.
pub(crate) fn twin_of(id: &str) -> Option<String> {
    let twin = match id.strip_prefix(TWIN_PREFIX) {
        Some(base) => base.to_owned(),
        None => format!("{TWIN_PREFIX}{id}"),
    };
    checked(&twin).is_ok_and(|kept| kept.len() == twin.len()).then_some(twin)
}

/// The id of an asynchronous task, minted by the host (`security T16`: at least 122 random bits).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaskId(String);

impl TaskId {
    pub fn mint() -> Self {
        Self(format!("task_{}", Uuid::new_v4()))
    }

    /// A task id the person's own call brought along (`ai-contributions §11.2` step 1).
    pub fn given(text: &str) -> Result<Self, IdError> {
        checked(text).map(|id| Self(id.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who asked, as stamped by the host on a served request (`ui-prompts §2`, key `owner`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Owner(String);

impl Owner {
    /// A built-in server of the host.
    pub fn host_server(name: &str) -> Self {
        Self(format!("host:{name}"))
    }

    /// The run loop itself: tool approvals, trust, budget.
    pub fn host_run() -> Self {
        Self("host:run".to_owned())
    }

    /// An MCP server, by its identity (`app:<pluginId>/<appId>` or `admin:<id>`).
    pub fn mcp(identity: &str) -> Self {
        Self(format!("mcp:{identity}"))
    }

    /// A UI app through its port.
    pub fn app(plugin_id: &str, app_id: &str) -> Self {
        Self(format!("app:{plugin_id}/{app_id}"))
    }

    /// A person's own script, through the API or the terminal.
    pub fn user() -> Self {
        Self("user".to_owned())
    }

    /// An owner read back from the store or a verified line.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True for prompts an app asked through its port (not for its MCP server).
    pub fn is_app(&self) -> bool {
        self.0.starts_with("app:")
    }

    /// True for the host's own parts and for MCP servers it asks for.
    pub fn is_served(&self) -> bool {
        self.0.starts_with("host:") || self.0.starts_with("mcp:")
    }

    /// True when the asker, as an app or as its MCP server, belongs to this plugin.
    pub fn belongs_to_plugin(&self, plugin_id: &str) -> bool {
        let rest = self.0.strip_prefix("mcp:").unwrap_or(&self.0);
        rest.strip_prefix("app:").and_then(|r| r.strip_prefix(plugin_id)).is_some_and(|r| r.starts_with('/'))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who answers (`ui-prompts §2`, key `by`).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Answerer {
    /// A person at one of the surfaces.
    Person(Surface),
    /// The app with this owner name, through its port.
    App(Owner),
    /// The host itself.
    Host(HostReason),
}

/// Where a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    Ui,
    Cli,
    Api,
    /// An elicitation answered inside the connected MCP client.
    Client,
    /// A button of a desktop notification.
    Desktop,
    /// A button of a message elsewhere.
    Ntfy,
    Telegram,
}

/// Why the host closed a prompt on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostReason {
    Timeout,
    Orphan,
    Abort,
    Auto,
}

impl fmt::Display for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Person(Surface::Ui) => "person:ui",
            Self::Person(Surface::Cli) => "person:cli",
            Self::Person(Surface::Api) => "person:api",
            Self::Person(Surface::Client) => "person:client",
            Self::Person(Surface::Desktop) => "person:link:desktop",
            Self::Person(Surface::Ntfy) => "person:link:ntfy",
            Self::Person(Surface::Telegram) => "person:link:telegram",
            Self::App(owner) => owner.as_str(),
            Self::Host(HostReason::Timeout) => "host:timeout",
            Self::Host(HostReason::Orphan) => "host:orphan",
            Self::Host(HostReason::Abort) => "host:abort",
            Self::Host(HostReason::Auto) => "host:auto",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_trimmed_and_bounded() {
        assert_eq!(RequestId::parse("  a b ").unwrap().as_str(), "a b");
        for bad in ["", "   ", "a\u{7}b", "a\nb", "x\u{85}y", &"x".repeat(257)] {
            assert_eq!(RequestId::parse(bad), Err(IdError), "{bad:?}");
        }
        assert!(RequestId::parse(&"x".repeat(256)).is_ok());
    }

    #[test]
    fn twins_are_mutual() {
        let id = RequestId::parse("task_1").unwrap();
        let twin = id.twin().unwrap();
        assert_eq!(twin.as_str(), "mcp-task:task_1");
        assert_eq!(twin.twin(), Some(id));
        assert_eq!(RequestId::parse(&"x".repeat(250)).unwrap().twin(), None);
        assert_eq!(RequestId::parse("mcp-task:").unwrap().twin(), None);
    }

    #[test]
    fn plugin_ownership_needs_the_whole_id() {
        assert!(Owner::app("com.x", "a").belongs_to_plugin("com.x"));
        assert!(Owner::mcp("app:com.x/a").belongs_to_plugin("com.x"));
        assert!(!Owner::app("com.xy", "a").belongs_to_plugin("com.x"));
        assert!(!Owner::user().belongs_to_plugin("com.x"));
    }
}
