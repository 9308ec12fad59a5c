//! Tasks: every change is one targeted statement, so processes never undo each other's work (servers §6).

use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};
use serde::Serialize;

use crate::db::Store;
use crate::dedupe;
use crate::error::{StoreError, StoreErrorKind};
use crate::time::now_ms;

/// Which list a task belongs to, and who made it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskContext {
    /// `default`, `cli` or `chat`.
    pub scope: String,
    /// `main` or `subagent`.
    pub caller: String,
    /// Empty when unknown; never invented.
    pub run_id: String,
    /// Empty when unknown.
    pub session_id: String,
    /// Empty when unknown.
    pub user_message_id: String,
}

/// A task to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTask {
    /// 1..300 characters, checked by the caller.
    pub title: String,
    /// Stored as given.
    pub details: String,
    /// `high`, `medium` or `low`.
    pub priority: String,
    /// `todo`, `doing`, `blocked` or `done`.
    pub status: String,
    /// De-duplicated by the table.
    pub tags: Vec<String>,
    /// The same key makes one task.
    pub dedupe_key: Option<String>,
}

/// A task as stored. Reading never rejects one, whatever its texts hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct Task {
    pub id: String,
    pub title: String,
    pub details: String,
    pub status: String,
    pub priority: String,
    pub scope: String,
    pub caller: String,
    pub tags: Vec<String>,
    pub run_id: String,
    pub session_id: String,
    pub user_message_id: String,
    pub created_at: i64,
    pub updated_at: i64,
    pub completed_at: Option<i64>,
    pub notes: Vec<TaskNote>,
}

/// A remark on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskNote {
    /// `note` or `completion`.
    pub kind: String,
    /// What was said.
    pub text: String,
    /// When.
    pub created_at: i64,
}

/// What adding tasks did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedTasks {
    /// New ones, in order.
    pub created: Vec<Task>,
    /// Ones that were there, and whether the payload was another.
    pub deduped: Vec<(Task, bool)>,
    /// Open tasks of the same list afterwards.
    pub open: u64,
}

/// Which tasks are meant. Empty texts mean any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFilter {
    /// `default`, `cli`, `chat`; empty is every list.
    pub scope: String,
    /// Exact.
    pub run_id: String,
    /// Exact.
    pub session_id: String,
    /// Exact.
    pub status: String,
    /// Exact.
    pub priority: String,
    /// Exact.
    pub tag: String,
    /// In title or details, ignoring case.
    pub query: String,
    /// Leave finished ones out.
    pub open_only: bool,
    /// Only tasks that belong to no run.
    pub without_run: bool,
    /// Only tasks that belong to no session.
    pub without_session: bool,
}

impl TaskFilter {
    /// Whether the kept counts answer it.
    fn is_counted(&self) -> bool {
        self.status.is_empty() && self.priority.is_empty() && self.tag.is_empty() && self.query.is_empty()
    }
}

/// Fields to change; `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub struct TaskPatch {
    pub title: Option<String>,
    pub details: Option<String>,
    pub append_note: Option<String>,
    pub priority: Option<String>,
    pub status: Option<String>,
    pub tags: Option<Vec<String>>,
    pub run_id: Option<String>,
    pub session_id: Option<String>,
}

impl Store {
    /// Makes tasks in one transaction; keys that were used give the task they made.
    pub fn add_tasks(
        &self,
        context: TaskContext,
        tasks: Vec<NewTask>,
        ttl_days: i64,
    ) -> Result<AddedTasks, StoreError> {
        self.write(move |connection| {
            let now = now_ms();
            let scope = dedupe_scope(&context);
            let (mut created, mut deduped): (Vec<Task>, Vec<(Task, bool)>) = (Vec::new(), Vec::new());
            for (index, task) in tasks.iter().enumerate() {
                let tags = task.tags.join("\u{1f}");
                let payload =
                    dedupe::payload_hash(&[&task.title, &task.details, &task.priority, &task.status, &tags]);
                if let Some(key) = &task.dedupe_key
                    && let Some(hit) = dedupe::look_up(connection, &scope, key, &payload, now, ttl_days)?
                    && let Some(known) = hit.ids.first().map(|id| one(connection, id)).transpose()?.flatten()
                {
                    if !created.iter().any(|task| task.id == known.id) {
                        deduped.push((known, hit.differs));
                    }
                    continue;
                }
                let id = uuid::Uuid::now_v7().to_string();
                // Tasks of one call keep their order also in lists sorted by time.
                let at = now + index as i64;
                let made = insert(connection, &context, task, id, at)?;
                if let Some(key) = &task.dedupe_key {
                    dedupe::remember(connection, &scope, key, &payload, &made.id, now)?;
                }
                created.push(made);
            }
            let filter = TaskFilter {
                scope: context.scope.clone(),
                session_id: context.session_id.clone(),
                run_id: context.run_id.clone(),
                ..TaskFilter::default()
            };
            Ok(AddedTasks { created, deduped, open: count(connection, &filter, true)? })
        })
    }

    /// Tasks, most recently updated first, with the total and the number of open ones.
    pub fn list_tasks(
        &self,
        filter: &TaskFilter,
        limit: u32,
        offset: u32,
    ) -> Result<(Vec<Task>, u64, u64), StoreError> {
        self.read_at_once(|connection| {
            let (condition, mut values) = condition(filter);
            let total = count(connection, filter, false)?;
            let open = count(connection, filter, true)?;
            values.push(Sql::from(limit));
            values.push(Sql::from(offset));
            let sql = format!("SELECT {COLUMNS} FROM tasks WHERE {condition} ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?");
            let mut statement = connection.prepare_cached(&sql)?;
            let mut tasks =
                statement.query_map(params_from_iter(values), read_row)?.collect::<Result<Vec<_>, _>>()?;
            fill(connection, &mut tasks)?;
            Ok((tasks, total, open))
        })
    }

    /// The tasks that these keys made, for asking only about new ones. `None` where a key is free.
    pub fn tasks_of_keys(
        &self,
        context: &TaskContext,
        keys: &[String],
        ttl_days: i64,
    ) -> Result<Vec<Option<Task>>, StoreError> {
        let scope = dedupe_scope(context);
        self.read(|connection| {
            let known = |key: &String| match dedupe::peek(connection, &scope, key, now_ms(), ttl_days)? {
                Some(id) => one(connection, &id),
                None => Ok(None),
            };
            keys.iter().map(known).collect()
        })
    }

    /// One task.
    pub fn get_task(&self, id: &str) -> Result<Option<Task>, StoreError> {
        self.read(|connection| one(connection, id))
    }

    /// Changes the given fields and tells which of them changed.
    pub fn update_task(&self, id: &str, patch: TaskPatch) -> Result<(Task, Vec<&'static str>), StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let before = one(connection, &id)?.ok_or_else(|| missing(&id))?;
            let now = now_ms();
            let mut changed = Vec::new();
            let fields = [
                ("title", &patch.title, &before.title),
                ("details", &patch.details, &before.details),
                ("priority", &patch.priority, &before.priority),
                ("status", &patch.status, &before.status),
                ("run_id", &patch.run_id, &before.run_id),
                ("session_id", &patch.session_id, &before.session_id),
            ];
            for (column, new, old) in fields {
                if let Some(new) = new
                    && new != old
                {
                    connection
                        .prepare_cached(&format!("UPDATE tasks SET {column} = ?2 WHERE id = ?1"))?
                        .execute((&id, new))?;
                    changed.push(column);
                }
            }
            if changed.contains(&"status") {
                let done = patch.status.as_deref() == Some("done");
                connection
                    .prepare_cached("UPDATE tasks SET completed_at = ?2 WHERE id = ?1")?
                    .execute((&id, done.then_some(now)))?;
            }
            if let Some(tags) = &patch.tags
                && sorted(tags) != sorted(&before.tags)
            {
                set_tags(connection, &id, tags)?;
                changed.push("tags");
            }
            if let Some(note) = patch.append_note.as_deref().filter(|note| !note.trim().is_empty()) {
                add_note(connection, &id, "note", note, now)?;
                changed.push("notes");
            }
            if !changed.is_empty() {
                touch(connection, &id, now)?;
            }
            Ok((one(connection, &id)?.ok_or_else(|| missing(&id))?, changed))
        })
    }

    /// Marks a task done with a note; `false` when it already was, with the same note.
    pub fn complete_task(&self, id: &str, note: &str) -> Result<(Task, bool), StoreError> {
        let (id, note) = (id.to_owned(), note.to_owned());
        self.write(move |connection| {
            let before = one(connection, &id)?.ok_or_else(|| missing(&id))?;
            let same = before.notes.iter().any(|known| known.kind == "completion" && known.text == note);
            if before.status == "done" && same {
                return Ok((before, false));
            }
            let now = now_ms();
            connection
                .prepare_cached("UPDATE tasks SET status = 'done', completed_at = coalesce(completed_at, ?2) WHERE id = ?1")?
                .execute((&id, now))?;
            add_note(connection, &id, "completion", &note, now)?;
            touch(connection, &id, now)?;
            Ok((one(connection, &id)?.ok_or_else(|| missing(&id))?, true))
        })
    }

    /// Deletes all matching tasks with one statement and tells how many went and how many remain.
    pub fn clear_tasks(&self, filter: TaskFilter) -> Result<(u64, u64), StoreError> {
        self.write(move |connection| {
            let (condition, values) = condition(&filter);
            let mut statement =
                connection.prepare_cached(&format!("DELETE FROM tasks WHERE {condition} RETURNING id"))?;
            let gone = statement
                .query_map(params_from_iter(values), |row| row.get::<_, String>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            for id in &gone {
                dedupe::forget(connection, "task::", id)?;
            }
            let rest = TaskFilter { status: String::new(), tag: String::new(), open_only: false, ..filter };
            Ok((gone.len() as u64, count(connection, &rest, false)?))
        })
    }

    /// Deletes one task; `false` when there was none.
    pub fn delete_task(&self, id: &str) -> Result<bool, StoreError> {
        let id = id.to_owned();
        self.write(move |connection| {
            let gone = connection.prepare_cached("DELETE FROM tasks WHERE id = ?1")?.execute([&id])?;
            dedupe::forget(connection, "task::", &id)?;
            Ok(gone > 0)
        })
    }
}

const COLUMNS: &str = "id, title, details, status, priority, scope, caller, run_id, session_id, user_message_id, \
                       created_at, updated_at, completed_at";

/// tools §14: empty parts are left out; both empty leaves the bare prefix.
fn dedupe_scope(context: &TaskContext) -> String {
    let mut parts = Vec::new();
    if !context.run_id.is_empty() {
        parts.push(format!("run={}", context.run_id));
    }
    if !context.session_id.is_empty() {
        parts.push(format!("session={}", context.session_id));
    }
    format!("task::{}", parts.join("|"))
}

fn missing(id: &str) -> StoreError {
    StoreError::new(StoreErrorKind::NotFound, format!("no task `{id}`"))
}

/// Stores a new task and gives it as reading it back would.
fn insert(
    connection: &Connection,
    context: &TaskContext,
    task: &NewTask,
    id: String,
    now: i64,
) -> Result<Task, StoreError> {
    let made = Task {
        id,
        title: task.title.clone(),
        details: task.details.clone(),
        status: task.status.clone(),
        priority: task.priority.clone(),
        scope: context.scope.clone(),
        caller: context.caller.clone(),
        tags: sorted(&task.tags).into_iter().cloned().collect(),
        run_id: context.run_id.clone(),
        session_id: context.session_id.clone(),
        user_message_id: context.user_message_id.clone(),
        created_at: now,
        updated_at: now,
        completed_at: (task.status == "done").then_some(now),
        notes: Vec::new(),
    };
    connection
        .prepare_cached(
            "INSERT INTO tasks (id, title, details, status, priority, scope, caller, run_id, session_id,
               user_message_id, created_at, updated_at, completed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(rusqlite::params![
            made.id,
            made.title,
            made.details,
            made.status,
            made.priority,
            made.scope,
            made.caller,
            made.run_id,
            made.session_id,
            made.user_message_id,
            made.created_at,
            made.updated_at,
            made.completed_at,
        ])?;
    add_tags(connection, &made.id, &made.tags)?;
    Ok(made)
}

fn set_tags(connection: &Connection, id: &str, tags: &[String]) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM task_tags WHERE task_id = ?1")?.execute([id])?;
    add_tags(connection, id, tags)
}

fn add_tags(connection: &Connection, id: &str, tags: &[String]) -> Result<(), StoreError> {
    for tag in tags {
        connection
            .prepare_cached("INSERT OR IGNORE INTO task_tags (task_id, tag) VALUES (?1, ?2)")?
            .execute((id, tag))?;
    }
    Ok(())
}

fn add_note(connection: &Connection, id: &str, kind: &str, text: &str, now: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO task_notes (id, task_id, kind, text, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((uuid::Uuid::now_v7().to_string(), id, kind, text, now))?;
    Ok(())
}

/// A change is always the newest of all, also within one millisecond, after a batch and after a clock jump.
fn touch(connection: &Connection, id: &str, now: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE tasks SET updated_at = max(?2, (SELECT max(updated_at) FROM tasks) + 1) WHERE id = ?1",
        )?
        .execute((id, now))?;
    Ok(())
}

fn one(connection: &Connection, id: &str) -> Result<Option<Task>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM tasks WHERE id = ?1");
    let Some(task) = connection.prepare_cached(&sql)?.query_row([id], read_row).optional()? else {
        return Ok(None);
    };
    let mut tasks = [task];
    fill(connection, &mut tasks)?;
    Ok(tasks.into_iter().next())
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: row.get(0)?,
        title: row.get(1)?,
        details: row.get(2)?,
        status: row.get(3)?,
        priority: row.get(4)?,
        scope: row.get(5)?,
        caller: row.get(6)?,
        run_id: row.get(7)?,
        session_id: row.get(8)?,
        user_message_id: row.get(9)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
        completed_at: row.get(12)?,
        tags: Vec::new(),
        notes: Vec::new(),
    })
}

/// Tags and notes of all these tasks, with two statements however many they are.
fn fill(connection: &Connection, tasks: &mut [Task]) -> Result<(), StoreError> {
    if tasks.is_empty() {
        return Ok(());
    }
    let ids = serde_json::Value::from(tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>());
    let ids = ids.to_string();
    let mut statement = connection.prepare_cached(
        "SELECT wanted.key, tag FROM json_each(?1) AS wanted CROSS JOIN task_tags ON task_id = wanted.value
         ORDER BY wanted.key, tag",
    )?;
    let mut rows = statement.query([&ids])?;
    while let Some(row) = rows.next()? {
        if let Some(task) = tasks.get_mut(row.get::<_, u32>(0)? as usize) {
            task.tags.push(row.get(1)?);
        }
    }
    let mut statement = connection.prepare_cached(
        "SELECT wanted.key, note.kind, note.text, note.created_at
         FROM json_each(?1) AS wanted CROSS JOIN task_notes AS note ON note.task_id = wanted.value
         ORDER BY wanted.key, note.id",
    )?;
    let mut rows = statement.query([&ids])?;
    while let Some(row) = rows.next()? {
        if let Some(task) = tasks.get_mut(row.get::<_, u32>(0)? as usize) {
            task.notes.push(TaskNote { kind: row.get(1)?, text: row.get(2)?, created_at: row.get(3)? });
        }
    }
    Ok(())
}

fn count(connection: &Connection, filter: &TaskFilter, open: bool) -> Result<u64, StoreError> {
    let open = open || filter.open_only;
    let (sql, values) = if filter.is_counted() {
        let (condition, values) = condition(&TaskFilter { open_only: false, ..filter.clone() });
        let column = if open { "open" } else { "total" };
        (format!("SELECT coalesce(sum({column}), 0) FROM task_counts WHERE {condition}"), values)
    } else {
        let (condition, values) = condition(&TaskFilter { open_only: open, ..filter.clone() });
        (format!("SELECT count(*) FROM tasks WHERE {condition}"), values)
    };
    let number: i64 =
        connection.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(number as u64)
}

fn condition(filter: &TaskFilter) -> (String, Vec<Sql>) {
    let mut parts = vec!["1".to_owned()];
    let mut values = Vec::new();
    let exact = [
        ("scope", &filter.scope),
        ("run_id", &filter.run_id),
        ("session_id", &filter.session_id),
        ("status", &filter.status),
        ("priority", &filter.priority),
    ];
    for (column, value) in exact {
        if !value.is_empty() {
            parts.push(format!("{column} = ?"));
            values.push(Sql::from(value.clone()));
        }
    }
    if !filter.tag.is_empty() {
        parts.push("id IN (SELECT task_id FROM task_tags WHERE tag = ?)".to_owned());
        values.push(Sql::from(filter.tag.clone()));
    }
    if !filter.query.is_empty() {
        parts.push("(instr(lower(title), lower(?)) > 0 OR instr(lower(details), lower(?)) > 0)".to_owned());
        values.push(Sql::from(filter.query.clone()));
        values.push(Sql::from(filter.query.clone()));
    }
    if filter.open_only {
        parts.push("status <> 'done'".to_owned());
    }
    for (column, none) in [("run_id", filter.without_run), ("session_id", filter.without_session)] {
        if none {
            parts.push(format!("{column} = ''"));
        }
    }
    (parts.join(" AND "), values)
}

fn sorted(tags: &[String]) -> Vec<&String> {
    let mut tags: Vec<_> = tags.iter().collect();
    tags.sort();
    tags.dedup();
    tags
}

#[cfg(test)]
mod tests;
