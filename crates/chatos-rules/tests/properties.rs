//! What holds for any rules and any call (inbox §4.2): deny beats ask beats allow in any order, a rule that is broken, over,
//! paused or of another place never allows more, and nothing is allowed that is above every rule.

use std::path::{Path, PathBuf};

use chatos_rules::{
    ArgMatch, ArgOp, Call, CommandRule, Decision, Effect, FileOp, Found, More, OtherArgs, PathRule, Rule,
    RuleJoin, Scope, ScopeKind, ShellRule, World, check, decide,
};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};

const NOW: i64 = 1_000_000;
const DAY: i64 = 86_400_000;

struct Computer;

impl World for Computer {
    fn program(&self, name: &str, _: &str) -> Option<Found> {
        let at = PathBuf::from("/usr/bin").join(name);
        Some(Found { real: at.clone(), at, is_guarded: name != "own" })
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        if path.starts_with("/p/out") { Some("/etc/x".into()) } else { Some(path.to_owned()) }
    }

    fn is_plain_repository(&self, _: &Path) -> bool {
        true
    }
}

/// A call in a small world, so that rules meet it often.
#[derive(Debug, Clone)]
struct Made {
    kind: &'static str,
    facts: Value,
    high_risk: bool,
    through_app: bool,
    chat: Option<&'static str>,
    agent: Option<&'static str>,
    sub: bool,
    client: Option<&'static str>,
}

impl Made {
    fn call(&self) -> Call<'_> {
        Call {
            kind: self.kind,
            facts: &self.facts,
            high_risk: self.high_risk,
            through_app: self.through_app,
            run: Some("run1"),
            chat: self.chat,
            agent: self.agent,
            sub: self.sub,
            client: self.client,
        }
    }
}

fn call() -> impl Strategy<Value = Made> {
    let what = prop_oneof![
        4 => select(vec!["ls", "ls -l", "cat a", "npm test", "ls | cat", "ls", "ls -l", "cat a", "cat ../a", "ls; rm a", "ls | cat", "own", "npm test"]).prop_map(|text| {
            let command = json!({
                "text": text, "cwd": { "path": "/p" }, "shell": "/bin/sh", "env": [], "network": false,
                "path": "/usr/bin:/bin", "writable": ["/p"], "sandbox": { "level": "full" }, "findings": [],
            });
            ("command", json!({ "identity": "s", "tool": "run_shell_command", "command": command }))
        }),
        4 => (select(vec!["a", "a", "src/a.rs", "src/a.rs", "out/x", "../x", "/etc/x"]), select(vec!["created", "modified", "deleted"]))
            .prop_map(|(path, change)| {
                let files = json!([{ "path": path, "change": change }]);
                ("file_change", json!({ "identity": "s", "tool": "write_file", "files": files }))
            }),
        4 => select(vec![json!({}), json!({ "to": "a" }), json!({ "to": "b", "x": 1 })])
            .prop_map(|arguments| ("tool_approval", json!({ "identity": "s", "tool": "send", "arguments": arguments }))),
        1 => select(vec!["url", "trust", "sampling", "budget", "uncertain", "access", "rule", "odd"])
            .prop_map(|kind| (kind, json!({ "identity": "s", "tool": "send", "arguments": {} }))),
    ];
    let who = (
        prop::bool::weighted(0.08),
        prop::bool::weighted(0.05),
        prop::option::weighted(0.8, select(vec!["c1", "c2"])),
        prop::option::weighted(0.8, select(vec!["a1", "a2"])),
        any::<bool>(),
        prop::option::weighted(0.3, select(vec!["codex", "other"])),
        select(vec!["/p", "/p", "/p", "/p", "/p", "/p", "/q", ""]),
    );
    (what, who).prop_map(|((kind, mut facts), (high_risk, through_app, chat, agent, sub, client, root))| {
        facts["root"] = json!({ "path": root });
        Made { kind, facts, high_risk, through_app, chat, agent, sub, client }
    })
}

fn scope() -> impl Strategy<Value = Scope> {
    let place = select(vec![
        (ScopeKind::Everywhere, ""),
        (ScopeKind::Everywhere, ""),
        (ScopeKind::Everywhere, ""),
        (ScopeKind::Everywhere, ""),
        (ScopeKind::Project, "/p"),
        (ScopeKind::Project, "/p"),
        (ScopeKind::Project, "/p"),
        (ScopeKind::Project, "/q"),
        (ScopeKind::Chat, "c1"),
        (ScopeKind::Agent, "a1"),
        (ScopeKind::Run, "run1"),
        (ScopeKind::Run, ""),
    ]);
    let role = prop::option::weighted(0.08, select(vec!["main", "sub", "both"]));
    let client = prop::option::weighted(0.08, select(vec!["codex", ""]));
    (place, role, client).prop_map(|((kind, id), role, client)| Scope {
        kind,
        id: id.to_owned(),
        role: role.map(str::to_owned),
        client: client.map(str::to_owned),
    })
}

fn rule() -> impl Strategy<Value = Rule> {
    let about = prop_oneof![
        (
            select(vec!["ls", "cat", "npm", "own", "bash", "a b"]),
            select(vec![vec![], vec!["-l"], vec!["*"], vec!["test"]]),
            select(vec![More::None, More::Words, More::Paths]),
            select(vec![RuleJoin::None, RuleJoin::Pipe])
        )
            .prop_map(|(program, argv, more, join)| {
                let argv = argv.into_iter().map(str::to_owned).collect();
                let commands = vec![CommandRule { program: program.to_owned(), argv, more }];
                (Some(ShellRule { commands, join }), None, Vec::new())
            }),
        (
            select(vec!["**", "a", "src/*.rs", "../*", ""]),
            select(vec![
                vec![FileOp::Write],
                vec![FileOp::Create, FileOp::Write],
                vec![FileOp::Delete],
                vec![]
            ])
        )
            .prop_map(|(glob, ops)| (
                None,
                Some(PathRule { globs: vec![glob.to_owned()], ops }),
                Vec::new()
            )),
        select(vec![
            (ArgOp::Eq, json!("a")),
            (ArgOp::In, json!(["a", "b"])),
            (ArgOp::Glob, json!("*")),
            (ArgOp::Absent, Value::Null)
        ])
        .prop_map(|(op, value)| (None, None, vec![ArgMatch { at: "/to".to_owned(), op, value }])),
        Just((None, None, Vec::new())),
    ];
    let time = (
        prop_oneof![12 => Just(Some(NOW + DAY)), 1 => Just(None), 1 => Just(Some(NOW)), 1 => Just(Some(i64::MAX))],
        prop_oneof![12 => Just(NOW - 10), 1 => Just(NOW + 10), 1 => Just(i64::MIN)],
        prop::bool::weighted(0.06),
    );
    let kind = (
        select(vec![
            Effect::Allow,
            Effect::Allow,
            Effect::Allow,
            Effect::Allow,
            Effect::Allow,
            Effect::Allow,
            Effect::Ask,
            Effect::Deny,
        ]),
        select(vec!["s", "s", "s", "s", "s", "s", "s", "t"]),
        select(vec!["*", "*", "*", "*", "run_shell_command", "write_file", "send"]),
        select(vec![OtherArgs::None, OtherArgs::Any]),
    );
    (kind, scope(), about, time).prop_map(
        |((effect, server, tool, other_args), scope, (shell, paths, args), (until, created_at, paused))| {
            Rule {
                id: format!("{effect:?}"),
                name: "rule".to_owned(),
                effect,
                scope,
                server: server.to_owned(),
                tool: tool.to_owned(),
                args,
                other_args,
                paths,
                hosts: Vec::new(),
                shell,
                until,
                paused,
                note: String::new(),
                created_by: "person:ui".to_owned(),
                created_at,
            }
        },
    )
}

/// A rule that is about this very call, more or less closely; whatever else it says is left to chance.
fn rule_for(made: &Made) -> BoxedStrategy<Rule> {
    let made = made.clone();
    let text = |at: &str| made.facts.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (line, path, root) = (text("/command/text"), text("/files/0/path"), text("/root/path"));
    let mut places = vec![(ScopeKind::Everywhere, String::new()), (ScopeKind::Run, "run1".to_owned())];
    let named = [
        (ScopeKind::Chat, made.chat),
        (ScopeKind::Agent, made.agent),
        (ScopeKind::Project, Some(root.as_str())),
    ];
    places.extend(
        named.into_iter().filter_map(|(kind, id)| Some((kind, id.filter(|id| !id.is_empty())?.to_owned()))),
    );
    let about = (rule(), select(places), any::<bool>());
    about
        .prop_map(move |(mut rule, (kind, id), wide)| {
            (rule.server, rule.tool) = ("s".to_owned(), "*".to_owned());
            (rule.scope.kind, rule.scope.id) = (kind, id);
            if wide {
                (rule.scope.role, rule.scope.client) = (None, None);
            }
            (rule.shell, rule.paths, rule.args) = (None, None, Vec::new());
            match made.kind {
                "command" => {
                    let one = |line: &str| {
                        let mut words =
                            line.split_whitespace().map(|word| word.trim_end_matches(';').to_owned());
                        let program = words.next().unwrap_or_default();
                        let argv = if wide { Vec::new() } else { words.collect() };
                        CommandRule { program, argv, more: if wide { More::Paths } else { More::None } }
                    };
                    let commands = line.split('|').map(one).collect();
                    let join = if line.contains('|') { RuleJoin::Pipe } else { RuleJoin::None };
                    rule.shell = Some(ShellRule { commands, join });
                }
                "file_change" => {
                    let ops = vec![FileOp::Create, FileOp::Write, FileOp::Delete];
                    rule.paths = Some(PathRule {
                        globs: vec![if wide { "**".to_owned() } else { path.clone() }],
                        ops,
                    });
                }
                _ => rule.other_args = OtherArgs::Any,
            }
            rule
        })
        .boxed()
}

/// A call, and rules of which about half are about it.
fn meeting(rules: std::ops::Range<usize>) -> impl Strategy<Value = (Made, Vec<Rule>)> {
    call().prop_flat_map(move |made| {
        let rule = prop_oneof![rule(), rule_for(&made)];
        (Just(made), prop::collection::vec(rule, rules.clone()))
    })
}

fn said(made: &Made, rules: &[Rule]) -> Decision {
    decide(&made.call(), rules, NOW, &Computer).decision
}

fn allows(made: &Made, rules: &[Rule]) -> bool {
    matches!(said(made, rules), Decision::Allow { .. })
}

/// It could not be saved, is over, rests, or comes from a clock that was set.
fn is_broken(rule: &Rule) -> bool {
    rule.paused
        || rule.created_at > NOW
        || rule.until.is_some_and(|until| until <= NOW)
        || !check(rule, rule.created_at.max(0)).is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn deny_beats_ask_beats_allow_in_any_order(
        (made, rules) in meeting(0..5),
        turn in any::<prop::sample::Index>(),
    ) {
        let alone: Vec<Decision> = rules.iter().map(|rule| said(&made, std::slice::from_ref(rule))).collect();
        let denied = alone.iter().any(|one| matches!(one, Decision::Deny { .. }));
        let asked = alone.iter().any(|one| matches!(one, Decision::Ask { rule: Some(_), .. }));
        let allowed = alone.iter().any(|one| matches!(one, Decision::Allow { .. }));
        let mut turned = rules.clone();
        turned.rotate_left(if rules.is_empty() { 0 } else { turn.index(rules.len()) });
        for rules in [rules, turned] {
            let decision = said(&made, &rules);
            prop_assert_eq!(matches!(decision, Decision::Deny { .. }), denied);
            prop_assert_eq!(matches!(decision, Decision::Ask { rule: Some(_), .. }), asked && !denied);
            prop_assert_eq!(matches!(decision, Decision::Allow { .. }), allowed && !asked && !denied);
        }
    }

    #[test]
    fn a_broken_rule_never_allows_more(
        (made, mut with) in meeting(1..5),
        at in any::<prop::sample::Index>(),
    ) {
        let mut rules = with.clone();
        let more = rules.remove(at.index(rules.len()));
        for (i, rule) in with.iter_mut().enumerate() {
            rule.id = i.to_string();
        }
        if is_broken(&more) || more.effect != Effect::Allow {
            prop_assert!(!allows(&made, &with) || allows(&made, &rules), "{:?} let {:?} through", more, made);
        }
        // And what is allowed is allowed by one whole rule of that place, made for that tool.
        if let Decision::Allow { rule, .. } = said(&made, &with) {
            let by = with.iter().find(|one| one.id == rule);
            prop_assert!(by.is_some_and(|by| !is_broken(by) && by.effect == Effect::Allow));
        }
    }

    #[test]
    fn nothing_is_allowed_that_is_above_every_rule((made, rules) in meeting(0..5)) {
        if allows(&made, &rules) {
            prop_assert!(!made.high_risk && !made.through_app);
            prop_assert!(matches!(made.kind, "command" | "file_change" | "tool_approval"));
            prop_assert!(made.facts["root"]["path"] != "");
            let file = made.facts.pointer("/files/0/path").and_then(Value::as_str).unwrap_or("a");
            // Only one of the projects has a link that leads outside.
            let leads_out = file.starts_with("out/") && made.facts["root"]["path"] == "/p";
            prop_assert!(!file.starts_with(['/', '.']) && !leads_out, "{}", file);
            let text = made.facts.pointer("/command/text").and_then(Value::as_str).unwrap_or("ls");
            prop_assert!(!text.contains(';') && text != "own", "{}", text);
        }
    }
}

/// The world above is not so small that nothing is ever allowed in it.
#[test]
fn some_of_these_calls_are_allowed() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let pairs = meeting(0..5);
    let mut counted = [0; 3];
    for _ in 0..2_000 {
        let (made, rules) =
            pairs.new_tree(&mut runner).map(|tree| tree.current()).unwrap_or_else(|why| panic!("{why}"));
        let place = match said(&made, &rules) {
            Decision::Allow { .. } => 0,
            Decision::Deny { .. } => 1,
            Decision::Ask { .. } => 2,
        };
        counted[place] += 1;
    }
    assert!(counted.iter().all(|count| *count > 150), "{counted:?}");
}
