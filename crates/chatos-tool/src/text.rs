//! The two languages everything a person reads exists in.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A language of the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Lang {
    /// The code on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Picks a language from a locale or `Accept-Language` value such as `zh_CN.UTF-8` or `zh-CN,en;q=0.8`.
    pub fn from_locale(value: &str) -> Self {
        let first = value.split([',', ';', ':']).next().unwrap_or_default().trim();
        let start = first.get(..2).unwrap_or_default();
        if start.eq_ignore_ascii_case("zh") { Self::Zh } else { Self::En }
    }

    /// The language the variables of a process ask for: the first of them that is not blank.
    pub fn of_variables<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Self {
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(get);
        named.filter(|value| !value.trim().is_empty()).map(Self::from_locale).next().unwrap_or_default()
    }
}

impl FromStr for Lang {
    type Err = String;

    fn from_str(value: &str) -> Result<Self, Self::Err> {
        match value {
            "zh" => Ok(Self::Zh),
            "en" => Ok(Self::En),
            other => Err(format!("`{other}` is not a language of ChatOS; use zh or en")),
        }
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One sentence or label in both languages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    /// English.
    pub en: Cow<'static, str>,
    /// Chinese.
    pub zh: Cow<'static, str>,
}

impl Text {
    /// A text known at compile time.
    pub const fn fixed(en: &'static str, zh: &'static str) -> Self {
        Self { en: Cow::Borrowed(en), zh: Cow::Borrowed(zh) }
    }

    /// A text made at run time.
    pub fn new(en: impl Into<Cow<'static, str>>, zh: impl Into<Cow<'static, str>>) -> Self {
        Self { en: en.into(), zh: zh.into() }
    }

    /// A text that is the same in both languages, such as a quoted system message.
    pub fn same(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self { en: text.clone(), zh: text }
    }

    /// The text in one language.
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_map_to_a_language() {
        for (value, lang) in [
            ("zh_CN.UTF-8", Lang::Zh),
            ("zh-TW,zh;q=0.9,en;q=0.8", Lang::Zh),
            ("ZH", Lang::Zh),
            ("en_US.UTF-8", Lang::En),
            ("C.UTF-8", Lang::En),
            ("", Lang::En),
            ("é", Lang::En),
        ] {
            assert_eq!(Lang::from_locale(value), lang, "{value}");
        }
    }
}
