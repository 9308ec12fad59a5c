//! A text in the person's own editor, for `/edit`.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};

/// More than a message may have is not read back.
const MOST: u64 = 1024 * 1024;

/// Which editor, and where its file is for the moment.
#[derive(Debug, Clone)]
pub(super) struct Editor {
    /// As a shell reads it: `vi`, or `code --wait`.
    command: String,
    folder: PathBuf,
}

impl Editor {
    pub(super) fn of(environment: &Environment) -> Self {
        let said = |name: &str| environment.get(name).filter(|text| !text.trim().is_empty());
        Self {
            command: said("VISUAL").or_else(|| said("EDITOR")).unwrap_or("vi").to_owned(),
            folder: PathBuf::from(said("TMPDIR").unwrap_or("/tmp")),
        }
    }

    /// The text as the person left it; nothing when the editor said that it failed. Blocks until it is closed.
    pub(super) fn edit(&self, text: &str) -> Result<Option<String>, Fault> {
        let path = self.folder.join(format!("chatos-{}-{}.md", std::process::id(), chatos_store::now_ms()));
        let done = self.edit_at(&path, text);
        // Its words are the person's: they do not stay behind.
        std::fs::remove_file(&path).ok();
        done.map_err(|error| {
            let (name, folder) = (&self.command, self.folder.display());
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("cannot edit with `{name}`, or a file in {folder}"),
                    format!("无法用 `{name}` 或在 {folder} 中编辑"),
                ),
            )
            .caused_by(&error)
            .hint(Text::fixed("name an editor in the variable EDITOR", "请用环境变量 EDITOR 指定编辑器"))
        })
    }

    fn edit_at(&self, path: &Path, text: &str) -> io::Result<Option<String>> {
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())?;
        drop(file);
        #[expect(
            clippy::disallowed_methods,
            reason = "the editor is the person's own program, on their terminal"
        )]
        let mut editor = std::process::Command::new("/bin/sh");
        let status = editor.arg("-c").arg(format!("{} \"$1\"", self.command)).arg("sh").arg(path).status()?;
        if !status.success() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_owned()))
    }
}
