//! The embedded program that runs backends, written beside the state and checked before every use.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

const RUNNER: &str = include_str!("runner.mjs");

/// SHA-256 of the embedded runner, in hex.
pub static RUNNER_SHA256: LazyLock<String> = LazyLock::new(|| crate::digest::sha256_hex(RUNNER.as_bytes()));

/// The runner's file below `runtime`. A missing, changed or replaced one is written again: what Node
/// runs is what was embedded (host-api §9.2).
pub fn runner_file(runtime: &Path) -> io::Result<PathBuf> {
    let path = runtime.join(format!("backend-runner-{}.mjs", *RUNNER_SHA256));
    let is_plain = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
    let same = is_plain
        && fs::read(&path).is_ok_and(|bytes| Sha256::digest(&bytes) == Sha256::digest(RUNNER.as_bytes()));
    if !same {
        if let Err(error) = fs::remove_file(&path)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(runtime)?;
        chatos_paths::replace_file(&path, RUNNER.as_bytes(), 0o600)?;
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tampered_runner_is_replaced_before_it_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = runner_file(dir.path()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), RUNNER);
        fs::write(&path, "process.exit(1)").unwrap();
        assert_eq!(fs::read_to_string(runner_file(dir.path()).unwrap()).unwrap(), RUNNER);
        // A link would let another file be run, or be written to.
        let other = dir.path().join("other");
        fs::write(&other, RUNNER).unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let again = runner_file(dir.path()).unwrap();
        assert!(fs::symlink_metadata(&again).unwrap().is_file());
    }
}
