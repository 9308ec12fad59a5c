//! Where a sandbox keeps its state: away from the real one and from the plugin (devkit §4.1).

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use chatos_paths::Locations;
use sha2::{Digest, Sha256};

/// `<stateRoot>/dev/<pluginId>-<8 hex>/chatos`. Where the state directory itself was named, that is the root.
/// The folder is part of the name: two copies of a plugin do not share their data.
pub fn state_dir(places: &Locations, plugin_id: &str, dir: &Path) -> PathBuf {
    let root = places.state_root.as_deref().unwrap_or(&places.state_dir);
    let hash = Sha256::digest(dir.as_os_str().as_bytes());
    let short: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
    root.join("dev").join(format!("{plugin_id}-{short}")).join("chatos")
}

/// Removes the state of a sandbox; one that was never used is none.
pub fn empty(state_dir: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(state_dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(root: Option<&str>) -> Locations {
        Locations {
            state_dir: PathBuf::from("/home/li/.chatos/chatos"),
            state_root: root.map(PathBuf::from),
            legacy_dir: None,
            host_app: "chatos".to_owned(),
            key_dir: PathBuf::from("/home/li/.config/chatos/keys"),
            cache_dir: PathBuf::from("/home/li/.cache/chatos"),
        }
    }

    #[test]
    fn the_folder_decides_the_place() {
        let of = |root, dir: &str| state_dir(&places(root), "com.example.demo", Path::new(dir));
        let one = of(Some("/home/li/.chatos"), "/w/demo");
        assert_eq!(one, Path::new("/home/li/.chatos/dev/com.example.demo-8308a520/chatos"));
        assert_ne!(one, of(Some("/home/li/.chatos"), "/w/copy"));
        assert!(of(None, "/w/demo").starts_with("/home/li/.chatos/chatos/dev/"));
    }
}
