//! `write_file`, `edit_file` and `delete_path`.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use chatos_files::Digest;
use chatos_files::diff::Diff;
use chatos_files::plan::{self, EditRequest, WriteMode, WriteRequest};
use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, Job, Outcome, Performed, Shelf, Tool};
use chatos_tool::{Annotations, Confirm, Issue, IssueCode, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::listing::yes;
use super::reading::eol_word;

/// Longest payload of one argument; the settings decide below it.
const MAX_PAYLOAD: usize = 140 << 20;

/// 64 hex digits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Sha256Text(#[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))] String);

impl Sha256Text {
    pub(super) fn digest(&self) -> Option<Digest> {
        Digest::parse(&self.0)
    }
}

/// How a text argument is encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EncodingArg {
    #[default]
    Plain,
    Base64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Chunk {
    /// The piece
    #[schemars(extend("x-zh" = "内容片段", "x-max-bytes" = MAX_PAYLOAD))]
    content: String,
    /// How it is encoded
    #[serde(default)]
    #[schemars(extend("x-zh" = "编码方式"))]
    encoding: EncodingArg,
}

/// Bytes given in one of three ways.
#[derive(Debug)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// Nothing of it was base64.
    pub(super) plain: bool,
}

/// Decodes the one of three arguments that was given (servers §4); rows 38 and 39 of servers §13.
pub(super) fn payload(
    names: [&'static str; 3],
    text: Option<&str>,
    base64: Option<&str>,
    chunks: Option<&[Chunk]>,
    encoding: EncodingArg,
) -> Result<Payload, Issue> {
    let given = usize::from(text.is_some()) + usize::from(base64.is_some()) + usize::from(chunks.is_some());
    if given != 1 {
        let list = names.map(|name| &name[1..]).join(", ");
        return Err(Issue::new(
            names[0],
            if given == 0 { IssueCode::Missing } else { IssueCode::Exclusive },
            Text::new(format!("give exactly one of {list}"), format!("请恰好给出 {list} 之一")),
        ));
    }
    if let Some(text) = text {
        return match encoding {
            EncodingArg::Plain => Ok(Payload { bytes: text.as_bytes().to_vec(), plain: true }),
            EncodingArg::Base64 => Ok(Payload { bytes: decode(names[0], text)?, plain: false }),
        };
    }
    if let Some(text) = base64 {
        return Ok(Payload { bytes: decode(names[1], text)?, plain: false });
    }
    let mut all = Payload { bytes: Vec::new(), plain: true };
    for (index, chunk) in chunks.unwrap_or_default().iter().enumerate() {
        match chunk.encoding {
            EncodingArg::Plain => all.bytes.extend_from_slice(chunk.content.as_bytes()),
            EncodingArg::Base64 => {
                all.plain = false;
                all.bytes.extend(decode(&format!("{}/{index}/content", names[2]), &chunk.content)?);
            }
        }
    }
    Ok(all)
}

/// Standard or URL alphabet, padding or not, line breaks allowed; anything else is refused.
fn decode(key: &str, text: &str) -> Result<Vec<u8>, Issue> {
    let config = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let compact: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let alphabet =
        if compact.contains(['-', '_']) { base64::alphabet::URL_SAFE } else { base64::alphabet::STANDARD };
    GeneralPurpose::new(&alphabet, config).decode(compact).map_err(|error| {
        Issue::new(
            key,
            IssueCode::Format,
            Text::new(format!("not valid base64: {error}"), format!("不是有效的 base64：{error}")),
        )
    })
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DiffStat {
    added: usize,
    removed: usize,
}

impl DiffStat {
    pub(super) fn of(diff: &Diff) -> Self {
        Self { added: diff.added, removed: diff.removed }
    }
}

/// What a language server says, as lines of the text.
pub(super) fn insight_lines(insight: Option<&str>) -> String {
    insight.map(|insight| format!("\n{insight}")).unwrap_or_default()
}

pub(super) fn warning_lines(warnings: &[String], lang: Lang) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let head = Text::fixed("[Warnings]", "[警告]");
    let lines: Vec<String> = warnings.iter().map(|warning| format!("\n- {warning}")).collect();
    format!("\n{}{}", head.get(lang), lines.concat())
}

static WRITE: ToolSpec = ToolSpec {
    name: "write_file",
    title: Text::fixed("Write a file", "写入文件"),
    description: Text::fixed(
        "Creates, overwrites or appends to a file inside the root, atomically; missing directories are made. Give \
         exactly one of contents, contents_base64, chunks. Text over a CRLF file keeps CRLF and the byte order mark \
         unless exact is true. mode create refuses an existing file (conflict/exists); expected_sha256 refuses a \
         file that changed (conflict/changed_on_disk). For small changes use edit_file. The same bytes as before \
         are a noop. A person may be asked first; canceled means nothing was written.",
        "在根目录内创建、覆盖或追加文件，原子完成；缺少的目录会被创建。contents、contents_base64、chunks 恰好给出一个。\
         覆盖 CRLF 文件的文本会保留 CRLF 和 BOM，除非 exact 为 true。mode 为 create 时拒绝已有文件（conflict/exists）；\
         expected_sha256 拒绝已改变的文件（conflict/changed_on_disk）。小改动请用 edit_file。内容相同为 noop。\
         可能先请用户确认；canceled 表示没有写入。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::FileChange,
    version: 1,
};

/// Writes.
pub(super) struct WriteFile(pub(super) Arc<Shelf>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum WriteModeArg {
    #[default]
    Overwrite,
    Append,
    Create,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct WriteArgs {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// The content; empty makes an empty file
    #[serde(default)]
    #[schemars(extend("x-zh" = "内容；为空则创建空文件", "x-max-bytes" = MAX_PAYLOAD, "x-no-default" = true))]
    contents: Option<String>,
    /// The content in base64, standard or URL alphabet
    #[serde(default)]
    #[schemars(extend("x-zh" = "base64 内容，标准或 URL 字母表", "x-max-bytes" = MAX_PAYLOAD, "x-no-default" = true))]
    contents_base64: Option<String>,
    /// The content in pieces
    #[serde(default)]
    #[schemars(length(min = 1, max = 1000), extend("x-zh" = "分段内容", "x-no-default" = true))]
    chunks: Option<Vec<Chunk>>,
    /// How contents is encoded
    #[serde(default)]
    #[schemars(extend("x-zh" = "contents 的编码方式"))]
    encoding: EncodingArg,
    /// What to do with an existing file
    #[serde(default)]
    #[schemars(extend("x-zh" = "如何处理已有文件"))]
    mode: WriteModeArg,
    /// The SHA-256 the file must have now
    #[serde(default)]
    #[schemars(extend("x-zh" = "文件当前应有的 SHA-256", "x-no-default" = true))]
    expected_sha256: Option<Sha256Text>,
    /// Write the bytes exactly as given
    #[serde(default)]
    #[schemars(extend("x-zh" = "按给出的字节原样写入"))]
    exact: bool,
}

impl WriteArgs {
    fn payload(&self) -> Result<Payload, Issue> {
        let names = ["/contents", "/contents_base64", "/chunks"];
        let (text, base64) = (self.contents.as_deref(), self.contents_base64.as_deref());
        payload(names, text, base64, self.chunks.as_deref(), self.encoding)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WriteData {
    path: String,
    tool: &'static str,
    mode: &'static str,
    bytes: u64,
    created: bool,
    sha256: String,
    eol: &'static str,
    #[serde(flatten)]
    consent: Consent,
    diff_stat: DiffStat,
    warnings: Vec<String>,
    /// What a running language server says of the file now
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<String>,
}

impl Tool for WriteFile {
    type Args = WriteArgs;
    type Data = WriteData;

    fn spec(&self) -> &'static ToolSpec {
        &WRITE
    }

    fn check(&self, args: &WriteArgs) -> Vec<Issue> {
        args.payload().err().into_iter().collect()
    }

    async fn call(&self, args: WriteArgs, cx: &CallCx) -> Result<Outcome<WriteData>, ToolError> {
        let payload = args.payload().map_err(|issue| ToolError::invalid(vec![issue]))?;
        let (mode, mode_word) = match args.mode {
            WriteModeArg::Overwrite => (WriteMode::Overwrite, "overwrite"),
            WriteModeArg::Append => (WriteMode::Append, "append"),
            WriteModeArg::Create => (WriteMode::Create, "create"),
        };
        let request = WriteRequest {
            path: args.path,
            payload: payload.bytes,
            plain: payload.plain,
            exact: args.exact,
            mode,
            expected: args.expected_sha256.as_ref().and_then(Sha256Text::digest),
            max_bytes: cx.settings.files.max_write_bytes,
        };
        let work = move |job: &Job| plan::write_file(&job.root, &job.cache, &request, job);
        let Performed { summary, noop, consent, warnings, insight } =
            self.0.perform(cx, work, |summary| &summary.rel).await?;
        let (rel, chars) = (&summary.rel, summary.chars);
        let verb = match (noop, mode, summary.created) {
            (true, ..) => Text::fixed("Unchanged", "未改变"),
            (_, WriteMode::Append, false) => Text::fixed("Appended", "已追加"),
            (_, _, true) => Text::fixed("Created", "已创建"),
            _ => Text::fixed("Overwrote", "已覆盖"),
        };
        let text = match cx.lang {
            Lang::En => format!("{} {rel} ({chars} chars).", verb.en),
            Lang::Zh => format!("{} {rel}（{chars} 字符）。", verb.zh),
        };
        let tail = format!(
            "\nsha256: {}{}{}{}",
            summary.sha256(),
            consent.line(cx.lang),
            warning_lines(&warnings, cx.lang),
            insight_lines(insight.as_deref())
        );
        let (sha256, diff_stat) = (summary.sha256().as_str().to_owned(), DiffStat::of(summary.diff()));
        let data = WriteData {
            path: summary.rel,
            tool: "write_file",
            mode: mode_word,
            bytes: summary.bytes,
            created: summary.created,
            sha256,
            eol: eol_word(summary.eol),
            consent,
            diff_stat,
            warnings,
            diagnostics: insight,
        };
        let body = Body::new(data, format!("{text}{tail}"));
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

static EDIT: ToolSpec = ToolSpec {
    name: "edit_file",
    title: Text::fixed("Edit a file", "编辑文件"),
    description: Text::fixed(
        "Replaces old_string by new_string in a text file inside the root. The number of places must equal \
         expected_replacements, else conflict/count_mismatch tells where they are, or the nearest text. Tried in \
         order: exactly; whole lines whatever their indentation; the same words with other white space (match \
         exact allows only the first). Line ends and byte order mark are kept. old_string \"\" creates a new file. \
         Text that is not UTF-8 is not_supported. A person may be asked first; canceled means nothing was written.",
        "在根目录内的文本文件中将 old_string 替换为 new_string。匹配处数必须等于 expected_replacements，否则 \
         conflict/count_mismatch 会说明位置或最接近的文本。依次尝试：完全一致；整行匹配而忽略缩进；词相同而空白不同\
         （match 为 exact 时只用第一种）。保留换行和 BOM。old_string 为 \"\" 则创建新文件。非 UTF-8 文本为 not_supported。\
         可能先请用户确认；canceled 表示没有写入。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::FileChange,
    version: 1,
};

/// Edits.
pub(super) struct EditFile(pub(super) Arc<Shelf>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MatchArg {
    #[default]
    Auto,
    Exact,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct EditArgs {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Text to replace; empty creates the file
    #[schemars(extend("x-zh" = "要替换的文本；为空则创建文件", "x-max-bytes" = MAX_PAYLOAD))]
    old_string: String,
    /// Text to put there
    #[schemars(extend("x-zh" = "替换后的文本", "x-max-bytes" = MAX_PAYLOAD))]
    new_string: String,
    /// How many places there must be
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1000), extend("x-zh" = "应有的匹配处数"))]
    expected_replacements: usize,
    /// How the text is found
    #[serde(default, rename = "match")]
    #[schemars(extend("x-zh" = "匹配方式"))]
    matching: MatchArg,
    /// The SHA-256 the file must have now
    #[serde(default)]
    #[schemars(extend("x-zh" = "文件当前应有的 SHA-256", "x-no-default" = true))]
    expected_sha256: Option<Sha256Text>,
}

fn one() -> usize {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EditData {
    path: String,
    tool: &'static str,
    mode: &'static str,
    occurrences: usize,
    strategy: &'static str,
    lines: Vec<u64>,
    sha256: String,
    #[serde(flatten)]
    consent: Consent,
    diff_stat: DiffStat,
    warnings: Vec<String>,
    /// What a running language server says of the file now
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<String>,
}

impl Tool for EditFile {
    type Args = EditArgs;
    type Data = EditData;

    fn spec(&self) -> &'static ToolSpec {
        &EDIT
    }

    async fn call(&self, args: EditArgs, cx: &CallCx) -> Result<Outcome<EditData>, ToolError> {
        let request = EditRequest {
            path: args.path,
            expected: args.expected_sha256.as_ref().and_then(Sha256Text::digest),
            old: args.old_string,
            new: args.new_string,
            expected_replacements: args.expected_replacements,
            tolerant: args.matching == MatchArg::Auto,
            max_bytes: cx.settings.files.max_write_bytes,
        };
        let creates = request.old.is_empty();
        let work = move |job: &Job| plan::edit_file(&job.root, &request);
        let Performed { summary, noop, consent, warnings, insight } =
            self.0.perform(cx, work, |summary| &summary.rel).await?;
        let (rel, count, strategy) = (&summary.rel, summary.occurrences, summary.strategy.as_str());
        let text = match (cx.lang, count) {
            (Lang::En, 1) => format!("Edited {rel} via edit_file (1 replacement, {strategy})."),
            (Lang::En, _) => format!("Edited {rel} via edit_file ({count} replacements, {strategy})."),
            (Lang::Zh, _) => format!("已通过 edit_file 编辑 {rel}（{count} 处替换，{strategy}）。"),
        };
        let tail = format!(
            "\nsha256: {}{}{}{}",
            summary.sha256(),
            consent.line(cx.lang),
            warning_lines(&warnings, cx.lang),
            insight_lines(insight.as_deref())
        );
        let (sha256, diff_stat) = (summary.sha256().as_str().to_owned(), DiffStat::of(summary.diff()));
        let data = EditData {
            path: summary.rel,
            tool: "edit_file",
            mode: if creates { "create" } else { "edit" },
            occurrences: summary.occurrences,
            strategy,
            lines: summary.lines,
            sha256,
            consent,
            diff_stat,
            warnings,
            diagnostics: insight,
        };
        let body = Body::new(data, format!("{text}{tail}"));
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

static DELETE: ToolSpec = ToolSpec {
    name: "delete_path",
    title: Text::fixed("Delete a file or directory", "删除文件或目录"),
    description: Text::fixed(
        "Deletes a file, a link itself, or a directory with its content, inside the root. recursive false refuses a \
         directory that is not empty (conflict). A missing path is a noop. The root and protected directories are \
         denied. The content is kept in the change history. A person may be asked first; canceled means nothing \
         was deleted.",
        "删除根目录内的文件、链接本身或目录及其内容。recursive 为 false 时拒绝非空目录（conflict）。路径不存在为 noop。\
         根目录和受保护目录为 denied。内容保留在更改历史中。可能先请用户确认；canceled 表示没有删除。",
    ),
    annotations: Annotations::of("D I"),
    confirm: Confirm::FileChange,
    version: 1,
};

/// Deletes.
pub(super) struct DeletePath(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct DeleteArgs {
    /// Path, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "路径，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Also a directory that is not empty
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "包括非空目录"))]
    recursive: bool,
    /// The SHA-256 the file must have now
    #[serde(default)]
    #[schemars(extend("x-zh" = "文件当前应有的 SHA-256", "x-no-default" = true))]
    expected_sha256: Option<Sha256Text>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DeleteData {
    path: String,
    tool: &'static str,
    mode: &'static str,
    files: usize,
    bytes: u64,
    #[serde(flatten)]
    consent: Consent,
    warnings: Vec<String>,
}

impl Tool for DeletePath {
    type Args = DeleteArgs;
    type Data = DeleteData;

    fn spec(&self) -> &'static ToolSpec {
        &DELETE
    }

    async fn call(&self, args: DeleteArgs, cx: &CallCx) -> Result<Outcome<DeleteData>, ToolError> {
        let expected = args.expected_sha256.as_ref().and_then(Sha256Text::digest);
        let work =
            move |job: &Job| plan::delete_path(&job.root, &args.path, args.recursive, expected.as_ref(), job);
        let Performed { summary, noop, consent, warnings, .. } =
            self.0.perform(cx, work, |summary| &summary.from).await?;
        let (rel, files, bytes) = (&summary.from, summary.files, summary.bytes);
        let text = match (cx.lang, noop) {
            (Lang::En, true) => format!("{rel} does not exist; nothing to delete."),
            (Lang::Zh, true) => format!("{rel} 不存在，无需删除。"),
            (Lang::En, false) => format!("Deleted {rel} ({files} files, {bytes} bytes)."),
            (Lang::Zh, false) => format!("已删除 {rel}（{files} 个文件，{bytes} 字节）。"),
        };
        let tail = format!("{}{}", consent.line(cx.lang), warning_lines(&warnings, cx.lang));
        let data = DeleteData {
            path: summary.from,
            tool: "delete_path",
            mode: "delete",
            files,
            bytes,
            consent,
            warnings,
        };
        let body = Body::new(data, format!("{text}{tail}"));
        Ok(if noop { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}
