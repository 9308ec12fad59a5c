//! Our entry in the files of other programs: put in, taken out, every other byte kept (other-agents §6.4).
//!
//! A change is planned and shown before it is made. It is made only if the file is still what was read, and the
//! bytes it replaced are kept beside our own state.

mod entry;
mod place;

use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

use crate::jsonc::{self, Step};
use crate::{Homes, Program};
pub use entry::{Command, Entry};
use place::Place;

/// Which file is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope<'a> {
    /// For all projects of this person.
    User,
    /// For one project; others who work in it get the file too.
    Project(&'a Path),
}

/// How our entry stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is as we write it.
    Installed,
    /// It is ours and was edited by hand; the text of the entry.
    Edited(String),
    Absent,
}

/// A change of one file, not made yet.
#[derive(Debug)]
pub struct Plan {
    program: Program,
    place: Place,
    before: Option<Vec<u8>>,
    after: Option<Vec<u8>>,
    /// What there was of ours.
    pub standing: Standing,
}

impl Plan {
    /// The plan that puts our entry in; one that changes nothing when it is there.
    pub fn install(program: Program, homes: &Homes, scope: Scope<'_>, entry: &Entry) -> Result<Self, Fault> {
        let (place, before) = open(program, homes, scope)?;
        let standing = standing(program, &place, before.as_deref(), Some(entry))?;
        let after = if standing != Standing::Absent {
            before.clone()
        } else if program == Program::Opencode {
            // A file of that name that is not ours stays.
            if before.is_some() {
                return Err(not_ours(&place.shown));
            }
            Some(entry.text().into_bytes())
        } else {
            let text = text(&place, before.as_deref())?;
            let changed = jsonc::push(text, &["hooks", entry.event()], &entry.value())
                .map_err(|e| broken(&place, &e))?;
            check(&place, text, &changed, program)?;
            Some(changed.into_bytes())
        };
        Ok(Self { program, place, before, after, standing })
    }

    /// The plan that takes everything of ours out. `kept` is where copies are: a file that nobody touched since
    /// becomes again what it was.
    pub fn remove(program: Program, homes: &Homes, scope: Scope<'_>, kept: &Path) -> Result<Self, Fault> {
        let (place, before) = open(program, homes, scope)?;
        let standing = standing(program, &place, before.as_deref(), None)?;
        let after = if standing == Standing::Absent {
            before.clone()
        } else if let Some(copy) = before.as_deref().and_then(|now| copy_of(kept, program, &place, now)) {
            copy
        } else if program == Program::Opencode {
            None
        } else {
            let text = text(&place, before.as_deref())?;
            let mut left = text.to_owned();
            while let Some(path) = ours(&parse(&place, &left)?).map(|(path, _)| path) {
                left = jsonc::remove(&left, &path).map_err(|e| broken(&place, &e))?;
            }
            check(&place, text, &left, program)?;
            Some(left.into_bytes())
        };
        Ok(Self { program, place, before, after, standing })
    }

    /// The file that is changed, as a person knows it.
    pub fn path(&self) -> &Path {
        &self.place.shown
    }

    /// Whether there is nothing to do.
    pub fn is_noop(&self) -> bool {
        self.before == self.after
    }

    /// The change as a unified difference.
    pub fn diff(&self) -> String {
        let path = self.place.shown.to_string_lossy();
        // As in every difference, `a/` and `b/` stand before a path without its root.
        let path = path.trim_start_matches('/');
        chatos_files::diff::diff(path, self.before.as_deref(), path, self.after.as_deref()).text
    }

    /// Makes the change. The old bytes are kept under `kept` first.
    pub fn apply(&self, kept: &Path) -> Result<(), Fault> {
        if self.is_noop() {
            return Ok(());
        }
        keep(kept, self.program, &self.place, self.before.as_deref(), self.after.as_deref())?;
        self.place.replace(self.before.as_deref(), self.after.as_deref())
    }
}

/// How our entry stands; with an entry, whether it is exactly that one.
pub fn status(
    program: Program,
    homes: &Homes,
    scope: Scope<'_>,
    entry: &Entry,
) -> Result<(PathBuf, Standing), Fault> {
    let (place, before) = open(program, homes, scope)?;
    let standing = standing(program, &place, before.as_deref(), Some(entry))?;
    Ok((place.shown, standing))
}

fn open(program: Program, homes: &Homes, scope: Scope<'_>) -> Result<(Place, Option<Vec<u8>>), Fault> {
    let project = match scope {
        Scope::User => None,
        Scope::Project(path) => Some(path),
    };
    let place = Place::find(program.config_file(homes, project))?;
    let before = place.read()?;
    Ok((place, before))
}

fn standing(
    program: Program,
    place: &Place,
    before: Option<&[u8]>,
    entry: Option<&Entry>,
) -> Result<Standing, Fault> {
    let Some(bytes) = before else { return Ok(Standing::Absent) };
    if program == Program::Opencode {
        let text = String::from_utf8_lossy(bytes);
        let standing = match entry {
            _ if !text.starts_with(entry::PLUGIN_MARK) => Standing::Absent,
            Some(entry) if entry.text() != text => Standing::Edited(text.into_owned()),
            _ => Standing::Installed,
        };
        return Ok(standing);
    }
    let value = parse(place, text(place, before)?)?;
    Ok(match (ours(&value), entry) {
        (None, _) => Standing::Absent,
        (Some((_, group)), Some(entry)) if group != entry.value() => {
            Standing::Edited(serde_json::to_string_pretty(&group).unwrap_or_default())
        }
        (Some(_), _) => Standing::Installed,
    })
}

/// Where the first entry of ours is, and the group it stands in. A group that others share loses only ours.
fn ours(value: &Value) -> Option<(Vec<Step>, Value)> {
    let hooks = value.get("hooks")?.as_object()?;
    let key = |key: &str| Step::Key(key.to_owned());
    for (event, groups) in hooks {
        let list = groups.as_array().map(Vec::as_slice).unwrap_or_default();
        for (at, group) in list.iter().enumerate() {
            let inner = group.get("hooks").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let is_ours =
                |hook: &Value| hook.get("command").and_then(Value::as_str).is_some_and(entry::is_ours);
            let Some(index) = inner.iter().position(is_ours) else { continue };
            let mut path = vec![key("hooks")];
            // What would be left empty goes too.
            if inner.len() > 1 {
                path.extend([key(event), Step::Item(at), key("hooks"), Step::Item(index)]);
            } else if list.len() > 1 {
                path.extend([key(event), Step::Item(at)]);
            } else if hooks.len() > 1 {
                path.push(key(event));
            }
            return Some((path, group.clone()));
        }
    }
    None
}

/// Nothing but our own entries differs between two texts.
fn check(place: &Place, before: &str, after: &str, program: Program) -> Result<(), Fault> {
    let others = |text: &str| -> Result<Value, Fault> {
        let mut left = text.to_owned();
        while let Some((path, _)) = ours(&parse(place, &left)?) {
            left = jsonc::remove(&left, &path).map_err(|e| broken(place, &e))?;
        }
        let mut value = parse(place, &left)?;
        // Lists that only held ours.
        if let Some(hooks) = value.get_mut("hooks").and_then(Value::as_object_mut) {
            hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
            if hooks.is_empty()
                && let Some(map) = value.as_object_mut()
            {
                map.shift_remove("hooks");
            }
        }
        Ok(value)
    };
    if others(before)? == others(after)? {
        return Ok(());
    }
    let title = program.title();
    Err(Fault::new(
        ErrorCode::Internal,
        Text::new(
            format!("the settings of {title} cannot be changed without touching what is not ours"),
            format!("无法在不改动其他内容的情况下修改 {title} 的设置"),
        ),
    )
    .hint(Text::fixed("add the text of `--print` by hand", "请用 `--print` 输出的内容手工添加")))
}

fn text<'a>(place: &Place, bytes: Option<&'a [u8]>) -> Result<&'a str, Fault> {
    std::str::from_utf8(bytes.unwrap_or_default())
        .map_err(|_| invalid(&place.shown, 1, "the file is not UTF-8 text"))
}

fn parse(place: &Place, text: &str) -> Result<Value, Fault> {
    jsonc::parse(text).map_err(|error| broken(place, &error))
}

fn broken(place: &Place, error: &jsonc::Broken) -> Fault {
    invalid(&place.shown, error.line, error.what)
}

fn invalid(path: &Path, line: usize, what: &str) -> Fault {
    let path = path.display();
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("{path}, line {line}: {what}; nothing was written"),
            format!("{path} 第 {line} 行有误（{what}）；未写入任何内容"),
        ),
    )
    .code("config_invalid")
    .hint(Text::fixed(
        "repair the file, or add the text of `--print` by hand",
        "请先修复该文件，或用 `--print` 输出的内容手工添加",
    ))
}

fn not_ours(path: &Path) -> Fault {
    let path = path.display();
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("{path} exists and was not written by ChatOS; nothing was written"),
            format!("{path} 已存在且并非由 ChatOS 写入；未写入任何内容"),
        ),
    )
    .code("conflict")
    .hint(Text::fixed("move that file away first", "请先移走该文件"))
}

/// Copies that are kept of each program.
const COPIES: usize = 20;

/// Keeps the old bytes, and what they were replaced by, by its digest.
fn keep(
    kept: &Path,
    program: Program,
    place: &Place,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<(), Fault> {
    let folder = kept.join(program.word());
    let failed = |error: std::io::Error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("cannot keep a copy in {}; nothing was changed", folder.display()),
                format!("无法在 {} 中保存副本；未做任何更改", folder.display()),
            ),
        )
        .caused_by(&error)
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let mut names: Vec<PathBuf> = listed(&folder);
    let millis =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
    let record = serde_json::json!({
        "path": place.real, "before": before.map(String::from_utf8_lossy),
        "after": after.map(chatos_prompts::whole::sha256),
    });
    let file = folder.join(format!("{millis:015}.json"));
    chatos_paths::replace_file(&file, record.to_string().as_bytes(), 0o600).map_err(failed)?;
    names.push(file);
    for old in names.iter().rev().skip(COPIES) {
        // One copy too many is no reason to fail.
        std::fs::remove_file(old).ok();
    }
    Ok(())
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    names.retain(|path| path.extension().is_some_and(|end| end == "json"));
    names.sort();
    names
}

/// What the file was before we changed it, if it is still what we made of it. `Some(None)`: it was not there.
#[expect(clippy::option_option, reason = "no copy, and a copy of nothing, are two things")]
fn copy_of(kept: &Path, program: Program, place: &Place, now: &[u8]) -> Option<Option<Vec<u8>>> {
    let digest = chatos_prompts::whole::sha256(now);
    listed(&kept.join(program.word())).into_iter().rev().find_map(|file| {
        let record: Value = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        let same = record["after"] == digest.as_str() && record["path"].as_str() == place.real.to_str();
        same.then(|| record["before"].as_str().map(|text| text.as_bytes().to_vec()))
    })
}

#[cfg(test)]
mod tests;
