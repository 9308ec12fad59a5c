//! Text in the two languages people read here, and safe quoting of values that strangers wrote.

use serde::{Deserialize, Serialize};

/// A language of messages and hints. Codes are never translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

/// One sentence in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Text {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl Text {
    /// A text from its two versions.
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { en: en.into(), zh: zh.into() }
    }

    /// The version in `lang`.
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }
}

/// Longest quoted value in a message. Values come from hostile files; a message that repeats a
/// megabyte of them would be an attack of its own.
const QUOTED_CHARS: usize = 120;

/// `value` in double quotes: cut to 120 characters, with control, bidi and zero-width characters
/// written as `\u{…}` so that a terminal or a page shows what is really there.
pub fn quote(value: &str) -> String {
    let mut out = String::with_capacity(value.len().min(QUOTED_CHARS * 4) + 2);
    out.push('"');
    push_visible(&mut out, value);
    out.push('"');
    out
}

/// Like [`quote`] without the quotes, for paths at the end of a message.
pub fn visible(value: &str) -> String {
    let mut out = String::with_capacity(value.len().min(QUOTED_CHARS * 4));
    push_visible(&mut out, value);
    out
}

fn push_visible(out: &mut String, value: &str) {
    for (count, c) in value.chars().enumerate() {
        if count == QUOTED_CHARS {
            out.push('…');
            return;
        }
        if is_invisible(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
}

/// Characters that change how a line looks without being seen themselves.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_shows_what_is_there_and_is_bounded() {
        assert_eq!(quote("a\u{202e}b\n"), "\"a\\u{202e}b\\u{a}\"");
        assert_eq!(quote("数据"), "\"数据\"");
        let long = quote(&"x".repeat(100_000));
        assert_eq!(long.chars().count(), 123);
        assert!(long.ends_with("…\""));
    }
}
