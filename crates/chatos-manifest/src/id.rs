//! Plugin and app ids (plugin-manifest §2.3). Parsed once; a value of these types is safe to use
//! as a directory name, a map key and a part of a server name.

use serde::{Deserialize, Deserializer, Serialize};

use crate::limits;

/// Why a text is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Empty, too long, or characters outside the pattern.
    #[error("ids hold only letters, digits, `.`, `_`, `-`, start with a letter or digit, have no `..`")]
    Invalid,
    /// The pattern fits but the name means something else somewhere.
    #[error("this id is reserved")]
    Reserved,
}

macro_rules! id_type {
    ($(#[$doc:meta])* $name:ident, $max:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Checks the rule; the text is taken as it is (callers trim first where the file
            /// format says so).
            pub fn parse(text: &str) -> Result<Self, IdError> {
                check(text, $max).map(|()| Self(text.to_owned()))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::parse(text)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

id_type!(
    /// The id of a plugin: directory name, data directory, trust key, first half of server names.
    PluginId,
    limits::PLUGIN_ID_CHARS
);
id_type!(
    /// The id of an app, unique within its plugin.
    AppId,
    limits::APP_ID_CHARS
);

fn check(text: &str, max: usize) -> Result<(), IdError> {
    let bytes = text.as_bytes();
    let first_ok = bytes.first().is_some_and(u8::is_ascii_alphanumeric);
    let all_ok = bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    if !first_ok || !all_ok || bytes.len() > max || text.contains("..") {
        return Err(IdError::Invalid);
    }
    if text.ends_with('.') || matches!(text, "node_modules" | "constructor" | "prototype") || is_device(text)
    {
        return Err(IdError::Reserved);
    }
    Ok(())
}

/// Windows opens a device for these names whatever the extension, so a directory of that name
/// cannot be carried there.
fn is_device(text: &str) -> bool {
    let stem = text.split('.').next().unwrap_or_default().to_ascii_lowercase();
    match stem.as_str() {
        "con" | "prn" | "aux" | "nul" => true,
        _ => {
            stem.len() == 4
                && (stem.starts_with("com") || stem.starts_with("lpt"))
                && matches!(stem.as_bytes()[3], b'1'..=b'9')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern() {
        for good in
            ["a", "com.example.tools", "A-1_b.c", "0x", "com.example.ok", "con-fig", "com10", "a.con", "nulx"]
        {
            assert!(PluginId::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "a..b",
            "../x",
            "a/b",
            "a b",
            "-rf",
            "_a",
            "com.example@ok",
            "数据",
            "a\u{0}",
            "a\n",
            "~",
        ] {
            assert_eq!(PluginId::parse(bad), Err(IdError::Invalid), "{bad:?}");
        }
        for reserved in [
            "node_modules",
            "constructor",
            "prototype",
            "com.example.ok.",
            "con",
            "CON",
            "con.x",
            "Com1",
            "lpt9.a.b",
            "nul",
            "aux.",
            "prn",
        ] {
            assert_eq!(PluginId::parse(reserved), Err(IdError::Reserved), "{reserved}");
        }
    }

    #[test]
    fn the_lengths() {
        assert!(PluginId::parse(&"a".repeat(128)).is_ok());
        assert_eq!(PluginId::parse(&"a".repeat(129)), Err(IdError::Invalid));
        assert!(AppId::parse(&"a".repeat(64)).is_ok());
        assert_eq!(AppId::parse(&"a".repeat(65)), Err(IdError::Invalid));
    }
}
