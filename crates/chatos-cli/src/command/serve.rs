//! `chatos serve`: opens the state, listens, tells where, and stops cleanly.

use std::net::IpAddr;
use std::process::ExitCode;

use chatos_host::{Host, HostConfig};
use chatos_paths::{Announcement, Environment, port_owner, raise_file_limit};
use chatos_server::{App, AppOptions, BindError, ServeOptions, Server};
use chatos_store::iso_from_ms;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

use crate::args::{Global, Serve};
use crate::command::open::open_browser;
use chatos_terminal::output::{Output, Paint, usage_fault};

const DEFAULT_PORT: u16 = 7878;
/// Where the database says which port was used last.
const LAST_PORT: &str = "last_port";

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: Serve,
) -> Result<ExitCode, Fault> {
    if let Err(fault) = check_address(&options) {
        return Ok(usage_fault(output, &fault));
    }
    raise_file_limit();
    let host = Host::open(HostConfig {
        state_dir: global.state_dir.clone(),
        project: global.project.clone(),
        allow_network_fs: options.allow_network_fs,
        serving: true,
        log_to_stderr: global.verbose,
        launches: true,
        plugins: chatos_assets::PLUGINS,
        ..HostConfig::new(environment)
    })?;
    runtime()?.block_on(serve(output, options, host))
}

/// What a host runs on.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Fault> {
    let made = tokio::runtime::Builder::new_multi_thread().enable_all().worker_threads(workers()).build();
    made.map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot start the runtime", "无法启动运行环境"))
            .caused_by(&error)
    })
}

/// Two workers are enough for a person's machine; more only cost memory.
fn workers() -> usize {
    std::thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4))
}

async fn serve(output: &Output, options: Serve, host: std::sync::Arc<Host>) -> Result<ExitCode, Fault> {
    // A browser keeps its sign-in by address: the port that was taken last is taken again.
    let last = host.store().meta(LAST_PORT).ok().flatten().and_then(|port| port.parse().ok());
    let wanted = ServeOptions {
        address: options.host,
        port: options.port.or(last).unwrap_or(DEFAULT_PORT),
        exact: options.port.is_some(),
    };
    let server = Server::bind(&wanted).await.map_err(|error| bind_fault(&error))?;
    if options.port.is_none()
        && let Err(error) = host.store().set_meta(LAST_PORT, &server.port().to_string())
    {
        tracing::warn!(%error, "the port could not be kept for the next start");
    }
    let moved = last.filter(|last| options.port.is_none() && *last != server.port());
    let app = App::new(
        host.clone(),
        AppOptions {
            port: server.port(),
            allow_hosts: options.allow_host.clone(),
            remote: !options.host.is_loopback(),
            page: chatos_assets::PAGE,
            ui_dir: options.ui_dir.clone(),
            dev: None,
        },
    );
    let (opened, link) = (host.dir().clone(), app.link_maker());
    host.reach().opened_by(move || {
        if let Some(link) = link() {
            open_browser(&opened, &link);
        }
    });
    let signals = begin(&app).await?;
    tell(output, &options, &app, &host);
    if let Some(last) = moved {
        let port = app.port();
        output.say(&Text::new(
            format!(
                "note: port {last} is taken, so this is port {port}. Browsers sign in again at a new address."
            ),
            format!("提示：端口 {last} 已被占用，因此改用端口 {port}。地址改变后，浏览器需要重新登录。"),
        ));
    }
    if !options.no_open && !options.ready_json && host.environment().has_display() {
        open_browser(host.dir(), &app.sign_in_url());
    }
    until_stopped(server, app, signals).await?;
    output.say(&Text::fixed("ChatOS has stopped.", "ChatOS 已停止。"));
    Ok(ExitCode::SUCCESS)
}

/// Everything between listening and telling where: nobody is told of a host that is not ready.
pub(super) async fn begin(app: &App) -> Result<tokio::task::JoinHandle<()>, Fault> {
    app.self_test().await?;
    let host = app.host();
    let announcement = Announcement::of_this_process(
        chatos_host::VERSION,
        app.port(),
        app.page_url(),
        app.token(),
        iso_from_ms(host.started_at()),
    );
    host.announce(announcement, app.token_keeper())?;
    host.servers().reached_at(app.url());
    let signals = watch_signals(host)?;
    host.background()?;
    Ok(signals)
}

/// Serves until somebody asks it to stop, then ends everything that was started.
pub(super) async fn until_stopped(
    server: Server,
    app: App,
    signals: tokio::task::JoinHandle<()>,
) -> Result<(), Fault> {
    let host = app.host().clone();
    server.run(app).await;
    signals.abort();
    host.settle().await;
    let closing = chatos_blocking::run(move || host.close()).await;
    closing.map_err(|error| Fault::new(ErrorCode::Internal, Text::same(error.to_string())))
}

fn tell(output: &Output, options: &Serve, app: &App, host: &Host) {
    if options.ready_json {
        output.json_line(&json!({
            "url": app.url(), "signInUrl": app.sign_in_url(), "port": app.port(), "token": app.token(),
            "pid": std::process::id(), "stateDir": host.dir().path(), "version": chatos_host::VERSION,
        }));
        return;
    }
    if output.json {
        output.json_line(&json!({ "url": app.url(), "port": app.port(), "pid": std::process::id() }));
        return;
    }
    let url = output.paint(Paint::Bold, &app.url());
    output.say(&Text::new(format!("ChatOS is ready: {url}"), format!("ChatOS 已就绪：{url}")));
    let link = app.sign_in_url();
    output.say(&Text::new(
        format!("Sign in (works once, for a minute): {link}"),
        format!("登录链接（一分钟内有效，仅可使用一次）：{link}"),
    ));
    if !options.host.is_loopback() {
        let names = options.allow_host.join(", ");
        output.say(&Text::new(
            format!("Warning: this host can be reached from the network (as {names})."),
            format!("警告：网络上的其他机器可以访问此主机（{names}）。"),
        ));
    }
    output.say(&Text::fixed("Stop with Ctrl-C or `chatos stop`.", "按 Ctrl-C 或运行 `chatos stop` 停止。"));
    for notice in host.notices() {
        output
            .say(&Text::new(format!("note: {}", notice.message.en), format!("提示：{}", notice.message.zh)));
    }
}

/// security T2.1: an address beyond loopback needs two words from the person.
fn check_address(options: &Serve) -> Result<(), Fault> {
    let bad_name = options.allow_host.iter().find(|name| {
        name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
    });
    if let Some(name) = bad_name {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(
                format!("--allow-host `{name}` is not a host name"),
                format!("--allow-host `{name}` 不是主机名"),
            ),
        )
        .hint(Text::fixed("give the bare name, without scheme and port", "请只给出名称，不含协议和端口")));
    }
    if options.host.is_loopback() || (options.allow_remote && !options.allow_host.is_empty()) {
        return Ok(());
    }
    let address = options.host;
    Err(Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("{address} can be reached from the network"), format!("{address} 可以从网络访问")),
    )
    .code("remote_not_allowed")
    .hint(Text::fixed(
        "add --allow-remote and at least one --allow-host NAME if you mean it",
        "如确有需要，请加上 --allow-remote 和至少一个 --allow-host 名称",
    )))
}

pub(super) fn bind_fault(error: &BindError) -> Fault {
    match error {
        BindError::Taken { port } => {
            let owner = port_owner(*port);
            let (en, zh) = match owner {
                Some(pid) => (format!(" by process {pid}"), format!("（进程 {pid}）")),
                None => (String::new(), String::new()),
            };
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(format!("port {port} is taken{en}"), format!("端口 {port} 已被占用{zh}")),
            )
            .code("port_taken")
            .hint(Text::fixed(
                "choose another port, or --port 0 for any free one",
                "请选择其他端口，或用 --port 0 使用任意空闲端口",
            ))
            .details(json!({ "port": port, "pid": owner }))
        }
        BindError::Io { address, source } => Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("cannot listen on {address}"), format!("无法监听 {address}")),
        )
        .code("listen_failed")
        .caused_by(source)
        .hint(match address.ip() {
            IpAddr::V4(_) | IpAddr::V6(_) if address.port() < 1024 => {
                Text::fixed("ports below 1024 need special rights", "1024 以下的端口需要特殊权限")
            }
            _ => Text::fixed("use 127.0.0.1 and another port", "请使用 127.0.0.1 和其他端口"),
        }),
    }
}

/// Ctrl-C, a polite kill and a closed terminal all end in the same clean stop.
fn watch_signals(host: &std::sync::Arc<Host>) -> Result<tokio::task::JoinHandle<()>, Fault> {
    use tokio::signal::unix::{SignalKind, signal};
    let open = |kind| {
        signal(kind).map_err(|error| {
            Fault::new(ErrorCode::Unavailable, Text::fixed("cannot watch signals", "无法监听信号"))
                .caused_by(&error)
        })
    };
    let (mut interrupt, mut terminate, mut hangup) =
        (open(SignalKind::interrupt())?, open(SignalKind::terminate())?, open(SignalKind::hangup())?);
    // A file size limit then fails the write, which is told like a full disk, and does not end the host.
    drop(open(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?);
    let shutdown = host.shutdown().clone();
    Ok(tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        shutdown.cancel();
    }))
}
