//! The project journal: entries and facts per project, in one transaction per change (servers §7).

mod import;

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use serde::Serialize;

use crate::db::Store;
use crate::dedupe;
use crate::error::StoreError;
use crate::time::now_ms;

pub use import::JournalImport;

/// An entry to be added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct NewJournalEntry {
    pub title: String,
    pub summary: String,
    pub details: String,
    pub tags: Vec<String>,
    pub files: Vec<String>,
    pub highlights: Vec<String>,
    pub next_steps: Vec<String>,
    pub run_id: String,
    pub session_id: String,
    pub dedupe_key: Option<String>,
}

impl NewJournalEntry {
    /// As reading it back would give it.
    fn stored(self, id: String, created_at: i64) -> JournalEntry {
        let Self { title, summary, details, tags, files, highlights, next_steps, run_id, session_id, .. } =
            self;
        JournalEntry {
            id,
            created_at,
            title,
            tags,
            summary,
            details,
            files,
            highlights,
            next_steps,
            run_id,
            session_id,
        }
    }
}

/// An entry as stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct JournalEntry {
    pub id: String,
    pub created_at: i64,
    pub title: String,
    pub tags: Vec<String>,
    pub summary: String,
    pub details: String,
    pub files: Vec<String>,
    pub highlights: Vec<String>,
    pub next_steps: Vec<String>,
    pub run_id: String,
    pub session_id: String,
}

/// Facts about a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct ProjectInfo {
    pub created_at: i64,
    pub updated_at: i64,
    pub summary: String,
    pub background: String,
    pub git_url: String,
    pub main_config: String,
    pub notes: String,
    pub tags: Vec<String>,
}

/// One iteration of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct ProjectIteration {
    pub id: String,
    pub created_at: i64,
    pub title: String,
    pub summary: String,
    pub details: String,
    pub tags: Vec<String>,
}

/// Facts to change; `None` stays, or is cleared when overwriting.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct ProjectPatch {
    pub summary: Option<String>,
    pub background: Option<String>,
    pub git_url: Option<String>,
    pub main_config: Option<String>,
    pub notes: Option<String>,
    pub tags: Option<Vec<String>>,
    pub overwrite: bool,
}

impl Store {
    /// Adds an entry; a used key gives the entry it made and `true`.
    pub fn add_journal_entry(
        &self,
        root: &str,
        entry: NewJournalEntry,
        ttl_days: i64,
    ) -> Result<(JournalEntry, bool), StoreError> {
        let root = root.to_owned();
        self.write(move |connection| {
            let now = now_ms();
            let scope = format!("journal::{root}::exec_log|run={}|session={}", entry.run_id, entry.session_id);
            let payload = dedupe::payload_hash(&[&entry.title, &entry.summary, &entry.details]);
            if let Some(key) = &entry.dedupe_key
                && let Some(hit) = dedupe::look_up(connection, &scope, key, &payload, now, ttl_days)?
                && let Some(known) = hit.ids.first().map(|id| entry_of(connection, &root, id)).transpose()?.flatten()
            {
                return Ok((known, true));
            }
            let id = uuid::Uuid::now_v7().to_string();
            connection
                .prepare_cached(
                    "INSERT INTO journal_entries (id, project_root, title, summary, details, run_id, session_id, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute(rusqlite::params![
                    id, root, entry.title, entry.summary, entry.details, entry.run_id, entry.session_id, now
                ])?;
            let lists = [
                ("tag", &entry.tags),
                ("file", &entry.files),
                ("highlight", &entry.highlights),
                ("next_step", &entry.next_steps),
            ];
            insert_items(connection, &id, &lists)?;
            if let Some(key) = &entry.dedupe_key {
                dedupe::remember(connection, &scope, key, &payload, &id, now)?;
            }
            Ok((entry.stored(id, now), false))
        })
    }

    /// Entries of a project, newest first, with the total. A query is found anywhere in the texts.
    pub fn list_journal(
        &self,
        root: &str,
        tag: &str,
        query: &str,
        limit: u32,
        offset: u32,
    ) -> Result<(Vec<JournalEntry>, u64), StoreError> {
        self.read_at_once(|connection| {
            let (condition, mut values) = condition(root, tag, query);
            let total = if tag.is_empty() && query.is_empty() {
                entries_of(connection, root)?
            } else {
                connection
                    .prepare_cached(&format!("SELECT count(*) FROM journal_entries e WHERE {condition}"))?
                    .query_row(params_from_iter(values.iter()), |row| row.get::<_, i64>(0))?
                    as u64
            };
            values.push(Sql::from(limit));
            values.push(Sql::from(offset));
            let sql = format!(
                "SELECT {COLUMNS} FROM journal_entries e WHERE {condition} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?"
            );
            let mut entries = connection
                .prepare_cached(&sql)?
                .query_map(params_from_iter(values.iter()), read_entry)?
                .collect::<Result<Vec<_>, _>>()?;
            fill(connection, &mut entries)?;
            Ok((entries, total))
        })
    }

    /// One entry of a project.
    pub fn get_journal_entry(&self, root: &str, id: &str) -> Result<Option<JournalEntry>, StoreError> {
        self.read(|connection| entry_of(connection, root, id))
    }

    /// Every project with a journal, most recent first, with the number of entries.
    pub fn journal_projects(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.read(|connection| {
            let rows = connection
                .prepare_cached(
                    "SELECT project_root, count(*) FROM journal_entries GROUP BY project_root ORDER BY max(created_at) DESC",
                )?
                .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64)))?
                .collect::<Result<Vec<_>, _>>()?;
            Ok(rows)
        })
    }

    /// Facts about a project and its iterations, newest first, with their total.
    pub fn project_info(
        &self,
        root: &str,
        iterations: u32,
    ) -> Result<(Option<ProjectInfo>, Vec<ProjectIteration>, u64), StoreError> {
        self.read_at_once(|connection| {
            let total = connection
                .prepare_cached("SELECT count(*) FROM project_iterations WHERE root = ?1")?
                .query_row([root], |row| row.get::<_, i64>(0))? as u64;
            Ok((info_of(connection, root)?, iterations_of(connection, root, iterations)?, total))
        })
    }

    /// Changes facts; iterations and the creation time always stay. `false` when nothing changed.
    pub fn set_project_info(
        &self,
        root: &str,
        patch: ProjectPatch,
    ) -> Result<(ProjectInfo, bool), StoreError> {
        let root = root.to_owned();
        self.write(move |connection| {
            let now = now_ms();
            let known = info_of(connection, &root)?;
            let before =
                known.clone().unwrap_or_else(|| ProjectInfo { created_at: now, ..ProjectInfo::default() });
            let choose = |new: &Option<String>, old: &String| match new {
                Some(new) => new.clone(),
                None if patch.overwrite => String::new(),
                None => old.clone(),
            };
            let mut tags = patch.tags.clone().unwrap_or_else(|| before.tags.clone());
            tags.sort();
            tags.dedup();
            let after = ProjectInfo {
                created_at: before.created_at,
                updated_at: before.updated_at,
                summary: choose(&patch.summary, &before.summary),
                background: choose(&patch.background, &before.background),
                git_url: choose(&patch.git_url.as_deref().map(without_user), &before.git_url),
                main_config: choose(&patch.main_config, &before.main_config),
                notes: choose(&patch.notes, &before.notes),
                tags,
            };
            if known.is_some() && after == before {
                return Ok((before, false));
            }
            let after = ProjectInfo { updated_at: now, ..after };
            write_info(connection, &root, &after)?;
            Ok((after, true))
        })
    }

    /// Adds an iteration; a used key gives the one it made and `true`.
    pub fn add_project_iteration(
        &self,
        root: &str,
        iteration: ProjectIteration,
        dedupe_key: Option<String>,
        ttl_days: i64,
    ) -> Result<(ProjectIteration, bool), StoreError> {
        let root = root.to_owned();
        self.write(move |connection| {
            let now = now_ms();
            let scope = format!("journal::{root}::iteration");
            let payload = dedupe::payload_hash(&[&iteration.title, &iteration.summary, &iteration.details]);
            if let Some(key) = &dedupe_key
                && let Some(hit) = dedupe::look_up(connection, &scope, key, &payload, now, ttl_days)?
                && let Some(id) = hit.ids.first()
                && let Some(known) =
                    iterations_of(connection, &root, u32::MAX)?.into_iter().find(|one| one.id == *id)
            {
                return Ok((known, true));
            }
            if info_of(connection, &root)?.is_none() {
                let fresh = ProjectInfo { created_at: now, updated_at: now, ..ProjectInfo::default() };
                write_info(connection, &root, &fresh)?;
            }
            let stored =
                ProjectIteration { id: uuid::Uuid::now_v7().to_string(), created_at: now, ..iteration };
            connection
                .prepare_cached(
                    "INSERT INTO project_iterations (id, root, title, summary, details, created_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute((&stored.id, &root, &stored.title, &stored.summary, &stored.details, now))?;
            for tag in &stored.tags {
                connection
                    .prepare_cached(
                        "INSERT OR IGNORE INTO project_iteration_tags (iteration_id, tag) VALUES (?1, ?2)",
                    )?
                    .execute((&stored.id, tag))?;
            }
            if let Some(key) = &dedupe_key {
                dedupe::remember(connection, &scope, key, &payload, &stored.id, now)?;
            }
            Ok((stored, false))
        })
    }
}

fn insert_items(connection: &Connection, id: &str, lists: &[(&str, &Vec<String>)]) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO journal_entry_items (entry_id, kind, position, value) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (kind, values) in lists {
        for (position, value) in values.iter().enumerate() {
            statement.execute((id, kind, position as i64, value))?;
        }
    }
    Ok(())
}

/// Kept by the table itself, so that the newest entries of a long journal come as fast as of a short one.
fn entries_of(connection: &Connection, root: &str) -> Result<u64, StoreError> {
    let entries: Option<i64> = connection
        .prepare_cached("SELECT entries FROM journal_counts WHERE project_root = ?1")?
        .query_row([root], |row| row.get(0))
        .optional()?;
    Ok(entries.unwrap_or_default() as u64)
}

/// Full text where the trigram index can serve it; shorter queries look at this project's rows.
fn condition(root: &str, tag: &str, query: &str) -> (String, Vec<Sql>) {
    let mut parts = vec!["e.project_root = ?".to_owned()];
    let mut values = vec![Sql::from(root.to_owned())];
    if !tag.is_empty() {
        parts.push(
            "EXISTS (SELECT 1 FROM journal_entry_items i WHERE i.entry_id = e.id AND i.kind = 'tag' AND i.value = ?)"
                .to_owned(),
        );
        values.push(Sql::from(tag.to_owned()));
    }
    if !query.is_empty() {
        // Not correlated: the items are looked through once, not once per entry.
        let items = "e.id IN (SELECT i.entry_id FROM journal_entry_items i \
                     WHERE i.kind IN ('file', 'highlight') AND instr(lower(i.value), lower(?)) > 0)";
        if query.chars().count() >= 3 {
            parts.push(format!(
                "(e.rowid IN (SELECT rowid FROM journal_fts WHERE journal_fts MATCH ?) OR {items})"
            ));
            values.push(Sql::from(format!("\"{}\"", query.replace('"', "\"\""))));
        } else {
            parts.push(format!("(instr(lower(e.title || char(10) || e.summary || char(10) || e.details), lower(?)) > 0 OR {items})"));
            values.push(Sql::from(query.to_owned()));
        }
        values.push(Sql::from(query.to_owned()));
    }
    (parts.join(" AND "), values)
}

const COLUMNS: &str = "id, created_at, title, summary, details, run_id, session_id";

fn read_entry(row: &Row<'_>) -> rusqlite::Result<JournalEntry> {
    Ok(JournalEntry {
        id: row.get(0)?,
        created_at: row.get(1)?,
        title: row.get(2)?,
        summary: row.get(3)?,
        details: row.get(4)?,
        run_id: row.get(5)?,
        session_id: row.get(6)?,
        ..JournalEntry::default()
    })
}

fn entry_of(connection: &Connection, root: &str, id: &str) -> Result<Option<JournalEntry>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM journal_entries WHERE id = ?1 AND project_root = ?2");
    let Some(entry) = connection.prepare_cached(&sql)?.query_row((id, root), read_entry).optional()? else {
        return Ok(None);
    };
    let mut entries = [entry];
    fill(connection, &mut entries)?;
    Ok(entries.into_iter().next())
}

/// The lists of all these entries, with one statement however many they are.
fn fill(connection: &Connection, entries: &mut [JournalEntry]) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let ids = serde_json::Value::from(entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>());
    let mut statement = connection.prepare_cached(
        "SELECT wanted.key, item.kind, item.value FROM json_each(?1) AS wanted
         CROSS JOIN journal_entry_items AS item ON item.entry_id = wanted.value
         ORDER BY wanted.key, item.kind, item.position",
    )?;
    let mut rows = statement.query([ids.to_string()])?;
    while let Some(row) = rows.next()? {
        let Some(entry) = entries.get_mut(row.get::<_, u32>(0)? as usize) else { continue };
        let value = row.get(2)?;
        match row.get::<_, String>(1)?.as_str() {
            "tag" => entry.tags.push(value),
            "file" => entry.files.push(value),
            "highlight" => entry.highlights.push(value),
            _ => entry.next_steps.push(value),
        }
    }
    Ok(())
}

fn info_of(connection: &Connection, root: &str) -> Result<Option<ProjectInfo>, StoreError> {
    let info = connection
        .prepare_cached(
            "SELECT created_at, updated_at, summary, background, git_url, main_config, notes FROM projects WHERE root = ?1",
        )?
        .query_row([root], |row| {
            Ok(ProjectInfo {
                created_at: row.get(0)?,
                updated_at: row.get(1)?,
                summary: row.get(2)?,
                background: row.get(3)?,
                git_url: row.get(4)?,
                main_config: row.get(5)?,
                notes: row.get(6)?,
                tags: Vec::new(),
            })
        })
        .optional()?;
    let Some(mut info) = info else { return Ok(None) };
    info.tags = connection
        .prepare_cached("SELECT tag FROM project_tags WHERE root = ?1 ORDER BY tag")?
        .query_map([root], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(Some(info))
}

fn write_info(connection: &Connection, root: &str, info: &ProjectInfo) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO projects (root, summary, background, git_url, main_config, notes, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (root) DO UPDATE SET summary = excluded.summary, background = excluded.background,
               git_url = excluded.git_url, main_config = excluded.main_config, notes = excluded.notes,
               updated_at = excluded.updated_at",
        )?
        .execute(rusqlite::params![
            root,
            info.summary,
            info.background,
            info.git_url,
            info.main_config,
            info.notes,
            info.created_at,
            info.updated_at,
        ])?;
    connection.prepare_cached("DELETE FROM project_tags WHERE root = ?1")?.execute([root])?;
    for tag in &info.tags {
        connection
            .prepare_cached("INSERT INTO project_tags (root, tag) VALUES (?1, ?2)")?
            .execute((root, tag))?;
    }
    Ok(())
}

fn iterations_of(
    connection: &Connection,
    root: &str,
    limit: u32,
) -> Result<Vec<ProjectIteration>, StoreError> {
    let mut found = connection
        .prepare_cached(
            "SELECT id, created_at, title, summary, details FROM project_iterations
             WHERE root = ?1 ORDER BY created_at DESC, id DESC LIMIT ?2",
        )?
        .query_map((root, limit), |row| {
            Ok(ProjectIteration {
                id: row.get(0)?,
                created_at: row.get(1)?,
                title: row.get(2)?,
                summary: row.get(3)?,
                details: row.get(4)?,
                tags: Vec::new(),
            })
        })?
        .collect::<Result<Vec<_>, _>>()?;
    for iteration in &mut found {
        iteration.tags = connection
            .prepare_cached("SELECT tag FROM project_iteration_tags WHERE iteration_id = ?1 ORDER BY tag")?
            .query_map([&iteration.id], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
    }
    Ok(found)
}

/// `https://user:token@host/x` → `https://host/x`: a journal is read by many, a token is not theirs.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) =
        rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match path {
        Some(path) => format!("{scheme}://{host}/{path}"),
        None => format!("{scheme}://{host}"),
    }
}

#[cfg(test)]
mod tests;
