//! `move_path` and `copy_path`.

use std::sync::Arc;

use chatos_files::plan::{self, TransferRequest};
use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, Job, Outcome, Performed, Shelf, Tool};
use chatos_tool::{Annotations, Confirm, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::writing::warning_lines;

static MOVE: ToolSpec = ToolSpec {
    name: "move_path",
    title: Text::fixed("Move or rename", "移动或重命名"),
    description: Text::fixed(
        "Moves or renames a file, link or directory inside the root, all or nothing; missing directories are made. \
         An existing destination is conflict/exists unless overwrite is true, which replaces it (directories are \
         not merged). The same entry is a noop, a directory into itself invalid. At most 20000 entries and 1 GiB. \
         A person may be asked first; canceled means nothing was moved.",
        "在根目录内移动或重命名文件、链接或目录，要么全部完成，要么不做；缺少的目录会被创建。目标已存在为 conflict/exists，\
         除非 overwrite 为 true，此时替换（目录不合并）。同一条目为 noop，目录移入自身为 invalid。最多 20000 个条目和 1 GiB。\
         可能先请用户确认；canceled 表示没有移动。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::FileChange,
    version: 1,
};

static COPY: ToolSpec = ToolSpec {
    name: "copy_path",
    title: Text::fixed("Copy", "复制"),
    description: Text::fixed(
        "Copies a file, link or directory inside the root, all or nothing; missing directories are made. Links are \
         copied as links. An existing destination is conflict/exists unless overwrite is true, which replaces it \
         (directories are not merged). At most 20000 entries and 1 GiB. A person may be asked first; canceled \
         means nothing was copied.",
        "在根目录内复制文件、链接或目录，要么全部完成，要么不做；缺少的目录会被创建。链接按链接复制。目标已存在为 \
         conflict/exists，除非 overwrite 为 true，此时替换（目录不合并）。最多 20000 个条目和 1 GiB。\
         可能先请用户确认；canceled 表示没有复制。",
    ),
    annotations: Annotations::of("D I"),
    confirm: Confirm::FileChange,
    version: 1,
};

/// Moves.
pub(super) struct MovePath(pub(super) Arc<Shelf>);
/// Copies.
pub(super) struct CopyPath(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// What, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "来源，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    from: String,
    /// Its new path, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "新路径，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    to: String,
    /// Replace what is there
    #[serde(default)]
    #[schemars(extend("x-zh" = "替换已有目标"))]
    overwrite: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MoveData {
    from: String,
    to: String,
    overwrite: bool,
    files: usize,
    #[serde(flatten)]
    consent: Consent,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CopyData {
    from: String,
    to: String,
    overwrite: bool,
    files: usize,
    bytes: u64,
    #[serde(flatten)]
    consent: Consent,
    warnings: Vec<String>,
}

struct Done {
    noop: bool,
    data: CopyData,
    text: String,
}

async fn transfer(shelf: &Arc<Shelf>, args: Args, cx: &CallCx, moving: bool) -> Result<Done, ToolError> {
    let overwrite = args.overwrite;
    let request = TransferRequest { from: args.from, to: args.to, overwrite };
    let work = move |job: &Job| {
        if moving {
            plan::move_path(&job.root, &request, job)
        } else {
            plan::copy_path(&job.root, &request, job)
        }
    };
    let Performed { summary, noop, consent, warnings, .. } =
        shelf.perform(cx, work, |summary| &summary.to).await?;
    let verb = match (noop, moving) {
        (true, _) => Text::fixed("Same entry:", "同一条目："),
        (_, true) => Text::fixed("Moved", "已移动"),
        (_, false) => Text::fixed("Copied", "已复制"),
    };
    let text = format!(
        "{} {} -> {}{}{}",
        verb.get(cx.lang),
        summary.from,
        summary.to,
        consent.line(cx.lang),
        warning_lines(&warnings, cx.lang)
    );
    let data = CopyData {
        from: summary.from,
        to: summary.to,
        overwrite,
        files: summary.files,
        bytes: summary.bytes,
        consent,
        warnings,
    };
    Ok(Done { noop, data, text })
}

impl Tool for MovePath {
    type Args = Args;
    type Data = MoveData;

    fn spec(&self) -> &'static ToolSpec {
        &MOVE
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<MoveData>, ToolError> {
        let Done { noop, data, text } = transfer(&self.0, args, cx, true).await?;
        let CopyData { from, to, overwrite, files, consent, warnings, .. } = data;
        let body = Body::new(MoveData { from, to, overwrite, files, consent, warnings }, text);
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

impl Tool for CopyPath {
    type Args = Args;
    type Data = CopyData;

    fn spec(&self) -> &'static ToolSpec {
        &COPY
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<CopyData>, ToolError> {
        let Done { noop, data, text } = transfer(&self.0, args, cx, false).await?;
        let body = Body::new(data, text);
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}
