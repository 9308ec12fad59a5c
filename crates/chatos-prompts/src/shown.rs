//! The digest of what a person was shown (`security T24`).

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::json::{Object, canonical};

/// `sha256:<hex>` over the canonical form of the prompt and, where the asker decides an effect, of
/// everything that decides it: target digests, argv, cwd, environment names, schema and plugin digests.
pub fn digest(prompt: &Object, effect: Option<&Value>) -> String {
    let whole = match effect {
        Some(effect) => json!({"prompt": prompt, "effect": effect}),
        None => json!({"prompt": prompt}),
    };
    let hash = Sha256::digest(canonical::to_vec(&whole));
    let mut text = String::with_capacity(71);
    text.push_str("sha256:");
    for byte in hash {
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_byte_changes_the_digest() {
        let prompt =
            |diff: &str| json!({"kind":"file_change_confirm","diff":diff}).as_object().unwrap().clone();
        let a = digest(&prompt("+a"), None);
        assert_eq!(a.len(), 71);
        assert_eq!(a, digest(&prompt("+a"), None));
        assert_ne!(a, digest(&prompt("+b"), None));
        assert_ne!(a, digest(&prompt("+a"), Some(&json!({"target":"sha256:1"}))));
    }
}
