//! Key files: one for the key in force, one for the next while a rotation is under way, and one by the
//! name of its key for what a backup brought back beside a newer one.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use chatos_tool::hex;
use zeroize::Zeroizing;

use crate::{KeyPlace, KeyProblem};

/// The file of the key in force.
pub(crate) fn key_file(place: &KeyPlace, instance: &str) -> PathBuf {
    place.dir.join(format!("{instance}.key"))
}

/// The file of the key that is about to be in force.
pub(crate) fn next_file(place: &KeyPlace, instance: &str) -> PathBuf {
    place.dir.join(format!("{instance}.next.key"))
}

/// The file of the key with this id.
pub(crate) fn named_file(place: &KeyPlace, instance: &str, id: &str) -> PathBuf {
    place.dir.join(format!("{instance}.{id}.key"))
}

pub(crate) fn is_missing(problem: &KeyProblem) -> bool {
    matches!(problem, KeyProblem::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

pub(crate) fn read_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, KeyProblem> {
    let fail = |source| KeyProblem::Io { action: "read", path: path.to_owned(), source };
    let mut text = Zeroizing::new(Vec::with_capacity(128));
    let file = OpenOptions::new().read(true).open(path).map_err(fail)?;
    // A key is at most 65 bytes; anything longer is not one, and is not read.
    file.take(128).read_to_end(&mut text).map_err(fail)?;
    parse_key(&text).ok_or_else(|| KeyProblem::Malformed { path: path.to_owned() })
}

pub(crate) fn parse_key(bytes: &[u8]) -> Option<Zeroizing<[u8; 32]>> {
    if let Ok(raw) = <[u8; 32]>::try_from(bytes) {
        return Some(Zeroizing::new(raw));
    }
    let text = std::str::from_utf8(bytes).ok()?.trim();
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    let mut key = Zeroizing::new([0; 32]);
    for (index, slot) in key.iter_mut().enumerate() {
        *slot = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(key)
}

/// The form in files and in the keychain.
pub(crate) fn key_text(key: &[u8; 32]) -> Zeroizing<String> {
    Zeroizing::new(hex(key))
}

/// Writes a key file that is not there yet. `false`: one is there.
pub(crate) fn create_key_file(path: &Path, key: &Zeroizing<[u8; 32]>) -> Result<bool, KeyProblem> {
    let fail = |action| move |source| KeyProblem::Io { action, path: path.to_owned(), source };
    if let Some(dir) = path.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .map_err(fail("make a place for"))?;
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(fail("protect"))?;
    }
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(fail("create")(error)),
    };
    let text = key_text(key);
    let written =
        file.write_all(text.as_bytes()).and_then(|()| file.write_all(b"\n")).and_then(|()| file.sync_all());
    if let Err(error) = written {
        // A half-written key would be taken for a malformed one at the next start.
        std::fs::remove_file(path).ok();
        return Err(fail("write")(error));
    }
    sync_folder(path).map_err(fail("keep"))?;
    Ok(true)
}

/// One file takes the place of another, for good.
pub(crate) fn replace(from: &Path, to: &Path) -> Result<(), KeyProblem> {
    let fail = |source| KeyProblem::Io { action: "put into place", path: to.to_owned(), source };
    std::fs::rename(from, to).and_then(|()| sync_folder(to)).map_err(fail)
}

/// Removes a key file; one that is not there is removed already.
pub(crate) fn remove(path: &Path) -> Result<(), KeyProblem> {
    let removed = match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other,
    };
    let fail = |source| KeyProblem::Io { action: "remove", path: path.to_owned(), source };
    removed.and_then(|()| sync_folder(path)).map_err(fail)
}

fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) => std::fs::File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}
