//! Which models a vendor or a local server has, and what it says about them. What cannot chat is not offered.

use std::time::Duration;

use chatos_store::{ModelRecord, PriceTier, now_iso};
use chatos_tool::Fault;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::facts::{Known, KnownPrices, Source, apply};
use super::{Models, address, keys};
use crate::error::{Class, ModelError};
use crate::http::{Question, Secrets, ask_json};
use crate::protocol::{Protocol, protocol_of};

/// A vendor's list may take this long; nobody waits for it with anything but a form.
const PATIENCE: Duration = Duration::from_secs(10);
/// Models read of one list.
const MOST: usize = 2_000;
/// Models of a local server that are asked about one by one.
const MOST_SHOWN: usize = 64;

/// One model of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Offered {
    pub(super) id: String,
    /// Who serves it, where the list says so.
    pub(super) owner: String,
    pub(super) known: Known,
    /// It answers questions; `None` where only its name can tell.
    chats: Option<bool>,
}

impl Offered {
    fn named(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// Whether it is offered for chats: what the list says, by its name only as a last resort.
    pub(super) fn is_chat(&self) -> bool {
        self.chats.unwrap_or_else(|| !sounds_otherwise(&self.id))
    }
}

/// Names of models that are for something else than chats.
fn sounds_otherwise(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    let parts = [
        "embed",
        "rerank",
        "whisper",
        "transcribe",
        "moderation",
        "dall-e",
        "gpt-image",
        "imagen",
        "stable-diffusion",
        "text-to-speech",
        "davinci-002",
        "babbage-002",
    ];
    let words = ["tts", "bge", "e5", "veo", "sora", "gte", "asr"];
    parts.iter().any(|part| id.contains(part))
        || id.split(['-', '/', '_', ':', '.']).any(|word| words.contains(&word))
}

/// Whom to ask, and with what.
pub(super) struct Asking<'a> {
    pub(super) provider: &'a str,
    pub(super) base_url: &'a str,
    pub(super) secrets: &'a Secrets,
    pub(super) patience: Duration,
}

impl Models {
    /// Every chat model where this record's address leads, with a key that is not stored where one is given.
    pub async fn offered(
        &self,
        record: &ModelRecord,
        key: Option<Zeroizing<String>>,
    ) -> Result<Vec<ModelRecord>, ModelError> {
        let list = self.list_of(record, key).await?;
        let list = list.into_iter().filter(Offered::is_chat).map(|offered| {
            let mut model = ModelRecord { model: offered.id.clone(), name: offered.id, ..record.clone() };
            super::facts::forgotten(&mut model);
            apply(&mut model, &offered.known, Source::Vendor);
            model
        });
        Ok(list.collect())
    }

    /// The models of this record's vendor that ChatOS ships facts of, for a form without a key.
    pub fn shipped(&self, record: &ModelRecord) -> Vec<ModelRecord> {
        let vendor = super::facts::vendor_of_address(&record.base_url).unwrap_or_default();
        let ids = crate::catalog::ids(vendor).into_iter();
        ids.map(|id| {
            let mut model = ModelRecord { model: id.to_owned(), name: id.to_owned(), ..record.clone() };
            super::facts::forgotten(&mut model);
            model
        })
        .collect()
    }

    async fn list_of(
        &self,
        record: &ModelRecord,
        key: Option<Zeroizing<String>>,
    ) -> Result<Vec<Offered>, ModelError> {
        let find = keys::finder(self, record, key);
        let found = chatos_blocking::run(move || find()).await;
        let secrets = found.map_err(|error| ModelError::new(Class::Config, error.to_string()))??;
        let asking = Asking {
            provider: &record.provider,
            base_url: &record.base_url,
            secrets: &secrets,
            patience: PATIENCE,
        };
        self.read_list(&asking).await
    }

    /// Asks the vendor of each model what it says about it now. Models of one address and key are asked for
    /// together. What each answered is told; one that does not answer keeps what is known.
    pub async fn refresh(
        &self,
        written: Option<&str>,
    ) -> Result<Vec<(ModelRecord, Result<(), ModelError>)>, Fault> {
        let models: Vec<ModelRecord> = match written {
            Some(written) => vec![self.get(written)?],
            None => self.list()?,
        };
        let models: Vec<ModelRecord> = models.into_iter().filter(|model| model.provider != "demo").collect();
        let mut places: Vec<(&ModelRecord, Vec<&ModelRecord>)> = Vec::new();
        for model in &models {
            let same = |other: &ModelRecord| {
                other.base_url == model.base_url
                    && other.api_key_name == model.api_key_name
                    && other.provider == model.provider
                    && other.extra_headers == model.extra_headers
            };
            match places.iter_mut().find(|(first, _)| same(first)) {
                Some((_, all)) => all.push(model),
                None => places.push((model, vec![model])),
            }
        }
        let asked = places.iter().map(|(first, _)| self.list_of(first, None));
        let answers = futures_util::future::join_all(asked).await;
        let mut told = Vec::new();
        for ((_, models), answer) in places.iter().zip(answers) {
            for model in models {
                let listed = answer.as_ref().map_err(Clone::clone).map(|list| {
                    list.iter()
                        .find(|offered| is_id(&offered.id, &model.model))
                        .map(|found| found.known.clone())
                });
                let ended = listed.as_ref().map(|_| ()).map_err(Clone::clone);
                let now = self.revise(&model.id, |model| {
                    super::facts::apply_shipped(model);
                    if let Ok(Some(known)) = &listed {
                        apply(model, known, Source::Vendor);
                    }
                })?;
                told.push((now, ended));
            }
        }
        Ok(told)
    }

    pub(super) async fn read_list(&self, asking: &Asking<'_>) -> Result<Vec<Offered>, ModelError> {
        let protocol = protocol_of(asking.provider).ok_or_else(|| {
            ModelError::new(Class::Config, format!("there is no provider `{}`", asking.provider))
        })?;
        let origin = address::origin_of(asking.base_url);
        match (asking.provider, protocol) {
            (_, Protocol::Ollama) => self.ollama(asking, address::unversioned(asking.base_url)).await,
            ("lmstudio", _) => self.lm_studio(asking, &origin).await,
            (_, Protocol::Anthropic) => {
                let base = address::unversioned(asking.base_url);
                let list = self.look(asking, protocol, base, "v1/models?limit=1000").await?;
                Ok(read(&list["data"], anthropic))
            }
            (_, Protocol::Gemini) => {
                let list = self.look(asking, protocol, asking.base_url, "models?pageSize=1000").await?;
                Ok(read(&list["models"], gemini))
            }
            _ => self.openai(asking, protocol, &origin).await,
        }
    }

    async fn look(
        &self,
        asking: &Asking<'_>,
        protocol: Protocol,
        base_url: &str,
        path: &str,
    ) -> Result<Value, ModelError> {
        self.ask(asking, protocol, base_url, path, None).await
    }

    async fn ask(
        &self,
        asking: &Asking<'_>,
        protocol: Protocol,
        base_url: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, ModelError> {
        let Asking { provider, secrets, patience, .. } = *asking;
        let question = Question { protocol, provider, base_url, path, body, secrets, patience };
        ask_json(self.connections(), &question).await
    }

    async fn openai(
        &self,
        asking: &Asking<'_>,
        protocol: Protocol,
        origin: &str,
    ) -> Result<Vec<Offered>, ModelError> {
        let list = self.look(asking, protocol, asking.base_url, "models").await?;
        let items = if list["data"].is_array() { &list["data"] } else { &list["models"] };
        let mut offered = read(items, openai);
        // llama.cpp has one model; what it was started with is said elsewhere.
        if let [only] = offered.as_mut_slice()
            && only.owner == "llamacpp"
            && let Ok(props) = self.look(asking, protocol, origin, "props").await
        {
            only.known.loaded = tokens(&props["default_generation_settings"]["n_ctx"]);
            only.known.vision = props["modalities"]["vision"].as_bool().or(only.known.vision);
        }
        Ok(offered)
    }

    async fn ollama(&self, asking: &Asking<'_>, origin: &str) -> Result<Vec<Offered>, ModelError> {
        let protocol = Protocol::Ollama;
        let list = self.look(asking, protocol, origin, "api/tags").await?;
        let mut offered = read(&list["models"], |item| {
            let mut offered = Offered::named(item["name"].as_str()?);
            // Encoders; the only kind an older server tells apart.
            let family = item["details"]["family"].as_str().unwrap_or_default();
            offered.chats = family.contains("bert").then_some(false);
            Some(offered)
        });
        let loaded = self.look(asking, protocol, origin, "api/ps").await.unwrap_or_default();
        let bodies: Vec<Value> =
            offered.iter().take(MOST_SHOWN).map(|model| json!({ "model": model.id })).collect();
        let shown = bodies.iter().map(|body| self.ask(asking, protocol, origin, "api/show", Some(body)));
        let shown = futures_util::future::join_all(shown).await;
        for (model, shown) in offered.iter_mut().zip(shown) {
            let Ok(shown) = shown else { continue };
            let info = shown["model_info"].as_object().into_iter().flatten();
            let window = info.into_iter().find(|(name, _)| name.ends_with(".context_length"));
            model.known.context = window.and_then(|(_, value)| tokens(value));
            if let Some(can) = shown["capabilities"].as_array() {
                let can = |what: &str| can.iter().any(|word| word == what);
                model.chats = Some(can("completion"));
                model.known.tools = Some(can("tools"));
                model.known.vision = Some(can("vision"));
                model.known.reasoning = Some(can("thinking"));
            }
            let running = loaded["models"].as_array().into_iter().flatten();
            let running = running.into_iter().find(|item| item["name"] == model.id.as_str());
            // How much is loaded is chosen per call; what a running one has is kept for the warning only.
            model.known.context =
                match (model.known.context, running.and_then(|item| tokens(&item["context_length"]))) {
                    (None, loaded) => loaded,
                    (context, _) => context,
                };
        }
        Ok(offered)
    }

    async fn lm_studio(&self, asking: &Asking<'_>, origin: &str) -> Result<Vec<Offered>, ModelError> {
        let protocol = Protocol::OpenAi;
        if let Ok(list) = self.look(asking, protocol, origin, "api/v0/models").await
            && list["data"].is_array()
        {
            return Ok(read(&list["data"], lm_studio_v0));
        }
        if let Ok(list) = self.look(asking, protocol, origin, "api/v1/models").await
            && list["models"].is_array()
        {
            return Ok(read(&list["models"], lm_studio_v1));
        }
        // Something else answers there, or an older one.
        self.openai(asking, protocol, origin).await
    }
}

/// Whether a listed id is the model of a record; people write tags and prefixes or leave them out.
fn is_id(listed: &str, written: &str) -> bool {
    let plain = |id: &str| {
        let id = id.strip_prefix("models/").unwrap_or(id);
        id.strip_suffix(":latest").unwrap_or(id).to_owned()
    };
    plain(listed) == plain(written)
}

fn read(list: &Value, one: impl Fn(&Value) -> Option<Offered>) -> Vec<Offered> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let sound = |offered: &Offered| {
        let id = &offered.id;
        !id.is_empty() && id.len() <= 200 && !id.chars().any(char::is_control)
    };
    items.iter().filter_map(one).filter(sound).take(MOST).collect()
}

/// A number of tokens a stranger wrote: as a number or a text, never 0, never absurd.
fn tokens(value: &Value) -> Option<u32> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u32::try_from(number).ok().filter(|tokens| (1..=100_000_000).contains(tokens))
}

fn words(value: &Value) -> Option<Vec<&str>> {
    Some(value.as_array()?.iter().filter_map(Value::as_str).collect())
}

fn anthropic(item: &Value) -> Option<Offered> {
    let mut offered = Offered::named(item["id"].as_str()?);
    offered.known.context = tokens(&item["max_input_tokens"]);
    offered.known.output = tokens(&item["max_tokens"]);
    Some(offered)
}

fn gemini(item: &Value) -> Option<Offered> {
    let name = item["name"].as_str()?;
    let mut offered = Offered::named(name.strip_prefix("models/").unwrap_or(name));
    offered.known.context = tokens(&item["inputTokenLimit"]);
    offered.known.output = tokens(&item["outputTokenLimit"]);
    offered.known.reasoning = item["thinking"].as_bool();
    // Pictures and sound are made by the same call; the name tells those.
    let methods = words(&item["supportedGenerationMethods"]);
    if methods.is_some_and(|methods| !methods.contains(&"generateContent")) {
        offered.chats = Some(false);
    }
    Some(offered)
}

/// What OpenAI-shaped lists of many makers say: OpenRouter, Groq, Mistral, vLLM, llama.cpp and others.
fn openai(item: &Value) -> Option<Offered> {
    let mut offered = Offered::named(item["id"].as_str().or_else(|| item["name"].as_str())?);
    item["owned_by"].as_str().unwrap_or_default().clone_into(&mut offered.owner);
    let known = &mut offered.known;
    let top = &item["top_provider"];
    let windows = [
        &item["context_length"],
        &top["context_length"],
        &item["max_model_len"],
        &item["context_window"],
        &item["max_context_length"],
        &item["meta"]["n_ctx_train"],
    ];
    // Whoever serves it may serve less than the model could.
    known.context = windows.into_iter().filter_map(tokens).min();
    known.output = tokens(&top["max_completion_tokens"]).or_else(|| tokens(&item["max_completion_tokens"]));
    if let Some(kinds) = words(&item["architecture"]["input_modalities"]) {
        known.vision = Some(kinds.contains(&"image"));
        known.pdf = Some(kinds.contains(&"file"));
    }
    if let Some(kinds) = words(&item["architecture"]["output_modalities"]) {
        offered.chats = Some(kinds.contains(&"text"));
    }
    if let Some(can) = item["capabilities"].as_object() {
        let can = |what: &str| can.get(what).and_then(Value::as_bool);
        known.vision = can("vision").or(known.vision);
        known.tools = can("function_calling");
        known.reasoning = can("reasoning");
        offered.chats = can("completion_chat").or(offered.chats);
    }
    if let Some(takes) = words(&item["supported_parameters"]) {
        known.tools = Some(takes.contains(&"tools"));
        known.reasoning = Some(takes.contains(&"reasoning"));
    }
    known.prices = prices(&item["pricing"]);
    let kind = item["type"].as_str().unwrap_or_default();
    if ["embedding", "embeddings", "rerank", "tts", "transcribe", "image", "moderation", "audio"]
        .contains(&kind)
    {
        offered.chats = Some(false);
    }
    Some(offered)
}

/// Prices per token, as texts, as OpenRouter writes them.
fn prices(pricing: &Value) -> Option<KnownPrices> {
    let price = |name: &str| -> Option<f64> {
        let per_token = pricing[name].as_str()?.parse::<f64>().ok().or_else(|| pricing[name].as_f64())?;
        // A price of -1 means "it depends"; rounding keeps 0.000003 × 10⁶ at 3.
        (per_token.is_finite() && per_token >= 0.0).then(|| (per_token * 1e12).round() / 1e6)
    };
    let row = [price("prompt"), price("completion"), price("input_cache_read"), price("input_cache_write")];
    (row[0].is_some() && row[1].is_some()).then(|| KnownPrices {
        row,
        tiers: Vec::<PriceTier>::new(),
        as_of: now_iso().chars().take(10).collect(),
    })
}

fn lm_studio_v0(item: &Value) -> Option<Offered> {
    let mut offered = Offered::named(item["id"].as_str()?);
    let kind = item["type"].as_str().unwrap_or_default();
    offered.chats = (!kind.is_empty()).then(|| kind == "llm" || kind == "vlm");
    offered.known.vision = (!kind.is_empty()).then(|| kind == "vlm");
    offered.known.context = tokens(&item["max_context_length"]);
    offered.known.loaded = tokens(&item["loaded_context_length"]);
    offered.known.tools = words(&item["capabilities"]).map(|can| can.contains(&"tool_use"));
    Some(offered)
}

fn lm_studio_v1(item: &Value) -> Option<Offered> {
    let mut offered = Offered::named(item["key"].as_str().or_else(|| item["id"].as_str())?);
    let kind = item["type"].as_str().unwrap_or_default();
    offered.chats = (!kind.is_empty()).then(|| kind == "llm" || kind == "vlm");
    offered.known.context = tokens(&item["max_context_length"]);
    let loaded = item["loaded_instances"].as_array().into_iter().flatten();
    offered.known.loaded = loaded.filter_map(|one| tokens(&one["config"]["context_length"])).min();
    offered.known.vision = item["capabilities"]["vision"].as_bool();
    offered.known.tools = item["capabilities"]["trained_for_tool_use"].as_bool();
    Some(offered)
}

#[cfg(test)]
mod tests;
