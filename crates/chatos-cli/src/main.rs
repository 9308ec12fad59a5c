//! The `chatos` command: parses what a person typed, calls the host or its API, prints the answer.
//!
//! Only this crate prints and exits. Nothing heavy happens before the command is known, so that
//! `chatos --version` and small commands start in a few milliseconds.

mod args;
mod client;
mod command;
mod output;

use std::process::ExitCode;

use chatos_host::builtin_api::shell;
use clap::Parser;

use crate::args::{Cli, Command};
use crate::output::Output;

fn main() -> ExitCode {
    // The process that holds a shell command is this program again; it is nobody's command line.
    if std::env::args_os().nth(1).is_some_and(|name| name == shell::SUPERVISOR_COMMAND) {
        shell::supervise();
        return ExitCode::SUCCESS;
    }
    let environment = chatos_host::Environment::read();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return output::usage(&error),
    };
    let output = Output::new(&cli.global, &environment);
    let result = match cli.command.unwrap_or_else(Command::default_serve) {
        Command::Serve(options) => command::serve::run(&cli.global, environment, &output, options),
        Command::Status => command::status::run(&cli.global, environment, &output),
        Command::Stop => command::stop::run(&cli.global, environment, &output),
        Command::Open(options) => command::open::run(&cli.global, environment, &output, &options),
        Command::Doctor(options) => command::doctor::run(&cli.global, environment, &output, &options),
        Command::Settings(action) => command::settings::run(&cli.global, environment, &output, action),
        Command::Audit(action) => command::audit::run(&cli.global, environment, &output, &action),
        Command::Plugin(action) => command::plugin::run(&cli.global, environment, &output, action),
        Command::Prompts(action) => command::prompts::run(&cli.global, environment, &output, action),
        Command::Tasks(action) => command::tasks::run(&cli.global, environment, &output, action),
        Command::Journal(action) => command::journal::run(&cli.global, environment, &output, action),
        Command::Agent(action) => command::agents::run_agent(&cli.global, environment, &output, *action),
        Command::Land(action) => command::agents::run_land(&cli.global, environment, &output, action),
        Command::Models(action) => command::models::run(&cli.global, environment, &output, action),
        Command::Backup(options) => command::backup::backup(&cli.global, environment, &output, &options),
        Command::Restore(options) => command::backup::bring_back(&cli.global, &environment, &output, options),
        Command::Secrets(action) => command::secrets::run(&cli.global, environment, &output, action),
        Command::State(action) => command::state::run(&cli.global, environment, &output, action),
        Command::Tools(action) => command::tools::run(&cli.global, environment, &output, action),
        Command::Mcp(options) => command::mcp::run(&cli.global, environment, &output, &options),
        Command::Completions { shell } => Ok(command::completions::run(shell, &output)),
        Command::DumpOpenapi => output.json_pretty(&chatos_server::openapi_document()),
    };
    match result {
        Ok(code) => code,
        Err(fault) => output.fault(&fault),
    }
}
