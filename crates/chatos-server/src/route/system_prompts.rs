//! Texts for models.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::{SystemPrompt, iso_from_ms};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::tasks::blocking;
use crate::api::{ApiError, Body, Done, Empty, Routes};
use crate::app::App;

/// All texts, built-in ones first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PromptList {
    items: Vec<SystemPromptView>,
}

/// One text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SystemPromptView {
    #[serde(flatten)]
    prompt: SystemPrompt,
    created_at: String,
    updated_at: String,
}

/// What may be said about a text; what is absent stays as it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only described; the members are read one by one")]
pub(crate) struct SystemPromptInput {
    name: Option<String>,
    title: Option<String>,
    content: Option<String>,
    /// Empty, `zh` or `en`.
    lang: Option<String>,
    allow_main: Option<bool>,
    allow_sub: Option<bool>,
}

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/system-prompts";
    routes.read::<PromptList>(path, "Texts for models", &[], get(list).post(create));
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

async fn list(State(app): State<App>) -> Result<Json<PromptList>, ApiError> {
    let prompts = blocking(&app, |host| host.agents().system_prompts()).await?;
    Ok(Json(PromptList { items: prompts.into_iter().map(view).collect() }))
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
    SystemPromptView { prompt, created_at, updated_at }
}
