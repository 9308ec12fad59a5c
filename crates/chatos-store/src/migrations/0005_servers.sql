-- What was learned about servers, and what of their work outlives a process.

-- Where a program runs, and whether addresses of this machine and its network are allowed.
ALTER TABLE mcp_servers ADD COLUMN cwd TEXT NOT NULL DEFAULT '';
ALTER TABLE mcp_servers ADD COLUMN allow_private INTEGER NOT NULL DEFAULT 0 CHECK (allow_private IN (0, 1));

-- The protocol a server speaks, as long as what runs there stays the same.
CREATE TABLE server_eras (
  server_identity TEXT NOT NULL,
  digest TEXT NOT NULL,
  era TEXT NOT NULL CHECK (era IN ('modern', 'legacy')),
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (server_identity, digest)
) STRICT, WITHOUT ROWID;

-- The result comes through the prompt log, or the server keeps the task itself.
ALTER TABLE async_tasks ADD COLUMN kind TEXT NOT NULL DEFAULT 'async';
ALTER TABLE async_tasks ADD COLUMN ended_at INTEGER;

-- A question of a server that is answered by sending the call again, also after a restart.
CREATE TABLE open_asks (
  call_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL DEFAULT '',
  server_identity TEXT NOT NULL,
  method TEXT NOT NULL,
  params TEXT NOT NULL CHECK (json_valid(params)),
  request_state TEXT,
  input_requests TEXT NOT NULL CHECK (json_valid(input_requests)),
  prompts TEXT NOT NULL CHECK (json_valid(prompts)),
  created_at INTEGER NOT NULL
) STRICT;
