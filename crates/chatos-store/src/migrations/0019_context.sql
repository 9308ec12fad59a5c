-- What a model is sent instead of the whole chat: the block a summary became, and marks of what is left out.
ALTER TABLE summaries ADD COLUMN block TEXT NOT NULL DEFAULT '';
ALTER TABLE summaries ADD COLUMN kind TEXT NOT NULL DEFAULT 'summary';
ALTER TABLE summaries ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
-- Runs that waited for their turn and are not covered, as a JSON list.
ALTER TABLE summaries ADD COLUMN left_out TEXT NOT NULL DEFAULT '[]';

CREATE TABLE context_marks (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  run_id TEXT NOT NULL DEFAULT '',
  kind TEXT NOT NULL,
  to_seq INTEGER NOT NULL,
  model_id TEXT NOT NULL DEFAULT '',
  window INTEGER,
  bytes INTEGER,
  tokens INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX context_marks_by_session ON context_marks (session_id, id);
