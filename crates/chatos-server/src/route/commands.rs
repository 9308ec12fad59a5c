//! What a person types behind `/` and `@`: the list of commands, the text one becomes, files of the workspace,
//! and resources of servers.
//! No app and no model reaches these routes.

use std::path::PathBuf;
use std::time::Duration;

use chatos_commands::mentions::Workspace;
use chatos_commands::{Desk, PATIENCE};
use chatos_policy::{Outcome, Role};
use chatos_store::SessionRow;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::command::{
    CommandList, CommandQuery, CompleteOrder, Completions, FillOrder, Filled, MentionList, MentionOrder,
    MentionQuery, MentionedFiles,
};

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
        "What a server suggests for an argument of its prompt, or a variable of its template",
        complete,
    );
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
        Ok(Place { outcome, root: host.run_place(&row, &agent)?.dir })
    })
    .await
}

fn desk<'a>(app: &'a App, cx: &Caller, place: &'a Place) -> Desk<'a> {
    Desk {
        folder: app.host().dir().path().join(FOLDER),
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

fn workspace(app: &App, place: &Place) -> Workspace {
    let host = app.host();
    let places = host.places();
    let own = [Some(host.dir().path().to_owned()), Some(places.key_dir.clone()), places.legacy_dir.clone()];
    Workspace { root: place.root.clone(), protected: own.into_iter().flatten().collect() }
}

async fn find(app: App, cx: Caller, Query(wanted): Query<MentionQuery>) -> Result<MentionList, ApiError> {
    let place = place(&app, wanted.session, wanted.agent).await?;
    let (workspace, q) = (workspace(&app, &place), wanted.q.clone());
    let files = blocking(&app, move |_| workspace.find(&q));
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
    let mut read = blocking(&app, move |_| workspace.read(&files)).await?;
    for path in resources {
        let Some((server, uri)) = desk.resource_of(&path) else { continue };
        match desk.read_resource(server, uri).await? {
            Some(attached) => read.files.extend(attached),
            None => read.missing.push(path),
        }
    }
    Ok(read)
}
