//! Channels and the outbox of notices as rows (inbox §5.1).
//!
//! A row is written in the commit that records its question, by the store. It is marked as sent before it is sent, so a
//! killed host tells a channel at most once; only a failure that the sender reported puts it back.

use chatos_store::{Store, StoreError, StoreErrorKind};
use rusqlite::{OptionalExtension, Row, params};

/// Most channels of a state.
const MAX_CHANNELS: i64 = 50;
/// Closed notices are kept this long, for a look after trouble.
const KEEP_MS: i64 = 24 * 60 * 60 * 1000;

/// Somewhere a person is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRow {
    pub id: String,
    /// What it is, as JSON; its meaning is `chatos-reach`'s.
    pub record: String,
    pub paused: bool,
    /// Failures in a row.
    pub failures: i64,
    pub last_error: String,
    pub last_sent_at: Option<i64>,
    pub created_at: i64,
}

/// Something that has to be told, or was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeRow {
    pub id: i64,
    pub request_id: String,
    pub channel: String,
    /// `due`, `sent`, `answered`, `failed` or `gone`.
    pub state: String,
    pub bundle: String,
    pub handle: String,
    pub attempts: i64,
    /// How often the person was reminded.
    pub reminders: i64,
    pub next_at: Option<i64>,
    pub created_at: i64,
}

const CHANNEL: &str = "id, record, paused, failures, last_error, last_sent_at, created_at";
const NOTICE: &str =
    "id, request_id, channel, state, bundle, handle, attempts, reminders, next_at, created_at";

/// What the store knows of channels and notices, with SQL of this crate (decision 0053).
pub trait Outbox {
    /// All channels, oldest first.
    fn channels(&self) -> Result<Vec<ChannelRow>, StoreError>;

    /// Keeps a channel, new or changed. What went wrong with it before is forgotten.
    fn put_channel(&self, id: &str, record: &str, paused: bool, at: i64) -> Result<(), StoreError>;

    /// Forgets a channel and what it would have been told. Says whether there was one.
    fn remove_channel(&self, id: &str) -> Result<bool, StoreError>;

    /// What is due at `now`, by channel, oldest first.
    fn due_notices(&self, now: i64) -> Result<Vec<NoticeRow>, StoreError>;

    /// When the next one is due.
    fn next_notice(&self) -> Result<Option<i64>, StoreError>;

    /// Marks notices as sent, before they are. Gives those that were still waiting: nobody else sends them.
    fn claim_notices(
        &self,
        claims: Vec<(i64, Option<i64>)>,
        bundle: &str,
        now: i64,
    ) -> Result<Vec<i64>, StoreError>;

    /// A bundle reached its channel; `handle` is what the channel calls it.
    fn notices_sent(&self, channel_id: &str, bundle: &str, handle: &str, at: i64) -> Result<(), StoreError>;

    /// A bundle did not reach its channel: it is tried again at `retry_at`, or given up. Gives the failures in a row.
    fn notices_failed(
        &self,
        channel_id: &str,
        bundle: &str,
        error: &str,
        retry_at: Option<i64>,
        at: i64,
    ) -> Result<i64, StoreError>;

    /// These are told no longer: nobody waits for an answer, or the channel does not want them.
    fn drop_notices(&self, ids: Vec<i64>) -> Result<(), StoreError>;

    /// Later, for notices that have to wait for something else.
    fn put_off_notices(&self, ids: Vec<i64>, until: i64) -> Result<(), StoreError>;

    /// What is shown somewhere although every question of it is closed: (channel, handle).
    fn stale_handles(&self) -> Result<Vec<(String, String)>, StoreError>;

    /// What is shown under this name is taken back.
    fn forget_handle(&self, channel_id: &str, handle: &str) -> Result<(), StoreError>;

    /// The open questions that are shown under this name.
    fn requests_of_handle(&self, channel_id: &str, handle: &str) -> Result<Vec<String>, StoreError>;

    /// Every question that was told under this name, open or not.
    fn told_under(&self, channel_id: &str, handle: &str) -> Result<Vec<String>, StoreError>;

    /// The clock was set by so many milliseconds: what waits for a moment waits as long as before. What a person put
    /// off follows the clock on the wall.
    fn shift_notices(&self, by: i64) -> Result<(), StoreError>;

    /// Every notice of a question, for a look.
    fn notices_of(&self, request_id: &str) -> Result<Vec<NoticeRow>, StoreError>;

    /// Questions of which something is still to be told or taken back.
    fn open_notices(&self) -> Result<Vec<String>, StoreError>;

    /// Drops what was closed long ago.
    fn sweep_notices(&self, now: i64) -> Result<(), StoreError>;
}

impl Outbox for Store {
    fn channels(&self) -> Result<Vec<ChannelRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {CHANNEL} FROM channels ORDER BY created_at, id");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([], channel)?.collect::<Result<_, _>>()?)
        })
    }

    fn put_channel(&self, id: &str, record: &str, paused: bool, at: i64) -> Result<(), StoreError> {
        let (id, record) = (id.to_owned(), record.to_owned());
        self.write(move |connection| {
            let others: i64 = connection
                .prepare_cached("SELECT count(*) FROM channels WHERE id <> ?1")?
                .query_row([&id], |row| row.get(0))?;
            if others >= MAX_CHANNELS {
                return Err(StoreError::new(
                    StoreErrorKind::Full,
                    format!("there are {MAX_CHANNELS} channels already"),
                ));
            }
            connection
                .prepare_cached(
                    "INSERT INTO channels (id, record, paused, created_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (id) DO UPDATE SET record = excluded.record, paused = excluded.paused,
                     failures = 0, last_error = ''",
                )?
                .execute(params![id, record, paused, at])?;
            if paused {
                connection
                    .prepare_cached(
                        "UPDATE notices SET state = 'gone', next_at = NULL WHERE channel = ?1 AND state IN ('due', 'sent')",
                    )?
                    .execute([&id])?;
            }
            Ok(())
        })
    }

    fn remove_channel(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            connection.prepare_cached("DELETE FROM notices WHERE channel = ?1")?.execute([&id])?;
            connection.prepare_cached("DELETE FROM answer_tokens WHERE channel = ?1")?.execute([&id])?;
            Ok(connection.prepare_cached("DELETE FROM channels WHERE id = ?1")?.execute([&id])? == 1)
        })
    }

    fn due_notices(&self, now: i64) -> Result<Vec<NoticeRow>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT {NOTICE} FROM notices WHERE next_at <= ?1 AND state IN ('due', 'sent')
                 ORDER BY channel, created_at, id LIMIT 5000"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([now], notice)?.collect::<Result<_, _>>()?)
        })
    }

    fn next_notice(&self) -> Result<Option<i64>, StoreError> {
        self.read(|connection| {
            let sql =
                "SELECT min(next_at) FROM notices WHERE next_at IS NOT NULL AND state IN ('due', 'sent')";
            Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
        })
    }

    fn claim_notices(
        &self,
        claims: Vec<(i64, Option<i64>)>,
        bundle: &str,
        now: i64,
    ) -> Result<Vec<i64>, StoreError> {
        let bundle = bundle.to_owned();
        self.write(move |connection| {
            let mut claimed = Vec::new();
            for (id, next_at) in claims {
                let changed = connection
                    .prepare_cached(
                        "UPDATE notices SET reminders = reminders + (state = 'sent'), state = 'sent', bundle = ?2,
                         attempts = attempts + 1, next_at = ?3
                         WHERE id = ?1 AND next_at <= ?4 AND state IN ('due', 'sent')",
                    )?
                    .execute(params![id, bundle, next_at, now])?;
                if changed == 1 {
                    claimed.push(id);
                }
            }
            Ok(claimed)
        })
    }

    fn notices_sent(&self, channel_id: &str, bundle: &str, handle: &str, at: i64) -> Result<(), StoreError> {
        let values = [channel_id, bundle, handle].map(str::to_owned);
        self.write(move |connection| {
            let [channel_id, bundle, handle] = &values;
            // What was shown under this name before is shown no longer.
            connection
                .prepare_cached("UPDATE notices SET handle = ?2 WHERE bundle = ?1")?
                .execute([bundle, handle])?;
            connection
                .prepare_cached("UPDATE notices SET attempts = 0 WHERE bundle = ?1")?
                .execute([bundle])?;
            connection
                .prepare_cached(
                    "UPDATE channels SET failures = 0, last_error = '', last_sent_at = ?2 WHERE id = ?1",
                )?
                .execute(params![channel_id, at])?;
            Ok(())
        })
    }

    fn notices_failed(
        &self,
        channel_id: &str,
        bundle: &str,
        error: &str,
        retry_at: Option<i64>,
        at: i64,
    ) -> Result<i64, StoreError> {
        let values = [channel_id, bundle, error].map(str::to_owned);
        self.write(move |connection| {
            let [channel_id, bundle, error] = &values;
            let state = if retry_at.is_some() { "due" } else { "failed" };
            connection
                .prepare_cached(
                    "UPDATE notices SET state = ?2, next_at = ?3 WHERE bundle = ?1 AND state = 'sent'",
                )?
                .execute(params![bundle, state, retry_at])?;
            connection
                .prepare_cached(
                    "UPDATE channels SET failures = failures + 1, last_error = ?2, last_sent_at = ?3 WHERE id = ?1
                     RETURNING failures",
                )?
                .query_row(params![channel_id, error, at], |row| row.get(0))
                .optional()
                .map(Option::unwrap_or_default)
                .map_err(Into::into)
        })
    }

    fn drop_notices(&self, ids: Vec<i64>) -> Result<(), StoreError> {
        self.write(move |connection| {
            for id in ids {
                connection
                    .prepare_cached("UPDATE notices SET state = 'gone', next_at = NULL WHERE id = ?1")?
                    .execute([id])?;
            }
            Ok(())
        })
    }

    fn put_off_notices(&self, ids: Vec<i64>, until: i64) -> Result<(), StoreError> {
        self.write(move |connection| {
            for id in ids {
                connection
                    .prepare_cached("UPDATE notices SET next_at = ?2 WHERE id = ?1 AND next_at < ?2")?
                    .execute(params![id, until])?;
            }
            Ok(())
        })
    }

    fn stale_handles(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT channel, handle FROM notices WHERE handle <> '' GROUP BY channel, handle
                       HAVING sum(state = 'sent') = 0";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
    }

    fn forget_handle(&self, channel_id: &str, handle: &str) -> Result<(), StoreError> {
        let values = [channel_id, handle].map(str::to_owned);
        self.write(move |connection| {
            let sql = "UPDATE notices SET handle = '' WHERE channel = ?1 AND handle = ?2";
            connection.prepare_cached(sql)?.execute(values)?;
            Ok(())
        })
    }

    fn requests_of_handle(&self, channel_id: &str, handle: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT request_id FROM notices WHERE channel = ?1 AND handle = ?2 AND state = 'sent'";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([channel_id, handle], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    fn told_under(&self, channel_id: &str, handle: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT request_id FROM notices WHERE channel = ?1 AND handle = ?2 ORDER BY id";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([channel_id, handle], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    fn shift_notices(&self, by: i64) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE notices SET next_at = next_at + ?1 WHERE next_at IS NOT NULL AND request_id NOT IN
                     (SELECT request_id FROM prompt_marks WHERE snoozed_until IS NOT NULL)",
                )?
                .execute([by])?;
            Ok(())
        })
    }

    fn notices_of(&self, request_id: &str) -> Result<Vec<NoticeRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {NOTICE} FROM notices WHERE request_id = ?1 ORDER BY channel");
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([request_id], notice)?.collect::<Result<_, _>>()?)
        })
    }

    fn open_notices(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT DISTINCT request_id FROM notices WHERE state IN ('due', 'sent')";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    fn sweep_notices(&self, now: i64) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "DELETE FROM notices WHERE state IN ('answered', 'gone', 'failed') AND created_at < ?1",
                )?
                .execute([now - KEEP_MS])?;
            Ok(())
        })
    }
}

fn channel(row: &Row<'_>) -> rusqlite::Result<ChannelRow> {
    Ok(ChannelRow {
        id: row.get(0)?,
        record: row.get(1)?,
        paused: row.get(2)?,
        failures: row.get(3)?,
        last_error: row.get(4)?,
        last_sent_at: row.get(5)?,
        created_at: row.get(6)?,
    })
}

fn notice(row: &Row<'_>) -> rusqlite::Result<NoticeRow> {
    Ok(NoticeRow {
        id: row.get(0)?,
        request_id: row.get(1)?,
        channel: row.get(2)?,
        state: row.get(3)?,
        bundle: row.get(4)?,
        handle: row.get(5)?,
        attempts: row.get(6)?,
        reminders: row.get(7)?,
        next_at: row.get(8)?,
        created_at: row.get(9)?,
    })
}
