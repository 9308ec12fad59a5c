-- Other agents inside ChatOS (decision 0055). An agent with a row here is a program of another maker.
CREATE TABLE agent_acp (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  program TEXT NOT NULL,
  args TEXT NOT NULL DEFAULT '[]',
  pass_env TEXT NOT NULL DEFAULT '[]',
  known_id TEXT NOT NULL DEFAULT ''
) STRICT;

-- The session an agent of that kind has for a chat.
CREATE TABLE acp_sessions (
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  acp_session_id TEXT NOT NULL,
  cwd TEXT NOT NULL DEFAULT '',
  program TEXT NOT NULL DEFAULT '',
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, agent_id)
) STRICT, WITHOUT ROWID;
