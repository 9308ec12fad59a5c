//! The processes of a plugin: what they said, starting its backend again.

use std::process::ExitCode;

use chatos_tool::{Fault, Text};
use hyper::Method;
use serde_json::json;

use super::{items, path_of, text};
use chatos_desk::encode;
use chatos_terminal::client::Api;
use chatos_terminal::output::{Output, visible};

pub(super) async fn log(api: &Api, output: &Output, id: &str, limit: usize) -> Result<ExitCode, Fault> {
    let mut log = api.get_json(&path_of(id, &format!("/log?limit={limit}")), output.lang).await?;
    if output.json {
        log["command"] = json!("plugin.log");
        output.json_line(&log);
        return Ok(ExitCode::SUCCESS);
    }
    let lines = items(&log["lines"]);
    if lines.is_empty() {
        output.say(&Text::fixed("Nothing was said yet.", "还没有输出。"));
    }
    for line in lines {
        output.line(&visible(text(line)));
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn restart(api: &Api, output: &Output, id: &str) -> Result<ExitCode, Fault> {
    let path = format!("/api/v1/apps/{}/backend/restart", encode(id));
    let mut state = api.call(Method::POST, &path, Some(&json!({})), output.lang).await?;
    if output.json {
        state["command"] = json!("plugin.restart");
        output.json_line(&state);
        return Ok(ExitCode::SUCCESS);
    }
    let shown = visible(id);
    output.say(&Text::new(format!("The backend of {shown} runs."), format!("{shown} 的后端已运行。")));
    Ok(ExitCode::SUCCESS)
}
