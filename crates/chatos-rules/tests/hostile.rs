//! Tricks against rules about commands (inbox §4.3): none of the rows may be answered by a rule about something else,
//! and what a rule does answer runs as exactly the words that were looked at.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]
#![expect(clippy::disallowed_methods, reason = "real shells say which words they see")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use chatos_rules::{
    Call, CommandRule, Decision, Effect, FileOp, Found, Join, Line, More, OtherArgs, PathRule, Rule,
    RuleJoin, Scope, ScopeKind, ShellRule, Why, World, check, decide, read,
};
use proptest::prelude::*;
use serde_json::{Value, json};

mod tricks;

use tricks::TRICKS;

struct Computer;

impl World for Computer {
    fn program(&self, name: &str, path: &str) -> Option<Found> {
        let at = |folder: &str| Path::new(folder).join(name);
        let found = |at: PathBuf, is_guarded| Some(Found { real: at.clone(), at, is_guarded });
        // A folder of the person that has a `git` of its own.
        if path.starts_with("/home/me/bin") && name == "git" {
            return found(at("/home/me/bin"), false);
        }
        match name {
            "ls" | "git" | "cat" | "grep" | "wc" | "npm" | "it's" => found(at("/usr/bin"), true),
            // What the project brings, and a link to a shell.
            "own" => found(at("/p/bin"), true),
            "tmp" => found(at("/tmp/x"), true),
            "cached" => found(at("/home/me/.cache/x"), true),
            "unguarded" => found(at("/usr/bin"), false),
            "inward" => Some(Found { at: at("/usr/bin"), real: "/p/bin/inward".into(), is_guarded: true }),
            "pretty" => Some(Found { at: at("/usr/bin"), real: "/usr/bin/bash".into(), is_guarded: true }),
            "vcs" => Some(Found { at: at("/usr/bin"), real: "/usr/bin/git".into(), is_guarded: true }),
            _ => None,
        }
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        // `out` is a link that leads away, `/opt/in` one that leads into the project, `/gone` leads nowhere.
        match path {
            path if path.starts_with("/p/out") => Some("/etc/passwd".into()),
            path if path.starts_with("/opt/in") => Some("/p/bin".into()),
            path if path.starts_with("/gone") => None,
            path => Some(path.to_owned()),
        }
    }

    fn is_plain_repository(&self, folder: &Path) -> bool {
        !folder.starts_with("/p/hooked")
    }
}

fn command(program: &str, argv: &[&str], more: More) -> CommandRule {
    CommandRule { program: program.into(), argv: argv.iter().map(|word| (*word).to_owned()).collect(), more }
}

fn rule(commands: Vec<CommandRule>, join: RuleJoin) -> Rule {
    Rule {
        id: "r".into(),
        name: "rule".into(),
        effect: Effect::Allow,
        scope: Scope { kind: ScopeKind::Project, id: "/p".into(), role: None, client: None },
        server: "builtin:shell_tasks".into(),
        tool: "run_shell_command".into(),
        args: vec![],
        other_args: OtherArgs::None,
        paths: None,
        hosts: vec![],
        shell: Some(ShellRule { commands, join }),
        until: Some(2_000),
        paused: false,
        note: String::new(),
        created_by: String::new(),
        created_at: 1,
    }
}

fn facts(text: &str) -> Value {
    json!({
        "identity": "builtin:shell_tasks", "tool": "run_shell_command", "root": { "path": "/p" },
        "command": {
            "text": text, "cwd": { "path": "/p" }, "shell": "/bin/sh", "env": [], "network": false,
            "path": "/home/me/.local/bin:/usr/local/bin:/usr/bin:/bin",
            "writable": ["/p", "/home/me/.cache", "/tmp/chatos-shell"],
            "sandbox": { "level": "full" }, "findings": [],
        },
        "arguments": { "command": text },
    })
}

fn asked(facts: &Value, rules: &[Rule], high_risk: bool) -> Decision {
    let call = Call {
        kind: "command",
        facts,
        high_risk,
        through_app: false,
        run: Some("run"),
        chat: None,
        agent: None,
        sub: false,
        client: None,
    };
    decide(&call, rules, 1_000, &Computer).decision
}

/// The rules of somebody who is generous, within what can be saved.
fn rules() -> Vec<Rule> {
    let all = vec![
        rule(vec![command("git", &["status"], More::None)], RuleJoin::None),
        rule(
            vec![command("git", &["log"], More::Words), command("git", &["diff"], More::Paths)],
            RuleJoin::None,
        ),
        rule(vec![command("ls", &[], More::Paths), command("ls", &["-l"], More::Paths)], RuleJoin::None),
        rule(vec![command("npm", &["test"], More::None)], RuleJoin::None),
        rule(vec![command("cat", &[], More::Paths), command("wc", &["-l"], More::None)], RuleJoin::Pipe),
        rule(
            ["own", "tmp", "cached", "unguarded", "inward", "pretty", "vcs", "cd", "echo"]
                .map(|name| command(name, &[], More::None))
                .to_vec(),
            RuleJoin::None,
        ),
    ];
    for rule in &all {
        assert_eq!(check(rule, 1), [], "{}", rule.name);
    }
    all
}

#[test]
fn none_of_the_tricks_passes_a_rule() {
    let rules = rules();
    assert!(TRICKS.len() >= 120, "{}", TRICKS.len());
    for trick in TRICKS {
        let decision = asked(&facts(trick), &rules, false);
        assert!(
            matches!(decision, Decision::Ask { why: Why::NoRule, .. }),
            "{trick:?} is answered by a rule: {decision:?}"
        );
    }
    for long in [
        "ls ".to_owned() + &"a".repeat(10 << 20),
        "ls && ".repeat(10_000) + "ls",
        "ls ".to_owned() + &"a ".repeat(1_000),
    ] {
        assert!(matches!(asked(&facts(&long), &rules, false), Decision::Ask { .. }));
    }
}

#[test]
fn what_a_rule_is_about_passes_and_runs_as_it_was_read() {
    let rules = rules();
    for (text, runs) in [
        ("git status", "'/usr/bin/git' 'status'"),
        ("  git\tstatus ", "'/usr/bin/git' 'status'"),
        ("\"git\" 'status'", "'/usr/bin/git' 'status'"),
        ("l\"\"s", "'/usr/bin/ls'"),
        ("ls src 'a b'", "'/usr/bin/ls' 'src' 'a b'"),
        ("ls -l src", "'/usr/bin/ls' '-l' 'src'"),
        ("git log main", "'/usr/bin/git' 'log' 'main'"),
        ("cat a.txt | wc -l", "'/usr/bin/cat' 'a.txt' | '/usr/bin/wc' '-l'"),
        ("npm test", "'/usr/bin/npm' 'test'"),
        ("ls 'weird; $(name)'", "'/usr/bin/ls' 'weird; $(name)'"),
    ] {
        let Decision::Allow { run_as, .. } = asked(&facts(text), &rules, false) else {
            panic!("{text} is asked")
        };
        assert_eq!(run_as.as_deref(), Some(runs));
    }
}

#[test]
fn the_floor_and_the_surroundings_are_above_every_rule() {
    let rules = rules();
    let status = facts("git status");
    assert!(matches!(asked(&status, &rules, true), Decision::Ask { why: Why::HighRisk, .. }));
    for (at, value) in [
        ("/command/sandbox/level", json!("none")),
        ("/command/sandbox/level", json!("fs")),
        ("/command/network", json!(true)),
        ("/command/sandbox/level", Value::Null),
        ("/command/network", Value::Null),
        ("/command/findings", json!(["reads_secrets"])),
        ("/command/findings", Value::Null),
        ("/command/shell", json!("/usr/bin/fish")),
        ("/command/shell", json!("/usr/bin/pwsh")),
        ("/command/shell", json!("")),
        ("/command/env", Value::Null),
        ("/command/cwd/path", json!("/etc")),
        ("/command/cwd/path", json!("/p/../etc")),
        ("/command/cwd/path", json!("/p/hooked/inner")),
        ("/command/cwd/path", json!("/project")),
        ("/command/writable", Value::Null),
        ("/command/writable", json!([1])),
        ("/command/writable", json!(["/p", "/usr/bin"])),
        ("/command/writable", json!(["/"])),
        ("/identity", json!("user:shell_tasks")),
        ("/tool", json!("session_start")),
        ("/root/path", json!("/other")),
    ] {
        let mut other = status.clone();
        *other.pointer_mut(at).unwrap() = value;
        assert!(matches!(asked(&other, &rules, false), Decision::Ask { .. }), "{at}");
    }
    for (at, key, value) in [
        ("/command", "session", json!("s")),
        ("/command", "session", Value::Null),
        ("/arguments", "interactive", json!(true)),
        ("/arguments", "interactive", json!("yes")),
    ] {
        let mut other = status.clone();
        other.pointer_mut(at).unwrap()[key] = value;
        assert!(matches!(asked(&other, &rules, false), Decision::Ask { .. }), "{at}/{key}");
    }
    for kind in ["access", "sampling", "url", "uncertain", "budget", "tasks", ""] {
        let call = Call {
            kind,
            facts: &status,
            high_risk: false,
            through_app: false,
            run: None,
            chat: None,
            agent: None,
            sub: false,
            client: None,
        };
        assert!(matches!(decide(&call, &rules, 1_000, &Computer).decision, Decision::Ask { .. }), "{kind}");
    }
    let app = Call {
        kind: "command",
        facts: &status,
        high_risk: false,
        through_app: true,
        run: None,
        chat: None,
        agent: None,
        sub: false,
        client: None,
    };
    assert!(matches!(
        decide(&app, &rules, 1_000, &Computer).decision,
        Decision::Ask { why: Why::ThroughApp, .. }
    ));
}

/// Programs look for others in the same folders, so all of them count, not only the one where the program is.
#[test]
fn a_search_path_that_commands_can_write_or_that_has_another_program_first_is_asked_about() {
    let rules = rules();
    let usual = "/usr/local/bin:/usr/bin:/bin";
    let decided = |path: Value| {
        let mut status = facts("git status");
        status["command"]["path"] = path;
        asked(&status, &rules, false)
    };
    assert!(matches!(decided(json!(usual)), Decision::Allow { .. }));
    assert!(matches!(decided(json!(format!("/home/me/tools:{usual}"))), Decision::Allow { .. }));
    for path in [
        format!("/home/me/bin:{usual}"),
        format!("/p/bin:{usual}"),
        format!("{usual}:/p/node_modules/.bin"),
        format!(".:{usual}"),
        format!("bin:{usual}"),
        format!("{usual}:"),
        format!(":{usual}"),
        "/usr/bin::/bin".to_owned(),
        format!("~/bin:{usual}"),
        format!("/tmp/x:{usual}"),
        format!("/var/tmp:{usual}"),
        format!("/dev/shm/a:{usual}"),
        format!("/home/me/.cache/bin:{usual}"),
        format!("/opt/in:{usual}"),
        format!("/gone:{usual}"),
        String::new(),
    ] {
        let decision = decided(json!(path));
        assert!(matches!(decision, Decision::Ask { why: Why::NoRule, .. }), "{path}: {decision:?}");
    }
    assert!(matches!(decided(Value::Null), Decision::Ask { .. }));
    let mut absent = facts("git status");
    absent["command"].as_object_mut().unwrap().remove("path");
    assert!(matches!(asked(&absent, &rules, false), Decision::Ask { .. }));
}

#[test]
fn no_variable_rides_on_a_rule() {
    for name in [
        "BASH_ENV",
        "ENV",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "PATH",
        "HOME",
        "GIT_DIR",
        "GIT_CONFIG_COUNT",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "PERL5OPT",
        "RUBYOPT",
        "IFS",
        "CDPATH",
        "PS4",
        "SHELLOPTS",
        "LESSOPEN",
        "X",
    ] {
        let mut status = facts("git status");
        status["command"]["env"] = json!([name]);
        assert!(matches!(asked(&status, &rules(), false), Decision::Ask { .. }), "{name}");
    }
}

#[test]
fn a_star_lets_no_hidden_file_through_and_refuses_hidden_ones_too() {
    let allow = rule(vec![command("cat", &[], More::Paths)], RuleJoin::None);
    let deny = Rule { effect: Effect::Deny, ..allow.clone() };
    let is_allowed = |text: &str| {
        matches!(asked(&facts(text), std::slice::from_ref(&allow), false), Decision::Allow { .. })
    };
    let is_denied =
        |text: &str| matches!(asked(&facts(text), std::slice::from_ref(&deny), false), Decision::Deny { .. });
    for text in ["cat .env", "cat a .env", "cat src/.hidden/a", "cat ./.env", "cat .git/config"] {
        assert!(!is_allowed(text) && is_denied(text), "{text}");
    }
    assert!(is_allowed("cat a") && is_allowed("cat ./a.b") && is_denied("cat a"));
    let change = |path: &str| {
        json!({ "identity": "s", "tool": "write_file", "root": { "path": "/p" },
            "files": [{ "path": path, "change": "created" }] })
    };
    for (glob, path, fits) in [
        ("*", ".env", false),
        ("src/*.rs", "src/.a.rs", false),
        ("*/a.rs", ".b/a.rs", false),
        ("src/*.rs", "src/a.rs", true),
        (".*", ".env", true),
        ("src/.*", "src/.a.rs", true),
        ("**", "src/.a.rs", true),
    ] {
        let paths = Some(PathRule { globs: vec![glob.to_owned()], ops: vec![FileOp::Create] });
        let rule = |effect| Rule {
            effect,
            shell: None,
            paths: paths.clone(),
            server: "s".into(),
            tool: "*".into(),
            ..allow.clone()
        };
        let facts = change(path);
        let say = |rule: Rule| {
            let call = Call {
                kind: "file_change",
                facts: &facts,
                high_risk: false,
                through_app: false,
                run: None,
                chat: None,
                agent: None,
                sub: false,
                client: None,
            };
            decide(&call, &[rule], 1_000, &Computer).decision
        };
        assert_eq!(matches!(say(rule(Effect::Allow)), Decision::Allow { .. }), fits, "{glob} {path}");
        assert!(matches!(say(rule(Effect::Deny)), Decision::Deny { .. }), "{glob} {path}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_and_time_ends_a_rule_in_both_directions() {
    let status = facts("git status");
    let allow = rules().remove(0);
    let other = |effect| Rule { effect, id: format!("{effect:?}"), until: None, ..allow.clone() };
    let decision = |rules: &[Rule]| asked(&status, rules, false);
    assert!(matches!(decision(std::slice::from_ref(&allow)), Decision::Allow { .. }));
    assert!(matches!(decision(&[allow.clone(), other(Effect::Ask)]), Decision::Ask { why: Why::Rule, .. }));
    assert!(matches!(
        decision(&[allow.clone(), other(Effect::Ask), other(Effect::Deny)]),
        Decision::Deny { .. }
    ));
    for broken in [
        Rule { paused: true, ..allow.clone() },
        Rule { until: Some(1_000), ..allow.clone() },
        // Made tomorrow: the clock was set back.
        Rule { created_at: 1_500, ..allow.clone() },
        Rule { until: None, ..allow.clone() },
        Rule { until: Some(i64::MAX), ..allow.clone() },
        Rule { shell: None, ..allow.clone() },
        Rule { scope: Scope { role: Some("sub".into()), ..allow.scope.clone() }, ..allow.clone() },
        Rule { scope: Scope { client: Some("codex".into()), ..allow.scope.clone() }, ..allow.clone() },
        Rule {
            scope: Scope { kind: ScopeKind::Run, id: "another".into(), role: None, client: None },
            ..allow.clone()
        },
    ] {
        assert!(matches!(decision(std::slice::from_ref(&broken)), Decision::Ask { .. }), "{broken:?}");
    }
}

#[test]
fn a_rule_about_a_program_that_runs_others_names_the_whole_command() {
    for (open, argv, more) in [
        ("bash", &[][..], More::Words),
        ("xargs", &["rm"], More::Words),
        ("python3", &["*"], More::None),
        ("find", &["."], More::Paths),
        ("npm", &["run", "*"], More::None),
        ("git", &["*"], More::None),
        ("git", &["push"], More::Words),
        ("git", &["log", "-c*"], More::None),
        ("git", &["branch"], More::Words),
        ("make", &[], More::Words),
        ("rg", &["x"], More::Paths),
        ("tee", &[], More::Paths),
    ] {
        let faults = check(&rule(vec![command(open, argv, more)], RuleJoin::None), 1);
        assert!(faults.iter().any(|fault| fault.code == "carrier_open"), "{open} {argv:?}");
    }
    for bad in ["./x", "/bin/ls", "a b", "-x", "", "ls;rm"] {
        assert!(!check(&rule(vec![command(bad, &[], More::None)], RuleJoin::None), 1).is_empty(), "{bad}");
    }
}

/// A program that prints each word it is given on a line, in a folder of its own.
fn printer() -> &'static Path {
    static PRINTER: OnceLock<PathBuf> = OnceLock::new();
    PRINTER.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("chatos-rules-printer-{}", std::process::id()));
        std::fs::write(&path, "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    })
}

/// What is printed when every program of a line is the printer: in a pipe only the last one is seen.
fn printed(line: &Line) -> Vec<&str> {
    let next = line.commands.iter().skip(1).map(|simple| simple.join).chain([None]);
    let seen = line.commands.iter().zip(next).filter(|(_, next)| *next != Some(Join::Pipe));
    seen.flat_map(|(simple, _)| simple.words.iter().skip(1).map(String::as_str)).collect()
}

/// The shells of this machine, as they are called with a text. `dash` and `bash` have to be there; `scripts/setup` brings
/// the others where it may install packages.
fn shells() -> Vec<(PathBuf, &'static [&'static str])> {
    let all: [(&str, &[&str]); 5] =
        [("dash", &[]), ("bash", &[]), ("mksh", &[]), ("zsh", &[]), ("busybox", &["sh"])];
    let path = std::env::var_os("PATH").unwrap();
    let find =
        |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|at| at.is_file());
    let found: Vec<_> = all.into_iter().filter_map(|(name, words)| Some((find(name)?, words))).collect();
    assert!(found.len() >= 2 && found[1].0.ends_with("bash"), "dash and bash are needed: {found:?}");
    found
}

fn words_in((shell, words): &(PathBuf, &[&str]), text: &str) -> Vec<String> {
    let ended = Command::new(shell).env_clear().args(*words).arg("-c").arg(text).output().unwrap();
    let seen = String::from_utf8(ended.stdout).unwrap();
    seen.split_terminator('\n').map(str::to_owned).collect()
}

/// Texts that could be read in more than one way: what of them our reader takes, each shell takes for the same words.
const READ_ALIKE: &[&str] = &[
    "p a",
    "p  a\tb ",
    "p 'a b' \"c d\"",
    "p a''b \"\" ''",
    "p a\\ b a\\'b",
    "p \"a'b\" 'a\"b'",
    "p '$x' '`x`' '$(x)' '${x}' '!x' '!!'",
    "p '*' '?' '[a]' '{a,b}' '~' '#x'",
    "p a#b a=b x=y -o=1 --o=*",
    "p '\\n' \"\\\\\" '\\'",
    "p 'a;b' 'a|b' 'a&b' 'a>b' 'a<b' '(a)'",
    "p %s %d '%n'",
    "p -n -e a",
    "p a:b a,b a@b a^b a+b",
    "p é 中 '\u{1f600}'",
    "p = == =x",
    "p a | p b",
    "p a && p b",
    "p '=ls' '=(x)' '^x' 'x^y' '<->'",
];

#[test]
fn every_shell_here_takes_what_is_read_for_the_same_words() {
    let shells = shells();
    let mut taken = 0;
    for text in READ_ALIKE.iter().chain(TRICKS) {
        let Ok(line) = read(text) else { continue };
        taken += 1;
        let run_as = line.run_as(&vec![printer().to_owned(); line.commands.len()]).unwrap();
        // A word may hold a line feed: what is printed is compared as lines.
        let words: Vec<&str> = printed(&line).iter().flat_map(|word| word.split('\n')).collect();
        for shell in &shells {
            assert_eq!(words_in(shell, &run_as), words, "{shell:?} {text:?} as {run_as}");
        }
    }
    assert!(taken >= READ_ALIKE.len() / 2, "{taken}");
    println!("{taken} texts in {shells:?}");
}

/// How many texts are tried; the nightly run sets more.
fn cases() -> u32 {
    std::env::var("CHATOS_RULE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// For any text the reader calls literal, real shells see exactly its words.
    #[test]
    fn shells_see_the_words_that_were_read(
        text in prop_oneof![
            "[a-z' \"$`;|&<>(){}*?~#!=\\\\/.,:@%^+-]{0,24}",
            "[a-z]{1,4}( [-a-z./=]{1,6}| '[ -&(-~]{0,6}'| \"[a-z ;|&<>(){}*?~#]{0,6}\"| \\| [a-z]{1,4}| && [a-z]{1,4}){0,6}",
        ]
    ) {
        let Ok(line) = read(&text) else { return Ok(()) };
        let programs = vec![printer().to_owned(); line.commands.len()];
        let run_as = line.run_as(&programs).unwrap();
        for shell in shells() {
            prop_assert_eq!(&words_in(&shell, &run_as), &printed(&line), "{:?} {}", shell, &run_as);
        }
    }
}
