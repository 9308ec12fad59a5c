//! Files of a chat's workspace behind `@`: found by letters of their path, and read for a message under the rules of
//! every file tool: inside the root, no link out of it, nothing protected (packages §5.3, servers §2.1).

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chatos_files::entry::Kind;
use chatos_files::stop::Never;
use chatos_files::walk::{WalkOptions, walk};
use chatos_files::{FileError, Last, Protected, Root, Stopped, SymlinkPolicy, list, read};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::command::{MentionList, MentionView, MentionedFiles};
use chatos_wire::session::Attachment;

/// Files that are offered at a time.
pub(crate) const OFFERED: usize = 50;
/// A workspace that takes longer to look through is offered in part.
const LOOKING: Duration = Duration::from_millis(400);
const DEPTH: usize = 40;
/// Files of one message, and the largest, as for every attachment.
const FILES: usize = chatos_documents::FILES;
pub(crate) const FILE_BYTES: u64 = chatos_documents::FILE_BYTES as u64;
/// Names of a folder that go with a message.
const NAMES: usize = 500;

/// The workspace of one chat.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Where its agent works.
    pub root: PathBuf,
    /// What no file tool touches: the state and its keys.
    pub protected: Vec<PathBuf>,
}

impl Workspace {
    fn open(&self) -> Result<Root, Fault> {
        let protected = Protected::new(self.protected.clone());
        Root::open(&self.root, SymlinkPolicy::Deny, protected).map_err(|error| {
            let place = self.root.display();
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("the workspace cannot be opened: {place}"),
                    format!("无法打开工作区：{place}"),
                ),
            )
            .caused_by(&error)
        })
    }

    /// The files and folders whose path has the letters of `wanted` in their order; what git ignores is left out.
    /// Names that begin with a dot are offered to who types one. Blocks.
    pub fn find(&self, wanted: &str) -> Result<MentionList, Fault> {
        let root = self.open()?;
        let began = Instant::now();
        let late = move || (began.elapsed() > LOOKING).then_some(Stopped::Deadline);
        let hidden = wanted.starts_with('.') || wanted.contains("/.");
        let options = WalkOptions { hidden, ignored: false, depth: DEPTH };
        let tree = walk(&root, ".", options, &late).map_err(|error| fault(&error, "."))?;
        let letters: Vec<char> = wanted.chars().flat_map(char::to_lowercase).collect();
        let mut found: Vec<(i64, usize, String)> = Vec::new();
        let mut at = 0;
        tree.breadth_first(|entry| {
            at += 1;
            if !matches!(entry.kind, Kind::File | Kind::Directory) {
                return;
            }
            // What is no text, or hides in one, cannot be typed.
            let Ok(mut path) = String::from_utf8(entry.rel()) else { return };
            if path.chars().any(|c| c.is_whitespace() || c.is_control()) {
                return;
            }
            if entry.kind == Kind::Directory {
                path.push('/');
            }
            if let Some(score) = score(&path, &letters) {
                found.push((score, at, path));
            }
        });
        found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let items = found
            .into_iter()
            .take(OFFERED)
            .map(|(_, _, path)| MentionView { path, ..MentionView::default() });
        let partial = tree.stopped.is_some() || tree.cut;
        Ok(MentionList { items: items.collect(), partial, late: Vec::new() })
    }

    /// Reads what a message names: text, documents and pictures whole, of a folder the names in it. What is not there is named
    /// in the answer; what may not or cannot be read fails. Blocks.
    pub fn read(&self, paths: &[String]) -> Result<MentionedFiles, Fault> {
        let mut read = MentionedFiles { files: Vec::new(), missing: Vec::new() };
        if paths.is_empty() {
            return Ok(read);
        }
        if paths.len() > FILES {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("at most {FILES} files"), format!("最多 {FILES} 个文件")),
            ));
        }
        let root = self.open()?;
        for path in paths {
            match file(&root, path) {
                Ok(file) => read.files.push(file),
                Err(Unread::Missing) => read.missing.push(path.clone()),
                Err(Unread::Refused(fault)) => return Err(*fault),
            }
        }
        Ok(read)
    }
}

enum Unread {
    Missing,
    Refused(Box<Fault>),
}

fn file(root: &Root, path: &str) -> Result<Attachment, Unread> {
    let unread = |error: FileError| match error {
        FileError::NotFound { .. } => Unread::Missing,
        other => Unread::Refused(Box::new(fault(&other, path))),
    };
    let place = root.existing(path, Last::Follow).map_err(unread)?;
    if place.kind() == Some(Kind::Directory) {
        return folder(root, path).map_err(unread);
    }
    let opened = root.open_file(path).map_err(unread)?;
    let bytes = read::read_whole(&opened, FILE_BYTES).map_err(unread)?;
    let Some(mime) = kind(&bytes) else {
        return Err(Unread::Refused(Box::new(chatos_documents::unsupported(path, &bytes))));
    };
    Ok(attachment(&opened.rel, mime, &bytes))
}

fn folder(root: &Root, path: &str) -> Result<Attachment, FileError> {
    let options = WalkOptions { hidden: false, ignored: false, depth: 1 };
    let listing = list::list(root, path, options, 0, NAMES, &Never)?;
    let mut text = String::new();
    for entry in &listing.entries {
        let name = Path::new(&entry.path).file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&name);
        text.push_str(if entry.kind == Kind::Directory { "/\n" } else { "\n" });
    }
    if listing.total > listing.entries.len() {
        text.push_str(&format!("[{} more]\n", listing.total - listing.entries.len()));
    }
    Ok(attachment(&format!("{}/", listing.rel.trim_end_matches('/')), "text/plain", text.as_bytes()))
}

pub(crate) fn attachment(name: &str, mime: &str, bytes: &[u8]) -> Attachment {
    Attachment {
        name: name.to_owned(),
        mime: mime.to_owned(),
        data: Some(STANDARD.encode(bytes)),
        ..Attachment::default()
    }
}

/// What a file is, by its bytes; nothing for what no model reads.
pub(crate) fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => chatos_documents::kind_of(bytes).map(chatos_documents::Kind::mime),
    }
}

fn fault(error: &FileError, path: &str) -> Fault {
    let said = |class, en: &str, zh: &str| {
        Fault::new(class, Text::new(format!("`{path}` {en}"), format!("`{path}` {zh}")))
    };
    match error {
        FileError::NotFound { .. } => said(ErrorCode::NotFound, "does not exist", "不存在"),
        FileError::Denied { rule, .. } => {
            said(ErrorCode::PermissionDenied, "is outside of what may be read here", "不在可读取的范围内")
                .code(rule.as_str())
        }
        FileError::Exhausted { .. } => {
            said(ErrorCode::InvalidArgument, "is larger than 25 MiB", "超过 25 MiB")
                .code("attachment_too_large")
        }
        other => said(ErrorCode::Unavailable, "cannot be read", "无法读取").caused_by(other),
    }
}

/// How well a path fits: all letters in their order, better together, at the beginning of names, in the last name,
/// and in a short path. `None`: it does not.
pub(crate) fn score(path: &str, letters: &[char]) -> Option<i64> {
    let chars: Vec<char> = path.chars().flat_map(char::to_lowercase).collect();
    let name_at =
        chars[..chars.len().saturating_sub(1)].iter().rposition(|c| *c == '/').map_or(0, |at| at + 1);
    if letters.is_empty() {
        return Some(0);
    }
    let score = fits(&chars[name_at..], letters).map(|score| score + 40).or_else(|| fits(&chars, letters))?;
    Some(score - i64::try_from(chars.len()).unwrap_or(i64::MAX) / 8)
}

fn fits(chars: &[char], letters: &[char]) -> Option<i64> {
    // The letters together somewhere are better than any scattered way.
    if let Some(at) = chars.windows(letters.len()).position(|window| window == letters) {
        let begins = at == 0 || !chars[at - 1].is_alphanumeric();
        return Some(60 + if begins { 30 } else { 0 });
    }
    let mut score = 0;
    let mut from = 0;
    for letter in letters {
        let at = from + chars[from..].iter().position(|c| c == letter)?;
        let begins = at == 0 || !chars[at - 1].is_alphanumeric();
        score += if at == from && from > 0 {
            4
        } else if begins {
            3
        } else {
            0
        };
        from = at + 1;
    }
    Some(score)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> (tempfile::TempDir, Workspace) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        let put = |name: &str, text: &[u8]| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put(".gitignore", b"target/\n*.log\n");
        put("src/main.rs", b"fn main() {}\n");
        put("src/domain/map.rs", b"map");
        put("docs/main menu.md", b"a name with a space");
        put("README.md", "读我".as_bytes());
        put("target/main.rs", b"ignored");
        put("main.log", b"ignored");
        put(".github/main.yml", b"hidden");
        put("picture.png", b"\x89PNG\r\n\x1a\nrest");
        put("binary", b"\x00\x01\xff");
        put("secret/key", b"protected");
        std::fs::write(dir.path().join("outside.txt"), "outside").unwrap();
        std::os::unix::fs::symlink(dir.path().join("outside.txt"), root.join("link.txt")).unwrap();
        let protected = vec![root.join("secret")];
        (dir, Workspace { root, protected })
    }

    fn found(workspace: &Workspace, wanted: &str) -> Vec<String> {
        workspace.find(wanted).unwrap().items.into_iter().map(|item| item.path).collect()
    }

    #[test]
    fn files_are_found_by_letters_of_their_path_and_ignored_ones_are_not() {
        let (_dir, workspace) = workspace();
        assert_eq!(found(&workspace, "main"), ["src/main.rs", "src/domain/", "src/domain/map.rs"]);
        assert_eq!(found(&workspace, "smr")[0], "src/main.rs");
        assert_eq!(found(&workspace, "README"), ["README.md"]);
        assert_eq!(found(&workspace, "github"), Vec::<String>::new());
        assert_eq!(found(&workspace, ".github/m"), [".github/main.yml"]);
        assert_eq!(found(&workspace, "secret/key"), Vec::<String>::new());
        let all = found(&workspace, "");
        assert!(all.contains(&"docs/".to_owned()) && all.contains(&"src/main.rs".to_owned()), "{all:?}");
        assert!(!all.iter().any(|path| path.contains("target") || path.contains(' ')), "{all:?}");
    }

    #[test]
    fn what_is_read_is_inside_and_readable_or_says_why() {
        let (_dir, workspace) = workspace();
        let read = |path: &str| workspace.read(&[path.to_owned()]);
        let file = read("src/main.rs").unwrap().files.remove(0);
        assert_eq!((file.name.as_str(), file.mime.as_str()), ("src/main.rs", "text/plain"));
        assert_eq!(STANDARD.decode(file.data.unwrap()).unwrap(), b"fn main() {}\n");
        assert_eq!(read("picture.png").unwrap().files[0].mime, "image/png");
        let listed = read("src/").unwrap().files.remove(0);
        assert_eq!(listed.name, "src/");
        assert_eq!(STANDARD.decode(listed.data.unwrap()).unwrap(), b"domain/\nmain.rs\n");
        assert_eq!(read("nothing.rs").unwrap().missing, ["nothing.rs"]);
        for (path, code) in [
            ("../outside.txt", "outside_root"),
            ("link.txt", "symlink_escape"),
            ("secret/key", "protected_path"),
            ("binary", "unsupported_file"),
        ] {
            assert_eq!(read(path).unwrap_err().code, code, "{path}");
        }
        assert!(workspace.read(&vec!["README.md".to_owned(); 17]).is_err());
    }
}
