//! From an error of the operating system to a typed reason (tools §6, last paragraph).

use std::io;

use rustix::io::Errno;

use super::{ConflictKind, DenyRule, Needed, Phase, Reason, Resource, ToolError};
use crate::text::Text;
use crate::validation::{Issue, IssueCode};

/// How the path of a failed access was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// Beneath a root, by the kernel: leaving it shows as EXDEV or ELOOP.
    Confined,
    /// In any other way.
    Plain,
}

impl ToolError {
    /// An error of the system while `doing` something to `path` (relative to the root).
    ///
    /// `reference` names the log record for the cases nobody expected.
    pub fn from_os(
        error: &io::Error,
        opening: Opening,
        doing: &Text,
        path: Option<&str>,
        reference: &str,
    ) -> Self {
        let path_text = path.map(str::to_owned);
        let reason = match kind(error, opening) {
            Kind::NotFound => {
                Reason::NotFound { what: "file".to_owned(), id: None, path: path_text, nearest: Vec::new() }
            }
            Kind::Denied(rule) => Reason::PermissionDenied { rule, path: path_text },
            Kind::Conflict => {
                Reason::Conflict { kind: ConflictKind::Exists, expected: None, found: None, path: path_text }
            }
            Kind::Exhausted(resource) => Reason::ResourceExhausted { resource, limit: None, actual: None },
            Kind::Invalid => {
                Reason::InvalidArgument { issues: vec![Issue::new("/path", IssueCode::Format, cause(error))] }
            }
            Kind::Timeout => Reason::Timeout { limit_ms: 0, phase: Phase::Run },
            Kind::Unavailable => Reason::Unavailable { what: Needed::Process, install: None },
            Kind::Unexpected => return Self::internal(reference),
        };
        let cause = cause(error);
        let place = path.map(|path| format!(" `{path}`")).unwrap_or_default();
        let message = Text::new(
            format!("cannot {}{place}: {}", doing.en, cause.en),
            format!("无法{}{place}：{}", doing.zh, cause.zh),
        );
        Self::new(reason, message)
    }
}

enum Kind {
    NotFound,
    Denied(DenyRule),
    Conflict,
    Exhausted(Resource),
    Invalid,
    Timeout,
    Unavailable,
    Unexpected,
}

fn kind(error: &io::Error, opening: Opening) -> Kind {
    let Some(errno) = Errno::from_io_error(error) else { return from_kind(error.kind()) };
    match errno {
        Errno::NOENT => Kind::NotFound,
        Errno::ACCESS | Errno::PERM | Errno::ROFS => Kind::Denied(DenyRule::FileMode),
        Errno::XDEV if opening == Opening::Confined => Kind::Denied(DenyRule::OutsideRoot),
        Errno::LOOP if opening == Opening::Confined => Kind::Denied(DenyRule::SymlinkEscape),
        Errno::EXIST | Errno::NOTEMPTY | Errno::TXTBSY => Kind::Conflict,
        Errno::NOSPC | Errno::DQUOT => Kind::Exhausted(Resource::Disk),
        Errno::MFILE | Errno::NFILE => Kind::Exhausted(Resource::Files),
        Errno::NOMEM => Kind::Exhausted(Resource::Memory),
        Errno::FBIG => Kind::Exhausted(Resource::FileBytes),
        Errno::ISDIR | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::INVAL => Kind::Invalid,
        Errno::TIMEDOUT => Kind::Timeout,
        Errno::CONNREFUSED | Errno::PIPE | Errno::CONNRESET => Kind::Unavailable,
        _ => Kind::Unexpected,
    }
}

/// Errors that the standard library made itself carry no number.
fn from_kind(kind: io::ErrorKind) -> Kind {
    match kind {
        io::ErrorKind::NotFound => Kind::NotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Kind::Denied(DenyRule::FileMode)
        }
        io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => Kind::Conflict,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Exhausted(Resource::Disk),
        io::ErrorKind::OutOfMemory => Kind::Exhausted(Resource::Memory),
        io::ErrorKind::FileTooLarge => Kind::Exhausted(Resource::FileBytes),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => Kind::Invalid,
        io::ErrorKind::TimedOut => Kind::Timeout,
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused => {
            Kind::Unavailable
        }
        _ => Kind::Unexpected,
    }
}

/// The reason in plain words; the system's own words speak one language only.
fn cause(error: &io::Error) -> Text {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT) => Text::fixed("it does not exist", "不存在"),
        Some(Errno::ACCESS | Errno::PERM) => Text::fixed("permission denied", "权限不足"),
        Some(Errno::ROFS) => Text::fixed("the file system is read-only", "文件系统为只读"),
        Some(Errno::XDEV) => Text::fixed("it leads outside the root", "路径超出根目录"),
        Some(Errno::LOOP) => {
            Text::fixed("a link leads outside the root or in a circle", "符号链接超出根目录或形成循环")
        }
        Some(Errno::EXIST) => Text::fixed("it is there already", "已经存在"),
        Some(Errno::NOTEMPTY) => Text::fixed("the directory is not empty", "目录非空"),
        Some(Errno::TXTBSY) => Text::fixed("the program is running", "程序正在运行"),
        Some(Errno::NOSPC) => Text::fixed("the disk is full", "磁盘已满"),
        Some(Errno::DQUOT) => Text::fixed("the disk quota is used up", "磁盘配额已用完"),
        Some(Errno::MFILE | Errno::NFILE) => Text::fixed("too many open files", "打开的文件过多"),
        Some(Errno::NOMEM) => Text::fixed("not enough memory", "内存不足"),
        Some(Errno::FBIG) => Text::fixed("the file is too large", "文件过大"),
        Some(Errno::ISDIR) => Text::fixed("it is a directory", "是目录"),
        Some(Errno::NOTDIR) => Text::fixed("a part of the path is not a directory", "路径中有一部分不是目录"),
        Some(Errno::NAMETOOLONG) => Text::fixed("the name is too long", "名称过长"),
        Some(Errno::INVAL) => Text::fixed("the system refuses it", "系统拒绝该参数"),
        Some(Errno::TIMEDOUT) => Text::fixed("it took too long", "耗时过长"),
        Some(Errno::CONNREFUSED) => Text::fixed("nobody listens there", "无人监听"),
        Some(Errno::PIPE | Errno::CONNRESET) => Text::fixed("the other side is gone", "对方已断开"),
        _ => Text::same(error.to_string()),
    }
}
