//! `list_directory` and `stat_path`.

use std::sync::Arc;

use chatos_files::entry::{Kind, human_size};
use chatos_files::list::{self, Listed};
use chatos_files::walk::WalkOptions;
use chatos_layer::{Body, CallCx, Outcome, Shelf, Tool};
use chatos_tool::{Annotations, Confirm, Cut, Keep, Lang, Text, ToolError, ToolSpec, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

static LIST: ToolSpec = ToolSpec {
    name: "list_directory",
    title: Text::fixed("List a directory", "列出目录"),
    description: Text::fixed(
        "Lists a directory inside the root, breadth first, directories first, then by name. Links are shown and \
         never followed. To look for names in a large tree use find_files, for text use search_text. A path that \
         is no directory is invalid; a longer list is cut and continues with offset.",
        "列出根目录内的一个目录：按层次，目录在前，再按名称。链接只显示，不跟随。在大目录树中查找名称请用 find_files，\
         查找文本请用 search_text。不是目录的路径为 invalid；过长的列表会被截断，用 offset 继续。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Lists.
pub(super) struct ListDirectory(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListArgs {
    /// Directory, relative to the root
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "目录，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Levels to list
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 5), extend("x-zh" = "列出的层数"))]
    depth: usize,
    /// Names that begin with a dot
    #[serde(default, rename = "includeHidden")]
    #[schemars(extend("x-zh" = "包含以点开头的名称"))]
    include_hidden: bool,
    /// What ignore files name; false leaves it out
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "包含被忽略文件列出的内容；false 则略去"))]
    include_ignored: bool,
    /// Entries to return
    #[serde(default = "two_hundred")]
    #[schemars(range(min = 1, max = 2000), extend("x-zh" = "返回的条目数"))]
    limit: usize,
    /// Entries to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-zh" = "跳过的条目数"))]
    offset: usize,
}

pub(super) fn here() -> String {
    ".".to_owned()
}
fn one() -> usize {
    1
}
pub(super) fn yes() -> bool {
    true
}
pub(super) fn two_hundred() -> usize {
    200
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListData {
    path: String,
    entries: Vec<EntryData>,
    total: usize,
    truncated: bool,
    /// Protected and unreadable directories that were left out
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOutData>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeftOutData {
    pub(super) protected: usize,
    unreadable: usize,
    incomplete: bool,
}

impl LeftOutData {
    pub(super) fn of(left: list::LeftOut) -> Option<Self> {
        (left.protected + left.unreadable > 0 || left.incomplete).then_some(Self {
            protected: left.protected,
            unreadable: left.unreadable,
            incomplete: left.incomplete,
        })
    }

    pub(super) fn line(&self, lang: Lang) -> String {
        match lang {
            Lang::En => format!(
                "[left out: {} protected, {} unreadable directories]",
                self.protected, self.unreadable
            ),
            Lang::Zh => format!("[略去：{} 个受保护目录，{} 个不可读目录]", self.protected, self.unreadable),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EntryData {
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size_bytes: Option<u64>,
    mtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
}

pub(super) fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Symlink => "symlink",
        Kind::Other => "other",
    }
}

fn entry_line(entry: &Listed) -> String {
    match entry.kind {
        Kind::Directory => format!("📁 {} (-)\n", entry.path),
        Kind::Symlink => format!("🔗 {} -> {}\n", entry.path, entry.target.as_deref().unwrap_or("?")),
        Kind::File => format!("📄 {} ({})\n", entry.path, human_size(entry.size_bytes.unwrap_or(0))),
        Kind::Other => format!("❔ {} (-)\n", entry.path),
    }
}

impl Tool for ListDirectory {
    type Args = ListArgs;
    type Data = ListData;

    fn spec(&self) -> &'static ToolSpec {
        &LIST
    }

    async fn call(&self, args: ListArgs, cx: &CallCx) -> Result<Outcome<ListData>, ToolError> {
        let (limit, offset) = (args.limit, args.offset);
        let listing = self
            .0
            .job(cx, move |job| {
                let options = WalkOptions {
                    hidden: args.include_hidden,
                    ignored: args.include_ignored,
                    depth: args.depth,
                };
                list::list(&job.root, &args.path, options, args.offset, args.limit, job)
            })
            .await?;
        let shown = listing.entries.len();
        let more = offset + shown < listing.total;
        let mut text: String = listing.entries.iter().map(entry_line).collect();
        if text.is_empty() {
            text.push_str("<empty>\n");
        }
        let mut cuts = Vec::new();
        if more {
            let next = offset + shown;
            text.push_str(&more_line(listing.total - next, &format!("offset={next}"), cx.lang));
            cuts.push(items_cut("/entries", limit, shown, Some(listing.total), json!({ "offset": next })));
        }
        let left_out = LeftOutData::of(listing.left_out);
        if let Some(left) = &left_out {
            text.push_str(&left.line(cx.lang));
        }
        let entries = listing
            .entries
            .into_iter()
            .map(|entry| EntryData {
                kind: kind_word(entry.kind),
                path: entry.path,
                size_bytes: entry.size_bytes,
                mtime: entry.mtime,
                target: entry.target,
            })
            .collect();
        let data = ListData { path: listing.rel, entries, total: listing.total, truncated: more, left_out };
        Ok(Outcome::Ok(Body::content(data, text.trim_end()).truncated(cuts)))
    }
}

/// `[… 12 more; continue with offset=200 …]`
pub(super) fn more_line(left: usize, next: &str, lang: Lang) -> String {
    match lang {
        Lang::En => format!("[… {left} more; continue with {next} …]\n"),
        Lang::Zh => format!("[… 还有 {left} 项；使用 {next} 继续 …]\n"),
    }
}

pub(super) fn items_cut(
    field: &str,
    limit: usize,
    kept: usize,
    total: Option<usize>,
    next: serde_json::Value,
) -> Cut {
    Cut {
        field: field.to_owned(),
        unit: Unit::Items,
        keep: Keep::Head,
        limit: limit as u64,
        kept: kept as u64,
        total: total.map(|total| total as u64),
        next: Some(next),
    }
}

static STAT: ToolSpec = ToolSpec {
    name: "stat_path",
    title: Text::fixed("Show file details", "查看路径信息"),
    description: Text::fixed(
        "Tells whether a path exists and what it is: type, size, time, mode, link target, and for files up to 50 \
         MiB the SHA-256, the number of lines and whether it is binary. A link is described itself. A missing path \
         is no error: exists is false.",
        "说明路径是否存在以及是什么：类型、大小、时间、权限、链接目标；50 MiB 以内的文件还有 SHA-256、行数和是否二进制。\
         链接描述其本身。路径不存在不是错误：exists 为 false。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Looks at one path.
pub(super) struct StatPath(pub(super) Arc<Shelf>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct PathArgs {
    /// Path, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "路径，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatData {
    exists: bool,
    path: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<bool>,
}

impl Tool for StatPath {
    type Args = PathArgs;
    type Data = StatData;

    fn spec(&self) -> &'static ToolSpec {
        &STAT
    }

    fn is_quick(&self) -> bool {
        true
    }

    async fn call(&self, args: PathArgs, cx: &CallCx) -> Result<Outcome<StatData>, ToolError> {
        let facts = self.0.quick(cx, move |job| list::stat(&job.root, &job.cache, &args.path, job)).await?;
        let path = facts.rel;
        let Some(there) = facts.there else {
            let text = match cx.lang {
                Lang::En => format!("Not found: {path}"),
                Lang::Zh => format!("未找到：{path}"),
            };
            let data = StatData {
                exists: false,
                path,
                kind: None,
                size_bytes: None,
                mtime: None,
                mode: None,
                target: None,
                sha256: None,
                line_count: None,
                binary: None,
            };
            return Ok(Outcome::Ok(Body::content(data, text)));
        };
        let text_file = there.scan.as_ref().filter(|scan| !scan.binary);
        let data = StatData {
            exists: true,
            kind: Some(kind_word(there.kind)),
            size_bytes: Some(there.size_bytes),
            mtime: Some(there.mtime),
            mode: Some(there.mode),
            target: there.target,
            sha256: there.scan.as_ref().and_then(|scan| scan.hex()),
            line_count: text_file.map(|scan| scan.line_count),
            binary: there.scan.as_ref().map(|scan| scan.binary),
            path,
        };
        let mut text =
            format!("# {} ({}, {})", data.path, kind_word(there.kind), human_size(there.size_bytes));
        let facts = [
            ("mtime", data.mtime.clone()),
            ("mode", data.mode.clone()),
            ("target", data.target.clone()),
            ("sha256", data.sha256.clone()),
            ("line_count", data.line_count.map(|count| count.to_string())),
            ("binary", data.binary.map(|binary| binary.to_string())),
        ];
        for (name, value) in facts {
            if let Some(value) = value {
                text = format!("{text}\n{name}: {value}");
            }
        }
        Ok(Outcome::Ok(Body::content(data, text)))
    }
}
