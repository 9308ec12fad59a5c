//! `lsp_code_actions`: what a server offers to do at a place, and doing one of them.

use std::sync::Arc;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Issue, IssueCode, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ChangeData, Wanted, operations, unreadable};
use crate::desk::{Desk, Opened, Question, Trouble, put, refused, surviving, unable};
use crate::place::Spot;
use crate::position::{Position, Range};
use crate::shapes::WorkspaceEdit;
use crate::tools::{Data, busy_line, head};

/// Actions that are shown at most; more is no help to a reader.
const MAX_ACTIONS: usize = 50;

static SPEC: ToolSpec = ToolSpec {
    name: "lsp_code_actions",
    title: Text::fixed("Quick fixes and refactorings", "快速修复与重构"),
    description: Text::fixed(
        "Lists what the language server offers to do for a line or a symbol: quick fixes of its problems, refactorings, \
         organizing imports. With title one of them is shown as a diff; with apply as well it is written to all files or \
         none, and a person may be asked first. Actions that only act inside an editor are not_supported.",
        "列出语言服务器可对某行或某符号执行的操作：问题的快速修复、重构、整理导入等。给出 title 会显示该操作的差异；\
         同时设置 apply 则写入，要么全部文件，要么都不写入，可能先请用户确认。只在编辑器内生效的操作为 not_supported。",
    ),
    annotations: Annotations::of("D"),
    confirm: Confirm::FileChange,
    version: 1,
};

pub(crate) struct CodeActions(pub(crate) Arc<Desk>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
    /// Line, from 1; all of it when there is no symbol
    #[schemars(range(min = 1, max = 10_000_000), extend("x-zh" = "行号，从 1 开始；没有 symbol 时指整行"))]
    line: u32,
    /// Last line; the same line when left out
    #[serde(default)]
    #[schemars(range(min = 1, max = 10_000_000), extend("x-zh" = "最后一行；省略则为同一行", "x-no-default" = true))]
    end_line: Option<u32>,
    /// Text of the symbol in that line
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "该行中符号的文本", "x-max-bytes" = 512, "x-no-nul" = true, "x-no-default" = true))]
    symbol: Option<String>,
    /// Only of this kind, such as quickfix, refactor or source.organizeImports
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "只要此类操作，如 quickfix、refactor 或 source.organizeImports", "x-max-bytes" = 128, "x-no-nul" = true, "x-no-default" = true))]
    kind: Option<String>,
    /// The action to show or apply, by its title
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "要显示或应用的操作的标题", "x-max-bytes" = 1024, "x-no-nul" = true, "x-no-default" = true))]
    title: Option<String>,
    /// Write it; only show the diff otherwise
    #[serde(default)]
    #[schemars(extend("x-zh" = "写入；否则只显示差异"))]
    apply: bool,
    /// Which language server; by the file's name when left out
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "使用哪个语言服务器；省略则按文件名选择", "x-max-bytes" = 64, "x-no-nul" = true, "x-no-default" = true))]
    server_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ActionsData {
    actions: Vec<ActionData>,
    /// What the named one does
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<ChangeData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ActionData {
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    preferred: Option<bool>,
    /// Why it cannot be done
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled: Option<String>,
}

impl ActionData {
    fn of(action: &Value) -> Self {
        Self {
            title: title(action).to_owned(),
            kind: action["kind"].as_str().map(str::to_owned),
            preferred: action["isPreferred"].as_bool(),
            disabled: action["disabled"]["reason"].as_str().map(str::to_owned),
        }
    }
}

fn title(action: &Value) -> &str {
    action["title"].as_str().unwrap_or_default()
}

impl Args {
    /// The stretch the actions are for, counted as the server does.
    fn range(&self, opened: &Opened) -> Result<Range, ToolError> {
        let (document, encoding) = (&opened.document, opened.session.wants.encoding);
        let spot = Spot {
            path: self.path.clone(),
            line: Some(self.line),
            character: self.symbol.is_none().then_some(1),
            symbol: self.symbol.clone(),
            server_id: None,
        };
        let start = spot.find(document, encoding)?;
        let line = |number: u32| document.lines.get(&document.text, number as usize).unwrap_or_default();
        if let Some(symbol) = &self.symbol {
            let end =
                Position { line: start.line, character: start.character + encoding.units(symbol) as u32 };
            return Ok(Range { start, end });
        }
        let last = self.end_line.unwrap_or(self.line).max(self.line) - 1;
        let last = last.min(document.lines.count() as u32 - 1);
        let end = Position { line: last, character: encoding.units(line(last)) as u32 };
        Ok(Range { start, end })
    }
}

impl Tool for CodeActions {
    type Args = Args;
    type Data = Data<ActionsData>;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        if args.apply && args.title.is_none() {
            let message = Text::fixed("apply needs the title of an action", "apply 需要给出操作的 title");
            return vec![Issue::new("/title", IssueCode::Missing, message)];
        }
        Vec::new()
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let desk = &self.0;
        let (opened, at, actions, busy) = self.offered(cx, &args).await?;
        let Some(wanted) = &args.title else {
            let list: Vec<ActionData> = actions.iter().take(MAX_ACTIONS).map(ActionData::of).collect();
            let lines: Vec<String> = list
                .iter()
                .map(|one| {
                    let kind = one.kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default();
                    let star = if one.preferred == Some(true) { " *" } else { "" };
                    let off = one.disabled.as_deref().map(|why| format!(" — {why}")).unwrap_or_default();
                    format!("- {}{kind}{star}{off}", one.title)
                })
                .collect();
            let lines = match (lines.is_empty(), cx.lang) {
                (false, _) => lines.join("\n"),
                (true, Lang::En) => "no actions offered".to_owned(),
                (true, Lang::Zh) => "没有可用的操作".to_owned(),
            };
            let text = format!("{}\n{lines}{}", head(&opened, at), busy_line(busy.as_deref(), cx.lang));
            let result = ActionsData { actions: list, change: None };
            let data = Data::about("lsp_code_actions", &opened, Some(at), result).busy(busy);
            return Ok(Outcome::Ok(Body::content(data, text)));
        };
        let action = choose(&actions, wanted)?;
        let done = cx.unless_stopped(wanted_edits(cx, &opened, action.clone())).await?;
        let all = done.map_err(|trouble| refused(cx, trouble))?;
        let all: Result<Vec<WorkspaceEdit>, _> = all.into_iter().map(serde_json::from_value).collect();
        let all = all.map_err(|error| unreadable(&opened.session, &error))?;
        let edits = operations(cx, &opened.session, all).await?;
        let what = Text::same(title(&action).to_owned());
        let wanted = Wanted {
            tool: "lsp_code_actions",
            opened: &opened,
            at: Some(at),
            edits,
            apply: args.apply,
            busy,
            what,
        };
        let outcome = desk.change(cx, wanted).await?;
        let listed = vec![ActionData::of(&action)];
        Ok(match outcome {
            Outcome::Ok(body) => Outcome::Ok(body.map(|data| data.map(|change| with(listed, change)))),
            Outcome::Noop(body) => Outcome::Noop(body.map(|data| data.map(|change| with(listed, change)))),
            Outcome::Partial(..) | Outcome::Failed(..) | Outcome::NeedsInput(..) => {
                return Err(ToolError::internal(&cx.call_id));
            }
        })
    }
}

fn with(actions: Vec<ActionData>, change: ChangeData) -> ActionsData {
    ActionsData { actions, change: Some(change) }
}

impl CodeActions {
    /// What the server offers, for the problems there are.
    async fn offered(
        &self,
        cx: &CallCx,
        args: &Args,
    ) -> Result<(Opened, Position, Vec<Value>, Option<String>), ToolError> {
        surviving(cx, || async move {
            let opened = self.0.open(cx, &args.path, args.server_id.as_deref()).await?;
            let range = args.range(&opened)?;
            let findings = Desk::diagnose(cx, &opened, cx.settings.lsp.diagnostics_wait).await?;
            let touching: Vec<Value> = findings
                .list
                .into_iter()
                .filter(|one| {
                    one.range.start.line <= range.end.line && range.start.line <= one.range.end.line
                })
                .map(|one| one.raw)
                .collect();
            let mut context = json!({ "diagnostics": touching, "triggerKind": 1 });
            if let Some(kind) = &args.kind {
                context["only"] = json!([kind]);
            }
            let params = json!({
                "textDocument": { "uri": opened.document.uri }, "range": range, "context": context,
            });
            let question =
                Question { method: "textDocument/codeAction", ability: "/codeActionProvider", params };
            let (value, busy) = put(cx, &opened.session, &question).await?;
            let mut actions = value.as_array().cloned().unwrap_or_default();
            actions.retain(|action| !title(action).is_empty());
            Ok((opened, range.start, actions, busy))
        })
        .await
    }
}

fn choose(actions: &[Value], wanted: &str) -> Result<Value, ToolError> {
    let same = |action: &&Value| title(action).trim() == wanted.trim();
    let found = actions.iter().find(same).or_else(|| {
        let mut like =
            actions.iter().filter(|action| title(action).to_lowercase().contains(&wanted.to_lowercase()));
        like.next().filter(|_| like.next().is_none())
    });
    let Some(found) = found else {
        let titles: Vec<&str> = actions.iter().map(title).take(10).collect();
        let message =
            Text::new(format!("no action is called `{wanted}`"), format!("没有名为 `{wanted}` 的操作"));
        let hint = if titles.is_empty() {
            Text::fixed("nothing is offered here", "此处没有可用的操作")
        } else {
            Text::new(format!("one of: {}", titles.join("; ")), format!("可选：{}", titles.join("；")))
        };
        return Err(ToolError::invalid(vec![Issue::new("/title", IssueCode::Enum, message).hint(hint)]));
    };
    if let Some(why) = found["disabled"]["reason"].as_str() {
        let message = Text::new(format!("it cannot be done here: {why}"), format!("此处无法执行：{why}"));
        return Err(ToolError::invalid(vec![Issue::new("/title", IssueCode::Enum, message)]));
    }
    Ok(found.clone())
}

/// The edits of an action: its own, or those that its command asks for.
async fn wanted_edits(cx: &CallCx, opened: &Opened, mut action: Value) -> Result<Vec<Value>, Trouble> {
    let (session, time) = (&opened.session, cx.settings.lsp.timeout);
    let refused = |refusal| Trouble::Refused(Arc::clone(session), refusal);
    let plain = action["command"].is_string();
    if !plain && action["edit"].is_null() && session.offers("/codeActionProvider/resolveProvider") {
        action = session.request("codeAction/resolve", action, time).await.map_err(refused)?;
    }
    if !plain && action["edit"].is_object() {
        return Ok(vec![action["edit"].clone()]);
    }
    let command = if plain { action } else { action["command"].clone() };
    let Some(name) = command["command"].as_str() else { return Ok(Vec::new()) };
    let known = session.abilities["executeCommandProvider"]["commands"].as_array();
    if !known.is_some_and(|known| known.iter().any(|one| one == name)) {
        return Err(unable(session, name).into());
    }
    let collecting = session.news.collect().await;
    let params = json!({ "command": name, "arguments": command["arguments"] });
    session.request("workspace/executeCommand", params, time).await.map_err(refused)?;
    Ok(collecting.edits())
}
