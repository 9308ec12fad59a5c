-- Agents that an app made: it may change and remove those, and no others (host-api §5).
CREATE TABLE agent_makers (
  agent_id TEXT PRIMARY KEY REFERENCES agents (id) ON DELETE CASCADE,
  plugin_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
