-- Where a person is told that a question waits, and what has to be told there. A notice is written with its question;
-- whoever sends it marks it as sent before, so that a killed host tells nobody twice.
CREATE TABLE channels (
  id TEXT PRIMARY KEY,
  record TEXT NOT NULL CHECK (json_valid(record)),
  paused INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  last_error TEXT NOT NULL DEFAULT '',
  last_sent_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO channels (id, record, created_at)
VALUES ('desktop', '{"type":"desktop","name":"","privacy":"title","delay":0,"minRisk":"low"}', 0);

CREATE TABLE notices (
  id INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('due', 'sent', 'answered', 'failed', 'gone')),
  -- What was sent as one has one name here.
  bundle TEXT NOT NULL DEFAULT '',
  -- What the channel calls it, where it can be taken back.
  handle TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  reminders INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (request_id, channel)
) STRICT;
CREATE INDEX notices_next ON notices (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX notices_handle ON notices (channel, handle) WHERE handle <> '';

-- What a person does with a question short of answering it; the log knows nothing of it.
CREATE TABLE prompt_marks (
  request_id TEXT PRIMARY KEY,
  snoozed_until INTEGER,
  read_at INTEGER
) STRICT, WITHOUT ROWID;
