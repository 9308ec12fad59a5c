-- A land_config may name a server or an app twice; the filters are intersected (agents §2).
CREATE TABLE land_config_servers_2 (
  id TEXT PRIMARY KEY,
  land_config_id TEXT NOT NULL REFERENCES land_configs (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('main', 'sub')),
  position INTEGER NOT NULL,
  server_id TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  prompt_lang TEXT NOT NULL DEFAULT '',
  use_prompt INTEGER NOT NULL DEFAULT 0 CHECK (use_prompt IN (0, 1)),
  sampling INTEGER NOT NULL DEFAULT 0 CHECK (sampling IN (0, 1)),
  tools_restricted INTEGER NOT NULL DEFAULT 0 CHECK (tools_restricted IN (0, 1))
) STRICT;
INSERT INTO land_config_servers_2 SELECT id, land_config_id, role, position, server_id, name, prompt_lang, use_prompt,
  sampling, tools_restricted FROM land_config_servers;
DROP TABLE land_config_servers;
ALTER TABLE land_config_servers_2 RENAME TO land_config_servers;
CREATE INDEX land_config_servers_by_flow ON land_config_servers (land_config_id, role, position);

CREATE TABLE land_config_apps_2 (
  id TEXT PRIMARY KEY,
  land_config_id TEXT NOT NULL REFERENCES land_configs (id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('main', 'sub')),
  position INTEGER NOT NULL,
  plugin_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  prompt_lang TEXT NOT NULL DEFAULT '',
  use_prompt INTEGER NOT NULL DEFAULT 0 CHECK (use_prompt IN (0, 1)),
  sampling INTEGER NOT NULL DEFAULT 0 CHECK (sampling IN (0, 1)),
  tools_restricted INTEGER NOT NULL DEFAULT 0 CHECK (tools_restricted IN (0, 1))
) STRICT;
INSERT INTO land_config_apps_2 SELECT id, land_config_id, role, position, plugin_id, app_id, name, prompt_lang,
  use_prompt, sampling, tools_restricted FROM land_config_apps;
DROP TABLE land_config_apps;
ALTER TABLE land_config_apps_2 RENAME TO land_config_apps;
CREATE INDEX land_config_apps_by_flow ON land_config_apps (land_config_id, role, position);

-- What somebody else wrote beside the documented members survives a save (ai-contributions §12).
ALTER TABLE agent_apps ADD COLUMN extra TEXT CHECK (extra IS NULL OR json_valid(extra));
