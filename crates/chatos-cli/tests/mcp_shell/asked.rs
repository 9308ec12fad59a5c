//! When a person is asked before a command, at every level of what the system confines (working-day §1.4, §13 point 2):
//! the table row by row through a running host, as root and as a user without rights. Kernels that lack something are
//! made by refusing its system calls to the host.

use chatos_testkit::{Lacking, RunningHost, on_a_kernel_without};

use super::*;

/// What confines commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    Full,
    /// Files only.
    Fs,
    None,
    /// A person switched it off.
    Off,
}

impl Held {
    fn level(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Fs => "fs",
            Self::None | Self::Off => "none",
        }
    }
}

/// A host as it is when nobody changed anything, and a project with Git and files.
pub(super) struct Desk {
    pub(super) ground: Ground,
    pub(super) host: RunningHost,
    held: Held,
}

/// How a call went.
pub(super) struct Went {
    /// The questions that were asked on its way.
    pub(super) asked: Vec<Value>,
    pub(super) reply: Value,
}

impl Went {
    pub(super) fn data(&self) -> &Value {
        data(&self.reply)
    }
}

impl Desk {
    pub(super) fn new(user: Option<u32>, held: Held) -> Self {
        let ground = Ground::new(user);
        // What is made here is the user's; what is made later is whoever's runs the tests.
        for place in ["root/src/x", "root/.git/hooks"] {
            std::fs::create_dir_all(ground.path(place)).unwrap();
        }
        std::fs::write(ground.path("outside/secret.txt"), "outside-content\n").unwrap();
        let mut command =
            ground.command(&["serve", "--no-open", "--ready-json", "--port", "0", "--lang", "en"]);
        command.env_remove("CHATOS_SET_CONFIRM_FILE_CHANGES").env_remove("CHATOS_SET_SHELL_CONFIRM");
        let start = || RunningHost::start(command).unwrap();
        let host = match held {
            Held::Full | Held::Off => start(),
            Held::Fs => on_a_kernel_without(Lacking::Seccomp, start),
            Held::None => on_a_kernel_without(Lacking::Landlock, start),
        };
        let desk = Self { ground, host, held };
        if held == Held::Off {
            desk.set("shellSandbox", "off");
        }
        desk
    }

    pub(super) fn set(&self, key: &str, value: impl Into<Value>) {
        let body = json!({ "value": value.into() });
        let done = self.host.ask("PUT", &format!("/api/v1/settings/{key}"), Some(&body));
        assert_eq!(done.status, 200, "{key}: {}", done.text());
    }

    /// Makes a call; each question gets the answer it is given.
    pub(super) fn call(&self, arguments: &Value, answer: impl Fn(&Value) -> Value) -> Went {
        let body = json!({ "server": "shell_tasks", "tool": "run_shell_command", "arguments": arguments,
            "root": self.ground.path("root") });
        let (mut wire, token) = (self.host.connect(), self.host.token.clone());
        let call = std::thread::spawn(move || {
            wire.ask(&token, "POST", "/api/v1/tools/call", Some(&body)).unwrap().json()
        });
        let mut asked: Vec<Value> = Vec::new();
        until("the end of the call", || {
            if call.is_finished() {
                return true;
            }
            let list = self.host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
            let Some(id) = list["items"][0]["requestId"].as_str() else { return false };
            if asked.iter().any(|asked| asked["requestId"] == id) {
                return false;
            }
            let question = self.host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
            let mut body = json!({ "response": answer(&question) });
            body["shown"] = question["shown"].clone();
            let done = self.host.ask("POST", &format!("/api/v1/prompts/{id}/response"), Some(&body));
            assert_eq!(done.status, 200, "{}", done.text());
            asked.push(question);
            false
        });
        Went { asked, reply: call.join().unwrap() }
    }

    pub(super) fn refuse(&self, arguments: &Value) -> Went {
        self.call(arguments, |_| json!({ "status": "canceled" }))
    }

    /// These are asked about, and a no is a no.
    fn asks(&self, what: &str, commands: &[&str]) {
        for command in commands {
            self.asks_for(what, &json!({ "command": command }));
        }
    }

    fn asks_for(&self, what: &str, arguments: &Value) {
        let went = self.refuse(arguments);
        assert_eq!(went.asked.len(), 1, "{:?} {what} should ask: {arguments} {}", self.held, went.reply);
        assert_eq!(went.reply["structuredContent"]["status"], "canceled", "{arguments}: {}", went.reply);
        assert!(went.asked[0].to_string().contains(arguments["command"].as_str().unwrap()));
    }

    /// These run without a question.
    fn runs(&self, what: &str, commands: &[&str]) {
        for command in commands {
            let went = self.refuse(&json!({ "command": command }));
            assert_eq!(went.asked, Vec::<Value>::new(), "{:?} {what} should not ask: {command}", self.held);
            assert_eq!(went.reply["structuredContent"]["status"], "ok", "{command}: {}", went.reply);
            assert_eq!(went.data()["sandbox"]["level"], self.held.level(), "{command}: {}", went.reply);
        }
    }
}

const LISTED: [&str; 2] = ["ls", "cat src/none | head"];
/// Git runs programs that a repository names.
const LISTED_INSIDE: [&str; 1] = ["git status"];
const ORDINARY: [&str; 4] = ["touch y", "make -v", "echo $HOME", "cat ../x"];
const RISKY: [&str; 3] = ["rm -r src/x", "git reset --hard", "git push"];
/// Where all is confined, the boundary refuses what they could do.
const HELD: [&str; 6] = [
    "sudo -n true",
    "echo x > ../outside/new",
    "chmod -R 700 src",
    "pkill no-such-program-here",
    "echo true | sh",
    "echo x > /dev/full",
];
const BLOCKED: [&str; 3] = ["rm -rf /", "mkfs.ext4 /dev/sda", "shutdown now"];

/// The table at one level.
fn the_table_holds(user: Option<u32>, held: Held) {
    let desk = Desk::new(user, held);
    let (full, none) = (held == Held::Full, held.level() == "none");
    for files in [true, false] {
        desk.set("confirmFileChanges", files);
        desk.runs("the list", &LISTED);
        if none {
            desk.asks("Git", &LISTED_INSIDE);
        } else {
            desk.runs("the list", &LISTED_INSIDE);
        }
        desk.asks("a risk", &RISKY);
        if full {
            desk.runs("ordinary", &ORDINARY);
            desk.runs("held", &HELD);
        } else {
            desk.asks("ordinary", &ORDINARY);
            desk.asks("not held", &HELD);
        }
    }
    assert!(!desk.ground.path("outside/new").exists() && desk.ground.path("root/src/x").exists());
    if full {
        // What the boundary holds is said to be risky even so.
        let warned = desk.refuse(&json!({ "command": HELD[2] }));
        assert!(warned.data()["findings"].to_string().contains("\"warn\""), "{}", warned.reply);
    }
    desk.set("confirmFileChanges", true);
    for command in BLOCKED {
        let went = desk.refuse(&json!({ "command": command }));
        let error = &went.reply["structuredContent"]["error"];
        assert_eq!(
            (went.asked.len(), &error["details"]["rule"]),
            (0, &json!("shell_blocked")),
            "{}",
            went.reply
        );
    }
    desk.asks_for("the network", &json!({ "command": "true", "network": true }));
    let one = json!({ "command": "touch z", "access": { "hosts": ["localhost:9"], "reason": "the page" } });
    let outside = json!({ "command": "cat ../outside/secret.txt",
        "access": { "read": [desk.ground.path("outside/secret.txt")], "reason": "the notes" } });
    let free =
        json!({ "command": "cat ../outside/secret.txt", "access": { "outside": true, "reason": "my way" } });
    match held {
        Held::Full => desk.asks_for("a machine", &one),
        // Nothing keeps commands from the network here, so there is no single machine to open.
        Held::Fs | Held::None | Held::Off => desk.asks_for("any command", &one),
    }
    desk.asks_for("a path outside", &outside);
    desk.asks_for("the way outside", &free);
    // As it is set: every command, or none that the level lets through.
    desk.set("shellConfirm", "always");
    desk.runs("the list, always", &LISTED);
    for commands in [&ORDINARY[..], &RISKY, &HELD] {
        desk.asks("always", commands);
    }
    desk.set("shellConfirm", "never");
    desk.runs("the list, never", &LISTED);
    desk.asks_for("the network, never", &json!({ "command": "true", "network": true }));
    if full {
        for commands in [&ORDINARY[..], &RISKY, &HELD] {
            desk.runs("never", commands);
        }
        desk.asks_for("the way outside, never", &free);
        std::fs::create_dir_all(desk.ground.path("root/src/x")).unwrap();
    } else {
        for commands in [&ORDINARY[..], &RISKY, &HELD] {
            desk.asks("never", commands);
        }
    }
    desk.set("shellConfirm", "risky");
    // What nobody should do is asked about where a person chose to be less strict.
    desk.set("shellSafetyMode", "relaxed");
    desk.asks("blocked, relaxed", &BLOCKED);
    desk.asks("risky, relaxed", &RISKY);
    if full {
        desk.runs("ordinary, relaxed", &ORDINARY);
    } else {
        desk.asks("ordinary, relaxed", &ORDINARY);
    }
    desk.set("shellSafetyMode", "strict");
    // A yes runs it, once, and at the level that the question named.
    let yes = |_: &Value| json!({ "status": "ok" });
    let went = desk.call(&json!({ "command": "rm -r src/x; echo once >> ran.log" }), yes);
    assert_eq!(
        (went.asked.len(), &went.data()["sandbox"]["level"]),
        (1, &json!(held.level())),
        "{}",
        went.reply
    );
    assert!(!desk.ground.path("root/src/x").exists());
    assert_eq!(std::fs::read_to_string(desk.ground.path("root/ran.log")).unwrap(), "once\n");
    // A file that runs later is asked about after the command as well, and put back.
    let plant = json!({ "command": "printf evil > .git/hooks/post-checkout" });
    let went = desk.call(&plant, |question| match question["prompt"]["kind"].as_str() {
        Some("choice") => json!({ "status": "ok", "selection": "no" }),
        _ => json!({ "status": "ok" }),
    });
    let later = went.asked.last().unwrap()["prompt"]["message"].as_str().unwrap_or_default();
    assert!(later.contains(".git/hooks/post-checkout (created)"), "{:?} {}", went.asked, went.reply);
    assert_eq!(went.asked.len(), if full { 1 } else { 2 }, "{}", went.reply);
    assert!(!desk.ground.path("root/.git/hooks/post-checkout").exists());
    desk.host.stop();
}

/// What is answered with "once" is done once, and what leads outside is asked about whatever a rule says.
fn a_word_counts_once(user: Option<u32>) {
    let desk = Desk::new(user, Held::Full);
    let ran =
        || std::fs::read_to_string(desk.ground.path("root/ran.log")).unwrap_or_default().lines().count();
    let options = |went: &Went| -> Vec<String> {
        let all = went.asked[0]["prompt"]["options"].as_array().unwrap();
        all.iter().filter_map(|option| option["value"].as_str().map(str::to_owned)).collect()
    };
    let secret = desk.ground.path("outside/secret.txt");
    let command = format!("echo once >> ran.log; cat '{}'", secret.display());
    let asks = json!({ "command": command, "access": { "read": [secret], "reason": "the notes" } });
    let once = |_: &Value| json!({ "status": "ok", "selection": "once" });
    let went = desk.call(&asks, once);
    assert!(went.data()["stdout"]["text"].as_str().unwrap().contains("outside-content"), "{}", went.reply);
    assert_eq!((went.asked.len(), ran()), (1, 1), "{}", went.reply);
    assert_eq!(options(&went), ["once", "project", "no"]);
    // Neither kept for the next command nor for the next question.
    let went = desk.refuse(&json!({ "command": command }));
    assert!(!went.reply.to_string().contains("outside-content"), "{}", went.reply);
    assert_eq!((went.asked.len(), ran()), (0, 2), "{}", went.reply);
    assert_eq!((desk.refuse(&asks).asked.len(), ran()), (1, 2));
    let open = desk.host.ask("GET", "/api/v1/access", None).json();
    assert_eq!(open["items"], json!([]));

    // Git over SSH needs keys, so it is asked about at once, and nothing was tried before.
    let config = "[remote \"origin\"]\n\turl = git@host.invalid:a/b.git\n";
    std::fs::write(desk.ground.path("root/.git/config"), config).unwrap();
    for command in ["git push", "git fetch origin"] {
        let went = desk.refuse(&json!({ "command": command }));
        assert_eq!(went.asked.len(), 1, "{command}: {}", went.reply);
        assert_eq!(options(&went), ["outside", "no"], "{command}");
        let message = went.asked[0]["prompt"]["message"].as_str().unwrap();
        assert!(message.contains("ssh_remote") && message.contains(command), "{message}");
        assert_eq!(went.reply["structuredContent"]["status"], "canceled", "{}", went.reply);
    }

    // A rule that covers a command answers for it, and not for the way outside.
    desk.set("shellConfirm", "always");
    let day = Duration::from_secs(86_400);
    let until = (std::time::SystemTime::now() + day).duration_since(std::time::UNIX_EPOCH).unwrap();
    let root = desk.ground.path("root").canonicalize().unwrap();
    let rule = json!({ "rule": {
        "name": "making", "effect": "allow", "scope": { "kind": "project", "id": root },
        "until": u64::try_from(until.as_millis()).unwrap(), "server": "builtin:shell_tasks", "tool": "run_shell_command",
        "shell": { "commands": [{ "program": "touch", "argv": ["src/made"] }], "join": "none" },
    } });
    let kept = desk.host.ask("POST", "/api/v1/rules", Some(&rule));
    assert_eq!(kept.status, 200, "{}", kept.text());
    let went = desk.refuse(&json!({ "command": "touch src/made" }));
    assert_eq!((went.asked.len(), &went.data()["by_rule"]), (0, &json!("making")), "{}", went.reply);
    std::fs::remove_file(desk.ground.path("root/src/made")).unwrap();
    let outside = json!({ "command": "touch src/made", "access": { "outside": true, "reason": "my way" } });
    let went = desk.refuse(&outside);
    assert_eq!((went.asked.len(), options(&went)), (1, vec!["outside".to_owned(), "no".to_owned()]));
    assert!(!desk.ground.path("root/src/made").exists(), "{}", went.reply);
    desk.host.stop();
}

#[test]
fn a_word_counts_once_for_root() {
    needs!(root);
    a_word_counts_once(None);
}

#[test]
fn a_word_counts_once_for_a_user() {
    needs!(boundary);
    a_word_counts_once(without_rights());
}

macro_rules! levels {
    ($($root:ident, $user:ident: $held:expr;)*) => {$(
        #[test]
        fn $root() {
            needs!(root);
            the_table_holds(None, $held);
        }

        #[test]
        fn $user() {
            needs!(boundary);
            the_table_holds(without_rights(), $held);
        }
    )*};
}

levels! {
    with_all_that_confines_it_is_the_consent_for_root, with_all_that_confines_it_is_the_consent_for_a_user: Held::Full;
    where_only_files_are_held_every_command_asks_root, where_only_files_are_held_every_command_asks_a_user: Held::Fs;
    where_nothing_confines_every_command_asks_root, where_nothing_confines_every_command_asks_a_user: Held::None;
    switched_off_every_command_asks_root, switched_off_every_command_asks_a_user: Held::Off;
}
