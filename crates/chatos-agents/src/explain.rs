//! "Why can it, why can't it" for everything an agent could use, and what a change would change.

use std::collections::BTreeMap;

use chatos_contribution::ServerIdentity;
use chatos_policy::{
    Change, Explanation, Outcome, Role, ServerFacts, ToolDecision, ToolRule, Via, World, changes, explain,
};
use chatos_store::AgentRecord;
use chatos_tool::{Fault, Lang, Text};
use chatos_wire::agent::{
    AgentExplanation, GrantDifference, LandName, PromptExplanation, Reason, ServerExplanation,
    ToolExplanation,
};

use crate::agents::Agents;
use crate::blocks::BlockContext;
use crate::known::KnownTools;

impl Agents {
    /// Explains everything; with `tool` only what concerns tools of that name.
    pub fn explain(
        &self,
        agent: &AgentRecord,
        role: Role,
        tool: Option<&str>,
        lang: Lang,
    ) -> Result<AgentExplanation, Fault> {
        let world = self.world()?;
        let known = self.known_tools(&world)?;
        let mut explanation = AgentExplanation {
            agent_id: agent.id.clone(),
            role,
            land_config: None,
            stop: None,
            servers: Vec::new(),
            prompts: Vec::new(),
            problems: self.problems_in(agent, &world, lang)?,
            changes: None,
        };
        let outcome = match self.outcome_in(agent, role, &world) {
            Ok(outcome) => outcome,
            Err(fault) if is_stop(&fault) => {
                explanation.stop = Some(Reason {
                    code: fault.code.to_string(),
                    message: fault.message.get(lang).to_owned(),
                    fix: Some("agents".to_owned()),
                });
                return Ok(explanation);
            }
            Err(fault) => return Err(fault),
        };
        explanation.land_config = Some(LandName { id: outcome.land_id.clone(), name: outcome.land.clone() });
        explanation.servers = servers(&outcome, &world, &known, tool, lang);
        let context = BlockContext { workdir: self.0.project.clone(), ..BlockContext::default() };
        let blocks = self.system_blocks(agent, &outcome, &context)?;
        explanation.prompts = blocks
            .prompts
            .into_iter()
            .map(|prompt| PromptExplanation {
                key: prompt.key,
                included: prompt.included,
                code: prompt.code.to_owned(),
                why: prompt.why.get(lang).to_owned(),
            })
            .collect();
        Ok(explanation)
    }

    /// Explains an agent that is not saved, with the differences to the one that is.
    pub fn preview(&self, agent: &AgentRecord, role: Role, lang: Lang) -> Result<AgentExplanation, Fault> {
        let mut explanation = self.explain(agent, role, None, lang)?;
        let world = self.world()?;
        let known = self.known_tools(&world)?;
        let nothing = || Outcome {
            role,
            land_id: String::new(),
            land: String::new(),
            grants: BTreeMap::new(),
            refusals: Vec::new(),
        };
        // A run that may not begin grants nothing.
        let decide = |agent: &AgentRecord| match self.outcome_in(agent, role, &world) {
            Ok(outcome) => Ok(outcome),
            Err(fault) if is_stop(&fault) => Ok(nothing()),
            Err(fault) => Err(fault),
        };
        let saved = self.0.store.agent(&agent.id)?;
        let before = match &saved {
            Some(saved) => decide(saved)?,
            None => nothing(),
        };
        let after = decide(agent)?;
        let tools = |identity: &ServerIdentity| {
            known.get(identity.as_str()).map(|known| known.names.clone()).unwrap_or_default()
        };
        explanation.changes = Some(changes(&before, &after, tools).iter().map(change_view).collect());
        Ok(explanation)
    }
}

/// Refusals of a whole run are explained, not failed with.
pub(crate) fn is_stop(fault: &Fault) -> bool {
    fault.code == "land_config_required" || fault.code == "land_config_missing"
}

pub(crate) fn change_view(change: &Change) -> GrantDifference {
    let allowed = |decision: Option<ToolDecision>| decision.is_some_and(|d| d != ToolDecision::Deny);
    let kind = match (allowed(change.before), allowed(change.after)) {
        (false, true) if change.after == Some(ToolDecision::Ask) => "ask",
        (false, true) => "gained",
        (true, false) => "lost",
        // Still allowed, but now after a question, or no longer after one.
        _ if change.after == Some(ToolDecision::Ask) => "ask",
        _ => "gained",
    };
    GrantDifference { kind: kind.to_owned(), server: change.server.clone(), tool: change.tool.clone() }
}

fn servers(
    outcome: &Outcome,
    world: &World,
    known: &BTreeMap<String, KnownTools>,
    wanted: Option<&str>,
    lang: Lang,
) -> Vec<ServerExplanation> {
    let mut all = Vec::new();
    for server in world.servers() {
        let tools = known.get(server.identity.as_str());
        let names = tools.map(|tools| &tools.names);
        let names: Option<Vec<&str>> = match wanted {
            None => names.map(|names| names.iter().map(String::as_str).collect()),
            // A tool nobody has seen is explained by the patterns of servers that were never seen.
            Some(wanted) => match names {
                Some(names) => Some(names.iter().map(String::as_str).filter(|n| fits(n, wanted)).collect()),
                None if wanted.contains(['*', '?']) => Some(Vec::new()),
                None => Some(vec![wanted]),
            },
        };
        if wanted.is_some() && names.as_ref().is_none_or(Vec::is_empty) {
            continue;
        }
        all.push(with_tools(outcome, world, server, tools, names, lang));
    }
    if wanted.is_none() {
        for refusal in outcome.refusals.iter().filter(|refusal| refusal.identity.is_none()) {
            let message = Text::new(refusal.en(), refusal.zh());
            all.push(ServerExplanation {
                identity: None,
                name: refusal.server.clone(),
                granted: false,
                code: Some(word(refusal.code)),
                message: Some(message.get(lang).to_owned()),
                rule: Text::fixed("listed or chosen, but not there", "已列出或选择，但不存在")
                    .get(lang)
                    .to_owned(),
                fix: Some(refusal.page().to_owned()),
                tools: None,
                tools_from: None,
            });
        }
    }
    // What is granted first, then by name: the order a person reads in.
    all.sort_by(|a, b| {
        b.granted.cmp(&a.granted).then_with(|| a.name.to_lowercase().cmp(&b.name.to_lowercase()))
    });
    all
}

/// One server with all of its tools that are known.
pub(crate) fn server(
    outcome: &Outcome,
    world: &World,
    facts: &ServerFacts,
    known: &BTreeMap<String, KnownTools>,
    lang: Lang,
) -> ServerExplanation {
    let tools = known.get(facts.identity.as_str());
    let names = tools.map(|tools| tools.names.iter().map(String::as_str).collect());
    with_tools(outcome, world, facts, tools, names, lang)
}

fn with_tools(
    outcome: &Outcome,
    world: &World,
    server: &ServerFacts,
    tools: Option<&KnownTools>,
    names: Option<Vec<&str>>,
    lang: Lang,
) -> ServerExplanation {
    let mut explained = one(outcome, world, &server.identity, &server.name, names, lang);
    if let Some(tools) = tools {
        explained.tools_from = Some(tools.source().to_owned());
        switch_off(&mut explained, tools, lang);
    }
    explained
}

/// What a person did not approve is not offered, whatever the land_config says (security T18).
fn switch_off(server: &mut ServerExplanation, known: &KnownTools, lang: Lang) {
    for tool in server.tools.iter_mut().flatten().filter(|tool| tool.granted) {
        let Some(state) = known.off.get(&tool.tool) else { continue };
        let (code, why) = chatos_servers::unapproved(&server.name, &tool.tool, *state);
        tool.granted = false;
        tool.ask = false;
        tool.code = Some(code.to_owned());
        tool.message = Some(why.get(lang).to_owned());
        tool.rule = Text::fixed("the approval of tools", "工具的同意").get(lang).to_owned();
    }
}

fn fits(name: &str, wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted) || chatos_policy::Glob::new(wanted).matches(name)
}

fn one(
    outcome: &Outcome,
    world: &World,
    identity: &ServerIdentity,
    name: &str,
    tools: Option<Vec<&str>>,
    lang: Lang,
) -> ServerExplanation {
    let mut explanation = ServerExplanation {
        identity: Some(identity.as_str().to_owned()),
        name: name.to_owned(),
        granted: false,
        code: None,
        message: None,
        rule: String::new(),
        fix: None,
        tools: None,
        tools_from: None,
    };
    let Some(grant) = outcome.grants.get(identity) else {
        if let Explanation::Refused(refusal) = explain(outcome, world, identity, "") {
            let listed = outcome.refusals.iter().any(|known| known.identity.as_ref() == Some(identity));
            let message = if listed {
                Text::new(refusal.en(), refusal.zh())
            } else {
                Text::new(
                    format!("{name} is not in the {} flow of “{}”.", outcome.role, outcome.land),
                    format!("{name} 不在「{}」的{}流程中。", outcome.land, outcome.role.zh()),
                )
            };
            explanation.code = Some(word(refusal.code));
            explanation.message = Some(message.get(lang).to_owned());
            explanation.rule = refused_rule(refusal.code, outcome).get(lang).to_owned();
            explanation.fix = Some(refusal.page().to_owned());
        }
        explanation.tools = tools.map(|tools| {
            let refused = |tool: &str| ToolExplanation {
                tool: tool.to_owned(),
                granted: false,
                ask: false,
                code: explanation.code.clone(),
                message: explanation.message.clone(),
                rule: explanation.rule.clone(),
            };
            tools.into_iter().map(refused).collect()
        });
        return explanation;
    };
    explanation.granted = true;
    explanation.rule = granted_rule(grant.via, outcome).get(lang).to_owned();
    explanation.tools = tools.map(|tools| {
        let mut explained = Vec::new();
        for tool in tools {
            let decision = grant.tool(tool);
            let mut view = ToolExplanation {
                tool: tool.to_owned(),
                granted: decision != ToolDecision::Deny,
                ask: decision == ToolDecision::Ask,
                code: None,
                message: None,
                rule: tool_rule(&grant.rule(tool), &explanation.rule).get(lang).to_owned(),
            };
            if let Explanation::Refused(refusal) = explain(outcome, world, identity, tool) {
                view.code = Some(word(refusal.code));
                view.message = Some(Text::new(refusal.en(), refusal.zh()).get(lang).to_owned());
            }
            explained.push(view);
        }
        explained
    });
    explanation
}

fn word(code: chatos_policy::Code) -> String {
    match serde_json::to_value(code) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn granted_rule(via: Via, outcome: &Outcome) -> Text {
    let Outcome { role, land, .. } = outcome;
    match via {
        Via::LandConfig => Text::new(
            format!("listed in the {role} flow of “{land}”"),
            format!("列于「{land}」的{}流程", role.zh()),
        ),
        Via::AgentApp => Text::new(
            format!("an app the agent chose; “{land}” lets agents add trusted apps"),
            format!("智能体选择的应用；「{land}」允许添加已信任的应用"),
        ),
    }
}

fn refused_rule(code: chatos_policy::Code, outcome: &Outcome) -> Text {
    use chatos_policy::Code;
    let Outcome { role, land, .. } = outcome;
    match code {
        Code::NotInLandConfig => Text::new(
            format!("the {role} flow of “{land}” does not list it"),
            format!("「{land}」的{}流程没有列出它", role.zh()),
        ),
        Code::NotChosen => Text::fixed("the choice of the agent leaves it out", "智能体的选择中没有它"),
        Code::NotExposed => Text::fixed("the exposure of the app", "应用的开放范围"),
        Code::MainNotAllowed => Text::fixed("the switch “main” of the server", "服务的“主流程”开关"),
        Code::SubNotAllowed => Text::fixed("the switch “sub” of the server", "服务的“子流程”开关"),
        Code::Untrusted | Code::Unavailable | Code::NotFound => {
            Text::fixed("the state of its plugin", "其插件的状态")
        }
        Code::Disabled => Text::fixed("the switch “enabled” of the server", "服务的“启用”开关"),
        Code::ToolFiltered => Text::fixed("the tool filter of the land_config", "land_config 的工具过滤"),
        Code::RouterInSub => Text::fixed("no recursion: never in the sub flow", "禁止递归：不用于子流程"),
        Code::SubDepthZero => Text::fixed("`maxSubDepth` is 0", "`maxSubDepth` 为 0"),
    }
}

fn tool_rule(rule: &ToolRule, server: &str) -> Text {
    match rule {
        ToolRule::Unrestricted => Text::new(format!("{server}; no filter"), format!("{server}；无过滤")),
        ToolRule::Allow(glob) => Text::new(format!("allow `{glob}`"), format!("允许 `{glob}`")),
        ToolRule::NotInAllow => Text::fixed("fits no pattern of `allow`", "不符合 `allow` 中的任何模式"),
        ToolRule::Deny(glob) => Text::new(format!("deny `{glob}`"), format!("禁止 `{glob}`")),
        ToolRule::Ask(glob) => Text::new(format!("ask `{glob}`"), format!("询问 `{glob}`")),
    }
}
