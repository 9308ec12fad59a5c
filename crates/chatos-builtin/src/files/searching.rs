//! `search_text` and `find_files`.

use std::sync::Arc;

use chatos_files::error::Stopped;
use chatos_files::list;
use chatos_files::search::{self, Ended, Hit, Mode, Query, Request};
use chatos_files::walk::WalkOptions;
use chatos_layer::{Body, CallCx, Outcome, Shelf, Tool};
use chatos_tool::{Annotations, Confirm, Phase, Reason, Resource, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::listing::{LeftOutData, here, items_cut, more_line, two_hundred, yes};

static SEARCH: ToolSpec = ToolSpec {
    name: "search_text",
    title: Text::fixed("Search text in files", "搜索文件内容"),
    description: Text::fixed(
        "Searches text in the files of a directory, or in one file, inside the root; literal by default, or a \
         linear-time regular expression (no look-around). Hits come in the order of paths and lines, the same in \
         every run. Hidden and ignored files are left out unless asked for; binary files and files above 50 MiB are \
         skipped and counted. More hits than max_results: truncated, continue with offset. A search that had to \
         stop early is partial and says why. A bad pattern is invalid with its position.",
        "在根目录内的目录或单个文件中搜索文本；默认按字面，也可用线性时间正则（无环视）。结果按路径和行排序，每次相同。\
         隐藏和被忽略的文件默认略去；二进制文件和超过 50 MiB 的文件跳过并计数。超过 max_results 会被截断，用 offset 继续。\
         不得不提前停止的搜索为 partial 并说明原因。表达式有误为 invalid 并给出位置。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Searches text.
pub(super) struct SearchText(pub(super) Arc<Shelf>);

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ModeArg {
    #[default]
    Literal,
    Regex,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Glob(#[schemars(length(min = 1, max = 1024))] String);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchArgs {
    /// Text or pattern to find
    #[schemars(length(min = 1, max = 4096), extend("x-zh" = "要查找的文本或表达式"))]
    query: String,
    /// File or directory, relative to the root
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "文件或目录，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Hits to return; filesystemMaxSearchResults when absent
    #[serde(default)]
    #[schemars(range(min = 1, max = 200), extend("x-zh" = "返回的结果数；缺省为 filesystemMaxSearchResults", "x-no-default" = true))]
    max_results: Option<usize>,
    /// How the query is read
    #[serde(default)]
    #[schemars(extend("x-zh" = "query 的解释方式"))]
    mode: ModeArg,
    /// Upper and lower case differ
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "区分大小写"))]
    case_sensitive: bool,
    /// Whole words only
    #[serde(default)]
    #[schemars(extend("x-zh" = "仅匹配整词"))]
    whole_word: bool,
    /// Only files that match one of these globs, relative to path
    #[serde(default)]
    #[schemars(length(max = 32), extend("default" = [], "x-zh" = "仅搜索匹配其中任一 glob 的文件，相对于 path"))]
    glob: Vec<Glob>,
    /// Not files that match one of these globs
    #[serde(default)]
    #[schemars(length(max = 32), extend("default" = [], "x-zh" = "排除匹配其中任一 glob 的文件"))]
    exclude_glob: Vec<Glob>,
    /// Lines of context around a hit
    #[serde(default)]
    #[schemars(range(min = 0, max = 10), extend("x-zh" = "结果前后的上下文行数"))]
    context_lines: usize,
    /// Names that begin with a dot
    #[serde(default)]
    #[schemars(extend("x-zh" = "包含以点开头的名称"))]
    include_hidden: bool,
    /// What ignore files name
    #[serde(default)]
    #[schemars(extend("x-zh" = "包含被忽略文件列出的内容"))]
    include_ignored: bool,
    /// Hits to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000), extend("x-zh" = "跳过的结果数"))]
    offset: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchData {
    query: String,
    mode: &'static str,
    matches: Vec<MatchData>,
    files_scanned: usize,
    skipped: SkippedData,
    complete: bool,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOutData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MatchData {
    path: String,
    line: u64,
    column: u64,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SkippedData {
    binary: usize,
    too_large: usize,
    unreadable: usize,
}

fn hit_lines(hit: &Hit) -> String {
    let mut text = String::new();
    let first = hit.line - hit.before.len() as u64;
    for (number, line) in (first..).zip(&hit.before) {
        text.push_str(&format!("{}-{number}- {line}\n", hit.path));
    }
    text.push_str(&format!("{}:{} {}\n", hit.path, hit.line, hit.text));
    for (number, line) in (hit.line + 1..).zip(&hit.after) {
        text.push_str(&format!("{}-{number}- {line}\n", hit.path));
    }
    text
}

impl Tool for SearchText {
    type Args = SearchArgs;
    type Data = SearchData;

    fn spec(&self) -> &'static ToolSpec {
        &SEARCH
    }

    async fn call(&self, args: SearchArgs, cx: &CallCx) -> Result<Outcome<SearchData>, ToolError> {
        let limit = args.max_results.unwrap_or(cx.settings.files.max_search_results);
        let (offset, query, context) = (args.offset, args.query.clone(), args.context_lines > 0);
        let max_files = cx.settings.files.search_max_files;
        let mode = args.mode;
        let found = self
            .0
            .job(cx, move |job| {
                let globs = |globs: Vec<Glob>| globs.into_iter().map(|glob| glob.0).collect();
                let request = Request {
                    query: Query {
                        text: args.query,
                        mode: if matches!(args.mode, ModeArg::Regex) { Mode::Regex } else { Mode::Literal },
                        case_sensitive: args.case_sensitive,
                        whole_word: args.whole_word,
                    },
                    path: args.path,
                    glob: globs(args.glob),
                    exclude_glob: globs(args.exclude_glob),
                    context_lines: args.context_lines,
                    hidden: args.include_hidden,
                    ignored: args.include_ignored,
                    offset: args.offset,
                    limit,
                    max_files,
                };
                search::search(&job.root, &request, job)
            })
            .await?;
        let mut text: String = found.hits.iter().map(hit_lines).collect();
        if found.hits.is_empty() {
            text.push_str(Text::fixed("No matches found.\n", "没有找到匹配。\n").get(cx.lang));
        }
        let shown = found.hits.len();
        let mut cuts = Vec::new();
        let mut stopped = None;
        match found.ended {
            None => {}
            Some(Ended::Enough) => {
                let next = offset + shown;
                let line = Text::new(
                    format!("[… more matches; continue with offset={next} …]\n"),
                    format!("[… 还有更多匹配；使用 offset={next} 继续 …]\n"),
                );
                text.push_str(line.get(cx.lang));
                cuts.push(items_cut("/matches", limit, shown, None, json!({ "offset": next })));
            }
            Some(Ended::Files) => {
                let message = Text::new(
                    format!("search stopped after {} files", found.files_scanned),
                    format!("搜索在 {} 个文件后停止", found.files_scanned),
                );
                let reason = Reason::ResourceExhausted {
                    resource: Resource::Files,
                    limit: Some(max_files as u64),
                    actual: None,
                };
                stopped = Some(
                    ToolError::new(reason, message)
                        .hint(Text::fixed("narrow path or glob", "请缩小 path 或 glob 的范围")),
                );
            }
            Some(Ended::Deadline) => {
                let stop = cx.stop_error();
                let limit_ms = match &stop.reason {
                    Reason::Timeout { limit_ms, .. } => *limit_ms,
                    _ => 0,
                };
                stopped = Some(
                    ToolError::timeout(limit_ms, Phase::Run)
                        .hint(Text::fixed("narrow path or glob", "请缩小 path 或 glob 的范围")),
                );
            }
        }
        if let Some(error) = &stopped {
            text.push_str(&format!("[{}]\n", error.message.get(cx.lang)));
        }
        let skipped = found.skipped;
        if skipped.binary + skipped.too_large + skipped.unreadable > 0 {
            let line = Text::new(
                format!(
                    "[skipped: {} binary, {} too large, {} unreadable]\n",
                    skipped.binary, skipped.too_large, skipped.unreadable
                ),
                format!(
                    "[跳过：{} 个二进制，{} 个过大，{} 个不可读]\n",
                    skipped.binary, skipped.too_large, skipped.unreadable
                ),
            );
            text.push_str(line.get(cx.lang));
        }
        let left_out = LeftOutData::of(found.left_out).filter(|left| left.protected > 0);
        if let Some(left) = &left_out {
            text.push_str(&left.line(cx.lang));
        }
        let some = |lines: Vec<String>| context.then_some(lines);
        let data = SearchData {
            query,
            mode: if matches!(mode, ModeArg::Regex) { "regex" } else { "literal" },
            matches: found
                .hits
                .into_iter()
                .map(|hit| MatchData {
                    path: hit.path,
                    line: hit.line,
                    column: hit.column,
                    text: hit.text,
                    before: some(hit.before),
                    after: some(hit.after),
                })
                .collect(),
            files_scanned: found.files_scanned,
            skipped: SkippedData {
                binary: skipped.binary,
                too_large: skipped.too_large,
                unreadable: skipped.unreadable,
            },
            complete: found.ended.is_none(),
            truncated: found.ended == Some(Ended::Enough),
            left_out,
        };
        let body = Body::content(data, text.trim_end()).truncated(cuts);
        Ok(match stopped {
            Some(error) => Outcome::Partial(body, error),
            None => Outcome::Ok(body),
        })
    }
}

static FIND: ToolSpec = ToolSpec {
    name: "find_files",
    title: Text::fixed("Find files by name", "按名称查找文件"),
    description: Text::fixed(
        "Finds files inside the root whose path matches a glob (*, **, ?, [], {}), newest first. A pattern without \
         a slash matches names at every depth. Hidden and ignored files are left out unless asked for. To look \
         inside files use search_text. A longer list is cut and continues with offset.",
        "查找根目录内路径匹配 glob（*、**、?、[]、{}）的文件，最新的在前。不含斜杠的模式匹配任意深度的名称。\
         隐藏和被忽略的文件默认略去。查找内容请用 search_text。过长的列表会被截断，用 offset 继续。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Finds files.
pub(super) struct FindFiles(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct FindArgs {
    /// Glob, relative to path
    #[schemars(length(min = 1, max = 1024), extend("x-zh" = "glob，相对于 path", "x-no-nul" = true))]
    pattern: String,
    /// Directory, relative to the root
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "目录，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Names that begin with a dot
    #[serde(default)]
    #[schemars(extend("x-zh" = "包含以点开头的名称"))]
    include_hidden: bool,
    /// What ignore files name
    #[serde(default)]
    #[schemars(extend("x-zh" = "包含被忽略文件列出的内容"))]
    include_ignored: bool,
    /// Files to return
    #[serde(default = "two_hundred")]
    #[schemars(range(min = 1, max = 2000), extend("x-zh" = "返回的文件数"))]
    limit: usize,
    /// Files to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-zh" = "跳过的文件数"))]
    offset: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindData {
    files: Vec<FoundData>,
    total: usize,
    complete: bool,
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundData {
    path: String,
    size_bytes: u64,
    mtime: String,
}

impl Tool for FindFiles {
    type Args = FindArgs;
    type Data = FindData;

    fn spec(&self) -> &'static ToolSpec {
        &FIND
    }

    async fn call(&self, args: FindArgs, cx: &CallCx) -> Result<Outcome<FindData>, ToolError> {
        let (limit, offset) = (args.limit, args.offset);
        let found = self
            .0
            .job(cx, move |job| {
                let options = WalkOptions {
                    hidden: args.include_hidden,
                    ignored: args.include_ignored,
                    depth: usize::MAX,
                };
                list::find(&job.root, &args.path, &args.pattern, options, args.offset, args.limit, job)
            })
            .await?;
        if found.stopped == Some(Stopped::Canceled) {
            return Err(cx.stop_error());
        }
        let shown = found.files.len();
        let more = offset + shown < found.total;
        let mut text: String = found
            .files
            .iter()
            .map(|file| format!("{} ({} B, {})\n", file.path, file.size_bytes, file.mtime))
            .collect();
        if text.is_empty() {
            text.push_str(Text::fixed("No files found.\n", "没有找到文件。\n").get(cx.lang));
        }
        let mut cuts = Vec::new();
        if more {
            let next = offset + shown;
            text.push_str(&more_line(found.total - next, &format!("offset={next}"), cx.lang));
            cuts.push(items_cut("/files", limit, shown, Some(found.total), json!({ "offset": next })));
        }
        let complete = !found.left_out.incomplete;
        if let Some(left) = LeftOutData::of(found.left_out) {
            text.push_str(&left.line(cx.lang));
        }
        let files = found
            .files
            .into_iter()
            .map(|file| FoundData { path: file.path, size_bytes: file.size_bytes, mtime: file.mtime })
            .collect();
        let data = FindData { files, total: found.total, complete, truncated: more };
        let body = Body::content(data, text.trim_end()).truncated(cuts);
        if complete {
            return Ok(Outcome::Ok(body));
        }
        let error = match found.stopped {
            Some(_) => cx.stop_error(),
            None => ToolError::new(
                Reason::ResourceExhausted { resource: Resource::Entries, limit: None, actual: None },
                Text::fixed("the directory tree is too large", "目录树过大"),
            ),
        };
        Ok(Outcome::Partial(body, error))
    }
}
