-- Programs that ask or call through us, one row per session of theirs: who they are and where they work. Questions
-- name the row by their session id.
CREATE TABLE clients (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  root TEXT NOT NULL,
  label TEXT NOT NULL,
  pid INTEGER,
  pid_start INTEGER,
  seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX clients_seen ON clients (seen_at);
