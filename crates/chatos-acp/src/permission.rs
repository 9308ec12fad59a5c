//! The question about what an agent wants to do (other-agents §4.7): what a person sees, what the answer decides, and
//! which of the agent's own options that is.

use std::path::Path;

use chatos_prompts::whole::{self, Whole};
use chatos_prompts::{Effect, Object, effect};
use chatos_tool::{Lang, in_both};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::head::unread;
use crate::message::{Choice, Kind, ToolCall};
use crate::ours;

/// Most characters of arguments in a question.
const ARGUMENT_CHARS: usize = 8_000;

/// What the permissions profile lets this agent do at all; each is still asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    pub execute: bool,
    pub edit: bool,
    pub read: bool,
    /// Our own tools read files exactly for it, which what it lets us do with files needs.
    pub files: bool,
    /// Reading inside the project is answered without a person (`acpAllowReads`).
    pub reads_pass: bool,
    /// It has the tools of our gateway, which asks by itself.
    pub gateway: bool,
}

/// What is done with a permission before anybody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    Ask,
    /// The profile says no.
    Refuse,
    /// A look at the project.
    Pass,
    /// It says that it means a tool of our gateway, which asks by itself; whether that is so has to be seen.
    Ours,
}

impl Allowed {
    pub(crate) fn first(self, call: &ToolCall, root: &Path) -> First {
        let inside = || {
            let paths = call.paths();
            !paths.is_empty() && paths.iter().all(|path| is_inside(path, root))
        };
        match call.kind {
            Kind::Execute if !self.execute => First::Refuse,
            kind if (kind.changes_files() || !call.diffs.is_empty()) && !self.edit => First::Refuse,
            Kind::Read | Kind::Search if !self.read => First::Refuse,
            Kind::Read | Kind::Search if self.reads_pass && call.diffs.is_empty() && inside() => First::Pass,
            Kind::Other | Kind::Execute if self.gateway && is_ours(call) => First::Ours,
            _ => First::Ask,
        }
    }
}

/// Whether a call is named as a tool of our gateway, and announces nothing that no such tool does.
fn is_ours(call: &ToolCall) -> bool {
    call.diffs.is_empty() && call.command().is_none() && ours::named(&call.title).is_some()
}

/// Whether a path is below the root once links are followed; what is not there is not.
fn is_inside(path: &Path, root: &Path) -> bool {
    let (real, base) = (std::fs::canonicalize(root.join(path)), std::fs::canonicalize(root));
    matches!((real, base), (Ok(real), Ok(base)) if real.starts_with(&base))
}

/// Who asks, for the card and the digest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) agent_id: &'a str,
    pub(crate) agent: &'a str,
    /// The agent's own name and version.
    pub(crate) program: &'a str,
    /// The session the agent has for this chat.
    pub(crate) session: &'a str,
    pub(crate) root: &'a Path,
    /// It lets us do it, through our own tools.
    pub(crate) through_us: bool,
    /// Names of the variables it sets for a command.
    pub(crate) variables: &'a str,
}

/// A question about a call.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) prompt: Value,
    pub(crate) effect: Effect,
    pub(crate) whole: Option<String>,
    /// Everything that decides it; the same call again has the same one.
    pub(crate) digest: String,
}

/// Why a call cannot be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unaskable {
    NoOptions,
    TooLarge,
}

/// The question, as the call was announced.
pub(crate) fn question(
    call: &ToolCall,
    choices: &[Choice],
    asker: Asker<'_>,
    lang: Lang,
) -> Result<Question, Unaskable> {
    if choices.is_empty() {
        return Err(Unaskable::NoOptions);
    }
    // A lasting permission alone is the agent's to remember: the person picks it by its name.
    let simple = choices.iter().any(|choice| choice.kind == "allow_once");
    let command = (call.kind == Kind::Execute).then(|| call.command()).flatten().filter(|_| simple);
    let changes = simple && command.is_none() && (!call.diffs.is_empty());
    let text = match (&command, changes) {
        (Some(_), _) => String::new(),
        (None, true) => patch(call, asker.root),
        (None, false) => arguments(call),
    };
    if text.len() > whole::MAX_BYTES {
        return Err(Unaskable::TooLarge);
    }
    let chars = if command.is_none() && !changes { ARGUMENT_CHARS } else { whole::SHOWN_CHARS };
    let cut = Whole::of(&text, chars);
    let mut prompt = in_both(lang, |lang| {
        let mut prompt = match (&command, changes) {
            (Some(command), _) => command_prompt(call, command, asker, lang),
            (None, true) => change_prompt(call, asker, lang),
            (None, false) => choice_prompt(call, choices, asker, lang),
        };
        if command.is_none() && !changes && !cut.shown.is_empty() {
            let message = prompt["message"].as_str().unwrap_or_default().to_owned();
            prompt["message"] = json!(format!("{message}\n\n```json\n{}\n```", cut.shown));
        }
        prompt
    });
    if changes {
        prompt["diff"] = json!(cut.shown);
    }
    if cut.is_cut {
        prompt["diffRef"] = cut.reference();
    }
    let effect = effect_of(call, command.as_deref(), changes, choices, asker);
    let digest = effect::digest_of(&json!([effect.name, effect.material]));
    Ok(Question { prompt, effect, whole: cut.is_cut.then_some(text), digest })
}

/// What a call is announced with: its input, or the text that agents without one tell instead.
fn announced(call: &ToolCall) -> Value {
    if is_empty(&call.input) && !call.text.is_empty() {
        json!({ "text": call.text })
    } else {
        call.input.clone()
    }
}

/// What an answer decides: client, session, kind, input, contents, command, folder and options.
fn effect_of(
    call: &ToolCall,
    command: Option<&str>,
    changes: bool,
    choices: &[Choice],
    asker: Asker<'_>,
) -> Effect {
    let name = match (command, changes) {
        (Some(_), _) => "command",
        (None, true) => "file_change",
        (None, false) => "tool_approval",
    };
    let options: Vec<Value> =
        choices.iter().map(|choice| json!([choice.id, choice.kind, choice.name])).collect();
    let mut effect = Effect::new(name, Object::new())
        .with("identity", json!(format!("acp:{}", asker.agent_id)))
        .with("tool", json!(call.kind.word()))
        .with(
            "client",
            json!({ "agent": asker.agent_id, "session": asker.session, "program": asker.program }),
        )
        .with("arguments", effect::arguments(&announced(call)))
        .with("options", json!(options))
        .with("root", effect::directory(asker.root));
    if asker.through_us {
        effect = effect.with("through", json!("chatos"));
    }
    if let Some(command) = command {
        // Nothing of ours confines it: it runs inside the other program.
        let cwd = call.cwd(asker.root);
        effect = effect.with(
            "command",
            json!({ "text": command, "cwd": cwd.to_string_lossy(), "network": true, "sandbox": { "level": "none" } }),
        );
    }
    if changes {
        let files: Vec<Value> = call
            .diffs
            .iter()
            .map(|diff| {
                let before = diff.old.as_ref().map(|old| whole::sha256(old.as_bytes()));
                let change = if before.is_some() { "modified" } else { "created" };
                let after = whole::sha256(diff.new.as_bytes());
                let path =
                    diff.path.strip_prefix(asker.root).unwrap_or(&diff.path).to_string_lossy().into_owned();
                json!({ "path": path, "change": change, "before": before, "after": after })
            })
            .collect();
        effect = effect.with("files", json!(files));
    } else if command.is_none() {
        effect = effect.with("title", json!(call.title));
    }
    effect
}

/// Who does it, said on every card.
fn footer(asker: Asker<'_>, lang: Lang) -> String {
    let said = match lang {
        Lang::En if asker.through_us => format!("ChatOS does this for {}, with its own tools.", asker.agent),
        Lang::Zh if asker.through_us => format!("由 ChatOS 用自己的工具替 {} 执行。", asker.agent),
        Lang::En => format!("{} does this itself; ChatOS shows what it announced.", asker.agent),
        Lang::Zh => format!("由 {} 自行执行；ChatOS 显示的是它声明的内容。", asker.agent),
    };
    if asker.variables.is_empty() { said } else { format!("{said}\n{}", asker.variables) }
}

fn base(kind: &str, title: String, asker: Asker<'_>, lang: Lang) -> Value {
    json!({
        "kind": kind, "title": title, "message": footer(asker, lang), "source": asker.program,
        "cwd": asker.root.to_string_lossy(),
    })
}

fn command_prompt(call: &ToolCall, command: &str, asker: Asker<'_>, lang: Lang) -> Value {
    let title = match lang {
        Lang::En => format!("Let {} run this command?", asker.agent),
        Lang::Zh => format!("允许 {} 运行此命令？", asker.agent),
    };
    let mut prompt = base("file_change_confirm", title, asker, lang);
    prompt["command"] = json!(command);
    prompt["cwd"] = json!(call.cwd(asker.root).to_string_lossy());
    prompt
}

/// The change as one patch over all its files.
pub(crate) fn patch(call: &ToolCall, root: &Path) -> String {
    let of = |diff: &crate::message::FileDiff| {
        let shown = diff.path.strip_prefix(root).unwrap_or(&diff.path).to_string_lossy().into_owned();
        chatos_files::diff::diff(
            &shown,
            diff.old.as_deref().map(str::as_bytes),
            &shown,
            Some(diff.new.as_bytes()),
        )
        .text
    };
    call.diffs.iter().map(of).collect()
}

fn change_prompt(call: &ToolCall, asker: Asker<'_>, lang: Lang) -> Value {
    let first = call.diffs.first();
    let shown = first
        .map(|diff| diff.path.strip_prefix(asker.root).unwrap_or(&diff.path).to_string_lossy().into_owned());
    let shown = shown.unwrap_or_default();
    let title = match (call.diffs.len(), first.is_some_and(|diff| diff.old.is_none()), lang) {
        (1, true, Lang::En) => format!("Let {} create {shown}?", asker.agent),
        (1, true, Lang::Zh) => format!("允许 {} 创建 {shown}？", asker.agent),
        (1, false, Lang::En) => format!("Let {} edit {shown}?", asker.agent),
        (1, false, Lang::Zh) => format!("允许 {} 修改 {shown}？", asker.agent),
        (many, _, Lang::En) => format!("Let {} change {many} files?", asker.agent),
        (many, _, Lang::Zh) => format!("允许 {} 修改 {many} 个文件？", asker.agent),
    };
    let mut prompt = base("file_change_confirm", title, asker, lang);
    if let Some(diff) = first {
        prompt["path"] = json!(diff.path.to_string_lossy());
    }
    prompt
}

fn choice_prompt(call: &ToolCall, choices: &[Choice], asker: Asker<'_>, lang: Lang) -> Value {
    let what = if call.title.is_empty() { call.kind.word().to_owned() } else { call.title.clone() };
    let title = match lang {
        Lang::En => format!("{}: {what}", asker.agent),
        Lang::Zh => format!("{}：{what}", asker.agent),
    };
    let lasting = |choice: &Choice| choice.kind.ends_with("_always");
    let label = |choice: &Choice| match (lasting(choice), lang) {
        (false, _) => choice.name.clone(),
        (true, Lang::En) => format!("{} (remembered by {}, not by ChatOS)", choice.name, asker.agent),
        (true, Lang::Zh) => format!("{}（由 {} 记住，而不是 ChatOS）", choice.name, asker.agent),
    };
    let mut sorted: Vec<&Choice> = choices.iter().collect();
    sorted.sort_by_key(|choice| lasting(choice));
    let options: Vec<Value> =
        sorted.into_iter().map(|choice| json!({ "value": choice.id, "label": label(choice) })).collect();
    let mut prompt = base("choice", title, asker, lang);
    prompt["options"] = json!(options);
    prompt
}

/// What a call that is neither a command nor a change is announced with, as a person reads it.
fn arguments(call: &ToolCall) -> String {
    match announced(call) {
        Value::Object(told) if call.input != json!(told) => call.text.clone(),
        Value::Null => String::new(),
        told => serde_json::to_string_pretty(&told).unwrap_or_default(),
    }
}

/// The agent's option for an answer of the person; `None` is its outcome `cancelled`.
pub(crate) fn option_for(choices: &[Choice], yes: bool, selection: Option<&str>) -> Option<String> {
    if let Some(selection) = selection {
        return choices.iter().find(|choice| choice.id == selection).map(|choice| choice.id.clone());
    }
    let wanted = if yes { "allow_once" } else { "reject_once" };
    choices.iter().find(|choice| choice.kind == wanted).map(|choice| choice.id.clone())
}

/// Whether an option lets the agent go on.
pub(crate) fn allows(choices: &[Choice], option: &str) -> bool {
    // A kind nobody knows may be a yes: its call counts as under way.
    choices.iter().any(|choice| choice.id == option && !choice.kind.starts_with("reject"))
}

/// The id of the question about this digest in this run: the same question again is the same one, also after a restart
/// (other-agents §4.9). `number` tells equal calls of one run apart.
pub(crate) fn request_id(run_id: &str, digest: &str, number: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(format!("acp\n{run_id}\n{digest}\n{number}"));
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

/// What of a call may not change once it was approved.
pub(crate) fn approved_part(call: &ToolCall) -> Value {
    let files: Vec<Value> = call.diffs.iter().map(|diff| json!([diff.path, diff.new])).collect();
    json!({ "input": call.input, "files": files })
}

/// Members of an input that say nothing about what is done.
const QUIET: &[&str] =
    &["description", "title", "reason", "explanation", "timeout", "timeout_ms", "yield_time_ms"];

fn is_empty(input: &Value) -> bool {
    input.is_null() || input.as_object().is_some_and(Map::is_empty)
}

/// Whether an input asks for something else than the approved one. Agents fill in what they had left out before (an
/// empty input, words for people); what was there stays, and nothing is added that decides anything.
fn other_input(approved: &Value, now: &Value) -> bool {
    if is_empty(approved) || is_empty(now) {
        return false;
    }
    let (Some(before), Some(now)) = (approved.as_object(), now.as_object()) else { return approved != now };
    let quiet = |key: &str| QUIET.contains(&key);
    let differs = before.iter().any(|(key, value)| {
        // What is not repeated is as it was.
        !quiet(key) && now.get(key).is_some_and(|now| now != value)
    });
    let added = now.iter().any(|(key, value)| {
        let says =
            !value.is_null() && value != false && value != "" && value != &json!({}) && value != &json!([]);
        says && !quiet(key) && !before.contains_key(key)
    });
    differs || added
}

/// Whether one text is an excerpt of the other: agents show a part before and the whole after, or the reverse.
fn is_excerpt(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim_end(), other.trim_end());
    one == other || (!one.is_empty() && other.contains(one)) || (!other.is_empty() && one.contains(other))
}

/// Whether a call, as it is known now, is another one than the approved part of it.
pub(crate) fn differs(approved: &Value, call: &ToolCall) -> bool {
    let content: Vec<Value> = call
        .diffs
        .iter()
        .map(|diff| json!({ "type": "diff", "path": diff.path, "oldText": diff.old, "newText": diff.new }))
        .collect();
    changed(approved, &json!({ "rawInput": call.input, "content": content }))
}

/// Whether an update tells something else than what was approved. What it does not mention is as it was; what was too
/// large to be read is not.
pub(crate) fn changed(approved: &Value, update: &Value) -> bool {
    let files = approved["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let unknown = unread(update).any(|part| match part {
        "rawInput" => !is_empty(&approved["input"]),
        "content" => !files.is_empty(),
        _ => false,
    });
    if unknown {
        return true;
    }
    let mut now = ToolCall::default();
    now.told(update);
    let other_file = |diff: &crate::message::FileDiff| {
        let mut same = files.iter().filter(|file| file[0] == *diff.path.to_string_lossy());
        let fits = same.any(|file| is_excerpt(file[1].as_str().unwrap_or_default(), &diff.new));
        !files.is_empty() && !fits
    };
    other_input(&approved["input"], &now.input) || now.diffs.iter().any(other_file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::UNREAD;

    fn call(input: Value) -> ToolCall {
        let mut call = ToolCall::default();
        call.told(&json!({ "kind": "execute", "title": "run", "rawInput": input }));
        call
    }

    fn once() -> Vec<Choice> {
        let choice =
            |id: &str, kind: &str| Choice { id: id.to_owned(), name: id.to_owned(), kind: kind.to_owned() };
        vec![choice("always", "allow_always"), choice("yes", "allow_once"), choice("no", "reject_once")]
    }

    fn asker(root: &Path) -> Asker<'_> {
        Asker {
            agent_id: "a",
            agent: "codex",
            program: "codex-acp 1",
            session: "s",
            root,
            through_us: false,
            variables: "",
        }
    }

    #[test]
    fn a_question_is_the_same_only_for_the_same_call() {
        let root = Path::new("/");
        let of = |input: Value, session: &str| {
            let asker = Asker { session, ..asker(root) };
            question(&call(input), &once(), asker, Lang::En).unwrap().digest
        };
        let first = of(json!({ "command": "ls" }), "s");
        assert_eq!(first, of(json!({ "command": "ls" }), "s"));
        assert_ne!(first, of(json!({ "command": "ls " }), "s"));
        assert_ne!(first, of(json!({ "command": "ls" }), "t"));
        assert_eq!(request_id("r", &first, 0), request_id("r", &first, 0));
        assert_ne!(request_id("r", &first, 0), request_id("r", &first, 1));
    }

    #[test]
    fn a_yes_is_once_and_never_for_good() {
        assert_eq!(option_for(&once(), true, None).as_deref(), Some("yes"));
        assert_eq!(option_for(&once(), false, None).as_deref(), Some("no"));
        assert_eq!(option_for(&once()[..1], true, None), None);
        assert_eq!(option_for(&once(), true, Some("other")), None);
        assert!(allows(&once(), "yes") && !allows(&once(), "no"));
    }

    #[test]
    fn what_was_approved_may_not_change() {
        let approved = approved_part(&call(json!({ "command": "ls" })));
        assert!(!changed(&approved, &json!({ "status": "completed", "content": [] })));
        assert!(!changed(&approved, &json!({ "rawInput": { "command": "ls" } })));
        assert!(changed(&approved, &json!({ "rawInput": { "command": "rm -r ." } })));
        // Words for people may come later; what decides may not.
        assert!(!changed(
            &approved,
            &json!({ "rawInput": { "command": "ls", "description": "List files" } })
        ));
        assert!(!changed(&approved, &json!({ "rawInput": { "description": "List files", "env": {} } })));
        assert!(changed(&approved, &json!({ "rawInput": { "command": "ls", "args": ["-a"] } })));
        assert!(changed(&approved, &json!({ "rawInput": { "command": "ls", "cwd": "/etc" } })));
        assert!(!changed(&approved_part(&call(json!({}))), &json!({ "rawInput": { "command": "ls" } })));
        let mut edit = ToolCall::default();
        edit.told(&json!({ "kind": "edit", "content": [{ "type": "diff", "path": "/a", "newText": "x" }] }));
        let approved = approved_part(&edit);
        assert!(changed(
            &approved,
            &json!({ "content": [{ "type": "diff", "path": "/a", "newText": "y" }] })
        ));
        assert!(changed(
            &approved,
            &json!({ "content": [{ "type": "diff", "path": "/b", "newText": "x" }] })
        ));
        // What was too large to be read may be another one; what came of it is none.
        assert!(changed(&approved, &json!({ UNREAD: ["content"] })));
        assert!(!changed(&approved, &json!({ UNREAD: ["rawInput", "rawOutput"] })));
        let command = approved_part(&call(json!({ "command": "ls" })));
        assert!(changed(&command, &json!({ UNREAD: ["rawInput"] })));
        assert!(!changed(&command, &json!({ UNREAD: ["content", "rawOutput"] })));
        // The same change shown with the lines around it.
        assert!(!changed(
            &approved,
            &json!({ "content": [{ "type": "diff", "path": "/a", "newText": "1\nx\n2\n" }] })
        ));
    }

    #[test]
    fn what_is_named_as_a_tool_of_our_gateway_may_be_one_unless_it_announces_something_else() {
        let all =
            Allowed { execute: true, edit: true, read: true, files: true, reads_pass: true, gateway: true };
        let first = |told: Value| {
            let mut call = ToolCall::default();
            call.told(&told);
            all.first(&call, Path::new("/"))
        };
        let title = "mcp__chatos__tasks_add";
        assert_eq!(first(json!({ "title": title, "kind": "other" })), First::Ours);
        assert_eq!(first(json!({ "title": title, "kind": "fetch" })), First::Ask);
        assert_eq!(first(json!({ "title": title, "kind": "edit" })), First::Ask);
        let command = json!({ "title": title, "kind": "execute", "rawInput": { "command": "ls" } });
        assert_eq!(first(command), First::Ask);
        let diff = json!([{ "type": "diff", "path": "/a", "newText": "x" }]);
        assert_eq!(first(json!({ "title": title, "kind": "other", "content": diff })), First::Ask);
        assert_eq!(first(json!({ "title": "chatosx_tasks_add", "kind": "other" })), First::Ask);
    }

    #[test]
    fn an_agent_that_tells_its_arguments_as_text_is_asked_about_with_them() {
        let choices = [Choice { id: "y".to_owned(), name: "Yes".to_owned(), kind: "allow_once".to_owned() }];
        let asker = Asker {
            agent_id: "a",
            agent: "A",
            program: "p",
            session: "s",
            root: Path::new("/"),
            through_us: false,
            variables: "",
        };
        let of = |text: &str| {
            let mut call = ToolCall::default();
            let content = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
            call.told(&json!({ "title": "t", "kind": "other", "content": content }));
            question(&call, &choices, asker, Lang::En).unwrap()
        };
        let (one, two) = (of("{\"n\":1}"), of("{\"n\":2}"));
        assert!(one.prompt["message"].as_str().unwrap().contains("{\"n\":1}"));
        assert_ne!(one.digest, two.digest, "other arguments are another question");
    }

    #[test]
    fn the_profile_comes_first_and_reads_stay_inside() {
        let all =
            Allowed { execute: true, edit: true, read: true, files: true, reads_pass: true, gateway: false };
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "").unwrap();
        std::os::unix::fs::symlink("/etc/hostname", dir.path().join("out")).unwrap();
        let read = |path: &str| {
            let mut call = ToolCall::default();
            call.told(&json!({ "kind": "read", "locations": [{ "path": dir.path().join(path) }] }));
            all.first(&call, dir.path())
        };
        assert_eq!(read("a"), First::Pass);
        assert_eq!(read("out"), First::Ask);
        assert_eq!(read("../x"), First::Ask);
        let run = call(json!({ "command": "ls" }));
        assert_eq!(all.first(&run, dir.path()), First::Ask);
        assert_eq!(Allowed { execute: false, ..all }.first(&run, dir.path()), First::Refuse);
    }
}
