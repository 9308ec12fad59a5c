//! Instruction files as they lie on the disk now: which there are, and the text of each (packages §4.1, §4.2). Every
//! file is opened beneath the project's root, so no link leads out of it.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use chatos_files::entry::Kind;
use chatos_files::walk::{WalkOptions, walk};
use chatos_files::{FileError, Protected, Root, Stopped, SymlinkPolicy};
use chatos_tool::Text;

use crate::imports;
use crate::project::Project;
use crate::text::{MOST_READ, NoText, clean, decode};

/// The file of the state with the person's own text.
pub(crate) const OWN: &str = "AGENTS.md";
/// Files below the workspace that are named.
const NESTED: usize = 20;
/// How deep they are looked for, and how long.
const NESTED_DEPTH: usize = 6;
const NESTED_TIME: Duration = Duration::from_millis(150);

/// Where each folder of a project may have skills and commands; what they hold is read elsewhere.
pub const SKILLS: [&str; 3] = [".agents/skills", ".chatos/skills", ".claude/skills"];
/// Where each folder of a project may have commands; what they hold is read elsewhere.
pub const COMMANDS: [&str; 2] = [".chatos/commands", ".claude/commands"];
/// Entries of a folder that are counted.
const COUNTED: usize = 500;

/// What was found of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Its text as a model reads it, and what of it stays as it is written.
    Text {
        /// The text as a model reads it, cleaned and with its imports.
        text: String,
        /// Imports that were not followed.
        left: Vec<String>,
    },
    /// Another file of the same folder comes first.
    Shadowed,
    /// It is no text that can be sent.
    Unreadable(Text),
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Relative to the project's root; the person's own with its whole path.
    pub path: String,
    /// It is the person's own.
    pub own: bool,
    /// The size of the file on the disk, in bytes.
    pub bytes: u64,
    /// What was found in it, or why nothing of it counts.
    pub content: Content,
}

/// Everything that was found for one workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The project; nothing where none can be.
    pub project: Option<Project>,
    /// The person's own file first, then from the root to the workspace.
    pub candidates: Vec<Candidate>,
    /// Such files below the workspace, relative to the root.
    pub nested: Vec<String>,
    /// Skills and commands of the project, which the same word allows.
    pub skills: usize,
    /// Commands of the project, which the same word of the person allows.
    pub commands: usize,
}

impl Reading {
    /// Whether there is anything a person has to decide about.
    pub fn has_project(&self) -> bool {
        self.has_project_text() || self.skills + self.commands > 0
    }

    /// Whether the project has a text of its own.
    pub fn has_project_text(&self) -> bool {
        self.candidates.iter().any(|one| !one.own && matches!(one.content, Content::Text { .. }))
    }
}

/// Looks at everything that counts for a workspace. `names` are the files of a folder in the order in which they count;
/// without any, nothing is read, not even the person's own. Blocks.
pub fn read(workspace: &Path, home: Option<&Path>, state: &Path, names: &[String]) -> Reading {
    let names: Vec<&str> = names.iter().map(String::as_str).filter(|name| is_plain(name)).collect();
    if names.is_empty() {
        return Reading::default();
    }
    let mut candidates: Vec<Candidate> = own(state).into_iter().collect();
    let project = Project::around(workspace, home);
    let mut nested = Vec::new();
    let (mut skills, mut commands) = (0, 0);
    if let Some(project) = &project
        && let Ok(root) = Root::open(&project.root, SymlinkPolicy::Deny, Protected::default())
    {
        let before = candidates.len();
        for folder in project.folders() {
            of_folder(&root, &folder, &names, &mut candidates);
            let place = project.root.join(&folder);
            skills += count(&place, &SKILLS, |entry| entry.join("SKILL.md").is_file());
            commands += count(&place, &COMMANDS, |entry| entry.extension().is_some_and(|end| end == "md"));
        }
        if candidates.len() > before {
            nested = below(&root, project, &names);
        }
    }
    Reading { project, candidates, nested, skills, commands }
}

/// How many entries of these folders fit.
fn count(place: &Path, names: &[&str], fits: fn(&Path) -> bool) -> usize {
    let entries = names.iter().filter_map(|name| std::fs::read_dir(place.join(name)).ok());
    entries.flat_map(|folder| folder.flatten().take(COUNTED)).filter(|entry| fits(&entry.path())).count()
}

/// A name that stays in its folder.
fn is_plain(name: &str) -> bool {
    let parts = Path::new(name).components();
    !name.is_empty() && name.len() <= 200 && parts.clone().all(|part| matches!(part, Component::Normal(_)))
}

fn of_folder(root: &Root, folder: &Path, names: &[&str], candidates: &mut Vec<Candidate>) {
    let mut first = true;
    for name in names {
        let rel = folder.join(name);
        let Some(path) = rel.to_str().map(str::to_owned) else { continue };
        // Most folders have none of them: that costs one look each.
        if root.path().join(&rel).symlink_metadata().is_err() {
            continue;
        }
        let found = if first { text_of(root, &path) } else { Err(Unread::Missing) };
        let (bytes, content) = match found {
            Ok(read) => {
                let text = clean(&read.text);
                let imports = rel.file_name().is_some_and(|name| name == "CLAUDE.md");
                let whole = imports.then(|| imports::resolve(root, &rel, &text));
                let (text, left) = whole.map_or((text, Vec::new()), |whole| (whole.text, whole.left));
                (read.bytes, Content::Text { text, left })
            }
            Err(Unread::Because(why)) => (size(&root.path().join(&rel)), Content::Unreadable(why)),
            // It was there a moment ago.
            Err(Unread::Missing) if first => continue,
            Err(Unread::Missing) => (size(&root.path().join(&rel)), Content::Shadowed),
        };
        first = false;
        candidates.push(Candidate { path, own: false, bytes, content });
    }
}

fn size(path: &Path) -> u64 {
    path.symlink_metadata().map_or(0, |meta| meta.len())
}

fn own(state: &Path) -> Option<Candidate> {
    let path = state.join(OWN);
    let meta = path.symlink_metadata().ok()?;
    let candidate = |bytes: u64, content: Content| {
        Some(Candidate { path: path.display().to_string(), own: true, bytes, content })
    };
    if !meta.is_file() {
        return candidate(meta.len(), Content::Unreadable(no_file()));
    }
    let read = File::open(&path).map_err(|error| cannot(&error.to_string())).and_then(|file| take(&file));
    match read {
        Ok(text) => candidate(meta.len(), Content::Text { text: clean(&text), left: Vec::new() }),
        Err(why) => candidate(meta.len(), Content::Unreadable(why)),
    }
}

/// A text file of the project that was read, as far as it counts.
pub(crate) struct Read {
    pub(crate) text: String,
    pub(crate) bytes: u64,
}

pub(crate) enum Unread {
    Missing,
    Because(Text),
}

/// The text of a file beneath the root.
pub(crate) fn text_of(root: &Root, path: &str) -> Result<Read, Unread> {
    let opened = match root.open_file(path) {
        Ok(opened) => opened,
        Err(FileError::NotFound { .. }) => return Err(Unread::Missing),
        Err(FileError::Unsupported { .. } | FileError::Invalid { .. }) => {
            return Err(Unread::Because(no_file()));
        }
        Err(error) => return Err(Unread::Because(refused(&error))),
    };
    let bytes = u64::try_from(opened.stat.st_size).unwrap_or_default();
    take(&opened.file).map(|text| Read { text, bytes }).map_err(Unread::Because)
}

fn take(file: &File) -> Result<String, Text> {
    let mut bytes = Vec::new();
    file.take(MOST_READ as u64).read_to_end(&mut bytes).map_err(|error| cannot(&error.to_string()))?;
    match decode(&bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(NoText::Nul) => Err(Text::fixed("is not text: it has NUL bytes", "不是文本：含有 NUL 字节")),
        Err(NoText::Utf8) => Err(Text::fixed("is not text in UTF-8", "不是 UTF-8 文本")),
    }
}

fn no_file() -> Text {
    Text::fixed("is not a regular file", "不是普通文件")
}

fn cannot(why: &str) -> Text {
    Text::new(format!("cannot be read ({why})"), format!("无法读取（{why}）"))
}

fn refused(error: &FileError) -> Text {
    match error {
        FileError::Denied { .. } => Text::fixed("lies outside of the project", "位于项目之外"),
        other => cannot(&other.to_string()),
    }
}

/// Instruction files below the workspace, relative to the root: what git ignores is left out, and a workspace that takes
/// long is looked at in part.
fn below(root: &Root, project: &Project, names: &[&str]) -> Vec<String> {
    let Ok(workspace) = project.workspace.strip_prefix(&project.root) else { return Vec::new() };
    let Some(start) = workspace.to_str().map(|rel| if rel.is_empty() { "." } else { rel }) else {
        return Vec::new();
    };
    let began = Instant::now();
    let late = move || (began.elapsed() > NESTED_TIME).then_some(Stopped::Deadline);
    let options = WalkOptions { hidden: false, ignored: false, depth: NESTED_DEPTH };
    let Ok(tree) = walk(root, start, options, &late) else { return Vec::new() };
    let mut found: Vec<(PathBuf, usize)> = Vec::new();
    tree.breadth_first(|entry| {
        let Ok(path) = String::from_utf8(entry.rel()) else { return };
        let path = PathBuf::from(path);
        let rank = names.iter().position(|name| path.file_name().is_some_and(|file| file == *name));
        if let Some(rank) = rank
            && entry.kind == Kind::File
            && path.parent() != Some(workspace)
            && path.to_str().is_some_and(|path| !path.chars().any(char::is_control))
        {
            // One per folder, as everywhere.
            match found.iter_mut().find(|(other, _)| other.parent() == path.parent()) {
                Some(other) if other.1 > rank => *other = (path, rank),
                Some(_) => {}
                None => found.push((path, rank)),
            }
        }
    });
    let mut paths: Vec<String> = found.iter().map(|(path, _)| path.display().to_string()).collect();
    paths.sort();
    paths.truncate(NESTED);
    paths
}

#[cfg(test)]
#[path = "reading/tests.rs"]
mod tests;
