//! `chatos gateway`: everything an agent may use as one MCP server for other programs, over stdio or HTTP.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chatos_desk::{Beside, BesideSettings, ClientFolder, GATEWAY, Gateway as Relayed, Line, ListMode};
use chatos_layer::{Relay, Server, SettingsSource};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};

use super::{client_lang, config, endpoint, http, open_root, ready, spoken, stdio, watch_signals};
use crate::args::{Gateway, Global, ListWord, Mcp};
use chatos_terminal::output::{Output, usage_fault};

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Gateway,
) -> Result<ExitCode, Fault> {
    if let Some(client) = options.print_config {
        config::print_gateway(client, global, &environment, output, options);
        return Ok(ExitCode::SUCCESS);
    }
    chatos_host::log_to_stderr(global.verbose);
    let serving = options.serving();
    let flags = spoken(global).into_iter().collect();
    let beside = Beside::find(environment.clone(), global.state_dir.clone(), flags)?;
    if let Err(fault) = http::check(&serving, &beside) {
        return Ok(usage_fault(output, &fault));
    }
    let root = options.root.as_ref().or(global.project.as_ref());
    let root = root.map(|root| open_root(&environment.current_dir().join(root))).transpose()?;
    let root = root.map(|root| root.path().to_owned());
    let folder = ClientFolder::new(&environment, root, options.http.is_some(), beside.state_dir());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot start the runtime", "无法启动运行环境"))
            .caused_by(&error)
    })?;
    let label = options.session.clone().unwrap_or_default();
    let line = Line::new(Arc::clone(&beside));
    if options.serve && beside.running().is_none() {
        crate::command::acp::start_host(&beside);
        ready(output, &Text::fixed("starting a host", "正在启动主机"));
    }
    let mode = match options.tools {
        Some(ListWord::Auto) => ListMode::Auto,
        Some(ListWord::All) => ListMode::All,
        Some(ListWord::Search) => ListMode::Search,
        None => ListMode::parse(&BesideSettings::new(&beside).current().gateway_tools),
    };
    let relay = Relayed::new(line, options.agent.clone(), label, client_lang(&beside), folder, mode);
    let relay = relay.holding(options.hold).without(options.without.clone());
    let served = runtime.block_on(serve(output, &serving, relay, &beside));
    runtime.shutdown_timeout(Duration::from_millis(200));
    beside.close();
    served
}

async fn serve(
    output: &Output,
    options: &Mcp,
    relay: Relayed,
    beside: &Arc<Beside>,
) -> Result<ExitCode, Fault> {
    relay.check().await?;
    let stop = watch_signals()?;
    let endpoint = endpoint(options, Server::new(&GATEWAY), None, None, beside);
    let relay = Arc::new(relay);
    let endpoint = Arc::new(endpoint.relaying(Arc::clone(&relay) as Arc<dyn Relay>));
    let told = relay.follow(relay.position().await, Arc::downgrade(&endpoint));
    let serving = async {
        if let Some(address) = options.http {
            return http::serve(output, options, endpoint, address, beside, stop).await;
        }
        ready(output, &Text::fixed("the gateway is ready (stdio)", "网关已就绪（stdio）"));
        stdio(endpoint, stop).await
    };
    tokio::select! {
        served = serving => served,
        never = told => match never {},
    }
}
