//! Texts for models.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::{SystemPrompt, iso_from_ms};
use chatos_wire::agent::{SystemPromptInput, SystemPromptList, SystemPromptView};
use chatos_wire::status::{Done, Empty};
use serde_json::{Map, Value};

use super::tasks::blocking;
use crate::api::{ApiError, Body, Routes};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/system-prompts";
    routes.read::<SystemPromptList>(path, "Texts for models", &[], get(list).post(create));
    routes.document::<SystemPromptInput, SystemPromptView>(Method::POST, path, "Make a text");
    let one = "/api/v1/system-prompts/{id}";
    routes.read::<SystemPromptView>(one, "One text", &[], get(read).put(update).delete(remove));
    routes.document::<SystemPromptInput, SystemPromptView>(Method::PUT, one, "Change a text");
    routes.document_act::<Done>(Method::DELETE, one, "Remove a text");
    routes.write::<Empty, SystemPromptView>(
        Method::POST,
        "/api/v1/system-prompts/{id}/reset",
        "Give a built-in text back its own content",
        200,
        post(reset),
    );
}

async fn list(State(app): State<App>) -> Result<Json<SystemPromptList>, ApiError> {
    let prompts = blocking(&app, |host| host.agents().system_prompts()).await?;
    Ok(Json(SystemPromptList { items: prompts.into_iter().map(view).collect() }))
}

async fn read(State(app): State<App>, Path(id): Path<String>) -> Result<Json<SystemPromptView>, ApiError> {
    Ok(Json(view(blocking(&app, move |host| host.agents().system_prompt(&id)).await?)))
}

async fn create(
    State(app): State<App>,
    Body(body): Body<Map<String, Value>>,
) -> Result<(StatusCode, Json<SystemPromptView>), ApiError> {
    let prompt = blocking(&app, move |host| host.agents().create_prompt(body)).await?;
    Ok((StatusCode::CREATED, Json(view(prompt))))
}

async fn update(
    State(app): State<App>,
    Path(id): Path<String>,
    Body(body): Body<Map<String, Value>>,
) -> Result<Json<SystemPromptView>, ApiError> {
    Ok(Json(view(blocking(&app, move |host| host.agents().update_prompt(&id, body)).await?)))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    blocking(&app, move |host| host.agents().remove_prompt(&id)).await?;
    Ok(Json(Done { ok: true }))
}

async fn reset(State(app): State<App>, Path(id): Path<String>) -> Result<Json<SystemPromptView>, ApiError> {
    Ok(Json(view(blocking(&app, move |host| host.agents().reset_prompt(&id)).await?)))
}

fn view(prompt: SystemPrompt) -> SystemPromptView {
    let (created_at, updated_at) = (iso_from_ms(prompt.created_at), iso_from_ms(prompt.updated_at));
    SystemPromptView {
        id: prompt.id,
        name: prompt.name,
        title: prompt.title,
        content: prompt.content,
        kind: prompt.kind,
        lang: prompt.lang,
        allow_main: prompt.allow_main,
        allow_sub: prompt.allow_sub,
        builtin: prompt.builtin,
        locked: prompt.locked,
        source: prompt.source,
        plugin_id: prompt.plugin_id,
        app_id: prompt.app_id,
        edited: prompt.edited,
        created_at,
        updated_at,
    }
}
