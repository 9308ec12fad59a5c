//! Addresses of frames, read once into what is asked for.

/// A shared module of the host.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// Below the host's own folder.
    pub(super) name: String,
}

/// What an address asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// `/__chatos/probe`, and `/__chatos/confined` with the header that is measured.
    Probe {
        /// With the header.
        confined: bool,
    },
    /// `/__chatos/probe.js`.
    ProbeScript,
    /// `/__chatos/seen`: what the probe tries to reach.
    ProbeSeen,
    /// `/common/ui/*` and `/r/common/ui/*`.
    Shared(Shared),
    /// `/view/<id>`: a page of a tool server.
    View(String),
    /// `/r/<rev>/<path>`.
    Revised {
        /// The revision.
        rev: String,
        /// Decoded, of plain components.
        path: String,
    },
}

/// Reads the path below the base. `None` for everything that is no address of a frame; a component
/// is decoded once, and what it holds then is a file name or nothing.
pub(super) fn parse(path: &str) -> Option<Asked> {
    let parts: Vec<String> = path.strip_prefix('/')?.split('/').map(decode).collect::<Option<_>>()?;
    let plain =
        |part: &String| !part.is_empty() && part != "." && part != ".." && !part.contains(['/', '\\', '\0']);
    if !parts.iter().all(plain) {
        return None;
    }
    let words: Vec<&str> = parts.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["__chatos", "probe"] => Some(Asked::Probe { confined: false }),
        ["__chatos", "confined"] => Some(Asked::Probe { confined: true }),
        ["__chatos", "seen"] => Some(Asked::ProbeSeen),
        ["__chatos", "probe.js"] => Some(Asked::ProbeScript),
        ["common", "ui", name @ ..] | ["r", "common", "ui", name @ ..] if !name.is_empty() => {
            Some(Asked::Shared(Shared { name: name.join("/") }))
        }
        ["view", id] => Some(Asked::View((*id).to_owned())),
        ["r", rev, path @ ..] if !path.is_empty() => {
            Some(Asked::Revised { rev: (*rev).to_owned(), path: path.join("/") })
        }
        _ => None,
    }
}

/// Percent-decodes one component.
fn decode(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_once_and_plainly() {
        let revised = |path: &str| Some(Asked::Revised { rev: "1-a".to_owned(), path: path.to_owned() });
        assert_eq!(parse("/r/1-a/x/y.mjs"), revised("x/y.mjs"));
        assert_eq!(parse("/r/1-a/a%20b%3F.js"), revised("a b?.js"));
        assert_eq!(parse("/r/1-a/%25.js"), revised("%.js"));
        assert_eq!(parse("/r/1-a/..foo"), revised("..foo"));
        let shared = || Some(Asked::Shared(Shared { name: "tree.mjs".to_owned() }));
        assert_eq!(parse("/common/ui/tree.mjs"), shared());
        assert_eq!(parse("/r/common/ui/tree.mjs"), shared());
        assert_eq!(parse("/__chatos/probe"), Some(Asked::Probe { confined: false }));
        assert_eq!(parse("/__chatos/confined"), Some(Asked::Probe { confined: true }));
        assert_eq!(parse("/view/abc"), Some(Asked::View("abc".to_owned())));
        for bad in [
            "",
            "/",
            "/r",
            "/r/",
            "/r/1-a",
            "/r/1-a/",
            "/r/1-a//x",
            "/r/1-a/../x",
            "/r/1-a/%2e%2e/x",
            "/r/1-a/%2E./x",
            "/r/1-a/a%2fb",
            "/r/1-a/a%5cb",
            "/r/1-a/a%00",
            "/r/1-a/%zz",
            "/r/1-a/%2",
            "/r/1-a/%ff",
            "/r/1-a/./x",
            "/common/ui/",
            "/common/ui",
            "/index.html",
            "/view",
            "/view/",
            "/view/a/b",
            "/api/v1/status",
            "/__chatos/frame.html",
            "r/1-a/x",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
