//! Word documents (docx): headings, paragraphs, lists, tables and footnotes. What was deleted with changes tracked,
//! comments, headers and footers are left out.

use std::collections::HashMap;

use super::markdown::Page;
use super::xml::{Step, walk};
use super::{Members, Read, Unread, needed};

pub(super) fn read(members: &mut dyn Members) -> Result<Read, Unread> {
    let document = needed(members, "word/document.xml")?;
    let styles = match members.member("word/styles.xml")? {
        Some(styles) => names_of_styles(&styles)?,
        None => HashMap::new(),
    };
    let mut page = Page::default();
    body(&document, &styles, &mut page)?;
    if let Some(notes) = members.member("word/footnotes.xml")? {
        body(&notes, &styles, &mut page)?;
    }
    Ok(Read { text: page.finish(), note: None })
}

/// Ids of styles are words of the writer's language; their names are not.
fn names_of_styles(bytes: &[u8]) -> Result<HashMap<String, String>, Unread> {
    let mut names = HashMap::new();
    let mut current = None;
    walk(bytes, |step| {
        match step {
            Step::Open("style", given) => current = given.get("styleId"),
            Step::Open("name", given) => {
                if let (Some(id), Some(name)) = (current.take(), given.get("val")) {
                    names.insert(id, name.to_lowercase());
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(names)
}

fn level_of(style: &str) -> Option<usize> {
    match style {
        "title" => Some(1),
        _ => style.strip_prefix("heading")?.trim().parse().ok(),
    }
}

fn body(bytes: &[u8], styles: &HashMap<String, String>, page: &mut Page) -> Result<(), Unread> {
    let mut text = String::new();
    let (mut heading, mut item) = (None, None);
    let (mut in_text, mut skipped) = (false, 0_usize);
    let mut note: Option<String> = None;
    walk(bytes, |step| {
        match step {
            // The same once more for older programs, and what was moved away.
            Step::Open("Fallback" | "moveFrom" | "del", _) => skipped += 1,
            Step::Close("Fallback" | "moveFrom" | "del") => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            Step::Open("footnote", given) => {
                // The line above footnotes is one, too.
                note = if given.get("type").is_some() { None } else { given.get("id") };
            }
            Step::Open("p", _) => {
                text.clear();
                (heading, item) = (None, None);
                if let Some(id) = note.take() {
                    text.push_str(&format!("[^{id}]: "));
                }
            }
            Step::Open("pStyle", given) => {
                let id = given.get("val").unwrap_or_default();
                let name = styles.get(&id).cloned().unwrap_or_else(|| id.to_lowercase());
                heading = level_of(&name);
                if heading.is_none() && name.starts_with("list ") {
                    item = Some(0);
                }
            }
            Step::Open("numPr", _) => item = item.or(Some(0)),
            Step::Open("ilvl", given) => item = given.number("val"),
            Step::Open("t", _) => in_text = true,
            Step::Close("t") => in_text = false,
            Step::Text(piece) if in_text => text.push_str(piece),
            Step::Open("tab", given) if given.get("val").is_none() && given.get("pos").is_none() => {
                text.push('\t');
            }
            Step::Open("br" | "cr", _) => text.push('\n'),
            Step::Open("noBreakHyphen", _) => text.push('-'),
            Step::Open("footnoteReference", given) => {
                text.push_str(&format!("[^{}]", given.get("id").unwrap_or_default()));
            }
            Step::Close("p") => {
                match (heading, item) {
                    (Some(level), _) => page.heading(level, &text),
                    (None, Some(level)) => page.item(level, &text),
                    (None, None) => page.paragraph(&text),
                }
                text.clear();
            }
            Step::Open("tbl", _) => page.open_table(),
            Step::Close("tbl") => page.close_table(),
            Step::Open("tr", _) => page.table().into_iter().for_each(super::markdown::Table::row),
            Step::Open("tc", _) => page.table().into_iter().for_each(super::markdown::Table::open_cell),
            _ => {}
        }
        Ok(())
    })
}
