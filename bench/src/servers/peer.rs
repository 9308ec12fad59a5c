//! Who is measured: our own servers, three of others, and how each of them is asked for the same thing.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::Place;
use super::client::Client;

/// A maker of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ours,
    /// npm `@modelcontextprotocol/server-filesystem`.
    Official,
    /// npm `@wonderwhy-er/desktop-commander`.
    Commander,
    /// crate `rust-mcp-filesystem`.
    Rust,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ChatOS",
            Self::Official => "official (npm)",
            Self::Commander => "desktop-commander",
            Self::Rust => "rust-mcp-filesystem",
        }
    }

    /// Reads a whole file.
    pub(crate) fn read(self, client: &mut Client, path: &Path) -> Result<Value> {
        match self {
            Self::Ours | Self::Commander => client.call("read_file", json!({ "path": path })),
            Self::Official | Self::Rust => client.call("read_text_file", json!({ "path": path })),
        }
    }

    /// Reads some lines of a large file; `None` where there is no such tool.
    pub(crate) fn lines(
        self,
        client: &mut Client,
        path: &Path,
        from: usize,
        count: usize,
    ) -> Option<Result<Value>> {
        let arguments = match self {
            Self::Ours => json!({ "path": path, "start_line": from + 1, "end_line": from + count }),
            Self::Commander => json!({ "path": path, "offset": from, "length": count }),
            Self::Rust => json!({ "path": path, "offset": from, "limit": count }),
            Self::Official => return None,
        };
        let tool = if self == Self::Rust { "read_file_lines" } else { "read_file" };
        Some(client.call(tool, arguments))
    }

    /// Replaces a text in a file.
    pub(crate) fn edit(self, client: &mut Client, path: &Path, old: &str, new: &str) -> Result<Value> {
        match self {
            Self::Ours => {
                client.call("edit_file", json!({ "path": path, "old_string": old, "new_string": new }))
            }
            Self::Commander => {
                let arguments = json!({ "file_path": path, "old_string": old, "new_string": new });
                client.call("edit_block", arguments)
            }
            Self::Official | Self::Rust => {
                let edits = json!([{ "oldText": old, "newText": new }]);
                client.call("edit_file", json!({ "path": path, "edits": edits }))
            }
        }
    }

    /// Searches the contents of a tree; all hits are in the reply.
    pub(crate) fn search(self, client: &mut Client, root: &Path, text: &str) -> Option<Result<Value>> {
        match self {
            Self::Ours => {
                let arguments = json!({ "query": text, "path": root, "max_results": 200 });
                Some(client.call("search_text", arguments))
            }
            Self::Official => None,
            Self::Commander => {
                let what = json!({
                    "path": root, "pattern": text, "searchType": "content", "literalSearch": true,
                    "contextLines": 0, "maxResults": 1000, "ignoreCase": false,
                });
                Some(commander_search(client, &what))
            }
            Self::Rust => {
                let arguments = json!({ "path": root, "pattern": "**/*", "query": text, "is_regex": false });
                Some(client.call("search_files_content", arguments))
            }
        }
    }

    /// Finds files by their names.
    pub(crate) fn find(self, client: &mut Client, root: &Path, glob: &str) -> Result<Value> {
        match self {
            Self::Ours => {
                let arguments = json!({ "pattern": format!("**/{glob}"), "path": root, "limit": 200 });
                client.call("find_files", arguments)
            }
            Self::Official | Self::Rust => {
                let arguments = json!({ "path": root, "pattern": format!("**/{glob}") });
                client.call("search_files", arguments)
            }
            Self::Commander => {
                let what = json!({
                    "path": root, "pattern": glob, "searchType": "files", "earlyTermination": false,
                });
                commander_search(client, &what)
            }
        }
    }

    /// Everything below a directory.
    pub(crate) fn tree(self, client: &mut Client, root: &Path) -> Result<Value> {
        match self {
            Self::Ours => {
                let arguments = json!({ "path": root, "depth": 2, "limit": 2000 });
                client.call("list_directory", arguments)
            }
            Self::Official | Self::Rust => client.call("directory_tree", json!({ "path": root })),
            Self::Commander => client.call("list_directory", json!({ "path": root, "depth": 2 })),
        }
    }
}

/// A search that is started and then asked for until it is complete.
fn commander_search(client: &mut Client, what: &Value) -> Result<Value> {
    let started = client.call("start_search", what.clone())?;
    let text = started["content"][0]["text"].as_str().unwrap_or_default();
    let id = text.lines().find_map(|line| line.split_once("session: ")).context("no session")?.1.trim();
    let id = id.to_owned();
    for _ in 0..100_000 {
        let page = client
            .call("get_more_search_results", json!({ "sessionId": id, "offset": 0, "length": 100_000 }))?;
        if page["content"][0]["text"].as_str().is_some_and(|text| text.contains("Status: COMPLETED")) {
            return Ok(page);
        }
    }
    bail!("the search does not end")
}

/// A server that can be started.
pub(crate) struct Peer {
    pub(crate) kind: Kind,
    pub(crate) argv: Vec<String>,
    /// Its own home: a peer writes its settings there.
    pub(crate) home: PathBuf,
}

impl Place {
    pub(crate) fn ours(&self, server: &str, more: &[&str]) -> Peer {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut argv = vec![text(&self.chatos), "mcp".to_owned(), server.to_owned()];
        argv.extend(["--state-dir".to_owned(), text(&self.dir.path().join("state"))]);
        argv.extend(["--root".to_owned(), text(&self.root())]);
        argv.extend(more.iter().map(|word| (*word).to_owned()));
        Peer { kind: Kind::Ours, argv, home: self.dir.path().join("home") }
    }

    /// The peers that are there.
    pub(crate) fn peers(&self) -> Vec<Peer> {
        let Some(dir) = &self.peers else { return Vec::new() };
        let root = self.root().to_string_lossy().into_owned();
        let node = |script: &str| -> Option<Vec<String>> {
            let script = dir.join("node_modules").join(script);
            script.exists().then(|| vec!["node".to_owned(), script.to_string_lossy().into_owned()])
        };
        let home = self.dir.path().join("home");
        let mut found = Vec::new();
        if let Some(mut argv) = node("@modelcontextprotocol/server-filesystem/dist/index.js") {
            argv.push(root.clone());
            found.push(Peer { kind: Kind::Official, argv, home: home.clone() });
        }
        if let Some(mut argv) = node("@wonderwhy-er/desktop-commander/dist/index.js") {
            argv.push("--no-onboarding".to_owned());
            found.push(Peer { kind: Kind::Commander, argv, home: home.clone() });
        }
        let rust = dir.join("bin/rust-mcp-filesystem");
        if rust.exists() {
            let argv = vec![rust.to_string_lossy().into_owned(), "--allow-write".to_owned(), root];
            found.push(Peer { kind: Kind::Rust, argv, home });
        }
        found
    }
}
