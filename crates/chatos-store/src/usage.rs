//! Tokens and money, one row per model call (agents §15).

use rusqlite::Connection;

use crate::db::Store;
use crate::error::StoreError;

/// What one model call used.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct UsageRow {
    pub id: String,
    pub run_id: String,
    pub root_run_id: String,
    pub session_id: String,
    pub agent_id: String,
    pub model_id: String,
    pub message_id: String,
    pub step_seq: Option<i64>,
    pub input: i64,
    pub output: i64,
    pub cache_read: i64,
    pub cache_write: i64,
    pub estimated: bool,
    /// Unknown when the model had no price at that time; never 0 for that reason.
    pub cost: Option<f64>,
    pub currency: String,
    pub created_at: i64,
}

impl Eq for UsageRow {}

/// A sum of uses. Currencies are not mixed: one row each.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the words say it")]
pub struct UsageSum {
    /// The model, the agent, or the day `2026-01-31`.
    pub key: String,
    pub currency: String,
    pub calls: i64,
    pub input: i64,
    pub output: i64,
    pub cache_read: i64,
    pub cache_write: i64,
    pub estimated: bool,
    /// The known part.
    pub cost: Option<f64>,
    /// Calls whose cost nobody knows.
    pub unknown_cost: i64,
}

/// By what to sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words say it")]
pub enum UsageBy {
    Model,
    Agent,
    Day,
    Session,
    RootRun,
    Run,
    Message,
}

impl UsageBy {
    fn column(self) -> &'static str {
        match self {
            Self::Model => "model_id",
            Self::Agent => "agent_id",
            Self::Day => "strftime('%Y-%m-%d', created_at / 1000, 'unixepoch')",
            Self::Session => "session_id",
            Self::RootRun => "root_run_id",
            Self::Run => "run_id",
            Self::Message => "message_id",
        }
    }
}

/// The query of sums since `?1`; of the key `?2` alone, which is then looked up and not looked for.
pub(crate) fn sums(by: UsageBy, one: bool) -> String {
    let column = by.column();
    let which = if one { format!("{column} = ?2") } else { "?2 IS NULL".to_owned() };
    format!(
        "SELECT {column}, currency, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write),
           max(estimated), sum(cost), sum(cost IS NULL)
         FROM usage WHERE created_at >= ?1 AND {which}
         GROUP BY 1, 2 ORDER BY 1 DESC, 2"
    )
}

impl Store {
    /// Sums since a time; of one key where it is given.
    pub fn usage(&self, by: UsageBy, since: i64, key: Option<&str>) -> Result<Vec<UsageSum>, StoreError> {
        self.read(|connection| {
            let sql = sums(by, key.is_some());
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map((since, key), |row| {
                Ok(UsageSum {
                    key: row.get(0)?,
                    currency: row.get(1)?,
                    calls: row.get(2)?,
                    input: row.get(3)?,
                    output: row.get(4)?,
                    cache_read: row.get(5)?,
                    cache_write: row.get(6)?,
                    estimated: row.get(7)?,
                    cost: row.get(8)?,
                    unknown_cost: row.get(9)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Counts a model call that belongs to no step.
    pub fn add_usage(&self, row: UsageRow) -> Result<(), StoreError> {
        self.write(move |connection| insert_usage(connection, &row))
    }

    /// The calls of one run, oldest first.
    pub fn usage_of_run(&self, run: &str) -> Result<Vec<UsageRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, run_id, root_run_id, session_id, agent_id, model_id, message_id, step_seq, input,
                   output, cache_read, cache_write, estimated, cost, currency, created_at
                 FROM usage WHERE run_id = ?1 ORDER BY created_at, id",
            )?;
            let rows = statement.query_map([run], |row| {
                Ok(UsageRow {
                    id: row.get(0)?,
                    run_id: row.get(1)?,
                    root_run_id: row.get(2)?,
                    session_id: row.get(3)?,
                    agent_id: row.get(4)?,
                    model_id: row.get(5)?,
                    message_id: row.get(6)?,
                    step_seq: row.get(7)?,
                    input: row.get(8)?,
                    output: row.get(9)?,
                    cache_read: row.get(10)?,
                    cache_write: row.get(11)?,
                    estimated: row.get(12)?,
                    cost: row.get(13)?,
                    currency: row.get(14)?,
                    created_at: row.get(15)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

pub(crate) fn insert_usage(connection: &Connection, row: &UsageRow) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO usage (id, run_id, root_run_id, session_id, agent_id, model_id, message_id, step_seq, input,
               output, cache_read, cache_write, estimated, cost, currency, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
             ON CONFLICT (id) DO NOTHING",
        )?
        .execute((
            &row.id,
            &row.run_id,
            &row.root_run_id,
            &row.session_id,
            &row.agent_id,
            &row.model_id,
            &row.message_id,
            row.step_seq,
            row.input,
            row.output,
            row.cache_read,
            row.cache_write,
            row.estimated,
            row.cost,
            &row.currency,
            row.created_at,
        ))?;
    Ok(())
}
