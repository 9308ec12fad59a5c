//! Checking a plugin's modules with Node (devkit §2.1): they are parsed, nothing is run.

use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use chatos_child::NodeInfo;
use chatos_manifest::{Problem, ProblemCode, Source, Text};

use crate::imports::{ModuleRole, ModuleToCheck, modules_of, problem_at, softened};
use crate::load::LoadedPlugin;

/// Parsing a bundle of some megabytes takes well under a second; a hanging Node is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many Nodes look for mistakes at the same time: a package may have hundreds of broken modules.
const AT_ONCE: usize = 4;

/// What one Node does with all modules whose kind is known: its parser reads each, nothing of them is run. The answer
/// is a list of whether each can be read.
const PARSE: &str = "const vm = require('node:vm'), fs = require('node:fs');
const read = process.argv.slice(1).map((path) => {
  try { return new vm.SourceTextModule(fs.readFileSync(path, 'utf8'), { identifier: path }) && true; }
  catch { return false; }
});
process.stdout.write(JSON.stringify(read));";

/// Problems of modules that do not parse, or one warning when there is no Node to ask.
pub async fn check_modules(node: Option<&NodeInfo>, plugin: &LoadedPlugin) -> Vec<Problem> {
    let modules = modules_of(plugin);
    if modules.is_empty() {
        return Vec::new();
    }
    let Some(node) = node.filter(|node| node.is_new_enough()) else {
        let message = Text::new(
            "Modules were not checked: there is no Node 20 or newer",
            "未检查模块：没有 Node 20 或更新版本",
        );
        return vec![Problem::new(ProblemCode::NodeUnavailable, "", message).source(Source::Entry)];
    };
    // One start of Node for all that are well, which is the usual case; it says where a mistake is only when asked
    // about one file.
    let (known, mut doubtful): (Vec<_>, Vec<_>) = modules.into_iter().partition(is_module);
    let well = parse(node, &known).await;
    doubtful.extend(known.into_iter().zip(well).filter(|(_, well)| !well).map(|(module, _)| module));
    let mut problems = Vec::new();
    for some in doubtful.chunks(AT_ONCE) {
        let mut looking = tokio::task::JoinSet::new();
        for (at, module) in some.iter().cloned().enumerate() {
            let node = node.clone();
            looking.spawn(async move { (at, check(&node, &module).await) });
        }
        let mut looked = looking.join_all().await;
        looked.sort_by_key(|(at, _)| *at);
        problems.extend(
            looked.into_iter().filter_map(|(at, error)| Some(problem_of(plugin, &some[at], &error?))),
        );
    }
    problems
}

/// The same as warnings, for who installs a plugin; without Node nothing is said, because the plugin says it itself.
pub async fn module_warnings(node: Option<&NodeInfo>, plugin: &LoadedPlugin) -> Vec<Problem> {
    let found = if node.is_some() { check_modules(node, plugin).await } else { Vec::new() };
    found.into_iter().map(softened).collect()
}

fn problem_of(plugin: &LoadedPlugin, module: &ModuleToCheck, error: &str) -> Problem {
    let label = module.label;
    let message = Text::new(
        format!("{label} is not a valid module: {error}"),
        format!("{label} 不是有效的模块：{error}"),
    );
    problem_at(plugin, module, ProblemCode::ModuleSyntax, message)
}

/// Browsers load every page as a module, whatever it is called; what another backend is, Node decides by package.json.
fn is_module(module: &ModuleToCheck) -> bool {
    module.role == ModuleRole::Page || module.path.extension().is_some_and(|ending| ending == "mjs")
}

/// Whether each of these modules can be read; without an answer of Node none is said to be.
async fn parse(node: &NodeInfo, modules: &[ModuleToCheck]) -> Vec<bool> {
    let mut well = Vec::new();
    if !modules.is_empty() {
        let mut command = command(node);
        // Gives `vm` the parser of modules.
        command.args(["--experimental-vm-modules", "--no-warnings", "-e", PARSE]);
        command.args(modules.iter().map(|module| &module.path));
        if let Ok(output) = output_of(command).await {
            well = serde_json::from_slice(&output.stdout).unwrap_or_default();
        }
    }
    well.resize(modules.len(), false);
    well
}

/// What Node has to say about a module, or nothing.
async fn check(node: &NodeInfo, module: &ModuleToCheck) -> Option<String> {
    match module.role {
        // Node decides by extension and package.json whether a file is a module; the browser does not.
        // A copy with the right extension is checked.
        ModuleRole::Page => {
            let bytes = std::fs::read(&module.path).ok()?;
            let mut copy = tempfile::Builder::new().prefix("chatos-check-").suffix(".mjs").tempfile().ok()?;
            copy.write_all(&bytes).ok()?;
            run(node, copy.path()).await
        }
        ModuleRole::Backend | ModuleRole::Server => run(node, &module.path).await,
    }
}

async fn run(node: &NodeInfo, path: &Path) -> Option<String> {
    let mut command = command(node);
    command.arg("--check").arg(path);
    match output_of(command).await {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(reason(&String::from_utf8_lossy(&output.stderr), path)),
        Err(error) => Some(error),
    }
}

#[expect(clippy::disallowed_methods, reason = "parses files with Node; the child is owned and reaped below")]
fn command(node: &NodeInfo) -> tokio::process::Command {
    let mut command = tokio::process::Command::from(std::process::Command::new(&node.path));
    // Options in the environment could load code.
    command.env_remove("NODE_OPTIONS").stdin(Stdio::null()).kill_on_drop(true);
    command
}

async fn output_of(mut command: tokio::process::Command) -> Result<Output, String> {
    match tokio::time::timeout(PATIENCE, command.output()).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(format!("Node cannot be started: {error}")),
        Err(_) => Err("Node did not answer in time".to_owned()),
    }
}

/// `line 3: SyntaxError: …` from Node's report.
fn reason(report: &str, path: &Path) -> String {
    let prefix = format!("{}:", path.display());
    let line = report.lines().find_map(|line| {
        let rest = line.strip_prefix("file://").unwrap_or(line).strip_prefix(&prefix)?;
        rest.split(':').next()?.parse::<u32>().ok()
    });
    let error = report.lines().find(|line| line.contains("Error:")).unwrap_or("it cannot be parsed").trim();
    match line {
        Some(line) => format!("line {line}: {error}"),
        None => error.to_owned(),
    }
}
