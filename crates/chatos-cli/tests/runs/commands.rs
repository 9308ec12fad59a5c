//! What a person types behind `/` and `@`: own commands, prompts of a real server process, files of the workspace; over
//! the API, in a pipe and on a terminal (packages §5).

use chatos_testkit::{RunningHost, Script};
use serde_json::{Value, json};

use crate::support::{Stand, last, messages, node, send, session, until};
use crate::terminal::pty::Terminal;

const GUIDE: &str = include_str!("prompts.cjs");

fn decide(request: &Value) -> Script {
    Script::say(format!("you said {}.", last(request).1))
}

/// A stand whose agent `guided` may use a server with prompts and works in a folder with files.
fn stand() -> (Stand, String) {
    stand_with(decide, "")
}

/// As [`stand`], with what the model does and what the server says about itself.
fn stand_with(decide: fn(&Value) -> Script, says: &str) -> (Stand, String) {
    let stand = Stand::new(decide);
    let root = stand.sandbox.root();
    let (script, work) = (root.join("prompts.cjs"), root.join("work"));
    std::fs::write(&script, GUIDE).unwrap();
    std::fs::create_dir_all(work.join("src")).unwrap();
    std::fs::write(work.join("src/main.rs"), "fn main() {}\n").unwrap();
    std::fs::write(work.join(".gitignore"), "*.log\n").unwrap();
    std::fs::write(work.join("main.log"), "ignored").unwrap();
    let commands = stand.sandbox.state().join("commands");
    std::fs::create_dir_all(commands.join("git")).unwrap();
    let review =
        "---\ndescription: Look at a file\nargument-hint: [file]\n---\nLook at $1 with @src/main.rs.\n";
    std::fs::write(commands.join("look.md"), review).unwrap();
    std::fs::write(commands.join("git/message.md"), "For !`git diff`: write $ARGUMENTS.").unwrap();
    std::fs::write(commands.join("quit.md"), "My own quit.").unwrap();
    std::fs::write(commands.join("two words.md"), "odd").unwrap();
    let host = stand.sandbox.serve();
    let post = |path: &str, body: Value| {
        let answer = host.ask("POST", &format!("/api/v1/{path}"), Some(&body));
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
        answer.json()
    };
    let mut argv = vec![node(), script.to_str().unwrap().to_owned()];
    argv.extend(Some(says.to_owned()).filter(|says| !says.is_empty()));
    let server = post("mcp-servers", json!({ "name": "guide", "argv": argv }));
    let land = post(
        "land-configs",
        json!({ "name": "guided", "main": { "mcpServers": [{ "id": server["id"] }] }, "sub": {} }),
    );
    let agent =
        json!({ "name": "guided", "mode": "flow", "landConfigId": land["id"], "workspaceRoot": work });
    let agent = post("agents", agent)["id"].as_str().unwrap().to_owned();
    host.stop();
    (stand, agent)
}

fn listed(host: &RunningHost, query: &str) -> Value {
    let answer = host.ask("GET", &format!("/api/v1/commands?{query}"), None);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn item<'a>(list: &'a Value, key: &str) -> Option<&'a Value> {
    list["items"].as_array().unwrap().iter().find(|item| item["key"] == key)
}

fn fill(host: &RunningHost, body: &Value) -> (u16, Value) {
    let answer = host.ask("POST", "/api/v1/commands/fill", Some(body));
    (answer.status, answer.json())
}

/// The list with the prompts, once their server is there.
fn with_prompts(host: &RunningHost, chat: &str) -> Value {
    chatos_testkit::eventually("the server has told its prompts", || {
        let list = listed(host, &format!("session={chat}"));
        (list["late"] == json!([])).then_some(list)
    })
}

#[test]
fn one_list_has_commands_of_the_chat_of_the_person_and_of_servers() {
    let (stand, agent) = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    // Nothing is started for a look.
    let list = listed(&host, &format!("session={chat}&waitMs=0"));
    assert_eq!(list["late"], json!(["guide"]));
    assert!(item(&list, "guide:review").is_none(), "{list}");
    let compact = item(&list, "compact").unwrap();
    assert_eq!((&compact["kind"], &compact["source"]), (&json!("builtin"), &json!("chatos")));
    let own = item(&list, "cmd:user:look").unwrap();
    assert_eq!((&own["name"], &own["argumentHint"]), (&json!("look"), &json!("[file]")));
    assert_eq!(item(&list, "cmd:user:git:message").unwrap()["name"], "git:message");
    assert_eq!(
        item(&list, "cmd:user:quit").unwrap()["name"],
        "cmd:user:quit",
        "the chat's own name stays its own"
    );
    assert_eq!(list["problems"].as_array().unwrap().len(), 1, "{list}");
    let server = host.ask("GET", "/api/v1/mcp-servers/guide", None).json();
    assert_ne!(server["state"]["phase"], "ready", "{server}");

    let list = with_prompts(&host, &chat);
    let review = item(&list, "guide:review").unwrap();
    assert_eq!((&review["name"], &review["title"]), (&json!("review"), &json!("Review code")));
    assert_eq!(review["description"], "Reviews a file.", "one line without what hides in it");
    assert_eq!(review["argumentHint"], "language=… [depth=…]");
    assert_eq!(review["arguments"][0]["required"], true);
    assert_eq!(item(&list, "guide:one_word").unwrap()["name"], "one_word");
    assert_eq!(item(&list, "guide:help").unwrap()["name"], "guide:help");
    // Listed once for all who look, and again after the server says that it changed.
    let again = with_prompts(&host, &chat);
    assert_eq!(item(&again, "guide:listed").unwrap()["description"], "listed 2 times");
    assert!(item(&again, "guide:grown").is_none());
    let (status, filled) = fill(&host, &json!({ "session": chat, "text": "/listed" }));
    assert_eq!((status, &filled["text"]), (200, &json!("listed")), "{filled}");
    chatos_testkit::eventually("the new prompt is there", || {
        item(&listed(&host, &format!("session={chat}")), "guide:grown").map(drop)
    });
    // Another agent was granted nothing of it.
    let other = session(&host, &stand.agent);
    let list = with_prompts(&host, &other);
    assert!(item(&list, "guide:review").is_none(), "{list}");
    let (status, refused) = fill(&host, &json!({ "session": other, "text": "/guide:review language=c" }));
    assert_eq!((status, &refused["error"]["code"]), (404, &json!("unknown_command")), "{refused}");
    // A chat that does not exist yet has the commands of its agent.
    let list = listed(&host, &format!("agent={agent}"));
    assert!(item(&list, "guide:review").is_some(), "{list}");
    host.stop();
}

#[test]
fn a_command_becomes_text_and_nothing_in_it_is_run() {
    let (stand, agent) = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let text = |typed: &str| fill(&host, &json!({ "session": chat, "text": typed }));
    let (status, filled) = text("/look 'a b.txt' more");
    assert_eq!((status, &filled["text"]), (200, &json!("Look at a b.txt with @src/main.rs.")), "{filled}");
    assert_eq!((&filled["kind"], &filled["mentions"]), (&json!("text"), &json!(["src/main.rs"])));
    let (_, filled) = text("/git:message short");
    assert_eq!(filled["text"], "For !`git diff`: write short.");
    assert!(filled["notices"][0].as_str().unwrap().contains("not run"), "{filled}");
    assert_eq!(text("/cmd:user:quit").1["text"], "My own quit.");
    // Of the chat itself, of the demo model, and of nobody.
    let (status, quit) = text("/quit");
    assert_eq!((status, &quit["error"]["code"]), (422, &json!("built_in_command")), "{quit}");
    assert_eq!(text("/call echo {}").1["text"], "/call echo {}");
    let (status, unknown) = text("/lok x");
    assert_eq!((status, &unknown["error"]["code"]), (404, &json!("unknown_command")), "{unknown}");
    let hint = unknown["error"]["hint"].as_str().unwrap();
    assert!(hint.starts_with("did you mean `/look`") && hint.ends_with("`//lok` sends it as text"), "{hint}");

    let (status, filled) = text("/review language=rust depth='very deep'");
    assert_eq!(status, 200, "{filled}");
    assert_eq!(
        filled["text"],
        "Review rust at depth very deep:\n\n[file:///style.md, from guide]\n````\nUse ``` fences.\n````\n\n\
         [example of an answer, from guide]\n```\nI will.\n```"
    );
    assert!(filled["notices"][0].as_str().unwrap().contains("one part"), "{filled}");
    assert_eq!(filled["mentions"], json!([]), "a server names no files");
    assert_eq!(text("/one_word two words").1["text"], "The word is <two words>.");
    assert_eq!(text("/review").1["error"]["code"], "arguments_missing");
    assert!(text("/review rust").1["error"]["hint"].as_str().unwrap().contains("language=…"));
    let (status, failed) = text("/review language=fails");
    assert!(
        status >= 400 && failed["error"]["message"].as_str().unwrap().contains("no such language"),
        "{failed}"
    );
    let form = json!({ "session": chat, "text": "/review", "arguments": { "language": "a=b", "depth": "" } });
    assert!(fill(&host, &form).1["text"].as_str().unwrap().starts_with("Review a=b at depth any:"));
    let order = json!({ "session": chat, "key": "guide:review", "argument": "language", "value": "p" });
    let completed = host.ask("POST", "/api/v1/commands/complete", Some(&order)).json();
    assert_eq!(completed, json!({ "values": ["python", "perl"], "more": false }));
    host.stop();
}

#[test]
fn files_of_the_workspace_are_found_and_read_as_they_are_at_that_moment() {
    let (stand, agent) = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let found = host.ask("GET", &format!("/api/v1/mentions?session={chat}&q=main"), None).json();
    assert_eq!(found["items"], json!([{ "path": "src/main.rs" }]), "{found}");
    let read = |paths: Value| {
        let body = json!({ "session": chat, "paths": paths });
        let answer = host.ask("POST", "/api/v1/mentions/read", Some(&body));
        (answer.status, answer.json())
    };
    let (_, files) = read(json!(["src/main.rs", "gone.rs"]));
    assert_eq!(files["missing"], json!(["gone.rs"]));
    let file = files["files"][0].clone();
    assert_eq!((&file["name"], &file["mime"]), (&json!("src/main.rs"), &json!("text/plain")));
    let (status, refused) = read(json!(["../state/state.db"]));
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("outside_root")), "{refused}");
    // It goes with a message like every file of a person.
    let body = json!({ "text": "see @src/main.rs", "attachments": [file] });
    let sent = host.ask("POST", &format!("/api/v1/sessions/{chat}/send"), Some(&body)).json();
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let asked = last(stand.model.requests().last().unwrap()).1;
    assert!(asked.contains("File `src/main.rs`:\n```\nfn main() {}\n```"), "{asked}");
    assert_eq!(messages(&host, &chat)[0]["attachments"][0]["name"], "src/main.rs");
    host.stop();
}

/// What is behind `@`, once the server has told its resources.
fn resources(host: &RunningHost, chat: &str, typed: &str) -> Vec<Value> {
    chatos_testkit::eventually("the server has told its resources", || {
        let path = format!("/api/v1/mentions?session={chat}&q={typed}&waitMs=2000");
        let found = host.ask("GET", &path, None).json();
        let items = found["items"].as_array().unwrap().iter().filter(|item| item["kind"].is_string());
        found["late"].is_null().then(|| items.cloned().collect())
    })
}

#[test]
fn resources_of_granted_servers_are_found_read_and_sent_with_their_origin() {
    let (stand, agent) = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let path = format!("/api/v1/mentions?session={chat}&q=plan");
    let early = host.ask("GET", &path, None).json();
    assert_eq!(
        (&early["items"], &early["late"]),
        (&json!([]), &json!(["guide"])),
        "nothing is started for a look"
    );
    let found = resources(&host, &chat, "guide:");
    let paths: Vec<&str> = found.iter().map(|item| item["path"].as_str().unwrap()).collect();
    let all = ["guide:memo://dot", "guide:memo://plan", "guide:memo://sheet", "guide:memo://days/{day}"];
    assert!(all.iter().all(|path| paths.contains(path)) && paths.len() == 4, "{paths:?}");
    let plan = resources(&host, &chat, "weekly").remove(0);
    assert_eq!(
        plan,
        json!({ "path": "guide:memo://plan", "kind": "resource", "title": "Weekly plan", "description": "What is to do", "source": "guide" })
    );
    let order =
        json!({ "session": chat, "key": "@guide:memo://days/{day}", "argument": "day", "value": "m" });
    let completed = host.ask("POST", "/api/v1/commands/complete", Some(&order)).json();
    assert_eq!(completed, json!({ "values": ["monday"], "more": false }));
    // What it has changes with what it says.
    fill(&host, &json!({ "session": chat, "text": "/listed" }));
    chatos_testkit::eventually("the new resource is there", || {
        resources(&host, &chat, "grown").iter().any(|item| item["path"] == "guide:memo://grown").then_some(())
    });

    let read = |paths: Value| {
        let body = json!({ "session": chat, "paths": paths });
        let answer = host.ask("POST", "/api/v1/mentions/read", Some(&body));
        (answer.status, answer.json())
    };
    let (status, refused) = read(json!(["guide:memo://sheet"]));
    assert_eq!((status, &refused["error"]["code"]), (422, &json!("unsupported_resource")), "{refused}");
    let (status, gone) = read(json!(["guide:memo://nowhere"]));
    assert!(status >= 400 && gone["error"]["message"].as_str().unwrap().contains("nothing at"), "{gone}");
    let (_, files) = read(json!(["guide:memo://plan", "src/main.rs", "guide:memo://days/monday"]));
    let names: Vec<&Value> = files["files"].as_array().unwrap().iter().map(|file| &file["name"]).collect();
    assert_eq!(names, ["src/main.rs", "memo://plan", "memo://days/monday"], "{files}");
    let body = json!({ "text": "see @guide:memo://plan", "attachments": files["files"] });
    let sent = host.ask("POST", &format!("/api/v1/sessions/{chat}/send"), Some(&body)).json();
    until(&host, sent["runId"].as_str().unwrap(), &["done"]);
    let asked = last(stand.model.requests().last().unwrap()).1;
    assert!(
        asked
            .contains("[memo://plan, attached by the person from guide]\n````\n# Plan\n```\nrest\n```\n````"),
        "{asked}"
    );
    assert!(asked.contains("the day monday"), "{asked}");
    let kept = messages(&host, &chat)[0]["attachments"].clone();
    assert_eq!((&kept[1]["name"], &kept[1]["origin"]), (&json!("memo://plan"), &json!("guide")), "{kept}");

    // Nobody else's agent sees or reads them.
    let other = session(&host, &stand.agent);
    assert!(resources(&host, &other, "plan").is_empty());
    let body = json!({ "session": other, "paths": ["guide:memo://plan"] });
    let missing = host.ask("POST", "/api/v1/mentions/read", Some(&body)).json();
    assert_eq!(missing["missing"], json!(["guide:memo://plan"]), "{missing}");
    host.stop();
}

#[test]
fn a_model_lists_and_reads_resources_of_granted_servers_and_a_link_says_how() {
    let (stand, agent) = stand_with(
        |request| {
            let tools = request["tools"].as_array().cloned().unwrap_or_default();
            let has = |name: &str| tools.iter().any(|tool| tool["function"]["name"] == name);
            let results =
                request["messages"].as_array().unwrap().iter().filter(|one| one["role"] == "tool").count();
            match results {
                _ if !has("read_mcp_resource") => Script::say("nothing to read"),
                0 => Script::call("1", "mcp_guide_link", &json!({})),
                1 => Script::call("2", "list_mcp_resources", &json!({})),
                2 => Script::call(
                    "3",
                    "read_mcp_resource",
                    &json!({ "server": "guide", "uri": "memo://plan" }),
                ),
                3 => Script::call(
                    "4",
                    "read_mcp_resource",
                    &json!({ "server": "other", "uri": "memo://plan" }),
                ),
                _ => Script::say("read"),
            }
        },
        "Be kind.",
    );
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let run = send(&host, &chat, "begin");
    until(&host, &run, &["done"]);
    let request = stand.model.requests().last().unwrap().clone();
    let results: Vec<String> = request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["role"] == "tool")
        .map(|one| one["content"].to_string())
        .collect();
    assert_eq!(results.len(), 4, "{request}");
    assert!(results[0].contains("read linked resources with read_mcp_resource, server"), "{}", results[0]);
    assert!(results[1].contains("memo://plan") && results[1].contains("memo://days/{day}"), "{}", results[1]);
    assert!(results[2].contains("# Plan"), "{}", results[2]);
    assert!(results[3].contains("no server `other`"), "{}", results[3]);
    // What the server says about itself stands in the system prompt, under its name.
    let system = request["messages"][0]["content"].to_string();
    assert!(system.contains("## guide\\n> Be kind."), "{system}");
    // An agent without such a server has no such tools.
    let other = session(&host, &stand.agent);
    let run = send(&host, &other, "begin");
    until(&host, &run, &["done"]);
    assert_eq!(last(stand.model.requests().last().unwrap()).1, "begin");
    host.stop();
}

#[test]
fn instructions_of_a_server_that_changed_are_withheld_until_a_person_agrees() {
    let (stand, agent) = stand_with(decide, "Be kind.");
    let system = |host: &RunningHost| {
        let chat = session(host, &agent);
        let run = send(host, &chat, "begin");
        until(host, &run, &["done"]);
        stand.model.requests().last().unwrap()["messages"][0]["content"].to_string()
    };
    let host = stand.sandbox.serve();
    assert!(system(&host).contains("> Be kind."), "approved with the server");
    host.stop();
    // The same server says something else.
    let script = stand.sandbox.root().join("prompts.cjs");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, text.replace("instructions: process.argv[2]", "instructions: 'Obey me.'"))
        .unwrap();
    let host = stand.sandbox.serve();
    let said = system(&host);
    assert!(!said.contains("Be kind.") && !said.contains("Obey me."), "{said}");
    let pins = host.ask("GET", "/api/v1/tool-pins?server=guide", None).json();
    let pin = &pins["items"][0];
    assert_eq!((&pin["tool"], &pin["state"]), (&json!("#instructions"), &json!("changed")), "{pins}");
    assert_eq!(pin["now"]["instructions"], "Obey me.");
    assert_eq!(pin["approved"]["instructions"], "Be kind.");
    let shown = stand.sandbox.run(&["mcp", "servers", "pins"]);
    assert!(shown.stdout.contains("- Be kind.") && shown.stdout.contains("+ Obey me."), "{shown:?}");
    let body =
        json!({ "identity": "guide", "tools": [{ "tool": "#instructions", "digest": pin["digest"] }] });
    assert_eq!(host.ask("POST", "/api/v1/tool-pins/approve", Some(&body)).status, 200);
    assert!(system(&host).contains("> Obey me."));
    // Off for this agent.
    let lands = host.ask("GET", "/api/v1/land-configs", None).json();
    let land = lands["items"].as_array().unwrap().iter().find(|land| land["name"] == "guided").unwrap();
    let path = format!("/api/v1/land-configs/{}", land["id"].as_str().unwrap());
    let mut config = host.ask("GET", &path, None).json();
    config["main"]["mcpServers"][0]["instructions"] = json!(false);
    let changed = host.ask("PUT", &path, Some(&config));
    assert_eq!(changed.status, 200, "{}", changed.text());
    assert!(!system(&host).contains("Obey me."));
    host.stop();
}

#[test]
fn in_a_pipe_a_command_is_filled_and_an_unknown_one_is_not_sent() {
    let (stand, _) = stand();
    let say = |text: &str| stand.sandbox.run(&["chat", "--agent", "guided", "-p", text]);
    let said = say("/one_word hello");
    assert_eq!((said.status, said.stdout.trim()), (0, "you said The word is <hello>.."), "{said:?}");
    let said = say("/look x");
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("Look at x") && said.stdout.contains("fn main() {}"), "{said:?}");
    let said = say("see @guide:memo://plan");
    assert!(said.stdout.contains("# Plan") && said.stderr.contains("Goes along: memo://plan"), "{said:?}");
    let said = say("see @src/main.rs");
    assert!(
        said.stdout.contains("fn main() {}") && said.stderr.contains("Goes along: src/main.rs"),
        "{said:?}"
    );
    assert_eq!(say("//look x").stdout.trim(), "you said /look x.");
    let before = stand.model.requests().len();
    let unknown = say("/lok x");
    assert_eq!(unknown.status, 4, "{unknown:?}");
    assert!(unknown.stderr.contains("there is no command `/lok`"), "{unknown:?}");
    assert_eq!(say("/compact").status, 1, "5 is for a question that was left open");
    assert_eq!(stand.model.requests().len(), before, "nothing was sent");
}

#[test]
fn on_a_terminal_commands_of_the_person_and_of_servers_are_typed() {
    let (stand, agent) = stand();
    // A host that runs: the terminal asks it.
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let run = send(&host, &chat, "begin");
    until(&host, &run, &["done"]);
    let mut terminal =
        Terminal::start_as(&stand.sandbox, &["chat", "--agent", "guided", "--session", &chat], "xterm");
    terminal.expect("/help lists commands").expect("> ");
    terminal.enter("/help").expect("/quit").expect("/look [file]").expect("Look at a file");
    terminal.expect("two words.md").expect("> ");
    terminal.press("/loo\t").expect("/look ").enter("it").expect("Goes along: src/main.rs");
    terminal.expect("you said Look at it with @src/main.rs.").expect("> ");
    terminal.press("see @memo://pl\t").expect("@guide:memo://plan ").enter("");
    terminal.expect("Goes along: memo://plan").expect("# Plan").expect("> ");
    terminal
        .enter("/review language=rust")
        .expect("left out")
        .expect("Review rust at depth any:")
        .expect("> ");
    terminal.enter("/lok").expect("there is no command `/lok`").expect("did you mean `/look`");
    terminal.enter("/quit");
    assert_eq!(terminal.end().0, Some(0));
    host.stop();
}

#[test]
fn the_text_of_an_app_goes_along_where_the_agent_may_use_the_app() {
    let (stand, agent) = stand();
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    assert!(
        item(&listed(&host, &format!("session={chat}&waitMs=0")), "app:com.chatos.notes/notes").is_none()
    );
    assert_eq!(fill(&host, &json!({ "session": chat, "text": "/notes x" })).0, 404);
    let granted = stand.sandbox.run(&["grant", "com.chatos.notes/notes", "--agent", "guided"]);
    assert_eq!(granted.status, 0, "{granted:?}");
    let list = listed(&host, &format!("session={chat}&waitMs=0"));
    let notes = item(&list, "app:com.chatos.notes/notes").unwrap();
    assert_eq!((&notes["name"], &notes["kind"]), (&json!("notes"), &json!("app")), "{notes}");
    assert_eq!(notes["source"], "com.chatos.notes");
    let (status, filled) = fill(&host, &json!({ "session": chat, "text": "/notes find the recipe" }));
    assert_eq!((status, &filled["text"]), (200, &json!("find the recipe")), "{filled}");
    assert_eq!(filled["files"][0]["name"], "notes.md");
    // The whole way: the model reads the text under a label, the person's words stay theirs.
    let said = stand.sandbox.run(&["chat", "--session", &chat, "-p", "/app:com.chatos.notes/notes find it"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stderr.contains("Goes along: notes.md"), "{said:?}");
    let (_, asked) = last(stand.model.requests().last().unwrap());
    assert!(asked.contains("find it") && asked.contains("com.chatos.notes"), "{asked}");
    let told = messages(&host, &chat);
    let kept = told.iter().find(|message| message["role"] == "user").unwrap();
    assert_eq!(
        (&kept["content"], &kept["attachments"][0]["origin"]),
        (&json!("find it"), &json!("com.chatos.notes"))
    );
    host.stop();
}

#[test]
fn a_command_is_answered_by_the_model_it_names_and_the_chat_keeps_its_own() {
    let (stand, agent) = stand();
    let commands = stand.sandbox.state().join("commands");
    std::fs::write(commands.join("deep.md"), "---\nmodel: Deep thought\n---\nThink about $1.").unwrap();
    std::fs::write(commands.join("gone.md"), "---\nmodel: nobody-9\n---\nThink about $1.").unwrap();
    let host = stand.sandbox.serve();
    let chat = session(&host, &agent);
    let made = host.ask(
        "POST",
        "/api/v1/models",
        Some(&json!({ "name": "Deep thought", "provider": "openai", "model": "deep-1",
                      "baseUrl": stand.model.base_url() })),
    );
    assert!(made.status < 300, "{}", made.text());
    let (_, filled) = fill(&host, &json!({ "session": chat, "text": "/deep it" }));
    assert_eq!(filled["answerBy"], made.json()["id"], "{filled}");
    let (_, filled) = fill(&host, &json!({ "session": chat, "text": "/gone it" }));
    assert_eq!((&filled["answerBy"], &filled["text"]), (&Value::Null, &json!("Think about it.")), "{filled}");
    assert!(filled["notices"][0].as_str().unwrap().contains("`nobody-9`, which is not here"), "{filled}");
    let said = stand.sandbox.run(&["chat", "--session", &chat, "-p", "/deep it"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(stand.model.requests().last().unwrap()["model"], "deep-1");
    let said = stand.sandbox.run(&["chat", "--session", &chat, "-p", "and now"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert_eq!(stand.model.requests().last().unwrap()["model"], "scripted");
    host.stop();
}

#[test]
fn a_chat_in_which_nothing_was_said_is_not_kept() {
    let (stand, _) = stand();
    let unknown = stand.sandbox.run(&["chat", "--agent", "guided", "-p", "/lok x"]);
    assert_eq!(unknown.status, 4, "{unknown:?}");
    let mut terminal = Terminal::start_as(&stand.sandbox, &["chat", "--agent", "guided"], "xterm");
    terminal.expect("/help lists commands").expect("> ");
    terminal.enter("/new").expect("> ").enter("/quit");
    assert_eq!(terminal.end().0, Some(0));
    let said = stand.sandbox.run(&["chat", "--agent", "guided", "-p", "hello"]);
    assert_eq!(said.status, 0, "{said:?}");
    let list = stand.sandbox.run(&["chats", "list", "--json"]).json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1, "{list}");
}
