-- What a button of a message elsewhere carries, as its digest: one question as it was shown, one channel, one action.
-- Closing the question uses up all of its tokens in the same commit.
CREATE TABLE answer_tokens (
  -- SHA-256 of the token; the token itself is kept nowhere.
  digest TEXT PRIMARY KEY,
  request_id TEXT NOT NULL,
  shown TEXT NOT NULL,
  channel TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('approve', 'reject', 'snooze')),
  -- When it was made, on the clock of the machine's start; the wall clock decides only after another start.
  boot_id TEXT NOT NULL,
  boot_ms INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX answer_tokens_request ON answer_tokens (request_id);
