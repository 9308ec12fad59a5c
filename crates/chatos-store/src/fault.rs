//! Failures of the database, the state key and a stored setting, as people and scripts see them.

use chatos_settings::{refused_setting, unknown_setting};
use chatos_tool::{ErrorCode, Fault, Text};

use crate::audit::AuditError;
use crate::error::{StoreError, StoreErrorKind};
use crate::settings::SettingError;

impl From<&StoreError> for Fault {
    fn from(error: &StoreError) -> Self {
        let (class, code, message, hint) = match error.kind {
            StoreErrorKind::NotFound => {
                (ErrorCode::NotFound, "not_found", Text::same(error.message.clone()), None)
            }
            StoreErrorKind::Conflict => {
                (ErrorCode::Conflict, "conflict", Text::same(error.message.clone()), None)
            }
            StoreErrorKind::Invalid => (
                ErrorCode::InvalidArgument,
                "invalid_argument",
                Text::new(
                    format!("the database cannot be used: {}", error.message),
                    format!("数据库无法使用：{}", error.message),
                ),
                Some(Text::fixed(
                    "choose another directory with --state-dir",
                    "请用 --state-dir 选择其他目录",
                )),
            ),
            StoreErrorKind::Unavailable => (
                ErrorCode::Unavailable,
                "database_unavailable",
                Text::new(
                    format!("the database cannot be reached: {}", error.message),
                    format!("无法访问数据库：{}", error.message),
                ),
                Some(Text::fixed(
                    "check that the state directory is writable and no other program locks state.db",
                    "请确认状态文件夹可写，且没有其他程序锁定 state.db",
                )),
            ),
            StoreErrorKind::Full => (
                ErrorCode::ResourceExhausted,
                "disk_full",
                Text::fixed("the disk is full; nothing was changed", "磁盘已满；没有任何更改"),
                Some(Text::fixed("free some space and try again", "请释放空间后重试")),
            ),
            StoreErrorKind::Corrupt => (
                ErrorCode::Unavailable,
                "database_corrupt",
                Text::new(
                    format!("the database is damaged and was left untouched: {}", error.message),
                    format!("数据库已损坏，未做任何改动：{}", error.message),
                ),
                Some(Text::fixed(
                    "`chatos state recover` saves what can be read and keeps the damaged file; backups are in the backups folder of the state directory",
                    "`chatos state recover` 会保存可读取的内容并保留损坏的文件；备份位于状态文件夹的 backups 文件夹",
                )),
            ),
            StoreErrorKind::Foreign => (
                ErrorCode::Unavailable,
                "database_foreign",
                Text::new(
                    format!("state.db belongs to another program and was left untouched: {}", error.message),
                    format!("state.db 属于其他程序，未做任何改动：{}", error.message),
                ),
                Some(Text::fixed(
                    "move that file away, or choose another directory with --state-dir",
                    "请移走该文件，或用 --state-dir 选择其他目录",
                )),
            ),
            StoreErrorKind::Newer => (
                ErrorCode::Unavailable,
                "database_newer",
                Text::new(
                    format!("the database was {}", error.message),
                    format!("数据库由更新版本的 ChatOS 创建（{}）", error.message),
                ),
                Some(Text::fixed(
                    "use that newer ChatOS, or another directory with --state-dir; nothing was changed",
                    "请使用更新版本的 ChatOS，或用 --state-dir 选择其他目录；没有任何更改",
                )),
            ),
            StoreErrorKind::Older => (
                ErrorCode::Unavailable,
                "database_older",
                Text::new(error.message.clone(), "数据库结构较旧，需要先升级"),
                Some(Text::fixed("start chatos once: `chatos serve`", "请先启动一次：`chatos serve`")),
            ),
            StoreErrorKind::Internal => (
                ErrorCode::Internal,
                "internal",
                Text::new(
                    format!("database error: {}", error.message),
                    format!("数据库错误：{}", error.message),
                ),
                None,
            ),
        };
        let fault = Fault::new(class, message).code(code);
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<AuditError> for Fault {
    /// The audit log could not be opened.
    fn from(error: AuditError) -> Self {
        Self::new(ErrorCode::Unavailable, Text::new(error.to_string(), "无法打开审计日志"))
            .code("audit_unusable")
            .caused_by(&error)
    }
}

impl SettingError {
    /// The error object about the setting that was to be stored.
    pub fn fault(&self, key: &str) -> Fault {
        match self {
            Self::Store(error) if error.kind == StoreErrorKind::NotFound => unknown_setting(key),
            Self::Store(error) => error.into(),
            Self::Refused(issues) => refused_setting(issues),
        }
    }
}
