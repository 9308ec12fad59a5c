-- Folders a server is told about when it asks for roots: those a person set for it, none by default.
ALTER TABLE mcp_servers ADD COLUMN roots TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(roots));
