//! From a manifest to what an app contributes, with the examples of the specification.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use chatos_contribution::{
    AppContribution, LoadedAi, PromptNames, PromptText, ResolvedAi, merge, normalize_server, resolve,
    server_name,
};
use chatos_manifest::{AppManifest, PluginManifest, Problem, parse};
use expect_test::expect;
use serde_json::{Value, json};

fn manifest(ai: Value) -> PluginManifest {
    let value = json!({"id": "com.example.tools", "name": "Example Tools", "apps": [
        {"id": "db-client", "name": "DB Client", "entry": {"type": "module", "path": "db-client/index.mjs"}, "ai": ai}]});
    parse(value.to_string().as_bytes()).manifest.unwrap()
}

/// What the loader would do when every file is there.
fn load(app: &AppManifest) -> LoadedAi {
    let merged = merge(&app.ai.as_ref().unwrap().inline, None, None);
    let prompt = merged.mcp_prompt.as_ref().map(|(decl, _)| PromptText {
        zh: decl.zh.as_ref().map(|_| "中文提示".to_owned()),
        en: decl.en.as_ref().map(|_| "English prompt".to_owned()),
    });
    LoadedAi {
        merged,
        entry: Some("/p/db-client/mcp-server.mjs".into()),
        program: Some("/p/bin/run".into()),
        prompt,
    }
}

fn resolved(ai: Value) -> (PluginManifest, ResolvedAi, Vec<Problem>) {
    let manifest = manifest(ai);
    let (resolved, problems) = resolve(&manifest.id, &manifest.apps[0], load(&manifest.apps[0]));
    (manifest, resolved, problems)
}

fn contribution(ai: Value) -> AppContribution {
    let (manifest, resolved, problems) = resolved(ai);
    assert!(problems.is_empty(), "{problems:?}");
    let app = &manifest.apps[0];
    let n = normalize_server(&server_name(&manifest.id, &app.id));
    let names = PromptNames { zh: format!("mcp_{n}"), en: format!("mcp_{n}__en") };
    AppContribution::new(&manifest.id, &app.id, "/p", 42, &resolved, &n, &names)
}

#[test]
fn an_app_with_its_own_server_and_prompt() {
    let found = contribution(json!({
        "mcp": { "entry": "db-client/mcp-server.mjs", "command": "node", "allowMain": true, "allowSub": true },
        "mcpPrompt": { "zh": "db-client/mcp-prompt.zh.md", "en": "db-client/mcp-prompt.en.md" }
    }));
    expect![[r#"
        {
          "pluginId": "com.example.tools",
          "appId": "db-client",
          "pluginDir": "/p",
          "revision": 42,
          "mcp": {
            "identity": "app:com.example.tools/db-client",
            "name": "com.example.tools.db-client",
            "normalizedName": "com_example_tools_db-client",
            "url": "cmd://node /p/db-client/mcp-server.mjs",
            "argv": [
              "node",
              "/p/db-client/mcp-server.mjs"
            ],
            "callMeta": null,
            "description": "",
            "tags": [
              "uiapp",
              "uiapp:com.example.tools",
              "uiapp:com.example.tools.db-client",
              "uiapp:com.example.tools:db-client"
            ],
            "enabled": true,
            "allowMain": true,
            "allowSub": true,
            "auth": null
          },
          "mcpPrompt": {
            "title": "DB Client MCP Prompt",
            "names": {
              "zh": "mcp_com_example_tools_db-client",
              "en": "mcp_com_example_tools_db-client__en"
            },
            "zh": "中文提示",
            "en": "English prompt"
          },
          "mcpServers": null,
          "prompts": null,
          "agent": null,
          "decidedBy": {
            "mcpServers": "none",
            "prompts": "none"
          }
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&found).unwrap());
}

#[test]
fn secrets_are_masked_and_args_are_quoted() {
    let found = contribution(
        json!({"mcp": {"entry": "s.mjs", "command": "bin/run", "args": ["a b", ""], "tags": ["db"],
        "enabled": false,
        "auth": {"token": "canary", "basic": {"username": "u", "password": "canary"}, "headers": {"X-Key": "canary"}}}}),
    );
    let wire = serde_json::to_value(&found).unwrap();
    assert_eq!(wire["mcp"]["url"], "cmd:///p/bin/run /p/db-client/mcp-server.mjs \"a b\" \"\"");
    assert_eq!(
        wire["mcp"]["auth"],
        json!({"token": "********", "basic": {"username": "u", "password": "********"}, "headers": {"X-Key": "********"}})
    );
    assert_eq!((&wire["mcp"]["enabled"], &wire["mcp"]["tags"][0]), (&json!(false), &json!("db")));
    assert!(!format!("{found:?}{wire}").contains("canary"));
}

#[test]
fn an_address_that_cannot_be_parsed_drops_the_server_only() {
    for (url, code) in [
        ("cmd://node \"x", "cmd_unclosed_quote"),
        ("cmd://node \\", "cmd_trailing_backslash"),
        ("cmd:// ", "cmd_empty"),
        ("cmd://\"\" x", "cmd_empty"),
        ("cmd://node a\0b", "cmd_nul"),
    ] {
        let (_, found, problems) = resolved(json!({"mcp": {"url": url}, "prompts": true}));
        assert!(found.mcp.is_none() && !found.is_empty());
        assert_eq!(
            (problems[0].code.as_str(), problems[0].path.as_str()),
            (code, "/apps/0/ai/mcp/url"),
            "{url:?}"
        );
    }
}

#[test]
fn nothing_left_is_no_contribution() {
    let (_, found, _) = resolved(json!({"mcpServers": false}));
    assert!(found.is_empty());
    let (_, found, _) = resolved(json!({}));
    assert!(found.is_empty());
}
