-- What a person decided once for many questions. The record is JSON; sig binds it to its row and this state, so that
-- a row somebody else wrote allows nothing.
CREATE TABLE approval_rules (
  id TEXT PRIMARY KEY,
  record TEXT NOT NULL CHECK (json_valid(record)),
  sig TEXT NOT NULL,
  uses INTEGER NOT NULL DEFAULT 0,
  last_used_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
