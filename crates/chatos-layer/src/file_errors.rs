//! From what went wrong with a file to what a model and a person are told.

use chatos_files::{ConflictKind, DenyRule, FileError, Resource};
use chatos_tool::{
    ConflictKind as ToolConflict, DenyRule as ToolRule, Issue, IssueCode, Needed, Reason,
    Resource as ToolResource, Text, ToolError,
};
use serde_json::json;

/// The error of a call.
pub fn explain(error: FileError) -> ToolError {
    match error {
        FileError::Invalid { key, message, zh } => {
            ToolError::invalid(vec![Issue::new(key, IssueCode::Format, Text::new(message, zh))])
        }
        FileError::NotFound { path, nearest } => {
            let message = Text::new(format!("`{path}` does not exist"), format!("`{path}` 不存在"));
            let hint = (!nearest.is_empty()).then(|| {
                let names = nearest.join(", ");
                Text::new(format!("did you mean {names}?"), format!("是否指 {names}？"))
            });
            let reason = Reason::NotFound { what: "path".into(), id: None, path: Some(path), nearest };
            ToolError { hint, ..ToolError::new(reason, message) }
        }
        FileError::Denied { rule, path, instead } => denied(rule, path, instead),
        FileError::Conflict { kind, path, message, zh, expected, found, hunks } => {
            let found = if hunks.is_empty() { found.map(|found| json!(found)) } else { Some(json!(hunks)) };
            let reason = Reason::Conflict {
                kind: conflict(kind),
                expected: expected.map(|expected| json!(expected)),
                found,
                path: Some(path),
            };
            ToolError { hint: conflict_hint(kind), ..ToolError::new(reason, Text::new(message, zh)) }
        }
        FileError::Exhausted { resource, limit, actual, path } => exhausted(resource, limit, actual, &path),
        FileError::Unsupported { path, what, size } => {
            let size_en = size.map(|size| format!(" ({size} bytes)")).unwrap_or_default();
            let size_zh = size.map(|size| format!("（{size} 字节）")).unwrap_or_default();
            ToolError::new(
                Reason::NotSupported { what: what.into() },
                Text::new(
                    format!("`{path}`: {what} is not supported{size_en}"),
                    format!("`{path}`：不支持（{}）{size_zh}", in_chinese(what)),
                ),
            )
        }
        FileError::Locked { path } => ToolError::unavailable(
            Needed::Process,
            Text::new(
                format!("`{path}` is being changed by another process; try again"),
                format!("`{path}` 正被另一进程修改；请重试"),
            ),
        ),
        FileError::Stopped(_) => ToolError::canceled(chatos_tool::CanceledBy::Caller),
        FileError::Io { action, path, source } => {
            let reference = uuid::Uuid::now_v7().to_string();
            tracing::error!(%reference, action, path, error = %source, "a file operation failed");
            ToolError::internal(reference)
        }
    }
}

fn in_chinese(what: &'static str) -> &'static str {
    match what {
        "a device" => "设备",
        "a device, socket or pipe" => "设备、套接字或管道",
        "a kernel file system" => "内核文件系统",
        "a binary file" => "二进制文件",
        "editing a binary file" => "编辑二进制文件",
        "editing text that is not UTF-8" => "编辑非 UTF-8 文本",
        "a language server for what is not UTF-8 text" => "对非 UTF-8 文本使用语言服务器",
        "moving or deleting a directory in a computed change" => "在计算出的更改中移动或删除目录",
        other => other,
    }
}

fn denied(rule: DenyRule, path: String, instead: Option<String>) -> ToolError {
    let (rule, message) = match rule {
        DenyRule::OutsideRoot => (
            ToolRule::OutsideRoot,
            Text::new(
                format!("`{path}` is outside the root of this server"),
                format!("`{path}` 在此服务的根目录之外"),
            ),
        ),
        DenyRule::SymlinkEscape => (
            ToolRule::SymlinkEscape,
            Text::new(
                format!("a link in `{path}` leads outside the root"),
                format!("`{path}` 中的链接指向根目录之外"),
            ),
        ),
        DenyRule::ProtectedPath => (
            ToolRule::ProtectedPath,
            Text::new(format!("`{path}` is protected from tools"), format!("`{path}` 受保护，工具不能访问")),
        ),
        DenyRule::FileMode => (
            ToolRule::FileMode,
            Text::new(
                format!("the permissions of `{path}` do not allow this"),
                format!("`{path}` 的权限不允许此操作"),
            ),
        ),
    };
    let hint = instead.map(|instead| {
        Text::new(format!("use the relative path `{instead}`"), format!("请使用相对路径 `{instead}`"))
    });
    ToolError { hint, ..ToolError::new(Reason::PermissionDenied { rule, path: Some(path) }, message) }
}

fn conflict(kind: ConflictKind) -> ToolConflict {
    match kind {
        ConflictKind::ChangedOnDisk => ToolConflict::ChangedOnDisk,
        ConflictKind::Exists => ToolConflict::Exists,
        ConflictKind::CountMismatch => ToolConflict::CountMismatch,
        ConflictKind::HunkFailed => ToolConflict::HunkFailed,
        ConflictKind::AlreadyApplied => ToolConflict::AlreadyApplied,
        ConflictKind::Overlap => ToolConflict::Overlap,
    }
}

fn conflict_hint(kind: ConflictKind) -> Option<Text> {
    Some(match kind {
        ConflictKind::ChangedOnDisk => Text::fixed("read the file again", "请重新读取文件"),
        ConflictKind::Exists => {
            Text::fixed("choose another path or allow overwriting", "请换一个路径或允许覆盖")
        }
        ConflictKind::CountMismatch => Text::fixed(
            "read the file and copy the text exactly, with more context, or set expected_replacements",
            "请读取文件并原样复制文本（包含更多上下文），或设置 expected_replacements",
        ),
        ConflictKind::HunkFailed => Text::fixed(
            "read the files and write the patch against their present text",
            "请读取文件并按当前内容编写补丁",
        ),
        ConflictKind::AlreadyApplied => {
            Text::fixed("leave out what is applied already", "请去掉已应用的部分")
        }
        ConflictKind::Overlap => return None,
    })
}

fn exhausted(resource: Resource, limit: u64, actual: Option<u64>, path: &str) -> ToolError {
    let resource_word = match resource {
        Resource::FileBytes => ToolResource::FileBytes,
        Resource::WriteBytes => ToolResource::WriteBytes,
        Resource::Disk => ToolResource::Disk,
        Resource::Memory => ToolResource::Memory,
        Resource::Entries => ToolResource::Entries,
    };
    let message = match resource {
        Resource::Disk => Text::new(
            format!("the disk is full; `{path}` is unchanged"),
            format!("磁盘已满；`{path}` 未改变"),
        ),
        _ => Text::new(
            format!("`{path}`: more than the limit of {limit} ({})", resource.as_str()),
            format!("`{path}`：超过上限 {limit}（{}）", resource.as_str()),
        ),
    };
    let limit = (limit > 0).then_some(limit);
    ToolError::new(Reason::ResourceExhausted { resource: resource_word, limit, actual }, message)
}
