//! What a person does with a running server: connect, restart, stop, look at its tools and its log.

use std::sync::Arc;

use crate::toolset::Word;
use chatos_tool::{Fault, Lang};
use chatos_wire::server::{ServerLogView, ServerToolView, ServerTools, ServerView};

use crate::catalogue::ServerRecord;
use crate::offer::{start_fault, usable};
use crate::servers::Servers;

impl Servers {
    async fn known(&self, id: &str) -> Result<Arc<ServerRecord>, Fault> {
        let catalogue = self.inner().catalogue().await?;
        catalogue.wanted(id).cloned()
    }

    /// Starts a server and waits for it.
    pub async fn connect(&self, id: &str, lang: Lang) -> Result<ServerView, Fault> {
        let known = self.known(id).await?;
        usable(&known)?;
        let parts = self.parts();
        if let Some(key) = known.key() {
            self.inner()
                .offered(&known, key, lang)
                .await
                .map_err(|error| start_fault(&parts, &known, &error))?;
        }
        Ok(self.inner().view(&known, lang))
    }

    /// Starts a server anew; its failures are forgotten.
    pub async fn restart(&self, id: &str, lang: Lang) -> Result<ServerView, Fault> {
        let known = self.known(id).await?;
        usable(&known)?;
        if let Some(key) = known.key() {
            self.pool().restart(key);
        }
        self.connect(&known.id, lang).await
    }

    /// Stops a server until somebody restarts it.
    pub async fn stop(&self, id: &str, lang: Lang) -> Result<ServerView, Fault> {
        let known = self.known(id).await?;
        if let Some(key) = known.key() {
            self.pool().stop(key).await;
        }
        Ok(self.inner().view(&known, lang))
    }

    /// The tools of a server; it is started for that.
    pub async fn tools(&self, id: &str, lang: Lang) -> Result<ServerTools, Fault> {
        let known = self.known(id).await?;
        usable(&known)?;
        let parts = self.parts();
        let (tools, dropped) = match known.key() {
            None => (self.inner().built_in_tools(&known, lang)?, Vec::new()),
            Some(key) => self
                .inner()
                .offered(&known, key, lang)
                .await
                .map_err(|error| start_fault(&parts, &known, &error))?,
        };
        let items = tools.iter().map(|tool| {
            let (state, why) = match &tool.word {
                Word::Refuse { code: "tool_changed", why } => ("changed", Some(why.get(lang).to_owned())),
                // Approved, and callable by hand; only models are not offered it.
                Word::Refuse { code: crate::views::APP_ONLY, why } => {
                    ("approved", Some(why.get(lang).to_owned()))
                }
                Word::Refuse { why, .. } => ("new", Some(why.get(lang).to_owned())),
                _ => ("approved", None),
            };
            ServerToolView {
                name: tool.tool.clone(),
                title: tool.title.clone().unwrap_or_default(),
                description: tool.description.clone(),
                input_schema: tool.input_schema.clone(),
                annotations: tool.annotations.clone(),
                state: state.to_owned(),
                why,
            }
        });
        let problems = dropped.iter().map(|problem| problem.message.get(lang).to_owned()).collect();
        Ok(ServerTools { items: items.collect(), problems })
    }

    /// The newest lines of a server's log.
    pub async fn log(&self, id: &str, limit: usize) -> Result<ServerLogView, Fault> {
        let known = self.known(id).await?;
        let (inner, identity) = (Arc::clone(self.inner()), known.identity().as_str().to_owned());
        let read = chatos_blocking::run(move || {
            let path = inner.logs.path(&identity).to_string_lossy().into_owned();
            ServerLogView { path, items: inner.logs.tail(&identity, limit) }
        });
        read.await.map_err(|error| crate::pins::failed(&error))
    }
}
