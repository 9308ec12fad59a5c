//! `lsp_document_symbols` and `lsp_workspace_symbols`.

use std::sync::Arc;

use chatos_layer::{CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::looking::two_hundred;
use super::{Data, PlaceData, body, busy_line, keep_first};
use crate::desk::{Answered, Desk, Question, convert, put, refused};
use crate::place::Stretch;
use crate::position::{Position, Range};
use crate::shapes::{self, Location, Symbol};

/// Symbols of one file that are returned.
const MAX_SYMBOLS: usize = 1_000;

static DOCUMENT: ToolSpec = ToolSpec {
    name: "lsp_document_symbols",
    title: Text::fixed("Outline of a file", "文件大纲"),
    description: Text::fixed(
        "Lists what a file defines: classes, functions, fields and so on, in order, with their place and how deep they \
         are nested. A quick way to learn what is in a large file before reading parts of it.",
        "列出文件中定义的内容：类、函数、字段等，按顺序给出位置与嵌套深度。适合在阅读大文件的部分内容前快速了解其结构。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

static WORKSPACE: ToolSpec = ToolSpec {
    name: "lsp_workspace_symbols",
    title: Text::fixed("Find a symbol by name", "按名称查找符号"),
    description: Text::fixed(
        "Finds classes, functions and other names in the whole project by a part of their name. Servers match in their \
         own way, often loosely. Needs server_id because there is no file to choose the server by.",
        "按名称的一部分在整个项目中查找类、函数等。匹配方式由服务器决定，通常较宽松。由于没有文件可供选择服务器，需要给出 server_id。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct DocumentSymbols(pub(crate) Arc<Desk>);
pub(crate) struct WorkspaceSymbols(pub(crate) Arc<Desk>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct FileArgs {
    /// File, relative to the root
    #[schemars(length(min = 1), extend("x-zh" = "文件，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    pub(crate) path: String,
    /// Which language server; by the file's name when left out
    #[serde(default)]
    #[schemars(length(min = 1), extend("x-zh" = "使用哪个语言服务器；省略则按文件名选择", "x-max-bytes" = 64, "x-no-nul" = true, "x-no-default" = true))]
    pub(crate) server_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SymbolData {
    name: String,
    kind: &'static str,
    /// 0 for the outermost
    depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    /// All of it
    range: Stretch,
    /// Its name
    #[serde(skip_serializing_if = "Option::is_none")]
    selection: Option<Stretch>,
}

impl Tool for DocumentSymbols {
    type Args = FileArgs;
    type Data = Data<Vec<SymbolData>>;

    fn spec(&self) -> &'static ToolSpec {
        &DOCUMENT
    }

    async fn call(&self, args: FileArgs, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let asked = self.0.ask(cx, &args.path, args.server_id.as_deref(), |opened| {
            let params = json!({ "textDocument": { "uri": opened.document.uri } });
            Question { method: "textDocument/documentSymbol", ability: "/documentSymbolProvider", params }
        });
        let Answered { opened, value, busy } = asked.await?;
        let document = &opened.document;
        let stretch = |range: Range| {
            Stretch::of(convert(range, &document.text, &document.lines, opened.session.wants.encoding))
        };
        let mut list = Vec::new();
        flatten(shapes::each(value), 0, &stretch, &mut list);
        let cut = keep_first(&mut list, MAX_SYMBOLS).map(|total| (MAX_SYMBOLS, total));
        let lines: Vec<String> = list
            .iter()
            .map(|one| {
                let at = one.selection.unwrap_or(one.range).start;
                let (indent, end) = ("  ".repeat(one.depth.min(20)), one.range.end.line);
                let detail = one.detail.as_deref().filter(|detail| !detail.is_empty());
                let detail = detail.map(|detail| format!("  {detail}")).unwrap_or_default();
                format!("{indent}{}:{}-{end} {} {}{detail}", at.line, at.character, one.kind, one.name)
            })
            .collect();
        let lines = match (lines.is_empty(), cx.lang) {
            (false, _) => lines.join("\n"),
            (true, Lang::En) => "no symbols".to_owned(),
            (true, Lang::Zh) => "没有符号".to_owned(),
        };
        let text = format!("{}\n{lines}{}", document.path, busy_line(busy.as_deref(), cx.lang));
        let data = Data::about("lsp_document_symbols", &opened, None, list).busy(busy);
        Ok(Outcome::Ok(body(data, text, "/result", cut, cx.lang)))
    }
}

fn flatten(
    symbols: Vec<Symbol>,
    depth: usize,
    stretch: &impl Fn(Range) -> Stretch,
    list: &mut Vec<SymbolData>,
) {
    const DEEPEST: usize = 64;
    for symbol in symbols {
        let range = symbol.range.or_else(|| symbol.location.and_then(|location| location.range));
        let Some(range) = range else { continue };
        list.push(SymbolData {
            name: symbol.name,
            kind: shapes::symbol_kind(symbol.kind),
            depth,
            detail: symbol.detail.map(|detail| detail.chars().take(200).collect()),
            container: symbol.container_name.filter(|name| !name.is_empty()),
            range: stretch(range),
            selection: symbol.selection_range.map(stretch),
        });
        if depth < DEEPEST {
            flatten(symbol.children, depth + 1, stretch, list);
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct QueryArgs {
    /// Part of the name
    #[schemars(length(min = 1), extend("x-zh" = "名称的一部分", "x-max-bytes" = 256, "x-no-nul" = true))]
    query: String,
    /// Which language server, as list_lsp_servers names it
    #[schemars(length(min = 1), extend("x-zh" = "语言服务器的 id，见 list_lsp_servers", "x-max-bytes" = 64, "x-no-nul" = true))]
    server_id: String,
    /// Names to return
    #[serde(default = "two_hundred")]
    #[schemars(range(min = 1, max = 1000), extend("x-zh" = "返回的数量"))]
    limit: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct NamedData {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<String>,
    #[serde(flatten)]
    place: PlaceData,
}

impl Tool for WorkspaceSymbols {
    type Args = QueryArgs;
    type Data = Data<Vec<NamedData>>;

    fn spec(&self) -> &'static ToolSpec {
        &WORKSPACE
    }

    async fn call(&self, args: QueryArgs, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let desk = &self.0;
        let server = desk.server(&args.server_id)?;
        let root = Desk::root(cx)?;
        let work = async {
            let mut sessions = desk.pool.running_in(Some(&server.id), root);
            if sessions.is_empty() {
                sessions.push(desk.pool.get(cx, &server, root, root.to_path_buf()).await?);
            }
            let (mut all, mut busy) = (Vec::new(), None);
            for session in sessions {
                let question = Question {
                    method: "workspace/symbol",
                    ability: "/workspaceSymbolProvider",
                    params: json!({ "query": args.query }),
                };
                let (value, at) =
                    put(cx, &session, &question).await.map_err(|trouble| refused(cx, trouble))?;
                busy = busy.or(at);
                let named: Vec<Symbol> = shapes::each(value);
                all.extend(named.into_iter().map(|one| (Arc::clone(&session), one)));
            }
            Ok::<_, ToolError>((all, busy))
        };
        let (mut all, busy) = cx.unless_stopped(work).await??;
        let cut = keep_first(&mut all, args.limit).map(|total| (args.limit, total));
        let mut list = Vec::new();
        for (session, one) in all {
            let Some(location) = one.location else { continue };
            let start = Position { line: 0, character: 0 };
            let range = location.range.unwrap_or(Range { start, end: start });
            let place = desk.places(cx, &session, vec![Location { uri: location.uri, range }]).await?;
            let Some(place) = place.into_iter().next() else { continue };
            list.push(NamedData {
                name: one.name,
                kind: shapes::symbol_kind(one.kind),
                container: one.container_name.filter(|name| !name.is_empty()),
                place: PlaceData::of(place),
            });
        }
        let lines: Vec<String> = list
            .iter()
            .map(|one| {
                let container = one.container.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
                format!("{} {}{container}  {}", one.kind, one.name, one.place.line())
            })
            .collect();
        let lines = match (lines.is_empty(), cx.lang) {
            (false, _) => lines.join("\n"),
            (true, Lang::En) => format!("no symbol matches `{}`", args.query),
            (true, Lang::Zh) => format!("没有与 `{}` 匹配的符号", args.query),
        };
        let text =
            format!("{} \"{}\"\n{lines}{}", server.id, args.query, busy_line(busy.as_deref(), cx.lang));
        let mut data = Data::new("lsp_workspace_symbols", &server.id, list).busy(busy);
        data.query = Some(args.query);
        Ok(Outcome::Ok(body(data, text, "/result", cut, cx.lang)))
    }
}
