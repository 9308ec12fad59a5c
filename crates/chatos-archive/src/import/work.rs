//! Tasks and records of changed files.

use chatos_store::now_ms;
use rusqlite::types::Value as Sql;

use super::Import;
use super::merge::{Taken, Unfit, decide, maybe, put};
use super::record::Record;
use super::report::Reason;

/// Titles are cut to what the task server takes.
const TITLE_CHARS: usize = 300;

pub(super) fn default_task(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    task(import, record, "default")
}

pub(super) fn cli_task(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    task(import, record, "cli")
}

pub(super) fn chat_task(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    task(import, record, "chat")
}

/// A row that does not fit is mended, not dropped: a task is somebody's work (state §7).
fn task(import: &Import<'_>, record: &mut Record, scope: &str) -> Result<Taken, Unfit> {
    let mut mended = false;
    let details = record.text("details");
    let mut title = record.text("title").trim().to_owned();
    if title.is_empty() {
        mended = true;
        title =
            details.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(untitled)").to_owned();
    }
    if title.chars().count() > TITLE_CHARS {
        mended = true;
        title = title.chars().take(TITLE_CHARS).collect();
    }
    let mut word = |name: &str, legal: &[&'static str], fallback: &'static str| {
        let found = record.text(name).trim().to_ascii_lowercase();
        match legal.iter().find(|word| **word == found) {
            Some(word) => *word,
            None => {
                mended |= !found.is_empty();
                fallback
            }
        }
    };
    let status = word("status", &["todo", "doing", "blocked", "done"], "todo");
    let priority = word("priority", &["high", "medium", "low"], "medium");
    let tags = record.list("tags");
    let taken = decide(import.target, "tasks", &record.id, record.updated_at, "0")?;
    let completed = record.time("completedAt").or((status == "done").then_some(record.updated_at));
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("title", Sql::from(title)),
        ("details", Sql::from(details)),
        ("status", Sql::from(status.to_owned())),
        ("priority", Sql::from(priority.to_owned())),
        ("scope", Sql::from(scope.to_owned())),
        ("caller", Sql::from(record.text("caller"))),
        ("run_id", Sql::from(record.text("runId"))),
        ("session_id", Sql::from(record.text("sessionId"))),
        ("user_message_id", Sql::from(record.text("userMessageId"))),
        ("created_at", Sql::from(record.created_at)),
        ("updated_at", Sql::from(record.updated_at)),
        ("completed_at", maybe(completed)),
    ];
    put(import.target, "tasks", row)?;
    import.target.execute("DELETE FROM task_tags WHERE task_id = ?1", [&record.id])?;
    for tag in tags {
        let sql = "INSERT INTO task_tags (task_id, tag) VALUES (?1, ?2)";
        import.target.prepare_cached(sql)?.execute([&record.id, &tag])?;
    }
    Ok(if mended && taken == Taken::New { Taken::Mended } else { taken })
}

pub(super) fn file_change(import: &mut Import<'_>, record: &mut Record) -> Result<Taken, Unfit> {
    let there: bool = import.target.query_row(
        "SELECT EXISTS (SELECT 1 FROM file_changes WHERE id = ?1)",
        [&record.id],
        |row| row.get(0),
    )?;
    if there {
        return Err(Reason::NotNewer.into());
    }
    let path = record.required("path")?;
    let change =
        match [record.text("changeType"), record.text("change")].concat().to_ascii_lowercase().as_str() {
            "created" | "create" | "add" | "added" => "created",
            "deleted" | "delete" | "removed" | "remove" => "deleted",
            "moved" | "move" | "renamed" | "rename" => "moved",
            _ => "modified",
        };
    let diff = record.text("diff");
    let diff_blob =
        if diff.is_empty() { String::new() } else { import.blob(diff.as_bytes(), "text/x-diff")? };
    let mut root = record.text("root");
    if root.is_empty() {
        root = record.text("workspaceRoot");
    }
    let row = vec![
        ("id", Sql::from(record.id.clone())),
        ("run_id", Sql::from(record.text("runId"))),
        ("session_id", Sql::from(record.text("sessionId"))),
        ("user_message_id", Sql::from(record.text("userMessageId"))),
        ("server", Sql::from(record.text("server"))),
        ("tool", Sql::from(record.text("tool"))),
        ("root", Sql::from(root)),
        ("path", Sql::from(path)),
        ("change", Sql::from(change.to_owned())),
        ("diff_blob", Sql::from(diff_blob)),
        ("created_at", Sql::from(record.created_at)),
    ];
    put(import.target, "file_changes", row)?;
    Ok(Taken::New)
}

impl Import<'_> {
    /// Keeps bytes as a blob with one reference more. The file is durable before the row is.
    pub(super) fn blob(&self, bytes: &[u8], mime: &str) -> Result<String, Unfit> {
        let sha256 = self.store.put_blob(bytes)?;
        self.target
            .prepare_cached(
                "INSERT INTO blobs (sha256, size, mime, refs, created_at) VALUES (?1, ?2, ?3, 1, ?4)
                 ON CONFLICT (sha256) DO UPDATE SET refs = refs + 1",
            )?
            .execute((&sha256, bytes.len() as i64, mime, now_ms()))?;
        Ok(sha256)
    }
}
