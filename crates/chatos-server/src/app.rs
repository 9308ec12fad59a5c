//! The application: its state, its route table, and the one function every request goes through.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_browsers::{Browsers, Moment};
use chatos_dev::Sandbox;
use chatos_host::{EmbeddedFiles, Host, TokenKeeper};
use chatos_prompts::{Clock, SystemClock};
use tower::ServiceExt;

use crate::api::{ApiError, bare, lang_of, render};
use crate::assets::{self, DIAGRAM};
use crate::auth::{Auth, random};
use crate::caller::UiOrigin;
use crate::frames::{self, Place};
use crate::guard::{Names, Target, admit};
use crate::narrow::{self, AppCaller};
use crate::resolve;
use crate::route;
use crate::serve::SignedIn;
use crate::table::Routes;

/// The page of `chatos dev`.
pub(crate) const DEV_PAGE: &str = "dev";

/// What an application is made with.
#[derive(Debug, Clone, Default)]
pub struct AppOptions {
    /// The port it is reached on.
    pub port: u16,
    /// Names accepted in `Host` besides loopback.
    pub allow_hosts: Vec<String>,
    /// The network can reach it.
    pub remote: bool,
    /// The files of the UI; empty where nobody looks at it.
    pub page: EmbeddedFiles,
    /// Serve the UI from this folder instead of the embedded one (for people who work on the UI).
    pub ui_dir: Option<PathBuf>,
    /// The plugin under development, in `chatos dev`.
    pub dev: Option<Arc<Sandbox>>,
}

/// The API and UI of one host; clones share it.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

/// The application for its own host, which it must not keep alive.
struct Keeper(Weak<Inner>);

impl TokenKeeper for Keeper {
    fn next(&self) -> String {
        let Some(app) = self.0.upgrade() else { return String::new() };
        let token = app.auth.next_token();
        app.token.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&token);
        token
    }

    fn end_former(&self, since: Instant) {
        if let Some(app) = self.0.upgrade() {
            let browsers = app.browsers.signed_in_since(since);
            app.auth.end_former(since, &browsers);
            let app = App { inner: app };
            for browser in &browsers {
                if let Err(error) = app.revoke(Some(browser)) {
                    tracing::error!(%error, "a browser could not be signed out");
                }
            }
        }
    }
}

struct Inner {
    host: Arc<Host>,
    auth: Auth,
    browsers: Browsers,
    token: Mutex<String>,
    boot_id: String,
    names: Names,
    options: AppOptions,
    router: std::sync::OnceLock<Router>,
}

impl App {
    /// Makes the application and its token, which is new at each start.
    pub fn new(host: Arc<Host>, options: AppOptions) -> Self {
        let token = random(32);
        // Without an identity the cookie has the name of every other state without one, and its value still differs.
        let instance = host.store().instance_id().unwrap_or_default();
        let inner = Inner {
            browsers: Browsers::new(host.store().clone(), &instance, moment),
            host,
            auth: Auth::new(&token),
            token: Mutex::new(token),
            boot_id: random(9),
            names: Names::new(options.port, options.allow_hosts.clone()),
            options,
            router: std::sync::OnceLock::new(),
        };
        let app = Self { inner: Arc::new(inner) };
        let router = routes().into_router(assets::serve);
        app.inner.router.get_or_init(|| router);
        app
    }

    /// The host behind it.
    pub fn host(&self) -> &Arc<Host> {
        &self.inner.host
    }

    /// The API token in force. Goes to `host.json` and nowhere else.
    pub fn token(&self) -> String {
        self.inner.token.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes the token anew when the host asks for it.
    pub fn token_keeper(&self) -> impl TokenKeeper + use<> {
        Keeper(Arc::downgrade(&self.inner))
    }

    /// A fresh one-time link, the code in its fragment so that it reaches no server log.
    pub fn sign_in_url(&self) -> String {
        format!("{}#code={}", self.page_url(), self.inner.auth.new_code())
    }

    /// Makes fresh one-time links to the inbox, for whoever must not keep the application alive.
    pub fn link_maker(&self) -> impl Fn() -> Option<String> + Send + Sync + use<> {
        let app = Arc::downgrade(&self.inner);
        move || {
            let app = Self { inner: app.upgrade()? };
            Some(format!("{}#code={}&to=queue", app.page_url(), app.inner.auth.new_code()))
        }
    }

    /// The address of the page a person works with.
    pub fn page_url(&self) -> String {
        let page = if self.inner.options.dev.is_some() { DEV_PAGE } else { "" };
        format!("{}{page}", self.url())
    }

    /// The address a browser on this machine uses.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.inner.options.port)
    }

    /// The port it is reached on.
    pub fn port(&self) -> u16 {
        self.inner.options.port
    }

    pub(crate) fn auth(&self) -> &Auth {
        &self.inner.auth
    }

    pub(crate) fn browsers(&self) -> &Browsers {
        &self.inner.browsers
    }

    pub(crate) fn boot_id(&self) -> &str {
        &self.inner.boot_id
    }

    pub(crate) fn options(&self) -> &AppOptions {
        &self.inner.options
    }

    /// Asks the program itself whether apps are kept apart (security T4); nothing is served before.
    pub async fn self_test(&self) -> Result<(), chatos_tool::Fault> {
        frames::self_test(self).await
    }

    /// Answers a request from the network: admission first, then routing, then the headers that
    /// every answer carries.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        if !tracing::enabled!(tracing::Level::DEBUG) {
            return self.admit_and_answer(request).await;
        }
        // Who asked for what, and what came of it. No query, no token: paths hold neither.
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let (host, origin) = (said(request.headers(), header::HOST), said(request.headers(), header::ORIGIN));
        let response = self.admit_and_answer(request).await;
        let status = response.status().as_u16();
        tracing::debug!(%method, path, host, origin, status, "answered");
        response
    }

    async fn admit_and_answer(&self, mut request: Request) -> Response {
        let lang = lang_of(request.headers(), self.inner.host.lang());
        let is_api = request.uri().path().starts_with("/api");
        let (method, uri) = (request.method().clone(), request.uri().clone());
        let port = self.inner.options.port;
        let mut origin = format!("http://127.0.0.1:{port}");
        let admitted =
            admit(&self.inner.names, &self.inner.auth, &method, &uri, request.version(), request.headers());
        let mut response = match admitted {
            Err(status) => bare(status),
            Ok(admitted) => {
                match &admitted.target {
                    Target::Ui(authority) => origin = format!("http://{authority}"),
                    Target::Plugin(name) => {
                        let place = Place::plugin(name, port);
                        return frames::serve(self, &place, &request.into_parts().0).await;
                    }
                }
                if let Some(place) = Place::below_ui(&origin, uri.path(), port) {
                    return frames::serve(self, &place, &request.into_parts().0).await;
                }
                request.extensions_mut().insert(UiOrigin(origin.clone()));
                if let Some(session) = admitted.session {
                    request.extensions_mut().insert(session);
                    if let Some(signed_in) = request.extensions().get::<SignedIn>() {
                        signed_in.set();
                    }
                }
                let caller = if is_api {
                    narrow::check(&self.inner.host, &method, uri.path(), request.headers())
                } else {
                    Ok(None)
                };
                match caller {
                    Ok(caller) => {
                        request.extensions_mut().extend(caller.map(extension).unwrap_or_default());
                        render(self.route(request).await, lang)
                    }
                    Err(fault) => render(ApiError::Fault(fault).into_response(), lang),
                }
            }
        };
        self.add_headers(&mut response, is_api, &origin);
        response
    }

    /// Routes a request that was admitted, or that comes from this very process.
    pub(crate) async fn route(&self, request: Request) -> Response {
        let mut request = match resolve::resolved(self.host(), request).await {
            Ok(request) => request,
            Err(error) => return error.into_response(),
        };
        request.extensions_mut().insert(self.clone());
        let Some(router) = self.inner.router.get() else { return bare(StatusCode::SERVICE_UNAVAILABLE) };
        match router.clone().oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    /// security T3.
    fn add_headers(&self, response: &mut Response, is_api: bool, origin: &str) {
        let port = self.inner.options.port;
        let headers = response.headers_mut();
        let fixed = [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("permissions-policy", "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=()"),
        ];
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
             connect-src 'self'; worker-src 'self'; \
             frame-src http://*.localhost:{port} {origin}/plugin-frame/ {origin}/{DIAGRAM}; form-action 'none'; base-uri 'none'; \
             object-src 'none'; frame-ancestors 'none'"
        );
        // A page with a policy of its own has a stricter one.
        if let Ok(policy) = HeaderValue::from_str(&policy) {
            headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
        }
        if is_api {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }
}

/// Now, as sign-ins count it.
fn moment() -> Moment {
    let clock = SystemClock;
    let boot_ms = i64::try_from(clock.monotonic().as_millis()).unwrap_or(i64::MAX);
    Moment { wall_ms: clock.now_ms(), boot_id: clock.boot_id(), boot_ms }
}

/// The value of a header, for the log.
fn said(headers: &axum::http::HeaderMap, name: header::HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-").to_owned()
}

fn extension(caller: AppCaller) -> axum::http::Extensions {
    let mut extensions = axum::http::Extensions::new();
    extensions.insert(caller);
    extensions
}

/// The one table of routes.
pub(crate) fn routes() -> Routes {
    let mut routes = Routes::default();
    route::auth::add(&mut routes);
    route::browsers::add(&mut routes);
    route::status::add(&mut routes);
    route::doctor::add(&mut routes);
    route::settings::add(&mut routes);
    route::audit::add(&mut routes);
    route::prompts::add(&mut routes);
    route::rules::add(&mut routes);
    route::channels::add(&mut routes);
    route::runs::add(&mut routes);
    route::sessions::add(&mut routes);
    route::commands::add(&mut routes);
    route::instructions::add(&mut routes);
    route::subagents::add(&mut routes);
    route::tasks::add(&mut routes);
    route::changes::add(&mut routes);
    route::tools::add(&mut routes);
    route::servers::add(&mut routes);
    route::plugins::add(&mut routes);
    route::apps::add(&mut routes);
    route::views::add(&mut routes);
    route::operations::add(&mut routes);
    route::journal::add(&mut routes);
    route::secrets::add(&mut routes);
    route::access::add(&mut routes);
    route::clients::add(&mut routes);
    route::models::add(&mut routes);
    route::agents::add(&mut routes);
    route::acp::add(&mut routes);
    route::land_configs::add(&mut routes);
    route::system_prompts::add(&mut routes);
    route::state::add(&mut routes);
    route::state_key::add(&mut routes);
    route::dev::add(&mut routes);
    route::events::add(&mut routes);
    routes.bytes("/api/v1/openapi.json", route::openapi);
    routes.bytes("/healthz", route::healthz);
    routes.bytes(route::callback::PATH, route::callback::returned);
    routes
}
