//! Approval rules over HTTP (inbox §4.4): list, keep, pause, remove, try, and the rule that a question would make.

use axum::http::header;
use chatos_host::Host;
use chatos_inbox::WantedRule;
use chatos_policy::Role;
use chatos_prompts::Surface;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::prompt::PromptName;
use chatos_wire::rule::{
    BacktestRule, NewRule, PauseRule, RuleBacktest, RuleKept, RuleList, RuleOfPrompt, RuleProposals,
    RuleUses, RulesTried, TryRules,
};
use chatos_wire::status::Done;
use serde_json::{Map, Value};

use super::prompts::id_of;
use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/rules", "Rules that answer questions", list);
    routes.post("/api/v1/rules", "Keep a rule", keep);
    routes.patch("/api/v1/rules/{id}", "Pause or resume a rule", pause);
    routes.delete("/api/v1/rules/{id}", "Remove a rule", remove);
    routes.post("/api/v1/rules/decide", "What the rules would say about a call", decide);
    routes.post("/api/v1/rules/backtest", "How a rule compares with past answers", backtest);
    routes.get("/api/v1/rules/proposals", "Rules that past answers suggest", proposals);
    routes.get("/api/v1/rules/uses", "What rules answered of late", uses);
    routes.post("/api/v1/prompts/{id}/rule", "The rule that would have answered a question", of_prompt);
}

async fn list(app: App, _: Caller, (): ()) -> Result<RuleList, ApiError> {
    typed(blocking(app.host(), |host| host.inbox().rules()).await?)
}

async fn keep(app: App, cx: Caller, Body(body): Body<NewRule>) -> Result<RuleKept, ApiError> {
    let (surface, lang) = (surface_of(&cx), cx.lang);
    let kept = blocking(app.host(), move |host| {
        // What rests is looked at when it begins to answer.
        if !body.imported {
            within_profile(host, &body.rule, lang)?;
        }
        host.inbox().add_rule(&Value::Object(body.rule), body.imported, body.also_different, surface)
    });
    typed(kept.await?)
}

async fn uses(app: App, cx: Caller, (): ()) -> Result<RuleUses, ApiError> {
    let lang = cx.lang;
    typed(blocking(app.host(), move |host| host.inbox().rule_uses(lang)).await?)
}

/// An allow for one agent, or for a chat with it, that is about a tool its permissions do not give it, would never
/// answer: no rule grants anything (inbox §4.2). That is said when it is made, not found out later.
fn within_profile(host: &Host, rule: &Map<String, Value>, lang: Lang) -> Result<(), Fault> {
    let text = |at: [&str; 2]| rule.get(at[0]).and_then(|part| part.get(at[1])).and_then(Value::as_str);
    let (tool, server) =
        (rule.get("tool").and_then(Value::as_str), rule.get("server").and_then(Value::as_str));
    let (Some(tool), Some(server), Some("allow")) =
        (tool, server, rule.get("effect").and_then(Value::as_str))
    else {
        return Ok(());
    };
    let agent = match (text(["scope", "kind"]), text(["scope", "id"])) {
        (Some("agent"), Some(id)) => host.agents().agent(id).ok(),
        (Some("chat"), Some(id)) => {
            let chat = host.store().session(id)?;
            chat.and_then(|chat| host.agents().agent(&chat.agent_id).ok())
        }
        _ => None,
    };
    let Some(agent) = agent.filter(|_| !tool.contains(['*', '?'])) else { return Ok(()) };
    let role = if text(["scope", "role"]) == Some("sub") { Role::Sub } else { Role::Main };
    let explained = host.agents().explain(&agent, role, Some(tool), lang)?;
    let of_server = explained.servers.iter().find(|one| {
        one.identity.as_deref() == Some(server) || server.strip_prefix("builtin:") == Some(one.name.as_str())
    });
    let of_tool = of_server.and_then(|one| one.tools.iter().flatten().find(|one| one.tool == tool));
    if of_tool.is_none_or(|one| one.granted) && of_server.is_none_or(|one| one.granted) {
        return Ok(());
    }
    let name = &agent.name;
    let fault = Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("the permissions of {name} do not give it {tool}; a rule cannot"),
            format!("{name} 的权限不包含 {tool}，规则不能授予"),
        ),
    )
    .code("wider_than_profile");
    Err(fault
        .hint(Text::fixed("change the permissions profile of the agent first", "请先更改该智能体的权限配置")))
}

fn surface_of(cx: &Caller) -> Surface {
    if cx.header(&header::ORIGIN).is_some() { Surface::Ui } else { Surface::Api }
}

async fn pause(
    app: App,
    cx: Caller,
    (Path(id), Body(body)): (Path<String>, Body<PauseRule>),
) -> Result<RuleKept, ApiError> {
    let lang = cx.lang;
    let kept = blocking(app.host(), move |host| {
        if let Some(rule) = host.inbox().rule(&id)?.filter(|_| !body.paused) {
            within_profile(host, &rule, lang)?;
        }
        host.inbox().pause_rule(&id, body.paused, body.also_different)
    });
    typed(kept.await?)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.inbox().remove_rule(&id)).await?;
    Ok(Done { ok: true })
}

async fn backtest(app: App, cx: Caller, Body(body): Body<BacktestRule>) -> Result<RuleBacktest, ApiError> {
    let lang = cx.lang;
    typed(
        blocking(app.host(), move |host| host.inbox().backtest_rule(&Value::Object(body.rule), lang)).await?,
    )
}

async fn proposals(app: App, cx: Caller, (): ()) -> Result<RuleProposals, ApiError> {
    let lang = cx.lang;
    typed(blocking(app.host(), move |host| host.inbox().proposed_rules(lang)).await?)
}

async fn decide(app: App, cx: Caller, Body(body): Body<TryRules>) -> Result<RulesTried, ApiError> {
    let lang = cx.lang;
    let tried = blocking(app.host(), move |host| {
        let path = host.environment().variables().get("PATH").map_or("", String::as_str);
        host.inbox().try_rules(&body, path, lang)
    });
    typed(tried.await?)
}

async fn of_prompt(
    app: App,
    _: Caller,
    (Path(path), Query(named), Body(body)): (Path<String>, Query<PromptName>, Body<RuleOfPrompt>),
) -> Result<RuleKept, ApiError> {
    let id = id_of(path, named.id);
    let wanted = WantedRule {
        scope: body.scope,
        days: body.days,
        also_different: body.also_different,
        any_arguments: body.any_arguments,
    };
    typed(blocking(app.host(), move |host| host.inbox().propose_rule(&id, &wanted)).await?)
}
