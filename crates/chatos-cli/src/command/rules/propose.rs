//! `chatos rules propose`, `backtest` and `add`: rules made from what a person did, compared with it, kept by a person.

use std::path::Path;
use std::process::ExitCode;

use chatos_terminal::client::{Answer, Api};
use chatos_terminal::output::{Output, Paint, visible};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::rule::{RuleBacktest, RuleKept, RuleProposal, RuleProposals, RuleView};
use hyper::Method;
use serde_json::{Map, Value, json};

use super::{MAX_FILE, agreed, list, named, needs_person};

/// The exit status where answers differ.
const DIFFERS: u8 = 1;

/// Shows what past answers suggest, and keeps what the person says yes to.
pub(super) async fn run(api: &Api, output: &Output) -> Result<(), Fault> {
    let found: Answer<RuleProposals> = api.get("/api/v1/rules/proposals", output.lang).await?;
    if output.json {
        output.json_line(&found.raw);
        return Ok(());
    }
    if found.proposals.is_empty() {
        output.say(&Text::fixed(
            "nothing to propose: a rule is proposed once you approved the same thing five times within two weeks",
            "暂无建议：两周内对同一操作同意五次后会给出建议",
        ));
    }
    for proposal in &found.proposals {
        show(output, proposal);
        // Who only looks is not asked.
        if needs_person(output).is_err() {
            continue;
        }
        let Some(rule) = chosen(output, proposal) else { continue };
        let body = json!({ "rule": rule });
        let kept: Answer<RuleKept> = api.ask(Method::POST, "/api/v1/rules", Some(&body), output.lang).await?;
        let id = visible(kept.id.as_deref().unwrap_or_default());
        output.say(&Text::new(format!("Kept {id}"), format!("已保存 {id}")));
    }
    Ok(())
}

/// What the person takes of a proposal: for one chat, or else for all chats of its folder.
fn chosen<'a>(output: &Output, proposal: &'a RuleProposal) -> Option<&'a Map<String, Value>> {
    if agreed(output) {
        return Some(&proposal.rule);
    }
    let wider = proposal.wider.as_ref()?;
    let folder = wider.get("scope").and_then(|scope| scope["id"].as_str()).map(visible).unwrap_or_default();
    let said = Text::new(format!("And in all chats in {folder}?"), format!("在 {folder} 的所有对话中呢？"));
    output.line(&output.paint(Paint::Bold, said.get(output.lang)));
    agreed(output).then_some(wider)
}

fn show(output: &Output, proposal: &RuleProposal) {
    let rule = Value::Object(proposal.rule.clone());
    let text = |at: &str| visible(rule.pointer(at).and_then(Value::as_str).unwrap_or_default());
    let (name, n) = (text("/name"), proposal.count);
    let here = match text("/scope/kind").as_str() {
        "chat" => Text::fixed("in one chat", "在一个对话中"),
        _ => Text::new(format!("in {}", text("/scope/id")), format!("在 {} 中", text("/scope/id"))),
    };
    let said = Text::new(
        format!("You approved `{name}` {n} times {}: never ask again there?", here.en),
        format!("你{}同意了 {n} 次 `{name}`：以后在那里不再询问？", here.zh),
    );
    output.line(&output.paint(Paint::Bold, said.get(output.lang)));
    for example in proposal.examples.iter().filter(|example| **example != name) {
        output.line(&output.paint(Paint::Dim, &format!("    {}", visible(example))));
    }
    output.line(&format!("    {}", visible(&proposal.backtest.sentence)));
}

/// Compares a rule, kept or in a file, with past answers.
pub(super) async fn backtest(
    api: &Api,
    output: &Output,
    current: &Path,
    rule: &str,
) -> Result<ExitCode, Fault> {
    let file = current.join(rule);
    let record = if file.is_file() {
        read(&file)?
    } else {
        let list = list(api, output).await?;
        named(&list.rules, rule)?.rule.clone().unwrap_or_default()
    };
    let body = json!({ "rule": record });
    let found: Answer<RuleBacktest> =
        api.ask(Method::POST, "/api/v1/rules/backtest", Some(&body), output.lang).await?;
    let code = if found.different > 0 { ExitCode::from(DIFFERS) } else { ExitCode::SUCCESS };
    if output.json {
        output.json_line(&found.raw);
        return Ok(code);
    }
    differing(output, &found);
    Ok(code)
}

/// Says how a kept rule compares with earlier answers; whether some differ.
pub(super) async fn compare(api: &Api, output: &Output, rule: &RuleView) -> Result<bool, Fault> {
    let Some(record) = &rule.rule else { return Ok(false) };
    let body = json!({ "rule": record });
    let found: Answer<RuleBacktest> =
        api.ask(Method::POST, "/api/v1/rules/backtest", Some(&body), output.lang).await?;
    differing(output, &found);
    Ok(found.different > 0)
}

fn differing(output: &Output, found: &RuleBacktest) {
    output.line(&visible(&found.sentence));
    for id in &found.different_ids {
        let said = if found.refused_ids.contains(id) {
            Text::fixed("refused in the same place", "曾在同一范围内拒绝")
        } else {
            Text::fixed("answered differently", "回答不同")
        };
        output.line(&format!("    {}  {}", visible(id), said.get(output.lang)));
    }
}

/// Keeps a rule of a file, after the person saw how it compares.
pub(super) async fn add(api: &Api, output: &Output, file: &Path) -> Result<(), Fault> {
    needs_person(output)?;
    let record = read(file)?;
    let body = json!({ "rule": record });
    let found: Answer<RuleBacktest> =
        api.ask(Method::POST, "/api/v1/rules/backtest", Some(&body), output.lang).await?;
    output.line(&visible(&serde_json::to_string_pretty(&record).unwrap_or_default()));
    differing(output, &found);
    if !agreed(output) {
        output.say(&Text::fixed("nothing was kept", "未保存"));
        return Ok(());
    }
    let body = json!({ "rule": record, "alsoDifferent": found.different > 0 });
    let kept: Answer<RuleKept> = api.ask(Method::POST, "/api/v1/rules", Some(&body), output.lang).await?;
    let id = visible(kept.id.as_deref().unwrap_or_default());
    output.say(&Text::new(format!("Kept {id}"), format!("已保存 {id}")));
    Ok(())
}

/// One rule of a file: the record itself, as `show` prints it, or the only one of an export.
fn read(file: &Path) -> Result<Map<String, Value>, Fault> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let shown = visible(&file.display().to_string());
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("`{shown}` holds no rule: {error}"), format!("`{shown}` 中没有规则：{error}")),
        )
        .code("rules_unreadable")
        .hint(Text::fixed(
            "give a file with one rule, as `chatos rules show ID` prints it",
            "请提供只含一条规则的文件，格式同 `chatos rules show ID` 的输出",
        ))
    };
    let size = std::fs::metadata(file).map_err(|error| unreadable(&error))?.len();
    if size > MAX_FILE {
        return Err(unreadable(&format_args!("{size} > {MAX_FILE}")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(&error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    let one = match &value["rules"] {
        Value::Array(rules) if rules.len() == 1 => &rules[0],
        Value::Array(rules) => return Err(unreadable(&format_args!("{} rules", rules.len()))),
        _ if value["rule"].is_object() => &value["rule"],
        _ => &value,
    };
    one.as_object().cloned().ok_or_else(|| unreadable(&"no JSON object"))
}
