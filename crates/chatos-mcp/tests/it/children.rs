//! Processes: how they start, how they end, and that nothing is left of them.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{
    ChildRecords, CommandLine, Endpoint, Failure, NoHooks, Pool, ServerKey, Times, end_leftovers,
};
use serde_json::json;

use crate::support::{
    FIXTURE, alive, call, command, descriptors, eventually, fixture, launcher, options, pool_of, pool_with,
    spec, text, within, words,
};

async fn start_error(endpoint: Endpoint) -> chatos_mcp::ConnectError {
    let (pool, key) = pool_of(endpoint);
    let error = within(pool.connect(&key)).await.err().expect("it must not start");
    pool.close().await;
    error
}

#[tokio::test]
async fn a_program_that_cannot_start_is_named() {
    let missing = start_error(command("no-such-program", &[])).await.failure;
    assert_eq!(missing, Failure::CommandNotFound { program: "no-such-program".into() });
    let node = start_error(command("/nowhere/node", &["x.mjs"])).await.failure;
    assert!(node.hint().unwrap().en.contains("Node.js"), "{node:?}");
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let plain = start_error(command(path, &[])).await.failure;
    assert_eq!(plain, Failure::CommandNotExecutable { program: path.into() });
    let nowhere = Endpoint::Command(CommandLine {
        program: FIXTURE.into(),
        arguments: words(&["serve"]),
        directory: Some("/nowhere/at/all".into()),
        environment: Vec::new(),
    });
    let nowhere = start_error(nowhere).await.failure;
    assert!(
        matches!(&nowhere, Failure::Spawn { error, .. } if error.contains("/nowhere/at/all")),
        "{nowhere:?}"
    );
    let fault = plain.fault("tools", &[]);
    assert!(fault.message.en.contains("MCP server `tools`") && fault.message.zh.contains("tools"));
}

#[tokio::test]
async fn a_program_that_ends_at_its_start_shows_its_last_words() {
    let error = start_error(fixture(&["stderr=it is broken here", "exit=1"])).await;
    assert_eq!(error.failure, Failure::Exited { how: "status 127".into() });
    assert!(error.stderr.iter().any(|line| line == "it is broken here"), "{error:?}");
    let crash = start_error(fixture(&["crash=initialize"])).await;
    assert!(matches!(crash.failure, Failure::Exited { .. }), "{crash:?}");
    let quiet = start_error(command("true", &[])).await;
    assert_eq!(quiet.failure, Failure::Exited { how: "status 0".into() });
    let module = start_error(fixture(&["stderr=Error: Cannot find module 'zod'", "exit=1"])).await;
    assert_eq!(module.failure, Failure::ModuleMissing { module: "zod".into() });
    assert_eq!(module.failure.domain_code(), "module_missing");
}

#[tokio::test]
async fn a_child_gets_the_given_environment_and_nothing_else() {
    let environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("CHATOS_DATA_DIR".into(), "/d".into())];
    let endpoint = Endpoint::Command(CommandLine {
        program: FIXTURE.into(),
        arguments: words(&["serve"]),
        directory: Some("/".into()),
        environment,
    });
    let (pool, key) = pool_of(endpoint);
    let names = text(&pool, &key, "environment", json!({})).await;
    let mut names: Vec<&str> = names.split(' ').collect();
    names.sort_unstable();
    assert_eq!(names, ["CHATOS_CHILD", "CHATOS_DATA_DIR", "PATH"]);
    pool.close().await;
}

#[tokio::test]
async fn stopping_ends_the_child_whatever_it_ignores() {
    let quick = Times {
        stop_gentle: Duration::from_millis(200),
        stop_firm: Duration::from_millis(300),
        ..Times::default()
    };
    let trap = "trap '' TERM; exec \"$0\" \"$@\"";
    for endpoint in
        [fixture(&[]), fixture(&["ignore-eof"]), command("sh", &["-c", trap, FIXTURE, "serve", "ignore-eof"])]
    {
        let mut stubborn = spec("s", endpoint);
        stubborn.times = quick;
        let (pool, key) = pool_with(stubborn, Arc::new(NoHooks));
        let pid: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
        assert!(alive(pid));
        assert!(within(pool.stop(&key)).await);
        assert!(!alive(pid));
        let refused = within(pool.connect(&key)).await.err().unwrap();
        assert_eq!(refused.failure, Failure::Stopped);
        assert!(pool.restart(&key));
        let again: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
        assert_ne!(pid, again);
        within(pool.close()).await;
        assert!(!alive(again));
    }
}

#[tokio::test]
async fn grandchildren_go_with_their_server() {
    let (pool, key) = pool_of(fixture(&[]));
    let grandchild: u32 = text(&pool, &key, "grandchild", json!({})).await.parse().unwrap();
    let daemon: u32 = text(&pool, &key, "daemon", json!({})).await.parse().unwrap();
    assert!(alive(grandchild) && alive(daemon));
    within(pool.close()).await;
    assert!(!alive(grandchild), "a grandchild lives on");
    assert!(!alive(daemon), "a grandchild in a session of its own lives on");
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_hides_no_exit() {
    let (pool, key) = pool_of(fixture(&[]));
    let error = call(&pool, &key, "leave-grandchild", json!({})).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Exited { .. }), "{error:?}");
    assert_eq!(text(&pool, &key, "echo", json!({ "text": "new" })).await, "new");
    pool.close().await;
}

#[tokio::test]
async fn dropping_the_pool_ends_its_children() {
    let (pool, key) = pool_of(fixture(&["ignore-eof"]));
    let pid: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    drop(pool);
    eventually("the child is gone", || !alive(pid)).await;
}

#[test]
fn a_runtime_that_goes_away_takes_the_children_along() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (pid, pool) = runtime.block_on(async {
        let (pool, key) = pool_of(fixture(&["ignore-eof"]));
        let pid: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
        (pid, pool)
    });
    assert!(alive(pid));
    drop(runtime);
    drop(pool);
    let end = std::time::Instant::now() + crate::support::PATIENCE;
    while alive(pid) {
        assert!(std::time::Instant::now() < end, "the child lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The launcher as a parent that is killed: what it started must not live on.
#[test]
fn a_killed_host_leaves_no_child() {
    // A shell starts a child through the launcher, writes down its number, and is killed.
    let script = format!("'{FIXTURE}' launch $$ /bin/sleep 1000 & echo $!; wait");
    let mut host =
        Command::new("sh").args(["-c", &script]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(host.stdout.take().unwrap()), &mut line)
        .unwrap();
    let pid: u32 = line.trim().parse().unwrap();
    let end = std::time::Instant::now() + crate::support::PATIENCE;
    while std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim() != "sleep" {
        assert!(std::time::Instant::now() < end, "the child never became the program");
        std::thread::sleep(Duration::from_millis(5));
    }
    host.kill().unwrap();
    host.wait().unwrap();
    while alive(pid) {
        assert!(std::time::Instant::now() < end, "the child lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_killed_host_leaves_no_grandchild_either() {
    let mut host =
        Command::new(FIXTURE).arg("host").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let output = std::io::BufReader::new(host.stdout.take().unwrap());
    let pids: Vec<u32> =
        std::io::BufRead::lines(output).take(3).map(|line| line.unwrap().trim().parse().unwrap()).collect();
    assert!(pids.len() == 3 && pids.iter().all(|pid| alive(*pid)), "{pids:?}");
    // As the kernel does it when memory ends: no handler, no destructor.
    host.kill().unwrap();
    host.wait().unwrap();
    let end = std::time::Instant::now() + crate::support::PATIENCE;
    while pids.iter().any(|pid| alive(*pid)) {
        assert!(std::time::Instant::now() < end, "some of {pids:?} live on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn the_next_start_ends_what_a_killed_host_left_and_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let records = ChildRecords::new(folder.path().join("children"));
    let mut options = options(Arc::new(NoHooks));
    options.spawning.records = Some(records.clone());
    let pool = Pool::new(options);
    let key = ServerKey::new("s");
    pool.put(spec("s", fixture(&["ignore-eof"])));
    let pid: u32 = text(&pool, &key, "pid", json!({})).await.parse().unwrap();
    let daemon: u32 = text(&pool, &key, "daemon", json!({})).await.parse().unwrap();
    let written: Vec<_> = std::fs::read_dir(folder.path().join("children")).unwrap().flatten().collect();
    assert_eq!(written.len(), 1);
    // A record of a number that now belongs to somebody else, and rubbish.
    let mut bystander = Command::new("sleep").arg("1000").spawn().unwrap();
    let foreign = json!({ "pid": bystander.id(), "started": 1, "boot": std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap().trim(), "mark": "0".repeat(32) });
    std::fs::write(folder.path().join("children/foreign.json"), foreign.to_string()).unwrap();
    std::fs::write(folder.path().join("children/rubbish.json"), "{").unwrap();
    let ended = tokio::task::spawn_blocking(move || end_leftovers(&records)).await.unwrap();
    assert_eq!(ended, 1);
    assert!(!alive(pid) && !alive(daemon));
    assert!(alive(bystander.id()), "a process with a reused number was ended");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    pool.close().await;
    assert_eq!(std::fs::read_dir(folder.path().join("children")).unwrap().count(), 0);
}

#[tokio::test]
async fn starting_and_failing_leak_no_descriptor() {
    let mut options = options(Arc::new(NoHooks));
    options.spawning.launcher = Some(launcher());
    let pool = Pool::new(options);
    let round = async |n: usize| {
        for (name, switches) in
            [("good", &[][..]), ("exits", &["exit=1"][..]), ("crashes", &[][..]), ("long", &[][..])]
        {
            let key = ServerKey::new(format!("{name}{n}"));
            pool.put(spec(key.as_str(), fixture(switches)));
            match name {
                "good" => drop(text(&pool, &key, "echo", json!({})).await),
                "crashes" => drop(call(&pool, &key, "crash", json!({})).await.unwrap_err()),
                "long" => drop(call(&pool, &key, "endless-line", json!({})).await.unwrap_err()),
                _ => drop(within(pool.connect(&key)).await.err().unwrap()),
            }
            within(pool.remove(&key)).await;
        }
    };
    round(0).await;
    // The tasks that read a dead child end a moment after it.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let before = descriptors();
    for n in 1..6 {
        round(n).await;
    }
    eventually("the descriptors are back", || descriptors() <= before).await;
    pool.close().await;
}
