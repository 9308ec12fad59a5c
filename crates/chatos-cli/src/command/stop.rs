//! `chatos stop`: asks the running host to stop and waits until it has.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use hyper::Method;
use serde_json::json;

use crate::args::Global;
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::Output;

const PATIENCE: Duration = Duration::from_secs(15);

pub(crate) fn run(global: &Global, environment: Environment, output: &Output) -> Result<ExitCode, Fault> {
    let Some(host) = Api::running(global, &environment)? else {
        // The wanted state is already there.
        if output.json {
            output.json_line(&json!({ "ok": true, "wasRunning": false }));
        } else {
            output.say(&Text::fixed("ChatOS is not running.", "ChatOS 没有运行。"));
        }
        return Ok(ExitCode::SUCCESS);
    };
    let pid = host.pid;
    block_on(Api::Remote(host).call(Method::POST, "/api/v1/stop", Some(&json!({})), output.lang))?;
    let started = Instant::now();
    while Api::running(global, &environment)?.is_some_and(|still| still.pid == pid) {
        if started.elapsed() > PATIENCE {
            return Err(Fault::new(
                ErrorCode::Timeout,
                Text::new(
                    format!("ChatOS was asked to stop but still runs (pid {pid})"),
                    format!("已请求停止，但 ChatOS 仍在运行（进程 {pid}）"),
                ),
            ));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    if output.json {
        output.json_line(&json!({ "ok": true, "wasRunning": true, "pid": pid }));
    } else {
        output.say(&Text::fixed("ChatOS has stopped.", "ChatOS 已停止。"));
    }
    Ok(ExitCode::SUCCESS)
}
