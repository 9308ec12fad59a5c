-- A page of a list costs what it shows, however much there is besides: each order people see has its index.

CREATE INDEX runs_by_time ON runs (created_at, id);
DROP INDEX runs_by_state;
CREATE INDEX runs_by_state ON runs (state, created_at, id);
CREATE INDEX runs_by_kind ON runs (kind, created_at, id);
CREATE INDEX usage_by_run ON usage (run_id);

-- Chats: current or archived ones, pinned ones first, then the most recent.
DROP INDEX sessions_by_last_message;
CREATE INDEX sessions_by_place
  ON sessions ((archived_at IS NOT NULL), pinned DESC, coalesce(last_message_at, created_at) DESC, id DESC);

-- Tasks, most recently updated first: all, those in a state, those of a chat.
DROP INDEX tasks_by_update;
CREATE INDEX tasks_by_update ON tasks (updated_at, id);
CREATE INDEX tasks_by_status ON tasks (status, updated_at, id);
DROP INDEX tasks_by_scope;
CREATE INDEX tasks_by_scope ON tasks (scope, session_id, updated_at, id);
