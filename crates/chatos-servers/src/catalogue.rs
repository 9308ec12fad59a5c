//! Every server this host knows, from three places: the program itself, the rows a person or an import
//! made, and the apps of plugins. Made anew when one of them changed.

mod place;

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_child::NodeInfo;
use chatos_contribution::{AsyncTask, Endpoint as Contributed, ServerIdentity, cmd_url, normalize_server};
use chatos_manifest::{AppId, AppRef, PluginId, Slot, parse_layer};
use chatos_mcp::{Endpoint, Offers, ServerKey, ServerSpec, Times};
use chatos_plugins::UiApps;
use chatos_policy::{AppEntry, LandConfig};
use chatos_store::{ServerRow, ServerSource, Store, StoreError};
use chatos_tool::names::{Named, Noun, pick, unknown};
use chatos_tool::{ErrorCode, Fault, Text, Transport};
use chatos_wire::server::OauthView;
use serde_json::{Map, Value, json};

use crate::toolset::{AppPlace, Road, ServerRoute};

use crate::auth::{StoredAuth, StoredOauth};
use crate::parts::ServersParts;
use crate::sign_in::SignInKept;

/// Off until a person switches it on (servers §1).
const OFF_AT_FIRST: [&str; 1] = ["chrome_devtools"];

/// How long an unused server of a person or an app stays running.
const IDLE: Duration = Duration::from_secs(600);

/// All servers at one moment.
pub struct Catalogue {
    /// Of the plugins it was made from.
    pub(crate) revision: u64,
    /// Of the settings it was made from.
    pub(crate) settings: u64,
    /// Built-in ones first, then by name.
    pub servers: Vec<Arc<ServerRecord>>,
}

/// A server.
pub struct ServerRecord {
    /// Names it in addresses: the row's id, or the identity of an app's server.
    pub id: String,
    pub source: ServerSource,
    pub plugin_id: Option<String>,
    pub app_id: Option<String>,
    pub description: String,
    pub url: String,
    pub(crate) argv: Option<Vec<String>>,
    /// `in-process`, `stdio`, `http` or `ws`.
    pub transport: &'static str,
    pub enabled: bool,
    pub(crate) locked: bool,
    pub trusted: bool,
    pub(crate) allow_main: bool,
    pub(crate) allow_sub: bool,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) max_timeout_ms: Option<u64>,
    pub(crate) start_timeout_ms: Option<u64>,
    pub(crate) cwd: String,
    pub(crate) allow_private: bool,
    pub(crate) tags: Vec<String>,
    pub(crate) auth: AuthShown,
    /// What is kept of a person's sign-in; absent where none is possible.
    pub(crate) sign_in: Option<Arc<SignInKept>>,
    /// Why it cannot be started.
    pub problem: Option<Fault>,
    pub route: Arc<ServerRoute>,
    /// What the pool is told; absent for built-in ones and for those that may not run.
    pub spec: Option<ServerSpec>,
}

/// What may be told about credentials.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuthShown {
    pub(crate) kind: &'static str,
    pub(crate) has_value: bool,
    pub(crate) header_names: Vec<String>,
    pub(crate) env_names: Vec<String>,
    pub(crate) oauth: Option<OauthView>,
}

impl ServerRecord {
    pub fn identity(&self) -> &ServerIdentity {
        &self.route.identity
    }

    pub fn name(&self) -> &str {
        &self.route.name
    }

    pub fn is_built_in(&self) -> bool {
        self.route.road == Road::BuiltIn
    }

    pub fn key(&self) -> Option<&ServerKey> {
        match &self.route.road {
            Road::Pool(key) => Some(key),
            _ => None,
        }
    }
}

impl Catalogue {
    /// A server by its id, its identity, or its name; a plain name means the first.
    pub fn find(&self, text: &str) -> Option<&Arc<ServerRecord>> {
        let exact = |known: &&Arc<ServerRecord>| known.id == text || known.identity().as_str() == text;
        let named = |known: &&Arc<ServerRecord>| known.route.answers_to(text);
        let loose = |known: &&Arc<ServerRecord>| known.name().eq_ignore_ascii_case(text);
        let servers = || self.servers.iter();
        servers().find(exact).or_else(|| servers().find(named)).or_else(|| servers().find(loose))
    }

    /// The server that somebody named, or what to say about it.
    pub fn wanted(&self, text: &str) -> Result<&Arc<ServerRecord>, Fault> {
        if let Some(found) = self.find(text) {
            return Ok(found);
        }
        let known = self.servers.iter().map(|known| Named::new(&known.id, [known.name()]));
        let known: Vec<Named> = known.collect();
        let id = &pick(Noun::SERVER, text, &known)?.id;
        self.find(id).ok_or_else(|| unknown(Noun::SERVER, text, None))
    }

    pub fn by_identity(&self, identity: &ServerIdentity) -> Option<&Arc<ServerRecord>> {
        self.servers.iter().find(|known| known.identity() == identity)
    }

    pub fn by_key(&self, key: &ServerKey) -> Option<&Arc<ServerRecord>> {
        self.servers.iter().find(|known| known.key() == Some(key))
    }
}

/// Gives every built-in server its row (state §5).
pub fn seed(store: &Store) -> Result<(), StoreError> {
    let rows = chatos_builtin::server_names().filter_map(|name| {
        let info = chatos_builtin::server_info(name)?;
        Some((info.id.to_owned(), name.to_owned(), !OFF_AT_FIRST.contains(&name)))
    });
    store.seed_built_in_servers(rows.collect())
}

/// Looks at everything. Blocks.
pub(crate) fn make(parts: &ServersParts, node: Option<&NodeInfo>) -> Result<Catalogue, Fault> {
    let settings = parts.settings.revision();
    let desk = parts.plugins.plugins()?;
    desk.refresh_names();
    let snapshot = desk.snapshot();
    let rows = parts.store.mcp_servers()?;
    let sampling = may_sample(&parts.store.land_configs()?);
    let making = CatalogueBuilder { parts, sampling, node };
    let mut servers = Vec::new();
    for name in chatos_builtin::server_names() {
        let Some(info) = chatos_builtin::server_info(name) else { continue };
        servers.push(making.built_in(info, rows.iter().find(|row| row.id == info.id)));
    }
    let built_in = |row: &ServerRow| {
        row.source == ServerSource::BuiltIn || servers.iter().any(|known: &ServerRecord| known.id == row.id)
    };
    let own: Vec<ServerRecord> = rows
        .iter()
        .filter(|row| row.source != ServerSource::App && !built_in(row))
        .map(|row| making.of_row(row))
        .collect();
    servers.extend(own);
    for plugin in snapshot.plugins.iter().filter(|plugin| plugin.active) {
        for app in &plugin.loaded.apps {
            let id = &app.manifest.id;
            let Some(offered) = plugin.preview_contribution(id, snapshot.revision) else { continue };
            let Some(server) = offered.mcp else { continue };
            let row = rows.iter().find(|row| {
                row.source == ServerSource::App
                    && row.plugin_id == plugin.id().as_str()
                    && row.app_id == id.as_str()
            });
            servers.push(making.of_app(plugin, id, server, row));
        }
    }
    let servers = servers.into_iter().map(Arc::new).collect();
    Ok(Catalogue { revision: snapshot.revision, settings, servers })
}

/// Servers that some land_config lets ask the model, by row id or identity.
fn may_sample(lands: &[LandConfig]) -> HashSet<String> {
    let flows = || lands.iter().flat_map(|land| [&land.main, &land.sub]);
    let servers = flows().flat_map(|flow| &flow.mcp_servers).filter(|entry| entry.sampling);
    let apps = flows().flat_map(|flow| &flow.apps).filter(|entry| entry.sampling);
    let of_app = |entry: &AppEntry| format!("app:{}/{}", entry.plugin_id, entry.app_id);
    servers.map(|entry| entry.id.clone()).chain(apps.map(of_app)).collect()
}

struct CatalogueBuilder<'a> {
    parts: &'a ServersParts,
    sampling: HashSet<String>,
    node: Option<&'a NodeInfo>,
}

impl CatalogueBuilder<'_> {
    fn normalized(&self, identity: &ServerIdentity, name: &str) -> String {
        let given = self.parts.plugins.plugins().ok().and_then(|desk| desk.registry().normalized(identity));
        given.unwrap_or_else(|| normalize_server(name))
    }

    fn built_in(&self, info: &'static chatos_layer::ServerInfo, row: Option<&ServerRow>) -> ServerRecord {
        let identity = ServerIdentity::admin(info.id);
        let is_router = info.id == chatos_policy::ROUTER_SERVER;
        let route = ServerRoute {
            normalized: self.normalized(&identity, info.name),
            identity,
            name: info.name.to_owned(),
            road: Road::BuiltIn,
            transport: Transport::InProcess,
            app: None,
            call_meta: None,
            async_task: None,
            roots: Vec::new(),
            idle: None,
            total: None,
        };
        ServerRecord {
            id: info.id.to_owned(),
            source: ServerSource::BuiltIn,
            plugin_id: None,
            app_id: None,
            description: info.title.get(self.parts.lang()).to_owned(),
            url: String::new(),
            argv: None,
            transport: "in-process",
            enabled: row.is_none_or(|row| row.enabled),
            locked: true,
            trusted: true,
            allow_main: true,
            allow_sub: !is_router,
            timeout_ms: None,
            max_timeout_ms: None,
            start_timeout_ms: None,
            cwd: String::new(),
            allow_private: false,
            tags: Vec::new(),
            auth: AuthShown { kind: "none", ..AuthShown::default() },
            sign_in: None,
            problem: None,
            route: Arc::new(route),
            spec: None,
        }
    }

    fn of_row(&self, row: &ServerRow) -> ServerRecord {
        let identity = ServerIdentity::admin(&row.id);
        let opened = self.parts.open_auth(&row.id, row.auth_sealed.as_deref());
        let (auth, unreadable) = match opened {
            Ok(auth) => (auth, None),
            Err(reason) => (StoredAuth::default(), Some(sealed_elsewhere(&reason))),
        };
        self.learn(&auth);
        let (call_meta, async_task) = call_meta(row.call_meta.as_deref());
        let argv = cmd_url::parse(&row.url).ok();
        let directory = if row.cwd.is_empty() { self.parts.project.clone() } else { PathBuf::from(&row.cwd) };
        let own: Vec<(OsString, OsString)> =
            auth.env.iter().map(|(name, value)| (name.into(), value.into())).collect();
        let endpoint = match unreadable {
            Some(fault) => Err(fault),
            None => self.endpoint(&row.url, argv.as_deref(), &auth, row.allow_private, &directory, &[], &own),
        };
        // A server reads its roots when it starts: with others it is another one.
        let roots: String = row.roots.iter().map(|root| format!("|{root}")).collect();
        let digest = format!("{}|{}{roots}", row.url, row.cwd);
        self.known(Parts {
            id: row.id.clone(),
            identity,
            name: row.name.clone(),
            source: row.source,
            app: None,
            description: row.description.clone(),
            url: row.url.clone(),
            argv,
            enabled: row.enabled,
            trusted: true,
            allow_main: row.allow_main,
            allow_sub: row.allow_sub,
            start_timeout_ms: row.start_timeout_ms.and_then(|ms| u64::try_from(ms).ok()),
            timeout_ms: row.timeout_ms.and_then(|ms| u64::try_from(ms).ok()),
            max_timeout_ms: row.max_timeout_ms.and_then(|ms| u64::try_from(ms).ok()),
            cwd: row.cwd.clone(),
            allow_private: row.allow_private,
            roots: row.roots.clone(),
            tags: row.tags.clone(),
            auth,
            call_meta,
            async_task,
            endpoint,
            digest,
        })
    }

    fn of_app(
        &self,
        plugin: &chatos_plugins::Plugin,
        app: &AppId,
        server: chatos_contribution::ServerContribution,
        row: Option<&ServerRow>,
    ) -> ServerRecord {
        let id = plugin.id();
        let apps = UiApps::of_state_dir(self.parts.dir.path());
        let place = AppPlace {
            plugin_id: id.to_string(),
            app_id: app.to_string(),
            plugin_dir: plugin.loaded.dir.clone(),
            data_dir: apps.data_of(id),
        };
        // A synced row is this server with what a person changed about it (ai-contributions §12).
        let mut auth = server.auth.as_ref().map(StoredAuth::from).unwrap_or_default();
        if let Some(sealed) = row.and_then(|row| row.auth_sealed.as_deref())
            && let Some(row) = row
            && let Ok(edited) = self.parts.open_auth(&row.id, Some(sealed))
        {
            auth = edited;
        }
        self.learn(&auth);
        let url = row.map(|row| row.url.clone()).filter(|url| !url.is_empty()).unwrap_or(server.url);
        let argv = match &server.endpoint {
            Contributed::Command { argv } => Some(cmd_url::parse(&url).unwrap_or_else(|_| argv.clone())),
            Contributed::Network { .. } => None,
        };
        let trusted = plugin.is_trusted();
        let endpoint = if trusted {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place.data_dir);
            if let Err(error) = made {
                tracing::warn!(%error, path = %place.data_dir.display(), "no data directory for a plugin");
            }
            let own = self.app_variables(id, &place.data_dir);
            let named = self.named_variables(id);
            // The trust page asked about addresses of this machine and its network (security T20).
            let made = self.endpoint(&url, argv.as_deref(), &auth, true, &place.plugin_dir, &named, &own);
            made.and_then(|made| self.with_lent_modules(plugin, argv.as_deref(), made))
        } else {
            Err(untrusted(id))
        };
        let (call_meta, async_task) = match row.and_then(|row| row.call_meta.as_deref()) {
            Some(edited) => call_meta(Some(edited)),
            None => (server.call_meta, server.async_task),
        };
        let digest = digest_of(plugin, &url);
        self.known(Parts {
            id: server.identity.as_str().to_owned(),
            identity: server.identity,
            name: server.name,
            source: ServerSource::App,
            app: Some(place),
            description: row.map_or(server.description, |row| row.description.clone()),
            url,
            argv,
            enabled: row.map_or(server.enabled, |row| row.enabled),
            trusted,
            allow_main: row.map_or(server.allow_main, |row| row.allow_main),
            allow_sub: row.map_or(server.allow_sub, |row| row.allow_sub),
            start_timeout_ms: row
                .and_then(|row| row.start_timeout_ms)
                .and_then(|ms| u64::try_from(ms).ok())
                .or(server.start_timeout_ms),
            timeout_ms: row.and_then(|row| row.timeout_ms).and_then(|ms| u64::try_from(ms).ok()),
            max_timeout_ms: row.and_then(|row| row.max_timeout_ms).and_then(|ms| u64::try_from(ms).ok()),
            cwd: String::new(),
            allow_private: true,
            roots: row.map(|row| row.roots.clone()).unwrap_or_default(),
            tags: server.tags,
            auth,
            call_meta,
            async_task,
            endpoint,
            digest,
        })
    }

    fn known(&self, parts: Parts) -> ServerRecord {
        let key = ServerKey::new(parts.identity.as_str());
        let sign_in = self.sign_in(key.as_str(), &parts);
        let (transport, word) =
            match parts.url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()) {
                Some(scheme) if scheme == "http" || scheme == "https" => ("http", Transport::Http),
                Some(scheme) if scheme == "ws" || scheme == "wss" => ("ws", Transport::WebSocket),
                _ => ("stdio", Transport::Stdio),
            };
        let millis = |ms: Option<u64>| ms.map(Duration::from_millis);
        let normalized = self.normalized(&parts.identity, &parts.name);
        let route = ServerRoute {
            identity: parts.identity,
            name: parts.name.clone(),
            normalized,
            road: Road::Pool(key.clone()),
            transport: word,
            app: parts.app.clone(),
            call_meta: parts.call_meta,
            async_task: parts.async_task,
            roots: parts.roots,
            idle: millis(parts.timeout_ms),
            total: millis(parts.max_timeout_ms),
        };
        let (endpoint, problem) = match parts.endpoint {
            Ok(endpoint) => (Some(endpoint), None),
            Err(fault) => (None, Some(fault)),
        };
        let endpoint = match &sign_in {
            Some(sign_in) => endpoint.map(|endpoint| endpoint.with_grants(sign_in.grants())),
            None => endpoint,
        };
        let roots = !route.roots.is_empty();
        let usable = parts.enabled && parts.trusted;
        let sampling = self.sampling.contains(&parts.id) || self.sampling.contains(key.as_str());
        let spec = endpoint.filter(|_| usable).map(|endpoint| ServerSpec {
            key,
            name: parts.name,
            endpoint,
            digest: parts.digest,
            // A server is told that it may ask the model, or for folders, only where somebody granted it that.
            offers: Offers { elicitation: true, sampling, roots, tasks: true, views: true },
            times: self.times(parts.start_timeout_ms, parts.timeout_ms, parts.max_timeout_ms),
            idle: Some(IDLE),
        });
        ServerRecord {
            id: parts.id,
            source: parts.source,
            plugin_id: parts.app.as_ref().map(|app| app.plugin_id.clone()),
            app_id: parts.app.map(|app| app.app_id),
            description: parts.description,
            url: parts.url,
            argv: parts.argv,
            transport,
            enabled: parts.enabled,
            locked: false,
            trusted: parts.trusted,
            allow_main: parts.allow_main,
            allow_sub: parts.allow_sub,
            timeout_ms: parts.timeout_ms,
            max_timeout_ms: parts.max_timeout_ms,
            start_timeout_ms: parts.start_timeout_ms,
            cwd: parts.cwd,
            allow_private: parts.allow_private,
            tags: parts.tags,
            auth: shown(&parts.auth),
            sign_in,
            problem,
            route: Arc::new(route),
            spec,
        }
    }

    fn times(&self, start: Option<u64>, idle: Option<u64>, total: Option<u64>) -> Times {
        let setting = |key: &str| u64::try_from(self.parts.settings.int(key)).unwrap_or_default();
        let start = Duration::from_millis(start.unwrap_or_else(|| setting("mcpStartTimeoutMs")));
        Times {
            init: start,
            list: start,
            call_idle: Duration::from_millis(idle.unwrap_or_else(|| setting("mcpTimeoutMs"))),
            call_total: Duration::from_millis(total.unwrap_or_else(|| setting("mcpMaxTimeoutMs"))),
            ..Times::default()
        }
    }

    fn learn(&self, auth: &StoredAuth) {
        for secret in auth.secrets() {
            self.parts.redactor.learn(secret);
        }
    }
}

/// What the server of an app runs: the bytes of its plugin, and its address.
pub(crate) fn digest_of(plugin: &chatos_plugins::Plugin, url: &str) -> String {
    format!("{}|{url}", plugin.trust.digest.as_ref().map(ToString::to_string).unwrap_or_default())
}

struct Parts {
    id: String,
    identity: ServerIdentity,
    name: String,
    source: ServerSource,
    app: Option<AppPlace>,
    description: String,
    url: String,
    argv: Option<Vec<String>>,
    enabled: bool,
    trusted: bool,
    allow_main: bool,
    allow_sub: bool,
    start_timeout_ms: Option<u64>,
    timeout_ms: Option<u64>,
    max_timeout_ms: Option<u64>,
    cwd: String,
    allow_private: bool,
    roots: Vec<String>,
    tags: Vec<String>,
    auth: StoredAuth,
    call_meta: Option<Map<String, Value>>,
    async_task: Option<AsyncTask>,
    endpoint: Result<Endpoint, Fault>,
    digest: String,
}

/// `callMeta` and what it says about results that come later.
pub(crate) type CallMeta = (Option<Map<String, Value>>, Option<AsyncTask>);

/// A `callMeta` of a row, read with the rules of manifests; a wrong one counts as absent.
pub(crate) fn call_meta(text: Option<&str>) -> (Option<Map<String, Value>>, Option<AsyncTask>) {
    let Some(Ok(value)) = text.map(serde_json::from_str::<Value>) else { return (None, None) };
    match read_call_meta(&value) {
        Ok(read) => read,
        Err(reason) => {
            tracing::warn!(%reason, "the call metadata of a server cannot be used");
            (None, None)
        }
    }
}

/// The same, with the reason.
pub(crate) fn read_call_meta(value: &Value) -> Result<CallMeta, String> {
    let (Ok(plugin), Ok(app)) = (PluginId::parse("x"), AppId::parse("x")) else {
        return Err("no name".to_owned());
    };
    let layer = json!({ "mcp": { "url": "cmd://x", "callMeta": value } });
    let Some(layer) = layer.as_object() else { return Err("not an object".to_owned()) };
    let (layer, problems) = parse_layer(layer, "server", &plugin, &AppRef { index: 0, id: Some(app) });
    let errors: Vec<String> = problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| problem.message.en.clone())
        .collect();
    match layer.mcp {
        Slot::Present(decl) if errors.is_empty() => Ok((decl.call_meta, decl.async_task)),
        _ => Err(if errors.is_empty() { "not an object".to_owned() } else { errors.join("; ") }),
    }
}

fn shown(auth: &StoredAuth) -> AuthShown {
    let kind = if auth.token.is_some() {
        "token"
    } else if auth.username.is_some() {
        "basic"
    } else if !auth.headers.is_empty() {
        "headers"
    } else {
        "none"
    };
    AuthShown {
        kind,
        has_value: kind != "none",
        header_names: auth.headers.iter().map(|(name, _)| name.clone()).collect(),
        env_names: auth.env.iter().map(|(name, _)| name.clone()).collect(),
        oauth: (auth.oauth != StoredOauth::default()).then(|| OauthView {
            client_id: auth.oauth.client_id.clone(),
            has_secret: auth.oauth.client_secret.is_some(),
            scopes: auth.oauth.scopes.clone(),
        }),
    }
}

fn bad_address(reason: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("its address cannot be used: {reason}"), format!("其地址无法使用：{reason}")),
    )
    .code("address_invalid")
}

pub(crate) fn untrusted(plugin: &PluginId) -> Fault {
    Fault::new(
        ErrorCode::PermissionDenied,
        Text::new(format!("the plugin `{plugin}` is not trusted yet"), format!("插件 `{plugin}` 尚未信任")),
    )
    .code("untrusted")
    .hint(Text::new(
        format!("look at it and trust it: `chatos plugin trust {plugin}`"),
        format!("请查看并信任它：`chatos plugin trust {plugin}`"),
    ))
}

fn sealed_elsewhere(reason: &str) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::new(format!("its credentials cannot be opened: {reason}"), format!("无法打开其凭据：{reason}")),
    )
    .code("credentials_unreadable")
    .hint(Text::fixed("enter them again", "请重新输入"))
}
