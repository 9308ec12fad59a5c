//! What kind of file system a path lies on, and how much room is left there.

use std::io;
use std::path::Path;

/// A coarse answer to "may we rely on locks, fsync and WAL here?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSystemKind {
    /// Anything that behaves like a local disk.
    Local,
    /// A network file system, with its name.
    Network(String),
}

// Magic numbers of `statfs(2)`.
const NETWORK_MAGIC: [(u64, &str); 8] = [
    (0x6969, "nfs"),
    (0x517B, "smb"),
    (0xFF53_4D42, "cifs"),
    (0xFE53_4D42, "smb2"),
    (0x5346_414F, "afs"),
    (0x7375_7245, "coda"),
    (0x00C3_6400, "ceph"),
    (0x0BD0_0BD0, "lustre"),
];
const FUSE_MAGIC: u64 = 0x6573_5546;
const NETWORK_FUSE: [&str; 8] = [
    "fuse.sshfs",
    "fuse.s3fs",
    "fuse.rclone",
    "fuse.glusterfs",
    "fuse.davfs",
    "fuse.ceph",
    "fuse.juicefs",
    "fuse.gcsfuse",
];

/// Tells what kind of file system holds `path`, which must exist.
pub fn file_system_kind(path: &Path) -> io::Result<FileSystemKind> {
    let stat = rustix::fs::statfs(path)?;
    let magic = (stat.f_type as u64) & 0xFFFF_FFFF;
    if let Some((_, name)) = NETWORK_MAGIC.iter().find(|(number, _)| *number == magic) {
        return Ok(FileSystemKind::Network((*name).to_owned()));
    }
    if magic == FUSE_MAGIC {
        // statfs cannot tell sshfs from a local FUSE mount; the mount table can.
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        if let Some(name) = mount_type(&mounts, path)
            && NETWORK_FUSE.contains(&name.as_str())
        {
            return Ok(FileSystemKind::Network(name));
        }
    }
    Ok(FileSystemKind::Local)
}

/// Bytes an unprivileged process may still write on the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// The type of the mount with the longest mount point that is a prefix of `path`.
fn mount_type(mountinfo: &str, path: &Path) -> Option<String> {
    mountinfo
        .lines()
        .filter_map(|line| {
            let (left, right) = line.split_once(" - ")?;
            let point = left.split(' ').nth(4)?.replace("\\040", " ");
            let kind = right.split(' ').next()?;
            path.starts_with(&point).then(|| (point.len(), kind.to_owned()))
        })
        .max_by_key(|(length, _)| *length)
        .map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_mount_point_decides() {
        let table = "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:40 / /mnt/far rw - fuse.sshfs host rw\n";
        assert_eq!(mount_type(table, Path::new("/mnt/far/state")).as_deref(), Some("fuse.sshfs"));
        assert_eq!(mount_type(table, Path::new("/mnt/farther")).as_deref(), Some("ext4"));
    }

    #[test]
    fn a_temporary_directory_is_local_and_has_room() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(file_system_kind(dir.path()).unwrap(), FileSystemKind::Local);
        assert!(free_bytes(dir.path()).unwrap() > 0);
    }
}
