//! `add_exec_log`, `list_exec_logs`, `search_exec_logs` and `get_exec_log`.

use std::sync::Arc;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_store::{JournalEntry, NewJournalEntry, Store, iso_from_ms, now_iso};
use chatos_tool::{
    Annotations, Confirm, Cut, Issue, IssueCode, Keep, Lang, Reason, Text, ToolError, ToolSpec, Unit,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Book;

/// Characters of one tag, one path, one line of a list.
const TAG_CHARS: usize = 64;
const PATH_CHARS: usize = 4096;
const LINE_CHARS: usize = 4000;
const ID_CHARS: usize = 256;
/// Entries that are skipped in no time.
const NEAR: u32 = 1_000;

static ADD: ToolSpec = ToolSpec {
    name: "add_exec_log",
    title: Text::fixed("Add to the journal", "添加日志"),
    description: Text::fixed(
        "Adds an entry about finished work to the journal of this project: what was done, in which files, what comes \
         next. With dedupe_key a repeated call answers noop with the first entry. Not for tasks that are still to be \
         done: those belong into the task list.",
        "向此项目的日志添加一条工作记录：做了什么、涉及哪些文件、下一步是什么。提供 dedupe_key 时，重复调用返回 noop 和第一条记录。\
         尚未完成的事项不要写在这里，应放入任务列表。",
    ),
    annotations: Annotations::NONE,
    confirm: Confirm::None,
    version: 1,
};

/// Adds an entry.
pub(super) struct AddExecLog(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AddArgs {
    /// One tag
    #[serde(default)]
    #[schemars(length(max = TAG_CHARS), extend("x-zh" = "一个标签", "x-no-default" = true))]
    tag: Option<String>,
    /// Tags
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(max = TAG_CHARS)), extend("x-zh" = "标签"))]
    tags: Vec<String>,
    /// Heading; time and tags when absent
    #[serde(default)]
    #[schemars(length(max = 300), extend("x-zh" = "标题；缺省为时间和标签", "x-no-default" = true))]
    title: Option<String>,
    /// What was done, in a few sentences
    #[schemars(length(min = 1, max = 4000), extend("x-zh" = "做了什么，几句话"))]
    summary: String,
    /// Everything worth knowing later
    #[serde(default)]
    #[schemars(length(max = 64000), extend("x-zh" = "以后值得了解的一切"))]
    details: String,
    /// Files it was about
    #[serde(default)]
    #[schemars(length(max = 200), inner(length(max = PATH_CHARS)), extend("x-zh" = "涉及的文件"))]
    files: Vec<String>,
    /// What matters most
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(max = LINE_CHARS)), extend("x-zh" = "要点"))]
    highlights: Vec<String>,
    /// What comes next
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(max = LINE_CHARS)), extend("x-zh" = "下一步"))]
    next_steps: Vec<String>,
    /// The same key creates one entry, however often it is called
    #[serde(default)]
    #[schemars(length(min = 1, max = 256), extend("x-zh" = "去重键：相同的键只创建一条记录", "x-no-default" = true, "x-no-nul" = true))]
    dedupe_key: Option<String>,
    /// The run it belongs to; the call's own wins
    #[serde(default, rename = "runId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "所属的运行；以调用自身的为准", "x-no-default" = true, "x-no-nul" = true))]
    run_id: Option<String>,
    /// The session it belongs to; the call's own wins
    #[serde(default, rename = "sessionId")]
    #[schemars(length(max = ID_CHARS), extend("x-zh" = "所属的会话；以调用自身的为准", "x-no-default" = true, "x-no-nul" = true))]
    session_id: Option<String>,
}

/// An entry as results show it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntryData {
    id: String,
    ts: String,
    title: String,
    tags: Vec<String>,
    summary: String,
    details: String,
    files: Vec<String>,
    highlights: Vec<String>,
    next_steps: Vec<String>,
    run_id: String,
    session_id: String,
}

impl From<JournalEntry> for EntryData {
    fn from(entry: JournalEntry) -> Self {
        Self {
            id: entry.id,
            ts: iso_from_ms(entry.created_at),
            title: entry.title,
            tags: entry.tags,
            summary: entry.summary,
            details: entry.details,
            files: entry.files,
            highlights: entry.highlights,
            next_steps: entry.next_steps,
            run_id: entry.run_id,
            session_id: entry.session_id,
        }
    }
}

impl EntryData {
    fn whole(&self, lang: Lang) -> String {
        let tags: String = self.tags.iter().map(|tag| format!(" #{tag}")).collect();
        let mut text = format!("{} {} (id={}){tags}\n{}", self.ts, self.title, self.id, self.summary);
        if !self.details.is_empty() {
            text.push_str(&format!("\n\n{}", self.details));
        }
        let lists = [
            (Text::fixed("Files", "文件"), &self.files),
            (Text::fixed("Highlights", "要点"), &self.highlights),
            (Text::fixed("Next steps", "下一步"), &self.next_steps),
        ];
        for (heading, lines) in lists.iter().filter(|(_, lines)| !lines.is_empty()) {
            text.push_str(&format!("\n\n{}:", heading.get(lang)));
            for line in *lines {
                text.push_str(&format!("\n- {line}"));
            }
        }
        text
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AddData {
    entry: EntryData,
    /// The key was used: this is the entry it made
    deduped: bool,
}

/// Tags without blanks and repetitions, in the order they came.
pub(super) fn tidy_tags(tags: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut tidy: Vec<String> = Vec::new();
    for tag in tags {
        let tag = tag.trim();
        if !tag.is_empty() && !tidy.iter().any(|known| known == tag) {
            tidy.push(tag.to_owned());
        }
    }
    tidy
}

impl Tool for AddExecLog {
    type Args = AddArgs;
    type Data = AddData;

    fn spec(&self) -> &'static ToolSpec {
        &ADD
    }

    fn check(&self, args: &AddArgs) -> Vec<Issue> {
        let message = Text::fixed("a summary must not be blank", "摘要不能为空白");
        let blank = args.summary.trim().is_empty();
        blank.then(|| Issue::new("/summary", IssueCode::Missing, message)).into_iter().collect()
    }

    async fn call(&self, args: AddArgs, cx: &CallCx) -> Result<Outcome<AddData>, ToolError> {
        let tags = tidy_tags(args.tag.into_iter().chain(args.tags));
        let title = args.title.filter(|title| !title.trim().is_empty()).unwrap_or_else(|| {
            let tags: String = tags.iter().map(|tag| format!(" #{tag}")).collect();
            format!("{}{tags}", now_iso())
        });
        let env = &self.0.env;
        let pick = |meta: &Option<String>, given: Option<String>, own: &Option<String>| {
            let given = given.filter(|text| !text.trim().is_empty());
            meta.clone().or(given).or_else(|| own.clone()).unwrap_or_default()
        };
        let new = NewJournalEntry {
            title,
            summary: args.summary,
            details: args.details,
            tags,
            files: args.files,
            highlights: args.highlights,
            next_steps: args.next_steps,
            run_id: pick(&cx.trace.run_id, args.run_id, &env.run_id),
            session_id: pick(&cx.trace.session_id, args.session_id, &env.session_id),
            dedupe_key: args.dedupe_key,
        };
        let days = i64::from(cx.settings.journal_key_days);
        let (entry, deduped) =
            self.0.run(cx, move |store, root| store.add_journal_entry(root, new, days)).await?;
        let entry = EntryData::from(entry);
        let text = match (cx.lang, deduped) {
            (Lang::En, false) => format!("Added to the journal: {} (id={})", entry.title, entry.id),
            (Lang::Zh, false) => format!("已添加日志：{}（id={}）", entry.title, entry.id),
            (Lang::En, true) => format!("Already in the journal: {} (id={})", entry.title, entry.id),
            (Lang::Zh, true) => format!("日志中已有：{}（id={}）", entry.title, entry.id),
        };
        let body = Body::new(AddData { entry, deduped }, text);
        Ok(if deduped { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}

static LIST: ToolSpec = ToolSpec {
    name: "list_exec_logs",
    title: Text::fixed("List the journal", "列出日志"),
    description: Text::fixed(
        "Lists entries of this project's journal, newest first, with their summaries; get_exec_log shows one in full. \
         tag and query narrow the list; a longer one is cut and continues with offset.",
        "列出此项目的日志及摘要，最新的在前；get_exec_log 可查看全文。可用 tag 和 query 缩小范围；过长的列表会被截断，用 offset 继续。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Lists.
pub(super) struct ListExecLogs(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ListArgs {
    /// Entries to return
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 200), extend("x-zh" = "返回的条目数"))]
    limit: u32,
    /// Only entries with exactly this tag
    #[serde(default)]
    #[schemars(length(max = TAG_CHARS), extend("x-zh" = "只列出带有此标签的条目", "x-no-default" = true))]
    tag: Option<String>,
    /// Only entries that contain this text
    #[serde(default)]
    #[schemars(length(max = 1000), extend("x-zh" = "只列出包含此文本的条目", "x-no-default" = true, "x-no-nul" = true))]
    query: Option<String>,
    /// Entries to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-zh" = "跳过的条目数"))]
    offset: u32,
}

fn ten() -> u32 {
    10
}
fn twenty() -> u32 {
    20
}

#[derive(Debug, Serialize, JsonSchema)]
struct LineData {
    id: String,
    ts: String,
    title: String,
    tags: Vec<String>,
    summary: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListData {
    logs: Vec<LineData>,
    /// Entries that fit
    total: u64,
    truncated: bool,
}

/// One page of the journal.
async fn page(
    book: &Arc<Book>,
    cx: &CallCx,
    (tag, query): (String, String),
    (limit, offset): (u32, u32),
) -> Result<Outcome<ListData>, ToolError> {
    // Without a filter and near its end a journal of any length costs the same.
    let short = tag.is_empty() && query.is_empty() && offset <= NEAR;
    let list = move |store: &Store, root: &str| store.list_journal(root, &tag, &query, limit, offset);
    let (entries, total) = if short { book.look(cx, list).await? } else { book.run(cx, list).await? };
    let logs: Vec<LineData> = entries
        .into_iter()
        .map(|entry| LineData {
            id: entry.id,
            ts: iso_from_ms(entry.created_at),
            title: entry.title,
            tags: entry.tags,
            summary: entry.summary,
        })
        .collect();
    let mut text = String::new();
    for log in &logs {
        let tags: String = log.tags.iter().map(|tag| format!(" #{tag}")).collect();
        text.push_str(&format!(
            "{} {} (id={}){tags}: {}\n",
            log.ts,
            log.title,
            log.id,
            log.summary.replace('\n', " ")
        ));
    }
    if logs.is_empty() {
        text.push_str(match (total, cx.lang) {
            (0, Lang::En) => "No entries.\n",
            (0, Lang::Zh) => "没有条目。\n",
            (_, Lang::En) => "No more entries.\n",
            (_, Lang::Zh) => "没有更多条目。\n",
        });
    }
    let next = u64::from(offset) + logs.len() as u64;
    let left = total.saturating_sub(next);
    let truncated = left > 0 && !logs.is_empty();
    let mut cuts = Vec::new();
    if truncated {
        text.push_str(&match cx.lang {
            Lang::En => format!("[… {left} entries omitted; continue with offset={next} …]\n"),
            Lang::Zh => format!("[… 省略 {left} 条；用 offset={next} 继续 …]\n"),
        });
        cuts.push(Cut {
            field: "/logs".to_owned(),
            unit: Unit::Items,
            keep: Keep::Head,
            limit: u64::from(limit),
            kept: logs.len() as u64,
            total: Some(total),
            next: Some(json!({ "offset": next })),
        });
    }
    text.push_str(&match cx.lang {
        Lang::En => format!("({total} total)"),
        Lang::Zh => format!("（共 {total} 条）"),
    });
    Ok(Outcome::Ok(Body::content(ListData { logs, total, truncated }, text).truncated(cuts)))
}

impl Tool for ListExecLogs {
    type Args = ListArgs;
    type Data = ListData;

    fn spec(&self) -> &'static ToolSpec {
        &LIST
    }

    fn is_quick(&self) -> bool {
        true
    }

    async fn call(&self, args: ListArgs, cx: &CallCx) -> Result<Outcome<ListData>, ToolError> {
        let what = (args.tag.unwrap_or_default(), args.query.unwrap_or_default());
        page(&self.0, cx, what, (args.limit, args.offset)).await
    }
}

static SEARCH: ToolSpec = ToolSpec {
    name: "search_exec_logs",
    title: Text::fixed("Search the journal", "搜索日志"),
    description: Text::fixed(
        "Finds entries of this project's journal whose title, summary, details, highlights or files contain a text, \
         ignoring case, newest first. A longer list is cut and continues with offset.",
        "在此项目的日志中查找标题、摘要、说明、要点或文件包含某文本的条目，不区分大小写，最新的在前。过长的列表会被截断，用 offset 继续。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Searches.
pub(super) struct SearchExecLogs(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchArgs {
    /// The text to find
    #[schemars(length(min = 1, max = 1000), extend("x-zh" = "要查找的文本", "x-no-nul" = true))]
    query: String,
    /// Only entries with exactly this tag
    #[serde(default)]
    #[schemars(length(max = TAG_CHARS), extend("x-zh" = "只列出带有此标签的条目", "x-no-default" = true))]
    tag: Option<String>,
    /// Entries to return
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 200), extend("x-zh" = "返回的条目数"))]
    limit: u32,
    /// Entries to skip
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000_000), extend("x-zh" = "跳过的条目数"))]
    offset: u32,
}

impl Tool for SearchExecLogs {
    type Args = SearchArgs;
    type Data = ListData;

    fn spec(&self) -> &'static ToolSpec {
        &SEARCH
    }

    async fn call(&self, args: SearchArgs, cx: &CallCx) -> Result<Outcome<ListData>, ToolError> {
        page(&self.0, cx, (args.tag.unwrap_or_default(), args.query), (args.limit, args.offset)).await
    }
}

static GET: ToolSpec = ToolSpec {
    name: "get_exec_log",
    title: Text::fixed("Show a journal entry", "查看日志条目"),
    description: Text::fixed(
        "Shows one entry of this project's journal in full. An unknown id is not_found; list_exec_logs shows the ids.",
        "显示此项目日志中一条记录的全文。编号不存在为 not_found；list_exec_logs 会列出编号。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Shows one.
pub(super) struct GetExecLog(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetArgs {
    /// The entry's id
    #[schemars(length(min = 1, max = ID_CHARS), extend("x-zh" = "条目编号", "x-no-nul" = true))]
    id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetData {
    entry: EntryData,
}

impl Tool for GetExecLog {
    type Args = GetArgs;
    type Data = GetData;

    fn spec(&self) -> &'static ToolSpec {
        &GET
    }

    fn is_quick(&self) -> bool {
        true
    }

    async fn call(&self, args: GetArgs, cx: &CallCx) -> Result<Outcome<GetData>, ToolError> {
        let id = args.id.clone();
        let entry = self.0.look(cx, move |store, root| store.get_journal_entry(root, &id)).await?;
        let entry: EntryData = entry
            .ok_or_else(|| {
                let reason = Reason::NotFound {
                    what: "entry".to_owned(),
                    id: Some(args.id.clone()),
                    path: None,
                    nearest: Vec::new(),
                };
                let message = Text::new(
                    format!("there is no entry `{}` in this project's journal", args.id),
                    format!("此项目的日志中没有条目 `{}`", args.id),
                );
                ToolError::new(reason, message)
                    .hint(Text::fixed("list_exec_logs shows the ids", "list_exec_logs 会列出编号"))
            })?
            .into();
        let text = entry.whole(cx.lang);
        Ok(Outcome::Ok(Body::content(GetData { entry }, text)))
    }
}
