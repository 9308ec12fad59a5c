//! Changes of files in the database: who changed what, with the contents before and after (servers §2.7).

use chatos_store::{ChangedContent, NewFileChange};

use super::{ChangeContext, ChangeStore};
use crate::env::StoreHandle;
use crate::filesystem::change::{Content, FileChange};

/// The table `file_changes` of the database.
pub(super) struct StoredChanges(pub(super) StoreHandle);

impl ChangeStore for StoredChanges {
    fn record(&self, context: &ChangeContext, change: FileChange) -> Result<(), String> {
        let store = self.0.need().map_err(|error| error.to_string())?;
        let row = NewFileChange {
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
        };
        store.record_file_change(&row).map_err(|error| error.to_string())?;
        Ok(())
    }
}

fn content(content: &Content) -> ChangedContent<'_> {
    match content {
        Content::Absent => ChangedContent::Absent,
        Content::Bytes(bytes) => ChangedContent::Bytes(bytes),
        Content::Large { sha256, size } => ChangedContent::Omitted(sha256.as_str(), *size),
    }
}
