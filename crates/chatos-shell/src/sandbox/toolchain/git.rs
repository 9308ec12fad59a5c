//! What git reads in a home directory: its configuration and the files that names. One with a secret in it is
//! not opened; git is given copies without it then (working-day §1.1).

use std::path::{Path, PathBuf};

use super::filter;
use crate::sandbox::grants::leads_to;

/// Files that are followed.
const MAX_FILES: usize = 64;
/// Longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Git {
    /// Files git may read.
    pub(super) read: Vec<PathBuf>,
    /// Copies without secrets, in place of the files: name and content. The first is where git begins; empty
    /// where nothing is secret.
    pub(super) copies: Vec<(String, String)>,
    pub(super) filtered: Vec<PathBuf>,
    /// Commits, or tags, are to be signed.
    pub(super) signs: bool,
}

/// Where copies go: a name becomes a path.
pub(super) type CopyAt<'a> = &'a dyn Fn(&str) -> PathBuf;

/// Reads the configuration of a person. Nothing that lies where commands write is followed: a command would
/// choose what the next one may read.
pub(super) fn find(home: &Path, config: &Path, writable: &[PathBuf], copy_at: CopyAt<'_>) -> Git {
    let mut walk = Walk { home, writable, files: Vec::new(), others: Vec::new() };
    let begin = [config.join("git/config"), home.join(".gitconfig")];
    for path in &begin {
        walk.file(path);
    }
    for name in ["git/ignore", "git/attributes"] {
        walk.other(config.join(name));
    }
    let mut git = Git {
        signs: walk.files.iter().any(|file| file.parsed.signs),
        filtered: walk.files.iter().filter(|file| file.parsed.secret).map(|file| file.path.clone()).collect(),
        read: walk.others.clone(),
        copies: Vec::new(),
    };
    if git.filtered.is_empty() {
        git.read.extend(walk.files.into_iter().map(|file| file.path));
        return git;
    }
    let name = |path: &Path| {
        walk.files.iter().position(|file| file.path == path).map(|at| copy_at(&format!("git-{at}")))
    };
    // Read in the order git reads the two itself.
    let begin = begin.iter().filter_map(|path| name(&leads_to(path, writable).ok()?));
    let first: String = begin.map(|copy| format!("[include]\n\tpath = {}\n", quoted(&copy))).collect();
    git.copies.push(("gitconfig".to_owned(), first));
    for (at, file) in walk.files.iter().enumerate() {
        let copy = |named: &str| {
            let path = walk.resolve(named, &file.path)?;
            name(&leads_to(&path, writable).ok()?)
        };
        git.copies.push((format!("git-{at}"), file.parsed.without_secrets(&file.path, &copy)));
    }
    git
}

struct Walk<'a> {
    home: &'a Path,
    writable: &'a [PathBuf],
    files: Vec<File>,
    others: Vec<PathBuf>,
}

struct File {
    path: PathBuf,
    parsed: Parsed,
}

impl Walk<'_> {
    fn file(&mut self, path: &Path) {
        let Ok(real) = leads_to(path, self.writable) else { return };
        let known = self.files.iter().any(|file| file.path == real);
        if known || self.files.len() >= MAX_FILES || self.is_writable(&real) {
            return;
        }
        let Some(text) = read(&real) else { return };
        let parsed = Parsed::of(&text);
        let includes = parsed.includes.clone();
        let others = parsed.others.clone();
        self.files.push(File { path: real.clone(), parsed });
        for named in includes {
            if let Some(path) = self.resolve(&named, &real) {
                self.file(&path);
            }
        }
        for named in others {
            if let Some(path) = self.resolve(&named, &real) {
                self.other(path);
            }
        }
    }

    fn other(&mut self, path: PathBuf) {
        if let Ok(real) = leads_to(&path, self.writable)
            && real.is_file()
            && self.others.len() < MAX_FILES
            && !self.others.contains(&real)
        {
            self.others.push(real);
        }
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|own| path.starts_with(own))
    }

    fn resolve(&self, named: &str, within: &Path) -> Option<PathBuf> {
        if let Some(rest) = named.strip_prefix("~/") {
            return Some(self.home.join(rest));
        }
        // Of another user.
        if named.starts_with('~') || named.is_empty() {
            return None;
        }
        Some(within.parent()?.join(named))
    }
}

pub(super) fn read(path: &Path) -> Option<String> {
    use std::io::Read;
    // Not a pipe: opening one would wait for its other end.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// One file, taken apart.
#[derive(Debug, Default)]
struct Parsed {
    lines: Vec<Line>,
    includes: Vec<String>,
    others: Vec<String>,
    secret: bool,
    signs: bool,
}

#[derive(Debug)]
enum Line {
    Section {
        section: String,
        sub: Option<String>,
        secret: bool,
    },
    /// `name = value`, as it stands.
    Entry {
        name: String,
        value: String,
        text: String,
        secret: bool,
    },
    /// Comments and blank lines say nothing to git.
    Nothing,
}

impl Parsed {
    fn of(text: &str) -> Self {
        let mut parsed = Self::default();
        let mut section = String::new();
        for line in logical(text) {
            let mut rest = line.trim();
            if let Some(header) = rest.strip_prefix('[')
                && let Some(end) = section_end(header)
            {
                let (name, sub) = split_section(&header[..end]);
                let secret = sub.as_deref().is_some_and(|sub| filter::without_users(sub).is_some());
                parsed.secret |= secret;
                section = name.clone();
                parsed.lines.push(Line::Section { section: name, sub, secret });
                rest = header[end + 1..].trim_start();
            }
            if rest.is_empty() || rest.starts_with(['#', ';']) {
                parsed.lines.push(Line::Nothing);
                continue;
            }
            let (name, value) = rest.split_once('=').unwrap_or((rest, "true"));
            let (name, value) = (name.trim().to_ascii_lowercase(), unquoted(value));
            let literal = value.contains("password=") && !value.contains("password=$");
            let secret = (filter::is_secret_name(&name) && section != "credential")
                || literal
                || filter::without_users(&value).is_some();
            parsed.secret |= secret;
            match (section.as_str(), name.as_str()) {
                ("include" | "includeif", "path") => parsed.includes.push(value.clone()),
                ("core", "excludesfile" | "attributesfile") => parsed.others.push(value.clone()),
                ("commit" | "tag", "gpgsign") => {
                    parsed.signs |=
                        matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1");
                }
                _ => {}
            }
            parsed.lines.push(Line::Entry { name, value, text: rest.to_owned(), secret });
        }
        parsed
    }

    /// The file without secrets, its includes leading to their copies.
    fn without_secrets(&self, own: &Path, copy: &dyn Fn(&str) -> Option<PathBuf>) -> String {
        let mut text = String::new();
        let (mut dropped, mut including) = (false, false);
        for line in &self.lines {
            match line {
                Line::Section { section, sub, secret } => {
                    dropped = *secret;
                    including = section.starts_with("include");
                    if dropped {
                        continue;
                    }
                    match sub {
                        None => text.push_str(&format!("[{section}]\n")),
                        Some(sub) => {
                            // A condition on a folder beside the file still means that folder.
                            let beside =
                                own.parent().map(|dir| dir.display().to_string()).unwrap_or_default();
                            let sub = match sub.split_once(":./") {
                                Some((kind, rest)) if including => format!("{kind}:{beside}/{rest}"),
                                _ => sub.clone(),
                            };
                            let sub = sub.replace('\\', "\\\\").replace('"', "\\\"");
                            text.push_str(&format!("[{section} \"{sub}\"]\n"));
                        }
                    }
                }
                Line::Entry { secret: true, .. } | Line::Nothing => {}
                Line::Entry { .. } if dropped => {}
                Line::Entry { name, value, .. } if including && name == "path" => {
                    if let Some(copy) = copy(value) {
                        text.push_str(&format!("\tpath = {}\n", quoted(&copy)));
                    }
                }
                Line::Entry { text: own, .. } => text.push_str(&format!("\t{own}\n")),
            }
        }
        text
    }
}

/// Lines, those that end in a backslash joined with the next.
fn logical(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let more = line.ends_with('\\') && !line.ends_with("\\\\");
        let part = if more { &line[..line.len() - 1] } else { line };
        match lines.last_mut().filter(|_| open) {
            Some(last) => last.push_str(part),
            None => lines.push(part.to_owned()),
        }
        open = more;
    }
    lines
}

fn section_end(header: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            ']' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

fn split_section(header: &str) -> (String, Option<String>) {
    match header.split_once(char::is_whitespace) {
        Some((name, sub)) => (name.to_ascii_lowercase(), Some(unquoted(sub))),
        None => (header.to_ascii_lowercase(), None),
    }
}

/// A value as git understands it: quotes, escapes and comments taken away.
fn unquoted(text: &str) -> String {
    let mut value = String::new();
    let (mut quoted, mut chars) = (false, text.trim().chars());
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => value.extend(chars.next().map(|next| match next {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            '#' | ';' if !quoted => break,
            _ => value.push(c),
        }
    }
    if quoted { value } else { value.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(base: &Path, name: &str, text: &str) -> PathBuf {
        let path = base.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn look(home: &Path, writable: &[PathBuf]) -> Git {
        find(home, &home.join(".config"), writable, &|name| PathBuf::from("/copies").join(name))
    }

    #[test]
    fn everything_the_configuration_names_is_found_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        put(
            &home,
            ".gitconfig",
            "[include]\n\tpath = work/extra\n[includeIf \"gitdir:~/x/\"] path = \"~/more config\"\n[core] excludesFile = ~/.gitignore_global # mine\n[commit]\n\tgpgsign\n",
        );
        put(&home, "work/extra", "[include]\n\tpath = ../.gitconfig\n\tpath = missing\n");
        put(&home, "more config", "");
        put(&home, ".gitignore_global", "*.o\n");
        put(&home, ".config/git/ignore", "*.swp\n");
        let git = look(&home, &[]);
        let mut names: Vec<String> =
            git.read.iter().map(|path| path.strip_prefix(&home).unwrap().display().to_string()).collect();
        names.sort();
        assert_eq!(
            names,
            [".config/git/ignore", ".gitconfig", ".gitignore_global", "more config", "work/extra"]
        );
        assert!(git.signs && git.copies.is_empty() && git.filtered.is_empty());
    }

    #[test]
    fn a_file_that_commands_write_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        put(&home, ".gitconfig", "[include]\n\tpath = root/planted\n");
        put(&home, "root/planted", "[include]\n\tpath = ../private\n");
        put(&home, "private", "text");
        let git = look(&home, &[home.join("root")]);
        assert_eq!(git.read, [home.join(".gitconfig")]);
    }

    #[test]
    fn copies_hold_no_secret_and_include_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        put(
            &home,
            ".gitconfig",
            "[user]\n\tname = A \\\n  B\n[includeIf \"gitdir:./w/\"]\n\tpath = .gitsecret\n[url \"https://u:canary@h/\"]\n\tinsteadOf = h:\n[credential]\n\thelper = store\n",
        );
        put(
            &home,
            ".gitsecret",
            "[github]\n\ttoken = canary\n[http]\n\textraHeader = X: canary\n[alias]\n\tst = status\n",
        );
        let git = look(&home, &[]);
        assert_eq!(git.read, Vec::<PathBuf>::new());
        assert_eq!(git.filtered.len(), 2);
        let all = format!("{:?}", git.copies);
        assert!(!all.contains("canary"), "{all}");
        assert_eq!(git.copies[0].1, "[include]\n\tpath = \"/copies/git-0\"\n");
        let own = &git.copies[1].1;
        assert!(own.contains("name = A   B") && own.contains("helper = store"), "{own}");
        assert!(own.contains(&format!("[includeif \"gitdir:{}/w/\"]", home.display())), "{own}");
        assert!(own.contains("path = \"/copies/git-1\"") && !own.contains("insteadOf"), "{own}");
        assert!(git.copies[2].1.contains("st = status"), "{}", git.copies[2].1);
    }
}
