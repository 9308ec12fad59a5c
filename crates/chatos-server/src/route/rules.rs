//! Approval rules over HTTP (inbox §4.4): list, keep, pause, remove, try, and the rule that a question would make.

use chatos_inbox::WantedRule;
use chatos_wire::prompt::PromptName;
use chatos_wire::rule::{
    BacktestRule, NewRule, PauseRule, RuleBacktest, RuleKept, RuleList, RuleOfPrompt, RuleProposals,
    RulesTried, TryRules,
};
use chatos_wire::status::Done;
use serde_json::Value;

use super::prompts::id_of;
use super::tasks::blocking;
use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
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
    routes.post("/api/v1/prompts/{id}/rule", "The rule that would have answered a question", of_prompt);
}

async fn list(app: App, _: Caller, (): ()) -> Result<RuleList, ApiError> {
    typed(blocking(&app, |host| host.inbox().rules()).await?)
}

async fn keep(app: App, _: Caller, Body(body): Body<NewRule>) -> Result<RuleKept, ApiError> {
    let kept = blocking(&app, move |host| {
        host.inbox().add_rule(&Value::Object(body.rule), body.imported, body.also_different)
    });
    typed(kept.await?)
}

async fn pause(
    app: App,
    _: Caller,
    (Path(id), Body(body)): (Path<String>, Body<PauseRule>),
) -> Result<RuleKept, ApiError> {
    let kept = blocking(&app, move |host| host.inbox().pause_rule(&id, body.paused, body.also_different));
    typed(kept.await?)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(&app, move |host| host.inbox().remove_rule(&id)).await?;
    Ok(Done { ok: true })
}

async fn backtest(app: App, cx: Caller, Body(body): Body<BacktestRule>) -> Result<RuleBacktest, ApiError> {
    let lang = cx.lang;
    typed(blocking(&app, move |host| host.inbox().backtest_rule(&Value::Object(body.rule), lang)).await?)
}

async fn proposals(app: App, cx: Caller, (): ()) -> Result<RuleProposals, ApiError> {
    let lang = cx.lang;
    typed(blocking(&app, move |host| host.inbox().proposed_rules(lang)).await?)
}

async fn decide(app: App, cx: Caller, Body(body): Body<TryRules>) -> Result<RulesTried, ApiError> {
    let lang = cx.lang;
    let tried = blocking(&app, move |host| {
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
    let wanted = WantedRule { scope: body.scope, days: body.days, also_different: body.also_different };
    typed(blocking(&app, move |host| host.inbox().propose_rule(&id, &wanted)).await?)
}
