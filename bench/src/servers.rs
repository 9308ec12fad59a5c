//! The tool servers beside their peers and the physical limits: cold start, memory, round trips, reads,
//! edits, search, tasks and journal. Every reply is checked before it counts.
//!
//! Peers are looked for in `--peers DIR` (see `bench/README.md`); one that is missing is left out and said.

mod client;
mod files;
mod records;
mod start;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use crate::measure::{human, ratio};

/// Where things are.
pub(crate) struct Place {
    /// The program under measurement.
    pub(crate) chatos: PathBuf,
    /// Where peers lie.
    pub(crate) peers: Option<PathBuf>,
    /// A directory for this run.
    pub(crate) dir: tempfile::TempDir,
    /// Files of the large tree.
    pub(crate) tree_files: usize,
}

/// A server that can be started.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) argv: Vec<String>,
    /// The name of its tool that reads a file, and of the one that edits.
    pub(crate) read: &'static str,
    pub(crate) edit: &'static str,
}

pub(crate) fn run(words: &[&str]) -> Result<()> {
    let mut peers = None;
    let mut only: Vec<&str> = Vec::new();
    let mut tree_files = 50_000;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--peers" => peers = Some(PathBuf::from(words.next().context("--peers needs a directory")?)),
            "--files" => tree_files = words.next().context("--files needs a number")?.parse()?,
            other => only.push(other),
        }
    }
    let own = std::env::current_exe()?;
    let chatos = own.with_file_name("chatos");
    ensure!(chatos.exists(), "build it first: cargo build --release -p chatos-cli ({})", chatos.display());
    let dir = tempfile::tempdir()?;
    std::fs::create_dir_all(dir.path().join("root"))?;
    let place = Place { chatos, peers, dir, tree_files };
    println!("| operation | ChatOS | peers | limit | ratio to limit |");
    println!("|---|---|---|---|---|");
    let wanted = |name: &str| only.is_empty() || only.contains(&name);
    if wanted("start") {
        start::run(&place)?;
    }
    if wanted("files") {
        files::run(&place)?;
    }
    if wanted("records") {
        records::run(&place)?;
    }
    Ok(())
}

impl Place {
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub(crate) fn ours(&self, server: &str, more: &[&str]) -> Peer {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut argv = vec![text(&self.chatos), "mcp".to_owned(), server.to_owned()];
        argv.extend(["--state-dir".to_owned(), text(&self.dir.path().join("state"))]);
        argv.extend(["--root".to_owned(), text(&self.root())]);
        argv.extend(more.iter().map(|word| (*word).to_owned()));
        Peer { name: "ChatOS", argv, read: "read_file", edit: "edit_file" }
    }

    /// The peers that are there.
    pub(crate) fn peers(&self) -> Vec<Peer> {
        let Some(dir) = &self.peers else { return Vec::new() };
        let root = self.root().to_string_lossy().into_owned();
        let official = dir.join("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
        let rust = dir.join("bin/rust-mcp-filesystem");
        let mut found = Vec::new();
        if official.exists() {
            let argv = vec!["node".to_owned(), official.to_string_lossy().into_owned(), root.clone()];
            found.push(Peer { name: "official (npm)", argv, read: "read_text_file", edit: "edit_file" });
        }
        if rust.exists() {
            let argv = vec![rust.to_string_lossy().into_owned(), "--allow-write".to_owned(), root];
            found.push(Peer { name: "rust-mcp-filesystem", argv, read: "read_text_file", edit: "edit_file" });
        }
        found
    }

    /// A program of the limits, by one of its names.
    pub(crate) fn program(names: &[&str]) -> Option<PathBuf> {
        #[expect(clippy::disallowed_methods, reason = "a benchmark looks for the programs it compares with")]
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .flat_map(|dir| names.iter().map(move |name| dir.join(name)).collect::<Vec<_>>())
            .find(|path| path.is_file())
    }
}

/// One line of the table.
pub(crate) fn row(
    operation: &str,
    ours: Duration,
    peers: &[(&str, Duration)],
    limit: Option<(&str, Duration)>,
) {
    let peers: Vec<String> = peers.iter().map(|(name, time)| format!("{name} {}", human(*time))).collect();
    let peers = if peers.is_empty() { "–".to_owned() } else { peers.join(", ") };
    let (limit, times) = match limit {
        Some((name, time)) => (format!("{name} {}", human(time)), format!("{:.2}×", ratio(ours, time))),
        None => ("–".to_owned(), "–".to_owned()),
    };
    println!("| {operation} | {} | {peers} | {limit} | {times} |", human(ours));
}
