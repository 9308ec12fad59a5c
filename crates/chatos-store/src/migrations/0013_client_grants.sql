-- Programs that asked over a connection of their own, and which of them a person lets decide about their own
-- calls. Not allowed while allowed_at is null.
CREATE TABLE client_grants (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  program TEXT NOT NULL,
  script TEXT NOT NULL,
  uid INTEGER NOT NULL,
  project TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  allowed_at INTEGER,
  UNIQUE (name, program, script, uid, project)
) STRICT, WITHOUT ROWID;
