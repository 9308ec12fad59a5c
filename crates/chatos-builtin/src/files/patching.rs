//! The tool that applies a patch over several files, all or nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use chatos_files::Digest;
use chatos_files::patch::Relaxed;
use chatos_files::plan::{self, PatchRequest, PatchSummary};
use chatos_files::{FileError, Resource};
use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, Job, Outcome, Performed, Shelf, Tool};
use chatos_tool::{Annotations, Confirm, Issue, IssueCode, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::listing::here;
use super::writing::{
    Chunk, DiffStat, EncodingArg, Payload, Sha256Text, insight_lines, payload, warning_lines,
};

/// Longest patch of one argument; the settings decide below it.
const MAX_PAYLOAD: usize = 140 << 20;

static SPEC: ToolSpec = ToolSpec {
    name: "apply_patch",
    title: Text::fixed("Apply a patch", "应用补丁"),
    description: Text::fixed(
        "Applies a patch to one or many files inside the root, all or nothing. Two forms: unified (---/+++ or diff \
         --git, hunks @@ -a,b +c,d @@) and friendly (*** Begin Patch, *** Add File: p, *** Delete File: p, *** \
         Update File: p, *** Move to: q, hunks @@ or @@ line text, lines beginning with space, + or -, *** End of \
         File, *** End Patch). Hunks are placed where they say or at the one nearest fit; relaxations are reported. \
         What does not fit: conflict/hunk_failed with every failing hunk, and nothing is written. A patch that is \
         there already is a noop; it is never applied in reverse. dry_run only reports. A person may be asked first.",
        "将补丁应用到根目录内的一个或多个文件，要么全部完成，要么不做。两种形式：unified（---/+++ 或 diff --git，区块 \
         @@ -a,b +c,d @@）和 friendly（*** Begin Patch、*** Add File: p、*** Delete File: p、*** Update File: p、\
         *** Move to: q，区块 @@ 或 @@ 行文本，行以空格、+ 或 - 开头，*** End of File、*** End Patch）。区块放在其声明的位置或\
         最近的唯一匹配处；放宽会被报告。不匹配：conflict/hunk_failed 并列出所有失败区块，不写入任何内容。已应用的补丁为 noop，\
         绝不反向应用。dry_run 只报告。可能先请用户确认。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::FileChange,
    version: 1,
};

/// Patches.
pub(super) struct ApplyPatch(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Base directory of the paths in the patch; a file means its parent
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "补丁中路径的基准目录；文件则取其父目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// The patch
    #[serde(default)]
    #[schemars(extend("x-zh" = "补丁", "x-max-bytes" = MAX_PAYLOAD, "x-no-default" = true))]
    patch: Option<String>,
    /// The patch in base64
    #[serde(default)]
    #[schemars(extend("x-zh" = "base64 补丁", "x-max-bytes" = MAX_PAYLOAD, "x-no-default" = true))]
    patch_base64: Option<String>,
    /// The patch in pieces
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000), extend("x-zh" = "分段补丁", "x-no-default" = true))]
    chunks: Option<Vec<Chunk>>,
    /// How patch is encoded
    #[serde(default)]
    #[schemars(extend("x-zh" = "patch 的编码方式"))]
    encoding: EncodingArg,
    /// Compute and report only
    #[serde(default)]
    #[schemars(extend("x-zh" = "仅计算并报告"))]
    dry_run: bool,
    /// SHA-256 that files must have now, by path
    #[serde(default)]
    #[schemars(extend("default" = {}, "x-zh" = "按路径给出文件当前应有的 SHA-256"))]
    expected: BTreeMap<String, Sha256Text>,
}

impl Args {
    fn payload(&self) -> Result<Payload, Issue> {
        let names = ["/patch", "/patch_base64", "/chunks"];
        payload(
            names,
            self.patch.as_deref(),
            self.patch_base64.as_deref(),
            self.chunks.as_deref(),
            self.encoding,
        )
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    tool: &'static str,
    files: Vec<FileData>,
    dry_run: bool,
    #[serde(flatten)]
    consent: Consent,
    diff_stat: DiffStat,
    notes: Vec<String>,
    warnings: Vec<String>,
    /// What a running language server says of the files now
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileData {
    path: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    hunks: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    fuzz: Option<Vec<FuzzData>>,
    sha256: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FuzzData {
    hunk: usize,
    offset: i64,
    trailing_space: bool,
    leading_space: bool,
    context: usize,
}

impl FuzzData {
    fn of(relaxed: &Relaxed) -> Self {
        Self {
            hunk: relaxed.hunk,
            offset: relaxed.offset,
            trailing_space: relaxed.trailing_space,
            leading_space: relaxed.leading_space,
            context: relaxed.context,
        }
    }
}

impl Tool for ApplyPatch {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        args.payload().err().into_iter().collect()
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let payload = args.payload().map_err(|issue| ToolError::invalid(vec![issue]))?;
        let max_bytes = cx.settings.files.max_write_bytes;
        if payload.bytes.len() as u64 > max_bytes {
            let actual = Some(payload.bytes.len() as u64);
            let path = "patch".to_owned();
            return Err(chatos_layer::explain(FileError::Exhausted {
                resource: Resource::WriteBytes,
                limit: max_bytes,
                actual,
                path,
            }));
        }
        let patch = String::from_utf8(payload.bytes).map_err(|_| {
            let message = Text::fixed("the patch is not UTF-8 text", "补丁不是 UTF-8 文本");
            ToolError::invalid(vec![Issue::new("/patch", IssueCode::Format, message)])
        })?;
        let expected: BTreeMap<String, Digest> =
            args.expected.iter().filter_map(|(path, sha)| Some((path.clone(), sha.digest()?))).collect();
        let request = PatchRequest { base: args.path, patch, expected, max_bytes };
        let work = move |job: &Job| plan::apply_patch(&job.root, &request);
        let Performed { summary, noop, consent, warnings, insight } = if args.dry_run {
            self.0.look(cx, work).await?
        } else {
            self.0.perform(cx, work, first_path).await?
        };
        let files: Vec<FileData> = summary
            .files
            .into_iter()
            .map(|file| FileData {
                path: file.path,
                change: file.change.as_str(),
                from: file.from,
                hunks: file.hunks,
                fuzz: (!file.fuzz.is_empty()).then(|| file.fuzz.iter().map(FuzzData::of).collect()),
                sha256: file.sha256.map(|digest| digest.as_str().to_owned()),
            })
            .collect();
        let base = if summary.base == "." { "./".to_owned() } else { format!("{}/", summary.base) };
        let head = match (cx.lang, noop, args.dry_run) {
            (Lang::En, true, _) => format!("The patch is applied already in {base}"),
            (Lang::Zh, true, _) => format!("补丁已应用于 {base}"),
            (Lang::En, _, true) => format!("The patch would apply in {base}"),
            (Lang::Zh, _, true) => format!("补丁可应用于 {base}"),
            (Lang::En, ..) => format!("Applied patch in {base}"),
            (Lang::Zh, ..) => format!("已在 {base} 应用补丁"),
        };
        let list: Vec<String> = files
            .iter()
            .map(|file| {
                let from = file.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
                let sha = file.sha256.as_deref().map(|sha| format!(", sha256: {sha}")).unwrap_or_default();
                let fuzz = if file.fuzz.is_none() { "" } else { ", placed with relaxations" };
                format!("{} ({}{from}, {} hunks{fuzz}{sha})", file.path, file.change, file.hunks)
            })
            .collect();
        let title = Text::fixed("Modified files:", "更改的文件：");
        let mut text = format!("{head}\n{} {}", title.get(cx.lang), list.join("\n- "));
        for note in &summary.notes {
            text = format!("{text}\n[{note}]");
        }
        let (said, warned) = (consent.line(cx.lang), warning_lines(&warnings, cx.lang));
        text = format!("{text}{said}{warned}{}", insight_lines(insight.as_deref()));
        let data = Data {
            tool: "apply_patch",
            files,
            dry_run: args.dry_run,
            consent,
            diff_stat: DiffStat::of(&summary.diff),
            notes: summary.notes,
            warnings,
            diagnostics: insight,
        };
        let body = Body::new(data, text);
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

/// What a question about the patch names.
fn first_path(summary: &PatchSummary) -> &str {
    summary.files.first().map_or("", |file| file.path.as_str())
}
