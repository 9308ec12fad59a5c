-- A task finds its notes without looking through those of all others, also when it is deleted.
CREATE INDEX task_notes_by_task ON task_notes (task_id, id);
