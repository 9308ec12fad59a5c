//! `list_lsp_servers`, `start_lsp_server`, `stop_lsp_server`.

use std::sync::Arc;

use chatos_layer::{Body, CallCx, Outcome, Tool};
use chatos_shell::Level;
use chatos_tool::{Annotations, Confirm, Lang, Text, ToolError, ToolSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::desk::Desk;
use crate::find;

static LIST: ToolSpec = ToolSpec {
    name: "list_lsp_servers",
    title: Text::fixed("List language servers", "列出语言服务器"),
    description: Text::fixed(
        "Lists the language servers that are known: for which files, whether their program is installed and where to get \
         it, and whether they run for this root. Nothing is started; a server starts by itself when a tool needs it.",
        "列出已知的语言服务器：适用于哪些文件、程序是否已安装以及如何安装、是否正在为此根目录运行。不会启动任何程序；\
         工具需要时服务器会自动启动。",
    ),
    annotations: Annotations::of("R I"),
    confirm: Confirm::None,
    version: 1,
};

static START: ToolSpec = ToolSpec {
    name: "start_lsp_server",
    title: Text::fixed("Start a language server", "启动语言服务器"),
    description: Text::fixed(
        "Starts a language server for the root, so that it has looked at the project before the first question. Not \
         needed otherwise: tools start it themselves. One that runs is a noop; force restarts it, also after it died \
         several times. A program that is missing is unavailable with the command that installs it.",
        "为根目录启动语言服务器，使其在首次提问前就分析好项目。通常不需要：工具会自动启动它。已在运行则为 noop；\
         force 会重新启动，多次退出后也可用它重试。缺少程序时为 unavailable 并给出安装命令。",
    ),
    annotations: Annotations::of("I"),
    confirm: Confirm::None,
    version: 1,
};

static STOP: ToolSpec = ToolSpec {
    name: "stop_lsp_server",
    title: Text::fixed("Stop a language server", "停止语言服务器"),
    description: Text::fixed(
        "Stops a language server of this root with everything it started. Not needed normally: it stops by itself when \
         nobody uses it. One that does not run is a noop; force ends it at once.",
        "停止此根目录的语言服务器及其启动的所有进程。通常不需要：无人使用时它会自动停止。未运行则为 noop；force 会立即结束它。",
    ),
    annotations: Annotations::of("I"),
    confirm: Confirm::None,
    version: 1,
};

pub(crate) struct ListServers(pub(crate) Arc<Desk>);
pub(crate) struct StartServer(pub(crate) Arc<Desk>);
pub(crate) struct StopServer(pub(crate) Arc<Desk>);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NoArgs {}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ServerArgs {
    /// Which language server, as list_lsp_servers names it
    #[schemars(length(min = 1), extend("x-zh" = "语言服务器的 id，见 list_lsp_servers", "x-max-bytes" = 64, "x-no-nul" = true))]
    server_id: String,
    /// Also when it is not needed: restart it, or end it at once
    #[serde(default)]
    #[schemars(extend("x-zh" = "即使不需要也执行：重新启动，或立即结束"))]
    force: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListData {
    tool: &'static str,
    servers: Vec<ServerData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ServerData {
    id: String,
    command: String,
    args: Vec<String>,
    file_extensions: Vec<String>,
    languages: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    initialization_options: Option<Map<String, Value>>,
    installed: bool,
    running: bool,
    /// What it calls itself
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// What it is at
    #[serde(skip_serializing_if = "Option::is_none")]
    analysing: Option<String>,
    /// How much the system confines it
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<&'static str>,
    /// The command that installs it
    #[serde(skip_serializing_if = "Option::is_none")]
    install: Option<String>,
}

impl Tool for ListServers {
    type Args = NoArgs;
    type Data = ListData;

    fn spec(&self) -> &'static ToolSpec {
        &LIST
    }

    async fn call(&self, _: NoArgs, cx: &CallCx) -> Result<Outcome<ListData>, ToolError> {
        let desk = &self.0;
        let root = Desk::root(cx)?;
        let project = desk.pool.launcher.level(cx).is_ok_and(|level| level > Level::None).then_some(root);
        let mut servers = Vec::new();
        let mut lines = Vec::new();
        for server in desk.servers()? {
            let installed = find::program(&server.command, desk.pool.launcher.variables(), project).is_some();
            let running = desk.pool.running_in(Some(&server.id), root);
            let first = running.first();
            let busy = first.and_then(|session| session.news.busy());
            let files: Vec<String> = server
                .extensions
                .iter()
                .map(|one| format!(".{one}"))
                .chain(server.names.iter().cloned())
                .collect();
            let state = match (installed, first.is_some(), cx.lang) {
                (_, true, Lang::En) => "running".to_owned(),
                (_, true, Lang::Zh) => "运行中".to_owned(),
                (true, false, Lang::En) => "installed".to_owned(),
                (true, false, Lang::Zh) => "已安装".to_owned(),
                (false, false, Lang::En) => {
                    format!("not installed: {}", server.install.as_deref().unwrap_or(&server.command))
                }
                (false, false, Lang::Zh) => {
                    format!("未安装：{}", server.install.as_deref().unwrap_or(&server.command))
                }
            };
            let at = busy.as_deref().map(|busy| format!(" ({busy})")).unwrap_or_default();
            lines.push(format!("{} [{}] {state}{at}", server.id, files.join(" ")));
            servers.push(ServerData {
                id: server.id.clone(),
                command: server.command.clone(),
                args: server.args.clone(),
                file_extensions: server.extensions.clone(),
                languages: server.languages.clone(),
                initialization_options: server.options.as_ref().and_then(Value::as_object).cloned(),
                installed,
                running: first.is_some(),
                version: first.map(|session| session.title.clone()).filter(|title| !title.is_empty()),
                analysing: busy,
                sandbox: first.map(|session| session.level.as_str()),
                install: server.install.clone().filter(|_| !installed),
            });
        }
        Ok(Outcome::Ok(Body::content(ListData { tool: "list_lsp_servers", servers }, lines.join("\n"))))
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunData {
    tool: &'static str,
    server_id: String,
    running: bool,
    message: String,
}

fn run_data(tool: &'static str, id: &str, running: bool, message: &Text, lang: Lang) -> Body<RunData> {
    let message = message.get(lang).to_owned();
    let text = message.clone();
    Body::new(RunData { tool, server_id: id.to_owned(), running, message }, text)
}

impl Tool for StartServer {
    type Args = ServerArgs;
    type Data = RunData;

    fn spec(&self) -> &'static ToolSpec {
        &START
    }

    async fn call(&self, args: ServerArgs, cx: &CallCx) -> Result<Outcome<RunData>, ToolError> {
        let desk = &self.0;
        let server = desk.server(&args.server_id)?;
        let root = Desk::root(cx)?;
        let id = server.id.as_str();
        let running = desk.pool.running_in(Some(id), root);
        if !running.is_empty() && !args.force {
            let message = Text::new(format!("`{id}` is running"), format!("`{id}` 正在运行"));
            return Ok(Outcome::Noop(run_data("start_lsp_server", id, true, &message, cx.lang)));
        }
        if args.force {
            desk.pool.forgive(id);
            for session in running {
                cx.unless_stopped(session.stop(false)).await?;
            }
        }
        let session = cx.unless_stopped(desk.pool.get(cx, &server, root, root.to_path_buf())).await??;
        let title = if session.title.is_empty() { String::new() } else { format!(" ({})", session.title) };
        let message = Text::new(format!("`{id}`{title} runs"), format!("`{id}`{title} 已启动"));
        Ok(Outcome::Ok(run_data("start_lsp_server", id, true, &message, cx.lang)))
    }
}

impl Tool for StopServer {
    type Args = ServerArgs;
    type Data = RunData;

    fn spec(&self) -> &'static ToolSpec {
        &STOP
    }

    async fn call(&self, args: ServerArgs, cx: &CallCx) -> Result<Outcome<RunData>, ToolError> {
        let desk = &self.0;
        let server = desk.server(&args.server_id)?;
        let root = Desk::root(cx)?;
        let id = server.id.as_str();
        let running = desk.pool.running_in(Some(id), root);
        if running.is_empty() {
            let message = Text::new(format!("`{id}` is not running"), format!("`{id}` 未在运行"));
            return Ok(Outcome::Noop(run_data("stop_lsp_server", id, false, &message, cx.lang)));
        }
        for session in running {
            cx.unless_stopped(session.stop(args.force)).await?;
        }
        let message = Text::new(format!("`{id}` is stopped"), format!("`{id}` 已停止"));
        Ok(Outcome::Ok(run_data("stop_lsp_server", id, false, &message, cx.lang)))
    }
}
