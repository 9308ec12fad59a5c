//! One question for one answer of the model (inbox §3.1): changes of files that stand next to one another are asked about
//! as one, what is left out is told, and a kill at any moment loses nothing and does nothing twice.

use chatos_testkit::{RunningHost, Script, eventually};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, offered, send, session, until};

const WRITER: &str = "code_writer";
const FILES: [&str; 5] = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"];

/// A stand whose model writes these files in one answer, and an agent that may write in a project.
fn stand(paths: &'static [&'static str]) -> (Stand, String) {
    let stand = Stand::new(move |request| {
        let (role, _) = last(request);
        match (role.as_str(), offered(request, "write_file")) {
            ("tool", _) => Script::say("done"),
            (_, Some(name)) => {
                let one = |(i, path): (usize, &&str)| {
                    let arguments = json!({ "path": path, "contents": format!("{i}\n") });
                    (format!("call-{i}"), name.clone(), arguments.to_string())
                };
                Script::Answer { text: String::new(), calls: paths.iter().enumerate().map(one).collect() }
            }
            _ => Script::say("no tool"),
        }
    });
    let host = stand.sandbox.serve();
    let servers = host.ask("GET", "/api/v1/mcp-servers", None).json();
    let writer = servers["items"].as_array().unwrap().iter().find(|server| server["name"] == WRITER).unwrap();
    let land = json!({ "name": "writing", "main": { "mcpServers": [{ "id": writer["id"] }] }, "sub": { "mcpServers": [] } });
    let land = host.ask("POST", "/api/v1/land-configs", Some(&land)).json();
    let body = json!({ "name": "writer", "mode": "flow", "landConfigId": land["id"] });
    let made = host.ask("POST", "/api/v1/agents", Some(&body));
    assert!(made.status < 300, "{}", made.text());
    let agent = made.json()["id"].as_str().unwrap().to_owned();
    let set = host.ask("PUT", "/api/v1/settings/confirmFileChanges", Some(&json!({ "value": true })));
    assert!(set.status < 300, "{}", set.text());
    host.stop();
    (stand, agent)
}

fn open(host: &RunningHost) -> Value {
    host.ask("GET", "/api/v1/prompts?view=needs_you", None).json()
}

/// The one question, with all that belongs to it.
fn question(host: &RunningHost, of: usize) -> (String, Value) {
    eventually("the question", || {
        let list = open(host);
        let id = list["items"][0]["requestId"].as_str()?.to_owned();
        let all = host.ask("GET", &format!("/api/v1/prompts/{id}/together"), None).json();
        (all["items"].as_array()?.len() == of).then_some((id, all))
    })
}

fn ids(all: &Value) -> Vec<String> {
    let items = all["items"].as_array().unwrap();
    items.iter().map(|item| item["requestId"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn five_files_of_one_answer_are_one_question_and_what_is_left_out_is_told() {
    let (stand, agent) = stand(&FILES);
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let root = stand.sandbox.root();
    let run = send(&host, &chat, "write them");
    let (id, all) = question(&host, 5);
    let list = open(&host);
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list["counts"]["needsYou"], 1, "{list}");
    let paths: Vec<&str> =
        all["items"].as_array().unwrap().iter().map(|i| i["prompt"]["path"].as_str().unwrap()).collect();
    assert_eq!(paths, FILES, "in the order of the calls");
    assert!(FILES.iter().all(|file| !root.join(file).exists()));

    // Something else than was shown: nothing is answered.
    let path = format!("/api/v1/prompts/{id}/together");
    let wrong = json!({ "shown": "0".repeat(64), "accepted": ids(&all) });
    let refused = host.ask("POST", &path, Some(&wrong));
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (409, Some("shown_mismatch")));
    assert_eq!(open(&host)["counts"]["needsYou"], 1);

    let mut accepted = ids(&all);
    accepted.remove(2);
    let body = json!({ "shown": all["shown"], "accepted": accepted, "remark": "not c" });
    let done = host.ask("POST", &path, Some(&body));
    assert_eq!((done.status, done.json()["done"].as_array().unwrap().len()), (200, 5), "{}", done.text());
    until(&host, &run, &["done"]);
    for (i, file) in FILES.iter().enumerate() {
        assert_eq!(root.join(file).exists(), i != 2, "{file}");
    }
    let told: Vec<Value> = messages(&host, &chat).into_iter().filter(|m| m["role"] == "tool").collect();
    assert_eq!(told.len(), 5, "{told:?}");
    for (i, message) in told.iter().enumerate() {
        assert_eq!(message["toolCallId"], format!("call-{i}"), "results in the order of the calls");
        assert_eq!(
            message.to_string().contains("not c") && message.to_string().contains("declined"),
            i == 2,
            "{message}"
        );
    }
    assert_eq!(open(&host)["counts"]["needsYou"], 0);
    host.stop();
}

#[test]
fn the_same_file_twice_is_asked_about_when_the_first_change_is_made() {
    let (stand, agent) = stand(&["a.txt", "b.txt", "a.txt"]);
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let root = stand.sandbox.root();
    let run = send(&host, &chat, "write them");
    let (id, all) = question(&host, 2);
    let body = json!({ "shown": all["shown"], "accepted": ids(&all) });
    assert_eq!(host.ask("POST", &format!("/api/v1/prompts/{id}/together"), Some(&body)).status, 200);
    let (second, all) = question(&host, 1);
    assert_ne!(second, id);
    let diff = all["items"][0]["prompt"]["diff"].as_str().unwrap().to_owned();
    assert!(diff.contains("-0") && diff.contains("+2"), "about the file as the first change left it: {diff}");
    let shown = json!({ "response": { "status": "ok" }, "shown": all["items"][0]["shown"] });
    assert_eq!(host.ask("POST", &format!("/api/v1/prompts/{second}/response"), Some(&shown)).status, 200);
    until(&host, &run, &["done"]);
    assert_eq!(std::fs::read_to_string(root.join("a.txt")).unwrap(), "2\n");
    host.stop();
}

#[test]
fn a_killed_host_loses_no_question_and_does_nothing_twice() {
    // Killed while it asks, after some were answered, and after all were.
    for answered in [0, 2, 5] {
        let (stand, agent) = stand(&FILES);
        let host = stand.sandbox.serve();
        let chat = session(&host, &agent);
        let root = stand.sandbox.root();
        let run = send(&host, &chat, "write them");
        let (id, all) = question(&host, 5);
        let first = ids(&all);
        // All but the last, so that the host is killed with a call under way or behind it.
        for item in &all["items"].as_array().unwrap()[..answered] {
            let id = item["requestId"].as_str().unwrap();
            let body = json!({ "response": { "status": "ok" }, "shown": item["shown"] });
            assert_eq!(host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body)).status, 200);
        }
        host.kill();
        let host = stand.sandbox.serve();
        let now = until(&host, &run, &["interrupted", "done"]);
        if now["state"] == "interrupted" {
            let resumed = host.ask("POST", &format!("/api/v1/runs/{run}/resume"), Some(&json!({})));
            assert_eq!(resumed.status, 202, "{}", resumed.text());
        }
        if answered < 5 {
            // The same questions, still as one.
            let left = &first[answered..];
            let (leader, again) = question(&host, left.len());
            assert_eq!(ids(&again), left, "{answered} (was {id}, is {leader})");
            // A call that was under way is asked about by itself.
            let list = open(&host);
            let others = list["items"].as_array().unwrap().iter();
            assert_eq!(others.filter(|item| item["card"]["verb"] != "uncertain").count(), 1, "{list}");
            let body = json!({ "shown": again["shown"], "accepted": left });
            let done = host.ask("POST", &format!("/api/v1/prompts/{leader}/together"), Some(&body));
            assert_eq!(done.status, 200, "{}", done.text());
        }
        // What was under way at the very moment may have to be asked about; nothing else is.
        let ended = eventually("the end of the run", || {
            let now = host.ask("GET", &format!("/api/v1/runs/{run}"), None).json();
            if now["state"] == "done" {
                return Some(now);
            }
            for item in open(&host)["items"].as_array()? {
                let id = item["requestId"].as_str()?;
                let whole = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
                // Done again because the person said so, it asks again: its approval was used.
                let response = match item["card"]["verb"].as_str()? {
                    "uncertain" => json!({ "status": "ok", "selection": "again" }),
                    "create_file" if answered > 0 => json!({ "status": "ok" }),
                    other => panic!("{other} is asked: {item}"),
                };
                let body = json!({ "response": response, "shown": whole["shown"] });
                host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
            }
            None
        });
        assert_eq!(ended["state"], "done");
        for (i, file) in FILES.iter().enumerate() {
            assert_eq!(
                std::fs::read_to_string(root.join(file)).unwrap(),
                format!("{i}\n"),
                "{answered} {file}"
            );
        }
        assert_eq!(open(&host)["counts"]["needsYou"], 0, "{answered}");
        // No file was made twice. A host that is killed between a change and its record leaves the change without one.
        let changes = host.ask("GET", &format!("/api/v1/changes?runId={run}"), None).json();
        let changes = changes["changes"].as_array().cloned().unwrap_or_default();
        let paths: std::collections::HashSet<&str> =
            changes.iter().filter_map(|change| change["path"].as_str()).collect();
        assert_eq!(paths.len(), changes.len(), "{answered}: {changes:?}");
        assert!(changes.len() >= 4, "{answered}: {changes:?}");
        host.stop();
    }
}

#[test]
fn a_no_to_all_of_them_ends_the_run_when_it_says_so() {
    let (stand, agent) = stand(&FILES);
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let run = send(&host, &chat, "write them");
    let (id, all) = question(&host, 5);
    let path = format!("/api/v1/prompts/{id}/together");
    let order = json!({ "shown": all["shown"], "accepted": [], "stop": true, "remark": "not there" });
    let done = host.ask("POST", &path, Some(&order));
    assert_eq!(done.json()["done"].as_array().map(Vec::len), Some(5), "{}", done.text());
    until(&host, &run, &["aborted"]);
    assert_eq!(stand.model.requests().len(), 1, "the model was not asked again");
    assert!(FILES.iter().all(|file| !stand.sandbox.root().join(file).exists()));
    host.stop();
}
