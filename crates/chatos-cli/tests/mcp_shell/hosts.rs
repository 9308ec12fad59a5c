//! Single machines that a person opened to the commands of a project, and files that run later (working-day §1.6, §1.8,
//! §13 points 3 and 5), through a running host and through a server of its own; as root and as a user without rights.

use std::io::{Read, Write};

use super::asked::{Desk, Held};
use super::*;

/// A machine of the web: says hello to everybody.
fn machine() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // Ends with the process of the test.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut buffer = [0; 4096];
            if stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                let hello = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
                stream.write_all(hello).ok();
            }
        }
    });
    port
}

fn has_curl() -> bool {
    child("curl").arg("-V").output().is_ok_and(|output| output.status.success())
}

#[test]
fn machines_are_reached_one_by_one_by_root() {
    needs!(root);
    machines_are_reached_one_by_one(None);
}

#[test]
fn machines_are_reached_one_by_one_by_a_user() {
    needs!(boundary);
    machines_are_reached_one_by_one(without_rights());
}

fn machines_are_reached_one_by_one(user: Option<u32>) {
    needs!(python);
    if !has_curl() {
        skip!("curl is not installed");
    }
    let desk = Desk::new(user, Held::Full);
    let (open, closed) = (machine(), machine());
    let stdout =
        |went: &super::asked::Went| went.data()["stdout"]["text"].as_str().unwrap_or_default().to_owned();
    let get = format!("curl -sS --max-time 20 http://localhost:{open}/");
    let before = desk.refuse(&json!({ "command": get }));
    assert_eq!((stdout(&before), before.asked.len()), (String::new(), 0), "{}", before.reply);
    let asks = json!({ "command": get,
        "access": { "hosts": [format!("localhost:{open}")], "reason": "the page is there" } });
    let went = desk.call(&asks, |_| json!({ "status": "ok", "selection": "project" }));
    if went.reply.to_string().contains("cannot hold a command to single machines") {
        skip!("the kernel holds no command to a port (Landlock 4)");
    }
    assert_eq!((stdout(&went), went.asked.len()), ("hello".to_owned(), 1), "{}", went.reply);
    assert_eq!(went.data()["sandbox"]["hosts"], json!([format!("localhost:{open}")]), "{}", went.reply);

    // From now on without a question, through the proxy in both of its ways.
    for again in [get.clone(), format!("curl -sS --max-time 20 --proxytunnel http://localhost:{open}/")] {
        let went = desk.refuse(&json!({ "command": again }));
        assert_eq!((stdout(&went), went.asked.len()), ("hello".to_owned(), 0), "{}", went.reply);
    }
    // A name that was not opened: refused, and said for certain, with the way to ask.
    let other = format!("curl -fsS --max-time 20 http://localhost:{closed}/");
    let went = desk.refuse(&json!({ "command": other }));
    let denied = &went.data()["sandbox"]["denied"][0];
    assert_eq!(
        (stdout(&went).as_str(), &denied["certain"], &denied["host"], &denied["port"]),
        ("", &json!(true), &json!("localhost"), &json!(closed)),
        "{}",
        went.reply
    );
    assert!(went.reply.to_string().contains(&format!("localhost:{closed}")), "{}", went.reply);
    // No other way leads out: by address, by another protocol, by sockets of this machine.
    let socket = desk.ground.path("outside/agent.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o777)).unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let (port, path) = (udp.local_addr().unwrap().port(), socket.display());
    let python = |script: String| format!("python3 -c \"import socket; {script}; print('through')\"");
    for way in [
        format!("curl -sS --max-time 5 --noproxy '*' http://127.0.0.1:{open}/ && echo through"),
        python(format!("s = socket.create_connection(('127.0.0.1', {open}), 5)")),
        python(format!(
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', {port}))"
        )),
        python(format!("s = socket.socket(socket.AF_UNIX); s.connect('{path}')")),
        python("s = socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)".to_owned()),
        python("s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()".to_owned()),
    ] {
        let went = desk.refuse(&json!({ "command": way }));
        assert!(!stdout(&went).contains("through"), "{user:?} {way}: {}", went.reply);
        assert_ne!(went.data()["exit_code"], 0, "{user:?} {way}: {}", went.reply);
        assert_eq!(went.asked, Vec::<Value>::new(), "{way}");
    }
    assert!(udp.recv(&mut [0; 8]).is_err(), "nothing came");
    drop(listener);
    // Taken back, it is closed again.
    let taken = desk.host.ask("GET", "/api/v1/access", None).json();
    let id = taken["items"][0]["id"].as_str().unwrap_or_else(|| panic!("{taken}"));
    assert!(desk.host.ask("DELETE", &format!("/api/v1/access/{id}"), None).status < 300);
    let went = desk.refuse(&json!({ "command": get }));
    assert_eq!(stdout(&went), "", "{}", went.reply);
    desk.host.stop();
}

#[test]
fn a_planted_hook_is_put_back_by_root_when_nobody_answers() {
    needs!(root);
    a_planted_hook_is_put_back(None);
}

#[test]
fn a_planted_hook_is_put_back_by_a_user_when_nobody_answers() {
    needs!(boundary);
    a_planted_hook_is_put_back(without_rights());
}

/// What scripts leave behind for later: something new, and something else than before.
fn a_planted_hook_is_put_back(user: Option<u32>) {
    let ground = Ground::new(user);
    let hooks = ground.path("root/.git/hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    std::fs::create_dir_all(ground.path("root/.husky")).unwrap();
    std::fs::write(hooks.join("pre-push"), "#!/bin/sh\ntrue\n").unwrap();
    std::fs::write(ground.path("root/.husky/pre-commit"), "true\n").unwrap();
    std::fs::write(ground.path("root/.git/config"), "[core]\n\tbare = false\n").unwrap();
    let script = "printf evil > .git/hooks/post-checkout; echo evil >> .git/hooks/pre-push; echo evil >> .husky/pre-commit; \
                  printf '[core]\\n\\tfsmonitor = ./evil\\n' > .git/config; echo work > done.txt";
    std::fs::write(ground.path("root/build.sh"), script).unwrap();
    let mut client = ground.connect("root", &[]);
    let reply = client.call("run_shell_command", json!({ "command": "sh build.sh" }));
    assert!(reply.to_string().contains("runs_later"), "{user:?} {reply}");
    let read = |name: &str| std::fs::read_to_string(ground.path(name)).unwrap_or_default();
    assert!(!hooks.join("post-checkout").exists(), "{user:?} {reply}");
    assert_eq!(read("root/.git/hooks/pre-push"), "#!/bin/sh\ntrue\n", "{user:?} {reply}");
    assert_eq!(read("root/.husky/pre-commit"), "true\n", "{user:?} {reply}");
    assert_eq!(read("root/.git/config"), "[core]\n\tbare = false\n", "{user:?} {reply}");
    assert_eq!(read("root/done.txt"), "work\n", "the work itself stays: {user:?} {reply}");
}
