-- What ChatOS put before the words of a person, as it was sent; and in which projects their texts are used.
CREATE TABLE message_blocks (
  message_id TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
  session_id TEXT NOT NULL,
  text TEXT NOT NULL,
  files TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX message_blocks_by_session ON message_blocks (session_id);

CREATE TABLE project_consents (
  root TEXT PRIMARY KEY,
  instructions TEXT NOT NULL,
  decided_by TEXT NOT NULL DEFAULT '',
  decided_at INTEGER NOT NULL,
  seen TEXT NOT NULL DEFAULT '{}'
) STRICT;
