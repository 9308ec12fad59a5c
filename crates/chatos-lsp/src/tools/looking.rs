//! `lsp_hover`, `lsp_definition`, `lsp_references`, `lsp_completion`.

use std::sync::Arc;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Issue, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Data, PlaceData, body, busy_line, head, keep_first};
use crate::desk::{Answered, Desk, convert};
use crate::place::{Spot, Stretch};
use crate::position::{Position, Range};
use crate::shapes;

macro_rules! spec {
    ($name:ident, $word:literal, $title:expr, $description:expr) => {
        static $name: ToolSpec = ToolSpec {
            name: $word,
            title: $title,
            description: $description,
            annotations: Annotations::of("R I"),
            confirm: Confirm::None,
            version: 1,
        };
    };
}

spec!(
    HOVER,
    "lsp_hover",
    Text::fixed("Type and documentation", "类型与文档"),
    Text::fixed(
        "Says what is known about the name at a place: its type, signature and documentation. Point with line and \
         symbol, or with line and character. The language server starts by itself. A place without a name gives an \
         empty result; a file no server is known for is not_supported.",
        "说明某处名称的类型、签名和文档。用 line 加 symbol 定位，或用 line 加 character。语言服务器会自动启动。\
         没有名称的位置返回空结果；没有对应服务器的文件为 not_supported。",
    )
);
spec!(
    DEFINITION,
    "lsp_definition",
    Text::fixed("Find the definition", "查找定义"),
    Text::fixed(
        "Finds where the name at a place is defined, with the line there. Places outside the root are named by uri and \
         cannot be read. Better than a text search for names that occur often.",
        "查找某处名称的定义位置，并给出该行内容。根目录之外的位置以 uri 给出，无法读取。对常见名称比文本搜索更准确。",
    )
);
spec!(
    REFERENCES,
    "lsp_references",
    Text::fixed("Find references", "查找引用"),
    Text::fixed(
        "Finds everywhere the name at a place is used, across files, with the lines. Knows scopes and imports, so it \
         finds uses of this name only. While the server still looks at the project the result says so.",
        "跨文件查找某处名称的所有使用位置，并给出各行内容。它了解作用域和导入，因此只返回该名称的使用。\
         服务器仍在分析项目时结果会说明。",
    )
);
spec!(
    COMPLETION,
    "lsp_completion",
    Text::fixed("Suggest completions", "补全建议"),
    Text::fixed(
        "Lists what could be written at a place: members, functions, imports, with their kinds and details. The text \
         before the place decides, as in an editor. Useful to learn the interface of a value.",
        "列出某处可以写的内容：成员、函数、导入等，含类别与详情。与编辑器一样，由该位置之前的文本决定。可用于了解一个值的接口。",
    )
);

pub(crate) struct Hover(pub(crate) Arc<Desk>);
pub(crate) struct Definition(pub(crate) Arc<Desk>);
pub(crate) struct References(pub(crate) Arc<Desk>);
pub(crate) struct Completion(pub(crate) Arc<Desk>);

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoverData {
    contents: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<Stretch>,
}

impl Tool for Hover {
    type Args = Spot;
    type Data = Data<HoverData>;

    fn spec(&self) -> &'static ToolSpec {
        &HOVER
    }

    fn check(&self, args: &Spot) -> Vec<Issue> {
        args.check()
    }

    async fn call(&self, args: Spot, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let asked = self.0.ask_at(cx, &args, ("textDocument/hover", "/hoverProvider"), json!({}));
        let (Answered { opened, value, busy }, at) = asked.await?;
        let contents = shapes::text(&value["contents"]).trim().to_owned();
        let range: Option<Range> = serde_json::from_value(value["range"].clone()).ok();
        let document = &opened.document;
        let range = range.map(|range| {
            Stretch::of(convert(range, &document.text, &document.lines, opened.session.wants.encoding))
        });
        let shown = match (contents.is_empty(), cx.lang) {
            (false, _) => contents.clone(),
            (true, Lang::En) => "nothing is known about this place".to_owned(),
            (true, Lang::Zh) => "此处没有可用信息".to_owned(),
        };
        let text = format!("{}\n{shown}{}", head(&opened, at), busy_line(busy.as_deref(), cx.lang));
        let data = Data::about("lsp_hover", &opened, Some(at), HoverData { contents, range }).busy(busy);
        Ok(Outcome::Ok(Body::content(data, text)))
    }
}

impl Tool for Definition {
    type Args = Spot;
    type Data = Data<Vec<PlaceData>>;

    fn spec(&self) -> &'static ToolSpec {
        &DEFINITION
    }

    fn check(&self, args: &Spot) -> Vec<Issue> {
        args.check()
    }

    async fn call(&self, args: Spot, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let asked = self.0.ask_at(cx, &args, ("textDocument/definition", "/definitionProvider"), json!({}));
        let (answered, at) = asked.await?;
        let nothing = Text::fixed("no definition found", "未找到定义");
        places(&self.0, cx, "lsp_definition", answered, at, 100, &nothing).await
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ReferencesArgs {
    #[serde(flatten)]
    spot: Spot,
    /// The declaration, too
    #[serde(default = "yes")]
    #[schemars(extend("x-zh" = "包括声明本身"))]
    include_declaration: bool,
    /// Places to return
    #[serde(default = "two_hundred")]
    #[schemars(range(min = 1, max = 1000), extend("x-zh" = "返回的数量"))]
    limit: usize,
}

pub(crate) fn yes() -> bool {
    true
}
pub(crate) fn two_hundred() -> usize {
    200
}
fn one_hundred() -> usize {
    100
}

impl Tool for References {
    type Args = ReferencesArgs;
    type Data = Data<Vec<PlaceData>>;

    fn spec(&self) -> &'static ToolSpec {
        &REFERENCES
    }

    fn check(&self, args: &ReferencesArgs) -> Vec<Issue> {
        args.spot.check()
    }

    async fn call(&self, args: ReferencesArgs, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let more = json!({ "context": { "includeDeclaration": args.include_declaration } });
        let asked = self.0.ask_at(cx, &args.spot, ("textDocument/references", "/referencesProvider"), more);
        let (answered, at) = asked.await?;
        let nothing = Text::fixed("no references found", "未找到引用");
        places(&self.0, cx, "lsp_references", answered, at, args.limit, &nothing).await
    }
}

async fn places(
    desk: &Desk,
    cx: &CallCx,
    tool: &'static str,
    answered: Answered,
    at: Position,
    limit: usize,
    nothing: &Text,
) -> Result<Outcome<Data<Vec<PlaceData>>>, ToolError> {
    let Answered { opened, value, busy } = answered;
    let mut all = shapes::locations(value);
    let cut = keep_first(&mut all, limit).map(|total| (limit, total));
    let found = desk.places(cx, &opened.session, all).await?;
    let found: Vec<PlaceData> = found.into_iter().map(PlaceData::of).collect();
    let lines: Vec<String> = found.iter().map(PlaceData::line).collect();
    let lines = if lines.is_empty() { nothing.get(cx.lang).to_owned() } else { lines.join("\n") };
    let text = format!("{}\n{lines}{}", head(&opened, at), busy_line(busy.as_deref(), cx.lang));
    let data = Data::about(tool, &opened, Some(at), found).busy(busy);
    Ok(Outcome::Ok(body(data, text, "/result", cut, cx.lang)))
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CompletionArgs {
    #[serde(flatten)]
    spot: Spot,
    /// Suggestions to return
    #[serde(default = "one_hundred")]
    #[schemars(range(min = 1, max = 500), extend("x-zh" = "返回的建议数"))]
    limit: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CompletionData {
    items: Vec<ItemData>,
    is_incomplete: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ItemData {
    label: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    insert_text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    label: String,
    #[serde(default)]
    kind: u8,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    documentation: Value,
    #[serde(default)]
    insert_text: Option<String>,
    #[serde(default)]
    text_edit: Value,
    #[serde(default)]
    sort_text: Option<String>,
}

impl Tool for Completion {
    type Args = CompletionArgs;
    type Data = Data<CompletionData>;

    fn spec(&self) -> &'static ToolSpec {
        &COMPLETION
    }

    fn check(&self, args: &CompletionArgs) -> Vec<Issue> {
        args.spot.check()
    }

    async fn call(&self, args: CompletionArgs, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let more = json!({ "context": { "triggerKind": 1 } });
        let asked = self.0.ask_at(cx, &args.spot, ("textDocument/completion", "/completionProvider"), more);
        let (Answered { opened, value, busy }, at) = asked.await?;
        let is_incomplete = value["isIncomplete"].as_bool().unwrap_or(false);
        let list = if value.is_array() { value } else { value["items"].clone() };
        let mut items: Vec<Item> = shapes::each(list);
        items.sort_by(|a, b| {
            let key = |item: &Item| item.sort_text.clone().unwrap_or_else(|| item.label.clone());
            key(a).cmp(&key(b))
        });
        let cut = keep_first(&mut items, args.limit).map(|total| (args.limit, total));
        let short = |text: String, most: usize| text.chars().take(most).collect::<String>();
        let items: Vec<ItemData> = items
            .into_iter()
            .map(|item| {
                let insert =
                    item.insert_text.or_else(|| item.text_edit["newText"].as_str().map(str::to_owned));
                let documentation = shapes::text(&item.documentation);
                ItemData {
                    kind: shapes::completion_kind(item.kind),
                    detail: item.detail.map(|detail| short(detail, 300)),
                    documentation: (!documentation.is_empty()).then(|| short(documentation, 500)),
                    insert_text: insert.filter(|insert| *insert != item.label),
                    label: item.label,
                }
            })
            .collect();
        let lines: Vec<String> = items
            .iter()
            .map(|item| {
                let detail = item.detail.as_deref().map(|detail| format!("  {detail}")).unwrap_or_default();
                format!("{} ({}){detail}", item.label, item.kind)
            })
            .collect();
        let lines = match (lines.is_empty(), cx.lang) {
            (false, _) => lines.join("\n"),
            (true, Lang::En) => "no suggestions".to_owned(),
            (true, Lang::Zh) => "没有建议".to_owned(),
        };
        let text = format!("{}\n{lines}{}", head(&opened, at), busy_line(busy.as_deref(), cx.lang));
        let result = CompletionData { items, is_incomplete };
        let data = Data::about("lsp_completion", &opened, Some(at), result).busy(busy);
        Ok(Outcome::Ok(body(data, text, "/result/items", cut, cx.lang)))
    }
}
