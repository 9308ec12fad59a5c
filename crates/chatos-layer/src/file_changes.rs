//! Changes of files in the database: who changed what, with the contents before and after (servers §2.7).

use chatos_files::change::{Content, FileChange};
use chatos_files::held::Held;
use chatos_store::{ChangedContent, NewFileChange};

use crate::env::{ServerEnv, StoreHandle};

/// Who changed a file.
#[derive(Debug, Clone, Default)]
pub struct ChangeContext {
    /// The run.
    pub run_id: String,
    /// The chat session.
    pub session_id: String,
    /// The message of the person that led to it.
    pub user_message_id: String,
    /// The server.
    pub server: &'static str,
    /// The tool.
    pub tool: &'static str,
    /// The root, absolute.
    pub root: String,
}

/// Remembers changes (servers §2.7).
pub trait ChangeStore: Send + Sync {
    /// Stores one; an error becomes a warning of the call.
    fn record(&self, context: &ChangeContext, change: FileChange) -> Result<(), String>;

    /// Puts contents where the record will need them; see [`chatos_files::change::ChangeLog`].
    fn keep_ahead(&self, _change: &FileChange) {}

    /// The change was not made.
    fn give_up(&self, _change: &FileChange) {}
}

/// The table `file_changes` of the database.
pub struct StoredChanges(StoreHandle);

impl StoredChanges {
    /// The table of the database that an environment gives.
    pub fn of(env: &ServerEnv) -> Self {
        Self(env.store.clone())
    }
}

impl ChangeStore for StoredChanges {
    fn record(&self, context: &ChangeContext, change: FileChange) -> Result<(), String> {
        let store = self.0.need().map_err(|error| error.to_string())?;
        store.record_file_change(&row(context, &change)).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn keep_ahead(&self, change: &FileChange) {
        let Ok(store) = self.0.need() else { return };
        let blobs: Vec<(&str, &[u8])> =
            contents(change).map(|held| (held.digest().as_str(), held.as_ref())).collect();
        if let Err(error) = store.keep_all_hashed(&blobs).and_then(|()| store.keep(&change.diff).map(drop)) {
            tracing::debug!(%error, "a content is kept later");
        }
    }

    fn give_up(&self, change: &FileChange) {
        let diff = Held::from(change.diff.as_bytes());
        let blobs = contents(change).chain([&diff]);
        let blobs = blobs.map(|held| (held.digest().as_str().to_owned(), held.len() as u64)).collect();
        if let Err(error) = self.0.need().and_then(|store| store.give_up_blobs(blobs)) {
            tracing::warn!(%error, "contents of a change that was not made stay for the next check");
        }
    }
}

/// A change as the table has it.
pub fn row<'a>(context: &'a ChangeContext, change: &'a FileChange) -> NewFileChange<'a> {
    NewFileChange {
        run_id: &context.run_id,
        session_id: &context.session_id,
        user_message_id: &context.user_message_id,
        server: context.server,
        tool: context.tool,
        root: &context.root,
        path: &change.path,
        change: change.kind.as_str(),
        before: content(&change.before),
        after: content(&change.after),
        diff: &change.diff,
    }
}

/// The contents of a change that are kept, the new one first: the old one is usually there already.
fn contents(change: &FileChange) -> impl Iterator<Item = &Held> {
    [&change.after, &change.before].into_iter().filter_map(|content| match content {
        Content::Bytes(held) => Some(held),
        Content::Absent | Content::Large { .. } => None,
    })
}

fn content(content: &Content) -> ChangedContent<'_> {
    match content {
        Content::Absent => ChangedContent::Absent,
        Content::Bytes(held) => ChangedContent::Hashed(held.digest().as_str(), held),
        Content::Large { sha256, size } => ChangedContent::Omitted(sha256.as_str(), *size),
    }
}
