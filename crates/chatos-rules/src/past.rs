//! What a rule would have said to questions that a person has answered (inbox §4.5).
//!
//! Each past question is decided again, by this one rule and as the computer is now. Nothing is guessed: what the rule
//! would not have answered counts as still asked.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::decide::{Call, Decision, Found, World, decide, is_about};
use crate::rule::{Effect, Rule};

/// A question that a person answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// Names the question that was asked.
    pub id: String,
    /// The kind of its effect.
    pub kind: String,
    /// What is kept of its material.
    pub facts: Value,
    pub high_risk: bool,
    /// An app started the run.
    pub through_app: bool,
    pub run: Option<String>,
    pub chat: Option<String>,
    pub agent: Option<String>,
    /// The call was a subagent's.
    pub sub: bool,
    /// The other program that called.
    pub client: Option<String>,
    /// The person said yes to it, not no.
    pub approved: bool,
    /// When it was answered, in milliseconds since 1970.
    pub at: i64,
}

impl Past {
    /// The call that was asked about.
    pub fn call(&self) -> Call<'_> {
        Call {
            kind: &self.kind,
            facts: &self.facts,
            high_risk: self.high_risk,
            through_app: self.through_app,
            run: self.run.as_deref(),
            chat: self.chat.as_deref(),
            agent: self.agent.as_deref(),
            sub: self.sub,
            client: self.client.as_deref(),
        }
    }

    /// A text of its material.
    pub(crate) fn text(&self, at: &str) -> &str {
        self.facts.pointer(at).and_then(Value::as_str).unwrap_or_default()
    }

    /// The very tool that a rule names.
    fn is_of(&self, rule: &Rule) -> bool {
        self.text("/identity") == rule.server && crate::glob::fits(&rule.tool, self.text("/tool"), None)
    }
}

/// How a rule compares with what a person said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Backtest {
    /// Past answers about the same tool.
    pub considered: usize,
    /// The rule would have said the same.
    pub same: usize,
    /// It would have said something else; or the person said no to the same thing elsewhere.
    pub different: usize,
    /// The person would have been asked all the same.
    pub still_asked: usize,
    /// Which questions those that differ are, newest first.
    pub different_ids: Vec<String>,
    /// Those of them that the person refused where the rule would hold: such an allow is never kept.
    pub refused_ids: Vec<String>,
}

impl Backtest {
    /// In one sentence, in both languages.
    pub fn sentence(&self) -> (String, String) {
        let Self { considered, same, different, still_asked, .. } = self;
        if *considered == 0 {
            return (
                "You have not answered a question about this tool before.".to_owned(),
                "你此前没有回答过关于此工具的问题。".to_owned(),
            );
        }
        (
            format!(
                "Would have answered {same} of your last {considered} the same way, {different} differently; {still_asked} would still ask."
            ),
            format!(
                "可替你回答最近 {considered} 次中的 {same} 次，结果一致；{different} 次不同；{still_asked} 次仍会询问。"
            ),
        )
    }
}

/// Compares a rule with past answers, as if it were made now and not paused.
pub fn backtest(rule: &Rule, past: &[Past], now: i64, world: &dyn World) -> Backtest {
    let world = Remembered::new(world);
    let rule = Rule { paused: false, created_at: rule.created_at.min(now), ..rule.clone() };
    let mut found = Backtest::default();
    let mut ordered: Vec<&Past> = past.iter().filter(|past| past.is_of(&rule)).collect();
    ordered.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.id.cmp(&a.id)));
    for one in ordered {
        found.considered += 1;
        let call = one.call();
        let decision = decide(&call, std::slice::from_ref(&rule), now, &world).decision;
        let agrees = match (&decision, one.approved) {
            (Decision::Allow { .. }, approved) => Some(approved),
            (Decision::Deny { .. }, approved) => Some(!approved),
            // The same thing, refused where the rule would not hold: worth a look before it is allowed here.
            (Decision::Ask { .. }, false)
                if rule.effect == Effect::Allow && is_about(&rule, &call, &world) =>
            {
                Some(false)
            }
            (Decision::Ask { .. }, _) => None,
        };
        match agrees {
            Some(true) => found.same += 1,
            Some(false) => {
                found.different += 1;
                found.different_ids.push(one.id.clone());
                if matches!(decision, Decision::Allow { .. }) {
                    found.refused_ids.push(one.id.clone());
                }
            }
            None => found.still_asked += 1,
        }
    }
    found
}

/// Looks at the computer once for each thing: thousands of past calls name the same few programs and folders.
pub(crate) struct Remembered<'a> {
    world: &'a dyn World,
    programs: RefCell<HashMap<(String, String), Option<Found>>>,
    real: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    plain: RefCell<HashMap<PathBuf, bool>>,
}

impl<'a> Remembered<'a> {
    pub(crate) fn new(world: &'a dyn World) -> Self {
        Self { world, programs: RefCell::default(), real: RefCell::default(), plain: RefCell::default() }
    }
}

impl World for Remembered<'_> {
    fn program(&self, name: &str, path: &str) -> Option<Found> {
        let key = (name.to_owned(), path.to_owned());
        let mut known = self.programs.borrow_mut();
        known.entry(key).or_insert_with(|| self.world.program(name, path)).clone()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let mut known = self.real.borrow_mut();
        known.entry(path.to_owned()).or_insert_with(|| self.world.real(path)).clone()
    }

    fn is_plain_repository(&self, folder: &Path) -> bool {
        let mut known = self.plain.borrow_mut();
        *known.entry(folder.to_owned()).or_insert_with(|| self.world.is_plain_repository(folder))
    }
}
