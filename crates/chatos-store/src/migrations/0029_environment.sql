-- Date, folder and branch as they were when a message was sent; before the texts of the project.
ALTER TABLE message_blocks ADD COLUMN environment TEXT NOT NULL DEFAULT '';
