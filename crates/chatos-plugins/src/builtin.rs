//! Built-in plugins: embedded in the binary and written to `runtime/`, because Node and the file
//! checks need real files. What lies there is compared with the binary at each start and written
//! again when it differs.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chatos_tool::{ErrorCode, Fault, Text};
use sha2::{Digest, Sha256};

/// Writes the built-in plugins below `runtime` and returns their root; without any, leaves alone what is there.
pub(crate) fn materialise(runtime: &Path, files: &[(&str, &[u8])]) -> io::Result<Option<PathBuf>> {
    if files.is_empty() {
        return Ok(None);
    }
    fs::DirBuilder::new().recursive(true).mode(0o700).create(runtime)?;
    let root = runtime.join(format!("builtin-plugins-{}", fingerprint(files)));
    if !is_current(&root, files) {
        let fresh = runtime.join(format!(".builtin-plugins-{}.tmp", std::process::id()));
        remove(&fresh)?;
        for (name, content) in files {
            let path = fresh.join(name);
            if let Some(parent) = path.parent() {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
            }
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            io::Write::write_all(&mut file, content)?;
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&fresh)?;
        remove(&root)?;
        fs::rename(&fresh, &root)?;
        chatos_paths::sync_dir(runtime)?;
    }
    forget_others(runtime, &root);
    Ok(Some(root))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Directories of other versions; a failure only leaves a directory nobody reads.
fn forget_others(runtime: &Path, root: &Path) {
    for entry in fs::read_dir(runtime).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_string_lossy().starts_with("builtin-plugins-")
            || name.to_string_lossy().starts_with(".builtin-plugins-");
        if is_ours
            && entry.path() != root
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, path = %entry.path().display(), "older built-in plugins are left");
        }
    }
}

fn fingerprint(files: &[(&str, &[u8])]) -> String {
    let mut hash = Sha256::new();
    for (name, content) in files {
        for part in [name.as_bytes(), content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// True when exactly these files are there: somebody may have edited, added or removed one.
fn is_current(root: &Path, files: &[(&str, &[u8])]) -> bool {
    let same = files.iter().all(|(name, content)| {
        let path = root.join(name);
        fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file())
            && fs::read(&path).is_ok_and(|found| found == *content)
    });
    same && count(root) == Some(files.len())
}

fn count(dir: &Path) -> Option<usize> {
    let mut total = 0;
    for entry in fs::read_dir(dir).ok()? {
        let entry = entry.ok()?;
        total += if entry.file_type().ok()?.is_dir() { count(&entry.path())? } else { 1 };
    }
    Some(total)
}

/// The built-in plugins cannot be written.
pub(crate) fn unwritable(error: &std::io::Error) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::fixed(
            "the built-in plugins cannot be written to the state directory",
            "无法将内置插件写入状态文件夹",
        ),
    )
    .code("builtin_plugins_unusable")
    .caused_by(error)
    .hint(Text::fixed("check space and permissions of the state directory", "请检查状态文件夹的空间与权限"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_appear_once_and_are_mended() {
        let dir = tempfile::tempdir().unwrap();
        let files: &[(&str, &[u8])] = &[("p/plugin.json", b"{}"), ("p/a/x.mjs", b"1")];
        let root = materialise(dir.path(), files).unwrap().unwrap();
        let inode = |path: &Path| std::os::unix::fs::MetadataExt::ino(&fs::metadata(path).unwrap());
        let first = inode(&root);
        assert_eq!(
            inode(&materialise(dir.path(), files).unwrap().unwrap()),
            first,
            "nothing differs, nothing is written"
        );
        fs::write(root.join("p/a/x.mjs"), "evil").unwrap();
        materialise(dir.path(), files).unwrap();
        assert_eq!(fs::read(root.join("p/a/x.mjs")).unwrap(), b"1");
        fs::write(root.join("p/added.mjs"), "evil").unwrap();
        materialise(dir.path(), files).unwrap();
        assert!(!root.join("p/added.mjs").exists());
        let other = materialise(dir.path(), &[("q/plugin.json", b"{}")]).unwrap().unwrap();
        assert!(other != root && !root.exists(), "other versions go");
        assert_eq!(materialise(dir.path(), &[]).unwrap(), None);
        assert!(other.exists(), "a host without built-in plugins leaves those of others");
    }
}
