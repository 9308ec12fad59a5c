//! What a command could touch and why, and whether a person would be asked, before anything runs (working-day §1.6).
//! Decides nothing itself: the boundary and the gate are those of a call.

use std::path::Path;

use chatos_layer::ToolSettings;
use chatos_tool::{Fault, Lang, Text};
use chatos_wire::access::{
    AccessDecision, AccessExplained, AccessFinding, AccessGrant, AccessKind, AccessReason, AccessView,
};

use crate::check::{self, Surroundings};
use crate::gate::{self, Policy, Request, Terms};
use crate::run::SSH_REMOTE;
use crate::sandbox::{self, Kernel, Level, Places, Programs, Why};
use crate::server::{ShellHome, temp_in};

/// What was found out.
pub struct Explained {
    pub view: AccessExplained,
    /// Somebody would be asked, and a rule of the person may answer it.
    pub rules_may_answer: bool,
}

/// Explains a command of a project. Blocks.
pub fn explain(
    home: &ShellHome,
    settings: &ToolSettings,
    root: &Path,
    command: &str,
    lang: Lang,
) -> Result<Explained, Fault> {
    let root = chatos_access::real(root);
    let variable = |name: &str| home.variables.get(name).map(String::as_str);
    let mut open = match home.store.get() {
        Ok(Some(store)) => chatos_access::list(&store, Some(&root))?,
        _ => Vec::new(),
    };
    open.retain(|one| {
        one.kind == AccessKind::Host || chatos_access::unopenable(Path::new(&one.value), variable).is_none()
    });
    let mut view = AccessExplained {
        command: command.to_owned(),
        root: root.display().to_string(),
        mode: settings.shell.mode.as_str().to_owned(),
        level: Level::None.as_str().to_owned(),
        network: "off".to_owned(),
        decision: AccessDecision::Deny,
        why: Vec::new(),
        findings: Vec::new(),
        grants: Vec::new(),
        closed: Vec::new(),
        rules: None,
    };
    let terms = match gate::terms(&settings.shell, || home.kernel.unwrap_or_else(Kernel::here), false) {
        Ok(terms) => terms,
        Err(refused) => {
            view.why.push(refused.message.get(lang).to_owned());
            return Ok(Explained { view, rules_may_answer: false });
        }
    };
    let confined = terms.level > Level::None;
    view.level = terms.level.as_str().to_owned();
    let person = variable("HOME").map(Path::new);
    let place = Surroundings {
        root: &root,
        cwd: &root,
        home: person,
        level: terms.level,
        network: terms.network,
        lang,
    };
    let checked = check::check(command, place);
    let seen = checked.findings.iter().map(|finding| AccessFinding {
        id: finding.id.to_owned(),
        level: finding.level.as_str().to_owned(),
        message: finding.message.clone(),
    });
    view.findings = seen.collect();
    if confined {
        boundary(home, settings, &root, terms, &open, lang, &mut view);
    }
    view.network = match (terms.network, view.grants.iter().any(|grant| grant.kind == AccessKind::Host)) {
        (true, _) => "on",
        (false, true) => "hosts",
        (false, false) => "off",
    }
    .to_owned();
    let request = Request { checked: &checked, network: false, variables: &[], shell: None, note: None };
    let policy = Policy { settings, ask: false };
    if let Err(refused) = gate::question(policy, request, terms) {
        view.why.push(refused.message.get(lang).to_owned());
        return Ok(Explained { view, rules_may_answer: false });
    }
    let mut why = gate::reasons(policy, request, terms);
    // What a rule answers is confined in full and harmless in itself (inbox §4.2).
    let rules_may_answer =
        !why.is_empty() && terms.level == Level::Full && !terms.network && checked.serious().is_empty();
    let outside = confined && check::speaks_ssh(command, &root);
    why.extend(outside.then_some(SSH_REMOTE));
    view.decision = if why.is_empty() { AccessDecision::Allow } else { AccessDecision::Ask };
    view.why.extend(why.iter().map(|why| why.get(lang).to_owned()));
    Ok(Explained { view, rules_may_answer: rules_may_answer && !outside })
}

/// What is open to it, each with its reason, and what is closed whatever is open around it.
fn boundary(
    home: &ShellHome,
    settings: &ToolSettings,
    root: &Path,
    terms: Terms,
    open: &[AccessView],
    lang: Lang,
    view: &mut AccessExplained,
) {
    let mut shell = settings.shell.clone();
    for one in open {
        match one.kind {
            AccessKind::Read => shell.read_paths.push(one.value.clone().into()),
            AccessKind::Write => shell.write_paths.push(one.value.clone().into()),
            AccessKind::Host => {}
        }
    }
    let programs = Programs::default();
    let toolchains = programs.toolchains(&shell, &home.variables, root);
    let protected: Vec<_> = home.protected.iter().chain(&home.state_dir).cloned().collect();
    // Each command gets another one.
    let temp = temp_in(&home.variables, &protected).with_file_name("chatos-shell-*");
    let places =
        Places { root, temp: &temp, variables: &home.variables, protected: &protected, programs: &programs };
    let grants = sandbox::grants(&shell, places, toolchains.as_deref());
    let mut tell = |kind: AccessKind, path: &Path, why: Why| {
        let by = (why == Why::Named)
            .then(|| {
                open.iter().find(|one| one.kind == kind && chatos_access::real(Path::new(&one.value)) == path)
            })
            .flatten();
        let (reason, text) = match by {
            Some(_) => (AccessReason::Granted, OPENED),
            None => words(why, kind),
        };
        view.grants.push(AccessGrant {
            kind,
            value: path.display().to_string(),
            reason,
            why: text.get(lang).to_owned(),
            id: by.map(|one| one.id.clone()),
        });
    };
    for (path, why) in &grants.write {
        tell(AccessKind::Write, path, *why);
    }
    for (path, why) in &grants.read {
        tell(AccessKind::Read, path, *why);
    }
    for path in &grants.opened {
        tell(AccessKind::Read, path, Why::Named);
    }
    let hosts = open.iter().filter(|one| one.kind == AccessKind::Host);
    if !terms.network && terms.kernel.is_some_and(Kernel::holds_hosts) {
        view.grants.extend(hosts.map(|one| AccessGrant {
            kind: AccessKind::Host,
            value: one.value.clone(),
            reason: AccessReason::Granted,
            why: OPENED.get(lang).to_owned(),
            id: Some(one.id.clone()),
        }));
    }
    let closed = grants.never.iter().chain(&grants.closed);
    view.closed = closed.map(|path| path.display().to_string()).collect();
    // The state directory is protected as a place of ChatOS and as that of the server.
    let mut known = std::collections::HashSet::new();
    view.closed.retain(|path| known.insert(path.clone()));
}

const OPENED: Text = Text::fixed("you opened it to this project", "你已向此项目开放");

fn words(why: Why, kind: AccessKind) -> (AccessReason, Text) {
    match why {
        Why::Root => (AccessReason::Project, Text::fixed("the project", "项目文件夹")),
        Why::Temp => {
            (AccessReason::Temporary, Text::fixed("a temporary folder of its own", "命令自己的临时文件夹"))
        }
        Why::System => (AccessReason::System, Text::fixed("programs of the system", "系统程序")),
        Why::SearchPath => (AccessReason::SearchPath, Text::fixed("in PATH", "在 PATH 中")),
        Why::Toolchain(name) => {
            (AccessReason::Toolchain, Text::new(format!("toolchain: {name}"), format!("工具链：{name}")))
        }
        Why::Cache => {
            (AccessReason::Cache, Text::fixed("the private cache of this project", "此项目的私有缓存"))
        }
        Why::Relaxed => {
            (AccessReason::Relaxed, Text::fixed("shellSafetyMode is relaxed", "shellSafetyMode 为 relaxed"))
        }
        Why::Device => {
            (AccessReason::Device, Text::fixed("a device every program needs", "每个程序都需要的设备"))
        }
        Why::Named if kind == AccessKind::Write => {
            (AccessReason::Setting, Text::fixed("setting shellWritePaths", "设置 shellWritePaths"))
        }
        Why::Named => (AccessReason::Setting, Text::fixed("setting shellReadPaths", "设置 shellReadPaths")),
    }
}
