//! Every size limit of `plugin.json` and the files it names (plugin-manifest §2.1–2.5), in one place.

/// Bytes of `plugin.json`.
pub const MANIFEST_BYTES: usize = 262_144;
/// Containers inside containers, the top-level object counted.
pub const JSON_DEPTH: usize = 64;
/// Characters of a plugin id.
pub const PLUGIN_ID_CHARS: usize = 128;
/// Characters of an app id.
pub const APP_ID_CHARS: usize = 64;
/// Characters of a plugin, app or publisher name.
pub const NAME_CHARS: usize = 200;
/// Characters of `version`.
pub const VERSION_CHARS: usize = 64;
/// Characters of any description.
pub const DESCRIPTION_CHARS: usize = 4_000;
/// How long a server may say it takes to start: shorter is no start, longer is nobody's patience.
pub const START_MS_LEAST: u64 = 1_000;
/// The most of the same.
pub const START_MS_MOST: u64 = 600_000;
/// Entries of `apps`.
pub const APPS: usize = 100;
/// Entries of `capabilities`; there are about ten names, so more is noise.
pub const CAPABILITIES: usize = 100;
/// Bytes of a path.
pub const PATH_BYTES: usize = 1_024;
/// Bytes of an `ai.config` file.
pub const CONFIG_BYTES: usize = 131_072;
/// Bytes of one prompt text, from a file or inline.
pub const PROMPT_BYTES: usize = 131_072;
/// Bytes of `ai.mcp.url`.
pub const URL_BYTES: usize = 2_048;
/// Entries of `ai.mcp.args`.
pub const ARGS: usize = 64;
/// Bytes of one argument.
pub const ARG_BYTES: usize = 4_096;
/// Bytes of `ai.mcp.callMeta` as compact JSON.
pub const CALL_META_BYTES: usize = 65_536;
/// Nesting of `ai.mcp.callMeta`, itself counted.
pub const CALL_META_DEPTH: usize = 32;
/// Entries of `ai.mcp.tags`.
pub const TAGS: usize = 32;
/// Characters of one tag.
pub const TAG_CHARS: usize = 64;
/// Names in `ai.mcpServers` or `ai.prompts`.
pub const EXPOSED_NAMES: usize = 500;
/// Bytes of an icon file.
pub const ICON_BYTES: u64 = 262_144;
/// Characters of an icon that is text or an emoji.
pub const ICON_CHARS: usize = 16;
