-- What another agent told about its session, what a person chose of it, and whether it is offered our servers
-- (decision 0062).
ALTER TABLE acp_sessions ADD COLUMN told TEXT NOT NULL DEFAULT '{}';
ALTER TABLE acp_sessions ADD COLUMN wanted TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agent_acp ADD COLUMN gateway INTEGER NOT NULL DEFAULT 1 CHECK (gateway IN (0, 1));
