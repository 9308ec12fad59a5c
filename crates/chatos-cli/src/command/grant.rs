//! `chatos grant`: a server or an app for an agent, in one step; and the last question of every command that adds one.

use std::io::IsTerminal;
use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{Fault, Lang, Text};
use chatos_wire::agent::{GiveAsk, GiveInput, Given, ServerUser, ServerUsers};
use hyper::Method;
use serde_json::json;

use super::plugin::typed as answer_to;
use crate::args::{AskArg, Global, Grant, GrantFlags};
use chatos_terminal::client::{Api, block_on, typed};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, visible};

const ROUTE: &str = "/api/v1/grants/servers";

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    wish: Grant,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        let mut done = Vec::new();
        for agent in &wish.agents {
            let input = GiveInput {
                server: wish.server.clone(),
                agent: agent.clone(),
                tools: wish.tools.clone(),
                sub: wish.sub,
                ask: ask(wish.ask),
                revoke: wish.revoke,
                dry_run: wish.dry_run,
            };
            let given = give(&api, output, &input).await?;
            say(output, &given, &input);
            done.push(given);
        }
        if output.json {
            output.json_line(&json!({ "ok": true, "command": "grant", "given": done }));
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// Refuses an agent that does not exist, before anything is added for it.
pub(super) async fn check(api: &Api, output: &Output, flags: &GrantFlags) -> Result<(), Fault> {
    let names = Names::new(api, output.lang);
    for agent in &flags.agents {
        names.agent(agent).await?;
    }
    Ok(())
}

/// Asks who may use what was just added, or does as the flags say. Returns the names of the agents that may.
pub(super) async fn after(
    api: &Api,
    output: &Output,
    flags: &GrantFlags,
    added: impl Fn(&ServerUser) -> bool,
) -> Result<Vec<String>, Fault> {
    let known = typed::<ServerUsers>(api.get_json(ROUTE, output.lang).await?)?.body;
    let mut names = Vec::new();
    for server in known.items.iter().filter(|server| added(server)) {
        let mut agents = flags.agents.clone();
        let mut ask_each = flags.ask.unwrap_or_default();
        if agents.is_empty() && server.agents.is_empty() && !output.json && std::io::stdin().is_terminal() {
            let Some(agent) = whom(api, output, &server.name).await? else { continue };
            agents.push(agent);
            ask_each = if each(output) { AskArg::Each } else { AskArg::No };
        }
        for agent in &agents {
            let input = GiveInput {
                server: server.identity.clone(),
                agent: agent.clone(),
                sub: flags.sub,
                ask: ask(ask_each),
                ..GiveInput::default()
            };
            let given = give(api, output, &input).await?;
            say(output, &given, &input);
            names.push(given.agent.name);
        }
        if agents.is_empty() && server.agents.is_empty() {
            let command = format!("chatos grant {} --agent default", shell_word(&server.name));
            output.say(&Text::new(
                format!("hint: no agent can use `{}` yet: {command}", visible(&server.name)),
                format!("提示：还没有智能体可以使用 `{}`：{command}", visible(&server.name)),
            ));
        }
    }
    Ok(names)
}

async fn give(api: &Api, output: &Output, input: &GiveInput) -> Result<Given, Fault> {
    Ok(typed::<Given>(api.call(Method::POST, ROUTE, Some(&json!(input)), output.lang).await?)?.body)
}

fn ask(word: AskArg) -> GiveAsk {
    match word {
        AskArg::Each => GiveAsk::Each,
        AskArg::No => GiveAsk::No,
    }
}

/// Prints what changed for one agent, in words.
fn say(output: &Output, given: &Given, input: &GiveInput) {
    let (agent, server) = (visible(&given.agent.name), visible(&given.server.name));
    output.say(&match (input.revoke, given.changes.is_empty(), input.ask) {
        (_, true, _) => Text::new(format!("nothing changes for {agent}"), format!("{agent} 没有变化")),
        (true, ..) => Text::new(
            format!("{agent} can no longer use `{server}`"),
            format!("{agent} 不能再使用 `{server}`"),
        ),
        (false, _, GiveAsk::Each) => Text::new(
            format!("{agent} can use `{server}` and asks before each tool"),
            format!("{agent} 可以使用 `{server}`，每次调用工具前都会询问"),
        ),
        (false, _, GiveAsk::No) => {
            Text::new(format!("{agent} can use `{server}`"), format!("{agent} 可以使用 `{server}`"))
        }
    });
    for change in &given.changes {
        let paint = if change.kind == "lost" { Paint::Bad } else { Paint::Good };
        let sign = if change.kind == "lost" { '-' } else { '+' };
        let tool = change.tool.as_deref().map(|tool| format!(" {}", visible(tool))).unwrap_or_default();
        if !output.json && !output.quiet {
            output.line(&output.paint(paint, &format!("  {sign} {}{tool}", visible(&change.server))));
        }
    }
    if let Some(from) = &given.copied_from {
        let (from, to) = (visible(&from.name), visible(&given.land_config.name));
        output.say(&Text::new(
            format!("The permissions profile “{from}” is shared, so {agent} now uses a copy: “{to}”"),
            format!("授权配置“{from}”是共用的，{agent} 现在使用其副本“{to}”"),
        ));
    }
    if let Some(message) = given.server.message.as_deref().filter(|_| !input.revoke && !given.server.granted)
    {
        output.say(&Text::same(visible(message)));
    }
    if input.dry_run {
        output.say(&Text::fixed("nothing was changed", "没有任何更改"));
    }
}

/// The agent a person names; Enter is the default one.
async fn whom(api: &Api, output: &Output, server: &str) -> Result<Option<String>, Fault> {
    let agents = api.get_json("/api/v1/agents", output.lang).await?;
    let first = agents["items"].as_array().into_iter().flatten();
    let default = first.clone().find(|agent| agent["id"] == chatos_wire::agent::FIRST_AGENT);
    let name = default.or(first.clone().next()).and_then(|agent| agent["name"].as_str()).unwrap_or("default");
    let (server, name) = (visible(server), visible(name));
    let question = if output.lang == Lang::Zh {
        format!("把 `{server}` 交给一个智能体？[回车 = {name} / n = 暂不 / 名称] ")
    } else {
        format!("Give `{server}` to an agent? [Enter = {name} / n = not now / name] ")
    };
    let answer = answer_to(&question);
    Ok(match answer.as_str() {
        "" => Some("default".to_owned()),
        "n" | "N" | "no" => None,
        _ => Some(answer),
    })
}

fn each(output: &Output) -> bool {
    let question = if output.lang == Lang::Zh {
        "每次调用工具前都询问？[Y/n] "
    } else {
        "Ask before each tool? [Y/n] "
    };
    !matches!(answer_to(question).as_str(), "n" | "N" | "no")
}

/// A name as one word of a command line.
fn shell_word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        visible(name)
    } else {
        format!("'{}'", visible(&name.replace('\'', "'\\''")))
    }
}
