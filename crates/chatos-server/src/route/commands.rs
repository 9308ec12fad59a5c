//! What a person types behind `/` and `@`: the list of commands, the text one becomes, files of the workspace,
//! and resources of servers.
//! No app and no model reaches these routes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chatos_commands::files;
use chatos_commands::mentions::Workspace;
use chatos_commands::{Desk, Filling, PATIENCE, ProjectCommands, SkillPlace};
use chatos_contribution::AppText;
use chatos_host::Host;
use chatos_policy::{Outcome, Role};
use chatos_store::{AgentRecord, SessionRow};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::agent::AcpCommand;
use chatos_wire::command::{
    CommandKind, CommandList, CommandQuery, CommandView, CompleteOrder, Completions, FillOrder, Filled,
    MentionList, MentionOrder, MentionQuery, MentionedFiles, OwnCommandText, OwnCommands,
};
use chatos_wire::instructions::InstructionConsent;

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

/// The folder of the state with a person's own commands.
const FOLDER: &str = "commands";

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/commands", "What a person can type behind `/`", list);
    routes.post("/api/v1/commands/fill", "The text that a typed command becomes; nothing is sent", fill);
    routes.post(
        "/api/v1/commands/complete",
        "What a server suggests for an argument of its prompt, or a variable of its template",
        complete,
    );
    routes.get("/api/v1/commands/own", "The person's own commands with their texts", own);
    routes.put("/api/v1/commands/own/{name}", "Writes one of the person's own commands", write_own);
    routes.delete("/api/v1/commands/own/{name}", "Removes one of the person's own commands", remove_own);
    routes.get("/api/v1/mentions", "Files and resources that match what is typed behind `@`", find);
    routes.post(
        "/api/v1/mentions/read",
        "Files and resources as a message carries them; nothing is sent",
        read,
    );
}

/// What a chat, or one that is about to be made, has to do with commands.
struct Place {
    outcome: Outcome,
    root: PathBuf,
    project: Option<ProjectCommands>,
    skills: Vec<SkillPlace>,
    /// The project has commands or skills, and nobody decided about it yet.
    undecided: bool,
    /// Texts of apps that may be handed to it.
    apps: Vec<AppText>,
    /// Commands of the agent itself, where that is another program.
    theirs: Vec<CommandView>,
}

/// What an agent of another maker takes behind `/`.
fn of_agent(host: &Arc<Host>, chat: &str, agent: &AgentRecord) -> Result<Vec<CommandView>, Fault> {
    if agent.acp.is_none() {
        return Ok(Vec::new());
    }
    let told = chatos_acp::session(host.store(), host.runs().seats(), chat, &agent.id)?.told;
    let view = |command: AcpCommand| CommandView {
        key: format!("agent:{}", command.name),
        name: command.name,
        kind: CommandKind::Prompt,
        title: String::new(),
        description: command.description,
        argument_hint: command.hint,
        arguments: Vec::new(),
        source: agent.name.clone(),
    };
    Ok(told.commands.into_iter().map(view).collect())
}

/// Commands and skills of a project, nearest first, where a person lets its texts be used; and whether there are some
/// that nobody decided about.
fn of_project(
    host: &Host,
    root: &std::path::Path,
) -> Result<(Option<ProjectCommands>, Vec<SkillPlace>, bool), Fault> {
    let Some((project, word)) = host.runs().instructions().word(root)? else {
        return Ok((None, Vec::new(), false));
    };
    let inside = project.folders();
    let there = |names: &[&str]| {
        let mut all: Vec<PathBuf> = Vec::new();
        for rel in inside.iter().rev() {
            let here = project.root.join(rel);
            all.extend(names.iter().map(|name| here.join(name)).filter(|folder| folder.is_dir()));
        }
        all
    };
    let (folders, skills) = (there(&chatos_instructions::COMMANDS), there(&chatos_instructions::SKILLS));
    if word != Some(InstructionConsent::Use) {
        return Ok((None, Vec::new(), word.is_none() && !(folders.is_empty() && skills.is_empty())));
    }
    let within = Some(project.root.clone());
    let place = |folder| SkillPlace { source: "project", folder, within: within.clone() };
    let skills = skills.into_iter().map(place).collect();
    Ok((Some(ProjectCommands { root: project.root.clone(), folders }), skills, false))
}

/// Where a person's own skills are.
fn of_person(host: &Host) -> impl Iterator<Item = SkillPlace> {
    let home = host.environment().get("HOME").map(PathBuf::from);
    let given = host.settings().list("skillDirs").into_iter().filter_map({
        let home = home.clone();
        move |folder| match folder.strip_prefix("~/") {
            Some(rest) => home.as_ref().map(|home| home.join(rest)),
            None => Some(PathBuf::from(folder)).filter(|folder| folder.is_absolute()),
        }
    });
    let usual = [Some(host.dir().path().join("skills")), home.map(|home| home.join(".agents/skills"))];
    let all = usual.into_iter().flatten().chain(given);
    all.map(|folder| SkillPlace { source: "user", folder, within: None })
}

async fn place(app: &App, session: Option<String>, agent: Option<String>) -> Result<Place, ApiError> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (session, agent) = (given(session), given(agent));
    blocking(app.host(), move |host| {
        let row = match &session {
            Some(id) => host.store().session(id)?.ok_or_else(|| {
                Fault::new(
                    ErrorCode::NotFound,
                    Text::new(format!("there is no chat `{id}`"), format!("没有会话 `{id}`")),
                )
            })?,
            None => SessionRow::default(),
        };
        let wanted = Some(row.agent_id.clone()).filter(|id| !id.is_empty()).or(agent);
        let agent = match wanted {
            Some(id) => host.agents().agent(&id)?,
            None => host.agents().first_agent()?,
        };
        let outcome = host.agents().outcome(&agent, Role::Main)?;
        let root = host.apps().run_place(&row, &agent)?.dir;
        let (project, mut skills, undecided) = of_project(host, &root)?;
        skills.extend(of_person(host));
        let theirs = of_agent(host, session.as_deref().unwrap_or_default(), &agent)?;
        let apps = host.agents().app_texts(&agent, &outcome)?;
        Ok(Place { outcome, root, project, skills, undecided, apps, theirs })
    })
    .await
}

fn desk<'a>(app: &'a App, cx: &Caller, place: &'a Place) -> Desk<'a> {
    Desk {
        folder: app.host().dir().path().join(FOLDER),
        project: place.project.clone(),
        skills: place.skills.clone(),
        apps: place.apps.clone(),
        problem: place.undecided.then(|| {
            Text::fixed(
                "this project has commands or skills of its own; `chatos instructions --set use` in its folder allows them",
                "此项目有自己的命令或技能；在其文件夹中运行 `chatos instructions --set use` 即可使用",
            )
        }),
        servers: app.host().servers(),
        outcome: &place.outcome,
        lang: cx.lang,
    }
}

async fn list(app: App, cx: Caller, Query(wanted): Query<CommandQuery>) -> Result<CommandList, ApiError> {
    let place = place(&app, wanted.session, wanted.agent).await?;
    let wait = wanted.wait_ms.map_or(PATIENCE, |wait| Duration::from_millis(u64::from(wait)));
    let mut list = desk(&app, &cx, &place).list(wait).await?;
    // Ours come first; `//name` reaches one of the agent's that has the same name.
    let new = |one: &CommandView| !list.items.iter().any(|known| known.name == one.name);
    let theirs: Vec<CommandView> = place.theirs.iter().filter(|one| new(one)).cloned().collect();
    list.items.extend(theirs);
    Ok(list)
}

async fn fill(app: App, cx: Caller, Body(order): Body<FillOrder>) -> Result<Filled, ApiError> {
    let place = place(&app, order.session, order.agent).await?;
    let filled = desk(&app, &cx, &place).fill(&order.text, order.arguments).await;
    let name = order.text.trim_start_matches('/').split_whitespace().next().unwrap_or_default();
    match filled {
        // The agent reads its own commands.
        Err(_) if place.theirs.iter().any(|one| one.name == name) => {
            let key = format!("agent:{name}");
            Ok(Filled {
                kind: CommandKind::Prompt,
                key,
                text: order.text,
                mentions: Vec::new(),
                notices: Vec::new(),
                files: Vec::new(),
                answer_by: None,
            })
        }
        Ok(Filling { filled, model: Some(model) }) => answered_by(&app, &cx, filled, model).await,
        filled => Ok(filled?.filled),
    }
}

/// The model a command names answers it where there is one of that name; else the person is told.
async fn answered_by(app: &App, cx: &Caller, mut filled: Filled, model: String) -> Result<Filled, ApiError> {
    let wanted = model.clone();
    match blocking(app.host(), move |host| Ok(host.models().resolve(Some(&wanted)).ok())).await? {
        Some(record) => filled.answer_by = Some(record.id),
        None => {
            let text = Text::new(
                format!(
                    "this command asks for the model `{model}`, which is not here: the chat's own answers"
                ),
                format!("此命令指定的模型 `{model}` 不存在，将由会话的模型回答"),
            );
            filled.notices.push(text.get(cx.lang).to_owned());
        }
    }
    Ok(filled)
}

async fn complete(app: App, cx: Caller, Body(order): Body<CompleteOrder>) -> Result<Completions, ApiError> {
    let place = place(&app, order.session, order.agent).await?;
    let argument = (order.argument.as_str(), order.value.as_str());
    Ok(desk(&app, &cx, &place).complete(&order.key, argument, order.arguments).await?)
}

async fn own(app: App, cx: Caller, (): ()) -> Result<OwnCommands, ApiError> {
    blocking(app.host(), move |host| Ok(files::list(&host.dir().path().join(FOLDER), cx.lang))).await
}

async fn write_own(
    app: App,
    cx: Caller,
    (Path(name), Body(order)): (Path<String>, Body<OwnCommandText>),
) -> Result<OwnCommands, ApiError> {
    blocking(app.host(), move |host| {
        let folder = host.dir().path().join(FOLDER);
        files::write(&folder, &name, &order.text)?;
        Ok(files::list(&folder, cx.lang))
    })
    .await
}

async fn remove_own(app: App, cx: Caller, Path(name): Path<String>) -> Result<OwnCommands, ApiError> {
    blocking(app.host(), move |host| {
        let folder = host.dir().path().join(FOLDER);
        files::remove(&folder, &name)?;
        Ok(files::list(&folder, cx.lang))
    })
    .await
}

fn workspace(app: &App, place: &Place) -> Workspace {
    let host = app.host();
    let places = host.places();
    let own = [Some(host.dir().path().to_owned()), Some(places.key_dir.clone()), places.legacy_dir.clone()];
    Workspace { root: place.root.clone(), protected: own.into_iter().flatten().collect() }
}

async fn find(app: App, cx: Caller, Query(wanted): Query<MentionQuery>) -> Result<MentionList, ApiError> {
    let place = place(&app, wanted.session, wanted.agent).await?;
    let (workspace, q) = (workspace(&app, &place), wanted.q.clone());
    let files = blocking(app.host(), move |_| workspace.find(&q));
    let wait = Duration::from_millis(u64::from(wanted.wait_ms.unwrap_or(0)));
    let desk = desk(&app, &cx, &place);
    let (files, resources) = tokio::join!(files, desk.find_resources(&wanted.q, wait));
    let (mut list, (resources, late)) = (files?, resources?);
    list.items.extend(resources);
    list.late = late;
    Ok(list)
}

async fn read(app: App, cx: Caller, Body(order): Body<MentionOrder>) -> Result<MentionedFiles, ApiError> {
    let place = place(&app, order.session, order.agent).await?;
    let desk = desk(&app, &cx, &place);
    let (mut files, mut resources) = (Vec::new(), Vec::new());
    for path in order.paths {
        match desk.resource_of(&path) {
            Some(_) => resources.push(path),
            None => files.push(path),
        }
    }
    let workspace = workspace(&app, &place);
    let mut read = blocking(app.host(), move |_| workspace.read(&files)).await?;
    for path in resources {
        let Some((server, uri)) = desk.resource_of(&path) else { continue };
        match desk.read_resource(server, uri).await? {
            Some(attached) => read.files.extend(attached),
            None => read.missing.push(path),
        }
    }
    Ok(read)
}
