//! What servers ask of the host and tell it: log lines go to the server's log, new tools are compared with what was
//! approved, and questions go to whoever knows the calls on their way.

use std::path::Path;
use std::sync::{Arc, Weak};

use chatos_mcp::{
    Asked, ElicitAnswer, Elicitation, Failure, Hooks, Later, LogLine, Root, ServerKey, file_uri,
};
use chatos_store::now_iso;
use serde_json::Value;

use crate::parts::ServersParts;
use crate::pins;
use crate::questions::ServerQuestions;
use crate::servers::Inner;

/// The hooks of the pool.
pub(crate) struct PoolHooks {
    inner: Weak<Inner>,
    questions: Arc<dyn ServerQuestions>,
}

impl PoolHooks {
    pub(crate) fn new(inner: Weak<Inner>, parts: &ServersParts) -> Self {
        Self { inner, questions: Arc::clone(&parts.questions) }
    }

    fn name_of(&self, key: &ServerKey) -> String {
        self.inner.upgrade().map_or_else(|| key.as_str().to_owned(), |inner| name_of(&inner, key))
    }
}

fn name_of(inner: &Inner, key: &ServerKey) -> String {
    let known = inner.last_known();
    let found = known.as_ref().and_then(|known| known.by_key(key)).map(|known| known.name().to_owned());
    found.unwrap_or_else(|| key.as_str().to_owned())
}

impl Hooks for PoolHooks {
    fn admit(&self, server: &ServerKey) -> Later<Result<(), Failure>> {
        let Some(inner) = self.inner.upgrade() else { return Box::pin(async { Err(Failure::Stopped) }) };
        // Everything the pool knows comes from the list.
        let Some(known) = inner.last_known().and_then(|listed| listed.by_key(server).cloned()) else {
            return Box::pin(async { Err(Failure::UnknownServer) });
        };
        if known.plugin_id.is_none() {
            return Box::pin(async { Ok(()) });
        }
        Box::pin(async move {
            let parts = inner.parts();
            let looked = chatos_blocking::run(move || parts.admit_server(&known)).await;
            looked.unwrap_or(Err(Failure::Stopped))
        })
    }

    fn elicit(&self, asked: Asked, ask: Elicitation) -> Later<Result<ElicitAnswer, String>> {
        let server = self.name_of(&asked.server);
        self.questions.elicit(asked, server, ask)
    }

    fn sample(&self, asked: Asked, params: Value) -> Later<Result<Value, String>> {
        let server = self.name_of(&asked.server);
        self.questions.sample(asked, server, params)
    }

    fn roots(&self, asked: Asked) -> Later<Vec<Root>> {
        // Only what a person set for this server: with any other folder it would leave the one it was given.
        let known = self.inner.upgrade().and_then(|inner| inner.last_known());
        let known = known.as_ref().and_then(|known| known.by_key(&asked.server));
        let root = |path: &String| Root {
            uri: file_uri(path),
            name: Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()),
        };
        let roots: Vec<Root> =
            known.map(|known| known.route.roots.iter().map(root).collect()).unwrap_or_default();
        Box::pin(async move { roots })
    }

    fn log(&self, server: &ServerKey, line: LogLine) {
        let Some(inner) = self.inner.upgrade() else { return };
        let text = inner.parts.redactor.text(&line.text).into_owned();
        inner.logs.add(server.as_str(), &now_iso(), &line, &text);
        inner.has_said(server);
    }

    fn tools_changed(&self, server: &ServerKey) {
        let Some(inner) = self.inner.upgrade() else { return };
        let key = server.clone();
        tokio::spawn(async move {
            let list = match inner.pool.tools(&key).await {
                Ok(list) => list,
                Err(error) => return tracing::debug!(failure = %error.failure, "a new list cannot be read"),
            };
            let (name, identity) = (name_of(&inner, &key), key.as_str().to_owned());
            let (parts, offered) = (inner.parts(), inner.as_offered(&key, list));
            let checked = chatos_blocking::run(move || pins::check(&parts, &identity, &name, &offered)).await;
            if let Ok(Err(fault)) = checked {
                tracing::error!(%fault, "approved tools cannot be compared");
            }
        });
    }
}
