//! `chatos dev`: a plugin somebody is writing, on the real host, in a state of its own (devkit §4).

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use chatos_contribution::DefaultLists;
use chatos_dev::{Sandbox, SandboxOptions, empty, state_dir};
use chatos_host::{Host, HostConfig};
use chatos_manifest::Problem;
use chatos_paths::{Environment, StateDir, raise_file_limit, take_lock};
use chatos_plugins::{Loaded, Origin, manifest_lang, package_fault, plugin_dir};
use chatos_server::{App, AppOptions, ServeOptions, Server};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::json;

use super::open::open_browser;
use super::plugin::typed;
use super::serve::{begin, bind_fault, runtime, until_stopped};
use crate::args::{Dev, Global};
use chatos_terminal::output::{Output, Paint, usage_fault, visible};

/// Another one than the host's own, so that both run side by side.
const DEFAULT_PORT: u16 = 4399;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: Dev,
) -> Result<ExitCode, Fault> {
    let dir = plugin_dir(&environment.current_dir().join(&options.dir))
        .map_err(|error| package_fault(&error, output.lang, None))?;
    let loaded = chatos_plugins::load(&dir, Origin::Dev, &DefaultLists::embedded())
        .ok_or_else(|| unreadable(&dir, &[], output))?;
    let Some(plugin) = &loaded.plugin else { return Err(unreadable(&dir, &loaded.problems, output)) };
    if let Some(fault) = no_such_app(&loaded, options.app.as_deref()) {
        return Err(fault);
    }
    let places = environment.locations(global.state_dir.clone())?;
    let state = state_dir(&places, plugin.id().as_str(), &dir);
    if options.reset
        && let Err(refused) = reset(output, &state, options.yes)?
    {
        return Ok(refused);
    }
    raise_file_limit();
    let host = Host::open(HostConfig {
        state_dir: Some(state),
        project: global.project.clone(),
        serving: true,
        log_to_stderr: global.verbose,
        launches: true,
        dev: vec![dir.clone()],
        watch: !options.no_reload,
        ..HostConfig::new(environment)
    })
    .map_err(|fault| twice(fault, &dir))?;
    runtime()?.block_on(serve(output, options, host, &dir, &loaded))
}

async fn serve(
    output: &Output,
    options: Dev,
    host: Arc<Host>,
    dir: &Path,
    loaded: &Loaded,
) -> Result<ExitCode, Fault> {
    let wanted = ServeOptions {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: options.port.unwrap_or(DEFAULT_PORT),
        exact: options.port.is_some(),
    };
    let server = Server::bind(&wanted).await.map_err(|error| bind_fault(&error))?;
    let sandbox = Sandbox::open(
        Arc::clone(&host),
        SandboxOptions { dir: dir.to_owned(), app: options.app.clone(), reload: !options.no_reload },
    )?;
    let app = App::new(
        Arc::clone(&host),
        AppOptions {
            port: server.port(),
            page: chatos_assets::PAGE,
            ui_dir: options.ui_dir.clone(),
            dev: Some(Arc::new(sandbox)),
            ..AppOptions::default()
        },
    );
    let signals = begin(&app).await?;
    let id = loaded.plugin.as_ref().map(|plugin| plugin.id().to_string()).unwrap_or_default();
    if options.ready_json {
        output.json_line(&json!({
            "url": app.page_url(), "signInUrl": app.sign_in_url(), "port": app.port(), "token": app.token(),
            "pid": std::process::id(), "stateDir": host.dir().path(), "version": chatos_host::VERSION,
            "pluginId": id,
        }));
    } else if output.json {
        output.json_line(&json!({
            "ok": true, "command": "dev", "url": app.page_url(), "port": app.port(), "pid": std::process::id(),
            "stateDir": host.dir().path(), "pluginId": id,
        }));
    } else {
        tell(output, &app, loaded).await;
    }
    let wanted = options.open || (!options.no_open && host.environment().has_display());
    if wanted && !options.ready_json && !output.json {
        open_browser(host.dir(), &app.sign_in_url());
    }
    until_stopped(server, app, signals).await?;
    output.say(&Text::fixed("The sandbox has stopped.", "沙箱已停止。"));
    Ok(ExitCode::SUCCESS)
}

async fn tell(output: &Output, app: &App, loaded: &Loaded) {
    let (host, Some(plugin)) = (app.host(), &loaded.plugin) else { return };
    let apps: Vec<String> = plugin
        .apps
        .iter()
        .map(|app| {
            let both = if app.manifest.entry.compact.is_some() { " (full, compact)" } else { "" };
            format!("{}{both}", app.manifest.id)
        })
        .collect();
    let name = output.paint(Paint::Bold, &format!("{} {}", plugin.id(), visible(&plugin.manifest.version)));
    let data = chatos_plugins::UiApps::of_state_dir(host.dir().path()).data_of(plugin.id());
    let node = host.find_node().await;
    let node = |missing: &str| match &node {
        Some(node) if node.is_new_enough() => node.version.clone(),
        Some(node) => format!("{} < 20", node.version),
        None => missing.to_owned(),
    };
    output.line(&format!("dev    {name}"));
    output.say(&Text::new(format!("apps   {}", apps.join(", ")), format!("应用   {}", apps.join("、"))));
    let (en, zh) =
        (node("none found: backends and tool servers cannot run"), node("未找到：后端和工具服务无法运行"));
    output.say(&Text::new(format!("node   {en}"), format!("node   {zh}")));
    let state = host.dir().path().display();
    output.say(&Text::new(format!("state  {state}"), format!("状态   {state}")));
    let data = data.display();
    output.say(&Text::new(format!("data   {data}"), format!("数据   {data}")));
    show(output, &loaded.problems);
    let link = output.paint(Paint::Bold, &app.sign_in_url());
    output.say(&Text::new(
        format!("\nOpen it (works once, for a minute): {link}"),
        format!("\n打开（一分钟内有效，仅可使用一次）：{link}"),
    ));
    output.say(&Text::fixed(
        "Saved files are loaded at once. Stop with Ctrl-C.",
        "保存的文件会立即加载。按 Ctrl-C 停止。",
    ));
}

fn show(output: &Output, problems: &[Problem]) {
    let lang = manifest_lang(output.lang);
    for problem in problems {
        let (paint, en, zh) = if problem.is_error() {
            (Paint::Bad, "error", "错误")
        } else {
            (Paint::Warn, "warning", "警告")
        };
        let word = output.paint(paint, if output.lang == chatos_tool::Lang::Zh { zh } else { en });
        let view = problem.plain_view(lang);
        output.line(&format!("{word}  {}  {}", view.path, visible(&view.message)));
    }
}

/// devkit §4.1: only a manifest that cannot be read at all stops the start.
fn unreadable(dir: &Path, problems: &[Problem], output: &Output) -> Fault {
    let lang = manifest_lang(output.lang);
    let first = problems.iter().find(|problem| problem.is_error());
    let (en, zh) = match first {
        Some(problem) => (problem.message.en.clone(), problem.message.zh.clone()),
        None => ("there is no plugin.json".to_owned(), "没有 plugin.json".to_owned()),
    };
    let shown = dir.join("plugin.json").display().to_string();
    let all: Vec<_> = problems.iter().map(|problem| json!(problem.plain_view(lang))).collect();
    let fault =
        Fault::new(ErrorCode::InvalidArgument, Text::new(format!("{en}: {shown}"), format!("{zh}：{shown}")));
    let hint = Text::fixed(
        "correct it and start again; `chatos plugin validate` shows everything that is wrong",
        "请修正后重新启动；`chatos plugin validate` 会列出所有问题",
    );
    fault
        .code(first.map_or("manifest_unreadable", |problem| problem.code.as_str()))
        .hint(hint)
        .details(json!({ "errors": all }))
}

fn no_such_app(loaded: &Loaded, wanted: Option<&str>) -> Option<Fault> {
    let (wanted, plugin) = (wanted?, loaded.plugin.as_ref()?);
    let known: Vec<&str> = plugin.apps.iter().map(|app| app.manifest.id.as_str()).collect();
    if known.contains(&wanted) {
        return None;
    }
    let id = plugin.id();
    let fault = Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("{id} has no app `{wanted}`"), format!("{id} 没有应用 `{wanted}`")),
    );
    let all = known.join(", ");
    Some(fault.hint(Text::new(format!("its apps: {all}"), format!("它的应用：{all}"))))
}

/// Two sandboxes on one folder would share their data; the second one is told where the first one is.
fn twice(fault: Fault, dir: &Path) -> Fault {
    if fault.code != "already_running" {
        return fault;
    }
    let shown = dir.display();
    fault.hint(Text::new(
        format!("`chatos dev` already runs for {shown}: use that page, or stop it first"),
        format!("`chatos dev` 已在为 {shown} 运行：请使用该页面，或先停止它"),
    ))
}

/// Empties the sandbox. `Ok(Err(code))`: it was not to be, and nothing was done.
fn reset(output: &Output, state: &Path, yes: bool) -> Result<Result<(), ExitCode>, Fault> {
    if !state.exists() {
        return Ok(Ok(()));
    }
    let shown = state.display();
    if !yes {
        if !std::io::stdin().is_terminal() || output.json {
            let fault = Fault::new(
                ErrorCode::NeedsInput,
                Text::fixed("--reset asks before it deletes", "--reset 删除前需要确认"),
            );
            let hint = Text::fixed("add --yes to answer beforehand", "可加上 --yes 预先确认");
            return Ok(Err(usage_fault(output, &fault.hint(hint))));
        }
        let question = Text::new(
            format!("Delete everything in {shown}? Type yes: "),
            format!("删除 {shown} 中的全部内容？请输入 yes："),
        );
        if typed(question.get(output.lang)) != "yes" {
            return Err(Fault::new(
                ErrorCode::PermissionDenied,
                Text::fixed("nothing was deleted", "没有删除任何内容"),
            )
            .code("declined"));
        }
    }
    // Not under the feet of a sandbox that runs.
    let lock = take_lock(&StateDir::prepare(state, true)?.0, Duration::from_secs(1))?;
    empty(state).map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("the sandbox cannot be emptied: {shown}"), format!("无法清空沙箱：{shown}")),
        )
        .caused_by(&error)
        .hint(Text::fixed("check the permissions of its files", "请检查其文件的权限"))
    })?;
    drop(lock);
    Ok(Ok(()))
}
