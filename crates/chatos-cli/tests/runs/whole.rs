//! An approval covers all of what is asked about, and nothing else (inbox §1.1, §10.1), on the real program: texts that are
//! cut, a change that is too large to be shown, and one flipped bit of anything that decides.

use chatos_testkit::{Random, RunningHost};
use serde_json::{Value, json};

use crate::changed::{Asker, Scene, Waiting, question, respond};

/// A text that no question shows in one piece.
fn long(last: &str) -> String {
    format!("{}{last}", "a line of a long file, with something in it\n".repeat(2_000))
}

#[test]
fn all_of_a_change_is_what_is_approved() {
    let scene = Scene::new();
    let host = scene.serve();
    // Two changes that differ in their last byte are two things to approve.
    let mut shown = std::collections::BTreeSet::new();
    for last in ["1", "2"] {
        let arguments = json!({ "path": "long.txt", "contents": long(last) });
        let Waiting::Hand(call) = scene.begin(&host, Asker::Hand, "write_file", &arguments) else {
            unreachable!("it is a call by hand")
        };
        let asked = question(&host, None);
        assert!(shown.insert(asked["shown"].as_str().unwrap().to_owned()), "{last}");
        // Nobody was given all of it.
        let blind = respond(&host, &asked, &json!({ "status": "ok" }));
        assert_eq!(
            (blind.status, &blind.json()["error"]["code"]),
            (409, &json!("not_shown")),
            "{}",
            blind.text()
        );
        // The yes to the one is none to the other.
        let other = shown.iter().find(|digest| **digest != asked["shown"].as_str().unwrap());
        if let Some(other) = other {
            let path = format!("/api/v1/prompts/{}/response", asked["requestId"].as_str().unwrap());
            let body = json!({ "response": { "status": "ok" }, "shown": other });
            let refused = host.ask("POST", &path, Some(&body));
            assert_eq!(refused.json()["error"]["code"], "shown_mismatch", "{}", refused.text());
        }
        respond(&host, &asked, &json!({ "status": "canceled" }));
        assert_eq!(call.join().unwrap()["structuredContent"]["status"], "canceled");
    }
    host.stop();
}

/// Asks for a change by hand. Gives what it was asked as; nothing where it was not asked about.
fn asked(scene: &Scene, host: &RunningHost, tool: &str, arguments: &Value) -> Result<Value, Value> {
    let Waiting::Hand(call) = scene.begin(host, Asker::Hand, tool, arguments) else {
        unreachable!("it is a call by hand")
    };
    let first = chatos_testkit::eventually("it asks or ends", || {
        let list = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
        let id = list["items"][0]["requestId"].as_str().map(str::to_owned);
        (id.is_some() || call.is_finished()).then_some(id)
    });
    if first.is_none() {
        return Err(call.join().unwrap());
    }
    let asked = question(host, None);
    assert_eq!(respond(host, &asked, &json!({ "status": "canceled" })).status, 200);
    assert_eq!(call.join().unwrap()["structuredContent"]["status"], "canceled");
    Ok(asked)
}

#[test]
fn sixteen_mebibytes_are_asked_about_and_one_byte_more_is_neither_asked_nor_done() {
    const MOST: u64 = 16 << 20;
    let mut scene = Scene::new();
    scene.sandbox.set_variable("CHATOS_SET_FILESYSTEM_MAX_WRITE_BYTES", "104857600");
    let host = scene.serve();
    let file = scene.root.join("a.txt");
    // A thousand places become a long text each; a line beside them makes the difference as long as is wanted.
    let before = |pad: u64| format!("{}{}\n", "x\n".repeat(1_000), "z".repeat(pad as usize + 1));
    let edit = json!({
        "path": "a.txt", "old_string": "x", "new_string": "y".repeat(16_600), "expected_replacements": 1_000,
    });
    std::fs::write(&file, before(0)).unwrap();
    let bytes = |asked: &Value| asked["prompt"]["diffRef"]["bytes"].as_u64().unwrap();
    let missing = MOST - bytes(&asked(&scene, &host, "edit_file", &edit).unwrap());
    std::fs::write(&file, before(missing)).unwrap();
    assert_eq!(bytes(&asked(&scene, &host, "edit_file", &edit).unwrap()), MOST);
    std::fs::write(&file, before(missing + 1)).unwrap();
    let refused = asked(&scene, &host, "edit_file", &edit).unwrap_err();
    assert_eq!(refused["structuredContent"]["code"], "resource_exhausted", "{refused}");
    let said = refused["content"][0]["text"].as_str().unwrap();
    assert!(said.contains("too_large") && said.contains(&format!("{} > {MOST}", MOST + 1)), "{said}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before(missing + 1));
    // Nobody was asked, by the history either; and a command of the terminal ends with an error.
    let all = host.ask("GET", "/api/v1/prompts?view=needs_you", None).json();
    assert_eq!(all["items"], json!([]));
    let (root, new) = (scene.root.to_str().unwrap(), format!("new_string={}", "y".repeat(16_600)));
    let args = [
        "tools",
        "call",
        "code_writer",
        "edit_file",
        "path=a.txt",
        "old_string=x",
        &new,
        "expected_replacements=1000",
    ];
    let by_hand = scene.sandbox.run(&[args.as_slice(), &["--root", root]].concat());
    assert_ne!(by_hand.status, 0, "{by_hand:?}");
    assert!(format!("{}{}", by_hand.stdout, by_hand.stderr).contains("too_large"), "{by_hand:?}");
    host.stop();
}

#[test]
fn one_flipped_bit_of_anything_that_decides_is_another_thing_to_approve() {
    let scene = Scene::new();
    let host = scene.serve();
    let mut random = Random::new();
    let mut seen = std::collections::BTreeSet::new();
    // A real change: a bit of the new text, and one of the text that is there.
    let text = "a line of a long file, with something in it\n".repeat(2_000);
    let flipped = |random: &mut Random| {
        let mut bytes = text.clone().into_bytes();
        // Of a letter, so that it stays text.
        let letters: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_lowercase()).collect();
        bytes[letters[random.below(letters.len() as u64) as usize]] ^= 1;
        String::from_utf8(bytes).unwrap()
    };
    for round in 0..6 {
        let (there, new) = match round {
            0 => (String::new(), text.clone()),
            1 => (text.clone(), String::new()),
            n if n % 2 == 0 => (String::new(), flipped(&mut random)),
            _ => (flipped(&mut random), String::new()),
        };
        std::fs::write(scene.root.join("long.txt"), &there).unwrap();
        let arguments = json!({ "path": "long.txt", "contents": new });
        let asked = asked(&scene, &host, "write_file", &arguments).unwrap();
        let digest = asked["shown"].as_str().unwrap().to_owned();
        assert!(seen.insert(digest), "round {round}, seed {}", random.seed());
    }
    // Every field of the material, and of what is shown.
    let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let place = json!({ "path": "/home/ada/shop", "device": 66, "inode": 4_711 });
    let whole = json!({
        "prompt": { "kind": "file_change_confirm", "title": "Run this?", "command": "make test", "cwd": "shop",
            "message": "by profile", "diff": "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n" },
        "material": {
            "v": 2, "kind": "command", "identity": "app:com.example/mail", "tool": "send", "toolDigest": digest,
            "pluginDigest": digest, "arguments": { "to": "ann", "list": [1, { "deep": "word" }] }, "client": "claude",
            "root": place, "files": [{ "path": "a.txt", "change": "modified", "before": digest, "after": digest, "mode": "644" }],
            "diff": { "sha256": digest, "bytes": 31, "lines": 5 },
            "command": { "text": "make test", "cwd": place, "shell": "/bin/sh", "env": ["LANG"], "envDigest": digest,
                "network": false, "findings": [], "sandbox": { "level": "full", "policyDigest": digest } },
            "rule": { "id": "r", "name": "make" }, "items": [["q1", digest, "ok"]],
        },
    });
    let shown = |whole: &Value| -> Option<String> {
        let effect = json!({ "name": "command", "material": whole["material"] });
        let body = json!({ "owner": "host:shell_tasks", "prompt": whole["prompt"], "effect": effect });
        let made = host.ask("POST", "/api/v1/prompts", Some(&body));
        let id = made.json()["requestId"].as_str()?.to_owned();
        let item = host.ask("GET", &format!("/api/v1/prompts/{id}"), None).json();
        Some(item["shown"].as_str().unwrap().to_owned())
    };
    let first = shown(&whole).unwrap();
    assert_eq!(shown(&whole).unwrap(), first, "the same is the same");
    assert!(seen.insert(first));
    let mut places = Vec::new();
    leaves(&whole, "", &mut places);
    let mut asked = 0;
    for at in &places {
        let mut other = whole.clone();
        let leaf = other.pointer_mut(at).unwrap();
        *leaf = match &*leaf {
            Value::String(text) => {
                let mut bytes = text.clone().into_bytes();
                let letters: Vec<usize> =
                    (0..bytes.len()).filter(|at| bytes[*at].is_ascii_alphanumeric()).collect();
                bytes[letters[random.below(letters.len() as u64) as usize]] ^= 1;
                json!(String::from_utf8(bytes).unwrap())
            }
            Value::Bool(flag) => json!(!flag),
            number => json!(number.as_u64().unwrap() ^ (1 << random.below(20))),
        };
        // Another kind of question may be none at all; then nobody is asked.
        let Some(shown) = shown(&other) else {
            assert!(at.ends_with("/kind"), "{at}");
            continue;
        };
        asked += 1;
        assert!(seen.insert(shown), "{at}, seed {}", random.seed());
    }
    assert!(asked > 40, "{asked} of {places:?}");
    host.stop();
}

fn leaves(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| leaves(value, &format!("{at}/{key}"), out)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| leaves(value, &format!("{at}/{i}"), out));
        }
        _ => out.push(at.to_owned()),
    }
}
