//! The command that really runs, behind `sudo`, `env`, `xargs` and the like.

use crate::lex::{Simple, Word, is_assignment};

/// What is left when everything in front is seen through.
#[derive(Debug, Default)]
pub(super) struct Effective<'a> {
    /// The program.
    pub(super) program: Option<&'a Word>,
    /// Its arguments.
    pub(super) arguments: Vec<&'a Word>,
    /// It runs through `sudo` or the like.
    pub(super) sudo: bool,
    /// It gets further arguments from its input.
    pub(super) fed: bool,
}

impl Effective<'_> {
    /// The name of the program without its directory.
    pub(super) fn name(&self) -> Option<&str> {
        let text = self.program?.text.as_str();
        Some(text.rsplit('/').next().unwrap_or(text))
    }

    /// Whether a flag is given: `-x` alone or among others, or `--long`.
    pub(super) fn has(&self, short: char, long: &str) -> bool {
        self.arguments.iter().take_while(|word| word.text != "--").any(|word| {
            let text = word.text.as_str();
            match text.strip_prefix("--") {
                Some(name) => !long.is_empty() && name.split('=').next() == Some(long),
                None => text.len() > 1 && text.starts_with('-') && text[1..].contains(short),
            }
        })
    }

    /// Arguments that are no options.
    pub(super) fn plain(&self) -> impl Iterator<Item = &str> {
        let mut only_plain = false;
        self.arguments.iter().filter_map(move |word| {
            if word.text == "--" && !only_plain {
                only_plain = true;
                return None;
            }
            (only_plain || !word.text.starts_with('-') || word.text == "-").then_some(word.text.as_str())
        })
    }

    /// Values of an option in every spelling: `-o v`, `-ov`, `--out v`, `--out=v`.
    pub(super) fn values(&self, short: Option<char>, longs: &[&str]) -> Vec<&str> {
        let mut found = Vec::new();
        let mut words = self.arguments.iter().map(|word| word.text.as_str()).peekable();
        while let Some(text) = words.next() {
            if let Some(name) = text.strip_prefix("--") {
                match name.split_once('=') {
                    Some((name, value)) if longs.contains(&name) => found.push(value),
                    None if longs.contains(&name) => found.extend(words.peek()),
                    _ => {}
                }
            } else if let (Some(short), Some(rest)) = (short, text.strip_prefix('-'))
                && let Some(at) = rest.find(short)
                // Letters before it must be flags, not the value of another option.
                && rest[..at].chars().all(|c| c.is_ascii_alphabetic())
            {
                let value = &rest[at + short.len_utf8()..];
                if value.is_empty() {
                    found.extend(words.peek());
                } else {
                    found.push(value.strip_prefix('=').unwrap_or(value));
                }
            }
        }
        found
    }
}

/// Programs in front of a command, with the options of theirs that take a value of their own.
const FRONT: [(&str, &str); 22] = [
    ("sudo", "ugpCrtTUhRD"),
    ("doas", "uC"),
    ("pkexec", ""),
    ("run0", ""),
    ("env", "uCS"),
    ("command", ""),
    ("builtin", ""),
    ("exec", "a"),
    ("nohup", ""),
    ("time", "fo"),
    ("nice", "n"),
    ("ionice", "cnp"),
    ("setsid", ""),
    ("stdbuf", "ioe"),
    ("timeout", "ks"),
    ("xargs", "aEeIiLlnPsd"),
    ("busybox", ""),
    ("chroot", ""),
    ("unbuffer", ""),
    ("caffeinate", "tw"),
    ("setarch", ""),
    ("strace", "eopsSuaI"),
];

/// Sees through everything in front.
pub(super) fn effective(simple: &Simple) -> Effective<'_> {
    let mut found = Effective::default();
    let mut words: &[Word] = &simple.words;
    for _ in 0..16 {
        let Some((program, rest)) = words.split_first() else { break };
        found.program = Some(program);
        found.arguments = rest.iter().collect();
        let name = program.text.rsplit('/').next().unwrap_or_default();
        let Some((_, valued)) = FRONT.iter().find(|(front, _)| *front == name) else { break };
        found.sudo |= matches!(name, "sudo" | "doas" | "pkexec" | "run0");
        found.fed |= name == "xargs";
        let next = behind(name, valued, rest);
        // `command -v x` and a front without anything behind it are what they are.
        if next.is_empty()
            || (name == "command"
                && rest.first().is_some_and(|word| matches!(word.text.as_str(), "-v" | "-V")))
        {
            break;
        }
        words = next;
    }
    found
}

/// What follows a front program and its own options.
fn behind<'a>(name: &str, valued: &str, mut rest: &'a [Word]) -> &'a [Word] {
    while let Some((word, after)) = rest.split_first() {
        let text = word.text.as_str();
        if text == "--" {
            rest = after;
            break;
        }
        if (matches!(name, "env" | "sudo") && is_assignment(text))
            || (text.starts_with("--") && text.len() > 2)
        {
            rest = after;
            continue;
        }
        match text.strip_prefix('-').filter(|flags| !flags.is_empty()) {
            Some(flags) => {
                let last = flags.chars().last().unwrap_or_default();
                let takes_next = flags.len() == 1 && valued.contains(last);
                rest = if takes_next { after.get(1..).unwrap_or_default() } else { after };
            }
            None => break,
        }
    }
    // `timeout 5 cmd`, `chroot dir cmd`, `setarch arch cmd` have one word of their own.
    match name {
        "timeout" | "chroot" | "setarch" => rest.get(1..).unwrap_or_default(),
        _ => rest,
    }
}
