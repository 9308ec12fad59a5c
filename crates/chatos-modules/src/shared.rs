//! The packages ChatOS lends (packages §10.1): embedded, put beside the state when first needed, compared with what is
//! embedded once per start of the host, and put there again where they differ.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Made by `cargo xtask node-modules`: a line of JSON with names and sizes, then the files one after the other.
const SHARED: &[u8] = include_bytes!("../node-modules/shared.zst");
const WANTED: &str = include_str!("../node-modules/package.json");
const REGISTER: &str = include_str!("register.mjs");
/// What the archive may hold; the packages are about nine megabytes.
const LARGEST: usize = 64 * 1024 * 1024;

/// A package that is lent by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedPackage {
    /// As it is imported.
    pub name: String,
    /// The one version there is.
    pub version: String,
}

/// Why the packages cannot be lent.
#[derive(Debug, thiserror::Error)]
pub enum LendError {
    /// The folder beside the state cannot be written or read.
    #[error("cannot put the shared modules in their place: {}", path.display())]
    Io {
        /// The folder they belong into.
        path: PathBuf,
        /// The reason the system gave.
        #[source]
        source: io::Error,
    },
    /// The program itself is damaged.
    #[error("the shared modules inside this program cannot be read: {0}")]
    Damaged(String),
}

static PACKAGES: LazyLock<Vec<SharedPackage>> = LazyLock::new(|| {
    let wanted: Value = serde_json::from_str(WANTED).unwrap_or_default();
    let listed = wanted["dependencies"].as_object().into_iter().flatten();
    listed
        .map(|(name, version)| SharedPackage {
            name: name.clone(),
            version: version.as_str().unwrap_or_default().to_owned(),
        })
        .collect()
});

/// Every package that is lent, by name. What these need themselves is beside them and lent to nobody.
pub fn shared_packages() -> &'static [SharedPackage] {
    &PACKAGES
}

/// The module Node loads first, as in `register.mjs`.
static REGISTERED: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> = shared_packages().iter().map(|package| package.name.as_str()).collect();
    REGISTER.replace("__NAMES__", &Value::from(names).to_string())
});

/// Names the bytes of everything that is lent.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest = Sha256::new().chain_update(SHARED).chain_update(REGISTERED.as_bytes()).finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
});

/// Makes sure that the packages lie below `runtime` as they are embedded, and answers with the address for
/// `node --import`. Reads every file: call it once per start of a host and keep the answer.
pub fn lend(runtime: &Path) -> Result<String, LendError> {
    let folder = runtime.join("node");
    let place = folder.join(&*VERSION);
    let files = unpacked().map_err(|error| LendError::Damaged(error.to_string()))?;
    let failed = |source| LendError::Io { path: place.clone(), source };
    if !is_whole(&place, &files) {
        if place.exists() {
            tracing::warn!(path = %place.display(), "the shared modules were changed; they are put there again");
        }
        write(&folder, &place, &files).map_err(failed)?;
    }
    Ok(file_url(&place.join("register.mjs")))
}

/// Removes the packages that other versions of this program lent.
pub fn tidy_up(runtime: &Path) {
    let Ok(entries) = fs::read_dir(runtime.join("node")) else { return };
    for entry in entries.flatten() {
        if entry.file_name() != VERSION.as_str()
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, path = %entry.path().display(), "older shared modules cannot be removed");
        }
    }
}

type Files = BTreeMap<String, Vec<u8>>;

fn unpacked() -> io::Result<Files> {
    let bad = |text: &str| io::Error::new(io::ErrorKind::InvalidData, text.to_owned());
    let bytes = zstd::bulk::decompress(SHARED, LARGEST)?;
    let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| bad("it has no list"))?;
    let list: Vec<(String, usize)> = serde_json::from_slice(&bytes[..end])?;
    let mut at = end + 1;
    let mut files = Files::new();
    for (name, size) in list {
        let content = bytes.get(at..at + size).ok_or_else(|| bad("it is cut"))?;
        files.insert(name, content.to_vec());
        at += size;
    }
    files.insert("register.mjs".to_owned(), REGISTERED.clone().into_bytes());
    Ok(files)
}

/// True when exactly these files are there, as plain files.
fn is_whole(place: &Path, files: &Files) -> bool {
    let mut found = 0;
    let mut pending = vec![place.to_owned()];
    while let Some(folder) = pending.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { return false };
        for entry in entries {
            let Ok(entry) = entry else { return false };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    let path = entry.path();
                    let name = path.strip_prefix(place).ok().and_then(Path::to_str);
                    let same = name
                        .and_then(|name| files.get(name))
                        .is_some_and(|content| fs::read(&path).is_ok_and(|bytes| bytes == *content));
                    if !same {
                        return false;
                    }
                    found += 1;
                }
                // Nothing of ours is a link.
                _ => return false,
            }
        }
    }
    found == files.len()
}

/// Beside its place first, so that nobody sees half of it. Two hosts may do this at once; whoever is second finds
/// the same files there.
fn write(folder: &Path, place: &Path, files: &Files) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o755);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let stage = folder.join(format!("stage-{}", std::process::id()));
    remove(&stage)?;
    for (name, content) in files {
        let path = stage.join(name);
        if let Some(parent) = path.parent() {
            builder.create(parent)?;
        }
        fs::write(&path, content)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
    }
    remove(place)?;
    match fs::rename(&stage, place) {
        Err(_) if is_whole(place, files) => remove(&stage),
        done => done,
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let is_dir = fs::symlink_metadata(path).map(|meta| meta.is_dir());
    let done = match is_dir {
        Ok(true) => fs::remove_dir_all(path),
        Ok(false) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// `file:///…`; everything but plain characters is encoded, because Node reads the word as an address.
fn file_url(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut url = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(*byte));
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_is_named_with_its_version() {
        let shown: Vec<String> =
            shared_packages().iter().map(|package| format!("{} {}", package.name, package.version)).collect();
        assert_eq!(shown, ["@modelcontextprotocol/sdk 1.32.2", "zod 3.25.76"]);
        let files = unpacked().unwrap();
        for (name, version) in shared_packages().iter().map(|package| (&package.name, &package.version)) {
            let about: Value =
                serde_json::from_slice(&files[&format!("node_modules/{name}/package.json")]).unwrap();
            assert_eq!(about["version"], **version);
        }
    }

    #[test]
    fn a_damaged_copy_is_put_there_again_and_older_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let register = lend(dir.path()).unwrap();
        let place = dir.path().join("node").join(&*VERSION);
        assert!(register.starts_with("file:///") && register.ends_with("/register.mjs"), "{register}");
        let zod = place.join("node_modules/zod/package.json");
        let before = fs::read(&zod).unwrap();
        let damage: [&dyn Fn(); 4] = [
            &|| fs::write(&zod, "{}").unwrap(),
            &|| fs::remove_file(&zod).unwrap(),
            &|| fs::write(place.join("node_modules/zod/more.js"), "1").unwrap(),
            &|| {
                fs::rename(&zod, dir.path().join("moved")).unwrap();
                std::os::unix::fs::symlink(dir.path().join("moved"), &zod).unwrap();
            },
        ];
        for damage in damage {
            damage();
            assert_eq!(lend(dir.path()).unwrap(), register);
            assert_eq!(fs::read(&zod).unwrap(), before);
            assert!(is_whole(&place, &unpacked().unwrap()));
        }
        fs::create_dir(dir.path().join("node/0011223344556677")).unwrap();
        tidy_up(dir.path());
        let left: Vec<_> = fs::read_dir(dir.path().join("node")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1);
    }

    #[test]
    fn places_with_odd_names_are_addresses_too() {
        assert_eq!(file_url(Path::new("/a b/ü#?%/r.mjs")), "file:///a%20b/%C3%BC%23%3F%25/r.mjs");
    }
}
