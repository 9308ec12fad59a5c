//! The documents about plugins are true: every fenced example in them runs here.
//!
//! What a block is, is the word after its language: `plugin.json`, `ai`, `ai.yaml`, `ai.json`,
//! `refused: CODE`; blocks `cmd` and `names` are tables; other JSON must at least be JSON.

use std::fs;
use std::path::Path;

use chatos_contribution::{DefaultLists, cmd_url, normalize_server, parse_config};
use chatos_manifest::{AppId, AppRef, Problem, parse, parse_layer};
use serde_json::{Value, json};

use crate::support::{id, tempdir, write_files};

struct Block {
    place: String,
    language: String,
    kind: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(document);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{document}: {error}"));
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let (language, kind) = info.split_once(' ').unwrap_or((info, ""));
                open = Some(Block {
                    place: format!("docs/{document}:{}", number + 1),
                    language: language.to_owned(),
                    kind: kind.to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{document}: a block is not closed");
    found
}

fn errors(problems: &[Problem]) -> Vec<String> {
    let errors = problems.iter().filter(|problem| problem.is_error());
    errors.map(|problem| format!("{} {}", problem.code, problem.path)).collect()
}

/// The errors of a manifest, with every file it names present.
fn of_manifest(text: &str) -> Vec<String> {
    let parsed = parse(text.as_bytes());
    let mut found = errors(&parsed.problems);
    if found.is_empty() {
        // Nothing but the files could be wrong now.
        let dir = tempdir();
        write_files(dir.path(), &[("plugin.json", text)]);
        for path in paths(&serde_json::from_str(text).unwrap()) {
            if !dir.path().join(&path).exists() {
                let content = if Path::new(&path).extension().is_some_and(|end| end == "yaml") {
                    "mcpServers: true\n"
                } else {
                    "export function mount() {}\n"
                };
                write_files(dir.path(), &[(&path, content)]);
            }
        }
        let loaded =
            chatos_plugins::load(dir.path(), chatos_plugins::Origin::User, &DefaultLists::default()).unwrap();
        found = errors(&loaded.problems);
    }
    found
}

/// Texts in a manifest that look like files.
fn paths(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let names = [".mjs", ".md", ".yaml", ".svg"].iter().any(|end| text.ends_with(end));
            if names { vec![text.clone()] } else { Vec::new() }
        }
        Value::Array(items) => items.iter().flat_map(paths).collect(),
        Value::Object(map) => map.values().flat_map(paths).collect(),
        _ => Vec::new(),
    }
}

fn of_ai(text: &str) -> Vec<String> {
    let ai: Value = serde_json::from_str(text).unwrap();
    let manifest = json!({ "id": "com.example.doc", "name": "Doc",
        "apps": [ { "id": "x", "name": "X", "entry": "x.mjs", "ai": ai } ] });
    of_manifest(&manifest.to_string())
}

fn of_config(text: &str, name: &str) -> Vec<String> {
    match parse_config(text.as_bytes(), name) {
        Err(fault) => vec![format!("{} {name}#", fault.code)],
        Ok(map) => {
            let app = AppRef { index: 0, id: Some(AppId::parse("x").unwrap()) };
            errors(&parse_layer(&map, name, &id("com.example.doc"), &app).1)
        }
    }
}

/// Pairs of lines: an argument list, and the address it is written as.
fn cmd_lines(block: &Block) {
    let lines: Vec<&str> = block.text.lines().collect();
    for pair in lines.chunks(2) {
        let argv: Vec<String> = serde_json::from_str(pair[0]).unwrap();
        assert_eq!(cmd_url::build(&argv).unwrap(), pair[1], "{}", block.place);
        assert_eq!(cmd_url::parse(pair[1]).unwrap(), argv, "{}", block.place);
    }
}

#[test]
fn every_example_in_the_documents_runs() {
    let mut ran = 0;
    for document in
        ["protocols/plugin-manifest.md", "protocols/ai-contributions.md", "plugins.md", "plugins.zh-CN.md"]
    {
        for block in blocks(document) {
            let place = &block.place;
            let found = match (block.language.as_str(), block.kind.as_str()) {
                ("json", "plugin.json") => of_manifest(&block.text),
                ("json", "ai") => of_ai(&block.text),
                ("json", "ai.json") => of_config(&block.text, "ai.json"),
                ("yaml", "ai.yaml") => of_config(&block.text, "ai.yaml"),
                ("json" | "yaml", refused) if refused.starts_with("refused: ") => {
                    let found = match block.language.as_str() {
                        "yaml" => of_config(&block.text, "ai.yaml"),
                        _ if block.text.contains("\"id\"") => of_manifest(&block.text),
                        _ => of_ai(&block.text),
                    };
                    let code = refused.trim_start_matches("refused: ");
                    assert!(found.iter().any(|problem| problem.starts_with(code)), "{place}: {found:?}");
                    Vec::new()
                }
                ("json", "") => {
                    let value: Result<Value, _> = serde_json::from_str(&block.text);
                    assert!(value.is_ok(), "{place}: not JSON: {value:?}");
                    Vec::new()
                }
                ("cmd", "") => {
                    cmd_lines(&block);
                    Vec::new()
                }
                ("names", "") => {
                    for line in block.text.lines() {
                        let (name, normal) = line.split_once(" → ").unwrap();
                        assert_eq!(normalize_server(name), normal, "{place}");
                    }
                    Vec::new()
                }
                ("sh" | "js", "") => continue,
                (language, kind) => panic!("{place}: what is a `{language} {kind}` block?"),
            };
            assert!(found.is_empty(), "{place}: {found:?}");
            ran += 1;
        }
    }
    assert!(ran >= 30, "only {ran} examples were found");
}

/// The exposure table of the document, cell by cell, against the code.
#[test]
fn the_exposure_table_in_the_document_is_the_one_that_is_used() {
    use chatos_contribution::Exposed;
    use chatos_contribution::exposure::combine;
    use chatos_manifest::Exposure;
    let list = |name: &str| Exposure::List(vec![name.to_owned()]);
    let value = |word: &str, name: &str| match word {
        "absent" => Exposure::Unset,
        "`false`" => Exposure::Off,
        "`true`" => Exposure::All,
        "list" => list(name),
        other => panic!("{other}"),
    };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/ai-contributions.md");
    let text = fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("| inline | file |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 10);
    let mut cells = 0;
    for row in rows {
        let files = if row[1] == "any" { vec!["absent", "`false`", "`true`", "list"] } else { vec![row[1]] };
        for file in files {
            for (column, default) in ["absent", "`false`", "`true`", "list"].into_iter().enumerate() {
                let outcome = combine(&value(row[0], "I"), &value(file, "F"), &value(default, "D"));
                let shown = match outcome.exposed {
                    Exposed::None => "none".to_owned(),
                    Exposed::All => "all".to_owned(),
                    Exposed::List(names) => names.join(","),
                };
                assert_eq!(shown, row[column + 2], "{row:?}, file {file}, default {default}");
                cells += 1;
            }
        }
    }
    assert_eq!(cells, 64);
}
