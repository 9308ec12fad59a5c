//! MCP servers, what was approved of their tools, and servers from other clients' files.

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::server::{
    ApproveInput, Approved, ApprovedTool, PinList, PinQuery, ServerImport, ServerImportInput, ServerInput,
    ServerList, ServerLogQuery, ServerLogView, ServerTools, ServerView, SignInBody, SignInStart, SignedOut,
};
use chatos_wire::status::{Done, Empty};

use super::callback;
use crate::answer::Created;
use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

/// A file of another client may be large.
const IMPORT_BYTES: usize = 4 << 20;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/mcp-servers", "Every MCP server the host knows, with its state", list);
    routes.post("/api/v1/mcp-servers", "Add a server", create);
    routes.get("/api/v1/mcp-servers/{id}", "One server", show);
    routes.put("/api/v1/mcp-servers/{id}", "Change a server; absent keys stay as they are", edit);
    routes.delete("/api/v1/mcp-servers/{id}", "Remove a server and end its process", remove);
    routes.post(
        "/api/v1/mcp-servers/import",
        "Read the servers of another client's file, and take them over with `apply`",
        import,
    );
    routes.post("/api/v1/mcp-servers/{id}/connect", "Start a server and wait for it", connect);
    routes.post(
        "/api/v1/mcp-servers/{id}/restart",
        "Start a server anew; its failures are forgotten",
        restart,
    );
    routes.post("/api/v1/mcp-servers/{id}/stop", "Stop a server until it is restarted", stop);
    routes.post(
        "/api/v1/mcp-servers/{id}/sign-in",
        "Begin a sign-in to a server that wants one; the person goes to the address",
        sign_in,
    );
    routes.delete(
        "/api/v1/mcp-servers/{id}/sign-in",
        "Sign out: end what was given, there and here",
        sign_out,
    );
    routes.get("/api/v1/mcp-servers/{id}/tools", "The tools of a server; it is started for that", tools);
    routes.get("/api/v1/mcp-servers/{id}/log", "The newest lines of a server's log", log);
    routes.get("/api/v1/tool-pins", "Tools that differ from what was approved", pins);
    routes.post("/api/v1/tool-pins/approve", "Approve tools as they were shown", approve);
}

async fn list(app: App, cx: Caller, (): ()) -> Result<ServerList, ApiError> {
    let lang = cx.lang;
    Ok(ServerList { items: app.host().servers().list(lang).await? })
}

async fn create(
    app: App,
    cx: Caller,
    Body(input): Body<ServerInput>,
) -> Result<Created<ServerView>, ApiError> {
    let lang = cx.lang;
    let made = app.host().servers().add_own(input, lang).await?;
    Ok(Created(made))
}

async fn show(app: App, cx: Caller, Path(id): Path<String>) -> Result<ServerView, ApiError> {
    let lang = cx.lang;
    Ok(app.host().servers().show(&id, lang).await?)
}

async fn edit(
    app: App,
    cx: Caller,
    (Path(id), Body(input)): (Path<String>, Body<ServerInput>),
) -> Result<ServerView, ApiError> {
    let lang = cx.lang;
    Ok(app.host().servers().edit(&id, input, lang).await?)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    app.host().servers().remove(&id).await?;
    Ok(Done { ok: true })
}

async fn import(
    app: App,
    cx: Caller,
    Body(input): Body<ServerImportInput, IMPORT_BYTES>,
) -> Result<ServerImport, ApiError> {
    let lang = cx.lang;
    let text = match (input.text, input.json) {
        (Some(text), _) => text,
        (None, Some(json)) => json.to_string(),
        (None, None) => {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/text or /json: one of them is needed", "/text 或 /json：需要其中之一"),
            )
            .into());
        }
    };
    Ok(app.host().servers().import(&text, input.apply, lang).await?)
}

async fn connect(
    app: App,
    cx: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<ServerView, ApiError> {
    let lang = cx.lang;
    Ok(app.host().servers().connect(&id, lang).await?)
}

async fn restart(
    app: App,
    cx: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<ServerView, ApiError> {
    let lang = cx.lang;
    Ok(app.host().servers().restart(&id, lang).await?)
}

async fn stop(
    app: App,
    cx: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<ServerView, ApiError> {
    let lang = cx.lang;
    Ok(app.host().servers().stop(&id, lang).await?)
}

async fn sign_in(
    app: App,
    cx: Caller,
    (Path(id), Body(body)): (Path<String>, Body<SignInBody>),
) -> Result<SignInStart, ApiError> {
    let origin = cx.origin;
    let redirect = callback::address(&app, origin.as_ref())?;
    Ok(app.host().servers().begin_sign_in(&id, &redirect, body.issuer).await?)
}

async fn sign_out(app: App, _: Caller, Path(id): Path<String>) -> Result<SignedOut, ApiError> {
    Ok(app.host().servers().sign_out(&id).await?)
}

async fn tools(app: App, cx: Caller, Path(id): Path<String>) -> Result<ServerTools, ApiError> {
    let lang = cx.lang;
    Ok(app.host().servers().tools(&id, lang).await?)
}

async fn log(
    app: App,
    _: Caller,
    (Path(id), Query(query)): (Path<String>, Query<ServerLogQuery>),
) -> Result<ServerLogView, ApiError> {
    let limit = query.limit.unwrap_or(200).clamp(1, 2_000);
    Ok(app.host().servers().log(&id, limit).await?)
}

async fn pins(app: App, _: Caller, Query(query): Query<PinQuery>) -> Result<PinList, ApiError> {
    if let Some(state) = query.state.as_deref()
        && !["changed", "new", "approved", "all"].contains(&state)
    {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("state: changed, new, approved or all", "state：changed、new、approved 或 all"),
        )
        .into());
    }
    let items = app.host().servers().pins(query.state.as_deref(), query.server.as_deref()).await?;
    Ok(PinList { items })
}

async fn approve(app: App, _: Caller, Body(input): Body<ApproveInput>) -> Result<Approved, ApiError> {
    let tools = input.tools.into_iter().map(|tool| match tool {
        ApprovedTool::Name(name) => (name, None),
        ApprovedTool::Shown { tool, digest } => (tool, Some(digest)),
    });
    let approved = app.host().servers().approve_pins(&input.identity, tools.collect(), "person").await?;
    Ok(Approved { approved })
}
