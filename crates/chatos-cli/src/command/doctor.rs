//! `chatos doctor`: every finding with what to do; also when the state cannot be opened at all.

use std::process::ExitCode;

use chatos_host::failed_to_open;
use chatos_paths::Environment;
use chatos_store::now_iso;
use chatos_tool::Fault;
use chatos_wire::doctor::DoctorReport;
use hyper::Method;
use serde_json::json;

use crate::args::{Doctor, Global};
use chatos_terminal::client::{Answer, Api, block_on, typed};
use chatos_terminal::output::{Output, Paint, pad, visible};

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
            api.get_json(&format!("/api/v1/doctor?deep={}", options.deep), output.lang).await
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
    let report: Answer<DoctorReport> = typed(report)?;
    if output.json {
        output.json_line(&report.raw);
    } else {
        print(output, &report);
    }
    Ok(if report.ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn print(output: &Output, report: &DoctorReport) {
    for finding in &report.findings {
        let (mark, paint) = match finding.severity.as_str() {
            "error" => ("✗", Paint::Bad),
            "warning" => ("!", Paint::Warn),
            "info" => ("i", Paint::Dim),
            _ => ("✓", Paint::Good),
        };
        let title = pad(&visible(&finding.title), 18);
        output.line(&format!("{} {title} {}", output.paint(paint, mark), visible(&finding.message)));
        if let Some(path) = finding.path.as_deref().filter(|_| mark != "✓") {
            output.line(&format!("    {}", output.paint(Paint::Dim, &visible(path))));
        }
        if let Some(action) = &finding.action {
            output.line(&format!("    → {}", visible(action)));
        }
    }
}
