//! What the tests of the engine share: a root in a temporary directory and a log in memory.

use std::path::PathBuf;
use std::sync::Mutex;

use super::change::{ChangeLog, FileChange};
use super::commit::{Committed, Engine, Journals, Step};
use super::error::Result;
use super::fs::{Fs, RealFs};
use super::root::{Protected, Root, SymlinkPolicy};
use super::stop::Never;

pub(crate) struct Fixture {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) root: Root,
    pub(crate) journals: Journals,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(SymlinkPolicy::Deny, &[])
    }

    pub(crate) fn with(policy: SymlinkPolicy, protected: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("root")).unwrap();
        let protected = protected.iter().map(|path| dir.path().join(path));
        let root = Root::open(&dir.path().join("root"), policy, Protected::new(protected)).unwrap();
        let journals = Journals::new(dir.path().join("journal"));
        Self { dir, root, journals }
    }

    pub(crate) fn path(&self, rel: &str) -> PathBuf {
        self.dir.path().join("root").join(rel)
    }

    pub(crate) fn outside(&self, rel: &str) -> PathBuf {
        self.dir.path().join(rel)
    }

    pub(crate) fn write(&self, rel: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    pub(crate) fn read(&self, rel: &str) -> Vec<u8> {
        std::fs::read(self.path(rel)).unwrap()
    }

    pub(crate) fn engine<'a>(&'a self, fs: &'a dyn Fs) -> Engine<'a> {
        Engine { root: &self.root, fs, journals: &self.journals }
    }

    pub(crate) fn commit(&self, steps: Vec<Step>) -> Result<Committed> {
        self.engine(&RealFs).commit(steps, &Never, &mut ())
    }

    /// Every entry with its kind, mode and content, and no temporary name among them.
    pub(crate) fn snapshot(&self) -> Vec<(String, u32, Vec<u8>)> {
        let mut all = Vec::new();
        let mut pending = vec![self.dir.path().join("root")];
        while let Some(dir) = pending.pop() {
            for entry in std::fs::read_dir(&dir).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let rel = path.strip_prefix(self.dir.path()).unwrap().display().to_string();
                let mode = std::os::unix::fs::MetadataExt::mode(&meta);
                let content = if meta.is_file() {
                    std::fs::read(&path).unwrap()
                } else if meta.is_symlink() {
                    std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
                } else {
                    pending.push(path.clone());
                    Vec::new()
                };
                all.push((rel, mode, content));
            }
        }
        all.sort();
        all
    }

    /// Journals that were left behind. One that is kept for the next change is empty.
    pub(crate) fn journals(&self) -> usize {
        let left = |entry: &std::io::Result<std::fs::DirEntry>| {
            entry.as_ref().is_ok_and(|entry| entry.metadata().unwrap().len() > 0)
        };
        std::fs::read_dir(self.dir.path().join("journal")).map_or(0, |dir| dir.filter(left).count())
    }
}

/// Keeps records in memory.
#[derive(Default)]
pub(crate) struct MemoryLog(pub(crate) Mutex<Vec<FileChange>>);

impl ChangeLog for MemoryLog {
    fn record(&self, change: FileChange) -> std::result::Result<(), String> {
        self.0.lock().unwrap().push(change);
        Ok(())
    }
}

/// Refuses every record.
pub(crate) struct BrokenLog;

impl ChangeLog for BrokenLog {
    fn record(&self, _: FileChange) -> std::result::Result<(), String> {
        Err("no store".into())
    }
}
