//! Agents and what they may do (agents §3, §4).

use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json};
use chatos_host::policy_api::Role;
use chatos_host::{AgentRecord, ErrorCode, Fault, Host, Lang, Text, iso_from_ms, store_fault};
use chatos_wire::agent::{AgentExplanation, AgentInput, AgentList, AgentPreview, AgentView};
use chatos_wire::status::Done;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::tasks::blocking;
use crate::api::{ApiError, Body, Query, Routes, lang_of};
use crate::app::App;
use crate::narrow::AppCaller;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Wanted {
    role: Option<String>,
    tool: Option<String>,
}

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/agents";
    routes.read::<AgentList>(path, "Agents", &[], get(list).post(create));
    routes.document::<AgentInput, AgentView>(Method::POST, path, "Make an agent");
    routes.write::<AgentPreview, AgentExplanation>(
        Method::POST,
        "/api/v1/agents/preview",
        "What an agent could do after a change, and what differs from now",
        200,
        post(preview),
    );
    let one = "/api/v1/agents/{id}";
    routes.read::<AgentView>(one, "One agent", &[], get(read).put(update).delete(remove));
    routes.document::<AgentInput, AgentView>(Method::PUT, one, "Change an agent");
    routes.document_act::<Done>(Method::DELETE, one, "Remove an agent");
    routes.read::<AgentExplanation>(
        "/api/v1/agents/{id}/explain",
        "Why an agent may or may not use each server, tool and prompt",
        &[("role", "main or sub; main when absent"), ("tool", "only tools of this name or pattern")],
        get(explain),
    );
}

/// An agent as an app sees it: its own in full, the default one by name; nothing of the others without
/// the right to read.
fn seen_by(host: &Host, caller: &AppCaller, agent: AgentRecord, lang: Lang) -> Result<Option<Value>, Fault> {
    if caller.has("chat.read") || host.is_own_agent(caller, &agent.id)? {
        let view = serde_json::to_value(view(host, agent, lang)?);
        return view
            .map(Some)
            .map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())));
    }
    let standard = host.agents().first_agent()?.id == agent.id;
    Ok(standard.then(|| json!({ "id": agent.id, "name": agent.name })))
}

async fn list(
    State(app): State<App>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
) -> Result<Response, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let answer = blocking(&app, move |host| {
        let agents = host.agents().agents()?.into_iter();
        let Some(Extension(caller)) = caller else {
            let items = agents.map(|agent| view(host, agent, lang)).collect::<Result<_, _>>()?;
            return Ok(Json(AgentList { items }).into_response());
        };
        let seen = agents.filter_map(|agent| seen_by(host, &caller, agent, lang).transpose());
        let items: Vec<Value> = seen.collect::<Result<_, _>>()?;
        Ok(Json(json!({ "items": items })).into_response())
    });
    answer.await
}

async fn read(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
) -> Result<Response, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let answer = blocking(&app, move |host| {
        let agent = host.agents().agent(&id)?;
        let Some(Extension(caller)) = caller else {
            return Ok(Json(view(host, agent, lang)?).into_response());
        };
        let seen = seen_by(host, &caller, agent, lang)?;
        seen.map(|seen| Json(seen).into_response())
            .ok_or_else(|| host.not_granted(&caller.plugin_id, "chat.read"))
    });
    answer.await
}

async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
    Body(body): Body<Map<String, Value>>,
) -> Result<(StatusCode, Json<AgentView>), ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let (made, pending_root) = match caller {
        Some(Extension(caller)) => app.host().create_app_agent(&caller, body).await?,
        None => (blocking(&app, move |host| host.agents().create(body)).await?, None),
    };
    let view = blocking(&app, move |host| view(host, made, lang)).await?;
    Ok((StatusCode::CREATED, Json(AgentView { pending_root, ..view })))
}

async fn update(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    caller: Option<Extension<AppCaller>>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<AgentView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let (changed, pending_root) = match caller {
        Some(Extension(caller)) => app.host().update_app_agent(&caller, &id, body).await?,
        None => (blocking(&app, move |host| host.agents().update(&id, body)).await?, None),
    };
    let view = blocking(&app, move |host| view(host, changed, lang)).await?;
    Ok(Json(AgentView { pending_root, ..view }))
}

async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Option<Extension<AppCaller>>,
) -> Result<Json<Done>, ApiError> {
    blocking(&app, move |host| {
        let agents = host.agents();
        match caller {
            Some(Extension(caller)) => agents.remove_for_app(&caller, &id),
            None => agents.remove(&id),
        }
    })
    .await?;
    Ok(Json(Done { ok: true }))
}

async fn explain(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Json<AgentExplanation>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
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
    let explained = blocking(&app, move |host| {
        let agent = host.agents().agent(&id)?;
        let tool = wanted.tool.as_deref().map(str::trim).filter(|tool| !tool.is_empty());
        host.agents().explain(&agent, role, tool, lang)
    })
    .await?;
    Ok(Json(explained))
}

async fn preview(
    State(app): State<App>,
    headers: HeaderMap,
    Body(body): Body<AgentPreview>,
) -> Result<Json<AgentExplanation>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let explained = blocking(&app, move |host| {
        let desk = host.agents();
        let id = body.agent.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let saved = id.map(|id| desk.agent(id)).transpose()?;
        let agent = desk.previewed(saved.as_ref(), body.agent)?;
        desk.preview(&agent, body.role.unwrap_or(Role::Main), lang)
    })
    .await?;
    Ok(Json(explained))
}

fn view(host: &Host, agent: AgentRecord, lang: Lang) -> Result<AgentView, Fault> {
    let problems = host.agents().problems(&agent, lang)?;
    let (created_at, updated_at) = (iso_from_ms(agent.created_at), iso_from_ms(agent.updated_at));
    let made_by = host.store().agent_maker(&agent.id).map_err(|error| store_fault(&error))?;
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
        problems,
        made_by,
        pending_root: None,
        created_at,
        updated_at,
    })
}
