//! A chat of 10,000 messages in which a person said things differently 200 times, beside a flat one: opening its newest
//! page and exporting all of it, interleaved, with the ratio of the two.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use chatos_store::{MessageRow, NewMessage, OpenOptions, SessionRow, Store, now_ms};
use chatos_wire::MessageRole;

use crate::chat::Host;
use crate::measure::{Times, human, ratio};

const MESSAGES: usize = 10_000;
const BRANCHES: usize = 200;
const OPENED: usize = 50;
const EXPORTED: usize = 7;

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let program = match args {
        [path] => PathBuf::from(path),
        _ => PathBuf::from("target/release/chatos"),
    };
    if !program.is_file() {
        bail!("build it first: cargo build --release -p chatos-cli ({})", program.display());
    }
    let home = tempfile::tempdir()?;
    fill(&program, home.path())?;
    let host = Host::start(&program, home.path())?;
    println!("| measured | flat p50 | {BRANCHES} branches p50 | ratio | bar |");
    println!("|---|---|---|---|---|");
    measured(&host, "the newest page of 10,000 messages", "messages?limit=100", OPENED)?;
    measured(&host, "all of it as JSON", "export?format=json", EXPORTED)?;
    measured(&host, "all of it as Markdown", "export?format=md", EXPORTED)
}

fn measured(host: &Host, what: &str, path: &str, times: usize) -> Result<()> {
    let mut taken: [Vec<Duration>; 2] = [Vec::new(), Vec::new()];
    for _ in 0..times {
        for (chat, taken) in ["flat", "tree"].iter().zip(&mut taken) {
            let asked = Instant::now();
            let answer = host.api("GET", &format!("sessions/{chat}/{path}"), None)?;
            taken.push(asked.elapsed());
            ensure!(answer.to_string().len() > 10_000, "{chat}: {answer}");
        }
    }
    let [flat, tree] = taken.map(Times::new);
    println!(
        "| {what} | {} | {} | {:.2} | ≤ 1.2 |",
        human(flat.median()),
        human(tree.median()),
        ratio(tree.median(), flat.median())
    );
    Ok(())
}

/// Two chats, made before the host is there.
fn fill(program: &Path, home: &Path) -> Result<()> {
    // The first start makes the database.
    drop(Host::start(program, home)?);
    let state = home.join("state");
    let store = Store::open(OpenOptions {
        path: state.join("state.db"),
        backups: state.join("backups"),
        migrate: true,
        wal: true,
        used: true,
        check: false,
    })?;
    for (chat, branches) in [("flat", 0), ("tree", BRANCHES)] {
        let now = now_ms();
        let session =
            SessionRow { id: chat.to_owned(), created_at: now, updated_at: now, ..SessionRow::default() };
        store.create_session_with(session, messages(chat, branches, now))?;
    }
    store.close();
    Ok(())
}

/// Questions and answers; every so often a question ten messages back is said differently, which leaves what followed.
fn messages(chat: &str, branches: usize, now: i64) -> Vec<NewMessage> {
    let every = MESSAGES.checked_div(branches).unwrap_or(usize::MAX);
    let mut all: Vec<NewMessage> = Vec::with_capacity(MESSAGES);
    for number in 0..MESSAGES {
        let user = number % 2 == 0;
        let version_of = match number.checked_sub(10) {
            Some(place) if user && number % every == 0 => format!("{chat}-{place}"),
            _ => String::new(),
        };
        let row = MessageRow {
            id: format!("{chat}-{number}"),
            session_id: chat.to_owned(),
            role: if user { MessageRole::User } else { MessageRole::Assistant },
            content: "A sentence of ordinary length, as people write them. ".repeat(6),
            created_at: now,
            version_of,
            ..MessageRow::default()
        };
        all.push(NewMessage { row, ..NewMessage::default() });
    }
    all
}
