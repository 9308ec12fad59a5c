//! Addresses of models as people write them.

/// Ends that belong to a call, not to the place.
const CALLS: [&str; 7] =
    ["/chat/completions", "/completions", "/v1/messages", "/messages", "/models", "/responses", "/api/chat"];

/// The base address: scheme and host in lower case, no query, no slash at the end, no call. `None`
/// for what is no web address, or has a name and a password in it.
pub(super) fn normalised(text: &str) -> Option<String> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let sound = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if authority.is_empty() || authority.contains('@') || !sound(authority) || !sound(path) {
        return None;
    }
    let authority = authority.to_ascii_lowercase();
    let (host, port) = split_port(&authority)?;
    if host.is_empty() || port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return None;
    }
    let mut path = path.trim_end_matches('/').to_owned();
    for call in CALLS {
        if let Some(shorter) = format!("/{path}").strip_suffix(call) {
            path = shorter.trim_start_matches('/').to_owned();
            break;
        }
    }
    let slash = if path.is_empty() { "" } else { "/" };
    Some(format!("{scheme}://{authority}{slash}{path}"))
}

/// Host and port of a sound address.
pub(super) fn host_of(base_url: &str) -> String {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default().to_owned()
}

/// Scheme, host and port of a sound address.
pub(super) fn origin_of(base_url: &str) -> String {
    let scheme = base_url.split_once("://").map_or("http", |(scheme, _)| scheme);
    format!("{scheme}://{}", host_of(base_url))
}

/// The address without the version that calls of some protocols bring along; people paste it with and without.
pub(super) fn unversioned(base_url: &str) -> &str {
    base_url.strip_suffix("/v1").unwrap_or(base_url)
}

/// Whether an address is this machine or one of a private network: what answers there is somebody's own.
pub(super) fn is_local(base_url: &str) -> bool {
    let authority = host_of(base_url);
    let Some((host, _)) = split_port(&authority) else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(std::net::IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Err(_) => host == "localhost" || host.strip_suffix(".local").is_some() || !host.contains('.'),
    }
}

/// What the key of an address is called where nobody names it: `ACME_API_KEY` for `api.acme.ai`.
pub(super) fn key_name(base_url: &str) -> String {
    let authority = host_of(base_url);
    let host = split_port(&authority).map_or(authority.as_str(), |(host, _)| host);
    let labels: Vec<&str> = host.split('.').collect();
    let named = !host.starts_with('[') && host.parse::<std::net::IpAddr>().is_err();
    let label = match labels.as_slice() {
        [.., name, _] if named => name,
        [only] if named => only,
        _ => "local",
    };
    let letters = label.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    let name: String = letters.collect();
    let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("K{name}") } else { name };
    format!("{name}_API_KEY")
}

/// Whether an address is this very machine.
pub(super) fn is_loopback(base_url: &str) -> bool {
    let authority = host_of(base_url);
    let Some((host, _)) = split_port(&authority) else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    if authority.starts_with('[') {
        let end = authority.find(']')?;
        let (host, rest) = authority.split_at(end + 1);
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(port))),
            None if rest.is_empty() => Some((host, None)),
            None => None,
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Some((host, Some(port))),
        None => Some((authority, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_paste_becomes_a_base_address() {
        for (text, expected) in [
            ("https://A.Example/v1/", Some("https://a.example/v1")),
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("http://[::1]:8080/v1", Some("http://[::1]:8080/v1")),
            ("https://a.example/v1/chat/completions", Some("https://a.example/v1")),
            ("https://a.example/api/v1/models?x=1#y", Some("https://a.example/api/v1")),
            ("https://a.example/v1/responses", Some("https://a.example/v1")),
            ("http://a.example:11434/api/chat", Some("http://a.example:11434")),
            ("https://u:p@a.example", None),
            ("https://", None),
            ("https://a.example:notaport/", None),
            ("https://a.example:99999/", None),
            ("ftp://a.example", None),
            ("https://a b.example", None),
            ("https://a.example\\@evil", None),
            ("a.example", None),
        ] {
            assert_eq!(normalised(text).as_deref(), expected, "{text}");
        }
        for (address, name) in [
            ("https://api.acme.ai/v1", "ACME_API_KEY"),
            ("https://my-proxy.example.com", "EXAMPLE_API_KEY"),
            ("http://litellm:4000", "LITELLM_API_KEY"),
            ("http://127.0.0.1:8080/v1", "LOCAL_API_KEY"),
            ("http://[::1]:8080/v1", "LOCAL_API_KEY"),
            ("https://1x.example", "K1X_API_KEY"),
        ] {
            assert_eq!(key_name(address), name);
        }
        assert_eq!(origin_of("http://127.0.0.1:11434/v1"), "http://127.0.0.1:11434");
        assert!(
            is_local("http://10.0.0.1:1/v1")
                && is_local("http://box.local/v1")
                && is_local("http://litellm:4000")
        );
        assert!(!is_local("https://api.acme.ai/v1"));
        assert!(
            is_loopback("http://localhost:1/v1")
                && is_loopback("http://[::1]")
                && is_loopback("http://127.9.9.9")
        );
        assert!(!is_loopback("http://10.0.0.1") && !is_loopback("https://localhost.evil.example"));
    }
}
