//! Where a frame is served from, and the headers that keep it there (host-api §2.1, §2.3).

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use chatos_host::{Revision, View};

use super::Whose;

/// What an opaque frame may do; the same words without an origin of its own (security T4).
const SANDBOX: &str = "allow-scripts allow-forms allow-modals allow-downloads allow-popups";

/// An origin and a base path, known before the request is read.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    origin: String,
    base: String,
    hash: String,
    port: u16,
    fallback: bool,
}

impl Place {
    /// A plugin's own origin; `name` is its hash or `probe`.
    pub(crate) fn plugin(name: &str, port: u16) -> Self {
        let origin = format!("http://p-{name}.localhost{}", port_suffix(port));
        Self { origin, base: String::new(), hash: name.to_owned(), port, fallback: false }
    }

    /// Below the page's own origin, where the frame is opaque. `None` when `path` is not there.
    pub(crate) fn below_ui(ui_origin: &str, path: &str, port: u16) -> Option<Self> {
        let rest = path.strip_prefix("/plugin-frame/")?;
        let hash = rest.split('/').next().unwrap_or_default();
        let known = hash.len() == 20 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        // Every path below the prefix is a frame's, also those that lead nowhere.
        let hash = if known { hash } else { "" };
        Some(Self {
            origin: ui_origin.to_owned(),
            base: format!("/plugin-frame/{hash}"),
            hash: hash.to_owned(),
            port,
            fallback: true,
        })
    }

    /// The path below the base; empty when the base is not there.
    pub(super) fn rest<'a>(&self, path: &'a str) -> &'a str {
        if self.fallback && self.hash.is_empty() {
            return "";
        }
        path.strip_prefix(self.base.as_str()).unwrap_or_default()
    }

    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    pub(super) fn fallback(&self) -> bool {
        self.fallback
    }

    pub(super) fn is_probe(&self) -> bool {
        self.hash == "probe"
    }

    /// A revision belongs to one page; below another page's name it is nobody's.
    pub(super) fn serves(&self, revision: &Revision) -> bool {
        self.belongs_to(&revision.ui_origin)
    }

    /// See [`Place::serves`]; of everything that one page opened.
    pub(super) fn belongs_to(&self, ui_origin: &str) -> bool {
        !self.fallback || self.origin == ui_origin
    }

    /// The policy of a page of a tool server (extension `io.modelcontextprotocol/ui`): what is written in
    /// it may run, nothing else, and hosts only where a person allowed them.
    fn view_policy(&self, view: &View) -> String {
        let list = |hosts: &[String]| hosts.iter().map(|host| format!(" {host}")).collect::<String>();
        let or_none = |hosts: &[String]| if hosts.is_empty() { "'none'".to_owned() } else { hosts.join(" ") };
        let resources = list(&view.hosts.resource_domains);
        let connect = or_none(&view.hosts.connect_domains);
        let frames = or_none(&view.hosts.frame_domains);
        let base = or_none(&view.hosts.base_uri_domains);
        let sandbox = if self.fallback { format!("; sandbox {SANDBOX}") } else { String::new() };
        let ancestors = self.ancestors(Some(&view.ui_origin));
        format!(
            "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'{resources}; \
             style-src 'unsafe-inline'{resources}; img-src data: blob:{resources}; font-src data:{resources}; \
             media-src data: blob:{resources}; connect-src {connect}; worker-src blob:; frame-src {frames}; \
             object-src 'none'; form-action 'none'; base-uri {base}; webrtc 'block'; \
             frame-ancestors {ancestors}{sandbox}"
        )
    }

    /// The address of a file of a revision.
    pub(crate) fn address(&self, rev: &str, path: &str) -> String {
        format!("{}{}/r/{rev}/{path}", self.origin, self.base)
    }

    /// The origin as a browser says it.
    pub(crate) fn origin(&self) -> &str {
        if self.fallback { "null" } else { &self.origin }
    }

    fn sources(&self, revision: Option<&Revision>) -> String {
        let root = format!("{}{}", self.origin, self.base);
        let shared = format!("{root}/r/common/ui/ {root}/common/ui/");
        match revision {
            Some(revision) => format!("{root}/r/{}/ {shared}", revision.rev),
            None if self.is_probe() => format!("{root}/__chatos/probe.js"),
            None => shared,
        }
    }

    fn policy(&self, revision: Option<&Revision>) -> String {
        let own = self.sources(revision);
        let added = revision.map(|revision| revision.policy.sources()).unwrap_or_default();
        let added: String = added.iter().map(|source| format!(" {source}")).collect();
        let eval =
            if revision.is_some_and(|revision| revision.policy.unsafe_eval) { " 'unsafe-eval'" } else { "" };
        // `'self'` would be the page's own origin there.
        let connect = if self.fallback { own.as_str() } else { "'self'" };
        let sandbox = if self.fallback { format!("; sandbox {SANDBOX}") } else { String::new() };
        let ancestors = self.ancestors(revision.map(|revision| revision.ui_origin.as_str()));
        format!(
            "default-src 'none'; script-src {own} 'wasm-unsafe-eval'{eval}; style-src {own} 'unsafe-inline'; \
             img-src {own} data: blob:{added}; font-src {own} data:; media-src {own} data: blob:; \
             connect-src {connect}{added}; worker-src {own} blob:; frame-src 'none'; object-src 'none'; \
             form-action 'none'; base-uri 'none'; webrtc 'block'; frame-ancestors {ancestors}{sandbox}"
        )
    }

    fn ancestors(&self, ui_origin: Option<&str>) -> String {
        let ui = if self.fallback { Some(self.origin.as_str()) } else { ui_origin };
        match ui {
            // The grammar of CSP has no IPv6 addresses; every origin on this port is this host.
            Some(ui) if ui.contains('[') => format!("http://*:{}", self.port),
            Some(ui) => ui.to_owned(),
            None if self.is_probe() => format!("http://*:{}", self.port),
            None => {
                let port = port_suffix(self.port);
                format!("http://127.0.0.1{port} http://localhost{port}")
            }
        }
    }
}

/// Browsers leave the default port out of an origin.
fn port_suffix(port: u16) -> String {
    if port == 80 { String::new() } else { format!(":{port}") }
}

/// Every answer of a frame route carries them, whatever it is.
pub(super) fn add_headers(place: &Place, whose: &Whose, headers: &mut HeaderMap) {
    let resource = if place.fallback() { "cross-origin" } else { "same-origin" };
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("x-dns-prefetch-control", "off"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()"),
        ("cross-origin-resource-policy", resource),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let allowed = if place.fallback() || place.is_probe() { "*" } else { place.origin.as_str() };
    let policy = match whose {
        Whose::Nobody => place.policy(None),
        Whose::Plugin(revision) => place.policy(Some(revision)),
        Whose::View(view) => place.view_policy(view),
    };
    for (name, value) in
        [(header::CONTENT_SECURITY_POLICY, policy), (header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed.to_owned())]
    {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
