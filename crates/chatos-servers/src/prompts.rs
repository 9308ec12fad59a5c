//! The prompts of servers that are granted to an agent: for a person who picks one, never for a model (packages §5.1).

use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{ConnectError, Connection, Failure, Prompt};
use chatos_policy::Outcome;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Map, Value};

use crate::catalogue::ServerRecord;
use crate::offer::{start_fault, usable};
use crate::servers::Servers;

/// How long a server may take over the text of a prompt.
const FILLING: Duration = Duration::from_secs(30);
/// How long it may take over suggestions; later ones help nobody.
const COMPLETING: Duration = Duration::from_secs(2);

/// The prompts of one server.
#[derive(Debug, Clone)]
pub struct ServerPrompts {
    /// The key of grants.
    pub identity: String,
    /// Its name, as people and land_configs have it.
    pub server: String,
    /// What it offers, in its own order.
    pub prompts: Arc<Vec<Prompt>>,
}

impl Servers {
    /// The prompts of every granted server that tells them within `wait`, and the names of those that have not yet:
    /// they go on, and the next call has theirs. Without patience nobody is asked.
    pub async fn prompts(
        &self,
        outcome: &Outcome,
        wait: Duration,
    ) -> Result<(Vec<ServerPrompts>, Vec<String>), Fault> {
        let nobody = |_: &Connection| None;
        let (found, late) =
            self.told(outcome, wait, nobody, |connection| async move { connection.prompts().await }).await?;
        let found = found.into_iter().map(|(known, prompts)| ServerPrompts {
            identity: known.identity().as_str().to_owned(),
            server: known.name().to_owned(),
            prompts,
        });
        Ok((found.collect(), late))
    }

    /// What every granted server answers within `wait`, sorted by name, and the names of those that have not yet.
    /// `at_hand`: an answer that a connection has at hand, for which nobody waits.
    pub(crate) async fn told<T: Send + 'static, F>(
        &self,
        outcome: &Outcome,
        wait: Duration,
        at_hand: impl Fn(&Connection) -> Option<T>,
        ask: impl Fn(Arc<Connection>) -> F + Clone + Send + 'static,
    ) -> Result<(Vec<(Arc<ServerRecord>, T)>, Vec<String>), Fault>
    where
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let catalogue = self.catalogue().await?;
        let granted = outcome.grants.values().filter_map(|grant| catalogue.by_identity(&grant.identity));
        let mut late: Vec<Arc<ServerRecord>> =
            granted.filter(|known| known.key().is_some() && usable(known).is_ok()).cloned().collect();
        let mut found = Vec::new();
        late.retain(|known| {
            let connection = known.key().and_then(|key| self.pool().connected(key));
            let Some(told) = connection.and_then(|connection| at_hand(&connection)) else { return true };
            found.push((Arc::clone(known), told));
            false
        });
        if !wait.is_zero() {
            let mut asked = tokio::task::JoinSet::new();
            for known in &late {
                let (servers, known, ask) = (self.clone(), Arc::clone(known), ask.clone());
                asked.spawn(async move {
                    let told = servers.told_by(&known, ask).await;
                    (known, told)
                });
            }
            let deadline = tokio::time::Instant::now() + wait;
            while let Ok(Some(done)) = tokio::time::timeout_at(deadline, asked.join_next()).await {
                let Ok((known, told)) = done else { continue };
                late.retain(|other| other.identity() != known.identity());
                match told {
                    Ok(told) => found.push((known, told)),
                    // What is wrong with a server is said where servers are; here it has nothing to offer.
                    Err(error) => {
                        tracing::debug!(server = known.name(), failure = %error.failure, "it has nothing to tell");
                    }
                }
            }
            asked.detach_all();
        }
        found.sort_by(|(a, _), (b, _)| a.name().cmp(b.name()));
        let mut late: Vec<String> = late.iter().map(|known| known.name().to_owned()).collect();
        late.sort();
        Ok((found, late))
    }

    async fn told_by<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        known: &ServerRecord,
        ask: impl FnOnce(Arc<Connection>) -> F,
    ) -> Result<T, ConnectError> {
        let unknown = || ConnectError { failure: Failure::UnknownServer, stderr: Vec::new() };
        let key = known.key().ok_or_else(unknown)?;
        let _lease = self.pool().lease(key);
        let connection = self.pool().connect(key).await?;
        let told = ask(Arc::clone(&connection)).await;
        told.map_err(|failure| ConnectError { failure, stderr: connection.stderr(30) })
    }

    /// The messages of a prompt of a granted server, as it gave them (`prompts/get`).
    pub async fn prompt(
        &self,
        outcome: &Outcome,
        server: &str,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, Fault> {
        self.with_granted(outcome, server, |connection| async move {
            connection.prompt(name, arguments, FILLING).await
        })
        .await
    }

    /// What a granted server suggests for an argument of its prompt, and whether there is more.
    pub async fn complete_prompt(
        &self,
        outcome: &Outcome,
        server: &str,
        name: &str,
        argument: (&str, &str),
        others: Map<String, Value>,
    ) -> Result<(Vec<String>, bool), Fault> {
        self.with_granted(outcome, server, |connection| async move {
            connection.complete_prompt(name, argument, others, COMPLETING).await
        })
        .await
    }

    /// Asks one granted server, by its name or identity.
    pub(crate) async fn with_granted<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        outcome: &Outcome,
        server: &str,
        ask: impl FnOnce(Arc<Connection>) -> F,
    ) -> Result<T, Fault> {
        let catalogue = self.catalogue().await?;
        let grant =
            outcome.grants.values().find(|grant| grant.server == server || grant.identity.as_str() == server);
        let known = grant.and_then(|grant| catalogue.by_identity(&grant.identity)).ok_or_else(|| {
            Fault::new(
                ErrorCode::PermissionDenied,
                Text::new(
                    format!("`{server}` is not granted to this agent"),
                    format!("此智能体未获授权使用 `{server}`"),
                ),
            )
        })?;
        usable(known)?;
        let key = known.key().ok_or_else(|| {
            Fault::new(
                ErrorCode::NotSupported,
                Text::new(
                    format!("`{server}` has neither prompts nor resources"),
                    format!("`{server}` 没有提示词和资源"),
                ),
            )
        })?;
        let parts = self.parts();
        let _lease = self.pool().lease(key);
        let told = |error: &ConnectError| start_fault(&parts, known, error);
        let connection = self.pool().connect(key).await.map_err(|error| told(&error))?;
        let asked = ask(Arc::clone(&connection)).await;
        asked.map_err(|failure| told(&ConnectError { failure, stderr: connection.stderr(30) }))
    }
}
