//! What `chatos gateway` offers: the tools an agent of the host may use, called through the host's API, so that other
//! programs get the tools of apps and servers while their confirmations land in this machine's queue.
//!
//! The protocol is that of every built-in server ([`chatos_layer::Endpoint`]).

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use chatos_layer::{
    BoxFuture, Change, Endpoint, ProgressReport, Relay, RelayedCall, RelayedClient, RelayedList, ServerInfo,
};
use chatos_prompts::RequestId;
use chatos_servers::FIND_TOOLS;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::tool::PassedOn;
use hyper::Method;
use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::client::{self, Clients};
use crate::line::{PATIENCE, away, is_lost};
use crate::passing::Passing;
use crate::places::{Place, Places};
use crate::search::{self, Wrapped};
use crate::{CallNews, ClientFolder, HostApi, Line, ListMode, Spoken, encode};

/// What the gateway says about itself; its tools are the host's.
pub static GATEWAY: ServerInfo = ServerInfo {
    name: "chatos",
    id: "chatos",
    title: Text::fixed("Everything an agent of ChatOS may use", "ChatOS 智能体可用的全部工具"),
    instructions: Text::fixed(
        "These are the tools of a ChatOS agent. Some calls wait until the person at that machine agrees.",
        "这些是 ChatOS 智能体的工具。部分调用会等待该机器上的用户同意。",
    ),
    needs_root: false,
    slots: 64,
    waits_hold_slot: false,
};

/// How long servers may take to start before a list is given without them.
const LIST_WAIT: Duration = Duration::from_millis(1_500);
/// Between two reports of a call that waits.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
/// Changes that come together are told once.
const COALESCE: Duration = Duration::from_millis(300);

static STARTING: Text = Text::fixed("waiting for ChatOS to start", "等待 ChatOS 启动");
static QUEUED: Text =
    Text::fixed("waiting until earlier calls of this program have ended", "等待此程序之前的调用结束");
static TOO_MANY: Text = Text::fixed(
    "rate_limited: too many calls at once; this one was not made, make it again when others have ended",
    "rate_limited：同时发出的调用过多；此调用未执行，请在其他调用结束后再试",
);

/// Tools and calls of an agent, through the API.
pub struct Gateway {
    line: Line,
    agent: String,
    label: String,
    /// The language of what its calls say.
    lang: Lang,
    /// The folder calls work in.
    folder: ClientFolder,
    /// Servers that are left out, by name.
    without: Vec<String>,
    known: Mutex<Known>,
    passing: Mutex<Passing>,
    /// Connections that are written down.
    clients: Clients,
    places: Places,
    mode: ListMode,
    hold: Option<Duration>,
    /// A list was made without servers that were still starting.
    became_late: Notify,
}

#[derive(Default)]
struct Known {
    tools: Vec<Value>,
    /// Those of the short list.
    always: Vec<Value>,
    /// The name a client knows, with the server and the tool it stands for.
    names: HashMap<String, Name>,
    /// Servers were still starting when this list was made.
    late: bool,
}

#[derive(Clone)]
struct Name {
    server: String,
    tool: String,
    /// It changes nothing, as its server says: it may be called again.
    read_only: bool,
    /// Its server says how its structured result looks.
    typed: bool,
}

/// How a call goes on after its host was lost.
enum After {
    /// It has not begun: it is made again, with the question it had asked.
    Again(Option<String>),
    /// It may have run.
    Unknown,
}

impl Gateway {
    /// What `agent` may use, for clients that work in `folder`; `label` is what a person calls this connection.
    pub fn new(
        line: Line,
        agent: String,
        label: String,
        lang: Lang,
        folder: ClientFolder,
        mode: ListMode,
    ) -> Self {
        Self {
            line,
            agent,
            label,
            lang,
            folder,
            without: Vec::new(),
            known: Mutex::default(),
            passing: Mutex::default(),
            clients: Clients::default(),
            places: Places::default(),
            mode,
            hold: None,
            became_late: Notify::new(),
        }
    }

    /// Clients without tasks wait so long for a person; then their model waits with a tool.
    #[must_use]
    pub fn holding(mut self, hold: Option<Duration>) -> Self {
        self.hold = hold;
        self
    }

    /// Leaves servers out, by name: a program that does their work itself has no use for them.
    #[must_use]
    pub fn without(mut self, servers: Vec<String>) -> Self {
        self.without = servers;
        self
    }

    /// Finds out now what is wrong with the agent, so that it is an error of the command and not of the first
    /// client. A host that is not there, or is slow, is no reason to keep the client waiting.
    pub async fn check(&self) -> Result<(), Fault> {
        if self.line.host(Some(Duration::ZERO)).await.is_some()
            && let Ok((Err(fault), _)) = tokio::time::timeout(LIST_WAIT * 2, async {
                tokio::join!(self.list(self.lang), self.list_passed_on(Duration::ZERO))
            })
            .await
            && fault.class == ErrorCode::NotFound
        {
            return Err(fault);
        }
        Ok(())
    }

    /// Fills what is known of prompts, resources and instructions; says whether it is other than before.
    async fn list_passed_on(&self, wait: Duration) -> Result<bool, Fault> {
        let path = format!("/api/v1/passed-on?agent={}&waitMs={}", encode(&self.agent), wait.as_millis());
        let listed = self.line.get(&path, self.lang, PATIENCE).await?;
        let told: PassedOn = serde_json::from_value(listed).map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("the host's list cannot be read")).caused_by(&error)
        })?;
        let mut passing = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
        let names = |told: &PassedOn| {
            let all = told.prompts.iter().chain(&told.resources).chain(&told.templates);
            all.map(|entry| entry.name.clone()).collect::<Vec<_>>()
        };
        let changed = names(&passing.told) != names(&told);
        passing.told = told;
        Ok(changed)
    }

    fn is_late(&self) -> bool {
        let tools = self.known.lock().unwrap_or_else(PoisonError::into_inner).late;
        tools || !self.passing.lock().unwrap_or_else(PoisonError::into_inner).told.late.is_empty()
    }

    /// Looks for tools of servers that were still starting; says whether the list is another one now.
    async fn look_again(&self) -> bool {
        let names = || {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.late.then(|| known.names.keys().cloned().collect::<HashSet<_>>())
        };
        let Some(before) = names() else { return false };
        if let Err(fault) = self.list(self.lang).await {
            tracing::debug!(%fault, "the tools cannot be listed");
            return false;
        }
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.names.len() != before.len() || known.names.keys().any(|name| !before.contains(name))
    }

    /// Where the host's news of tools stand. Asked before the first client comes, so that it misses no change.
    pub async fn position(&self) -> u64 {
        let position = self.line.get("/api/v1/tool-news?since=0&waitMs=0", self.lang, Duration::ZERO);
        let news = tokio::time::timeout(LIST_WAIT, position).await.ok().and_then(Result::ok);
        news.and_then(|news| news["next"].as_u64()).unwrap_or(0)
    }

    /// Tells clients when the list of tools is another one than it was at `since`.
    pub async fn follow(&self, mut since: u64, endpoint: Weak<Endpoint>) -> Infallible {
        // Without a position there is nothing to compare with.
        let mut behind = since == 0;
        loop {
            let path = format!("/api/v1/tool-news?since={since}&waitMs=25000");
            let news = tokio::select! {
                news = self.line.get(&path, Lang::En, Duration::from_secs(600)) => news,
                // From here on it is looked again, below.
                () = self.became_late.notified() => continue,
                // Servers that were still starting when a client asked.
                () = tokio::time::sleep(LIST_WAIT), if self.is_late() => {
                    if self.look_again().await
                        && let Some(endpoint) = endpoint.upgrade()
                    {
                        endpoint.tools_changed();
                    }
                    if self.list_passed_on(LIST_WAIT).await.unwrap_or(false)
                        && let Some(endpoint) = endpoint.upgrade()
                    {
                        endpoint.changed(Change::Prompts);
                        endpoint.changed(Change::Resources);
                    }
                    continue;
                }
            };
            let Some(endpoint) = endpoint.upgrade() else { return std::future::pending().await };
            match news {
                Ok(news) => {
                    let next = news["next"].as_u64().unwrap_or(0);
                    // Another host counts from its own beginning.
                    let changed = news["changed"] == true || behind || next < since;
                    since = next;
                    behind = false;
                    if changed {
                        tokio::time::sleep(COALESCE).await;
                        endpoint.tools_changed();
                        endpoint.changed(Change::Prompts);
                        endpoint.changed(Change::Resources);
                    }
                }
                Err(_) => {
                    (since, behind) = (0, true);
                    tokio::time::sleep(LIST_WAIT).await;
                }
            }
        }
    }

    /// Fills what is known with the host's list.
    async fn list(&self, lang: Lang) -> Result<(), Fault> {
        let wait = LIST_WAIT.as_millis();
        let path = format!("/api/v1/tools?agent={}&told=true&waitMs={wait}", encode(&self.agent));
        let listed = self.line.get(&path, lang, PATIENCE).await?;
        let left_out = |tool: &Value| self.without.iter().any(|name| tool["server"] == name.as_str());
        let all = listed["tools"].as_array().into_iter().flatten();
        let granted: Vec<&Value> = all.filter(|tool| tool["granted"] == true && !left_out(tool)).collect();
        let text = |tool: &Value, key: &str| tool[key].as_str().unwrap_or_default().to_owned();
        let names = granted.iter().map(|tool| {
            let (read_only, typed) = (tool["readOnly"] == true, tool["told"]["outputSchema"].is_object());
            let (server, own) = (text(tool, "identity"), text(tool, "tool"));
            (text(tool, "name"), Name { server, tool: own, read_only, typed })
        });
        let tools: Vec<Value> = granted.iter().map(|tool| self.shown(tool, &granted)).collect();
        let always = granted.iter().zip(&tools).filter(|(tool, _)| search::is_always(&text(tool, "server")));
        let always = always.map(|(_, shown)| shown.clone()).collect();
        let problems = listed["problems"].as_array();
        let late = problems.is_some_and(|all| all.iter().any(|problem| problem["code"] == "server_late"));
        let known = Known { names: names.collect(), tools, always, late };
        let before = {
            let mut now = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *now, known).late
        };
        if late && !before {
            self.became_late.notify_one();
        }
        Ok(())
    }

    /// A tool as its server describes it (other-agents §3.4). Only where two servers have one of that name its
    /// description says whose it is.
    fn shown(&self, tool: &Value, all: &[&Value]) -> Value {
        let told = &tool["told"];
        let mut shown = json!({ "name": tool["name"], "inputSchema": tool["inputSchema"] });
        let another = |one: &&Value| one["tool"] == tool["tool"] && one["identity"] != tool["identity"];
        let said = told["description"].as_str().or(tool["description"].as_str()).unwrap_or_default();
        shown["description"] = if all.iter().any(another) {
            json!(format!("[{}] {said}", tool["server"].as_str().unwrap_or_default()))
        } else {
            json!(said)
        };
        for (from, key) in [(tool, "title"), (tool, "annotations"), (told, "icons"), (told, "_meta")] {
            if let Some(value) = from.get(key).filter(|value| !value.is_null()) {
                shown[key] = value.clone();
            }
        }
        // With `--hold` a call may end without its result, which no schema of a stranger allows.
        if self.hold.is_none()
            && let Some(schema) = told.get("outputSchema")
        {
            shown["outputSchema"] = schema.clone();
        }
        shown
    }

    /// Sends on what a call says of itself, and that it waits, for as long as it is waited for. What was said last is
    /// said again while nothing new comes: clients with a time limit that progress renews would give up.
    async fn pass_on(
        &self,
        api: &HostApi,
        call_id: &str,
        call: &RelayedCall,
        place: &Place,
        sent: &Mutex<Reported>,
    ) -> Infallible {
        let (mut questions, mut said) = (0, 0);
        let report = |message: String| report(call, sent, Spoken { message, ..Spoken::default() });
        let mut last = Text::fixed("at work", "进行中").get(self.lang).to_owned();
        loop {
            let news = tokio::select! {
                news = api.call_news(call_id, questions, said, self.lang) => Some(news),
                () = tokio::time::sleep(KEEP_ALIVE) => None,
            };
            match news {
                Some(CallNews::Says(spoken, count)) => {
                    said = count;
                    if !spoken.message.is_empty() {
                        last.clone_from(&spoken.message);
                    }
                    self::report(call, sent, spoken);
                }
                Some(CallNews::Asks(id)) => {
                    questions += 1;
                    place.leave();
                    if let Some(asked) = &call.asked {
                        asked.send_replace(true);
                    }
                    last = waiting(&id, self.lang);
                    report(last.clone());
                }
                None => report(last.clone()),
            }
        }
    }

    /// Says again and again what is waited for.
    async fn keep_alive(&self, call: &RelayedCall, sent: &Mutex<Reported>, text: &Text) -> Infallible {
        loop {
            tokio::time::sleep(KEEP_ALIVE).await;
            report(call, sent, Spoken { message: text.get(self.lang).to_owned(), ..Spoken::default() });
        }
    }

    fn find(&self, name: &str) -> Option<Name> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).names.get(name).cloned()
    }

    /// The connection as cards name it: its program, and where that works.
    async fn client(&self, of: &RelayedClient, roots: &[std::path::PathBuf]) -> String {
        let id = format!("cl_{}", of.session);
        let mut row = client::row(self.line.beside(), id.clone(), "gateway", (&of.name, &of.version));
        let root = self.folder.of(roots);
        row.root = root.map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
        self.folder.from(roots).clone_into(&mut row.root_from);
        row.label.clone_from(&self.label);
        row.agent.clone_from(&self.agent);
        self.clients.note(self.line.beside(), row).await;
        id
    }

    /// Names like this one, at most three.
    fn near(&self, name: &str) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left: Vec<&str> = known.names.keys().map(String::as_str).collect();
        left.sort_unstable();
        let mut near = Vec::new();
        while near.len() < 3
            && let Some(found) =
                chatos_tool::validation::nearest(name, left.iter().copied()).map(str::to_owned)
        {
            left.retain(|each| *each != found);
            near.push(found);
        }
        near
    }

    /// The tool a call means, with its arguments; the search is taken apart here, so that everything behind it sees the
    /// tool itself. `Err` is what the client is told instead.
    async fn meant(&self, call: &mut RelayedCall) -> Result<Name, Result<Value, Fault>> {
        match search::unwrap(&call.tool, &call.arguments) {
            None => self.named(&call.tool).await,
            Some(Wrapped::Find) => {
                let (server, tool) = ("chatos".to_owned(), FIND_TOOLS.to_owned());
                Ok(Name { server, tool, read_only: true, typed: false })
            }
            Some(Wrapped::Wrong) => Err(Ok(failed(search::WRONG.get(self.lang)))),
            Some(Wrapped::Call { tool, arguments, only_reads }) => {
                let name = self.named(&tool).await.map_err(|told| match told {
                    // The model named it, not the client: it can be told.
                    Err(fault) if fault.class == ErrorCode::NotFound => {
                        Ok(failed(fault.message.get(self.lang)))
                    }
                    told => told,
                })?;
                if only_reads && !name.read_only {
                    return Err(Ok(failed(search::not_read_only(&tool).get(self.lang))));
                }
                call.arguments = arguments;
                Ok(name)
            }
        }
    }

    async fn named(&self, tool: &str) -> Result<Name, Result<Value, Fault>> {
        if self.find(tool).is_none() {
            match self.list(Lang::En).await {
                Err(fault) if fault.class == ErrorCode::Unavailable => {
                    return Err(Ok(failed(fault.message.get(self.lang))));
                }
                listed => listed.map_err(Err)?,
            }
        }
        self.find(tool).ok_or_else(|| {
            let near = self.near(tool).join(", ");
            let text = if near.is_empty() {
                Text::new(format!("unknown tool `{tool}`"), format!("未知的工具 `{tool}`"))
            } else {
                Text::new(
                    format!("unknown tool `{tool}`; near: {near}"),
                    format!("未知的工具 `{tool}`；相近的有：{near}"),
                )
            };
            Err(Fault::new(ErrorCode::NotFound, text))
        })
    }

    /// Makes a call, over restarts of the host if need be. Nothing is done twice.
    async fn send(&self, order: &Order, call: &RelayedCall) -> Result<Value, Fault> {
        let mut body = order.body.clone();
        let (sent_reports, mut held) = (Mutex::default(), false);
        let Some(waiting) = self.places.enter(&call.client.session) else {
            return Ok(failed(TOO_MANY.get(self.lang)));
        };
        let place = tokio::select! {
            place = waiting.place() => place,
            never = self.keep_alive(call, &sent_reports, &QUEUED) => match never {},
        };
        loop {
            // A call that waits for a person waits for the host too.
            let found = tokio::select! {
                found = self.line.host((!held).then_some(PATIENCE)) => found,
                never = self.keep_alive(call, &sent_reports, &STARTING) => match never {},
            };
            let Some(api) = found else { return Err(away()) };
            let sent = api.call_patiently(Method::POST, "/api/v1/tools/call", Some(&body), self.lang);
            let told = self.pass_on(&api, &order.call_id, call, &place, &sent_reports);
            let ended = tokio::select! {
                ended = sent => ended,
                never = told => match never {},
            };
            let fault = match ended {
                Err(fault) if is_lost(&fault) => fault,
                ended => return ended,
            };
            match self.after(order).await {
                After::Again(question) => {
                    held = question.is_some();
                    body["resume"] = json!(question);
                }
                After::Unknown => {
                    tracing::warn!(%fault, "a call was lost with its host");
                    return Ok(unknown_outcome(self.lang));
                }
            }
        }
    }

    /// A question whose answer was not used means that nothing has happened yet. What was asked, and whether it was
    /// used, is in the state, whether a host runs or not.
    async fn after(&self, order: &Order) -> After {
        let (beside, session, span) =
            (Arc::clone(self.line.beside()), order.session.clone(), order.span.clone());
        let look = move || beside.store()?.question_of_call(&session, &span).map_err(Fault::from);
        let asked = match chatos_blocking::run(look).await {
            Ok(Ok(asked)) => asked,
            Ok(Err(fault)) => {
                tracing::warn!(%fault, "it is not known what a lost call had asked");
                return After::Unknown;
            }
            Err(error) => {
                tracing::error!(%error, "looking for the question of a lost call failed");
                return After::Unknown;
            }
        };
        match asked {
            Some(question) if question.used_at.is_none() => After::Again(Some(question.request_id)),
            None if order.read_only => After::Again(None),
            _ => After::Unknown,
        }
    }
}

/// A call as the host is given it, however often.
struct Order {
    call_id: String,
    session: String,
    /// The call's own span: what it asks is found by it.
    span: String,
    read_only: bool,
    body: Value,
}

impl Order {
    fn new(name: &Name, call: &RelayedCall, agent: &str, session: String, root: Option<&Path>) -> Self {
        let call_id = RequestId::mint().to_string();
        // Of what a client says about its call only where it belongs is taken over: its trace, which goes on here.
        let (trace, above) = above(&call.meta).unwrap_or_else(|| (Uuid::new_v4().simple().to_string(), None));
        // The second half of a UUID is never zero.
        let span = Uuid::new_v4().simple().to_string().split_off(16);
        let trace = json!({ "traceId": trace, "spanId": span, "parentSpanId": above });
        let body = json!({
            "callId": call_id, "server": name.server, "tool": name.tool, "arguments": call.arguments,
            "agent": agent, "meta": { "sessionId": session, "chatos": { "trace": trace } }, "session": session,
            "forClient": true, "root": root,
        });
        Self { call_id, session, span, read_only: name.read_only, body }
    }
}

/// The trace of a client's call, and its span in it.
fn above(meta: &Map<String, Value>) -> Option<(String, Option<String>)> {
    let mut parts = meta.get("traceparent")?.as_str()?.split('-').skip(1);
    let mut id = |digits: usize| {
        let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let id = parts.next().filter(|text| text.len() == digits && is_hex(text));
        id.filter(|text| text.bytes().any(|byte| byte != b'0')).map(str::to_owned)
    };
    Some((id(32)?, id(16)))
}

/// What a client was told of a call's progress: the server's own count, and how often something was said since.
#[derive(Default)]
struct Reported {
    count: f64,
    since: u32,
}

impl Reported {
    /// The next number, which is above every one before. The server's own count is passed on as it is; what we say
    /// ourselves stands a thousandth after it, so that the count can go on.
    fn next(&mut self, count: Option<f64>) -> f64 {
        let last = self.count + f64::from(self.since) / 1_000.0;
        match count.filter(|count| count.is_finite() && *count > last) {
            Some(count) => *self = Self { count, since: 0 },
            None => self.since += 1,
        }
        self.count + f64::from(self.since) / 1_000.0
    }
}

/// Tells a client that wants to know; the numbers rise.
fn report(call: &RelayedCall, sent: &Mutex<Reported>, spoken: Spoken) {
    let Some(sink) = call.progress.as_deref() else { return };
    let progress = sent.lock().unwrap_or_else(PoisonError::into_inner).next(spoken.progress);
    sink.send(ProgressReport { progress, total: spoken.total, message: spoken.message, detail: None });
}

fn waiting(id: &str, lang: Lang) -> String {
    let short: String = id.chars().take(8).collect();
    match lang {
        Lang::En => format!("waiting for your answer in ChatOS ({short})"),
        Lang::Zh => format!("等待你在 ChatOS 中回答（{short}）"),
    }
}

fn failed(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

fn unknown_outcome(lang: Lang) -> Value {
    let text = Text::fixed(
        "ChatOS stopped while this call was under way. It may have run; check before repeating it.",
        "此调用进行期间 ChatOS 停止了运行。它可能已经执行；重复之前请先检查。",
    );
    failed(text.get(lang))
}

impl Relay for Gateway {
    fn tools(&self, lang: Lang, client: RelayedClient) -> BoxFuture<'_, Result<Vec<Value>, Fault>> {
        Box::pin(async move {
            // Seen before its first call.
            let (listed, _) = tokio::join!(self.list(lang), self.client(&client, &[]));
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match listed {
                // What was there last, while no host is.
                Err(fault) if fault.class != ErrorCode::Unavailable => Err(fault),
                _ if self.mode.searches(&known.tools, &client.name) => {
                    let mut short = known.always.clone();
                    short.extend(search::definitions(lang));
                    Ok(short)
                }
                _ => Ok(known.tools.clone()),
            }
        })
    }

    fn passes_on(&self) -> bool {
        true
    }

    fn keeps_tasks(&self) -> bool {
        true
    }

    fn holds(&self) -> Option<Duration> {
        self.hold
    }

    fn instructions(&self) -> Option<String> {
        self.passing.lock().unwrap_or_else(PoisonError::into_inner).told.instructions.clone()
    }

    fn list(&self, list: RelayedList) -> BoxFuture<'_, Result<Vec<Value>, Fault>> {
        Box::pin(async move {
            let listed = self.list_passed_on(LIST_WAIT).await;
            let passing = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
            match listed {
                // What was there last, while no host is.
                Err(fault) if fault.class != ErrorCode::Unavailable => Err(fault),
                _ => {
                    let entries = match list {
                        RelayedList::Prompts => &passing.told.prompts,
                        RelayedList::Resources => &passing.told.resources,
                        RelayedList::Templates => &passing.told.templates,
                    };
                    Ok(entries.iter().map(|entry| entry.definition.clone()).collect())
                }
            }
        })
    }

    fn ask(&self, method: &'static str, params: Map<String, Value>) -> BoxFuture<'_, Result<Value, Fault>> {
        Box::pin(async move {
            let find = || {
                let passing = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
                passing.find(method, params.clone())
            };
            let found = match find() {
                // A client may know a name from before this process.
                Err(_) => {
                    self.list_passed_on(LIST_WAIT).await?;
                    find()?
                }
                Ok(found) => found,
            };
            let Some(api) = self.line.host(Some(PATIENCE)).await else { return Err(away()) };
            let body = json!({
                "agent": self.agent, "server": found.server, "method": method, "params": found.params,
            });
            api.call_patiently(Method::POST, "/api/v1/passed-on/ask", Some(&body), self.lang).await
        })
    }

    fn asks_roots(&self) -> bool {
        self.folder.asks_roots()
    }

    fn call(&self, mut call: RelayedCall) -> BoxFuture<'_, Result<Value, Fault>> {
        Box::pin(async move {
            let name = match self.meant(&mut call).await {
                Ok(name) => name,
                Err(told) => return told,
            };
            let root = self.folder.of(&call.roots);
            let client = self.client(&call.client, &call.roots).await;
            let order = Order::new(&name, &call, &self.agent, client, root.as_deref());
            let ended = tokio::select! {
                ended = self.send(&order, &call) => ended,
                () = call.cancel.cancelled() => {
                    return Err(Fault::new(ErrorCode::Canceled, Text::fixed("canceled", "已取消")));
                }
            };
            let mut result = match ended {
                Err(fault) if fault.class == ErrorCode::Unavailable => failed(fault.message.get(self.lang)),
                ended => ended?,
            };
            self.passing.lock().unwrap_or_else(PoisonError::into_inner).see(&name.server, &result);
            // A refusal of ours is not as the server's schema says, and clients compare; its text says it all.
            let ours = |key: &str| {
                let said = &result["structuredContent"][key];
                said.is_string() && *said == result["_meta"]["chatos"][key]
            };
            let hides = name.typed && result["isError"] == true && ours("status") && ours("code");
            if let Some(result) = result.as_object_mut() {
                result.remove("callId");
                if hides {
                    result.remove("structuredContent");
                }
            }
            Ok(result)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_count_is_passed_on_and_every_number_is_above_the_last() {
        let mut sent = Reported::default();
        let told = [None, None, Some(1.0), Some(2.0), None, Some(2.0), Some(f64::NAN), Some(5.0)];
        let told: Vec<f64> = told.into_iter().map(|count| sent.next(count)).collect();
        assert!(told.windows(2).all(|pair| pair[0] < pair[1]), "{told:?}");
        assert_eq!([told[2], told[3], told[7]].map(|count| count.to_string()), ["1", "2", "5"]);
    }

    #[test]
    fn a_trace_of_the_client_goes_on_and_a_wrong_one_does_not() {
        let of = |text: Value| above(json!({ "traceparent": text }).as_object().unwrap());
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        assert_eq!(
            of(json!(format!("00-{trace}-{span}-01"))),
            Some((trace.to_owned(), Some(span.to_owned())))
        );
        let none = "0".repeat(32);
        for wrong in
            ["", "00", &format!("00-{none}-{span}-01"), &format!("00-{}-{span}-01", trace.to_uppercase())]
        {
            assert_eq!(of(json!(wrong)), None, "{wrong}");
        }
        assert_eq!(of(json!(7)), None);
        assert_eq!(of(json!(format!("00-{trace}-x-01"))), Some((trace.to_owned(), None)));
    }
}
