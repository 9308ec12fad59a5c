//! Versions of messages: what a person said differently, and answers given again.
//!
//! A chat is one row of messages in the order of their `seq`; there is no tree to walk. A message that takes the place
//! of another has `version_of`, the first one in that place. Everything from the replaced message on is *left with* it:
//! still there, not shown, not sent to models. Choosing a version leaves the present one the same way and brings back
//! what was left with the chosen one. What is shown is therefore always in order: a version is younger than everything
//! before its place. Summaries that reach into what is left are left as well. A version can be deleted with everything
//! that hangs on it.

use rusqlite::{Connection, OptionalExtension};

use crate::db::Store;
use crate::error::{StoreError, StoreErrorKind};

impl Store {
    /// The versions in the place of a message, oldest first; none when there is only one.
    pub fn versions(&self, id: &str, version_of: &str) -> Result<Vec<String>, StoreError> {
        let first = if version_of.is_empty() { id } else { version_of };
        self.read(|connection| {
            let mut all = members(connection, first)?;
            if all.len() == 1 {
                all.clear();
            }
            Ok(all)
        })
    }

    /// Shows a version of a message in place of the present one, with everything that was left with it.
    pub fn select_version(&self, session: &str, id: &str) -> Result<(), StoreError> {
        let (session, id) = (session.to_owned(), id.to_owned());
        self.write(move |connection| {
            let found: Option<(String, String)> = connection
                .prepare_cached(
                    "SELECT version_of, left_with FROM messages WHERE id = ?1 AND session_id = ?2",
                )?
                .query_row((&id, &session), |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((version_of, left_with)) = found else {
                return Err(StoreError::new(
                    StoreErrorKind::NotFound,
                    format!("there is no message `{id}` in this chat"),
                ));
            };
            if left_with.is_empty() {
                return Ok(());
            }
            if left_with != id {
                return Err(StoreError::new(
                    StoreErrorKind::Conflict,
                    format!("the message `{id}` belongs to another version of an earlier one"),
                ));
            }
            leave(connection, &session, if version_of.is_empty() { &id } else { &version_of })?;
            bring_back(connection, &session, &id)
        })
    }
}

/// What goes with a version, and how much of it a person reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VersionSize {
    /// Messages of the person and replies with words.
    pub messages: u64,
    /// Other versions of its place, which stay.
    pub others: u64,
}

impl Store {
    /// What [`Store::delete_version`] would delete; nothing where there is no such message of a person.
    pub fn version_size(&self, session: &str, id: &str) -> Result<Option<VersionSize>, StoreError> {
        self.read(|connection| {
            let Some(version) = version(connection, session, id)? else { return Ok(None) };
            let others = members(connection, &version.first)?.len() - 1;
            Ok(Some(size(&hanging(connection, session, &version)?, others)))
        })
    }

    /// Deletes a version of a person's message and everything that hangs on it: what followed, other versions of
    /// what followed, their runs. Where it was shown, the newest version that is left is shown.
    pub fn delete_version(&self, session: &str, id: &str) -> Result<Option<VersionSize>, StoreError> {
        let (session, id) = (session.to_owned(), id.to_owned());
        self.write(move |connection| {
            let Some(version) = version(connection, &session, &id)? else { return Ok(None) };
            let gone = hanging(connection, &session, &version)?;
            let others: Vec<String> =
                members(connection, &version.first)?.into_iter().filter(|other| *other != id).collect();
            delete(connection, &session, &version, &gone)?;
            if let Some(oldest) = others.first()
                && version.first == id
            {
                let sql = "UPDATE messages SET version_of = CASE WHEN id = ?2 THEN '' ELSE ?2 END
                           WHERE session_id = ?3 AND version_of = ?1";
                connection.prepare_cached(sql)?.execute((&id, oldest, &session))?;
            }
            if let Some(newest) = others.last()
                && version.shown
            {
                bring_back(connection, &session, newest)?;
            }
            crate::prune::recount(connection)?;
            Ok(Some(size(&gone, others.len())))
        })
    }
}

/// A message of a person as one of the versions of its place.
struct Version {
    id: String,
    seq: i64,
    first: String,
    shown: bool,
}

fn version(connection: &Connection, session: &str, id: &str) -> Result<Option<Version>, StoreError> {
    // One inside a version that is left belongs to that one.
    let sql = "SELECT id, seq, coalesce(nullif(version_of, ''), id), left_with = '' FROM messages
               WHERE id = ?1 AND session_id = ?2 AND role = 'user' AND kind = 'normal' AND left_with IN ('', id)";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Version { id: row.get(0)?, seq: row.get(1)?, first: row.get(2)?, shown: row.get(3)? })
    };
    Ok(statement.query_row((id, session), read).optional()?)
}

/// A message that goes, its run, and whether a person reads it.
type Gone = (String, String, bool);

/// Everything that hangs on a version: what is shown after it or was left with it, and, of every place among that, what
/// was left with the place's other versions.
fn hanging(connection: &Connection, session: &str, version: &Version) -> Result<Vec<Gone>, StoreError> {
    let sql = "WITH RECURSIVE
       gone (id, place) AS (
         SELECT id, coalesce(nullif(version_of, ''), id) FROM messages WHERE session_id = ?1
           AND CASE WHEN ?2 THEN left_with = '' AND seq >= ?3 ELSE left_with = ?4 END
         UNION
         SELECT m.id, coalesce(nullif(m.version_of, ''), m.id) FROM gone
           JOIN aside ON aside.place = gone.place AND aside.place != ?5
           JOIN messages m ON m.session_id = ?1 AND m.left_with = aside.id),
       aside (id, place) AS MATERIALIZED (
         SELECT id, coalesce(nullif(version_of, ''), id) FROM messages WHERE session_id = ?1 AND left_with = id)
     SELECT m.id, m.run_id, m.role IN ('user', 'assistant') AND m.content != ''
     FROM gone JOIN messages m ON m.id = gone.id";
    let given = (session, version.shown, version.seq, &version.id, &version.first);
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(given, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn size(gone: &[Gone], others: usize) -> VersionSize {
    VersionSize { messages: gone.iter().filter(|(.., read)| *read).count() as u64, others: others as u64 }
}

fn delete(
    connection: &Connection,
    session: &str,
    version: &Version,
    gone: &[Gone],
) -> Result<(), StoreError> {
    // Of what is shown, summaries that reach into it; of what was left, those that were left with it.
    let (marked, from) = if version.shown { ("", version.seq) } else { (version.id.as_str(), 0) };
    let sql = "DELETE FROM summaries WHERE session_id = ?1 AND left_with = ?2 AND to_seq >= ?3";
    connection.prepare_cached(sql)?.execute((session, marked, from))?;
    for (id, run, _) in gone {
        connection.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([id])?;
        connection.prepare_cached(sql)?.execute((session, id, 0))?;
        // A run and its subagents, whose messages are kept under the numbers of their runs.
        if !run.is_empty() {
            let family = "SELECT id FROM runs WHERE session_id = ?1 AND (id = ?2 OR root_run_id = ?2)";
            for table in ["sessions", "runs"] {
                let sql = format!("DELETE FROM {table} WHERE id != ?1 AND id IN ({family})");
                connection.prepare_cached(&sql)?.execute((session, run))?;
            }
        }
    }
    // Places are given again from the end: what was found out about those that are gone says nothing about new ones.
    let sql = "UPDATE context_marks SET to_seq = min(to_seq,
                 (SELECT coalesce(max(seq), 0) FROM messages WHERE session_id = ?1)) WHERE session_id = ?1";
    connection.prepare_cached(sql)?.execute([session])?;
    Ok(())
}

/// All versions in one place, oldest first.
fn members(connection: &Connection, first: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM messages WHERE version_of = ?1 AND version_of != '' ORDER BY seq")?;
    let mut all = vec![first.to_owned()];
    for id in statement.query_map([first], |row| row.get(0))? {
        all.push(id?);
    }
    Ok(all)
}

/// Leaves the shown version of a place, and everything after it.
pub(crate) fn leave(connection: &Connection, session: &str, first: &str) -> Result<(), StoreError> {
    let shown: Option<(String, i64)> = connection
        .prepare_cached(
            "SELECT id, seq FROM messages WHERE session_id = ?1 AND left_with = ''
               AND (id = ?2 OR (version_of = ?2 AND version_of != ''))",
        )?
        .query_row((session, first), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((shown, seq)) = shown else { return Ok(()) };
    connection
        .prepare_cached(
            "UPDATE messages SET left_with = ?3 WHERE session_id = ?1 AND seq >= ?2 AND left_with = ''",
        )?
        .execute((session, seq, &shown))?;
    connection
        .prepare_cached(
            "UPDATE summaries SET left_with = ?3 WHERE session_id = ?1 AND to_seq >= ?2 AND left_with = ''",
        )?
        .execute((session, seq, &shown))?;
    Ok(())
}

fn bring_back(connection: &Connection, session: &str, id: &str) -> Result<(), StoreError> {
    for table in ["messages", "summaries"] {
        let sql = format!("UPDATE {table} SET left_with = '' WHERE session_id = ?1 AND left_with = ?2");
        connection.prepare_cached(&sql)?.execute((session, id))?;
    }
    Ok(())
}

/// A version was taken back before anybody read it: the one before it is shown again.
pub(crate) fn taken_back(connection: &Connection, session: &str, version_of: &str) -> Result<(), StoreError> {
    match members(connection, version_of)?.pop() {
        Some(newest) if !version_of.is_empty() => bring_back(connection, session, &newest),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use chatos_wire::MessageRole;

    use super::*;
    use crate::messages::{MessageRow, NewMessage, SummaryRow};
    use crate::sessions::SessionRow;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(crate::db::tests::options(dir.path())).unwrap();
        (dir, store)
    }

    fn say(store: &Store, id: &str, version_of: &str) {
        let role = if id.starts_with('q') { MessageRole::User } else { MessageRole::Assistant };
        let row = MessageRow {
            id: id.to_owned(),
            session_id: "s".to_owned(),
            role,
            content: id.to_owned(),
            version_of: version_of.to_owned(),
            ..MessageRow::default()
        };
        store.append_message(NewMessage { row, ..NewMessage::default() }).unwrap();
    }

    fn shown(store: &Store) -> String {
        let all = store.messages_after("s", 0).unwrap();
        let page = store.messages("s", None, 100).unwrap().0;
        assert_eq!(all, page);
        all.into_iter().map(|row| row.id).collect::<Vec<_>>().join(" ")
    }

    fn chat(store: &Store) {
        store.create_session(SessionRow { id: "s".to_owned(), ..SessionRow::default() }).unwrap();
        for id in ["q1", "a1", "q2", "a2"] {
            say(store, id, "");
        }
    }

    #[test]
    fn a_version_takes_the_place_of_the_message_and_of_what_followed() {
        let (_folder, store) = store();
        chat(&store);
        say(&store, "q1b", "q1");
        say(&store, "a1b", "");
        assert_eq!(shown(&store), "q1b a1b");
        assert_eq!(store.versions("q1b", "q1").unwrap(), ["q1", "q1b"]);
        assert_eq!(store.versions("q2", "").unwrap(), [""; 0]);

        store.select_version("s", "q1").unwrap();
        assert_eq!(shown(&store), "q1 a1 q2 a2");
        say(&store, "q3", "");
        // A version within a version: each place remembers what was left with it.
        say(&store, "q2b", "q2");
        say(&store, "a2b", "");
        assert_eq!(shown(&store), "q1 a1 q2b a2b");
        store.select_version("s", "q1b").unwrap();
        assert_eq!(shown(&store), "q1b a1b");
        store.select_version("s", "q1").unwrap();
        assert_eq!(shown(&store), "q1 a1 q2b a2b");
        store.select_version("s", "q2").unwrap();
        assert_eq!(shown(&store), "q1 a1 q2 a2 q3");
        store.select_version("s", "q2").unwrap();
        assert_eq!(shown(&store), "q1 a1 q2 a2 q3");
    }

    #[test]
    fn only_versions_can_be_chosen() {
        let (_folder, store) = store();
        chat(&store);
        say(&store, "q1b", "q1");
        for (id, kind) in [("a1", StoreErrorKind::Conflict), ("q2", StoreErrorKind::Conflict)] {
            assert_eq!(store.select_version("s", id).unwrap_err().kind, kind, "{id}");
        }
        assert_eq!(store.select_version("s", "x").unwrap_err().kind, StoreErrorKind::NotFound);
        assert_eq!(store.select_version("t", "q1").unwrap_err().kind, StoreErrorKind::NotFound);
        assert_eq!(shown(&store), "q1b");
    }

    #[test]
    fn a_deleted_version_takes_what_hangs_on_it_and_nothing_else() {
        let (_folder, store) = store();
        chat(&store);
        say(&store, "q2b", "q2");
        say(&store, "a2b", "");
        say(&store, "q1b", "q1");
        say(&store, "a1b", "");
        say(&store, "q1c", "q1");
        say(&store, "a1c", "");
        let left = || {
            let sql = "SELECT count(*) FROM messages";
            store.read(|connection| Ok(connection.query_row(sql, [], |row| row.get::<_, i64>(0))?)).unwrap()
        };
        // Not a message of the person, not of this chat, inside a version that is left.
        for (session, id) in [("s", "a1c"), ("t", "q1c"), ("s", "q2b"), ("s", "x")] {
            assert_eq!(store.delete_version(session, id).unwrap(), None, "{id}");
        }
        // One that is left goes quietly.
        let size = VersionSize { messages: 2, others: 2 };
        assert_eq!(store.version_size("s", "q1b").unwrap(), Some(size));
        assert_eq!(store.delete_version("s", "q1b").unwrap(), Some(size));
        assert_eq!((shown(&store).as_str(), left()), ("q1c a1c", 8));
        assert_eq!(store.versions("q1c", "q1").unwrap(), ["q1", "q1c"]);
        // The shown one gives its place to the newest that is left.
        store.delete_version("s", "q1c").unwrap();
        assert_eq!(shown(&store), "q1 a1 q2b a2b");
        assert_eq!(store.versions("q1", "").unwrap(), [""; 0]);
        // The first of a place goes, the others stay versions of one another.
        say(&store, "q2c", "q2");
        store.delete_version("s", "q2").unwrap();
        assert_eq!(store.versions("q2c", "q2b").unwrap(), ["q2b", "q2c"]);
        store.select_version("s", "q2b").unwrap();
        assert_eq!(shown(&store), "q1 a1 q2b a2b");
        // All versions of what followed hang on the first message.
        let all = VersionSize { messages: 5, others: 0 };
        assert_eq!(store.delete_version("s", "q1").unwrap(), Some(all));
        assert_eq!((shown(&store).as_str(), left()), ("", 0));
        say(&store, "q9", "");
        assert_eq!(shown(&store), "q9");
    }

    #[test]
    fn summaries_of_what_is_left_are_left() {
        let (_folder, store) = store();
        chat(&store);
        let summary = |id: &str, to_seq: i64| SummaryRow {
            id: id.to_owned(),
            session_id: "s".to_owned(),
            from_seq: 1,
            to_seq,
            ..SummaryRow::default()
        };
        store.add_summary(summary("early", 2)).unwrap();
        store.add_summary(summary("late", 4)).unwrap();
        let ids =
            || store.summaries("s").unwrap().into_iter().map(|row| row.id).collect::<Vec<_>>().join(" ");
        say(&store, "q2b", "q2");
        assert_eq!(ids(), "early");
        say(&store, "q1b", "q1");
        assert_eq!(ids(), "");
        store.select_version("s", "q1").unwrap();
        assert_eq!(ids(), "early");
        store.select_version("s", "q2").unwrap();
        assert_eq!(ids(), "early late");
    }
}
