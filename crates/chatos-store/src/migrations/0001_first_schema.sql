-- The first schema: administration, agents and chat, runs, tasks, journal, prompts, changes.
-- Ids are UUIDv7 text unless a protocol fixes another form; times are integer milliseconds UTC;
-- booleans are 0/1; JSON text is only for opaque objects the host neither filters nor joins on.

-- Administration ------------------------------------------------------------------------------

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL CHECK (json_valid(value)),
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL
) STRICT;

CREATE TABLE secrets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  sealed TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT;

CREATE TABLE models (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  base_url TEXT NOT NULL DEFAULT '',
  api_key_name TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  context_tokens INTEGER,
  max_output_tokens INTEGER,
  temperature REAL,
  reasoning_effort TEXT NOT NULL DEFAULT '',
  supports_vision INTEGER CHECK (supports_vision IN (0, 1)),
  supports_reasoning INTEGER CHECK (supports_reasoning IN (0, 1)),
  supports_tools INTEGER CHECK (supports_tools IN (0, 1)),
  supports_parallel_tools INTEGER CHECK (supports_parallel_tools IN (0, 1)),
  tool_followup TEXT NOT NULL DEFAULT '',
  extra_headers TEXT CHECK (extra_headers IS NULL OR json_valid(extra_headers)),
  extra_body TEXT CHECK (extra_body IS NULL OR json_valid(extra_body)),
  price_input REAL,
  price_output REAL,
  price_cache_read REAL,
  price_cache_write REAL,
  currency TEXT NOT NULL DEFAULT '',
  source TEXT NOT NULL DEFAULT 'user',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX models_one_default ON models (is_default) WHERE is_default = 1;

CREATE TABLE model_test_results (
  model_id TEXT PRIMARY KEY REFERENCES models (id) ON DELETE CASCADE,
  ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
  class TEXT NOT NULL DEFAULT '',
  message TEXT NOT NULL DEFAULT '',
  latency_ms INTEGER,
  tested_at INTEGER NOT NULL
) STRICT;

CREATE TABLE mcp_servers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  url TEXT NOT NULL,
  transport TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
  allow_main INTEGER NOT NULL DEFAULT 1 CHECK (allow_main IN (0, 1)),
  allow_sub INTEGER NOT NULL DEFAULT 1 CHECK (allow_sub IN (0, 1)),
  timeout_ms INTEGER,
  max_timeout_ms INTEGER,
  call_meta TEXT CHECK (call_meta IS NULL OR json_valid(call_meta)),
  auth_sealed TEXT,
  source TEXT NOT NULL CHECK (source IN ('builtin', 'user', 'app', 'import')),
  plugin_id TEXT NOT NULL DEFAULT '',
  app_id TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX mcp_servers_one_per_app ON mcp_servers (plugin_id, app_id) WHERE source = 'app';

CREATE TABLE mcp_server_tags (
  server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (server_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE prompts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  title TEXT NOT NULL DEFAULT '',
  content TEXT NOT NULL DEFAULT '',
  type TEXT NOT NULL DEFAULT 'system',
  allow_main INTEGER NOT NULL DEFAULT 1 CHECK (allow_main IN (0, 1)),
  allow_sub INTEGER NOT NULL DEFAULT 1 CHECK (allow_sub IN (0, 1)),
  lang TEXT NOT NULL DEFAULT '',
  builtin INTEGER NOT NULL DEFAULT 0 CHECK (builtin IN (0, 1)),
  locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
  source TEXT NOT NULL DEFAULT 'user',
  plugin_id TEXT NOT NULL DEFAULT '',
  app_id TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX prompts_one_per_app ON prompts (plugin_id, app_id, lang) WHERE source = 'app';

CREATE TABLE synced_values (
  entity TEXT NOT NULL,
  entity_id TEXT NOT NULL,
  field TEXT NOT NULL,
  value TEXT,
  synced_at INTEGER NOT NULL,
  PRIMARY KEY (entity, entity_id, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_tombstones (
  entity TEXT NOT NULL,
  plugin_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  lang TEXT NOT NULL DEFAULT '',
  deleted_at INTEGER NOT NULL,
  PRIMARY KEY (entity, plugin_id, app_id, lang)
) STRICT, WITHOUT ROWID;

CREATE TABLE land_configs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT NOT NULL DEFAULT '',
  locked INTEGER NOT NULL DEFAULT 0 CHECK (locked IN (0, 1)),
  max_passes INTEGER,
  max_sub_depth INTEGER,
  max_tokens INTEGER,
  max_cost REAL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE land_config_flows (
  land_config_id TEXT NOT NULL REFERENCES land_configs (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('main', 'sub')),
  agent_apps TEXT NOT NULL DEFAULT '',
  agent_prompts TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (land_config_id, role)
) STRICT, WITHOUT ROWID;

-- server_id is not a foreign key: a deleted server must show as not found, not vanish.
CREATE TABLE land_config_servers (
  id TEXT PRIMARY KEY,
  land_config_id TEXT NOT NULL REFERENCES land_configs (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('main', 'sub')),
  position INTEGER NOT NULL,
  server_id TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  prompt_lang TEXT NOT NULL DEFAULT '',
  use_prompt INTEGER NOT NULL DEFAULT 0 CHECK (use_prompt IN (0, 1)),
  sampling INTEGER NOT NULL DEFAULT 0 CHECK (sampling IN (0, 1)),
  tools_restricted INTEGER NOT NULL DEFAULT 0 CHECK (tools_restricted IN (0, 1)),
  UNIQUE (land_config_id, role, server_id)
) STRICT;

CREATE TABLE land_config_apps (
  id TEXT PRIMARY KEY,
  land_config_id TEXT NOT NULL REFERENCES land_configs (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('main', 'sub')),
  position INTEGER NOT NULL,
  plugin_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  prompt_lang TEXT NOT NULL DEFAULT '',
  use_prompt INTEGER NOT NULL DEFAULT 0 CHECK (use_prompt IN (0, 1)),
  sampling INTEGER NOT NULL DEFAULT 0 CHECK (sampling IN (0, 1)),
  tools_restricted INTEGER NOT NULL DEFAULT 0 CHECK (tools_restricted IN (0, 1)),
  UNIQUE (land_config_id, role, plugin_id, app_id)
) STRICT;

CREATE TABLE land_config_tools (
  entry_kind TEXT NOT NULL CHECK (entry_kind IN ('server', 'app')),
  entry_id TEXT NOT NULL,
  list TEXT NOT NULL CHECK (list IN ('allow', 'deny', 'ask')),
  glob TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (entry_kind, entry_id, list, glob)
) STRICT, WITHOUT ROWID;

CREATE TABLE land_config_prompts (
  land_config_id TEXT NOT NULL REFERENCES land_configs (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('main', 'sub')),
  position INTEGER NOT NULL,
  prompt_key TEXT NOT NULL,
  lang TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (land_config_id, role, prompt_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE subagent_plugins (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  category TEXT NOT NULL DEFAULT '',
  description TEXT NOT NULL DEFAULT '',
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  source TEXT NOT NULL DEFAULT '',
  digest TEXT NOT NULL DEFAULT '',
  installed_at INTEGER NOT NULL,
  uninstalled_at INTEGER
) STRICT;

CREATE TABLE plugin_trust (
  plugin_id TEXT PRIMARY KEY,
  digest TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  version TEXT NOT NULL DEFAULT '',
  trusted_at INTEGER NOT NULL,
  trusted_by TEXT NOT NULL
) STRICT;

CREATE TABLE plugin_trust_files (
  plugin_id TEXT NOT NULL REFERENCES plugin_trust (plugin_id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  PRIMARY KEY (plugin_id, path)
) STRICT, WITHOUT ROWID;

-- Texts of trusted files that are small enough to be shown as a difference later.
CREATE TABLE plugin_trust_texts (
  plugin_id TEXT NOT NULL REFERENCES plugin_trust (plugin_id) ON DELETE CASCADE,
  sha256 TEXT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (plugin_id, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_trust_texts_by_hash ON plugin_trust_texts (sha256);

CREATE TABLE capability_grants (
  plugin_id TEXT NOT NULL,
  app_id TEXT NOT NULL DEFAULT '',
  capability TEXT NOT NULL,
  value TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK (state IN ('granted', 'withdrawn')),
  decided_at INTEGER NOT NULL,
  decided_by TEXT NOT NULL,
  PRIMARY KEY (plugin_id, app_id, capability, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_pins (
  server_identity TEXT NOT NULL,
  tool TEXT NOT NULL,
  digest TEXT NOT NULL,
  spec_blob TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK (state IN ('approved', 'changed', 'new')),
  decided_at INTEGER,
  decided_by TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (server_identity, tool)
) STRICT, WITHOUT ROWID;

-- Agents and chat -----------------------------------------------------------------------------

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  mode TEXT NOT NULL CHECK (mode IN ('flow', 'custom')),
  land_config_id TEXT NOT NULL DEFAULT '',
  model_id TEXT NOT NULL DEFAULT '',
  prompt TEXT NOT NULL DEFAULT '',
  workspace_root TEXT NOT NULL DEFAULT '',
  prompt_lang TEXT NOT NULL DEFAULT '',
  servers_mode TEXT NOT NULL DEFAULT 'land' CHECK (servers_mode IN ('land', 'list')),
  subagents_mode TEXT NOT NULL DEFAULT 'land' CHECK (subagents_mode IN ('land', 'list')),
  position INTEGER NOT NULL DEFAULT 0,
  archived_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agent_servers (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  ref_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, ref_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_prompts (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  ref_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, ref_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_subagents (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  ref_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, ref_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_skills (
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  ref_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_id, ref_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_apps (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id) ON DELETE CASCADE,
  plugin_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  use_mcp INTEGER NOT NULL DEFAULT 1 CHECK (use_mcp IN (0, 1)),
  use_prompt INTEGER NOT NULL DEFAULT 1 CHECK (use_prompt IN (0, 1)),
  prompt_lang TEXT NOT NULL DEFAULT '',
  position INTEGER NOT NULL,
  UNIQUE (agent_id, plugin_id, app_id)
) STRICT;
CREATE TABLE agent_app_servers (
  agent_app_id TEXT NOT NULL REFERENCES agent_apps (id) ON DELETE CASCADE,
  ref_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_app_id, ref_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE agent_app_prompts (
  agent_app_id TEXT NOT NULL REFERENCES agent_apps (id) ON DELETE CASCADE,
  ref_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  PRIMARY KEY (agent_app_id, ref_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  agent_id TEXT NOT NULL DEFAULT '',
  workspace_root TEXT NOT NULL DEFAULT '',
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  archived_at INTEGER,
  branched_from_run TEXT NOT NULL DEFAULT '',
  branched_at_step INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_message_at INTEGER
) STRICT;
CREATE INDEX sessions_by_last_message ON sessions (last_message_at);

CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  run_id TEXT NOT NULL DEFAULT '',
  user_message_id TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool', 'system')),
  name TEXT NOT NULL DEFAULT '',
  content TEXT NOT NULL DEFAULT '',
  reasoning TEXT NOT NULL DEFAULT '',
  tool_call_id TEXT NOT NULL DEFAULT '',
  tool_name TEXT NOT NULL DEFAULT '',
  tool_status TEXT NOT NULL DEFAULT '',
  tool_code TEXT NOT NULL DEFAULT '',
  is_error INTEGER NOT NULL DEFAULT 0 CHECK (is_error IN (0, 1)),
  structured_blob TEXT NOT NULL DEFAULT '',
  partial INTEGER NOT NULL DEFAULT 0 CHECK (partial IN (0, 1)),
  kind TEXT NOT NULL DEFAULT 'normal' CHECK (kind IN ('normal', 'correction', 'notice')),
  tokens INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (session_id, seq)
) STRICT;
CREATE INDEX messages_by_run ON messages (run_id);

CREATE TABLE message_tool_calls (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  call_id TEXT NOT NULL,
  name TEXT NOT NULL,
  args_blob TEXT NOT NULL DEFAULT '',
  args_preview TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (message_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE message_attachments (
  id TEXT PRIMARY KEY,
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  mime TEXT NOT NULL DEFAULT '',
  blob TEXT NOT NULL,
  size INTEGER NOT NULL
) STRICT;

CREATE TABLE summaries (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  tokens_before INTEGER,
  tokens_after INTEGER,
  model_id TEXT NOT NULL DEFAULT '',
  run_id TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL
) STRICT;

-- Trigram, so that Chinese is found without a word splitter.
CREATE VIRTUAL TABLE messages_fts USING fts5 (content, content = 'messages', tokenize = 'trigram');
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
  INSERT INTO messages_fts (rowid, content) VALUES (new.rowid, new.content);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE OF content ON messages BEGIN
  INSERT INTO messages_fts (messages_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
  INSERT INTO messages_fts (rowid, content) VALUES (new.rowid, new.content);
END;

-- Runs ----------------------------------------------------------------------------------------

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('chat', 'sub', 'cli')),
  session_id TEXT NOT NULL DEFAULT '',
  agent_id TEXT NOT NULL DEFAULT '',
  land_config_id TEXT NOT NULL DEFAULT '',
  subagent_id TEXT NOT NULL DEFAULT '',
  job_id TEXT UNIQUE,
  parent_run_id TEXT NOT NULL DEFAULT '',
  parent_call_id TEXT NOT NULL DEFAULT '',
  root_run_id TEXT NOT NULL DEFAULT '',
  role TEXT NOT NULL DEFAULT 'main' CHECK (role IN ('main', 'sub')),
  model_id TEXT NOT NULL DEFAULT '',
  task TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  stop_reason TEXT NOT NULL DEFAULT '',
  error_code TEXT NOT NULL DEFAULT '',
  error_message TEXT NOT NULL DEFAULT '',
  trace_id TEXT NOT NULL DEFAULT '',
  span_id TEXT NOT NULL DEFAULT '',
  parent_span_id TEXT NOT NULL DEFAULT '',
  grants_blob TEXT NOT NULL DEFAULT '',
  registry_revision INTEGER,
  passes INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT NOT NULL DEFAULT '',
  lease_until INTEGER,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  updated_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE INDEX runs_by_state ON runs (state);
CREATE INDEX runs_by_session ON runs (session_id, created_at);

CREATE TABLE run_steps (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('model', 'tool', 'prompt', 'sub', 'compact', 'correction', 'resume')),
  span_id TEXT NOT NULL DEFAULT '',
  parent_span_id TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK (state IN ('planned', 'sent', 'done', 'uncertain', 'skipped')),
  call_id TEXT,
  server_identity TEXT NOT NULL DEFAULT '',
  tool TEXT NOT NULL DEFAULT '',
  read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
  idempotent INTEGER NOT NULL DEFAULT 0 CHECK (idempotent IN (0, 1)),
  attempt INTEGER NOT NULL DEFAULT 1,
  task_id TEXT NOT NULL DEFAULT '',
  request_id TEXT NOT NULL DEFAULT '',
  child_run_id TEXT NOT NULL DEFAULT '',
  input_blob TEXT NOT NULL DEFAULT '',
  output_blob TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL DEFAULT '',
  code TEXT NOT NULL DEFAULT '',
  elapsed_ms INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  PRIMARY KEY (run_id, seq),
  UNIQUE (run_id, call_id, attempt)
) STRICT;

CREATE TABLE usage (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL DEFAULT '',
  root_run_id TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL DEFAULT '',
  agent_id TEXT NOT NULL DEFAULT '',
  model_id TEXT NOT NULL DEFAULT '',
  step_seq INTEGER,
  input INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0,
  cache_read INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1)),
  cost REAL,
  currency TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_by_time ON usage (created_at);
CREATE INDEX usage_by_root ON usage (root_run_id);

CREATE TABLE approvals (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  server_identity TEXT NOT NULL,
  tool TEXT NOT NULL,
  decision TEXT NOT NULL,
  decided_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, server_identity, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE async_tasks (
  task_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL DEFAULT '',
  call_id TEXT NOT NULL DEFAULT '',
  server_identity TEXT NOT NULL DEFAULT '',
  tool TEXT NOT NULL DEFAULT '',
  cursor_offset INTEGER NOT NULL DEFAULT 0,
  deadline_at INTEGER,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Tasks, journal, prompts, changes ------------------------------------------------------------

CREATE TABLE tasks (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  details TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL CHECK (status IN ('todo', 'doing', 'blocked', 'done')),
  priority TEXT NOT NULL CHECK (priority IN ('high', 'medium', 'low')),
  scope TEXT NOT NULL CHECK (scope IN ('default', 'cli', 'chat')),
  caller TEXT NOT NULL DEFAULT '',
  run_id TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL DEFAULT '',
  user_message_id TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;
CREATE INDEX tasks_by_scope ON tasks (scope, session_id, status);
CREATE INDEX tasks_by_update ON tasks (updated_at);

CREATE TABLE task_tags (
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (task_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_notes (
  id TEXT PRIMARY KEY,
  task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('note', 'completion')),
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE dedupe_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  payload_hash TEXT NOT NULL DEFAULT '',
  used_at INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE dedupe_ids (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  ref_id TEXT NOT NULL,
  PRIMARY KEY (scope, key, ref_id),
  FOREIGN KEY (scope, key) REFERENCES dedupe_keys (scope, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
  root TEXT PRIMARY KEY,
  summary TEXT NOT NULL DEFAULT '',
  background TEXT NOT NULL DEFAULT '',
  git_url TEXT NOT NULL DEFAULT '',
  main_config TEXT NOT NULL DEFAULT '',
  notes TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE project_tags (
  root TEXT NOT NULL REFERENCES projects (root) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (root, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE project_iterations (
  id TEXT PRIMARY KEY,
  root TEXT NOT NULL REFERENCES projects (root) ON DELETE CASCADE,
  title TEXT NOT NULL,
  summary TEXT NOT NULL DEFAULT '',
  details TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE project_iteration_tags (
  iteration_id TEXT NOT NULL REFERENCES project_iterations (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  PRIMARY KEY (iteration_id, tag)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal_entries (
  id TEXT PRIMARY KEY,
  project_root TEXT NOT NULL,
  title TEXT NOT NULL,
  summary TEXT NOT NULL DEFAULT '',
  details TEXT NOT NULL DEFAULT '',
  run_id TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX journal_by_project ON journal_entries (project_root, created_at);
CREATE VIRTUAL TABLE journal_fts USING fts5 (
  title, summary, details, content = 'journal_entries', tokenize = 'trigram'
);
CREATE TRIGGER journal_fts_insert AFTER INSERT ON journal_entries BEGIN
  INSERT INTO journal_fts (rowid, title, summary, details)
  VALUES (new.rowid, new.title, new.summary, new.details);
END;
CREATE TRIGGER journal_fts_delete AFTER DELETE ON journal_entries BEGIN
  INSERT INTO journal_fts (journal_fts, rowid, title, summary, details)
  VALUES ('delete', old.rowid, old.title, old.summary, old.details);
END;
CREATE TRIGGER journal_fts_update AFTER UPDATE ON journal_entries BEGIN
  INSERT INTO journal_fts (journal_fts, rowid, title, summary, details)
  VALUES ('delete', old.rowid, old.title, old.summary, old.details);
  INSERT INTO journal_fts (rowid, title, summary, details)
  VALUES (new.rowid, new.title, new.summary, new.details);
END;

CREATE TABLE journal_entry_items (
  entry_id TEXT NOT NULL REFERENCES journal_entries (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('tag', 'file', 'highlight', 'next_step')),
  position INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (entry_id, kind, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_changes (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL DEFAULT '',
  session_id TEXT NOT NULL DEFAULT '',
  user_message_id TEXT NOT NULL DEFAULT '',
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  root TEXT NOT NULL,
  path TEXT NOT NULL,
  change TEXT NOT NULL CHECK (change IN ('created', 'modified', 'deleted', 'moved')),
  before_blob TEXT NOT NULL DEFAULT '',
  after_blob TEXT NOT NULL DEFAULT '',
  diff_blob TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE shell_sessions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL DEFAULT '',
  command TEXT NOT NULL,
  cwd TEXT NOT NULL,
  pid INTEGER,
  pid_start_time INTEGER,
  started_at INTEGER NOT NULL,
  exited_at INTEGER,
  exit_code INTEGER,
  signal TEXT NOT NULL DEFAULT '',
  log_path TEXT NOT NULL DEFAULT ''
) STRICT;

-- Every served prompt and its verified answer; secrets in it are masked.
CREATE TABLE prompt_records (
  request_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  entry TEXT NOT NULL CHECK (json_valid(entry)),
  shown TEXT NOT NULL DEFAULT '',
  expires_at INTEGER,
  answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
  answer_by TEXT NOT NULL DEFAULT '',
  answered_at INTEGER,
  used_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX prompt_records_open ON prompt_records (request_id) WHERE answered_at IS NULL;

-- Lines to append to the prompt log; what is not marked mirrored is appended again at start.
CREATE TABLE prompt_outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  request_id TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('request', 'response')),
  line TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  mirrored_at INTEGER
) STRICT;
CREATE INDEX prompt_outbox_open ON prompt_outbox (id) WHERE mirrored_at IS NULL;
CREATE INDEX prompt_outbox_by_request ON prompt_outbox (request_id);

CREATE TABLE prompt_secrets (
  request_id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT;

CREATE TABLE prompt_drafts (
  request_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  draft TEXT NOT NULL CHECK (json_valid(draft)),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (request_id, client_id)
) STRICT, WITHOUT ROWID;

-- A cache of the fold of the prompt log; may be dropped at any time.
CREATE TABLE prompt_index (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;

CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  mime TEXT NOT NULL DEFAULT '',
  refs INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE imports (
  source TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  counts TEXT NOT NULL CHECK (json_valid(counts)),
  report_path TEXT NOT NULL DEFAULT '',
  imported_at INTEGER NOT NULL
) STRICT;
