//! An agent's process with its session for one chat: started when a turn needs it, kept for the next one, ended when
//! nobody needed it for a while.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_child::{Program, Signal, Spawning, Tail, drain_lines, how_it_ended};
use chatos_events::Lifetime;
use chatos_store::AcpLaunch;
use chatos_tool::Text;
use chatos_wire::agent::AcpTold;
use chatos_wire::card::plain;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::known::known;
use crate::link::{AUTH_REQUIRED, Ear, Incoming, Link, Refusal};
use crate::ours::{Arrivals, OurTool, SERVER};
use crate::permission::Allowed;
use crate::recover::Replay;
use crate::session;

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;
/// How long an agent may take to say hello.
const HELLO: Duration = Duration::from_secs(60);
/// How long it may take to open or load a session.
const OPENING: Duration = Duration::from_secs(120);
/// A loaded session is told to its end when nothing came for so long.
const QUIET: Duration = Duration::from_millis(300);
/// What an agent may tell of a loaded session after it said that it is loaded takes no longer than this.
const LATE: Duration = Duration::from_secs(5);
/// An agent nobody talked to for so long is ended.
const IDLE: Duration = Duration::from_secs(15 * 60);
/// What a stopped agent has before it is made to end, twice.
const MERCY: Duration = Duration::from_secs(2);
/// Longest line of its log that is kept.
const LOG_BYTES: usize = 8 * 1024;

/// How agents are started.
#[derive(Clone)]
pub struct Launching {
    /// Its tasks end with the host, and are waited for.
    pub life: Lifetime,
    pub spawning: Spawning,
    /// What a child may see of the host's environment, made with what a person named.
    pub environment: Vec<(OsString, OsString)>,
    /// The version of ChatOS, told to the agent.
    pub version: String,
    /// The command of our gateway for this agent, which is offered to it as a server; empty where it is not.
    pub gateway: Vec<String>,
}

impl Launching {
    /// The servers an agent is given for a session in this folder.
    fn servers(&self, chat: &str, root: &Path) -> Value {
        let Some((program, args)) = self.gateway.split_first() else { return json!([]) };
        let place = root.to_string_lossy();
        let args: Vec<&str> =
            args.iter().map(String::as_str).chain(["--root", place.as_ref(), "--session", chat]).collect();
        json!([{ "name": SERVER, "command": program, "args": args, "env": [] }])
    }
}

/// Why there is no session.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NoSeat {
    pub(crate) code: &'static str,
    pub(crate) message: Text,
    /// The process went away in the middle; another try may help.
    pub(crate) died: bool,
}

/// A running agent with one session.
pub(crate) struct Seat {
    pub(crate) link: Link,
    pub(crate) session: String,
    /// Its own name and version.
    pub(crate) program: String,
    pub(crate) images: bool,
    pub(crate) loads: bool,
    pub(crate) resumes: bool,
    /// It takes a message while its turn goes on.
    pub(crate) steers: bool,
    /// It wants to be told when nobody needs its session any more.
    closes: bool,
    /// What it tells about its session.
    pub(crate) told: AcpTold,
    /// What it sent since the session was opened; nobody listened elsewhere.
    pub(crate) early: Option<Ear>,
    /// It said that it would use our gateway, and nothing arrived there.
    pub(crate) doubted: bool,
    /// What was offered when it said hello.
    offered: Allowed,
    life: Lifetime,
    /// What its process complains.
    log: Arc<Tail>,
    launch: AcpLaunch,
    root: PathBuf,
}

impl Drop for Seat {
    fn drop(&mut self) {
        let link = self.link.clone();
        if !self.closes || self.session.is_empty() || link.why_gone().is_some() {
            link.stop.cancel();
            return;
        }
        let order = json!({ "sessionId": self.session });
        self.life.spawn(Box::pin(async move {
            if let Err(refusal) = link.call("session/close", order, MERCY).await {
                tracing::debug!(?refusal, "an agent did not close its session");
            }
            link.stop.cancel();
        }));
    }
}

/// Agents that run at this moment, by chat.
#[derive(Clone, Default)]
pub struct Seats(Arc<Chairs>);

#[derive(Default)]
struct Chairs {
    /// Those that wait for their next turn.
    idle: Mutex<HashMap<String, (u64, Seat)>>,
    /// What arrived at the gateways they were given.
    arrivals: Arrivals,
    /// The lines of all, with their sessions.
    live: Mutex<HashMap<String, (Link, String)>>,
}

impl Seats {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, (u64, Seat)>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Link, String)>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A program's session made a call through the gateway.
    pub fn gateway_called(&self, client: &str, tool: OurTool) {
        self.0.arrivals.note(client, tool);
    }

    pub(crate) fn arrivals(&self) -> &Arrivals {
        &self.0.arrivals
    }

    /// This agent works for this chat from now on.
    pub(crate) fn enter(&self, chat: &str, seat: &Seat) {
        let mut lines = self.lines();
        lines.retain(|_, (link, _)| link.why_gone().is_none());
        lines.insert(chat.to_owned(), (seat.link.clone(), seat.session.clone()));
    }

    /// The line to the agent of a chat and its session, when it runs.
    pub(crate) fn live(&self, chat: &str) -> Option<(Link, String)> {
        self.lines().get(chat).filter(|(link, _)| link.why_gone().is_none()).cloned()
    }

    /// The agent of this chat, when it still runs and is still the one that is wanted.
    pub(crate) fn take(&self, chat: &str, launch: &AcpLaunch, root: &Path, offered: Allowed) -> Option<Seat> {
        let (_, seat) = self.lock().remove(chat)?;
        let same = seat.launch == *launch
            && seat.root == root
            && seat.offered == offered
            && seat.link.why_gone().is_none();
        same.then_some(seat)
    }

    /// Keeps it for the next turn.
    pub(crate) fn keep(&self, chat: &str, seat: Seat, life: &Lifetime) {
        if seat.link.why_gone().is_some() {
            return;
        }
        seat.link.deafen();
        let mark = {
            let mut all = self.lock();
            let mark = all.values().map(|(mark, _)| *mark).max().unwrap_or_default() + 1;
            all.insert(chat.to_owned(), (mark, seat));
            mark
        };
        let (seats, chat) = (Arc::downgrade(&self.0), chat.to_owned());
        let over = life.stop().clone();
        life.spawn(Box::pin(async move {
            tokio::select! {
                () = over.cancelled() => return,
                () = tokio::time::sleep(IDLE) => {}
            }
            let Some(seats) = seats.upgrade().map(Self) else { return };
            let mut all = seats.lock();
            if all.get(&chat).is_some_and(|(kept, _)| *kept == mark) {
                all.remove(&chat);
            }
        }));
    }

    /// Ends every agent that runs.
    pub fn clear(&self) {
        self.lock().clear();
    }
}

impl Seat {
    /// The last words of its process, for a message.
    pub(crate) fn last_words(&self) -> String {
        last_words(&self.log)
    }

    /// Starts the agent and opens a session; with `before` the one it had.
    pub(crate) async fn open(
        launching: &Launching,
        launch: &AcpLaunch,
        whose: Whose<'_>,
        root: &Path,
        before: Option<&Before>,
    ) -> Result<(Self, Opened), NoSeat> {
        let (name, offered) = (whose.name, whose.offered);
        let (link, log) = start(launching, launch, name, root).await?;
        let hello = json!({
            "protocolVersion": VERSION,
            // What the profile does not allow is not offered.
            "clientCapabilities": {
                "fs": {
                    "readTextFile": offered.files && !reads_itself(launch),
                    "writeTextFile": offered.files && offered.edit,
                },
                "terminal": offered.execute,
                "session": { "configOptions": { "boolean": {} } },
                "elicitation": { "form": {} },
            },
            "clientInfo": { "name": "chatos", "title": "ChatOS", "version": launching.version },
        });
        let said = link.call("initialize", hello, HELLO).await;
        let said = said.map_err(|refusal| no_seat(name, launch, "initialize", &refusal, &log, &Value::Null));
        let said = said.inspect_err(|_| link.stop.cancel())?;
        if said["protocolVersion"].as_u64() != Some(VERSION) {
            link.stop.cancel();
            let other = said["protocolVersion"].clone();
            return Err(NoSeat {
                code: "protocol_version",
                message: Text::new(
                    format!(
                        "{name} speaks version {other} of the protocol; ChatOS speaks version {VERSION}. Update {name} or ChatOS."
                    ),
                    format!(
                        "{name} 使用协议版本 {other}，而 ChatOS 使用版本 {VERSION}。请更新 {name} 或 ChatOS。"
                    ),
                ),
                died: false,
            });
        }
        let info = |key: &str| plain(said["agentInfo"][key].as_str().unwrap_or_default());
        let program = match (info("name"), info("version")) {
            (name, _) if name.is_empty() => launch.program.rsplit('/').next().unwrap_or_default().to_owned(),
            (name, version) => format!("{name} {version}").trim_end().to_owned(),
        };
        let can = |pointer: &str| said.pointer(pointer);
        let mut seat = Self {
            session: String::new(),
            program,
            images: can("/agentCapabilities/promptCapabilities/image") == Some(&Value::Bool(true)),
            loads: can("/agentCapabilities/loadSession") == Some(&Value::Bool(true)),
            resumes: can("/agentCapabilities/sessionCapabilities/resume")
                .is_some_and(|offer| !offer.is_null()),
            steers: can("/_meta/steering/supported") == Some(&Value::Bool(true)),
            closes: can("/agentCapabilities/sessionCapabilities/close").is_some_and(|offer| !offer.is_null()),
            told: AcpTold::default(),
            doubted: false,
            early: None,
            offered,
            life: launching.life.clone(),
            link,
            log,
            launch: launch.clone(),
            root: root.to_owned(),
        };
        let methods = said["authMethods"].clone();
        let servers = launching.servers(whose.chat, root);
        let opened = match before {
            Some(before) => {
                if let Some(left) = before.minute_left(&seat.program, jiff::Timestamp::now().as_millisecond())
                {
                    (whose.pausing)(left);
                    tokio::time::sleep(left).await;
                }
                seat.again(&before.session, &servers).await
            }
            None => None,
        };
        if let Some(replayed) = opened {
            return Ok((seat, Opened::Again(replayed)));
        }
        let order = json!({ "cwd": root.to_string_lossy(), "mcpServers": servers });
        let (made, _) = seat.opening("session/new", order).await;
        let made =
            made.map_err(|refusal| no_seat(name, launch, "session/new", &refusal, &seat.log, &methods))?;
        let Some(session) = made["sessionId"].as_str().filter(|id| !id.is_empty() && id.len() <= 1_000)
        else {
            return Err(NoSeat {
                code: "session_failed",
                message: Text::new(format!("{name} opened no session"), format!("{name} 未能创建会话")),
                died: false,
            });
        };
        session.clone_into(&mut seat.session);
        Ok((seat, if before.is_some() { Opened::Lost } else { Opened::New }))
    }

    /// The session it had: loaded, so that it tells what it believes, else resumed. `None` when it has it no more.
    async fn again(&mut self, session: &str, servers: &Value) -> Option<Replay> {
        let order =
            json!({ "sessionId": session, "cwd": self.root.to_string_lossy(), "mcpServers": servers });
        let method = match (self.loads, self.resumes) {
            (true, _) => "session/load",
            (false, true) => "session/resume",
            (false, false) => return None,
        };
        match self.opening(method, order).await {
            (Ok(_), replayed) => {
                session.clone_into(&mut self.session);
                Some(replayed)
            }
            (Err(refusal), _) => {
                tracing::info!(?refusal, "an agent has its session no more");
                None
            }
        }
    }

    /// Asks for a session and reads what is told meanwhile: of the session itself, and what became of calls.
    async fn opening(&mut self, method: &str, order: Value) -> (Result<Value, Refusal>, Replay) {
        let mut incoming = self.link.listen();
        let loading = self.link.call(method, order, OPENING);
        tokio::pin!(loading);
        let (mut replayed, mut told) = (Replay::default(), AcpTold::default());
        let mut keep = |incoming: Incoming| match incoming {
            Incoming::Note { method, mut params } if method == "session/update" => {
                let update = params["update"].take();
                session::updated(&mut told, &update);
                // The chat has the rest.
                if update["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call")) {
                    replayed.told(&update);
                }
                None
            }
            Incoming::Request { id, method, .. } => Some((id, method)),
            _ => None,
        };
        let done = loop {
            tokio::select! {
                biased;
                Some(one) = incoming.recv() => {
                    if let Some((id, method)) = keep(one) {
                        self.link.refuse(id, &method).await;
                    }
                }
                done = &mut loading => break done,
            }
        };
        // What came before the answer is in the queue by now.
        let mut asked = Vec::new();
        while let Some(one) = incoming.try_recv() {
            asked.extend(keep(one));
        }
        // Some agents tell the rest of a loaded session after they said that it is loaded.
        if method == "session/load" && done.is_ok() {
            let until = tokio::time::Instant::now() + LATE;
            while tokio::time::Instant::now() < until
                && let Ok(Some(one)) = tokio::time::timeout(QUIET, incoming.recv()).await
            {
                asked.extend(keep(one));
            }
        }
        for (id, method) in asked {
            self.link.refuse(id, &method).await;
        }
        if let Ok(answer) = &done {
            session::opened(&mut told, answer);
            self.told = told;
            self.early = Some(incoming);
        }
        (done, replayed)
    }
}

/// Gemini CLI takes our word that a file is not there for a failure and then creates none; it looks itself instead.
fn reads_itself(launch: &AcpLaunch) -> bool {
    let is_it = |word: &String| {
        Path::new(word).file_name().is_some_and(|name| name.to_string_lossy().contains("gemini"))
    };
    launch.known_id.as_deref() == Some("gemini")
        || std::iter::once(&launch.program).chain(&launch.args).any(is_it)
}

/// The session an agent had for a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) session: String,
    /// When it was begun or last loaded, in milliseconds; 0 where nobody knows.
    pub(crate) begun_at: i64,
}

impl Before {
    /// How long to wait before this session may be loaded. Gemini CLI names the file of a session by the minute and
    /// writes a new head into a file that is there: loaded in the minute it was begun or loaded in, it would be empty.
    fn minute_left(&self, program: &str, now: i64) -> Option<Duration> {
        const MINUTE: i64 = 60_000;
        if !program.starts_with("gemini-cli") || self.begun_at.div_euclid(MINUTE) != now.div_euclid(MINUTE) {
            return None;
        }
        // Its clock is ours; a moment more, so that it is the next minute for certain.
        let left = MINUTE - now.rem_euclid(MINUTE) + 200;
        Some(Duration::from_millis(left.unsigned_abs()))
    }
}

/// For whom an agent is started.
#[derive(Clone, Copy)]
pub(crate) struct Whose<'a> {
    /// The name people gave the agent.
    pub(crate) name: &'a str,
    pub(crate) chat: &'a str,
    pub(crate) offered: Allowed,
    /// Told when its session can be loaded only after this long.
    pub(crate) pausing: &'a (dyn Fn(Duration) + Send + Sync),
}

/// How a session came to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Opened {
    /// The first of this chat.
    New,
    /// The one it had, with what the agent told of its calls.
    Again(Replay),
    /// The agent does not have it any more; this one knows nothing of the chat.
    Lost,
}

async fn start(
    launching: &Launching,
    launch: &AcpLaunch,
    name: &str,
    root: &Path,
) -> Result<(Link, Arc<Tail>), NoSeat> {
    let program = Program {
        program: launch.program.clone().into(),
        arguments: launch.args.iter().map(OsString::from).collect(),
        directory: Some(root.to_owned()),
        environment: launching.environment.clone(),
    };
    let started = chatos_child::start(&program, &launching.spawning).await;
    let (mut child, streams) = started.map_err(|error| NoSeat {
        code: "agent_not_started",
        message: Text::new(
            format!(
                "{name} could not be started: {error}. Check the command of this agent on the Agents page."
            ),
            format!("无法启动 {name}：{error}。请在“智能体”页面检查此智能体的命令。"),
        ),
        died: false,
    })?;
    let Some(stdin) = streams.stdin else {
        return Err(NoSeat { code: "internal", message: Text::same("the agent has no input"), died: false });
    };
    let (log, stop) = (Arc::new(Tail::default()), CancellationToken::new());
    let link = Link::over(streams.stdout, stdin, stop.clone(), &launching.life);
    let kept = Arc::clone(&log);
    launching.life.spawn(Box::pin(drain_lines(streams.stderr, LOG_BYTES, move |line| kept.push(line))));
    let line = link.clone();
    let over = launching.life.stop().clone();
    launching.life.spawn(Box::pin(async move {
        tokio::select! {
            ended = child.wait() => {
                let how = ended.map(how_it_ended).unwrap_or_default();
                // What it wrote last is read first.
                tokio::time::sleep(Duration::from_millis(50)).await;
                line.gone(&format!("it ended ({how})"));
            }
            () = async { tokio::select! { () = stop.cancelled() => {}, () = over.cancelled() => {} } } => {
                line.gone("it was stopped");
                // Its input is closed by now.
                for signal in [None, Some(Signal::TERM), Some(Signal::KILL)] {
                    if let Some(signal) = signal {
                        child.signal(signal);
                    }
                    if tokio::time::timeout(MERCY, child.wait()).await.is_ok() {
                        break;
                    }
                }
            }
        }
        child.end_rest().await;
    }));
    Ok((link, log))
}

fn last_words(log: &Tail) -> String {
    let lines = log.last(3);
    let text: String = lines.join(" ").chars().take(400).collect();
    plain(text.trim())
}

/// What a person is told when an agent gives no session.
pub(crate) fn no_seat(
    name: &str,
    launch: &AcpLaunch,
    step: &str,
    refusal: &Refusal,
    log: &Tail,
    methods: &Value,
) -> NoSeat {
    match refusal {
        Refusal::Said { code: AUTH_REQUIRED, message, .. } => sign_in(name, launch, message, methods),
        Refusal::Said { message, data, .. } => {
            let more = data["details"].as_str().or(data.as_str()).unwrap_or_default();
            let text = plain(format!("{message} {more}").trim());
            NoSeat {
                code: "agent_refused",
                message: Text::new(
                    format!("{name} refused `{step}`: {text}"),
                    format!("{name} 拒绝了 `{step}`：{text}"),
                ),
                died: false,
            }
        }
        Refusal::Silent => NoSeat {
            code: "agent_silent",
            message: Text::new(
                format!("{name} did not answer `{step}` in time. {}", last_words(log)).trim_end().to_owned(),
                format!("{name} 未及时回应 `{step}`。{}", last_words(log)),
            ),
            died: true,
        },
        Refusal::Gone(why) => {
            let words = last_words(log);
            NoSeat {
                code: "agent_gone",
                message: Text::new(
                    format!("{name} stopped: {why}. {words}").trim_end().to_owned(),
                    format!("{name} 已停止：{why}。{words}"),
                ),
                died: true,
            }
        }
    }
}

/// A person signs in where the program always asks: in their own terminal.
pub(crate) fn sign_in(name: &str, launch: &AcpLaunch, said: &str, methods: &Value) -> NoSeat {
    let command = launch.known_id.as_deref().and_then(known).map(|known| known.sign_in);
    let offered: Vec<String> = methods
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|method| method["name"].as_str())
        .take(5)
        .map(plain)
        .collect();
    let (en, zh) = match command {
        Some(command) => (
            format!("Run `{command}` in a terminal, sign in, then send the message again."),
            format!("请在终端中运行 `{command}` 完成登录，然后重新发送消息。"),
        ),
        None if offered.is_empty() => (
            "Sign in to it in a terminal, then send the message again.".to_owned(),
            "请在终端中登录该程序，然后重新发送消息。".to_owned(),
        ),
        None => (
            format!("Sign in to it in a terminal ({}), then send the message again.", offered.join(", ")),
            format!("请在终端中登录该程序（{}），然后重新发送消息。", offered.join("、")),
        ),
    };
    let said = plain(said);
    NoSeat {
        code: "auth_required",
        message: Text::new(
            format!("{name} is not signed in ({said}). {en}"),
            format!("{name} 尚未登录（{said}）。{zh}"),
        ),
        died: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_gemini_cli_is_loaded_in_a_later_minute_than_it_was_begun_in() {
        let before = Before { session: "s".to_owned(), begun_at: 600_000 + 5_000 };
        let left = |program: &str, now: i64| before.minute_left(program, now);
        assert_eq!(left("gemini-cli 0.61.0", 600_000 + 59_900), Some(Duration::from_millis(300)));
        assert_eq!(left("gemini-cli 0.61.0", 660_000), None);
        assert_eq!(left("opencode 1.18.33", 600_000 + 6_000), None);
        let unknown = Before { begun_at: 0, ..before.clone() };
        assert_eq!(unknown.minute_left("gemini-cli 0.61.0", 600_000 + 6_000), None);
    }
}
