//! The boundary: what a command cannot touch where the kernel keeps it, and what is said where it
//! does not.

use chatos_testkit::skip;

use super::*;
use crate::sandbox::Kernel;

/// What the kernel gives; tests that need its help are skipped where it gives nothing.
fn here() -> Option<Kernel> {
    let kernel = Kernel::here();
    (kernel.level() > Level::None).then_some(kernel)
}

#[tokio::test]
async fn the_level_is_in_every_result() {
    let bench = Bench::new(quiet());
    let level = Kernel::here().level();
    if level == Level::None {
        // Nothing confines: a person is asked for what is not on the read-only list.
        let asked = bench.run("touch x");
        let answer = async {
            let (id, entry) = bench.queue.asked().await;
            assert!(entry.request.prompt["message"].as_str().unwrap().contains("no sandbox"));
            bench.queue.reply(&id, json!({ "status": "canceled" }), "person:ui", None);
        };
        let (result, ()) = tokio::join!(asked, answer);
        assert_eq!(code(&result), "canceled:canceled");
        return;
    }
    let result = bench.run("true").await;
    assert_eq!(result.0["data"]["sandbox"], json!({ "level": level.as_str(), "network": false }));
    assert!(result.1.contains(&format!("sandbox: {}", level.as_str())));
}

#[tokio::test]
async fn nothing_outside_is_read_or_written_in_strict_mode() {
    let Some(_) = here() else { skip!("the kernel confines no files (Landlock)") };
    let mut settings = quiet();
    settings.shell.write_paths = Vec::new();
    let bench = Bench::new(settings);
    let base = bench.dir.path().canonicalize().unwrap();
    let base = base.display();
    std::os::unix::fs::symlink(bench.dir.path().join("outside"), bench.path("link")).unwrap();
    std::fs::write(bench.dir.path().join("home/.profile"), "home-content\n").unwrap();
    std::fs::hard_link(bench.dir.path().join("outside/secret.txt"), bench.path("hard")).unwrap();
    for command in [
        format!("cat {base}/outside/secret.txt"),
        "cat ../outside/secret.txt".to_owned(),
        "cat link/secret.txt".to_owned(),
        "cd link && cat secret.txt".to_owned(),
        "cat ~/.profile".to_owned(),
        format!("cat {base}/state/secret.txt"),
        format!("sh -c 'cat {base}/state/secret.txt'"),
        format!("cp {base}/outside/secret.txt here"),
        format!("ln {base}/outside/secret.txt here"),
        format!("mv {base}/outside/secret.txt here"),
        "cat /proc/self/root/$(pwd)/../outside/secret.txt".to_owned(),
        format!("dd if={base}/outside/secret.txt"),
        format!("exec 3< {base}/outside/secret.txt; cat <&3"),
    ] {
        let result = bench.run(&command).await;
        assert_eq!(result.0["status"], "ok", "{command}: {}", result.1);
        assert_ne!(result.0["data"]["exit_code"], 0, "{command}: {}", result.1);
        assert!(!result.1.contains("-content"), "{command}: {}", result.1);
    }
    for command in [
        format!("echo x > {base}/outside/new"),
        format!("echo x >> {base}/outside/secret.txt"),
        format!(": > {base}/outside/secret.txt"),
        "echo x > link/new".to_owned(),
        format!("rm -f {base}/outside/secret.txt"),
        format!("mkdir {base}/outside/dir"),
        format!("mv src {base}/outside/src"),
        format!("ln -s x {base}/outside/l"),
        format!("touch {base}/state/new"),
        format!("truncate -s 0 {base}/outside/secret.txt"),
        "echo x > /tmp/chatos-shell-escape".to_owned(),
        "echo x > ~/.bashrc".to_owned(),
        "mkfifo ~/fifo".to_owned(),
        "echo x > /etc/chatos-shell-escape".to_owned(),
    ] {
        let result = bench.run(&command).await;
        assert_ne!(result.0["data"]["exit_code"], 0, "{command}: {}", result.1);
    }
    assert_eq!(
        std::fs::read_to_string(bench.dir.path().join("outside/secret.txt")).unwrap(),
        "outside-content\n"
    );
    assert_eq!(std::fs::read_dir(bench.dir.path().join("outside")).unwrap().count(), 1);
    assert!(
        !Path::new("/tmp/chatos-shell-escape").exists() && !Path::new("/etc/chatos-shell-escape").exists()
    );
    assert!(bench.path("src").is_dir() && !bench.dir.path().join("home/.bashrc").exists());
    // Ordinary work is not in the way: programs, temporary files, the root.
    let work = bench.run("mkdir -p a/b && echo x > a/b/c && mv a/b/c a/d && ls a && cat /etc/passwd > /dev/null && date > /dev/null && mktemp > /dev/null").await;
    assert_eq!(work.0["data"]["exit_code"], 0, "{}", work.1);
}

#[tokio::test]
async fn a_command_does_not_choose_what_the_next_one_may_touch() {
    let Some(_) = here() else { skip!("the kernel confines no files (Landlock)") };
    let mut settings = quiet();
    let mut bench = Bench::new(quiet());
    settings.shell.read_paths = vec![bench.path("data")];
    settings.shell.write_paths = vec![bench.path("out")];
    let state = bench.dir.path().join("state/tool-log.jsonl");
    bench.layer = testing::bench(settings, Some(&state)).layer;
    let mut home = home(bench.dir.path(), None, None);
    let path = format!("{}:{}", bench.path("bin").display(), home.variables["PATH"]);
    home.variables.insert("PATH".to_owned(), path);
    bench.server = server(&home);
    let outside = bench.dir.path().canonicalize().unwrap().join("outside");
    let outside = outside.display();
    // Links where the search path and the settings name something inside the root.
    let planted = bench.run(&format!("for name in bin data out; do ln -s {outside} $name; done")).await;
    assert_eq!(planted.0["data"]["exit_code"], 0, "{}", planted.1);
    bench.server = server(&home);
    for command in [
        format!("cat {outside}/secret.txt"),
        "cat bin/secret.txt".to_owned(),
        "echo x > out/new".to_owned(),
        format!("rm -f {outside}/secret.txt"),
    ] {
        let result = bench.run(&command).await;
        assert_ne!(result.0["data"]["exit_code"], 0, "{command}: {}", result.1);
        assert!(!result.1.contains("-content"), "{command}: {}", result.1);
    }
    // A directory of the root on the search path is one like any other.
    let made = bench
        .run("rm bin && mkdir bin && printf '#!/bin/sh\necho found' > bin/own && chmod +x bin/own")
        .await;
    assert_eq!(made.0["data"]["exit_code"], 0, "{}", made.1);
    assert!(bench.run("own").await.1.contains("found"));
}

#[tokio::test]
async fn there_is_no_network_and_no_way_around() {
    let Some(_) = here().filter(|kernel| kernel.seccomp) else {
        skip!("the kernel confines no files or system calls (Landlock, seccomp)")
    };
    let bench = Bench::new(quiet());
    let python = |code: &str| format!("python3 -c \"{code}\"");
    let with_python = bench.run("python3 -c 'print(1)'").await.0["data"]["exit_code"] == 0;
    if with_python {
        for code in [
            "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
            "import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
            "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
            "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        ] {
            let result = bench.run(&python(code)).await;
            assert_ne!(result.0["data"]["exit_code"], 0, "{code}");
            assert!(result.1.contains("PermissionError"), "{code}: {}", result.1);
        }
        let pair = bench.run(&python("import socket; socket.socketpair()")).await;
        assert_eq!(pair.0["data"]["exit_code"], 0, "{}", pair.1);
    } else {
        let result = bench
            .call("run_shell_command", json!({ "command": "exec 3<>/dev/tcp/127.0.0.1/9", "shell": "bash" }))
            .await;
        assert!(result.1.contains("not permitted") || result.1.contains("denied"), "{}", result.1);
    }
    // Environment and memory of others, and of the host, are out of reach.
    let own = std::process::id();
    let environ = bench.run(&format!("cat /proc/{own}/environ")).await;
    assert_ne!(environ.0["data"]["exit_code"], 0, "{}", environ.1);
    let mount = bench.run("mount -t tmpfs none src").await;
    assert_ne!(mount.0["data"]["exit_code"], 0, "{}", mount.1);
    let privileges = bench.run("grep NoNewPrivs /proc/self/status").await;
    assert!(privileges.1.contains("NoNewPrivs:\t1"), "{}", privileges.1);
}

#[tokio::test]
async fn signals_reach_nobody_outside() {
    if Kernel::here().landlock < 6 {
        skip!("the kernel does not confine signals (Landlock 6)");
    }
    let bench = Bench::new(quiet());
    let parent = bench.run("kill -9 $PPID; echo $?").await;
    assert_ne!(parent.0["data"]["stdout"]["text"], "0\n", "{}", parent.1);
    let signal = bench.run(&format!("kill -CONT {}", std::process::id())).await;
    assert_ne!(signal.0["data"]["exit_code"], 0, "{}", signal.1);
}

#[tokio::test]
async fn the_network_opens_when_a_person_agrees_or_a_setting_says_so() {
    let Some(_) = here().filter(|kernel| kernel.seccomp) else {
        skip!("the kernel confines no files or system calls (Landlock, seccomp)")
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let command = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected");
    let bench = Bench::new(quiet());
    let arguments = |network: bool| json!({ "command": command, "shell": "bash", "network": network });
    let off = bench.call("run_shell_command", arguments(false)).await;
    assert_ne!(off.0["data"]["exit_code"], 0, "{}", off.1);
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        assert!(
            entry.request.prompt["message"].as_str().unwrap().contains("network"),
            "{:?}",
            entry.request.prompt
        );
        bench.queue.reply(&id, json!({ "status": "ok", "remark": "only this once" }), "person:ui", None);
    };
    let (on, ()) = tokio::join!(bench.call("run_shell_command", arguments(true)), answer);
    assert_eq!(on.0["data"]["stdout"]["text"], "connected\n", "{}", on.1);
    assert_eq!(
        (&on.0["data"]["confirmed"], &on.0["data"]["remark"]),
        (&json!(true), &json!("only this once"))
    );
    assert!(on.1.contains("User remark: only this once"));
    let mut deny = quiet();
    deny.shell.network = NetworkUse::Deny;
    let refused = Bench::new(deny).call("run_shell_command", arguments(true)).await;
    assert_eq!(code(&refused), "permission_denied/shell_blocked");
    let mut allow = quiet();
    allow.shell.network = NetworkUse::Allow;
    let open = Bench::new(allow).call("run_shell_command", arguments(false)).await;
    assert_eq!(open.0["data"]["stdout"]["text"], "connected\n", "{}", open.1);
}

#[tokio::test]
async fn relaxed_mode_reads_everything_but_the_state_and_settings_open_paths() {
    let Some(_) = here() else { skip!("the kernel confines no files (Landlock)") };
    let mut settings = quiet();
    settings.shell.mode = SafetyMode::Relaxed;
    let bench = Bench::new(settings);
    let base = bench.dir.path().display().to_string();
    let read = bench.run(&format!("cat {base}/outside/secret.txt")).await;
    assert_eq!(read.0["data"]["stdout"]["text"], "outside-content\n", "{}", read.1);
    let state = bench.run(&format!("cat {base}/state/secret.txt")).await;
    assert!(state.0["data"]["exit_code"] != 0 && !state.1.contains("state-content"), "{}", state.1);
    let write = bench.run(&format!("echo x > {base}/outside/new")).await;
    assert_ne!(write.0["data"]["exit_code"], 0, "{}", write.1);
    let cache = bench.run("mkdir -p ~/.cache/x && echo x > ~/.cache/x/y").await;
    // The cache directory is granted when it is there.
    std::fs::create_dir_all(bench.dir.path().join("home/.cache")).unwrap();
    let again = bench.run("mkdir -p ~/.cache/x && echo x > ~/.cache/x/y").await;
    assert_ne!(cache.0["data"]["exit_code"], 0);
    assert_eq!(again.0["data"]["exit_code"], 0, "{}", again.1);
    let mut settings = quiet();
    let more = Bench::new(quiet());
    settings.shell.read_paths = vec![more.dir.path().join("outside")];
    settings.shell.write_paths = vec![more.dir.path().join("home")];
    let layer = testing::bench(settings, None).layer;
    let more = Bench { layer, ..more };
    let base = more.dir.path().display().to_string();
    let read = more.run(&format!("cat {base}/outside/secret.txt && echo y > {base}/home/z")).await;
    assert_eq!(read.0["data"]["exit_code"], 0, "{}", read.1);
    let write = more.run(&format!("echo x > {base}/outside/new")).await;
    assert_ne!(write.0["data"]["exit_code"], 0, "{}", write.1);
}

#[tokio::test]
async fn a_boundary_drawn_ahead_is_that_of_the_moment_it_is_used() {
    let Some(_) = here() else { skip!("the kernel confines no files (Landlock)") };
    let first = Bench::new(quiet());
    let place = |name: &str| first.dir.path().join(name);
    let (outside, elsewhere, later) = (place("outside"), place("elsewhere"), place("later"));
    let mut settings = quiet();
    settings.shell.read_paths = vec![outside.clone(), later.clone()];
    let bench = Bench { layer: testing::bench(settings, None).layer, ..first };
    let read = async |path: &Path| {
        let read = bench.run(&format!("cat {}", path.display())).await;
        (read.0["data"]["exit_code"] == 0, read.0["data"]["stdout"]["text"].as_str().unwrap().to_owned())
    };
    for _ in 0..3 {
        assert_eq!(read(&outside.join("secret.txt")).await, (true, "outside-content\n".to_owned()));
    }
    // Another directory under the same name; the old one is granted to nobody.
    std::fs::rename(&outside, &elsewhere).unwrap();
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "another\n").unwrap();
    assert_eq!(read(&elsewhere.join("secret.txt")).await, (false, String::new()));
    assert_eq!(read(&outside.join("secret.txt")).await, (true, "another\n".to_owned()));
    // One that was not there before.
    std::fs::create_dir(&later).unwrap();
    std::fs::write(later.join("new"), "new\n").unwrap();
    assert_eq!(read(&later.join("new")).await, (true, "new\n".to_owned()));
    // Every command has a directory of its own, with nothing of others in it.
    let mut seen = Vec::new();
    for _ in 0..3 {
        let made = bench.run("echo x > $TMPDIR/f && ls $TMPDIR && echo $TMPDIR").await;
        let text = made.0["data"]["stdout"]["text"].as_str().unwrap().to_owned();
        let (listed, temp) = text.trim_end().split_once('\n').unwrap();
        assert_eq!(listed, "f", "{text}");
        assert!(!seen.contains(&temp.to_owned()), "{temp}");
        seen.push(temp.to_owned());
    }
}

#[tokio::test]
async fn a_state_directory_inside_the_root_stays_closed() {
    let Some(_) = here() else { skip!("the kernel confines no files (Landlock)") };
    let bench = Bench::new(quiet());
    let inside = bench.path("deep/state");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::create_dir_all(bench.path("deep/other")).unwrap();
    std::fs::write(inside.join("secret.txt"), "state-content").unwrap();
    let mut home = home(bench.dir.path(), None, None);
    home.state_dir = Some(inside);
    let bench = Bench { server: server(&home), ..bench };
    let closed =
        bench.run("cat deep/state/secret.txt; echo x > deep/state/new; rm deep/state/secret.txt").await;
    assert!(
        !closed.1.contains("state-content") && bench.path("deep/state/secret.txt").exists(),
        "{}",
        closed.1
    );
    assert!(!bench.path("deep/state/new").exists());
    let open = bench.run("ls deep && echo x > deep/other/y && echo x > src/z && cat src/z").await;
    assert_eq!(open.0["data"]["exit_code"], 0, "{}", open.1);
    let cwd = bench.call("run_shell_command", json!({ "command": "pwd", "cwd": "deep/state" })).await;
    assert_eq!(code(&cwd), "permission_denied/protected_path");
}

#[tokio::test]
async fn where_the_kernel_gives_nothing_it_is_said_and_the_person_is_the_boundary() {
    let bench = Bench::with(quiet(), Some(Kernel::NONE));
    let listed = bench.run("ls").await;
    assert_eq!((&listed.0["status"], &listed.0["data"]["sandbox"]["level"]), (&json!("ok"), &json!("none")));
    assert_eq!(listed.0["data"]["sandbox"]["network"], true, "nothing closes the network");
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        let prompt = &entry.request.prompt;
        assert_eq!(
            (&prompt["kind"], &prompt["command"], &prompt["cwd"]),
            (&json!("file_change_confirm"), &json!("echo x > y"), &json!("."))
        );
        assert!(prompt["message"].as_str().unwrap().contains("no sandbox"), "{}", prompt["message"]);
        assert!(!bench.path("y").exists(), "asked before it runs");
        bench.queue.reply(&id, json!({ "status": "ok" }), "person:ui", None);
    };
    let (result, ()) = tokio::join!(bench.run("echo x > y"), answer);
    assert_eq!((&result.0["status"], &result.0["data"]["confirmed"]), (&json!("ok"), &json!(true)));
    assert!(bench.path("y").exists() && result.1.contains("sandbox: none"));
    let mut required = quiet();
    required.shell.sandbox = SandboxUse::Required;
    let refused = Bench::with(required, Some(Kernel::NONE)).run("ls").await;
    assert_eq!(code(&refused), "error:unavailable", "{}", refused.1);
}

#[tokio::test]
async fn an_older_kernel_confines_files_and_says_so() {
    if Kernel::here().landlock < 2 || !Kernel::here().seccomp {
        skip!("the kernel confines no files or system calls (Landlock 2, seccomp)");
    }
    let old = Kernel { landlock: 2, seccomp: true };
    let bench = Bench::with(quiet(), Some(old));
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        assert!(entry.request.prompt["message"].as_str().unwrap().contains("covers files only"));
        bench.queue.reply(&id, json!({ "status": "ok" }), "person:ui", None);
    };
    let (fs, ()) = tokio::join!(bench.run("true"), answer);
    assert_eq!(fs.0["data"]["sandbox"]["level"], "fs", "{}", fs.1);
}

#[tokio::test]
async fn a_switched_off_sandbox_asks_like_none() {
    let mut settings = quiet();
    settings.shell.sandbox = SandboxUse::Off;
    let bench = Bench::new(settings);
    let answer = async {
        let (id, entry) = bench.queue.asked().await;
        assert!(entry.request.prompt["message"].as_str().unwrap().contains("switched off"));
        bench.queue.reply(&id, json!({ "status": "ok" }), "person:ui", None);
    };
    let (result, ()) = tokio::join!(bench.run("grep NoNewPrivs /proc/self/status > out; cat out"), answer);
    assert!(result.1.contains("NoNewPrivs:\t0") && result.1.contains("sandbox: none"), "{}", result.1);
}

#[tokio::test]
async fn without_the_boundary_the_same_commands_reach_out() {
    // The control of the tests above: the guard off, the commands succeed.
    let bench = Bench::with(quiet(), Some(Kernel::NONE));
    let base = bench.dir.path().display().to_string();
    let answer = async {
        let (id, _) = bench.queue.asked().await;
        bench.queue.reply(&id, json!({ "status": "ok" }), "person:ui", None);
    };
    let command =
        format!("cat {base}/outside/secret.txt {base}/state/secret.txt && echo x > {base}/outside/new");
    let (result, ()) = tokio::join!(bench.run(&command), answer);
    assert_eq!(result.0["data"]["stdout"]["text"], "outside-content\nstate-content\n", "{}", result.1);
    assert!(bench.dir.path().join("outside/new").exists());
}

/// servers §13, row 6: commands that pass a look at their words.
const SMUGGLERS: [(&str, &str); 7] = [
    ("rm -rf ~", "delete_everything"),
    ("cd && rm -rf Documents", "recursive_delete"),
    ("tar -C/ -xf a.tar", "write_outside"),
    ("cp a -t/etc", "write_outside"),
    ("curl -o/etc/cron.d/chatos-x file:///etc/hostname", "write_outside"),
    ("python3 -c \"print(open('../outside/secret.txt').read())\"", "inline_code"),
    ("cat esc/secret.txt", "outside_path"),
];

/// What those commands are after: a home with documents, an archive that unpacks into `/`, a link out.
fn prize(bench: &Bench) {
    std::fs::create_dir_all(bench.dir.path().join("home/Documents")).unwrap();
    std::fs::write(bench.dir.path().join("home/Documents/thesis"), "years\n").unwrap();
    std::fs::write(bench.path("a"), "chatos-row-6\n").unwrap();
    std::os::unix::fs::symlink(bench.dir.path().join("outside"), bench.path("esc")).unwrap();
}

#[tokio::test]
async fn row_6_of_the_defects_reach_nothing_outside() {
    let Some(_) = here() else { skip!("the kernel confines no files (Landlock)") };
    let mut settings = quiet();
    // Nobody stops them: what is refused here, the kernel refuses.
    settings.shell.mode = SafetyMode::Strict;
    let bench = Bench::new(settings);
    prize(&bench);
    bench.run("mkdir -p etc && echo x > etc/chatos-row-6 && tar -cf a.tar etc/chatos-row-6").await;
    for (command, id) in SMUGGLERS {
        let result = bench.run(command).await;
        let refused = code(&result) == "permission_denied/shell_blocked";
        assert!(refused || ids(&result).contains(&id.to_owned()), "{command}: {}", result.1);
        let output = result.0["data"]["stdout"]["text"].as_str().unwrap_or_default();
        assert!(!output.contains("outside-content"), "{command}: {}", result.1);
    }
    assert!(bench.dir.path().join("home/Documents/thesis").exists());
    for written in ["/etc/a", "/etc/chatos-row-6", "/etc/cron.d/chatos-x"] {
        assert!(!Path::new(written).exists(), "{written}");
    }
}

#[tokio::test]
async fn row_6_of_the_defects_ask_where_there_is_no_sandbox() {
    let bench = Bench::with(quiet(), Some(Kernel::NONE));
    prize(&bench);
    for (command, id) in SMUGGLERS {
        let answer = async {
            let (request, entry) = bench.queue.asked().await;
            assert_eq!(entry.request.prompt["command"], command);
            bench.queue.reply(&request, json!({ "status": "canceled" }), "person:ui", None);
        };
        let asked = bench.run(command);
        tokio::pin!(asked);
        let result = tokio::select! {
            result = &mut asked => result,
            () = answer => asked.await,
        };
        // What nobody should do is refused without a question; all others ask.
        let expected =
            if id == "delete_everything" { "permission_denied/shell_blocked" } else { "canceled:canceled" };
        assert_eq!(code(&result), expected, "{command}: {}", result.1);
    }
    assert!(bench.dir.path().join("home/Documents/thesis").exists());
}
