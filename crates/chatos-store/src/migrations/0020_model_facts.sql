-- Who said what about a model, and the facts that have no column of their own; both JSON objects.
ALTER TABLE models ADD COLUMN sources TEXT;
ALTER TABLE models ADD COLUMN facts TEXT;
