//! The doctor over HTTP.

use chatos_events::Finding;
use chatos_store::now_iso;
use chatos_tool::Lang;
use chatos_wire::Severity;
use chatos_wire::doctor::{DoctorFinding, DoctorQuery, DoctorReport};
use chatos_wire::status::Empty;

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::{Body, Query};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/doctor", "Look at everything ChatOS stands on", look);
    routes.post("/api/v1/doctor/fix", "Do the lossless repairs", fix);
}

async fn look(app: App, cx: Caller, Query(depth): Query<DoctorQuery>) -> Result<DoctorReport, ApiError> {
    let findings = app.host().doctor(depth.deep).await;
    Ok(report(findings, cx.lang))
}

async fn fix(app: App, cx: Caller, _: Body<Empty>) -> Result<DoctorReport, ApiError> {
    let findings = app.host().doctor_fix().await;
    Ok(report(findings, cx.lang))
}

fn report(findings: Vec<Finding>, lang: Lang) -> DoctorReport {
    DoctorReport {
        ok: findings.iter().all(|finding| finding.severity != Severity::Error),
        checked_at: now_iso(),
        findings: findings
            .into_iter()
            .map(|finding| DoctorFinding {
                code: finding.code,
                severity: finding.severity.as_str().to_owned(),
                title: finding.title.get(lang).to_owned(),
                message: finding.message.get(lang).to_owned(),
                path: finding.path.map(|path| path.display().to_string()),
                action: finding.action.map(|action| action.get(lang).to_owned()),
                fixable: finding.fixable,
            })
            .collect(),
    }
}
