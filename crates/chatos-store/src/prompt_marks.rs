//! What a person does with a question short of answering it: it is put off for a while (inbox §3.4). The log knows
//! nothing of it and whoever asked keeps waiting.

use std::collections::HashMap;

use rusqlite::params;

use crate::db::Store;
use crate::error::StoreError;
use crate::notices::fill;

impl Store {
    /// Puts a question off until a moment, or back at once with `None`. Every channel tells of it once when it returns.
    pub fn snooze_prompt(&self, request_id: &str, until: Option<i64>, now: i64) -> Result<(), StoreError> {
        let id = request_id.to_owned();
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO prompt_marks (request_id, snoozed_until) VALUES (?1, ?2)
                     ON CONFLICT (request_id) DO UPDATE SET snoozed_until = excluded.snoozed_until",
                )?
                .execute(params![id, until])?;
            match until {
                Some(until) => {
                    fill(connection, &id, now)?;
                    connection
                        .prepare_cached(
                            "UPDATE notices SET state = 'due', next_at = ?2, attempts = 0, reminders = 0
                             WHERE request_id = ?1 AND channel IN (SELECT id FROM channels WHERE paused = 0)",
                        )?
                        .execute(params![id, until])?;
                }
                // Whoever brings it back looks at it.
                None => {
                    connection
                        .prepare_cached(
                            "UPDATE notices SET state = 'gone', next_at = NULL WHERE request_id = ?1 AND state = 'due'",
                        )?
                        .execute([&id])?;
                }
            }
            Ok(())
        })
    }

    /// The questions that are put off at `now`, with the moment each returns.
    pub fn snoozed_prompts(&self, now: i64) -> Result<HashMap<String, i64>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT request_id, snoozed_until FROM prompt_marks WHERE snoozed_until > ?1";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([now], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
    }

    /// Marks that are over are forgotten; gives their questions, which return now.
    pub fn returned_prompts(&self, now: i64) -> Result<Vec<String>, StoreError> {
        // Looking costs nothing; only a find is worth a commit.
        let due: bool = self.read(|connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM prompt_marks WHERE snoozed_until <= ?1)";
            Ok(connection.prepare_cached(sql)?.query_row([now], |row| row.get(0))?)
        })?;
        if !due {
            return Ok(Vec::new());
        }
        self.write(move |connection| {
            let sql = "DELETE FROM prompt_marks WHERE snoozed_until <= ?1 RETURNING request_id";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([now], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}
