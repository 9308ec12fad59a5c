-- What a run needs to go on after a restart, and what a transcript shows without reading blobs.

ALTER TABLE sessions ADD COLUMN model_id TEXT NOT NULL DEFAULT '';

-- The server and the raw name of a tool; how long it took; the vendor's own parts of an answer, which go
-- back to that vendor unchanged.
ALTER TABLE messages ADD COLUMN server TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN tool TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN elapsed_ms INTEGER;
ALTER TABLE messages ADD COLUMN opaque TEXT NOT NULL DEFAULT '';
ALTER TABLE message_tool_calls ADD COLUMN server TEXT NOT NULL DEFAULT '';
ALTER TABLE message_tool_calls ADD COLUMN tool TEXT NOT NULL DEFAULT '';
CREATE INDEX message_attachments_by_message ON message_attachments (message_id, position);
CREATE INDEX summaries_by_session ON summaries (session_id, to_seq);

-- The message that began a run, and choices that hold for the whole of it.
ALTER TABLE runs ADD COLUMN user_message_id TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN options TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(options));
CREATE INDEX runs_by_parent ON runs (parent_run_id);
CREATE INDEX runs_by_trace ON runs (trace_id);

-- What waiting on needs beside the ids: the cursor in the prompt log, the handle of a task.
ALTER TABLE run_steps ADD COLUMN detail TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(detail));

ALTER TABLE usage ADD COLUMN message_id TEXT NOT NULL DEFAULT '';
CREATE INDEX usage_by_session ON usage (session_id);
