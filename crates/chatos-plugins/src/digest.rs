//! The content digest that trust is bound to (plugins §7), and the file list that shows what
//! changed.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;

use chatos_tool::hex;
use rustix::fs::FileType;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::development::{self, Skip};
use crate::stamp::Stamp;
use crate::tree::{self, Entry};

/// `sha256:` and 64 hex digits over every file of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Digest(String);

impl Digest {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// From text, when it has the right form.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("sha256:")?;
        let ok = hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        ok.then(|| Self(text.to_owned()))
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One file of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TreeFile {
    /// Relative path; bytes that are not UTF-8 are shown as replacement characters.
    pub path: String,
    /// SHA-256 of the content in hex.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
    /// Owner-executable.
    pub executable: bool,
}

/// What a full reading of a plugin directory gives.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// The digest over everything.
    pub digest: Digest,
    /// Every file and link, in path order.
    pub files: Vec<TreeFile>,
}

impl Inventory {
    /// Total bytes.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// The digest with the keys of everything it was computed from.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    pub(crate) digest: Digest,
    pub(crate) keys: TreeKeys,
}

/// Cache keys of every file and directory of a tree.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeKeys {
    keys: Vec<(Vec<u8>, Stamp)>,
    racy: bool,
}

impl TreeKeys {
    /// True when no key differs. Added and removed entries change their directory's key, so no
    /// directory has to be listed again.
    pub(crate) fn still_hold(&self, root: BorrowedFd<'_>) -> bool {
        !self.racy
            && self.keys.iter().all(|(path, stamp)| {
                let path = if path.is_empty() { b".".as_slice() } else { path };
                Stamp::at(root, path, false) == Some(*stamp)
            })
    }

    fn add(&mut self, entry: &Entry<'_>) {
        let stamp = entry.stamp();
        self.racy |= stamp.is_racy();
        self.keys.push((entry.path.to_vec(), stamp));
    }
}

/// The digest of the tree below `root` without what `skip` names, and its keys.
pub(crate) fn keyed(root: BorrowedFd<'_>, skip: Skip) -> io::Result<Keyed> {
    let mut keys = TreeKeys::default();
    let mut hasher = Hasher::new();
    tree::walk_except(root, skip, &mut |entry| {
        keys.add(entry);
        hasher.add(entry, None)
    })?;
    Ok(Keyed { digest: hasher.finish(), keys })
}

/// The digest of the tree below `root`, read now.
pub fn digest_of(root: BorrowedFd<'_>) -> io::Result<Digest> {
    let mut hasher = Hasher::new();
    tree::walk(root, &mut |entry| hasher.add(entry, None))?;
    Ok(hasher.finish())
}

/// Digest and per-file hashes of the tree below `root`, read now.
pub fn inventory(root: BorrowedFd<'_>) -> io::Result<Inventory> {
    inventory_except(root, development::nothing)
}

/// As [`inventory`], without what `skip` names.
pub(crate) fn inventory_except(root: BorrowedFd<'_>, skip: Skip) -> io::Result<Inventory> {
    let mut files = Vec::new();
    let mut hasher = Hasher::new();
    tree::walk_except(root, skip, &mut |entry| hasher.add(entry, Some(&mut files)))?;
    Ok(Inventory { digest: hasher.finish(), files })
}

/// Builds a digest from files given in path order; also used for packages that are not on disk.
#[derive(Debug)]
pub(crate) struct Hasher {
    whole: Sha256,
    buffer: Vec<u8>,
}

impl Hasher {
    pub(crate) fn new() -> Self {
        let mut whole = Sha256::new();
        whole.update(b"chatos-plugin-digest-v1\n");
        Self { whole, buffer: vec![0; 64 * 1024] }
    }

    pub(crate) fn head(&mut self, path: &[u8], executable: bool, length: u64) {
        self.whole.update((path.len() as u64).to_le_bytes());
        self.whole.update(path);
        self.whole.update([u8::from(executable)]);
        self.whole.update(length.to_le_bytes());
    }

    /// The next bytes of the file announced by `head`.
    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        self.whole.update(bytes);
    }

    fn add(&mut self, entry: &Entry<'_>, files: Option<&mut Vec<TreeFile>>) -> io::Result<()> {
        match entry.kind {
            FileType::RegularFile => {
                let size = entry.stat.st_size as u64;
                self.stream(entry.path, entry.is_executable(), size, &mut entry.open()?, files)
            }
            FileType::Symlink => {
                let mut content = "→".as_bytes().to_vec();
                content.extend(entry.link_target()?);
                let length = content.len() as u64;
                self.stream(entry.path, false, length, &mut content.as_slice(), files)
            }
            _ => Ok(()),
        }
    }

    /// Adds one file of exactly `size` bytes.
    pub(crate) fn stream(
        &mut self,
        path: &[u8],
        executable: bool,
        size: u64,
        content: &mut dyn Read,
        files: Option<&mut Vec<TreeFile>>,
    ) -> io::Result<()> {
        self.head(path, executable, size);
        let mut own = files.as_ref().map(|_| Sha256::new());
        let mut left = size;
        loop {
            let read = match content.read(&mut self.buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            // A file that grows under the reader would otherwise never end.
            left = left.checked_sub(read as u64).ok_or_else(tree::changing)?;
            self.whole.update(&self.buffer[..read]);
            if let Some(own) = &mut own {
                own.update(&self.buffer[..read]);
            }
        }
        if left != 0 {
            return Err(tree::changing());
        }
        if let (Some(files), Some(own)) = (files, own) {
            let path = String::from_utf8_lossy(path).into_owned();
            files.push(TreeFile { path, sha256: hex(&own.finalize()), size, executable });
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(format!("sha256:{}", hex(&self.whole.finalize())))
    }
}

/// SHA-256 in hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    fn digest(dir: &Path) -> Digest {
        digest_of(fs::File::open(dir).unwrap().as_fd()).unwrap()
    }

    fn vector() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.txt"), "A").unwrap();
        fs::create_dir(dir.path().join("b")).unwrap();
        fs::write(dir.path().join("b/run.sh"), "").unwrap();
        fs::set_permissions(dir.path().join("b/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        dir
    }

    #[test]
    fn the_test_vector() {
        assert_eq!(
            digest(vector().path()).as_str(),
            "sha256:f0848cb9e2b8f8172cc1ff8b7d079afdabd55e9662b8cffb1f4bd8320896efd8"
        );
    }

    #[test]
    fn every_bit_mode_name_link_and_place_counts() {
        let dir = vector();
        let base = digest(dir.path());
        let mut seen = vec![base.clone()];
        let mut differs = |what: &str| {
            let now = digest(dir.path());
            assert!(!seen.contains(&now), "{what}");
            seen.push(now);
        };
        fs::write(dir.path().join("a.txt"), "B").unwrap();
        differs("one byte");
        fs::rename(dir.path().join("a.txt"), dir.path().join("a.tx_")).unwrap();
        differs("a name");
        fs::set_permissions(dir.path().join("a.tx_"), fs::Permissions::from_mode(0o744)).unwrap();
        differs("the executable bit");
        fs::create_dir_all(dir.path().join("node_modules/x")).unwrap();
        fs::write(dir.path().join("node_modules/x/index.js"), "1").unwrap();
        differs("node_modules is not excluded");
        fs::write(dir.path().join(".DS_Store"), "").unwrap();
        differs("nor is .DS_Store");
        symlink("a.tx_", dir.path().join("l")).unwrap();
        differs("a link");
        fs::remove_file(dir.path().join("l")).unwrap();
        symlink("elsewhere", dir.path().join("l")).unwrap();
        differs("where it points");
        fs::rename(dir.path().join("b"), dir.path().join("c")).unwrap();
        differs("a directory's name");
    }

    #[test]
    fn what_does_not_count() {
        let dir = vector();
        let base = digest(dir.path());
        fs::set_permissions(dir.path().join("a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(dir.path().join("empty")).unwrap();
        fs::File::open(dir.path().join("a.txt")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(digest(dir.path()), base);
        let moved = tempfile::tempdir().unwrap();
        fs::rename(dir.path(), moved.path().join("x")).unwrap();
        assert_eq!(digest(&moved.path().join("x")), base);
        fs::create_dir(dir.path()).unwrap();
    }

    /// Paths are ordered as wholes: `a-b`, `a.b`, `a/b`, `a0`.
    #[test]
    fn the_order_is_that_of_full_paths() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        for name in ["a0", "a/b", "a.b", "a-b", "Z", "é"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let files = inventory(fs::File::open(dir.path()).unwrap().as_fd()).unwrap().files;
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let mut sorted = paths.clone();
        sorted.sort_unstable();
        assert_eq!(paths, sorted);
        assert_eq!(files[0].sha256, hex(&Sha256::digest(b"Z")));
    }

    #[test]
    fn keys_notice_changes_without_reading() {
        let dir = vector();
        let root = fs::File::open(dir.path()).unwrap();
        let mut keyed = keyed(root.as_fd(), development::nothing).unwrap();
        assert!(!keyed.keys.still_hold(root.as_fd()), "just written: not believed");
        keyed.keys.racy = false;
        assert!(keyed.keys.still_hold(root.as_fd()));
        // Same size, mtime set back: ctime tells.
        let file = dir.path().join("a.txt");
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        fs::write(&file, "Z").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
        assert!(!keyed.keys.still_hold(root.as_fd()));
    }

    #[test]
    fn a_fifo_does_not_hang_and_is_not_content() {
        let dir = vector();
        let base = digest(dir.path());
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(digest(dir.path()), base);
    }
}
