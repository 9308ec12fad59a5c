//! Approval rules of this state (inbox §4): kept as signed rows, asked before every question that decides an effect,
//! made and changed by a person only. What a rule is and which calls it answers is `chatos-rules`.

mod past;
mod tried;
mod uses;
mod was;
mod world;

use chatos_keys::SubKey;
use chatos_prompts::{Effect, Ruling, Surface};
use chatos_rules::{Call, Decision, Outcome, Rule, Scope, ScopeKind};
use chatos_store::{RuleRow, now_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Text, Trace, hex};
use chatos_wire::card::{self, CardRisk};
use chatos_wire::event::{ChangedId, HostEvent, RuleUsed};
use chatos_wire::rule::TryRules;
use serde_json::{Map, Value, json};

use crate::inbox::Inbox;
use crate::questions::PromptReply;
use world::Computer;

pub(crate) use past::{changed_since, is_kept, keep as remember};

const DAY_MS: i64 = 86_400_000;

/// Which rule a person wants of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WantedRule {
    /// `run`, `chat` or `project`.
    pub scope: String,
    /// How many days it holds; 30 when absent.
    pub days: Option<i64>,
    /// The person saw which of their answers the rule differs from.
    pub also_different: bool,
    /// For a tool of another server: whatever its arguments are, instead of exactly those that were asked about.
    pub any_arguments: bool,
}

impl WantedRule {
    /// Reads `{scope, days?}` of a body.
    pub fn from_payload(body: &Value) -> Result<Self, Fault> {
        let wrong = || crate::fault::wrong("rule", &body.to_string(), "{scope, days?}", " {scope, days?}");
        let scope = body["scope"].as_str().ok_or_else(wrong)?.to_owned();
        let days = match &body["days"] {
            Value::Null => None,
            days => Some(days.as_i64().ok_or_else(wrong)?),
        };
        let (also_different, any_arguments) = (body["alsoDifferent"] == true, body["anyArguments"] == true);
        Ok(Self { scope, days, also_different, any_arguments })
    }
}

/// A rule with its row.
struct Kept {
    row: RuleRow,
    /// Nothing where the record or its signature is not ours.
    rule: Option<Rule>,
}

impl Inbox {
    /// What the rules say about a call that would be asked about. Every doubt is a question; blocks on the database.
    pub fn rule_on(&self, effect: &Effect, trace: &Trace) -> Ruling {
        let outcome = match self.outcome(effect, trace) {
            Ok(outcome) => outcome,
            Err(fault) => {
                tracing::warn!(%fault, "the approval rules cannot be read; the person is asked");
                return Ruling::Ask;
            }
        };
        let name = |id: &str| {
            outcome
                .looked
                .iter()
                .find(|looked| looked.rule == id)
                .map_or_else(String::new, |looked| looked.name.clone())
        };
        let ruling = match &outcome.decision {
            Decision::Ask { .. } if self.is_covered(effect, trace) => {
                let name = "approved as it was announced".to_owned();
                return Ruling::Allow { rule: "covered".to_owned(), name, run_as: None };
            }
            Decision::Ask { .. } => return Ruling::Ask,
            Decision::Allow { rule, run_as } => {
                Ruling::Allow { rule: rule.clone(), name: name(rule), run_as: run_as.clone() }
            }
            Decision::Deny { rule } => Ruling::Deny { rule: rule.clone(), name: name(rule) },
        };
        self.note_use(&ruling, effect, trace);
        ruling
    }

    /// Whether a rule answers a call, one way or the other; no use is counted. Blocks on the database.
    pub fn is_ruled(&self, effect: &Effect, trace: &Trace) -> bool {
        let outcome = self.outcome(effect, trace);
        outcome.is_ok_and(|outcome| !matches!(outcome.decision, Decision::Ask { .. }))
    }

    fn note_use(&self, ruling: &Ruling, effect: &Effect, trace: &Trace) {
        let (rule, name, decision) = match ruling {
            Ruling::Allow { rule, name, .. } => (rule, name, "allow"),
            Ruling::Deny { rule, name } => (rule, name, "deny"),
            Ruling::Ask => return,
        };
        let mut fields = Map::new();
        fields.insert("decision".to_owned(), json!(format!("rule:{rule}")));
        fields.insert("effect".to_owned(), json!(decision));
        fields.insert("identity".to_owned(), effect.material["identity"].clone());
        fields.insert("tool".to_owned(), effect.material["tool"].clone());
        fields.insert("runId".to_owned(), json!(trace.run_id));
        uses::describe(&mut fields, name, effect, trace);
        self.parts().audit.note("rule_used", fields);
        self.parts().events.publish(HostEvent::RuleUsed(RuleUsed {
            id: rule.clone(),
            name: name.clone(),
            decision: decision.to_owned(),
            tool: effect.material["tool"].as_str().map(str::to_owned),
            run_id: trace.run_id.clone(),
        }));
        if let Err(error) = self.parts().store.approval_rule_used(rule, now_ms()) {
            tracing::warn!(%error, "the use of a rule is not counted");
        }
    }

    fn outcome(&self, effect: &Effect, trace: &Trace) -> Result<Outcome, Fault> {
        let rules: Vec<Rule> = self.kept_rules()?.into_iter().filter_map(|kept| kept.rule).collect();
        let store = &self.parts().store;
        let run = trace.run_id.as_deref();
        let row = run.map(|run| store.run(run)).transpose()?.flatten();
        let through = run.map(|run| crate::questions::through(store, run)).transpose()?.flatten();
        let (risk, _) = card::risk(&effect.name, &effect.material);
        let agent = row.as_ref().map(|row| row.agent_id.as_str());
        let client = client_of(store, trace.session_id.as_deref())?;
        let call = Call {
            kind: &effect.name,
            facts: &effect.material,
            high_risk: risk == CardRisk::High,
            through_app: through.is_some(),
            run,
            chat: trace.session_id.as_deref(),
            agent,
            sub: row.as_ref().is_some_and(|row| !row.subagent_id.is_empty()) || trace.sub_agent_id.is_some(),
            client: client.as_deref(),
        };
        Ok(chatos_rules::decide(&call, &rules, now_ms(), &Computer))
    }

    fn kept_rules(&self) -> Result<Vec<Kept>, Fault> {
        let key = self.rule_key();
        let rows = self.parts().store.approval_rules()?;
        Ok(rows.into_iter().map(|row| Kept { rule: read(&key, &row), row }).collect())
    }

    fn rule_key(&self) -> SubKey {
        self.parts().key.sub_key("rules")
    }

    /// `GET /rules`: every rule, also those that do not count, with why.
    pub fn rules(&self) -> Result<Value, Fault> {
        let now = now_ms();
        let rules: Vec<Value> = self.kept_rules()?.iter().map(|kept| view(kept, now)).collect();
        Ok(json!({ "rules": rules }))
    }

    /// The record of one rule, where it is ours.
    pub fn rule(&self, id: &str) -> Result<Option<Map<String, Value>>, Fault> {
        let kept = self.kept_rules()?.into_iter().find(|kept| kept.row.id == id);
        Ok(kept.and_then(|kept| kept.rule).and_then(|rule| json!(rule).as_object().cloned()))
    }

    /// How many rows are not ours, for the doctor.
    pub fn foreign_rules(&self) -> Result<usize, Fault> {
        Ok(self.kept_rules()?.iter().filter(|kept| kept.rule.is_none()).count())
    }

    /// `POST /rules`: keeps a rule that a person made at a surface. An import comes in paused.
    pub fn add_rule(
        &self,
        record: &Value,
        imported: bool,
        also_different: bool,
        surface: Surface,
    ) -> Result<Value, Fault> {
        let mut rule = parse(record)?;
        rule.id = uuid::Uuid::now_v7().to_string();
        rule.created_at = now_ms();
        rule.created_by = made_by(if imported { None } else { Some(surface) });
        rule.paused |= imported;
        refuse(&rule)?;
        // What rests is compared when it begins to answer.
        if !rule.paused {
            self.compare_before_keeping(&rule, also_different, i64::MAX)?;
        }
        self.keep_rule(&rule)?;
        self.audit_rule("rule_added", &rule);
        Ok(json!({ "id": rule.id, "rule": rule }))
    }

    /// `PATCH /rules/{id}`: pauses or resumes; takes effect with the next call.
    pub fn pause_rule(&self, id: &str, paused: bool, also_different: bool) -> Result<Value, Fault> {
        let kept =
            self.kept_rules()?.into_iter().find(|kept| kept.row.id == id).ok_or_else(|| unknown(id))?;
        let mut rule = kept.rule.ok_or_else(not_ours)?;
        if !paused {
            self.compare_before_keeping(&rule, also_different, rule.created_at)?;
        }
        rule.paused = paused;
        self.keep_rule(&rule)?;
        self.audit_rule(if paused { "rule_paused" } else { "rule_resumed" }, &rule);
        Ok(json!({ "id": rule.id, "rule": rule }))
    }

    /// `DELETE /rules/{id}`: it answers nothing from the next call on.
    pub fn remove_rule(&self, id: &str) -> Result<(), Fault> {
        let row = self.parts().store.remove_approval_rule(id)?.ok_or_else(|| unknown(id))?;
        let mut fields = Map::new();
        fields.insert("id".to_owned(), json!(row.id));
        self.parts().audit.note("rule_removed", fields);
        self.tell_rule(&row.id);
        Ok(())
    }

    /// `POST /prompts/{id}/response`: the answer, and the rule that is to be made of it. The rule is looked at first and
    /// kept last: what is refused leaves neither, and a host that is killed in between leaves an answer without a rule.
    pub fn answer(
        &self,
        id: &str,
        reply: &PromptReply,
        surface: Surface,
        lang: Lang,
    ) -> Result<Value, Fault> {
        self.check_link(id, reply, surface)?;
        let rule =
            reply.rule.as_ref().map(|wanted| self.rule_with(id, reply, wanted, surface)).transpose()?;
        let mut done = self.questions()?.respond(id, reply, surface, lang)?;
        if let Some(rule) = rule {
            match self.keep_rule(&rule) {
                Ok(()) => {
                    self.audit_rule("rule_added", &rule);
                    done["rule"] = json!(rule.id);
                }
                // The answer counts all the same, and cannot be taken back.
                Err(fault) => done["ruleFault"] = json!(fault.message.get(lang)),
            }
        }
        Ok(done)
    }

    /// Whether a person agreed to exactly this act of this call when another program announced it.
    fn is_covered(&self, effect: &Effect, trace: &Trace) -> bool {
        let covered = trace.span_id.as_deref().is_some_and(|span| self.covered().take(span, effect));
        if covered {
            let mut fields = Map::new();
            fields.insert("decision".to_owned(), json!("covered"));
            fields.insert("tool".to_owned(), effect.material.get("tool").cloned().unwrap_or(Value::Null));
            fields.insert("runId".to_owned(), json!(trace.run_id));
            self.parts().audit.note("approval_covers", fields);
        }
        covered
    }

    /// inbox §1.5: from elsewhere nothing of high risk is approved, and from a desktop notification nothing at all.
    fn check_link(&self, id: &str, reply: &PromptReply, surface: Surface) -> Result<(), Fault> {
        let elsewhere = matches!(surface, Surface::Desktop | Surface::Ntfy | Surface::Telegram);
        if !elsewhere || reply.response["status"] == "canceled" {
            return Ok(());
        }
        let item = self.questions()?.item(&crate::questions::parse(id)?)?;
        let risk = item.card.as_ref().and_then(|card| card["risk"].as_str());
        if surface != Surface::Desktop && matches!(risk, Some("low" | "medium")) {
            return Ok(());
        }
        Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::fixed("this cannot be approved from elsewhere", "不能在别处同意此操作"),
        )
        .code("link_invalid")
        .hint(Text::fixed("answer it on the page or in the terminal", "请在页面或终端中回答")))
    }

    /// The rule of an approval by a person who was shown this very question.
    fn rule_with(
        &self,
        id: &str,
        reply: &PromptReply,
        wanted: &WantedRule,
        surface: Surface,
    ) -> Result<Rule, Fault> {
        let item = self.questions()?.item(&crate::questions::parse(id)?)?;
        let shown = item.shown.is_some() && item.shown == reply.shown;
        let by_person = reply.app.is_none() && reply.by.as_deref() != Some("client");
        // What the person wrote instead is another thing than what the rule would be about.
        let as_asked = reply.response.get("edited").is_none();
        if !shown || !by_person || !as_asked || reply.response["status"] != "ok" {
            return Err(no_rule());
        }
        let mut rule = self.rule_of(id, wanted)?;
        rule.created_by = made_by(Some(surface));
        self.compare_before_keeping(&rule, wanted.also_different, i64::MAX)?;
        Ok(rule)
    }

    /// `POST /prompts/{id}/rule`: the narrowest rule that would have answered this question, in a scope; nothing is kept.
    /// High risk, and what no rule can be about, is refused.
    pub fn propose_rule(&self, id: &str, wanted: &WantedRule) -> Result<Value, Fault> {
        Ok(json!({ "id": null, "rule": self.rule_of(id, wanted)? }))
    }

    fn rule_of(&self, id: &str, wanted: &WantedRule) -> Result<Rule, Fault> {
        let item = self.questions()?.item(&crate::questions::parse(id)?)?;
        let card = item.card.as_ref().ok_or_else(no_rule)?;
        let served = item.owner.as_ref().is_some_and(|owner| owner.as_str().starts_with("host:"));
        if !served || card["risk"] == "high" || item.effect.is_none() {
            return Err(no_rule());
        }
        let facts = match item.effect.as_deref() {
            // The arguments as they would be sent; where they look like a secret, nothing of them is kept.
            Some("tool_approval") => {
                let kept = self.parts().store.question_facts(id)?;
                kept.and_then(|text| serde_json::from_str(&text).ok())
            }
            effect => facts(&item.prompt, card, effect),
        };
        let facts = facts.ok_or_else(no_rule)?;
        let text = |at: &str| card.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (kind, place, most) = match wanted.scope.as_str() {
            "run" => (ScopeKind::Run, item.run_id.clone().unwrap_or_default(), 30),
            "chat" => (ScopeKind::Chat, text("/session/id"), 30),
            "project" => (ScopeKind::Project, text("/project/root"), 90),
            other => {
                return Err(crate::fault::wrong(
                    "scope",
                    other,
                    "run, chat or project",
                    " run、chat 或 project",
                ));
            }
        };
        let now = now_ms();
        let until = now + wanted.days.unwrap_or(30).clamp(1, most) * DAY_MS;
        let call = Call {
            kind: item.effect.as_deref().unwrap_or_default(),
            facts: &facts,
            high_risk: false,
            through_app: false,
            run: None,
            chat: None,
            agent: None,
            sub: false,
            client: None,
        };
        let scope = Scope { kind, id: place, role: None, client: None };
        let mut rule = chatos_rules::propose(&call, scope, Some(until), now).ok_or_else(no_rule)?;
        if wanted.any_arguments && call.kind == "tool_approval" {
            rule.args.clear();
            rule.other_args = chatos_rules::OtherArgs::Any;
        }
        rule.id = uuid::Uuid::now_v7().to_string();
        refuse(&rule)?;
        Ok(rule)
    }

    /// `POST /rules/decide`: what the rules say about a call in a project, and why, without doing anything.
    /// `path` is where commands look for programs.
    pub fn try_rules(&self, wanted: &TryRules, path: &str, lang: Lang) -> Result<Value, Fault> {
        let said = |(en, zh): (&'static str, &'static str)| Text::fixed(en, zh).get(lang).to_owned();
        let (kind, facts) = tried::facts(wanted, path)?;
        let rules: Vec<Rule> = self.kept_rules()?.into_iter().filter_map(|kept| kept.rule).collect();
        let call = Call {
            kind,
            facts: &facts,
            high_risk: card::risk(kind, &facts).0 == CardRisk::High,
            through_app: false,
            run: None,
            chat: wanted.chat.as_deref(),
            agent: wanted.agent.as_deref(),
            sub: wanted.role.as_deref() == Some("sub"),
            client: wanted.client.as_deref(),
        };
        let outcome = chatos_rules::decide(&call, &rules, now_ms(), &Computer);
        let (decision, why, by) = match &outcome.decision {
            Decision::Allow { rule, .. } => ("allow", String::new(), Some(rule)),
            Decision::Deny { rule } => ("deny", String::new(), Some(rule)),
            Decision::Ask { why, rule } => ("ask", said(why.text()), rule.as_ref()),
        };
        let (words, literal) = match wanted.command.as_deref().map(chatos_rules::read) {
            None => (Vec::new(), Value::Null),
            Some(Ok(line)) => (line.commands, Value::Null),
            Some(Err(why)) => {
                let (en, zh) = why.text();
                (Vec::new(), json!(Text::new(en, zh).get(lang)))
            }
        };
        let found = |simple: &chatos_rules::Simple| {
            let found = chatos_rules::World::program(&Computer, simple.program(), path);
            found.map(|found| found.real.to_string_lossy().into_owned())
        };
        let programs: Vec<Option<String>> = words.iter().map(found).collect();
        let joins: Vec<&str> =
            words.iter().filter_map(|simple| simple.join).map(chatos_rules::Join::text).collect();
        let words: Vec<&Vec<String>> = words.iter().map(|simple| &simple.words).collect();
        let looked: Vec<Value> = outcome
            .looked
            .iter()
            .map(|looked| {
                let why = looked.failed.map(|code| said(chatos_rules::misfit(code)));
                json!({ "rule": looked.rule, "name": looked.name, "failed": looked.failed, "why": why })
            })
            .collect();
        Ok(json!({
            "decision": decision, "why": why, "by": by, "words": words, "joins": joins, "programs": programs,
            "notLiteral": literal, "rules": looked,
        }))
    }

    fn keep_rule(&self, rule: &Rule) -> Result<(), Fault> {
        let record = json!(rule).to_string();
        let sig = hex(&self.rule_key().sign(&[rule.id.as_bytes(), record.as_bytes()]));
        self.parts().store.put_approval_rule(&rule.id, &record, &sig, rule.created_at).map_err(Fault::from)
    }

    fn audit_rule(&self, kind: &str, rule: &Rule) {
        let mut fields = Map::new();
        fields.insert("rule".to_owned(), json!(rule));
        self.parts().audit.note(kind, fields);
        self.tell_rule(&rule.id);
    }

    fn tell_rule(&self, id: &str) {
        self.parts().events.publish(HostEvent::RuleChanged(ChangedId { id: id.to_owned() }));
    }
}

/// The name of the other program whose session this is.
fn client_of(store: &chatos_store::Store, session: Option<&str>) -> Result<Option<String>, Fault> {
    let Some(id) = session.filter(|id| id.starts_with("cl_")) else { return Ok(None) };
    Ok(store.client(id)?.map(|client| client.name))
}

/// Who makes a rule, as its record says it; nobody but a person does, and an import is nobody's.
fn made_by(surface: Option<Surface>) -> String {
    match surface {
        None => "import".to_owned(),
        Some(Surface::Cli | Surface::Api) => "person:cli".to_owned(),
        Some(_) => "person:ui".to_owned(),
    }
}

/// The record of a row, where its signature is ours and it is a rule of this version.
fn read(key: &SubKey, row: &RuleRow) -> Option<Rule> {
    let sig = unhex(&row.sig)?;
    if !key.verify(&[row.id.as_bytes(), row.record.as_bytes()], &sig) {
        return None;
    }
    serde_json::from_str::<Rule>(&row.record).ok().filter(|rule| rule.id == row.id)
}

fn view(kept: &Kept, now: i64) -> Value {
    let Kept { row, rule } = kept;
    json!({
        "id": row.id,
        "rule": rule,
        "ours": rule.is_some(),
        "ended": rule.as_ref().is_some_and(|rule| rule.until.is_some_and(|until| now >= until)),
        "uses": row.uses,
        "lastUsedAt": row.last_used_at.map(chatos_prompts::format_ms),
        "createdAt": chatos_prompts::format_ms(row.created_at),
    })
}

/// The material of a question as far as its record still holds it.
fn facts(prompt: &Map<String, Value>, card: &Value, effect: Option<&str>) -> Option<Value> {
    let text = |key: &str| prompt.get(key).and_then(Value::as_str).unwrap_or_default();
    let mut facts = json!({
        "identity": format!("builtin:{}", card["server"].as_str()?),
        "tool": card["tool"].as_str()?,
        "root": { "path": card["project"]["root"].as_str()? },
    });
    match (effect?, card["verb"].as_str()?) {
        ("command", "run_command") => facts["command"] = json!({ "text": text("command") }),
        ("file_change", verb) => {
            let change = match verb {
                "create_file" => "created",
                "edit_file" => "modified",
                "delete_file" => "deleted",
                _ => return None,
            };
            facts["files"] = json!([{ "path": card["object"], "change": change }]);
        }
        _ => return None,
    }
    Some(facts)
}

fn parse(record: &Value) -> Result<Rule, Fault> {
    serde_json::from_value(record.clone()).map_err(|error| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("this is no rule: {error}"), format!("这不是有效的规则：{error}")),
        )
        .code("rule_invalid")
    })
}

fn refuse(rule: &Rule) -> Result<(), Fault> {
    let faults = chatos_rules::check(rule, now_ms());
    let Some(first) = faults.first() else { return Ok(()) };
    Err(Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("{}: {}", first.at, first.en), format!("{}：{}", first.at, first.zh)),
    )
    .code(first.code))
}

fn no_rule() -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::fixed("no rule can answer questions like this one", "这类问题不能由规则回答"),
    )
    .code("no_rule")
    .hint(Text::fixed(
        "rules are for commands of literal words and single files, of low or medium risk",
        "规则仅适用于由字面词组成的命令与单个文件，且风险为低或中",
    ))
}

fn unknown(id: &str) -> Fault {
    Fault::new(ErrorCode::NotFound, Text::new(format!("there is no rule `{id}`"), format!("没有规则 `{id}`")))
        .code("unknown_rule")
}

fn not_ours() -> Fault {
    Fault::new(
        ErrorCode::Conflict,
        Text::fixed(
            "this rule was changed outside ChatOS and does not count",
            "该规则在 ChatOS 之外被更改，不再生效",
        ),
    )
    .code("rule_not_ours")
    .hint(Text::fixed("remove it and make it again", "请删除后重新创建"))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pair = |at: usize| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    text.len().is_multiple_of(2).then(|| (0..text.len()).step_by(2).map(pair).collect()).flatten()
}
