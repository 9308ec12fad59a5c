//! Secrets by the name of their key (tools §9.1).

/// Which rule hides a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The whole subtree.
    Key,
    /// Every value inside, the keys stay.
    Env,
    /// As `Env`.
    Headers,
}

impl Rule {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Env => "env",
            Self::Headers => "headers",
        }
    }
}

const WORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secrets",
    "apikey",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "bearer",
];
const PAIRS: [(&str, &str); 5] =
    [("api", "key"), ("private", "key"), ("access", "key"), ("client", "secret"), ("session", "token")];
const LAST: [&str; 2] = ["token", "auth"];
const NEVER_LAST: [&str; 4] = ["tokens", "count", "limit", "author"];
const NEVER: [&str; 3] = ["dedupe_key", "progressToken", "taskIdKey"];

pub(super) fn rule(key: &str) -> Option<Rule> {
    match key {
        "env" => return Some(Rule::Env),
        "headers" => return Some(Rule::Headers),
        _ if NEVER.contains(&key) => return None,
        _ => {}
    }
    let words = words(key);
    let last = words.last()?.as_str();
    if NEVER_LAST.contains(&last) {
        return None;
    }
    let hidden = words.iter().any(|word| WORDS.contains(&word.as_str()))
        || words.windows(2).any(|pair| PAIRS.contains(&(pair[0].as_str(), pair[1].as_str())))
        || LAST.contains(&last);
    hidden.then_some(Rule::Key)
}

/// Lower-case words, split at `_ - . space` and at camelCase borders (`APIKey` → `api key`).
fn words(key: &str) -> Vec<String> {
    // A name this long is no name; splitting it would only cost.
    if key.len() > 256 {
        return Vec::new();
    }
    let chars: Vec<char> = key.chars().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        if matches!(c, '_' | '-' | '.' | ' ') {
            words.push(std::mem::take(&mut word));
            continue;
        }
        let after_lower = at > 0 && (chars[at - 1].is_lowercase() || chars[at - 1].is_ascii_digit());
        let before_lower = at > 0
            && chars[at - 1].is_uppercase()
            && chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (after_lower || before_lower) {
            words.push(std::mem::take(&mut word));
        }
        word.extend(c.to_lowercase());
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hide() {
        for key in [
            "password",
            "PASSWORD",
            "db_password",
            "dbPassword",
            "user.passwd",
            "ssh-passphrase",
            "pwd",
            "secret",
            "clientSecret",
            "client_secret_id",
            "secrets",
            "apikey",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "APIKey",
            "myAPIKey",
            "private_key",
            "privateKeyPem",
            "accessKeyId",
            "aws access key",
            "Authorization",
            "cookie",
            "Set-Cookie",
            "credentials",
            "credential",
            "bearer",
            "token",
            "accessToken",
            "auth",
            "basicAuth",
            "session_token_value",
            "github.token",
        ] {
            assert_eq!(rule(key), Some(Rule::Key), "{key}");
        }
        assert_eq!((rule("env"), rule("headers")), (Some(Rule::Env), Some(Rule::Headers)));
    }

    #[test]
    fn names_that_do_not() {
        for key in [
            "author",
            "max_tokens",
            "maxTokens",
            "token_count",
            "tokenCount",
            "token_limit",
            "secret_count",
            "passwordLimit",
            "dedupe_key",
            "progressToken",
            "taskIdKey",
            "key",
            "keys",
            "tokenizer",
            "authority",
            "oauth2",
            "compass",
            "environment",
            "header",
            "",
            "_",
            "public_key",
            "secretary",
        ] {
            assert_eq!(rule(key), None, "{key}");
        }
    }
}
