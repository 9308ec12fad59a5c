//! The JSON of a land_config: defaults, round trip, strictness, and what is out of bounds.

#![allow(clippy::unwrap_used, reason = "a failed step is a failed test")]

use chatos_policy::{AgentApps, LandConfig, PromptLang, UiApp, built_in};
use serde_json::{Value, json};

#[test]
fn the_smallest_one_and_its_defaults() {
    let land: LandConfig = serde_json::from_value(json!({ "name": "n", "main": {}, "sub": {} })).unwrap();
    assert!(land.main.mcp_servers.is_empty());
    assert_eq!(land.main.agent_apps, AgentApps::None);
    let land: LandConfig =
        serde_json::from_value(json!({ "name": "n", "main": { "mcpServers": [{ "id": "a" }] }, "sub": {} }))
            .unwrap();
    let entry = &land.main.mcp_servers[0];
    assert!(entry.prompt && !entry.sampling && entry.tools.allow.is_none());
    assert_eq!(entry.prompt_lang, PromptLang::Auto);
}

#[test]
fn built_in_ones_round_trip() {
    for land in built_in() {
        let text = serde_json::to_string(&land).unwrap();
        assert_eq!(serde_json::from_str::<LandConfig>(&text).unwrap(), land);
    }
}

#[test]
fn an_empty_allow_list_is_kept_apart_from_none() {
    let with = |tools: Value| {
        let server = json!({ "id": "a", "tools": tools });
        let land = json!({ "name": "n", "main": { "mcpServers": [server] }, "sub": {} });
        let land: LandConfig = serde_json::from_value(land).unwrap();
        let again: LandConfig = serde_json::from_value(serde_json::to_value(&land).unwrap()).unwrap();
        again.main.mcp_servers[0].tools.allow.clone()
    };
    assert_eq!(with(json!({})), None);
    assert_eq!(with(json!({ "allow": [] })), Some(Vec::new()));
}

#[test]
fn unknown_words_are_refused() {
    for bad in [
        json!({ "name": "n", "main": {} }),
        json!({ "name": "n", "main": {}, "sub": {}, "extra": 1 }),
        json!({ "name": "n", "main": { "servers": [] }, "sub": {} }),
        json!({ "name": "n", "main": { "agentApps": "all" }, "sub": {} }),
        json!({ "name": "n", "main": { "mcpServers": ["a"] }, "sub": {} }),
        json!({ "name": "n", "main": { "mcpServers": [{ "id": "a", "tools": { "alow": [] } }] }, "sub": {} }),
    ] {
        assert!(serde_json::from_value::<LandConfig>(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn out_of_bounds_is_said_with_a_pointer() {
    let many: Vec<String> = (0..201).map(|n| n.to_string()).collect();
    let land: LandConfig = serde_json::from_value(json!({
        "name": "", "limits": { "maxPasses": 501, "maxSubDepth": 2, "maxCost": -1 },
        "main": { "mcpServers": [{ "id": "", "tools": { "allow": many, "deny": [""] } }] }, "sub": {},
    }))
    .unwrap();
    let said: Vec<String> = land.faults().iter().map(ToString::to_string).collect();
    for pointer in [
        "/name:",
        "/main/mcpServers/0/id:",
        "/main/mcpServers/0/tools/allow:",
        "/main/mcpServers/0/tools/deny/0:",
        "/limits/maxPasses:",
        "/limits/maxSubDepth:",
        "/limits/maxCost:",
    ] {
        assert!(said.iter().any(|line| line.starts_with(pointer)), "{pointer} in {said:?}");
    }
    assert_eq!(said.len(), 7, "{said:?}");
}

#[test]
fn a_chosen_app_is_complete_by_default() {
    let app: UiApp = serde_json::from_value(json!({ "pluginId": "p", "appId": "x" })).unwrap();
    assert_eq!(app, UiApp::own("p", "x"));
}
