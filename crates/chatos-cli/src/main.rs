//! The `chatos` command: parses what a person typed, calls the host or its API, prints the answer.
//!
//! Only this crate and `chatos-terminal` print and exit. Nothing heavy happens before the command is known, so that
//! `chatos --version` and small commands start in a few milliseconds.

mod args;
mod command;

use std::process::ExitCode;

use chatos_host::{LAUNCH_COMMAND, WARDEN_COMMAND};
use chatos_shell as shell;

use crate::args::{Cli, Command, Known, Servers};
use chatos_terminal::output::{Output, plain_error, usage};

fn main() -> ExitCode {
    // Before anything is opened or started: descriptors that were left open for us are for nobody else.
    chatos_child::keep_streams_only();
    // Processes around other people's programs are this program again; they are nobody's command line.
    if let Some(code) = inner_command() {
        return code;
    }
    let environment = chatos_paths::Environment::of_process();
    let cli = match Cli::read() {
        Ok(cli) => cli,
        Err(error) => {
            let chinese = Cli::in_chinese(&environment, &error);
            return usage(&error, chinese.as_deref());
        }
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
        Command::Dev(options) => command::dev::run(&cli.global, environment, &output, options),
        Command::Prompts(action) => chatos_terminal::prompts::run(&cli.global, environment, &output, action),
        Command::Tasks(action) => command::tasks::run(&cli.global, environment, &output, action),
        Command::Changes(action) => command::changes::run(&cli.global, environment, &output, action),
        Command::Journal(action) => command::journal::run(&cli.global, environment, &output, action),
        Command::Chat(options) => chatos_terminal::chat::run(&cli.global, environment, &output, &options),
        Command::Chats(action) => chatos_terminal::chats::run(&cli.global, environment, &output, action),
        Command::Runs(action) => command::runs::run(&cli.global, environment, &output, action),
        Command::Trace(action) => command::runs::trace(&cli.global, environment, &output, &action),
        Command::Usage(options) => command::runs::usage(&cli.global, environment, &output, &options),
        Command::Agent(action) => command::agents::run_agent(&cli.global, environment, &output, *action),
        Command::Instructions(wish) => command::instructions::run(&cli.global, environment, &output, &wish),
        Command::Grant(wish) => command::grant::run(&cli.global, environment, &output, wish),
        Command::Land(action) => command::agents::run_land(&cli.global, environment, &output, action),
        Command::Models(action) => command::models::run(&cli.global, environment, &output, action),
        Command::Backup(options) => command::backup::backup(&cli.global, environment, &output, &options),
        Command::Restore(options) => command::backup::bring_back(&cli.global, &environment, &output, options),
        Command::Reach(action) => command::reach::run(&cli.global, environment, &output, action),
        Command::Rules(action) => command::rules::run(&cli.global, environment, &output, action),
        Command::Browsers(action) => command::browsers::run(&cli.global, environment, &output, action),
        Command::Access(action) => command::access::run(&cli.global, environment, &output, action),
        Command::Clients(action) => command::clients::run(&cli.global, environment, &output, action),
        Command::Secrets(action) => command::secrets::run(&cli.global, environment, &output, action),
        Command::State(action) => command::state::run(&cli.global, environment, &output, action),
        Command::Tools(action) => command::tools::run(&cli.global, environment, &output, action),
        Command::Mcp(mut options) => match options.known.take() {
            Some(Known::Servers { action }) => {
                let action = action.unwrap_or(Servers::List);
                command::servers::run(&cli.global, environment, &output, action)
            }
            None => command::mcp::run(&cli.global, environment, &output, &options),
        },
        Command::Gateway(options) => command::mcp::gateway(&cli.global, environment, &output, &options),
        Command::Acp(options) => command::acp::run(&cli.global, environment, &output, &options),
        Command::Hook(options) => command::hook::run(&cli.global, environment, &output, &options),
        Command::Import(action) => command::servers::import(&cli.global, environment, &output, action),
        Command::Version => command::install::version(&cli.global, &environment, &output),
        Command::Upgrade(options) => command::install::upgrade(&cli.global, &environment, &output, &options),
        Command::Service(action) => command::install::service(&cli.global, &environment, &output, &action),
        Command::Completions { shell } => Ok(command::completions::run(shell, &output)),
    };
    match result {
        Ok(code) => code,
        Err(fault) => output.fault(&fault),
    }
}

/// What this program does for itself when it is started with one of its own words.
fn inner_command() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let word = words.next()?;
    if word == shell::SUPERVISOR_COMMAND {
        shell::supervise();
        return Some(ExitCode::SUCCESS);
    }
    if word == LAUNCH_COMMAND {
        let error = chatos_child::exec(words);
        plain_error(&format!("chatos: {error}"));
        return Some(ExitCode::from(127));
    }
    if word == chatos_documents::EXTRACT_COMMAND {
        return Some(chatos_documents::serve(words, shell::seal, command::extract::members));
    }
    if word == WARDEN_COMMAND {
        let watched = chatos_child::watch(std::io::stdin().lock());
        return Some(if watched.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    None
}
