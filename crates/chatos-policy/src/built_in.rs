//! The two land_configs that every installation has (agents §2). Both are locked: they change
//! with the program, never by hand.

use crate::{
    AgentApps, AgentPrompts, Flow, LandConfig, Limits, PromptEntry, PromptLang, ServerEntry, ToolFilter,
};

/// Id of the land_config of everyone who chose none.
pub const SAFE_DEFAULT: &str = "lc_safe_default";
/// Id of the one for people who write code.
pub const DEVELOPER: &str = "lc_developer";

/// Row id of the server that starts subagents.
pub const ROUTER_SERVER: &str = "36bb1921-66e8-4901-9739-2177349f5dd4";

// Fixed row ids of the built-in servers.
const PROJECT_FILES: &str = "8fe4e8f4-b8d1-4f59-967d-374a55f61417";
const CODE_WRITER: &str = "f2d0dbcb-e86e-493a-86b1-05cff71a14cb";
const CODE_MAINTAINER: &str = "b10599fb-bda3-439f-9143-565fc2a2700c";
const SHELL_TASKS: &str = "a176d672-15f4-43c5-8c5f-6516cad8240f";
const TASK_MANAGER: &str = "56b1ee50-8160-4ec8-89ed-b65c81b8a3fd";
const PROJECT_JOURNAL: &str = "9efd2c3e-435a-4aa5-8838-e4289f2b616a";
const UI_PROMPTER: &str = "bdc91c89-b9d8-44d2-a572-5afa9c0cccb9";
const LSP_BRIDGE: &str = "ba246952-8140-4f8e-ab46-33757b209585";

/// The built-in land_configs, Safe default first.
pub fn built_in() -> Vec<LandConfig> {
    let safe = [
        (PROJECT_FILES, "project_files"),
        (TASK_MANAGER, "task_manager"),
        (PROJECT_JOURNAL, "project_journal"),
        (UI_PROMPTER, "ui_prompter"),
    ];
    let writing = [
        (CODE_WRITER, "code_writer"),
        (CODE_MAINTAINER, "code_maintainer"),
        (SHELL_TASKS, "shell_tasks"),
        (LSP_BRIDGE, "lsp_bridge"),
    ];
    let router = [(ROUTER_SERVER, "subagent_router")];
    let developer: Vec<_> = safe.into_iter().chain(writing).collect();
    let with_router = |servers: &[(&'static str, &'static str)]| {
        flow(servers.iter().copied().chain(router), "internal_main")
    };
    vec![
        LandConfig {
            id: SAFE_DEFAULT.to_owned(),
            name: "Safe default".to_owned(),
            description: "Reads the project, keeps tasks and the journal, asks the person; writes no file and runs no command."
                .to_owned(),
            locked: true,
            main: with_router(&safe),
            sub: flow(safe.into_iter(), "internal_subagent"),
            limits: Limits::default(),
        },
        LandConfig {
            id: DEVELOPER.to_owned(),
            name: "Developer".to_owned(),
            description: "Safe default plus writing files, language servers, and commands in a sandbox; what the sandbox does not confine asks.".to_owned(),
            locked: true,
            main: with_router(&developer),
            sub: flow(developer.iter().copied(), "internal_subagent"),
            limits: Limits::default(),
        },
    ]
}

fn flow(servers: impl Iterator<Item = (&'static str, &'static str)>, own_prompt: &str) -> Flow {
    let prompt = |key: &str| PromptEntry { key: key.to_owned(), lang: PromptLang::Auto };
    Flow {
        mcp_servers: servers
            .map(|(id, name)| ServerEntry {
                id: id.to_owned(),
                name: name.to_owned(),
                prompt_lang: PromptLang::Auto,
                prompt: true,
                sampling: false,
                instructions: true,
                // Which commands ask is the shell server's matter: what the sandbox confines does not.
                tools: ToolFilter::default(),
            })
            .collect(),
        apps: Vec::new(),
        agent_apps: AgentApps::Trusted,
        agent_prompts: AgentPrompts::Any,
        prompts: vec![prompt("default"), prompt(own_prompt)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn both_are_sound_locked_and_without_a_router_below() {
        for config in built_in() {
            assert_eq!(config.faults(), []);
            assert!(config.locked);
            let has = |role, id: &str| config.flow(role).mcp_servers.iter().any(|s| s.id == id);
            assert!(has(Role::Main, ROUTER_SERVER));
            assert!(!has(Role::Sub, ROUTER_SERVER));
            assert!(config.main.mcp_servers.iter().all(|s| !s.sampling));
        }
    }

    #[test]
    fn the_safe_one_neither_writes_nor_runs() {
        let safe = &built_in()[0];
        for role in [Role::Main, Role::Sub] {
            for id in [CODE_WRITER, CODE_MAINTAINER, SHELL_TASKS, LSP_BRIDGE] {
                assert!(safe.flow(role).mcp_servers.iter().all(|s| s.id != id));
            }
        }
    }
}
