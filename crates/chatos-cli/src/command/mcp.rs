//! `chatos mcp`: a built-in server for any MCP client, over stdio or HTTP.
//!
//! A client starts it and waits for its first answer, so nothing happens before that answer which it
//! does not need: one thread, no database until a setting is read, no state until the first call.

mod config;
mod gateway;
mod http;
mod list;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chatos_builtin as builtin;
use chatos_desk::{Beside, BesideSettings, HostSubagents, Queue};
use chatos_layer::{
    Access, Endpoint, EndpointOptions, Layer, LayerParts, Nobody, Root, Server, ServerInfo, SettingsSource,
    TaskScope, ToolLog,
};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::args::{Global, Mcp};
use chatos_terminal::output::{Output, usage_fault};
pub(crate) use gateway::run as gateway;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Mcp,
) -> Result<ExitCode, Fault> {
    if options.server() == "list" {
        return list::run(global, environment, output);
    }
    let info = builtin::server_info(options.server()).ok_or_else(|| unknown(options.server()))?;
    let mut flags = match options.settings.values(info.name) {
        Ok(flags) => flags,
        Err(fault) => return Ok(usage_fault(output, &fault)),
    };
    flags.extend(spoken(global));
    let root = root_of(info, &environment, global, options)?;
    if let Some(client) = options.print_config {
        config::print(client, global, output, options, root.as_ref());
        return Ok(ExitCode::SUCCESS);
    }
    chatos_host::log_to_stderr(global.verbose);
    let lsp_config = options.config.as_ref().map(|path| environment.current_dir().join(path));
    let beside = Beside::find(environment, global.state_dir.clone(), flags)?;
    let scope = match task_scope(options, &beside) {
        Ok(scope) => scope,
        Err(fault) => return Ok(usage_fault(output, &fault)),
    };
    if let Err(fault) = http::check(options, &beside) {
        return Ok(usage_fault(output, &fault));
    }
    let mut env = beside.server_env(options.write.unwrap_or(false), scope);
    env.lsp_config = lsp_config;
    env.subagents = Some(Arc::new(HostSubagents::new(Arc::clone(&beside))));
    let server = builtin::find_server(info.name, &env).ok_or_else(|| unknown(info.name))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot start the runtime", "无法启动运行环境"))
            .caused_by(&error)
    })?;
    let served = runtime.block_on(serve(output, options, server, root, &beside));
    // Work that still hangs on a disk must not keep the process: it ends within three seconds.
    runtime.shutdown_timeout(Duration::from_millis(200));
    beside.close();
    served
}

async fn serve(
    output: &Output,
    options: &Mcp,
    server: Server,
    root: Option<Root>,
    beside: &Arc<Beside>,
) -> Result<ExitCode, Fault> {
    let stop = watch_signals()?;
    let log = Some(beside.tool_log());
    let endpoint = Arc::new(endpoint(options, server, root, log, beside));
    if let Some(address) = options.http {
        return http::serve(output, options, endpoint, address, beside, stop).await;
    }
    let name = endpoint.name().to_owned();
    ready(output, &Text::new(format!("{name} is ready (stdio)"), format!("{name} 已就绪（stdio）")));
    stdio(endpoint, stop).await
}

/// A server of this process, with the settings and the queue of its state.
fn endpoint(
    options: &Mcp,
    server: Server,
    root: Option<Root>,
    log: Option<ToolLog>,
    beside: &Arc<Beside>,
) -> Endpoint {
    let redactor = Arc::new(chatos_layer::Redactor::new());
    let layer = Layer::new(LayerParts {
        settings: Arc::new(BesideSettings::new(beside)),
        log,
        redactor: Arc::clone(&redactor),
        queue: Arc::new(Queue::new(Arc::clone(beside), redactor)),
        observer: Arc::new(Nobody),
    });
    let options = EndpointOptions {
        name: options.shown_name.clone(),
        version: chatos_host::VERSION.to_owned(),
        access: Access::All,
        root,
    };
    Endpoint::new(server, Arc::new(layer), options)
}

/// Serves the client that started this process, until it goes away.
async fn stdio(endpoint: Arc<Endpoint>, stop: CancellationToken) -> Result<ExitCode, Fault> {
    Box::pin(chatos_layer::serve_stdio(endpoint, stop)).await.map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("cannot use standard input and output", "无法使用标准输入输出"),
        )
        .caused_by(&error)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// A line on stderr (tools §16.2); stdout belongs to the protocol.
fn ready(output: &Output, text: &Text) {
    use std::io::Write;
    if !output.quiet {
        // A client that closed our stderr does not want to know.
        writeln!(std::io::stderr(), "chatos mcp: {}", text.get(output.lang)).ok();
    }
}

/// tools §16.2: the root defaults to the current directory and must exist.
fn root_of(
    info: &ServerInfo,
    environment: &Environment,
    global: &Global,
    options: &Mcp,
) -> Result<Option<Root>, Fault> {
    if !info.needs_root {
        return Ok(None);
    }
    let current = environment.current_dir();
    let asked = options.root.as_ref().or(global.project.as_ref());
    let path = asked.map_or_else(|| current.to_owned(), |path| current.join(path));
    open_root(&path).map(Some)
}

fn open_root(path: &Path) -> Result<Root, Fault> {
    Root::open(path).map_err(|error| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("the root is not a directory that can be opened: {}", path.display()),
                format!("根目录不存在或无法打开：{}", path.display()),
            ),
        )
        .code("root_missing")
        .caused_by(&error)
        .hint(Text::fixed("name an existing directory with --root", "请用 --root 指定已存在的目录"))
    })
}

/// servers §6: which list of tasks is meant, by flag or environment.
fn task_scope(options: &Mcp, beside: &Beside) -> Result<Option<TaskScope>, Fault> {
    let Some(word) = options.scope.as_deref().or_else(|| beside.task_scope()) else { return Ok(None) };
    let scope = TaskScope::parse(word);
    if scope.is_none() && options.scope.is_some() {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("--scope cannot be `{word}`"), format!("--scope 不能是 `{word}`")),
        )
        .code("usage")
        .hint(Text::same(format!("default | cli | chat ({})", TaskScope::WORDS.join(", ")))));
    }
    // An environment value nobody knows is ignored (tools §13).
    Ok(scope)
}

fn unknown(name: &str) -> Fault {
    let shown: String = name.chars().take(60).collect();
    let names: Vec<&str> = builtin::server_names().collect();
    let hint = match builtin::nearest_server(name) {
        Some(near) => Text::new(format!("did you mean `{near}`?"), format!("你是否想用 `{near}`？")),
        None => Text::new(
            format!("servers: {}; see `chatos mcp list`", names.join(", ")),
            format!("可用的服务：{}；详见 `chatos mcp list`", names.join("、")),
        ),
    };
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no built-in server `{shown}`"), format!("没有名为 `{shown}` 的内置服务")),
    )
    .code("unknown_server")
    .hint(hint)
    .details(serde_json::json!({ "servers": names }))
}

/// Ctrl-C, a polite kill and a closed terminal all end in the same clean stop.
pub(crate) fn watch_signals() -> Result<CancellationToken, Fault> {
    use tokio::signal::unix::{SignalKind, signal};
    let stop = CancellationToken::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        let mut signals = signal(kind).map_err(|error| {
            Fault::new(ErrorCode::Unavailable, Text::fixed("cannot watch signals", "无法监听信号"))
                .caused_by(&error)
        })?;
        let stop = stop.clone();
        // Ends with the process.
        tokio::spawn(async move {
            signals.recv().await;
            stop.cancel();
        });
    }
    Ok(stop)
}

/// `--lang` decides what clients get, above every setting.
fn spoken(global: &Global) -> Option<(String, Value)> {
    global.lang.map(|lang| ("promptLanguage".to_owned(), Value::from(lang.as_str())))
}

/// The language of what clients get.
fn client_lang(beside: &Arc<Beside>) -> Lang {
    BesideSettings::new(beside).current().lang
}
