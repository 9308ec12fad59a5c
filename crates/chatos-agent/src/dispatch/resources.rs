//! What servers offer to be read, for models: `list_mcp_resources` and `read_mcp_resource` (packages §5.3). Only servers
//! of the set are ever asked.

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{Block, Connection, Failure, Pool, Resource, ResourceList, plain_for_model};
use chatos_servers::{READ_RESOURCE, Road, ServerRoute, Toolset};
use chatos_tool::{Reason, Text, ToolError};
use serde_json::{Map, Value, json};

use super::CallEnd;
use super::answer::{self, Ended};

/// Entries of one answer.
const PAGE: usize = 100;
const DESCRIPTION_CHARS: usize = 300;
/// How long a server may take to be there and to list; the others are listed without it.
const LISTING: Duration = Duration::from_secs(15);
const READING: Duration = Duration::from_secs(60);

/// Whether what a server links to can be read by the model.
pub(super) fn are_readable(set: &Toolset, route: &ServerRoute) -> bool {
    set.get(READ_RESOURCE).is_some() && set.resource_servers().any(|known| known.identity == route.identity)
}

/// Says behind a result how the resources are read that it links to.
pub(super) fn name_links(end: &mut CallEnd, server: &str) {
    if end.blocks.iter().any(|block| matches!(block, Block::ResourceLink { .. })) {
        let note = format!("\n[read linked resources with {READ_RESOURCE}, server \"{server}\"]");
        end.envelope.text.push_str(&note);
    }
}

/// One page of the resources of one server, or of all.
pub(super) async fn list(pool: &Pool, set: &Toolset, arguments: &Map<String, Value>) -> Ended {
    let from = match arguments.get("cursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty()) {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(from) => from,
            Err(_) => {
                return Ended::failed(invalid(Text::fixed(
                    "`cursor` is not one that an earlier answer gave",
                    "`cursor` 不是之前返回的值",
                )));
            }
        },
    };
    let routes: Vec<&Arc<ServerRoute>> = match named(arguments) {
        None => set.resource_servers().collect(),
        Some(server) => match find(set, server) {
            Ok(route) => vec![route],
            Err(error) => return Ended::failed(*error),
        },
    };
    let asked = routes.into_iter().map(|route| async move {
        let listed = tokio::time::timeout(LISTING, of(pool, route)).await;
        let late = Failure::TimedOut { what: chatos_mcp::Waited::List, after: LISTING, noise: None };
        (route, listed.unwrap_or(Err(late)))
    });
    let (mut all, mut problems) = (Vec::new(), Vec::new());
    for (route, listed) in futures_util::future::join_all(asked).await {
        match listed {
            Ok(list) => {
                let server = route.name.as_str();
                all.extend(list.resources.iter().map(|one| shown(server, "uri", one)));
                all.extend(list.templates.iter().map(|one| shown(server, "uriTemplate", one)));
            }
            Err(failure) => problems.push(json!({ "server": route.name, "problem": failure.text().en })),
        }
    }
    let (total, mut page) = (all.len(), all);
    page.drain(..from.min(total));
    page.truncate(PAGE);
    let next = from + page.len();
    let mut data = json!({ "resources": page, "total": total });
    if next < total {
        data["nextCursor"] = json!(next.to_string());
    }
    if !problems.is_empty() {
        data["problems"] = json!(problems);
    }
    Ended::text(data.to_string(), Some(data))
}

/// What is at an address: text as it is, pictures as pictures, the rest by name.
pub(super) async fn read(pool: &Pool, set: &Toolset, arguments: &Map<String, Value>) -> Ended {
    let uri = arguments.get("uri").and_then(Value::as_str).map(str::trim).unwrap_or_default();
    let (Some(server), false) = (named(arguments), uri.is_empty()) else {
        return Ended::failed(invalid(Text::fixed(
            "`server` and `uri` have to be given",
            "需要给出 `server` 和 `uri`",
        )));
    };
    let route = match find(set, server) {
        Ok(route) => route,
        Err(error) => return Ended::failed(*error),
    };
    let read = match connection(pool, route).await {
        Ok(connection) => connection.read_resource(uri, READING).await,
        Err(failure) => Err(failure),
    };
    match read {
        Err(failure) => Ended::failed(answer::of_failure(&failure, &route.name)),
        Ok(result) => Ended::Answered {
            blocks: blocks(uri, &result),
            structured: None,
            extra: chatos_mcp::Extra::default(),
            is_error: false,
            problems: Vec::new(),
            warnings: Vec::new(),
        },
    }
}

fn blocks(uri: &str, result: &Value) -> Vec<Block> {
    let contents = result["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |content: &Value, key: &str| content[key].as_str().map(str::to_owned);
    let mut blocks: Vec<Block> = contents
        .iter()
        .map(|content| Block::Resource {
            uri: text(content, "uri").unwrap_or_else(|| uri.to_owned()),
            mime: text(content, "mimeType"),
            text: text(content, "text"),
            blob: text(content, "blob"),
            raw: json!({ "type": "resource", "resource": content }),
        })
        .collect();
    if blocks.is_empty() {
        blocks.push(Block::Text(format!("[nothing at {uri}]")));
    }
    blocks
}

async fn of(pool: &Pool, route: &ServerRoute) -> Result<Arc<ResourceList>, Failure> {
    connection(pool, route).await?.resources().await
}

async fn connection(pool: &Pool, route: &ServerRoute) -> Result<Arc<Connection>, Failure> {
    let Road::Pool(key) = &route.road else { return Err(Failure::UnknownServer) };
    pool.connect(key).await.map_err(|error| error.failure)
}

fn named(arguments: &Map<String, Value>) -> Option<&str> {
    arguments.get("server").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty())
}

fn find<'s>(set: &'s Toolset, server: &str) -> Result<&'s Arc<ServerRoute>, Box<ToolError>> {
    let found = set.resource_servers().find(|route| route.answers_to(server) || route.normalized == server);
    found.ok_or_else(|| {
        let known: Vec<String> = set.resource_servers().map(|route| route.name.clone()).collect();
        let (en, zh) = (known.join(", "), known.join("、"));
        let error = ToolError::new(
            Reason::NotFound {
                what: "server".to_owned(),
                id: Some(server.to_owned()),
                path: None,
                nearest: known,
            },
            Text::new(
                format!("no server `{server}` with resources is granted here"),
                format!("此处没有已授权且有资源的服务器 `{server}`"),
            ),
        );
        Box::new(error.hint(Text::new(format!("there are: {en}"), format!("可用：{zh}"))))
    })
}

fn shown(server: &str, key: &str, one: &Resource) -> Value {
    let clean = |text: &str| plain_for_model(text).trim().to_owned();
    let mut entry = json!({ "server": server });
    entry[key] = json!(clean(&one.uri));
    let title = clean(one.title.as_deref().unwrap_or(&one.name));
    let description: String = clean(&one.description).chars().take(DESCRIPTION_CHARS).collect();
    let mime = one.mime.as_deref().map(clean).unwrap_or_default();
    for (key, text) in [("title", title), ("description", description), ("mimeType", mime)] {
        if !text.is_empty() {
            entry[key] = json!(text);
        }
    }
    if let Some(size) = one.size {
        entry["size"] = json!(size);
    }
    entry
}

fn invalid(message: Text) -> ToolError {
    ToolError::new(Reason::InvalidArgument { issues: Vec::new() }, message)
}
