//! Replacing a small file so that every reader sees the old or the new content, also after power loss.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Replaces `path` with `bytes`: temporary file, fsync, rename, fsync of the directory (state §2, "A").
///
/// The file gets mode `mode` whatever the umask. On any error the old file is untouched and the
/// temporary one removed. A failed fsync is never retried on the same descriptor (security §3.4):
/// the caller sees the error and nothing was replaced.
pub fn replace_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let dir = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let (temporary, mut file) = create_beside(path, mode)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    drop(file);
    let renamed = written.and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = renamed {
        // Best effort: the original error matters more than a leftover temporary file.
        std::fs::remove_file(&temporary).ok();
        return Err(error);
    }
    sync_dir(dir)
}

/// Makes a rename or creation in `dir` durable.
pub fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

fn create_beside(path: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    for attempt in 0..64_u32 {
        let mut candidate = std::ffi::OsString::from(".");
        candidate.push(name);
        candidate.push(format!(".tmp-{}-{attempt}", std::process::id()));
        let candidate = path.with_file_name(candidate);
        let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&candidate);
        match opened {
            Ok(file) => {
                let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
                file.set_permissions(permissions)?;
                return Ok((candidate, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn replaces_content_and_mode_and_leaves_nothing_beside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("host.json");
        std::fs::write(&path, "old").unwrap();
        replace_file(&path, b"new", 0o600).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_rename_keeps_the_old_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("target");
        std::fs::create_dir_all(path.join("occupied")).unwrap();
        assert!(replace_file(&path, b"x", 0o600).is_err());
        assert!(path.join("occupied").is_dir());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
