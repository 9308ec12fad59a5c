//! `chatos completions SHELL`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::Cli;
use chatos_terminal::output::Output;

pub(crate) fn run(shell: clap_complete::Shell, output: &Output) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "chatos", &mut script);
    output.line(String::from_utf8_lossy(&script).trim_end());
    ExitCode::SUCCESS
}
