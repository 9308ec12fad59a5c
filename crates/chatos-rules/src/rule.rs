//! The record of a rule, and what may be in one (inbox §4.1).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::carriers;
use crate::glob::{MAX_PATTERN, is_exact};

const MAX_NAME: usize = 120;
const MAX_MATCHERS: usize = 64;
const DAY_MS: i64 = 86_400_000;

/// What a rule does with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    Allow,
    Deny,
    /// Asks, whatever an allow says.
    Ask,
}

/// Where a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    Run,
    Chat,
    Agent,
    Project,
    Everywhere,
}

/// Where a rule holds, and for whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scope {
    pub kind: ScopeKind,
    /// The run, the chat, the agent, or the real path of the project; empty for everywhere.
    #[serde(default)]
    pub id: String,
    /// `main` or `sub`: only in chats, or only as subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Only calls of the other program that calls itself so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
}

/// How an argument is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgOp {
    Eq,
    In,
    Glob,
    Absent,
}

/// One argument and what it must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgMatch {
    /// A JSON pointer into the arguments.
    pub at: String,
    pub op: ArgOp,
    #[serde(default)]
    pub value: Value,
}

/// What about arguments that no matcher names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OtherArgs {
    /// There must be none.
    #[default]
    None,
    Any,
}

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileOp {
    Write,
    Create,
    Delete,
}

/// Files of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathRule {
    /// Below the project; `*` stays in a folder, `**` does not.
    pub globs: Vec<String>,
    pub ops: Vec<FileOp>,
}

/// A host that an argument names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRule {
    /// The argument with the address, as a JSON pointer.
    pub at: String,
    /// `example.com`, or `*.example.com` for what is below it.
    pub host: String,
    /// `https` where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// Words after those that are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum More {
    #[default]
    None,
    /// Any that is no option.
    Words,
    /// Paths inside the project; what is allowed leaves out hidden ones.
    Paths,
}

/// One command by its program and words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRule {
    /// A name that is looked up in PATH.
    pub program: String,
    #[serde(default)]
    pub argv: Vec<String>,
    #[serde(default)]
    pub more: More,
}

/// How commands may be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleJoin {
    #[default]
    None,
    Pipe,
    And,
}

/// Which commands of `run_shell_command` it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShellRule {
    /// Each command of a line fits one of them.
    pub commands: Vec<CommandRule>,
    #[serde(default)]
    pub join: RuleJoin,
}

/// What a person decided once for many calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub id: String,
    pub name: String,
    pub effect: Effect,
    pub scope: Scope,
    /// The identity of the server, exactly.
    pub server: String,
    /// A pattern over the server's own name of the tool.
    pub tool: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<ArgMatch>,
    #[serde(default)]
    pub other_args: OtherArgs,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<PathRule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellRule>,
    /// Milliseconds since 1970; it ends with the run for a rule of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    #[serde(default)]
    pub paused: bool,
    #[serde(default)]
    pub note: String,
    /// Who made it, set by the host: a person at a surface, or `import`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub created_by: String,
    /// Milliseconds since 1970, set by the host.
    #[serde(default)]
    pub created_at: i64,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where in the record, as a JSON pointer.
    pub at: String,
    pub code: &'static str,
    pub en: String,
    pub zh: String,
}

fn fault(at: &str, code: &'static str, en: &str, zh: &str) -> Fault {
    Fault { at: at.to_owned(), code, en: en.to_owned(), zh: zh.to_owned() }
}

/// Everything that is wrong with a record at this time.
pub fn check(rule: &Rule, now: i64) -> Vec<Fault> {
    let mut faults = Vec::new();
    let name = rule.name.trim();
    if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control) {
        faults.push(fault("/name", "invalid", "1 to 120 characters on one line", "1 到 120 个字符，单行"));
    }
    if rule.server.is_empty() || rule.tool.is_empty() || rule.tool.len() > MAX_PATTERN {
        faults.push(fault("/server", "invalid", "a server and a tool", "须有服务与工具"));
    }
    if rule.effect == Effect::Allow
        && rule.tool.contains(['*', '?'])
        && rule.shell.is_none()
        && rule.paths.is_none()
    {
        faults.push(fault("/tool", "invalid", "an allow names one tool", "允许规则只能指定一个工具"));
    }
    scope(rule, &mut faults);
    until(rule, now, &mut faults);
    matchers(rule, &mut faults);
    shell(rule, &mut faults);
    faults
}

fn scope(rule: &Rule, faults: &mut Vec<Fault>) {
    let Scope { kind, id, role, client } = &rule.scope;
    let fits = match kind {
        ScopeKind::Everywhere => id.is_empty(),
        ScopeKind::Project => id.starts_with('/') && id.len() > 1,
        _ => !id.is_empty(),
    };
    let known = role.as_deref().is_none_or(|role| matches!(role, "main" | "sub"));
    let named = |name: &str| {
        !name.trim().is_empty() && name.len() <= MAX_PATTERN && !name.chars().any(char::is_control)
    };
    if !fits || !known || !client.as_deref().is_none_or(named) {
        faults.push(fault(
            "/scope",
            "scope_unknown",
            "run, chat, agent or project with its id, or everywhere without one; role main or sub; client a name",
            "run、chat、agent 或 project 须带 id，everywhere 不带；role 为 main 或 sub；client 为名称",
        ));
    }
}

fn until(rule: &Rule, now: i64, faults: &mut Vec<Fault>) {
    if rule.effect != Effect::Allow || rule.scope.kind == ScopeKind::Run {
        return;
    }
    let days = match rule.scope.kind {
        ScopeKind::Agent | ScopeKind::Project => 90,
        _ => 30,
    };
    match rule.until {
        None => faults.push(fault("/until", "until_required", "an allow needs an end", "允许规则须有期限")),
        Some(until) if until > now.saturating_add(days * DAY_MS) => faults.push(Fault {
            at: "/until".to_owned(),
            code: "until_too_far",
            en: format!("at most {days} days from now"),
            zh: format!("最长 {days} 天"),
        }),
        Some(_) => {}
    }
}

fn matchers(rule: &Rule, faults: &mut Vec<Fault>) {
    let paths = rule.paths.as_ref().map_or(0, |paths| paths.globs.len());
    let commands = rule.shell.as_ref().map_or(0, |shell| shell.commands.len());
    if rule.args.len() + rule.hosts.len() + paths + commands > MAX_MATCHERS {
        faults.push(fault("", "too_many", "at most 64 matchers", "最多 64 个匹配条件"));
    }
    for (i, arg) in rule.args.iter().enumerate() {
        let text = arg.value.as_str().is_none_or(|text| text.len() <= MAX_PATTERN);
        let shape = match arg.op {
            ArgOp::In => arg.value.is_array(),
            ArgOp::Glob => arg.value.is_string(),
            ArgOp::Eq | ArgOp::Absent => true,
        };
        if !arg.at.starts_with('/') || !text || !shape {
            faults.push(fault(
                &format!("/args/{i}"),
                "invalid",
                "a pointer, and a value that fits `op`",
                "须为指针，且值与 op 相符",
            ));
        }
    }
    if let Some(paths) = &rule.paths {
        let bad = |glob: &String| {
            glob.is_empty()
                || glob.len() > MAX_PATTERN
                || glob.starts_with('/')
                || glob.split('/').any(|part| part == "..")
        };
        if paths.globs.is_empty() || paths.ops.is_empty() || paths.globs.iter().any(bad) {
            faults.push(fault(
                "/paths",
                "invalid",
                "patterns below the project, and what may be done",
                "须为项目内的路径模式及操作",
            ));
        }
    }
    for (i, host) in rule.hosts.iter().enumerate() {
        let name = host.host.strip_prefix("*.").unwrap_or(&host.host);
        let fits = !name.is_empty()
            && name.len() <= 253
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
        if !fits || !host.at.starts_with('/') {
            faults.push(fault(
                &format!("/hosts/{i}"),
                "invalid",
                "a host name, or *.name",
                "须为主机名或 *.名称",
            ));
        }
    }
}

fn shell(rule: &Rule, faults: &mut Vec<Fault>) {
    let Some(shell) = &rule.shell else { return };
    if shell.commands.is_empty() {
        faults.push(fault("/shell/commands", "invalid", "at least one command", "至少一条命令"));
    }
    for (i, command) in shell.commands.iter().enumerate() {
        let at = format!("/shell/commands/{i}");
        let named = !command.program.is_empty()
            && command.program.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.+-".contains(&b))
            && !command.program.starts_with(['-', '.']);
        if !named || command.argv.iter().any(|word| word.len() > MAX_PATTERN) {
            faults.push(fault(
                &at,
                "invalid",
                "the bare name of a program, and words",
                "须为程序名（不含路径）与参数",
            ));
        }
        if rule.effect == Effect::Allow && carriers::is_open(command) {
            faults.push(fault(
                &at,
                "carrier_open",
                "this program runs others: name the whole command, without patterns",
                "该程序会运行其他程序：须写出完整命令，不能使用通配符",
            ));
        }
    }
}

impl Rule {
    /// Whether it can match nothing but one fixed call.
    pub fn is_exact(&self) -> bool {
        let words = self.shell.iter().flat_map(|shell| &shell.commands);
        let exact =
            words.into_iter().all(|c| c.more == More::None && c.argv.iter().all(|word| is_exact(word)));
        exact && self.paths.as_ref().is_none_or(|paths| paths.globs.iter().all(|glob| is_exact(glob)))
    }
}
