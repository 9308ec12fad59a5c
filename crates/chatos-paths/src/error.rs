//! What can go wrong while finding and preparing the state directory, with advice for each case.

use std::io;
use std::path::PathBuf;

/// A failure to find, create or take possession of a ChatOS directory. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// No explicit directory was given and there is no home directory to derive one from.
    #[error("cannot find the {what}: HOME is not set to an absolute path")]
    NoHome {
        /// Which directory was wanted.
        what: &'static str,
    },
    /// `MODEL_CLI_HOST_APP` is not usable as a directory name.
    #[error("MODEL_CLI_HOST_APP `{value}` is not a valid name")]
    HostApp {
        /// The refused value.
        value: String,
    },
    /// An environment value that should be an absolute path is not.
    #[error("{name} `{value}` is not an absolute path")]
    NotAbsolute {
        /// Name of the variable or flag.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A directory cannot be created, read or written.
    #[error("cannot {action}: {}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which path.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// The path exists but is something else than a directory.
    #[error("the state directory is not a directory: {}", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Another user owns the directory; trusting it would let them drive this host (security T21).
    #[error("the state directory belongs to user {owner}, not to user {us}: {}", path.display())]
    ForeignOwner {
        /// The path.
        path: PathBuf,
        /// Owner's uid.
        owner: u32,
        /// Our uid.
        us: u32,
    },
    /// The directory lies on a network file system, where locks and WAL are unreliable.
    #[error("the state directory is on a network file system ({kind}): {}", path.display())]
    NetworkFileSystem {
        /// The path.
        path: PathBuf,
        /// Kind of file system, e.g. `nfs`.
        kind: String,
    },
}

impl PathError {
    /// What the person can do about it, in English.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoHome { .. } => {
                "set HOME, or name the places yourself: --state-dir DIR and XDG_CONFIG_HOME (for the key)"
            }
            Self::HostApp { .. } => {
                "use 1 to 128 letters, digits, `.`, `_` or `-`, beginning with a letter or digit"
            }
            Self::NotAbsolute { .. } => "give an absolute path",
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    "make the directory writable for this user, or choose another with --state-dir"
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    "the file system is mounted read-only: remount it, or choose another directory with --state-dir"
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "the disk is full: free some space and start again"
                }
                _ => "check the path, or choose another directory with --state-dir",
            },
            Self::NotADirectory { .. } => "move that file away, or choose another directory with --state-dir",
            Self::ForeignOwner { .. } => "start ChatOS as that user, change the owner, or use --state-dir",
            Self::NetworkFileSystem { .. } => {
                "use a local directory with --state-dir, or accept the risk with --allow-network-fs"
            }
        }
    }

    /// The same message in Chinese.
    pub fn message_zh(&self) -> String {
        match self {
            Self::NoHome { .. } => "找不到所需的目录：HOME 未设置为绝对路径".to_owned(),
            Self::HostApp { value } => format!("MODEL_CLI_HOST_APP `{value}` 不是有效的名称"),
            Self::NotAbsolute { name, value } => format!("{name} `{value}` 不是绝对路径"),
            Self::Io { path, source, .. } => format!("无法使用目录或文件（{source}）：{}", path.display()),
            Self::NotADirectory { path } => format!("状态文件夹不是目录：{}", path.display()),
            Self::ForeignOwner { path, owner, us } => {
                format!("状态文件夹属于用户 {owner}，而不是用户 {us}：{}", path.display())
            }
            Self::NetworkFileSystem { path, kind } => {
                format!("状态文件夹位于网络文件系统（{kind}）：{}", path.display())
            }
        }
    }

    /// The same advice in Chinese.
    pub fn hint_zh(&self) -> &'static str {
        match self {
            Self::NoHome { .. } => {
                "请设置 HOME，或用 --state-dir 指定状态文件夹并设置 XDG_CONFIG_HOME（存放密钥）"
            }
            Self::HostApp { .. } => "请使用 1 到 128 个字母、数字、`.`、`_` 或 `-`，并以字母或数字开头",
            Self::NotAbsolute { .. } => "请给出绝对路径",
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied => {
                    "请让当前用户可以写入该目录，或用 --state-dir 选择其他目录"
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    "文件系统是只读的：请重新挂载，或用 --state-dir 选择其他目录"
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "磁盘已满：请释放空间后再启动",
                _ => "请检查该路径，或用 --state-dir 选择其他目录",
            },
            Self::NotADirectory { .. } => "请移走该文件，或用 --state-dir 选择其他目录",
            Self::ForeignOwner { .. } => "请以该用户启动 ChatOS、更改目录所有者，或使用 --state-dir",
            Self::NetworkFileSystem { .. } => {
                "请用 --state-dir 选择本地目录，或用 --allow-network-fs 接受风险"
            }
        }
    }
}
