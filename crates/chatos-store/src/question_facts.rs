//! What is kept of questions that decided an effect, beside their records: the facts that rules look at (inbox §4.5).

use rusqlite::{OptionalExtension, params};

use crate::db::Store;
use crate::error::StoreError;

/// Most questions that are kept; older ones go.
const MAX_QUESTION_FACTS: i64 = 5_000;
/// How long answers are remembered for proposals and comparisons, in milliseconds.
const KEEP_MS: i64 = 180 * 86_400_000;

/// The facts of a question, with its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredFacts {
    pub request_id: String,
    /// The kind of its effect.
    pub kind: String,
    /// JSON: the part of the material that rules look at.
    pub facts: String,
    /// JSON: run, chat, agent and so on.
    pub place: String,
    /// The response of the person, as JSON text.
    pub answer: String,
    pub answer_by: String,
    pub answered_at: i64,
}

impl Store {
    /// Keeps the facts of a question, and with which others it is asked as which of them; those that are too old, or too many, go.
    pub fn put_question_facts(
        &self,
        id: &str,
        kind: &str,
        facts: String,
        place: String,
        with: Option<(String, i64)>,
        at: i64,
    ) -> Result<(), StoreError> {
        let (id, kind, (group, among)) = (id.to_owned(), kind.to_owned(), with.unzip());
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO question_facts (request_id, kind, facts, place, asked_with, asked_as, asked_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![id, kind, facts, place, group, among, at])?;
            connection
                .prepare_cached(
                    "DELETE FROM question_facts WHERE asked_at < max(?1, coalesce(
                       (SELECT asked_at FROM question_facts ORDER BY asked_at DESC LIMIT 1 OFFSET ?2), ?1))",
                )?
                .execute(params![at.saturating_sub(KEEP_MS), MAX_QUESTION_FACTS - 1])?;
            Ok(())
        })
    }

    /// Open questions that are asked together, by the name of each group, in the order of their calls.
    pub fn open_groups(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT f.asked_with, f.request_id
                       FROM question_facts f JOIN prompt_records p ON p.request_id = f.request_id
                       WHERE f.asked_with IS NOT NULL AND p.answered_at IS NULL
                       ORDER BY f.asked_with, f.asked_as, f.request_id";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Facts of one question, answered or not.
    pub fn question_facts(&self, id: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT facts FROM question_facts WHERE request_id = ?1";
        self.read(|connection| Ok(connection.query_row(sql, [id], |row| row.get(0)).optional()?))
    }

    /// Facts of answered questions, newest answer first.
    pub fn answered_facts(&self, since: i64) -> Result<Vec<AnsweredFacts>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT f.request_id, f.kind, f.facts, f.place, p.answer, p.answer_by, p.answered_at
                       FROM question_facts f JOIN prompt_records p ON p.request_id = f.request_id
                       WHERE p.answered_at >= ?1 AND p.answer IS NOT NULL
                       ORDER BY p.answered_at DESC, f.request_id DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![since, MAX_QUESTION_FACTS], |row| {
                Ok(AnsweredFacts {
                    request_id: row.get(0)?,
                    kind: row.get(1)?,
                    facts: row.get(2)?,
                    place: row.get(3)?,
                    answer: row.get(4)?,
                    answer_by: row.get(5)?,
                    answered_at: row.get(6)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}
