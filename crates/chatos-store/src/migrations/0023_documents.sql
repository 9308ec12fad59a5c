-- The text of a document beside a message, what a person should know about it, and chats that came from a file.
ALTER TABLE message_attachments ADD COLUMN text_blob TEXT NOT NULL DEFAULT '';
ALTER TABLE message_attachments ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN imported_at INTEGER;
