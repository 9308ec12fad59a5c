//! Nothing in the tree may name the machine it was written on, or a package registry by host.
//!
//! A path of one machine is a build that works on one machine; a registry host in a lock file sends other
//! people's installs around their own mirror.

use anyhow::Result;

use crate::tidy::finding::Finding;
use crate::workspace::Workspace;

/// Each in two halves, so that this list is not a finding itself.
const PATHS: [[&str; 2]; 10] = [
    ["/wo", "rk/main"],
    ["/wo", "rk/shared"],
    ["..", "/shared/"],
    ["/tmp", "/team"],
    ["/tmp", "/target-"],
    ["/tmp", "/clone-"],
    ["/root", "/.cargo"],
    ["/root", "/.rustup"],
    ["/root", "/.pyenv"],
    ["/root", "/.npm"],
];

const HOSTS: [[&str; 2]; 9] = [
    ["registry.", "npmjs"],
    ["registry.", "yarnpkg"],
    ["registry.", "npmmirror"],
    ["index.", "crates.io"],
    ["static.", "crates.io"],
    ["files.", "pythonhosted"],
    ["pypi", ".org"],
    ["deb.", "debian.org"],
    ["arti", "factory"],
];

pub(crate) fn check(workspace: &Workspace, files: &[String]) -> Result<Vec<Finding>> {
    let mut needles: Vec<(String, &str)> = Vec::new();
    needles.extend(PATHS.iter().map(|halves| (halves.concat(), "a path of one machine")));
    needles.extend(HOSTS.iter().map(|halves| (halves.concat(), "a package registry's host")));
    // The checkout itself, unless it is so close to the root that its name is an ordinary word.
    if workspace.root().components().count() > 2 {
        needles.push((format!("{}/", workspace.root().display()), "a path of this machine"));
    }
    let mut findings = Vec::new();
    for file in files {
        let bytes = std::fs::read(workspace.path(file))?;
        if let Ok(text) = std::str::from_utf8(&bytes) {
            findings.extend(check_text(file, text, &needles));
        }
    }
    Ok(findings)
}

fn check_text(file: &str, text: &str, needles: &[(String, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (needle, what) in needles {
        for (index, line) in text.lines().enumerate() {
            if line.match_indices(needle.as_str()).any(|(at, _)| starts_a_word(line, at)) {
                findings.push(
                    Finding::error("leaks", file, format!("names `{needle}`, {what}"))
                        .line(index + 1)
                        .hint("use a relative path, a variable or an example name"),
                );
            }
        }
    }
    findings
}

/// A longer path that ends like one of ours is an example: the match must start the path.
fn starts_a_word(line: &str, at: usize) -> bool {
    !line[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> usize {
        let needles: Vec<(String, &str)> =
            PATHS.iter().chain(&HOSTS).map(|halves| (halves.concat(), "x")).collect();
        check_text("a", text, &needles).len()
    }

    #[test]
    fn machine_paths_and_hosts_are_found() {
        assert_eq!(found(&["see /wo", "rk/main/x"].concat()), 1);
        assert_eq!(found(&["\"resolved\": \"https://registry.", "npmjs.org/x\""].concat()), 1);
        assert_eq!(found(&["a\nb\n`/root", "/.cargo/bin`\n"].concat()), 1);
    }

    #[test]
    fn longer_example_paths_are_not() {
        assert_eq!(found(&["/home/u/wo", "rk/main"].concat()), 0);
        assert_eq!(found("registry+https://github.com/rust-lang/crates.io-index"), 0);
    }
}
