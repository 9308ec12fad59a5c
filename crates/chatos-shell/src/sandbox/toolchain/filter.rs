//! Configuration files without what is secret in them.

/// Words in the name of an entry whose value is a secret.
const SECRET_NAMES: [&str; 10] = [
    "token",
    "_auth",
    "password",
    "passwd",
    "secret",
    "smtppass",
    "extraheader",
    "apikey",
    "api_key",
    "private_key",
];

/// Whether an entry of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // A helper that fetches secrets is none itself.
    SECRET_NAMES.iter().any(|word| name.contains(word)) && !name.contains("credential-provider")
}

/// A file of lines `name = value`, as npm, pip and cargo have them, without secrets. `None` where there are none.
/// What cannot be taken apart is left out whole.
pub(super) fn lines(text: &str) -> Option<String> {
    let mut kept = String::with_capacity(text.len());
    let mut changed = false;
    let mut dropping = false;
    for line in text.lines() {
        let comment = matches!(line.trim_start().chars().next(), Some('#' | ';'));
        // pip: a value goes on in indented lines.
        if dropping && line.starts_with([' ', '\t']) && !line.trim().is_empty() {
            continue;
        }
        dropping = false;
        if comment || names(line).any(is_secret_name) {
            // What somebody commented out may be a secret, too.
            let secret = !comment || line.contains('=') && (names(line).any(is_secret_name));
            if secret {
                if line.contains("\"\"\"") || line.contains("'''") {
                    return Some(String::new());
                }
                changed = true;
                dropping = true;
                continue;
            }
        }
        let bare = without_users(line);
        changed |= bare.is_some();
        kept.push_str(bare.as_deref().unwrap_or(line));
        kept.push('\n');
    }
    changed.then_some(kept)
}

/// What stands before each `=` of a line: one name in most files, several in a table that stands in one line.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split('=').count();
    line.split('=').take(parts - 1).map(|part| part.rsplit(['{', ',']).next().unwrap_or(part))
}

/// Addresses without who signs in; `None` where nobody does.
pub(super) fn without_users(text: &str) -> Option<String> {
    let mut result = String::new();
    let mut rest = text;
    let mut changed = false;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        result.push_str(before);
        let end = after
            .find(|c: char| c == '/' || c == '"' || c == '\'' || c == '?' || c == '#' || c.is_whitespace())
            .unwrap_or(after.len());
        let user = after[..end].rfind('@');
        let web = before.to_ascii_lowercase().ends_with("http://")
            || before.to_ascii_lowercase().ends_with("https://");
        match user {
            // `ssh://git@host` names an account; only a word after the colon is a secret there.
            Some(user) if web || after[..user].contains(':') => {
                changed = true;
                rest = &after[user + 1..];
            }
            _ => rest = after,
        }
    }
    result.push_str(rest);
    changed.then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        let npm = "registry=https://npm.example/\n//npm.example/:_authToken=abc\n; _auth=old\n# a word\nproxy=http://me:pw@proxy:1/\n";
        assert_eq!(
            lines(npm).as_deref(),
            Some("registry=https://npm.example/\n# a word\nproxy=http://proxy:1/\n")
        );
        let cargo = "[registries.a]\nindex = \"sparse+https://a/\"\ntoken = \"abc\"\n[source]\nb = { registry = \"x\", token = \"abc\" }\n[net]\noffline = true\n";
        assert_eq!(
            lines(cargo).as_deref(),
            Some("[registries.a]\nindex = \"sparse+https://a/\"\n[source]\n[net]\noffline = true\n")
        );
        assert_eq!(lines("token = \"\"\"\nabc\n\"\"\"\n").as_deref(), Some(""));
        assert_eq!(
            lines("[global]\npassword =\n  abc\n  def\ntimeout = 3\n").as_deref(),
            Some("[global]\ntimeout = 3\n")
        );
        assert_eq!(lines("[global]\nindex-url = https://pypi.example/simple\n"), None);
    }

    #[test]
    fn addresses_lose_who_signs_in() {
        let cases = [
            ("https://ghp_abc@host/x", Some("https://host/x")),
            ("a https://u:p@h b http://v@k", Some("a https://h b http://k")),
            ("ssh://git@host/x", None),
            ("ssh://git:pw@host/x", Some("ssh://host/x")),
            ("git@host:x", None),
            ("https://host/@scope/x", None),
        ];
        for (text, bare) in cases {
            assert_eq!(without_users(text).as_deref(), bare, "{text}");
        }
    }
}
