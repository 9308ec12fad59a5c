//! Model records (agents §1.1). Exactly one row is the default: every change that could leave none
//! or two decides in its own transaction who it is.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

/// Id of the model that needs nothing.
pub const DEMO_MODEL: &str = "model_demo";

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "field for field the documented JSON")]
pub struct ModelRecord {
    pub id: String,
    pub name: String,
    pub provider: String,
    /// The provider's own name of it.
    pub model: String,
    pub base_url: String,
    /// A secret's name, or a variable's; may be empty.
    pub api_key_name: String,
    pub description: String,
    pub is_default: bool,
    pub enabled: bool,
    /// 0: as the provider says.
    pub context_tokens: u32,
    /// 0: as the provider says.
    pub max_output_tokens: u32,
    pub temperature: Option<f64>,
    /// Empty, `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`.
    pub reasoning_effort: String,
    pub supports_vision: bool,
    pub supports_reasoning: bool,
    pub supports_tools: bool,
    pub supports_parallel_tools: bool,
    /// `auto`, or `none`: tools are offered only until the first tool round.
    pub tool_followup: String,
    /// Values may be `secret:<name>`.
    pub extra_headers: Map<String, Value>,
    /// Values may be `secret:<name>`.
    pub extra_body: Map<String, Value>,
    /// Per million tokens; unknown is not free.
    pub price_input: Option<f64>,
    pub price_output: Option<f64>,
    pub price_cache_read: Option<f64>,
    pub price_cache_write: Option<f64>,
    pub currency: String,
    /// `user`, `builtin`, `detected` or `import`.
    pub source: String,
    /// Who said what about it, by member: `person`, `vendor`, `learned`, `catalogue` or `guess`; nobody where absent.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// What is known about it besides.
    #[serde(default)]
    pub facts: ModelFacts,
    #[serde(skip)]
    pub created_at: i64,
    #[serde(skip)]
    pub updated_at: i64,
}

impl ModelRecord {
    /// A record with everything at its default.
    pub fn new(name: &str, provider: &str, model: &str) -> Self {
        Self {
            id: uuid::Uuid::now_v7().to_string(),
            name: name.to_owned(),
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: String::new(),
            api_key_name: String::new(),
            description: String::new(),
            is_default: false,
            enabled: true,
            context_tokens: 0,
            max_output_tokens: 0,
            temperature: None,
            reasoning_effort: String::new(),
            supports_vision: false,
            supports_reasoning: false,
            supports_tools: true,
            supports_parallel_tools: true,
            tool_followup: "auto".to_owned(),
            extra_headers: Map::new(),
            extra_body: Map::new(),
            price_input: None,
            price_output: None,
            price_cache_read: None,
            price_cache_write: None,
            currency: String::new(),
            source: "user".to_owned(),
            sources: BTreeMap::new(),
            facts: ModelFacts::default(),
            created_at: 0,
            updated_at: 0,
        }
    }
}

/// Facts of a model that nobody types in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelFacts {
    /// It reads PDF files.
    pub pdf: bool,
    /// Words for how hard it may think.
    pub efforts: Vec<String>,
    /// Its thinking has to be sent back with tool results.
    pub reasoning_replay: bool,
    /// It takes marks for what to cache.
    pub cache_control: bool,
    /// Tools of one request; 0: unknown.
    pub max_tools: u32,
    /// Other prices for calls with more input.
    pub price_tiers: Vec<PriceTier>,
    /// The day the prices are of, as `2026-01-31`.
    pub prices_as_of: String,
}

/// Prices of calls whose whole input is above a number of tokens, per million tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the words say it")]
pub struct PriceTier {
    pub above: u64,
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// How the last test call of a model ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub struct ModelTest {
    pub ok: bool,
    /// The class of the failure; empty when it worked.
    pub class: String,
    pub message: String,
    pub latency_ms: i64,
    pub tested_at: i64,
}

const COLUMNS: &str = "id, name, provider, model, base_url, api_key_name, description, is_default, enabled,
  context_tokens, max_output_tokens, temperature, reasoning_effort, supports_vision, supports_reasoning,
  supports_tools, supports_parallel_tools, tool_followup, extra_headers, extra_body, price_input, price_output,
  price_cache_read, price_cache_write, currency, source, created_at, updated_at, sources, facts";

fn record(row: &Row<'_>) -> rusqlite::Result<ModelRecord> {
    let object = |text: Option<String>| {
        text.and_then(|text| serde_json::from_str::<Map<String, Value>>(&text).ok()).unwrap_or_default()
    };
    let followup: String = row.get(17)?;
    let sources: Option<String> = row.get(28)?;
    let facts: Option<String> = row.get(29)?;
    let mut model = ModelRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        provider: row.get(2)?,
        model: row.get(3)?,
        base_url: row.get(4)?,
        api_key_name: row.get(5)?,
        description: row.get(6)?,
        is_default: row.get(7)?,
        enabled: row.get(8)?,
        context_tokens: row.get::<_, Option<u32>>(9)?.unwrap_or_default(),
        max_output_tokens: row.get::<_, Option<u32>>(10)?.unwrap_or_default(),
        temperature: row.get(11)?,
        reasoning_effort: row.get(12)?,
        supports_vision: row.get::<_, Option<bool>>(13)?.unwrap_or(false),
        supports_reasoning: row.get::<_, Option<bool>>(14)?.unwrap_or(false),
        supports_tools: row.get::<_, Option<bool>>(15)?.unwrap_or(true),
        supports_parallel_tools: row.get::<_, Option<bool>>(16)?.unwrap_or(true),
        tool_followup: if followup == "none" { followup } else { "auto".to_owned() },
        extra_headers: object(row.get(18)?),
        extra_body: object(row.get(19)?),
        price_input: row.get(20)?,
        price_output: row.get(21)?,
        price_cache_read: row.get(22)?,
        price_cache_write: row.get(23)?,
        currency: row.get(24)?,
        source: row.get(25)?,
        created_at: row.get(26)?,
        updated_at: row.get(27)?,
        sources: BTreeMap::new(),
        facts: facts.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
    };
    model.sources = match sources {
        Some(text) => serde_json::from_str(&text).unwrap_or_default(),
        None => typed_in(&model),
    };
    Ok(model)
}

/// Of a row from before sources were kept: what is there was typed in by a person.
fn typed_in(model: &ModelRecord) -> BTreeMap<String, String> {
    let said = [
        ("contextTokens", model.context_tokens > 0),
        ("maxOutputTokens", model.max_output_tokens > 0),
        ("supportsVision", model.supports_vision),
        ("supportsReasoning", model.supports_reasoning),
        ("supportsTools", !model.supports_tools),
        ("prices", model.price_input.is_some() || model.price_output.is_some()),
    ];
    let said = said.into_iter().filter(|(_, said)| *said);
    said.map(|(member, _)| (member.to_owned(), "person".to_owned())).collect()
}

impl Store {
    /// All models, the built-in one last.
    pub fn models(&self) -> Result<Vec<ModelRecord>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM models ORDER BY source = 'builtin', name COLLATE NOCASE"
            ))?;
            Ok(statement.query_map([], record)?.collect::<Result<_, _>>()?)
        })
    }

    /// The model with this id or name.
    pub fn model(&self, written: &str) -> Result<Option<ModelRecord>, StoreError> {
        self.read(|connection| {
            // An id wins over a name that looks like one.
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM models WHERE id = ?1 OR name = ?1 COLLATE NOCASE ORDER BY id <> ?1 LIMIT 1"
            ))?;
            Ok(statement.query_row([written], record).optional()?)
        })
    }

    /// The default model; `None` only in a state that was never seeded.
    pub fn default_model(&self) -> Result<Option<ModelRecord>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached(&format!("SELECT {COLUMNS} FROM models WHERE is_default = 1"))?;
            Ok(statement.query_row([], record).optional()?)
        })
    }

    /// Adds a model. It becomes the default when the built-in one is the only other (agents §1.4),
    /// or when it asks to. Returns the row as it is now.
    pub fn add_model(&self, mut new: ModelRecord) -> Result<ModelRecord, StoreError> {
        self.write(move |connection| {
            let others: u32 =
                connection.query_row("SELECT count(*) FROM models WHERE source <> 'builtin'", [], |row| {
                    row.get(0)
                })?;
            let first = others == 0 && new.source != "builtin";
            let wanted = (new.is_default || first) && new.enabled;
            new.is_default = false;
            let now = now_ms();
            (new.created_at, new.updated_at) = (now, now);
            put(connection, &new)?;
            if wanted {
                make_default(connection, &new.id)?;
            }
            ensure_default(connection)?;
            get(connection, &new.id)
        })
    }

    /// Replaces a model. A default that is switched off hands over to the built-in one: no text goes
    /// to another vendor because of it.
    pub fn update_model(&self, mut changed: ModelRecord) -> Result<ModelRecord, StoreError> {
        self.write(move |connection| {
            let before = get(connection, &changed.id)?;
            let wanted = changed.is_default && changed.enabled;
            changed.is_default = before.is_default && changed.enabled;
            changed.created_at = before.created_at;
            changed.updated_at = now_ms();
            put(connection, &changed)?;
            if wanted {
                make_default(connection, &changed.id)?;
            }
            ensure_default(connection)?;
            get(connection, &changed.id)
        })
    }

    /// Makes a model the default.
    pub fn set_default_model(&self, id: &str) -> Result<ModelRecord, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            if !get(connection, &id)?.enabled {
                return Err(StoreError::new(StoreErrorKind::Conflict, "the model is disabled"));
            }
            make_default(connection, &id)?;
            get(connection, &id)
        })
    }

    /// Removes a model; true when there was one. The built-in one takes over as default where needed.
    pub fn remove_model(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let gone =
                connection.execute("DELETE FROM models WHERE id = ?1 AND source <> 'builtin'", [&id])? > 0;
            ensure_default(connection)?;
            Ok(gone)
        })
    }

    /// Writes the built-in model as this binary has it, and a default where there is none.
    pub fn seed_demo_model(&self, mut demo: ModelRecord) -> Result<(), StoreError> {
        self.write(move |connection| {
            let before = get(connection, &demo.id).ok();
            demo.is_default = before.as_ref().is_some_and(|before| before.is_default);
            // A person's model may have the name.
            connection.execute(
                "UPDATE models SET name = name || ' (2)' WHERE name = ?1 COLLATE NOCASE AND id <> ?2",
                [&demo.name, &demo.id],
            )?;
            let now = now_ms();
            demo.created_at = before.map_or(now, |before| before.created_at);
            demo.updated_at = now;
            put(connection, &demo)?;
            ensure_default(connection)
        })
    }

    /// How the last test of each model ended.
    pub fn model_tests(&self) -> Result<Vec<(String, ModelTest)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT model_id, ok, class, message, coalesce(latency_ms, 0), tested_at FROM model_test_results",
            )?;
            let rows = statement.query_map([], |row| {
                let test = ModelTest {
                    ok: row.get(1)?,
                    class: row.get(2)?,
                    message: row.get(3)?,
                    latency_ms: row.get(4)?,
                    tested_at: row.get(5)?,
                };
                Ok((row.get(0)?, test))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Notes how a test ended. A model that is gone meanwhile is nobody's loss.
    pub fn put_model_test(&self, id: &str, test: ModelTest) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO model_test_results (model_id, ok, class, message, latency_ms, tested_at)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM models WHERE id = ?1)
                 ON CONFLICT (model_id) DO UPDATE SET ok = excluded.ok, class = excluded.class,
                   message = excluded.message, latency_ms = excluded.latency_ms, tested_at = excluded.tested_at",
                params![id, test.ok, test.class, test.message, test.latency_ms, test.tested_at],
            )?;
            Ok(())
        })
    }
}

fn get(connection: &Connection, id: &str) -> Result<ModelRecord, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM models WHERE id = ?1"))?;
    Ok(statement.query_row([id], record)?)
}

fn put(connection: &Connection, model: &ModelRecord) -> Result<(), StoreError> {
    let object = |map: &Map<String, Value>| {
        (!map.is_empty()).then(|| serde_json::Value::Object(map.clone()).to_string())
    };
    let marks: Vec<String> = (1..=30).map(|n| format!("?{n}")).collect();
    // Not `INSERT OR REPLACE`: that would delete the row first, and its test results with it.
    let sets: Vec<String> = COLUMNS
        .split(',')
        .map(str::trim)
        .filter(|column| *column != "id")
        .map(|column| format!("{column} = excluded.{column}"))
        .collect();
    let sql = format!(
        "INSERT INTO models ({COLUMNS}) VALUES ({}) ON CONFLICT (id) DO UPDATE SET {}",
        marks.join(", "),
        sets.join(", ")
    );
    connection.prepare_cached(&sql)?.execute(params![
        model.id,
        model.name,
        model.provider,
        model.model,
        model.base_url,
        model.api_key_name,
        model.description,
        model.is_default,
        model.enabled,
        model.context_tokens,
        model.max_output_tokens,
        model.temperature,
        model.reasoning_effort,
        model.supports_vision,
        model.supports_reasoning,
        model.supports_tools,
        model.supports_parallel_tools,
        model.tool_followup,
        object(&model.extra_headers),
        object(&model.extra_body),
        model.price_input,
        model.price_output,
        model.price_cache_read,
        model.price_cache_write,
        model.currency,
        model.source,
        model.created_at,
        model.updated_at,
        serde_json::to_string(&model.sources).unwrap_or_default(),
        serde_json::to_string(&model.facts).unwrap_or_default(),
    ])?;
    Ok(())
}

fn make_default(connection: &Connection, id: &str) -> Result<(), StoreError> {
    connection.execute("UPDATE models SET is_default = 0 WHERE is_default = 1 AND id <> ?1", [id])?;
    connection.execute("UPDATE models SET is_default = 1 WHERE id = ?1", [id])?;
    Ok(())
}

/// Without a default the built-in model is it.
fn ensure_default(connection: &Connection) -> Result<(), StoreError> {
    connection.execute(
        "UPDATE models SET is_default = 1
         WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM models WHERE is_default = 1)",
        [DEMO_MODEL],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests;
