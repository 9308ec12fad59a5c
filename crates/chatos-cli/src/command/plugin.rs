//! `chatos plugin`: look at plugins, check and pack one's own, install, decide, remove (devkit §2).

mod backend;
mod change;
mod init;
mod levels;
mod local;
mod show;
mod trust;

pub(super) use trust::typed;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};

use crate::args::{Global, Plugin};
use crate::command::operation::size;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, usage_fault};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Plugin,
) -> Result<ExitCode, Fault> {
    let result = match action {
        // These look at files only and open no state.
        Plugin::Init(args) => init::run(&environment, output, args),
        Plugin::Validate { path, strict } => local::validate(global, &environment, output, &path, strict),
        Plugin::Pack { path, out } => local::pack(&environment, output, &path, out.as_deref()),
        action => {
            let current = environment.current_dir().to_owned();
            // Refused before anything is opened or changed.
            match &action {
                Plugin::Install { trust: true, .. } => trust::needs_terminal(output)?,
                Plugin::Install { grant, .. } if !grant.agents.is_empty() => {
                    return Ok(usage_fault(output, &grant_without_trust()));
                }
                _ => {}
            }
            let api = connect(global, &environment)?;
            block_on(async {
                survive_file_limits();
                let done = match action {
                    Plugin::List { problems, source } => show::list(&api, output, problems, source).await,
                    Plugin::Show { id } => show::one(&api, output, &id).await,
                    Plugin::Log { id, limit } => backend::log(&api, output, &id, limit).await,
                    Plugin::Restart { id } => backend::restart(&api, output, &id).await,
                    Plugin::Ai { app } => show::ai(&api, output, &app).await,
                    Plugin::Install { path, allow_problems, dry_run, trust, grant, .. } => {
                        let order = change::Order { path: current.join(path), allow_problems, dry_run };
                        change::install(&api, output, &order, trust.then_some(&grant)).await
                    }
                    Plugin::Remove { id, data, yes } => change::remove(&api, output, &id, data, yes).await,
                    Plugin::Trust { id, show: true, .. } => trust::show(&api, output, &id).await,
                    Plugin::Trust { id, digest, allow_inside_network: inside, allow, grant, .. } => {
                        trust::trust(&api, output, &id, digest.as_deref(), inside, allow, &grant).await
                    }
                    Plugin::Untrust { id } => trust::untrust(&api, output, &id).await,
                    Plugin::Init(_) | Plugin::Validate { .. } | Plugin::Pack { .. } => Ok(ExitCode::SUCCESS),
                };
                // Where a removed plugin was signed in is still being told.
                api.finish().await;
                done
            })
        }
    };
    match result {
        // devkit §1: a conflict is a refusal here.
        Err(fault) if fault.class == ErrorCode::Conflict => {
            output.fault(&fault);
            Ok(ExitCode::from(3))
        }
        other => other,
    }
}

fn grant_without_trust() -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::fixed("no agent can use a plugin that is not trusted", "智能体不能使用未被信任的插件"),
    )
    .hint(Text::fixed(
        "add --trust, or trust it later with --grant",
        "请加上 --trust，或之后在信任时使用 --grant",
    ))
}

/// How long an install waits for another one (plugins §8): without a running host the other one holds
/// the state as a whole.
const PATIENCE: Duration = Duration::from_secs(30);

fn connect(global: &Global, environment: &Environment) -> Result<Api, Fault> {
    let started = Instant::now();
    loop {
        match Api::connect(global, environment.clone()) {
            Err(fault) if fault.code == "host_locked" && started.elapsed() < PATIENCE => {}
            other => return other,
        }
    }
}

/// A file size limit of the shell (`ulimit -f`) ends a process by a signal, unless somebody listens to
/// that; then the write fails and is told like a full disk.
fn survive_file_limits() {
    use tokio::signal::unix::{SignalKind, signal};
    let number = rustix::process::Signal::XFSZ.as_raw();
    // Without it a limit that is hit ends the command; the next start repairs what was begun.
    signal(SignalKind::from_raw(number)).map(drop).ok();
}

/// Path of a plugin's resource.
fn path_of(id: &str, rest: &str) -> String {
    format!("/api/v1/plugins/{}{rest}", chatos_desk::encode(id))
}

/// The list at `value`, empty when it is none.
fn items(value: &serde_json::Value) -> &[serde_json::Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text at `value`, empty when it is none.
fn text(value: &serde_json::Value) -> &str {
    value.as_str().unwrap_or_default()
}
