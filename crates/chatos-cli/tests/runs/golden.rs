//! The wire stays as it is: every answer to a GET, the answers that made the state, and every event of one chat
//! are compared with what was recorded in `tests/wire/golden/`, equal up to the order of keys.
//!
//! A change that is meant is recorded with `CHATOS_RECORD=1 cargo nextest run --workspace -E 'test(golden)'` and
//! read in the diff. What differs from run to run or from machine to machine is made plain first (`plain.rs`).

mod events;
mod plain;
mod seed;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use self::plain::Plain;
use self::seed::Seeded;

/// Files of golden JSON by name, and in each what was answered by request.
#[derive(Default)]
pub(crate) struct Record {
    files: BTreeMap<String, Map<String, Value>>,
}

impl Record {
    /// Keeps an answer under its route; the file is named by the first word of the path.
    pub(crate) fn keep(&mut self, method: &str, route: &str, status: u16, body: Value) {
        let noun = route.trim_start_matches("/api/v1/").split(['/', '?', ' ']).next().unwrap_or_default();
        let file = self.files.entry(noun.to_owned()).or_default();
        let answer = Value::from(vec![Value::from(status), body]);
        let before = file.insert(format!("{method} {route}"), answer);
        assert!(before.is_none(), "{method} {route} is recorded twice");
    }

    fn put(&mut self, file: &str, key: &str, value: Value) {
        self.files.entry(file.to_owned()).or_default().insert(key.to_owned(), value);
    }

    fn check(self) {
        let folder = repository().join("tests/wire/golden");
        let mut differences = Vec::new();
        for (name, now) in self.files {
            let file = folder.join(format!("{name}.json"));
            if recording() {
                let text = serde_json::to_string_pretty(&now).unwrap();
                std::fs::write(&file, text + "\n").unwrap();
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{name}.json: {error}"));
            let golden: Value = serde_json::from_str(&text).unwrap();
            compare(&format!("{name}.json"), &golden, &Value::Object(now), &mut differences);
        }
        let shown = differences.iter().take(60).map(String::as_str).collect::<Vec<_>>().join("\n");
        assert!(differences.is_empty(), "{} differences from tests/wire/golden:\n{shown}", differences.len());
    }
}

fn repository() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[expect(clippy::disallowed_methods, reason = "a test is no part of the host; a person asks it to record")]
fn recording() -> bool {
    std::env::var_os("CHATOS_RECORD").is_some()
}

/// One line per place where two values differ.
fn compare(place: &str, golden: &Value, now: &Value, differences: &mut Vec<String>) {
    match (golden, now) {
        (Value::Object(golden), Value::Object(now)) => {
            for (key, value) in golden {
                match now.get(key) {
                    Some(found) => compare(&format!("{place} › {key}"), value, found, differences),
                    None => differences.push(format!("{place} › {key}: gone, was {}", short(value))),
                }
            }
            for (key, value) in now.iter().filter(|(key, _)| !golden.contains_key(*key)) {
                differences.push(format!("{place} › {key}: new, {}", short(value)));
            }
        }
        (Value::Array(golden), Value::Array(now)) if golden.len() == now.len() => {
            for (index, (golden, now)) in golden.iter().zip(now).enumerate() {
                compare(&format!("{place} › {index}"), golden, now, differences);
            }
        }
        _ if golden == now => {}
        _ => differences.push(format!("{place}: {} became {}", short(golden), short(now))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Every documented GET; a new one must say here what it is asked for.
fn routes() -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("docs/protocols/openapi.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let paths = document["paths"].as_object().unwrap();
    paths.iter().filter(|(_, item)| item.get("get").is_some()).map(|(path, _)| path.clone()).collect()
}

#[test]
fn the_wire_is_as_recorded() {
    let mut record = Record::default();
    let seeded = Seeded::new(&mut record);
    let plain = Plain::new(&seeded.stand.sandbox, seeded.host.port);
    record.put("events", "chat", plain.events(&seeded.events));
    record.put("events", "order", plain::order(&seeded.events, &seeded.chat));
    for route in routes() {
        for (label, path) in seeded.asked(&route) {
            let answer = seeded.host.ask("GET", &path, None);
            let body = answer.json();
            let body =
                if plain::is_of_this_machine(&route) { plain::shape(&body) } else { plain.value(&body) };
            record.keep("GET", &label, answer.status, body);
        }
    }
    record.check();
}
