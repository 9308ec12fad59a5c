-- Numbers that lists show, kept by the tables themselves: counting 100 000 rows for every call would not
-- stay flat.

CREATE TABLE task_counts (
  scope TEXT NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  total INTEGER NOT NULL,
  open INTEGER NOT NULL,
  PRIMARY KEY (scope, session_id, run_id)
) STRICT, WITHOUT ROWID;
INSERT INTO task_counts (scope, session_id, run_id, total, open)
SELECT scope, session_id, run_id, count(*), sum(status <> 'done') FROM tasks GROUP BY scope, session_id, run_id;

CREATE TRIGGER task_counts_insert AFTER INSERT ON tasks BEGIN
  INSERT INTO task_counts (scope, session_id, run_id, total, open)
  VALUES (new.scope, new.session_id, new.run_id, 1, new.status <> 'done')
  ON CONFLICT (scope, session_id, run_id) DO UPDATE SET total = total + 1, open = open + excluded.open;
END;
CREATE TRIGGER task_counts_delete AFTER DELETE ON tasks BEGIN
  UPDATE task_counts SET total = total - 1, open = open - (old.status <> 'done')
  WHERE scope = old.scope AND session_id = old.session_id AND run_id = old.run_id;
  DELETE FROM task_counts
  WHERE scope = old.scope AND session_id = old.session_id AND run_id = old.run_id AND total = 0;
END;
CREATE TRIGGER task_counts_update AFTER UPDATE OF status, scope, session_id, run_id ON tasks BEGIN
  UPDATE task_counts SET total = total - 1, open = open - (old.status <> 'done')
  WHERE scope = old.scope AND session_id = old.session_id AND run_id = old.run_id;
  INSERT INTO task_counts (scope, session_id, run_id, total, open)
  VALUES (new.scope, new.session_id, new.run_id, 1, new.status <> 'done')
  ON CONFLICT (scope, session_id, run_id) DO UPDATE SET total = total + 1, open = open + excluded.open;
  DELETE FROM task_counts
  WHERE scope = old.scope AND session_id = old.session_id AND run_id = old.run_id AND total = 0;
END;

CREATE TABLE journal_counts (
  project_root TEXT PRIMARY KEY,
  entries INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO journal_counts (project_root, entries)
SELECT project_root, count(*) FROM journal_entries GROUP BY project_root;

CREATE TRIGGER journal_counts_insert AFTER INSERT ON journal_entries BEGIN
  INSERT INTO journal_counts (project_root, entries) VALUES (new.project_root, 1)
  ON CONFLICT (project_root) DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER journal_counts_delete AFTER DELETE ON journal_entries BEGIN
  UPDATE journal_counts SET entries = entries - 1 WHERE project_root = old.project_root;
  DELETE FROM journal_counts WHERE project_root = old.project_root AND entries = 0;
END;
