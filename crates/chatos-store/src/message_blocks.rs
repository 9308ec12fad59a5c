//! What ChatOS puts before the words of a person, kept with their message: every request of the chat has the same bytes,
//! also after a restart (packages §4.2). The message itself stays as it was typed.

use rusqlite::{Connection, OptionalExtension};

use crate::db::Store;
use crate::error::StoreError;
use crate::time::now_ms;

/// A text that ChatOS put before one message of a person.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct MessageBlock {
    pub message_id: String,
    pub session_id: String,
    /// Date, folder and branch; empty where nothing new is to be said.
    pub environment: String,
    /// Texts of the project; as above.
    pub text: String,
    /// The files it was made of, as JSON.
    pub files: String,
}

impl Store {
    /// The blocks of a chat, by the id of their message.
    pub fn message_blocks(&self, session: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT message_id, environment, text FROM message_blocks WHERE session_id = ?1",
            )?;
            let rows = statement.query_map([session], |row| {
                let (environment, text): (String, String) = (row.get(1)?, row.get(2)?);
                let gap = if environment.is_empty() || text.is_empty() { "" } else { "\n\n" };
                Ok((row.get(0)?, format!("{environment}{gap}{text}")))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Keeps a block with its message.
    pub fn keep_message_block(&self, block: &MessageBlock) -> Result<(), StoreError> {
        let block = block.clone();
        self.write(move |connection| insert(connection, &block))
    }

    /// The newest environment that a chat was told.
    pub fn newest_environment(&self, session: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT b.environment FROM message_blocks b JOIN messages m ON m.id = b.message_id
                     WHERE b.session_id = ?1 AND m.left_with = '' AND b.environment <> ''
                     ORDER BY m.seq DESC LIMIT 1",
                )?
                .query_row([session], |row| row.get(0))
                .optional()?)
        })
    }

    /// The newest block of what a chat shows that has texts of the project.
    pub fn newest_block(&self, session: &str) -> Result<Option<MessageBlock>, StoreError> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT b.message_id, b.session_id, b.text, b.files, b.environment
                     FROM message_blocks b JOIN messages m ON m.id = b.message_id
                     WHERE b.session_id = ?1 AND m.left_with = '' AND b.text <> '' ORDER BY m.seq DESC LIMIT 1",
                )?
                .query_row([session], |row| {
                    Ok(MessageBlock {
                        environment: row.get(4)?,
                        message_id: row.get(0)?,
                        session_id: row.get(1)?,
                        text: row.get(2)?,
                        files: row.get(3)?,
                    })
                })
                .optional()?)
        })
    }
}

/// Inside a transaction of the caller. The first word counts: what was sent stays what was sent.
pub(crate) fn insert(connection: &Connection, block: &MessageBlock) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO message_blocks (message_id, session_id, text, files, created_at, environment)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            &block.message_id,
            &block.session_id,
            &block.text,
            &block.files,
            now_ms(),
            &block.environment,
        ))?;
    Ok(())
}
