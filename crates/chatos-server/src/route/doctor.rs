//! The doctor over HTTP.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::routing::{get, post};
use chatos_host::{Finding, Lang, Severity, now_iso};
use chatos_wire::doctor::{DoctorFinding, DoctorReport};
use chatos_wire::status::Empty;
use serde::Deserialize;

use crate::api::{Body, Query, Routes, lang_of};
use crate::app::App;

#[derive(Debug, Deserialize)]
struct Depth {
    #[serde(default)]
    deep: bool,
}

pub(crate) fn add(routes: &mut Routes) {
    let query = &[("deep", "true: check the whole database")];
    routes.read::<DoctorReport>("/api/v1/doctor", "Look at everything ChatOS stands on", query, get(look));
    routes.write::<Empty, DoctorReport>(
        Method::POST,
        "/api/v1/doctor/fix",
        "Do the lossless repairs",
        200,
        post(fix),
    );
}

async fn look(State(app): State<App>, headers: HeaderMap, Query(depth): Query<Depth>) -> Json<DoctorReport> {
    let findings = app.host().doctor(depth.deep).await;
    Json(report(findings, lang_of(&headers, app.host().lang())))
}

async fn fix(State(app): State<App>, headers: HeaderMap, _body: Body<Empty>) -> Json<DoctorReport> {
    let findings = app.host().doctor_fix().await;
    Json(report(findings, lang_of(&headers, app.host().lang())))
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
