//! Addresses of files, as language servers write them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The address of an absolute path.
pub(crate) fn of(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The absolute path of an address; nothing when it is no file of this machine.
pub(crate) fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push((digit(left.next())? * 16 + digit(left.next())?) as u8);
    }
    (!bytes.contains(&0)).then(|| PathBuf::from(OsString::from_vec(bytes)))
}

/// The same address, however somebody else spelled it.
pub(crate) fn same(uri: &str) -> String {
    path(uri).map_or_else(|| uri.to_owned(), |path| of(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_go_there_and_back() {
        for name in ["/a/b.rs", "/a b/中文.ts", "/x%20y", "/q?#[1]", "/"] {
            assert_eq!(path(&of(Path::new(name))).unwrap(), Path::new(name));
        }
        assert_eq!(of(Path::new("/a b")), "file:///a%20b");
        assert_eq!(path("file://localhost/a").unwrap(), Path::new("/a"));
        assert_eq!(path("file:///c%3a/x").unwrap(), Path::new("/c:/x"));
        for bad in [
            "untitled:1",
            "file://host/a",
            "file://",
            "file:///a%zz",
            "file:///a%0",
            "http://x/y",
            "file:///a%00",
        ] {
            assert_eq!(path(bad), None, "{bad}");
        }
        assert_eq!(same("file:///a%5bb%5d"), same("file:///a[b]"));
    }
}
