//! What a refusal says about signing in: the header `WWW-Authenticate` (RFC 9110 §11.6.1, RFC 6750 §3).

use hyper::header::{HeaderMap, WWW_AUTHENTICATE};
use serde::{Deserialize, Serialize};

/// Longest value that is kept.
const LONGEST: usize = 2_048;

/// The parts of a `Bearer` challenge that matter. All of it is the server's word.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// Where the description of the server's sign-in is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_metadata: Option<String>,
    /// The scopes the refused request needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Why, as one of the words of RFC 6750 §3.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Challenge {
    /// The first `Bearer` challenge of an answer.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        values.filter_map(|value| value.to_str().ok()).find_map(Self::parse)
    }

    /// Whether the token was good and only its permissions did not suffice.
    pub fn wants_more(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// The scopes the refused request needs, each on its own.
    pub fn scopes(&self) -> Vec<String> {
        let scope = self.scope.as_deref().unwrap_or_default();
        super::scopes::clean(scope.split(' ').map(str::to_owned).collect())
    }

    fn parse(value: &str) -> Option<Self> {
        let mut found: Option<Self> = None;
        for item in Items(value) {
            match item {
                // The challenge after ours begins.
                Item::Scheme(_) if found.is_some() => break,
                Item::Scheme(scheme) if scheme.eq_ignore_ascii_case("bearer") => {
                    found = Some(Self::default());
                }
                Item::Scheme(_) => {}
                Item::Param(name, value) => {
                    let Some(challenge) = &mut found else { continue };
                    let field = match name.to_ascii_lowercase().as_str() {
                        "resource_metadata" => &mut challenge.resource_metadata,
                        "scope" => &mut challenge.scope,
                        "error" => &mut challenge.error,
                        _ => continue,
                    };
                    if value.len() <= LONGEST && !value.is_empty() {
                        field.get_or_insert(value);
                    }
                }
            }
        }
        found
    }
}

enum Item<'a> {
    Scheme(&'a str),
    Param(&'a str, String),
}

/// Reads schemes and parameters from the left; what is neither is passed over.
struct Items<'a>(&'a str);

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        loop {
            self.0 = self.0.trim_start_matches([' ', '\t', ',']);
            let first = self.0.chars().next()?;
            let end = self.0.find(|c: char| !is_token(c)).unwrap_or(self.0.len());
            if end == 0 {
                self.0 = &self.0[first.len_utf8()..];
                continue;
            }
            let (word, rest) = self.0.split_at(end);
            let Some(value) = rest.trim_start_matches([' ', '\t']).strip_prefix('=') else {
                self.0 = rest;
                return Some(Item::Scheme(word));
            };
            let value = value.trim_start_matches([' ', '\t']);
            if let Some(quoted) = value.strip_prefix('"') {
                let (value, rest) = unquote(quoted);
                self.0 = rest;
                return Some(Item::Param(word, value));
            }
            let end = value.find([',', ' ', '\t']).unwrap_or(value.len());
            let (value, rest) = value.split_at(end);
            self.0 = rest;
            return Some(Item::Param(word, value.to_owned()));
        }
    }
}

fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

fn unquote(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().unwrap());
        }
        Challenge::of(&headers)
    }

    #[test]
    fn the_bearer_challenge_is_found_among_others() {
        let expected = Challenge {
            resource_metadata: Some("https://a.example/x?y=1,2".to_owned()),
            scope: Some("a b".to_owned()),
            error: Some("insufficient_scope".to_owned()),
        };
        let text = r#"Bearer error="insufficient_scope", scope="a b", resource_metadata="https://a.example/x?y=1,2", error_description="a \"b\", scope=\"no\"""#;
        assert_eq!(of(&[text]), Some(expected.clone()));
        assert!(expected.wants_more());
        let two = format!(r#"Basic realm="x, Bearer scope=y", {text}, Digest scope="z""#);
        assert_eq!(of(&[&two]), Some(expected.clone()));
        assert_eq!(of(&["Basic realm=x", text]), Some(expected));
        assert_eq!(of(&["bearer"]), Some(Challenge::default()));
        assert_eq!(of(&["Bearer scope=one , error=invalid_token"]).unwrap().scope.as_deref(), Some("one"));
    }

    #[test]
    fn odd_headers_are_no_challenge_and_no_panic() {
        assert_eq!(of(&["Basic realm=x"]), None);
        assert_eq!(of(&[""]), None);
        assert_eq!(of(&["=,=\"\\"]), None);
        assert_eq!(of(&[r#"Bearer scope="open"#]).unwrap().scope.as_deref(), Some("open"));
        let long = format!("Bearer scope=\"{}\"", "x".repeat(LONGEST + 1));
        assert_eq!(of(&[&long]), Some(Challenge::default()));
        assert_eq!(
            of(&["Bearer scope=\"first\", scope=\"second\""]).unwrap().scope.as_deref(),
            Some("first")
        );
    }
}
