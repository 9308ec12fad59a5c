//! `chatos doctor`: every finding with what to do; also when the state cannot be opened at all.

use std::process::ExitCode;

use chatos_host::{Environment, Fault, failed_to_open, now_iso};
use hyper::Method;
use serde_json::{Value, json};

use crate::args::{Doctor, Global};
use crate::client::{Api, block_on};
use crate::output::{Output, Paint, pad, visible};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Doctor,
) -> Result<ExitCode, Fault> {
    let report = match Api::connect_carefully(global, environment) {
        Ok(api) => block_on(async {
            if options.fix {
                api.call(Method::POST, "/api/v1/doctor/fix", Some(&json!({})), output.lang).await?;
            }
            api.get(&format!("/api/v1/doctor?deep={}", options.deep), output.lang).await
        })?,
        // What stops the host is the doctor's first finding, not the doctor's failure.
        Err(fault) => {
            let finding = failed_to_open(&fault);
            json!({ "ok": false, "checkedAt": now_iso(), "findings": [{
                "code": finding.code, "severity": finding.severity.as_str(),
                "title": finding.title.get(output.lang), "message": finding.message.get(output.lang),
                "path": finding.path, "action": finding.action.map(|text| text.get(output.lang).to_owned()),
                "fixable": false,
            }] })
        }
    };
    let ok = report["ok"].as_bool().unwrap_or_default();
    if output.json {
        output.json_line(&report);
    } else {
        print(output, &report);
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn print(output: &Output, report: &Value) {
    for finding in report["findings"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let text = |name: &str| visible(finding[name].as_str().unwrap_or_default());
        let (mark, paint) = match text("severity").as_str() {
            "error" => ("✗", Paint::Bad),
            "warning" => ("!", Paint::Warn),
            "info" => ("i", Paint::Dim),
            _ => ("✓", Paint::Good),
        };
        let title = pad(&text("title"), 18);
        output.line(&format!("{} {title} {}", output.paint(paint, mark), text("message")));
        if let Some(path) = finding["path"].as_str().filter(|_| mark != "✓") {
            output.line(&format!("    {}", output.paint(Paint::Dim, &visible(path))));
        }
        if let Some(action) = finding["action"].as_str() {
            output.line(&format!("    → {}", visible(action)));
        }
    }
}
