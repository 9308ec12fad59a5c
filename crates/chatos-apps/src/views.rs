//! Views of MCP servers (extension `io.modelcontextprotocol/ui`, mcp "apps"): the HTML of a `ui://`
//! resource, read through the pool, kept here and served to one sandboxed frame. What such a frame asks
//! comes back by the id of its view: server, agent and uri are those it was opened for.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chatos_mcp::Tool;
use chatos_policy::{Outcome, Role};
use chatos_servers::UiMeta;
use chatos_tool::{ErrorCode, Fault, Lang, Text, hex};
use chatos_wire::app::{ToolWithView, ViewHosts};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::apps::{AppCall, Apps, broken};
use crate::frames::{network_sources, random_name};

/// Views kept at a time; the oldest gives way. Nobody looks at more of them at once.
const VIEWS: usize = 64;
/// The largest page of one view.
const PAGE_BYTES: usize = 8 * 1024 * 1024;
/// All of them together.
const ALL_BYTES: usize = 64 * 1024 * 1024;
/// Hosts a view may name.
const HOSTS: usize = 20;
const READ_TIME: Duration = Duration::from_secs(30);
/// The only kind of page there is.
const HTML: &str = "text/html;profile=mcp-app";

/// Which view to open.
#[derive(Debug, Clone)]
pub struct ViewOrder {
    /// The server: identity, row id or name.
    pub server: String,
    /// The tool that names the view.
    pub tool: String,
    /// The agent whose grants count for what the view calls; a person by hand when absent.
    pub agent: Option<String>,
    /// Origin of the page that will show the view.
    pub ui_origin: String,
    /// A person allowed the hosts the view asks for.
    pub allow_hosts: bool,
    /// The language of texts.
    pub lang: Lang,
}

/// A view that is served.
#[derive(Debug)]
pub struct View {
    /// Its name in addresses; nobody can guess it.
    pub id: String,
    /// The server's part of the origin.
    pub hash: String,
    /// The page that may show it.
    pub ui_origin: String,
    /// What it may load, as a person allowed it.
    pub hosts: ViewHosts,
    /// HTML of the view.
    pub html: Vec<u8>,
    identity: String,
    agent: Option<String>,
}

/// A view and what the page around it shows.
#[derive(Debug)]
pub struct OpenedView {
    /// The view that is served now.
    pub view: Arc<View>,
    /// What it asks for, allowed or not.
    pub asks: ViewHosts,
    /// It wants a border drawn around it; `None` when it does not care.
    pub prefers_border: Option<bool>,
    /// The tool as its server describes it.
    pub tool: Value,
    /// What people call the server.
    pub server: String,
    /// Address of the resource the view was read from.
    pub uri: String,
}

/// All views that are open somewhere.
#[derive(Default)]
pub(crate) struct Views {
    all: VecDeque<Arc<View>>,
}

impl Views {
    fn add(&mut self, view: Arc<View>) {
        self.all.push_back(view);
        let size = |all: &VecDeque<Arc<View>>| all.iter().map(|view| view.html.len()).sum::<usize>();
        while self.all.len() > VIEWS || (self.all.len() > 1 && size(&self.all) > ALL_BYTES) {
            self.all.pop_front();
        }
    }

    fn find(&self, id: &str) -> Option<Arc<View>> {
        self.all.iter().find(|view| view.id == id).cloned()
    }
}

impl Apps {
    /// The view of this name on the origin with this hash.
    pub fn view(&self, hash: &str, id: &str) -> Option<Arc<View>> {
        self.views().find(id).filter(|view| view.hash == hash)
    }
}

impl Apps {
    /// Tools of a server that have a view, as far as its tools were listed; nothing is started for it.
    pub async fn tools_with_views(&self, server: &str) -> Result<Vec<ToolWithView>, Fault> {
        let lists = self.servers()?.listed(server).await?;
        let mut found: Vec<ToolWithView> = Vec::new();
        for tool in lists.iter().flat_map(|list| &list.tools) {
            let Some(uri) = UiMeta::of(tool).uri() else { continue };
            if !found.iter().any(|known| known.tool == tool.name) {
                found.push(ToolWithView { tool: tool.name.clone(), uri: uri.to_owned() });
            }
        }
        Ok(found)
    }

    /// Reads the view of a tool from its server and keeps it to be served.
    pub async fn open_view(&self, order: ViewOrder) -> Result<OpenedView, Fault> {
        let (identity, server, tool) =
            self.servers()?.usable_tool(&order.server, &order.tool, order.lang).await?;
        let Some(uri) = UiMeta::of(&tool).uri().map(str::to_owned) else {
            return Err(no_view(&server, &order.tool));
        };
        let page = self.servers()?.read_resource(&identity, &uri, READ_TIME).await?;
        let (html, ui) = html_of(&page, &uri, &server)?;
        let asks = hosts_of(&ui["csp"]);
        let hosts = if order.allow_hosts { asks.clone() } else { ViewHosts::default() };
        let view = Arc::new(View {
            id: random_name()?,
            hash: hex(&Sha256::digest(format!("mcp-view:{identity}").as_bytes())[..10]),
            ui_origin: order.ui_origin,
            hosts,
            html,
            identity,
            agent: order.agent,
        });
        tracing::info!(%server, uri, hosts = ?view.hosts, "a view of a server is opened");
        self.views().add(Arc::clone(&view));
        Ok(OpenedView {
            view,
            asks,
            prefers_border: ui["prefersBorder"].as_bool(),
            tool: tool_json(&tool),
            server,
            uri,
        })
    }

    /// A view calls a tool of its own server, as its agent or the person would: through the one path.
    pub async fn view_call(
        &self,
        id: &str,
        tool: &str,
        arguments: Option<Value>,
        session: Option<String>,
        lang: Lang,
    ) -> Result<Value, Fault> {
        let view = self.known_view(id)?;
        let mut meta = Map::new();
        if let Some(session) = &session {
            meta.insert("sessionId".to_owned(), json!(session));
        }
        let outcome = match view.agent.clone() {
            None => None,
            Some(agent) => Some(self.outcome_of(agent).await?),
        };
        let set = self.servers()?.toolset_of_view(&view.identity, outcome.as_ref(), lang).await?;
        let call = AppCall {
            server: view.identity.clone(),
            tool: tool.to_owned(),
            arguments,
            meta,
            session: session.unwrap_or_default(),
            agent: view.agent.clone(),
            lang,
        };
        self.0.parts.host.call(Arc::new(set), call).await
    }

    /// A view reads a resource of its own server.
    pub async fn view_read(&self, id: &str, uri: &str) -> Result<Value, Fault> {
        let view = self.known_view(id)?;
        self.servers()?.read_resource(&view.identity, uri, READ_TIME).await
    }

    /// What the policy grants an agent.
    async fn outcome_of(&self, agent: String) -> Result<Outcome, Fault> {
        let agents = self.agents().clone();
        let work = chatos_blocking::run(move || agents.outcome(&agents.find(&agent)?, Role::Main));
        work.await.map_err(|error| broken(&error))?
    }

    fn known_view(&self, id: &str) -> Result<Arc<View>, Fault> {
        self.views().find(id).ok_or_else(|| {
            Fault::new(ErrorCode::NotFound, Text::fixed("this view is not open any more", "该视图已不再打开"))
                .code("view_gone")
                .hint(Text::fixed("open it again", "请重新打开"))
        })
    }
}

/// The page in the answer of `resources/read`, and its `_meta.ui`.
fn html_of(answer: &Value, uri: &str, server: &str) -> Result<(Vec<u8>, Value), Fault> {
    let bad = |en: String, zh: String| Fault::new(ErrorCode::Unavailable, Text::new(en, zh)).code("bad_view");
    let contents = answer["contents"].as_array();
    let found = contents.and_then(|all| all.iter().find(|entry| entry["uri"] == uri).or_else(|| all.first()));
    let Some(content) = found else {
        return Err(bad(
            format!("`{server}` has nothing at `{uri}`"),
            format!("`{server}` 在 `{uri}` 没有内容"),
        ));
    };
    let kind: String =
        content["mimeType"].as_str().unwrap_or_default().chars().filter(|c| *c != ' ').collect();
    if !kind.eq_ignore_ascii_case(HTML) {
        let shown = chatos_manifest::quote(&kind);
        return Err(bad(
            format!("`{uri}` of `{server}` is {shown}; only `{HTML}` can be shown"),
            format!("`{server}` 的 `{uri}` 是 {shown}；只能显示 `{HTML}`"),
        ));
    }
    let bytes = match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(blob)) => STANDARD.decode(blob).map_err(|_| {
            bad(format!("`{uri}` of `{server}` is not base64"), format!("`{server}` 的 `{uri}` 不是 base64"))
        })?,
        (None, None) => Vec::new(),
    };
    if bytes.len() > PAGE_BYTES {
        return Err(Fault::new(
            ErrorCode::ResourceExhausted,
            Text::new(
                format!("the page `{uri}` of `{server}` is larger than 8 MiB"),
                format!("`{server}` 的页面 `{uri}` 超过 8 MiB"),
            ),
        ));
    }
    if std::str::from_utf8(&bytes).is_err() {
        return Err(bad(
            format!("`{uri}` of `{server}` is not UTF-8"),
            format!("`{server}` 的 `{uri}` 不是 UTF-8"),
        ));
    }
    Ok((bytes, content["_meta"]["ui"].clone()))
}

/// The hosts a view asks for; what is no plain host is left out.
fn hosts_of(csp: &Value) -> ViewHosts {
    let list = |name: &str| {
        let mut found: Vec<String> = Vec::new();
        for entry in csp[name].as_array().into_iter().flatten().filter_map(Value::as_str).take(HOSTS) {
            for source in sources(entry) {
                if !found.contains(&source) {
                    found.push(source);
                }
            }
        }
        found
    };
    ViewHosts {
        connect_domains: list("connectDomains"),
        resource_domains: list("resourceDomains"),
        frame_domains: list("frameDomains"),
        base_uri_domains: list("baseUriDomains"),
    }
}

/// A source of a policy: a plain host, or all below one (`https://*.example.com`).
fn sources(entry: &str) -> Vec<String> {
    let (scheme, rest) = entry.split_once("://").map_or(("https", entry), |(scheme, rest)| (scheme, rest));
    let star = rest.starts_with("*.");
    let plain = rest.trim_start_matches("*.").trim_end_matches('/');
    if star && !plain.contains('.') {
        return Vec::new();
    }
    let all = network_sources(&format!("{scheme}://{plain}")).unwrap_or_default();
    if !star {
        return all;
    }
    all.into_iter().map(|source| source.replacen("://", "://*.", 1)).collect()
}

fn tool_json(tool: &Tool) -> Value {
    let mut all =
        json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema });
    let more = [
        ("title", tool.title.as_ref().map(|title| json!(title))),
        ("outputSchema", tool.output_schema.clone()),
        ("annotations", tool.annotations.clone()),
        ("_meta", tool.meta.clone()),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            all[name] = value;
        }
    }
    all
}

fn no_view(server: &str, tool: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("`{tool}` of `{server}` has no view"), format!("`{server}` 的 `{tool}` 没有视图")),
    )
    .code("no_view")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(content: Value) -> Result<(Vec<u8>, Value), Fault> {
        html_of(&json!({ "contents": [content] }), "ui://a/b", "s")
    }

    #[test]
    fn only_whole_pages_of_the_one_kind_are_views() {
        let good = json!({ "uri": "ui://a/b", "mimeType": "text/html; profile=mcp-app", "text": "<p>hi" });
        assert_eq!(page(good).unwrap().0, b"<p>hi");
        let blob = json!({ "uri": "ui://a/b", "mimeType": HTML, "blob": "PHA+", "_meta": { "ui": { "prefersBorder": true } } });
        let (bytes, ui) = page(blob).unwrap();
        assert_eq!((bytes.as_slice(), ui["prefersBorder"].as_bool()), (b"<p>".as_slice(), Some(true)));
        for bad in [
            json!({ "uri": "ui://a/b", "mimeType": "text/html", "text": "x" }),
            json!({ "uri": "ui://a/b", "text": "x" }),
            json!({ "uri": "ui://a/b", "mimeType": HTML, "blob": "%%" }),
            json!({ "uri": "ui://a/b", "mimeType": HTML, "blob": "/w==" }),
            json!({ "uri": "ui://a/b", "mimeType": HTML, "text": "x".repeat(PAGE_BYTES + 1) }),
        ] {
            assert!(page(bad).is_err());
        }
        assert!(html_of(&json!({ "contents": [] }), "ui://a/b", "s").is_err());
        assert!(html_of(&json!(null), "ui://a/b", "s").is_err());
    }

    #[test]
    fn hosts_are_plain_or_all_below_one() {
        assert_eq!(sources("https://cdn.example.com"), ["https://cdn.example.com"]);
        assert_eq!(sources("https://*.example.com"), ["https://*.example.com"]);
        for bad in
            ["*", "https://*", "https://*.com", "'unsafe-eval'", "data:", "x;script-src *", "https://a/b c"]
        {
            assert!(sources(bad).is_empty(), "{bad}");
        }
    }

    #[test]
    fn a_flood_of_views_keeps_the_newest() {
        let mut views = Views::default();
        for n in 0..200 {
            views.add(Arc::new(View {
                id: n.to_string(),
                hash: String::new(),
                ui_origin: String::new(),
                hosts: ViewHosts::default(),
                html: vec![0; 4 * 1024 * 1024],
                identity: String::new(),
                agent: None,
            }));
        }
        assert!(views.find("199").is_some() && views.find("0").is_none());
        assert!(views.all.len() <= 16);
    }
}
