//! `lsp_call_hierarchy`: who calls a function, and what it calls.

use std::sync::Arc;

use chatos_layer::{CallCx, Outcome, Tool};
use chatos_tool::{Annotations, Confirm, Issue, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::looking::two_hundred;
use super::{Data, PlaceData, body, busy_line, head, keep_first};
use crate::desk::{Answered, Desk, Question, put, refused};
use crate::place::{Spot, Stretch};
use crate::shapes::{self, CallEdge, Location};

static SPEC: ToolSpec = ToolSpec {
    name: "lsp_call_hierarchy",
    title: Text::fixed("Show callers and calls", "调用关系"),
    description: Text::fixed(
        "Lists the functions that call the one at a place (incoming), or those it calls (outgoing), with the places of \
         the calls. One step; ask again at a result for the next. A place without a function gives an empty list.",
        "列出调用某处函数的函数（incoming）或它调用的函数（outgoing），并给出调用位置。每次一步；可在结果处再次询问下一步。\
         没有函数的位置返回空列表。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct CallHierarchy(pub(crate) Arc<Desk>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    #[default]
    Incoming,
    Outgoing,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Args {
    #[serde(flatten)]
    spot: Spot,
    /// Who calls it, or what it calls
    #[serde(default)]
    #[schemars(extend("default" = "incoming", "x-zh" = "谁调用它，或它调用谁"))]
    direction: Direction,
    /// Functions to return
    #[serde(default = "two_hundred")]
    #[schemars(range(min = 1, max = 1000), extend("x-zh" = "返回的函数数量"))]
    limit: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CallsData {
    /// The function that was asked about
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    calls: Vec<CallData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CallData {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(flatten)]
    place: PlaceData,
    /// Where the calls are: in the caller
    calls: Vec<Stretch>,
}

impl Tool for CallHierarchy {
    type Args = Args;
    type Data = Data<CallsData>;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    fn check(&self, args: &Args) -> Vec<Issue> {
        args.spot.check()
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Self::Data>, ToolError> {
        let (desk, spot) = (&self.0, &args.spot);
        let method = ("textDocument/prepareCallHierarchy", "/callHierarchyProvider");
        let (Answered { opened, value, mut busy }, at) = desk.ask_at(cx, spot, method, json!({})).await?;
        let function = match value {
            Value::Array(items) => items.into_iter().next(),
            _ => None,
        };
        let name = function.as_ref().and_then(|item| item["name"].as_str()).map(str::to_owned);
        let mut edges: Vec<CallEdge> = Vec::new();
        if let Some(item) = function {
            let question = Question {
                method: match args.direction {
                    Direction::Incoming => "callHierarchy/incomingCalls",
                    Direction::Outgoing => "callHierarchy/outgoingCalls",
                },
                ability: "/callHierarchyProvider",
                params: json!({ "item": item }),
            };
            let answer = cx.unless_stopped(put(cx, &opened.session, &question)).await?;
            let (value, at) = answer.map_err(|trouble| refused(cx, trouble))?;
            busy = at;
            edges = shapes::each(value);
        }
        let cut = keep_first(&mut edges, args.limit).map(|total| (args.limit, total));
        let places: Vec<Location> = edges
            .iter()
            .map(|edge| Location { uri: edge.from.uri.clone(), range: edge.from.selection_range })
            .collect();
        let places = desk.places(cx, &opened.session, places).await?;
        let calls: Vec<CallData> = edges
            .into_iter()
            .zip(places)
            .map(|(edge, place)| CallData {
                name: edge.from.name,
                kind: shapes::symbol_kind(edge.from.kind),
                detail: edge.from.detail.filter(|detail| !detail.is_empty()),
                place: PlaceData::of(place),
                calls: edge.from_ranges.into_iter().map(Stretch::of).collect(),
            })
            .collect();
        let lines: Vec<String> = calls
            .iter()
            .map(|call| {
                let at: Vec<String> = call.calls.iter().map(|range| range.start.line.to_string()).collect();
                let at = if at.is_empty() { String::new() } else { format!("  @{}", at.join(",")) };
                format!("{} {}  {}{at}", call.kind, call.name, call.place.line())
            })
            .collect();
        let lines = match (lines.is_empty(), cx.lang) {
            (false, _) => lines.join("\n"),
            (true, Lang::En) => "no calls found".to_owned(),
            (true, Lang::Zh) => "未找到调用".to_owned(),
        };
        let named = name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        let text = format!("{}{named}\n{lines}{}", head(&opened, at), busy_line(busy.as_deref(), cx.lang));
        let result = CallsData { function: name, calls };
        let data = Data::about("lsp_call_hierarchy", &opened, Some(at), result).busy(busy);
        Ok(Outcome::Ok(body(data, text, "/result/calls", cut, cx.lang)))
    }
}
