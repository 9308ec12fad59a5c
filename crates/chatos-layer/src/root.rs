//! The directory a call is confined to: opened once, so that it stays the same directory whatever
//! happens to its name.

use std::os::fd::BorrowedFd;
use std::path::Path;

use chatos_files::Anchor;
use chatos_tool::{DenyRule, Reason, Text, ToolError};

/// An open directory and its real path.
#[derive(Debug)]
pub struct Root {
    anchor: Anchor,
    near: bool,
}

impl Root {
    /// Opens a directory; links in its own path are followed, because a person named it.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let anchor = Anchor::open(path)?;
        let near = is_near(anchor.handle());
        Ok(Self { anchor, near })
    }

    /// Whether it lies on a file system of this machine, where small reads do not make anybody wait.
    pub fn is_near(&self) -> bool {
        self.near
    }

    /// The real path.
    pub fn path(&self) -> &Path {
        self.anchor.path()
    }

    /// The open directory.
    pub fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// The directory a caller chose with `_meta.workdir`: this one or one inside it (tools §4).
    pub fn within(&self, workdir: &str) -> Result<Self, ToolError> {
        let outside = || {
            ToolError::new(
                Reason::PermissionDenied { rule: DenyRule::OutsideRoot, path: None },
                Text::fixed(
                    "_meta.workdir is not a directory inside the root of this server",
                    "_meta.workdir 不是此服务根目录内的目录",
                ),
            )
            .hint(Text::fixed(
                "start the server with another --root, or leave workdir out",
                "请用其他 --root 启动服务，或省略 workdir",
            ))
        };
        let chosen = Self::open(&self.path().join(workdir)).map_err(|_| outside())?;
        if chosen.path().starts_with(self.path()) { Ok(chosen) } else { Err(outside()) }
    }
}

/// The usual local file systems of Linux by their magic numbers; everything else may be far away.
#[cfg(target_os = "linux")]
fn is_near(dir: BorrowedFd<'_>) -> bool {
    const BTRFS: i64 = 0x9123_683e;
    const EXT: i64 = 0xef53;
    const F2FS: i64 = 0xf2f5_2010;
    const OVERLAY: i64 = 0x794c_7630;
    const TMPFS: i64 = 0x0102_1994;
    const XFS: i64 = 0x5846_5342;
    const ZFS: i64 = 0x2fc1_2fc1;
    #[allow(clippy::unnecessary_cast, reason = "the width differs between machines")]
    rustix::fs::fstatfs(dir)
        .is_ok_and(|fs| [BTRFS, EXT, F2FS, OVERLAY, TMPFS, XFS, ZFS].contains(&(fs.f_type as i64)))
}

#[cfg(not(target_os = "linux"))]
fn is_near(_: BorrowedFd<'_>) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workdir_inside_is_chosen_and_one_outside_refused() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        std::fs::create_dir(place.path().join("root-twin")).unwrap();
        std::fs::write(root.join("file"), "x").unwrap();
        std::os::unix::fs::symlink(place.path(), root.join("out")).unwrap();
        let open = Root::open(&root).unwrap();
        let sub = open.within("sub").unwrap();
        assert_eq!(sub.path(), open.path().join("sub"));
        let absolute = open.path().join("sub");
        assert_eq!(open.within(absolute.to_str().unwrap()).unwrap().path(), absolute);
        for bad in ["..", "../root-twin", "out", "out/root-twin", "file", "missing", "/", "/etc"] {
            let error = open.within(bad).unwrap_err();
            assert_eq!(error.code().as_str(), "permission_denied", "{bad}");
        }
        assert!(Root::open(&root.join("missing")).is_err());
    }
}
