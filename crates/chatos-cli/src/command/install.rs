//! `chatos version`, `upgrade` and `service`: this program as it is installed (the work is in `chatos-install`).

use std::path::PathBuf;
use std::process::ExitCode;

use chatos_host::VERSION;
use chatos_install::{PUBLIC_KEY, RELEASES, Service, UpgradeOrder, UpgradeReport};
use chatos_paths::Environment;
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

use crate::args::{Global, ServiceAction, Upgrade};
use chatos_terminal::client::{Api, block_on};
use chatos_terminal::output::{Output, visible};

/// Lines of what changed that a terminal is shown.
const SHOWN_CHANGES: usize = 24;

pub(crate) fn version(
    global: &Global,
    environment: &Environment,
    output: &Output,
) -> Result<ExitCode, Fault> {
    let running = Api::running(global, environment)?.map(|host| host.version);
    let system = chatos_install::system();
    if output.json {
        output.json_line(&json!({
            "version": VERSION, "system": system, "schema": chatos_store::SCHEMA_VERSION,
            "sqlite": chatos_store::sqlite_version(), "program": program().ok(), "releases": RELEASES,
            "running": running,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    output.line(&format!("chatos {VERSION} ({system})"));
    if let Some(other) = running.filter(|running| running != VERSION) {
        restart_hint(output, &other);
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn upgrade(
    global: &Global,
    environment: &Environment,
    output: &Output,
    options: &Upgrade,
) -> Result<ExitCode, Fault> {
    let program = program()?;
    if options.undo {
        let kept = chatos_install::undo(&program)?;
        output.say(&Text::new(
            format!("the former program is back; the one it replaced is kept: {}", kept.display()),
            format!("已换回之前的程序；被替换的程序保存在：{}", kept.display()),
        ));
        return Ok(ExitCode::SUCCESS);
    }
    let from = options.from.as_deref().or(RELEASES);
    let (Some(from), Some(key)) = (from, options.key.as_deref().or(PUBLIC_KEY)) else {
        return Err(built_from_source());
    };
    if let Some(step) = environment.get("CHATOS_HALT_UPGRADE").and_then(|text| text.parse().ok()) {
        chatos_install::halt_at(step);
    }
    let report = block_on(chatos_install::upgrade(UpgradeOrder {
        program,
        version: VERSION,
        from,
        key,
        to: options.to.as_deref(),
        check: options.check,
        environment,
    }))?;
    if output.json {
        output.json_line(&json!(report));
        return Ok(ExitCode::SUCCESS);
    }
    tell(output, &report, from);
    if report.state == "upgraded"
        && let Some(host) = Api::running(global, environment)?
    {
        restart_hint(output, &host.version);
    }
    Ok(ExitCode::SUCCESS)
}

fn tell(output: &Output, report: &UpgradeReport, from: &str) {
    let (old, new) = (&report.from, &report.to);
    let kept = report.former.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    output.say(&match report.state {
        "upgraded" => Text::new(
            format!("ChatOS {new} is installed; {old} is kept: {kept}"),
            format!("已安装 ChatOS {new}；{old} 保存在：{kept}"),
        ),
        "available" => Text::new(
            format!("ChatOS {new} is there (this is {old}): chatos upgrade"),
            format!("有新版本 ChatOS {new}（当前为 {old}）：chatos upgrade"),
        ),
        _ => Text::new(format!("ChatOS {old} is the newest."), format!("ChatOS {old} 已是最新版本。")),
    });
    let lines: Vec<&str> = report.changes.lines().collect();
    for line in lines.iter().take(SHOWN_CHANGES) {
        output.line(&visible(line));
    }
    if lines.len() > SHOWN_CHANGES {
        let rest = lines.len() - SHOWN_CHANGES;
        output.say(&Text::new(
            format!("… {rest} more lines: {from}/download/v{new}/CHANGES.md"),
            format!("……另有 {rest} 行：{from}/download/v{new}/CHANGES.md"),
        ));
    }
}

fn restart_hint(output: &Output, running: &str) {
    output.say(&Text::new(
        format!("the running host is still {running}: restart it (`chatos stop`, then `chatos`; a service: `chatos service install`)"),
        format!("正在运行的主机仍是 {running}：请重新启动（先 `chatos stop` 再 `chatos`；服务则运行 `chatos service install`）"),
    ));
}

pub(crate) fn service(
    global: &Global,
    environment: &Environment,
    output: &Output,
    action: &ServiceAction,
) -> Result<ExitCode, Fault> {
    let places = environment.locations(global.state_dir.clone())?;
    let chosen = global.state_dir.is_some() || environment.get("CHATOS_STATE_DIR").is_some();
    let mut service = Service {
        program: program()?,
        home: PathBuf::from(environment.get("HOME").unwrap_or("/")),
        config_home: environment.get("XDG_CONFIG_HOME").map(PathBuf::from),
        path: environment.get("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin").to_owned(),
        port: 0,
        state_dir: chosen.then_some(places.state_dir),
    };
    let done = match action {
        ServiceAction::Install { port } => {
            service.port = *port;
            if !service.is_installed() && Api::running(global, environment)?.is_some() {
                return Err(Fault::new(
                    ErrorCode::Conflict,
                    Text::fixed(
                        "ChatOS is running, so the service could not start",
                        "ChatOS 正在运行，服务无法启动",
                    ),
                )
                .code("already_running")
                .hint(Text::fixed("stop it first: `chatos stop`", "请先停止：`chatos stop`")));
            }
            service.install()?
        }
        ServiceAction::Remove => service.remove()?,
    };
    if output.json {
        output.json_line(&json!(done));
        return Ok(ExitCode::SUCCESS);
    }
    let file = done.file.display();
    output.say(&match (done.state, done.port) {
        ("installed", Some(port)) => Text::new(
            format!(
                "ChatOS runs as a service at http://127.0.0.1:{port}/ ({file}); `chatos open` signs you in"
            ),
            format!("ChatOS 已作为服务运行于 http://127.0.0.1:{port}/（{file}）；用 `chatos open` 登录"),
        ),
        ("removed", _) => Text::new(
            format!("the service is stopped and removed ({file}); your data stays"),
            format!("服务已停止并移除（{file}）；数据保留"),
        ),
        _ => Text::fixed("there is no service of ChatOS", "没有 ChatOS 服务"),
    });
    Ok(ExitCode::SUCCESS)
}

/// The file this program was started from, behind every link; of a former program, the one that took its place.
fn program() -> Result<PathBuf, Fault> {
    let found = std::env::current_exe().and_then(|path| path.canonicalize()).map(|path| {
        let former = path.extension().is_some_and(|ending| ending == "former");
        if former { path.with_extension("") } else { path }
    });
    found.map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::fixed("cannot find this program's file", "找不到本程序的文件"),
        )
        .caused_by(&error)
        .hint(Text::fixed("start it by its full path", "请用完整路径启动"))
    })
}

fn built_from_source() -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::fixed(
            "this program was built from source and knows no releases",
            "本程序由源代码构建，没有可用的发布来源",
        ),
    )
    .code("no_releases")
    .hint(Text::fixed(
        "upgrade it with `git pull` and a new build, or name releases with --from and --key",
        "请用 `git pull` 后重新构建，或用 --from 和 --key 指定发布来源",
    ))
}
