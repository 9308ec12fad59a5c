//! `chatos rules`: what answers questions for the person. Pausing and removing is for everybody; that a rule begins to
//! answer is said by a person in a terminal.

mod propose;

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::rule::{RuleBacktest, RuleKept, RuleList, RuleView, RulesTried};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Global, Rules};
use chatos_desk::encode;
use chatos_terminal::client::{Answer, Api, block_on};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, visible};
use chatos_terminal::prompts::input;

/// Longest file of rules that is read.
const MAX_FILE: u64 = 4 << 20;
/// The exit status of `test` where somebody would be asked, and where it would be refused.
const ASK: u8 = 1;
const DENY: u8 = 3;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Rules,
) -> Result<ExitCode, Fault> {
    let current = environment.current_dir().to_owned();
    let api = Api::connect(global, environment)?;
    block_on(async {
        match action {
            Rules::List => {
                let list = list(&api, output).await?;
                if output.json { output.json_line(&list.raw) } else { print(output, &list.rules) }
            }
            Rules::Show { id } => {
                let list = list(&api, output).await?;
                return output.json_pretty(&json!(named(&list.rules, &id)?));
            }
            Rules::Test { command, tool, args, agent } => {
                let project = global.project.as_ref().map_or(current.clone(), |path| current.join(path));
                let project = std::fs::canonicalize(&project).unwrap_or(project);
                let mut body = json!({ "command": command, "project": project });
                if let Some([server, tool]) = tool.as_deref() {
                    body["server"] = json!(server);
                    body["tool"] = json!(tool);
                    body["arguments"] = arguments(args.as_deref())?;
                }
                if let Some(agent) = &agent {
                    body["agent"] = json!(Names::new(&api, output.lang).agent(agent).await?);
                }
                let tried = api.ask(Method::POST, "/api/v1/rules/decide", Some(&body), output.lang).await?;
                return Ok(tell(output, &tried));
            }
            Rules::Propose => propose::run(&api, output).await?,
            Rules::Backtest { rule } => return propose::backtest(&api, output, &current, &rule).await,
            Rules::Add { file } => propose::add(&api, output, &current.join(file)).await?,
            Rules::Pause { id } => pause(&api, output, &id, true).await?,
            Rules::Resume { id } => pause(&api, output, &id, false).await?,
            Rules::Remove { id } => {
                let list = list(&api, output).await?;
                let rule = named(&list.rules, &id)?;
                let path = format!("/api/v1/rules/{}", encode(&rule.id));
                let done = api.call(Method::DELETE, &path, None, output.lang).await?;
                if output.json {
                    output.json_line(&done);
                }
                let name = visible(&name_of(rule));
                output.say(&Text::new(format!("Removed {name}"), format!("已删除 {name}")));
            }
            Rules::Export => {
                let list = list(&api, output).await?;
                let rules: Vec<_> = list.rules.iter().filter_map(|view| view.rule.as_ref()).collect();
                return output.json_pretty(&json!({ "version": 1, "rules": rules }));
            }
            Rules::Import { file } => import(&api, output, &current.join(file)).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(api: &Api, output: &Output) -> Result<Answer<RuleList>, Fault> {
    api.get("/api/v1/rules", output.lang).await
}

/// The one rule whose id begins like that.
fn named<'a>(rules: &'a [RuleView], id: &str) -> Result<&'a RuleView, Fault> {
    let found: Vec<&RuleView> =
        rules.iter().filter(|rule| !id.is_empty() && rule.id.starts_with(id)).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => Err(Fault::new(
            ErrorCode::NotFound,
            Text::new(format!("there is no rule `{}`", visible(id)), format!("没有规则 `{}`", visible(id))),
        )
        .code("unknown_rule")
        .hint(Text::fixed("list them with `chatos rules list`", "用 `chatos rules list` 查看全部"))),
        several => Err(Fault::new(
            ErrorCode::Conflict,
            Text::new(
                format!("{} rules begin with `{}`", several.len(), visible(id)),
                format!("有 {} 条规则以 `{}` 开头", several.len(), visible(id)),
            ),
        )
        .code("several_rules")
        .hint(Text::fixed("give more of the id", "请输入更完整的 ID"))),
    }
}

fn name_of(view: &RuleView) -> String {
    let name = view.rule.as_ref().and_then(|rule| rule.get("name")).and_then(Value::as_str);
    name.unwrap_or(&view.id).to_owned()
}

async fn pause(api: &Api, output: &Output, id: &str, paused: bool) -> Result<(), Fault> {
    let list = list(api, output).await?;
    let rule = named(&list.rules, id)?;
    let name = visible(&name_of(rule));
    let mut also = false;
    if !paused {
        needs_person(output)?;
        also = propose::compare(api, output, rule).await?;
    }
    if !paused && !is_meant(output, rule)? {
        output.say(&Text::new(format!("{name} stays paused"), format!("{name} 仍为暂停")));
        return Ok(());
    }
    let path = format!("/api/v1/rules/{}", encode(&rule.id));
    let done: Answer<RuleKept> = api
        .ask(Method::PATCH, &path, Some(&json!({ "paused": paused, "alsoDifferent": also })), output.lang)
        .await?;
    if output.json {
        output.json_line(&done.raw);
    }
    output.say(&if paused {
        Text::new(format!("Paused {name}"), format!("已暂停 {name}"))
    } else {
        Text::new(format!("{name} answers again"), format!("{name} 已恢复"))
    });
    Ok(())
}

/// The arguments of a tool as a person types them.
pub(crate) fn arguments(text: Option<&str>) -> Result<Value, Fault> {
    let read = serde_json::from_str::<Value>(text.unwrap_or("{}"));
    read.ok().filter(Value::is_object).ok_or_else(|| {
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("`--args` is no JSON object", "`--args` 不是 JSON 对象"),
        )
        .code("args_invalid")
        .hint(Text::fixed(
            "for example --args '{\"path\": \"a.txt\"}'",
            "例如 --args '{\"path\": \"a.txt\"}'",
        ))
    })
}

/// A person says so after reading what the rule answers.
fn is_meant(output: &Output, rule: &RuleView) -> Result<bool, Fault> {
    needs_person(output)?;
    print(output, std::slice::from_ref(rule));
    Ok(agreed(output))
}

/// Only somebody at a terminal lets a rule answer.
fn needs_person(output: &Output) -> Result<(), Fault> {
    if output.json || !std::io::stdin().is_terminal() {
        return Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::fixed("only a person can let a rule answer", "只有人可以让规则生效"),
        )
        .code("needs_person")
        .hint(Text::fixed(
            "run this in a terminal, or resume the rule on the inbox page",
            "请在终端中运行，或在待办页面恢复该规则",
        )));
    }
    Ok(())
}

fn agreed(output: &Output) -> bool {
    let question = Text::fixed("Let it answer from now on? [y/N] ", "让它从现在起生效？[y/N] ");
    let typed = input::line(question.get(output.lang)).ok().flatten().unwrap_or_default();
    matches!(typed.trim(), "y" | "Y" | "yes")
}

async fn import(api: &Api, output: &Output, file: &std::path::Path) -> Result<(), Fault> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let shown = visible(&file.display().to_string());
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("`{shown}` is no file of rules: {error}"),
                format!("`{shown}` 不是规则文件：{error}"),
            ),
        )
        .code("rules_unreadable")
        .hint(Text::fixed(
            "give a file that `chatos rules export` wrote",
            "请提供由 `chatos rules export` 写出的文件",
        ))
    };
    let size = std::fs::metadata(file).map_err(|error| unreadable(&error))?.len();
    if size > MAX_FILE {
        return Err(unreadable(&format_args!("{size} > {MAX_FILE}")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(&error))?;
    let body: Value = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    if body["version"] != 1 {
        let given = body["version"].to_string();
        return Err(match output.lang {
            Lang::En => {
                unreadable(&format_args!("it is of version {}, this program reads 1", visible(&given)))
            }
            Lang::Zh => unreadable(&format_args!("其版本为 {}，本程序只能读取 1", visible(&given))),
        });
    }
    let rules = body["rules"].as_array().ok_or_else(|| unreadable(&"rules"))?;
    // All of them are looked at before the first is kept.
    for rule in rules {
        let body = json!({ "rule": rule });
        let checked: Answer<RuleBacktest> =
            api.ask(Method::POST, "/api/v1/rules/backtest", Some(&body), output.lang).await?;
        drop(checked);
    }
    let mut kept = Vec::new();
    for rule in rules {
        let body = json!({ "rule": rule, "imported": true });
        let done: Answer<RuleKept> = api.ask(Method::POST, "/api/v1/rules", Some(&body), output.lang).await?;
        kept.push(done.raw);
    }
    let count = kept.len();
    if output.json {
        output.json_line(&json!({ "rules": kept }));
    }
    output.say(&Text::new(
        format!("{count} imported, paused; resume them with `chatos rules resume ID`"),
        format!("已导入 {count} 条，均为暂停；用 `chatos rules resume ID` 恢复"),
    ));
    Ok(())
}

fn print(output: &Output, rules: &[RuleView]) {
    if rules.is_empty() {
        output.say(&Text::fixed(
            "no rules; “Always…” on a question makes one",
            "没有规则；在问题上选择“始终…”即可创建",
        ));
    }
    for view in rules {
        let Some(rule) = &view.rule else {
            let text =
                Text::fixed("changed outside ChatOS, does not count", "在 ChatOS 之外被更改，不再生效");
            output.line(&format!(
                "{}  {}",
                visible(&view.id),
                output.paint(Paint::Bad, text.get(output.lang))
            ));
            continue;
        };
        let rule = Value::Object(rule.clone());
        let text = |at: &str| visible(rule.pointer(at).and_then(Value::as_str).unwrap_or_default());
        let state = match (view.ended, rule["paused"] == true) {
            (true, _) => Text::fixed("ended", "已结束"),
            (_, true) => Text::fixed("paused", "已暂停"),
            _ => match rule["effect"].as_str() {
                Some("deny") => Text::fixed("refuses", "拒绝"),
                Some("ask") => Text::fixed("always asks", "始终询问"),
                _ => Text::fixed("approves", "同意"),
            },
        };
        let uses = Text::new(format!("used {} times", view.uses), format!("已使用 {} 次", view.uses));
        output.line(&format!(
            "{}  {}  {}",
            output.paint(Paint::Bold, &text("/name")),
            state.get(output.lang),
            uses.get(output.lang)
        ));
        let place = [text("/scope/kind"), text("/scope/id")].join(" ");
        let line = format!("    {}  {}  {}", place.trim(), text("/tool"), visible(&view.id));
        output.line(&output.paint(Paint::Dim, &line));
    }
}

fn tell(output: &Output, tried: &Answer<RulesTried>) -> ExitCode {
    let code = match tried.decision.as_str() {
        "allow" => ExitCode::SUCCESS,
        "deny" => ExitCode::from(DENY),
        _ => ExitCode::from(ASK),
    };
    if output.json {
        output.json_line(&tried.raw);
        return code;
    }
    let said = match tried.decision.as_str() {
        "allow" => Text::fixed("allowed without asking", "直接允许，不询问"),
        "deny" => Text::fixed("refused", "拒绝"),
        _ => Text::fixed("you would be asked", "会询问你"),
    };
    output.line(&output.paint(Paint::Bold, said.get(output.lang)));
    if let Some(why) = &tried.not_literal {
        output.line(&format!("    {}", visible(why)));
    }
    if !tried.why.is_empty() {
        output.line(&format!("    {}", visible(&tried.why)));
    }
    tell_steps(output, tried);
    code
}

/// How a command was read, and what became of each rule.
pub(crate) fn tell_steps(output: &Output, tried: &RulesTried) {
    for (i, words) in tried.words.iter().enumerate() {
        let join = i.checked_sub(1).and_then(|i| tried.joins.get(i)).map_or("", String::as_str);
        let program = tried.programs.get(i).and_then(Option::as_deref);
        let program = program.map_or(String::new(), |path| format!("  ({path})"));
        output.line(&visible(&format!("    {join:>2} {}{program}", words.join(" · "))));
    }
    for rule in &tried.rules {
        let fits = Text::fixed("fits", "符合");
        let why = rule.why.as_deref().or(rule.failed.as_deref());
        let mark = if rule.failed.is_none() { "✓" } else { "✗" };
        output.line(&visible(&format!("    {mark} {}: {}", rule.name, why.unwrap_or(fits.get(output.lang)))));
    }
}
