//! OpenDocument (odt, odp, ods): all of it is in one file, `content.xml`. Comments and what was deleted with changes
//! tracked are left out.

use super::markdown::{Page, Table};
use super::sheet::sheet_text;
use super::xml::{Step, walk};
use super::{Members, Note, Read, Unread, needed};

/// Columns that are read, and how often one cell or row may repeat itself.
const COLUMNS: usize = 256;

pub(super) fn read(members: &mut dyn Members, most: usize) -> Result<Read, Unread> {
    // Behind a password the parts are there and are noise; the list of parts says so.
    if let Some(list) = members.member("META-INF/manifest.xml")?
        && memchr::memmem::find(&list, b"encryption-data").is_some()
    {
        return Err(Unread::encrypted());
    }
    let content = needed(members, "content.xml")?;
    let mut is_sheet = false;
    walk(&content, |step| {
        if let Step::Open("spreadsheet", _) = step {
            is_sheet = true;
        }
        Ok(())
    })?;
    if is_sheet { sheets(&content, most) } else { text(&content) }
}

fn text(bytes: &[u8]) -> Result<Read, Unread> {
    let mut page = Page::default();
    let (mut text, mut heading, mut lists, mut slide) = (String::new(), None, 0_usize, 0_usize);
    let (mut inside, mut skipped, mut notes) = (0_usize, 0_usize, false);
    walk(bytes, |step| {
        match step {
            Step::Open("annotation" | "tracked-changes" | "forms", _) => skipped += 1,
            Step::Close("annotation" | "tracked-changes" | "forms") => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            Step::Open("page", given) => {
                slide += 1;
                let name = given.exactly("draw:name").unwrap_or_default();
                page.heading(2, &format!("Slide {slide}: {name}"));
            }
            Step::Open("notes", _) => notes = true,
            Step::Close("notes") => notes = false,
            Step::Open("h", given) => {
                heading = given.number("outline-level").or(Some(1));
                inside += 1;
            }
            Step::Open("p", _) => inside += 1,
            Step::Open("list", _) => lists += 1,
            Step::Close("list") => lists = lists.saturating_sub(1),
            Step::Open("s", given) if inside > 0 => {
                text.push_str(&" ".repeat(given.number("c").unwrap_or(1).min(100)));
            }
            Step::Open("tab", _) if inside > 0 => text.push('\t'),
            Step::Open("line-break", _) if inside > 0 => text.push('\n'),
            Step::Open("note-citation", _) => text.push_str("[^"),
            Step::Close("note-citation") => text.push_str("]: "),
            Step::Text(piece) if inside > 0 => text.push_str(piece),
            Step::Close("p" | "h") => {
                inside = inside.saturating_sub(1);
                if inside == 0 {
                    let said = std::mem::take(&mut text);
                    match (heading.take(), lists) {
                        (Some(level), _) => page.heading(level, &said),
                        (None, _) if notes => {
                            if !said.trim().is_empty() {
                                page.paragraph(&format!("Notes: {}", said.trim()));
                            }
                        }
                        (None, 0) => page.paragraph(&said),
                        (None, depth) => page.item(depth - 1, &said),
                    }
                } else {
                    // A footnote or a box inside a paragraph.
                    text.push(' ');
                }
            }
            Step::Open("table", _) => page.open_table(),
            Step::Close("table") => page.close_table(),
            Step::Open("table-row", _) => page.table().into_iter().for_each(Table::row),
            Step::Open("table-cell" | "covered-table-cell", _) => {
                page.table().into_iter().for_each(Table::open_cell);
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(Read { text: page.finish(), note: None })
}

fn sheets(bytes: &[u8], most: usize) -> Result<Read, Unread> {
    let (mut out, mut note) = (String::new(), None);
    let (mut table, mut name, mut total) = (Table::default(), String::new(), 0_usize);
    let (mut row, mut cell, mut rows, mut columns) = (Vec::<String>::new(), String::new(), 1_usize, 1_usize);
    let (mut inside, mut skipped) = (0_usize, 0_usize);
    walk(bytes, |step| {
        match step {
            Step::Open("annotation" | "shapes", _) => skipped += 1,
            Step::Close("annotation" | "shapes") => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            Step::Open("table", given) => {
                name = given.exactly("table:name").unwrap_or_default();
                (table, total) = (Table::default(), 0);
            }
            Step::Open("table-row", given) => {
                row.clear();
                rows = given.number("number-rows-repeated").unwrap_or(1);
            }
            Step::Open("table-cell" | "covered-table-cell", given) => {
                cell.clear();
                columns = given.number("number-columns-repeated").unwrap_or(1);
            }
            Step::Open("p", _) => {
                if !cell.is_empty() {
                    cell.push(' ');
                }
                inside += 1;
            }
            Step::Close("p") => inside = inside.saturating_sub(1),
            Step::Open("s", given) if inside > 0 => {
                cell.push_str(&" ".repeat(given.number("c").unwrap_or(1).min(100)));
            }
            Step::Text(piece) if inside > 0 => cell.push_str(piece),
            Step::Close("table-cell" | "covered-table-cell") => {
                for _ in 0..columns.min(COLUMNS.saturating_sub(row.len())) {
                    row.push(cell.clone());
                }
            }
            // A sheet ends with a million empty rows.
            Step::Close("table-row") if row.iter().any(|cell| !cell.trim().is_empty()) => {
                for _ in 0..rows.min(most.saturating_sub(total)) {
                    table.push(row.clone());
                }
                total = total.saturating_add(rows);
            }
            Step::Close("table") => {
                out.push_str(&sheet_text(&name, false, &table, total, most));
                if total > most {
                    note = Some(Note::Rows);
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(Read { text: out.trim_end().to_owned(), note })
}
