//! Nothing is left running when a server ends, however it ends: asked to, or killed.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use super::*;

/// A server of its own process, when started as one; nothing in an ordinary run of the tests.
///
/// It starts commands of every sort that try to stay, then waits for the end of its input.
#[test]
fn server_entry() {
    let Some(place) = std::env::args().find_map(|arg| arg.strip_prefix("as-server:").map(str::to_owned))
    else {
        return;
    };
    let dir = PathBuf::from(place);
    let mark = std::fs::read_to_string(dir.join("mark")).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async move {
        let bench = testing::bench(quiet(), None);
        let server = Arc::new(server(&home(&dir, None, None)));
        let call = |tool: &str, arguments: Value| {
            let mut request = testing::call(tool, arguments);
            request.root = Some(Arc::new(Root::open(&dir.join("root")).unwrap()));
            let (layer, server) = (bench.layer.clone(), server.clone());
            async move { layer.call(&server, request).await.unwrap() }
        };
        let stubborn = format!("trap '' TERM HUP INT; env -i setsid sh -c 'trap \"\" TERM HUP; sleep {mark}' & (env -i setsid sleep {mark} &); sleep {mark}; sleep {mark}");
        call("session_run", json!({ "command": stubborn, "session": "a", "preview_wait_ms": 0 })).await;
        call("session_run", json!({ "command": stubborn, "session": "b", "pty": false, "preview_wait_ms": 0 })).await;
        call("run_shell_command", json!({ "command": format!("nohup setsid sleep {mark} >/dev/null 2>&1 &") })).await;
        let (layer, running) = (bench.layer.clone(), call("run_shell_command", json!({ "command": stubborn, "timeout_ms": 600_000 })));
        let running = tokio::spawn(running);
        let asked_to_end = tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).ok());
        asked_to_end.await.unwrap();
        layer.close(Duration::from_secs(20)).await;
        drop(running.await);
    });
}

#[expect(clippy::disallowed_methods, reason = "a test owns and collects what it starts")]
fn start(dir: &Path, mark: &str) -> Child {
    for name in ["root", "state", "home"] {
        std::fs::create_dir_all(dir.join(name)).unwrap();
    }
    std::fs::write(dir.join("mark"), mark).unwrap();
    Command::new("/proc/self/exe")
        .args([
            "server::tests::endings::server_entry",
            &format!("as-server:{}", dir.display()),
            "--exact",
            "--nocapture",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Everything that was started: three of each stubborn one, the one in the background, their shells.
async fn all_up(mark: &str) {
    until("the commands", || {
        let sleeps = alive(mark)
            .into_iter()
            .filter(|line| line.contains(&format!("sleep {mark} ")) && !line.contains(" -c "))
            .count();
        sleeps >= 10
    })
    .await;
}

#[tokio::test]
async fn a_killed_server_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mark = mark();
    let mut server = start(dir.path(), &mark);
    all_up(&mark).await;
    server.kill().unwrap();
    server.wait().unwrap();
    until("the end of everything", || alive(&mark).is_empty()).await;
    // The supervisors are gone, too, and the sessions say so.
    let state = dir.path().join("state/shell");
    until("the record of the sessions", || {
        let all = crate::sessions::all(&state);
        all.len() == 2 && all.iter().all(|found| !found.running())
    })
    .await;
    until("the end of the supervisors", || {
        let entries = std::fs::read_dir(&state).unwrap().flatten();
        entries.filter(|entry| entry.path().join("ctl.sock").exists()).count() == 0
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_asked_to_end_ends_everything_first() {
    let dir = tempfile::tempdir().unwrap();
    let mark = mark();
    let mut server = start(dir.path(), &mark);
    all_up(&mark).await;
    let mut input = server.stdin.take().unwrap();
    input.write_all(b"bye").unwrap();
    drop(input);
    let status = tokio::task::spawn_blocking(move || server.wait().unwrap()).await.unwrap();
    assert!(status.success());
    assert_eq!(alive(&mark), Vec::<String>::new(), "at the moment it is gone, so is everything");
}

#[tokio::test]
async fn a_killed_supervisor_takes_its_command_along() {
    // Without the boundary a command can kill its supervisor; with it the kernel refuses.
    let bench = Bench::with(quiet(), Some(Kernel::NONE));
    let mark = mark();
    let answer = async {
        let (id, _) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "ok" }), "person:ui", None);
    };
    let command = format!("sleep {mark} & setsid sleep {mark} & kill -9 $PPID; sleep {mark}");
    let (result, ()) = tokio::join!(bench.run(&command), answer);
    assert!(ids(&result).contains(&"supervisor_lost".to_owned()), "{}", result.1);
    until("the end of everything", || alive(&mark).is_empty()).await;
    let next = bench.run("echo still here").await;
    assert_eq!(next.0["data"]["stdout"]["text"], "still here\n", "{}", next.1);
}

#[test]
fn a_recycled_number_is_never_hit() {
    use crate::supervisor::tree::{self, ProcessId};
    let own = std::process::id() as i32;
    let start_time = tree::start_time(own).unwrap();
    assert!(tree::is_alive(ProcessId { pid: own, start_time }));
    let stranger = ProcessId { pid: own, start_time: start_time + 1 };
    assert!(!tree::is_alive(stranger));
    assert!(!tree::signal(stranger, rustix::process::Signal::KILL), "row 13: this test would be dead");
}
