//! Texts of a project that go with messages: what there is, what a chat was sent, and the person's word about them. No
//! app and no model reaches these routes.

use std::path::PathBuf;

use chatos_store::SessionRow;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::instructions::{ConsentOrder, InstructionsQuery, InstructionsView};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Query};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get(
        "/api/v1/instructions",
        "Texts of a project that go with messages, and what becomes of each",
        show,
    );
    routes.put("/api/v1/instructions", "Whether a project's texts are used; what is there now", decide);
}

/// The folder that is meant: named, or where a chat works.
fn workspace(host: &chatos_host::Host, wanted: &InstructionsQuery) -> Result<PathBuf, Fault> {
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    if let Some(root) = given(&wanted.root) {
        let root = PathBuf::from(root);
        if root.is_absolute() {
            return Ok(root);
        }
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("/root: must be a whole path", "/root：必须是完整路径"),
        ));
    }
    let row = match given(&wanted.session) {
        Some(id) => host.store().session(&id)?.ok_or_else(|| {
            Fault::new(
                ErrorCode::NotFound,
                Text::new(format!("there is no chat `{id}`"), format!("没有会话 `{id}`")),
            )
        })?,
        None => SessionRow::default(),
    };
    let agent = match Some(row.agent_id.clone()).filter(|id| !id.is_empty()).or(given(&wanted.agent)) {
        Some(id) => host.agents().agent(&id)?,
        None => host.agents().first_agent()?,
    };
    Ok(host.apps().run_place(&row, &agent)?.dir)
}

async fn show(
    app: App,
    cx: Caller,
    Query(wanted): Query<InstructionsQuery>,
) -> Result<InstructionsView, ApiError> {
    blocking(app.host(), move |host| {
        let folder = workspace(host, &wanted)?;
        host.runs().instructions().view(&folder, wanted.session.as_deref(), cx.lang)
    })
    .await
}

async fn decide(app: App, cx: Caller, Body(order): Body<ConsentOrder>) -> Result<InstructionsView, ApiError> {
    blocking(app.host(), move |host| {
        let ConsentOrder { root, session, agent, consent } = order;
        let wanted = InstructionsQuery { root, session, agent };
        let folder = workspace(host, &wanted)?;
        host.runs().decide_instructions(&folder, consent, "person")?;
        host.runs().instructions().view(&folder, wanted.session.as_deref(), cx.lang)
    })
    .await
}
