//! The JSON Schema of `plugin.json` for editors. Built from the same limits and word lists as the
//! parser; the committed copies are in `docs/schemas/` and a test keeps them in step.
//!
//! A schema cannot say everything (files must exist, ids must not be device names), so it is a help
//! while typing and never a substitute for `chatos plugin validate`.

use serde_json::{Value, json};

use crate::{KNOWN_CAPABILITIES, limits};

/// The schema as a JSON value (draft 2020-12).
pub fn plugin_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ChatOS plugin.json",
        "description": "Manifest of a ChatOS plugin: one directory with plugin.json at its top.",
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "$schema": { "type": "string" },
            "manifestVersion": { "description": "Version of this format.", "const": 1, "default": 1 },
            "id": id("Stable, globally unique plugin id; reverse domain name recommended.", limits::PLUGIN_ID_CHARS),
            "name": name("Name shown to people."),
            "version": {
                "description": "Shown to people; not parsed.",
                "type": "string", "maxLength": limits::VERSION_CHARS, "default": "0.0.0"
            },
            "description": description("What the plugin does, in plain text."),
            "publisher": {
                "description": "Who made it; shown as unverified.",
                "oneOf": [
                    { "type": "string" },
                    { "type": "object", "properties": {
                        "name": { "type": "string" }, "url": { "type": "string" }, "email": { "type": "string" } } }
                ]
            },
            "homepage": { "description": "Opened only on a click.", "type": "string" },
            "license": { "type": "string" },
            "capabilities": {
                "description": "Names what the app's pages may call: narrows what is its own, asks for what reaches beyond it. Leave out for its own things.",
                "type": "array", "maxItems": limits::CAPABILITIES,
                "items": { "anyOf": [
                    { "enum": KNOWN_CAPABILITIES },
                    { "type": "string", "pattern": "^network:[A-Za-z0-9.:*-]+$" },
                    { "type": "string" }
                ] }
            },
            "backend": {
                "description": "Module that runs in a Node process of its own.",
                "type": "object", "required": ["entry"],
                "properties": { "entry": path("Backend module.") }
            },
            "apps": {
                "description": "Apps of the plugin.",
                "type": "array", "maxItems": limits::APPS, "default": [],
                "items": { "$ref": "#/$defs/app" }
            }
        },
        "$defs": {
            "app": app(),
            "module": {
                "type": "object", "required": ["type", "path"],
                "properties": {
                    "type": { "description": "Only modules are supported.", "const": "module" },
                    "path": path("ES module that exports mount().")
                }
            },
            "ai": ai(),
            "mcp": mcp(),
            "mcpPrompt": {
                "description": "How models should use the app; a bare path is the Chinese text.",
                "oneOf": [
                    path("File with the Chinese text."),
                    { "type": "object",
                      "anyOf": [ { "required": ["zh"] }, { "required": ["en"] } ],
                      "properties": {
                        "title": { "type": "string" },
                        "zh": { "$ref": "#/$defs/promptSource" },
                        "en": { "$ref": "#/$defs/promptSource" } } }
                ]
            },
            "promptSource": {
                "oneOf": [
                    path("File with the text."),
                    { "type": "object", "properties": {
                        "path": path("File with the text."),
                        "content": { "description": "The text itself; wins over path.", "type": "string" } } }
                ]
            },
            "exposure": {
                "oneOf": [
                    { "type": "boolean" },
                    { "type": "array", "maxItems": limits::EXPOSED_NAMES, "items": { "type": "string" } }
                ]
            }
        }
    })
}

/// The schema of a config file that `ai` or `ai.config` names (`ai.yaml`, `ai.json`).
pub fn ai_schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ChatOS ai.yaml",
        "description": "What an app offers to agents, in a file of its own.",
        "$ref": "#/$defs/ai",
        "$defs": plugin_schema()["$defs"],
    });
    if let Some(defs) = schema["$defs"].as_object_mut() {
        // Of apps and their modules nothing is said in this file.
        defs.shift_remove("app");
        defs.shift_remove("module");
    }
    // A config file cannot name another one.
    schema["$defs"]["ai"]["properties"]["config"] = json!(false);
    schema
}

/// The same as the committed file has it.
pub fn ai_schema_text() -> String {
    format!("{:#}\n", ai_schema())
}

/// The schema as the committed file has it.
pub fn plugin_schema_text() -> String {
    format!("{:#}\n", plugin_schema())
}

fn id(description: &str, max: usize) -> Value {
    json!({
        "description": description, "type": "string",
        "minLength": 1, "maxLength": max,
        "pattern": r"^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.|$))*$"
    })
}

fn name(description: &str) -> Value {
    json!({ "description": description, "type": "string", "minLength": 1, "maxLength": limits::NAME_CHARS })
}

fn description(description: &str) -> Value {
    json!({
        "description": description, "type": "string", "maxLength": limits::DESCRIPTION_CHARS, "default": ""
    })
}

fn path(description: &str) -> Value {
    json!({
        "description": format!("{description} Relative to plugin.json, inside the plugin directory."),
        "type": "string", "minLength": 1, "maxLength": limits::PATH_BYTES,
        "pattern": r"^(?![/~\\])(?![A-Za-z][A-Za-z0-9+.-]*:)[^\\]+$"
    })
}

fn app() -> Value {
    json!({
        "type": "object", "required": ["id", "name", "entry"],
        "properties": {
            "id": id("Unique within the plugin.", limits::APP_ID_CHARS),
            "name": name("Name shown to people."),
            "description": description("What the app does, in plain text."),
            "icon": {
                "description": "Up to 16 characters of text or an emoji, or a small image file of the plugin.",
                "type": "string", "default": ""
            },
            "entry": {
                "description": "Front-end module of the app.",
                "oneOf": [
                    path("ES module that exports mount()."),
                    { "allOf": [ { "$ref": "#/$defs/module" } ], "type": "object",
                      "properties": { "compact": {
                        "description": "Module for narrow places such as the side panel.",
                        "oneOf": [ path("ES module that exports mount()."), { "$ref": "#/$defs/module" } ] } } }
                ]
            },
            "ai": {
                "description": "What the app offers to agents; a bare path names a config file.",
                "oneOf": [ path("JSON or YAML config file."), { "$ref": "#/$defs/ai" } ]
            }
        }
    })
}

fn ai() -> Value {
    json!({
        "type": "object",
        "properties": {
            "config": path("JSON or YAML file with the same keys except config."),
            "mcp": { "$ref": "#/$defs/mcp" },
            "mcpPrompt": { "$ref": "#/$defs/mcpPrompt" },
            "mcpServers": { "description": "Existing servers a person may select for this app.", "$ref": "#/$defs/exposure" },
            "prompts": { "description": "Existing prompts a person may select for this app.", "$ref": "#/$defs/exposure" },
            "agent": {
                "description": "Template of an agent.",
                "type": "object", "required": ["name"],
                "properties": {
                    "name": name("Name of the agent."),
                    "description": description("What the agent does."),
                    "modelId": { "type": "string" }
                }
            }
        }
    })
}

fn mcp() -> Value {
    json!({
        "description": "The app's own MCP server.",
        "type": "object",
        "anyOf": [ { "required": ["url"] }, { "required": ["entry"] } ],
        "properties": {
            "url": {
                "description": "Server that runs elsewhere.",
                "type": "string", "maxLength": limits::URL_BYTES, "pattern": "^(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|cmd)://"
            },
            "entry": path("Script the host starts over stdio."),
            "command": { "description": "One program, never split into words.", "type": "string", "default": "node" },
            "args": {
                "description": "Passed verbatim after the entry.",
                "type": "array", "maxItems": limits::ARGS, "items": { "type": "string" }, "default": []
            },
            "startTimeoutMs": {
                "description": "How long the server may take to start; the setting mcpStartTimeoutMs when absent.",
                "type": "integer", "minimum": limits::START_MS_LEAST, "maximum": limits::START_MS_MOST
            },
            "callMeta": {
                "description": "Added to _meta of each call; $pluginId $appId $pluginDir $dataDir $stateDir $sessionRoot $projectRoot are replaced.",
                "type": "object",
                "properties": { "asyncTask": {
                    "description": "Tools whose result comes later through the prompt log.",
                    "type": "object",
                    "properties": {
                        "tools": { "type": "array", "items": { "type": "string" } },
                        "taskIdKey": { "type": "string", "minLength": 1, "default": "taskId" },
                        "resultSource": { "const": "ui_prompts" },
                        "uiPromptFile": { "const": "ui-prompts.jsonl" },
                        "pollIntervalMs": { "type": "number", "default": 1000 },
                        "timeoutMs": { "type": "number", "default": 7_200_000 }
                    } } }
            },
            "description": description("What the server offers."),
            "tags": {
                "type": "array", "maxItems": limits::TAGS,
                "items": { "type": "string", "maxLength": limits::TAG_CHARS }, "default": []
            },
            "enabled": { "type": "boolean", "default": true },
            "allowMain": { "description": "Main agents may use it.", "type": "boolean", "default": true },
            "allowSub": { "description": "Subagents may use it.", "type": "boolean", "default": true },
            "auth": {
                "description": "Sent over http, https, ws and wss only.",
                "type": "object",
                "properties": {
                    "token": { "type": "string" },
                    "basic": { "type": "object", "properties": {
                        "username": { "type": "string" }, "password": { "type": "string" } } },
                    "headers": { "type": "object", "additionalProperties": { "type": "string" } }
                }
            }
        }
    })
}
