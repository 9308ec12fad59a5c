//! `list_workspace_files`: the names in one directory.

use std::sync::Arc;

use chatos_files::entry::Kind;
use chatos_files::list;
use chatos_files::stop::Never;
use chatos_files::walk::WalkOptions;
use chatos_layer::{Body, CallCx, Outcome, Tool, explain};
use chatos_tool::{Annotations, Confirm, Cut, Keep, Text, ToolError, ToolSpec, Unit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::open_root;
use crate::server::Shop;

const MAX_NAMES: usize = 100;

static SPEC: ToolSpec = ToolSpec {
    name: "list_workspace_files",
    title: Text::fixed("List a directory", "列出目录"),
    description: Text::fixed(
        "Names in one directory inside the root, sorted, at most 100; hidden ones too, nothing below. For trees and \
         details use list_directory of project_files. A path that is no directory is invalid; one outside the root \
         is denied.",
        "列出根目录内某一目录中的名称，按名称排序，最多 100 个；包含隐藏文件，不含下级。需要目录树或详细信息时请用 \
         project_files 的 list_directory。不是目录的路径为 invalid；根目录之外的路径会被拒绝。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

pub(super) struct ListWorkspaceFiles(pub(super) Arc<Shop>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Args {
    /// Directory, relative to the root
    #[serde(default = "here")]
    #[schemars(length(min = 1), extend("x-zh" = "目录，相对于根目录", "x-max-bytes" = 4096, "x-no-nul" = true))]
    path: String,
}

pub(super) fn here() -> String {
    ".".to_owned()
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Data {
    path: String,
    entries: Vec<Entry>,
    total: usize,
    truncated: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    name: String,
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    kind: Kind,
}

impl Tool for ListWorkspaceFiles {
    type Args = Args;
    type Data = Data;

    fn spec(&self) -> &'static ToolSpec {
        &SPEC
    }

    async fn call(&self, args: Args, cx: &CallCx) -> Result<Outcome<Data>, ToolError> {
        let root = open_root(cx, &self.0.protected)?;
        let task = chatos_blocking::run(move || {
            let options = WalkOptions { hidden: true, ignored: true, depth: 1 };
            list::list(&root, &args.path, options, 0, usize::MAX, &Never)
        });
        let listing = match cx.unless_stopped(task).await? {
            Ok(listing) => listing.map_err(explain)?,
            Err(error) => {
                tracing::error!(call = cx.call_id, %error, "a listing panicked");
                return Err(ToolError::internal(&cx.call_id));
            }
        };
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let mut entries: Vec<Entry> =
            listing.entries.iter().map(|entry| Entry { name: name(&entry.path), kind: entry.kind }).collect();
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        let total = entries.len();
        entries.truncate(MAX_NAMES);
        let mut text: String = entries.iter().map(|entry| format!("- {}\n", entry.name)).collect();
        if text.is_empty() {
            text.push_str("<empty>\n");
        }
        let mut cuts = Vec::new();
        if total > entries.len() {
            let more = total - entries.len();
            let notice =
                Text::new(format!("[… {more} more names omitted …]"), format!("[… 省略 {more} 个名称 …]"));
            text.push_str(notice.get(cx.lang));
            cuts.push(Cut {
                field: "/entries".to_owned(),
                unit: Unit::Items,
                keep: Keep::Head,
                limit: MAX_NAMES as u64,
                kept: entries.len() as u64,
                total: Some(total as u64),
                next: None,
            });
        }
        let data = Data { path: listing.rel, entries, total, truncated: !cuts.is_empty() };
        Ok(Outcome::Ok(Body::content(data, text.trim_end()).truncated(cuts)))
    }
}
