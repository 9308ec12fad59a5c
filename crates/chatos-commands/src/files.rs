//! The files of a person's own commands, as a page edits them: listed with their whole text, written and removed. Blocks.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::command::{OwnCommand, OwnCommands};

use crate::built_in;
use crate::own::{MOST_BYTES, is_name, read};

/// Everything in the folder that is a command, and what is none.
pub fn list(folder: &Path, lang: chatos_tool::Lang) -> OwnCommands {
    let shelf = read(folder);
    let items = shelf.commands.into_iter().filter_map(|own| {
        let text = std::fs::read_to_string(file(folder, &own.name)?).ok()?;
        Some(OwnCommand { name: own.name, description: own.description, text })
    });
    OwnCommands {
        items: items.collect(),
        folder: folder.display().to_string(),
        problems: shelf.problems.iter().map(|text| text.get(lang).to_owned()).collect(),
    }
}

/// Where a command of this name lies; nothing for a name no command can have.
fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    let (inner, stem) = match name.split_once(':') {
        Some((dir, stem)) => (folder.join(dir), stem),
        None => (folder.to_owned(), name),
    };
    let plain = is_name(name) && name.split(':').all(|part| !part.is_empty() && !part.starts_with('.'));
    (plain && !stem.contains(':')).then(|| inner.join(format!("{stem}.md")))
}

fn place(folder: &Path, name: &str) -> Result<PathBuf, Fault> {
    file(folder, name).ok_or_else(|| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed(
                "a command's name has no spaces, slashes or dots in front, and at most 64 characters",
                "命令名不能含空格或斜杠，不能以点开头，且最多 64 个字符",
            ),
        )
        .hint(Text::fixed("use `review` or `git:message`", "例如 `review` 或 `git:message`"))
    })
}

/// Writes a command whole, new or changed.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<(), Fault> {
    let path = place(folder, name)?;
    if built_in::is_taken(name) {
        return Err(Fault::new(
            ErrorCode::Conflict,
            Text::new(
                format!("`/{name}` is a command of the chat itself"),
                format!("`/{name}` 是对话自身的命令"),
            ),
        )
        .hint(Text::fixed("choose another name", "请换一个名称")));
    }
    if text.len() as u64 > MOST_BYTES {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("a command has at most 64 KiB", "命令最大 64 KiB"),
        ));
    }
    if text.contains('\0') || crate::own::split(text).1.is_empty() {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("a command needs a text to send", "命令需要有可发送的文字"),
        ));
    }
    let failed = |error: std::io::Error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("cannot write `{}`", path.display()), format!("无法写入 `{}`", path.display())),
        )
        .caused_by(&error)
    };
    let parent = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).map_err(failed)?;
    // Written beside and renamed: a reader sees the old text or the new one.
    let beside = parent.join(format!(".{}.new", path.file_name().unwrap_or_default().to_string_lossy()));
    let written = std::fs::File::create(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&beside, &path)).map_err(failed)
}

/// Removes the file of a command; one that is not there is said to be missing.
pub fn remove(folder: &Path, name: &str) -> Result<(), Fault> {
    let path = place(folder, name)?;
    std::fs::remove_file(&path).map_err(|error| {
        let gone = error.kind() == std::io::ErrorKind::NotFound;
        let class = if gone { ErrorCode::NotFound } else { ErrorCode::Unavailable };
        let fault = Fault::new(
            class,
            Text::new(format!("there is no command `/{name}` of yours"), format!("你没有命令 `/{name}`")),
        );
        if gone { fault } else { fault.caused_by(&error) }
    })
}

#[cfg(test)]
mod tests {
    use chatos_tool::Lang;

    use super::*;

    #[test]
    fn commands_are_written_listed_and_removed_and_no_name_leaves_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("commands");
        write(&folder, "review", "---\ndescription: Look\n---\nReview $1.\n").unwrap();
        write(&folder, "git:message", "Write.").unwrap();
        write(&folder, "review", "Review it.").unwrap();
        let found = list(&folder, Lang::En);
        let names: Vec<&str> = found.items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["git:message", "review"]);
        assert_eq!(found.items[1].text, "Review it.");
        for name in ["../x", "a/b", "", ":", "a:", ".x", "a:.x", "a:b:c", "two words", "..:x", "a\\b"] {
            assert!(write(&folder, name, "x").is_err(), "{name}");
            assert!(remove(&folder, name).is_err(), "{name}");
        }
        assert!(write(&folder, "help", "x").is_err());
        assert!(write(&folder, "empty", "---\na: b\n---\n").is_err());
        assert!(write(&folder, "large", &"x".repeat(70_000)).is_err());
        remove(&folder, "git:message").unwrap();
        assert_eq!(remove(&folder, "git:message").unwrap_err().class, ErrorCode::NotFound);
        assert_eq!(list(&folder, Lang::En).items.len(), 1);
    }
}
