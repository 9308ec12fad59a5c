//! What an agent lets us do (other-agents §4.8): files and commands, through our own tools, with their confinement, their
//! history and their sandbox. An act that a person approved as the agent announced it is not asked about again; every
//! other one has a card and a question of its own. No act outlives the turn.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_agent::{CallEnd, CallObserver, NoObserver};
use chatos_inbox::Covered;
use chatos_mcp::{Later, Progress as Sign};
use chatos_prompts::whole;
use chatos_tool::{Fault, Text, ToolError, Trace};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Work;
use super::ask::{Decided, Sequel};
use crate::link::{FAILED, INVALID, NOT_FOUND};
use crate::message::{Choice, FileDiff, Kind, Progress, ToolCall, in_shell};
use crate::ours::OurTool;
use crate::permission::{self, Asker};

/// Longest text an agent may write at once.
const WRITE_BYTES: usize = 16 << 20;
/// Most pieces a file is read in.
const PIECES: usize = 64;
/// Most terminals of a turn at one moment.
const TERMINALS: usize = 32;
/// What a terminal keeps where the agent names no limit.
const OUTPUT_BYTES: usize = 1 << 20;
/// What acts have to end when nobody waits for them any more.
const ENDING: Duration = Duration::from_secs(5);
/// A command that could not be run, as shells say it.
const NOT_RUN: i32 = 126;

/// A call of one of our own tools for an agent.
#[derive(Debug, Clone)]
pub struct Deed {
    pub server: &'static str,
    pub tool: &'static str,
    pub arguments: Map<String, Value>,
    /// The call's own span.
    pub span: String,
    pub cancel: CancellationToken,
}

/// Our own tools, as this agent may use them.
pub trait Hands: Send + Sync {
    /// Makes a call; the profile is looked at here.
    fn call(&self, deed: Deed, observer: Arc<dyn CallObserver>) -> Later<CallEnd>;

    /// The tool that our gateway offers this agent under this name.
    fn offered(&self, name: String) -> Later<Option<OurTool>>;
}

/// Something to do for the agent.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Write { path: String, text: String },
    Run { terminal: String, command: String, cwd: PathBuf, place: String, env: Map<String, Value> },
}

impl Act {
    fn covered(&self) -> Covered {
        match self {
            Self::Write { path, text } => {
                Covered::File { path: path.clone(), sha256: whole::sha256(text.as_bytes()) }
            }
            Self::Run { command, cwd, .. } => {
                Covered::Command { text: command.clone(), cwd: cwd.to_string_lossy().into_owned() }
            }
        }
    }
}

/// An approved announcement that was not acted on yet.
pub(super) struct Cover {
    tool_id: String,
    what: Covered,
}

/// An act that is over, or a read.
pub(super) enum Done {
    Read { rpc_id: Value, said: Result<Value, (i64, String)> },
    Wrote { rpc_id: Value, card: Option<String>, end: Box<CallEnd> },
    Ran { terminal: String, card: Option<String>, end: Box<CallEnd> },
}

/// A command that runs for the agent.
pub(super) struct Terminal {
    seen: Arc<Mutex<String>>,
    exit: Option<Value>,
    cut: bool,
    limit: usize,
    stop: CancellationToken,
    /// Who waits for its end.
    waiting: Vec<Value>,
    released: bool,
}

/// Passes on what a command prints, to the card and to whoever asks for the output.
struct Watching {
    card: Option<Arc<dyn CallObserver>>,
    seen: Arc<Mutex<String>>,
}

impl CallObserver for Watching {
    fn progress(&self, progress: &Sign) {
        if let Some(tail) = progress.meta.as_ref().and_then(|meta| meta["tail"].as_str()) {
            tail.clone_into(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        }
        if let Some(card) = &self.card {
            card.progress(progress);
        }
    }
}

fn span() -> String {
    uuid::Uuid::new_v4().simple().to_string().chars().take(16).collect()
}

/// The end of a text, at most so many bytes, not in the middle of a character.
fn tail(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain =
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The command line of a `terminal/create`.
fn command_line(params: &Value) -> Option<String> {
    let command = params["command"].as_str().filter(|command| !command.trim().is_empty())?;
    let args: Vec<&str> = params["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if args.is_empty() {
        return Some(command.to_owned());
    }
    let words: Vec<&str> = std::iter::once(command).chain(args).collect();
    Some(
        in_shell(&words)
            .unwrap_or_else(|| words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    )
}

/// A path of the agent below the root; `None` is outside. Links are the tool's matter.
fn below(root: &Path, path: &Path) -> Option<String> {
    let real = std::fs::canonicalize(root).ok();
    let rest = path.strip_prefix(root).ok().or_else(|| path.strip_prefix(real?).ok())?;
    let inside = !rest.components().any(|part| matches!(part, std::path::Component::ParentDir));
    inside.then(|| {
        if rest.as_os_str().is_empty() { ".".to_owned() } else { rest.to_string_lossy().into_owned() }
    })
}

/// Lines of a text as `fs/read_text_file` names them.
fn lines(text: &str, params: &Value) -> String {
    let skip = params["line"].as_u64().unwrap_or(1).max(1) - 1;
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let take =
        params["limit"].as_u64().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    if skip == 0 && take == usize::MAX {
        return text.to_owned();
    }
    text.split_inclusive('\n').skip(skip).take(take).collect()
}

/// Reads a file whole, in as many pieces as one answer of the tool holds.
async fn content(hands: &dyn Hands, path: &str, cancel: &CancellationToken) -> Result<String, (i64, String)> {
    let (mut whole, mut offset) = (String::new(), 0_u64);
    for _ in 0..PIECES {
        let arguments =
            Map::from_iter([("path".to_owned(), json!(path)), ("offset".to_owned(), json!(offset))]);
        let deed = Deed {
            server: "code_maintainer",
            tool: "read_file_raw",
            arguments,
            span: span(),
            cancel: cancel.clone(),
        };
        let end = hands.call(deed, Arc::new(NoObserver)).await;
        if end.is_error {
            let code = if end.envelope.code == "not_found" { NOT_FOUND } else { FAILED };
            return Err((code, message_of(&end)));
        }
        let text = end.envelope.product().unwrap_or(&end.envelope.text);
        if end.envelope.data["truncated"] != true {
            whole.push_str(text);
            return Ok(whole);
        }
        // The last line says how to go on.
        whole.push_str(text.rsplit_once('\n').map_or(text, |(before, _)| before));
        let next = end.envelope.cuts.iter().find_map(|cut| cut.next.as_ref()?["offset"].as_u64());
        match next.filter(|next| *next > offset) {
            Some(next) => offset = next,
            None => break,
        }
    }
    Err((FAILED, "the file is too large to be read at once; read it in parts with a command".to_owned()))
}

/// Why a call of ours failed, in the words of the tool.
fn message_of(end: &CallEnd) -> String {
    let error = end.envelope.error.as_ref();
    let said = error.and_then(|error| error["message"].as_str()).unwrap_or(&end.envelope.text);
    said.chars().take(2_000).collect()
}

impl Work<'_> {
    /// Keeps what a person approved, so that the act itself is not asked about again.
    pub(super) fn covers(&mut self, call: &ToolCall) {
        let root = self.turn.run.workdir.as_path();
        let add = |what| Cover { tool_id: call.id.clone(), what };
        for diff in &call.diffs {
            if let Some(path) = below(root, &root.join(&diff.path)) {
                self.covered.push(add(Covered::File { path, sha256: whole::sha256(diff.new.as_bytes()) }));
            }
        }
        if let Some(text) = call.command().filter(|_| call.kind == Kind::Execute) {
            let cwd = call.cwd(root).to_string_lossy().into_owned();
            self.covered.push(add(Covered::Command { text, cwd }));
        }
    }

    /// The call whose approval covers this, used up with that.
    fn take_cover(&mut self, what: &Covered) -> Option<String> {
        let found = self.covered.iter().position(|cover| cover.what == *what)?;
        Some(self.covered.swap_remove(found).tool_id)
    }

    /// A request of the agent that is no permission.
    pub(super) async fn requested(&mut self, id: Value, method: &str, params: Value) -> Result<(), Fault> {
        let Some(seat) = &self.seat else { return Ok(()) };
        let (link, ours) = (seat.link.clone(), params["sessionId"] == seat.session.as_str());
        let may = self.turn.allowed;
        let offered = match method {
            "fs/read_text_file" => may.files,
            "fs/write_text_file" => may.files && may.edit,
            "elicitation/create" => true,
            _ => may.execute && method.starts_with("terminal/"),
        };
        if !offered {
            link.refuse(id, method).await;
            return Ok(());
        }
        let refused = if !ours {
            Err((INVALID, "there is no such session".to_owned()))
        } else if self.alarm.is_some() {
            Err((FAILED, "the turn was stopped".to_owned()))
        } else {
            match method {
                "fs/read_text_file" => self.read(id.clone(), params),
                "fs/write_text_file" => self.write(id.clone(), &params).await?,
                "elicitation/create" => self.elicit(id.clone(), &params).await?,
                "terminal/create" => self.terminal(id.clone(), &params).await?,
                _ => self.of_terminal(id.clone(), method, &params).await,
            }
        };
        if let Err((code, why)) = refused
            && link.reply_error(id, code, &why).await.is_err()
        {
            tracing::debug!("an agent was gone before it was answered");
        }
        Ok(())
    }

    /// The path an agent names, below the root.
    fn path(&self, params: &Value) -> Result<String, (i64, String)> {
        let named = Path::new(params["path"].as_str().unwrap_or_default());
        if !named.is_absolute() {
            return Err((INVALID, "`path` has to be absolute".to_owned()));
        }
        below(&self.turn.run.workdir, named)
            .ok_or_else(|| (INVALID, format!("outside of the project: {}", named.display())))
    }

    fn read(&mut self, rpc_id: Value, params: Value) -> Result<(), (i64, String)> {
        let path = self.path(&params)?;
        let (hands, cancel) = (Arc::clone(&self.turn.hands), self.turn.cancel.child_token());
        self.doing.spawn(async move {
            let said = content(hands.as_ref(), &path, &cancel).await;
            let named = params["path"].as_str().unwrap_or_default();
            let said = said.map(|text| json!({ "content": lines(&text, &params) }));
            let said = said.map_err(|(code, why)| match code {
                // Agents look for these words.
                NOT_FOUND => (code, format!("Resource not found: {named}")),
                _ => (code, why),
            });
            Done::Read { rpc_id, said }
        });
        Ok(())
    }

    async fn write(&mut self, rpc_id: Value, params: &Value) -> Result<Result<(), (i64, String)>, Fault> {
        let path = match self.path(params) {
            Ok(path) => path,
            Err(refused) => return Ok(Err(refused)),
        };
        let Some(text) = params["content"].as_str() else {
            return Ok(Err((INVALID, "`content` has to be text".to_owned())));
        };
        if text.len() > WRITE_BYTES {
            return Ok(Err((INVALID, "the text is too large to be written at once".to_owned())));
        }
        let act = Act::Write { path: path.clone(), text: text.to_owned() };
        if let Some(tool_id) = self.take_cover(&act.covered()) {
            self.begin(rpc_id, act, None, Some(tool_id)).await;
            return Ok(Ok(()));
        }
        let old = content(self.turn.hands.as_ref(), &path, &self.turn.cancel).await;
        let old = match old {
            Ok(old) => Some(old),
            Err((NOT_FOUND, _)) => None,
            Err(refused) => return Ok(Err(refused)),
        };
        if old.as_deref() == Some(text) {
            if let Some(seat) = &self.seat {
                seat.link.reply(rpc_id, json!({})).await.ok();
            }
            return Ok(Ok(()));
        }
        let absolute = self.turn.run.workdir.join(&path);
        let call = ToolCall {
            title: path.clone(),
            kind: Kind::Edit,
            input: json!({ "path": absolute }),
            diffs: vec![FileDiff { path: absolute, old, new: text.to_owned() }],
            ..ToolCall::default()
        };
        self.ask_act(rpc_id, act, call).await
    }

    async fn terminal(&mut self, rpc_id: Value, params: &Value) -> Result<Result<(), (i64, String)>, Fault> {
        let Some(command) = command_line(params) else {
            return Ok(Err((INVALID, "`command` is missing".to_owned())));
        };
        if self.terminals.len() >= TERMINALS {
            return Ok(Err((FAILED, format!("at most {TERMINALS} terminals at once; release one"))));
        }
        let root = self.turn.run.workdir.clone();
        let cwd = params["cwd"].as_str().map_or_else(|| root.clone(), |cwd| root.join(cwd));
        let Some(place) = below(&root, &cwd) else {
            return Ok(Err((INVALID, format!("outside of the project: {}", cwd.display()))));
        };
        let mut env = Map::new();
        for one in params["env"].as_array().into_iter().flatten() {
            // What stands for a secret of a person is no word of the agent's.
            if let (Some(name), Some(value)) = (one["name"].as_str(), one["value"].as_str())
                && !value.starts_with("secret:")
            {
                env.insert(name.to_owned(), json!(value));
            }
        }
        let id = format!("term-{}", uuid::Uuid::new_v4().simple());
        let limit = params["outputByteLimit"].as_u64().and_then(|limit| usize::try_from(limit).ok());
        let terminal = Terminal {
            seen: Arc::default(),
            exit: None,
            cut: false,
            limit: limit.unwrap_or(OUTPUT_BYTES).min(OUTPUT_BYTES),
            stop: self.turn.cancel.child_token(),
            waiting: Vec::new(),
            released: false,
        };
        self.terminals.insert(id.clone(), terminal);
        let act =
            Act::Run { terminal: id, command: command.clone(), cwd: cwd.clone(), place, env: env.clone() };
        // Variables are part of what runs: a person saw none of them.
        let cover = if env.is_empty() { self.take_cover(&act.covered()) } else { None };
        if let Some(tool_id) = cover {
            self.begin(rpc_id, act, None, Some(tool_id)).await;
            return Ok(Ok(()));
        }
        let mut input = json!({ "command": command, "cwd": cwd });
        if !env.is_empty() {
            input["env"] = Value::Object(env);
        }
        let call = ToolCall { title: command, kind: Kind::Execute, input, ..ToolCall::default() };
        self.ask_act(rpc_id, act, call).await
    }

    /// A card and a question for an act nobody approved yet.
    async fn ask_act(
        &mut self,
        rpc_id: Value,
        act: Act,
        mut call: ToolCall,
    ) -> Result<Result<(), (i64, String)>, Fault> {
        let Some(seat) = &self.seat else { return Ok(Ok(())) };
        let (session, program) = (seat.session.clone(), seat.program.clone());
        self.release().await?;
        // No agent can name it.
        call.id = format!("\u{0}act-{}", uuid::Uuid::new_v4().simple());
        let id = call.id.clone();
        self.announce(call.clone()).await?;
        let turn = self.turn;
        let option =
            |id: &str, kind: &str| Choice { id: id.to_owned(), name: id.to_owned(), kind: kind.to_owned() };
        let choices = vec![option("yes", "allow_once"), option("no", "reject_once")];
        let variables = match &act {
            Act::Run { env, .. } => env.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
            Act::Write { .. } => String::new(),
        };
        let asker = Asker {
            agent_id: &turn.agent_id,
            agent: &turn.agent,
            program: &program,
            session: self.asked_as.as_deref().unwrap_or(&session),
            root: &turn.run.workdir,
            through_us: true,
            variables: &variables,
        };
        let Ok(question) = permission::question(&call, &choices, asker, turn.run.people) else {
            self.end_act(&id, Progress::Failed, "too large to be shown".to_owned()).await?;
            return Ok(Err((FAILED, "the change is too large to be shown to a person".to_owned())));
        };
        let Some(open) = self.calls.open.get(&id) else {
            return Ok(Err((FAILED, "too many calls".to_owned())));
        };
        let trace = Trace { span_id: Some(open.step.span_id.clone()), ..turn.run.trace.clone() };
        let observer = open.observer.clone();
        let decided = Decided::new(rpc_id, id, &call, choices, Sequel::Act(act));
        self.put(decided, question, program, trace, observer).await?;
        Ok(Ok(()))
    }

    /// A person said no to an act, or nobody could be asked.
    pub(super) async fn refuse_act(
        &mut self,
        rpc_id: Value,
        card: &str,
        act: &Act,
        error: ToolError,
    ) -> Result<(), Fault> {
        if let Act::Run { terminal, .. } = act {
            self.terminals.remove(terminal);
        }
        let why = error.message.get(self.turn.run.lang).to_owned();
        if let Some(open) = self.calls.open.get_mut(card) {
            open.refused = Some(error);
        }
        self.end_act(card, Progress::Failed, String::new()).await?;
        if let Some(seat) = &self.seat {
            seat.link.reply_error(rpc_id, FAILED, &why).await.ok();
        }
        Ok(())
    }

    /// Begins an act that may happen. `card` is its own, `of` the agent's call that it belongs to.
    pub(super) async fn begin(&mut self, rpc_id: Value, act: Act, card: Option<String>, of: Option<String>) {
        let (hands, inbox) = (Arc::clone(&self.turn.hands), self.turn.inbox.clone());
        let span = span();
        inbox.cover(&span, act.covered());
        match act {
            Act::Write { path, text } => {
                let arguments = json!({ "path": path, "contents": text, "exact": true });
                let deed = Deed {
                    server: "code_writer",
                    tool: "write_file",
                    arguments: arguments.as_object().cloned().unwrap_or_default(),
                    span: span.clone(),
                    cancel: self.turn.cancel.child_token(),
                };
                self.doing.spawn(async move {
                    let end = hands.call(deed, Arc::new(NoObserver)).await;
                    inbox.uncover(&span);
                    Done::Wrote { rpc_id, card, end: Box::new(end) }
                });
            }
            Act::Run { terminal, command, place, env, .. } => {
                let Some(kept) = self.terminals.get(&terminal) else { return };
                let mut arguments = json!({ "command": command, "cwd": place, "timeout_ms": 900_000 });
                if !env.is_empty() {
                    arguments["env"] = Value::Object(env);
                }
                let deed = Deed {
                    server: "shell_tasks",
                    tool: "run_shell_command",
                    arguments: arguments.as_object().cloned().unwrap_or_default(),
                    span: span.clone(),
                    cancel: kept.stop.clone(),
                };
                let shown = card.as_ref().or(of.as_ref()).and_then(|id| self.calls.open.get(id));
                let card_of = shown.map(|open| open.observer.clone());
                let watching = Arc::new(Watching { card: card_of, seen: Arc::clone(&kept.seen) });
                if let Some(seat) = &self.seat {
                    seat.link.reply(rpc_id, json!({ "terminalId": terminal })).await.ok();
                }
                self.doing.spawn(async move {
                    let end = hands.call(deed, watching).await;
                    inbox.uncover(&span);
                    Done::Ran { terminal, card, end: Box::new(end) }
                });
            }
        }
    }

    /// An act is over: its card, its terminal, and the agent's answer.
    pub(super) async fn acted(&mut self, done: Done) -> Result<(), Fault> {
        let link = self.seat.as_ref().map(|seat| seat.link.clone());
        match done {
            Done::Read { rpc_id, said } => {
                let Some(link) = link else { return Ok(()) };
                let told = match said {
                    Ok(result) => link.reply(rpc_id, result).await,
                    Err((code, why)) => link.reply_error(rpc_id, code, &why).await,
                };
                told.ok();
            }
            Done::Wrote { rpc_id, card, end } => {
                let why = end.is_error.then(|| message_of(&end));
                if let Some(card) = card {
                    let progress = if why.is_some() { Progress::Failed } else { Progress::Done };
                    self.end_act(&card, progress, why.clone().unwrap_or_default()).await?;
                }
                let Some(link) = link else { return Ok(()) };
                let told = match why {
                    None => link.reply(rpc_id, json!({})).await,
                    Some(why) => link.reply_error(rpc_id, FAILED, &why).await,
                };
                told.ok();
            }
            Done::Ran { terminal, card, end } => {
                let data = &end.envelope.data;
                let ran = data["stdout"].is_object();
                let of = |key: &str| data[key]["text"].as_str().unwrap_or_default();
                let printed =
                    if ran { format!("{}{}", of("stdout"), of("stderr")) } else { message_of(&end) };
                let exit = if ran {
                    json!({ "exitCode": data["exit_code"], "signal": data["signal"] })
                } else {
                    json!({ "exitCode": NOT_RUN, "signal": null })
                };
                if let Some(card) = card {
                    let progress = if end.is_error { Progress::Failed } else { Progress::Done };
                    self.end_act(&card, progress, printed.clone()).await?;
                }
                let Some(kept) = self.terminals.get_mut(&terminal) else { return Ok(()) };
                kept.cut = printed.len() > kept.limit
                    || ["stdout", "stderr"].iter().any(|stream| data[*stream]["truncated"] == true);
                tail(&printed, kept.limit)
                    .clone_into(&mut kept.seen.lock().unwrap_or_else(PoisonError::into_inner));
                kept.exit = Some(exit.clone());
                let waiting = std::mem::take(&mut kept.waiting);
                if kept.released {
                    self.terminals.remove(&terminal);
                }
                if let Some(link) = link {
                    for id in waiting {
                        link.reply(id, exit.clone()).await.ok();
                    }
                }
            }
        }
        Ok(())
    }

    async fn end_act(&mut self, card: &str, progress: Progress, text: String) -> Result<(), Fault> {
        if let Some(open) = self.calls.open.get_mut(card) {
            open.call.progress = progress;
            if !text.is_empty() {
                open.call.text = text;
            }
        }
        self.calls.follow(&self.scene(), card).await
    }

    /// What the protocol lets an agent do with a terminal it has.
    async fn of_terminal(
        &mut self,
        rpc_id: Value,
        method: &str,
        params: &Value,
    ) -> Result<(), (i64, String)> {
        let Some(link) = self.seat.as_ref().map(|seat| seat.link.clone()) else { return Ok(()) };
        let id = params["terminalId"].as_str().unwrap_or_default();
        let unknown = || Err((NOT_FOUND, format!("Resource not found: terminal {id}")));
        let Some(terminal) = self.terminals.get_mut(id).filter(|terminal| !terminal.released) else {
            return unknown();
        };
        let answer = match method {
            "terminal/output" => {
                let seen = terminal.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
                json!({ "output": seen, "truncated": terminal.cut, "exitStatus": terminal.exit })
            }
            "terminal/wait_for_exit" => match &terminal.exit {
                Some(exit) => exit.clone(),
                None => {
                    terminal.waiting.push(rpc_id);
                    return Ok(());
                }
            },
            "terminal/kill" => {
                terminal.stop.cancel();
                json!({})
            }
            "terminal/release" => {
                terminal.stop.cancel();
                terminal.released = true;
                if terminal.exit.is_some() {
                    // What it printed is still on the card that shows it.
                    self.shown.insert(id.to_owned(), self.printed(id));
                    self.terminals.remove(id);
                }
                json!({})
            }
            _ => {
                link.refuse(rpc_id, method).await;
                return Ok(());
            }
        };
        link.reply(rpc_id, answer).await.ok();
        Ok(())
    }

    /// What a terminal printed so far.
    fn printed(&self, id: &str) -> String {
        let seen = |terminal: &Terminal| terminal.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.terminals.get(id).map(seen).or_else(|| self.shown.get(id).cloned()).unwrap_or_default()
    }

    /// The text of a call that shows terminals: what they printed.
    pub(super) fn fill(&mut self, id: &str) {
        let Some(open) = self.calls.open.get(id).filter(|open| open.call.text.is_empty()) else { return };
        let texts: Vec<String> = open.call.terminals.iter().map(|terminal| self.printed(terminal)).collect();
        let text = texts.join("\n");
        if let Some(open) = self.calls.open.get_mut(id) {
            open.call.text = text;
        }
    }

    /// Ends what still runs; nobody waits for it any more.
    pub(super) async fn end_acts(&mut self) -> Result<(), Fault> {
        for terminal in self.terminals.values() {
            terminal.stop.cancel();
        }
        let until = tokio::time::Instant::now() + ENDING;
        while let Ok(Some(done)) = tokio::time::timeout_at(until, self.doing.join_next()).await {
            if let Ok(done) = done {
                self.acted(done).await?;
            }
        }
        self.doing.abort_all();
        self.terminals.clear();
        self.covered.clear();
        self.shown.clear();
        Ok(())
    }
}

/// The no of a person to an act.
pub(super) fn said_no(note: Option<&str>) -> ToolError {
    match note {
        Some(note) => ToolError::declined(Some(note)),
        None => {
            let mut error = ToolError::declined(None);
            error.message = Text::fixed("the person said no", "用户拒绝了此操作");
            error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_read_as_agents_write_them() {
        let of = |params: Value| command_line(&params);
        assert_eq!(of(json!({ "command": "npm test" })).as_deref(), Some("npm test"));
        assert_eq!(of(json!({ "command": "npm", "args": ["test"] })).as_deref(), Some("npm test"));
        assert_eq!(of(json!({ "command": "bash", "args": ["-c", "a | b"] })).as_deref(), Some("a | b"));
        assert_eq!(
            of(json!({ "command": "echo", "args": ["a b", "it's"] })).as_deref(),
            Some("echo 'a b' 'it'\\''s'")
        );
        assert_eq!(of(json!({ "command": " " })), None);
    }

    #[test]
    fn paths_stay_below_the_root() {
        let root = Path::new("/p/q");
        assert_eq!(below(root, Path::new("/p/q/a/b")).as_deref(), Some("a/b"));
        assert_eq!(below(root, Path::new("/p/q")).as_deref(), Some("."));
        assert_eq!(below(root, Path::new("/p/x")), None);
        assert_eq!(below(root, Path::new("/p/q/../x")), None);
        assert_eq!(below(root, Path::new("/p/qx")), None);
    }

    #[test]
    fn lines_and_tails_are_cut_where_the_protocol_says() {
        let text = "a\nb\nc\n";
        assert_eq!(lines(text, &json!({})), text);
        assert_eq!(lines(text, &json!({ "line": 2, "limit": 1 })), "b\n");
        assert_eq!(lines(text, &json!({ "line": 9 })), "");
        assert_eq!(tail("äö", 3), "ö");
        assert_eq!(tail("abc", 10), "abc");
    }
}
