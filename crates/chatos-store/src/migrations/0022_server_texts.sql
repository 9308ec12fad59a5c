-- The MCP server that gave what stands beside a message; empty for the person's own files.
ALTER TABLE message_attachments ADD COLUMN origin TEXT NOT NULL DEFAULT '';

-- Whether what a server says about itself joins the system prompt.
ALTER TABLE land_config_servers ADD COLUMN instructions INTEGER NOT NULL DEFAULT 1 CHECK (instructions IN (0, 1));
ALTER TABLE land_config_apps ADD COLUMN instructions INTEGER NOT NULL DEFAULT 1 CHECK (instructions IN (0, 1));
