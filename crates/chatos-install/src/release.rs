//! What a release says about itself: its version and the checksums of its files.

use std::collections::BTreeMap;
use std::fmt;

use chatos_tool::{ErrorCode, Fault, Text};
use sha2::{Digest, Sha256};

/// A version, compared as numbers; one with a suffix comes before the one without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: [u64; 3],
    suffix: Option<String>,
}

impl Version {
    /// Reads `1.2.3` and `1.2.3-rc.1`, with or without a `v` before it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let (numbers, suffix) = match text.split_once('-') {
            Some((numbers, suffix)) if !suffix.is_empty() => (numbers, Some(suffix.to_owned())),
            Some(_) => return None,
            None => (text, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        if !suffix.as_deref().unwrap_or_default().chars().all(plain) {
            return None;
        }
        let mut parts = numbers.split('.').map(|part| part.parse::<u64>().ok());
        let found = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(Self { numbers: found, suffix })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        self.suffix.as_ref().map_or(Ok(()), |suffix| write!(f, "-{suffix}"))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let suffix = match (&self.suffix, &other.suffix) {
            (None, None) => std::cmp::Ordering::Equal,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(_), None) => std::cmp::Ordering::Less,
            (Some(own), Some(others)) => own.cmp(others),
        };
        self.numbers.cmp(&other.numbers).then(suffix)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The checksums of a release, verified by its signature.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) version: Version,
    sums: BTreeMap<String, String>,
}

impl Release {
    /// Reads `SHA256SUMS` and the signed comment beside it (`chatos <version> <date>`).
    pub(crate) fn read(sums: &str, comment: &str) -> Result<Self, Fault> {
        let version =
            comment.strip_prefix("chatos ").and_then(|rest| Version::parse(rest.split(' ').next()?));
        let lines: Option<BTreeMap<String, String>> = sums
            .lines()
            .map(|line| {
                let (sum, name) = line.split_once("  ")?;
                let hex = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
                hex.then(|| (name.to_owned(), sum.to_ascii_lowercase()))
            })
            .collect();
        match (version, lines) {
            (Some(version), Some(sums)) => Ok(Self { version, sums }),
            _ => Err(broken(Text::fixed(
                "the list of this release has another form than this version reads",
                "此发布的清单格式与本版本不符",
            ))),
        }
    }

    /// The archive for a system.
    pub(crate) fn archive(&self, system: &str) -> Result<String, Fault> {
        let name = format!("chatos-{}-{system}.tar.zst", self.version);
        if self.sums.contains_key(&name) {
            return Ok(name);
        }
        let version = &self.version;
        Err(broken(Text::new(
            format!("release {version} has no program for {system}"),
            format!("版本 {version} 没有适用于 {system} 的程序"),
        )))
    }

    /// Whether a file is the one the release means.
    pub(crate) fn check(&self, name: &str, content: &[u8]) -> Result<(), Fault> {
        let found: String = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        if self.sums.get(name) == Some(&found) {
            return Ok(());
        }
        Err(broken(Text::new(
            format!("`{name}` is not what the release says; nothing was changed"),
            format!("`{name}` 与发布不符；没有任何更改"),
        )))
    }
}

fn broken(message: Text) -> Fault {
    Fault::new(ErrorCode::Unavailable, message)
        .code("release_broken")
        .hint(Text::fixed("try again later; if it stays, report it", "请稍后再试；如果仍然如此，请报告"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        let order = ["0.1.0", "0.1.9", "0.1.10", "0.2.0-rc.1", "0.2.0", "v1.0.0"];
        let parsed: Vec<Version> = order.iter().map(|text| Version::parse(text).unwrap()).collect();
        assert!(parsed.is_sorted());
        for text in ["", "1", "1.2", "1.2.3.4", "1.2.x", "1.2.3-", "1.2.3-a/b", "-1.2.3"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_names_its_files_or_is_refused() {
        let sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let list = format!("{sum}  chatos-1.2.3-x86_64-linux.tar.zst\n");
        let release = Release::read(&list, "chatos 1.2.3 2026-11-17T00:00:00Z").unwrap();
        assert_eq!(release.archive("x86_64-linux").unwrap(), "chatos-1.2.3-x86_64-linux.tar.zst");
        release.check("chatos-1.2.3-x86_64-linux.tar.zst", b"").unwrap();
        assert_eq!(
            release.check("chatos-1.2.3-x86_64-linux.tar.zst", b"x").unwrap_err().code,
            "release_broken"
        );
        assert!(release.check("other", b"").is_err());
        assert!(release.archive("riscv64-linux").is_err());
        assert!(Release::read("x  y\n", "chatos 1.2.3").is_err());
        assert!(Release::read(&list, "something 1.2.3").is_err());
    }
}
