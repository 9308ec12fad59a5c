//! Journals in files of a project, `.deepseek_cli/<hostApp>/project-exec-log.jsonl` and
//! `project-info.json`: read once, never written (state §3.4).

use std::fs::File;
use std::io::{self, Read as _};

use chatos_layer::Root;
use chatos_store::{
    JournalEntry, JournalImport, ProjectInfo, ProjectIteration, Store, StoreError, StoreErrorKind,
};
use rustix::fs::{Mode, OFlags};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Larger files are no journal.
const MAX_BYTES: u64 = 64 << 20;

/// Takes the files over if there are any and nobody did.
pub(super) fn take_over(store: &Store, root: &Root, name: &str, host_app: &str) -> Result<(), StoreError> {
    let folder = [".deepseek_cli", host_app];
    let log = read(root, &folder, "project-exec-log.jsonl").map_err(unreadable)?;
    let info = read(root, &folder, "project-info.json").map_err(unreadable)?;
    if log.is_none() && info.is_none() {
        return Ok(());
    }
    let source = format!("{name}/{}", folder.join("/"));
    if store.journal_imported(&source)? {
        return Ok(());
    }
    let mut hash = Sha256::new();
    for bytes in [&log, &info].into_iter().flatten() {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    let fingerprint = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut import = JournalImport { root: name.to_owned(), source, fingerprint, ..JournalImport::default() };
    for line in log.iter().flat_map(|bytes| bytes.split(|byte| *byte == b'\n')) {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(Value::Object(entry)) => import.entries.push(entry_of(&Value::Object(entry))),
            _ => import.skipped += 1,
        }
    }
    match info.map(|bytes| serde_json::from_slice::<Value>(&bytes)) {
        Some(Ok(info @ Value::Object(_))) => {
            let iterations = info["iterations"].as_array().into_iter().flatten();
            import.iterations = iterations.map(iteration_of).collect();
            import.info = Some(info_of(&info));
        }
        Some(_) => import.skipped += 1,
        None => {}
    }
    let (entries, skipped) = (import.entries.len(), import.skipped);
    if store.import_journal(import)? {
        tracing::info!(root = name, entries, skipped, "an older journal was taken over");
    }
    Ok(())
}

/// A regular file below the root, reached without following a single link.
fn read(root: &Root, folder: &[&str], name: &str) -> io::Result<Option<Vec<u8>>> {
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut dir = rustix::io::fcntl_dupfd_cloexec(root.anchor().handle(), 0)?;
    for part in folder {
        dir = match rustix::fs::openat(&dir, *part, directory, Mode::empty()) {
            Ok(dir) => dir,
            Err(_) => return Ok(None),
        };
    }
    let file = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(&dir, name, file, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(_) => return Ok(None),
    };
    let meta = file.metadata()?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn unreadable(error: io::Error) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, format!("cannot read the older journal: {error}"))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value, key: &str) -> Vec<String> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// An ISO time or milliseconds; what has none is as old as can be.
fn time(value: &Value) -> i64 {
    match value {
        Value::String(text) => text.parse::<jiff::Timestamp>().map_or(0, |time| time.as_millisecond()),
        other => other.as_i64().unwrap_or_default(),
    }
}

fn id(value: &Value) -> String {
    match value["id"].as_str() {
        Some(id) if !id.trim().is_empty() => id.to_owned(),
        _ => uuid::Uuid::now_v7().to_string(),
    }
}

fn unique(mut tags: Vec<String>) -> Vec<String> {
    tags.sort();
    tags.dedup();
    tags
}

fn entry_of(value: &Value) -> JournalEntry {
    JournalEntry {
        id: id(value),
        created_at: time(&value["ts"]),
        title: text(value, "title"),
        tags: texts(value, "tags"),
        summary: text(value, "summary"),
        details: text(value, "details"),
        files: texts(value, "files"),
        highlights: texts(value, "highlights"),
        next_steps: texts(value, "nextSteps"),
        run_id: text(value, "runId"),
        session_id: text(value, "sessionId"),
    }
}

fn info_of(value: &Value) -> ProjectInfo {
    ProjectInfo {
        created_at: time(&value["createdAt"]),
        updated_at: time(&value["updatedAt"]),
        summary: text(value, "summary"),
        background: text(value, "background"),
        git_url: text(value, "gitUrl"),
        main_config: text(value, "mainConfig"),
        notes: text(value, "notes"),
        tags: unique(texts(value, "tags")),
    }
}

fn iteration_of(value: &Value) -> ProjectIteration {
    ProjectIteration {
        id: id(value),
        created_at: time(&value["ts"]),
        title: text(value, "title"),
        summary: text(value, "summary"),
        details: text(value, "details"),
        tags: unique(texts(value, "tags")),
    }
}
