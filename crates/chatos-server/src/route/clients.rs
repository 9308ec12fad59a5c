//! Programs that ask over a connection of their own: their sessions, and which of them may decide about their own calls
//! (inbox §1.5).

use std::time::Duration;

use chatos_inbox::AllowOrder;
use chatos_policy::Role;
use chatos_records::ToolLogFilter;
use chatos_wire::client::{
    AllowClient, ClientCall, ClientDetail, ClientList, ClientSeen, ClientUse, ClientView, ClientsForgotten,
    ForgetClient,
};
use chatos_wire::event::{ChangedName, HostEvent};
use chatos_wire::status::Empty;
use chatos_wire::tool::ToolsetView;

use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

/// Calls of one session that are shown.
const CALLS: usize = 20;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/clients", "Programs that ask over a connection of their own", list);
    routes.get(
        "/api/v1/clients/{id}",
        "A session of a program: what it may use, asked and called last",
        show,
    );
    routes.post("/api/v1/clients/seen", "A session was written down by its own process", seen);
    routes.post("/api/v1/clients/allow", "Let a program decide about its own calls", allow);
    routes.post("/api/v1/clients/forget", "Forget a program, or one of its sessions", forget);
}

async fn list(app: App, _: Caller, (): ()) -> Result<ClientList, ApiError> {
    let (items, sessions) = blocking(app.host(), |host| {
        Ok((host.inbox().client_grants()?, chatos_inbox::clients::sessions(host.store())?))
    })
    .await?;
    let items = items.into_iter().map(typed).collect::<Result<_, _>>()?;
    Ok(ClientList { items, sessions })
}

async fn show(app: App, cx: Caller, Path(id): Path<String>) -> Result<ClientDetail, ApiError> {
    let filter = ToolLogFilter { session_id: id.clone(), limit: CALLS * 2, ..ToolLogFilter::default() };
    let host = app.host().clone();
    let (session, questions, calls) = blocking(app.host(), move |_| {
        let (session, questions) = chatos_inbox::clients::session(host.store(), &id)?;
        Ok((session, questions, host.tools().log(&filter)?))
    })
    .await?;
    let uses = match &session.agent {
        // An agent that is gone gives nothing.
        Some(agent) => {
            let listed = app.host().tools_of_agent(agent, Role::Main, cx.lang, Some(Duration::ZERO)).await;
            listed.map(|(tools, _)| uses(&tools)).unwrap_or_default()
        }
        None => Vec::new(),
    };
    let text = |record: &serde_json::Value, key: &str| record[key].as_str().unwrap_or_default().to_owned();
    // How each ended; that it began is the same call once more.
    let ended = calls.items.iter().filter(|record| record["type"] != "tool_call").take(CALLS);
    let calls = ended.map(|record| ClientCall {
        at: text(record, "ts"),
        server: text(record, "server"),
        tool: text(record, "toolName"),
        status: text(record, "status"),
        is_error: record["isError"] == true,
    });
    Ok(ClientDetail { session, uses, questions, calls: calls.collect() })
}

fn uses(tools: &[ToolsetView]) -> Vec<ClientUse> {
    let mut uses: Vec<ClientUse> = Vec::new();
    for tool in tools.iter().filter(|tool| tool.granted) {
        let known = uses.iter().position(|each| each.server == tool.server);
        let at = known.unwrap_or_else(|| {
            uses.push(ClientUse { server: tool.server.clone(), tools: 0, asks: 0 });
            uses.len() - 1
        });
        uses[at].tools += 1;
        uses[at].asks += usize::from(tool.ask);
    }
    uses.sort_by(|a, b| a.server.cmp(&b.server));
    uses
}

async fn seen(app: App, _: Caller, Body(body): Body<ClientSeen>) -> Result<Empty, ApiError> {
    app.host().events().publish(HostEvent::ClientsChanged(ChangedName { name: body.id }));
    Ok(Empty {})
}

async fn allow(app: App, _: Caller, Body(body): Body<AllowClient>) -> Result<ClientView, ApiError> {
    let order = AllowOrder {
        name: body.name,
        program: body.program,
        project: body.project.map(Into::into),
        pid: body.pid,
    };
    typed(blocking(app.host(), move |host| host.inbox().allow_client(&order)).await?)
}

async fn forget(app: App, _: Caller, Body(body): Body<ForgetClient>) -> Result<ClientsForgotten, ApiError> {
    let forgotten = blocking(app.host(), move |host| {
        if host.store().forget_client_session(&body.id)? {
            host.events().publish(HostEvent::ClientsChanged(ChangedName { name: body.id }));
            return Ok(1);
        }
        host.inbox().forget_client(&body.id)
    })
    .await?;
    Ok(ClientsForgotten { ok: true, forgotten })
}
