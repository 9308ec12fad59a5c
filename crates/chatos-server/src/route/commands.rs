//! What a person types behind `/` and `@`: the list of commands, the text one becomes, and files of the workspace.
//! No app and no model reaches these routes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use chatos_commands::mentions::Workspace;
use chatos_commands::{Desk, PATIENCE, ProjectCommands};
use chatos_host::Host;
use chatos_policy::{Outcome, Role};
use chatos_store::SessionRow;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::command::{
    CommandList, CommandQuery, CompleteOrder, Completions, FillOrder, Filled, MentionList, MentionOrder,
    MentionQuery, MentionedFiles,
};
use chatos_wire::instructions::InstructionConsent;

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::{Body, Query};
use crate::route::plugins::blocking;
use crate::table::Routes;

/// The folder of the state with a person's own commands.
const FOLDER: &str = "commands";

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/commands", "What a person can type behind `/`", list);
    routes.post("/api/v1/commands/fill", "The text that a typed command becomes; nothing is sent", fill);
    routes.post(
        "/api/v1/commands/complete",
        "What a server suggests for an argument of its prompt",
        complete,
    );
    routes.get("/api/v1/mentions", "Files of a chat's workspace that match what is typed behind `@`", find);
    routes.post(
        "/api/v1/mentions/read",
        "Files of a chat's workspace as a message carries them; nothing is sent",
        read,
    );
}

/// What a chat, or one that is about to be made, has to do with commands.
struct Place {
    outcome: Outcome,
    root: PathBuf,
    project: Option<ProjectCommands>,
    /// The project has commands, and nobody decided about it yet.
    undecided: bool,
}

/// Where a project may have commands, in each of its folders.
const OF_PROJECT: [&str; 2] = [".chatos/commands", ".claude/commands"];

/// The folders with commands of a project, nearest first, where a person lets its texts be used; and whether there are
/// some that nobody decided about.
fn of_project(host: &Host, root: &Path) -> Result<(Option<ProjectCommands>, bool), Fault> {
    let Some((project, word)) = host.instructions().word(root)? else { return Ok((None, false)) };
    let inside = project.folders();
    let places = inside.iter().rev().flat_map(|rel| OF_PROJECT.map(|name| project.root.join(rel).join(name)));
    let folders: Vec<PathBuf> = places.filter(|folder| folder.is_dir()).collect();
    let undecided = word.is_none() && !folders.is_empty();
    let used = word == Some(InstructionConsent::Use) && !folders.is_empty();
    Ok((used.then_some(ProjectCommands { root: project.root, folders }), undecided))
}

async fn place(app: &App, session: Option<String>, agent: Option<String>) -> Result<Place, ApiError> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (session, agent) = (given(session), given(agent));
    blocking(app, move |host| {
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
        let root = host.run_place(&row, &agent)?.dir;
        let (project, undecided) = of_project(host, &root)?;
        Ok(Place { outcome, root, project, undecided })
    })
    .await
}

fn desk<'a>(app: &'a App, cx: &Caller, place: &'a Place) -> Desk<'a> {
    Desk {
        folder: app.host().dir().path().join(FOLDER),
        project: place.project.clone(),
        problem: place.undecided.then(|| {
            Text::fixed(
                "this project has commands of its own; `chatos instructions --set use` in its folder allows them",
                "此项目有自己的命令；在其文件夹中运行 `chatos instructions --set use` 即可使用",
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
    Ok(desk(&app, &cx, &place).list(wait).await?)
}

async fn fill(app: App, cx: Caller, Body(order): Body<FillOrder>) -> Result<Filled, ApiError> {
    let place = place(&app, order.session, order.agent).await?;
    Ok(desk(&app, &cx, &place).fill(&order.text, order.arguments).await?)
}

async fn complete(app: App, cx: Caller, Body(order): Body<CompleteOrder>) -> Result<Completions, ApiError> {
    let place = place(&app, order.session, order.agent).await?;
    let argument = (order.argument.as_str(), order.value.as_str());
    Ok(desk(&app, &cx, &place).complete(&order.key, argument, order.arguments).await?)
}

fn workspace(app: &App, place: Place) -> Workspace {
    let host = app.host();
    let places = host.places();
    let own = [Some(host.dir().path().to_owned()), Some(places.key_dir.clone()), places.legacy_dir.clone()];
    Workspace { root: place.root, protected: own.into_iter().flatten().collect() }
}

async fn find(app: App, _: Caller, Query(wanted): Query<MentionQuery>) -> Result<MentionList, ApiError> {
    let place = place(&app, wanted.session, wanted.agent).await?;
    let workspace = workspace(&app, place);
    blocking(&app, move |_| workspace.find(&wanted.q)).await
}

async fn read(app: App, _: Caller, Body(order): Body<MentionOrder>) -> Result<MentionedFiles, ApiError> {
    let place = place(&app, order.session, order.agent).await?;
    let workspace = workspace(&app, place);
    blocking(&app, move |_| workspace.read(&order.paths)).await
}
