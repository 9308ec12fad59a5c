//! What a command gets beyond its sandbox: only by a person's word, as much as was said, and for as long.

use std::io::{Read, Write};

use chatos_layer::testing::nobody;

use super::*;

/// The question a call asks, answered; and its result.
async fn answered(bench: &Bench, arguments: Value, selection: &str) -> (Value, (Value, String)) {
    let (result, prompt) = tokio::join!(bench.call("run_shell_command", arguments), async {
        let (id, entry) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "ok", "selection": selection }), "person:ui", None);
        entry.request.prompt
    });
    (Value::Object(prompt), result)
}

fn store(dir: &Path) -> chatos_store::Store {
    chatos_store::Store::open(chatos_store::OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

fn stdout(result: &(Value, String)) -> &str {
    result.0["data"]["stdout"]["text"].as_str().unwrap_or_default()
}

fn options(prompt: &Value) -> Vec<&str> {
    prompt["options"].as_array().unwrap().iter().filter_map(|option| option["value"].as_str()).collect()
}

#[tokio::test]
async fn a_path_is_opened_once_or_for_the_project_until_it_is_taken_back() {
    if Kernel::here().level() != Level::Full {
        chatos_testkit::skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let kept = tempfile::tempdir().unwrap();
    let bench = Bench::keeping(quiet(), None, Some(store(kept.path())));
    let outside = bench.dir.path().canonicalize().unwrap().join("outside");
    let command = format!("cat {}/secret.txt", outside.display());
    let denied = bench.run(&command).await;
    assert_eq!(stdout(&denied), "");
    let way = format!("access: {{\"read\": [\"{}/secret.txt\"]", outside.display());
    assert!(denied.1.contains(&way), "{}", denied.1);

    let asks =
        json!({ "command": command, "access": { "read": [outside], "reason": "the notes are there" } });
    let (prompt, result) = answered(&bench, asks.clone(), "once").await;
    assert_eq!(prompt["kind"], "choice");
    assert_eq!(options(&prompt), ["once", "project", "no"]);
    let message = prompt["message"].as_str().unwrap();
    for part in [command.as_str(), "the notes are there", &format!("read `{}`", outside.display())] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert_eq!(stdout(&result), "outside-content\n", "{}", result.1);
    assert_eq!(stdout(&bench.run(&command).await), "", "once was once");

    let (_, result) = answered(&bench, asks.clone(), "no").await;
    assert_eq!(code(&result), "canceled:canceled");
    let (_, result) = answered(&bench, asks.clone(), "project").await;
    assert_eq!(stdout(&result), "outside-content\n");
    let before = bench.queue.count();
    assert_eq!(stdout(&bench.run(&command).await), "outside-content\n", "it is open from now on");
    assert_eq!(stdout(&bench.call("run_shell_command", asks).await), "outside-content\n");
    assert_eq!(bench.queue.count(), before, "and nobody is asked again");
    let written = bench.run(&format!("echo x > {}/new", outside.display())).await;
    assert!(!outside.join("new").exists(), "{}", written.1);

    let book = store(kept.path());
    let open = chatos_access::list(&book, None).unwrap();
    assert_eq!((open.len(), open[0].value.as_str()), (1, outside.to_str().unwrap()));
    chatos_access::revoke(&book, &open[0].id).unwrap();
    assert_eq!(stdout(&bench.run(&command).await), "", "it was taken back");
}

#[tokio::test]
async fn closed_places_and_the_way_outside_are_asked_each_time() {
    if Kernel::here().level() != Level::Full {
        chatos_testkit::skip!("the kernel does not confine fully (Landlock 3, seccomp)");
    }
    let bench = Bench::new(quiet());
    let home = bench.dir.path().canonicalize().unwrap().join("home");
    std::fs::create_dir_all(home.join(".aws")).unwrap();
    std::fs::write(home.join(".aws/config"), "key-of-aws").unwrap();
    let denied = bench.run("cat ~/.aws/config").await;
    assert!(denied.1.contains("\"outside\": true"), "{}", denied.1);
    let asks = json!({ "command": "cat ~/.aws/config", "access": { "read": [home.join(".aws/config")], "reason": "x" } });
    let (prompt, result) = answered(&bench, asks.clone(), "outside").await;
    assert_eq!(options(&prompt), ["outside", "no"]);
    assert_eq!(stdout(&result), "key-of-aws");
    assert_eq!(result.0["data"]["sandbox"]["level"], "none");
    assert_eq!(stdout(&bench.run("cat ~/.aws/config").await), "", "once was once");

    let state = bench.dir.path().canonicalize().unwrap().join("state");
    for (path, expected) in
        [(state.join("secret.txt"), "permission_denied/shell_blocked"), (home, "invalid:invalid_argument")]
    {
        let asks = json!({ "command": "true", "access": { "read": [path], "reason": "x" } });
        assert_eq!(code(&bench.call("run_shell_command", asks).await), expected);
    }
    for (access, place) in [
        (json!({ "read": ["notes"], "reason": "x" }), "/access/read/0"),
        (json!({ "hosts": ["https://x.org/"], "reason": "x" }), "/access/hosts/0"),
    ] {
        let result = bench.call("run_shell_command", json!({ "command": "true", "access": access })).await;
        assert!(result.1.contains(place), "{}", result.1);
    }
    // Git over SSH needs keys: asked at once instead of failing first.
    std::fs::create_dir_all(bench.path(".git")).unwrap();
    std::fs::write(bench.path(".git/config"), "[remote \"origin\"]\n\turl = git@example.org:a/b.git\n")
        .unwrap();
    let (prompt, result) = answered(&bench, json!({ "command": "git fetch" }), "no").await;
    assert!(prompt["message"].as_str().unwrap().contains("ssh_remote"));
    assert_eq!(code(&result), "canceled:canceled");
    *bench.queue.reach.lock().unwrap() = nobody();
    let asks = json!({ "command": "true", "access": { "outside": true, "reason": "x" } });
    assert_eq!(code(&bench.call("run_shell_command", asks).await), "permission_denied/no_person");
}

/// A machine of the web: says hello to everybody.
fn machine() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let mut stream = stream;
            let mut buffer = [0; 4096];
            if stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                stream
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
                    .ok();
            }
        }
    });
    port
}

#[tokio::test]
async fn machines_are_reached_one_by_one() {
    if !Kernel::here().holds_hosts() {
        chatos_testkit::skip!("the kernel holds no command to a port (Landlock 4)");
    }
    if !["/usr/bin/curl", "/bin/curl"].iter().any(|path| Path::new(path).exists()) {
        chatos_testkit::skip!("curl is not installed");
    }
    let (open, closed) = (machine(), machine());
    let kept = tempfile::tempdir().unwrap();
    let bench = Bench::keeping(quiet(), None, Some(store(kept.path())));
    let asks = json!({
        "command": format!("curl -sS http://localhost:{open}/"),
        "access": { "hosts": [format!("localhost:{open}")], "reason": "the page is there" },
    });
    let (prompt, result) = answered(&bench, asks, "project").await;
    assert!(prompt["message"].as_str().unwrap().contains(&format!("reach `localhost:{open}`")));
    assert_eq!(stdout(&result), "hello", "{}", result.1);
    assert_eq!(result.0["data"]["sandbox"]["network"], false);
    assert_eq!(result.0["data"]["sandbox"]["hosts"], json!([format!("localhost:{open}")]));

    // From now on without a question; every other way is closed, and said to be.
    assert_eq!(stdout(&bench.run(&format!("curl -sS http://localhost:{open}/")).await), "hello");
    let tunnel = format!("curl -sS --proxytunnel http://localhost:{open}/");
    assert_eq!(stdout(&bench.run(&tunnel).await), "hello");
    let other = bench.run(&format!("curl -fsS http://localhost:{closed}/")).await;
    assert_eq!(stdout(&other), "");
    let denied = &other.0["data"]["sandbox"]["denied"][0];
    assert_eq!((&denied["host"], &denied["port"]), (&json!("localhost"), &json!(closed)), "{}", other.1);
    assert_eq!(denied["certain"], true);
    assert!(other.1.contains(&format!("\"hosts\": [\"localhost:{closed}\"]")), "{}", other.1);
    for way in [
        format!("curl -sS --noproxy '*' http://127.0.0.1:{open}/"),
        format!("exec 3<>/dev/tcp/127.0.0.1/{open} && echo through"),
        "echo x > /dev/udp/127.0.0.1/53 && echo through".to_owned(),
    ] {
        let result = bench.call("run_shell_command", json!({ "command": way, "shell": "bash" })).await;
        assert_eq!(stdout(&result), "", "{way}: {}", result.1);
        assert_ne!(result.0["data"]["exit_code"], 0, "{way}");
    }
    assert_eq!(bench.queue.count(), 1);
}

#[tokio::test]
async fn a_file_that_runs_later_is_kept_by_a_person_or_put_back() {
    let bench = Bench::new(quiet());
    std::fs::create_dir_all(bench.path(".git/hooks")).unwrap();
    let hook = bench.path(".git/hooks/post-checkout");
    let plant = json!({ "command": "printf evil > .git/hooks/post-checkout" });
    let (prompt, result) = answered(&bench, plant.clone(), "no").await;
    assert_eq!(options(&prompt), ["keep", "no"]);
    assert!(prompt["message"].as_str().unwrap().contains(".git/hooks/post-checkout (created)"));
    assert!(ids(&result).contains(&"runs_later".to_owned()) && !hook.exists(), "{}", result.1);

    *bench.queue.reach.lock().unwrap() = nobody();
    let result = bench.call("run_shell_command", plant.clone()).await;
    assert!(ids(&result).contains(&"runs_later".to_owned()) && !hook.exists(), "{}", result.1);
    assert!(result.1.contains("access.write"), "{}", result.1);

    *bench.queue.reach.lock().unwrap() = chatos_layer::Reach::Host;
    let (_, result) = answered(&bench, plant, "keep").await;
    assert!(hook.exists(), "{}", result.1);
    // Ordinary work with Git is none of it.
    let before = bench.queue.count();
    let result = bench.run("git init -q sub && git -C sub config user.name x && echo done").await;
    assert_eq!(stdout(&result), "done\n", "{}", result.1);
    assert_eq!(bench.queue.count(), before);
}
