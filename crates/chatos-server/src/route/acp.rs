//! Programs of other makers as agents: which are on this machine, and adding one (other-agents §4.2).

use std::path::Path as FilePath;

use chatos_acp::{Found, detect, known};
use chatos_host::Host;
use chatos_policy::DEVELOPER;
use chatos_store::AcpLaunch;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::agent::{AcpChosen, AcpFound, AcpFoundList, AcpInput, AcpSession, AgentView};
use serde_json::{Map, json};

use super::agents::view;
use crate::answer::Created;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/acp/detect", "Other agents on this machine; nothing is started to find out", find);
    routes.post("/api/v1/acp/agents", "Make an agent of another program", create);
    routes.get("/api/v1/acp/sessions/{id}", "What a chat has of an agent that is another program", session);
    routes.post("/api/v1/acp/sessions/{id}", "Choose a mode or an option of that agent", choose);
}

/// The agent that answers in a chat; it has to be another program.
fn agent_of(host: &Host, chat: &str) -> Result<String, Fault> {
    let row = host
        .store()
        .session(chat)?
        .ok_or_else(|| Fault::new(ErrorCode::NotFound, Text::fixed("there is no such chat", "没有此会话")))?;
    let agent = if row.agent_id.is_empty() {
        host.agents().first_agent()?
    } else {
        host.agents().agent(&row.agent_id)?
    };
    if agent.acp.is_none() {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("the agent of this chat is no other program", "此会话的智能体不是其他程序"),
        )
        .code("not_for_models"));
    }
    Ok(agent.id)
}

async fn session(app: App, _: Caller, Path(id): Path<String>) -> Result<AcpSession, ApiError> {
    blocking(app.host(), move |host| {
        let agent = agent_of(host, &id)?;
        chatos_acp::session(host.store(), host.runs().seats(), &id, &agent)
    })
    .await
}

async fn choose(
    app: App,
    _: Caller,
    (Path(id), Body(order)): (Path<String>, Body<AcpChosen>),
) -> Result<AcpSession, ApiError> {
    let chat = id.clone();
    let agent = blocking(app.host(), move |host| agent_of(host, &chat)).await?;
    let (store, seats) = (app.host().store().clone(), app.host().runs().seats().clone());
    let details = json!({ "agentId": agent, "session": id, "option": order.option, "value": order.value });
    let (session, unasked) = chatos_acp::choose(store, seats, id, agent, order).await?;
    if unasked {
        app.host().audit("acp_mode_unasked", details.as_object().cloned().unwrap_or_default());
    }
    Ok(session)
}

fn found(host: &Host) -> Vec<Found> {
    let environment = host.environment();
    detect(environment.get("PATH").map(AsRef::as_ref), environment.get("HOME").map(FilePath::new))
}

async fn find(app: App, _cx: Caller, (): ()) -> Result<AcpFoundList, ApiError> {
    blocking(app.host(), |host| {
        let agents = host.agents().agents()?;
        let items = found(host)
            .into_iter()
            .map(|one| {
                let of = |launch: &AcpLaunch| launch.known_id.as_deref() == Some(one.known.id);
                let agent = agents.iter().find(|agent| agent.acp.as_ref().is_some_and(of));
                let words: Vec<&str> =
                    std::iter::once(one.known.program).chain(one.known.args.iter().copied()).collect();
                let state = match (&one.program, &one.base) {
                    (Some(_), _) => "ready",
                    (None, Some(_)) => "adapter_missing",
                    (None, None) => "missing",
                };
                let path = one.program.as_ref().or(one.base.as_ref());
                AcpFound {
                    id: one.known.id.to_owned(),
                    title: one.known.title.to_owned(),
                    state: state.to_owned(),
                    path: path.map(|path| path.to_string_lossy().into_owned()),
                    command: words.join(" "),
                    install: one.known.install.to_owned(),
                    sign_in: one.known.sign_in.to_owned(),
                    agent_id: agent.map(|agent| agent.id.clone()),
                }
            })
            .collect();
        Ok(AcpFoundList { items })
    })
    .await
}

async fn create(app: App, cx: Caller, Body(input): Body<AcpInput>) -> Result<Created<AgentView>, ApiError> {
    let lang = cx.lang;
    let made = blocking(app.host(), move |host| {
        let (title, launch) = launch_of(host, &input)?;
        let name = input.name.filter(|name| !name.trim().is_empty()).unwrap_or(title);
        let root = input.workspace_root.unwrap_or_default();
        if !input.confirmed {
            let place = if root.is_empty() { host.project().to_string_lossy().into_owned() } else { root };
            let command =
                std::iter::once(&launch.program).chain(&launch.args).cloned().collect::<Vec<_>>().join(" ");
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(
                    format!("/confirmed: ChatOS will start `{command}` as you, with your login, in {place}"),
                    format!("/confirmed：ChatOS 将以你的身份和登录状态在 {place} 中启动 `{command}`"),
                ),
            )
            .code("not_confirmed")
            .hint(Text::fixed("agree with `confirmed: true`", "用 `confirmed: true` 表示同意")));
        }
        let mut patch = Map::new();
        patch.insert("name".to_owned(), json!(name));
        patch.insert("workspaceRoot".to_owned(), json!(root));
        patch.insert(
            "landConfigId".to_owned(),
            json!(input.land_config_id.unwrap_or_else(|| DEVELOPER.to_owned())),
        );
        let agent = host.agents().create_acp(patch, launch.clone())?;
        let details = json!({ "agentId": agent.id, "program": launch.program, "args": launch.args });
        host.audit("acp_agent_added", details.as_object().cloned().unwrap_or_default());
        view(host, agent, lang)
    })
    .await?;
    Ok(Created(made))
}

/// What is started, and what people call it.
fn launch_of(host: &Host, input: &AcpInput) -> Result<(String, AcpLaunch), Fault> {
    let invalid = |en: String, zh: String| Fault::new(ErrorCode::InvalidArgument, Text::new(en, zh));
    if let Some(program) = input.program.as_deref().filter(|program| !program.trim().is_empty()) {
        let title =
            FilePath::new(program).file_name().map_or_else(|| program.into(), |name| name.to_string_lossy());
        let launch = AcpLaunch {
            program: program.to_owned(),
            args: input.args.clone(),
            pass_env: input.pass_env.clone(),
            known_id: None,
            gateway: !input.without_gateway,
        };
        return Ok((title.into_owned(), launch));
    }
    let id = input.known_id.as_deref().unwrap_or_default();
    let Some(known) = known(id) else {
        let ids: Vec<&str> = chatos_acp::TABLE.iter().map(|known| known.id).collect();
        let all = ids.join(", ");
        return Err(invalid(format!("/knownId: one of {all}"), format!("/knownId：应为 {all} 之一")));
    };
    let here = found(host).into_iter().find(|one| one.known.id == id).and_then(|one| one.program);
    let Some(program) = here else {
        return Err(Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("`{}` is not on this machine", known.program),
                format!("本机没有 `{}`", known.program),
            ),
        )
        .code("no_adapter")
        .hint(Text::new(format!("install it: {}", known.install), format!("请先安装：{}", known.install))));
    };
    let mut pass_env: Vec<String> = known.pass_env.iter().map(|name| (*name).to_owned()).collect();
    pass_env.extend(input.pass_env.iter().cloned());
    let launch = AcpLaunch {
        program: program.to_string_lossy().into_owned(),
        args: known.args.iter().map(|word| (*word).to_owned()).collect(),
        pass_env,
        known_id: Some(known.id.to_owned()),
        gateway: !input.without_gateway,
    };
    Ok((known.title.to_owned(), launch))
}
