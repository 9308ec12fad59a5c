-- The whole of a text that a question shows only in part; a blob.
ALTER TABLE prompt_records ADD COLUMN diff_blob TEXT NOT NULL DEFAULT '';
