//! Workbooks (xlsx): every sheet as a table, with the values that were last computed; dates as dates.

use super::markdown::Table;
use super::slides::{beneath, relations};
use super::xml::{Step, walk};
use super::{Members, Note, Read, Unread, needed};

/// Columns that are read.
const COLUMNS: usize = 256;

pub(super) fn read(members: &mut dyn Members, most: usize) -> Result<Read, Unread> {
    let workbook = needed(members, "xl/workbook.xml")?;
    let targets = relations(members, "xl/_rels/workbook.xml.rels")?;
    let (mut sheets, mut since_1904) = (Vec::new(), false);
    walk(&workbook, |step| {
        match step {
            Step::Open("sheet", given) => {
                let hidden = given.get("state").is_some_and(|state| state != "visible");
                sheets.push((
                    given.exactly("name").unwrap_or_default(),
                    given.exactly("r:id").unwrap_or_default(),
                    hidden,
                ));
            }
            Step::Open("workbookPr", given) => {
                since_1904 = matches!(given.get("date1904").as_deref(), Some("1" | "true"));
            }
            _ => {}
        }
        Ok(())
    })?;
    let shared = match members.member("xl/sharedStrings.xml")? {
        Some(bytes) => strings(&bytes)?,
        None => Vec::new(),
    };
    let dates = match members.member("xl/styles.xml")? {
        Some(bytes) => date_styles(&bytes)?,
        None => Vec::new(),
    };
    let (mut text, mut note) = (String::new(), None);
    for (name, id, hidden) in sheets {
        let Some((_, target)) = targets.get(&id) else { continue };
        let Some(bytes) = members.member(&beneath("xl", target))? else { continue };
        let book = Book { shared: &shared, dates: &dates, since_1904 };
        let (table, total) = book.sheet(&bytes, most)?;
        text.push_str(&sheet_text(&name, hidden, &table, total, most));
        if total > most {
            note = Some(Note::Rows);
        }
    }
    Ok(Read { text: text.trim_end().to_owned(), note })
}

/// A sheet as a section.
pub(super) fn sheet_text(name: &str, hidden: bool, table: &Table, total: usize, most: usize) -> String {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let hidden = if hidden { " (hidden)" } else { "" };
    let rows = table.markdown();
    let rows = if rows.is_empty() { "[empty]" } else { &rows };
    let left = if total > most {
        format!("\n\n[{} more rows are not shown; {most} of {total} are]", total - most)
    } else {
        String::new()
    };
    format!("## Sheet: {name}{hidden}\n\n{rows}{left}\n\n")
}

fn strings(bytes: &[u8]) -> Result<Vec<String>, Unread> {
    let (mut all, mut current, mut in_text, mut reading_aid) = (Vec::new(), String::new(), false, false);
    walk(bytes, |step| {
        match step {
            Step::Open("si", _) => current.clear(),
            // How a word is spoken is not part of it.
            Step::Open("rPh", _) => reading_aid = true,
            Step::Close("rPh") => reading_aid = false,
            Step::Open("t", _) => in_text = !reading_aid,
            Step::Close("t") => in_text = false,
            Step::Text(piece) if in_text => current.push_str(piece),
            Step::Close("si") => all.push(std::mem::take(&mut current)),
            _ => {}
        }
        Ok(())
    })?;
    Ok(all)
}

/// Which styles of cells show a date: nothing, a day, or a day with its time.
fn date_styles(bytes: &[u8]) -> Result<Vec<Option<Moment>>, Unread> {
    let (mut own, mut styles, mut inside) = (std::collections::HashMap::new(), Vec::new(), false);
    walk(bytes, |step| {
        match step {
            Step::Open("numFmt", given) => {
                if let (Some(id), Some(code)) = (given.number("numFmtId"), given.get("formatCode")) {
                    own.insert(id, moment_of(&code));
                }
            }
            Step::Open("cellXfs", _) => inside = true,
            Step::Close("cellXfs") => inside = false,
            Step::Open("xf", given) if inside => {
                let id = given.number("numFmtId").unwrap_or_default();
                styles.push(own.get(&id).copied().unwrap_or(match id {
                    14..=17 | 27..=31 | 36 | 50..=54 | 57 | 58 => Some(Moment::Day),
                    18..=21 | 32..=35 | 45..=47 | 55 | 56 => Some(Moment::Time),
                    22 => Some(Moment::Both),
                    _ => None,
                }));
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(styles)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    Day,
    Time,
    Both,
}

/// Whether a format writes dates: letters of days and hours outside quotes and brackets.
fn moment_of(code: &str) -> Option<Moment> {
    let (mut quoted, mut bracket, mut escaped) = (false, false, false);
    let (mut day, mut time) = (false, false);
    for c in code.split(';').next().unwrap_or_default().chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' | '_' | '*' => escaped = true,
            '"' => quoted = !quoted,
            '[' => bracket = true,
            ']' => bracket = false,
            _ if quoted => {}
            // Hours beyond a day stand in brackets, colours and places do, too.
            'h' | 'H' | 's' | 'S' => time |= !bracket || code.to_ascii_lowercase().contains("[h"),
            _ if bracket => {}
            'y' | 'Y' | 'd' | 'D' => day = true,
            _ => {}
        }
    }
    match (day, time) {
        (true, true) => Some(Moment::Both),
        (true, false) => Some(Moment::Day),
        (false, true) => Some(Moment::Time),
        (false, false) => None,
    }
}

struct Book<'a> {
    shared: &'a [String],
    dates: &'a [Option<Moment>],
    since_1904: bool,
}

impl Book<'_> {
    /// The first rows and how many there are.
    fn sheet(&self, bytes: &[u8], most: usize) -> Result<(Table, usize), Unread> {
        let mut table = Table::default();
        let (mut total, mut row) = (0_usize, Vec::<String>::new());
        let (mut column, mut kind, mut style, mut value, mut in_value) =
            (0_usize, String::new(), None, String::new(), false);
        walk(bytes, |step| {
            match step {
                Step::Open("row", _) => {
                    row.clear();
                    column = 0;
                }
                Step::Open("c", given) => {
                    if let Some(at) = given.exactly("r").as_deref().and_then(column_of) {
                        column = at;
                    }
                    kind = given.exactly("t").unwrap_or_default();
                    style = given.number("s");
                    value.clear();
                }
                Step::Open("v" | "t", _) => in_value = true,
                Step::Close("v" | "t") => in_value = false,
                Step::Text(piece) if in_value => value.push_str(piece),
                Step::Close("c") => {
                    let shown = self.shown(&kind, style, &value);
                    if column < COLUMNS && !shown.is_empty() {
                        row.resize(row.len().max(column + 1), String::new());
                        row[column] = shown;
                    }
                    column += 1;
                }
                Step::Close("row") if row.iter().any(|cell| !cell.trim().is_empty()) => {
                    total += 1;
                    if total <= most {
                        table.push(std::mem::take(&mut row));
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok((table, total))
    }

    fn shown(&self, kind: &str, style: Option<usize>, value: &str) -> String {
        match kind {
            "s" => value
                .trim()
                .parse()
                .ok()
                .and_then(|at: usize| self.shared.get(at))
                .cloned()
                .unwrap_or_default(),
            "b" => if value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "str" | "inlineStr" | "e" | "d" => value.to_owned(),
            _ => {
                let moment = style.and_then(|style| self.dates.get(style)).copied().flatten();
                match (moment, value.trim().parse::<f64>()) {
                    (Some(moment), Ok(serial)) => {
                        written(serial, moment, self.since_1904).unwrap_or_else(|| value.to_owned())
                    }
                    _ => value.trim().to_owned(),
                }
            }
        }
    }
}

/// The column of a place such as `BC12`.
fn column_of(place: &str) -> Option<usize> {
    let letters = place.bytes().take_while(u8::is_ascii_alphabetic);
    let number = letters.fold(0_usize, |sum, letter| {
        sum.saturating_mul(26).saturating_add(usize::from(letter.to_ascii_uppercase() - b'A') + 1)
    });
    number.checked_sub(1)
}

/// A day counted from the end of 1899, or from 1904, as a date.
fn written(serial: f64, moment: Moment, since_1904: bool) -> Option<String> {
    if !(0.0..3_000_000.0).contains(&serial) {
        return None;
    }
    let seconds = ((serial.fract() * 86_400.0).round() as i64).min(86_399);
    let whole = serial.floor() as i64;
    // 1900 is a leap year to these programs.
    let days = if since_1904 { whole - 24_107 } else { whole - if whole < 60 { 25_568 } else { 25_569 } };
    let (year, month, day) = civil(days);
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(match moment {
        Moment::Day => date,
        Moment::Time if whole > 0 => format!("{date} {time}"),
        Moment::Time => time,
        Moment::Both => format!("{date} {time}"),
    })
}

/// The date so many days after the beginning of 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_dates_and_formats() {
        assert_eq!((column_of("A1"), column_of("AA7"), column_of("7")), (Some(0), Some(26), None));
        assert_eq!(written(45_658.0, Moment::Day, false).unwrap(), "2025-01-01");
        assert_eq!(written(45_658.75, Moment::Both, false).unwrap(), "2025-01-01 18:00:00");
        assert_eq!(written(0.5, Moment::Time, false).unwrap(), "12:00:00");
        assert_eq!(written(1.0, Moment::Day, false).unwrap(), "1900-01-01");
        assert_eq!(written(0.0, Moment::Day, true).unwrap(), "1904-01-01");
        assert_eq!(moment_of("yyyy\\-mm\\-dd"), Some(Moment::Day));
        assert_eq!(moment_of("[$-409]d/m/yyyy h:mm"), Some(Moment::Both));
        assert_eq!(moment_of("[Red]0.00\" days\""), None);
        assert_eq!(moment_of("#,##0.00"), None);
    }
}
