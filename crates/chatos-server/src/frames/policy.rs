//! Where a frame is served from, and the headers that keep it there (host-api §2.1, §2.3).

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use chatos_apps::{Revision, View};

use super::Whose;

/// What an opaque frame may do; the same words without an origin of its own (security T4). No windows: links
/// go through the page, which asks (inbox §8.2).
const SANDBOX: &str = "allow-scripts allow-forms allow-modals allow-downloads";
/// What no frame gets, whatever the browser would ask the person (inbox §8.2).
const DENIED: &str = "camera=(), microphone=(), geolocation=(), display-capture=(), midi=(), usb=(), serial=(), \
    hid=(), bluetooth=(), payment=(), publickey-credentials-get=(), publickey-credentials-create=(), \
    identity-credentials-get=(), browsing-topics=(), attribution-reporting=(), local-network-access=()";

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
        let known = hash == "probe"
            || (hash.len() == 20 && hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
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
             object-src 'none'; form-action 'none'; base-uri {base}; \
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
            None => shared,
        }
    }

    /// `still`: a file that could be shown as a page of its own; no code runs in it there.
    fn policy(&self, revision: Option<&Revision>, still: bool) -> String {
        let own = self.sources(revision);
        let added = revision.map(|revision| revision.policy.sources()).unwrap_or_default();
        let added: String = added.iter().map(|source| format!(" {source}")).collect();
        let eval =
            if revision.is_some_and(|revision| revision.policy.unsafe_eval) { " 'unsafe-eval'" } else { "" };
        // `'self'` would be the page's own origin there.
        let connect = if self.fallback { own.as_str() } else { "'self'" };
        let sandbox = match (still, self.fallback) {
            (true, _) => "; sandbox".to_owned(),
            (false, true) => format!("; sandbox {SANDBOX}"),
            (false, false) => String::new(),
        };
        let ancestors = self.ancestors(revision.map(|revision| revision.ui_origin.as_str()));
        format!(
            "default-src 'none'; script-src {own} 'wasm-unsafe-eval'{eval}; style-src {own} 'unsafe-inline'; \
             img-src {own} data: blob:{added}; font-src {own} data:; media-src {own} data: blob:; \
             connect-src {connect}{added}; worker-src {own} blob:; frame-src 'none'; object-src 'none'; \
             form-action 'none'; base-uri 'none'; frame-ancestors {ancestors}{sandbox}"
        )
    }

    /// The probe measures what the browser does without a policy: only who may hold it is said.
    fn probe_policy(&self) -> String {
        let sandbox = if self.fallback { "; sandbox allow-scripts" } else { "" };
        format!("frame-ancestors {}{sandbox}", self.ancestors(None))
    }

    /// What the browser lets a frame connect to by any road, WebRTC, look-ups and pages it would go to
    /// included (inbox §8.2, L1); `None` leaves it free. Addresses of sockets are matched as `http(s)`.
    fn connections(&self, whose: &Whose) -> Option<String> {
        let root = format!("{}{}", self.origin, self.base);
        let shared = || [format!("{root}/r/common/ui/*"), format!("{root}/common/ui/*")];
        let (own, hosts): (Vec<String>, Vec<String>) = match whose {
            Whose::Probe { confined: false } => return None,
            Whose::Probe { confined: true } => (vec![format!("{root}/__chatos/probe.js")], Vec::new()),
            Whose::Nobody => (shared().into(), Vec::new()),
            Whose::Plugin(revision) | Whose::Document(revision) => {
                let mut own = vec![format!("{root}/r/{}/*", revision.rev)];
                own.extend(shared());
                (own, revision.policy.sources())
            }
            Whose::View(view) => {
                let hosts = &view.hosts;
                let all = [
                    &hosts.connect_domains,
                    &hosts.resource_domains,
                    &hosts.frame_domains,
                    &hosts.base_uri_domains,
                ];
                (Vec::new(), all.into_iter().flatten().cloned().collect())
            }
        };
        let mut items: Vec<String> = if self.fallback {
            own.iter().map(|address| format!("\"{}\"", pattern(address))).collect()
        } else {
            vec!["response-origin".to_owned()]
        };
        for host in &hosts {
            // The name of a host was checked when it was allowed: no quote, no sign of a pattern but `*.`.
            let host = host.strip_prefix("ws").map_or(host.clone(), |rest| format!("http{rest}"));
            let item = format!("\"{host}\"");
            if !items.contains(&item) {
                items.push(item);
            }
        }
        // A host that was allowed may send on; where to, the other policy decides.
        let redirects = if hosts.is_empty() { "" } else { ";redirects=allow" };
        Some(format!("({}){redirects}", items.join(" ")))
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

/// An address as a pattern in a quoted string: the colons of an IPv6 address would be names there.
fn pattern(address: &str) -> String {
    match address.split_once('[').zip(address.split_once(']')) {
        Some(((before, rest), (_, after))) => {
            let inner = rest.split(']').next().unwrap_or_default().replace(':', "\\\\:");
            format!("{before}[{inner}]{after}")
        }
        None => address.to_owned(),
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
        ("permissions-policy", DENIED),
        ("cross-origin-resource-policy", resource),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let allowed = if place.fallback() || place.is_probe() { "*" } else { place.origin.as_str() };
    let policy = match whose {
        Whose::Nobody => place.policy(None, false),
        Whose::Probe { .. } => place.probe_policy(),
        Whose::Plugin(revision) => place.policy(Some(revision), false),
        Whose::Document(revision) => place.policy(Some(revision), true),
        Whose::View(view) => place.view_policy(view),
    };
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, Some(policy)),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, Some(allowed.to_owned())),
        (HeaderName::from_static("connection-allowlist"), place.connections(whose)),
    ] {
        if let Some(Ok(value)) = value.map(|value| HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}
