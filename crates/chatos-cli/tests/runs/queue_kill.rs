//! The queue is killed at every moment of a question, by each side of it: the host, whoever asks, whoever answers. No
//! question is lost, nothing is done twice, no answer is taken that nobody waits for, and a run asks no second time
//! (inbox §10.3).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chatos_testkit::{McpClient, McpEra, Random, RunningHost, Sandbox, Script, eventually};
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, session, until};

/// How often each cell of the matrix is gone through; the nightly run sets more.
const ROUNDS: usize = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    /// A run of a chat: it outlives the host.
    Run,
    /// The run of a subagent, under that of a chat.
    Sub,
    /// A call by hand: it is over with its connection.
    Hand,
    /// `chatos mcp`, a program of its own.
    Server,
    /// Another program behind `chatos gateway`.
    Gateway,
}

impl Asker {
    /// It outlives the host and goes on with the one that starts.
    fn is_run(self) -> bool {
        matches!(self, Self::Run | Self::Sub)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Host,
    Asker,
    /// The terminal in which the person answers.
    Surface,
}

/// What has been seen to happen when the victim is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    /// The question is in the database.
    Recorded,
    /// Its line is in the log.
    Written,
    /// The list has it.
    Shown,
    /// The answer is on its way, somewhere between the terminal and the database.
    Answering,
    /// The answer is in the database.
    Answered,
    /// The approval is marked as used.
    Marked,
    /// What it allows has begun.
    Begun,
    /// What it allows is done.
    Done,
}

impl Moment {
    const ALL: [Self; 8] = [
        Self::Recorded,
        Self::Written,
        Self::Shown,
        Self::Answering,
        Self::Answered,
        Self::Marked,
        Self::Begun,
        Self::Done,
    ];
}

/// Somebody who waits for an answer.
enum Waiting {
    Run(String),
    Hand(std::thread::JoinHandle<()>),
    Client(Box<McpClient>),
}

struct Scene<'a> {
    stand: &'a Stand,
    root: String,
    chat: String,
}

impl Scene<'_> {
    fn sandbox(&self) -> &Sandbox {
        &self.stand.sandbox
    }

    fn serve(&self) -> RunningHost {
        self.sandbox().serve_with(&["--project", &self.root])
    }

    /// Asks for something that leaves one line when it is done.
    fn ask(&self, host: &RunningHost, asker: Asker, key: &str) -> Waiting {
        let arguments = json!({ "path": format!("{key}.txt"), "contents": "done\n", "mode": "append" });
        match asker {
            Asker::Run | Asker::Sub => Waiting::Run(send(host, &self.chat, key)),
            Asker::Hand => {
                let body = json!({
                    "server": "code_writer", "tool": "write_file", "root": self.root, "arguments": arguments,
                });
                let mut wire = host.connect();
                let text = std::fs::read_to_string(self.sandbox().state().join("host.json")).unwrap();
                let known: Value = serde_json::from_str(&text).unwrap();
                let token = known["token"].as_str().unwrap().to_owned();
                Waiting::Hand(std::thread::spawn(move || {
                    // It ends with an error when the host is killed.
                    drop(wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)));
                }))
            }
            Asker::Server => {
                let args =
                    ["mcp", "code_writer", "--write", "--confirm-file-changes=true", "--root", &self.root];
                let (mut client, _) =
                    McpClient::connect(self.sandbox().command(&args), McpEra::Legacy, json!({}));
                client.begin_call("write_file", arguments);
                Waiting::Client(Box::new(client))
            }
            Asker::Gateway => {
                let args = ["gateway", "--agent", "writer", "--root", &self.root, "--tools", "all"];
                let (mut client, _) =
                    McpClient::connect(self.sandbox().command(&args), McpEra::Legacy, json!({}));
                let listed = client.request("tools/list", json!({}));
                let names =
                    listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str());
                let tool = names.into_iter().find(|name| name.ends_with("write_file")).unwrap().to_owned();
                client.begin_call(&tool, arguments);
                Waiting::Client(Box::new(client))
            }
        }
    }

    /// How often what was asked about was done.
    fn done(&self, asker: Asker, key: &str) -> usize {
        match asker {
            Asker::Run | Asker::Sub => self.stand.counted(key),
            _ => {
                let file = Path::new(&self.root).join(format!("{key}.txt"));
                std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
            }
        }
    }

    /// Whether what was asked about has begun: a file of it is there, whole or not.
    fn begun(&self, asker: Asker, key: &str) -> bool {
        asker.is_run() && self.stand.began(key)
            || std::fs::read_dir(&self.root)
                .unwrap()
                .flatten()
                .any(|entry| entry.file_name().to_string_lossy().contains(key))
            || self.done(asker, key) > 0
    }

    /// The question about this, once the database has it.
    fn recorded(&self, key: &str) -> String {
        let found = Watched::new(self.sandbox());
        let like = format!("%{key}%");
        at_once("the question in the database", || {
            found.text("SELECT request_id FROM prompt_records WHERE entry LIKE ?1", &like)
        })
    }

    /// Waits for a moment of a question, looking all the time: what comes next is killed in the middle of the work.
    fn comes(&self, moment: Moment, asker: Asker, id: &str, key: &str) {
        let found = Watched::new(self.sandbox());
        let is = |column: &str| {
            let sql =
                format!("SELECT 'yes' FROM prompt_records WHERE request_id = ?1 AND {column} IS NOT NULL");
            found.text(&sql, id).is_some()
        };
        let log = self.sandbox().state().join("ui-prompts.jsonl");
        at_once(&format!("{key}: {moment:?}"), || {
            let come = match moment {
                Moment::Recorded | Moment::Answering => true,
                Moment::Written => std::fs::read_to_string(&log).is_ok_and(|text| text.contains(id)),
                Moment::Shown => unreachable!("the list is asked for it"),
                Moment::Answered => is("answered_at"),
                Moment::Marked => is("used_at"),
                Moment::Begun => self.begun(asker, key),
                Moment::Done => self.done(asker, key) > 0,
            };
            come.then_some(())
        });
    }

    /// The answers of a question that differ: a killed host writes the same line again when it is not sure of it.
    fn answers_of(&self, id: &str) -> BTreeSet<String> {
        let lines = self.stand.lines("ui-prompts.jsonl").into_iter();
        let answers = lines.filter(|line| line["action"] == "response" && line["requestId"] == id);
        answers.map(|line| line.to_string()).collect()
    }
}

/// The database as another program sees it.
struct Watched(Connection);

impl Watched {
    #[expect(clippy::disallowed_methods, reason = "the moment to kill at is seen there")]
    fn new(sandbox: &Sandbox) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(sandbox.state().join("state.db"), flags).unwrap();
        database.busy_timeout(Duration::from_secs(60)).unwrap();
        Self(database)
    }

    fn text(&self, sql: &str, with: &str) -> Option<String> {
        self.0.prepare_cached(sql).ok()?.query_row([with], |row| row.get(0)).ok()
    }
}

/// As [`eventually`], without a pause: what is looked for lasts a moment.
fn at_once<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{what} does not come");
        std::thread::yield_now();
    }
}

fn open_question(host: &RunningHost) -> String {
    eventually("the question", || {
        let list = host.try_ask("GET", "/api/v1/prompts?view=needs_you&limit=200", None).ok()?.json();
        list["items"].as_array()?.first()?["requestId"].as_str().map(str::to_owned)
    })
}

/// Calls `count`, through a subagent where the person says so.
fn counting(request: &Value) -> Script {
    let (role, text) = last(request);
    match (role.as_str(), offered(request, "run_sub_agent"), offered(request, "count")) {
        ("tool", ..) => Script::say(format!("done: {text}")),
        (_, Some(router), _) if text.starts_with("sub-") => {
            Script::call(format!("s-{text}"), router, &json!({ "task": text, "agent_id": "researcher" }))
        }
        (_, _, Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
        _ => Script::say("no tool"),
    }
}

#[test]
fn a_run_is_killed_at_every_moment_of_its_question() {
    kills(Asker::Run);
}

#[test]
fn the_run_of_a_sub_agent_is_killed_at_every_moment_of_its_question() {
    kills(Asker::Sub);
}

#[test]
fn a_call_by_hand_is_killed_at_every_moment_of_its_question() {
    kills(Asker::Hand);
}

#[test]
fn a_server_of_its_own_is_killed_at_every_moment_of_its_question() {
    kills(Asker::Server);
}

#[test]
fn a_program_behind_the_gateway_is_killed_at_every_moment_of_its_question() {
    kills(Asker::Gateway);
}

#[test]
fn what_a_person_has_run_again_is_not_asked_about_twice_and_another_thing_is() {
    let stand = Stand::asking("slow", |request| match (last(request), offered(request, "slow")) {
        ((role, text), _) if role == "tool" => Script::say(format!("done: {text}")),
        ((_, text), Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
        _ => Script::say("no tool"),
    });
    let host = stand.sandbox.serve();
    let chat = session(&host, &stand.agent);
    let run = send(&host, &chat, "once-more");
    let approvals = || {
        let lines = stand.lines("ui-prompts.jsonl").into_iter();
        let asked =
            lines.filter(|line| line["action"] == "request" && line["chatos"]["effect"] == "tool_approval");
        asked.map(|line| line["requestId"].to_string()).collect::<BTreeSet<_>>().len()
    };
    let answer = |host: &RunningHost, word: &str| {
        let id = open_question(host);
        let whole = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        let body = json!({ "response": { "status": "ok", "selection": word }, "shown": whole["shown"] });
        let answered = host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
        assert_eq!(answered.status, 200, "{}", answered.text());
        whole
    };
    let cut_off = |host: RunningHost, times: usize| {
        eventually("the call is made", || (stand.counted("once-more") == times).then_some(()));
        host.kill();
        let host = stand.sandbox.serve();
        let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
        assert_eq!(resumed.status, 202, "{}", resumed.text());
        host
    };
    answer(&host, "once");
    let host = cut_off(host, 1);
    let asked = answer(&host, "again");
    assert_eq!(asked["effect"], "uncertain", "{asked}");
    assert!(asked["prompt"]["message"].as_str().unwrap().contains("\"key\": \"once-more\""), "{asked}");
    // It is made a second time, and nobody was asked for it.
    let host = cut_off(host, 2);
    assert_eq!(approvals(), 1);
    // What was run again once is asked about before it is a third time.
    assert_eq!(answer(&host, "again")["effect"], "uncertain");
    assert_eq!(answer(&host, "no")["effect"], "tool_approval");
    until(&host, &run, &["done"]);
    assert_eq!((approvals(), stand.counted("once-more")), (2, 2));
    host.stop();
}

#[expect(clippy::disallowed_methods, reason = "the nightly run asks for more rounds by a variable")]
#[expect(clippy::print_stderr, reason = "a failure is found again by its seed")]
fn kills(asker: Asker) {
    let rounds = std::env::var("CHATOS_QUEUE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let stand = Stand::asking_subs("count", counting);
    let root = stand.sandbox.root().join("work");
    std::fs::create_dir_all(&root).unwrap();
    let root = std::fs::canonicalize(root).unwrap().to_str().unwrap().to_owned();
    let host = stand.sandbox.serve_with(&["--project", &root]);
    host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({ "value": true })));
    let writer = json!({ "name": "writer", "mode": "flow", "landConfigId": "lc_developer" });
    assert!(host.ask("POST", "/api/v1/agents", Some(&writer)).status < 300);
    let chat = session(&host, &stand.agent);
    host.stop();
    let scene = Scene { stand: &stand, root, chat };
    let mut random = Random::new();
    eprintln!("seed {}", random.seed());
    let mut cells = 0;
    for round in 0..rounds {
        for victim in [Victim::Host, Victim::Asker, Victim::Surface] {
            // Runs and calls by hand have no process of their own to kill.
            if victim == Victim::Asker && !matches!(asker, Asker::Server | Asker::Gateway) {
                continue;
            }
            for moment in Moment::ALL {
                // Nobody answers yet.
                if victim == Victim::Surface && moment < Moment::Answering {
                    continue;
                }
                let key = format!("{asker:?}-{victim:?}-{moment:?}-{round}-x").to_lowercase();
                one(&scene, asker, victim, moment, &key, &mut random);
                cells += 1;
            }
        }
    }
    eprintln!("{cells} questions, one killed side each");
}

fn one(scene: &Scene<'_>, asker: Asker, victim: Victim, moment: Moment, key: &str, random: &mut Random) {
    let mut host = Some(scene.serve());
    let mut waiting = Some(scene.ask(host.as_ref().unwrap(), asker, key));
    let id = match moment {
        Moment::Recorded | Moment::Written => scene.recorded(key),
        _ => open_question(host.as_ref().unwrap()),
    };
    let kill = |host: &mut Option<RunningHost>, waiting: &mut Option<Waiting>| match victim {
        Victim::Host => host.take().unwrap().kill(),
        Victim::Asker => {
            if let Some(Waiting::Client(client)) = waiting {
                client.signal(Signal::KILL);
                client.ended();
                *waiting = None;
            }
        }
        Victim::Surface => {}
    };
    let select: &[&str] = if asker.is_run() { &["--select", "once"] } else { &[] };
    let args = [&["prompts", "answer", &id, "--ok", "--json"], select].concat();
    let acknowledged = if moment < Moment::Answering {
        if moment == Moment::Written {
            scene.comes(moment, asker, &id, key);
        }
        kill(&mut host, &mut waiting);
        let answered = scene.sandbox().run_elsewhere(&args, "");
        if waiting.is_none() || (asker == Asker::Hand && victim == Victim::Host) {
            // The host may have closed it already, because whoever asked has hung up; and what was recorded and not yet
            // written may not be known to a terminal.
            let code = answered.code();
            let known = matches!(code.as_str(), "asker_gone" | "already_answered")
                || (moment == Moment::Recorded && answered.status != 0);
            assert!(known, "{key}: {answered:?}");
        }
        answered.status == 0
    } else {
        let terminal = Elsewhere::start(scene.sandbox(), &args);
        if moment == Moment::Answering {
            pass_time(host.as_ref().unwrap(), random.below(80));
        } else {
            scene.comes(moment, asker, &id, key);
        }
        if victim == Victim::Surface {
            terminal.kill();
        }
        kill(&mut host, &mut waiting);
        terminal.ended() == 0
    };
    let host = host.unwrap_or_else(|| scene.serve());
    settle(scene, &host, waiting, &id, key);
    // One question, one answer, whatever happened to those around it.
    let item = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
    assert_eq!(item["state"], "closed", "{key}: {item}");
    assert_eq!(scene.answers_of(&id).len(), 1, "{key}: one answer");
    let done = scene.done(asker, key);
    assert!(done <= 1, "{key}: done {done} times");
    let gone = item["answer"]["by"].as_str().is_some_and(|by| by.starts_with("host:"));
    if gone {
        assert_eq!((done, acknowledged), (0, false), "{key}: nobody waited: {item}");
    }
    // Who outlived the kill had what was allowed; and a run was not asked a second time.
    if asker.is_run() {
        let asked: BTreeSet<String> = scene
            .stand
            .lines("ui-prompts.jsonl")
            .iter()
            .filter(|line| {
                line["action"] == "request"
                    && line["chatos"]["effect"] == "tool_approval"
                    && line["prompt"].to_string().contains(key)
            })
            .map(|line| line["requestId"].to_string())
            .collect();
        assert_eq!(asked.len(), 1, "{key}: asked once");
        assert_eq!(done, 1, "{key}: an approved call is made: {item}");
    }
    host.stop();
}

/// A terminal of the person: nobody here started what runs in it.
struct Elsewhere(PathBuf);

impl Elsewhere {
    fn start(sandbox: &Sandbox, args: &[&str]) -> Self {
        let place = sandbox.root().join(format!("terminal-{}", args[2]));
        std::fs::create_dir_all(&place).unwrap();
        let script = "place=$1; shift; { \"$@\" >/dev/null 2>&1 & echo $! >$place/pid.new; mv $place/pid.new $place/pid; wait $!; echo $? >$place/end.new; mv $place/end.new $place/end; } >/dev/null 2>&1 &";
        let mut command = sandbox.under("sh");
        command.args(["-c", script, "sh"]).arg(&place).arg(sandbox.program()).args(args);
        command.arg("--state-dir").arg(sandbox.state());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        assert_eq!(sandbox.run_command(command).status, 0);
        Self(place)
    }

    fn number(&self, file: &str) -> i32 {
        eventually("the terminal", || std::fs::read_to_string(self.0.join(file)).ok()?.trim().parse().ok())
    }

    fn kill(&self) {
        let pid = Pid::from_raw(self.number("pid")).unwrap();
        // It may be over already.
        kill_process(pid, Signal::KILL).ok();
    }

    fn ended(&self) -> i32 {
        self.number("end")
    }
}

/// So many requests later: a moment that is another one each time.
fn pass_time(host: &RunningHost, requests: u64) {
    for _ in 0..requests {
        drop(host.try_ask("GET", "/api/v1/status", None));
    }
}

/// Goes on with everything that waits: runs are continued, what is still open is approved, what is uncertain did work.
fn settle(scene: &Scene<'_>, host: &RunningHost, waiting: Option<Waiting>, id: &str, key: &str) {
    let path = format!("/api/v1/prompts/{id}");
    match waiting {
        Some(Waiting::Run(run)) => {
            let mut resumed = false;
            eventually("the run is over", || {
                let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
                match now["state"].as_str().unwrap_or_default() {
                    "done" => return Some(()),
                    "interrupted" if !resumed => {
                        let answer =
                            host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
                        resumed = answer.status == 202;
                    }
                    _ => {}
                }
                answer_open(host, scene, key);
                None
            });
            until(host, &run, &["done"]);
        }
        Some(Waiting::Hand(thread)) => {
            answer_open(host, scene, key);
            thread.join().unwrap();
        }
        Some(Waiting::Client(mut client)) => {
            // It may have its result, or wait for the answer, or ask again with the host that started.
            eventually("the question is closed", || {
                answer_open(host, scene, key);
                (host.ask("GET", &path, None).json()["state"] == "closed").then_some(())
            });
            client.hang_up();
            client.ended();
        }
        None => {}
    }
    eventually("the question is closed", || {
        (host.ask("GET", &path, None).json()["state"] == "closed").then_some(())
    });
}

fn answer_open(host: &RunningHost, scene: &Scene<'_>, key: &str) {
    let list = host.ask("GET", "/api/v1/prompts?view=needs_you&limit=200", None).json();
    for item in list["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let id = item["requestId"].as_str().unwrap_or_default();
        let whole = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        let mut response = json!({ "status": "ok" });
        if whole["kind"] == "choice" {
            let uncertain = whole["effect"] == "uncertain";
            // Whether it took effect, a person can see.
            let word = if scene.stand.counted(key) > 0 { "worked" } else { "again" };
            response["selection"] = json!(if uncertain { word } else { "once" });
        }
        let body = json!({ "response": response, "shown": whole["shown"] });
        // Somebody else may have been first.
        host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
    }
}
