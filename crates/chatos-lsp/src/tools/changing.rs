//! `lsp_format_document`, `lsp_rename`, `lsp_code_actions`: previews until `apply`, then all files or none, asked
//! about like every change of files, remembered, undoable.

mod actions;

use std::sync::Arc;

use chatos_files::plan::{self, RewriteSummary};
use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, Job, Outcome, Performed, Tool};
use chatos_tool::{
    Annotations, Confirm, Cut, DenyRule, Issue, IssueCode, Keep, Lang, Phase, Reason, Text, ToolError,
    ToolSpec, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::looking::yes;
use super::{Data, busy_line};
use crate::desk::{self, Answered, Desk, Opened, Question};
use crate::edit::{EditData, Edits, Ground};
use crate::place::Spot;
use crate::position::Position;
use crate::session::Session;
use crate::shapes::{TextEdit, WorkspaceEdit};
pub(crate) use actions::CodeActions;

static FORMAT: ToolSpec = ToolSpec {
    name: "lsp_format_document",
    title: Text::fixed("Format a file", "格式化文件"),
    description: Text::fixed(
        "Formats a file as its language server does, usually with the formatter of the project. Shows the diff; with \
         apply it is written, and a person may be asked first. A file that is formatted already is a noop. Needs a \
         server that writes (--write).",
        "按语言服务器的方式格式化文件，通常使用项目的格式化工具。先给出差异；apply 时才写入，可能先请用户确认。\
         已格式化的文件为 noop。需要允许写入的服务（--write）。",
    ),
    annotations: Annotations::of("D I"),
    confirm: Confirm::FileChange,
    version: 1,
};

static RENAME: ToolSpec = ToolSpec {
    name: "lsp_rename",
    title: Text::fixed("Rename a symbol", "重命名符号"),
    description: Text::fixed(
        "Renames the name at a place everywhere it is used, across files. Shows the diff; with apply all files are \
         written or none, and a person may be asked first. Files that changed meanwhile are conflict, edits outside the \
         root refuse the whole. Safer than replacing text: only uses of this name change.",
        "跨文件重命名某处的名称及其所有使用。先给出差异；apply 时要么写入全部文件，要么都不写入，可能先请用户确认。\
         期间被改动的文件为 conflict，涉及根目录之外的编辑会使整个操作被拒绝。比替换文本更安全：只改动该名称的使用。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::FileChange,
    version: 1,
};

/// Edits of one change that are listed, and bytes of their texts; the diff has all of them.
const MAX_EDITS: usize = 200;
const MAX_EDIT_BYTES: usize = 32 << 10;

pub(crate) struct FormatDocument(pub(crate) Arc<Desk>);
pub(crate) struct Rename(pub(crate) Arc<Desk>);

/// What a change is, made or only shown.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ChangeData {
    /// What the language server wants; each is about the text as it was
    #[serde(skip_serializing_if = "Option::is_none")]
    edits: Option<Vec<EditData>>,
    /// The same, of a rename
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<RenameData>,
    applied: bool,
    files: Vec<FileData>,
    /// Of everything
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    #[serde(flatten)]
    consent: Consent,
    warnings: Vec<String>,
    /// What running language servers say of the files now
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<String>,
}

/// servers §10: a rename has one edit, of all its files.
#[derive(Debug, Serialize, JsonSchema)]
struct RenameData {
    edits: Vec<EditData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileData {
    path: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// A change that was computed, and what is said about it.
pub(crate) struct Wanted<'a> {
    pub(crate) tool: &'static str,
    pub(crate) opened: &'a Opened,
    pub(crate) at: Option<Position>,
    pub(crate) edits: Edits,
    pub(crate) apply: bool,
    pub(crate) busy: Option<String>,
    /// What it is, for the first line.
    pub(crate) what: Text,
}

impl Desk {
    /// Shows a change, or makes it.
    pub(crate) async fn change(
        &self,
        cx: &CallCx,
        wanted: Wanted<'_>,
    ) -> Result<Outcome<Data<ChangeData>>, ToolError> {
        let Wanted { tool, opened, at, edits: Edits { ops, made }, apply, busy, what } = wanted;
        if apply && !self.shelf.writes() {
            return Err(ToolError::denied(
                DenyRule::WritesDisabled,
                Text::fixed("this server does not write", "此服务不写入"),
            )
            .hint(Text::fixed(
                "start it with --write, or make the change shown by the preview with another tool",
                "请用 --write 启动，或用其他工具完成预览所示的更改",
            )));
        }
        let most = cx.settings.files.max_write_bytes;
        let work = move |job: &Job| plan::rewrite(&job.root, &ops, most);
        let Performed { summary, noop, consent, warnings, insight } = if apply {
            self.shelf.perform(cx, work, first).await?
        } else {
            self.shelf.look(cx, work).await?
        };
        let files: Vec<FileData> = summary
            .files
            .iter()
            .map(|file| FileData {
                path: file.path.clone(),
                change: file.change.as_str(),
                from: file.from.clone(),
                sha256: file.sha256.as_ref().map(|digest| digest.as_str().to_owned()),
            })
            .collect();
        let count = files.len();
        let (added, removed) = (summary.diff.added, summary.diff.removed);
        let what = what.get(cx.lang);
        let line = match (noop, apply, cx.lang) {
            (true, _, Lang::En) => format!("{what}: nothing to change"),
            (true, _, Lang::Zh) => format!("{what}：无需更改"),
            (_, true, Lang::En) => format!("{what}: changed {count} file(s), +{added} -{removed} lines"),
            (_, true, Lang::Zh) => format!("{what}：已更改 {count} 个文件，+{added} -{removed} 行"),
            (_, false, Lang::En) => {
                format!("{what}: would change {count} file(s), +{added} -{removed} lines; apply makes it")
            }
            (_, false, Lang::Zh) => {
                format!("{what}：将更改 {count} 个文件，+{added} -{removed} 行；设置 apply 后执行")
            }
        };
        let mut text = line;
        for file in &files {
            let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
            let sha = file.sha256.as_deref().map(|sha| format!(", sha256: {sha}")).unwrap_or_default();
            text.push_str(&format!("\n- {} ({}{from}{sha})", file.path, file.change));
        }
        for warning in &warnings {
            text.push_str(&format!("\n[{warning}]"));
        }
        text.push_str(&consent.line(cx.lang));
        text.push_str(&busy_line(busy.as_deref(), cx.lang));
        if let Some(insight) = &insight {
            text.push_str(&format!("\n{insight}"));
        }
        let diff = (!noop).then(|| summary.diff.text.clone());
        if let Some(diff) = &diff {
            text.push_str(&format!("\n{diff}"));
        }
        let renames = tool == RENAME.name;
        let (edits, cut) = listed(made.all(), if renames { "/result/edit/edits" } else { "/result/edits" });
        let (edit, edits) = if renames { (Some(RenameData { edits }), None) } else { (None, Some(edits)) };
        let applied = apply && !noop;
        let result =
            ChangeData { edits, edit, applied, files, diff, consent, warnings, diagnostics: insight };
        let mut data = Data::about(tool, opened, at, result).busy(busy);
        data.truncated = cut.is_some().then_some(true);
        let mut body = Body::new(data, text).keep(Keep::Head);
        if let Some(cut) = cut {
            body = body.truncated(vec![cut]);
        }
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

/// The first edits, whole ones, and what was left out.
fn listed(mut all: Vec<EditData>, field: &str) -> (Vec<EditData>, Option<Cut>) {
    let mut bytes = 0;
    let mut fits = |edit: &EditData| {
        bytes += edit.new_text.len();
        bytes <= MAX_EDIT_BYTES
    };
    let (total, kept) = (all.len(), all.iter().take(MAX_EDITS).take_while(|edit| fits(edit)).count());
    all.truncate(kept);
    let cut = Cut {
        field: field.to_owned(),
        unit: Unit::Items,
        keep: Keep::Head,
        limit: MAX_EDITS as u64,
        kept: kept as u64,
        total: Some(total as u64),
        next: None,
    };
    (all, (kept < total).then_some(cut))
}

/// What a question about the change names.
fn first(summary: &RewriteSummary) -> &str {
    summary.files.first().map_or("", |file| file.path.as_str())
}

/// The operations of some edits, against what the server has open.
pub(crate) async fn operations(
    cx: &CallCx,
    session: &Session,
    all: impl IntoIterator<Item = WorkspaceEdit>,
) -> Result<Edits, ToolError> {
    let open = Desk::open_texts(session).await;
    let ground = Ground { root: Desk::root(cx)?, encoding: session.wants.encoding, open: &open };
    let mut edits = Edits::default();
    for edit in all {
        ground.operations(edit, &mut edits)?;
    }
    Ok(edits)
}

/// A rename in some of the files only would break the project.
fn not_all_known(cx: &CallCx) -> ToolError {
    let mut error = ToolError::timeout(cx.settings.lsp.timeout.as_millis() as u64, Phase::Run);
    error.message = Text::fixed(
        "the language server has not looked at the whole project yet; nothing was changed",
        "语言服务器尚未分析完整个项目；未做任何更改",
    );
    error.hint(Text::fixed("call again in a moment", "请稍后再次调用"))
}

/// An edit that was not understood is not applied.
pub(crate) fn unreadable(session: &Session, error: &serde_json::Error) -> ToolError {
    let id = &session.server.id;
    ToolError::new(
        Reason::NotSupported { what: "edit".to_owned() },
        Text::new(
            format!(
                "the language server `{id}` wants a change that is not understood; nothing was done: {error}"
            ),
            format!("语言服务器 `{id}` 要求的更改无法理解；未做任何更改：{error}"),
        ),
    )
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FormatArgs {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Which language server; by the file's name when left out
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "使用哪个语言服务器；省略则按文件名选择", "x-max-bytes" = 64, "x-no-nul" = true, "x-no-default" = true))]
    server_id: Option<String>,
    /// Columns of one step, where the project does not say
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 16), extend("x-zh" = "缩进列数；项目另有规定时以项目为准"))]
    tab_size: u32,
    /// Spaces instead of tabs, where the project does not say
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "用空格代替制表符；项目另有规定时以项目为准"))]
    insert_spaces: bool,
    /// Write it; only show the diff otherwise
    #[serde(default)]
    #[schemars(extend("x-zh" = "写入；否则只显示差异"))]
    apply: bool,
}

fn two() -> u32 {
    2
}

impl Tool for FormatDocument {
    type Args = FormatArgs;
    type Data = Data<ChangeData>;

    fn spec(&self) -> &'static ToolSpec {
        &FORMAT
    }

    async fn call(&self, args: FormatArgs, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let asked = self.0.ask(cx, &args.path, args.server_id.as_deref(), |opened| {
            let params = json!({
                "textDocument": { "uri": opened.document.uri },
                "options": { "tabSize": args.tab_size, "insertSpaces": args.insert_spaces },
            });
            Question { method: "textDocument/formatting", ability: "/documentFormattingProvider", params }
        });
        let Answered { opened, value, busy } = asked.await?;
        let wanted: Option<Vec<TextEdit>> =
            serde_json::from_value(value).map_err(|error| unreadable(&opened.session, &error))?;
        let document = &opened.document;
        let open = [(document.uri.clone(), document.clone())].into();
        let ground = Ground { root: Desk::root(cx)?, encoding: opened.session.wants.encoding, open: &open };
        let mut edits = Edits::default();
        ground.text(&document.uri, Some(document.version), wanted.unwrap_or_default(), &mut edits)?;
        let what = Text::new(format!("format {}", document.path), format!("格式化 {}", document.path));
        let wanted = Wanted {
            tool: "lsp_format_document",
            opened: &opened,
            at: None,
            edits,
            apply: args.apply,
            busy,
            what,
        };
        self.0.change(cx, wanted).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct RenameArgs {
    #[serde(flatten)]
    spot: Spot,
    /// The new name
    #[schemars(length(min = 1), extend("x-zh" = "新名称", "x-max-bytes" = 512, "x-no-nul" = true))]
    new_name: String,
    /// Write it; only show the diff otherwise
    #[serde(default)]
    #[schemars(extend("x-zh" = "写入；否则只显示差异"))]
    apply: bool,
}

impl Tool for Rename {
    type Args = RenameArgs;
    type Data = Data<ChangeData>;

    fn spec(&self) -> &'static ToolSpec {
        &RENAME
    }

    fn check(&self, args: &RenameArgs) -> Vec<Issue> {
        args.spot.check()
    }

    async fn call(&self, args: RenameArgs, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let spot = &args.spot;
        let more = json!({ "newName": args.new_name });
        let asked = self.0.ask_at(cx, spot, (desk::RENAME, "/renameProvider"), more);
        let (Answered { opened, value, busy }, at) = asked.await?;
        if args.apply && busy.is_some() && !opened.session.news.settled() {
            return Err(not_all_known(cx));
        }
        let edit: Option<WorkspaceEdit> =
            serde_json::from_value(value).map_err(|error| unreadable(&opened.session, &error))?;
        let Some(edit) = edit.filter(|edit| !edit.is_empty()) else {
            let message = Text::fixed(
                "what is there cannot be renamed, or has this name already",
                "该处的内容无法重命名，或已是此名称",
            );
            let hint = Text::fixed("point at the name itself with symbol", "请用 symbol 指向名称本身");
            let issue = Issue::new("/new_name", IssueCode::Format, message).hint(hint);
            return Err(ToolError::invalid(vec![issue]));
        };
        let edits = operations(cx, &opened.session, [edit]).await?;
        let name = &args.new_name;
        let what = Text::new(format!("rename to {name}"), format!("重命名为 {name}"));
        let wanted = Wanted {
            tool: "lsp_rename",
            opened: &opened,
            at: Some(at),
            edits,
            apply: args.apply,
            busy,
            what,
        };
        self.0.change(cx, wanted).await
    }
}
