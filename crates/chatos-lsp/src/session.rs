//! One language server that runs: started inside the boundary of commands, spoken to, kept, and ended whatever
//! happens.

mod incoming;
mod keeping;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chatos_child::{Tail, drain_lines};
use chatos_files::Digest;
use chatos_layer::CallCx;
use chatos_shell::{Launcher, Level, ProgramOrder};
use chatos_tool::{Needed, Reason, Text, ToolError};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use crate::documents::{Document, Documents, OnDisk, Wants};
use crate::find;
use crate::news::News;
use crate::position::Encoding;
use crate::table::LanguageServer;
use crate::uri;
use crate::wire::{Refusal, Wire};
pub(crate) use keeping::Death;
use keeping::Kept;

/// Memory of a language server with everything it starts. The large ones stay below it on large projects; one
/// above it is taken for a leak.
const MEMORY_BYTES: u64 = 6 << 30;
/// How long a server may need for a text it just heard of before "nothing" is believed. Longer costs a wait where there
/// is nothing to find; shorter gives wrong answers about files that were just opened.
const READING: Duration = Duration::from_millis(1_500);
/// Longest line of its complaints that is kept.
const LINE_BYTES: usize = 2_000;

/// A language server that runs.
pub(crate) struct Session {
    pub(crate) server: Arc<LanguageServer>,
    /// What it was started for.
    pub(crate) folder: PathBuf,
    pub(crate) wire: Arc<Wire>,
    pub(crate) news: Arc<News>,
    pub(crate) abilities: Value,
    pub(crate) wants: Wants,
    pub(crate) level: Level,
    /// Name and version, as it says.
    pub(crate) title: String,
    documents: tokio::sync::Mutex<Documents>,
    /// What it was told last: the address, when, and the number of the last publish before.
    told: std::sync::Mutex<Option<(String, Instant, u64)>>,
    kept: Arc<Kept>,
}

/// What a session is started from.
pub(crate) struct Start<'a> {
    pub(crate) launcher: &'a Launcher,
    pub(crate) server: Arc<LanguageServer>,
    /// What it may change.
    pub(crate) root: &'a Path,
    /// What it is started for.
    pub(crate) folder: PathBuf,
    pub(crate) state_dir: Option<&'a Path>,
    pub(crate) on_death: Box<dyn Fn(Death) + Send + Sync>,
}

impl Session {
    /// Starts a server and says hello.
    pub(crate) async fn start(cx: &CallCx, start: Start<'_>) -> Result<Arc<Self>, ToolError> {
        let Start { launcher, server, root, folder, state_dir, on_death } = start;
        let level = launcher.level(cx)?;
        // Without a boundary a project must not bring the program that is run.
        let project = (level > Level::None).then_some(folder.as_path());
        let variables = launcher.variables();
        let program = find::program(&server.command, variables, project)
            .or_else(|| find::program(&server.command, variables, project.map(|_| root)))
            .ok_or_else(|| missing(&server))?;
        let cache = cache_dir(state_dir, &server, &folder);
        let fill = |text: &str| fill(text, &server, root, &folder, state_dir, cache.as_deref());
        let mut argv = vec![program.display().to_string()];
        argv.extend(server.args.iter().map(|arg| fill(arg)));
        let mut env: BTreeMap<String, String> = BTreeMap::new();
        if let Some(cache) = &cache {
            env.insert("XDG_CACHE_HOME".to_owned(), cache.display().to_string());
        }
        if let Some(place) = program.parent() {
            // A script finds the interpreter that lies beside it.
            let path = variables.get("PATH").map_or("/usr/local/bin:/usr/bin:/bin", String::as_str);
            env.insert("PATH".to_owned(), format!("{path}:{}", place.display()));
        }
        env.extend(server.env.iter().map(|(name, value)| (name.clone(), fill(value))));
        let order = ProgramOrder {
            argv,
            env,
            root,
            cwd: &folder,
            read: find::surroundings(&program, variables, &server.reads),
            own: cache.iter().cloned().collect(),
            memory_bytes: MEMORY_BYTES,
        };
        let (program, streams) = launcher.start(cx, order).await?;
        let (wire, mut outgoing) = Wire::new();
        let (wire, news, tail) = (Arc::new(wire), Arc::new(News::default()), Arc::new(Tail::default()));
        let kept = Arc::new(Kept::new(Arc::clone(&wire), Arc::clone(&tail), cx.settings.lsp.idle_stop));
        let level = program.level();
        let mut stdin = streams.stdin;
        let writer = cx.tracker.spawn(async move {
            while let Some(message) = outgoing.recv().await {
                if stdin.write_all(&message).await.is_err() {
                    return;
                }
            }
        });
        let complaints = cx.tracker.spawn(async move {
            drain_lines(streams.stderr, LINE_BYTES, |line| tail.push(line)).await;
        });
        let reader = cx.tracker.spawn(incoming::read(
            streams.stdout,
            Arc::clone(&wire),
            Arc::clone(&news),
            Arc::clone(&kept),
            folder.clone(),
        ));
        let tasks = [writer, complaints, reader];
        cx.tracker.spawn(keeping::keep(program, Arc::clone(&kept), tasks, cx.shutdown.clone(), on_death));
        // Ends the program when this call is dropped before it has said hello.
        let unfinished = kept.kill.clone().drop_guard();
        let options = server.options.as_ref().map(|options| filled(options, &fill));
        let hello = hello(&folder, options);
        let answer = wire.request("initialize", hello, cx.settings.lsp.timeout).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(refusal) => {
                drop(unfinished);
                kept.done.cancelled().await;
                return Err(no_hello(&server, &refusal, &kept, cx.settings.lsp.timeout));
            }
        };
        let abilities = answer["capabilities"].clone();
        let wants = wants(&abilities);
        news.pulls.store(abilities["diagnosticProvider"].is_object(), std::sync::atomic::Ordering::Relaxed);
        let told = wire.tell("initialized", json!({})).await;
        if let Err(refusal) = told {
            return Err(no_hello(&server, &refusal, &kept, cx.settings.lsp.timeout));
        }
        unfinished.disarm();
        kept.greeted();
        let info = &answer["serverInfo"];
        let title = [info["name"].as_str(), info["version"].as_str()].into_iter().flatten();
        let title = title.collect::<Vec<_>>().join(" ");
        let (documents, told) = (tokio::sync::Mutex::default(), std::sync::Mutex::default());
        let made = Self { server, folder, wire, news, abilities, wants, level, title, documents, told, kept };
        Ok(Arc::new(made))
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.wire.gone().is_cancelled() && !self.kept.ending()
    }

    pub(crate) fn touch(&self, idle: Option<Duration>) {
        self.kept.touch(idle);
    }

    /// When somebody used it last.
    pub(crate) fn used(&self) -> Instant {
        self.kept.used()
    }

    /// Asks something of it.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        time: Duration,
    ) -> Result<Value, Refusal> {
        let _using = self.kept.using();
        let answer = self.wire.request(method, params, time).await;
        if answer == Err(Refusal::Timeout { heard: false }) && self.news.busy().is_none() {
            // Silent for as long as a request may take, and not at work: it hangs. The next call starts another one.
            self.kept.hangs(method);
        }
        answer
    }

    /// Brings a text up to date.
    pub(crate) async fn sync(&self, disk: OnDisk) -> Result<Document, Refusal> {
        let mut documents = self.documents.lock().await;
        let (messages, document) = documents.sync(disk, self.wants, self.news.number());
        if !messages.is_empty() {
            let told = (document.uri.clone(), Instant::now(), document.since);
            *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        }
        for (method, params) in messages {
            self.wire.tell(method, params).await?;
        }
        Ok(document)
    }

    /// It heard of a text a moment ago and has not said anything about it: many servers say "nothing" until they
    /// have read it, and do not say that they are reading.
    pub(crate) fn is_reading(&self) -> bool {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.as_ref().is_some_and(|(uri, at, since)| {
            at.elapsed() < READING && self.news.of(uri).is_none_or(|known| known.number <= *since)
        })
    }

    /// Closes texts that are gone.
    pub(crate) async fn close(&self, uri: &str) -> Result<(), Refusal> {
        let message = self.documents.lock().await.close(uri, self.wants);
        match message {
            Some((method, params)) => self.wire.tell(method, params).await,
            None => Ok(()),
        }
    }

    /// Texts that are open, with the digests the server knows: address, path, digest.
    pub(crate) async fn open(&self) -> Vec<Document> {
        let documents = self.documents.lock().await;
        let uris: Vec<String> = documents.uris().map(str::to_owned).collect();
        uris.iter().filter_map(|uri| documents.get(uri).cloned()).collect()
    }

    /// Whether a method is offered; `pointer` is its place in the abilities.
    pub(crate) fn offers(&self, pointer: &str) -> bool {
        !matches!(self.abilities.pointer(pointer), None | Some(Value::Null | Value::Bool(false)))
    }

    /// Ends it politely, or at once.
    pub(crate) async fn stop(&self, at_once: bool) {
        if at_once {
            self.kept.kill.cancel();
        }
        self.kept.end.cancel();
        self.kept.done.cancelled().await;
    }

    /// What is said when it is gone.
    pub(crate) fn gone(&self) -> ToolError {
        let death = self.kept.death();
        ended(&self.server, death.as_ref())
    }
}

/// The error for a server that ended.
pub(crate) fn ended(server: &LanguageServer, death: Option<&Death>) -> ToolError {
    let id = &server.id;
    let (why, lines) = match death {
        Some(death) => (death.why.clone(), death.lines.join("\n")),
        None => ("it was stopped".to_owned(), String::new()),
    };
    let lines = if lines.is_empty() { lines } else { format!("\n{lines}") };
    let error = ToolError::new(
        Reason::Unavailable { what: Needed::LanguageServer, install: server.install.clone() },
        Text::new(
            format!("the language server `{id}` ended: {why}{lines}"),
            format!("语言服务器 `{id}` 已退出：{why}{lines}"),
        ),
    );
    error.hint(install_hint(server))
}

fn no_hello(server: &LanguageServer, refusal: &Refusal, kept: &Kept, limit: Duration) -> ToolError {
    let id = &server.id;
    match refusal {
        Refusal::Gone => ended(server, kept.death().as_ref()),
        Refusal::Timeout { .. } => ToolError::unavailable(
            Needed::LanguageServer,
            Text::new(
                format!(
                    "the language server `{id}` did not answer to `initialize` within {} ms",
                    limit.as_millis()
                ),
                format!("语言服务器 `{id}` 未在 {} 毫秒内响应 `initialize`", limit.as_millis()),
            ),
        )
        .hint(Text::fixed(
            "raise lspTimeoutMs, or look at what the program does when it is started by hand",
            "请调大 lspTimeoutMs，或手动启动该程序查看原因",
        )),
        Refusal::Server { message, .. } => ToolError::unavailable(
            Needed::LanguageServer,
            Text::new(
                format!("the language server `{id}` refuses to start: {message}"),
                format!("语言服务器 `{id}` 拒绝启动：{message}"),
            ),
        )
        .hint(install_hint(server)),
    }
}

fn missing(server: &LanguageServer) -> ToolError {
    let (id, command) = (&server.id, &server.command);
    ToolError::new(
        Reason::Unavailable { what: Needed::LanguageServer, install: server.install.clone() },
        Text::new(
            format!("the language server `{id}` is not installed: there is no program `{command}`"),
            format!("未安装语言服务器 `{id}`：找不到程序 `{command}`"),
        ),
    )
    .hint(install_hint(server))
}

fn install_hint(server: &LanguageServer) -> Text {
    match &server.install {
        Some(install) => Text::new(
            format!("install it with `{install}`; meanwhile search_text and read_file work without it"),
            format!("请用 `{install}` 安装；在此之前可使用 search_text 和 read_file"),
        ),
        None => Text::fixed(
            "look at its entry in lsp-servers.json; meanwhile search_text and read_file work without it",
            "请检查 lsp-servers.json 中的条目；在此之前可使用 search_text 和 read_file",
        ),
    }
}

/// A place of its own for its caches, beneath the state directory.
fn cache_dir(state_dir: Option<&Path>, server: &LanguageServer, folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::DirBuilderExt;
    let name = Digest::of(folder.as_os_str().as_encoded_bytes());
    let dir = state_dir?.join("lsp-workspaces").join(format!("{}-{}", server.id, &name.as_str()[..16]));
    match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir) {
        Ok(()) => Some(dir),
        Err(error) => {
            tracing::warn!(%error, path = %dir.display(), "a language server has no place for its caches");
            None
        }
    }
}

/// servers §10: the variables of a configuration.
fn fill(
    text: &str,
    server: &LanguageServer,
    root: &Path,
    folder: &Path,
    state_dir: Option<&Path>,
    cache: Option<&Path>,
) -> String {
    let path = |path: Option<&Path>| path.map(|path| path.display().to_string()).unwrap_or_default();
    text.replace("${workspaceRoot}", &path(Some(folder)))
        .replace("${sessionRoot}", &path(Some(root)))
        .replace("${stateDir}", &path(state_dir))
        .replace("${cacheDir}", &path(cache))
        .replace("${serverId}", &server.id)
}

fn filled(value: &Value, fill: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text)),
        Value::Array(list) => list.iter().map(|one| filled(one, fill)).collect(),
        Value::Object(map) => map.iter().map(|(key, one)| (key.clone(), filled(one, fill))).collect(),
        other => other.clone(),
    }
}

fn wants(abilities: &Value) -> Wants {
    let sync = &abilities["textDocumentSync"];
    let kind = sync.as_u64().or_else(|| sync["change"].as_u64()).unwrap_or(1);
    let whole = sync.is_object();
    Wants {
        open_close: !whole || sync["openClose"].as_bool().unwrap_or(true),
        incremental: kind == 2,
        save: whole && !matches!(sync["save"], Value::Null | Value::Bool(false)),
        encoding: Encoding::parse(abilities["positionEncoding"].as_str().unwrap_or_default()),
    }
}

/// What this side can do. No process number: inside its boundary a server cannot see ours and would end itself.
fn hello(folder: &Path, options: Option<Value>) -> Value {
    let (uri, name) = (uri::of(folder), folder.file_name().unwrap_or_default().to_string_lossy());
    let kinds = [
        "",
        "quickfix",
        "refactor",
        "refactor.extract",
        "refactor.inline",
        "refactor.rewrite",
        "source",
        "source.organizeImports",
        "source.fixAll",
    ];
    json!({
        "processId": null,
        "clientInfo": { "name": "chatos" },
        "rootUri": uri,
        "rootPath": folder,
        "workspaceFolders": [{ "uri": uri, "name": name }],
        "initializationOptions": options,
        "capabilities": {
            "general": { "positionEncodings": ["utf-16", "utf-8", "utf-32"] },
            "window": { "workDoneProgress": true },
            "experimental": { "serverStatusNotification": true },
            "workspace": {
                "applyEdit": true,
                "workspaceEdit": {
                    "documentChanges": true,
                    "resourceOperations": ["create", "rename", "delete"],
                    "failureHandling": "abort",
                },
                "configuration": true,
                "workspaceFolders": true,
                "symbol": {},
                "executeCommand": {},
            },
            "textDocument": {
                "synchronization": { "didSave": true },
                "hover": { "contentFormat": ["markdown", "plaintext"] },
                "definition": { "linkSupport": true },
                "references": {},
                "completion": { "completionItem": {
                    "snippetSupport": false, "documentationFormat": ["markdown", "plaintext"],
                } },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "formatting": {},
                "rename": { "prepareSupport": true },
                "callHierarchy": {},
                "codeAction": {
                    "codeActionLiteralSupport": { "codeActionKind": { "valueSet": kinds } },
                    "dataSupport": true, "isPreferredSupport": true, "disabledSupport": true,
                    "resolveSupport": { "properties": ["edit", "command"] },
                },
                "publishDiagnostics": { "versionSupport": true },
                "diagnostic": { "dynamicRegistration": true },
            },
        },
    })
}
