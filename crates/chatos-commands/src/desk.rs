//! The one list of commands: what a name means, who comes first, and the text a command becomes (packages §5.1).

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use chatos_contribution::AppText;
use chatos_mcp::Prompt;
use chatos_policy::Outcome;
use chatos_servers::{ServerPrompts, Servers};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::command::{CommandKind, CommandList, CommandView, Completions, Filled};
use chatos_wire::session::Attachment;
use serde_json::{Map, Value};

use crate::own::{self, Own, Shelf};
use crate::skills::{self, Skill, SkillPlace};
use crate::{built_in, fill, prompts};

/// How long a menu waits for servers; late ones appear when it asks again (packages §5.1).
pub const PATIENCE: Duration = Duration::from_secs(2);
/// How long somebody who named a server waits while it is still starting; a bare name waits as long as a menu.
const STARTING: Duration = Duration::from_secs(8);
/// Names that are offered instead of one that is not there.
const NEAREST: usize = 3;

/// The commands of one agent on one state.
pub struct Desk<'a> {
    /// Where the person's own commands are.
    pub folder: PathBuf,
    /// Folders of a project whose texts a person lets be used, nearest first, and its root; else nothing.
    pub project: Option<ProjectCommands>,
    /// Where skills are looked for, in the order in which names are decided.
    pub skills: Vec<SkillPlace>,
    /// Texts of apps that the agent may use.
    pub apps: Vec<AppText>,
    /// What the list says about the project's commands and skills.
    pub problem: Option<Text>,
    /// Where prompts come from.
    pub servers: &'a Servers,
    /// What the agent was granted: which servers count.
    pub outcome: &'a Outcome,
    /// The language of texts.
    pub lang: Lang,
}

/// The folders of a project that hold commands a person may type.
#[derive(Debug, Clone)]
pub struct ProjectCommands {
    /// Nothing outside of it is read.
    pub root: PathBuf,
    /// The folders with commands, the nearest to the workspace first.
    pub folders: Vec<PathBuf>,
}

/// What a typed command becomes.
pub struct Filling {
    /// The message with its files and what to know about it.
    pub filled: Filled,
    /// The model that the command names; whether there is one of that name is not looked at here.
    pub model: Option<String>,
}

/// Everything there is, with what a name needs to be filled.
struct All {
    /// In the order in which names are decided.
    items: Vec<(CommandView, Origin)>,
    late: Vec<String>,
    problems: Vec<Text>,
}

#[derive(Debug, Clone)]
enum Origin {
    BuiltIn,
    Own(Own),
    Skill(Skill),
    Prompt { server: String, prompt: Prompt },
    App(AppText),
}

impl Desk<'_> {
    /// Everything a person can type now. `wait`: how long servers may take; without it none is asked.
    pub async fn list(&self, wait: Duration) -> Result<CommandList, Fault> {
        let all = self.all(wait.min(PATIENCE)).await?;
        Ok(CommandList {
            items: all.items.into_iter().map(|(view, _)| view).collect(),
            late: all.late,
            problems: all.problems.iter().map(|text| text.get(self.lang).to_owned()).collect(),
        })
    }

    async fn all(&self, wait: Duration) -> Result<All, Fault> {
        let (folder, project) = (self.folder.clone(), self.project.clone());
        let places = self.skills.clone();
        let read = chatos_blocking::run(move || {
            let mut shelves = vec![("user", own::read(&folder))];
            if let Some(project) = &project {
                let read = |folder: &PathBuf| ("project", own::read_within(folder, Some(&project.root)));
                shelves.extend(project.folders.iter().map(read));
            }
            let mut found = (Vec::new(), Vec::new());
            for (skills, problems) in places.iter().map(skills::read) {
                found.0.extend(skills);
                found.1.extend(problems);
            }
            (shelves, found)
        });
        let (shelves, (skills, odd)) = read.await.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("reading the commands failed")).caused_by(&error)
        })?;
        let (found, late) = self.servers.prompts(self.outcome, wait).await?;
        let mut all = arranged(shelves, skills, found, &self.apps, late, self.lang);
        all.problems.extend(odd);
        all.problems.extend(self.problem.clone());
        Ok(all)
    }

    /// The text of what was typed, from its `/` on. Nothing is sent.
    pub async fn fill(&self, typed: &str, form: Option<BTreeMap<String, String>>) -> Result<Filling, Fault> {
        let typed = typed.trim();
        let line = typed.strip_prefix('/').unwrap_or(typed);
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if built_in::is_literal(name) {
            let filled = said(CommandKind::BuiltIn, name.to_owned(), typed.to_owned());
            return Ok(Filling { filled, model: None });
        }
        // Servers are asked only where nothing else has the name.
        let mut all = self.all(Duration::ZERO).await?;
        let of_server = name.split_once(':').map(|(server, _)| server.to_owned());
        let named =
            |late: &[String]| late.iter().any(|server| Some(prompts::typed_name(server)) == of_server);
        let until = tokio::time::Instant::now() + STARTING;
        if all.find(name).is_none() && !all.late.is_empty() {
            all = self.all(PATIENCE).await?;
        }
        while all.find(name).is_none() && named(&all.late) && tokio::time::Instant::now() < until {
            all = self.all(PATIENCE).await?;
        }
        let Some((view, origin)) = all.find(name) else { return Err(all.unknown(name)) };
        let mut filled = said(view.kind, view.key.clone(), String::new());
        let mut notices: Vec<Text> = Vec::new();
        let mut model = None;
        match origin {
            Origin::BuiltIn => return Err(of_the_chat(&view.name)),
            Origin::Own(own) => {
                filled.text = fill::fill(&own.text, rest);
                filled.mentions = fill::mentioned(&filled.text);
                model.clone_from(&own.model);
                notices.extend(own.has_command().then(|| {
                    Text::fixed(
                        "commands in this text were not run: what stands in !`…` is sent as it is",
                        "文中的命令没有执行：!`…` 中的内容原样发送",
                    )
                }));
            }
            // Files that a skill names are read by the model with its tools; only what was typed names some.
            Origin::Skill(skill) => {
                (filled.text, filled.mentions) = (skill.message(rest), fill::mentioned(rest));
            }
            Origin::Prompt { server, prompt } => {
                let given = match form {
                    Some(form) => form.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
                    None => prompts::arguments(prompt, rest)?,
                };
                prompts::check(prompt, &given)?;
                let result = self.servers.prompt(self.outcome, server, &prompt.name, object(given)).await?;
                (filled.text, notices) = prompts::message(server, &result)?;
            }
            Origin::App(app) => {
                rest.trim().clone_into(&mut filled.text);
                filled.mentions = fill::mentioned(rest);
                filled.files.push(app_file(app));
            }
        }
        filled.notices = notices.iter().map(|text| text.get(self.lang).to_owned()).collect();
        Ok(Filling { filled, model })
    }

    /// What a server suggests for an argument of its prompt, or a variable of its template (`@…`). One that suggests nothing is no failure.
    pub async fn complete(
        &self,
        key: &str,
        argument: (&str, &str),
        others: BTreeMap<String, String>,
    ) -> Result<Completions, Fault> {
        if let Some(template) = key.strip_prefix('@') {
            return self.complete_template(template, argument, others).await;
        }
        let all = self.all(PATIENCE).await?;
        let Some((_, Origin::Prompt { server, prompt })) = all.find(key) else {
            return Err(all.unknown(key));
        };
        let others = object(others);
        let (values, more) =
            self.servers.complete_prompt(self.outcome, server, &prompt.name, argument, others).await?;
        let values = values.iter().map(|value| chatos_mcp::plain_for_model(value)).collect();
        Ok(Completions { values, more })
    }
}

/// A command with its text and nothing else.
fn said(kind: CommandKind, key: String, text: String) -> Filled {
    Filled { kind, key, text, mentions: Vec::new(), notices: Vec::new(), files: Vec::new(), answer_by: None }
}

fn app_view(app: &AppText) -> CommandView {
    CommandView {
        name: app.app.clone(),
        key: format!("app:{}/{}", app.plugin, app.app),
        kind: CommandKind::App,
        title: chatos_mcp::plain_for_model(&app.title),
        description: String::new(),
        argument_hint: String::new(),
        arguments: Vec::new(),
        source: app.plugin.clone(),
    }
}

/// The text as a file of the message, so that a model does not take it for the person's words.
fn app_file(app: &AppText) -> Attachment {
    Attachment {
        name: format!("{}.md", app.app),
        mime: "text/markdown".to_owned(),
        data: Some(base64::engine::general_purpose::STANDARD.encode(&app.text)),
        origin: Some(app.plugin.clone()),
        ..Attachment::default()
    }
}

pub(crate) fn object(values: BTreeMap<String, String>) -> Map<String, Value> {
    values.into_iter().map(|(name, value)| (name, Value::String(value))).collect()
}

/// Built-in ones, then the person's own, the project's, skills, prompts by server, texts of apps; a name that is taken leaves only the key.
fn arranged(
    shelves: Vec<(&str, Shelf)>,
    skills: Vec<Skill>,
    found: Vec<ServerPrompts>,
    apps: &[AppText],
    late: Vec<String>,
    lang: Lang,
) -> All {
    let mut items: Vec<(CommandView, Origin)> =
        built_in::ALL.iter().map(|command| (built_in::view(command, lang), Origin::BuiltIn)).collect();
    let mut problems = Vec::new();
    for (source, shelf) in shelves {
        for own in shelf.commands {
            let view = CommandView {
                key: format!("cmd:{source}:{}", own.name),
                name: own.name.clone(),
                kind: CommandKind::Text,
                title: String::new(),
                description: own.description.clone(),
                argument_hint: own.hint.clone(),
                arguments: Vec::new(),
                source: source.to_owned(),
            };
            items.push((view, Origin::Own(own)));
        }
        problems.extend(shelf.problems);
    }
    for skill in skills {
        let view = CommandView {
            key: format!("{}:{}", skill.source, skill.name),
            name: skill.name.clone(),
            kind: CommandKind::Skill,
            title: String::new(),
            description: skill.description.clone(),
            argument_hint: skill.hint.clone(),
            arguments: Vec::new(),
            source: skill.source.to_owned(),
        };
        items.push((view, Origin::Skill(skill)));
    }
    for ServerPrompts { server, prompts, .. } in found {
        for prompt in prompts.iter() {
            let view = prompts::view(&server, prompt);
            items.push((view, Origin::Prompt { server: server.clone(), prompt: prompt.clone() }));
        }
    }
    items.extend(apps.iter().map(|app| (app_view(app), Origin::App(app.clone()))));
    let mut taken: HashSet<String> = HashSet::new();
    let mut keys: HashSet<String> = HashSet::new();
    items.retain_mut(|(view, origin)| {
        let free = matches!(origin, Origin::BuiltIn) || !built_in::is_taken(&view.name);
        if !free || !taken.insert(view.name.clone()) {
            view.name.clone_from(&view.key);
        }
        // Names of strangers may be the same once they are typed; the first one is reachable.
        keys.insert(view.key.clone())
    });
    All { items, late, problems }
}

impl All {
    fn find(&self, name: &str) -> Option<&(CommandView, Origin)> {
        let by = |of: fn(&CommandView) -> &str| self.items.iter().find(|(view, _)| of(view) == name);
        by(|view| &view.name).or_else(|| by(|view| &view.key))
    }

    fn unknown(&self, name: &str) -> Fault {
        let shown = chatos_mcp::plain_for_model(name);
        let near = nearest(name, self.items.iter().map(|(view, _)| view.name.as_str()));
        let fault = Fault::new(
            ErrorCode::NotFound,
            Text::new(format!("there is no command `/{shown}`"), format!("没有命令 `/{shown}`")),
        )
        .code("unknown_command");
        if !self.late.is_empty() && near.is_empty() {
            let late = self.late.iter().map(|name| chatos_mcp::plain_for_model(name)).collect::<Vec<_>>();
            let (en, zh) = (late.join(", "), late.join("、"));
            return fault.hint(Text::new(
                format!("{en} did not answer yet and may have it: try again; `//{shown}` sends it as text"),
                format!("{zh} 尚未应答，可能有此命令：请重试；`//{shown}` 会作为文字发送"),
            ));
        }
        if near.is_empty() {
            return fault.hint(Text::new(
                format!("`/` lists them; `//{shown}` sends it as text"),
                format!("输入 `/` 可列出全部；`//{shown}` 会作为文字发送"),
            ));
        }
        let names = near.iter().map(|name| format!("`/{name}`")).collect::<Vec<_>>();
        let (en, zh) = (names.join(", "), names.join("、"));
        fault.hint(Text::new(
            format!("did you mean {en}? `//{shown}` sends it as text"),
            format!("是否指 {zh}？`//{shown}` 会作为文字发送"),
        ))
    }
}

/// The three names that are nearest to what was typed, the nearest first; those that begin with it count, too.
fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut left: Vec<&str> = known.collect();
    let mut found = Vec::new();
    while found.len() < NEAREST {
        let by_beginning =
            || left.iter().find(|name| !wanted.is_empty() && name.starts_with(wanted)).copied();
        let next = chatos_tool::validation::nearest(wanted, left.iter().copied()).or_else(by_beginning);
        let Some(next) = next else { break };
        left.retain(|name| *name != next);
        found.push(next);
    }
    found
}

fn of_the_chat(name: &str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(
            format!("`/{name}` is a command of the chat itself and works only in a conversation"),
            format!("`/{name}` 是对话自身的命令，只能在对话中使用"),
        ),
    )
    .code("built_in_command")
    .hint(Text::new(format!("`//{name}` sends it as text"), format!("`//{name}` 会作为文字发送")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn own(name: &str) -> Own {
        Own {
            name: name.to_owned(),
            description: String::new(),
            hint: String::new(),
            model: None,
            text: "text".to_owned(),
        }
    }

    fn prompts(server: &str, names: &[&str]) -> ServerPrompts {
        let prompt = |name: &&str| Prompt {
            name: (*name).to_owned(),
            title: None,
            description: String::new(),
            arguments: Vec::new(),
        };
        ServerPrompts {
            identity: format!("admin:{server}"),
            server: server.to_owned(),
            prompts: Arc::new(names.iter().map(prompt).collect()),
        }
    }

    fn all() -> All {
        let shelf = Shelf { commands: vec![own("review"), own("help")], problems: Vec::new() };
        let found = vec![prompts("a", &["review", "tools", "plan"]), prompts("b", &["plan"])];
        let theirs = Shelf { commands: vec![own("review"), own("deploy")], problems: Vec::new() };
        let skill = |source: &'static str, name: &str| Skill {
            source,
            name: name.to_owned(),
            description: String::new(),
            hint: String::new(),
            body: "text".to_owned(),
            folder: PathBuf::new(),
        };
        let skills = vec![skill("project", "plan"), skill("user", "plan"), skill("user", "deploy")];
        let app = |app: &str| AppText {
            plugin: "org.example".to_owned(),
            app: app.to_owned(),
            title: "Example".to_owned(),
            text: "text".to_owned(),
        };
        let apps = [app("plan"), app("board")];
        arranged(vec![("user", shelf), ("project", theirs)], skills, found, &apps, Vec::new(), Lang::En)
    }

    #[test]
    fn the_first_has_the_bare_name_and_all_are_reachable_by_key() {
        let all = all();
        let names: Vec<&str> =
            all.items.iter().skip(built_in::ALL.len()).map(|(view, _)| view.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "review",
                "cmd:user:help",
                "cmd:project:review",
                "deploy",
                "plan",
                "user:plan",
                "user:deploy",
                "a:review",
                "a:tools",
                "a:plan",
                "b:plan",
                "app:org.example/plan",
                "board"
            ]
        );
        for (name, key) in [
            ("help", "help"),
            ("review", "cmd:user:review"),
            ("cmd:user:review", "cmd:user:review"),
            ("cmd:user:help", "cmd:user:help"),
            ("cmd:project:review", "cmd:project:review"),
            ("deploy", "cmd:project:deploy"),
            ("a:review", "a:review"),
            ("plan", "project:plan"),
            ("user:plan", "user:plan"),
            ("a:plan", "a:plan"),
            ("b:plan", "b:plan"),
            ("app:org.example/plan", "app:org.example/plan"),
            ("board", "app:org.example/board"),
        ] {
            assert_eq!(all.find(name).map(|(view, _)| view.key.as_str()), Some(key), "{name}");
        }
        assert!(all.find("nothing").is_none());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_three() {
        let fault = all().unknown("hlep");
        assert_eq!(fault.code, "unknown_command");
        assert_eq!(fault.message.en, "there is no command `/hlep`");
        assert!(fault.hint.unwrap().en.starts_with("did you mean `/help`"));
        let fault = all().unknown("re");
        assert_eq!(
            fault.hint.unwrap().en,
            "did you mean `/resume`, `/retry`, `/review`? `//re` sends it as text"
        );
        assert!(all().unknown("etc/passwd").hint.unwrap().en.starts_with("`/` lists them"));
    }
}
