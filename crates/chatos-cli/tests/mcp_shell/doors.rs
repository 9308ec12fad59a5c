//! The side doors of the boundary (working-day §1.7), each tried from inside a command by the real program: as
//! root, and as a user without rights.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};

use chatos_testkit::{RunningHost, eventually};

use super::*;

/// A process of the same user beside the host, ended with the test.
struct Bystander(Child);

impl Bystander {
    fn new(ground: &Ground) -> Self {
        let mut command = ground.run_free("sleep");
        Self(command.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn limits(&self) -> String {
        std::fs::read_to_string(format!("/proc/{}/limits", self.0.id())).unwrap()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn stdout(reply: &Value) -> String {
    data(reply)["stdout"]["text"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// Tries everything on each of the processes it is given (0 is itself) and prints what came of it. What no library
/// offers is called by its number, on the machines whose numbers stand here.
const PROBE: &str = r"
import ctypes, errno, os, resource, struct, sys
NUMBERS = {
    'x86_64': dict(ioprio_set=251, migrate_pages=256, move_pages=279, process_vm_readv=310, process_vm_writev=311,
                   kcmp=312, sched_setattr=314, ptrace=101),
    'aarch64': dict(ioprio_set=30, migrate_pages=238, move_pages=239, process_vm_readv=270, process_vm_writev=271,
                    kcmp=272, sched_setattr=274, ptrace=117),
}[os.uname().machine]
NUMBERS.update(pidfd_open=434, pidfd_getfd=438, process_madvise=440, process_mrelease=448)
libc = ctypes.CDLL(None, use_errno=True)

def call(name, *arguments):
    done = libc.syscall(*(ctypes.c_long(value) for value in (NUMBERS[name], *arguments)))
    if done < 0:
        raise OSError(ctypes.get_errno(), name)
    return done

byte = ctypes.create_string_buffer(1)
here = ctypes.create_string_buffer(struct.pack('PN', ctypes.addressof(byte), 1))
pieces = ctypes.addressof(here)
attributes = ctypes.create_string_buffer(struct.pack('IIQiIQQQ', 48, 3, 0, 5, 0, 0, 0, 0))
nodes = ctypes.create_string_buffer(struct.pack('Q', 1))
status = ctypes.create_string_buffer(4)
page = ctypes.create_string_buffer(struct.pack('P', ctypes.addressof(byte)))
node = ctypes.create_string_buffer(4)

for pid in map(int, sys.argv[1:]):
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    attempts = [
        ('prlimit', lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, hard))),
        ('priority', lambda: os.setpriority(os.PRIO_PROCESS, pid, 5)),
        ('affinity', lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid))),
        ('scheduler', lambda: os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))),
        ('param', lambda: os.sched_setparam(pid, os.sched_param(0))),
        ('ioprio_set', lambda: call('ioprio_set', 1, pid, 2 << 13 | 5)),
        ('sched_setattr', lambda: call('sched_setattr', pid, ctypes.addressof(attributes), 0)),
    ]
    others = [
        ('migrate_pages', lambda: call('migrate_pages', pid, 64, ctypes.addressof(nodes), ctypes.addressof(nodes))),
        ('move_pages', lambda: call('move_pages', pid, 1, ctypes.addressof(page), ctypes.addressof(node), ctypes.addressof(status), 2)),
        ('kcmp', lambda: call('kcmp', os.getpid(), pid, 2, 0, 0)),
        ('pidfd_getfd', lambda: call('pidfd_getfd', call('pidfd_open', pid, 0), 0, 0)),
        ('process_madvise', lambda: call('process_madvise', call('pidfd_open', pid, 0), pieces, 1, 20, 0)),
        ('process_mrelease', lambda: call('process_mrelease', call('pidfd_open', pid, 0), 0)),
        ('process_vm_readv', lambda: call('process_vm_readv', pid, pieces, 1, pieces, 1, 0)),
        ('process_vm_writev', lambda: call('process_vm_writev', pid, pieces, 1, pieces, 1, 0)),
        ('ptrace', lambda: call('ptrace', 0x4206, pid, 0, 0)),
    ]
    for name, attempt in attempts + (others if pid else []):
        try:
            attempt()
            print(pid, name, 'done')
        except PermissionError:
            print(pid, name, 'refused')
        except OSError as error:
            print(pid, name, errno.errorcode[error.errno])
try:
    # A user without processes: where it is allowed, nobody is there to be changed.
    os.setpriority(os.PRIO_USER, 54321, 5)
except ProcessLookupError:
    print('user priority done')
except PermissionError:
    print('user priority refused')
";
/// Of these, what a process may do to itself, and what can be tried on another one only.
const TRIED: (usize, usize) = (7, 9);

#[test]
fn other_processes_stay_as_they_are_for_root() {
    needs!(root);
    needs!(python);
    other_processes_stay_as_they_are(None);
}

#[test]
fn other_processes_stay_as_they_are_for_a_user() {
    needs!(boundary);
    needs!(python);
    other_processes_stay_as_they_are(without_rights());
}

fn other_processes_stay_as_they_are(user: Option<u32>) {
    let ground = Ground::new(user);
    std::fs::write(ground.path("root/probe.py"), PROBE).unwrap();
    let bystander = Bystander::new(&ground);
    let before = bystander.limits();
    let mut client = ground.connect("root", &[]);
    let (host, other) = (client.pid(), bystander.0.id());
    let reply = client
        .call("run_shell_command", json!({ "command": format!("python3 probe.py {host} {other} $PPID 0") }));
    let text = stdout(&reply);
    for line in text.lines() {
        let itself = line.starts_with("0 ");
        assert!(line.ends_with(if itself { "done" } else { "refused" }), "{user:?} {line}: {reply}");
    }
    let on_others = 3 * (TRIED.0 + TRIED.1);
    assert_eq!(text.lines().count(), on_others + TRIED.0 + 1, "{user:?} {reply}");
    assert_eq!(bystander.limits(), before, "{user:?}");
    // The same user may do it without the boundary: it is the boundary that stopped them.
    let mut free = ground.run_free("python3");
    let free = free.args(["-c", PROBE, &other.to_string()]).output().unwrap();
    let done = String::from_utf8_lossy(&free.stdout);
    for door in ["prlimit", "ioprio_set", "sched_setattr"] {
        assert!(done.contains(&format!("{door} done")), "{user:?} {free:?}");
    }
    assert_ne!(bystander.limits(), before, "{user:?}");
}

#[test]
fn programs_still_limit_and_lower_themselves() {
    needs!(boundary);
    let ground = Ground::new(without_rights());
    let mut client = ground.connect("root", &[]);
    for command in [
        "ulimit -n 100 && ulimit -n && ulimit -c 0",
        "nice -n 5 sh -c true",
        "mkdir a && echo x > a/f && tar -cf a.tar a && tar -xpf a.tar && cp -p a/f g && chmod 755 g && touch g",
        "sh -c 'sleep 0 & wait'",
    ] {
        let reply = client.call("run_shell_command", json!({ "command": command }));
        assert_eq!(data(&reply)["exit_code"], 0, "{command}: {reply}");
    }
}

#[test]
fn a_descriptor_left_open_for_the_program_reaches_no_command() {
    needs!(boundary);
    for user in [None, without_rights()] {
        let ground = Ground::new(user);
        std::fs::write(ground.path("outside/secret.txt"), "TOP SECRET").unwrap();
        let secret = ground.path("outside/secret.txt");
        let script = format!("exec 9<'{}'; exec \"$@\"", secret.display());
        let look = "ls -l /proc/self/fd; cat <&9";
        let mut client = ground.connect_through(Some(&script), "root", &[]);
        let reply = client.call("run_shell_command", json!({ "command": look }));
        assert!(!reply.to_string().contains("TOP SECRET"), "{user:?} {reply}");
        let arguments = json!({ "command": "cat <&9; sleep 0.1", "session": "s", "preview_wait_ms": 5000 });
        let reply = client.call("session_run", arguments);
        assert!(!reply.to_string().contains("TOP SECRET"), "{user:?} {reply}");
        drop(client);
        let serve = ["serve", "--no-open", "--ready-json", "--port", "0"];
        let host = RunningHost::start(ground.command_through(Some(&script), &serve)).unwrap();
        let reply = run_on(&host, &ground, look);
        assert!(!reply.to_string().contains("TOP SECRET"), "{user:?} {reply}");
    }
}

/// Runs a command by a call to a host.
fn run_on(host: &RunningHost, ground: &Ground, command: &str) -> Value {
    let call = json!({ "server": "shell_tasks", "tool": "run_shell_command",
        "arguments": { "command": command }, "root": ground.path("root") });
    let answer = host.ask("POST", "/api/v1/tools/call", Some(&call));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// What types into a session: frames of a length and JSON.
fn frames(secret: Option<&str>, text: &str) -> Vec<u8> {
    let open = secret.map(|secret| json!({ "Open": { "secret": secret } }));
    let input = json!({ "Input": { "data": text } });
    let mut bytes = Vec::new();
    for frame in open.into_iter().chain([input]) {
        let frame = frame.to_string().into_bytes();
        bytes.extend((frame.len() as u32).to_le_bytes());
        bytes.extend(frame);
    }
    bytes
}

#[test]
fn nobody_types_into_a_session_of_root() {
    needs!(root);
    needs!(python);
    nobody_types_into_a_session(None);
}

#[test]
fn nobody_types_into_a_session_of_a_user() {
    needs!(boundary);
    needs!(python);
    nobody_types_into_a_session(without_rights());
}

fn nobody_types_into_a_session(user: Option<u32>) {
    let ground = Ground::new(user);
    std::fs::create_dir(ground.path("other")).unwrap();
    let mut owner = ground.connect("root", &[]);
    let started = owner.call(
        "session_run",
        json!({ "command": "cat", "session": "mine", "pty": false, "preview_wait_ms": 0 }),
    );
    assert_eq!(started["structuredContent"]["status"], "ok", "{started}");
    let dir = std::fs::read_dir(ground.path("state/shell")).unwrap().flatten().map(|entry| entry.path());
    let dir = dir.into_iter().find(|path| path.is_dir()).unwrap();
    let meta: Value = serde_json::from_slice(&std::fs::read(dir.join("meta.json")).unwrap()).unwrap();
    let secret = meta["secret"].as_str().unwrap_or_default().to_owned();
    assert_eq!(std::fs::metadata(dir.join("meta.json")).unwrap().permissions().mode() & 0o777, 0o600);
    // A command of another project: it may connect, network is on, and even knows the secret.
    let mut stranger = ground.connect("other", &[("CHATOS_SET_SHELL_NETWORK", "allow")]);
    let socket = dir.join("ctl.sock");
    for known in [None, Some(secret.as_str())] {
        let bytes = frames(known, "TYPED BY A COMMAND\n");
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let script = format!(
            "import socket; s = socket.socket(socket.AF_UNIX); s.connect('{}'); \
             s.sendall(bytes.fromhex('{hex}')); s.settimeout(10); print(s.recv(4096))",
            socket.display()
        );
        let reply =
            stranger.call("run_shell_command", json!({ "command": format!("python3 -c \"{script}\"") }));
        assert!(!stdout(&reply).contains("Taken"), "{user:?} {reply}");
    }
    // A process of the user outside: not without the secret, and not with a wrong one.
    let answer = |secret: Option<&str>, text: &str| {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(&frames(secret, text)).unwrap();
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    };
    for wrong in [None, Some(""), Some("0"), Some(&secret[1..])] {
        assert_eq!(answer(wrong, "TYPED BY A STRANGER\n"), "", "{user:?} {wrong:?}");
    }
    assert!(answer(Some(&secret), "typed by its own\n").contains("Taken"), "{user:?}");
    let output = eventually("the input comes back", || {
        let lines = owner.call("session_capture_output", json!({ "session": "mine" }));
        let text = data(&lines)["text"].as_str().unwrap().to_owned();
        text.contains("its own").then_some(text)
    });
    assert!(!output.contains("TYPED"), "{user:?} {output}");
    // The tools find the secret by themselves, from any process of the user.
    let sent = stranger.call("session_send_input", json!({ "session": "mine", "data": "by the tool\n" }));
    assert_eq!(sent["structuredContent"]["status"], "ok", "{user:?} {sent}");
}

#[test]
fn what_a_command_opens_to_others_is_closed_again_and_the_token_renewed_for_root() {
    needs!(root);
    what_a_command_opens_is_closed_again(None);
}

#[test]
fn what_a_command_opens_to_others_is_closed_again_and_the_token_renewed_for_a_user() {
    needs!(boundary);
    what_a_command_opens_is_closed_again(without_rights());
}

fn what_a_command_opens_is_closed_again(user: Option<u32>) {
    let ground = Ground::new(user);
    let mode = |path: &Path| std::fs::metadata(path).map(|meta| meta.permissions().mode() & 0o777).ok();
    let (state, keys) = (ground.path("state"), ground.path("home/.config/chatos/keys"));
    let (token_file, database) = (state.join("host.json"), state.join("state.db"));
    let serve = ["serve", "--no-open", "--ready-json", "--port", "0"];
    let token = || {
        let text = std::fs::read(&token_file).unwrap_or_default();
        serde_json::from_slice::<Value>(&text).ok()?["token"].as_str().map(str::to_owned)
    };
    let mut host = RunningHost::start(ground.command(&serve)).unwrap();
    let place = |path: &Path, open: u32, closed: u32| (path.to_owned(), open, closed);
    for (path, open, closed) in [
        place(&state, 0o755, 0o700),
        place(&token_file, 0o644, 0o600),
        place(&database, 0o666, 0o600),
        place(&keys, 0o711, 0o700),
        // Not wider, but the host could not go on with it.
        place(&state, 0o000, 0o700),
    ] {
        let former = host.token.clone();
        let reply = run_on(&host, &ground, &format!("chmod {open:o} '{}'", path.display()));
        assert_eq!(data(&reply)["exit_code"], 0, "no rule of the kernel stops it: {reply}");
        eventually("it is closed again", || (mode(&path) == Some(closed)).then_some(()));
        if open == 0 {
            assert_eq!(host.ask("GET", "/api/v1/status", None).status, 200, "{user:?}");
            continue;
        }
        host.token = eventually("the token is another one", || token().filter(|now| *now != former));
        assert_eq!(mode(&token_file), Some(0o600), "{user:?}");
        eventually("the former token opens nothing", || {
            let refused = host.connect().ask(&former, "GET", "/api/v1/status", None).unwrap();
            (refused.status == 401).then_some(())
        });
        eventually("the notice", || {
            let status = host.ask("GET", "/api/v1/status", None);
            assert_eq!(status.status, 200, "{user:?} {}", status.text());
            status.json()["notices"].to_string().contains("modes_widened").then_some(())
        });
        let said = ground.command(&["status", "--json"]).output().unwrap();
        assert!(said.status.success(), "{user:?} {said:?}");
    }
    let audit = ground.command(&["audit", "verify", "--json"]).output().unwrap();
    assert!(audit.status.success(), "{audit:?}");
    host.stop();
    let kept = std::fs::read_dir(state.join("audit")).unwrap().flatten();
    let kept: String = kept.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    let widened = kept.lines().filter(|line| line.contains("\"modes_widened\""));
    assert_eq!(widened.filter(|line| line.contains("\"tokenRenewed\":true")).count(), 4, "{kept}");
    // What was opened while no host ran is closed at the start.
    for (path, open) in [(&state, 0o755), (&database, 0o644), (&keys, 0o755)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(open)).unwrap();
    }
    let host = RunningHost::start(ground.command(&serve)).unwrap();
    assert_eq!((mode(&state), mode(&database), mode(&keys)), (Some(0o700), Some(0o600), Some(0o700)));
    let notices = host.ask("GET", "/api/v1/status", None).json()["notices"].to_string();
    assert!(notices.contains("modes_widened") && notices.contains("mode_narrowed"), "{notices}");
}
