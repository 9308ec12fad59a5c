//! `@path` in a CLAUDE.md: the text of another file of the same project, in its place (packages §4.2).

use std::path::{Component, Path, PathBuf};

use chatos_files::Root;

use crate::reading::text_of;
use crate::text::{Fence, clean};

/// How many files deep imports are followed, one inside the other.
const DEPTH: usize = 5;
/// Files that one file brings along.
const MOST: usize = 32;
/// No more text is brought along than could ever be sent.
const MOST_TEXT: usize = 256 * 1024;

/// A text with what it imports, and the imports that stayed as they are written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) text: String,
    pub(crate) left: Vec<String>,
}

/// Resolves imports of a cleaned text. `file` is relative to the root.
pub(crate) fn resolve(root: &Root, file: &Path, text: &str) -> Whole {
    let mut importer = Importer { root, left: Vec::new(), files: 0, bytes: text.len() };
    let mut open = vec![file.to_owned()];
    let text = importer.fill(file, text, &mut open);
    Whole { text, left: importer.left }
}

struct Importer<'a> {
    root: &'a Root,
    left: Vec<String>,
    files: usize,
    bytes: usize,
}

impl Importer<'_> {
    fn fill(&mut self, file: &Path, text: &str, open: &mut Vec<PathBuf>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut fence = Fence::default();
        for line in text.split('\n') {
            if fence.inside_after(line) {
                out.push_str(line);
                out.push('\n');
                continue;
            }
            let named = named(line);
            let whole = named.len() == 1 && line.trim().strip_prefix('@') == Some(named[0]);
            let mut brought = Vec::new();
            for path in named {
                match self.bring(file, path, open) {
                    Brought::Text(text) => brought.push(text),
                    Brought::Known => {}
                    Brought::Nothing if path.contains(['/', '.']) => self.left.push(format!("@{path}")),
                    // `@someone` is a name as often as a file.
                    Brought::Nothing => {}
                }
            }
            if !(whole && brought.len() == 1) {
                out.push_str(line);
                out.push('\n');
            }
            for text in brought {
                out.push_str(&text);
                out.push('\n');
            }
        }
        out.pop();
        out
    }

    fn bring(&mut self, file: &Path, path: &str, open: &mut Vec<PathBuf>) -> Brought {
        let Some(rel) = inside(file, path) else { return Brought::Nothing };
        if open.contains(&rel) {
            return Brought::Known;
        }
        if open.len() > DEPTH || self.files >= MOST || self.bytes > MOST_TEXT {
            return Brought::Nothing;
        }
        let Some(text) = rel.to_str().and_then(|rel| text_of(self.root, rel).ok()) else {
            return Brought::Nothing;
        };
        self.files += 1;
        let text = clean(&text.text);
        self.bytes += text.len();
        open.push(rel.clone());
        let text = self.fill(&rel, &text, open);
        open.pop();
        Brought::Text(text)
    }
}

enum Brought {
    Text(String),
    /// It is being read already.
    Known,
    Nothing,
}

/// The path relative to the root, where it stays inside.
fn inside(file: &Path, path: &str) -> Option<PathBuf> {
    let mut rel = file.parent()?.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => rel.push(name),
            Component::CurDir => {}
            Component::ParentDir if rel.pop() => {}
            _ => return None,
        }
    }
    (!path.starts_with('~') && rel.file_name().is_some()).then_some(rel)
}

/// What stands behind `@` at the beginning of words of a line, code left out.
fn named(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut code = false;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match c {
            '`' => code = !code,
            '@' if !code && before.is_whitespace() => {
                let rest = &line[at + 1..];
                let end = rest.find(|c: char| c.is_whitespace() || c == '`').unwrap_or(rest.len());
                let word = rest[..end].trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
                if !word.is_empty() {
                    found.push(word);
                }
            }
            _ => {}
        }
        before = c;
    }
    found
}

#[cfg(test)]
mod tests {
    use chatos_files::{Protected, SymlinkPolicy};

    use super::*;

    #[test]
    fn words_behind_an_at_sign_are_found_outside_code() {
        assert_eq!(named("see @docs/a.md, `@not/this` and @b.md. me@x.org @"), ["docs/a.md", "b.md"]);
        assert_eq!(named("@x"), ["x"]);
    }

    #[test]
    fn files_are_brought_in_once_around_a_circle_and_never_from_outside() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let project = base.join("project");
        std::fs::create_dir_all(project.join("docs")).unwrap();
        std::fs::write(base.join("secret.md"), "SECRET").unwrap();
        std::fs::write(project.join("docs/a.md"), "A\n<!-- c -->\n@b.md").unwrap();
        std::fs::write(project.join("docs/b.md"), "B\n@a.md\n@../CLAUDE.md").unwrap();
        std::fs::write(project.join("binary.md"), b"x\0y").unwrap();
        std::os::unix::fs::symlink(base.join("secret.md"), project.join("link.md")).unwrap();
        let root = Root::open(&project, SymlinkPolicy::Deny, Protected::default()).unwrap();
        let whole = |text: &str| resolve(&root, Path::new("CLAUDE.md"), text);
        // A file that is being read already stays as it is named, and nobody complains.
        let circle = whole("Start\n@docs/a.md\nEnd");
        assert_eq!(circle.text, "Start\nA\nB\n@a.md\n@../CLAUDE.md\nEnd");
        assert!(circle.left.is_empty());
        assert_eq!(whole("Read @docs/a.md first").text.lines().next(), Some("Read @docs/a.md first"));
        for path in ["@../secret.md", "@/etc/passwd", "@~/x.md", "@link.md", "@binary.md", "@docs/none.md"] {
            let left = whole(path);
            assert_eq!((left.text.as_str(), left.left), (path, vec![path.to_owned()]), "{path}");
        }
        let code = "```\n@docs/a.md\n```\n`@docs/a.md` @someone";
        assert_eq!(whole(code), Whole { text: code.to_owned(), left: Vec::new() });
        // Deeper than five files stays literal.
        for n in 0..9 {
            std::fs::write(project.join(format!("d{n}.md")), format!("{n}\n@d{}.md", n + 1)).unwrap();
        }
        let deep = whole("@d0.md");
        assert_eq!((deep.text.as_str(), deep.left), ("0\n1\n2\n3\n4\n@d5.md", vec!["@d5.md".to_owned()]));
    }
}
