//! Several real processes on one log, some of them killed in the middle of a write.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::unnecessary_wraps,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up has failed; it starts programs of its own"
)]
#![expect(clippy::disallowed_methods, reason = "these tests are about child processes")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use chatos_prompts::testing::TestRecords;
use chatos_prompts::{Query, Records, Status, View};
use common::*;
use serde_json::{Value, json};

fn peer(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_prompts-peer"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap()
}

/// What the peer said until it ended or was killed; an unfinished last line is not said.
fn said(child: &mut Child) -> Vec<String> {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(str::to_owned).collect()
}

#[test]
fn ten_programs_append_ten_thousand_lines_each_while_the_host_reads_and_answers() {
    const PROGRAMS: usize = 10;
    const LINES: usize = 10_000;
    const STEPS: usize = 5;
    // So many of their questions are answered before the programs go on to the next step: whatever the
    // machine, answering and appending happen in turns and at the same time.
    const ANSWERED_PER_STEP: usize = 5;
    let world = World::new();
    let dir = world.dir.path().to_str().unwrap().to_owned();
    let stop = AtomicBool::new(false);
    let foreign_answered = AtomicUsize::new(0);
    let mut programs: Vec<Child> = (0..PROGRAMS)
        .map(|p| {
            let step = (LINES / STEPS).to_string();
            peer(&["append-in-steps", &dir, &format!("p{p}"), &LINES.to_string(), &step])
        })
        .collect();
    let mut gates: Vec<_> = programs.iter_mut().map(|program| program.stdin.take().unwrap()).collect();
    let answered: BTreeSet<String> = std::thread::scope(|scope| {
        let programs: Vec<_> = programs
            .iter_mut()
            .map(|program| {
                scope.spawn(move || {
                    let said = said(program);
                    assert!(program.wait().unwrap().success());
                    assert_eq!(said.len(), LINES);
                })
            })
            .collect();
        let answering = scope.spawn(|| {
            let mut answered = BTreeSet::new();
            while !stop.load(Ordering::SeqCst) {
                let page = world.prompts.list(&Query { limit: 5, ..Query::default() }).unwrap();
                for item in page.items {
                    world.answer(item.request_id.as_str(), json!({"status":"ok","selection":"x"})).unwrap();
                    assert!(
                        answered.insert(item.request_id.to_string()),
                        "answered twice: {}",
                        item.request_id
                    );
                    foreign_answered.fetch_add(1, Ordering::SeqCst);
                }
                // Questions of our own among them.
                let asked = world.ask(choice());
                world.answer(asked.request_id.as_str(), json!({"status":"ok","selection":"y"})).unwrap();
                answered.insert(asked.request_id.to_string());
                std::thread::sleep(Duration::from_millis(5));
            }
            answered
        });
        for step in 1..STEPS {
            let enough = || foreign_answered.load(Ordering::SeqCst) >= step * ANSWERED_PER_STEP;
            within(Duration::from_secs(120), "the host answers while programs append", || {
                enough() || answering.is_finished()
            });
            for gate in &mut gates {
                gate.write_all(b"\n").unwrap();
            }
        }
        for program in programs {
            program.join().unwrap();
        }
        stop.store(true, Ordering::SeqCst);
        answering.join().unwrap()
    });
    let own = answered.iter().filter(|id| !id.starts_with('p')).count();
    assert!(own > 0 && answered.len() - own >= (STEPS - 1) * ANSWERED_PER_STEP, "it answered meanwhile");
    world.prompts.catch_up();
    let counts = world.prompts.counts();
    assert_eq!(counts.needs_you, PROGRAMS * LINES - (answered.len() - own));
    let health = world.prompts.health();
    assert_eq!((health.unreadable_lines(), health.faults.len()), (0, 0));
    // Line by line: every request once, every answer once.
    let mut seen: BTreeMap<(bool, String), u32> = BTreeMap::new();
    let file = BufReader::new(std::fs::File::open(world.log()).unwrap());
    for line in file.lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let key = (line["action"] == "response", line["requestId"].as_str().unwrap().to_owned());
        *seen.entry(key).or_default() += 1;
    }
    assert!(seen.values().all(|n| *n == 1), "nothing duplicated");
    assert_eq!(seen.keys().filter(|(response, _)| !response).count(), PROGRAMS * LINES + own);
    assert_eq!(seen.keys().filter(|(response, _)| *response).count(), answered.len());
}

#[test]
fn writers_with_and_without_the_lock_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_str().unwrap();
    let mut peers: Vec<Child> = (0..4)
        .flat_map(|i| {
            [
                peer(&["append", path, &format!("plain{i}"), "1000"]),
                peer(&["ask", path, &format!("ours{i}"), "1000"]),
            ]
        })
        .collect();
    for peer in &mut peers {
        let said = said(peer);
        assert!(peer.wait().unwrap().success(), "{:?}", said.last());
        assert_eq!(said.len(), 1000);
    }
    let records = Arc::new(TestRecords::file(&dir.path().join("records.jsonl")).unwrap());
    let prompts = open(dir.path(), &records, |_| {});
    assert_eq!(prompts.counts().needs_you, 8_000);
    assert_eq!(prompts.health().unreadable_lines(), 0);
}

/// A small generator: the kills must differ from run to run and be repeatable from the printed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// What must be true, whatever was killed.
#[derive(Default)]
struct Model {
    asked: BTreeSet<String>,
    appended: BTreeSet<String>,
    /// Which process was told that its answer counts.
    answered: BTreeMap<String, String>,
}

impl Model {
    fn hear(&mut self, said: &[String]) {
        for line in said {
            let mut words = line.split(' ');
            match (words.next(), words.next(), words.next()) {
                (Some("asked"), Some(id), _) => assert!(self.asked.insert(id.into())),
                (Some("appended"), Some(id), _) => assert!(self.appended.insert(id.into())),
                (Some("answered"), Some(id), Some(by)) => {
                    let before = self.answered.insert(id.into(), by.into());
                    assert_eq!(before, None, "{id} was acknowledged to two processes");
                }
                (Some("late" | "serving"), ..) => {}
                _ => panic!("a peer said: {line}"),
            }
        }
    }

    fn check(&self, dir: &Path) {
        let records = Arc::new(TestRecords::file(&dir.join("records.jsonl")).unwrap());
        let prompts = open(dir, &records, |_| {});
        eventually("every line is mirrored", || records.unmarked() == 0);
        prompts.catch_up();
        let log = lines(&dir.join("ui-prompts.jsonl"));
        let in_log = |action: &str, id: &str| {
            log.iter().filter(|l| l["action"] == action && l["requestId"] == id).count()
        };
        for id in &self.asked {
            assert!(
                records.get(&common::id(id)).unwrap().is_some(),
                "{id} was acknowledged and has no record"
            );
            assert!(in_log("request", id) >= 1, "{id} was acknowledged and is not in the log");
        }
        for id in &self.appended {
            // One that landed behind the torn line of a killed writer is no line of its own, and counts.
            assert!(prompts.get(&common::id(id)).is_some(), "{id} was appended and is not known");
        }
        for (id, by) in &self.answered {
            let answer = prompts.get(&common::id(id)).unwrap().answer;
            let answer = answer.unwrap_or_else(|| panic!("{id} was acknowledged as answered and is open"));
            assert_eq!(answer.status, Status::Ok);
            assert_eq!(
                answer.response["remark"].as_str(),
                Some(by.as_str()),
                "{id}: another answer took effect"
            );
        }
        // No prompt has two different answers; copies of the same line are harmless.
        let mut first: BTreeMap<&str, &Value> = BTreeMap::new();
        for line in log.iter().filter(|l| l["action"] == "response") {
            let id = line["requestId"].as_str().unwrap();
            let served = records.get(&common::id(id)).unwrap().is_some();
            let known = first.entry(id).or_insert(line);
            assert!(
                !served || known["response"] == line["response"],
                "{id} was answered twice: {known} {line}"
            );
        }
        // A torn line is contained; the queue works on.
        let open_now = ids(&prompts, View::NeedsYou).len();
        let asked =
            prompts.request(&chatos_prompts::Ask::new(chatos_prompts::Owner::user(), "t", kv())).unwrap();
        assert!(asked.mirrored);
        assert_eq!(ids(&prompts, View::NeedsYou).len(), open_now + 1);
    }
}

#[test]
fn a_thousand_kills_lose_nothing_and_nothing_takes_effect_twice() {
    // More by hand: PROMPTS_KILLS=20000 cargo test -p chatos-prompts --test processes a_thousand
    let kills: u64 = std::env::var("PROMPTS_KILLS").ok().and_then(|k| k.parse().ok()).unwrap_or(1_000);
    let seed =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    eprintln!("seed {seed}");
    let mut random = Random(seed);
    let (mut killed, mut asked, mut answered) = (0, 0, 0);
    // How long a process lives at most, in microseconds. On a machine so busy that they die before they
    // acknowledge anything they get longer: killed too early, this would prove nothing.
    let mut life = 14_000;
    while killed < kills || asked <= 500 || answered <= 500 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        let mut model = Model::default();
        let mut owner = peer(&["serve", path]);
        for round in 0..40 {
            let mut writers = vec![peer(&["ask", path, &format!("ask{round}"), "8"])];
            if random.below(2) == 0 {
                writers.push(peer(&["append", path, &format!("app{round}"), "8"]));
            }
            std::thread::sleep(Duration::from_micros(random.below(life)));
            for writer in &mut writers {
                if random.below(4) > 0 {
                    writer.kill().unwrap();
                    killed += 1;
                }
                model.hear(&said(writer));
                writer.wait().unwrap();
            }
            if random.below(2) == 0 {
                owner.kill().unwrap();
                killed += 1;
                model.hear(&said(&mut owner));
                owner.wait().unwrap();
                owner = peer(&["serve", path]);
            }
        }
        owner.kill().unwrap();
        killed += 1;
        model.hear(&said(&mut owner));
        owner.wait().unwrap();
        model.check(dir.path());
        if model.asked.len() < 60 || model.answered.len() < 60 {
            life = (life * 2).min(2_000_000);
        }
        asked += model.asked.len();
        answered += model.answered.len();
    }
    eprintln!("{asked} asked, {answered} answered in {killed} kills, lives up to {life} µs");
}
