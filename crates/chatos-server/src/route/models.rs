//! Models for the page and the command line (agents §1).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::routing::{get, post};
use chatos_host::{
    ErrorCode, Fault, Host, Lang, ModelAnswer, ModelRecord, ModelState, PRESETS, Preset, Recognised, Text,
    iso_from_ms, recognise,
};
use chatos_wire::model::{
    DetectedModels, LastTest, ModelInput, ModelList, ModelProblem, ModelTestView, ModelView, Pasted,
    PresetList, PresetView, RecognisedView,
};
use chatos_wire::status::{Done, Empty};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::api::{ApiError, Body, Routes, lang_of};
use crate::app::App;

pub(crate) fn add(routes: &mut Routes) {
    let path = "/api/v1/models";
    routes.read::<ModelList>(path, "Models", &[], get(list).post(create));
    routes.document::<ModelInput, ModelView>(Method::POST, path, "Add a model");
    routes.read::<PresetList>("/api/v1/models/presets", "Vendors that are known", &[], get(presets));
    routes.write::<Pasted, RecognisedView>(
        Method::POST,
        "/api/v1/models/recognise",
        "What a pasted key or address belongs to; it is not stored",
        200,
        post(recognised),
    );
    routes.write::<Empty, DetectedModels>(
        Method::POST,
        "/api/v1/models/detect",
        "Look for model servers on this machine; nothing is added",
        200,
        post(detect),
    );
    routes.write::<ModelInput, ModelTestView>(
        Method::POST,
        "/api/v1/models/test",
        "One minimal call to a model that is not saved",
        200,
        post(test_draft),
    );
    let one = "/api/v1/models/{id}";
    routes.read::<ModelView>(one, "One model", &[], get(read).put(update).delete(remove));
    routes.document::<ModelInput, ModelView>(Method::PUT, one, "Change a model");
    routes.document_act::<Done>(Method::DELETE, one, "Remove a model");
    routes.write::<Empty, ModelView>(
        Method::POST,
        "/api/v1/models/{id}/default",
        "Make a model the default",
        200,
        post(set_default),
    );
    routes.write::<Empty, ModelTestView>(
        Method::POST,
        "/api/v1/models/{id}/test",
        "One minimal call",
        200,
        post(test),
    );
}

/// As `blocking`, with the host as models want it.
async fn work<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Arc<Host>) -> Result<T, Fault> + Send + 'static,
) -> Result<T, ApiError> {
    let host = Arc::clone(app.host());
    let done = tokio::task::spawn_blocking(move || work(&host)).await;
    let result = done.map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))?;
    Ok(result?)
}

async fn list(State(app): State<App>, headers: HeaderMap) -> Result<Json<ModelList>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let items = work(&app, move |host| views(host, host.models().list()?, lang)).await?;
    Ok(Json(ModelList { items }))
}

async fn read(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<ModelView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(work(&app, move |host| view(host, host.models().get(&id)?, lang)).await?))
}

async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<(StatusCode, Json<ModelView>), ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let view = work(&app, move |host| {
        let key = take_key(&mut body)?;
        // Checked before the key is stored: a refused model leaves no secret behind.
        let draft = host.models().drafted(None, body.clone())?;
        keep_key(host, &draft.api_key_name, key)?;
        view(host, host.models().create(body)?, lang)
    })
    .await?;
    Ok((StatusCode::CREATED, Json(view)))
}

async fn update(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Json<ModelView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    let view = work(&app, move |host| {
        let key = take_key(&mut body)?;
        let before = host.models().get(&id)?;
        let draft = host.models().drafted(Some(&before), body.clone())?;
        keep_key(host, &draft.api_key_name, key)?;
        view(host, host.models().update(&before.id, body)?, lang)
    })
    .await?;
    Ok(Json(view))
}

async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Done>, ApiError> {
    work(&app, move |host| host.models().remove(&id)).await?;
    Ok(Json(Done { ok: true }))
}

async fn set_default(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<ModelView>, ApiError> {
    let lang = lang_of(&headers, app.host().lang());
    Ok(Json(work(&app, move |host| view(host, host.models().set_default(&id)?, lang)).await?))
}

async fn test(State(app): State<App>, Path(id): Path<String>) -> Result<Json<ModelTestView>, ApiError> {
    let model = work(&app, move |host| host.models().get(&id)).await?;
    Ok(Json(tested(app.host().models().test(&model).await?)))
}

async fn test_draft(
    State(app): State<App>,
    Body(mut body): Body<Map<String, Value>>,
) -> Result<Json<ModelTestView>, ApiError> {
    let (model, key) = work(&app, move |host| {
        let key = take_key(&mut body)?;
        Ok((host.models().drafted(None, body)?, key))
    })
    .await?;
    Ok(Json(tested(app.host().models().test_with(&model, key).await?)))
}

async fn detect(State(app): State<App>) -> Result<Json<DetectedModels>, ApiError> {
    Ok(Json(DetectedModels { found: app.host().models().detect().await? }))
}

async fn presets() -> Json<PresetList> {
    Json(PresetList { items: PRESETS.iter().map(preset_view).collect() })
}

async fn recognised(Body(pasted): Body<Pasted>) -> Json<RecognisedView> {
    let text = Zeroizing::new(pasted.text);
    let of = |kind: &str, preset: &Preset| RecognisedView {
        kind: kind.to_owned(),
        provider: preset.provider.to_owned(),
        name: preset.name.to_owned(),
        base_url: preset.base_url.to_owned(),
        api_key_name: preset.api_key_name.to_owned(),
        models: preset.models.iter().map(|model| (*model).to_owned()).collect(),
        others: Vec::new(),
    };
    Json(match recognise(&text) {
        Recognised::Key(presets) => match presets.split_first() {
            Some((first, others)) => RecognisedView {
                others: others.iter().map(|preset| preset_view(preset)).collect(),
                ..of("key", first)
            },
            None => RecognisedView { kind: "nothing".to_owned(), ..RecognisedView::default() },
        },
        Recognised::Url { base_url, preset: Some(preset) } => {
            RecognisedView { base_url, ..of("url", preset) }
        }
        Recognised::Url { base_url, preset: None } => RecognisedView {
            kind: "url".to_owned(),
            provider: "openai_compatible".to_owned(),
            base_url,
            ..RecognisedView::default()
        },
        Recognised::Nothing => RecognisedView { kind: "nothing".to_owned(), ..RecognisedView::default() },
    })
}

fn preset_view(preset: &Preset) -> PresetView {
    PresetView {
        id: preset.id.to_owned(),
        name: preset.name.to_owned(),
        provider: preset.provider.to_owned(),
        base_url: preset.base_url.to_owned(),
        api_key_name: preset.api_key_name.to_owned(),
        models: preset.models.iter().map(|model| (*model).to_owned()).collect(),
    }
}

/// Takes a key out of a body before anybody else sees it.
fn take_key(body: &mut Map<String, Value>) -> Result<Option<Zeroizing<String>>, Fault> {
    match body.remove("apiKey") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(key)) => {
            Ok(Some(Zeroizing::new(key.trim().to_owned())).filter(|key| !key.is_empty()))
        }
        Some(_) => Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("/apiKey: must be a text", "/apiKey：必须是文本"),
        )),
    }
}

fn keep_key(host: &Host, name: &str, key: Option<Zeroizing<String>>) -> Result<(), Fault> {
    let Some(key) = key else { return Ok(()) };
    if name.is_empty() {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("a key needs a name: give `apiKeyName`", "密钥需要名称：请填写 `apiKeyName`"),
        )
        .hint(Text::fixed("for example OPENAI_API_KEY", "例如 OPENAI_API_KEY")));
    }
    host.set_secret(name, &key, None).map(|_| ())
}

fn tested(answer: ModelAnswer) -> ModelTestView {
    ModelTestView {
        ok: answer.ok,
        class: answer.class.map(str::to_owned),
        message: answer.message,
        latency_ms: answer.latency_ms,
    }
}

fn view(host: &Arc<Host>, model: ModelRecord, lang: Lang) -> Result<ModelView, Fault> {
    let none = || Fault::new(ErrorCode::Internal, Text::same("a model without a view"));
    views(host, vec![model], lang)?.pop().ok_or_else(none)
}

fn views(host: &Arc<Host>, models: Vec<ModelRecord>, lang: Lang) -> Result<Vec<ModelView>, Fault> {
    let mut states = host.models().states(&models)?;
    let one = |model: ModelRecord, state: ModelState| ModelView {
        usable: state.usable,
        problem: state
            .problem
            .map(|(code, text)| ModelProblem { code: code.to_owned(), message: text.get(lang).to_owned() }),
        warnings: state.warnings.iter().map(|text| text.get(lang).to_owned()).collect(),
        last_test: state.last_test.map(|test| LastTest {
            ok: test.ok,
            class: Some(test.class).filter(|class| !class.is_empty()),
            message: Some(test.message).filter(|message| !message.is_empty()),
            latency_ms: test.latency_ms,
            at: iso_from_ms(test.tested_at),
        }),
        created_at: iso_from_ms(model.created_at),
        updated_at: iso_from_ms(model.updated_at),
        id: model.id,
        name: model.name,
        provider: model.provider,
        model: model.model,
        base_url: model.base_url,
        api_key_name: model.api_key_name,
        description: model.description,
        is_default: model.is_default,
        enabled: model.enabled,
        context_tokens: model.context_tokens,
        max_output_tokens: model.max_output_tokens,
        temperature: model.temperature,
        reasoning_effort: model.reasoning_effort,
        supports_vision: model.supports_vision,
        supports_reasoning: model.supports_reasoning,
        supports_tools: model.supports_tools,
        supports_parallel_tools: model.supports_parallel_tools,
        tool_followup: model.tool_followup,
        extra_headers: model.extra_headers,
        extra_body: model.extra_body,
        price_input: model.price_input,
        price_output: model.price_output,
        price_cache_read: model.price_cache_read,
        price_cache_write: model.price_cache_write,
        currency: model.currency,
        source: model.source,
    };
    Ok(models
        .into_iter()
        .map(|model| {
            let state = states.remove(&model.id).unwrap_or_default();
            one(model, state)
        })
        .collect())
}
