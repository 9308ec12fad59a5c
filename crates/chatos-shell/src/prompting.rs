//! Whether a program seems to ask its user something (servers §3.6). A guess: nothing is ever ended
//! because of it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::output::clean;

/// Silence after which a question is believed.
pub(super) const SILENCE: Duration = Duration::from_millis(1_500);

/// What a program seems to wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct InputHint {
    /// The sort of question: password, passphrase, ssh_hostkey, ssh_keygen, confirm_yn, confirm_yesno, prompt
    pub(super) kind: &'static str,
    /// The line that looks like it
    pub(super) line: String,
    /// How long nothing was printed
    pub(super) silent_ms: u64,
}

/// The sort of question the last line of an output is, with the line.
pub(super) fn question(output: &[u8]) -> Option<(&'static str, String)> {
    let start = output.len().saturating_sub(512);
    let text = clean(&output[start..]);
    // A question waits on its own line: whatever ends in a line end was said, not asked.
    let line = text.rsplit('\n').next()?.trim_end_matches(' ');
    let shown: String = line.chars().take(200).collect();
    if line.is_empty() {
        return None;
    }
    let lower = line.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let ends = |marks: &[char]| lower.ends_with(marks);
    let kind = if has(&["continue connecting", "yes/no/[fingerprint]", "host key verification"]) {
        "ssh_hostkey"
    } else if has(&["passphrase", "口令短语", "密码短语"]) && ends(&[':', '：', '?', ')']) {
        "passphrase"
    } else if has(&["enter file in which to save", "overwrite (y/n)"]) {
        "ssh_keygen"
    } else if has(&["password", "passwd", "passcode", "verification code", "密码", "口令", " pin"])
        && ends(&[':', '：', '?', ')'])
    {
        "password"
    } else if has(&["yes/no", "(yes or no)", "[yes|no]"]) {
        "confirm_yesno"
    } else if has(&["[y/n]", "(y/n)", "[n/y]", "y/n?", "[y/n/q]", "(y or n)"]) {
        "confirm_yn"
    } else if ends(&['?', '？', ':', '：', '>', '$', '#', '%', '»', '❯', ']']) {
        "prompt"
    } else {
        return None;
    };
    Some((kind, shown))
}

/// What the person is told.
pub(super) fn hint(output: &[u8], silent: Duration) -> Option<InputHint> {
    if silent < SILENCE {
        return None;
    }
    let (kind, line) = question(output)?;
    Some(InputHint { kind, line, silent_ms: u64::try_from(silent.as_millis()).unwrap_or(u64::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_from_statements() {
        for (output, kind) in [
            ("[sudo] password for ada: ", Some("password")),
            ("Enter passphrase for key '/home/a/.ssh/id': ", Some("passphrase")),
            ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", Some("ssh_hostkey")),
            ("Enter file in which to save the key (/root/.ssh/id_rsa): ", Some("ssh_keygen")),
            ("Proceed? [Y/n] ", Some("confirm_yn")),
            ("Delete everything (yes/no)? ", Some("confirm_yesno")),
            ("line\nName: ", Some("prompt")),
            (">>> ", Some("prompt")),
            ("请输入密码：", Some("password")),
            ("compiling 3 of 7", None),
            ("password: hunter\n", None),
            ("What now?\n", None),
            ("", None),
        ] {
            assert_eq!(question(output.as_bytes()).map(|(kind, _)| kind), kind, "{output}");
        }
        assert!(hint(b"Name: ", Duration::from_secs(1)).is_none());
        assert_eq!(hint(b"Name: ", Duration::from_secs(2)).unwrap().silent_ms, 2000);
    }
}
