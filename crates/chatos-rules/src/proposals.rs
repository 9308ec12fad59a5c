//! Rules that a person's own answers suggest (inbox §4.5): the same thing approved often and lately, never refused, never
//! of high risk. No model, no chance: the same past gives the same proposals.
//!
//! A proposal is the narrowest rule that says yes to those answers. It is wider than the very calls that were approved
//! only where that cannot do harm: other files for programs that only read, other files of one kind in one folder,
//! another value of one argument that was approved before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::command;
use crate::decide::{Decision, World, decide};
use crate::past::{Backtest, Past, Remembered, backtest};
use crate::propose;
use crate::rule::{
    ArgMatch, ArgOp, CommandRule, Effect, FileOp, More, PathRule, Rule, RuleJoin, Scope, ScopeKind,
    ShellRule, check,
};

const DAY_MS: i64 = 86_400_000;
/// Approvals count that are not older.
const LATELY_MS: i64 = 14 * DAY_MS;
/// So many of them are needed.
const ENOUGH: usize = 5;
/// How long a proposed rule holds.
const UNTIL_MS: i64 = 30 * DAY_MS;
/// Most proposals at once.
const MOST: usize = 20;
/// Most calls that are shown of a proposal.
const EXAMPLES: usize = 3;
/// Files of a folder that were approved before others of it are proposed.
const FILES: usize = 3;
/// Most values of an argument in one rule.
const VALUES: usize = 8;

/// Programs that only read what they are given, whatever files that are.
const READERS: [&str; 20] = [
    "basename",
    "cat",
    "cmp",
    "cut",
    "df",
    "dirname",
    "du",
    "file",
    "grep",
    "head",
    "ls",
    "md5sum",
    "nl",
    "od",
    "readlink",
    "realpath",
    "sha256sum",
    "stat",
    "tail",
    "wc",
];

/// A rule that past answers suggest.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Not kept yet: it has no id.
    pub rule: Rule,
    /// The same for all chats of the folder, where the answers came from one: who goes on in another chat tomorrow is
    /// asked everything again by a rule for this one.
    pub wider: Option<Rule>,
    /// How many approvals suggest it.
    pub count: usize,
    /// The first and the last of them, in milliseconds since 1970.
    pub first_at: i64,
    pub last_at: i64,
    /// Some of the calls, newest first.
    pub examples: Vec<String>,
    pub backtest: Backtest,
}

/// What several calls have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    /// 0 is the call itself.
    width: u8,
    key: String,
}

/// What the past suggests beyond the rules there are, most approved first.
pub fn proposals(past: &[Past], rules: &[Rule], now: i64, world: &dyn World) -> Vec<Proposal> {
    let world = &Remembered::new(world);
    let mut groups: BTreeMap<(Shape, String), Vec<&Past>> = BTreeMap::new();
    let mut risky = BTreeSet::new();
    for one in past.iter().filter(|one| !one.through_app) {
        let project = one.text("/root/path").to_owned();
        for shape in shapes(one, world) {
            if one.high_risk {
                risky.insert((shape, project.clone()));
            } else if one.approved && one.at <= now && now - one.at <= LATELY_MS && !project.is_empty() {
                groups.entry((shape, project.clone())).or_default().push(one);
            }
        }
    }
    let mut found: Vec<Proposal> = Vec::new();
    // Narrow shapes come first in the order of keys.
    for ((shape, project), mut calls) in groups {
        if calls.len() < ENOUGH || risky.contains(&(shape.clone(), project.clone())) {
            continue;
        }
        calls.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.id.cmp(&a.id)));
        // Those that came from one chat suggest a rule for that chat.
        let chat = calls.first().and_then(|first| first.chat.clone());
        let chat = chat.filter(|chat| calls.iter().all(|call| call.chat.as_deref() == Some(chat)));
        let project = Scope { kind: ScopeKind::Project, id: project, role: None, client: None };
        let scope = match chat {
            Some(id) => Scope { kind: ScopeKind::Chat, id, role: None, client: None },
            None => project.clone(),
        };
        let Some(rule) = rule_of(&shape, &calls, scope, now) else { continue };
        if !check(&rule, now).is_empty() {
            continue;
        }
        let mut known: Vec<Rule> = rules.to_vec();
        known.extend(found.iter().map(|proposal| proposal.rule.clone()));
        let allowed = |call: &&&Past, rules: &[Rule]| {
            matches!(decide(&call.call(), rules, now, world).decision, Decision::Allow { .. })
        };
        if calls.iter().all(|call| allowed(&call, &known)) {
            continue;
        }
        // A rule of today's computer that would not have answered enough of them answers nothing tomorrow.
        if calls.iter().filter(|call| allowed(call, std::slice::from_ref(&rule))).count() < ENOUGH {
            continue;
        }
        let backtest = backtest(&rule, past, now, world);
        if backtest.different > 0 {
            continue;
        }
        let mut examples: Vec<String> = Vec::new();
        for text in calls.iter().map(|call| words_of(call)) {
            if examples.len() < EXAMPLES && !examples.contains(&text) {
                examples.push(text);
            }
        }
        // A comparison looks at refusals anywhere: what agrees with all answers in a chat agrees with all in its folder.
        let wider = (rule.scope.kind == ScopeKind::Chat).then(|| Rule { scope: project, ..rule.clone() });
        found.push(Proposal {
            wider: wider.filter(|rule| check(rule, now).is_empty()),
            rule,
            count: calls.len(),
            first_at: calls.last().map_or(0, |call| call.at),
            last_at: calls.first().map_or(0, |call| call.at),
            examples,
            backtest,
        });
    }
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.rule.name.cmp(&b.rule.name)));
    found.truncate(MOST);
    found
}

/// The call in a few words.
fn words_of(one: &Past) -> String {
    let text = match one.kind.as_str() {
        "command" => one.text("/command/text").to_owned(),
        "file_change" => {
            let files = one.facts["files"].as_array().map(Vec::as_slice).unwrap_or_default();
            files.iter().filter_map(|file| file["path"].as_str()).collect::<Vec<_>>().join(", ")
        }
        _ => format!("{} {}", one.text("/tool"), one.facts["arguments"]),
    };
    text.chars().take(200).collect()
}

/// What a call can have in common with others, narrowest first.
fn shapes(one: &Past, world: &dyn World) -> Vec<Shape> {
    let tool = format!("{}\n{}\n{}", one.kind, one.text("/identity"), one.text("/tool"));
    let mut shapes = Vec::new();
    let mut add = |width: u8, key: String| shapes.push(Shape { width, key: format!("{tool}\n{key}") });
    match one.kind.as_str() {
        "command" => {
            let Ok(line) = command::read(one.text("/command/text")) else { return shapes };
            let words = line.commands.iter().map(|simple| format!("{:?} {:?}", simple.join, simple.words));
            add(0, words.collect::<Vec<_>>().join("\n"));
            if let Some((program, options)) = reading(one, world) {
                add(1, format!("{program} {options:?}"));
            }
        }
        "file_change" => {
            let files = one.facts["files"].as_array().map(Vec::as_slice).unwrap_or_default();
            let paths: Vec<&str> = files.iter().filter_map(|file| file["path"].as_str()).collect();
            add(0, format!("{paths:?}"));
            if let [file] = files
                && matches!(file["change"].as_str(), Some("created" | "modified"))
                && let Some(glob) = file["path"].as_str().and_then(siblings)
            {
                add(1, glob);
            }
        }
        "tool_approval" => {
            let Some(arguments) = one.facts["arguments"].as_object() else { return shapes };
            add(0, Value::Object(arguments.clone()).to_string());
            // One argument may differ; the others are the same.
            for key in arguments.keys() {
                let mut others = arguments.clone();
                others.remove(key);
                add(1, format!("{key}\n{}", Value::Object(others)));
            }
        }
        _ => {}
    }
    shapes
}

/// A program that only reads, its options, and then nothing but paths of the project.
fn reading(one: &Past, world: &dyn World) -> Option<(String, Vec<String>)> {
    let line = command::read(one.text("/command/text")).ok()?;
    let [simple] = line.commands.as_slice() else { return None };
    let (program, rest) = simple.words.split_first()?;
    if !READERS.contains(&program.as_str()) {
        return None;
    }
    let options: Vec<String> = rest.iter().take_while(|word| word.starts_with('-')).cloned().collect();
    let paths = &rest[options.len()..];
    let call = one.call();
    let inside = |word: &String| crate::decide::inside(word, &call, world) && !crate::decide::is_hidden(word);
    (!paths.is_empty() && paths.iter().all(inside)).then(|| (program.clone(), options))
}

/// `src/*.rs` for `src/a.rs`; nothing for hidden places and files without an ending.
fn siblings(path: &str) -> Option<String> {
    if path.starts_with('/') || path.split('/').any(|part| part.starts_with('.') || part.contains(['*', '?']))
    {
        return None;
    }
    let ending = Path::new(path).extension()?.to_str()?;
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Some(format!("{folder}*.{ending}"))
}

fn rule_of(shape: &Shape, calls: &[&Past], scope: Scope, now: i64) -> Option<Rule> {
    let first = calls.first()?;
    let mut rule = propose(&first.call(), scope, Some(now + UNTIL_MS), now)?;
    match (first.kind.as_str(), shape.width) {
        ("command", 1) => {
            let line = command::read(first.text("/command/text")).ok()?;
            let (program, rest) = line.commands.first()?.words.split_first()?;
            let argv: Vec<String> = rest.iter().take_while(|word| word.starts_with('-')).cloned().collect();
            if argv.iter().any(|word| word.contains(['*', '?'])) {
                return None;
            }
            let words = std::iter::once(program).chain(&argv).map(String::as_str).chain(["…"]);
            rule.name = words.collect::<Vec<_>>().join(" ");
            let command = CommandRule { program: program.clone(), argv, more: More::Paths };
            rule.shell = Some(ShellRule { commands: vec![command], join: RuleJoin::None });
        }
        ("file_change", 0) => {
            // Whatever was done to these files.
            let paths = rule.paths.as_mut()?;
            for call in calls {
                let (more, _) = propose::paths(call.facts["files"].as_array()?)?;
                more.ops.into_iter().for_each(|op| {
                    if !paths.ops.contains(&op) {
                        paths.ops.push(op);
                    }
                });
            }
        }
        ("file_change", _) => {
            let path =
                |call: &&Past| call.facts.pointer("/files/0/path").and_then(Value::as_str).map(str::to_owned);
            let files: BTreeSet<String> = calls.iter().filter_map(path).collect();
            let glob = siblings(files.first()?)?;
            let made =
                calls.iter().any(|call| call.facts.pointer("/files/0/change") == Some(&"created".into()));
            let ops = if made { vec![FileOp::Create, FileOp::Write] } else { vec![FileOp::Write] };
            if files.len() < FILES {
                return None;
            }
            rule.name.clone_from(&glob);
            rule.paths = Some(PathRule { globs: vec![glob], ops });
        }
        ("tool_approval", 1) => {
            let values = differing(calls)?;
            let (key, values) = values;
            let at = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            rule.args.retain(|arg| arg.at != at);
            rule.args.push(ArgMatch { at, op: ArgOp::In, value: Value::Array(values) });
        }
        _ => {}
    }
    debug_assert_eq!(rule.effect, Effect::Allow);
    Some(rule)
}

/// The one argument that is not the same in all calls, with its values.
fn differing(calls: &[&Past]) -> Option<(String, Vec<Value>)> {
    let first = calls.first()?.facts["arguments"].as_object()?;
    let differs = |key: &&String| {
        let value = first.get(*key);
        calls.iter().any(|call| call.facts["arguments"].get(*key) != value)
    };
    let mut keys = first.keys().filter(differs);
    let (key, None) = (keys.next()?, keys.next()) else { return None };
    let mut values: Vec<Value> = Vec::new();
    for call in calls {
        let value = call.facts["arguments"].get(key)?;
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    values.sort_by_key(Value::to_string);
    (values.len() <= VALUES).then(|| (key.clone(), values))
}
