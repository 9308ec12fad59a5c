//! Where a call points: a path, and a line with a column or with the text of a symbol in it, because models count
//! badly.

use chatos_tool::{Issue, IssueCode, Text, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::documents::Document;
use crate::position::{Encoding, Position, Range};

/// How far from the named line a symbol is looked for.
const NEAR: usize = 20;

/// A place in a file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
pub(crate) struct Spot {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    pub(crate) path: String,
    /// Line, from 1; may be left out when symbol is given
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000_000), extend("x-zh" = "行号，从 1 开始；给出 symbol 时可省略", "x-no-default" = true))]
    pub(crate) line: Option<u32>,
    /// Column, from 1, in UTF-16 units; may be left out when symbol is given
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000_000), extend("x-zh" = "列号，从 1 开始，按 UTF-16 计；给出 symbol 时可省略", "x-no-default" = true))]
    pub(crate) character: Option<u32>,
    /// Text of the symbol in that line, instead of a column: looked for there, then in the lines around
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "该行中符号的文本，可代替列号：先在该行查找，再在附近的行查找", "x-max-bytes" = 512, "x-no-nul" = true, "x-no-default" = true))]
    pub(crate) symbol: Option<String>,
    /// Which language server; by the file's name when left out
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "使用哪个语言服务器；省略则按文件名选择", "x-max-bytes" = 64, "x-no-nul" = true, "x-no-default" = true))]
    pub(crate) server_id: Option<String>,
}

/// A place as results have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Point {
    /// From 1
    pub(crate) line: u32,
    /// From 1, UTF-16
    pub(crate) character: u32,
}

/// A stretch as results have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Stretch {
    pub(crate) start: Point,
    pub(crate) end: Point,
}

impl Point {
    pub(crate) fn of(at: Position) -> Self {
        Self { line: at.line.saturating_add(1), character: at.character.saturating_add(1) }
    }
}

impl Stretch {
    pub(crate) fn of(range: Range) -> Self {
        Self { start: Point::of(range.start), end: Point::of(range.end) }
    }
}

impl Spot {
    /// Rules between arguments that a schema cannot say.
    pub(crate) fn check(&self) -> Vec<Issue> {
        match (&self.symbol, self.line, self.character) {
            (Some(_), ..) | (None, Some(_), Some(_)) => Vec::new(),
            (None, None, _) => vec![needs("/line")],
            (None, Some(_), None) => vec![needs("/character")],
        }
    }

    /// The same symbol in a line, counted from 0.
    pub(crate) fn in_line(&self, line: u32) -> Self {
        Self { line: Some(line.saturating_add(1)), character: None, ..self.clone() }
    }

    /// The place in a text, counted as the server does.
    pub(crate) fn find(&self, document: &Document, encoding: Encoding) -> Result<Position, ToolError> {
        let place = match &self.symbol {
            Some(symbol) => self.of_symbol(document, symbol)?,
            None => self.of_numbers(document)?,
        };
        let line = document.lines.get(&document.text, place.line as usize).unwrap_or_default();
        let character = Encoding::Utf16.convert(line, place.character as usize, encoding) as u32;
        Ok(Position { line: place.line, character })
    }

    fn of_numbers(&self, document: &Document) -> Result<Position, ToolError> {
        let (line, character) = (self.line.unwrap_or(1) - 1, self.character.unwrap_or(1) - 1);
        let Some(text) = document.lines.get(&document.text, line as usize) else {
            return Err(self.no_line(document));
        };
        let most = Encoding::Utf16.units(text);
        if character as usize > most {
            return Err(invalid(
                "/character",
                Text::new(
                    format!("line {} of `{}` has {most} columns: {}", line + 1, document.path, shown(text)),
                    format!("`{}` 第 {} 行只有 {most} 列：{}", document.path, line + 1, shown(text)),
                ),
                Text::fixed("give symbol instead of character", "可用 symbol 代替 character"),
            ));
        }
        Ok(Position { line, character })
    }

    fn no_line(&self, document: &Document) -> ToolError {
        let count = document.lines.count();
        invalid(
            "/line",
            Text::new(
                format!("`{}` has {count} lines", document.path),
                format!("`{}` 只有 {count} 行", document.path),
            ),
            Text::fixed("read the file again, or give symbol", "请重新读取文件，或使用 symbol"),
        )
    }

    fn of_symbol(&self, document: &Document, symbol: &str) -> Result<Position, ToolError> {
        let count = document.lines.count();
        let line = |number: usize| document.lines.get(&document.text, number).unwrap_or_default();
        let at = |number: usize, from: usize| -> Option<Position> {
            let text = line(number);
            let byte = whole_word(text, symbol, from).or_else(|| {
                let rest = text.get(from..)?;
                // What is no word, such as `->`, stands as it is.
                let word = symbol.chars().all(is_word);
                rest.find(symbol).filter(|_| !word).map(|at| at + from)
            })?;
            Some(Position { line: number as u32, character: Encoding::Utf16.units(&text[..byte]) as u32 })
        };
        let Some(wanted) = self.line else {
            let code = |number: &usize| !is_comment(line(*number));
            let found = (0..count).filter(code).find_map(|number| at(number, 0));
            let found = found.or_else(|| (0..count).find_map(|number| at(number, 0)));
            return found.ok_or_else(|| self.nowhere(document, symbol));
        };
        let wanted = wanted as usize - 1;
        if wanted >= count {
            return Err(self.no_line(document));
        }
        // Of several in the line the one at or after the column.
        let from = self.character.and_then(|column| Encoding::Utf16.byte(line(wanted), column as usize - 1));
        let here = from.and_then(|from| at(wanted, from)).or_else(|| at(wanted, 0));
        let around = || {
            let numbers = (1..=NEAR).flat_map(|far| [wanted.checked_sub(far), Some(wanted + far)]);
            numbers.flatten().filter(|number| *number < count).find_map(|number| at(number, 0))
        };
        here.or_else(around).ok_or_else(|| self.nowhere(document, symbol))
    }

    fn nowhere(&self, document: &Document, symbol: &str) -> ToolError {
        let all = document.text.lines().enumerate().filter(|(_, line)| whole_word(line, symbol, 0).is_some());
        let found: Vec<String> = all.take(8).map(|(number, _)| (number + 1).to_string()).collect();
        let (path, near) =
            (&document.path, self.line.map(|line| format!(" near line {line}")).unwrap_or_default());
        let hint = if found.is_empty() {
            Text::fixed(
                "read the file again, or look for it with search_text",
                "请重新读取文件，或用 search_text 查找",
            )
        } else {
            let lines = found.join(", ");
            Text::new(format!("it is in line {lines}"), format!("它在第 {lines} 行"))
        };
        let near_zh = self.line.map(|line| format!("第 {line} 行附近")).unwrap_or_default();
        invalid(
            "/symbol",
            Text::new(
                format!("`{symbol}` is not in `{path}`{near}"),
                format!("`{path}` {near_zh}没有 `{symbol}`"),
            ),
            hint,
        )
    }
}

/// Looks like a line of comment in most languages; names in one are rarely what is meant.
fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    let marks = ["//", "/*", "* ", "# ", "#!", "-- ", "<!--", "\"\"\"", "'''"];
    marks.iter().any(|mark| line.starts_with(mark))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Where a word stands by itself.
fn whole_word(line: &str, symbol: &str, from: usize) -> Option<usize> {
    let rest = line.get(from..)?;
    rest.match_indices(symbol).map(|(at, _)| at + from).find(|at| {
        let before = line[..*at].chars().next_back();
        let after = line[at + symbol.len()..].chars().next();
        let edge = |own: Option<char>, other: Option<char>| {
            !(own.is_some_and(is_word) && other.is_some_and(is_word))
        };
        edge(symbol.chars().next(), before) && edge(symbol.chars().next_back(), after)
    })
}

fn shown(line: &str) -> String {
    line.trim_end().chars().take(120).collect()
}

fn needs(key: &'static str) -> Issue {
    Issue::new(
        key,
        IssueCode::Missing,
        Text::fixed("give line and character, or symbol", "请给出 line 和 character，或给出 symbol"),
    )
}

fn invalid(key: &'static str, message: Text, hint: Text) -> ToolError {
    ToolError::invalid(vec![Issue::new(key, IssueCode::Range, message).hint(hint)])
}

#[cfg(test)]
mod tests {
    use chatos_files::Digest;

    use super::*;
    use crate::documents::{Documents, OnDisk, Wants};

    fn document(text: &str) -> Document {
        let disk = OnDisk {
            uri: "file:///a".into(),
            path: "a".into(),
            language: "x".into(),
            digest: Digest::of(text.as_bytes()),
            text: text.into(),
            stamp: None,
        };
        let wants = Wants { open_close: true, incremental: true, save: false, encoding: Encoding::Utf16 };
        Documents::default().sync(disk, wants, 0).1
    }

    fn spot(line: Option<u32>, character: Option<u32>, symbol: Option<&str>) -> Spot {
        Spot { path: "a".into(), line, character, symbol: symbol.map(str::to_owned), server_id: None }
    }

    #[test]
    fn a_symbol_is_found_where_it_stands_by_itself() {
        let doc = document("fn parser() {}\nfn parse() { parser() }\n// 中 parse\nx -> y\n");
        let find = |line, character, symbol| {
            let found = spot(line, character, Some(symbol)).find(&doc, Encoding::Utf16).unwrap();
            (found.line, found.character)
        };
        assert_eq!(find(None, None, "parse"), (1, 3), "not inside `parser`");
        assert_eq!(find(Some(2), None, "parser"), (1, 13));
        assert_eq!(find(Some(3), None, "parse"), (2, 5));
        assert_eq!(find(Some(1), None, "parse"), (1, 3), "the nearest line");
        assert_eq!(find(Some(4), None, "->"), (3, 2));
        let doc = document("/// The area of a square.\n * area\nfn area() {}\n");
        let found = spot(None, None, Some("area")).find(&doc, Encoding::Utf16).unwrap();
        assert_eq!(found.line, 2, "not in a comment");
        let only = document("# area\n");
        assert!(
            spot(None, None, Some("area")).find(&only, Encoding::Utf16).is_ok(),
            "unless there is nothing else"
        );
        let doc = document("a a a\n");
        let found = spot(Some(1), Some(2), Some("a")).find(&doc, Encoding::Utf16).unwrap();
        assert_eq!(found.character, 2);
        let error = spot(None, None, Some("zzz")).find(&doc, Encoding::Utf16).unwrap_err();
        assert_eq!(error.code().as_str(), "invalid_argument");
    }

    #[test]
    fn numbers_are_checked_and_converted() {
        let doc = document("a😀b\n");
        let at = |line, character, encoding| spot(Some(line), Some(character), None).find(&doc, encoding);
        assert_eq!(at(1, 4, Encoding::Utf16).unwrap(), Position { line: 0, character: 3 });
        assert_eq!(at(1, 4, Encoding::Utf8).unwrap(), Position { line: 0, character: 5 });
        assert_eq!(at(1, 5, Encoding::Utf32).unwrap(), Position { line: 0, character: 3 });
        assert!(at(1, 6, Encoding::Utf16).is_err(), "past the end of its line");
        assert!(at(3, 1, Encoding::Utf16).is_err());
        assert_eq!(spot(Some(1), None, None).check().len(), 1);
        assert_eq!(spot(None, None, None).check().len(), 1);
        assert!(spot(None, None, Some("x")).check().is_empty());
    }
}
