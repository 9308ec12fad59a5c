-- When the session that another agent has for a chat was begun or last loaded (decision 0068): one agent names its files by the minute.
ALTER TABLE acp_sessions ADD COLUMN begun_at INTEGER NOT NULL DEFAULT 0;
