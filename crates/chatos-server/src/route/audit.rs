//! Checking the audit log.

use chatos_store::AuditVerdict;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::doctor::AuditCheck;

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/audit/verify", "Check the chain of audit records", verify);
}

async fn verify(app: App, _: Caller, (): ()) -> Result<AuditCheck, ApiError> {
    let host = app.host().clone();
    let verdict = chatos_blocking::run(move || host.audit_log().verify()).await;
    let fail = |text: String| Fault::new(ErrorCode::Unavailable, Text::same(text)).code("audit_unreadable");
    let verdict = verdict.map_err(|e| fail(e.to_string()))?.map_err(|e| fail(e.to_string()))?;
    Ok(match verdict {
        AuditVerdict::Whole { records } => {
            AuditCheck { ok: true, records, file: None, line: None, reason: None }
        }
        AuditVerdict::Broken { file, line, reason } => AuditCheck {
            ok: false,
            records: line.saturating_sub(1),
            file: Some(file.display().to_string()),
            line: Some(line),
            reason: Some(reason.to_owned()),
        },
        AuditVerdict::Shortened { found, expected } => AuditCheck {
            ok: false,
            records: found,
            file: None,
            line: None,
            reason: Some(format!("{expected} records were written")),
        },
    })
}
