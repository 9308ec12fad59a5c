//! A failure of an archive as people and scripts see it.

use chatos_tool::{ErrorCode, Fault, Text};

use crate::file::ArchiveError;

impl From<ArchiveError> for Fault {
    fn from(error: ArchiveError) -> Self {
        let (class, code, zh, hint) = match &error {
            ArchiveError::Io { source, path, .. } if source.kind() == std::io::ErrorKind::StorageFull => (
                ErrorCode::ResourceExhausted,
                "disk_full",
                format!("磁盘已满：{}", path.display()),
                Some(Text::fixed("free some space and try again", "请释放空间后重试")),
            ),
            ArchiveError::Io { source, path, .. } if source.kind() == std::io::ErrorKind::NotFound => (
                ErrorCode::NotFound,
                "not_found",
                format!("文件或文件夹不存在：{}", path.display()),
                Some(Text::fixed("check the path", "请检查路径")),
            ),
            ArchiveError::Io { path, .. } => (
                ErrorCode::Unavailable,
                "backup_failed",
                format!("无法读写：{}", path.display()),
                Some(Text::fixed("check that the place can be read and written", "请检查该位置可以读写")),
            ),
            ArchiveError::Exists { path } => (
                ErrorCode::Conflict,
                "file_exists",
                format!("文件已存在：{}", path.display()),
                Some(Text::fixed(
                    "choose another name, or move that file away",
                    "请换一个名称，或移走该文件",
                )),
            ),
            ArchiveError::NotABackup { path } => (
                ErrorCode::InvalidArgument,
                "backup_not_recognised",
                format!("不是 ChatOS 的备份：{}", path.display()),
                Some(Text::fixed(
                    "name a file that `chatos backup` made",
                    "请指定由 `chatos backup` 生成的文件",
                )),
            ),
            ArchiveError::Damaged { path, reason } => (
                ErrorCode::InvalidArgument,
                "backup_damaged",
                format!("备份已损坏（{reason}）：{}", path.display()),
                Some(Text::fixed("use another copy; nothing was changed", "请使用其他副本；没有任何更改")),
            ),
            ArchiveError::Newer { path, version } => (
                ErrorCode::Unavailable,
                "backup_newer",
                format!("备份格式 {version} 由更新版本的 ChatOS 生成：{}", path.display()),
                Some(Text::fixed(
                    "use that newer ChatOS; nothing was changed",
                    "请使用更新版本的 ChatOS；没有任何更改",
                )),
            ),
            ArchiveError::Canceled => (ErrorCode::Canceled, "canceled", "已停止".to_owned(), None),
        };
        let mut fault = Fault::new(class, Text::new(error.to_string(), zh)).code(code);
        if let Some(source) = std::error::Error::source(&error) {
            fault = fault.caused_by(source);
        }
        match hint {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    }
}
