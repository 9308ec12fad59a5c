//! An agent comes back as it was saved, references to nothing included.

use super::*;
use crate::db::tests::options;

#[test]
fn an_agent_comes_back_whole_and_null_is_not_empty() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let mut agent = AgentRecord::new("Writer", "lc_gone");
    agent.ui_apps = vec![
        UiApp { mcp_server_ids: vec!["s9".to_owned()], prompt: false, ..UiApp::own("com.a", "x") },
        UiApp {
            extra: serde_json::json!({ "theirs": { "a": [1] } }).as_object().cloned().unwrap(),
            ..UiApp::own("com.a", "y")
        },
    ];
    agent.mcp_server_ids = Some(vec!["s2".to_owned(), "s1".to_owned(), "s2".to_owned()]);
    agent.skills = vec!["k".to_owned()];
    agent.prompt_lang = PromptLang::En;
    store.put_agent(agent.clone(), true).unwrap();
    let back = store.agent(&agent.id).unwrap().unwrap();
    agent.mcp_server_ids = Some(vec!["s2".to_owned(), "s1".to_owned()]);
    assert_eq!(
        back,
        AgentRecord { created_at: back.created_at, updated_at: back.updated_at, ..agent.clone() }
    );
    agent.mcp_server_ids = Some(Vec::new());
    agent.subagent_ids = None;
    store.put_agent(agent.clone(), false).unwrap();
    let back = store.agent(&agent.id).unwrap().unwrap();
    assert_eq!((back.mcp_server_ids, back.subagent_ids), (Some(Vec::new()), None));
    assert_eq!(store.put_agent(agent.clone(), true).unwrap_err().kind, StoreErrorKind::Conflict);
    assert!(store.remove_agent(&agent.id).unwrap());
    assert_eq!(store.put_agent(agent, false).unwrap_err().kind, StoreErrorKind::NotFound);
}

#[test]
fn a_flow_agent_has_no_choices_whatever_is_stored() {
    let mut agent = AgentRecord::new("Flow", "lc");
    agent.mode = Mode::Flow;
    agent.mcp_server_ids = Some(Vec::new());
    agent.ui_apps = vec![UiApp::own("com.a", "x")];
    let config = agent.config();
    assert!(config.mcp_server_ids.is_none() && config.ui_apps.is_empty());
    agent.clear_choices();
    assert!(agent.ui_apps.is_empty() && agent.mcp_server_ids.is_none());
}
