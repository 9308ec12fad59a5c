//! `chatos audit verify`.

use std::process::ExitCode;

use chatos_paths::Environment;
use chatos_tool::{Fault, Text};

use crate::args::{Audit, Global};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::Output;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: &Audit,
) -> Result<ExitCode, Fault> {
    let Audit::Verify = action;
    let api = Api::connect(global, environment)?;
    let verdict = block_on(api.get_json("/api/v1/audit/verify", output.lang))?;
    let ok = verdict["ok"].as_bool().unwrap_or_default();
    let records = verdict["records"].as_u64().unwrap_or_default();
    if output.json {
        output.json_line(&verdict);
    } else if ok {
        output.say(&Text::new(format!("{records} records, unbroken"), format!("{records} 条记录，完整")));
    } else {
        let place = match (verdict["file"].as_str(), verdict["line"].as_u64()) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            _ => String::new(),
        };
        let reason = verdict["reason"].as_str().unwrap_or_default();
        output.line(&format!("{place}{reason}"));
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
