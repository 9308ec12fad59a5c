//! The look at a command before it runs (servers §3.3): findings for the model and the person, the
//! read-only list, an estimate of the output. Advice, never protection.

mod argv;
mod estimate;
mod path;
mod rules;

use std::path::{Path, PathBuf};

use chatos_tool::{Lang, Text};
use schemars::JsonSchema;
use serde::Serialize;

use super::denied::Denial;
use super::lex::{self, Script, Simple};
use super::sandbox::Level;
use argv::Effective;
pub(super) use estimate::Estimate;
use path::Scene;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grade {
    /// Good to know.
    Info,
    /// Look twice.
    Warn,
    /// A person is asked.
    Ask,
    /// Refused in strict mode.
    Block,
}

impl Grade {
    /// The word in results.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

/// One thing seen in a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct Finding {
    /// What was seen
    pub(super) id: &'static str,
    /// How much it matters
    pub(super) level: Grade,
    /// In words
    pub(super) message: String,
    /// The same in both languages, for whoever is asked.
    #[serde(skip)]
    pub(super) said: Option<Text>,
    /// The part of the command
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// What the sandbox refused
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) denied: Option<Denial>,
}

/// Where a command would run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// The real path of the root.
    pub(super) root: &'a Path,
    /// The real path of the working directory.
    pub(super) cwd: &'a Path,
    /// The home directory.
    pub(super) home: Option<&'a Path>,
    /// How much confines it: inside a boundary a repository's own configuration can do no harm.
    pub(super) level: Level,
    /// It has the network.
    pub(super) network: bool,
    /// The language of messages.
    pub(super) lang: Lang,
}

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The most important first.
    pub(super) findings: Vec<Finding>,
    /// Every part of it is on the read-only list and nothing of level warn was found.
    pub(super) read_only: bool,
    /// It may change files.
    pub(super) may_write: bool,
    /// How much it will print.
    pub(super) estimate: Option<Estimate>,
    /// Files inside the root that are named in it.
    pub(super) named: Vec<PathBuf>,
}

impl Checked {
    /// The highest level.
    pub(super) fn worst(&self) -> Option<Grade> {
        self.findings.iter().map(|finding| finding.level).max()
    }

    /// What a person is asked about, for the material of the question.
    pub(super) fn serious(&self) -> Vec<&'static str> {
        let serious = self.findings.iter().filter(|finding| finding.level >= Grade::Ask);
        serious.map(|finding| finding.id).collect()
    }
}

/// Most findings of one command; more say nothing new.
const MAX_FINDINGS: usize = 40;
/// Commands inside `sh -c` inside `sh -c`.
const MAX_NESTING: usize = 4;

/// Looks at a command.
pub(super) fn check(text: &str, place: Surroundings<'_>) -> Checked {
    let mut look = Look { place, checked: Checked::default(), scene: Scene::new(place) };
    let script = lex::parse(text);
    look.script(&script, 0);
    if fork_bomb(text) {
        look.add(
            "fork_bomb",
            Grade::Block,
            Text::fixed("starts itself without end", "无限自我复制（fork 炸弹）"),
            None,
        );
    }
    if script.unclear {
        look.add(
            "expansion",
            Grade::Warn,
            Text::fixed("the command cannot be read completely", "无法完整解析该命令"),
            None,
        );
    }
    let listed = !script.commands.is_empty()
        && !script.unclear
        && script.commands.iter().all(|simple| rules::is_read_only(simple, place.level > Level::None));
    let mut checked = look.checked;
    checked.may_write = !listed && !script.commands.iter().all(rules::cannot_write);
    checked.read_only = listed && checked.worst().is_none_or(|worst| worst < Grade::Warn);
    checked.estimate = estimate::estimate(&script, &look.scene);
    checked.findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    checked
}

/// Whether a command makes something git would sign.
pub(super) fn makes_signable(command: &str) -> bool {
    lex::parse(command).commands.iter().any(|simple| {
        let effective = argv::effective(simple);
        let mut words = effective.arguments.iter().map(|word| word.text.as_str());
        let mut verb = words.next();
        while let Some(option) = verb.filter(|word| word.starts_with('-')) {
            // These two have their value beside them.
            if matches!(option, "-C" | "-c") {
                words.next();
            }
            verb = words.next();
        }
        let verb = verb.unwrap_or_default();
        effective.name() == Some("git")
            && matches!(verb, "commit" | "tag" | "merge" | "rebase" | "cherry-pick" | "revert" | "am")
    })
}

impl Finding {
    /// Whether both say that the same machine was refused.
    pub(super) fn is_about(&self, other: &Self) -> bool {
        let host = |finding: &Self| finding.denied.as_ref().and_then(|denial| denial.host.clone());
        host(self).is_some() && host(self) == host(other)
    }
}

/// Whether a command speaks to a remote of git over SSH: one that it names, or one of the repository around `dir`.
pub(super) fn speaks_ssh(command: &str, dir: &Path) -> bool {
    let over_ssh = |url: &str| {
        let scp = url.split_once(':').is_some_and(|(host, rest)| {
            !host.contains('/') && (host.contains('@') || host.contains('.')) && !rest.starts_with("//")
        });
        url.starts_with("ssh://") || url.starts_with("git+ssh://") || scp
    };
    lex::parse(command).commands.iter().any(|simple| {
        let effective = argv::effective(simple);
        let words: Vec<&str> = effective.arguments.iter().map(|word| word.text.as_str()).collect();
        let at = words.iter().position(|word| {
            matches!(*word, "fetch" | "pull" | "push" | "clone" | "ls-remote") || *word == "submodule"
        });
        let Some(at) = at.filter(|_| effective.name() == Some("git")) else { return false };
        if words[at + 1..].iter().any(|word| over_ssh(word)) {
            return true;
        }
        let named = words[at + 1..].iter().any(|word| word.contains("://"));
        words[at] != "clone" && !named && remotes(dir).iter().any(|url| over_ssh(url))
    })
}

/// Addresses of remotes of the repository around a directory.
fn remotes(dir: &Path) -> Vec<String> {
    let config = dir.ancestors().map(|above| above.join(".git/config")).find(|path| path.is_file());
    let text = config.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
    let urls =
        text.lines().filter_map(|line| line.trim().strip_prefix("url")?.trim_start().strip_prefix('='));
    urls.map(|url| url.trim().to_owned()).collect()
}

/// Whether a program takes commands from its input, so that input is checked like a command.
pub(super) fn takes_commands(command: &str) -> bool {
    let script = lex::parse(command);
    script.commands.iter().any(|simple| {
        let effective = argv::effective(simple);
        let Some(name) = effective.name() else { return false };
        const TAKERS: [&str; 24] = [
            "sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "csh", "tcsh", "pwsh", "su", "ssh", "python",
            "node", "perl", "ruby", "irb", "php", "lua", "gdb", "psql", "mysql", "sqlite3", "docker",
        ];
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        TAKERS.contains(&name)
    })
}

struct Look<'a> {
    place: Surroundings<'a>,
    checked: Checked,
    scene: Scene,
}

impl Look<'_> {
    fn add(&mut self, id: &'static str, level: Grade, message: Text, text: Option<String>) {
        let level = if level == Grade::Ask && self.is_held(id) { Grade::Warn } else { level };
        let text = text.map(|text| text.chars().take(200).collect::<String>());
        let known =
            self.checked.findings.iter().any(|one| one.id == id && one.level == level && one.text == text);
        if !known && self.checked.findings.len() < MAX_FINDINGS {
            let words = message.get(self.place.lang).to_owned();
            self.checked.findings.push(Finding {
                id,
                level,
                message: words,
                said: Some(message),
                text,
                denied: None,
            });
        }
    }

    /// A boundary of level full refuses the harm of these by itself, so nobody is asked (working-day §1.4).
    fn is_held(&self, id: &str) -> bool {
        const HELD: [&str; 5] =
            ["sudo", "write_outside", "recursive_mode", "kill_many", "overwrite_device_file"];
        self.place.level == Level::Full
            && (HELD.contains(&id) || id == "pipe_to_shell" && !self.place.network)
    }

    fn script(&mut self, script: &Script, nesting: usize) {
        for (at, simple) in script.commands.iter().enumerate() {
            self.operators(simple);
            let effective = argv::effective(simple);
            let next = simple.piped_out.then(|| script.commands.get(at + 1)).flatten();
            self.simple(simple, &effective, next, nesting);
        }
    }

    fn operators(&mut self, simple: &Simple) {
        if simple.piped_out {
            self.add("pipe", Grade::Info, Text::fixed("uses a pipe", "使用管道"), None);
        }
        if simple.background {
            self.add(
                "background",
                Grade::Info,
                Text::fixed(
                    "starts something in the background; it ends with the server",
                    "在后台启动进程；它会随服务一起结束",
                ),
                None,
            );
        }
        if simple.redirects.iter().any(|redirect| !redirect.target.text.is_empty()) {
            self.add(
                "redirect",
                Grade::Info,
                Text::fixed("redirects input or output", "重定向输入或输出"),
                None,
            );
        }
        let words = simple.words.iter().chain(&simple.assignments);
        let targets = simple.redirects.iter().map(|redirect| &redirect.target);
        if let Some(word) = words.chain(targets).find(|word| word.expands) {
            let text = (!word.text.is_empty()).then(|| word.text.clone());
            self.add(
                "expansion",
                Grade::Warn,
                Text::fixed("holds an expansion that is only known when it runs", "包含运行时才能确定的展开"),
                text,
            );
        }
    }

    fn simple(&mut self, simple: &Simple, effective: &Effective<'_>, next: Option<&Simple>, nesting: usize) {
        self.redirects(simple);
        if effective.sudo {
            self.add(
                "sudo",
                Grade::Ask,
                if self.place.level > Level::None {
                    Text::fixed(
                        "wants more rights; inside the sandbox it cannot get them",
                        "请求更高权限；在沙箱内无法获得",
                    )
                } else {
                    Text::fixed("wants more rights", "请求更高权限")
                },
                effective.name().map(str::to_owned),
            );
        }
        let Some(name) = effective.name().map(str::to_owned) else { return };
        self.paths(&name, effective);
        self.rules(&name, effective, simple, next);
        self.inner(&name, effective, simple, nesting);
        self.scene.after(&name, effective);
    }

    /// Commands that are given to a shell as text are commands.
    fn inner(&mut self, name: &str, effective: &Effective<'_>, simple: &Simple, nesting: usize) {
        if nesting >= MAX_NESTING {
            return;
        }
        let shell = rules::is_shell(name);
        let mut texts: Vec<String> = Vec::new();
        if shell {
            let mut words = effective.arguments.iter().skip_while(|word| {
                !(word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('c'))
            });
            if words.next().is_some() {
                texts.extend(words.find(|word| !word.text.starts_with('-')).map(|word| word.text.clone()));
            }
            texts.extend(simple.here.clone());
        }
        if name == "eval" || name == "source" || name == "." {
            let all: Vec<&str> = effective.arguments.iter().map(|word| word.text.as_str()).collect();
            texts.push(all.join(" "));
        }
        for text in texts {
            self.script(&lex::parse(&text), nesting + 1);
        }
    }

    fn redirects(&mut self, simple: &Simple) {
        for redirect in simple.redirects.iter().filter(|redirect| redirect.writes) {
            let target = &redirect.target;
            if path::is_block_device(&target.text) {
                self.add(
                    "device_write",
                    Grade::Block,
                    Text::fixed("writes to a block device", "写入块设备"),
                    Some(target.text.clone()),
                );
            } else if path::is_device(&target.text) {
                self.add(
                    "overwrite_device_file",
                    Grade::Ask,
                    Text::fixed("writes to a device file", "写入设备文件"),
                    Some(target.text.clone()),
                );
            } else if self.scene.is_outside(target) {
                self.write_outside(&target.text);
            } else if !target.text.is_empty() {
                self.checked.named.extend(self.scene.inside(&target.text));
            }
        }
        for redirect in simple.redirects.iter().filter(|redirect| !redirect.writes) {
            if self.scene.is_outside(&redirect.target) {
                self.outside(&redirect.target.text);
            }
        }
    }

    fn outside(&mut self, text: &str) {
        self.add(
            "outside_path",
            Grade::Warn,
            Text::fixed("names a path outside the root", "涉及根目录之外的路径"),
            Some(text.to_owned()),
        );
    }

    fn write_outside(&mut self, text: &str) {
        self.add(
            "write_outside",
            Grade::Ask,
            Text::fixed("would change something outside the root", "将更改根目录之外的内容"),
            Some(text.to_owned()),
        );
    }

    /// Paths among the arguments.
    fn paths(&mut self, name: &str, effective: &Effective<'_>) {
        let written = rules::written_paths(name, effective);
        for text in &written {
            if self.scene.is_outside_text(text) {
                self.write_outside(text);
            }
        }
        if name == "cd" && effective.arguments.iter().all(|word| word.text.starts_with('-')) {
            self.outside("cd");
        }
        let skip = usize::from(rules::first_is_pattern(name));
        let mut plain = 0;
        for word in &effective.arguments {
            if !word.text.starts_with('-') {
                plain += 1;
                if plain <= skip {
                    continue;
                }
            }
            let Some(candidate) = path::candidate(&word.text) else { continue };
            if written.iter().any(|text| text == candidate) {
                continue;
            }
            if self.scene.is_outside_text(candidate) {
                self.outside(candidate);
            } else if let Some(inside) = self.scene.inside(candidate) {
                self.checked.named.push(inside);
            }
        }
        // The program itself: a system binary is never a finding, one elsewhere outside the root is.
        if let Some(program) = effective.program
            && program.text.contains('/')
            && !path::is_system_program(&program.text)
            && self.scene.is_outside(program)
        {
            self.outside(&program.text);
        }
    }
}

/// `:(){ :|:& };:` under any name and with any blanks.
fn fork_bomb(text: &str) -> bool {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut from = 0;
    while let Some(at) = compact[from..].find("(){").map(|at| at + from) {
        let name: String = compact[..at].chars().rev().take_while(|c| !";&|{}()".contains(*c)).collect();
        let name: String = name.chars().rev().collect();
        let name = name.strip_prefix("function").filter(|rest| !rest.is_empty()).unwrap_or(&name);
        let body = &compact[at + 3..];
        let body = &body[..body.find('}').unwrap_or(body.len())];
        if !name.is_empty() && body.contains(&format!("{name}|{name}")) && body.contains('&') {
            return true;
        }
        from = at + 3;
    }
    false
}

#[cfg(test)]
mod tests;
