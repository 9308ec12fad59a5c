//! Which subagent fits (agents §10.3). Pure; never "the first one".

use chatos_wire::subagent::{SubAgent, SubCommand, SubPlugin};

/// Most others that a model is asked to compare.
const NEAR: usize = 7;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of servers §9")]
pub struct Wanted<'a> {
    pub agent_id: Option<&'a str>,
    pub command_id: Option<&'a str>,
    pub category: Option<&'a str>,
    pub text: String,
    pub skills: &'a [String],
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Choice<'a> {
    pub plugin: &'a SubPlugin,
    pub agent: &'a SubAgent,
    pub command: Option<&'a SubCommand>,
    pub score: u32,
    pub reason: String,
    /// Others within 20 %, best first.
    pub near: Vec<(&'a SubPlugin, &'a SubAgent)>,
}

impl<'a> Choice<'a> {
    /// All that come into question, the best first.
    pub fn candidates(&self) -> impl Iterator<Item = (&'a SubPlugin, &'a SubAgent)> {
        std::iter::once((self.plugin, self.agent)).chain(self.near.iter().copied())
    }

    /// The same choice with another of the candidates.
    pub fn instead(self, full_id: &str, reason: String, wanted: &Wanted<'_>) -> Self {
        let other = self.near.iter().find(|(plugin, agent)| format!("{}/{}", plugin.id, agent.id) == full_id);
        match other.copied() {
            Some((plugin, agent)) => {
                Self { plugin, agent, command: command_of(plugin, wanted), reason, ..self }
            }
            None => Self { reason, ..self },
        }
    }
}

fn command_of<'a>(plugin: &'a SubPlugin, wanted: &Wanted<'_>) -> Option<&'a SubCommand> {
    wanted.command_id.and_then(|id| plugin.commands.iter().find(|command| same(&command.id, id)))
}

/// Chooses; `None` when nothing fits.
pub fn choose<'a>(plugins: &'a [SubPlugin], wanted: &Wanted<'_>) -> Option<Choice<'a>> {
    let all = || plugins.iter().flat_map(|plugin| plugin.agents.iter().map(move |agent| (plugin, agent)));
    if let Some(id) = wanted.agent_id {
        let (plugin, agent) = all().find(|(plugin, agent)| {
            same(&agent.id, id) || same(&format!("{}/{}", plugin.id, agent.id), id)
        })?;
        let command = command_of(plugin, wanted);
        if wanted.command_id.is_some() && command.is_none() {
            return None;
        }
        return Some(Choice {
            plugin,
            agent,
            command,
            score: 0,
            reason: "named by its id".to_owned(),
            near: Vec::new(),
        });
    }
    let words = words(&wanted.text);
    let mut scored: Vec<(u32, &SubPlugin, &SubAgent)> = all()
        .filter(|(plugin, _)| wanted.category.is_none_or(|category| same(&plugin.category, category)))
        .filter(|(plugin, _)| wanted.command_id.is_none() || command_of(plugin, wanted).is_some())
        .map(|(plugin, agent)| (score(plugin, agent, &words, wanted.skills), plugin, agent))
        .filter(|(score, ..)| *score > 0)
        .collect();
    scored.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.2.id.cmp(&other.2.id)));
    let (best, plugin, agent) = *scored.first()?;
    let near = scored.iter().skip(1).take_while(|(score, ..)| score * 5 >= best * 4).take(NEAR);
    let near = near.map(|(_, plugin, agent)| (*plugin, *agent)).collect();
    Some(Choice {
        plugin,
        agent,
        command: command_of(plugin, wanted),
        score: best,
        reason: format!("its name and description fit best (score {best})"),
        near,
    })
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other.trim())
}

/// Words of a text; runs of Chinese give their pairs, since nobody puts spaces between them.
fn words(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for part in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        if part.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)) {
            let chars: Vec<char> = part.chars().collect();
            all.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else if part.len() > 2 {
            all.push(part.to_owned());
        }
    }
    all.sort();
    all.dedup();
    all
}

fn score(plugin: &SubPlugin, agent: &SubAgent, words: &[String], skills: &[String]) -> u32 {
    let field = |text: &str, weight: u32| -> u32 {
        let text = text.to_lowercase();
        let parts: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        words
            .iter()
            .map(|word| {
                if text == *word {
                    weight + 3
                } else if parts.contains(&word.as_str()) {
                    weight + 2
                } else if text.contains(word.as_str()) {
                    weight
                } else {
                    0
                }
            })
            .sum()
    };
    let mut total = field(&agent.id, 10) + field(&agent.name, 10);
    total += field(&plugin.id, 8) + field(&plugin.name, 8);
    total += field(&plugin.category, 7) + field(&agent.description, 6);
    for skill in plugin.skills.iter().filter(|skill| agent.skills.contains(&skill.id)) {
        total += field(&skill.name, 5);
        total += u32::from(skills.iter().any(|wanted| same(&skill.id, wanted))) * 5;
    }
    for command in &plugin.commands {
        total += field(&command.name, 4);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subagent::built_in_subagents;

    fn wanted(text: &str) -> Wanted<'static> {
        Wanted { text: text.to_owned(), ..Wanted::default() }
    }

    #[test]
    fn words_decide_and_nothing_is_never_the_first() {
        let all = built_in_subagents();
        assert_eq!(choose(&all, &wanted("please review this code")).unwrap().agent.id, "reviewer");
        assert_eq!(choose(&all, &wanted("请帮我查找资料")).unwrap().agent.id, "researcher");
        assert_eq!(choose(&all, &wanted("zzzz")), None);
        let named = Wanted { agent_id: Some("planner"), ..Wanted::default() };
        assert_eq!(choose(&all, &named).unwrap().agent.id, "planner");
        let full = Wanted { agent_id: Some("chatos-general/planner"), ..Wanted::default() };
        assert!(choose(&all, &full).is_some());
        let command = Wanted { command_id: Some("none"), ..named };
        assert_eq!(choose(&all, &command), None);
        let category = Wanted { category: Some("other"), ..wanted("review") };
        assert_eq!(choose(&all, &category), None);
    }
}
