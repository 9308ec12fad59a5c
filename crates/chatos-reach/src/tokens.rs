//! What a button of a message elsewhere carries (inbox §5.2): 256 random bits, kept as their digest, bound to one
//! question as it was shown, one channel and one action. Answering the question uses up all of its tokens in the commit
//! of the answer itself.

use std::time::Duration;

use chatos_prompts::Clock;
use chatos_store::{Store, StoreError};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

/// How long a button works.
pub(crate) const LIFE_MS: i64 = 15 * 60_000;
/// Used ones are kept this long, so that it can be said why they are refused.
const KEEP_MS: i64 = 24 * 60 * 60_000;

/// What a button does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Approve,
    Reject,
    Snooze,
}

impl Action {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Snooze => "snooze",
        }
    }

    fn read(text: &str) -> Option<Self> {
        [Self::Approve, Self::Reject, Self::Snooze].into_iter().find(|action| action.as_str() == text)
    }
}

/// A button: what it does and what it carries.
#[derive(Debug, Clone)]
pub(crate) struct Button {
    pub(crate) action: Action,
    pub(crate) token: String,
}

/// A token as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenRow {
    pub(crate) request_id: String,
    pub(crate) shown: String,
    pub(crate) channel: String,
    pub(crate) action: String,
    boot_id: String,
    boot_ms: i64,
    expires_at: i64,
    pub(crate) used: bool,
}

impl TokenRow {
    pub(crate) fn action(&self) -> Option<Action> {
        Action::read(&self.action)
    }

    /// inbox §1.6: time since the machine was started counts; the wall clock only after another start.
    pub(crate) fn is_over(&self, clock: &dyn Clock) -> bool {
        let boot = clock.boot_id();
        if !boot.is_empty() && boot == self.boot_id {
            return !(0..LIFE_MS).contains(&(millis(clock.monotonic()) - self.boot_ms));
        }
        !(0..LIFE_MS).contains(&(LIFE_MS - (self.expires_at - clock.now_ms())))
    }
}

/// A duration in the numbers of the database.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// What is kept of a token.
pub(crate) fn digest(token: &str) -> String {
    Sha256::digest(token.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What the store knows of tokens, with SQL of this crate (decision 0053).
pub(crate) trait Tokens {
    /// Keeps the tokens of one message; those of an earlier message about this question there are used up.
    fn put_tokens(
        &self,
        channel: &str,
        request_id: &str,
        shown: &str,
        buttons: &[Button],
        clock: &dyn Clock,
    ) -> Result<(), StoreError>;

    fn token(&self, digest: &str) -> Result<Option<TokenRow>, StoreError>;

    /// Uses up every token of a question.
    fn burn_tokens(&self, request_id: &str) -> Result<(), StoreError>;

    /// Channels of which a button may still be pressed: one that was made not long ago, or whose question is open.
    fn channels_with_tokens(&self, now: i64) -> Result<Vec<String>, StoreError>;

    fn sweep_tokens(&self, now: i64) -> Result<(), StoreError>;
}

impl Tokens for Store {
    fn put_tokens(
        &self,
        channel: &str,
        request_id: &str,
        shown: &str,
        buttons: &[Button],
        clock: &dyn Clock,
    ) -> Result<(), StoreError> {
        let values = [request_id, shown, channel, &clock.boot_id()].map(str::to_owned);
        let (boot_ms, expires_at) = (millis(clock.monotonic()), clock.now_ms() + LIFE_MS);
        let rows: Vec<_> = buttons.iter().map(|b| (digest(&b.token), b.action.as_str())).collect();
        self.write(move |connection| {
            let [request_id, shown, channel, boot_id] = &values;
            connection
                .prepare_cached("UPDATE answer_tokens SET used = 1 WHERE request_id = ?1 AND channel = ?2")?
                .execute([request_id, channel])?;
            for (digest, action) in &rows {
                connection
                    .prepare_cached(
                        "INSERT INTO answer_tokens
                         (digest, request_id, shown, channel, action, boot_id, boot_ms, expires_at)
                         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                    )?
                    .execute(params![
                        digest, request_id, shown, channel, action, boot_id, boot_ms, expires_at
                    ])?;
            }
            Ok(())
        })
    }

    fn token(&self, digest: &str) -> Result<Option<TokenRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT request_id, shown, channel, action, boot_id, boot_ms, expires_at, used
                       FROM answer_tokens WHERE digest = ?1";
            let row = connection.prepare_cached(sql)?.query_row([digest], |row| {
                Ok(TokenRow {
                    request_id: row.get(0)?,
                    shown: row.get(1)?,
                    channel: row.get(2)?,
                    action: row.get(3)?,
                    boot_id: row.get(4)?,
                    boot_ms: row.get(5)?,
                    expires_at: row.get(6)?,
                    used: row.get(7)?,
                })
            });
            Ok(row.optional()?)
        })
    }

    fn burn_tokens(&self, request_id: &str) -> Result<(), StoreError> {
        let id = request_id.to_owned();
        self.write(move |connection| {
            let sql = "UPDATE answer_tokens SET used = 1 WHERE request_id = ?1";
            connection.prepare_cached(sql)?.execute([&id])?;
            Ok(())
        })
    }

    fn channels_with_tokens(&self, now: i64) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT DISTINCT channel FROM answer_tokens WHERE expires_at > ?1
                       OR request_id IN (SELECT request_id FROM notices WHERE state = 'sent')";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([now], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }

    fn sweep_tokens(&self, now: i64) -> Result<(), StoreError> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "DELETE FROM answer_tokens WHERE (expires_at < ?1 OR expires_at > ?2)
                     AND request_id NOT IN (SELECT request_id FROM notices WHERE state = 'sent')",
                )?
                .execute([now - KEEP_MS, now + LIFE_MS + KEEP_MS])?;
            Ok(())
        })
    }
}
