//! Why something cannot be undone, in words.

use chatos_files::{ConflictKind, DenyRule, FileError, Resource};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

pub(super) fn nothing() -> Fault {
    let message = Text::fixed("nothing of this is left to undo", "没有可撤销的内容");
    Fault::new(ErrorCode::Conflict, message).code("nothing_to_undo").hint(Text::fixed(
        "the files are as they were before, or only their mode changed, which is not recorded",
        "文件已与之前相同，或只改变了权限（权限不做记录）",
    ))
}

pub(super) fn several_roots(roots: &[&str]) -> Fault {
    let names = roots.join("`, `");
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("these changes lie in {} directories: `{names}`", roots.len()),
            format!("这些更改位于 {} 个目录：`{names}`", roots.len()),
        ),
    )
    .code("several_roots")
    .hint(Text::fixed(
        "undo them one root at a time: each undo is done completely or not at all",
        "请按根目录逐个撤销：每次撤销要么全部完成，要么不做",
    ))
    .details(json!({ "roots": roots }))
}

pub(super) fn already_undone(id: &str, path: &str, undo: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("the change `{id}` of `{path}` is undone already"),
            format!("对 `{path}` 的更改 `{id}` 已撤销"),
        ),
    )
    .code("already_undone")
    .hint(Text::new(
        format!("to have it back, undo the undo: `{undo}`"),
        format!("如需恢复，请撤销该撤销：`{undo}`"),
    ))
    .details(json!({ "kind": "already_undone", "path": path, "undo": undo }))
}

pub(super) fn changed_between(path: &str, id: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("`{path}` was changed in between by something that is not among these changes"),
            format!("`{path}` 在这些更改之间被其他操作修改过"),
        ),
    )
    .code("changed_between")
    .hint(Text::fixed(
        "undo the newest changes first, or choose those in between too",
        "请先撤销较新的更改，或同时选择其间的更改",
    ))
    .details(json!({ "kind": "changed_between", "path": path, "change": id }))
}

/// The file is not as the newest of the changes left it. `later` are changes that were recorded since.
pub(super) fn changed(path: &str, later: &[String]) -> Fault {
    let hint = if later.is_empty() {
        Text::fixed(
            "somebody else changed it; compare it with the content that is kept, and change it by hand",
            "它被其他人修改过；请与保存的内容比较后手动更改",
        )
    } else {
        let ids = later.join(" ");
        Text::new(format!("undo the later changes too: {ids}"), format!("请同时撤销之后的更改：{ids}"))
    };
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("`{path}` is not as this change left it; nothing was undone"),
            format!("`{path}` 已不是此更改之后的样子；未撤销任何内容"),
        ),
    )
    .code("changed_on_disk")
    .hint(hint)
    .details(json!({ "kind": "changed_on_disk", "path": path, "later": later }))
}

/// Something is where a file has to come back.
pub(super) fn exists(path: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("`{path}` exists now; nothing was undone"),
            format!("`{path}` 现已存在；未撤销任何内容"),
        ),
    )
    .code("exists")
    .hint(Text::fixed("move it away and try again", "请将其移走后重试"))
    .details(json!({ "kind": "exists", "path": path }))
}

pub(super) fn old_path_unknown(path: &str) -> Fault {
    unsupported(
        path,
        "old_path_unknown",
        Text::new(
            format!("it was not recorded where `{path}` came from"),
            format!("未记录 `{path}` 原来的位置"),
        ),
    )
}

pub(super) fn name_unknown(path: &str) -> Fault {
    unsupported(
        path,
        "name_unknown",
        Text::new(
            format!("the name of `{path}` is not UTF-8 and was not recorded to the byte"),
            format!("`{path}` 的名称不是 UTF-8，未按字节记录"),
        ),
    )
}

pub(super) fn not_kept(path: &str, large: bool) -> Fault {
    let message = if large {
        Text::new(
            format!("the content of `{path}` before was too large to keep; only its digest is known"),
            format!("`{path}` 之前的内容过大，未保存；只有摘要"),
        )
    } else {
        Text::new(format!("the content of `{path}` before is not kept"), format!("`{path}` 之前的内容未保存"))
    };
    unsupported(path, if large { "omitted" } else { "lost" }, message)
}

pub(super) fn unknown(path: &str) -> Fault {
    unsupported(
        path,
        "unknown",
        Text::new(
            format!("it is not known what `{path}` held after this change, so nothing can be compared"),
            format!("不清楚此更改之后 `{path}` 的内容，无法比较"),
        ),
    )
}

fn unsupported(path: &str, reason: &str, message: Text) -> Fault {
    Fault::new(ErrorCode::NotSupported, message)
        .hint(Text::fixed(
            "leave this file out, or bring it back from a backup",
            "请不选择此文件，或从备份中恢复",
        ))
        .details(json!({ "path": path, "reason": reason }))
}

pub(super) fn too_much(limit: usize) -> Fault {
    let mib = limit >> 20;
    Fault::new(
        ErrorCode::ResourceExhausted,
        Text::new(
            format!("the contents to bring back are larger than {mib} MiB together"),
            format!("要恢复的内容合计超过 {mib} MiB"),
        ),
    )
    .code("too_much")
    .hint(Text::fixed("undo fewer changes at a time", "请一次撤销较少的更改"))
}

pub(super) fn root_gone(root: &str, error: &std::io::Error) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(
            format!("the directory `{root}` in which this was changed cannot be opened"),
            format!("无法打开发生更改的目录 `{root}`"),
        ),
    )
    .code("root_gone")
    .hint(Text::fixed("put the directory back where it was", "请将该目录放回原处"))
    .caused_by(error)
}

pub(super) fn root_elsewhere(root: &str, now: &str) -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::new(
            format!("`{root}` leads to `{now}` now; nothing was undone"),
            format!("`{root}` 现在指向 `{now}`；未撤销任何内容"),
        ),
    )
    .code("changed_on_disk")
    .hint(Text::fixed(
        "put the directory itself back where it was, not a link to another one",
        "请将该目录本身放回原处，而不是指向其他目录的链接",
    ))
    .details(json!({ "kind": "changed_on_disk", "path": root }))
}

/// What the engine says.
pub(super) fn file(error: FileError) -> Fault {
    match error {
        FileError::Denied { rule, path, .. } => denied(rule, &path),
        FileError::Conflict { kind: ConflictKind::Exists, path, .. } => exists(&path),
        FileError::Conflict { path, .. } => changed(&path, &[]),
        FileError::NotFound { path, .. } => changed(&path, &[]),
        FileError::Exhausted { resource, path, .. } => {
            let message = match resource {
                Resource::Disk => {
                    Text::fixed("the disk is full; nothing was undone", "磁盘已满；未撤销任何内容")
                }
                _ => Text::new(
                    format!("`{path}`: a limit is reached ({}); nothing was undone", resource.as_str()),
                    format!("`{path}`：已达上限（{}）；未撤销任何内容", resource.as_str()),
                ),
            };
            Fault::new(ErrorCode::ResourceExhausted, message)
                .code(if resource == Resource::Disk { "disk_full" } else { "resource_exhausted" })
                .hint(Text::fixed("free some space and try again", "请释放空间后重试"))
        }
        FileError::Locked { path } => Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("`{path}` is being changed by another process"),
                format!("`{path}` 正被另一进程修改"),
            ),
        )
        .code("locked")
        .hint(Text::fixed("try again", "请重试")),
        FileError::Unsupported { path, .. } | FileError::Invalid { key: _, message: path, .. } => Fault::new(
            ErrorCode::Conflict,
            Text::new(
                format!("what is there now cannot be replaced; nothing was undone: {path}"),
                format!("无法替换现有内容；未撤销任何内容：{path}"),
            ),
        )
        .code("changed_on_disk")
        .details(json!({ "kind": "changed_on_disk" })),
        FileError::Stopped(_) => {
            Fault::new(ErrorCode::Canceled, Text::fixed("the undo was stopped", "撤销已停止"))
        }
        FileError::Io { action, path, source } => Fault::new(
            ErrorCode::Unavailable,
            Text::new(
                format!("cannot {action} `{path}`; nothing was undone"),
                format!("无法处理 `{path}`；未撤销任何内容"),
            ),
        )
        .code("file_unusable")
        .caused_by(&source),
    }
}

fn denied(rule: DenyRule, path: &str) -> Fault {
    let message = match rule {
        DenyRule::OutsideRoot => Text::new(
            format!("`{path}` lies outside the directory of this change"),
            format!("`{path}` 在此更改的目录之外"),
        ),
        DenyRule::SymlinkEscape => Text::new(
            format!("a link in `{path}` leads outside the directory of this change now"),
            format!("`{path}` 中的链接现在指向此更改的目录之外"),
        ),
        DenyRule::ProtectedPath => Text::new(format!("`{path}` is protected"), format!("`{path}` 受保护")),
        DenyRule::FileMode => Text::new(
            format!("the permissions of `{path}` do not allow this"),
            format!("`{path}` 的权限不允许此操作"),
        ),
    };
    Fault::new(ErrorCode::PermissionDenied, message)
        .code(rule.as_str())
        .hint(Text::fixed("nothing was undone; correct this and try again", "未撤销任何内容；请修正后重试"))
        .details(json!({ "rule": rule.as_str(), "path": path }))
}
