-- What undid what; an undo is a change like any other.
CREATE TABLE file_change_undos (
  change_id TEXT NOT NULL REFERENCES file_changes (id) ON DELETE CASCADE,
  undo_id TEXT NOT NULL REFERENCES file_changes (id) ON DELETE CASCADE,
  PRIMARY KEY (change_id, undo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_change_undos_by_undo ON file_change_undos (undo_id, change_id);

-- The list is read newest first, as a whole, of one run or of one file.
CREATE INDEX file_changes_by_time ON file_changes (created_at);
CREATE INDEX file_changes_by_run ON file_changes (run_id, created_at);
CREATE INDEX file_changes_by_path ON file_changes (root, path, created_at);
