//! Second names of protected files: a hard link inside the root gives what the file's own place refuses.
//!
//! A path tells nothing here, only the file itself does. Most files have one name and cost nothing; for one
//! with several, the protected directories are listed, once per operation, and asked whether it is theirs.

use std::collections::HashSet;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::Stat;

use super::entry::{FileId, Kind};

/// What is in the protected directories, looked up when it is first wanted.
#[derive(Debug, Default)]
pub(super) struct Contents {
    paths: Arc<[PathBuf]>,
    /// Numbers of files; a device has each once, so they are only a first look.
    numbers: OnceLock<HashSet<u64>>,
}

impl Contents {
    pub(super) fn of(paths: &Arc<[PathBuf]>) -> Self {
        Self { paths: Arc::clone(paths), numbers: OnceLock::new() }
    }

    /// Whether a file is one of those, under whatever name it was met.
    pub(super) fn hold(&self, stat: &Stat) -> bool {
        if Kind::of(stat) != Kind::File || stat.st_nlink < 2 {
            return false;
        }
        let id = FileId::of(stat);
        let numbers = self.numbers.get_or_init(|| {
            let mut numbers = HashSet::new();
            self.each(&mut |_, number| {
                numbers.insert(number);
            });
            numbers
        });
        if !numbers.contains(&id.ino()) {
            return false;
        }
        let mut found = false;
        self.each(&mut |path, number| {
            found |= number == id.ino()
                && path.symlink_metadata().is_ok_and(|meta| FileId::new(meta.dev(), meta.ino()) == id);
        });
        found
    }

    fn each(&self, visit: &mut dyn FnMut(&Path, u64)) {
        let mut open: Vec<PathBuf> = self.paths.to_vec();
        while let Some(dir) = open.pop() {
            // What cannot be listed cannot be opened by its name either; a link leads elsewhere.
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => open.push(entry.path()),
                    Ok(kind) if kind.is_file() => visit(&entry.path(), entry.ino()),
                    _ => {}
                }
            }
        }
    }
}
