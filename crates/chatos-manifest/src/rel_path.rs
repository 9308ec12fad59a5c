//! Paths as manifests write them: the part of path confinement that needs no file system
//! (plugin-manifest §3, step 1 and the lexical half of step 2).

use serde::Serialize;

use crate::{ProblemCode, Text, limits, text};

/// A path relative to the plugin directory that does not leave it by its letters alone. Links on
/// disk are not considered here: opening it beneath the plugin's handle is still required.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct RelPath(String);

/// Why a text cannot be such a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathFault {
    /// Nothing left after trimming.
    Empty,
    /// NUL or another control character.
    Control,
    /// `\`, which is a separator elsewhere.
    Backslash,
    /// Starts with `/` or `~`, or has a drive letter.
    Absolute,
    /// `http:`, `file:` and so on.
    Scheme,
    /// More than 1,024 bytes.
    TooLong,
    /// More `..` than there are directories before them.
    Outside,
}

impl RelPath {
    /// Checks a trimmed text.
    pub fn parse(value: &str) -> Result<Self, PathFault> {
        if value.is_empty() {
            return Err(PathFault::Empty);
        }
        if value.len() > limits::PATH_BYTES {
            return Err(PathFault::TooLong);
        }
        if value.chars().any(|c| c <= '\u{1f}' || c == '\u{7f}') {
            return Err(PathFault::Control);
        }
        if value.contains('\\') {
            return Err(PathFault::Backslash);
        }
        if value.starts_with(['/', '~']) || has_drive(value) {
            return Err(PathFault::Absolute);
        }
        if has_scheme(value) {
            return Err(PathFault::Scheme);
        }
        let mut depth = 0_i32;
        for component in value.split('/') {
            match component {
                "" | "." => {}
                ".." => depth -= 1,
                _ => depth += 1,
            }
            if depth < 0 {
                return Err(PathFault::Outside);
            }
        }
        Ok(Self(value.to_owned()))
    }

    /// The path as written (trimmed).
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RelPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl PathFault {
    /// The problem code: leaving by `..` is `path_outside`, everything else is not a path at all.
    pub fn code(self) -> ProblemCode {
        match self {
            PathFault::Outside => ProblemCode::PathOutside,
            _ => ProblemCode::PathInvalid,
        }
    }

    /// The sentence for a field called `label` with the written `value`.
    pub fn message(self, label: &str, value: &str) -> Text {
        let shown = text::visible(value);
        match self {
            PathFault::Empty => Text::new(format!("{label} is empty"), format!("{label} 为空")),
            PathFault::Control => Text::new(
                format!("{label} holds a control character: {shown}"),
                format!("{label} 含有控制字符：{shown}"),
            ),
            PathFault::Backslash => Text::new(
                format!("{label} holds a backslash: {shown}"),
                format!("{label} 含有反斜杠：{shown}"),
            ),
            PathFault::Absolute => Text::new(
                format!("{label} must be relative and inside the plugin directory: {shown}"),
                format!("{label} 必须是插件目录内的相对路径：{shown}"),
            ),
            PathFault::Scheme => Text::new(
                format!("{label} is a URL, not a file of the plugin: {shown}"),
                format!("{label} 是 URL，而不是插件内的文件：{shown}"),
            ),
            PathFault::TooLong => Text::new(
                format!("{label} has {} bytes; at most {} are allowed", value.len(), limits::PATH_BYTES),
                format!("{label} 有 {} 字节；最多允许 {} 字节", value.len(), limits::PATH_BYTES),
            ),
            PathFault::Outside => Text::new(
                format!("{label} leaves the plugin directory: {shown}"),
                format!("{label} 越出了插件目录：{shown}"),
            ),
        }
    }
}

fn has_drive(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':'
}

/// RFC 3986 scheme followed by `:`. A colon after the first `/` is part of a file name.
fn has_scheme(value: &str) -> bool {
    let first = value.split('/').next().unwrap_or_default();
    let Some((scheme, _)) = first.split_once(':') else { return false };
    scheme.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_alone() {
        for good in [
            "index.mjs",
            "a/b/c.mjs",
            "a..b/..foo.mjs",
            "...",
            "a/../b.mjs",
            "./a",
            "a//b",
            "数据/入口.mjs",
            "a?b#c%2e%2e.mjs",
            "%2e%2e/x",
            "a/b:c.mjs",
            "a b.mjs",
        ] {
            assert!(RelPath::parse(good).is_ok(), "{good}");
        }
        for (bad, fault) in [
            ("", PathFault::Empty),
            ("/etc/passwd", PathFault::Absolute),
            ("~/x", PathFault::Absolute),
            ("~root", PathFault::Absolute),
            ("C:/x", PathFault::Absolute),
            ("c:x", PathFault::Absolute),
            ("a\\b", PathFault::Backslash),
            ("\\\\host\\share", PathFault::Backslash),
            ("http://h/x.mjs", PathFault::Scheme),
            ("file:///etc/passwd", PathFault::Scheme),
            ("data:text/javascript,1", PathFault::Scheme),
            ("a\0b", PathFault::Control),
            ("a\nb", PathFault::Control),
            ("a\u{7f}", PathFault::Control),
            ("..", PathFault::Outside),
            ("../x", PathFault::Outside),
            ("a/../../x", PathFault::Outside),
            ("../../etc/passwd", PathFault::Outside),
            ("./../x", PathFault::Outside),
        ] {
            assert_eq!(RelPath::parse(bad).err(), Some(fault), "{bad:?}");
        }
        assert!(RelPath::parse(&"a".repeat(1024)).is_ok());
        assert_eq!(RelPath::parse(&"a".repeat(1025)).err(), Some(PathFault::TooLong));
    }
}
