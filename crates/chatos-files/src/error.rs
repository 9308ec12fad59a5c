//! What can go wrong with a file operation, as a closed enum that the tool layer maps to its codes.

use std::io;

use rustix::io::Errno;

use super::patch::HunkFailure;

/// Why a permission was refused (tools §6, `details.rule`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DenyRule {
    /// The path leaves the root by its own text.
    OutsideRoot,
    /// A link on the way leaves the root.
    SymlinkEscape,
    /// State, key or plugin directory, or the root itself.
    ProtectedPath,
    /// The system's permissions.
    FileMode,
}

impl DenyRule {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OutsideRoot => "outside_root",
            Self::SymlinkEscape => "symlink_escape",
            Self::ProtectedPath => "protected_path",
            Self::FileMode => "file_mode",
        }
    }
}

/// What a change contradicts (tools §6, `details.kind`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// The file is not the one that was read.
    ChangedOnDisk,
    /// Something is already there.
    Exists,
    /// The number of matches differs from the expectation.
    CountMismatch,
    /// A hunk finds no place.
    HunkFailed,
    /// The result of a hunk is already there.
    AlreadyApplied,
    /// Two changes touch the same lines or the same path.
    Overlap,
}

impl ConflictKind {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ChangedOnDisk => "changed_on_disk",
            Self::Exists => "exists",
            Self::CountMismatch => "count_mismatch",
            Self::HunkFailed => "hunk_failed",
            Self::AlreadyApplied => "already_applied",
            Self::Overlap => "overlap",
        }
    }
}

/// What is used up (tools §6, `details.resource`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Bytes of one file to read.
    FileBytes,
    /// Bytes of one result to write.
    WriteBytes,
    /// Space on the disk.
    Disk,
    /// Open files or memory of the process.
    Memory,
    /// Entries of one move, copy or listing.
    Entries,
}

impl Resource {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileBytes => "file_bytes",
            Self::WriteBytes => "write_bytes",
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::Entries => "entries",
        }
    }
}

/// Who or what ended the work before it was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The caller canceled.
    Canceled,
    /// The deadline passed.
    Deadline,
}

/// A failed file operation. Paths in it are relative to the root or exactly what the caller gave.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// An argument cannot be used; `key` is the argument's JSON pointer.
    #[error("{message}")]
    Invalid {
        /// JSON pointer of the argument.
        key: &'static str,
        /// What is wrong with it.
        message: String,
        /// 中文说明。
        zh: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path as asked for.
        path: String,
        /// Names beside it that look alike.
        nearest: Vec<String>,
    },
    /// Refused.
    #[error("`{path}` is refused ({})", rule.as_str())]
    Denied {
        /// Which rule.
        rule: DenyRule,
        /// The path as asked for.
        path: String,
        /// A path that would work.
        instead: Option<String>,
    },
    /// The present state contradicts the request.
    #[error("{message}")]
    Conflict {
        /// Which kind.
        kind: ConflictKind,
        /// The path, when there is one.
        path: String,
        /// What happened.
        message: String,
        /// 中文说明。
        zh: String,
        /// What was expected.
        expected: Option<String>,
        /// What was found.
        found: Option<String>,
        /// The hunks that failed.
        hunks: Vec<HunkFailure>,
    },
    /// A limit is reached.
    #[error("`{path}`: limit of {limit} reached ({})", resource.as_str())]
    Exhausted {
        /// What is used up.
        resource: Resource,
        /// The limit.
        limit: u64,
        /// What was asked for, when known.
        actual: Option<u64>,
        /// The path.
        path: String,
    },
    /// The kind of file or text is not handled.
    #[error("`{path}`: {what} is not supported")]
    Unsupported {
        /// The path.
        path: String,
        /// Which kind, in a word or two.
        what: &'static str,
        /// Its size.
        size: Option<u64>,
    },
    /// Somebody else holds it for longer than we wait.
    #[error("`{path}` is locked by another writer")]
    Locked {
        /// The path.
        path: String,
    },
    /// Ended before done.
    #[error("stopped")]
    Stopped(Stopped),
    /// The system refused for another reason.
    #[error("cannot {action} `{path}`")]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
}

/// The result of a file operation.
pub type Result<T, E = FileError> = std::result::Result<T, E>;

impl FileError {
    /// A problem with an argument, in both languages.
    pub fn invalid(key: &'static str, message: impl Into<String>, zh: impl Into<String>) -> Self {
        Self::Invalid { key, message: message.into(), zh: zh.into() }
    }

    /// The same problem with the argument that was really given: paths are `/path` where they are resolved.
    #[must_use]
    pub fn of_argument(self, key: &'static str) -> Self {
        match self {
            Self::Invalid { key: "/path", message, zh } => Self::Invalid { key, message, zh },
            other => other,
        }
    }

    /// A refusal.
    pub fn denied(rule: DenyRule, path: impl Into<String>) -> Self {
        Self::Denied { rule, path: path.into(), instead: None }
    }

    /// A plain conflict.
    pub fn conflict(
        kind: ConflictKind,
        path: impl Into<String>,
        message: impl Into<String>,
        zh: impl Into<String>,
    ) -> Self {
        Self::Conflict {
            kind,
            path: path.into(),
            message: message.into(),
            zh: zh.into(),
            expected: None,
            found: None,
            hunks: Vec::new(),
        }
    }

    /// A file that is not the one that was read or expected.
    pub fn changed(path: impl Into<String>, expected: Option<String>, found: Option<String>) -> Self {
        Self::Conflict {
            kind: ConflictKind::ChangedOnDisk,
            path: path.into(),
            message: "the file changed on disk; nothing was written".into(),
            zh: "文件在磁盘上已改变；未写入任何内容".into(),
            expected,
            found,
            hunks: Vec::new(),
        }
    }

    /// Something that is already there.
    pub fn exists(path: impl Into<String>) -> Self {
        let path = path.into();
        let message = format!("`{path}` already exists");
        let zh = format!("`{path}` 已存在");
        Self::conflict(ConflictKind::Exists, path, message, zh)
    }

    /// tools §6: the code of an operating system error.
    pub fn os(action: &'static str, path: impl Into<String>, error: impl Into<io::Error>) -> Self {
        let path = path.into();
        let source: io::Error = error.into();
        let Some(errno) = Errno::from_io_error(&source) else { return Self::Io { action, path, source } };
        match errno {
            Errno::NOENT => Self::NotFound { path, nearest: Vec::new() },
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::denied(DenyRule::FileMode, path),
            Errno::XDEV | Errno::LOOP => Self::denied(DenyRule::SymlinkEscape, path),
            Errno::EXIST => Self::exists(path),
            Errno::NOTEMPTY | Errno::TXTBSY | Errno::BUSY => {
                let message = format!("cannot {action} `{path}`: {source}");
                let zh = format!("无法处理 `{path}`：{source}");
                Self::conflict(ConflictKind::Exists, path, message, zh)
            }
            Errno::NOSPC | Errno::DQUOT => {
                Self::Exhausted { resource: Resource::Disk, limit: 0, actual: None, path }
            }
            Errno::FBIG => Self::Exhausted { resource: Resource::WriteBytes, limit: 0, actual: None, path },
            Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
                Self::Exhausted { resource: Resource::Memory, limit: 0, actual: None, path }
            }
            Errno::ISDIR => Self::invalid(
                "/path",
                format!("`{path}` is a directory, not a file"),
                format!("`{path}` 是目录，不是文件"),
            ),
            Errno::NOTDIR => Self::invalid(
                "/path",
                format!("`{path}` leads through a file as if it were a directory"),
                format!("`{path}` 把文件当作目录使用"),
            ),
            Errno::NAMETOOLONG => {
                Self::invalid("/path", format!("`{path}` is too long"), format!("`{path}` 过长"))
            }
            Errno::INVAL => Self::invalid(
                "/path",
                format!("the file system refuses the name `{path}`"),
                format!("文件系统不接受名称 `{path}`"),
            ),
            Errno::NXIO | Errno::NODEV => Self::Unsupported { path, what: "a device", size: None },
            _ => Self::Io { action, path, source },
        }
    }
}
