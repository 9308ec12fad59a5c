//! Problems of a file: asked for where a server offers that, else waited for; with an honest word when it is not
//! done (servers §10).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use chatos_layer::CallCx;
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::asking::tell;
use super::{Desk, Opened, Trouble, tsserver};
use crate::documents::Document;
use crate::session::Session;
use crate::shapes::{self, Diagnostic};
use crate::wire::{CONTENT_MODIFIED, METHOD_NOT_FOUND, Refusal, SERVER_CANCELLED};

/// servers §10: what is not followed by another publish within this time is what the server means.
const QUIET: Duration = Duration::from_millis(150);
/// A first empty list is often only the first step of a server that looks in several.
const QUIET_EMPTY: Duration = Duration::from_millis(600);
/// How often a busy server is asked again.
const AGAIN: Duration = Duration::from_millis(250);

/// What a server found in a file.
pub(crate) struct Findings {
    pub(crate) list: Vec<Diagnostic>,
    /// It is about the text as it is, and the server is done.
    pub(crate) fresh: bool,
    /// What the server is still at.
    pub(crate) busy: Option<String>,
}

impl Desk {
    /// The problems of an open text, after at most `wait`.
    pub(crate) async fn diagnose(cx: &CallCx, opened: &Opened, wait: Duration) -> Result<Findings, Trouble> {
        let Opened { session, document } = opened;
        let until = Instant::now() + wait;
        if session.news.pulls.load(Ordering::Relaxed) {
            match pull(cx, session, document, until).await {
                Err(Trouble::Refused(_, Refusal::Server { code: METHOD_NOT_FOUND, .. })) => {}
                done => return done,
            }
        }
        if tsserver::answers(session) {
            loop {
                let found = tsserver::ask(cx, session, document).await?;
                let Some(found) = found else { break };
                let late = Instant::now() + AGAIN >= until;
                if found.fresh || late {
                    return Ok(found);
                }
                if let Some(what) = &found.busy {
                    tell(cx, session, what);
                }
                tokio::time::sleep(AGAIN).await;
            }
        }
        Ok(published(cx, session, document, until).await)
    }
}

async fn pull(
    cx: &CallCx,
    session: &Arc<Session>,
    document: &Document,
    until: Instant,
) -> Result<Findings, Trouble> {
    loop {
        let params = json!({ "textDocument": { "uri": document.uri } });
        let answer = session.request("textDocument/diagnostic", params, cx.settings.lsp.timeout).await;
        let busy = session.news.busy();
        let late = Instant::now() + AGAIN >= until;
        match answer {
            Ok(report) if busy.is_none() || late => {
                let mut list = shapes::diagnostics(&report["items"]);
                // What other programs found, such as a compiler, is published all the same.
                let more = session.news.of(&document.uri).map(|known| known.list).unwrap_or_default();
                for one in more {
                    if !list.iter().any(|own| own.range == one.range && own.message == one.message) {
                        list.push(one);
                    }
                }
                return Ok(Findings { list, fresh: busy.is_none(), busy });
            }
            Err(Refusal::Server { code: CONTENT_MODIFIED | SERVER_CANCELLED, .. }) | Ok(_) if !late => {}
            Err(Refusal::Server { code: CONTENT_MODIFIED | SERVER_CANCELLED, .. }) => {
                return Ok(Findings { list: Vec::new(), fresh: false, busy });
            }
            Ok(_) => {}
            Err(refusal) => return Err(Trouble::Refused(Arc::clone(session), refusal)),
        }
        if let Some(what) = &busy {
            tell(cx, session, what);
        }
        tokio::time::sleep(AGAIN).await;
    }
}

async fn published(cx: &CallCx, session: &Session, document: &Document, until: Instant) -> Findings {
    let mut watch = session.news.watch();
    loop {
        watch.mark_unchanged();
        let known = session.news.of(&document.uri);
        let belongs = known.as_ref().filter(|known| match known.version {
            Some(version) => version == document.version,
            None => known.number > document.since,
        });
        let busy = session.news.busy();
        let settled = belongs.map(|known| known.at + if known.list.is_empty() { QUIET_EMPTY } else { QUIET });
        let now = Instant::now();
        let done = settled.is_some_and(|settled| settled <= now) && busy.is_none();
        let gone = session.wire.gone().is_cancelled();
        if done || now >= until || gone {
            let list = known.map(|known| known.list).unwrap_or_default();
            return Findings { list, fresh: done, busy };
        }
        if let Some(what) = &busy {
            tell(cx, session, what);
        }
        // Whichever comes first: more, quiet, or the end of patience.
        let next = settled.filter(|settled| *settled > now).unwrap_or(until).min(until).min(now + AGAIN * 2);
        timeout_at(next, watch.changed()).await.ok();
    }
}
