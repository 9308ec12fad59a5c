//! Lists: a page of each over HTTP, with 100, 10,000 and 100,000 rows behind it. A page costs what it shows, so the
//! last column stays near 1.
//!
//! The program is the built one (`target/release/chatos`, or the path given). The rows are put into a stopped host's
//! database by SQL: the store adds them one by one, each with its wait for the disk.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use rusqlite::Connection;
use serde_json::json;

use crate::chat::Host;
use crate::measure::{Times, human, ratio};

const SIZES: [usize; 3] = [100, 10_000, 100_000];
const ROUNDS: usize = 60;

/// What is read: name and path.
const LISTS: [(&str, &str); 7] = [
    ("runs", "runs?limit=50"),
    ("runs that failed", "runs?state=failed&limit=50"),
    ("chats", "sessions?limit=50"),
    ("tasks", "tasks?limit=50"),
    ("tasks that are blocked", "tasks?status=blocked&limit=50"),
    ("changes", "changes?limit=50"),
    ("tool log", "tool-log?limit=50"),
];

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let program = match args {
        [path] => PathBuf::from(path),
        _ => PathBuf::from("target/release/chatos"),
    };
    if !program.is_file() {
        bail!("build it first: cargo build --release -p chatos-cli ({})", program.display());
    }
    let mut columns = Vec::new();
    for size in SIZES {
        columns.push(page_times(&program, size).with_context(|| format!("with {size} rows"))?);
    }
    println!("| a page of 50 | 100 rows | 10,000 rows | 100,000 rows | 100,000 ÷ 100 |");
    println!("|---|---|---|---|---|");
    for (index, (name, _)) in LISTS.iter().enumerate() {
        let times: Vec<_> =
            columns.iter().filter_map(|column| column.get(index)).map(Times::median).collect();
        let [small, middle, large] = times[..] else { bail!("a list was not measured") };
        let shown = [small, middle, large].map(human).join(" | ");
        println!("| {name} | {shown} | {:.1} |", ratio(large, small));
    }
    Ok(())
}

/// The time of one page of each list, in a state with so many rows of everything.
fn page_times(program: &Path, rows: usize) -> Result<Vec<Times>> {
    let home = tempfile::tempdir()?;
    drop(Host::start(program, home.path())?);
    fill(&home.path().join("state"), rows)?;
    let host = Host::start(program, home.path())?;
    let page = rows.min(50);
    let read = |path: &str| {
        let answer = host.api("GET", path, None)?;
        let shown = answer["items"].as_array().map_or(0, Vec::len);
        ensure!(shown >= page / 10, "{path}: {shown} rows");
        Ok(())
    };
    LISTS
        .iter()
        .map(|(_, path)| {
            read(path)?;
            let round = |_| {
                let started = Instant::now();
                read(path).map(|()| started.elapsed())
            };
            Ok(Times::new((0..ROUNDS).map(round).collect::<Result<_>>()?))
        })
        .collect()
}

/// Rows like those that work leaves behind: one failed run and one blocked task in ten.
#[expect(clippy::disallowed_methods, reason = "the host is stopped, and its store adds row by row")]
fn fill(state: &Path, rows: usize) -> Result<()> {
    let database = Connection::open(state.join("state.db"))?;
    database.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF; BEGIN")?;
    let numbers = format!("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})");
    let time = "1700000000000 + i * 1000";
    let inserts = [
        format!(
            "INSERT INTO sessions (id, title, created_at, updated_at, last_message_at)
             {numbers} SELECT 'chat-' || i, 'Chat ' || i, {time}, {time}, {time} FROM n"
        ),
        format!(
            "INSERT INTO runs (id, kind, session_id, root_run_id, state, trace_id, created_at, updated_at, finished_at)
             {numbers} SELECT 'run-' || i, 'chat', 'chat-' || i, 'run-' || i,
               CASE WHEN i % 10 = 0 THEN 'failed' ELSE 'done' END, 'trace-' || i, {time}, {time}, {time} FROM n"
        ),
        format!(
            "INSERT INTO usage (id, run_id, root_run_id, session_id, model_id, input, output, created_at)
             {numbers} SELECT 'use-' || i, 'run-' || i, 'run-' || i, 'chat-' || i, 'demo', 100, 10, {time} FROM n"
        ),
        format!(
            "INSERT INTO tasks (id, title, status, priority, scope, created_at, updated_at)
             {numbers} SELECT 'task-' || i, 'Task ' || i, CASE WHEN i % 10 = 0 THEN 'blocked' ELSE 'todo' END,
               'medium', 'default', {time}, {time} FROM n"
        ),
        format!(
            "INSERT INTO file_changes (id, server, tool, root, path, change, added, removed, created_at)
             {numbers} SELECT 'change-' || i, 'code_maintainer', 'write_file', '/project', 'src/' || i || '.rs',
               'modified', 1, 1, {time} FROM n"
        ),
    ];
    for insert in inserts {
        database.execute_batch(&insert)?;
    }
    database.execute_batch("COMMIT")?;
    drop(database);
    let log = state.join("tool-log.jsonl");
    let mut log = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&log)
        .with_context(|| log.display().to_string())?;
    let mut text = String::new();
    for i in 0..rows {
        let line = json!({ "v": 1, "ts": "2026-01-01T00:00:00.000Z", "type": "tool_result", "callId": format!("call-{i}"),
            "server": "code_maintainer", "toolName": "read_file", "status": "ok", "code": "ok", "isError": false,
            "elapsedMs": 1, "size": 340 });
        text.push_str(&format!("{line}\n"));
    }
    log.write_all(text.as_bytes())?;
    Ok(())
}
