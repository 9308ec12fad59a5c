//! A land_config comes back exactly, and locked or used ones stay.

use super::*;
use crate::AgentRecord;
use crate::db::tests::options;

#[test]
fn built_in_ones_come_back_exactly_and_are_locked() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    for config in chatos_policy::built_in() {
        store.put_land_config(config.clone(), true).unwrap();
        store.put_land_config(config.clone(), true).unwrap();
        assert_eq!(store.land_config(&config.id).unwrap(), Some(config.clone()));
        assert_eq!(store.put_land_config(config.clone(), false).unwrap_err().kind, StoreErrorKind::Conflict);
        assert_eq!(store.remove_land_config(&config.id).unwrap_err().kind, StoreErrorKind::Conflict);
    }
    assert_eq!(store.land_configs().unwrap().len(), 2);
}

#[test]
fn filters_keep_absent_apart_from_empty() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let text = serde_json::json!({
        "id": "lc_x", "name": "X", "main": {
            "mcpServers": [
                { "id": "a", "tools": { "allow": [] } },
                { "id": "b", "tools": { "allow": ["r*"], "deny": ["rm"], "ask": ["run"] }, "prompt": false },
                { "id": "c", "sampling": true },
                { "id": "b", "tools": { "deny": ["read"] } },
            ],
            "apps": [{ "pluginId": "com.a", "appId": "x", "tools": { "allow": [] } }, { "pluginId": "com.a", "appId": "x" }],
            "prompts": [{ "key": "default", "lang": "en" }],
        },
        "sub": {}, "limits": { "maxPasses": 3, "maxSubDepth": 0, "maxTokens": 9, "maxCost": 1.5 },
    });
    let config: LandConfig = serde_json::from_value(text).unwrap();
    store.put_land_config(config.clone(), false).unwrap();
    assert_eq!(store.land_config("lc_x").unwrap(), Some(config));
}

#[test]
fn one_in_use_is_not_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let config: LandConfig =
        serde_json::from_value(serde_json::json!({ "id": "lc_x", "name": "X", "main": {}, "sub": {} }))
            .unwrap();
    store.put_land_config(config, false).unwrap();
    let agent = AgentRecord::new("A", "lc_x");
    store.put_agent(agent.clone(), true).unwrap();
    assert_eq!(store.agents_using("lc_x").unwrap(), [(agent.id.clone(), "A".to_owned())]);
    assert_eq!(store.remove_land_config("lc_x").unwrap_err().kind, StoreErrorKind::Conflict);
    store.remove_agent(&agent.id).unwrap();
    assert!(store.remove_land_config("lc_x").unwrap());
    assert!(!store.remove_land_config("lc_x").unwrap());
}
