//! Texts for models.

use chatos_store::{SystemPrompt, iso_from_ms};
use chatos_wire::agent::{SystemPromptInput, SystemPromptList, SystemPromptView};
use chatos_wire::status::Done;

use crate::answer::Created;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Members, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/system-prompts", "Texts for models", list);
    routes.post("/api/v1/system-prompts", "Make a text", create);
    routes.get("/api/v1/system-prompts/{id}", "One text", read);
    routes.put("/api/v1/system-prompts/{id}", "Change a text", update);
    routes.delete("/api/v1/system-prompts/{id}", "Remove a text", remove);
    routes.post("/api/v1/system-prompts/{id}/reset", "Give a built-in text back its own content", reset);
}

async fn list(app: App, _: Caller, (): ()) -> Result<SystemPromptList, ApiError> {
    let prompts = blocking(app.host(), |host| host.agents().system_prompts()).await?;
    Ok(SystemPromptList { items: prompts.into_iter().map(view).collect() })
}

async fn read(app: App, _: Caller, Path(id): Path<String>) -> Result<SystemPromptView, ApiError> {
    Ok(view(blocking(app.host(), move |host| host.agents().system_prompt(&id)).await?))
}

async fn create(
    app: App,
    _: Caller,
    Members(body, _): Members<SystemPromptInput>,
) -> Result<Created<SystemPromptView>, ApiError> {
    let prompt = blocking(app.host(), move |host| host.agents().create_prompt(body)).await?;
    Ok(Created(view(prompt)))
}

async fn update(
    app: App,
    _: Caller,
    (Path(id), Members(body, _)): (Path<String>, Members<SystemPromptInput>),
) -> Result<SystemPromptView, ApiError> {
    Ok(view(blocking(app.host(), move |host| host.agents().update_prompt(&id, body)).await?))
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.agents().remove_prompt(&id)).await?;
    Ok(Done { ok: true })
}

async fn reset(app: App, _: Caller, Path(id): Path<String>) -> Result<SystemPromptView, ApiError> {
    Ok(view(blocking(app.host(), move |host| host.agents().reset_prompt(&id)).await?))
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
