//! Agents and what they may do (agents §3, §4).

use chatos_host::Host;
use chatos_policy::Role;
use chatos_store::{AgentRecord, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::agent::{
    AcpView, AgentExplanation, AgentInput, AgentList, AgentName, AgentPreview, AgentSeen, AgentView,
    AgentsSeen, ExplainQuery, GiveInput, Given, ServerUsers,
};
use chatos_wire::status::Done;
use serde_json::{Map, Value, json};

use crate::answer::{Created, Seen};
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Members, Path, Query};
use crate::narrow::AppCaller;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/agents", "Agents", list);
    routes.post("/api/v1/agents", "Make an agent", create);
    routes.post(
        "/api/v1/agents/preview",
        "What an agent could do after a change, and what differs from now",
        preview,
    );
    routes.get("/api/v1/agents/{id}", "One agent", read);
    routes.put("/api/v1/agents/{id}", "Change an agent", update);
    routes.delete("/api/v1/agents/{id}", "Remove an agent", remove);
    routes.get(
        "/api/v1/agents/{id}/explain",
        "Why an agent may or may not use each server, tool and prompt",
        explain,
    );
    routes.get("/api/v1/grants/servers", "Which agents may use each server", users);
    routes.post("/api/v1/grants/servers", "Give a server or app to an agent, or take it back", give);
}

/// An agent as an app sees it: its own in full, the default one by name; nothing of the others without
/// the right to read.
fn seen_by(
    host: &Host,
    caller: &AppCaller,
    agent: AgentRecord,
    lang: Lang,
) -> Result<Option<AgentSeen>, Fault> {
    if caller.has("chat.read") || host.apps().is_own_agent(caller, &agent.id)? {
        return Ok(Some(AgentSeen::Full(Box::new(view(host, agent, lang)?))));
    }
    let standard = host.agents().first_agent()?.id == agent.id;
    Ok(standard.then(|| AgentSeen::Name(AgentName { id: agent.id, name: agent.name })))
}

async fn list(app: App, cx: Caller, (): ()) -> Result<Seen<AgentList, AgentsSeen>, ApiError> {
    let caller = cx.app;
    let lang = cx.lang;
    let answer = blocking(app.host(), move |host| {
        let agents = host.agents().agents()?.into_iter();
        let Some(caller) = caller else {
            let items = agents.map(|agent| view(host, agent, lang)).collect::<Result<_, _>>()?;
            return Ok(Seen::ByPerson(AgentList { items }));
        };
        // Apps take the first one for the default.
        let standard = host.agents().first_agent()?.id;
        let mut agents: Vec<AgentRecord> = agents.collect();
        agents.sort_by_key(|agent| agent.id != standard);
        let seen = agents.into_iter().filter_map(|agent| seen_by(host, &caller, agent, lang).transpose());
        Ok(Seen::ByApp(AgentsSeen { items: seen.collect::<Result<_, _>>()? }))
    });
    answer.await
}

async fn read(app: App, cx: Caller, Path(id): Path<String>) -> Result<Seen<AgentView, AgentSeen>, ApiError> {
    let caller = cx.app;
    let lang = cx.lang;
    let answer = blocking(app.host(), move |host| {
        let agent = host.agents().agent(&id)?;
        let Some(caller) = caller else {
            return Ok(Seen::ByPerson(view(host, agent, lang)?));
        };
        let seen = seen_by(host, &caller, agent, lang)?;
        seen.map(Seen::ByApp).ok_or_else(|| host.apps().not_granted(&caller.plugin_id, "chat.read"))
    });
    answer.await
}

async fn create(
    app: App,
    cx: Caller,
    Members(body, _): Members<AgentInput>,
) -> Result<Created<AgentView>, ApiError> {
    let caller = cx.app;
    let lang = cx.lang;
    let (made, pending_root) = match caller {
        Some(caller) => app.host().apps().create_app_agent(&caller, body).await?,
        None => (blocking(app.host(), move |host| host.agents().create(body)).await?, None),
    };
    let view = blocking(app.host(), move |host| view(host, made, lang)).await?;
    Ok(Created(AgentView { pending_root, ..view }))
}

async fn update(
    app: App,
    cx: Caller,
    (Path(id), Members(body, _)): (Path<String>, Members<AgentInput>),
) -> Result<AgentView, ApiError> {
    let caller = cx.app;
    let lang = cx.lang;
    let (changed, pending_root) = match caller {
        Some(caller) => app.host().apps().update_app_agent(&caller, &id, body).await?,
        None => (blocking(app.host(), move |host| host.apps().update_agent(&id, body)).await?, None),
    };
    let view = blocking(app.host(), move |host| view(host, changed, lang)).await?;
    Ok(AgentView { pending_root, ..view })
}

async fn remove(app: App, cx: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    let caller = cx.app;
    blocking(app.host(), move |host| match caller {
        Some(caller) => host.apps().remove_agent_for_app(&caller, &id),
        None => host.agents().remove(&id),
    })
    .await?;
    Ok(Done { ok: true })
}

async fn explain(
    app: App,
    cx: Caller,
    (Path(id), Query(wanted)): (Path<String>, Query<ExplainQuery>),
) -> Result<AgentExplanation, ApiError> {
    let lang = cx.lang;
    let role = match wanted.role.as_deref().unwrap_or("main") {
        "main" => Role::Main,
        "sub" => Role::Sub,
        other => {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("there is no role `{other}`"), format!("没有角色 `{other}`")),
            )
            .hint(Text::fixed("use main or sub", "请使用 main 或 sub"))
            .into());
        }
    };
    let explained = blocking(app.host(), move |host| {
        let agent = host.agents().agent(&id)?;
        let tool = wanted.tool.as_deref().map(str::trim).filter(|tool| !tool.is_empty());
        host.agents().explain(&agent, role, tool, lang)
    })
    .await?;
    Ok(explained)
}

async fn preview(app: App, cx: Caller, Body(body): Body<AgentPreview>) -> Result<AgentExplanation, ApiError> {
    let lang = cx.lang;
    let explained = blocking(app.host(), move |host| {
        let desk = host.agents();
        let id = body.agent.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let saved = id.map(|id| desk.agent(id)).transpose()?;
        let agent = desk.previewed(saved.as_ref(), body.agent)?;
        desk.preview(&agent, body.role.unwrap_or(Role::Main), lang)
    })
    .await?;
    Ok(explained)
}

async fn users(app: App, _: Caller, (): ()) -> Result<ServerUsers, ApiError> {
    blocking(app.host(), |host| host.agents().server_users()).await
}

async fn give(app: App, cx: Caller, Body(wish): Body<GiveInput>) -> Result<Given, ApiError> {
    let lang = cx.lang;
    blocking(app.host(), move |host| {
        let given = host.agents().give(&wish, lang)?;
        if !wish.dry_run {
            let fields = Map::from_iter([
                ("agentId".to_owned(), json!(given.agent.id)),
                ("server".to_owned(), json!(given.server.identity)),
                ("landConfigId".to_owned(), json!(given.land_config.id)),
                ("copiedFrom".to_owned(), json!(given.copied_from.as_ref().map(|land| &land.id))),
                ("sub".to_owned(), json!(wish.sub)),
                ("ask".to_owned(), json!(wish.ask)),
            ]);
            host.audit(if wish.revoke { "server_taken_back" } else { "server_given" }, fields);
        }
        Ok(given)
    })
    .await
}

pub(super) fn view(host: &Host, agent: AgentRecord, lang: Lang) -> Result<AgentView, Fault> {
    let problems = host.agents().problems(&agent, lang)?;
    let (created_at, updated_at) = (iso_from_ms(agent.created_at), iso_from_ms(agent.updated_at));
    let made_by = host.store().agent_maker(&agent.id)?;
    Ok(AgentView {
        id: agent.id,
        name: agent.name,
        description: agent.description,
        mode: agent.mode,
        land_config_id: agent.land_config_id,
        model_id: agent.model_id,
        prompt: agent.prompt,
        workspace_root: agent.workspace_root,
        prompt_lang: agent.prompt_lang,
        prompt_ids: agent.prompt_ids,
        mcp_server_ids: agent.mcp_server_ids,
        subagent_ids: agent.subagent_ids,
        skills: agent.skills,
        ui_apps: agent.ui_apps,
        acp: agent.acp.map(|launch| AcpView {
            program: launch.program,
            args: launch.args,
            pass_env: launch.pass_env,
            known_id: launch.known_id,
            gateway: launch.gateway,
        }),
        problems,
        made_by,
        pending_root: None,
        created_at,
        updated_at,
    })
}
