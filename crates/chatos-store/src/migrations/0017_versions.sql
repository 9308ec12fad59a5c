-- Versions of messages: the first one in a place, and with which version a message or summary was left.
ALTER TABLE messages ADD COLUMN version_of TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN left_with TEXT NOT NULL DEFAULT '';
ALTER TABLE summaries ADD COLUMN left_with TEXT NOT NULL DEFAULT '';
CREATE INDEX messages_versions ON messages (version_of, seq) WHERE version_of != '';
