//! One call, all rules, one decision (inbox §4.2): deny beats ask beats allow; what is of high risk, or not understood
//! completely, is asked whatever a rule says.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::carriers;
use crate::command::{self, Join};
use crate::glob::fits;
use crate::rule::{
    ArgOp, CommandRule, Effect, FileOp, HostRule, More, OtherArgs, PathRule, Rule, RuleJoin, ScopeKind,
    ShellRule, check,
};

/// Rules that are looked at; more are none.
const MAX_RULES: usize = 500;
/// The tool whose commands a rule can be about.
const SHELL_TOOL: &str = "run_shell_command";

/// A call that would be asked about.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The kind of its effect.
    pub kind: &'a str,
    /// The material of its effect.
    pub facts: &'a Value,
    pub high_risk: bool,
    /// An app started the run.
    pub through_app: bool,
    pub run: Option<&'a str>,
    pub chat: Option<&'a str>,
    pub agent: Option<&'a str>,
    /// The call is a subagent's.
    pub sub: bool,
    /// The other program that calls, as it names itself.
    pub client: Option<&'a str>,
}

impl Call<'_> {
    fn text(&self, at: &str) -> &str {
        self.facts.pointer(at).and_then(Value::as_str).unwrap_or_default()
    }

    fn project(&self) -> &str {
        self.text("/root/path")
    }
}

/// What a decision needs to know of the computer.
pub trait World {
    /// The file that a name finds in a search path of absolute folders, as the child would find it.
    fn program(&self, name: &str, path: &str) -> Option<Found>;
    /// The real path of something that is there, links followed; of its nearest folder where it is not.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// Whether git, started in a folder, finds nothing there that makes it run another program: no such settings, no
    /// hooks, no repository inside the repository.
    fn is_plain_repository(&self, folder: &Path) -> bool;
}

/// A program that was found by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where the search path has it.
    pub at: PathBuf,
    /// Where it really lies.
    pub real: PathBuf,
    /// Nobody but the administrator of the computer can put another one there.
    pub is_guarded: bool,
}

/// Why somebody is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// There is no rule that fits.
    NoRule,
    /// A rule says so.
    Rule,
    HighRisk,
    /// Questions of this kind are always asked.
    Kind,
    ThroughApp,
    NoProject,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// By this rule; a command is run as this text.
    Allow {
        rule: String,
        run_as: Option<String>,
    },
    Deny {
        rule: String,
    },
    Ask {
        why: Why,
        rule: Option<String>,
    },
}

/// What became of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    pub rule: String,
    pub name: String,
    /// The first thing that did not fit; nothing where all did.
    pub failed: Option<&'static str>,
}

/// A decision with how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub decision: Decision,
    pub looked: Vec<Looked>,
}

/// Decides about one call by all rules.
pub fn decide(call: &Call<'_>, rules: &[Rule], now: i64, world: &dyn World) -> Outcome {
    let mut looked = Vec::new();
    let mut first: [Option<(&Rule, Option<String>)>; 3] = [None, None, None];
    for rule in rules.iter().take(MAX_RULES) {
        let fit = matches(rule, call, now, world);
        let failed = fit.as_ref().err().copied();
        looked.push(Looked { rule: rule.id.clone(), name: rule.name.clone(), failed });
        if let Ok(run_as) = fit {
            let place = match rule.effect {
                Effect::Deny => 0,
                Effect::Ask => 1,
                Effect::Allow => 2,
            };
            first[place].get_or_insert((rule, run_as));
        }
    }
    let [deny, ask, allow] = first;
    let decision = if let Some((rule, _)) = deny {
        Decision::Deny { rule: rule.id.clone() }
    } else if let Some((rule, _)) = ask {
        Decision::Ask { why: Why::Rule, rule: Some(rule.id.clone()) }
    } else if let Some(why) = floor(call) {
        Decision::Ask { why, rule: None }
    } else if let Some((rule, run_as)) = allow {
        Decision::Allow { rule: rule.id.clone(), run_as }
    } else {
        Decision::Ask { why: Why::NoRule, rule: None }
    };
    Outcome { decision, looked }
}

/// What no rule can allow.
fn floor(call: &Call<'_>) -> Option<Why> {
    if !matches!(call.kind, "command" | "file_change" | "tool_approval") {
        return Some(Why::Kind);
    }
    if call.high_risk {
        return Some(Why::HighRisk);
    }
    if call.through_app {
        return Some(Why::ThroughApp);
    }
    call.project().is_empty().then_some(Why::NoProject)
}

type Fit = Result<Option<String>, &'static str>;

fn matches(rule: &Rule, call: &Call<'_>, now: i64, world: &dyn World) -> Fit {
    if rule.paused {
        return Err("paused");
    }
    // A clock set back makes no rule live longer.
    if now < rule.created_at || rule.until.is_some_and(|until| now >= until) {
        return Err("until");
    }
    // A record that could not be saved today allows nothing, however it got here.
    if rule.effect == Effect::Allow && !check(rule, rule.created_at.max(0)).is_empty() {
        return Err("record");
    }
    scope(rule, call)?;
    content(rule, call, world)
}

/// Whether a call is one that a rule is about, wherever and whenever it was made; what no rule can allow is not.
pub(crate) fn is_about(rule: &Rule, call: &Call<'_>, world: &dyn World) -> bool {
    floor(call).is_none() && content(rule, call, world).is_ok()
}

fn content(rule: &Rule, call: &Call<'_>, world: &dyn World) -> Fit {
    if rule.server != call.text("/identity") {
        return Err("server");
    }
    if !fits(&rule.tool, call.text("/tool"), None) {
        return Err("tool");
    }
    match call.kind {
        "command" => match &rule.shell {
            Some(shell) => return commands(rule.effect, shell, call, world),
            // Nothing but its shape says what a command does.
            None if rule.effect == Effect::Allow => return Err("shell"),
            None => {}
        },
        "file_change" => match &rule.paths {
            Some(paths) => files(rule.effect, paths, call, world)?,
            None if rule.effect == Effect::Allow => return Err("paths"),
            None => {}
        },
        _ if rule.shell.is_some() || rule.paths.is_some() => return Err("kind"),
        _ => arguments(rule, call)?,
    }
    Ok(None)
}

fn scope(rule: &Rule, call: &Call<'_>) -> Result<(), &'static str> {
    let id = rule.scope.id.as_str();
    let here = match rule.scope.kind {
        ScopeKind::Run => call.run == Some(id),
        ScopeKind::Chat => call.chat == Some(id),
        ScopeKind::Agent => call.agent == Some(id),
        ScopeKind::Project => call.project() == id,
        ScopeKind::Everywhere => true,
    };
    let role = rule.scope.role.as_deref().is_none_or(|role| (role == "sub") == call.sub);
    let client = rule.scope.client.as_deref().is_none_or(|name| call.client == Some(name));
    if here && role && client { Ok(()) } else { Err("scope") }
}

fn arguments(rule: &Rule, call: &Call<'_>) -> Result<(), &'static str> {
    let given = &call.facts["arguments"];
    // Arguments that are only there as a digest cannot be looked at.
    let Some(map) = given.as_object().filter(|map| !(map.len() == 2 && map.contains_key("sha256"))) else {
        return Err("args");
    };
    for arg in &rule.args {
        let value = given.pointer(&arg.at);
        let fit = match (arg.op, value) {
            (ArgOp::Absent, value) => value.is_none(),
            (_, None) => false,
            (ArgOp::Eq, Some(value)) => *value == arg.value,
            (ArgOp::In, Some(value)) => arg.value.as_array().is_some_and(|list| list.contains(value)),
            (ArgOp::Glob, Some(value)) => match (value.as_str(), arg.value.as_str()) {
                (Some(text), Some(pattern)) => fits(pattern, text, None),
                _ => false,
            },
        };
        if !fit {
            return Err("args");
        }
    }
    for host in &rule.hosts {
        let address = given.pointer(&host.at).and_then(Value::as_str).ok_or("hosts")?;
        if !host_fits(host, address) {
            return Err("hosts");
        }
    }
    let named = |key: &String| {
        let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        rule.args.iter().any(|arg| arg.at == pointer) || rule.hosts.iter().any(|host| host.at == pointer)
    };
    if rule.effect == Effect::Allow && rule.other_args == OtherArgs::None && !map.keys().all(named) {
        return Err("otherArgs");
    }
    Ok(())
}

/// An address is taken apart by hand and only where nothing in it can be read in two ways.
fn host_fits(rule: &HostRule, address: &str) -> bool {
    if !address.bytes().all(|b| b.is_ascii_graphic() && b != b'\\') {
        return false;
    }
    let Some((scheme, rest)) = address.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains(['@', '[', ']', '%']) || scheme != rule.scheme.as_deref().unwrap_or("https") {
        return false;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => match port.parse::<u16>() {
            Ok(port) => (host, Some(port)),
            Err(_) => return false,
        },
        None => (authority, None),
    };
    let host = host.to_ascii_lowercase();
    let wanted = rule.host.to_ascii_lowercase();
    let named = match wanted.strip_prefix("*.") {
        Some(parent) => {
            host.strip_suffix(parent).is_some_and(|below| below.len() > 1 && below.ends_with('.'))
        }
        None => host == wanted,
    };
    named && port == rule.port
}

fn files(effect: Effect, rule: &PathRule, call: &Call<'_>, world: &dyn World) -> Result<(), &'static str> {
    let files = call.facts["files"].as_array().filter(|files| !files.is_empty()).ok_or("paths")?;
    let root = Path::new(call.project());
    let one = |path: &str, op: FileOp| -> Result<(), &'static str> {
        if !rule.ops.contains(&op) {
            return Err("ops");
        }
        let plain = !path.is_empty() && !path.starts_with('/') && !path.split('/').any(|part| part == "..");
        // A star lets no hidden file through, as in a shell: whoever means `.env` says so.
        let spelt = |glob: &str| {
            effect != Effect::Allow || !is_hidden(path) || glob.contains("**") || is_hidden(glob)
        };
        if !plain || !rule.globs.iter().any(|glob| spelt(glob) && fits(glob, path, Some('/'))) {
            return Err("paths");
        }
        // A link that leads out of the project is another place.
        let real = world.real(&root.join(path)).ok_or("paths")?;
        if real.starts_with(root) { Ok(()) } else { Err("paths") }
    };
    for file in files {
        let path = file["path"].as_str().ok_or("paths")?;
        match file["change"].as_str() {
            Some("created") => one(path, FileOp::Create)?,
            Some("modified") => one(path, FileOp::Write)?,
            Some("deleted") => one(path, FileOp::Delete)?,
            Some("moved") => {
                one(file["from"].as_str().ok_or("paths")?, FileOp::Delete)?;
                one(path, FileOp::Create)?;
            }
            _ => return Err("ops"),
        }
    }
    Ok(())
}

fn commands(effect: Effect, rule: &ShellRule, call: &Call<'_>, world: &dyn World) -> Fit {
    // Input to a session, and a command that becomes one, are not a command of their own.
    if call.facts.pointer("/command/session").is_some() || call.text("/tool") != SHELL_TOOL {
        return Err("session");
    }
    let line = command::read(call.text("/command/text")).map_err(|_| "parse")?;
    if effect == Effect::Allow {
        surroundings(call, world)?;
    }
    let joined = |join: Option<Join>| match join {
        None => true,
        Some(Join::Pipe) => rule.join == RuleJoin::Pipe,
        Some(Join::And) => rule.join == RuleJoin::And,
    };
    if !line.commands.iter().all(|simple| joined(simple.join)) {
        return Err("join");
    }
    let mut programs = Vec::new();
    for simple in &line.commands {
        let fit = rule.commands.iter().any(|command| words(effect, command, &simple.words, call, world));
        if !fit {
            return Err("words");
        }
        if effect == Effect::Allow {
            programs.push(program(simple.program(), call, world)?);
        }
    }
    if effect == Effect::Allow { line.run_as(&programs).map(Some).ok_or("program") } else { Ok(None) }
}

/// Only what runs confined, as the host itself would run it.
fn surroundings(call: &Call<'_>, world: &dyn World) -> Result<(), &'static str> {
    if call.text("/command/sandbox/level") != "full"
        || call.facts.pointer("/command/network") != Some(&Value::Bool(false))
    {
        return Err("sandbox");
    }
    if !call.facts.pointer("/command/findings").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        return Err("findings");
    }
    let shell = Path::new(call.text("/command/shell")).file_name().and_then(|name| name.to_str());
    if !matches!(shell, Some("sh" | "bash" | "dash" | "zsh")) {
        return Err("interpreter");
    }
    // Variables of the call may change what any program does.
    if call.facts.pointer("/command/env").and_then(Value::as_array).is_none_or(|env| !env.is_empty()) {
        return Err("env");
    }
    if call.facts.pointer("/arguments/interactive").is_some_and(|value| *value != Value::Bool(false)) {
        return Err("session");
    }
    let cwd = Path::new(call.text("/command/cwd/path"));
    if !cwd.starts_with(call.project()) || cwd.components().any(|part| part == Component::ParentDir) {
        return Err("cwd");
    }
    search_path(call, world)
}

/// Programs find others by the search path: a folder in it that commands can write makes every name theirs.
fn search_path(call: &Call<'_>, world: &dyn World) -> Result<(), &'static str> {
    let path = call.text("/command/path");
    if path.is_empty() {
        return Err("path");
    }
    let fits = |folder: &str| {
        let folder = Path::new(folder);
        folder.is_absolute()
            && !is_theirs(folder, call)
            && world.real(folder).is_some_and(|real| !is_theirs(&real, call))
    };
    if path.split(':').all(fits) { Ok(()) } else { Err("path") }
}

/// Whether commands can write there, or everybody can.
fn is_theirs(path: &Path, call: &Call<'_>) -> bool {
    let Some(writable) = call.facts.pointer("/command/writable").and_then(Value::as_array) else {
        return true;
    };
    // A place that is not text is anywhere.
    let named = writable.iter().map(|place| place.as_str().unwrap_or("/"));
    let shared = ["/tmp", "/var/tmp", "/dev/shm", "/run/user"];
    let mut places = named.chain(shared).chain([call.project()]);
    places.any(|place| !place.is_empty() && path.starts_with(place))
}

fn words(effect: Effect, rule: &CommandRule, words: &[String], call: &Call<'_>, world: &dyn World) -> bool {
    let Some((program, rest)) = words.split_first() else { return false };
    if *program != rule.program || rest.len() < rule.argv.len() {
        return false;
    }
    let (named, more) = rest.split_at(rule.argv.len());
    let one = |(pattern, word): (&String, &String)| {
        // An option is only what a pattern spells out from its dash on.
        (!word.starts_with('-') || pattern.starts_with('-')) && fits(pattern, word, None)
    };
    if !rule.argv.iter().zip(named).all(one) {
        return false;
    }
    let git = rule.program != "git" || rest.iter().all(|word| carriers::is_harmless(word));
    git && match rule.more {
        More::None => more.is_empty(),
        More::Words => more.iter().all(|word| !word.starts_with(['-', '+'])),
        More::Paths => {
            more.iter().all(|word| inside(word, call, world) && (effect != Effect::Allow || !is_hidden(word)))
        }
    }
}

/// A name in it begins with a dot: what a person did not see when approving its neighbours.
pub(crate) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.') && name != ".")
}

/// A path below the project, links followed.
pub(crate) fn inside(word: &str, call: &Call<'_>, world: &dyn World) -> bool {
    let plain = !word.is_empty()
        && !word.starts_with(['/', '-', '+', '@'])
        && !word.split('/').any(|part| part == "..");
    let cwd = Path::new(call.text("/command/cwd/path"));
    plain && world.real(&cwd.join(word)).is_some_and(|real| real.starts_with(call.project()))
}

/// The program is one of the computer, not one that a project or a person brings.
fn program(name: &str, call: &Call<'_>, world: &dyn World) -> Result<PathBuf, &'static str> {
    if name.contains('/') {
        return Err("program");
    }
    let found = world.program(name, call.text("/command/path")).ok_or("program")?;
    if !found.is_guarded || is_theirs(&found.at, call) || is_theirs(&found.real, call) {
        return Err("program");
    }
    // A link may hide which program it is.
    let real = found.real.file_name().and_then(|file| file.to_str()).unwrap_or_default();
    if carriers::is_carrier(real) && !carriers::is_carrier(name) {
        return Err("program");
    }
    let is_git = [name, real].iter().any(|name| *name == "git" || name.starts_with("git-"));
    if is_git && !world.is_plain_repository(Path::new(call.text("/command/cwd/path"))) {
        return Err("repository");
    }
    Ok(found.at)
}
