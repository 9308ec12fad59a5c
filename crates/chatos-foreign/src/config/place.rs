//! A file of another program: found through links, replaced only if it is still what was read.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};

/// Largest file that is changed.
const MAX_BYTES: u64 = 4 << 20;

/// Where a file is.
#[derive(Debug)]
pub(super) struct Place {
    /// As the program names it.
    pub(super) shown: PathBuf,
    pub(super) real: PathBuf,
}

impl Place {
    /// The file, which need not exist. A link is followed to a file of this user.
    pub(super) fn find(shown: PathBuf) -> Result<Self, Fault> {
        let link = std::fs::symlink_metadata(&shown);
        let real = match &link {
            Ok(meta) if meta.is_symlink() => std::fs::canonicalize(&shown).map_err(|error| {
                unwritable(&shown, "the link leads nowhere", "链接指向的文件不存在").caused_by(&error)
            })?,
            _ => shown.clone(),
        };
        if let Ok(meta) = std::fs::metadata(&real) {
            if !meta.is_file() {
                return Err(unwritable(&shown, "it is not a file", "它不是文件"));
            }
            let user = std::fs::metadata("/proc/self").map(|own| own.uid()).ok();
            if user != Some(meta.uid()) {
                return Err(unwritable(&shown, "it belongs to another user", "它属于其他用户"));
            }
            if meta.permissions().mode() & 0o200 == 0 {
                return Err(unwritable(&shown, "it is read-only", "它是只读的"));
            }
            if meta.len() > MAX_BYTES {
                return Err(unwritable(&shown, "it is larger than 4 MiB", "它超过 4 MiB"));
            }
        }
        Ok(Self { shown, real })
    }

    /// Its bytes; `None` when there is no such file.
    pub(super) fn read(&self) -> Result<Option<Vec<u8>>, Fault> {
        match std::fs::read(&self.real) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unwritable(&self.shown, "it cannot be read", "无法读取").caused_by(&error)),
        }
    }

    /// Puts `after` in the place of `before`; another content there is a conflict.
    pub(super) fn replace(&self, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<(), Fault> {
        let failed = |error: std::io::Error| {
            unwritable(&self.shown, "it cannot be written", "无法写入").caused_by(&error)
        };
        if self.read()?.as_deref() != before {
            return Err(changed(&self.shown));
        }
        let Some(after) = after else {
            return std::fs::remove_file(&self.real).map_err(failed);
        };
        if let Some(folder) = self.real.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let mode = std::fs::metadata(&self.real).map_or(0o600, |meta| meta.permissions().mode() & 0o777);
        chatos_paths::replace_file(&self.real, after, mode).map_err(failed)
    }
}

fn unwritable(path: &Path, en: &str, zh: &str) -> Fault {
    let path = path.display();
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(
            format!("{path} cannot be changed: {en}; nothing was written"),
            format!("无法修改 {path}：{zh}；未写入任何内容"),
        ),
    )
    .code("config_unwritable")
    .hint(Text::fixed("add the text of `--print` by hand", "请用 `--print` 输出的内容手工添加"))
}

fn changed(path: &Path) -> Fault {
    let path = path.display();
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!("{path} was changed by another program meanwhile; nothing was written"),
            format!("{path} 在此期间被其他程序修改；未写入任何内容"),
        ),
    )
    .code("conflict")
    .hint(Text::fixed("run the command again", "请重新运行该命令"))
}
