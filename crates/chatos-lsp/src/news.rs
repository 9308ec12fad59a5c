//! What a language server says by itself: problems it found, how far it is with looking at the project, edits it
//! wants made. Kept bounded, however much it says.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::shapes::{self, Diagnostic};
use crate::uri;

/// Files whose problems are remembered; the oldest are forgotten first.
const MAX_FILES: usize = 4_096;
/// Pieces of work a server may say it is at.
const MAX_WORK: usize = 64;
/// Edits a command may want; more is no refactoring.
const MAX_EDITS: usize = 16;

/// What a server said last about one file.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub(crate) list: Vec<Diagnostic>,
    pub(crate) version: Option<i64>,
    /// Rises with every publish of any file.
    pub(crate) number: u64,
    pub(crate) at: Instant,
}

#[derive(Debug)]
pub(crate) struct News {
    published: Mutex<HashMap<String, Published>>,
    work: Mutex<BTreeMap<String, (String, String)>>,
    // What `experimental/serverStatus` says, where a server sends it.
    quiet: Mutex<Option<bool>>,
    // It said that it is at something, and that it is done with it.
    worked: AtomicBool,
    settled: AtomicBool,
    // How often it came to an end of something.
    ends: AtomicU64,
    numbers: AtomicU64,
    changed: watch::Sender<u64>,
    /// Problems are asked for, not only published; may be registered later.
    pub(crate) pulls: AtomicBool,
    // Open while a command runs whose edits are wanted.
    edits: Mutex<Option<Vec<Value>>>,
    // Held by the call whose command runs: which edits are whose would not be known otherwise.
    turn: tokio::sync::Mutex<()>,
}

/// Edits of a command are collected; when this is dropped further ones are refused.
pub(crate) struct Collecting<'a> {
    news: &'a News,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

impl Collecting<'_> {
    /// What the server wanted.
    pub(crate) fn edits(self) -> Vec<Value> {
        lock(&self.news.edits).take().unwrap_or_default()
    }
}

impl Drop for Collecting<'_> {
    fn drop(&mut self) {
        lock(&self.news.edits).take();
    }
}

impl Default for News {
    fn default() -> Self {
        Self {
            published: Mutex::default(),
            work: Mutex::default(),
            quiet: Mutex::default(),
            worked: AtomicBool::new(false),
            settled: AtomicBool::new(false),
            ends: AtomicU64::new(0),
            numbers: AtomicU64::new(0),
            changed: watch::channel(0).0,
            pulls: AtomicBool::new(false),
            edits: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl News {
    /// Rises whenever something is new.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The number of the last publish.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.load(Ordering::SeqCst)
    }

    /// What is known of a file.
    pub(crate) fn of(&self, uri: &str) -> Option<Published> {
        lock(&self.published).get(uri).cloned()
    }

    pub(crate) fn publish(&self, params: &Value) {
        let Some(file) = params["uri"].as_str() else { return };
        let number = self.numbers.fetch_add(1, Ordering::SeqCst) + 1;
        let list = shapes::diagnostics(&params["diagnostics"]);
        let one = Published { list, version: params["version"].as_i64(), number, at: Instant::now() };
        let mut published = lock(&self.published);
        published.insert(uri::same(file), one);
        if published.len() > MAX_FILES {
            let oldest = published.iter().min_by_key(|(_, one)| one.number).map(|(file, _)| file.clone());
            oldest.and_then(|file| published.remove(&file));
        }
        drop(published);
        self.tell();
    }

    pub(crate) fn progress(&self, params: &Value) {
        self.worked.store(true, Ordering::Relaxed);
        let (token, value) = (params["token"].to_string(), &params["value"]);
        let word = |key: &str| value[key].as_str().unwrap_or_default().chars().take(120).collect::<String>();
        let mut work = lock(&self.work);
        match value["kind"].as_str() {
            Some("begin") if work.len() < MAX_WORK => {
                work.insert(token, (word("title"), said(value)));
            }
            Some("report") => {
                if let Some((_, now)) = work.get_mut(&token) {
                    *now = said(value);
                }
            }
            Some("end") => {
                work.remove(&token);
                self.ends.fetch_add(1, Ordering::SeqCst);
            }
            _ => {}
        }
        drop(work);
        self.tell();
    }

    pub(crate) fn status(&self, params: &Value) {
        *lock(&self.quiet) = params["quiescent"].as_bool();
        self.ends.fetch_add(1, Ordering::SeqCst);
        self.worked.store(true, Ordering::Relaxed);
        self.tell();
    }

    /// What the server is at, when it is at something; then what it says may be incomplete.
    pub(crate) fn busy(&self) -> Option<String> {
        let work = lock(&self.work);
        if let Some((title, said)) = work.values().next() {
            return Some(format!("{title} {said}").trim().to_owned());
        }
        (*lock(&self.quiet) == Some(false)).then(|| "loading the project".to_owned())
    }

    /// It was at work and came to an end of it, at least once.
    pub(crate) fn settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// Rises when it ends a piece of work: what it answered before may be answered better now.
    pub(crate) fn ends(&self) -> u64 {
        self.ends.load(Ordering::SeqCst)
    }

    /// From now on edits the server wants are collected, for one call at a time.
    pub(crate) async fn collect(&self) -> Collecting<'_> {
        let turn = self.turn.lock().await;
        *lock(&self.edits) = Some(Vec::new());
        Collecting { news: self, _turn: turn }
    }

    /// `workspace/applyEdit`: whether it belongs to a call that wants it (servers §10).
    pub(crate) fn wants(&self, params: &Value) -> bool {
        match lock(&self.edits).as_mut() {
            Some(edits) if edits.len() < MAX_EDITS => {
                edits.push(params["edit"].clone());
                true
            }
            _ => false,
        }
    }

    fn tell(&self) {
        if self.worked.load(Ordering::Relaxed) && self.busy().is_none() {
            self.settled.store(true, Ordering::Relaxed);
        }
        self.changed.send_modify(|count| *count += 1);
    }
}

fn said(value: &Value) -> String {
    let text: String = value["message"].as_str().unwrap_or_default().chars().take(120).collect();
    match value["percentage"].as_u64() {
        Some(percent) => format!("{text} {percent}%").trim().to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn work_begins_goes_on_and_ends() {
        let news = News::default();
        assert_eq!(news.busy(), None);
        let say = |value: Value| news.progress(&json!({"token": 7, "value": value}));
        say(json!({"kind": "begin", "title": "Indexing"}));
        assert_eq!(news.busy().as_deref(), Some("Indexing"));
        say(json!({"kind": "report", "message": "3/9", "percentage": 33}));
        assert_eq!(news.busy().as_deref(), Some("Indexing 3/9 33%"));
        say(json!({"kind": "end"}));
        assert_eq!(news.busy(), None);
        news.status(&json!({"quiescent": false}));
        assert!(news.busy().is_some());
        news.status(&json!({"quiescent": true}));
        assert_eq!(news.busy(), None);
    }

    #[test]
    fn a_flood_of_files_is_forgotten_from_its_beginning() {
        let news = News::default();
        for number in 0..MAX_FILES + 10 {
            news.publish(&json!({"uri": format!("file:///f{number}"), "diagnostics": []}));
        }
        assert!(news.of("file:///f0").is_none() && news.of("file:///f9").is_none());
        assert!(news.of("file:///f10").is_some());
        news.publish(&json!({"uri": "file:///a%5bb%5d", "diagnostics": "nonsense", "version": 2}));
        assert_eq!(news.of("file:///a%5Bb%5D").unwrap().version, Some(2));
    }

    #[tokio::test]
    async fn edits_are_taken_only_while_somebody_wants_them() {
        let news = News::default();
        assert!(!news.wants(&json!({"edit": {}})));
        let collecting = news.collect().await;
        assert!(news.wants(&json!({"edit": {"changes": {}}})));
        assert_eq!(collecting.edits(), [json!({"changes": {}})]);
        assert!(!news.wants(&json!({"edit": {}})));
        drop(news.collect().await);
        assert!(!news.wants(&json!({"edit": {}})), "the call was canceled");
    }
}
