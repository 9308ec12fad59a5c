//! Order, languages, doubles and bounds of system prompts.

use chatos_contribution::Exposed;
use chatos_manifest::{AppId, PluginId};
use chatos_policy::{
    AgentApps, AppEntry, AppFacts, Flow, Limits, PromptEntry, ServerFacts, ServerState, World,
};

use super::*;
use crate::book::BookText;

fn text(name: &str, content: &str) -> BookText {
    BookText {
        id: format!("id-{name}"),
        name: name.to_owned(),
        content: content.to_owned(),
        allow_main: true,
        allow_sub: true,
        app: None,
    }
}

fn book() -> PromptBook {
    let mut book = PromptBook::default();
    for (name, content) in
        [("default", "默认"), ("default__en", "Default"), ("only_zh", "只有中文"), ("mine", "my own text")]
    {
        book.insert(text(name, content));
    }
    book.insert(BookText { allow_sub: false, ..text("main_only", "for main") });
    book
}

fn land(keys: &[(&str, PromptLang)], any: bool) -> LandConfig {
    let flow = Flow {
        prompts: keys.iter().map(|(key, lang)| PromptEntry { key: (*key).to_owned(), lang: *lang }).collect(),
        agent_prompts: if any { AgentPrompts::Any } else { AgentPrompts::Listed },
        ..Flow::default()
    };
    LandConfig {
        id: "lc".to_owned(),
        name: "Land".to_owned(),
        description: String::new(),
        locked: false,
        main: flow.clone(),
        sub: flow,
        limits: Limits::default(),
    }
}

fn assemble(agent: &AgentRecord, role: Role, land: &LandConfig, context: &BlockContext) -> SystemBlocks {
    let outcome = chatos_policy::grants(&agent.config(), role, |_| Some(land), &World::default())
        .unwrap_or_else(|e| panic!("{e}"));
    Assembly { agent, land, outcome: &outcome, book: &book(), setting: Lang::Zh, context }.assemble()
}

fn labels(blocks: &SystemBlocks) -> Vec<&str> {
    blocks.blocks.iter().map(|block| block.label.as_str()).collect()
}

fn codes(blocks: &SystemBlocks) -> Vec<(&str, &str)> {
    blocks.prompts.iter().map(|prompt| (prompt.key.as_str(), prompt.code)).collect()
}

fn agent(mode: Mode) -> AgentRecord {
    AgentRecord { mode, ..AgentRecord::new("A", "lc") }
}

#[test]
fn a_flow_agent_has_the_prompts_of_its_land_config_and_nothing_of_its_own() {
    let land =
        land(&[("default", PromptLang::Auto), ("gone", PromptLang::Auto), ("default", PromptLang::En)], true);
    let agent = AgentRecord {
        prompt: "ignored".to_owned(),
        prompt_ids: vec!["mine".to_owned()],
        ..agent(Mode::Flow)
    };
    let blocks = assemble(&agent, Role::Main, &land, &BlockContext::default());
    assert_eq!(labels(&blocks), ["prompt:default", "capabilities"]);
    assert_eq!(
        codes(&blocks),
        [("default", "included"), ("gone", "missing_prompt"), ("default", "duplicate")]
    );
    assert!(blocks.text().starts_with("默认\n\n# 可用的内容"));
}

#[test]
fn a_custom_agent_chooses_within_its_land_config() {
    let mut agent = agent(Mode::Custom);
    agent.prompt = "I am special.".to_owned();
    agent.prompt_ids = ["id-mine", "default", "default__en", "only_zh"].map(str::to_owned).to_vec();
    agent.prompt_lang = PromptLang::En;
    let listed = land(&[("default", PromptLang::Auto)], false);
    let blocks = assemble(&agent, Role::Main, &listed, &BlockContext::default());
    assert_eq!(labels(&blocks), ["agent", "prompt:default__en", "capabilities"]);
    assert_eq!(
        codes(&blocks),
        [
            ("mine", "not_in_land_config"),
            ("default", "included"),
            ("default", "duplicate"),
            ("only_zh", "not_in_land_config")
        ]
    );
    let any = assemble(&agent, Role::Main, &land(&[], true), &BlockContext::default());
    // A missing language falls back to the other one.
    assert_eq!(
        labels(&any),
        ["agent", "prompt:mine", "prompt:default__en", "prompt:only_zh", "capabilities"]
    );
}

#[test]
fn the_language_of_an_entry_wins_over_the_agent_and_that_over_the_setting() {
    let blocks = |entry, agent_lang| {
        let agent = AgentRecord { prompt_lang: agent_lang, ..agent(Mode::Flow) };
        assemble(&agent, Role::Main, &land(&[("default", entry)], true), &BlockContext::default()).blocks[0]
            .text
            .clone()
    };
    assert_eq!(blocks(PromptLang::Auto, PromptLang::Auto), "默认");
    assert_eq!(blocks(PromptLang::Auto, PromptLang::En), "Default");
    assert_eq!(blocks(PromptLang::Zh, PromptLang::En), "默认");
}

#[test]
fn a_sub_agent_gets_command_skills_land_prompts_and_the_guard() {
    let land = land(&[("main_only", PromptLang::Auto), ("default", PromptLang::En)], true);
    let sub = SubTexts {
        prompt: "agent prompt".to_owned(),
        command: Some("do it".to_owned()),
        skills: vec![("review".to_owned(), "look twice".to_owned()), ("empty".to_owned(), "  ".to_owned())],
    };
    let context = BlockContext { workdir: "/w".into(), sub: Some(sub.clone()), ..BlockContext::default() };
    let blocks = assemble(&agent(Mode::Custom), Role::Sub, &land, &context);
    assert_eq!(labels(&blocks), ["command", "skill:review", "prompt:default__en", "guard"]);
    assert_eq!(blocks.blocks[1].text, "# Skill: review\n\nlook twice");
    assert_eq!(codes(&blocks)[0], ("main_only", "not_for_role"));
    let context = BlockContext { sub: Some(SubTexts { command: None, ..sub }), ..context };
    assert_eq!(assemble(&agent(Mode::Custom), Role::Sub, &land, &context).blocks[0].text, "agent prompt");
}

#[test]
fn long_lists_are_counted_not_written_out() {
    let context =
        BlockContext { subagents: (0..15).map(|n| format!("s{n}")).collect(), ..BlockContext::default() };
    let blocks = assemble(&agent(Mode::Flow), Role::Main, &land(&[], true), &context);
    assert!(blocks.text().contains("s11, +3"), "{}", blocks.text());
}

/// The prompt of the app `com.x/a`, whose server is in this state.
fn with_app(agent: &AgentRecord, role: Role, land: &LandConfig, state: ServerState) -> SystemBlocks {
    let identity = ServerIdentity::app(&PluginId::parse("com.x").unwrap(), &AppId::parse("a").unwrap());
    let mut book = book();
    book.insert(BookText { app: Some(("com.x".into(), "a".into())), ..text("mcp_com_x_a", "use the app") });
    book.add_own(("com.x".into(), "a".into()), Some(identity.clone()), "mcp_com_x_a".into());
    let server = ServerFacts {
        identity: identity.clone(),
        row_id: None,
        name: "com.x.a".to_owned(),
        state,
        allow_main: true,
        allow_sub: true,
        is_router: false,
    };
    let app = AppFacts {
        plugin_id: "com.x".to_owned(),
        app_id: "a".to_owned(),
        name: "com.x.a".to_owned(),
        own_server: Some(identity),
        exposes: Exposed::None,
    };
    let world = World::new(vec![server], vec![app]);
    let outcome = chatos_policy::grants(&agent.config(), role, |_| Some(land), &world).unwrap();
    let context = &BlockContext::default();
    Assembly { agent, land, outcome: &outcome, book: &book, setting: Lang::Zh, context }.assemble()
}

/// A land_config that lists the app, or only lets agents choose it.
fn app_land(listed: Option<bool>) -> LandConfig {
    let entry = |prompt: bool| -> AppEntry {
        let entry = serde_json::json!({ "pluginId": "com.x", "appId": "a", "prompt": prompt });
        serde_json::from_value(entry).unwrap()
    };
    let mut land = land(&[], true);
    for flow in [&mut land.main, &mut land.sub] {
        flow.apps = listed.map(entry).into_iter().collect();
        flow.agent_apps = AgentApps::Trusted;
    }
    land
}

#[test]
fn an_app_prompt_that_is_not_ticked_is_not_given_though_the_tools_are() {
    let chosen = |app: UiApp| AgentRecord { ui_apps: vec![app], ..agent(Mode::Custom) };
    let ticked = UiApp::own("com.x", "a");
    let unticked = UiApp { prompt: false, ..ticked.clone() };
    let another = UiApp { prompt_ids: vec!["mine".to_owned()], ..ticked.clone() };
    let itself = UiApp { prompt_ids: vec!["mcp_com_x_a".to_owned()], ..ticked.clone() };
    for role in [Role::Main, Role::Sub] {
        for land in [app_land(None), app_land(Some(true))] {
            let given = |app: &UiApp| {
                let blocks = with_app(&chosen(app.clone()), role, &land, ServerState::Usable);
                (
                    blocks.text().contains("use the app"),
                    codes(&blocks).last().map(|(_, code)| (*code).to_owned()),
                )
            };
            assert!(given(&ticked).0 && given(&itself).0, "{role:?}");
            assert_eq!(given(&unticked), (false, Some("not_chosen".to_owned())), "{role:?}");
            assert_eq!(given(&another), (false, Some("not_chosen".to_owned())), "{role:?}");
        }
        // Both have to want it.
        let blocks = with_app(&chosen(ticked.clone()), role, &app_land(Some(false)), ServerState::Usable);
        assert!(!blocks.text().contains("use the app"), "{role:?}");
    }
    // A flow agent chooses nothing, and ticks nothing off.
    let flow = AgentRecord { ui_apps: vec![unticked], ..agent(Mode::Flow) };
    let blocks = with_app(&flow, Role::Main, &app_land(Some(true)), ServerState::Usable);
    assert!(blocks.text().contains("use the app"));
}

#[test]
fn the_prompt_of_a_refused_server_is_not_given() {
    let own = UiApp::own("com.x", "a");
    let by_name = UiApp { prompt_ids: vec!["mcp_com_x_a".to_owned()], ..own.clone() };
    for state in [ServerState::Disabled, ServerState::Untrusted, ServerState::Unavailable] {
        for app in [&own, &by_name] {
            let agent = AgentRecord { ui_apps: vec![app.clone()], ..agent(Mode::Custom) };
            let blocks = with_app(&agent, Role::Main, &app_land(Some(true)), state);
            assert_eq!(codes(&blocks), [("mcp_com_x_a", "server_refused")], "{state:?}");
            assert_eq!(labels(&blocks), ["capabilities"], "{state:?}");
        }
    }
    // The land_config does not let the agent have it.
    let mut none = app_land(None);
    none.main.agent_apps = AgentApps::None;
    let agent = AgentRecord { ui_apps: vec![own.clone()], ..agent(Mode::Custom) };
    assert_eq!(
        codes(&with_app(&agent, Role::Main, &none, ServerState::Usable)),
        [("mcp_com_x_a", "server_refused")]
    );
    // Chosen alone, without its server, it is a text like any other.
    let alone = UiApp { mcp: false, ..own };
    let agent = AgentRecord { ui_apps: vec![alone], ..agent };
    let blocks = with_app(&agent, Role::Main, &none, ServerState::Usable);
    assert_eq!(codes(&blocks), [("mcp_com_x_a", "included")]);
}
