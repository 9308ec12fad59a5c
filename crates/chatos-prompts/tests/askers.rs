//! Every place in the program that puts a question into the queue, and what its answer decides: a new one has
//! to say here with which effect it asks, or that it decides nothing (`security T24`).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

use std::collections::BTreeMap;
use std::path::Path;

/// What makes a question, and where that is done on the way to the queue.
const WAYS: [&str; 5] =
    ["Ask::from_payload(", "AskRequest {", "person::ask(", "asker.question(", "ask::put("];

/// (file, way, how often, what the answers decide)
const ASKERS: &[(&str, &str, usize, &str)] = &[
    // The two doors, and what they pass on.
    (
        "chatos-inbox/src/questions.rs",
        "Ask::from_payload(",
        1,
        "effect of the payload; required for host and mcp owners",
    ),
    ("chatos-layer/src/person/road.rs", "AskRequest {", 2, "effect of the question"),
    // Our own tools.
    ("chatos-layer/src/consent.rs", "person::ask(", 2, "file_change, command, access; later: what is kept"),
    ("chatos-builtin/src/tasks/draft.rs", "person::ask(", 1, "tasks"),
    ("chatos-builtin/src/ui_prompt/choices.rs", "person::ask(", 1, "nothing"),
    ("chatos-builtin/src/ui_prompt/key_values.rs", "person::ask(", 1, "nothing"),
    // Servers of others: a form, a page, a result that came late.
    ("chatos-agent/src/dispatch/questions.rs", "asker.question(", 2, "nothing, nothing"),
    ("chatos-inbox/src/page.rs", "asker.question(", 1, "url"),
    ("chatos-calls/src/sampling.rs", "asker.question(", 1, "sampling"),
    (
        "chatos-servers/src/sign_in/question.rs",
        "asker.question(",
        2,
        "nothing: what it leads to is a url, and a result",
    ),
    // Another agent, before it acts.
    ("chatos-desk/src/hook.rs", "AskRequest {", 1, "command, file_change, tool_approval"),
    // A run itself.
    ("chatos-runs/src/stage/person.rs", "ask::put(", 2, "uncertain, budget"),
];

/// Places that make the record itself; each has its effect from above, or names it.
const RECORDS: &[(&str, &str)] = &[
    ("chatos-inbox/src/question.rs", "ask.effect = question.effect;"),
    ("chatos-runs/src/ask.rs", "ask.effect = Some(effect);"),
    ("chatos-inbox/src/questions.rs", "ask.effect = match payload.get(\"effect\")"),
    // The question before a call of another server.
    ("chatos-agent/src/dispatch/ask.rs", "effect: Some(effect.clone()),"),
    // A folder an app would like to work in.
    ("chatos-apps/src/roots.rs", "effect: Some(effect_of(&row)),"),
];

fn sources(dir: &Path, each: &mut dyn FnMut(&Path, &str)) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, each);
        } else if path.extension().is_some_and(|end| end == "rs") {
            each(&path, &std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_asker_is_known_with_what_its_answer_decides() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if !source.is_dir() {
            continue;
        }
        sources(&source, &mut |path, text| {
            let name = path.strip_prefix(crates).unwrap().to_str().unwrap().to_owned();
            let test = name.contains("/tests") || name.contains("/testing") || name.contains("-testkit/");
            if test || name.starts_with("chatos-prompts/") {
                return;
            }
            let text = text.split("#[cfg(test)]").next().unwrap();
            for way in WAYS {
                let lines = text.lines().filter(|line| line.contains(way) && !line.contains("struct "));
                let count = lines.count();
                if count > 0 {
                    found.insert((name.clone(), way), count);
                }
            }
        });
    }
    let known: BTreeMap<(String, &str), usize> =
        ASKERS.iter().map(|(file, way, count, _)| (((*file).to_owned(), *way), *count)).collect();
    assert_eq!(found, known, "an asker came or went: say in this table what its answer decides");
    for (file, line) in RECORDS {
        let text = std::fs::read_to_string(crates.join(file)).unwrap();
        assert!(text.contains(line), "{file} does not hand on its effect");
    }
}
