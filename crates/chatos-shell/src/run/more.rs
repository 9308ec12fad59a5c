//! What a command may use beyond its sandbox: what a person opened to its project, and what this call asks for
//! (working-day §1.6); and files that run later, which it must not change unseen (§1.8).

use std::path::{Path, PathBuf};

use chatos_access::{Access, Granted, Host, Later};
use chatos_layer::consent::{self, Matter};
use chatos_layer::{CallCx, NetworkUse, ShellSettings};
use chatos_tool::{DenyRule, Issue, IssueCode, Lang, Text, ToolError};
use chatos_wire::access::AccessKind;
use serde_json::{Value, json};

use super::{Finding, Grade, Looked, Prepared, Wanted};
use crate::command;
use crate::denied::{self, Denial, Opens, Refused};
use crate::gate::{self, Policy, Terms};
use crate::sandbox::{self, Level};
use crate::server::Shop;

/// Longest command that is asked about in a choice: all of it has to be read.
const SHOWN_COMMAND: usize = 4_000;

/// Why such a command is asked about as one outside at once (working-day §1.3).
pub(crate) const SSH_REMOTE: Text = Text::fixed(
    "Git over SSH needs your keys, which never enter the sandbox (ssh_remote)",
    "通过 SSH 使用 Git 需要你的密钥，而密钥不会进入沙箱（ssh_remote）",
);

/// What is asked for and not open yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Lacks {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
    hosts: Vec<Host>,
    /// All of it at once.
    outside: bool,
    /// A closed place is among it, which is opened to nobody.
    closed: bool,
    reason: String,
}

/// What a person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chosen {
    Once,
    Project,
    Outside,
}

impl Lacks {
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.write.is_empty() && self.hosts.is_empty() && !self.outside
    }

    /// `kind value` of everything.
    fn values(&self) -> impl Iterator<Item = (&'static str, String)> {
        let paths = |kind: &'static str, paths: &[PathBuf]| {
            paths.iter().map(|path| (kind, path.display().to_string())).collect::<Vec<_>>()
        };
        let hosts = self.hosts.iter().map(|host| ("host", host.to_string())).collect::<Vec<_>>();
        paths("read", &self.read).into_iter().chain(paths("write", &self.write)).chain(hosts)
    }

    fn facts(&self) -> Value {
        json!({
            "read": self.read, "write": self.write,
            "hosts": self.hosts.iter().map(Host::to_string).collect::<Vec<_>>(), "outside": self.outside || self.closed,
        })
    }

    fn answers(&self) -> Vec<(&'static str, Text)> {
        let mut all = Vec::new();
        if self.outside || self.closed {
            all.push(("outside", Text::fixed("Once, outside the sandbox", "在沙箱外运行一次")));
        } else {
            all.push(("once", Text::fixed("Only this time", "仅此一次")));
            all.push(("project", Text::fixed("Always in this project", "在此项目中始终允许")));
        }
        all.push((consent::NO, Text::fixed("No", "不允许")));
        all
    }
}

impl Shop {
    /// What is open to the commands of this project.
    pub(super) fn granted(&self, cx: &CallCx) -> Granted {
        let Some(root) = &cx.root else { return Granted::default() };
        let Ok(Some(store)) = self.store.get() else { return Granted::default() };
        let mut granted =
            chatos_access::granted(&store, &chatos_access::real(root.path())).unwrap_or_else(|error| {
                tracing::warn!(%error, "what is open to a project is not known");
                Granted::default()
            });
        // A closed place is opened by a setting that names it, never for a project; the whole home is not opened at all.
        let may = |path: &PathBuf| {
            chatos_access::unopenable(path, |name| self.variables.get(name).map(String::as_str)).is_none()
        };
        granted.read.retain(may);
        granted.write.retain(may);
        granted
    }

    /// What a call asks for and is not open.
    pub(super) fn lacks(
        &self,
        cx: &CallCx,
        wanted: &Wanted,
        dir: &Path,
        terms: Terms,
        granted: &Granted,
    ) -> Result<Lacks, ToolError> {
        let mut lacks = Lacks::default();
        let Some(kernel) = terms.kernel.filter(|_| terms.level > Level::None) else { return Ok(lacks) };
        let ssh = wanted.access.is_none() && crate::check::speaks_ssh(&wanted.command, dir);
        let remote =
            Access { outside: true, reason: SSH_REMOTE.get(cx.people).to_owned(), ..Access::default() };
        let Some(access) = wanted.access.as_ref().or(ssh.then_some(&remote)) else { return Ok(lacks) };
        if access.is_empty() {
            return Ok(lacks);
        }
        lacks.reason.clone_from(&access.reason);
        lacks.outside = access.outside;
        let toolchains = self.toolchains(cx, terms, granted);
        let policy = self.boundary(cx, terms, Path::new("/tmp/chatos-shell"), toolchains.as_deref(), granted);
        let Some(policy) = policy else { return Ok(Lacks::default()) };
        let home = sandbox::home_of(&self.variables);
        for (name, list) in [("read", &access.read), ("write", &access.write)] {
            for (index, value) in list.iter().enumerate() {
                let path = chatos_access::real(Path::new(value));
                if policy.never_opens(&path) {
                    return Err(refused(Text::new(
                        format!("`{value}` belongs to ChatOS itself and is opened to no command"),
                        format!("`{value}` 属于 ChatOS 本身，不对任何命令开放"),
                    )));
                }
                if home.as_ref().is_some_and(|home| home.starts_with(&path)) {
                    return Err(ToolError::invalid(vec![Issue::new(
                        format!("/access/{name}/{index}"),
                        IssueCode::Format,
                        Text::fixed(
                            "the whole home directory is not opened; name the file or directory that is needed",
                            "不能开放整个主目录；请写明所需的文件或目录",
                        ),
                    )]));
                }
                let (open, list) = match name {
                    "read" => (policy.may_read(&path), &mut lacks.read),
                    _ => (policy.may_write(&path), &mut lacks.write),
                };
                if open {
                    continue;
                }
                lacks.closed |=
                    chatos_access::is_closed(&path, |name| self.variables.get(name).map(String::as_str));
                // What is not there yet is made in a directory, which has to be open for it.
                let place =
                    if name == "write" { denied::narrowed(&path, home.as_deref()) } else { Some(path) };
                list.push(place.ok_or_else(|| {
                    ToolError::invalid(vec![Issue::new(
                        format!("/access/{name}/{index}"),
                        IssueCode::Format,
                        Text::fixed(
                            "it is not there yet, and the whole home directory is not opened to make it; ask for outside: true",
                            "它尚不存在，而不能为创建它开放整个主目录；请使用 outside: true",
                        ),
                    )])
                })?);
            }
        }
        if !terms.network {
            let open = |host: &Host| granted.hosts.contains(host);
            lacks.hosts = access.hosts.iter().filter_map(|text| Host::parse(text)).collect();
            lacks.hosts.retain(|host| !open(host));
        }
        if !lacks.hosts.is_empty() && cx.settings.shell.network == NetworkUse::Deny {
            return Err(refused(Text::fixed(
                "commands have no network here (shellNetwork is `deny`)",
                "此处的命令不能使用网络（shellNetwork 为 `deny`）",
            )));
        }
        if !lacks.hosts.is_empty() && !kernel.holds_hosts() {
            return Err(refused(Text::fixed(
                "this system cannot hold a command to single machines; call with network: true, a person is asked",
                "此系统无法将命令限制到单个主机；请以 network: true 调用，会询问用户",
            )));
        }
        if (lacks.outside || lacks.closed) && cx.trace.sub_agent_id.is_some() {
            return Err(refused(Text::fixed(
                "a subagent runs nothing outside the sandbox; let the main agent ask for it",
                "子智能体不能在沙箱外运行命令；请由主智能体提出",
            )));
        }
        if !lacks.is_empty() && wanted.command.chars().count() > SHOWN_COMMAND {
            return Err(ToolError::invalid(vec![Issue::new(
                "/command",
                IssueCode::Length,
                Text::new(
                    format!(
                        "with access a command has at most {SHOWN_COMMAND} characters, so that a person can read it; put the rest into a script"
                    ),
                    format!(
                        "使用 access 时命令最多 {SHOWN_COMMAND} 个字符，以便用户阅读；其余内容请写入脚本"
                    ),
                ),
            )]));
        }
        Ok(lacks)
    }

    /// The question about it.
    pub(super) fn access_matter(
        &self,
        cx: &CallCx,
        wanted: &Wanted,
        looked: &Looked,
    ) -> Result<Matter, ToolError> {
        let names: Vec<&str> = wanted.env.keys().map(String::as_str).collect();
        let request = Self::request(wanted, looked, &names);
        // What is refused to everybody is refused here as well; what is asked about anyway is said in the same question.
        let why = gate::question(Policy::of(cx), request, looked.terms)?;
        let lacks = &looked.lacks;
        let write = |lang: Lang| {
            let pick = |en: &'static str, zh: &'static str| if lang == Lang::En { en } else { zh };
            let mut lines = vec![pick("The command asks for:", "该命令请求：").to_owned()];
            for (kind, value) in lacks.values() {
                let verb = match kind {
                    "read" => pick("read", "读取"),
                    "write" => pick("write", "写入"),
                    _ => pick("reach", "访问主机"),
                };
                lines.push(format!("- {verb} `{value}`"));
            }
            if lacks.outside || lacks.closed {
                lines.push(format!(
                    "- {}",
                    pick(
                        "run once without the sandbox, with all your rights and the network",
                        "不使用沙箱运行一次，拥有你的全部权限和网络"
                    )
                ));
            }
            if !lacks.reason.trim().is_empty() {
                lines.push(format!("\n{}{}", pick("Reason given: ", "理由："), lacks.reason.trim()));
            }
            if let Some(why) = &why {
                lines.push(why.get(lang).to_owned());
            }
            let fence = if wanted.command.contains("```") { "~~~~" } else { "```" };
            lines.push(format!("\n{fence}\n{}\n{fence}", wanted.command));
            if looked.dir.rel != "." {
                lines.push(format!("{}{}", pick("In: ", "目录："), looked.dir.rel));
            }
            lines.join("\n")
        };
        let message = Text::new(write(Lang::En), write(Lang::Zh));
        let title = Text::fixed("Allow this command more?", "允许该命令更多权限？");
        let mut facts = self.facts(cx, wanted, looked, &names);
        if lacks.outside || lacks.closed {
            // What is asked about is the command without its boundary.
            (facts["sandbox"], facts["network"]) = (json!({ "level": Level::None.as_str() }), json!(true));
        }
        Ok(Matter::access(cx, &title, message, &lacks.answers(), facts, lacks.facts()))
    }

    /// Opens what a person chose: for this call, or for the project from now on.
    pub(super) fn open(
        &self,
        cx: &CallCx,
        chosen: Chosen,
        request_id: Option<&str>,
        lacks: &Lacks,
        granted: &mut Granted,
    ) {
        granted.read.extend(lacks.read.iter().cloned());
        granted.write.extend(lacks.write.iter().cloned());
        granted.hosts.extend(lacks.hosts.iter().cloned());
        let (Chosen::Project, Some(root)) = (chosen, &cx.root) else { return };
        let root = chatos_access::real(root.path());
        for (kind, value) in lacks.values() {
            let kind = kind.parse().unwrap_or(chatos_wire::access::AccessKind::Read);
            let kept = self.store.need().map_err(chatos_tool::Fault::from).and_then(|store| {
                chatos_access::allow(&store, &root, kind, &value, request_id.unwrap_or_default())
            });
            if let Err(fault) = kept {
                tracing::warn!(%fault, "what a person opened to a project is not kept");
            }
        }
    }

    /// The settings as this project has them.
    pub(super) fn settings(cx: &CallCx, granted: &Granted) -> ShellSettings {
        let mut settings = cx.settings.shell.clone();
        settings.read_paths.extend(granted.read.iter().cloned());
        settings.write_paths.extend(granted.write.iter().cloned());
        settings
    }
}

fn refused(message: Text) -> ToolError {
    ToolError::denied(DenyRule::ShellBlocked, message)
        .hint(Text::fixed("nothing was run; do without it", "没有运行任何内容；请不要使用它"))
}

/// Machines the proxy did not let a command reach.
pub(super) fn unreached(cx: &CallCx, prepared: &Prepared) -> Vec<Finding> {
    let Some(pass) = &prepared.pass else { return Vec::new() };
    let one = |refused: &chatos_access::Refused| {
        let name = Host::of(&refused.name, refused.port)
            .map_or_else(|| refused.name.clone(), |host| host.to_string());
        let text = if refused.address {
            Text::new(
                format!(
                    "`{name}` leads to an address of this machine or its network, which has to be named itself"
                ),
                format!("`{name}` 指向本机或内网地址，需直接写明该地址"),
            )
        } else {
            Text::new(
                format!(
                    "`{name}` is not among the machines this command may reach; if it is needed, call again with access: {{\"hosts\": [\"{name}\"], \"reason\": \"…\"}}; a person is asked"
                ),
                format!(
                    "`{name}` 不在该命令可访问的主机之列；如确有需要，请以 access: {{\"hosts\": [\"{name}\"], \"reason\": \"…\"}} 重新调用；会询问用户"
                ),
            )
        };
        Finding {
            id: "sandbox_denied",
            level: Grade::Warn,
            message: text.get(cx.lang).to_owned(),
            said: None,
            text: None,
            denied: Some(Denial {
                certain: true,
                access: Refused::Network,
                path: None,
                host: Some(refused.name.clone()),
                port: Some(refused.port),
                setting: Some("shellNetwork"),
                opens: (!refused.address).then(|| Opens::new(AccessKind::Host, name)),
            }),
        }
    };
    pass.refused().iter().map(one).collect()
}

/// Files that run later, as they are before a command.
pub(super) async fn before(shop: &Shop, cx: &CallCx, prepared: &Prepared) -> Option<Later> {
    // Who let a command run outside once let it do anything.
    if !prepared.checked.may_write || prepared.outside {
        return None;
    }
    let root = command::open_root(cx, &shop.protected).ok()?;
    chatos_blocking::run(move || Later::look(&root)).await.ok()
}

/// What of them a command changed is kept by a person's word, or put back.
pub(super) async fn after(shop: &Shop, cx: &CallCx, prepared: &mut Prepared, before: Later) {
    let Ok(root) = command::open_root(cx, &shop.protected) else { return };
    let named: Vec<PathBuf> = prepared.granted.write.clone();
    let base = chatos_access::real(root.path());
    let compared = chatos_blocking::run(move || {
        let changed = before.changed(&Later::look(&root));
        (before, changed)
    });
    let Ok((before, changed)) = compared.await else { return };
    // What a person opened for writing by name may be written.
    let meant = |path: &str| named.iter().any(|open| base.join(path).starts_with(open) && *open != base);
    let changed: Vec<_> = changed.into_iter().filter(|one| !meant(&one.path)).collect();
    if changed.is_empty() {
        return;
    }
    let list: Vec<String> = changed.iter().map(|one| format!("- {} ({})", one.path, one.change)).collect();
    let (list, command) = (list.join("\n"), &prepared.command);
    let message = Text::new(
        format!(
            "The command changed files that run later, outside its sandbox:\n{list}\n\nIt was:\n```\n{command}\n```"
        ),
        format!("该命令更改了以后会在沙箱外运行的文件：\n{list}\n\n命令：\n```\n{command}\n```"),
    );
    let title = Text::fixed("Keep files that run later?", "保留这些以后会运行的文件？");
    let options = [("keep", Text::fixed("Keep", "保留")), (consent::NO, Text::fixed("Put back", "恢复原样"))];
    let paths: Vec<&str> = changed.iter().map(|one| one.path.as_str()).collect();
    let matter =
        Matter::access(cx, &title, message, &options, json!({ "text": command }), json!({ "later": paths }));
    let keeps = consent::decide_after(cx, &matter).await.as_deref() == Some("keep");
    let paths = paths.join(", ");
    let text = if keeps {
        Text::new(
            format!("changed, and kept by the person: {paths}"),
            format!("已更改，用户选择保留：{paths}"),
        )
    } else {
        let Ok(root) = command::open_root(cx, &shop.protected) else { return };
        let left: Vec<&str> = changed
            .iter()
            .filter(|one| !before.put_back(&root, &one.path))
            .map(|one| one.path.as_str())
            .collect();
        if left.is_empty() {
            Text::new(
                format!(
                    "these files run later, so they were put back as they were: {paths}; if the change is needed, call again with access.write naming them; a person is asked"
                ),
                format!(
                    "这些文件以后会运行，因此已恢复原样：{paths}；如确有需要，请在 access.write 中写明它们后重新调用；会询问用户"
                ),
            )
        } else {
            let left = left.join(", ");
            Text::new(
                format!(
                    "these files run later and could not be put back; look at them before you go on: {left}"
                ),
                format!("这些文件以后会运行，且未能恢复；继续之前请检查：{left}"),
            )
        }
    };
    let level = if keeps { Grade::Info } else { Grade::Warn };
    let message = text.get(cx.lang).to_owned();
    prepared.checked.findings.push(Finding {
        id: "runs_later",
        level,
        message,
        said: None,
        text: None,
        denied: None,
    });
}
