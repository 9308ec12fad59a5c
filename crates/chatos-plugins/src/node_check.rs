//! Checking a plugin's modules with Node (devkit §2.1): they are parsed, nothing is run.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chatos_child::NodeInfo;
use chatos_manifest::{Problem, ProblemCode, Source, Text};

use crate::imports::{ModuleRole, ModuleToCheck};
use crate::validate::Validation;

/// Parsing a bundle of some megabytes takes well under a second; a hanging Node is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Problems of modules that do not parse, or one warning when there is no Node to ask.
pub async fn check_modules(node: Option<&NodeInfo>, validation: &Validation) -> Vec<Problem> {
    let modules = validation.modules();
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
    // All at the same time: most of each is the start of Node.
    let mut looking = tokio::task::JoinSet::new();
    for (at, module) in modules.iter().cloned().enumerate() {
        let node = node.clone();
        looking.spawn(async move { (at, check(&node, &module).await) });
    }
    let mut errors = vec![None; modules.len()];
    while let Some(looked) = looking.join_next().await {
        match looked {
            Ok((at, error)) => errors[at] = error,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }
    let found = modules.iter().zip(errors);
    found.filter_map(|(module, error)| Some(validation.module_problem(module, &error?))).collect()
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

#[expect(clippy::disallowed_methods, reason = "parses one file with Node; owns and reaps that child here")]
async fn run(node: &NodeInfo, path: &Path) -> Option<String> {
    let command = std::process::Command::new(&node.path);
    let child = tokio::process::Command::from(command)
        .arg("--check")
        .arg(path)
        // Options in the environment could load code.
        .env_remove("NODE_OPTIONS")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(PATIENCE, child).await {
        Ok(Ok(output)) if output.status.success() => None,
        Ok(Ok(output)) => Some(reason(&String::from_utf8_lossy(&output.stderr), path)),
        Ok(Err(error)) => Some(format!("Node cannot be started: {error}")),
        Err(_) => Some("Node did not answer in time".to_owned()),
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
