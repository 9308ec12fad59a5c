-- What undid what; an undo is a change like any other.
CREATE TABLE file_change_undos (
  change_id TEXT NOT NULL REFERENCES file_changes (id) ON DELETE CASCADE,
  undo_id TEXT NOT NULL REFERENCES file_changes (id) ON DELETE CASCADE,
  PRIMARY KEY (change_id, undo_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_change_undos_by_undo ON file_change_undos (undo_id, change_id);

-- What the diff says, so that a list need not read it; unknown for rows that were there before.
ALTER TABLE file_changes ADD COLUMN added INTEGER;
ALTER TABLE file_changes ADD COLUMN removed INTEGER;
ALTER TABLE file_changes ADD COLUMN moved_from TEXT;

-- The list is read newest first. Whatever it is filtered by is in the index, because the rows hold diffs
-- and a filter that finds nothing looks at every change.
CREATE INDEX file_changes_by_time ON file_changes (created_at, path, root, session_id, tool, server, change);
CREATE INDEX file_changes_by_run ON file_changes (run_id, created_at);
-- The changes of one file.
CREATE INDEX file_changes_by_path ON file_changes (root, path);
