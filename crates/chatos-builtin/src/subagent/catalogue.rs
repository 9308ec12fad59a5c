//! The catalogue: plugins of subagents as plain files, over the built-in ones (agents §10.1).

use std::io::Read as _;
use std::path::{Path, PathBuf};

use chatos_wire::subagent::{SubAgent, SubPlugin};

/// Largest file of a plugin.
const FILE_BYTES: u64 = 128 * 1024;

/// The agents every ChatOS has.
pub fn built_in_subagents() -> Vec<SubPlugin> {
    let agent = |id: &str, name: &str, description: &str, system: &str| SubAgent {
        id: id.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
        system: system.to_owned(),
        ..SubAgent::default()
    };
    vec![SubPlugin {
        id: "chatos-general".to_owned(),
        name: "General".to_owned(),
        description: "Agents for everyday work: looking things up, planning, reviewing.".to_owned(),
        category: "general".to_owned(),
        enabled: true,
        source: "builtin".to_owned(),
        agents: vec![
            agent(
                "researcher",
                "Researcher",
                "Reads files and collects facts about a question; changes nothing. 查找资料、阅读文件、汇总事实。",
                "You find things out. Read what is there, quote names and paths exactly, and report what you found, \
                 what you did not find, and how sure you are. Change nothing.",
            ),
            agent(
                "planner",
                "Planner",
                "Breaks work into steps with risks and an order. 把工作拆分为步骤并排序。",
                "You plan. Turn the task into a short list of steps in order, each with what it needs and how to see \
                 that it is done. Name risks and open questions. Do not carry the steps out.",
            ),
            agent(
                "reviewer",
                "Reviewer",
                "Reviews text or code for mistakes and says how to correct them. 审阅文字或代码并指出问题。",
                "You review. Look for mistakes, contradictions and what is missing; give each finding with its place, \
                 why it matters and a correction. Say plainly when something is fine.",
            ),
        ],
        skills: Vec::new(),
        commands: Vec::new(),
    }]
}

/// The plugins under a directory, and what is wrong with the others.
pub fn read_subagents(dir: &Path) -> (Vec<SubPlugin>, Vec<String>) {
    let mut plugins = Vec::new();
    let mut problems = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else { return (plugins, problems) };
    let mut places: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    places.sort();
    for place in places.into_iter().take(1000) {
        if place.is_dir() && place.join("plugin.json").exists() {
            match read_one(&place) {
                Ok(plugin) => plugins.push(plugin),
                Err(why) => problems.push(format!("{}: {why}", place.display())),
            }
        }
    }
    (plugins, problems)
}

fn read_one(dir: &Path) -> Result<SubPlugin, String> {
    let root = dir.canonicalize().map_err(|error| error.to_string())?;
    let mut plugin: SubPlugin =
        serde_json::from_str(&read_file(&root, "plugin.json")?).map_err(|error| error.to_string())?;
    let folder = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if plugin.id != folder || !is_id(&plugin.id) {
        return Err(format!("its id `{}` is not the name of its folder", plugin.id));
    }
    plugin.source = "user".to_owned();
    for agent in &mut plugin.agents {
        if !agent.system_prompt_path.is_empty() {
            agent.system = read_file(&root, &agent.system_prompt_path)?;
        }
    }
    for skill in &mut plugin.skills {
        if !skill.instructions_path.is_empty() {
            skill.instructions = read_file(&root, &skill.instructions_path)?;
        }
    }
    for command in &mut plugin.commands {
        if !command.instructions_path.is_empty() {
            command.instructions = read_file(&root, &command.instructions_path)?;
        }
    }
    let ids = plugin.agents.iter().map(|agent| agent.id.as_str());
    let ids = ids.chain(plugin.skills.iter().map(|skill| skill.id.as_str()));
    if let Some(bad) = ids.chain(plugin.commands.iter().map(|c| c.id.as_str())).find(|id| !is_id(id)) {
        return Err(format!("`{bad}` is not an id"));
    }
    Ok(plugin)
}

/// A file inside the plugin, by its real path.
fn read_file(root: &Path, path: &str) -> Result<String, String> {
    let place = root.join(path).canonicalize().map_err(|error| format!("{path}: {error}"))?;
    if !place.starts_with(root) {
        return Err(format!("{path} lies outside the plugin"));
    }
    let file = std::fs::File::open(&place).map_err(|error| format!("{path}: {error}"))?;
    let mut text = String::new();
    let read = file.take(FILE_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| format!("{path}: {error}"))?;
    if text.len() as u64 > FILE_BYTES {
        return Err(format!("{path} is larger than 128 KiB"));
    }
    Ok(text)
}

/// The rule of plugin ids.
fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=128).contains(&text.len())
        && text.bytes().all(plain)
        && text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugins_are_read_and_paths_stay_inside() {
        let dir = tempfile::tempdir().unwrap();
        let put = |id: &str, text: &str| {
            std::fs::create_dir_all(dir.path().join(id)).unwrap();
            std::fs::write(dir.path().join(id).join("plugin.json"), text).unwrap();
        };
        put("good", r#"{"id":"good","agents":[{"id":"a","systemPromptPath":"a.md"}]}"#);
        std::fs::write(dir.path().join("good/a.md"), "You are a.").unwrap();
        put("escapes", r#"{"id":"escapes","agents":[{"id":"a","systemPromptPath":"../secret"}]}"#);
        std::fs::write(dir.path().join("secret"), "no").unwrap();
        put("other", r#"{"id":"another"}"#);
        put("broken", "{");
        let (plugins, problems) = read_subagents(dir.path());
        assert_eq!((plugins.len(), problems.len()), (1, 3), "{problems:?}");
        assert_eq!(plugins[0].agents[0].system, "You are a.");
        assert!(built_in_subagents().iter().all(|plugin| is_id(&plugin.id) && !plugin.agents.is_empty()));
    }
}
