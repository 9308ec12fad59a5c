//! Rules from what a person did (inbox §4.5): back-tests equal a replay by hand, and what is proposed from the first half
//! of a history allows nothing that was refused in its second half.

use std::path::{Path, PathBuf};

use chatos_rules::{
    Decision, Found, Past, Proposal, Rule, ScopeKind, World, backtest, check, decide, proposals, propose,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const DAY: i64 = 86_400_000;
const NOW: i64 = 1_000 * DAY;

struct Computer;

impl World for Computer {
    fn program(&self, name: &str, _: &str) -> Option<Found> {
        let at = PathBuf::from("/usr/bin").join(name);
        Some(Found { real: at.clone(), at, is_guarded: true })
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn is_plain_repository(&self, _: &Path) -> bool {
        true
    }
}

fn past(id: usize, kind: &str, mut facts: Value, approved: bool, at: i64) -> Past {
    facts["root"] = json!({ "path": "/p" });
    Past {
        id: format!("q{id:04}"),
        kind: kind.to_owned(),
        facts,
        high_risk: false,
        through_app: false,
        run: Some(format!("run{}", id % 7)),
        chat: Some(format!("chat{}", id % 3)),
        agent: Some("a".to_owned()),
        sub: false,
        client: None,
        approved,
        at,
    }
}

fn command(id: usize, text: &str, approved: bool, at: i64) -> Past {
    let facts = json!({
        "identity": "builtin:shell_tasks", "tool": "run_shell_command",
        "command": {
            "text": text, "cwd": { "path": "/p" }, "shell": "/bin/sh", "env": [], "network": false,
            "path": "/usr/bin:/bin", "writable": ["/p"], "sandbox": { "level": "full" }, "findings": [],
        },
    });
    past(id, "command", facts, approved, at)
}

fn file(id: usize, path: &str, change: &str, approved: bool, at: i64) -> Past {
    let files = json!([{ "path": path, "change": change }]);
    let facts = json!({ "identity": "builtin:code_writer", "tool": "write_file", "files": files });
    past(id, "file_change", facts, approved, at)
}

fn tool(id: usize, arguments: &Value, approved: bool, at: i64) -> Past {
    let facts = json!({ "identity": "user:mail", "tool": "send", "arguments": arguments });
    past(id, "tool_approval", facts, approved, at)
}

fn names(found: &[Proposal]) -> Vec<(&str, usize, ScopeKind)> {
    found.iter().map(|one| (one.rule.name.as_str(), one.count, one.rule.scope.kind)).collect()
}

#[test]
fn five_approvals_within_two_weeks_and_no_refusal_are_proposed() {
    let same = |n: usize, approved: bool, at: i64| -> Vec<Past> {
        (0..n).map(|i| command(i, "npm test", approved, at + i as i64)).collect()
    };
    assert_eq!(proposals(&same(4, true, NOW - DAY), &[], NOW, &Computer), []);
    let five = same(5, true, NOW - DAY);
    let found = proposals(&five, &[], NOW, &Computer);
    assert_eq!(names(&found), [("npm test", 5, ScopeKind::Project)]);
    assert_eq!((found[0].backtest.considered, found[0].backtest.same), (5, 5));
    assert_eq!(found, proposals(&five.iter().rev().cloned().collect::<Vec<_>>(), &[], NOW, &Computer));
    // Too long ago, refused once (however long ago), of high risk once, through an app: nothing.
    assert_eq!(proposals(&same(9, true, NOW - 15 * DAY), &[], NOW, &Computer), []);
    let with = |other: Past| [five.clone(), vec![other]].concat();
    assert_eq!(proposals(&with(command(9, "npm test", false, NOW - 150 * DAY)), &[], NOW, &Computer), []);
    let mut risky = command(9, "npm test", true, NOW - 2);
    risky.high_risk = true;
    assert_eq!(proposals(&with(risky), &[], NOW, &Computer), []);
    let through: Vec<Past> = five.iter().cloned().map(|one| Past { through_app: true, ..one }).collect();
    assert_eq!(proposals(&through, &[], NOW, &Computer), []);
    // What a rule answers already is not proposed again.
    assert_eq!(proposals(&five, &[kept(&found[0].rule)], NOW, &Computer), []);
    // All of one chat: for that chat.
    let one: Vec<Past> = five.iter().cloned().map(|one| Past { chat: Some("c".to_owned()), ..one }).collect();
    assert_eq!(names(&proposals(&one, &[], NOW, &Computer)), [("npm test", 5, ScopeKind::Chat)]);
}

fn kept(rule: &Rule) -> Rule {
    Rule { id: "kept".to_owned(), created_at: NOW - 1, ..rule.clone() }
}

#[test]
fn a_proposal_is_wider_than_its_calls_only_where_that_only_reads() {
    let lines = |texts: &[&str]| -> Vec<Past> {
        texts.iter().enumerate().map(|(i, text)| command(i, text, true, NOW - 9)).collect()
    };
    let found = proposals(&lines(&["cat a", "cat b", "cat src/c", "cat d", "cat e"]), &[], NOW, &Computer);
    assert_eq!(names(&found), [("cat …", 5, ScopeKind::Project)]);
    // What changes something, runs others, leaves the project or has other options is not widened.
    for texts in [
        ["rm a", "rm b", "rm c", "rm d", "rm e"],
        ["npm run a", "npm run b", "npm run c", "npm run d", "npm run e"],
        ["cat /etc/a", "cat /etc/b", "cat /etc/c", "cat /etc/d", "cat /etc/e"],
        ["ls -l a", "ls -a b", "ls -R c", "ls -S d", "ls -t e"],
        ["cat a > b", "cat a > c", "cat a > d", "cat a > e", "cat a > f"],
    ] {
        assert_eq!(proposals(&lines(&texts), &[], NOW, &Computer), [], "{texts:?}");
    }
    // Files of one kind in one folder, from three on; never to be deleted.
    let files = |paths: &[&str], change: &str| -> Vec<Past> {
        paths.iter().enumerate().map(|(i, path)| file(i, path, change, true, NOW - 9)).collect()
    };
    let written = ["src/a.rs", "src/b.rs", "src/c.rs", "src/a.rs", "src/b.rs"];
    let found = proposals(&files(&written, "modified"), &[], NOW, &Computer);
    assert_eq!(names(&found), [("src/*.rs", 5, ScopeKind::Project)]);
    assert_eq!(json!(found[0].rule.paths), json!({ "globs": ["src/*.rs"], "ops": ["write"] }));
    assert_eq!(proposals(&files(&written, "deleted"), &[], NOW, &Computer), []);
    let two = ["src/a.rs", "src/b.rs", "src/a.rs", "src/b.rs", "src/a.rs"];
    assert_eq!(proposals(&files(&two, "modified"), &[], NOW, &Computer), []);
    // One argument may differ, among the values that were approved.
    let values = ["a", "b"];
    let calls: Vec<Past> =
        (0..6).map(|i| tool(i, &json!({ "to": values[i % 2], "how": "plain" }), true, NOW - 9)).collect();
    let found = proposals(&calls, &[], NOW, &Computer);
    assert_eq!(found.len(), 1, "{found:?}");
    let allowed = |to: &str| {
        let call = tool(9, &json!({ "to": to, "how": "plain" }), true, NOW);
        matches!(
            decide(&call.call(), &[kept(&found[0].rule)], NOW, &Computer).decision,
            Decision::Allow { .. }
        )
    };
    assert!(allowed("a") && allowed("b") && !allowed("c"));
}

#[test]
fn a_refusal_elsewhere_is_shown_and_one_in_the_same_place_is_named() {
    let mut elsewhere = command(1, "npm test", false, NOW - 9);
    elsewhere.facts["root"]["path"] = json!("/other");
    elsewhere.facts["command"]["cwd"]["path"] = json!("/other");
    let here = command(2, "npm test", true, NOW - 8);
    let scope =
        chatos_rules::Scope { kind: ScopeKind::Project, id: "/p".to_owned(), role: None, client: None };
    let rule = propose(&here.call(), scope, Some(NOW + DAY), NOW).unwrap();
    let found = backtest(&rule, &[elsewhere.clone(), here.clone()], NOW, &Computer);
    assert_eq!((found.same, found.different, found.still_asked), (1, 1, 0));
    assert_eq!((found.different_ids.as_slice(), found.refused_ids.len()), (&["q0001".to_owned()][..], 0));
    let no = Past { approved: false, id: "q0003".to_owned(), ..here.clone() };
    let found = backtest(&rule, &[no, here], NOW, &Computer);
    assert_eq!(
        (found.same, found.different, found.refused_ids.as_slice()),
        (1, 1, &["q0003".to_owned()][..])
    );
    assert_eq!(
        found.sentence().0,
        "Would have answered 1 of your last 2 the same way, 1 differently; 0 would still ask."
    );
    assert_eq!(found.sentence().1, "可替你回答最近 2 次中的 1 次，结果一致；1 次不同；0 次仍会询问。");
}

/// Calls of a day of work. Whether a person approves depends on what it is, not on chance.
fn one() -> impl Strategy<Value = (u8, usize, usize)> {
    (0u8..6, 0usize..6, 0usize..40)
}

fn call_of(id: usize, (kind, which, when): (u8, usize, usize), refused: &[bool]) -> Past {
    let at = NOW - DAY * 13 + (when as i64) * 3_600_000 + id as i64;
    let name = ["a", "b", "c", "d", "e", "f"][which];
    // The person's mind: by the whole call; for what only reads, and for files of a folder, by its kind.
    let mind = |key: usize| !refused[key % refused.len()];
    match kind {
        0 => command(id, &format!("npm run {name}"), mind(which), at),
        1 => command(id, &format!("rm {name}"), mind(6 + which), at),
        2 => command(id, &format!("cat {name}"), mind(12), at),
        3 => file(id, &format!("src/{name}.rs"), "modified", mind(13), at),
        4 => file(id, &format!("{name}.txt"), "deleted", mind(14 + which), at),
        _ => tool(id, &json!({ "to": name }), mind(20 + which), at),
    }
}

proptest! {
    #[test]
    fn a_back_test_equals_a_replay_by_hand(
        calls in prop::collection::vec(one(), 1..60),
        refused in prop::collection::vec(any::<bool>(), 26),
        of in any::<prop::sample::Index>(),
        chat in any::<bool>(),
    ) {
        let past: Vec<Past> = calls.into_iter().enumerate().map(|(i, one)| call_of(i, one, &refused)).collect();
        let made = of.get(&past);
        let (kind, id) =
            if chat { (ScopeKind::Chat, made.chat.clone().unwrap()) } else { (ScopeKind::Project, "/p".to_owned()) };
        let scope = chatos_rules::Scope { kind, id, role: None, client: None };
        let Some(rule) = propose(&made.call(), scope, Some(NOW + DAY), NOW) else { return Ok(()) };
        let found = backtest(&rule, &past, NOW, &Computer);
        // By hand: every past call decided by this one rule, or by one that holds everywhere.
        let wide = Rule {
            scope: chatos_rules::Scope { kind: ScopeKind::Everywhere, id: String::new(), role: None, client: None },
            ..rule.clone()
        };
        let allows = |rule: &Rule, one: &Past| {
            let decision = decide(&one.call(), std::slice::from_ref(rule), NOW, &Computer).decision;
            matches!(decision, Decision::Allow { .. })
        };
        let of_tool: Vec<&Past> =
            past.iter().filter(|one| one.facts["tool"] == rule.tool && one.facts["identity"] == rule.server).collect();
        let same = of_tool.iter().filter(|one| one.approved && allows(&rule, one)).count();
        let different = of_tool.iter().filter(|one| !one.approved && allows(&wide, one)).count();
        let refused_here = of_tool.iter().filter(|one| !one.approved && allows(&rule, one)).count();
        prop_assert_eq!(check(&wide, NOW).len(), 0);
        prop_assert_eq!(found.considered, of_tool.len());
        prop_assert_eq!(found.same, same);
        prop_assert_eq!(found.different, different);
        prop_assert_eq!(found.refused_ids.len(), refused_here);
        prop_assert_eq!(found.same + found.different + found.still_asked, found.considered);
    }

    #[test]
    fn what_the_first_half_suggests_allows_nothing_that_the_second_refuses(
        calls in prop::collection::vec(one(), 60..240),
        refused in prop::collection::vec(prop::bool::weighted(0.3), 26),
    ) {
        let past: Vec<Past> = calls.into_iter().enumerate().map(|(i, one)| call_of(i, one, &refused)).collect();
        let (first, second) = past.split_at(past.len() / 2);
        let rules: Vec<Rule> =
            proposals(first, &[], NOW, &Computer).iter().map(|proposal| kept(&proposal.rule)).collect();
        for one in second.iter().filter(|one| !one.approved) {
            let decision = decide(&one.call(), &rules, NOW, &Computer).decision;
            prop_assert!(!matches!(decision, Decision::Allow { .. }), "{:?} by {:?}", one, decision);
        }
    }
}
