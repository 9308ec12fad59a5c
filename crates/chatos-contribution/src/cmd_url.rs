//! `cmd://` addresses (ai-contributions §5.1): an argument vector as one line of text and back,
//! exactly. No shell is involved anywhere, so nothing but quotes and backslashes is special.

use chatos_manifest::{ProblemCode, Text};

const PREFIX: &str = "cmd://";

/// Why an address or an argument vector cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CmdError {
    /// Does not start with `cmd://`.
    #[error("the address does not start with `cmd://`")]
    Prefix,
    /// A quote is not closed.
    #[error("a quote is not closed")]
    UnclosedQuote,
    /// Nothing after the last backslash.
    #[error("the address ends with a backslash")]
    TrailingBackslash,
    /// No word, or an empty program.
    #[error("no program is named")]
    Empty,
    /// NUL cannot be passed to a process.
    #[error("NUL characters cannot be passed to a program")]
    Nul,
}

impl CmdError {
    /// The problem code.
    pub fn code(self) -> ProblemCode {
        match self {
            CmdError::Prefix => ProblemCode::UrlScheme,
            CmdError::UnclosedQuote => ProblemCode::CmdUnclosedQuote,
            CmdError::TrailingBackslash => ProblemCode::CmdTrailingBackslash,
            CmdError::Empty => ProblemCode::CmdEmpty,
            CmdError::Nul => ProblemCode::CmdNul,
        }
    }

    /// The sentence for a problem.
    pub fn message(self) -> Text {
        let zh = match self {
            CmdError::Prefix => "地址不以 cmd:// 开头",
            CmdError::UnclosedQuote => "引号没有闭合",
            CmdError::TrailingBackslash => "地址以反斜杠结尾",
            CmdError::Empty => "没有指定程序",
            CmdError::Nul => "NUL 字符不能传给程序",
        };
        Text::new(format!("ai.mcp.url: {self}"), format!("ai.mcp.url：{zh}"))
    }
}

/// The words of a `cmd://` address.
pub fn parse(url: &str) -> Result<Vec<String>, CmdError> {
    let line = url.strip_prefix(PREFIX).ok_or(CmdError::Prefix)?;
    if line.contains('\0') {
        return Err(CmdError::Nul);
    }
    let mut words = Vec::new();
    // `None` between words; a word that was begun by an empty quote is `Some("")`.
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next() {
                        Some('\'') => break,
                        Some(c) => word.push(c),
                        None => return Err(CmdError::UnclosedQuote),
                    }
                }
            }
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            '\\' => {
                let next = chars.next().ok_or(CmdError::TrailingBackslash)?;
                word.get_or_insert_default().push(next);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        return Err(CmdError::Empty);
    }
    Ok(words)
}

/// Inside `"…"` only `\"` and `\\` are escapes; a backslash before anything else is itself.
fn double_quoted(chars: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), CmdError> {
    loop {
        match chars.next() {
            Some('"') => return Ok(()),
            Some('\\') => match chars.next() {
                Some(c @ ('"' | '\\')) => word.push(c),
                Some(c) => word.extend(['\\', c]),
                None => return Err(CmdError::UnclosedQuote),
            },
            Some(c) => word.push(c),
            None => return Err(CmdError::UnclosedQuote),
        }
    }
}

/// The address of an argument vector; `parse(build(argv)) == argv` for every vector it accepts.
pub fn build<S: AsRef<str>>(argv: &[S]) -> Result<String, CmdError> {
    if argv.first().is_none_or(|program| program.as_ref().is_empty()) {
        return Err(CmdError::Empty);
    }
    let mut url = PREFIX.to_owned();
    for (index, word) in argv.iter().enumerate() {
        let word = word.as_ref();
        if word.contains('\0') {
            return Err(CmdError::Nul);
        }
        if index > 0 {
            url.push(' ');
        }
        if is_bare(word) {
            url.push_str(word);
        } else {
            url.push('"');
            for c in word.chars() {
                if matches!(c, '"' | '\\') {
                    url.push('\\');
                }
                url.push(c);
            }
            url.push('"');
        }
    }
    Ok(url)
}

fn is_bare(word: &str) -> bool {
    !word.is_empty()
        && !word.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '\\' | '`'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_table() {
        for (argv, url) in [
            (&["node", "/opt/app/s.mjs", "--x"][..], "cmd://node /opt/app/s.mjs --x"),
            (&["node", "/opt/my app/s.mjs"], "cmd://node \"/opt/my app/s.mjs\""),
            (&["node", "/o/it's.mjs", ""], "cmd://node \"/o/it's.mjs\" \"\""),
            (&["node", "C:\\a \"b\""], "cmd://node \"C:\\\\a \\\"b\\\"\""),
            (&["node", "a\nb"], "cmd://node \"a\nb\""),
            (&["node", "数据.mjs", "$(id)", "; rm"], "cmd://node 数据.mjs $(id) \"; rm\""),
            (&["node", "`id`", "a\u{a0}b"], "cmd://node \"`id`\" \"a\u{a0}b\""),
        ] {
            assert_eq!(build(argv).unwrap(), url);
            assert_eq!(parse(url).unwrap(), argv);
        }
    }

    #[test]
    fn the_grammar() {
        for (url, argv) in [
            ("cmd://  node\t a\r\nb ", &["node", "a", "b"][..]),
            ("cmd://a\"b c\"d", &["ab cd"]),
            ("cmd://a'b c'd\\ e", &["ab cd e"]),
            ("cmd://x '' \"\"", &["x", "", ""]),
            ("cmd://x 'a\\b' \"a\\b\"", &["x", "a\\b", "a\\b"]),
            ("cmd://x \"\\\\\\\"\" \\\"", &["x", "\\\"", "\""]),
            ("cmd://x a;b|c&d$e~f*g#h%20", &["x", "a;b|c&d$e~f*g#h%20"]),
            ("cmd://x a\u{a0}b", &["x", "a\u{a0}b"]),
        ] {
            assert_eq!(parse(url).unwrap(), argv, "{url:?}");
        }
        for (url, error) in [
            ("cmd://", CmdError::Empty),
            ("cmd://  \n", CmdError::Empty),
            ("cmd://\"\" x", CmdError::Empty),
            ("cmd://'' ", CmdError::Empty),
            ("cmd://x \"a", CmdError::UnclosedQuote),
            ("cmd://x 'a", CmdError::UnclosedQuote),
            ("cmd://x \"a\\", CmdError::UnclosedQuote),
            ("cmd://x \\", CmdError::TrailingBackslash),
            ("cmd://x a\0b", CmdError::Nul),
            ("cmd:/x", CmdError::Prefix),
            ("CMD://x", CmdError::Prefix),
            (" cmd://x", CmdError::Prefix),
        ] {
            assert_eq!(parse(url), Err(error), "{url:?}");
        }
        assert_eq!(build::<&str>(&[]), Err(CmdError::Empty));
        assert_eq!(build(&["", "x"]), Err(CmdError::Empty));
        assert_eq!(build(&["x", "\0"]), Err(CmdError::Nul));
    }

    /// Words full of what quoting rules are about, besides arbitrary text.
    fn any_word() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ \t\r\n'\"\\\\`$;a\u{a0}\u{85}\u{2028}]{0,12}",
            prop::collection::vec(any::<char>(), 0..8).prop_map(|chars| chars.into_iter().collect()),
        ]
        .prop_map(|word: String| word.replace('\0', ""))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        /// The round-trip rule.
        #[test]
        fn round_trip(mut argv in prop::collection::vec(any_word(), 1..8)) {
            if argv[0].is_empty() {
                argv[0].push('x');
            }
            let url = build(&argv).unwrap();
            prop_assert_eq!(&parse(&url).unwrap(), &argv);
            prop_assert_eq!(build(&parse(&url).unwrap()).unwrap(), url);
        }

        /// Parsing any text never panics, and what it accepts can be built again.
        #[test]
        fn any_text(text in any_word()) {
            if let Ok(argv) = parse(&format!("cmd://{text}")) {
                prop_assert_eq!(parse(&build(&argv).unwrap()).unwrap(), argv);
            }
        }
    }
}
