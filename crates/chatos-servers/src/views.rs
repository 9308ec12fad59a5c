//! What views of servers need of them: the tools that have one, the resource itself, and the tools a view
//! may call (extension `io.modelcontextprotocol/ui`). Only ever of the one server the view belongs to.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::toolset::{OfferedTool, ServerOffer, Toolset, Word};
use chatos_mcp::{ConnectError, Tool, ToolList};
use chatos_policy::Outcome;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::{Map, Value};

use crate::catalogue::ServerRecord;
use crate::offer::{start_fault, usable, word};
use crate::servers::Servers;
use crate::view_meta::UiMeta;

/// The code of a tool that only views may call.
pub(crate) const APP_ONLY: &str = "app_only";

/// A tool whose server keeps it from models.
pub(crate) fn app_only(known: &ServerRecord, tool: &str) -> Word {
    let server = known.name();
    Word::Refuse {
        code: APP_ONLY,
        why: Text::new(
            format!("`{tool}` of `{server}` is for its own view only"),
            format!("`{server}` 的 `{tool}` 只供其自身的视图使用"),
        ),
    }
}

impl Servers {
    /// The lists of a server's tools that were read so far; it is not started. A server that is gone, or
    /// is no server (the host's own tools), has none.
    pub async fn listed(&self, server: &str) -> Result<Vec<Arc<ToolList>>, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let identity = match catalogue.wanted(server) {
            Ok(known) => known.identity().as_str().to_owned(),
            Err(fault) if fault.class == ErrorCode::NotFound => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let sets = self.inner().sets.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = sets.iter().filter(|((known, _), _)| *known == identity);
        Ok(of_it.filter_map(|(_, cached)| cached.list()).collect())
    }

    /// A tool that is approved, of a server that may be used: identity and name of the server, the tool.
    pub async fn usable_tool(
        &self,
        server: &str,
        tool: &str,
        lang: Lang,
    ) -> Result<(String, String, Tool), Fault> {
        let (known, list, offered) = self.offer_of(server, lang).await?;
        let missing = || {
            let name = known.name();
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("`{name}` has no tool `{tool}`"), format!("`{name}` 没有工具 `{tool}`")),
            )
        };
        let found = list.tools.iter().find(|listed| listed.name == tool).ok_or_else(missing)?;
        match offered.iter().find(|offered| offered.tool == tool).map(|offered| &offered.word) {
            Some(Word::Refuse { code, why }) if *code != APP_ONLY => {
                return Err(Fault::new(ErrorCode::PermissionDenied, why.clone()).code(*code));
            }
            _ => {}
        }
        Ok((known.identity().as_str().to_owned(), known.name().to_owned(), found.clone()))
    }

    /// `resources/read`, for a view and by a view.
    pub async fn read_resource(&self, identity: &str, uri: &str, within: Duration) -> Result<Value, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let known = catalogue.wanted(identity)?;
        usable(known)?;
        let parts = self.parts();
        let key = known.key().ok_or_else(|| no_resources(known))?;
        let _lease = self.pool().lease(key);
        let told = |error: &ConnectError| start_fault(&parts, known, error);
        let connection = self.pool().connect(key).await.map_err(|error| told(&error))?;
        let mut params = Map::new();
        params.insert("uri".to_owned(), Value::from(uri));
        let answer = connection.request("resources/read", params, within).await;
        answer.map_err(|failure| told(&ConnectError { failure, stderr: connection.stderr(30) }))
    }

    /// What a view may call: the tools of its own server that are meant for views, with the word an agent
    /// has for each, or all of them for a person.
    pub async fn toolset_of_view(
        &self,
        identity: &str,
        outcome: Option<&Outcome>,
        lang: Lang,
    ) -> Result<Toolset, Fault> {
        let (known, list, offered) = self.offer_of(identity, lang).await?;
        let tools = offered.iter().map(|tool| {
            let listed = list.tools.iter().find(|listed| listed.name == tool.tool);
            let for_view = listed.is_some_and(|listed| UiMeta::of(listed).for_view());
            let said = match &tool.word {
                Word::Refuse { code, .. } if *code != APP_ONLY => tool.word.clone(),
                _ if !for_view => Word::Refuse {
                    code: "model_only",
                    why: Text::new(
                        format!("`{}` of `{}` may not be called by a view", tool.tool, known.name()),
                        format!("视图不能调用 `{}` 的 `{}`", known.name(), tool.tool),
                    ),
                },
                _ => said_to(outcome, &known, &tool.tool),
            };
            OfferedTool { word: said, ..tool.clone() }
        });
        let sampling = false;
        let offer = ServerOffer { route: Arc::clone(&known.route), tools: tools.collect(), sampling };
        Ok(Toolset::build(vec![offer], Vec::new(), lang))
    }

    async fn offer_of(
        &self,
        server: &str,
        lang: Lang,
    ) -> Result<(Arc<ServerRecord>, Arc<ToolList>, Arc<Vec<OfferedTool>>), Fault> {
        let catalogue = self.inner().catalogue().await?;
        let known = Arc::clone(catalogue.wanted(server)?);
        usable(&known)?;
        let parts = self.parts();
        let key = known.key().ok_or_else(|| no_resources(&known))?;
        let told = |error: ConnectError| start_fault(&parts, &known, &error);
        let (offered, _) = self.inner().offered(&known, key, lang).await.map_err(told)?;
        let list = self.pool().tools(key).await.map_err(told)?;
        Ok((known, list, offered))
    }
}

/// The word an agent's grants have for a tool; without an agent a person has looked at the tool.
fn said_to(outcome: Option<&Outcome>, known: &ServerRecord, tool: &str) -> Word {
    let Some(outcome) = outcome else { return Word::Allow };
    match outcome.grants.get(known.identity()) {
        Some(grant) => word(outcome, grant, tool),
        None => Word::Refuse {
            code: "not_granted",
            why: Text::new(
                format!("{} is not granted by “{}”.", known.name(), outcome.land),
                format!("「{}」未授权 {}。", outcome.land, known.name()),
            ),
        },
    }
}

fn no_resources(known: &ServerRecord) -> Fault {
    let name = known.name();
    Fault::new(
        ErrorCode::NotSupported,
        Text::new(format!("`{name}` has no views"), format!("`{name}` 没有视图")),
    )
}
