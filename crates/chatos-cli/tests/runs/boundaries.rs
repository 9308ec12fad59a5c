//! The host ends before and after every single write of a run's journal, the acknowledgement and the
//! questions included (agents §16.3): nothing acknowledged is lost, nothing runs twice, no question is
//! asked twice, and the run ends with the same transcript.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use chatos_testkit::{RunningHost, Script};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, session, until};

const PATIENCE: Duration = Duration::from_secs(60);
/// More writes than a run of these tests makes.
const MOST: i64 = 40;

/// One run that is cut off at one place, and continued.
struct Cut<'a> {
    stand: &'a Stand,
    agent: &'a str,
    /// What the person says to each question, by the beginning of its title.
    answers: &'a [(&'a str, Value)],
}

impl Cut<'_> {
    /// `false` when the run has fewer writes than that.
    fn at(&self, place: i64, chat: &str) -> bool {
        let key = format!("k{place}");
        let mut command = self.stand.sandbox.command(&["serve", "--no-open", "--ready-json", "--port", "0"]);
        command.env("CHATOS_TEST_HALT_AT", place.to_string());
        let mut host = RunningHost::start(command).unwrap();
        let sent =
            host.try_ask("POST", &format!("/api/v1/sessions/{chat}/send"), Some(&json!({ "text": key })));
        let acknowledged = sent.is_ok_and(|answer| answer.status == 202);
        let began = Instant::now();
        while host.is_running() {
            assert!(began.elapsed() < PATIENCE, "{place}: the run does not end");
            self.answer(&host);
            let path = format!("/api/v1/runs?sessionId={chat}&limit=5");
            let ended =
                host.try_ask("GET", &path, None).is_ok_and(|runs| runs.json()["items"][0]["state"] == "done");
            // The last write of a run is seen by others a moment before this process ends after it.
            let moment = Instant::now();
            while ended && host.is_running() && moment.elapsed() < Duration::from_secs(3) {
                std::thread::sleep(Duration::from_millis(10));
            }
            if ended && host.is_running() {
                self.check(&host, chat, &key, place);
                host.stop();
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(host);
        let host = self.stand.sandbox.serve();
        let runs = host.ask("GET", &format!("/api/v1/runs?sessionId={chat}&limit=5"), None).json();
        let Some(run) = runs["items"][0]["id"].as_str() else {
            assert!(!acknowledged, "{place}: an acknowledged message is gone");
            assert!(messages(&host, chat).is_empty());
            host.stop();
            return true;
        };
        let state = runs["items"][0]["state"].as_str().unwrap();
        if state != "done" {
            assert_eq!(state, "interrupted", "{place}");
            let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
            assert_eq!(resumed.status, 202, "{place}: {}", resumed.text());
        }
        let began = Instant::now();
        loop {
            self.answer(&host);
            let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
            if matches!(now["state"].as_str(), Some("done" | "failed" | "interrupted")) {
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{place}: the run stays {now}");
            std::thread::sleep(Duration::from_millis(5));
        }
        until(&host, run, &["done"]);
        self.check(&host, chat, &key, place);
        host.stop();
        true
    }

    /// Answers what is asked; a host that dies meanwhile is what this is about.
    fn answer(&self, host: &RunningHost) {
        let Ok(list) = host.try_ask("GET", "/api/v1/prompts?view=needs_you&limit=20", None) else { return };
        for item in list.json()["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let id = item["requestId"].as_str().unwrap();
            let title = item["title"].as_str().unwrap();
            let (_, answer) = self.answers.iter().find(|(begin, _)| title.starts_with(begin)).unwrap();
            let Ok(whole) = host.try_ask("GET", &format!("/api/v1/prompts/{id}"), None) else { return };
            let body = json!({ "response": answer, "shown": whole.json()["shown"] });
            host.try_ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body)).ok();
        }
    }

    fn check(&self, host: &RunningHost, chat: &str, key: &str, place: i64) {
        let said = messages(host, chat);
        let roles: Vec<&str> = said.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"], "{place}: {said:?}");
        assert_eq!(said[2]["status"], "ok", "{place}: {}", said[2]);
        assert!(said[3]["content"].as_str().unwrap().starts_with("done: "), "{place}: {}", said[3]);
        assert!(self.stand.counted(key) <= 1, "{place}: {key} was counted {} times", self.stand.counted(key));
        // Each question of the run was asked once, whatever was cut off around it.
        let log = std::fs::read_to_string(self.stand.sandbox.state().join("ui-prompts.jsonl")).unwrap();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut asked: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for line in lines.filter(|line| line["action"] == "request" && line["runId"] == said[0]["runId"]) {
            let title = line["prompt"]["title"].as_str().unwrap().to_owned();
            asked.entry(title).or_default().insert(line["requestId"].as_str().unwrap().to_owned());
        }
        assert!(asked.values().all(|ids| ids.len() == 1), "{place}: a question was asked twice: {asked:?}");
        let open = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        assert_eq!(open["items"].as_array().unwrap().len(), 0, "{place}: {open}");
    }
}

/// Before and after each write, until a run has no such write any more.
fn every_place(cut: &Cut<'_>) -> i64 {
    let host = cut.stand.sandbox.serve();
    let chats: Vec<[String; 2]> =
        (0..MOST).map(|_| [session(&host, cut.agent), session(&host, cut.agent)]).collect();
    host.stop();
    for (number, [before, after]) in (1..).zip(&chats) {
        if !cut.at(-number, before) {
            return number - 1;
        }
        cut.at(number, after);
    }
    MOST
}

#[test]
fn a_call_that_a_person_allows_survives_every_end_of_the_host() {
    let stand = Stand::asking("count", |request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "count")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => Script::call(format!("c-{text}"), name, &json!({ "key": text })),
            _ => Script::say("no tool"),
        }
    });
    let yes = |selection: &str| json!({ "status": "ok", "selection": selection });
    let answers = [("Let", yes("once")), ("Did", yes("worked"))];
    let writes = every_place(&Cut { stand: &stand, agent: &stand.agent, answers: &answers });
    // Taken in, claimed, answer begun and whole, call planned, question written, asked, answered, over, call
    // sent and ended, second answer begun and whole, run ended.
    assert!((14..MOST).contains(&writes), "{writes} writes");
}

#[test]
fn a_question_of_a_tool_keeps_its_id_over_every_end_of_the_host() {
    let stand = Stand::new(|request| {
        let (role, text) = last(request);
        match (role.as_str(), offered(request, "prompt_choices")) {
            ("tool", _) => Script::say(format!("done: {text}")),
            (_, Some(name)) => {
                let options = json!([{ "value": "a", "label": "A" }, { "value": "b", "label": "B" }]);
                let arguments = json!({ "title": "Pick one", "options": options });
                Script::call(format!("c-{text}"), name, &arguments)
            }
            _ => Script::say("no tool"),
        }
    });
    let host = stand.sandbox.serve();
    let made = host.ask(
        "POST",
        "/api/v1/agents",
        Some(&json!({ "name": "asks", "mode": "flow", "landConfigId": "lc_safe_default" })),
    );
    let agent = made.json()["id"].as_str().unwrap().to_owned();
    host.stop();
    let answers = [("Pick", json!({ "status": "ok", "selection": "b" }))];
    let writes = every_place(&Cut { stand: &stand, agent: &agent, answers: &answers });
    assert!((12..MOST).contains(&writes), "{writes} writes");
}
