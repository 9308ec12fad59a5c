//! The tools and the system prompt of one run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_agent::{CallEnd, CallObserver, CallOrder};
use chatos_agents::{BlockContext, SubTexts};
use chatos_policy::{Outcome, Role};
use chatos_servers::{Room, SIGN_IN, Toolset, ToolsetOrder};
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;
use serde_json::Value;

use super::stage::HostStage;

/// Later passes wait only so long for servers that are still starting.
const LATER: Duration = Duration::from_millis(200);

/// What a run may use.
pub(crate) struct RunTools {
    /// As granted when the run began: what widens later counts for the next run only.
    granted: Outcome,
    /// Servers a caller narrowed a subagent to, by `mcp_<server>_`.
    only: Option<Vec<String>>,
    sub: Option<SubTexts>,
    warned: AtomicBool,
    system: Mutex<Option<Vec<String>>>,
    told: Mutex<std::collections::HashSet<String>>,
    /// As the vendor said in this run.
    most: AtomicUsize,
}

impl RunTools {
    pub(crate) fn new(granted: Outcome, options: &Value) -> Self {
        let only = options["only"]
            .as_array()
            .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>());
        let texts = &options["sub"];
        let sub = texts.is_object().then(|| SubTexts {
            prompt: texts["prompt"].as_str().unwrap_or_default().to_owned(),
            command: texts["command"].as_str().map(str::to_owned),
            skills: texts["skills"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|skill| Some((skill[0].as_str()?.to_owned(), skill[1].as_str()?.to_owned())))
                .collect(),
        });
        Self {
            granted,
            only,
            sub,
            warned: AtomicBool::new(false),
            system: Mutex::default(),
            told: Mutex::default(),
            most: AtomicUsize::new(usize::MAX),
        }
    }

    /// What is granted now: never more than at the beginning (agents §4).
    async fn outcome(&self, stage: &HostStage) -> Result<Outcome, Fault> {
        let granted = self.granted.clone();
        let only = self.only.clone();
        stage
            .work(move |stage| {
                let mut now = stage.ports().agents.outcome(&stage.parts.agent, stage.parts.role)?;
                now.grants.retain(|identity, grant| {
                    let named = only
                        .as_ref()
                        .is_none_or(|only| only.iter().any(|prefix| names_server(prefix, &grant.server)));
                    named && granted.grants.contains_key(identity)
                });
                // A filter that became narrower counts at once; a wider one with the next run.
                for (identity, grant) in &mut now.grants {
                    if let Some(before) = granted.grants.get(identity) {
                        grant.narrow(before);
                    }
                    if identity.as_str().ends_with(chatos_policy::ROUTER_SERVER) {
                        grant.hide(&chatos_builtin::subagent::FOR_PROGRAMS);
                    }
                }
                Ok(now)
            })
            .await
    }

    pub(crate) async fn toolset(&self, stage: &HostStage) -> Result<Arc<Toolset>, Fault> {
        let outcome = self.outcome(stage).await?;
        let lang = stage.parts.lang;
        let first = !self.warned.swap(true, Ordering::Relaxed);
        let models = stage.ports().agents.language(&stage.parts.agent);
        let mut order = ToolsetOrder::new(&outcome, models);
        order.patience = if first {
            let wait = stage.ports().settings.int("mcpFirstWaitMs");
            Duration::from_millis(u64::try_from(wait).unwrap_or_default())
        } else {
            LATER
        };
        let mut set = stage.ports().servers.open().toolset(order).await?;
        set.offer_results(models);
        set.offer_resources(models);
        let all = set.len();
        let room = stage.parts.room;
        set.fit(Room { most: room.most.min(self.most.load(Ordering::Relaxed)), ..room }, models)?;
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            for problem in set.problems() {
                if told.insert(format!("{}/{:?}/{}", problem.server, problem.tool, problem.code)) {
                    stage.parts.emitter.notice(Severity::Warning, problem.code, &problem.message, lang);
                    if problem.code == SIGN_IN {
                        stage.ports().servers.open().ask_to_sign_in(&problem.server);
                    }
                }
            }
        }
        let most = usize::try_from(stage.ports().settings.int("toolWarnCount")).unwrap_or(128);
        if first && set.deferred() > 0 {
            let loaded = all - set.deferred();
            let text = Text::new(
                format!("{loaded} of {all} tools loaded, the rest on demand"),
                format!("已加载 {all} 个工具中的 {loaded} 个，其余按需使用"),
            );
            stage.parts.emitter.notice(Severity::Info, "tools_on_demand", &text, lang);
        } else if first && set.len() > most {
            let text = Text::new(
                format!("this run offers {} tools to the model; fewer work better", set.len()),
                format!("本次运行向模型提供 {} 个工具；更少效果更好", set.len()),
            );
            stage.parts.emitter.notice(Severity::Warning, "many_tools", &text, lang);
        }
        Ok(Arc::new(set))
    }

    /// A request holds at most so many from now on. The system prompt names those that have to be found, so it is made anew.
    pub(crate) fn fewer(&self, most: u32) {
        self.most.store(usize::try_from(most).unwrap_or(usize::MAX), Ordering::Relaxed);
        self.warned.store(false, Ordering::Relaxed);
        *self.system.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The system prompt; made once, so that vendors' caches hit.
    pub(crate) async fn system(&self, stage: &HostStage, set: &Toolset) -> Result<Vec<String>, Fault> {
        if let Some(made) = self.system.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Ok(made);
        }
        let (outcome, sub) = (self.granted.clone(), self.sub.clone());
        let lang = stage.ports().agents.language(&stage.parts.agent);
        let instructions = stage.ports().servers.open().instructions(&outcome, lang).await?;
        let (blocks, missing) = stage
            .work(move |stage| {
                let context = BlockContext {
                    workdir: stage.parts.workdir.clone(),
                    subagents: if stage.parts.role == Role::Main {
                        stage.parts.runs.subagent_names(&stage.parts.agent)?
                    } else {
                        Vec::new()
                    },
                    skills: stage.parts.agent.skills.clone(),
                    sub,
                    instructions,
                };
                let made = stage.ports().agents.system_blocks(&stage.parts.agent, &outcome, &context)?;
                let missing: Vec<Text> =
                    made.prompts.iter().filter_map(chatos_agents::PromptUse::notice).collect();
                Ok((made.blocks.into_iter().map(|block| block.text).collect::<Vec<_>>(), missing))
            })
            .await?;
        let mut blocks = blocks;
        blocks.extend(set.on_demand(lang));
        for text in missing {
            stage.parts.emitter.notice(Severity::Warning, "missing_prompt", &text, stage.parts.lang);
        }
        *self.system.lock().unwrap_or_else(PoisonError::into_inner) = Some(blocks.clone());
        Ok(blocks)
    }

    pub(crate) async fn call(
        &self,
        stage: &HostStage,
        set: Arc<Toolset>,
        order: CallOrder,
        observer: Arc<dyn CallObserver>,
    ) -> CallEnd {
        let parts = stage.ports();
        let end = parts.calls.dispatcher().call(&set, order, observer).await;
        parts.calls.look_at_end(&end);
        end
    }
}

/// servers §9: an entry names exactly one server; it is compared whole, never as a prefix.
fn names_server(entry: &str, server: &str) -> bool {
    let entry = entry.trim();
    let named = entry.strip_prefix("mcp_").map_or(entry, |rest| rest.strip_suffix('_').unwrap_or(rest));
    let normal = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
    };
    !named.is_empty() && normal(named) == normal(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_names_one_server_and_no_other() {
        assert!(names_server("mcp_code_", "code") && names_server("code", "code"));
        assert!(!names_server("mcp_code_", "code_writer") && !names_server("mcp_code_writer_", "code"));
        assert!(!names_server("", "") && !names_server("mcp__", "x"));
    }
}
