//! A rule made from one call: the narrowest that would have answered it (inbox §4.5).

use serde_json::Value;

use crate::command::{self, Join};
use crate::decide::Call;
use crate::rule::{
    ArgMatch, ArgOp, CommandRule, Effect, FileOp, More, OtherArgs, PathRule, Rule, RuleJoin, Scope, ShellRule,
};

/// The rule for this very call in a scope; nothing where no rule can be about it.
pub fn propose(call: &Call<'_>, scope: Scope, until: Option<i64>, now: i64) -> Option<Rule> {
    let text = |at: &str| call.facts.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let mut rule = Rule {
        id: String::new(),
        name: String::new(),
        effect: Effect::Allow,
        scope,
        server: text("/identity").to_owned(),
        tool: text("/tool").to_owned(),
        args: Vec::new(),
        other_args: OtherArgs::None,
        paths: None,
        hosts: Vec::new(),
        shell: None,
        until,
        paused: false,
        note: String::new(),
        created_by: String::new(),
        created_at: now,
    };
    match call.kind {
        "command" => {
            let (shell, name) = shell(text("/command/text"))?;
            rule.shell = Some(shell);
            rule.name = name;
        }
        "file_change" => {
            let (paths, name) = paths(call.facts["files"].as_array()?)?;
            rule.paths = Some(paths);
            rule.name = name;
        }
        "tool_approval" => {
            let arguments = call.facts["arguments"].as_object()?;
            let pointer = |key: &String| format!("/{}", key.replace('~', "~0").replace('/', "~1"));
            rule.args = arguments
                .iter()
                .map(|(key, value)| ArgMatch { at: pointer(key), op: ArgOp::Eq, value: value.clone() })
                .collect();
            rule.name = rule.tool.clone();
        }
        _ => return None,
    }
    rule.name = rule.name.chars().filter(|c| !c.is_control()).take(120).collect();
    Some(rule)
}

fn shell(text: &str) -> Option<(ShellRule, String)> {
    let line = command::read(text).ok()?;
    let joins: Vec<Join> = line.commands.iter().filter_map(|simple| simple.join).collect();
    let join = match joins.as_slice() {
        [] => RuleJoin::None,
        all if all.iter().all(|join| *join == Join::Pipe) => RuleJoin::Pipe,
        all if all.iter().all(|join| *join == Join::And) => RuleJoin::And,
        _ => return None,
    };
    // A star of the command itself would be a pattern of the rule.
    let literal =
        line.commands.iter().flat_map(|simple| &simple.words).all(|word| !word.contains(['*', '?']));
    if !literal {
        return None;
    }
    let commands = line.commands.iter().map(|simple| CommandRule {
        program: simple.program().to_owned(),
        argv: simple.words.iter().skip(1).cloned().collect(),
        more: More::None,
    });
    Some((ShellRule { commands: commands.collect(), join }, text.trim().to_owned()))
}

pub(crate) fn paths(files: &[Value]) -> Option<(PathRule, String)> {
    let mut rule = PathRule { globs: Vec::new(), ops: Vec::new() };
    let mut add = |path: &str, op: FileOp| {
        if path.is_empty() || path.contains(['*', '?']) {
            return None;
        }
        if !rule.ops.contains(&op) {
            rule.ops.push(op);
        }
        rule.globs.push(path.to_owned());
        Some(())
    };
    for file in files {
        let path = file["path"].as_str()?;
        match file["change"].as_str()? {
            // Who lets a file be made lets it be worked on.
            "created" => {
                add(path, FileOp::Create)?;
                add(path, FileOp::Write)?;
            }
            "modified" => add(path, FileOp::Write)?,
            "deleted" => add(path, FileOp::Delete)?,
            "moved" => {
                add(file["from"].as_str()?, FileOp::Delete)?;
                add(path, FileOp::Create)?;
            }
            _ => return None,
        }
    }
    rule.globs.sort();
    rule.globs.dedup();
    let name = rule.globs.join(", ");
    (!rule.globs.is_empty()).then_some((rule, name))
}
