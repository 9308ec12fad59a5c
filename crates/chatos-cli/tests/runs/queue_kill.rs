//! The queue is killed at every moment of a question, by each side of it: the host, whoever asks, whoever answers. No
//! question is lost, nothing is done twice, no answer is taken that nobody waits for, and a run asks no second time
//! (inbox §10.3).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chatos_testkit::{McpClient, McpEra, Random, RunningHost, Sandbox, Script, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Stand, last, offered, send, session, until};

/// How often each cell of the matrix is gone through; the nightly run sets more.
const ROUNDS: usize = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asker {
    /// A run of a chat: it outlives the host.
    Run,
    /// A call by hand: it is over with its connection.
    Hand,
    /// `chatos mcp`, a program of its own.
    Server,
    /// Another program behind `chatos gateway`.
    Gateway,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Host,
    Asker,
    /// The terminal in which the person answers.
    Surface,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// The question is recorded and shown.
    Shown,
    /// The answer is on its way, somewhere between the terminal and what it allows.
    Answering,
    /// The answer is acknowledged; what it allows is about to begin, or has, or is over.
    Answered,
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
            Asker::Run => Waiting::Run(send(host, &self.chat, key)),
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
            Asker::Run => self.stand.counted(key),
            _ => {
                let file = Path::new(&self.root).join(format!("{key}.txt"));
                std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
            }
        }
    }

    /// The answers of a question that differ: a killed host writes the same line again when it is not sure of it.
    fn answers_of(&self, id: &str) -> BTreeSet<String> {
        let lines = self.stand.lines("ui-prompts.jsonl").into_iter();
        let answers = lines.filter(|line| line["action"] == "response" && line["requestId"] == id);
        answers.map(|line| line.to_string()).collect()
    }
}

fn open_question(host: &RunningHost, known: &[String]) -> String {
    eventually("the question", || {
        let list = host.try_ask("GET", "/api/v1/prompts?view=needs_you&limit=200", None).ok()?.json();
        let ids = list["items"].as_array()?.iter().filter_map(|item| item["requestId"].as_str());
        ids.map(str::to_owned).find(|id| !known.contains(id))
    })
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the nightly run asks for more rounds by a variable")]
fn kills_at_every_moment_of_a_question_lose_nothing_and_do_nothing_twice() {
    let rounds = std::env::var("CHATOS_QUEUE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUNDS);
    let stand = Stand::asking("count", |request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "count")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
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
        for asker in [Asker::Run, Asker::Hand, Asker::Server, Asker::Gateway] {
            for victim in [Victim::Host, Victim::Asker, Victim::Surface] {
                // A run and a call by hand have no process of their own to kill.
                if victim == Victim::Asker && matches!(asker, Asker::Run | Asker::Hand) {
                    continue;
                }
                for moment in [Moment::Shown, Moment::Answering, Moment::Answered] {
                    let key = format!("{asker:?}-{victim:?}-{moment:?}-{round}").to_lowercase();
                    one(&scene, asker, victim, moment, &key, &mut random);
                    cells += 1;
                }
            }
        }
    }
    eprintln!("{cells} questions, one killed side each");
}

fn one(scene: &Scene<'_>, asker: Asker, victim: Victim, moment: Moment, key: &str, random: &mut Random) {
    let mut host = Some(scene.serve());
    let mut waiting = Some(scene.ask(host.as_ref().unwrap(), asker, key));
    let id = open_question(host.as_ref().unwrap(), &[]);
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
    let select: &[&str] = if asker == Asker::Run { &["--select", "once"] } else { &[] };
    let args = [&["prompts", "answer", &id, "--ok", "--json"], select].concat();
    let acknowledged = match moment {
        Moment::Shown => {
            kill(&mut host, &mut waiting);
            let answered = scene.sandbox().run_elsewhere(&args, "");
            if waiting.is_none() || (asker == Asker::Hand && victim == Victim::Host) {
                // The host may have closed it already, because whoever asked has hung up.
                let code = answered.code();
                assert!(matches!(code.as_str(), "asker_gone" | "already_answered"), "{key}: {answered:?}");
            }
            answered.status == 0
        }
        Moment::Answering => {
            let terminal = Elsewhere::start(scene.sandbox(), &args);
            pass_time(host.as_ref().unwrap(), random.below(80));
            if victim == Victim::Surface {
                terminal.kill();
            }
            kill(&mut host, &mut waiting);
            terminal.ended() == 0
        }
        Moment::Answered => {
            let shown = host.as_ref().unwrap().ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
            let mut response = json!({ "status": "ok" });
            if asker == Asker::Run {
                response["selection"] = json!("once");
            }
            let body = json!({ "response": response, "shown": shown["shown"] });
            let path = format!("/api/v1/prompts/{id}/response");
            let answered = host.as_ref().unwrap().ask("POST", &path, Some(&body));
            assert_eq!(answered.status, 200, "{key}: {}", answered.text());
            pass_time(host.as_ref().unwrap(), random.below(30));
            kill(&mut host, &mut waiting);
            true
        }
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
    // Who outlived the kill had what was allowed; and a run was not asked a second time before it began.
    if asker == Asker::Run {
        let lines = scene.stand.lines("ui-prompts.jsonl");
        let asked: Vec<&Value> = lines
            .iter()
            .filter(|line| {
                line["action"] == "request"
                    && line["chatos"]["effect"] == "tool_approval"
                    && line["prompt"].to_string().contains(key)
            })
            .collect();
        // Who has it run again, because nobody knows whether it did, is asked for that run of it.
        let again = lines
            .iter()
            .any(|line| line["runId"] == asked[0]["runId"] && line["response"]["selection"] == "again");
        let asked: BTreeSet<String> = asked.iter().map(|line| line["requestId"].to_string()).collect();
        assert_eq!(asked.len(), 1 + usize::from(again), "{key}: asked once");
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
