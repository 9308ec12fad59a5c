//! Starting other programs: the one place of this tool that does.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A command in `dir`, inheriting the environment, with nothing to read from.
#[expect(clippy::disallowed_methods, reason = "a build tool runs cargo, git and npm; this is its one door")]
pub(crate) fn command(program: &str, dir: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(dir).stdin(Stdio::null());
    command
}

/// The cargo that runs us, so that a `+toolchain` choice reaches the children too.
pub(crate) fn cargo(dir: &Path) -> Command {
    command(&env("CARGO").unwrap_or_else(|| String::from("cargo")), dir)
}

/// One environment variable; empty counts as absent.
#[expect(
    clippy::disallowed_methods,
    reason = "a build tool is configured by its environment, not by the host"
)]
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Runs to the end and returns standard output; a failure carries standard error.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command.output().with_context(|| format!("cannot start `{shown}`"))?;
    if !output.status.success() {
        bail!("`{shown}` failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed something that is not UTF-8"))
}

/// Whether a program can be started at all with these arguments.
pub(crate) fn works(program: &str, args: &[&str], dir: &Path) -> bool {
    let status = command(program, dir).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// The command line as a person would type it.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let args = command.get_args().map(|arg| arg.to_string_lossy().into_owned());
    std::iter::once(name).chain(args).collect::<Vec<_>>().join(" ")
}
