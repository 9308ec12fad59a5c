//! What may be drawn for an app (plugins §2.4). Never an address: nothing is fetched.

use chatos_manifest::{RelPath, limits};
use serde::Serialize;

use super::files::Files;

/// The drawable part of `icon`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Icon {
    /// Short text or an emoji.
    Text {
        /// The text.
        text: String,
    },
    /// An image file of the plugin.
    File {
        /// Relative to the plugin directory.
        path: String,
    },
    /// Neither: the first letter of the name.
    Letter {
        /// The letter.
        text: String,
    },
}

pub(super) fn of(written: &str, name: &str, files: &mut Files<'_>) -> Icon {
    let letter = || Icon::Letter { text: name.chars().next().map(String::from).unwrap_or_default() };
    if written.is_empty() {
        return letter();
    }
    if written.chars().count() <= limits::ICON_CHARS && !written.contains(['/', ':']) && !is_image(written) {
        return Icon::Text { text: written.to_owned() };
    }
    if !is_image(written) {
        return letter();
    }
    match RelPath::parse(written) {
        Ok(path) if files.size(path.as_str()).is_some_and(|size| size <= limits::ICON_BYTES) => {
            Icon::File { path: path.as_str().to_owned() }
        }
        _ => letter(),
    }
}

fn is_image(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    [".png", ".jpg", ".webp", ".svg"].iter().any(|extension| lower.ends_with(extension))
}
