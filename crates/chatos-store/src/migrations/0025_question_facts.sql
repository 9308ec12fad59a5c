-- What rules look at of a question that decides an effect, so that a new rule can be compared with past answers.
CREATE TABLE question_facts (
  request_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  place TEXT NOT NULL CHECK (json_valid(place)),
  -- Open questions that are asked together, and the place of each; nothing once it is answered.
  asked_with TEXT,
  asked_as INTEGER,
  asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX question_facts_together ON question_facts (asked_with, asked_as) WHERE asked_with IS NOT NULL;
CREATE INDEX question_facts_by_time ON question_facts (asked_at);
