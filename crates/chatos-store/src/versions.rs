//! Versions of messages: what a person said differently, and answers given again.
//!
//! A chat is one row of messages in the order of their `seq`; there is no tree to walk. A message that takes the place
//! of another has `version_of`, the first one in that place. Everything from the replaced message on is *left with* it:
//! still there, not shown, not sent to models. Choosing a version leaves the present one the same way and brings back
//! what was left with the chosen one. What is shown is therefore always in order: a version is younger than everything
//! before its place. Summaries that reach into what is left are left as well.

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
