//! What a person answered before, for rules: kept beside each question that decides an effect, and read again when a rule
//! is to be made (inbox §4.5). A question that is not kept counts for nothing, which only makes fewer proposals.

use chatos_prompts::effect::Difference;
use chatos_prompts::{Ask, Effect};
use chatos_rules::{Backtest, Past, Proposal, Rule};
use chatos_store::{AnsweredFacts, Store, now_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Redactor, Text};
use chatos_wire::card::{self, CardRisk};
use serde_json::{Map, Value, json};

use super::was;
use super::world::Computer;
use crate::inbox::Inbox;

const DAY_MS: i64 = 86_400_000;
/// Older answers say nothing about today.
const MAX_AGE_MS: i64 = 180 * DAY_MS;
/// Longest facts that are kept of one question.
const MAX_FACTS: usize = 16 * 1024;
/// Longest arguments of a tool that are kept.
const MAX_ARGUMENTS: usize = 4 * 1024;
/// Most files of one change that are kept.
const MAX_FILES: usize = 50;

/// Keeps what rules look at of a question that was asked. A failure is no reason not to ask.
pub(crate) fn keep(store: Option<&Store>, id: &str, ask: &Ask) {
    let (Some(store), Some(effect)) = (store, &ask.effect) else { return };
    let Some(mut facts) = kept(effect).filter(|facts| facts.to_string().len() <= MAX_FACTS) else { return };
    facts["was"] = was::digests(&effect.material);
    let facts = facts.to_string();
    let group = ask.card.as_ref().map_or(&Value::Null, |card| &card["group"]);
    let with = group["id"].as_str().map(str::to_owned).zip(group["at"].as_i64());
    let kept = place(store, ask, effect).and_then(|place| {
        store.put_question_facts(id, &effect.name, facts, place.to_string(), with, now_ms())
    });
    if let Err(error) = kept {
        tracing::warn!(%error, "a question is not remembered for rules");
    }
}

fn place(store: &Store, ask: &Ask, effect: &Effect) -> Result<Value, chatos_store::StoreError> {
    let trace = ask.trace.as_ref().unwrap_or(&Value::Null);
    let run = ask.run_id.as_str();
    let row = run.map(|run| store.run(run)).transpose()?.flatten();
    let through = run.map(|run| crate::questions::through(store, run)).transpose()?.flatten();
    let sub = row.as_ref().is_some_and(|row| !row.subagent_id.is_empty()) || trace["subAgentId"].is_string();
    let (risk, _) = card::risk(&effect.name, &effect.material);
    Ok(json!({
        "run": run,
        "chat": ask.session_id,
        "agent": row.as_ref().map(|row| row.agent_id.as_str()),
        "client": ask.client.as_ref().map(|client| &client["name"]),
        "sub": sub,
        "app": through.is_some(),
        "high": risk == CardRisk::High,
    }))
}

/// What became another thing since a question was asked; nothing where that is not known.
pub(crate) fn changed_since(store: Option<&Store>, id: &str, now: &Effect) -> Option<Difference> {
    let kept = store?.question_facts(id).ok()??;
    let facts: Value = serde_json::from_str(&kept).ok()?;
    was::difference(&facts["was"], &now.material)
}

/// Whether a question is remembered.
pub(crate) fn is_kept(effect: &Effect) -> bool {
    kept(effect).is_some_and(|facts| facts.to_string().len() <= MAX_FACTS)
}

/// The part of the material that rules look at: no content of files, no environment.
fn kept(effect: &Effect) -> Option<Value> {
    let material = &effect.material;
    let mut facts = json!({
        "identity": material["identity"],
        "tool": material["tool"],
        "root": { "path": material["root"]["path"] },
    });
    match effect.name.as_str() {
        "command" => {
            let mut command = Map::new();
            for key in ["text", "shell", "env", "network", "findings", "writable", "path", "session"] {
                if let Some(value) = material["command"].get(key) {
                    command.insert(key.to_owned(), value.clone());
                }
            }
            command.insert("cwd".to_owned(), json!({ "path": material["command"]["cwd"]["path"] }));
            let level = &material["command"]["sandbox"]["level"];
            command.insert("sandbox".to_owned(), json!({ "level": level }));
            facts["command"] = Value::Object(command);
            if let Some(value) = material["arguments"].get("interactive") {
                facts["arguments"] = json!({ "interactive": value });
            }
        }
        "file_change" => {
            let files = material["files"].as_array().filter(|files| files.len() <= MAX_FILES)?;
            let short = |file: &Value| {
                let mut short = json!({ "path": file["path"], "change": file["change"] });
                if let Some(from) = file.get("from") {
                    short["from"] = from.clone();
                }
                short
            };
            facts["files"] = files.iter().map(short).collect();
        }
        "tool_approval" => {
            let arguments = &material["arguments"];
            // What looks like a secret is kept nowhere.
            let plain = Redactor::new().value(arguments, MAX_ARGUMENTS) == *arguments;
            if !plain || arguments.to_string().len() > MAX_ARGUMENTS {
                return None;
            }
            facts["arguments"] = arguments.clone();
        }
        _ => return None,
    }
    Some(facts)
}

/// A row as a past answer of a person; nothing where no person said yes or no.
fn read(row: AnsweredFacts) -> Option<Past> {
    let answer: Value = serde_json::from_str(&row.answer).ok()?;
    let place: Value = serde_json::from_str(&row.place).ok()?;
    // The host closes questions by itself, with a code.
    // What the person wrote instead says nothing about what was asked.
    let as_asked = answer.get("edited").is_none();
    if !row.answer_by.starts_with("person") || answer.get("code").is_some() || !as_asked {
        return None;
    }
    let approved = match (answer["status"].as_str()?, answer["selection"].as_str()) {
        ("ok", None) => true,
        ("ok", Some(chosen)) => matches!(chosen, "once" | "run"),
        ("canceled", _) => false,
        _ => return None,
    };
    let text = |key: &str| place[key].as_str().map(str::to_owned);
    Some(Past {
        facts: serde_json::from_str(&row.facts).ok()?,
        id: row.request_id,
        kind: row.kind,
        high_risk: place["high"] == true,
        through_app: place["app"] == true,
        run: text("run"),
        chat: text("chat"),
        agent: text("agent"),
        sub: place["sub"] == true,
        client: text("client"),
        approved,
        at: row.answered_at,
    })
}

impl Inbox {
    fn past(&self) -> Result<Vec<Past>, Fault> {
        let rows = self.parts().store.answered_facts(now_ms().saturating_sub(MAX_AGE_MS))?;
        Ok(rows.into_iter().filter_map(read).collect())
    }

    /// What a rule would have said to past answers; blocks on the database.
    pub(super) fn compare(&self, rule: &Rule) -> Result<Backtest, Fault> {
        Ok(chatos_rules::backtest(rule, &self.past()?, now_ms(), &Computer))
    }

    /// `POST /rules/backtest`: a record compared with past answers; nothing is kept.
    pub fn backtest_rule(&self, record: &Value, lang: Lang) -> Result<Value, Fault> {
        let mut rule = super::parse(record)?;
        rule.created_at = now_ms();
        super::refuse(&rule)?;
        Ok(backtest_view(&self.compare(&rule)?, lang))
    }

    /// `GET /rules/proposals`: rules that past answers suggest, beyond those there are.
    pub fn proposed_rules(&self, lang: Lang) -> Result<Value, Fault> {
        let rules: Vec<Rule> = self.kept_rules()?.into_iter().filter_map(|kept| kept.rule).collect();
        let found = chatos_rules::proposals(&self.past()?, &rules, now_ms(), &Computer);
        let view = |proposal: &Proposal| {
            json!({
                "rule": proposal.rule,
                "wider": proposal.wider,
                "count": proposal.count,
                "firstAt": chatos_prompts::format_ms(proposal.first_at),
                "lastAt": chatos_prompts::format_ms(proposal.last_at),
                "examples": proposal.examples,
                "backtest": backtest_view(&proposal.backtest, lang),
            })
        };
        Ok(json!({ "proposals": found.iter().map(view).collect::<Vec<_>>() }))
    }

    /// An allow that says yes where the person said no is kept by nobody; one that differs in another way only when
    /// the person saw where. `before`: what was refused later says nothing.
    pub(super) fn compare_before_keeping(
        &self,
        rule: &Rule,
        also_different: bool,
        before: i64,
    ) -> Result<(), Fault> {
        let mut past = self.past()?;
        past.retain(|one| one.at < before);
        let found = chatos_rules::backtest(rule, &past, now_ms(), &Computer);
        if let Some(refused) = found.refused_ids.first() {
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::fixed("you refused this before, in the same place", "你曾在同一范围内拒绝过这一操作"),
            )
            .code("refused_before")
            .hint(Text::new(
                format!("approve each time, or make a narrower rule; the refused question is {refused}"),
                format!("请逐次同意，或创建更窄的规则；被拒绝的问题是 {refused}"),
            )));
        }
        if found.different > 0 && !also_different {
            let n = found.different;
            return Err(Fault::new(
                ErrorCode::Conflict,
                Text::new(
                    format!("this rule differs from {n} of your earlier answers"),
                    format!("该规则与你此前的 {n} 次回答不同"),
                ),
            )
            .code("rule_differs")
            .hint(Text::fixed(
                "look at those answers first, then say that these are meant too",
                "请先查看这些回答，再确认也包含它们",
            )));
        }
        Ok(())
    }
}

fn backtest_view(found: &Backtest, lang: Lang) -> Value {
    let (en, zh) = found.sentence();
    json!({
        "considered": found.considered,
        "same": found.same,
        "different": found.different,
        "stillAsked": found.still_asked,
        "differentIds": found.different_ids,
        "refusedIds": found.refused_ids,
        "sentence": Text::new(en, zh).get(lang),
    })
}
