//! The transcript of a chat: messages are appended in order and never deleted one by one, but for those that wait
//! for their turn and are taken back, and versions a person deletes (`versions`).

use std::collections::HashMap;

use chatos_wire::{MessageKind, MessageRole};
use rusqlite::{Connection, OptionalExtension, Row};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};
use crate::kept::Kept;
use crate::time::now_ms;
use crate::versions;
use crate::word::word;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct MessageRow {
    pub id: String,
    pub session_id: String,
    pub seq: i64,
    pub run_id: String,
    pub user_message_id: String,
    pub role: MessageRole,
    pub name: String,
    pub content: String,
    pub reasoning: String,
    pub tool_call_id: String,
    pub tool_name: String,
    pub server: String,
    pub tool: String,
    pub tool_status: String,
    pub tool_code: String,
    pub is_error: bool,
    pub structured_blob: String,
    pub partial: bool,
    pub kind: MessageKind,
    pub tokens: Option<i64>,
    pub elapsed_ms: Option<i64>,
    pub opaque: String,
    pub created_at: i64,
    /// Of a message that takes the place of another: the first one in that place.
    pub version_of: String,
    /// The version of a message with which it was left; empty for what the chat shows.
    pub left_with: String,
    pub tool_calls: Vec<ToolCallRow>,
    pub attachments: Vec<AttachmentRow>,
}

/// A call that an answer asked for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct ToolCallRow {
    pub call_id: String,
    pub name: String,
    pub server: String,
    pub tool: String,
    pub args_blob: String,
    pub args_preview: String,
}

/// A file beside a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct AttachmentRow {
    pub id: String,
    pub kind: String,
    pub name: String,
    pub mime: String,
    pub blob: String,
    pub size: i64,
    /// The text of a document, as [`Store::keep`] keeps it.
    pub text_blob: String,
    /// What a person should know about that text: a word, or nothing.
    pub note: String,
    pub origin: String,
}

/// A message to append. Its place in the order is given by the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewMessage {
    /// The row; `seq` and the lists are ignored.
    pub row: MessageRow,
    /// Structured content of a tool's result.
    pub structured: Kept,
    /// Calls of an answer with their arguments.
    pub calls: Vec<(ToolCallRow, Kept)>,
    /// Files with their content, and the text of those that are documents.
    pub files: Vec<(AttachmentRow, Kept, Kept)>,
}

/// A summary that stands for a range of messages in the model's context only.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names are those of the table")]
pub struct SummaryRow {
    pub id: String,
    pub session_id: String,
    pub from_seq: i64,
    pub to_seq: i64,
    pub text: String,
    pub tokens_before: Option<i64>,
    pub tokens_after: Option<i64>,
    pub model_id: String,
    pub run_id: String,
    pub created_at: i64,
    /// What a model is sent for it, byte for byte; empty in rows of older programs.
    pub block: String,
    /// `summary`, `overflow` or `mechanical`.
    pub kind: String,
    /// How many messages it stands for.
    pub messages: i64,
    /// Runs inside the range that waited for their turn, as a JSON list: it does not stand for them.
    pub left_out: String,
}

const COLUMNS: &str = "id, session_id, seq, run_id, user_message_id, role, name, content, reasoning, tool_call_id,
  tool_name, server, tool, tool_status, tool_code, is_error, structured_blob, partial, kind, tokens, elapsed_ms,
  opaque, created_at, version_of, left_with";

impl Store {
    /// Appends a message; one of the same id is left as it is. Gives its place in the order.
    pub fn append_message(&self, message: NewMessage) -> Result<i64, StoreError> {
        self.write(move |connection| append(connection, &message))
    }

    /// Writes the text of an answer that is still coming.
    pub fn flush_message(&self, id: &str, content: &str, reasoning: &str) -> Result<(), StoreError> {
        let (id, content, reasoning) = (id.to_owned(), content.to_owned(), reasoning.to_owned());
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE messages SET content = ?2, reasoning = ?3 WHERE id = ?1 AND partial = 1",
                )?
                .execute((&id, &content, &reasoning))?;
            Ok(())
        })
    }

    /// A page of messages before a place in the order, oldest first, and whether there are more before it.
    pub fn messages(
        &self,
        session: &str,
        before: Option<i64>,
        limit: u32,
    ) -> Result<(Vec<MessageRow>, bool), StoreError> {
        self.read(|connection| {
            let earlier = "session_id = ?1 AND seq < ?2 AND left_with = ''";
            let sql = format!("SELECT {COLUMNS} FROM messages WHERE {earlier} ORDER BY seq DESC LIMIT ?3");
            let mut statement = connection.prepare_cached(&sql)?;
            let page = (session, before.unwrap_or(i64::MAX), i64::from(limit) + 1);
            let mut rows: Vec<MessageRow> =
                statement.query_map(page, message_of)?.collect::<Result<_, _>>()?;
            let more = rows.len() > limit as usize;
            rows.truncate(limit as usize);
            rows.reverse();
            fill(connection, session, &mut rows)?;
            Ok((rows, more))
        })
    }

    /// Messages after a place in the order, oldest first.
    pub fn messages_after(&self, session: &str, after: i64) -> Result<Vec<MessageRow>, StoreError> {
        self.read(|connection| {
            let later = "session_id = ?1 AND seq > ?2 AND left_with = ''";
            let sql = format!("SELECT {COLUMNS} FROM messages WHERE {later} ORDER BY seq");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map((session, after), message_of)?;
            let mut rows: Vec<MessageRow> = rows.collect::<Result<_, _>>()?;
            fill(connection, session, &mut rows)?;
            Ok(rows)
        })
    }

    /// Messages that are not shown because another version of them, or of one before them, is; oldest first.
    pub fn left_messages(&self, session: &str) -> Result<Vec<MessageRow>, StoreError> {
        self.messages_where("session_id = ?1 AND left_with <> ''", session)
    }

    /// The messages of a run, oldest first.
    pub fn messages_of_run(&self, run: &str) -> Result<Vec<MessageRow>, StoreError> {
        self.messages_where("run_id = ?1", run)
    }

    fn messages_where(&self, what: &'static str, id: &str) -> Result<Vec<MessageRow>, StoreError> {
        self.read(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM messages WHERE {what} ORDER BY seq");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows: Vec<MessageRow> = statement.query_map([id], message_of)?.collect::<Result<_, _>>()?;
            rows.into_iter().map(|mut row| fill_one(connection, &mut row).map(|()| row)).collect()
        })
    }

    /// One message.
    pub fn message(&self, id: &str) -> Result<Option<MessageRow>, StoreError> {
        self.read(|connection| read_message(connection, id))
    }

    /// A file beside a message of a chat.
    pub fn attachment(&self, session: &str, id: &str) -> Result<Option<AttachmentRow>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT a.id, a.kind, a.name, a.mime, a.blob, a.size, a.text_blob, a.note, a.origin
                       FROM message_attachments a
                       JOIN messages m ON m.id = a.message_id WHERE m.session_id = ?1 AND a.id = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row((session, id), attachment_of).optional()?)
        })
    }

    /// The whole result of a call of a chat, as its step kept it; where that is gone, as the message has it.
    pub fn result_of_call(&self, session: &str, call_id: &str) -> Result<Option<String>, StoreError> {
        let found: Option<(String, Option<String>)> = self.read(|connection| {
            let sql = "SELECT m.content, (SELECT s.output_blob FROM run_steps s WHERE s.run_id = m.run_id
                         AND s.call_id = m.tool_call_id AND s.output_blob <> '' ORDER BY s.seq DESC LIMIT 1)
                       FROM messages m WHERE m.session_id = ?1 AND m.tool_call_id = ?2 ORDER BY m.seq DESC LIMIT 1";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_row((session, call_id), |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
        })?;
        let Some((content, output)) = found else { return Ok(None) };
        let output = output.and_then(|blob| self.kept(&blob));
        let whole = output.and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
        Ok(Some(whole.and_then(|whole| whole["text"].as_str().map(str::to_owned)).unwrap_or(content)))
    }

    /// Ids of the newest calls of a chat.
    pub fn newest_calls(&self, session: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT tool_call_id FROM messages WHERE session_id = ?1 AND tool_call_id <> ''
                       ORDER BY seq DESC LIMIT ?2";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map((session, limit), |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Remembers a summary; one of the same id is left as it is.
    pub fn add_summary(&self, row: SummaryRow) -> Result<(), StoreError> {
        self.write(move |connection| insert_summary(connection, &row))
    }

    /// Summaries of a chat, in the order of what they cover.
    pub fn summaries(&self, session: &str) -> Result<Vec<SummaryRow>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, session_id, from_seq, to_seq, text, tokens_before, tokens_after, model_id, run_id,
                   created_at, block, kind, messages, left_out
                 FROM summaries WHERE session_id = ?1 AND left_with = '' ORDER BY to_seq, created_at",
            )?;
            let rows = statement.query_map([session], |row| {
                Ok(SummaryRow {
                    id: row.get(0)?,
                    session_id: row.get(1)?,
                    from_seq: row.get(2)?,
                    to_seq: row.get(3)?,
                    text: row.get(4)?,
                    tokens_before: row.get(5)?,
                    tokens_after: row.get(6)?,
                    model_id: row.get(7)?,
                    run_id: row.get(8)?,
                    created_at: row.get(9)?,
                    block: row.get(10)?,
                    kind: row.get(11)?,
                    messages: row.get(12)?,
                    left_out: row.get(13)?,
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }
}

pub(crate) fn insert_summary(connection: &Connection, row: &SummaryRow) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO summaries (id, session_id, from_seq, to_seq, text, tokens_before, tokens_after, model_id,
               run_id, created_at, block, kind, messages, left_out)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (id) DO NOTHING",
        )?
        .execute((
            &row.id,
            &row.session_id,
            row.from_seq,
            row.to_seq,
            &row.text,
            row.tokens_before,
            row.tokens_after,
            &row.model_id,
            &row.run_id,
            row.created_at,
            &row.block,
            &row.kind,
            row.messages,
            &row.left_out,
        ))?;
    Ok(())
}

/// A message that begins a run begins one only.
pub(crate) fn refuse_known(connection: &Connection, id: &str) -> Result<(), StoreError> {
    if connection.prepare_cached("SELECT 1 FROM messages WHERE id = ?1")?.exists([id])? {
        return Err(StoreError::new(StoreErrorKind::Conflict, format!("there is a message `{id}` already")));
    }
    Ok(())
}

/// Appends inside a transaction of the caller. A version of an older message is shown instead of it from then on.
pub(crate) fn append(connection: &Connection, message: &NewMessage) -> Result<i64, StoreError> {
    let row = &message.row;
    let known: Option<i64> = connection
        .prepare_cached("SELECT seq FROM messages WHERE id = ?1")?
        .query_row([&row.id], |row| row.get(0))
        .optional()?;
    if let Some(seq) = known {
        return Ok(seq);
    }
    let there =
        connection.prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")?.exists([&row.session_id])?;
    if !there {
        return Err(StoreError::new(
            StoreErrorKind::NotFound,
            format!("there is no chat `{}`", row.session_id),
        ));
    }
    if !row.version_of.is_empty() {
        versions::leave(connection, &row.session_id, &row.version_of)?;
    }
    let seq: i64 = connection
        .prepare_cached("SELECT coalesce(max(seq), 0) + 1 FROM messages WHERE session_id = ?1")?
        .query_row([&row.session_id], |row| row.get(0))?;
    let sql = format!(
        "INSERT INTO messages ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
           ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, '')"
    );
    connection.prepare_cached(&sql)?.execute(rusqlite::params![
        row.id,
        row.session_id,
        seq,
        row.run_id,
        row.user_message_id,
        row.role.as_str(),
        row.name,
        row.content,
        row.reasoning,
        row.tool_call_id,
        row.tool_name,
        row.server,
        row.tool,
        row.tool_status,
        row.tool_code,
        row.is_error,
        message.structured.as_str(),
        row.partial,
        row.kind.as_str(),
        row.tokens,
        row.elapsed_ms,
        row.opaque,
        row.created_at,
        row.version_of,
    ])?;
    message.structured.hold(connection)?;
    put_calls(connection, &row.id, &message.calls)?;
    for (position, (file, kept, text)) in message.files.iter().enumerate() {
        kept.hold(connection)?;
        text.hold(connection)?;
        connection
            .prepare_cached(
                "INSERT INTO message_attachments
                 (id, message_id, position, kind, name, mime, blob, size, text_blob, note, origin)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            )?
            .execute((
                &file.id,
                &row.id,
                position as i64,
                &file.kind,
                &file.name,
                &file.mime,
                kept.as_str(),
                file.size,
                text.as_str(),
                &file.note,
                &file.origin,
            ))?;
    }
    connection
        .prepare_cached(
            "UPDATE sessions SET last_message_at = max(coalesce(last_message_at, 0), ?1), updated_at = ?2
             WHERE id = ?3",
        )?
        .execute((row.created_at, now_ms(), &row.session_id))?;
    Ok(seq)
}

pub(crate) fn put_calls(
    connection: &Connection,
    message: &str,
    calls: &[(ToolCallRow, Kept)],
) -> Result<(), StoreError> {
    for (position, (call, kept)) in calls.iter().enumerate() {
        kept.hold(connection)?;
        connection
            .prepare_cached(
                "INSERT INTO message_tool_calls (message_id, position, call_id, name, server, tool, args_blob,
                   args_preview) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                message,
                position as i64,
                &call.call_id,
                &call.name,
                &call.server,
                &call.tool,
                kept.as_str(),
                &call.args_preview,
            ))?;
    }
    Ok(())
}

pub(crate) fn read_message(connection: &Connection, id: &str) -> Result<Option<MessageRow>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM messages WHERE id = ?1");
    let Some(mut row) = connection.prepare_cached(&sql)?.query_row([id], message_of).optional()? else {
        return Ok(None);
    };
    fill_one(connection, &mut row)?;
    Ok(Some(row))
}

fn fill_one(connection: &Connection, row: &mut MessageRow) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT call_id, name, server, tool, args_blob, args_preview FROM message_tool_calls
         WHERE message_id = ?1 ORDER BY position",
    )?;
    row.tool_calls = statement.query_map([&row.id], |row| call_of(row, 0))?.collect::<Result<_, _>>()?;
    let mut statement = connection.prepare_cached(
        "SELECT id, kind, name, mime, blob, size, text_blob, note, origin FROM message_attachments
         WHERE message_id = ?1 ORDER BY position",
    )?;
    row.attachments = statement.query_map([&row.id], attachment_of)?.collect::<Result<_, _>>()?;
    Ok(())
}

/// Calls and files of a page in two queries, whatever its length.
fn fill(connection: &Connection, session: &str, rows: &mut [MessageRow]) -> Result<(), StoreError> {
    let (Some(first), Some(last)) = (rows.first().map(|row| row.seq), rows.last().map(|row| row.seq)) else {
        return Ok(());
    };
    let at: HashMap<String, usize> =
        rows.iter().enumerate().map(|(index, row)| (row.id.clone(), index)).collect();
    let mut statement = connection.prepare_cached(
        "SELECT c.message_id, c.call_id, c.name, c.server, c.tool, c.args_blob, c.args_preview
         FROM messages m JOIN message_tool_calls c ON c.message_id = m.id
         WHERE m.session_id = ?1 AND m.seq BETWEEN ?2 AND ?3 ORDER BY m.seq, c.position",
    )?;
    for pair in
        statement.query_map((session, first, last), |row| Ok((row.get::<_, String>(0)?, call_of(row, 1)?)))?
    {
        let (message, call) = pair?;
        if let Some(index) = at.get(&message) {
            rows[*index].tool_calls.push(call);
        }
    }
    let mut statement = connection.prepare_cached(
        "SELECT a.id, a.kind, a.name, a.mime, a.blob, a.size, a.text_blob, a.note, a.origin, a.message_id
         FROM messages m JOIN message_attachments a ON a.message_id = m.id
         WHERE m.session_id = ?1 AND m.seq BETWEEN ?2 AND ?3 ORDER BY m.seq, a.position",
    )?;
    for pair in statement
        .query_map((session, first, last), |row| Ok((row.get::<_, String>(9)?, attachment_of(row)?)))?
    {
        let (message, file) = pair?;
        if let Some(index) = at.get(&message) {
            rows[*index].attachments.push(file);
        }
    }
    Ok(())
}

fn call_of(row: &Row<'_>, from: usize) -> rusqlite::Result<ToolCallRow> {
    Ok(ToolCallRow {
        call_id: row.get(from)?,
        name: row.get(from + 1)?,
        server: row.get(from + 2)?,
        tool: row.get(from + 3)?,
        args_blob: row.get(from + 4)?,
        args_preview: row.get(from + 5)?,
    })
}

fn attachment_of(row: &Row<'_>) -> rusqlite::Result<AttachmentRow> {
    Ok(AttachmentRow {
        id: row.get(0)?,
        kind: row.get(1)?,
        name: row.get(2)?,
        mime: row.get(3)?,
        blob: row.get(4)?,
        size: row.get(5)?,
        text_blob: row.get(6)?,
        note: row.get(7)?,
        origin: row.get(8)?,
    })
}

fn message_of(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    let id: String = row.get(0)?;
    Ok(MessageRow {
        session_id: row.get(1)?,
        seq: row.get(2)?,
        run_id: row.get(3)?,
        user_message_id: row.get(4)?,
        role: word(row, 5, "messages", &id)?,
        name: row.get(6)?,
        content: row.get(7)?,
        reasoning: row.get(8)?,
        tool_call_id: row.get(9)?,
        tool_name: row.get(10)?,
        server: row.get(11)?,
        tool: row.get(12)?,
        tool_status: row.get(13)?,
        tool_code: row.get(14)?,
        is_error: row.get(15)?,
        structured_blob: row.get(16)?,
        partial: row.get(17)?,
        kind: word(row, 18, "messages", &id)?,
        tokens: row.get(19)?,
        elapsed_ms: row.get(20)?,
        opaque: row.get(21)?,
        created_at: row.get(22)?,
        version_of: row.get(23)?,
        left_with: row.get(24)?,
        tool_calls: Vec::new(),
        attachments: Vec::new(),
        id,
    })
}
