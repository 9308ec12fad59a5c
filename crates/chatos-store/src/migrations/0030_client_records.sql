-- What a page tells of another program: since when it is known, which program started it, whose tools it uses, where
-- its folder comes from, and which of several with one name it is.
ALTER TABLE clients ADD COLUMN first_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clients ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE clients ADD COLUMN program TEXT NOT NULL DEFAULT '';
ALTER TABLE clients ADD COLUMN root_from TEXT NOT NULL DEFAULT '';
ALTER TABLE clients ADD COLUMN number INTEGER NOT NULL DEFAULT 1;
ALTER TABLE clients ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0;
UPDATE clients SET first_at = seen_at;
