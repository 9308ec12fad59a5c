-- What a person opened to the commands of one project: a path to read or write, or a machine to reach. A row that was taken
-- back stays, so that it can be told when it held.
CREATE TABLE project_access (
  id TEXT PRIMARY KEY,
  -- The real path of the project's folder.
  root TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('read', 'write', 'host')),
  -- An absolute path, or name[:port].
  value TEXT NOT NULL,
  granted_at INTEGER NOT NULL,
  -- The question it was the answer to; empty where a person wrote it down unasked.
  request_id TEXT NOT NULL DEFAULT '',
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX project_access_in_force ON project_access (root, kind, value) WHERE revoked_at IS NULL;
