//! What a person does with a running server: connect, restart, stop, look at its tools and its log.

use std::sync::Arc;

use chatos_agent::Word;
use chatos_tool::{Fault, Lang};
use chatos_wire::server::{ServerLogView, ServerToolView, ServerTools, ServerView};

use super::toolset::{start_fault, usable};
use super::{Known, ServerDesk};

impl ServerDesk {
    async fn known(&self, id: &str) -> Result<Arc<Known>, Fault> {
        let catalogue = self.shared().catalogue().await?;
        catalogue.wanted(id).cloned()
    }

    /// Starts a server and waits for it.
    pub async fn connect(&self, id: &str, lang: Lang) -> Result<ServerView, Fault> {
        let known = self.known(id).await?;
        usable(&known)?;
        let host = self.shared().host()?;
        if let Some(key) = known.key() {
            self.shared()
                .offered(&known, key, lang)
                .await
                .map_err(|error| start_fault(&host, &known, &error))?;
        }
        Ok(self.shared().view(&host, &known, lang))
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
        let host = self.shared().host()?;
        Ok(self.shared().view(&host, &known, lang))
    }

    /// The tools of a server; it is started for that.
    pub async fn tools(&self, id: &str, lang: Lang) -> Result<ServerTools, Fault> {
        let known = self.known(id).await?;
        usable(&known)?;
        let host = self.shared().host()?;
        let (tools, dropped) = match known.key() {
            None => (self.shared().built_in_tools(&host, &known, lang)?, Vec::new()),
            Some(key) => self
                .shared()
                .offered(&known, key, lang)
                .await
                .map_err(|error| start_fault(&host, &known, &error))?,
        };
        let items = tools.iter().map(|tool| {
            let (state, why) = match &tool.word {
                Word::Refuse { code: "tool_changed", why } => ("changed", Some(why.get(lang).to_owned())),
                // Approved, and callable by hand; only models are not offered it.
                Word::Refuse { code: super::views::APP_ONLY, why } => {
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
        let (shared, identity) = (Arc::clone(self.shared()), known.identity().as_str().to_owned());
        let read = tokio::task::spawn_blocking(move || {
            let path = shared.logs.path(&identity).to_string_lossy().into_owned();
            ServerLogView { path, items: shared.logs.tail(&identity, limit) }
        });
        read.await.map_err(|error| super::pins::failed(&error))
    }
}
