//! What becomes of a sign-in: renewed once by whoever shares it, asked for in the queue when an agent needs
//! it, and ended with what it was for.

use chatos_testkit::{RunningHost, Sandbox, Wire, make_dir};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::sign_in::{Place, added, call, phase, server, sign_in, visit};
use crate::support::{sandbox, until};

/// A host with a server somebody is signed in to, whose token has ended and whose renewal is held up.
fn renewing(sandbox: &Sandbox, place: &Place) -> RunningHost {
    let host = sandbox.serve();
    added(&host, place);
    sign_in(&host, place);
    phase(&host, "ready");
    assert_eq!(call(&host, "read")["content"][0]["text"], "read done");
    place.control(&json!({ "expire": true, "hold": true }));
    host
}

/// Calls in a thread of its own; the answer, when there is one.
fn calling(host: &RunningHost) -> std::thread::JoinHandle<Option<Value>> {
    let (mut wire, token) = (host.connect(), host.token.clone());
    std::thread::spawn(move || {
        let body = json!({ "arguments": {} });
        wire.ask(&token, "POST", "/api/v1/tools/notes/read/call", Some(&body))
            .ok()
            .map(|answer| answer.json())
    })
}

/// Waits until so many requests are where the log counts them.
fn counted(place: &Place, what: &str, wanted: u64) {
    until(what, || (place.log()[what].as_u64() >= Some(wanted)).then_some(()));
}

#[test]
fn two_processes_renew_once_and_one_that_is_killed_holds_nobody_up() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let first = renewing(&sandbox, &place);
    // Nobody may do this; whoever does has two hosts on one state.
    std::fs::remove_file(sandbox.state().join("host.lock")).unwrap();
    place.control(&json!({ "hold": false, "lifetime": 3600 }));
    let second = sandbox.serve();
    assert_eq!(call(&second, "read")["content"][0]["text"], "read done");
    assert_eq!(call(&first, "read")["content"][0]["text"], "read done");
    let before = place.log();
    place.control(&json!({ "expire": true, "hold": true }));
    let calls = [calling(&first), calling(&second)];
    counted(&place, "refused", before["refused"].as_u64().unwrap() + 2);
    counted(&place, "renewing", 1);
    place.control(&json!({ "hold": false }));
    for answer in calls.map(|call| call.join().unwrap().unwrap()) {
        assert_eq!(answer["content"][0]["text"], "read done", "{answer}");
    }
    let after = place.log();
    assert_eq!(after["refreshes"].as_u64(), before["refreshes"].as_u64().map(|count| count + 1));
    assert_eq!(after["reused"], 0);
    // The one that renews is killed: the other one does it.
    place.control(&json!({ "expire": true, "hold": true }));
    let lost = calling(&first);
    counted(&place, "renewing", 1);
    let waiting = calling(&second);
    first.kill();
    lost.join().unwrap();
    counted(&place, "gone", 1);
    place.control(&json!({ "hold": false }));
    assert_eq!(waiting.join().unwrap().unwrap()["content"][0]["text"], "read done");
    assert_eq!(
        (&place.log()["reused"], &server(&second)["signIn"]["state"]),
        (&json!(0), &json!("signed_in"))
    );
    second.stop();
}

#[test]
fn a_host_that_stops_keeps_what_is_being_renewed() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = renewing(&sandbox, &place);
    // Nobody waits for the call any more; the renewal goes on.
    let mut wire = host.connect();
    let (body, path) = (r#"{"arguments":{}}"#, "/api/v1/tools/notes/read/call");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        host.authority(),
        host.token,
        body.len()
    );
    wire.send(head.as_bytes()).unwrap();
    counted(&place, "renewing", 1);
    drop(wire);
    host.signal(Signal::TERM);
    until("it takes nobody in", || Wire::open(host.port).is_err().then_some(()));
    place.control(&json!({ "hold": false }));
    assert!(host.ended().success());
    let host = sandbox.serve();
    assert_eq!(call(&host, "read")["content"][0]["text"], "read done");
    assert_eq!((&place.log()["refreshes"], &place.log()["reused"]), (&json!(1), &json!(0)));
    host.stop();
}

/// A plugin whose app has the server, trusted.
fn with_plugin(sandbox: &Sandbox, place: &Place) -> std::path::PathBuf {
    let folder = sandbox.root().join("plugin");
    make_dir(&folder.join("ui"), 0o755);
    let manifest = json!({
        "manifestVersion": 1, "id": "com.example.web", "name": "Web", "version": "1.0.0",
        "apps": [{
            "id": "main", "name": "Main", "entry": { "type": "module", "path": "ui/index.mjs" },
            "ai": { "mcp": { "url": place.url() } },
        }],
    });
    std::fs::write(folder.join("plugin.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("ui/index.mjs"), "export function mount() {}\n").unwrap();
    let outcome = sandbox.run(&["plugin", "install", folder.to_str().unwrap(), "--json", "--yes"]);
    assert_eq!(outcome.status, 0, "{outcome:?}");
    let digest = outcome.json()["plugins"][0]["digest"].as_str().unwrap().to_owned();
    let trusted =
        sandbox.run(&["plugin", "trust", "com.example.web", "--digest", &digest, "--allow-inside-network"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    sandbox.state().join("ui_apps/plugins/com.example.web")
}

#[test]
fn the_sign_in_of_a_plugin_ends_with_it_and_a_leftover_is_named() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let folder = with_plugin(&sandbox, &place);
    let host = sandbox.serve();
    let begun = host.ask("POST", "/api/v1/mcp-servers/app:com.example.web%2Fmain/sign-in", Some(&json!({})));
    assert_eq!(begun.status, 200, "{}", begun.text());
    let back = place.decide(begun.json()["url"].as_str().unwrap(), true);
    assert_eq!(visit(host.port, &back, "").status, 200);
    host.stop();
    let leftovers = || {
        let found = sandbox.run(&["doctor", "--json"]).json();
        let all = found["findings"].as_array().unwrap().clone();
        all.into_iter().filter(|finding| finding["code"] == "sign_in_leftover").count()
    };
    assert_eq!(leftovers(), 0);
    // A folder that is away for a moment costs nobody a sign-in.
    let away = sandbox.root().join("away");
    std::fs::rename(&folder, &away).unwrap();
    assert_eq!(leftovers(), 1);
    sandbox.serve().stop();
    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(leftovers(), 0);
    // Nobody waits for the other side, and still it is told.
    let removed = sandbox.run(&["plugin", "remove", "com.example.web", "--yes"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    assert_eq!(sandbox.run(&["secrets", "list", "--json"]).json()["items"], json!([]));
    assert!(!place.log()["revoked"].as_array().unwrap().is_empty());
    assert_eq!(leftovers(), 0);
}

/// Open questions.
fn open(host: &RunningHost) -> Vec<Value> {
    let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
    list["items"].as_array().unwrap().clone()
}

fn one_open(host: &RunningHost, what: &str) -> Value {
    until(what, || {
        let mut items = open(host);
        (items.len() == 1).then(|| items.remove(0))
    })
}

fn answer(host: &RunningHost, item: &Value, selection: &str) {
    let path = format!("/api/v1/prompts/{}/response", item["requestId"].as_str().unwrap());
    let body = json!({ "response": { "status": "ok", "selection": selection }, "shown": item["shown"] });
    let answered = host.ask("POST", &path, Some(&body));
    assert_eq!(answered.status, 200, "{}", answered.text());
}

/// An agent that may use the server, to which a person is signed in; its id.
fn agent(host: &RunningHost, place: &Place) -> Value {
    let id = added(host, place);
    sign_in(host, place);
    phase(host, "ready");
    let ask = |path: &str, body: &Value| {
        let made = host.ask("POST", &format!("/api/v1/{path}"), Some(body));
        assert!(made.status < 300, "{path}: {}", made.text());
        made.json()
    };
    let land =
        ask("land-configs", &json!({ "name": "l", "main": { "mcpServers": [{ "id": id }] }, "sub": {} }));
    ask("agents", &json!({ "name": "a", "mode": "flow", "landConfigId": land["id"] }))["id"].clone()
}

#[test]
fn an_answer_that_was_given_while_no_host_ran_is_acted_on_by_the_next() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = sandbox.serve();
    let agent = agent(&host, &place);
    let call = json!({ "server": "notes", "tool": "write", "agent": agent });
    let denied = host.ask("POST", "/api/v1/tools/call", Some(&call)).json();
    assert_eq!(denied["_meta"]["chatos"]["code"], "permission_denied");
    let first = one_open(&host, "the person is asked whether to sign in");
    let port = host.port;
    host.kill();
    let id = first["requestId"].as_str().unwrap();
    let answered = sandbox.run(&["prompts", "answer", id, "--ok", "--select", "sign_in", "--json"]);
    assert_eq!(answered.status, 0, "{answered:?}");
    let host = sandbox.serve_with(&["--port", &port.to_string()]);
    let second = one_open(&host, "the person is asked whether to open the page");
    assert_eq!(second["prompt"]["chain"]["id"], id);
    // Another start asks nothing twice.
    host.kill();
    let host = sandbox.serve_with(&["--port", &port.to_string()]);
    let still = one_open(&host, "it is still asked");
    assert_eq!(still["requestId"], second["requestId"]);
    host.stop();
}

#[test]
fn what_an_agent_lacks_is_asked_once_and_outlives_the_host() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    let host = sandbox.serve();
    let agent = agent(&host, &place);
    // Whoever calls by hand reads it there.
    assert_eq!(call(&host, "write")["isError"], true);
    let as_agent = |host: &RunningHost| {
        let body = json!({ "server": "notes", "tool": "write", "agent": agent });
        host.ask("POST", "/api/v1/tools/call", Some(&body)).json()["_meta"]["chatos"]["code"].clone()
    };
    for _ in 0..3 {
        assert_eq!(as_agent(&host), "permission_denied");
    }
    let first = one_open(&host, "the person is asked whether to sign in");
    assert_eq!(first["kind"], "choice");
    let port = host.port;
    host.kill();
    let host = sandbox.serve_with(&["--port", &port.to_string()]);
    assert_eq!(as_agent(&host), "permission_denied");
    let again = one_open(&host, "it is still asked, once");
    assert_eq!(again["requestId"], first["requestId"]);
    answer(&host, &again, "sign_in");
    let second = until("the person is asked whether to open the page", || {
        let item = one_open(&host, "a second question");
        (item["requestId"] != first["requestId"]).then_some(item)
    });
    let whole =
        host.ask("GET", &format!("/api/v1/prompts/{}", second["requestId"].as_str().unwrap()), None).json();
    let url = whole["prompt"]["url"].as_str().unwrap().to_owned();
    assert_eq!(server(&host)["signIn"]["state"], "pending");
    // The page is opened without an answer to the question; signing in answers it.
    assert_eq!(visit(host.port, &place.decide(&url, true), "").status, 200);
    until("nothing is asked any more", || open(&host).is_empty().then_some(()));
    until("the new rights are used", || (as_agent(&host) == "ok").then_some(()));
    // A no is kept, and a removed server asks nothing.
    place.control(&json!({ "expire": true, "refuseRefresh": true }));
    until("a sign-in is needed", || (as_agent(&host) != "ok" && !open(&host).is_empty()).then_some(()));
    answer(&host, &one_open(&host, "one question"), "not_now");
    as_agent(&host);
    assert_eq!(open(&host), Vec::<Value>::new());
    host.stop();
}

#[test]
fn a_place_is_chosen_where_there_are_several_and_a_document_stands_for_a_registration() {
    let sandbox = sandbox();
    let place = Place::start(&sandbox);
    place.control(&json!({ "places": ["/other"] }));
    let host = sandbox.serve();
    added(&host, &place);
    let begin = |body: &Value| host.ask("POST", "/api/v1/mcp-servers/notes/sign-in", Some(body));
    let (one, other) =
        (format!("http://127.0.0.1:{}", place.port), format!("http://127.0.0.1:{}/other", place.port));
    let first = begin(&json!({})).json();
    assert_eq!((&first["issuer"], &first["issuers"]), (&json!(other), &json!([other, one])));
    let elsewhere = begin(&json!({ "issuer": "https://login.example" }));
    assert_eq!((elsewhere.status, elsewhere.json()["error"]["code"].as_str()), (422, Some("sign_in_issuer")));
    assert!(elsewhere.json()["error"]["hint"].as_str().unwrap().contains(&other), "{}", elsewhere.text());
    let chosen = begin(&json!({ "issuer": one })).json();
    assert_eq!(visit(host.port, &place.decide(chosen["url"].as_str().unwrap(), true), "").status, 200);
    phase(&host, "ready");
    assert_eq!(begin(&json!({})).json()["issuer"], json!(one), "the same one the next time");
    // A document about us takes the place of a registration where it can be read.
    let set = |address: &str| {
        let body = json!({ "value": address });
        assert_eq!(host.ask("PUT", "/api/v1/settings/mcpClientMetadataUrl", Some(&body)).status, 200);
    };
    set("http://example.com/chatos.json");
    let refused = begin(&json!({}));
    assert_eq!(
        (refused.status, refused.json()["error"]["code"].as_str()),
        (422, Some("client_document_invalid"))
    );
    set("https://example.com/chatos.json");
    let before = place.log()["registrations"].clone();
    place.control(&json!({ "documents": true }));
    let begun = begin(&json!({})).json();
    assert!(
        begun["url"].as_str().unwrap().contains("client_id=https%3A%2F%2Fexample.com%2Fchatos.json"),
        "{begun}"
    );
    assert_eq!(place.log()["registrations"], before);
    host.stop();
}
