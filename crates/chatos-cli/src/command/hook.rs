//! `chatos hook`: another agent's hook asks in the queue and waits; also puts that hook into the agent's settings.
//!
//! Programs go on by themselves when a hook ends in a way they do not know. Every way out of here is therefore an
//! answer in the program's words or the status 2, and "yes" is only ever said for an answer that was used.

mod manage;

use std::io::{Read, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Duration;

use chatos_desk::Beside;
use chatos_foreign::Program;
use chatos_foreign::hook::{Answer, Call, MAX_INPUT, Said};
use chatos_paths::Environment;
use chatos_tool::{Fault, Lang, Text};

use super::mcp::watch_signals;
use crate::args::{Global, Hook, HookProgram, OnFailure};
use chatos_terminal::output::Output;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Hook,
) -> Result<ExitCode, Fault> {
    if options.install || options.remove || options.status || options.print {
        return manage::run(global, &environment, output, options);
    }
    let program = program(options.program);
    let said = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut event = String::new();
        let answer = asked(global, environment, output.lang, options, &mut event);
        let answer = answer.unwrap_or_else(|why| failed(&why, options.on_failure, output.lang));
        match answer {
            Answer::Own(reason) if options.on_failure == OnFailure::Deny || event.is_empty() => {
                Said::refusal(&reason)
            }
            answer => answer.say(program, &event),
        }
    }));
    let said = said.unwrap_or_else(|_| Said::refusal("ChatOS failed; nothing was allowed"));
    if !said.stderr.is_empty() {
        // A program that closed it does not want to know.
        writeln!(std::io::stderr(), "{}", said.stderr).ok();
    }
    if !said.stdout.is_empty() && writeln!(std::io::stdout(), "{}", said.stdout).is_err() {
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::from(said.code))
}

pub(crate) fn program(program: HookProgram) -> Program {
    match program {
        HookProgram::Claude => Program::Claude,
        HookProgram::Codex => Program::Codex,
        HookProgram::Gemini => Program::Gemini,
        HookProgram::Opencode => Program::Opencode,
    }
}

/// Nobody could be asked.
fn failed(why: &Text, on_failure: OnFailure, lang: Lang) -> Answer {
    let why = why.get(lang);
    let reason = match lang {
        Lang::En => format!("ChatOS could not ask: {why}"),
        Lang::Zh => format!("ChatOS 无法询问：{why}"),
    };
    if on_failure == OnFailure::Deny { Answer::Deny(reason) } else { Answer::Own(reason) }
}

/// Reads the call, asks and waits. `event` is filled as soon as it is known.
fn asked(
    global: &Global,
    environment: Environment,
    lang: Lang,
    options: &Hook,
    event: &mut String,
) -> Result<Answer, Text> {
    let mut input = Vec::new();
    let limit = MAX_INPUT as u64 + 1;
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut input)
        .map_err(|error| Text::same(error.to_string()))?;
    let call = Call::read(program(options.program), &input).map_err(|unreadable| unreadable.0)?;
    event.clone_from(&call.event);
    if !call.is_asked(&options.only) {
        return Ok(Answer::None);
    }
    let beside = Beside::find(environment, global.state_dir.clone(), std::collections::BTreeMap::new())
        .map_err(|fault| fault.message)?;
    let Some(host) = beside.running() else {
        return Err(Text::fixed(
            "it is not running; start `chatos serve`",
            "它没有运行；请启动 `chatos serve`",
        ));
    };
    // The host asks for what it runs itself.
    if beside.is_run_by(host.pid) {
        return Ok(Answer::None);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Text::same(error.to_string()))?;
    let answer = runtime.block_on(async {
        let stop = watch_signals().map_err(|fault| fault.message)?;
        let agent = options.agent.as_deref();
        chatos_desk::ask_for_hook(&call, &beside, &stop, options.wait, agent, lang).await
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    beside.close();
    answer
}
