//! The texts a language server has open: what it was told last, so that only differences are sent, and which are
//! closed again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chatos_files::Digest;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::position::{Encoding, Lines, difference};

/// Open at once; the least recently used is closed beyond it. Enough for a task over a hundred files
pub(crate) const MAX_OPEN: usize = 128;
/// Closed after this long unused.
const IDLE: Duration = Duration::from_secs(300);

/// A text as the server knows it.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) uri: String,
    /// Relative to the root of the call that opened it.
    pub(crate) path: String,
    pub(crate) language: String,
    pub(crate) version: i64,
    pub(crate) digest: Digest,
    pub(crate) text: Arc<str>,
    pub(crate) lines: Arc<Lines>,
    /// The number of the last publish when it was sent: what belongs to it comes later.
    pub(crate) since: u64,
    /// Size and time of the file when it was read.
    pub(crate) stamp: Stamp,
    used: Instant,
}

/// A text as it is on disk.
pub(crate) struct OnDisk {
    pub(crate) uri: String,
    pub(crate) path: String,
    pub(crate) language: String,
    pub(crate) digest: Digest,
    pub(crate) text: String,
    pub(crate) stamp: Stamp,
}

/// What tells cheaply that a file may have changed.
pub(crate) type Stamp = Option<(u64, SystemTime)>;

/// The stamp of a file as it is now.
pub(crate) fn stamp(path: &std::path::Path) -> Stamp {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.len(), meta.modified().ok()?))
}

/// How a server wants to hear of changes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wants {
    pub(crate) open_close: bool,
    pub(crate) incremental: bool,
    pub(crate) save: bool,
    pub(crate) encoding: Encoding,
}

/// Everything one server has open.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<String, Document>,
}

/// A notification for the server: its method and its parameters.
pub(crate) type Message = (&'static str, Value);

impl Documents {
    /// Brings a text up to date: what has to be said for it, and the text as it is then.
    pub(crate) fn sync(&mut self, disk: OnDisk, wants: Wants, published: u64) -> (Vec<Message>, Document) {
        let mut messages = Vec::new();
        let now = Instant::now();
        if let Some(known) = self.open.get_mut(&disk.uri) {
            known.used = now;
            known.path = disk.path;
            known.stamp = disk.stamp;
            if known.digest != disk.digest {
                let change = change(known, &disk.text, wants);
                known.version += 1;
                known.digest = disk.digest;
                known.lines = Arc::new(Lines::of(&disk.text));
                known.text = disk.text.into();
                known.since = published;
                let version = json!({ "uri": known.uri, "version": known.version });
                messages.push((
                    "textDocument/didChange",
                    json!({ "textDocument": version, "contentChanges": [change] }),
                ));
                if wants.save {
                    messages.push((
                        "textDocument/didSave",
                        json!({ "textDocument": { "uri": known.uri }, "text": &*known.text }),
                    ));
                }
            }
            return (messages, known.clone());
        }
        let document = Document {
            uri: disk.uri,
            path: disk.path,
            language: disk.language,
            version: 1,
            digest: disk.digest,
            lines: Arc::new(Lines::of(&disk.text)),
            text: disk.text.into(),
            since: published,
            stamp: disk.stamp,
            used: now,
        };
        if wants.open_close {
            messages.push((
                "textDocument/didOpen",
                json!({ "textDocument": {
                    "uri": document.uri, "languageId": document.language, "version": 1, "text": &*document.text,
                } }),
            ));
        }
        self.open.insert(document.uri.clone(), document.clone());
        messages.extend(self.close_some(now, wants));
        (messages, document)
    }

    fn close_some(&mut self, now: Instant, wants: Wants) -> Vec<Message> {
        let mut closing: Vec<String> = self
            .open
            .values()
            .filter(|open| now.duration_since(open.used) > IDLE)
            .map(|open| open.uri.clone())
            .collect();
        if self.open.len() - closing.len() > MAX_OPEN {
            let oldest = self.open.values().min_by_key(|open| open.used).map(|open| open.uri.clone());
            closing.extend(oldest);
        }
        closing.iter().filter_map(|uri| self.close(uri, wants)).collect()
    }

    /// Closes a text, where it is open.
    pub(crate) fn close(&mut self, uri: &str, wants: Wants) -> Option<Message> {
        self.open.remove(uri)?;
        let message = ("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        wants.open_close.then_some(message)
    }

    /// A text that is open.
    pub(crate) fn get(&self, uri: &str) -> Option<&Document> {
        self.open.get(uri)
    }

    /// Addresses of all that is open.
    pub(crate) fn uris(&self) -> impl Iterator<Item = &str> {
        self.open.keys().map(String::as_str)
    }
}

fn change(known: &Document, new: &str, wants: Wants) -> Value {
    if !wants.incremental {
        return json!({ "text": new });
    }
    let (stretch, text) = difference(&known.text, new);
    let place = |byte: usize| known.lines.place(&known.text, byte, wants.encoding);
    json!({ "range": { "start": place(stretch.start), "end": place(stretch.end) }, "text": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTS: Wants =
        Wants { open_close: true, incremental: true, save: false, encoding: Encoding::Utf16 };

    fn disk(name: &str, text: &str) -> OnDisk {
        OnDisk {
            uri: format!("file:///{name}"),
            path: name.to_owned(),
            language: "x".to_owned(),
            digest: Digest::of(text.as_bytes()),
            text: text.to_owned(),
            stamp: None,
        }
    }

    fn names(messages: &[Message]) -> Vec<&str> {
        messages.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn only_differences_are_sent() {
        let mut all = Documents::default();
        assert_eq!(names(&all.sync(disk("a", "one\ntwo\n"), WANTS, 0).0), ["textDocument/didOpen"]);
        assert!(all.sync(disk("a", "one\ntwo\n"), WANTS, 5).0.is_empty());
        let (messages, document) = all.sync(disk("a", "one\n2\n"), WANTS, 9);
        assert_eq!((document.version, document.since), (2, 9));
        let change = &messages[0].1["contentChanges"][0];
        assert_eq!(
            *change,
            json!({"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}, "text": "2"})
        );
        let full = Wants { incremental: false, save: true, ..WANTS };
        let (messages, _) = all.sync(disk("a", "x"), full, 9);
        assert_eq!(names(&messages), ["textDocument/didChange", "textDocument/didSave"]);
        assert_eq!(messages[0].1["contentChanges"][0], json!({"text": "x"}));
    }

    #[test]
    fn a_hundred_files_stay_open_and_the_oldest_beyond_goes() {
        let mut all = Documents::default();
        for number in 0..MAX_OPEN {
            assert_eq!(names(&all.sync(disk(&format!("f{number}"), "x"), WANTS, 0).0).len(), 1);
        }
        for number in 0..100 {
            assert!(all.sync(disk(&format!("f{number}"), "x"), WANTS, 0).0.is_empty(), "not opened again");
        }
        let (messages, _) = all.sync(disk("more", "x"), WANTS, 0);
        assert_eq!(names(&messages), ["textDocument/didOpen", "textDocument/didClose"]);
        assert_eq!(messages[1].1["textDocument"]["uri"], "file:///f100");
        assert_eq!(all.uris().count(), MAX_OPEN);
    }
}
