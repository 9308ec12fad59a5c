-- Chats that an app made, and the folder it wished for: it reaches those, and no others (host-api §5).
CREATE TABLE session_makers (
  session_id TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
  plugin_id TEXT NOT NULL,
  wished_root TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE INDEX session_makers_by_plugin ON session_makers (plugin_id);
ALTER TABLE agent_makers ADD COLUMN wished_root TEXT NOT NULL DEFAULT '';

-- Folders beside its data directory that a person was asked about for an app.
CREATE TABLE app_roots (
  plugin_id TEXT NOT NULL,
  root TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('asked', 'full', 'read', 'no')),
  request_id TEXT NOT NULL DEFAULT '',
  decided_at INTEGER NOT NULL,
  decided_by TEXT NOT NULL,
  PRIMARY KEY (plugin_id, root)
) STRICT, WITHOUT ROWID;

-- What apps tried to do without being allowed to; shown on the plugin's page.
CREATE TABLE capability_wishes (
  plugin_id TEXT NOT NULL,
  capability TEXT NOT NULL,
  wished_at INTEGER NOT NULL,
  PRIMARY KEY (plugin_id, capability)
) STRICT, WITHOUT ROWID;
