//! The tool servers beside their peers and the physical limits: cold start, memory, round trips, reads,
//! edits, search, commands, tasks, journal, language servers. Every reply is checked before it counts.
//!
//! Peers are looked for in `--peers DIR` (see `bench/README.md`); one that is missing is left out and said.

mod client;
mod contest;
mod files;
mod inside;
mod lsp;
mod peer;
mod records;
mod shell;
mod start;
mod table;

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

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
    for name in ["root", "home"] {
        std::fs::create_dir_all(dir.path().join(name))?;
    }
    let place = Place { chatos, peers, dir, tree_files };
    let found: Vec<&str> = place.peers().iter().map(|peer| peer.kind.name()).collect();
    println!("Peers: {}.\n", if found.is_empty() { "none".to_owned() } else { found.join(", ") });
    table::head();
    type Part = (&'static str, fn(&Place) -> Result<()>);
    let parts: [Part; 6] = [
        ("start", start::run),
        ("files", files::run),
        ("shell", shell::run),
        ("records", records::run),
        ("inside", inside::run),
        ("lsp", lsp::run),
    ];
    for (name, part) in parts {
        if only.is_empty() || only.contains(&name) {
            part(&place)?;
        }
    }
    Ok(())
}

impl Place {
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("root")
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
