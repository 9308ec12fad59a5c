//! One open connection to a server: the handshake is done, tools can be listed and called.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::{Mutex, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::catalog::{self, ToolList};
use crate::endpoint::Endpoint;
use crate::failure::{Failure, Waited};
use crate::handshake::{self, Era, Identity, MODERN, Peer};
use crate::hooks::{Hooks, Offers, ServerKey};
use crate::limits::{IN_FLIGHT, Times};
use crate::prompt_list::Prompt;
use crate::resource_list::ResourceList;
use crate::router::{Ended, Noise, Router};
use crate::session::{Ask, Session, Wait};
use crate::transport::{Link, Outgoing, headers, http, in_process, old_sse, stdio, ws};
use chatos_child::Spawning;

/// How to connect.
#[derive(Clone)]
pub struct Connect {
    /// Names the connection to the hooks.
    pub key: ServerKey,
    /// Where the server is.
    pub endpoint: Endpoint,
    /// What was found the last time, by the caller's memory.
    pub era: Option<Era>,
    /// What the server may ask.
    pub offers: Offers,
    /// Times.
    pub times: Times,
    /// Who we say we are.
    pub identity: Identity,
    /// How children are started.
    pub spawning: Spawning,
}

/// An open connection. Dropping it ends it; [`Connection::close`] also waits for a child to be gone.
pub struct Connection {
    pub(crate) session: Session,
    pub(crate) peer: Peer,
    pub(crate) permits: Semaphore,
    pub(crate) waiting: AtomicUsize,
    /// What every message carries; empty for an older server, which was told once.
    meta: RwLock<Map<String, Value>>,
    identity: Identity,
    offers: Offers,
    // Held while listing, so that one listing serves all who ask.
    catalog: Mutex<Option<catalog::Cached>>,
    // The newest list with its revision, for those who must not wait for a listing.
    newest: std::sync::Mutex<Option<(u64, Arc<ToolList>)>>,
    // The prompts with the count of changes they were listed after.
    pub(crate) prompts: Mutex<Option<(u64, Arc<Vec<Prompt>>)>>,
    // As the prompts; the second for those who must not wait for a listing.
    pub(crate) resources: Mutex<Option<(u64, Arc<ResourceList>)>>,
    pub(crate) newest_resources: std::sync::Mutex<Option<(u64, Arc<ResourceList>)>>,
    over_http: bool,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.session.router.close(Failure::Stopped);
    }
}

/// Why no connection came about, with the last words of a child.
#[derive(Debug, Clone)]
pub struct ConnectError {
    /// Why.
    pub failure: Failure,
    /// The end of its error stream.
    pub stderr: Vec<String>,
}

/// Lines of an error stream kept with a failure (agents §5).
const LAST_WORDS: usize = 30;

impl Connection {
    /// Connects and agrees on an era.
    pub async fn open(connect: &Connect, hooks: &Arc<dyn Hooks>) -> Result<Self, ConnectError> {
        Self::open_until(connect, hooks, &CancellationToken::new()).await
    }

    /// Like [`Connection::open`]; once `stop` is cancelled it fails, and by then nothing is left running.
    pub(crate) async fn open_until(
        connect: &Connect,
        hooks: &Arc<dyn Hooks>,
        stop: &CancellationToken,
    ) -> Result<Self, ConnectError> {
        let first = Self::attempt(connect, hooks, Road::First, connect.era, stop).await;
        let Err(error) = first else { return first };
        if stop.is_cancelled() {
            return Err(error);
        }
        match (&connect.endpoint, connect.era, &error.failure) {
            // Some old programs end at a message they do not know: they get their own handshake first.
            (
                Endpoint::Command(_),
                None | Some(Era::Modern),
                Failure::Exited { .. } | Failure::Closed { .. },
            ) => Self::attempt(connect, hooks, Road::First, Some(Era::Legacy), stop).await,
            (Endpoint::Http(_), _, Failure::Http { status: 400..=499, .. } | Failure::Protocol { .. }) => {
                let older = Self::attempt(connect, hooks, Road::OldSse, Some(Era::Legacy), stop).await;
                // When it is not that either, the newer transport's refusal says more.
                older.map_err(
                    |other| if matches!(other.failure, Failure::Http { .. }) { error } else { other },
                )
            }
            _ => Err(error),
        }
    }

    async fn attempt(
        connect: &Connect,
        hooks: &Arc<dyn Hooks>,
        road: Road,
        era: Option<Era>,
        stop: &CancellationToken,
    ) -> Result<Self, ConnectError> {
        let (router, outgoing) = Router::new(connect.key.clone(), Arc::clone(hooks), connect.offers);
        let deadline = tokio::time::Instant::now() + connect.times.init;
        let opening = async {
            // Nothing may come between this answer and the start.
            hooks.admit(&connect.key).await?;
            open_link(connect, road, &router).await
        };
        let opening = tokio::time::timeout_at(deadline, opening).await;
        let late = || Failure::TimedOut { what: Waited::Start, after: connect.times.init, noise: None };
        let link = opening.unwrap_or_else(|_| Err(late()));
        let link = link.map_err(|failure| ConnectError { failure, stderr: Vec::new() })?;
        let session = Session { router: Arc::clone(&router), link: Arc::new(link), times: connect.times };
        // Until the connection exists, giving up on it must end its tasks and its child too.
        let unfinished = CloseOnDrop(Some(Arc::clone(&router)));
        tokio::spawn(send_answers(session.clone(), outgoing));
        let shake = handshake::shake(&session, &connect.identity, connect.offers, era);
        let shake = async {
            tokio::select! {
                shaken = shake => shaken,
                () = stop.cancelled() => Err(Ended { failure: Failure::Stopped, sent: true }),
            }
        };
        let shaken = tokio::time::timeout_at(deadline, shake).await.unwrap_or_else(|_| {
            let noise = router.noise().explain();
            let failure = Failure::TimedOut { what: Waited::Start, after: connect.times.init, noise };
            Err(Ended { failure, sent: true })
        });
        let peer = match shaken {
            Ok(peer) => peer,
            Err(ended) => {
                router.close(ended.failure.clone());
                session.link.close().await;
                // The reason the connection ended says more than the request that noticed it.
                let failure = router.ended().unwrap_or(ended.failure);
                return Err(ConnectError { failure, stderr: session.link.stderr(LAST_WORDS) });
            }
        };
        router.set_ready();
        if let Link::Http(http) = session.link.as_ref() {
            http.agreed(&peer.version, peer.era == Era::Modern);
        }
        let meta = match peer.era {
            Era::Modern => handshake::modern_meta(&connect.identity, connect.offers),
            Era::Legacy => Map::new(),
        };
        unfinished.keep();
        let connection = Self {
            over_http: matches!(session.link.as_ref(), Link::Http(_)),
            session,
            peer,
            permits: Semaphore::new(IN_FLIGHT),
            waiting: AtomicUsize::new(0),
            meta: RwLock::new(meta),
            identity: connect.identity.clone(),
            offers: connect.offers,
            catalog: Mutex::new(None),
            newest: std::sync::Mutex::new(None),
            prompts: Mutex::new(None),
            resources: Mutex::new(None),
            newest_resources: std::sync::Mutex::new(None),
        };
        if let Err(failure) = connection.begin().await {
            connection.close().await;
            return Err(ConnectError { failure, stderr: connection.stderr(LAST_WORDS) });
        }
        Ok(connection)
    }

    /// What follows the handshake.
    async fn begin(&self) -> Result<(), Failure> {
        match self.peer.era {
            Era::Legacy => {
                self.session.tell("notifications/initialized", None, Vec::new()).await?;
                if let Link::Http(http) = self.session.link.as_ref() {
                    http.listen().await;
                }
                Ok(())
            }
            Era::Modern => {
                let mut wanted = Map::new();
                for (list, word) in [
                    ("tools", "toolsListChanged"),
                    ("prompts", "promptsListChanged"),
                    ("resources", "resourcesListChanged"),
                ] {
                    let told = self.peer.capabilities.get(list).and_then(|list| list.get("listChanged"));
                    if told == Some(&Value::Bool(true)) {
                        wanted.insert(word.to_owned(), Value::Bool(true));
                    }
                }
                if !wanted.is_empty() {
                    let mut params = Map::new();
                    params.insert("notifications".to_owned(), Value::Object(wanted));
                    tokio::spawn(listen(self.session.clone(), self.with_meta(params)));
                }
                Ok(())
            }
        }
    }

    /// Lets the server ask a model from now on, or no more. A server of the newer era reads it in the
    /// next message; an older one was told at its start, and what it asks is answered by this all the same.
    pub(crate) fn offer_sampling(&self, sampling: bool) {
        self.session.router.set_sampling(sampling);
        if self.peer.era == Era::Modern {
            let offers = Offers { sampling, ..self.offers };
            let meta = handshake::modern_meta(&self.identity, offers);
            *self.meta.write().unwrap_or_else(PoisonError::into_inner) = meta;
        }
    }

    /// Who the server is.
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The child's process number.
    pub fn pid(&self) -> Option<u32> {
        self.session.link.pid()
    }

    /// The last lines of the child's error stream.
    pub fn stderr(&self, lines: usize) -> Vec<String> {
        self.session.link.stderr(lines)
    }

    /// What came that was no message.
    pub fn noise(&self) -> Noise {
        self.session.router.noise()
    }

    /// Requests without an answer yet.
    pub fn in_flight(&self) -> usize {
        self.session.router.in_flight()
    }

    /// Resolves when the connection has ended, with the reason.
    pub async fn ended(&self) -> Failure {
        self.session.router.closed.cancelled().await;
        self.session.router.ended().unwrap_or(Failure::Stopped)
    }

    /// Why the connection ended, once it has.
    pub fn end(&self) -> Option<Failure> {
        self.session.router.ended()
    }

    /// Ends it and waits until a child is gone: five seconds at the most (mcp "children").
    pub async fn close(&self) {
        self.session.router.close(Failure::Stopped);
        self.session.link.close().await;
    }

    /// The tools, listed once and again after the server said they changed.
    pub async fn tools(&self) -> Result<Arc<ToolList>, Failure> {
        // Many calls at once read the list that is known without waiting for each other.
        if let Some((revision, list)) = self.newest()
            && revision == *self.session.router.tools.borrow()
        {
            return Ok(list);
        }
        let mut cached = self.catalog.lock().await;
        let revision = *self.session.router.tools.borrow();
        if let Some(known) = cached.as_ref() {
            if known.revision == revision {
                return Ok(Arc::clone(&known.list));
            }
            // Floods of changes cost one listing per second.
            tokio::time::sleep_until(known.fetched + self.session.times.relist).await;
        }
        let revision = *self.session.router.tools.borrow();
        let list = Arc::new(catalog::fetch(self).await?);
        let fetched = tokio::time::Instant::now();
        *cached = Some(catalog::Cached { list: Arc::clone(&list), revision, fetched });
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = Some((revision, Arc::clone(&list)));
        Ok(list)
    }

    fn newest(&self) -> Option<(u64, Arc<ToolList>)> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The list as it was last fetched.
    pub fn known_tools(&self) -> Option<Arc<ToolList>> {
        self.newest().map(|(_, list)| list)
    }

    /// Counts changes of the list of tools; a new value means that [`Connection::tools`] will list again.
    pub fn tools_revision(&self) -> watch::Receiver<u64> {
        self.session.router.tools.subscribe()
    }

    /// Calls the server works on.
    pub fn calls(&self) -> usize {
        IN_FLIGHT - self.permits.available_permits()
    }

    /// Whether requests repeat themselves in headers.
    pub(crate) fn repeats_in_headers(&self) -> bool {
        self.over_http && self.peer.era == Era::Modern
    }

    /// Any other request of the protocol, such as `resources/read`.
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
        total: Duration,
    ) -> Result<Value, Failure> {
        let ask = self.ask(method, params, Wait::total(Waited::Request, total));
        self.session.ask(ask).await.map_err(|ended| ended.failure)
    }

    /// A request with what the era wants to see in it.
    pub(crate) fn ask<'a>(&self, method: &'a str, params: Map<String, Value>, wait: Wait) -> Ask<'a> {
        let params = self.with_meta(params);
        let headers = if self.repeats_in_headers() { headers::standard(method, &params) } else { Vec::new() };
        Ask { headers, ..Ask::new(method, params, wait) }
    }

    fn with_meta(&self, mut params: Map<String, Value>) -> Map<String, Value> {
        let own = self.meta.read().unwrap_or_else(PoisonError::into_inner);
        if !own.is_empty() {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.extend(own.clone());
            }
        }
        drop(own);
        params
    }
}

struct CloseOnDrop(Option<Arc<Router>>);

impl CloseOnDrop {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        if let Some(router) = &self.0 {
            router.close(Failure::Stopped);
        }
    }
}

#[derive(Clone, Copy)]
enum Road {
    First,
    OldSse,
}

async fn open_link(connect: &Connect, road: Road, router: &Arc<Router>) -> Result<Link, Failure> {
    if let Some(keeper) = connect.endpoint.as_remote().and_then(|remote| remote.keeper.as_ref()) {
        // Somebody may have signed in or out since the last connection.
        keeper.reread().await;
    }
    match (&connect.endpoint, road) {
        (Endpoint::Command(command), _) => {
            stdio::open(command, &connect.spawning, router, connect.times).await
        }
        (Endpoint::Http(remote), Road::First) => http::Http::open(remote, router).map(Link::Http),
        (Endpoint::Http(remote), Road::OldSse) => {
            Box::pin(old_sse::OldSse::open(remote, router)).await.map(Link::OldSse)
        }
        (Endpoint::WebSocket(remote), _) => ws::open(remote, router).await,
        (Endpoint::InProcess(server), _) => Ok(in_process::open(server.as_ref(), router)),
    }
}

/// Sends our answers to the server's requests, until the connection ends.
async fn send_answers(session: Session, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    loop {
        let bytes = tokio::select! {
            bytes = outgoing.recv() => bytes,
            () = session.router.closed.cancelled() => None,
        };
        let Some(bytes) = bytes else { return };
        let sending = session.link.send(Outgoing::plain(bytes), session.times.send);
        let sent = tokio::select! {
            sent = sending => sent,
            () = session.router.closed.cancelled() => return,
        };
        if let Err(failure) = sent {
            tracing::debug!(server = %session.router.key, %failure, "an answer was not delivered");
        }
    }
}

/// Keeps asking a modern server for news about its tools and prompts.
async fn listen(session: Session, params: Map<String, Value>) {
    const PAUSE: Duration = Duration::from_secs(5);
    const PAUSE_MAX: Duration = Duration::from_secs(60);
    let mut pause = PAUSE;
    let closed = session.router.closed.clone();
    loop {
        let wait = Wait { idle: None, total: None, what: Waited::Request };
        let mut ask = Ask::new("subscriptions/listen", params.clone(), wait);
        ask.headers = vec![("Mcp-Method".to_owned(), "subscriptions/listen".to_owned())];
        ask.headers.push((http::VERSION.to_owned(), MODERN.to_owned()));
        let ended = tokio::select! {
            ended = session.ask(ask) => ended,
            () = closed.cancelled() => return,
        };
        if let Err(Ended {
            failure: Failure::Rpc(_) | Failure::AuthRefused { .. } | Failure::SignInNeeded { .. },
            ..
        }) = ended
        {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = closed.cancelled() => return,
        }
        // What changed meanwhile nobody told us.
        session.router.tools.send_modify(|revision| *revision += 1);
        session.router.prompts.fetch_add(1, Ordering::SeqCst);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}
