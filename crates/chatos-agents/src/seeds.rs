//! Rows every installation has (state §5): the demo model, the two locked land_configs, the texts
//! for models, and, once, an agent to begin with.

use chatos_policy::{LandConfig, Role, SAFE_DEFAULT};
use chatos_store::{AgentRecord, DEMO_MODEL, ModelRecord, Store, StoreError, SystemPrompt};
use chatos_tool::{Lang, Text};
use sha2::{Digest, Sha256};

/// Id of the agent that is made once.
pub const FIRST_AGENT: &str = chatos_wire::agent::FIRST_AGENT;

const FIRST_AGENT_ABOUT: Text = Text::fixed("The default agent", "默认智能体");
const DEMO_ABOUT: Text =
    Text::fixed("Offline demo with fixed rules; needs no key", "离线演示模型，按固定规则回答，无需密钥");

/// Where the digest of what was last written is kept, so that a usual start writes nothing.
const SEEDED: &str = "seeded_rows";
const FIRST_AGENT_MADE: &str = "first_agent_made";

struct BuiltInText {
    key: &'static str,
    title: (&'static str, &'static str),
    zh: &'static str,
    en: &'static str,
    roles: &'static [Role],
}

const TEXTS: [BuiltInText; 3] = [
    BuiltInText {
        key: "default",
        title: ("How to behave", "基本行为"),
        zh: include_str!("texts/default.zh.md"),
        en: include_str!("texts/default.en.md"),
        roles: &[Role::Main, Role::Sub],
    },
    BuiltInText {
        key: "internal_main",
        title: ("In chats", "对话中"),
        zh: include_str!("texts/internal_main.zh.md"),
        en: include_str!("texts/internal_main.en.md"),
        roles: &[Role::Main],
    },
    BuiltInText {
        key: "internal_subagent",
        title: ("As subagent", "作为子智能体"),
        zh: include_str!("texts/internal_subagent.zh.md"),
        en: include_str!("texts/internal_subagent.en.md"),
        roles: &[Role::Sub],
    },
];

/// Writes what is missing or older than this binary.
pub fn seed(store: &Store, lang: Lang) -> Result<(), StoreError> {
    let (demo, lands, prompts) = (demo_model(lang), chatos_policy::built_in(), prompts());
    let digest = digest(&demo, &lands, &prompts);
    let whole = store.meta(SEEDED)?.is_some_and(|known| known == digest)
        && store.default_model()?.is_some()
        && lands.iter().all(|land| store.land_config(&land.id).is_ok_and(|here| here.as_ref() == Some(land)));
    if !whole {
        store.seed_demo_model(demo)?;
        store.seed_land_configs(lands)?;
        store.seed_system_prompts(prompts)?;
        store.set_meta(SEEDED, &digest)?;
    }
    if store.meta(FIRST_AGENT_MADE)?.is_none() {
        if store.agents()?.is_empty() {
            let mut first = AgentRecord::new("ChatOS", SAFE_DEFAULT);
            first.id = FIRST_AGENT.to_owned();
            first.description = FIRST_AGENT_ABOUT.get(lang).to_owned();
            first.prompt_ids = ["default", "internal_main"].map(str::to_owned).to_vec();
            store.put_agent(first, true)?;
        }
        store.set_meta(FIRST_AGENT_MADE, "1")?;
    }
    Ok(())
}

fn demo_model(lang: Lang) -> ModelRecord {
    let mut demo = ModelRecord::new("Demo", "demo", "demo");
    demo.id = DEMO_MODEL.to_owned();
    demo.source = "builtin".to_owned();
    demo.description = DEMO_ABOUT.get(lang).to_owned();
    // It is given every tool, and reads them without a limit; a number keeps the context bar of the page honest.
    demo.context_tokens = 1_000_000;
    demo
}

fn prompts() -> Vec<SystemPrompt> {
    let mut prompts = Vec::new();
    for text in &TEXTS {
        for (suffix, lang, title, content) in
            [("", "zh", text.title.1, text.zh), ("__en", "en", text.title.0, text.en)]
        {
            prompts.push(SystemPrompt {
                id: format!("prompt_{}{suffix}", text.key),
                name: format!("{}{suffix}", text.key),
                title: title.to_owned(),
                content: content.trim_end().to_owned(),
                kind: "system".to_owned(),
                lang: lang.to_owned(),
                allow_main: text.roles.contains(&Role::Main),
                allow_sub: text.roles.contains(&Role::Sub),
                builtin: true,
                locked: false,
                source: "builtin".to_owned(),
                plugin_id: String::new(),
                app_id: String::new(),
                edited: false,
                created_at: 0,
                updated_at: 0,
            });
        }
    }
    prompts
}

fn digest(demo: &ModelRecord, lands: &[LandConfig], prompts: &[SystemPrompt]) -> String {
    let mut hash = Sha256::new();
    for part in [serde_json::to_vec(demo), serde_json::to_vec(lands), serde_json::to_vec(prompts)] {
        hash.update(part.unwrap_or_default());
    }
    hash.finalize()[..12].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_built_in_land_configs_has_both_texts() {
        let prompts = prompts();
        for land in chatos_policy::built_in() {
            for role in [Role::Main, Role::Sub] {
                for entry in &land.flow(role).prompts {
                    for name in [entry.key.clone(), format!("{}__en", entry.key)] {
                        let found = prompts.iter().find(|prompt| prompt.name == name);
                        let prompt = found.unwrap_or_else(|| panic!("{name} has no text"));
                        assert!(if role == Role::Main { prompt.allow_main } else { prompt.allow_sub });
                        assert!(prompt.content.len() > 100);
                    }
                }
            }
        }
    }
}
