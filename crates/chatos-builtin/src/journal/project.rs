//! `get_project_info`, `set_project_info` and `add_project_iteration`.

use std::sync::Arc;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_store::{ProjectInfo, ProjectIteration, ProjectPatch, iso_from_ms};
use chatos_tool::{Annotations, Confirm, Cut, Issue, IssueCode, Keep, Lang, Text, ToolError, ToolSpec, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Book;
use super::logging::tidy_tags;

/// Iterations a call shows at most.
const ITERATIONS: u32 = 50;
/// Characters of a text about a project.
const TEXT_CHARS: usize = 64_000;

#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InfoData {
    version: u32,
    /// null when nothing is known yet
    created_at: Option<String>,
    updated_at: Option<String>,
    summary: String,
    background: String,
    git_url: String,
    main_config: String,
    notes: String,
    tags: Vec<String>,
    /// Newest first
    iterations: Vec<IterationData>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
struct IterationData {
    id: String,
    ts: String,
    title: String,
    summary: String,
    details: String,
    tags: Vec<String>,
}

impl From<ProjectIteration> for IterationData {
    fn from(iteration: ProjectIteration) -> Self {
        Self {
            id: iteration.id,
            ts: iso_from_ms(iteration.created_at),
            title: iteration.title,
            summary: iteration.summary,
            details: iteration.details,
            tags: iteration.tags,
        }
    }
}

impl InfoData {
    fn of(info: Option<ProjectInfo>, iterations: Vec<ProjectIteration>) -> Self {
        let iterations = iterations.into_iter().map(IterationData::from).collect();
        let Some(info) = info else { return Self { version: 1, iterations, ..Self::default() } };
        Self {
            version: 1,
            created_at: Some(iso_from_ms(info.created_at)),
            updated_at: Some(iso_from_ms(info.updated_at)),
            summary: info.summary,
            background: info.background,
            git_url: info.git_url,
            main_config: info.main_config,
            notes: info.notes,
            tags: info.tags,
            iterations,
        }
    }

    fn whole(&self, lang: Lang) -> String {
        if self.created_at.is_none() {
            return match lang {
                Lang::En => "Nothing is known about this project yet.",
                Lang::Zh => "尚无此项目的信息。",
            }
            .to_owned();
        }
        let fields = [
            (Text::fixed("Summary", "概述"), &self.summary),
            (Text::fixed("Background", "背景"), &self.background),
            (Text::fixed("Git", "Git"), &self.git_url),
            (Text::fixed("Main configuration", "主要配置"), &self.main_config),
            (Text::fixed("Notes", "备注"), &self.notes),
        ];
        let mut lines: Vec<String> = fields
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(heading, value)| format!("{}: {value}", heading.get(lang)))
            .collect();
        if !self.tags.is_empty() {
            lines.push(self.tags.iter().map(|tag| format!("#{tag}")).collect::<Vec<_>>().join(" "));
        }
        for iteration in &self.iterations {
            let tags: String = iteration.tags.iter().map(|tag| format!(" #{tag}")).collect();
            let parts = [&iteration.summary, &iteration.details];
            let body: String =
                parts.into_iter().filter(|part| !part.is_empty()).map(|part| format!("\n  {part}")).collect();
            lines.push(format!("- {} {} (id={}){tags}{body}", iteration.ts, iteration.title, iteration.id));
        }
        if lines.is_empty() {
            lines.push(Text::fixed("All fields are empty.", "所有字段均为空。").get(lang).to_owned());
        }
        lines.join("\n")
    }
}

static GET: ToolSpec = ToolSpec {
    name: "get_project_info",
    title: Text::fixed("Show project info", "查看项目信息"),
    description: Text::fixed(
        "Shows what is known about this project: summary, background, repository, main configuration, notes, tags, and \
         its latest iterations. Empty fields are not known yet.",
        "显示此项目的信息：概述、背景、代码仓库、主要配置、备注、标签以及最近的迭代。空字段表示尚不清楚。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

/// Shows the facts.
pub(super) struct GetProjectInfo(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct GetArgs {
    /// The iterations as well
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "包含迭代"))]
    include_iterations: bool,
    /// How many iterations
    #[serde(default = "ten")]
    #[schemars(range(min = 0, max = ITERATIONS), extend("x-zh" = "迭代数量"))]
    iterations_limit: u32,
}

fn yes() -> bool {
    true
}
fn ten() -> u32 {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetData {
    info: InfoData,
    iterations_total: u64,
    truncated: bool,
}

impl Tool for GetProjectInfo {
    type Args = GetArgs;
    type Data = GetData;

    fn spec(&self) -> &'static ToolSpec {
        &GET
    }

    async fn call(&self, args: GetArgs, cx: &CallCx) -> Result<Outcome<GetData>, ToolError> {
        let limit = if args.include_iterations { args.iterations_limit } else { 0 };
        let (info, iterations, total) =
            self.0.run(cx, move |store, root| store.project_info(root, limit)).await?;
        let kept = iterations.len() as u64;
        let info = InfoData::of(info, iterations);
        let mut text = info.whole(cx.lang);
        // Leaving iterations out on request is no cut; showing fewer than there are is one.
        let truncated = limit > 0 && kept < total;
        let mut cuts = Vec::new();
        if truncated {
            let left = total - kept;
            text.push_str(&match cx.lang {
                Lang::En => format!(
                    "\n[… {left} older iterations omitted; iterations_limit shows up to {ITERATIONS} …]"
                ),
                Lang::Zh => {
                    format!("\n[… 省略 {left} 个较早的迭代；iterations_limit 最多显示 {ITERATIONS} 个 …]")
                }
            });
            cuts.push(Cut {
                field: "/info/iterations".to_owned(),
                unit: Unit::Items,
                keep: Keep::Head,
                limit: u64::from(limit),
                kept,
                total: Some(total),
                next: (limit < ITERATIONS).then(|| json!({ "iterations_limit": ITERATIONS })),
            });
        }
        Ok(Outcome::Ok(
            Body::content(GetData { info, iterations_total: total, truncated }, text).truncated(cuts),
        ))
    }
}

static SET: ToolSpec = ToolSpec {
    name: "set_project_info",
    title: Text::fixed("Edit project info", "修改项目信息"),
    description: Text::fixed(
        "Changes what is known about this project: given fields are replaced, the others stay. overwrite clears the \
         text fields that are not given; iterations always stay. User names and passwords in git_url are not kept. \
         Nothing to change is a noop.",
        "修改此项目的信息：替换给出的字段，其余保持不变。overwrite 会清空未给出的文本字段；迭代始终保留。git_url 中的用户名和密码不会保存。\
         没有变化为 noop。",
    ),
    annotations: Annotations::of("I"),
    confirm: Confirm::None,
    version: 1,
};

/// Changes the facts.
pub(super) struct SetProjectInfo(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SetArgs {
    /// What the project is
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS), extend("x-zh" = "项目是什么", "x-no-default" = true))]
    summary: Option<String>,
    /// Why it exists
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS), extend("x-zh" = "项目背景", "x-no-default" = true))]
    background: Option<String>,
    /// Address of its repository
    #[serde(default)]
    #[schemars(length(max = 2048), extend("x-zh" = "代码仓库地址", "x-no-default" = true))]
    git_url: Option<String>,
    /// Its most important configuration
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS), extend("x-zh" = "最重要的配置", "x-no-default" = true))]
    main_config: Option<String>,
    /// Anything else
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS), extend("x-zh" = "其他备注", "x-no-default" = true))]
    notes: Option<String>,
    /// Tags, instead of the old ones
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(max = 64)), extend("x-zh" = "标签，取代原有的", "x-no-default" = true))]
    tags: Option<Vec<String>>,
    /// Clear the text fields that are not given
    #[serde(default)]
    #[schemars(extend("x-zh" = "清空未给出的文本字段"))]
    overwrite: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SetData {
    info: InfoData,
}

impl Tool for SetProjectInfo {
    type Args = SetArgs;
    type Data = SetData;

    fn spec(&self) -> &'static ToolSpec {
        &SET
    }

    async fn call(&self, args: SetArgs, cx: &CallCx) -> Result<Outcome<SetData>, ToolError> {
        let patch = ProjectPatch {
            summary: args.summary,
            background: args.background,
            git_url: args.git_url,
            main_config: args.main_config,
            notes: args.notes,
            tags: args.tags.map(tidy_tags),
            overwrite: args.overwrite,
        };
        let nothing = patch == ProjectPatch::default();
        let (info, iterations, changed) = self
            .0
            .run(cx, move |store, root| {
                let changed = if nothing { false } else { store.set_project_info(root, patch)?.1 };
                let (info, iterations, _) = store.project_info(root, ten())?;
                Ok((info, iterations, changed))
            })
            .await?;
        let info = InfoData::of(info, iterations);
        let head = match (cx.lang, changed) {
            (Lang::En, true) => "Project facts updated.",
            (Lang::Zh, true) => "项目信息已更新。",
            (Lang::En, false) => "Nothing to change.",
            (Lang::Zh, false) => "没有变化。",
        };
        let text = format!("{head}\n{}", info.whole(cx.lang));
        let body = Body::new(SetData { info }, text);
        Ok(if changed { Outcome::Ok(body) } else { Outcome::Noop(body) })
    }
}

static ITERATE: ToolSpec = ToolSpec {
    name: "add_project_iteration",
    title: Text::fixed("Add an iteration", "添加迭代"),
    description: Text::fixed(
        "Records a finished iteration or version of this project. With dedupe_key a repeated call answers noop with \
         the first one.",
        "记录此项目完成的一次迭代或一个版本。提供 dedupe_key 时，重复调用返回 noop 和第一次的记录。",
    ),
    annotations: Annotations::NONE,
    confirm: Confirm::None,
    version: 1,
};

/// Adds an iteration.
pub(super) struct AddProjectIteration(pub(super) Arc<Book>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct IterateArgs {
    /// Its name
    #[schemars(length(min = 1, max = 300), extend("x-zh" = "名称"))]
    title: String,
    /// What it brought
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS), extend("x-zh" = "带来了什么"))]
    summary: String,
    /// Everything worth knowing later
    #[serde(default)]
    #[schemars(length(max = TEXT_CHARS), extend("x-zh" = "以后值得了解的一切"))]
    details: String,
    /// Tags
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(max = 64)), extend("x-zh" = "标签"))]
    tags: Vec<String>,
    /// The same key creates one iteration
    #[serde(default)]
    #[schemars(length(min = 1, max = 256), extend("x-zh" = "去重键：相同的键只创建一次迭代", "x-no-default" = true, "x-no-nul" = true))]
    dedupe_key: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct IterateData {
    iteration: IterationData,
    info: InfoData,
    /// The key was used: this is the iteration it made
    deduped: bool,
}

impl Tool for AddProjectIteration {
    type Args = IterateArgs;
    type Data = IterateData;

    fn spec(&self) -> &'static ToolSpec {
        &ITERATE
    }

    fn check(&self, args: &IterateArgs) -> Vec<Issue> {
        let message = Text::fixed("a title must not be blank", "标题不能为空白");
        let blank = args.title.trim().is_empty();
        blank.then(|| Issue::new("/title", IssueCode::Missing, message)).into_iter().collect()
    }

    async fn call(&self, args: IterateArgs, cx: &CallCx) -> Result<Outcome<IterateData>, ToolError> {
        let new = ProjectIteration {
            title: args.title,
            summary: args.summary,
            details: args.details,
            tags: tidy_tags(args.tags),
            ..ProjectIteration::default()
        };
        let days = i64::from(cx.settings.journal_key_days);
        let (iteration, info, iterations, deduped) = self
            .0
            .run(cx, move |store, root| {
                let (iteration, deduped) = store.add_project_iteration(root, new, args.dedupe_key, days)?;
                let (info, iterations, _) = store.project_info(root, ten())?;
                Ok((iteration, info, iterations, deduped))
            })
            .await?;
        let iteration = IterationData::from(iteration);
        let text = match (cx.lang, deduped) {
            (Lang::En, false) => format!("Added iteration {} (id={})", iteration.title, iteration.id),
            (Lang::Zh, false) => format!("已添加迭代 {}（id={}）", iteration.title, iteration.id),
            (Lang::En, true) => {
                format!("Iteration {} is already there (id={})", iteration.title, iteration.id)
            }
            (Lang::Zh, true) => format!("迭代 {} 已存在（id={}）", iteration.title, iteration.id),
        };
        let info = InfoData::of(info, iterations);
        let body = Body::new(IterateData { iteration, info, deduped }, text);
        Ok(if deduped { Outcome::Noop(body) } else { Outcome::Ok(body) })
    }
}
