-- The executable bit is part of what a person trusts; a changed one is shown like changed bytes.
-- Null in records made before this was kept.
ALTER TABLE plugin_trust_files ADD COLUMN executable INTEGER CHECK (executable IN (0, 1));
