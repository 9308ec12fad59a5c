//! Served prompts: their records, the outbox of lines for the prompt log, sealed private answers,
//! and drafts. Entries and answers are opaque JSON here; their meaning is `chatos-prompts`'.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::db::Store;
use crate::error::StoreError;
use crate::kept::Kept;
use crate::notices;
use crate::reseal::refuse_outdated;
use crate::time::now_ms;

/// Mirrored rows are kept this long, for a look after trouble, then dropped: the log has the lines.
const KEEP_MIRRORED_MS: i64 = 60 * 60 * 1000;

/// A served prompt as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRow {
    pub request_id: String,
    pub owner: String,
    /// The request entry, JSON.
    pub entry: String,
    pub shown: String,
    pub expires_at: Option<i64>,
    /// The response, JSON, secrets masked.
    pub answer: Option<String>,
    pub answer_by: String,
    pub answered_at: Option<i64>,
    pub used_at: Option<i64>,
    /// The blob of the text it shows only in part; empty when there is none.
    pub diff_blob: String,
}

/// A prompt to be recorded, with its line for the log.
#[derive(Debug, Clone)]
pub struct NewPrompt {
    pub request_id: String,
    pub owner: String,
    pub entry: String,
    pub shown: String,
    pub expires_at: Option<i64>,
    pub created_at: i64,
    /// `None`: the line is in the log already.
    pub line: Option<String>,
    /// The text it shows only in part, kept already.
    pub diff: Option<Kept>,
    /// A person is to be told that it waits.
    pub tell: bool,
}

/// An answer to be recorded.
#[derive(Debug, Clone)]
pub struct NewPromptAnswer {
    pub answer: String,
    pub by: String,
    pub at: i64,
    pub line: Option<String>,
    /// (owner, sealed, expires at)
    pub private: Option<(String, String, Option<i64>)>,
}

/// What came of recording an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptAnswered {
    /// It is the first one; the row of the outbox, if there was a line.
    Won(Option<i64>),
    /// Another one was first.
    Lost(Box<PromptRow>),
    /// No such prompt.
    Unknown,
}

/// A line that may not be in the log yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptLine {
    pub id: i64,
    pub request_id: String,
    pub line: String,
    pub created_at: i64,
}

/// A private answer, sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedAnswer {
    pub owner: String,
    pub sealed: String,
    pub expires_at: Option<i64>,
}

const COLUMNS: &str =
    "request_id, owner, entry, shown, expires_at, answer, answer_by, answered_at, used_at, diff_blob";

impl Store {
    /// One served prompt.
    pub fn prompt(&self, id: &str) -> Result<Option<PromptRow>, StoreError> {
        self.read(|connection| prompt(connection, id))
    }

    /// The last question that a call of another program's session asked, by the span of that call.
    pub fn question_of_call(&self, session: &str, span: &str) -> Result<Option<PromptRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT request_id FROM prompt_records \
                       WHERE entry ->> '$.chatos.sessionId' = ?1 AND entry ->> '$.chatos.trace.spanId' = ?2 \
                       ORDER BY created_at DESC, request_id DESC LIMIT 1";
            let id: Option<String> =
                connection.prepare_cached(sql)?.query_row([session, span], |row| row.get(0)).optional()?;
            id.map_or(Ok(None), |id| prompt(connection, &id))
        })
    }

    /// Whether a question of this run, or of one that it started, was rejected with the word that it stop.
    pub fn is_told_to_stop(&self, run: &str) -> Result<bool, StoreError> {
        self.read(|connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM prompt_records WHERE instr(answer, '\"stop\":true') > 0 AND answer ->> '$.stop' = 1
                       AND entry ->> '$.runId' IN (SELECT id FROM runs WHERE id = ?1 OR root_run_id = ?1))";
            Ok(connection.prepare_cached(sql)?.query_row([run], |row| row.get(0))?)
        })
    }

    /// Calls `each` with (request id, entry, answer, answered at) of every served prompt.
    pub fn each_prompt(
        &self,
        mut each: impl FnMut(&str, &str, Option<&str>, Option<i64>),
    ) -> Result<(), StoreError> {
        self.read(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT request_id, entry, answer, answered_at FROM prompt_records")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let text = |index: usize| -> Result<&str, StoreError> {
                    row.get_ref(index)?.as_str().map_err(|error| {
                        StoreError::new(crate::error::StoreErrorKind::Corrupt, error.to_string())
                    })
                };
                let answer = match row.get_ref(2)? {
                    rusqlite::types::ValueRef::Null => None,
                    _ => Some(text(2)?),
                };
                each(text(0)?, text(1)?, answer, row.get(3)?);
            }
            Ok(())
        })
    }

    /// Records a prompt and its line in one commit. `Err(row)` inside: the id is taken, nothing changed.
    pub fn insert_prompt(&self, new: NewPrompt) -> Result<Result<Option<i64>, Box<PromptRow>>, StoreError> {
        self.write_journal(move |connection| {
            if let Some(row) = prompt(connection, &new.request_id)? {
                return Ok(Err(Box::new(row)));
            }
            connection
                .prepare_cached(
                    "INSERT INTO prompt_records (request_id, owner, entry, shown, expires_at, created_at, diff_blob)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    new.request_id,
                    new.owner,
                    new.entry,
                    new.shown,
                    new.expires_at,
                    new.created_at,
                    new.diff.as_ref().map(Kept::as_str).unwrap_or_default()
                ])?;
            if let Some(diff) = &new.diff {
                diff.hold(connection)?;
            }
            if new.tell {
                notices::fill(connection, &new.request_id, new.created_at)?;
            }
            let line = new.line.as_deref();
            let row = line.map(|line| outbox(connection, &new.request_id, "request", line, new.created_at));
            Ok(Ok(row.transpose()?))
        })
    }

    /// Records an answer if there is none: record, line and private part in one commit.
    pub fn answer_prompt(&self, id: &str, new: NewPromptAnswer) -> Result<PromptAnswered, StoreError> {
        let id = id.to_owned();
        self.write_journal(move |connection| {
            let changed = connection
                .prepare_cached(
                    "UPDATE prompt_records SET answer = ?2, answer_by = ?3, answered_at = ?4
                     WHERE request_id = ?1 AND answered_at IS NULL",
                )?
                .execute(params![id, new.answer, new.by, new.at])?;
            if changed == 0 {
                let row = prompt(connection, &id)?;
                return Ok(row.map_or(PromptAnswered::Unknown, |row| PromptAnswered::Lost(Box::new(row))));
            }
            connection
                .prepare_cached(
                    "UPDATE question_facts SET asked_with = NULL, asked_as = NULL
                     WHERE request_id = ?1 AND asked_with IS NOT NULL",
                )?
                .execute([&id])?;
            if let Some((owner, sealed, expires_at)) = &new.private {
                refuse_outdated(connection, Some(sealed), None)?;
                connection
                    .prepare_cached(
                        "INSERT OR REPLACE INTO prompt_secrets (request_id, owner, sealed, created_at, expires_at)
                         VALUES (?1, ?2, ?3, ?4, ?5)",
                    )?
                    .execute(params![id, owner, sealed, new.at, expires_at])?;
            }
            notices::close(connection, &id)?;
            let row = new.line.as_deref().map(|line| outbox(connection, &id, "response", line, new.at));
            Ok(PromptAnswered::Won(row.transpose()?))
        })
    }

    /// Marks an approval as used; true for the one caller that did it.
    pub fn use_prompt(&self, id: &str, at: i64) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let sql = "UPDATE prompt_records SET used_at = ?2 WHERE request_id = ?1 AND used_at IS NULL";
            Ok(connection.prepare_cached(sql)?.execute(params![id, at])? == 1)
        })
    }

    /// Replaces entry and answer of an answered prompt.
    pub fn reduce_prompt(&self, id: &str, entry: String, answer: String) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            // Its text goes with the days of grace.
            connection
                .prepare_cached(
                    "UPDATE blobs SET refs = refs - 1, created_at = ?2 WHERE sha256 =
                     (SELECT diff_blob FROM prompt_records WHERE request_id = ?1 AND answered_at IS NOT NULL)",
                )?
                .execute(params![id, now_ms()])?;
            connection
                .prepare_cached(
                    "UPDATE prompt_records SET entry = ?2, answer = ?3, diff_blob = ''
                     WHERE request_id = ?1 AND answered_at IS NOT NULL",
                )?
                .execute(params![id, entry, answer])?;
            connection
                .prepare_cached(
                    "DELETE FROM prompt_outbox WHERE request_id = ?1 AND mirrored_at IS NOT NULL",
                )?
                .execute([&id])?;
            connection.prepare_cached("DELETE FROM question_facts WHERE request_id = ?1")?.execute([id])?;
            Ok(())
        })
    }

    /// Lines not marked as mirrored, oldest first.
    pub fn unmirrored_lines(&self, limit: usize) -> Result<Vec<PromptLine>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, request_id, line, created_at FROM prompt_outbox
                 WHERE mirrored_at IS NULL ORDER BY id LIMIT ?1",
            )?;
            let rows = statement.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
                Ok(PromptLine {
                    id: row.get(0)?,
                    request_id: row.get(1)?,
                    line: row.get(2)?,
                    created_at: row.get(3)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Marks lines as being in the log, and drops what was marked long ago.
    pub fn mark_mirrored(&self, ids: &[i64], at: i64) -> Result<(), StoreError> {
        let ids = ids.to_vec();
        self.write(move |connection| {
            let mut statement =
                connection.prepare_cached("UPDATE prompt_outbox SET mirrored_at = ?2 WHERE id = ?1")?;
            for id in ids {
                statement.execute(params![id, at])?;
            }
            connection
                .prepare_cached(
                    "DELETE FROM prompt_outbox WHERE mirrored_at IS NOT NULL AND mirrored_at < ?1",
                )?
                .execute([at - KEEP_MIRRORED_MS])?;
            Ok(())
        })
    }

    /// A private answer, left where it is.
    pub fn sealed_answer(&self, id: &str) -> Result<Option<SealedAnswer>, StoreError> {
        self.read(|connection| sealed(connection, id))
    }

    /// A private answer, erased by this call.
    pub fn take_sealed_answer(&self, id: &str) -> Result<Option<SealedAnswer>, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let found = sealed(connection, &id)?;
            connection.prepare_cached("DELETE FROM prompt_secrets WHERE request_id = ?1")?.execute([id])?;
            Ok(found)
        })
    }

    /// Erases private answers that expired.
    pub fn sweep_sealed_answers(&self, now: i64) -> Result<usize, StoreError> {
        // Looking costs nothing; only a find is worth a commit.
        let due: bool = self.read(|connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM prompt_secrets WHERE expires_at <= ?1)";
            Ok(connection.prepare_cached(sql)?.query_row([now], |row| row.get(0))?)
        })?;
        if !due {
            return Ok(0);
        }
        self.write(move |connection| {
            Ok(connection
                .prepare_cached("DELETE FROM prompt_secrets WHERE expires_at <= ?1")?
                .execute([now])?)
        })
    }

    /// A saved draft and when it was saved.
    pub fn prompt_draft(&self, id: &str, client: &str) -> Result<Option<(String, i64)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT draft, updated_at FROM prompt_drafts WHERE request_id = ?1 AND client_id = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row([id, client], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
        })
    }

    /// Saves a draft.
    pub fn save_prompt_draft(
        &self,
        id: &str,
        client: &str,
        draft: String,
        at: i64,
    ) -> Result<(), StoreError> {
        let (id, client) = (id.to_owned(), client.to_owned());
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO prompt_drafts (request_id, client_id, draft, updated_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (request_id, client_id) DO UPDATE SET draft = excluded.draft, updated_at = excluded.updated_at",
                )?
                .execute(params![id, client, draft, at])?;
            Ok(())
        })
    }

    /// Deletes one draft, or every draft of a prompt.
    pub fn delete_prompt_drafts(&self, id: &str, client: Option<&str>) -> Result<(), StoreError> {
        let (id, client) = (id.to_owned(), client.map(str::to_owned));
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "DELETE FROM prompt_drafts WHERE request_id = ?1 AND (?2 IS NULL OR client_id = ?2)",
                )?
                .execute(params![id, client])?;
            Ok(())
        })
    }

    /// Deletes drafts not touched since `before`.
    pub fn sweep_prompt_drafts(&self, before: i64) -> Result<usize, StoreError> {
        self.write(move |connection| {
            Ok(connection
                .prepare_cached("DELETE FROM prompt_drafts WHERE updated_at < ?1")?
                .execute([before])?)
        })
    }
}

fn prompt(connection: &Connection, id: &str) -> Result<Option<PromptRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM prompt_records WHERE request_id = ?1");
    let read = |row: &Row<'_>| {
        Ok(PromptRow {
            request_id: row.get(0)?,
            owner: row.get(1)?,
            entry: row.get(2)?,
            shown: row.get(3)?,
            expires_at: row.get(4)?,
            answer: row.get(5)?,
            answer_by: row.get(6)?,
            answered_at: row.get(7)?,
            used_at: row.get(8)?,
            diff_blob: row.get(9)?,
        })
    };
    Ok(connection.prepare_cached(&sql)?.query_row([id], read).optional()?)
}

fn sealed(connection: &Connection, id: &str) -> Result<Option<SealedAnswer>, StoreError> {
    let sql = "SELECT owner, sealed, expires_at FROM prompt_secrets WHERE request_id = ?1";
    let read =
        |row: &Row<'_>| Ok(SealedAnswer { owner: row.get(0)?, sealed: row.get(1)?, expires_at: row.get(2)? });
    Ok(connection.prepare_cached(sql)?.query_row([id], read).optional()?)
}

fn outbox(connection: &Connection, id: &str, action: &str, line: &str, at: i64) -> Result<i64, StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO prompt_outbox (request_id, action, line, created_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![id, action, line, at])?;
    Ok(connection.last_insert_rowid())
}

#[cfg(test)]
mod tests;
