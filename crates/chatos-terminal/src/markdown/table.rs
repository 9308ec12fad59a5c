//! A table: columns as wide as what they hold, narrower where the terminal is; one record below the other where even
//! that does not fit.

use super::inline;
use super::lines::{Span, Style, may_part, width};

/// No column is made narrower.
const NARROWEST: usize = 6;
/// Columns between two cells: space, bar, space.
const GAP: usize = 3;

type Cell = Vec<Span>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Middle,
    Right,
}

/// The lines of a table, or nothing when these lines are none.
pub(super) fn lines(source: &[String], most: usize) -> Option<Vec<Vec<Span>>> {
    let sides: Vec<Side> =
        cells(source.get(1)?).iter().map(|cell| side(cell.trim())).collect::<Option<_>>()?;
    let head = read(source.first()?, sides.len(), Style::BOLD);
    let rows: Vec<Vec<Cell>> = source[2..].iter().map(|line| read(line, sides.len(), Style::PLAIN)).collect();
    let widest = |column: usize| {
        rows.iter().chain([&head]).map(|row| of(&row[column])).max().unwrap_or_default().max(1)
    };
    let mut widths: Vec<usize> = (0..sides.len()).map(widest).collect();
    let room = most.saturating_sub(GAP * sides.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        let Some(largest) = widths.iter_mut().max() else { break };
        if *largest <= NARROWEST {
            return Some(records(&head, &rows));
        }
        *largest -= 1;
    }
    let mut all = row(&head, &widths, &sides);
    let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
    all.push(vec![(rule.join("─┼─"), Style::DIM)]);
    for cells in &rows {
        all.extend(row(cells, &widths, &sides));
    }
    Some(all)
}

/// One record below the other: `column: value`.
fn records(head: &[Cell], rows: &[Vec<Cell>]) -> Vec<Vec<Span>> {
    let mut all = Vec::new();
    for (number, cells) in rows.iter().enumerate() {
        if number > 0 {
            all.push(vec![("─".repeat(NARROWEST), Style::DIM)]);
        }
        for (name, cell) in head.iter().zip(cells) {
            let mut line = name.clone();
            line.push((": ".to_owned(), Style::DIM));
            line.extend(cell.iter().cloned());
            all.push(line);
        }
    }
    all
}

fn row(cells: &[Cell], widths: &[usize], sides: &[Side]) -> Vec<Vec<Span>> {
    let parts: Vec<Vec<Cell>> = cells.iter().zip(widths).map(|(cell, width)| broken(cell, *width)).collect();
    let height = parts.iter().map(Vec::len).max().unwrap_or_default().max(1);
    (0..height)
        .map(|line| {
            let mut spans = Vec::new();
            for (column, part) in parts.iter().enumerate() {
                if column > 0 {
                    spans.push((" │ ".to_owned(), Style::DIM));
                }
                let cell = part.get(line).cloned().unwrap_or_default();
                let missing = widths[column].saturating_sub(of(&cell));
                let left = match sides[column] {
                    Side::Left => 0,
                    Side::Middle => missing / 2,
                    Side::Right => missing,
                };
                spans.push((" ".repeat(left), Style::PLAIN));
                spans.extend(cell);
                if column + 1 < parts.len() {
                    spans.push((" ".repeat(missing - left), Style::PLAIN));
                }
            }
            spans
        })
        .collect()
}

fn of(cell: &[Span]) -> usize {
    cell.iter().map(|(text, _)| width(text)).sum()
}

/// A cell on several lines.
fn broken(cell: &[Span], most: usize) -> Vec<Cell> {
    let mut lines: Vec<Cell> = vec![Vec::new()];
    let mut column = 0;
    for (text, style) in cell {
        for word in parts(text) {
            let wide = width(word);
            if column > 0 && column + width(word.trim_end()) > most {
                lines.push(Vec::new());
                column = 0;
            }
            let mut rest = word;
            // A word that no line holds is cut.
            while column == 0 && width(rest.trim_end()) > most {
                let mut end = 0;
                for (at, c) in rest.char_indices() {
                    if at > 0 && width(&rest[..at + c.len_utf8()]) > most {
                        break;
                    }
                    end = at + c.len_utf8();
                }
                let (line, more) = rest.split_at(end);
                if let Some(last) = lines.last_mut() {
                    last.push((line.to_owned(), *style));
                }
                lines.push(Vec::new());
                rest = more;
            }
            column += if rest.len() == word.len() { wide } else { width(rest) };
            if let Some(last) = lines.last_mut() {
                last.push((rest.to_owned(), *style));
            }
        }
    }
    for line in &mut lines {
        if let Some((text, _)) = line.last_mut() {
            text.truncate(text.trim_end().len());
        }
    }
    lines
}

/// The pieces between which a line may end, each with the spaces behind it.
fn parts(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut from = 0;
    let mut before: Option<char> = None;
    for (at, c) in text.char_indices() {
        let parts = before.is_some_and(|before| (before == ' ' && c != ' ') || may_part(before, c));
        if parts {
            all.push(&text[from..at]);
            from = at;
        }
        before = Some(c);
    }
    all.push(&text[from..]);
    all
}

fn read(line: &str, columns: usize, style: Style) -> Vec<Cell> {
    let mut all: Vec<Cell> = cells(line)
        .iter()
        .take(columns)
        .map(|cell| {
            let plain = cell.replace("<br>", " ").replace("<br/>", " ").replace("<br />", " ");
            inline::spans(plain.trim(), style)
        })
        .collect();
    all.resize(columns, Vec::new());
    all
}

/// What stands between the bars; `\|` is none.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut all = vec![String::new()];
    let mut letters = line.chars().peekable();
    while let Some(c) = letters.next() {
        let Some(cell) = all.last_mut() else { break };
        match c {
            '\\' if letters.peek() == Some(&'|') => {
                letters.next();
                cell.push('|');
            }
            '|' => all.push(String::new()),
            c => cell.push(c),
        }
    }
    if all.len() > 1 && all.last().is_some_and(|cell| cell.trim().is_empty()) {
        all.pop();
    }
    all
}

fn side(cell: &str) -> Option<Side> {
    let line = cell.trim_matches(':');
    if line.is_empty() || !line.chars().all(|c| c == '-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Side::Middle,
        (false, true) => Side::Right,
        _ => Side::Left,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(source: &str, most: usize) -> Vec<String> {
        let source: Vec<String> = source.lines().map(str::to_owned).collect();
        let lines = lines(&source, most).unwrap();
        lines.into_iter().map(|line| line.into_iter().map(|(text, _)| text).collect()).collect()
    }

    const TABLE: &str = "| name | 数量 |\n|---|---:|\n| `a` \\| b | 1 |\n| 语言 | **22** |";

    #[test]
    fn columns_are_as_wide_as_they_need_and_numbers_stand_right() {
        assert_eq!(
            drawn(TABLE, 80),
            ["name  │ 数量", "──────┼─────", "a | b │    1", "语言  │   22"].map(str::to_owned)
        );
    }

    #[test]
    fn a_narrow_terminal_breaks_cells_and_a_very_narrow_one_shows_records() {
        let wide = "| a | b |\n|---|---|\n| one two three four | 一二三四五六七八九十 |";
        let lines = drawn(wide, 20);
        assert!(lines.iter().all(|line| width(line) <= 20), "{lines:#?}");
        assert!(lines.len() > 3, "{lines:#?}");
        let many = format!("|{}\n|{}\n|{}", "c|".repeat(9), "-|".repeat(9), "some words|".repeat(9));
        assert_eq!(drawn(&many, 40)[0], "c: some words");
    }

    #[test]
    fn lines_without_the_second_one_are_no_table() {
        assert!(lines(&["| a | b |".to_owned()], 80).is_none());
        assert!(lines(&["| a |".to_owned(), "| b |".to_owned()], 80).is_none());
    }
}
