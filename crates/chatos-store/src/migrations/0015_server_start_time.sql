-- How long a server may take to start, where a person said so.
ALTER TABLE mcp_servers ADD COLUMN start_timeout_ms INTEGER;
