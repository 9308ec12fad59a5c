//! Names of entries (plugins §8): where they may point, and which may not stand side by side.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::{PackageCode, PackageError};

const PATH_BYTES: usize = 1_024;
const COMPONENT_BYTES: usize = 255;
const DEPTH: usize = 64;

/// A relative path of plain components: no `..`, nothing empty, nothing that another system reads
/// differently.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct EntryPath(String);

impl EntryPath {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks a name without its trailing slash.
pub(crate) fn check_name(raw: &[u8]) -> Result<EntryPath, PackageError> {
    let refuse = |code, en: &str, zh: &str| Err(PackageError::entry(code, raw, en, zh));
    let outside = |en: &str, zh: &str| refuse(PackageCode::EntryOutside, en, zh);
    let name = |en: &str, zh: &str| refuse(PackageCode::EntryName, en, zh);
    if raw.is_empty() {
        return name("has no name", "没有名称");
    }
    if raw.len() > PATH_BYTES {
        return refuse(
            PackageCode::EntryPathTooLong,
            "has a path of more than 1,024 bytes",
            "的路径超过 1,024 字节",
        );
    }
    let Ok(text) = std::str::from_utf8(raw) else {
        return name("has a name that is not UTF-8", "的名称不是 UTF-8");
    };
    if text.contains('\\') || text.starts_with('/') || has_drive(text) {
        return outside("is not a relative path", "不是相对路径");
    }
    if text.split('/').any(|part| part == "..") {
        return outside("leaves the package", "越出了安装包");
    }
    if text.chars().any(char::is_control) {
        return name("has a control character in its name", "的名称含有控制字符");
    }
    if text.split('/').any(|part| part.is_empty() || part == ".") {
        return name("has an empty or \".\" part in its name", "的名称含有空的部分或“.”");
    }
    if text.split('/').any(|part| part.len() > COMPONENT_BYTES) {
        return refuse(
            PackageCode::EntryPathTooLong,
            "has a name of more than 255 bytes",
            "的名称超过 255 字节",
        );
    }
    if text.split('/').count() > DEPTH {
        return refuse(PackageCode::EntryPathTooLong, "lies deeper than 64 levels", "的层级超过 64 层");
    }
    Ok(EntryPath(text.to_owned()))
}

fn has_drive(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    /// A directory that has an entry of its own.
    Directory,
    /// A directory known from what lies in it.
    Implied,
}

/// Finds names that are one name on some system: equal, equal without case, equal after NFC, or a
/// file where another entry needs a directory.
#[derive(Debug, Default)]
pub(crate) struct Collisions {
    seen: HashMap<String, (String, Kind)>,
}

impl Collisions {
    pub(crate) fn file(&mut self, path: &EntryPath) -> Result<(), PackageError> {
        self.add(path, Kind::File)
    }

    pub(crate) fn directory(&mut self, path: &EntryPath) -> Result<(), PackageError> {
        self.add(path, Kind::Directory)
    }

    fn add(&mut self, path: &EntryPath, kind: Kind) -> Result<(), PackageError> {
        let text = path.as_str();
        for (at, _) in text.match_indices('/') {
            self.place(&text[..at], Kind::Implied, path)?;
        }
        self.place(text, kind, path)
    }

    fn place(&mut self, text: &str, kind: Kind, whole: &EntryPath) -> Result<(), PackageError> {
        let collides = |other: &str| {
            let mut error = PackageError::entry(
                PackageCode::EntryCollision,
                whole.as_str().as_bytes(),
                "collides with another entry",
                "与另一个条目冲突",
            );
            let shown = chatos_manifest::quote(other);
            error.message.en.push_str(&format!(": {shown}"));
            error.message.zh.push_str(&format!("：{shown}"));
            Err(error)
        };
        match self.seen.get_mut(&fold(text)) {
            None => {
                self.seen.insert(fold(text), (text.to_owned(), kind));
                Ok(())
            }
            Some((other, known)) => match (*known, kind) {
                _ if other != text => collides(other),
                (Kind::Directory | Kind::Implied, Kind::Implied) => Ok(()),
                (Kind::Implied, Kind::Directory) => {
                    *known = Kind::Directory;
                    Ok(())
                }
                _ => collides(other),
            },
        }
    }
}

/// One spelling for all names that some file system treats as the same: composed, without case.
/// Upper-casing before lower-casing folds `ß`, `ſ` and final sigma as full case folding does.
fn fold(text: &str) -> String {
    text.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(raw: &[u8]) -> &'static str {
        match check_name(raw) {
            Ok(_) => "ok",
            Err(error) => error.code.as_str(),
        }
    }

    #[test]
    fn where_names_may_point() {
        for good in
            ["a", "a/b.c", "..foo/a..b", "...", "数据/é", "a b", "~x", "-rf", "C", "ab:c", "con", "%2e%2e/x"]
        {
            assert_eq!(code(good.as_bytes()), "ok", "{good}");
        }
        for outside in [
            "..",
            "../x",
            "a/../../x",
            "a/..",
            "/etc/passwd",
            "\\x",
            "a\\..\\b",
            "C:\\x",
            "c:x",
            "C:/x",
            "//host/share",
            "\\\\host\\share",
        ] {
            assert_eq!(code(outside.as_bytes()), "entry_outside", "{outside}");
        }
        for name in ["", ".", "./a", "a/./b", "a//b", "a/", "a\0b", "a\nb", "a\u{7f}", "a\u{85}"] {
            assert_eq!(code(name.as_bytes()), "entry_name", "{name:?}");
        }
        assert_eq!(code(b"\xff\xfe"), "entry_name");
        assert_eq!(code("a".repeat(255).as_bytes()), "ok");
        assert_eq!(code("a".repeat(256).as_bytes()), "entry_path_too_long");
        assert_eq!(code(vec!["a"; 64].join("/").as_bytes()), "ok");
        assert_eq!(code(vec!["a"; 65].join("/").as_bytes()), "entry_path_too_long");
        assert_eq!(code(["a".repeat(200).as_str(); 6].join("/").as_bytes()), "entry_path_too_long");
        let error = check_name(b"../../x").unwrap_err();
        assert_eq!(
            (error.message.en.as_str(), error.entry.as_deref()),
            ("Entry \"../../x\" leaves the package", Some("../../x"))
        );
    }

    fn collide(paths: &[&str]) -> bool {
        let mut set = Collisions::default();
        paths.iter().any(|path| match path.strip_suffix('/') {
            Some(dir) => set.directory(&check_name(dir.as_bytes()).unwrap()).is_err(),
            None => set.file(&check_name(path.as_bytes()).unwrap()).is_err(),
        })
    }

    #[test]
    fn which_names_are_one() {
        for bad in [
            &["a", "a"][..],
            &["a", "A"],
            &["é", "e\u{301}"],
            &["ß", "SS"],
            &["ſ", "s"],
            &["\u{212a}", "k"],
            &["a", "a/b"],
            &["a/b", "a"],
            &["a/", "a"],
            &["a", "a/"],
            &["a/", "a/"],
            &["A/b", "a/c"],
            &["d/É/x", "d/é/y"],
        ] {
            assert!(collide(bad), "{bad:?}");
        }
        for good in [
            &["a", "b"][..],
            &["a/", "a/b", "a/c"],
            &["a/b", "a/"],
            &["a/b/c", "a/b/d", "a/e"],
            &["a", "a.b", "a-b"],
        ] {
            assert!(!collide(good), "{good:?}");
        }
    }
}
