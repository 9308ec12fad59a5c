//! A person's own commands: Markdown files in a folder, each one text with places (packages §5.2). Nothing in them is
//! ever run.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chatos_tool::Text;

/// The largest file that is a command.
pub(crate) const MOST_BYTES: u64 = 64 * 1024;
/// Files that are read of one folder with its folders.
const MOST_FILES: usize = 500;
const NAME_CHARS: usize = 64;
const TEXT_CHARS: usize = 500;

/// One command of the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Own {
    /// The file's name, with its folder in front: `review`, `git:message`.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) hint: String,
    /// The model that is to answer it, as the file names it.
    pub(crate) model: Option<String>,
    /// What is sent, with its places.
    pub(crate) text: String,
}

impl Own {
    /// Whether the text has a command that other programs would run before sending it.
    pub(crate) fn has_command(&self) -> bool {
        self.text.contains("!`")
    }
}

/// What a folder holds.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    /// In the order of their names.
    pub(crate) commands: Vec<Own>,
    /// Files that are no command, and why.
    pub(crate) problems: Vec<Text>,
}

/// Reads a folder and the folders in it. One that is not there is empty. Blocks.
pub(crate) fn read(folder: &Path) -> Shelf {
    read_within(folder, None)
}

/// The same of a folder of a project: what a link leads to outside of the project's root is left out.
pub(crate) fn read_within(folder: &Path, root: Option<&Path>) -> Shelf {
    let mut shelf = Shelf::default();
    let mut left = MOST_FILES;
    let outside =
        |path: &Path| root.is_some_and(|root| !path.canonicalize().is_ok_and(|real| real.starts_with(root)));
    for path in entries(folder) {
        if outside(&path) {
            continue;
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            let prefix = format!("{name}:");
            for inner in entries(&path).into_iter().filter(|inner| !outside(inner)) {
                shelf.take(&inner, &prefix, &mut left);
            }
        } else {
            shelf.take(&path, "", &mut left);
        }
    }
    shelf.commands.sort_by(|a, b| a.name.cmp(&b.name));
    shelf
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

impl Shelf {
    fn take(&mut self, path: &Path, prefix: &str, left: &mut usize) {
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { return };
        let markdown = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("md"));
        if !markdown || stem.starts_with('.') || !path.is_file() {
            return;
        }
        let Some(next) = left.checked_sub(1) else { return };
        *left = next;
        let name = format!("{prefix}{stem}");
        let mut refuse = |en: String, zh: String| {
            self.problems.push(Text::new(format!("`{name}.md`: {en}"), format!("`{name}.md`：{zh}")));
        };
        if !is_name(&name) {
            return refuse(
                format!("a command's name has no spaces and at most {NAME_CHARS} characters"),
                format!("命令名不能含空格，且最多 {NAME_CHARS} 个字符"),
            );
        }
        let mut bytes = Vec::new();
        let file =
            std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
        if let Err(error) = file {
            return refuse(format!("cannot be read ({error})"), format!("无法读取（{error}）"));
        }
        if bytes.len() as u64 > MOST_BYTES {
            return refuse("is larger than 64 KiB".to_owned(), "超过 64 KiB".to_owned());
        }
        let Ok(text) = String::from_utf8(bytes) else {
            return refuse("is not text in UTF-8".to_owned(), "不是 UTF-8 文本".to_owned());
        };
        let (front, body) = split(&text);
        if body.is_empty() {
            return refuse("has no text to send".to_owned(), "没有可发送的文字".to_owned());
        }
        let (description, hint) = (value(&front, "description"), value(&front, "argument-hint"));
        // Without a description the first line says what it is for.
        let first = || body.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned();
        self.commands.push(Own {
            description: clean(&description.unwrap_or_else(first)),
            hint: clean(&hint.unwrap_or_default()),
            // What other programs write for the model that answers anyway.
            model: value(&front, "model").map(|name| clean(&name)).filter(|name| name != "inherit"),
            text: body,
            name,
        });
    }
}

/// Whether a person can type this name.
pub(crate) fn is_name(name: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\' | '`');
    !name.contains(odd) && name.chars().count() <= NAME_CHARS
}

/// Text for one line of a list.
fn clean(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    chatos_mcp::plain_for_model(&line).chars().take(TEXT_CHARS).collect()
}

/// Front matter and body; a file without front matter is all body.
pub(crate) fn split(text: &str) -> (String, String) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let parts = text.strip_prefix("---\n").and_then(|rest| {
        if let Some(body) = rest.strip_prefix("---\n") {
            return Some((String::new(), body));
        }
        let (front, body) = rest.split_once("\n---")?;
        let (_, body) = body.split_once('\n').unwrap_or(("", ""));
        Some((front.to_owned(), body))
    });
    match parts {
        Some((front, body)) => (front, body.trim().to_owned()),
        None => (String::new(), text.trim().to_owned()),
    }
}

/// One value of the front matter. Lines are read as they stand: other programs write hints such as `[a] [b]`, which is
/// no YAML. A value that goes on in indented lines is taken with them.
pub(crate) fn value(front: &str, key: &str) -> Option<String> {
    let mut lines = front.lines();
    let first = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))?;
    let text = if matches!(first, "" | ">" | "|" | ">-" | "|-") {
        let more = lines.take_while(|line| line.starts_with([' ', '\t']) || line.is_empty());
        more.map(str::trim).collect::<Vec<_>>().join(" ")
    } else {
        first.to_owned()
    };
    let text = text.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    Some(quoted.unwrap_or(text).to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_commands_and_what_is_none_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &[u8]| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("review.md", b"---\ndescription: \"Look at a change\"\nargument-hint: [file] [how]\nmodel: x\n---\nReview $1.\n");
        put("git/message.md", b"# Write a message\n\nFor !`git diff`.");
        put("git/deeper/no.md", b"too deep");
        put("long.md", &vec![b'x'; 70_000]);
        put("empty.md", b"---\ndescription: nothing\n---\n\n");
        put("two words.md", b"odd");
        put("binary.md", b"\xff\xfe\x00");
        put(".hidden.md", b"hidden");
        put("notes.txt", b"no command");
        put("folded.md", b"---\ndescription: >\n  two\n  lines\nother: y\n---\nText");
        put("open.md", b"---\ndescription: never ends\n");
        let shelf = read(dir.path());
        let names: Vec<&str> = shelf.commands.iter().map(|command| command.name.as_str()).collect();
        assert_eq!(names, ["folded", "git:message", "open", "review"]);
        let review = &shelf.commands[3];
        assert_eq!(
            (review.description.as_str(), review.hint.as_str(), review.text.as_str()),
            ("Look at a change", "[file] [how]", "Review $1.")
        );
        assert_eq!((review.model.as_deref(), shelf.commands[0].model.as_deref()), (Some("x"), None));
        assert_eq!(shelf.commands[0].description, "two lines");
        let message = &shelf.commands[1];
        assert_eq!((message.description.as_str(), message.has_command()), ("Write a message", true));
        assert_eq!(shelf.problems.len(), 4, "{:?}", shelf.problems);
        assert!(read(&dir.path().join("nowhere")).commands.is_empty());
    }

    #[test]
    fn a_link_out_of_a_project_is_no_command_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let folder = base.join("project/.claude/commands");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir_all(base.join("outside")).unwrap();
        std::fs::write(base.join("outside/secret.md"), "SECRET").unwrap();
        std::fs::write(folder.join("plan.md"), "Plan $1").unwrap();
        std::os::unix::fs::symlink(base.join("outside/secret.md"), folder.join("file.md")).unwrap();
        std::os::unix::fs::symlink(base.join("outside"), folder.join("dir")).unwrap();
        let shelf = read_within(&folder, Some(&base.join("project")));
        assert_eq!(shelf.commands.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["plan"]);
        assert_eq!(read(&folder).commands.len(), 3);
    }
}
