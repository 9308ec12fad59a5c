//! The tools that read a file: with line numbers, raw, or a range of lines.

use std::ops::Range;
use std::sync::Arc;

use chatos_files::entry::human_size;
use chatos_files::read::{self, LineRange, Lines, RangeLimits, ReadText, Scan};
use chatos_files::text::{Encoding, Eol};
use chatos_layer::{Body, CallCx, FileHome, Job, Outcome, Shelf, Tool, ToolSettings};
use chatos_tool::truncate::omitted_notice;
use chatos_tool::{
    Annotations, Confirm, Cut, Issue, IssueCode, Keep, Lang, Text, TextLimits, ToolError, ToolSpec, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::documents::Documents;
use super::listing::yes;

static SPEC: ToolSpec = ToolSpec {
    name: "read_file",
    title: Text::fixed("Read a text file", "读取文本文件"),
    description: Text::fixed(
        "Reads a text file inside the root, whole or by lines. The header tells size and lines; sha256 is that of \
         the whole file, for expected_sha256 of later changes. A larger file is cut and says which start_line \
         continues. PDF, docx, pptx, xlsx, odt, odp and ods files give their text; other binary files are \
         not_supported, a missing file is not_found with similar names, a directory is \
         invalid.",
        "读取根目录内的文本文件，可整体或按行。标题行给出大小和行数；sha256 属于整个文件，可用于之后更改的 expected_sha256。\
         较大的文件会被截断，并说明用哪个 start_line 继续。PDF、docx、pptx、xlsx、odt、odp、ods 给出其文本；\
         其他二进制文件为 not_supported，文件不存在为 not_found 并给出相似名称，\
         目录为 invalid。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Reads lines.
pub(super) struct ReadFile {
    shelf: Arc<Shelf>,
    documents: Option<Documents>,
}

impl ReadFile {
    pub(super) fn new(shelf: Arc<Shelf>, home: &FileHome) -> Self {
        Self { shelf, documents: home.extracts.clone().map(Documents::new) }
    }

    /// A document as the result of a call; nothing where the file is none.
    async fn document(&self, args: &Args, cx: &CallCx) -> Result<Option<Outcome<Data>>, ToolError> {
        let Some(documents) = self.documents.as_ref().filter(|_| Documents::is_named_so(&args.path)) else {
            return Ok(None);
        };
        let range = LineRange { start: args.start_line, end: args.end_line };
        let limits = limits_of(&cx.settings, args.max_lines, args.with_line_numbers);
        let Some(found) = documents.read(&self.shelf, cx, &args.path, range, limits).await? else {
            return Ok(None);
        };
        let (text, product) = body(found.header(), &found.lines, Some(&found.sha256), cx.lang);
        let cut = line_cut(&found.lines);
        let data = Data {
            path: found.rel,
            size_bytes: found.size,
            line_count: found.line_count,
            start_line: found.lines.start,
            end_line: found.lines.end,
            sha256: Some(found.sha256),
            encoding: encoding_word(Encoding::Utf8),
            eol: eol_word(Eol::Lf),
            bom: false,
            truncated: found.lines.truncated() || found.lines.cut_lines > 0,
        };
        Ok(Some(Outcome::Ok(Body::product(data, text, product).truncated(cut))))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// First line, from 1
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64), extend("x-zh" = "起始行，从 1 开始"))]
    start_line: u64,
    /// Last line; the end of the file when absent
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64), extend("x-zh" = "结束行；缺省为文件末尾", "x-no-default" = true))]
    end_line: Option<u64>,
    /// Lines to return at most
    #[serde(default)]
    #[schemars(range(min = 1, max = 50_000), extend("x-zh" = "最多返回的行数", "x-no-default" = true))]
    max_lines: Option<u64>,
    /// Number the lines
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "是否带行号"))]
    with_line_numbers: bool,
}

fn one() -> u64 {
    1
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    path: String,
    size_bytes: u64,
    line_count: u64,
    start_line: u64,
    end_line: u64,
    /// Of the whole file; null for one larger than 50 MiB
    sha256: Option<String>,
    encoding: &'static str,
    eol: &'static str,
    bom: bool,
    truncated: bool,
}

pub(super) fn encoding_word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16Le => "utf-16le",
        Encoding::Utf16Be => "utf-16be",
        Encoding::Unknown8Bit => "unknown-8bit",
    }
}

pub(super) fn eol_word(eol: Eol) -> &'static str {
    match eol {
        Eol::Lf => "lf",
        Eol::Crlf => "crlf",
        Eol::Mixed => "mixed",
        Eol::None => "none",
    }
}

/// The limits of one read: what the settings allow, less what header and notice take.
pub(super) fn limits(job: &Job, max_lines: Option<u64>, numbered: bool) -> RangeLimits {
    sized(job.settings.max_file_bytes, &job.text, max_lines, numbered)
}

fn limits_of(settings: &ToolSettings, max_lines: Option<u64>, numbered: bool) -> RangeLimits {
    sized(settings.files.max_file_bytes, &settings.text, max_lines, numbered)
}

fn sized(max_bytes: u64, text: &TextLimits, max_lines: Option<u64>, numbered: bool) -> RangeLimits {
    RangeLimits {
        max_bytes,
        max_chars: text.result_chars.saturating_sub(4_500).max(200),
        max_lines,
        line_chars: text.line_chars.saturating_sub(30).max(100),
        numbered,
    }
}

/// The text after a header, and where in it the product stands: the lines, and where to go on. The digest ends
/// the text: a model that changes the file later needs it, and a header line of its own would shift what callers
/// expect below the blank line.
pub(super) fn body(
    header: String,
    lines: &Lines,
    sha256: Option<&str>,
    lang: Lang,
) -> (String, Range<usize>) {
    let mut text = format!("{header}\n\n{}", lines.text);
    let begin = header.len() + 2;
    if lines.truncated() {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let left = usize::try_from(lines.wanted_end - lines.end).unwrap_or(usize::MAX);
        let bytes = usize::try_from(lines.omitted_bytes).unwrap_or(usize::MAX);
        let next = format!("start_line={}", lines.end + 1);
        text.push_str(omitted_notice(bytes, left, Some(&next)).get(lang));
    }
    let product = begin..text.len();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    match sha256 {
        Some(digest) => text.push_str(&format!("[sha256: {digest}]")),
        None => text.push_str(Text::fixed("[sha256: larger than 50 MiB]", "[sha256：超过 50 MiB]").get(lang)),
    }
    (text, product)
}

pub(super) fn line_cut(lines: &Lines) -> Vec<Cut> {
    if !lines.truncated() {
        return Vec::new();
    }
    let kept = lines.end + 1 - lines.start.max(1);
    vec![Cut {
        field: "text".to_owned(),
        unit: Unit::Lines,
        keep: Keep::Head,
        limit: kept,
        kept,
        total: Some(lines.wanted_end + 1 - lines.start.max(1)),
        next: Some(json!({ "start_line": lines.end + 1 })),
    }]
}

pub(super) fn is_whole(lines: &Lines, scan: &Scan) -> bool {
    lines.start <= 1 && lines.end == scan.line_count
}

impl Tool for ReadFile {
    type Args = Args;
    type Data = Data;
    const TEXT: bool = true;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        match args.end_line {
            Some(end) if end < args.start_line => vec![Issue::new(
                "/end_line",
                IssueCode::Range,
                Text::fixed("end_line is before start_line", "end_line 小于 start_line"),
            )],
            _ => Vec::new(),
        }
    }

    fn is_quick(&self) -> bool {
        true
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        if let Some(document) = self.document(&args, cx).await? {
            return Ok(document);
        }
        let ReadText { rel, scan, lines } = self
            .shelf
            .quick(cx, move |job| {
                let range = LineRange { start: args.start_line, end: args.end_line };
                let limits = limits(job, args.max_lines, args.with_line_numbers);
                read::read_lines(&job.root, &job.cache, &args.path, range, &limits, job)
            })
            .await?;
        let size = human_size(scan.size_bytes);
        let header = if is_whole(&lines, &scan) {
            format!("# {rel} (size: {size})")
        } else {
            format!("# {rel} (lines {}-{} of {}, size: {size})", lines.start, lines.end, scan.line_count)
        };
        let (text, product) = body(header, &lines, scan.hex().as_deref(), cx.lang);
        let data = Data {
            path: rel,
            size_bytes: scan.size_bytes,
            line_count: scan.line_count,
            start_line: lines.start,
            end_line: lines.end,
            sha256: scan.hex(),
            encoding: encoding_word(scan.encoding),
            eol: eol_word(scan.eol),
            bom: scan.bom,
            truncated: lines.truncated() || lines.cut_lines > 0,
        };
        Ok(Outcome::Ok(Body::product(data, text, product).truncated(line_cut(&lines))))
    }
}
