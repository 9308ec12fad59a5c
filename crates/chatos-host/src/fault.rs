//! From the errors of the crates below to the one error object people and scripts see.

use chatos_paths::PathError;
use chatos_settings::{SettingIssue, nearest_setting};
use chatos_store::{KeyProblem, SettingError, StoreError, StoreErrorKind};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

/// A failure to find or prepare the state directory.
pub fn path_fault(error: &PathError) -> Fault {
    let class = match error {
        PathError::ForeignOwner { .. } => ErrorCode::PermissionDenied,
        _ => ErrorCode::Unavailable,
    };
    let code = match error {
        PathError::NoHome { .. } => "home_missing",
        PathError::HostApp { .. } => "host_app_invalid",
        PathError::NotAbsolute { .. } => "path_not_absolute",
        PathError::Io { .. } => "state_dir_unusable",
        PathError::NotADirectory { .. } => "state_dir_not_a_directory",
        PathError::ForeignOwner { .. } => "state_dir_foreign_owner",
        PathError::NetworkFileSystem { .. } => "state_dir_network_fs",
    };
    let mut fault = Fault::new(class, Text::new(error.to_string(), error.message_zh()))
        .code(code)
        .hint(Text::fixed(error.hint(), error.hint_zh()));
    if let Some(source) = std::error::Error::source(error) {
        fault = fault.caused_by(source);
    }
    fault
}

/// A failure of the database at start or later.
pub fn store_fault(error: &StoreError) -> Fault {
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
            Some(Text::fixed("choose another directory with --state-dir", "请用 --state-dir 选择其他目录")),
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
                "请确认状态目录可写，且没有其他程序锁定 state.db",
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
                "`chatos state recover` 会保存可读取的内容并保留损坏的文件；备份位于状态目录的 backups 文件夹",
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
            Text::new(format!("database error: {}", error.message), format!("数据库错误：{}", error.message)),
            None,
        ),
    };
    let fault = Fault::new(class, message).code(code);
    match hint {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

/// A failure to read or make the state key.
pub(crate) fn key_fault(problem: &KeyProblem) -> Fault {
    let mut fault = Fault::new(
        ErrorCode::Unavailable,
        Text::new(problem.to_string(), format!("状态密钥无法使用：{problem}")),
    )
    .code("state_key_unusable")
    .hint(Text::fixed(
        "make the key file readable, or point CHATOS_MASTER_KEY_FILE to a copy of it; without it sealed secrets cannot be opened",
        "请让密钥文件可读，或用 CHATOS_MASTER_KEY_FILE 指向其副本；没有它就无法打开已加密的密钥",
    ));
    if let Some(source) = std::error::Error::source(problem) {
        fault = fault.caused_by(source);
    }
    fault
}

/// A refused setting.
pub fn setting_fault(key: &str, error: &SettingError) -> Fault {
    match error {
        SettingError::Store(error) if error.kind == StoreErrorKind::NotFound => unknown_setting(key),
        SettingError::Store(error) => store_fault(error),
        SettingError::Refused(issues) => refused(issues),
    }
}

/// No setting has this name.
pub(crate) fn unknown_setting(key: &str) -> Fault {
    let fault = Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no setting `{key}`"), format!("没有名为 `{key}` 的设置")),
    );
    match nearest_setting(key) {
        Some(near) => {
            fault.hint(Text::new(format!("did you mean `{near}`?"), format!("您是否想输入 `{near}`？")))
        }
        None => fault.hint(Text::fixed(
            "`chatos settings list` shows every setting",
            "`chatos settings list` 会列出全部设置",
        )),
    }
}

fn refused(issues: &[SettingIssue]) -> Fault {
    let errors: Vec<_> = issues
        .iter()
        .map(|issue| {
            json!({ "path": issue.path, "code": issue.code, "message": issue.message.en, "hint": issue.hint.en })
        })
        .collect();
    let (message, hint) = match issues.first() {
        Some(issue) => (issue.message.clone(), issue.hint.clone()),
        None => (Text::fixed("the value is refused", "该值被拒绝"), Text::same("")),
    };
    Fault::new(ErrorCode::InvalidArgument, message).hint(hint).details(json!({ "errors": errors }))
}
