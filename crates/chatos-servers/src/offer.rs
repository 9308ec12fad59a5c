//! Building the tools of a run, or of a person who calls by hand (agents §5).

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::toolset::{OfferedTool, ServerOffer, SetProblem, Told, Toolset, Word};
use chatos_contribution::ServerIdentity;
use chatos_layer::Access;
use chatos_mcp::{ConnectError, Failure, ServerKey, ToolList, plain_for_model};
use chatos_policy::{Code, Grant, Outcome, Refusal, ToolDecision};
use chatos_store::PinState;
use chatos_tool::{Fault, Lang, Text};
use serde_json::Value;

use crate::catalogue::{Catalogue, ServerRecord};
use crate::memory::CachedOffer;
use crate::parts::ServersParts;
use crate::pins::{self, failed};
use crate::servers::{Inner, Servers};
use crate::view_meta::UiMeta;

/// The first model call waits this long for servers (agents §5.5).
const PATIENCE: Duration = Duration::from_secs(15);

/// The code of what is off because its plugin is not trusted.
const UNTRUSTED: &str = "untrusted";

/// What a toolset is made for.
#[derive(Debug, Clone, Copy)]
pub struct ToolsetOrder<'a> {
    /// What the policy granted.
    pub outcome: &'a Outcome,
    /// The language of descriptions of our own tools.
    pub lang: Lang,
    /// How long servers may take to start; those that are late come with the next set.
    pub patience: Duration,
}

impl<'a> ToolsetOrder<'a> {
    /// With the patience of a run's first pass.
    pub fn new(outcome: &'a Outcome, lang: Lang) -> Self {
        Self { outcome, lang, patience: PATIENCE }
    }
}

impl Servers {
    /// The tools of a run: what `outcome` grants, of the servers that are there in time.
    pub async fn toolset(&self, order: ToolsetOrder<'_>) -> Result<Toolset, Fault> {
        let catalogue = self.inner().catalogue().await?;
        let parts = self.parts();
        let mut problems = Vec::new();
        let mut offers = Vec::new();
        let mut waits = tokio::task::JoinSet::new();
        let mut leases = Vec::new();
        let mut untrusted = HashMap::new();
        for grant in order.outcome.grants.values() {
            let Some(known) = catalogue.by_identity(&grant.identity) else { continue };
            if let Some(key) = known.key() {
                leases.extend(self.pool().lease(key));
                let (inner, known) = (Arc::clone(self.inner()), Arc::clone(known));
                let (key, lang) = (key.clone(), order.lang);
                waits.spawn(async move {
                    let listed = tokio::time::timeout(PATIENCE, inner.offered(&known, &key, lang)).await;
                    (known, listed)
                });
            } else {
                let tools = self.inner().built_in_tools(known, order.lang)?;
                offers.push(offer(known, &tools, grant.sampling, |tool| word(order.outcome, grant, tool)));
            }
        }
        let deadline = tokio::time::Instant::now() + order.patience;
        while let Ok(Some(done)) = tokio::time::timeout_at(deadline, waits.join_next()).await {
            let (known, listed) = done.map_err(|error| failed(&error))?;
            let Some(grant) = order.outcome.grants.get(known.identity()) else { continue };
            match listed {
                Ok(Ok((tools, dropped))) => {
                    problems.extend(dropped);
                    offers
                        .push(offer(&known, &tools, grant.sampling, |tool| word(order.outcome, grant, tool)));
                }
                Ok(Err(error)) => {
                    let problem = did_not_start(&parts, &known, &error);
                    if matches!(error.failure, Failure::Untrusted { .. }) {
                        untrusted.insert(known.identity().clone(), problem.message.clone());
                    }
                    problems.push(problem);
                }
                Err(_) => problems.push(late(&known)),
            }
        }
        // Whoever is not there by now comes with the next set; their starts go on.
        waits.detach_all();
        let there: Vec<ServerIdentity> = offers.iter().map(|offer| offer.route.identity.clone()).collect();
        for grant in order.outcome.grants.values() {
            let told = |problem: &SetProblem| problem.server == grant.server;
            if !there.contains(&grant.identity)
                && !problems.iter().any(told)
                && let Some(known) = catalogue.by_identity(&grant.identity)
            {
                problems.push(late(known));
            }
        }
        offers.extend(self.refused(&parts, &catalogue, order, &there, &untrusted).await?);
        let mut set = Toolset::build(offers, problems, order.lang);
        for identity in there {
            let key = catalogue.by_identity(&identity).and_then(|known| known.key());
            let connection = key.and_then(|key| self.pool().connected(key));
            if connection.is_some_and(|connection| connection.has("resources")) {
                set.has_resources(identity);
            }
        }
        for lease in leases {
            set.hold(Arc::new(lease));
        }
        Ok(set)
    }

    /// Names of tools that exist but are not granted, so that a call by name is answered with the reason.
    /// Nothing is started for them.
    async fn refused(
        &self,
        parts: &Arc<ServersParts>,
        catalogue: &Catalogue,
        order: ToolsetOrder<'_>,
        there: &[ServerIdentity],
        untrusted: &HashMap<ServerIdentity, Text>,
    ) -> Result<Vec<ServerOffer>, Fault> {
        let store = parts.store.clone();
        let rows = chatos_blocking::run(move || store.tool_pins(None)).await;
        let rows = rows.map_err(|error| failed(&error))?.unwrap_or_default();
        let mut by_server: HashMap<&str, Vec<&str>> = HashMap::new();
        for row in rows.iter().filter(|row| !row.tool.is_empty() && row.tool != pins::INSTRUCTIONS) {
            by_server.entry(row.identity.as_str()).or_default().push(&row.tool);
        }
        let mut offers = Vec::new();
        for known in &catalogue.servers {
            let identity = known.identity();
            if there.contains(identity) {
                continue;
            }
            let refusal =
                order.outcome.refusals.iter().find(|refusal| refusal.identity.as_ref() == Some(identity));
            let (code, why) = match (untrusted.get(identity), refusal) {
                // Granted, and then its files were found to be others.
                (Some(why), _) => (UNTRUSTED, why.clone()),
                (None, _) if order.outcome.grants.contains_key(identity) => continue,
                (None, Some(refusal)) => {
                    let code = if refusal.code == Code::Untrusted { UNTRUSTED } else { "not_granted" };
                    (code, Text::new(refusal.en(), refusal.zh()))
                }
                (None, None) => (
                    "not_granted",
                    Text::new(
                        format!("{} is not granted by “{}”.", known.name(), order.outcome.land),
                        format!("「{}」未授权 {}。", order.outcome.land, known.name()),
                    ),
                ),
            };
            let word = || Word::Refuse { code, why: why.clone() };
            let named = |tool: &str| OfferedTool {
                tool: tool.to_owned(),
                title: None,
                description: String::new(),
                input_schema: Value::Null,
                annotations: Value::Null,
                told: Arc::default(),
                word: word(),
                asks_itself: false,
                read_only: false,
                idempotent: false,
            };
            let tools: Vec<OfferedTool> = if known.is_built_in() {
                let tools = self.inner().built_in_tools(known, order.lang)?;
                tools.iter().map(|tool| named(&tool.tool)).collect()
            } else {
                let names = by_server.get(identity.as_str());
                names.into_iter().flatten().map(|tool| named(tool)).collect()
            };
            offers.push(ServerOffer { route: Arc::clone(&known.route), tools, sampling: false });
        }
        Ok(offers)
    }
}

impl Inner {
    /// The tools of a connected server, checked against what a person approved.
    pub(crate) async fn offered(
        self: &Arc<Self>,
        known: &Arc<ServerRecord>,
        key: &ServerKey,
        lang: Lang,
    ) -> Result<(Arc<Vec<OfferedTool>>, Vec<SetProblem>), ConnectError> {
        let list = self.pool.tools(key).await?;
        let dropped = dropped(known, &list);
        let parts = self.parts();
        let cache_key = (known.identity().as_str().to_owned(), lang);
        let approvals = self.approvals.load(Ordering::SeqCst);
        let settings = parts.settings.revision();
        {
            let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(cached) = sets.get(&cache_key)
                && cached.list.as_ref().is_some_and(|old| Arc::ptr_eq(old, &list))
                && (cached.approvals, cached.settings) == (approvals, settings)
            {
                return Ok((Arc::clone(&cached.offer), dropped));
            }
        }
        let (identity, name) = (known.identity().as_str().to_owned(), known.name().to_owned());
        let (checked, checking) = (self.as_offered(key, Arc::clone(&list)), Arc::clone(&parts));
        let off = chatos_blocking::run(move || pins::check(&checking, &identity, &name, &checked)).await;
        let off = match off {
            Ok(Ok(off)) => off,
            // What cannot be compared is not offered: nothing fails open.
            Ok(Err(fault)) => {
                tracing::error!(%fault, server = known.name(), "approved tools cannot be read");
                list.tools.iter().map(|tool| (tool.name.clone(), PinState::New)).collect()
            }
            Err(error) => {
                tracing::error!(%error, server = known.name(), "approved tools cannot be read");
                list.tools.iter().map(|tool| (tool.name.clone(), PinState::New)).collect()
            }
        };
        let trusted = trusted_hints(&parts, known.identity());
        let mut tools: Vec<&chatos_mcp::Tool> = list.tools.iter().collect();
        tools.sort_by_key(|tool| tool.position);
        let offer: Vec<OfferedTool> = tools
            .into_iter()
            .map(|tool| {
                let counts = trusted.iter().any(|name| name == "*" || *name == tool.name);
                let hint = |key: &str| {
                    counts
                        && tool.annotations.as_ref().and_then(|all| all.get(key)) == Some(&Value::Bool(true))
                };
                OfferedTool {
                    tool: tool.name.clone(),
                    title: tool.title.clone(),
                    description: tool.description.clone(),
                    input_schema: tool.input_schema.clone(),
                    annotations: tool.annotations.clone().unwrap_or(Value::Null),
                    told: Arc::new(told(tool)),
                    word: off
                        .get(&tool.name)
                        .map(|state| unapproved(known.name(), &tool.name, *state))
                        .map(|(code, why)| Word::Refuse { code, why })
                        .or_else(|| {
                            let hidden = !UiMeta::of(tool).for_model();
                            hidden.then(|| crate::views::app_only(known, &tool.name))
                        })
                        .unwrap_or(Word::Allow),
                    asks_itself: false,
                    read_only: hint("readOnlyHint"),
                    idempotent: hint("idempotentHint") || hint("readOnlyHint"),
                }
            })
            .collect();
        let offer = Arc::new(offer);
        let cached = CachedOffer { list: Some(list), approvals, settings, offer: Arc::clone(&offer) };
        self.sets.lock().unwrap_or_else(PoisonError::into_inner).insert(cache_key, cached);
        Ok((offer, dropped))
    }

    /// A list with what its server says about itself now.
    pub(crate) fn as_offered(&self, key: &ServerKey, list: Arc<ToolList>) -> pins::Offered {
        let instructions = match self.pool.connected(key) {
            None => pins::Said::Unknown,
            Some(connection) => match &connection.peer().instructions {
                Some(text) if !text.trim().is_empty() => pins::Said::Words(text.clone()),
                _ => pins::Said::Nothing,
            },
        };
        pins::Offered { list, instructions }
    }

    /// The tools of a built-in server; their hints are our own word and count.
    pub(crate) fn built_in_tools(
        &self,
        known: &ServerRecord,
        lang: Lang,
    ) -> Result<Arc<Vec<OfferedTool>>, Fault> {
        let cache_key = (known.identity().as_str().to_owned(), lang);
        if let Some(cached) = self.sets.lock().unwrap_or_else(PoisonError::into_inner).get(&cache_key) {
            return Ok(Arc::clone(&cached.offer));
        }
        let server = (self.parts.built_in)(known.name())?;
        let tools = server.definitions(&Access::All, lang).into_iter().map(|mut tool| {
            let text = |key: &str| tool[key].as_str().map(str::to_owned);
            let hint = |key: &str| tool["annotations"][key] == Value::Bool(true);
            OfferedTool {
                tool: text("name").unwrap_or_default(),
                title: text("title"),
                description: text("description").unwrap_or_default(),
                told: Arc::new(Told {
                    description: text("description").unwrap_or_default(),
                    ..Told::default()
                }),
                asks_itself: tool["_meta"]["chatos"]["confirm"].as_str().is_some_and(|word| word != "none"),
                read_only: hint("readOnlyHint"),
                idempotent: hint("idempotentHint"),
                annotations: tool["annotations"].take(),
                input_schema: tool["inputSchema"].take(),
                word: Word::Allow,
            }
        });
        let offer: Arc<Vec<OfferedTool>> = Arc::new(tools.collect());
        let cached = CachedOffer { list: None, approvals: 0, settings: 0, offer: Arc::clone(&offer) };
        self.sets.lock().unwrap_or_else(PoisonError::into_inner).insert(cache_key, cached);
        Ok(offer)
    }
}

/// What a client is told of a tool beyond what a model reads. Nothing in it can change how a text reads.
fn told(tool: &chatos_mcp::Tool) -> Told {
    let mut meta = tool.meta.clone();
    // Ours is written where results and lists leave us.
    if let Some(Value::Object(map)) = &mut meta {
        map.remove("chatos");
    }
    Told {
        description: plain_for_model(&tool.description),
        output_schema: tool.output_schema.clone(),
        icons: tool.icons.clone(),
        meta: meta.filter(|meta| meta.as_object().is_some_and(|map| !map.is_empty())),
    }
}

impl Servers {
    /// The schemas of tools that were offered so far, with the tools' names.
    pub fn offered_schemas(&self) -> Vec<(String, Value)> {
        let sets = self.inner().sets.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = sets.values().flat_map(|cached| cached.offer.iter());
        tools.map(|tool| (tool.tool.clone(), tool.input_schema.clone())).collect()
    }
}

pub(crate) fn offer(
    known: &ServerRecord,
    tools: &[OfferedTool],
    sampling: bool,
    word: impl Fn(&str) -> Word,
) -> ServerOffer {
    let tools = tools
        .iter()
        .map(|tool| match &tool.word {
            // What a person has not approved stays off whatever the policy says.
            Word::Refuse { .. } => tool.clone(),
            _ => OfferedTool { word: word(&tool.tool), ..tool.clone() },
        })
        .collect();
    ServerOffer { route: Arc::clone(&known.route), tools, sampling }
}

pub(crate) fn word(outcome: &Outcome, grant: &Grant, tool: &str) -> Word {
    match grant.tool(tool) {
        ToolDecision::Allow => Word::Allow,
        ToolDecision::Ask => Word::Ask,
        ToolDecision::Deny => {
            let refusal = Refusal {
                code: Code::ToolFiltered,
                identity: Some(grant.identity.clone()),
                server: grant.server.clone(),
                tool: Some(tool.to_owned()),
                role: outcome.role,
                land: outcome.land.clone(),
            };
            Word::Refuse { code: "tool_filtered", why: Text::new(refusal.en(), refusal.zh()) }
        }
    }
}

/// Why a tool that nobody approved is off.
pub fn unapproved(server: &str, tool: &str, state: PinState) -> (&'static str, Text) {
    let (code, en, zh) = match state {
        PinState::Changed => ("tool_changed", "has changed since it was approved", "自同意后已改变"),
        _ => ("tool_new", "is new and not approved yet", "是新增的，尚未同意"),
    };
    let why = Text::new(
        format!("`{tool}` of `{server}` {en}; a person can approve it on the Servers page"),
        format!("`{server}` 的 `{tool}` {zh}；用户可在服务器页面同意"),
    );
    (code, why)
}

/// agents §7: hints count for tools a person listed, as `<identity>#<tool>` or `<identity>#*`.
fn trusted_hints(parts: &ServersParts, identity: &ServerIdentity) -> Vec<String> {
    let listed = parts.settings.effective("trustedHintTools").map(|known| known.value);
    let listed = listed.as_ref().and_then(Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter_map(|entry| entry.rsplit_once('#'))
        .filter(|(server, _)| *server == identity.as_str())
        .map(|(_, tool)| tool.to_owned())
        .collect()
}

fn dropped(known: &ServerRecord, list: &ToolList) -> Vec<SetProblem> {
    let mut by_reason: BTreeMap<String, SetProblem> = BTreeMap::new();
    for problem in list.problems.iter().take(50) {
        let tool = problem.tool.clone();
        let (server, reason) = (known.name(), &problem.reason);
        let shown = tool.as_deref().unwrap_or("?");
        by_reason.insert(
            format!("{shown} {reason}"),
            SetProblem {
                server: server.to_owned(),
                code: "tool_dropped",
                message: Text::new(
                    format!("`{shown}` of `{server}` is left out: {reason}"),
                    format!("已忽略 `{server}` 的 `{shown}`：{reason}"),
                ),
                tool,
                stderr: Vec::new(),
            },
        );
    }
    by_reason.into_values().collect()
}

fn did_not_start(parts: &ServersParts, known: &ServerRecord, error: &ConnectError) -> SetProblem {
    let (server, said) = (known.name(), error.failure.text());
    let redactor = &parts.redactor;
    SetProblem {
        server: server.to_owned(),
        tool: None,
        code: error.failure.domain_code(),
        message: Text::new(
            format!("`{server}` cannot be used: {}", redactor.message(&said.en)),
            format!("无法使用 `{server}`：{}", redactor.message(&said.zh)),
        ),
        stderr: error.stderr.iter().map(|line| redactor.text(line).into_owned()).collect(),
    }
}

fn late(known: &ServerRecord) -> SetProblem {
    let server = known.name();
    SetProblem {
        server: server.to_owned(),
        tool: None,
        code: "server_late",
        message: Text::new(
            format!("`{server}` is still starting; its tools come with the next step"),
            format!("`{server}` 仍在启动；其工具将在下一步可用"),
        ),
        stderr: Vec::new(),
    }
}

/// A server that could not be reached, for who called it by hand.
pub(crate) fn start_fault(parts: &ServersParts, known: &ServerRecord, error: &ConnectError) -> Fault {
    let redactor = &parts.redactor;
    let stderr: Vec<String> = error.stderr.iter().map(|line| redactor.text(line).into_owned()).collect();
    let mut fault = error.failure.fault(known.name(), &stderr);
    fault.message = Text::new(
        redactor.message(&fault.message.en).into_owned(),
        redactor.message(&fault.message.zh).into_owned(),
    );
    fault
}

/// A server that may not be used at all.
pub(crate) fn usable(known: &ServerRecord) -> Result<(), Fault> {
    use chatos_tool::ErrorCode;
    if !known.enabled {
        let name = known.name();
        return Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::new(format!("`{name}` is switched off"), format!("`{name}` 已禁用")),
        )
        .code("disabled")
        .hint(Text::new(
            format!("`chatos mcp servers edit \"{name}\" --enable`"),
            format!("`chatos mcp servers edit \"{name}\" --enable`"),
        )));
    }
    match &known.problem {
        Some(fault) => Err(fault.clone()),
        None => Ok(()),
    }
}
