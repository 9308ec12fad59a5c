//! A shell command line in its parts: simple commands with their words, assignments and redirections,
//! whatever quotes, subshells, substitutions and here-documents they stand in (servers §3.3).
//!
//! This reads, it does not expand: a word keeps `$HOME` as it was written and says that it holds an
//! expansion. What comes of it is advice; the boundary is elsewhere.

/// Substitutions inside substitutions that are looked into; deeper ones are expansions like others.
const MAX_DEPTH: usize = 16;
/// Simple commands of one line that are looked at.
const MAX_COMMANDS: usize = 2_000;

/// A word as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Without quotes; expansions stay as written.
    pub(super) text: String,
    /// Holds `$…`, a substitution or the like.
    pub(super) expands: bool,
    /// Some of it stood in quotes or behind a backslash.
    pub(super) quoted: bool,
}

/// Where output or input goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Redirect {
    /// Writes, also by appending.
    pub(super) writes: bool,
    /// The file; a copy of a descriptor has none.
    pub(super) target: Word,
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// `NAME=value` before the command.
    pub(super) assignments: Vec<Word>,
    /// The command and its arguments.
    pub(super) words: Vec<Word>,
    /// Its redirections.
    pub(super) redirects: Vec<Redirect>,
    /// Its input comes from the command before.
    pub(super) piped_in: bool,
    /// Its output goes to the next command.
    pub(super) piped_out: bool,
    /// Runs in the background.
    pub(super) background: bool,
    /// The text of its here-document.
    pub(super) here: Option<String>,
}

/// A whole command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// In the order they stand.
    pub(super) commands: Vec<Simple>,
    /// A quote or bracket is not closed, or there is more than is looked at.
    pub(super) unclear: bool,
}

/// Reads a command line. Never fails: what cannot be read is said in `unclear`.
pub(super) fn parse(text: &str) -> Script {
    let mut script = Script::default();
    parse_into(text, 0, &mut script);
    script
}

fn parse_into(text: &str, depth: usize, script: &mut Script) {
    if depth > MAX_DEPTH {
        script.unclear = true;
        return;
    }
    let mut reader = Reader {
        chars: text.chars().collect(),
        at: 0,
        depth,
        script,
        current: Simple::default(),
        heres: Vec::new(),
    };
    reader.run();
}

struct Reader<'a> {
    chars: Vec<char>,
    at: usize,
    depth: usize,
    script: &'a mut Script,
    current: Simple,
    /// Here-documents whose text begins at the next line: delimiter, tabs stripped, literal.
    heres: Vec<(String, bool, bool)>,
}

/// Words that stand before a command and are none.
const RESERVED: [&str; 13] =
    ["if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "esac"];

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let same = self.peek(0) == Some(c);
        self.at += usize::from(same);
        same
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\r' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' => {
                    self.at += 1;
                    self.finish(false, false);
                    self.read_heres();
                }
                '#' => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                ';' => {
                    self.at += 1;
                    while self.eat(';') || self.eat('&') {}
                    self.finish(false, false);
                }
                '&' => self.ampersand(),
                '|' => {
                    self.at += 1;
                    if self.eat('|') {
                        self.finish(false, false);
                    } else {
                        self.eat('&');
                        self.finish(true, false);
                    }
                }
                '(' | ')' => {
                    self.at += 1;
                    self.finish(false, false);
                }
                '<' | '>' => self.redirect(),
                _ => self.word_or_descriptor(),
            }
        }
        self.finish(false, false);
        if !self.heres.is_empty() {
            self.script.unclear = true;
        }
    }

    fn ampersand(&mut self) {
        self.at += 1;
        if self.eat('&') {
            self.finish(false, false);
        } else if self.peek(0) == Some('>') {
            // `&>file` writes both streams.
            self.redirect();
        } else {
            self.finish(false, true);
        }
    }

    /// Ends a simple command.
    fn finish(&mut self, pipes: bool, background: bool) {
        let mut done = std::mem::take(&mut self.current);
        let empty = done.words.is_empty() && done.assignments.is_empty() && done.redirects.is_empty();
        if empty {
            // `(…) &` and `(…) | x` speak of what was read last.
            if let Some(last) = self.script.commands.last_mut() {
                last.piped_out |= pipes;
                last.background |= background;
            }
        } else if self.script.commands.len() >= MAX_COMMANDS {
            self.script.unclear = true;
        } else {
            done.piped_out = pipes;
            done.background = background;
            self.script.commands.push(done);
        }
        self.current.piped_in = pipes;
    }

    fn word_or_descriptor(&mut self) {
        // `2>file`: digits right before an arrow name a descriptor.
        let digits = self.chars[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        if digits > 0 && matches!(self.peek(digits), Some('<' | '>')) {
            self.at += digits;
            self.redirect();
            return;
        }
        let word = self.word();
        if self.current.words.is_empty() && !word.quoted && !word.expands {
            if RESERVED.contains(&word.text.as_str()) {
                return;
            }
            if is_assignment(&word.text) {
                self.current.assignments.push(word);
                return;
            }
        } else if self.current.words.is_empty() && is_assignment(&word.text) {
            self.current.assignments.push(word);
            return;
        }
        self.current.words.push(word);
    }

    fn redirect(&mut self) {
        let first = self.next();
        if matches!(self.peek(0), Some('(')) {
            // `<(…)` and `>(…)`: a command whose file is a word.
            let inner = self.bracketed();
            parse_into(&inner, self.depth + 1, self.script);
            self.current.words.push(Word { text: "<(…)".to_owned(), expands: true, quoted: false });
            return;
        }
        if first == Some('<') && self.peek(0) == Some('<') {
            self.at += 1;
            if self.eat('<') {
                self.skip_blanks();
                let text = self.word();
                self.current.redirects.push(Redirect {
                    writes: false,
                    target: Word { expands: text.expands, ..Word::default() },
                });
                self.current.here = Some(text.text);
                return;
            }
            let tabs = self.eat('-');
            self.skip_blanks();
            let delimiter = self.word();
            self.heres.push((delimiter.text, tabs, delimiter.quoted));
            return;
        }
        let writes = first == Some('>') || self.peek(0) == Some('>');
        while self.eat('>') || self.eat('|') {}
        let duplicates = self.eat('&');
        self.skip_blanks();
        let target = self.word();
        // `2>&1` and `>&-` open nothing.
        if duplicates && (target.text == "-" || target.text.chars().all(|c| c.is_ascii_digit() || c == '-')) {
            return;
        }
        self.current.redirects.push(Redirect { writes, target });
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
    }

    fn read_heres(&mut self) {
        for (delimiter, tabs, literal) in std::mem::take(&mut self.heres) {
            let mut body = String::new();
            let mut closed = false;
            while self.at < self.chars.len() {
                let end = self.chars[self.at..]
                    .iter()
                    .position(|c| *c == '\n')
                    .map_or(self.chars.len(), |at| self.at + at);
                let line: String = self.chars[self.at..end].iter().collect();
                self.at = (end + 1).min(self.chars.len());
                let line = if tabs { line.trim_start_matches('\t') } else { &line };
                if line == delimiter {
                    closed = true;
                    break;
                }
                body.push_str(line);
                body.push('\n');
            }
            self.script.unclear |= !closed;
            if !literal && body.contains(['$', '`']) {
                // Looked into like a double-quoted word.
                let inner = format!("\"{}\"", body.replace('"', " "));
                let mut reader = Reader {
                    chars: inner.chars().collect(),
                    at: 0,
                    depth: self.depth + 1,
                    script: self.script,
                    current: Simple::default(),
                    heres: Vec::new(),
                };
                let expands = reader.word().expands;
                if let (true, Some(last)) = (expands, self.script.commands.last_mut()) {
                    last.redirects
                        .push(Redirect { writes: false, target: Word { expands: true, ..Word::default() } });
                }
            }
            if let Some(last) = self.script.commands.last_mut() {
                last.here = Some(body);
            }
        }
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\r' | '\n' | ';' | '&' | '|' | '(' | ')' | '<' | '>' => break,
                '\\' => {
                    self.at += 1;
                    word.quoted = true;
                    match self.next() {
                        Some('\n') | None => {}
                        Some(c) => word.text.push(c),
                    }
                }
                '\'' => {
                    self.at += 1;
                    self.single(&mut word);
                }
                '"' => {
                    self.at += 1;
                    self.double(&mut word);
                }
                '`' => self.backticks(&mut word),
                '$' => self.dollar(&mut word, false),
                c => {
                    self.at += 1;
                    word.text.push(c);
                }
            }
        }
        word
    }

    fn single(&mut self, word: &mut Word) {
        word.quoted = true;
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => word.text.push(c),
                None => {
                    self.script.unclear = true;
                    return;
                }
            }
        }
    }

    fn double(&mut self, word: &mut Word) {
        word.quoted = true;
        loop {
            match self.peek(0) {
                Some('"') => {
                    self.at += 1;
                    return;
                }
                Some('\\') => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.text.push(c),
                        Some(c) => word.text.extend(['\\', c]),
                        None => self.script.unclear = true,
                    }
                }
                Some('`') => self.backticks(word),
                Some('$') => self.dollar(word, true),
                Some(c) => {
                    self.at += 1;
                    word.text.push(c);
                }
                None => {
                    self.script.unclear = true;
                    return;
                }
            }
        }
    }

    fn backticks(&mut self, word: &mut Word) {
        self.at += 1;
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => inner.extend(self.next()),
                Some(c) => inner.push(c),
                None => {
                    self.script.unclear = true;
                    break;
                }
            }
        }
        word.expands = true;
        word.text.push_str("`…`");
        parse_into(&inner, self.depth + 1, self.script);
    }

    fn dollar(&mut self, word: &mut Word, in_quotes: bool) {
        match self.peek(1) {
            Some('(') => {
                self.at += 1;
                let inner = self.bracketed();
                word.expands = true;
                word.text.push_str("$(…)");
                // `$((…))` calculates.
                if !(inner.starts_with('(') && inner.ends_with(')')) {
                    parse_into(&inner, self.depth + 1, self.script);
                }
            }
            Some('{') => {
                self.at += 2;
                let mut name = String::new();
                let mut open = 1;
                while let Some(c) = self.next() {
                    open += i32::from(c == '{') - i32::from(c == '}');
                    if open == 0 {
                        break;
                    }
                    name.push(c);
                }
                self.script.unclear |= open != 0;
                word.expands = true;
                if let Some(at) = name.find("$(").or_else(|| name.find('`')) {
                    parse_into(&name[at..].replace(['`', '$', '(', ')'], " "), self.depth + 1, self.script);
                }
                word.text.push_str(&format!("${{{name}}}"));
            }
            Some('\'') if !in_quotes => {
                // `$'…'`: C escapes; the characters that matter here are decoded.
                self.at += 2;
                word.quoted = true;
                self.ansi_c(word);
            }
            Some('"') if !in_quotes => self.at += 1,
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.at += 1;
                word.expands = true;
                word.text.push('$');
                while let Some(c) = self.peek(0).filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    self.at += 1;
                    word.text.push(c);
                }
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.at += 2;
                word.expands = true;
                word.text.extend(['$', c]);
            }
            _ => {
                self.at += 1;
                word.text.push('$');
            }
        }
    }

    fn ansi_c(&mut self, word: &mut Word) {
        while let Some(c) = self.next() {
            match c {
                '\'' => return,
                '\\' => match self.next() {
                    Some('n') => word.text.push('\n'),
                    Some('t') => word.text.push('\t'),
                    Some('x') => self.number(word, 16, 2),
                    Some('u' | 'U') => self.number(word, 16, 8),
                    Some(c) if c.is_digit(8) => {
                        self.at -= 1;
                        self.number(word, 8, 3);
                    }
                    Some(c) => word.text.push(c),
                    None => break,
                },
                c => word.text.push(c),
            }
        }
        self.script.unclear = true;
    }

    fn number(&mut self, word: &mut Word, base: u32, most: usize) {
        let digits: String =
            self.chars[self.at..].iter().take(most).take_while(|c| c.is_digit(base)).collect();
        self.at += digits.len();
        word.text.extend(u32::from_str_radix(&digits, base).ok().and_then(char::from_u32));
    }

    /// What stands between the bracket here and the one that closes it; quotes are respected.
    fn bracketed(&mut self) -> String {
        self.at += 1;
        let start = self.at;
        let mut open = 1;
        let mut quote: Option<char> = None;
        while let Some(c) = self.next() {
            match (quote, c) {
                (None | Some('"'), '\\') => self.at += 1,
                (None, '\'' | '"') => quote = Some(c),
                (Some(q), c) if q == c => quote = None,
                (None, '(') => open += 1,
                (None, ')') => {
                    open -= 1;
                    if open == 0 {
                        return self.chars[start..self.at - 1].iter().collect();
                    }
                }
                _ => {}
            }
        }
        self.script.unclear = true;
        self.at = self.chars.len();
        self.chars.get(start..).unwrap_or_default().iter().collect()
    }
}

/// `NAME=…` or `NAME+=…`.
pub(super) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let script = parse(text);
        let show = |simple: &Simple| {
            let mut line: Vec<String> =
                simple.assignments.iter().map(|word| format!("[{}]", word.text)).collect();
            line.extend(
                simple.words.iter().map(|word| word.text.clone() + if word.expands { "*" } else { "" }),
            );
            line.extend(
                simple
                    .redirects
                    .iter()
                    .map(|r| format!("{}{}", if r.writes { ">" } else { "<" }, r.target.text)),
            );
            let mut line = line.join(" ");
            line.push_str(if simple.piped_out { " |" } else { "" });
            line.push_str(if simple.background { " &" } else { "" });
            line
        };
        let mut lines: Vec<String> = script.commands.iter().map(show).collect();
        if script.unclear {
            lines.push("unclear".to_owned());
        }
        lines
    }

    #[test]
    fn lines_fall_into_simple_commands() {
        for (text, commands) in [
            ("ls -la", vec!["ls -la"]),
            ("a; b && c || d\ne", vec!["a", "b", "c", "d", "e"]),
            ("cat x | head -n 3 |& wc", vec!["cat x |", "head -n 3 |", "wc"]),
            ("sleep 5 & echo", vec!["sleep 5 &", "echo"]),
            ("A=1 B='x y' cmd C=2", vec!["[A=1] [B=x y] cmd C=2"]),
            ("echo \"a $HOME b\" 'c $d' e\\ f", vec!["echo a $HOME b* c $d e f"]),
            ("(cd /x && rm y) &", vec!["cd /x", "rm y &"]),
            ("echo a > out 2>&1 >> log", vec!["echo a >out >log"]),
            ("cmd &>all <in", vec!["cmd >all <in"]),
            ("echo $(rm -rf /) `id`", vec!["rm -rf /", "id", "echo $(…)* `…`*"]),
            ("diff <(sort a) b", vec!["sort a", "diff <(…)* b"]),
            ("if true; then rm x; fi", vec!["true", "rm x"]),
            ("echo 'unclosed", vec!["echo unclosed", "unclear"]),
            ("echo $((1+2)) ${A:-b}", vec!["echo $(…)* ${A:-b}*"]),
            ("echo $'\\x2fetc' # comment", vec!["echo /etc"]),
            ("r''m -r\"f\" /", vec!["rm -rf /"]),
            ("echo a\\\n b", vec!["echo a b"]),
            ("f() { x; }", vec!["f", "x"]),
        ] {
            assert_eq!(shown(text), commands, "{text}");
        }
    }

    #[test]
    fn here_documents_belong_to_their_command() {
        let script = parse("bash <<'E'\nrm -rf /\nE\nls");
        assert_eq!(script.commands.len(), 2);
        assert_eq!(script.commands[0].here.as_deref(), Some("rm -rf /\n"));
        assert!(!script.unclear);
        assert_eq!(parse("cat <<X\n$(id)\nX").commands.len(), 2);
        assert!(parse("cat <<X\nnever").unclear);
    }

    #[test]
    fn hostile_text_ends() {
        for text in [
            "$(".repeat(5000),
            "`".repeat(999),
            "((((".repeat(3000),
            "\"$(\"".repeat(2000),
            "a;".repeat(20_000),
        ] {
            parse(&text);
        }
    }
}
