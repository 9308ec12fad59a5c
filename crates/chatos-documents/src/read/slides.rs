//! Presentations (pptx): one heading per slide, its texts in the order of the file, its tables, and its notes.

use std::collections::HashMap;

use super::markdown::{Page, Table};
use super::xml::{Step, walk};
use super::{Members, Read, Unread, needed};

pub(super) fn read(members: &mut dyn Members) -> Result<Read, Unread> {
    let presentation = needed(members, "ppt/presentation.xml")?;
    let targets = relations(members, "ppt/_rels/presentation.xml.rels")?;
    let mut order = Vec::new();
    walk(&presentation, |step| {
        if let Step::Open("sldId", given) = step {
            order.extend(given.exactly("r:id"));
        }
        Ok(())
    })?;
    let mut page = Page::default();
    for (number, id) in order.iter().enumerate() {
        let Some((_, target)) = targets.get(id) else { continue };
        let path = beneath("ppt", target);
        let Some(slide) = members.member(&path)? else { continue };
        let shown = texts(&slide)?;
        page.heading(2, format!("Slide {}: {}", number + 1, shown.title).trim_end_matches([':', ' ']));
        shown.put(&mut page);
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let own = relations(members, &format!("{folder}/_rels/{name}.rels"))?;
        let notes = own.values().find(|(kind, _)| kind.ends_with("/notesSlide"));
        if let Some((_, target)) = notes
            && let Some(notes) = members.member(&beneath(folder, target))?
        {
            let said: Vec<String> = texts(&notes)?
                .blocks
                .into_iter()
                .filter_map(|block| match block {
                    Block::Line(_, text) => Some(text),
                    Block::Table(_) => None,
                })
                .collect();
            // A number alone is the slide's.
            let said =
                said.into_iter().filter(|line| line.trim().parse::<u32>().is_err()).collect::<Vec<_>>();
            if !said.is_empty() {
                page.paragraph(&format!("Notes: {}", said.join("\n")));
            }
        }
    }
    Ok(Read { text: page.finish(), note: None })
}

/// What a part refers to: by id, its kind and where it is.
pub(super) fn relations(
    members: &mut dyn Members,
    name: &str,
) -> Result<HashMap<String, (String, String)>, Unread> {
    let mut found = HashMap::new();
    let Some(bytes) = members.member(name)? else { return Ok(found) };
    walk(&bytes, |step| {
        if let Step::Open("Relationship", given) = step
            && given.get("TargetMode").as_deref() != Some("External")
            && let (Some(id), Some(target)) = (given.get("Id"), given.get("Target"))
        {
            found.insert(id, (given.get("Type").unwrap_or_default(), target));
        }
        Ok(())
    })?;
    Ok(found)
}

/// A target as a path of the archive.
pub(super) fn beneath(folder: &str, target: &str) -> String {
    if let Some(whole) = target.strip_prefix('/') {
        return whole.to_owned();
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

enum Block {
    Line(usize, String),
    Table(Table),
}

#[derive(Default)]
struct Shown {
    title: String,
    blocks: Vec<Block>,
}

impl Shown {
    fn put(self, page: &mut Page) {
        for block in self.blocks {
            match block {
                Block::Line(level, text) => page.item(level, &text),
                Block::Table(table) => page.paragraph(&table.markdown()),
            }
        }
    }
}

fn texts(bytes: &[u8]) -> Result<Shown, Unread> {
    let mut shown = Shown::default();
    let (mut text, mut level, mut in_text, mut is_title) = (String::new(), 0, false, false);
    let mut table: Option<(Table, Vec<String>, String)> = None;
    let mut skipped = 0_usize;
    walk(bytes, |step| {
        match step {
            Step::Open("Fallback", _) => skipped += 1,
            Step::Close("Fallback") => skipped = skipped.saturating_sub(1),
            _ if skipped > 0 => {}
            Step::Open("sp", _) => is_title = false,
            Step::Open("ph", given) => {
                is_title = matches!(given.get("type").as_deref(), Some("title" | "ctrTitle"));
            }
            Step::Open("p", _) => {
                text.clear();
                level = 0;
            }
            Step::Open("pPr", given) => level = given.number("lvl").unwrap_or_default(),
            Step::Open("t", _) => in_text = true,
            Step::Close("t") => in_text = false,
            Step::Text(piece) if in_text => text.push_str(piece),
            Step::Open("br", _) => text.push(' '),
            Step::Close("p") if !text.trim().is_empty() => {
                let line = std::mem::take(&mut text);
                match &mut table {
                    Some((_, _, cell)) => {
                        cell.push_str(&line);
                        cell.push(' ');
                    }
                    None if is_title => {
                        shown.title = format!("{} {}", shown.title, line.trim()).trim().to_owned();
                    }
                    None => shown.blocks.push(Block::Line(level, line)),
                }
            }
            Step::Open("tbl", _) => table = Some(Default::default()),
            Step::Close("tc") => {
                if let Some((_, row, cell)) = &mut table {
                    row.push(std::mem::take(cell));
                }
            }
            Step::Close("tr") => {
                if let Some((table, row, _)) = &mut table {
                    table.push(std::mem::take(row));
                }
            }
            Step::Close("tbl") => shown.blocks.extend(table.take().map(|(table, ..)| Block::Table(table))),
            _ => {}
        }
        Ok(())
    })?;
    Ok(shown)
}
