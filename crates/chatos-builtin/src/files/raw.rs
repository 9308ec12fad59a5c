//! `read_file_raw` and `read_file_range`.

use std::sync::Arc;

use chatos_files::read::{self, LineRange, ReadText};
use chatos_layer::{Body, CallCx, Outcome, Shelf, Tool};
use chatos_tool::{Annotations, Confirm, Cut, Issue, IssueCode, Keep, Text, ToolError, ToolSpec, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::reading::{body, encoding_word, limits, line_cut};

static RAW: ToolSpec = ToolSpec {
    name: "read_file_raw",
    title: Text::fixed("Read exact text", "读取原始文本"),
    description: Text::fixed(
        "Reads a text file inside the root exactly, without line numbers, whole or by bytes. A part never splits a \
         character; a larger file is cut and says which offset continues. Binary files are not_supported.",
        "原样读取根目录内的文本文件，不带行号，可整体或按字节。分段不会拆开字符；较大的文件会被截断，并说明用哪个 offset 继续。\
         二进制文件为 not_supported。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Reads bytes as text.
pub(super) struct ReadFileRaw(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RawArgs {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// First byte, from 0
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000_000_000_u64), extend("x-zh" = "起始字节，从 0 开始"))]
    offset: u64,
    /// Bytes to return at most; filesystemMaxFileBytes when absent
    #[serde(default)]
    #[schemars(range(min = 1, max = 52_428_800), extend("x-zh" = "最多返回的字节数；缺省为 filesystemMaxFileBytes", "x-no-default" = true))]
    max_bytes: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RawData {
    path: String,
    /// Of the whole file; null for one larger than 50 MiB
    sha256: Option<String>,
    size_bytes: u64,
    encoding: &'static str,
    truncated: bool,
}

impl Tool for ReadFileRaw {
    type Args = RawArgs;
    type Data = RawData;
    const TEXT: bool = true;

    fn spec(&self) -> &'static ToolSpec {
        &RAW
    }

    fn is_quick(&self) -> bool {
        true
    }

    async fn call(&self, args: RawArgs, cx: &CallCx) -> Result<Outcome<RawData>, ToolError> {
        let offset = args.offset;
        let (part, room) = self
            .0
            .quick(cx, move |job| {
                let room = (job.text.result_chars.saturating_sub(300).max(200)) as u64;
                let max = args.max_bytes.unwrap_or(u64::MAX).min(job.settings.max_file_bytes).min(room);
                // Four bytes are the longest character; less could never move on.
                Ok((read::read_raw(&job.root, &job.cache, &args.path, offset, max.max(4), job)?, max))
            })
            .await?;
        let truncated = part.next < part.scan.size_bytes;
        let mut text = part.text;
        let mut cuts = Vec::new();
        if truncated {
            let left = part.scan.size_bytes - part.next;
            let next = format!("offset={}", part.next);
            let notice = chatos_tool::truncate::omitted_notice(
                usize::try_from(left).unwrap_or(usize::MAX),
                0,
                Some(&next),
            );
            text.push('\n');
            text.push_str(notice.get(cx.lang));
            cuts.push(Cut {
                field: "text".to_owned(),
                unit: Unit::Bytes,
                keep: Keep::Head,
                limit: room,
                kept: part.next - offset,
                total: Some(part.scan.size_bytes - offset),
                next: Some(json!({ "offset": part.next })),
            });
        }
        let data = RawData {
            path: part.rel,
            sha256: part.scan.hex(),
            size_bytes: part.scan.size_bytes,
            encoding: encoding_word(part.scan.encoding),
            truncated,
        };
        let product = 0..text.len();
        Ok(Outcome::Ok(Body::product(data, text, product).truncated(cuts)))
    }
}

static RANGE: ToolSpec = ToolSpec {
    name: "read_file_range",
    title: Text::fixed("Read a range of lines", "读取行范围"),
    description: Text::fixed(
        "Reads the lines start_line to end_line of a text file inside the root; the range is clamped to the file. \
         start_line after end_line is invalid. Binary files are not_supported.",
        "读取根目录内文本文件的 start_line 到 end_line 行；范围会限制在文件之内。start_line 大于 end_line 为 invalid。\
         二进制文件为 not_supported。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Reads a range.
pub(super) struct ReadFileRange(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RangeArgs {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// First line, from 1
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64), extend("x-zh" = "起始行，从 1 开始"))]
    start_line: u64,
    /// Last line
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64), extend("x-zh" = "结束行"))]
    end_line: u64,
    /// Number the lines
    #[serde(default)]
    #[schemars(extend("x-zh" = "是否带行号"))]
    with_line_numbers: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RangeData {
    path: String,
    start_line: u64,
    end_line: u64,
    total_lines: u64,
    /// Of the whole file; null for one larger than 50 MiB
    sha256: Option<String>,
}

impl Tool for ReadFileRange {
    type Args = RangeArgs;
    type Data = RangeData;
    const TEXT: bool = true;

    fn spec(&self) -> &'static ToolSpec {
        &RANGE
    }

    fn check(&self, args: &RangeArgs) -> Vec<Issue> {
        if args.start_line <= args.end_line {
            return Vec::new();
        }
        let message = Text::fixed("start_line is after end_line", "start_line 大于 end_line");
        vec![Issue::new("/start_line", IssueCode::Range, message)]
    }

    fn is_quick(&self) -> bool {
        true
    }

    async fn call(&self, args: RangeArgs, cx: &CallCx) -> Result<Outcome<RangeData>, ToolError> {
        let ReadText { rel, scan, lines } = self
            .0
            .quick(cx, move |job| {
                let limits = limits(job, None, args.with_line_numbers);
                let range = LineRange { start: args.start_line, end: Some(args.end_line) };
                read::read_clamped(&job.root, &job.cache, &args.path, range, &limits, job)
            })
            .await?;
        let header = format!("# {rel} (lines {}-{} of {})", lines.start, lines.end, scan.line_count);
        let (text, product) = body(header, &lines, scan.hex().as_deref(), cx.lang);
        let cuts = line_cut(&lines);
        let data = RangeData {
            path: rel,
            start_line: lines.start,
            end_line: lines.end,
            total_lines: scan.line_count,
            sha256: scan.hex(),
        };
        Ok(Outcome::Ok(Body::product(data, text, product).truncated(cuts)))
    }
}
