//! What a child may see of the host's environment (plugins §1.3, security T13).

use std::ffi::{OsStr, OsString};

/// Passed on as they are.
const PLAIN: [&str; 5] = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
/// Passed on without the credentials in them; also in lower case.
const PROXIES: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"];

/// The environment of a child: from the host's variables only what a child may see, what a person
/// named for it in `named`, and `own` on top, which wins.
///
/// Variables of the dynamic linker never pass, named or not: they would let a setting run code in
/// every program the child starts.
pub fn child_environment(
    host: impl IntoIterator<Item = (OsString, OsString)>,
    named: &[String],
    own: &[(OsString, OsString)],
) -> Vec<(OsString, OsString)> {
    let is_named = |name: &OsStr| named.iter().any(|wanted| name == wanted.as_str());
    let passed = host.into_iter().filter_map(|(name, value)| {
        let text = name.to_str().unwrap_or_default();
        if text.starts_with("LD_") || text.starts_with("DYLD_") || own.iter().any(|(set, _)| *set == name) {
            return None;
        }
        if is_named(&name) || PLAIN.contains(&text) || (text.starts_with("NODE_") && text != "NODE_OPTIONS") {
            return Some((name, value));
        }
        let proxy = PROXIES.iter().any(|proxy| text == *proxy || text == proxy.to_ascii_lowercase());
        proxy.then(|| (name, without_user_info(&value)))
    });
    let mut all: Vec<_> = passed.collect();
    all.extend(own.iter().cloned());
    all
}

/// `http://user:password@host:1/` as `http://host:1/`. What is no text cannot be checked and is dropped.
fn without_user_info(value: &OsStr) -> OsString {
    let Some(text) = value.to_str() else { return OsString::new() };
    let (scheme, rest) = text.split_once("://").map_or(("", text), |(scheme, rest)| (scheme, rest));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if scheme.is_empty() { format!("{host}{path}").into() } else { format!("{scheme}://{host}{path}").into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_child_may_see_passes() {
        let host = [
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("LANG", "C"),
            ("OPENAI_API_KEY", "sk-canary"),
            ("AWS_SECRET_ACCESS_KEY", "canary"),
            ("CHATOS_MASTER_KEY_FILE", "/k"),
            ("NODE_EXTRA_CA_CERTS", "/ca"),
            ("NODE_OPTIONS", "--require /evil.js"),
            ("LD_PRELOAD", "/evil.so"),
            ("DYLD_INSERT_LIBRARIES", "/evil.dylib"),
            ("HTTPS_PROXY", "http://user:p%40ss@proxy.example:8080/x"),
            ("http_proxy", "user:canary@proxy.example:3128"),
            ("NO_PROXY", "localhost,.example"),
            ("MY_TOKEN", "given"),
            ("CHATOS_DATA_DIR", "/old"),
        ];
        let host = host.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let named = ["MY_TOKEN".to_owned(), "LD_PRELOAD".to_owned()];
        let own = [(OsString::from("CHATOS_DATA_DIR"), OsString::from("/new"))];
        let mut seen: Vec<String> = child_environment(host, &named, &own)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
            .collect();
        seen.sort();
        assert_eq!(
            seen,
            [
                "CHATOS_DATA_DIR=/new",
                "HOME=/h",
                "HTTPS_PROXY=http://proxy.example:8080/x",
                "LANG=C",
                "MY_TOKEN=given",
                "NODE_EXTRA_CA_CERTS=/ca",
                "NO_PROXY=localhost,.example",
                "PATH=/bin",
                "http_proxy=proxy.example:3128",
            ]
        );
    }

    #[test]
    fn a_person_may_pass_a_proxy_with_its_credentials() {
        let host = [(OsString::from("ALL_PROXY"), OsString::from("socks5://u:p@h:1"))];
        let named = ["ALL_PROXY".to_owned()];
        let seen = child_environment(host.clone(), &named, &[]);
        assert_eq!(seen[0].1, "socks5://u:p@h:1");
        assert_eq!(child_environment(host, &[], &[])[0].1, "socks5://h:1");
    }
}
