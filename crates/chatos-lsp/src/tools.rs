//! The tools, and what their results have in common.

pub(crate) mod calls;
pub(crate) mod changing;
pub(crate) mod diagnostics;
pub(crate) mod looking;
pub(crate) mod servers;
pub(crate) mod symbols;

use chatos_layer::Body;
use chatos_tool::{Cut, Keep, Lang, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::desk::{Found, Opened};
use crate::documents::Document;
use crate::place::{Point, Stretch};
use crate::position::{Encoding, Position};

/// The result of a tool (servers §10).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Data<R> {
    tool: &'static str,
    server_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<DocumentData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Point>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    result: R,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
    /// What the language server is still at; the result may be incomplete then
    #[serde(skip_serializing_if = "Option::is_none")]
    analysing: Option<String>,
}

/// The text a result is about.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DocumentData {
    uri: String,
    path: String,
    version: i64,
    sha256: String,
    language_id: String,
}

impl DocumentData {
    fn of(document: &Document) -> Self {
        Self {
            uri: document.uri.clone(),
            path: document.path.clone(),
            version: document.version,
            sha256: document.digest.as_str().to_owned(),
            language_id: document.language.clone(),
        }
    }
}

impl<R> Data<R> {
    fn new(tool: &'static str, server_id: &str, result: R) -> Self {
        Self {
            tool,
            server_id: server_id.to_owned(),
            document: None,
            position: None,
            query: None,
            result,
            truncated: None,
            analysing: None,
        }
    }

    fn about(tool: &'static str, opened: &Opened, at: Option<Position>, result: R) -> Self {
        let mut data = Self::new(tool, &opened.session.server.id, result);
        data.document = Some(DocumentData::of(&opened.document));
        data.position = at.map(|at| point(opened, at));
        data
    }

    /// The same about another result.
    fn map<S>(self, other: impl FnOnce(R) -> S) -> Data<S> {
        Data {
            tool: self.tool,
            server_id: self.server_id,
            document: self.document,
            position: self.position,
            query: self.query,
            result: other(self.result),
            truncated: self.truncated,
            analysing: self.analysing,
        }
    }

    fn busy(mut self, busy: Option<String>) -> Self {
        self.analysing = busy;
        self
    }
}

/// A place of a server in an open text, in the terms of tools.
fn point(opened: &Opened, at: Position) -> Point {
    let Opened { session, document } = opened;
    let mut at = at;
    if let Some(line) = document.lines.get(&document.text, at.line as usize) {
        at.character = session.wants.encoding.convert(line, at.character as usize, Encoding::Utf16) as u32;
    }
    Point::of(at)
}

/// Where a question is about: `path:line:col`.
fn head(opened: &Opened, at: Position) -> String {
    let point = point(opened, at);
    format!("{}:{}:{}", opened.document.path, point.line, point.character)
}

/// A line about a server that is not done.
fn busy_line(busy: Option<&str>, lang: Lang) -> String {
    match (busy, lang) {
        (None, _) => String::new(),
        (Some(what), Lang::En) => {
            format!("\n[the language server is still analysing ({what}); this may be incomplete]")
        }
        (Some(what), Lang::Zh) => format!("\n[语言服务器仍在分析（{what}）；结果可能不完整]"),
    }
}

/// A place as results have it, by path where it lies inside the root.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlaceData {
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    range: Stretch,
    /// The line there
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl PlaceData {
    fn of(found: Found) -> Self {
        Self { path: found.path, uri: found.uri, range: Stretch::of(found.range), text: found.line }
    }

    fn line(&self) -> String {
        let place = self.path.as_deref().or(self.uri.as_deref()).unwrap_or_default();
        let start = self.range.start;
        let text = self.text.as_deref().map(|text| format!("  {text}")).unwrap_or_default();
        format!("{place}:{}:{}{text}", start.line, start.character)
    }
}

/// Keeps the first of a list; says how many there were when some were left out.
fn keep_first<T>(list: &mut Vec<T>, limit: usize) -> Option<usize> {
    let total = list.len();
    list.truncate(limit);
    (total > limit).then_some(total)
}

/// A body that begins with its own line, with what was cut of its list.
fn body<R>(
    mut data: Data<R>,
    text: String,
    field: &str,
    cut: Option<(usize, usize)>,
    lang: Lang,
) -> Body<Data<R>> {
    let Some((limit, total)) = cut else { return Body::content(data, text) };
    data.truncated = Some(true);
    let more = total - limit;
    let note = match lang {
        Lang::En => format!("[… {more} more of {total}; raise limit or narrow the question …]"),
        Lang::Zh => format!("[… 共 {total} 项，另有 {more} 项；请增大 limit 或缩小范围 …]"),
    };
    let cut = Cut {
        field: field.to_owned(),
        unit: Unit::Items,
        keep: Keep::Head,
        limit: limit as u64,
        kept: limit as u64,
        total: Some(total as u64),
        next: None,
    };
    Body::content(data, format!("{text}\n{note}")).truncated(vec![cut])
}
