//! `plugin.json`: whatever the bytes, an answer with reasons, and what survives keeps every rule.

use chatos_manifest::{Lang, PluginManifest, Problem, limits, parse};

pub(crate) const WORDS: &[&str] = &[
    "{\"id\":\"com.example.a\",\"name\":\"A\"}",
    "\"apps\":[",
    "\"entry\":",
    "\"type\":\"module\"",
    "\"path\":",
    "\"compact\":",
    "\"ai\":",
    "\"mcp\":",
    "\"url\":\"https://h/\"",
    "\"args\":[",
    "\"callMeta\":{",
    "\"asyncTask\":{",
    "\"mcpPrompt\":",
    "\"mcpServers\":true",
    "\"auth\":{",
    "\"headers\":{",
    "../",
    "/etc/passwd",
    "\\u0000",
    "\\ud800",
    "\"backend\":{\"entry\":",
    "\"manifestVersion\":1",
    "null",
    "[[[[[[[[",
    "\u{feff}",
    "1e999",
    "con",
    "..",
];

/// Reads a manifest.
pub fn manifest(data: &[u8]) {
    let parsed = parse(data);
    for problem in &parsed.problems {
        check_problem(problem);
    }
    match &parsed.manifest {
        Some(found) => check_manifest(found),
        None => assert!(parsed.problems.iter().any(Problem::is_error), "dropped without a reason"),
    }
    if data.len() > limits::MANIFEST_BYTES {
        assert!(parsed.manifest.is_none(), "larger than allowed");
    }
    // Reading is a function of the bytes.
    let again = parse(data);
    assert_eq!(again.problems, parsed.problems, "problems differ between two readings");
    assert_eq!(again.manifest.is_some(), parsed.manifest.is_some());
    // A byte order mark changes nothing.
    if !data.starts_with(b"\xef\xbb\xbf") && data.len() + 3 <= limits::MANIFEST_BYTES {
        let marked = parse(&[b"\xef\xbb\xbf", data].concat());
        assert_eq!(marked.manifest.is_some(), parsed.manifest.is_some(), "a byte order mark decides");
    }
}

fn check_problem(problem: &Problem) {
    for lang in [Lang::En, Lang::Zh] {
        let message = problem.full_message(lang);
        assert!(
            !message.is_empty() && !problem.hint(lang).is_empty(),
            "a problem without words: {problem:?}"
        );
        assert!(message.len() < 64 * 1024, "a problem repeats its input");
        assert!(!message.chars().any(char::is_control), "a control character in a message: {message:?}");
    }
    assert!(problem.path.is_empty() || problem.path.starts_with('/'), "no pointer: {}", problem.path);
}

fn check_manifest(found: &PluginManifest) {
    let id = found.id.as_str();
    assert!(!id.is_empty() && id.len() <= limits::PLUGIN_ID_CHARS && !id.contains(".."), "{id:?}");
    assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)), "{id:?}");
    assert!(!found.name.trim().is_empty() && found.name.chars().count() <= limits::NAME_CHARS);
    assert!(found.apps.len() <= limits::APPS);
    let mut seen = std::collections::HashSet::new();
    for app in &found.apps {
        assert!(seen.insert(app.id.as_str()), "an app id twice: {}", app.id);
        inside(app.entry.module.path.as_str());
        if let Some(compact) = &app.entry.compact {
            inside(compact.path.as_str());
        }
    }
}

/// No prefix of the path leaves the plugin.
fn inside(path: &str) {
    let mut depth = 0_i32;
    assert!(!path.is_empty() && !path.starts_with(['/', '~']) && !path.contains(['\\', '\0']), "{path:?}");
    for part in path.split('/') {
        depth += match part {
            "" | "." => 0,
            ".." => -1,
            _ => 1,
        };
        assert!(depth >= 0, "leaves the plugin: {path:?}");
    }
}
