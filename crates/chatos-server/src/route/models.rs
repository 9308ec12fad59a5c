//! Models for the page and the command line (agents §1).

use std::sync::Arc;
use std::time::Duration;

use chatos_host::Host;
use chatos_model::{
    ModelAnswer, ModelState, Models, PRESETS, Preset, Protocol, Recognised, Window, protocol_for, recognise,
};
use chatos_store::{ModelRecord, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::model::{
    DetectedModels, LastTest, ModelFactsView, ModelInput, ModelList, ModelProblem, ModelTestView, ModelView,
    OfferedModel, OfferedModels, Pasted, PresetList, PresetView, PriceTierView, RecognisedView, RefreshOrder,
    RefreshedModel, RefreshedModels,
};
use chatos_wire::status::Done;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::answer::Created;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Members, Path};
use crate::table::Routes;

/// Whoever adds a model waits at most so long for what its vendor says about it.
const AT_ONCE: Duration = Duration::from_millis(500);

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/models", "Models", list);
    routes.post("/api/v1/models", "Add a model", create);
    routes.get("/api/v1/models/presets", "Vendors that are known", presets);
    routes.post(
        "/api/v1/models/recognise",
        "What a pasted key or address belongs to; it is not stored",
        recognised,
    );
    routes.post("/api/v1/models/detect", "Look for model servers on this machine; nothing is added", detect);
    routes.post("/api/v1/models/test", "One minimal call to a model that is not saved", test_draft);
    routes.post("/api/v1/models/offered", "Chat models of a vendor or server, by its own list", offered);
    routes.post("/api/v1/models/refresh", "Ask vendors what they say about the models", refresh);
    routes.get("/api/v1/models/{id}", "One model", read);
    routes.put("/api/v1/models/{id}", "Change a model", update);
    routes.delete("/api/v1/models/{id}", "Remove a model", remove);
    routes.post("/api/v1/models/{id}/default", "Make a model the default", set_default);
    routes.post("/api/v1/models/{id}/test", "One minimal call", test);
    routes.post("/api/v1/models/{id}/reset", "Forget what a person said about its facts", reset);
}

async fn list(app: App, cx: Caller, (): ()) -> Result<ModelList, ApiError> {
    let lang = cx.lang;
    let items = blocking(app.host(), move |host| views(host, host.models().list()?, lang)).await?;
    Ok(ModelList { items })
}

async fn read(app: App, cx: Caller, Path(id): Path<String>) -> Result<ModelView, ApiError> {
    let lang = cx.lang;
    blocking(app.host(), move |host| view(host, host.models().get(&id)?, lang)).await
}

async fn create(
    app: App,
    cx: Caller,
    Members(mut body, _): Members<ModelInput>,
) -> Result<Created<ModelView>, ApiError> {
    let lang = cx.lang;
    let view = blocking(app.host(), move |host| {
        let key = take_key(&mut body)?;
        // Checked before the key is stored: a refused model leaves no secret behind.
        let draft = host.models().drafted(None, body.clone())?;
        let name = name_key(&mut body, &draft, key.is_some());
        keep_key(host, &name, key)?;
        view(host, host.models().create(body)?, lang)
    })
    .await?;
    // What its vendor says about it is part of the answer where it comes at once, as from this machine; else it comes when it
    // comes, and the page hears of it.
    let (models, id) = (app.host().models().clone(), view.id.clone());
    let (heard, soon) = tokio::sync::oneshot::channel();
    app.host().life().spawn(Box::pin(async move {
        match models.refresh(Some(&id)).await {
            // Nobody waits any more: the page is told.
            Ok(_) => drop(heard.send(())),
            Err(fault) => tracing::info!(%fault, "nothing was heard about a new model"),
        }
    }));
    if !matches!(tokio::time::timeout(AT_ONCE, soon).await, Ok(Ok(()))) {
        return Ok(Created(view));
    }
    blocking(app.host(), move |host| self::view(host, host.models().get(&view.id)?, lang)).await.map(Created)
}

async fn update(
    app: App,
    cx: Caller,
    (Path(id), Members(mut body, _)): (Path<String>, Members<ModelInput>),
) -> Result<ModelView, ApiError> {
    let lang = cx.lang;
    let view = blocking(app.host(), move |host| {
        let key = take_key(&mut body)?;
        let before = host.models().get(&id)?;
        let draft = host.models().drafted(Some(&before), body.clone())?;
        let name = name_key(&mut body, &draft, key.is_some());
        keep_key(host, &name, key)?;
        view(host, host.models().update(&before.id, body)?, lang)
    })
    .await?;
    Ok(view)
}

async fn remove(app: App, _: Caller, Path(id): Path<String>) -> Result<Done, ApiError> {
    blocking(app.host(), move |host| host.models().remove(&id)).await?;
    Ok(Done { ok: true })
}

async fn set_default(app: App, cx: Caller, Path(id): Path<String>) -> Result<ModelView, ApiError> {
    let lang = cx.lang;
    blocking(app.host(), move |host| view(host, host.models().set_default(&id)?, lang)).await
}

async fn test(app: App, _: Caller, Path(id): Path<String>) -> Result<ModelTestView, ApiError> {
    let model = blocking(app.host(), move |host| host.models().get(&id)).await?;
    Ok(tested(app.host().models().test(&model).await?))
}

async fn test_draft(
    app: App,
    _: Caller,
    Members(mut body, _): Members<ModelInput>,
) -> Result<ModelTestView, ApiError> {
    let (model, key) = blocking(app.host(), move |host| {
        let key = take_key(&mut body)?;
        Ok((host.models().drafted(None, body)?, key))
    })
    .await?;
    Ok(tested(app.host().models().test_with(&model, key).await?))
}

async fn reset(app: App, cx: Caller, Path(id): Path<String>) -> Result<ModelView, ApiError> {
    let lang = cx.lang;
    let model = blocking(app.host(), move |host| host.models().reset(&id)).await?;
    app.host().models().refresh(Some(&model.id)).await?;
    blocking(app.host(), move |host| view(host, host.models().get(&model.id)?, lang)).await
}

async fn offered(
    app: App,
    _: Caller,
    Members(mut body, _): Members<ModelInput>,
) -> Result<OfferedModels, ApiError> {
    // Only the place counts here; a model has a name and an id to be checked.
    for member in ["name", "model"] {
        body.insert(member.to_owned(), Value::from("?"));
    }
    let (draft, key) = blocking(app.host(), move |host| {
        let key = take_key(&mut body)?;
        Ok((host.models().drafted(None, body)?, key))
    })
    .await?;
    let answer = app.host().models().offered(&draft, key).await;
    let (models, source, problem) = match answer {
        Ok(models) => (models, "vendor", None),
        Err(error) => {
            let problem = ModelProblem { code: error.class.as_str().to_owned(), message: error.message };
            (app.host().models().shipped(&draft), "catalogue", Some(problem))
        }
    };
    let known = blocking(app.host(), |host| host.models().list()).await?;
    let items = models.into_iter().map(|model| OfferedModel {
        added: known.iter().any(|other| other.base_url == model.base_url && other.model == model.model),
        id: model.model,
        context_tokens: model.context_tokens,
        supports_vision: model.supports_vision,
        supports_reasoning: model.supports_reasoning,
        supports_tools: model.supports_tools,
        price_input: model.price_input,
        price_output: model.price_output,
        currency: model.currency,
    });
    Ok(OfferedModels { items: items.collect(), source: source.to_owned(), problem })
}

async fn refresh(app: App, _: Caller, Body(order): Body<RefreshOrder>) -> Result<RefreshedModels, ApiError> {
    let told = app.host().models().refresh(order.model.as_deref()).await?;
    let items = told.into_iter().map(|(model, ended)| {
        let window = app.host().models().window(&model);
        RefreshedModel {
            id: model.id,
            name: model.name,
            ok: ended.is_ok(),
            problem: ended
                .err()
                .map(|error| ModelProblem { code: error.class.as_str().to_owned(), message: error.message }),
            window: window.tokens,
            window_source: window.source.as_str().to_owned(),
        }
    });
    Ok(RefreshedModels { items: items.collect() })
}

async fn detect(app: App, _: Caller, (): ()) -> Result<DetectedModels, ApiError> {
    Ok(DetectedModels { found: app.host().models().detect().await? })
}

async fn presets(_: App, _: Caller, (): ()) -> Result<PresetList, ApiError> {
    Ok(PresetList { items: PRESETS.iter().map(preset_view).collect() })
}

async fn recognised(_: App, _: Caller, Body(pasted): Body<Pasted>) -> Result<RecognisedView, ApiError> {
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
    Ok(match recognise(&text) {
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

/// What a key is kept as: the name that was given, else one by its vendor or address.
fn name_key(body: &mut Map<String, Value>, draft: &ModelRecord, given: bool) -> String {
    if !given || !draft.api_key_name.is_empty() {
        return draft.api_key_name.clone();
    }
    let name = Models::key_name(&draft.base_url);
    body.insert("apiKeyName".to_owned(), Value::from(name.as_str()));
    name
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
    host.secrets().set(name, &key, None).map(|_| ())
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
    let mut states = host.models().states(&models, &|| host.tool_schemas())?;
    let one = |model: ModelRecord, state: ModelState, window: Window| ModelView {
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
        facts: facts(&model, window),
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
        sources: model.sources,
    };
    Ok(models
        .into_iter()
        .map(|model| {
            let state = states.remove(&model.id).unwrap_or_default();
            let window = host.models().window(&model);
            one(model, state, window)
        })
        .collect())
}

fn facts(model: &ModelRecord, window: Window) -> ModelFactsView {
    let known = &model.facts;
    let tiers = known.price_tiers.iter().map(|tier| PriceTierView {
        above: tier.above,
        input: tier.input,
        output: tier.output,
        cache_read: tier.cache_read,
        cache_write: tier.cache_write,
    });
    ModelFactsView {
        api: protocol_for(model).map(Protocol::as_str).unwrap_or_default().to_owned(),
        window: window.tokens,
        window_source: window.source.as_str().to_owned(),
        pdf: known.pdf,
        efforts: known.efforts.clone(),
        cache_control: known.cache_control,
        max_tools: known.max_tools,
        price_tiers: tiers.collect(),
        prices_as_of: known.prices_as_of.clone(),
    }
}
