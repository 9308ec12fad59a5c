//! The card of a question: everything the host knows about it by itself (inbox §2). Names come from records of this
//! state and from the kernel, what would be done from the material of the effect; nothing of it is what the asker says
//! about itself.

use std::path::Path;

use chatos_prompts::{Ask, Origin, Owner};
use chatos_store::Store;
use chatos_wire::card::{self, CardProject, CardSandbox, CardSession, Deed, PromptCard, plain};
use serde_json::Value;

/// The card of a question that is about to be asked.
pub(crate) fn of(ask: &Ask, store: Option<&Store>) -> PromptCard {
    let kind = ask.effect.as_ref().map_or("", |effect| effect.name.as_str());
    let facts = ask.effect.as_ref().map_or(&Value::Null, |effect| &effect.material);
    let (risk, reasons) = card::risk(kind, facts);
    let trace = ask.trace.as_ref().unwrap_or(&Value::Null);
    let known = Known::of(ask, trace, store);
    let (server, tool) = asker(&ask.owner, &ask.source, facts, trace);
    PromptCard {
        deed: deed(kind, facts, &ask.prompt),
        risk,
        reasons,
        agent: known.agent,
        sub_agent: known.sub_agent,
        server,
        tool,
        client: ask.starter.and_then(program),
        project: project(facts, known.folder.as_deref()),
        session: known.session,
        app: app(&ask.owner).or(known.app),
        profile: known.profile,
        sandbox: sandbox(facts),
        group: None,
        editable: is_editable(&ask.owner, kind, facts),
        stops: known.stops,
    }
}

/// Whether the asker takes another text than it asked about: commands of the built-in server, and calls of tools that
/// the run itself asks about.
fn is_editable(owner: &Owner, kind: &str, facts: &Value) -> bool {
    match (owner.as_str(), kind) {
        ("host:shell_tasks", "command") => facts["tool"] == "run_shell_command",
        ("host:run", "tool_approval") => {
            let of_others = facts["identity"].as_str().is_some_and(|name| !name.starts_with("builtin:"));
            of_others && facts["arguments"].as_object().is_some_and(|given| !given.contains_key("sha256"))
        }
        _ => false,
    }
}

/// A list of tasks may be asked about by somebody who decides no effect of ours.
fn deed(kind: &str, facts: &Value, prompt: &Value) -> Deed {
    if kind.is_empty() && prompt["kind"] == "task_confirm" {
        return Deed::of("tasks", prompt);
    }
    Deed::of(kind, facts)
}

/// What the records say about a run.
#[derive(Default)]
struct Known {
    agent: Option<String>,
    sub_agent: Option<String>,
    session: Option<CardSession>,
    folder: Option<String>,
    app: Option<String>,
    profile: Option<String>,
    /// Who asks can be ended from here.
    stops: bool,
}

impl Known {
    fn of(ask: &Ask, trace: &Value, store: Option<&Store>) -> Self {
        let named = |key: &str| trace[key].as_str().filter(|text| !text.is_empty());
        let Some(store) = store else { return Self::default() };
        // A record that cannot be read leaves its line off the card; the question is asked all the same.
        let run = ask.run_id.as_str().and_then(|run| store.run(run).ok().flatten());
        let agent_id = run.as_ref().map(|run| run.agent_id.as_str()).or_else(|| named("agentId"));
        let agent = agent_id.and_then(|id| store.agent(id).ok().flatten());
        let session_id = ask.session_id.as_deref().or_else(|| named("sessionId"));
        let session = session_id.and_then(|id| store.session(id).ok().flatten());
        let land = run.as_ref().map(|run| run.land_config_id.as_str()).filter(|id| !id.is_empty());
        let profile = land.and_then(|id| store.land_config(id).ok().flatten());
        let sub = run.as_ref().map(|run| run.subagent_id.as_str()).filter(|id| !id.is_empty());
        let app = ask.run_id.as_str().and_then(|run| super::questions::through(store, run).ok().flatten());
        Self {
            agent: agent.map(|agent| plain(&agent.name)),
            sub_agent: sub.or_else(|| named("subAgentId")).map(plain),
            folder: session.as_ref().map(|session| session.workspace_root.clone()),
            session: session.map(|session| CardSession { id: session.id, title: plain(&session.title) }),
            app: app.map(|app| plain(&app)),
            profile: profile.map(|profile| plain(&profile.name)),
            // A run of ours; or an agent of another maker whose hook asks, where its hooks have a word for it.
            stops: ask.prompt["kind"] != "result"
                && (run.is_some() || session_id.is_some_and(|id| stops(store, id))),
        }
    }
}

/// Whether another program that asks through its hook ends when it is told so.
fn stops(store: &Store, client: &str) -> bool {
    let client = store.client(client).ok().flatten();
    client.is_some_and(|client| {
        client.kind == "hook" && matches!(client.name.as_str(), "Claude Code" | "Gemini CLI")
    })
}

/// (server, tool)
fn asker(owner: &Owner, source: &str, facts: &Value, trace: &Value) -> (Option<String>, Option<String>) {
    let tool = facts["tool"].as_str().or_else(|| trace["toolName"].as_str());
    let server = match owner.as_str().strip_prefix("host:") {
        Some("run") => source.split_once('/').map(|(server, _)| server),
        Some(server) => Some(server),
        None if owner.as_str().starts_with("mcp:") => Some(source),
        None => None,
    };
    let kept = |text: &str| (!text.is_empty()).then(|| plain(text));
    (server.and_then(kept), tool.and_then(kept))
}

fn app(owner: &Owner) -> Option<String> {
    owner.as_str().strip_prefix("app:").map(plain)
}

fn project(facts: &Value, folder: Option<&str>) -> Option<CardProject> {
    let root = facts["root"]["path"].as_str().or(folder).filter(|root| !root.is_empty())?;
    let name = Path::new(root).file_name().map_or(root.into(), |name| name.to_string_lossy());
    Some(CardProject { name: plain(&name), root: plain(root) })
}

fn sandbox(facts: &Value) -> Option<CardSandbox> {
    let command = facts["command"].as_object()?;
    let level = command.get("sandbox").and_then(|sandbox| sandbox["level"].as_str()).unwrap_or("none");
    Some(CardSandbox {
        level: level.to_owned(),
        network: command.get("network") != Some(&Value::Bool(false)),
    })
}

/// The program that a process is, as the kernel says.
fn program(process: Origin) -> Option<String> {
    let path = std::fs::read_link(format!("/proc/{}/exe", process.pid)).ok()?;
    // Another process may have taken the number.
    let name = path.file_name()?.to_string_lossy().into_owned();
    process.is_alive().then(|| plain(&name))
}

#[cfg(test)]
mod tests {
    use chatos_prompts::{Effect, Object};
    use serde_json::json;

    use super::*;

    fn ask(owner: Owner, source: &str, effect: Option<Effect>) -> Ask {
        let mut ask = Ask::new(owner, source, json!({ "kind": "choice" }));
        ask.effect = effect;
        ask
    }

    #[test]
    fn a_card_says_what_would_be_done_where_and_how_confined() {
        let facts = json!({
            "tool": "run_shell_command", "root": { "path": "/home/me/shop" },
            "command": { "text": "ls", "network": false, "sandbox": { "level": "full" }, "findings": [] },
        });
        let effect = Effect::new("command", facts.as_object().cloned().unwrap_or_else(Object::new));
        let card = of(&ask(Owner::host_server("shell_tasks"), "shell_tasks", Some(effect)), None);
        let card = serde_json::to_value(&card).unwrap();
        assert_eq!(card["verb"], "run_command");
        assert_eq!(card["risk"], "medium");
        assert_eq!(card["server"], "shell_tasks");
        assert_eq!(card["tool"], "run_shell_command");
        assert_eq!(card["project"], json!({ "name": "shop", "root": "/home/me/shop" }));
        assert_eq!(card["sandbox"], json!({ "level": "full", "network": false }));
    }

    #[test]
    fn a_plain_question_of_an_app_names_the_app() {
        let card = of(&ask(Owner::app("com.x", "notes"), "com.x:notes", None), None);
        assert_eq!(card.app.as_deref(), Some("com.x/notes"));
        assert_eq!(card.risk.as_str(), "low");
        assert!(card.deed.title(None, None).is_none());
    }

    #[test]
    fn the_program_that_asks_is_named_by_the_kernel() {
        let mut asked = ask(Owner::host_server("files"), "files", None);
        asked.starter = Origin::here();
        let own = std::env::current_exe().unwrap();
        assert_eq!(of(&asked, None).client, Some(plain(&own.file_name().unwrap().to_string_lossy())));
        asked.starter = asked.starter.map(|origin| Origin { pid_start: origin.pid_start + 1, ..origin });
        assert_eq!(of(&asked, None).client, None);
    }
}
