//! `ai.config` in JSON and YAML: an object or a reason; the strict reader never accepts what is not JSON,
//! and nothing it reads exposes more than it says.

use chatos_contribution::{Exposed, merge, parse_config};
use chatos_manifest::{AiLayer, AppId, AppRef, Exposure, PluginId, limits, parse_layer};
use serde_json::Value;

pub(crate) const WORDS: &[&str] = &[
    "mcpServers: true\n",
    "prompts:\n  - default\n",
    "mcp:\n  url: https://h/\n",
    "{\"mcpServers\":[\"a\"]}",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!tag ",
    "---\n",
    "...\n",
    "|\n  text\n",
    ">-\n  text\n",
    "? key\n: value\n",
    "\"\\x41\"",
    "'it''s'",
    "[a, b]",
    "{a: b}",
    "# comment\n",
    "config: x.yaml\n",
    "null",
    "~",
    "0x1f",
    ".inf",
    "\u{feff}",
    "\t",
    "%YAML 1.2\n",
    "- - - - ",
];

/// Reads a file under each name that decides its format.
pub fn ai_config(data: &[u8]) {
    for name in ["ai.json", "ai.yaml", "dir.d/ai.yml", "ai"] {
        let read = parse_config(data, name);
        let map = match read {
            Ok(map) => map,
            Err(fault) => {
                assert!(!fault.message.en.is_empty() && !fault.message.zh.is_empty());
                assert!(fault.message.en.len() < 4096, "a fault repeats its input");
                continue;
            }
        };
        assert!(data.len() <= limits::CONFIG_BYTES, "larger than allowed");
        if name == "ai.json" {
            let plain = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
            let other: Result<Value, _> = serde_json::from_slice(plain);
            assert_eq!(other.ok(), Some(Value::Object(map.clone())), "another JSON reader disagrees");
        }
        assert!(depth(&Value::Object(map.clone())) <= limits::JSON_DEPTH + 1, "deeper than allowed");
        let (Ok(plugin), Ok(app)) = (PluginId::parse("com.example.a"), AppId::parse("x")) else { return };
        let (layer, problems) = parse_layer(&map, name, &plugin, &AppRef { index: 0, id: Some(app) });
        for problem in &problems {
            assert!(problem.path.starts_with(name), "points elsewhere: {}", problem.path);
        }
        check_exposure(&layer.mcp_servers);
        check_exposure(&layer.prompts);
        check_merge(&layer);
    }
}

fn check_exposure(value: &Exposure) {
    if let Exposure::List(names) = value {
        assert!(!names.is_empty() && names.len() <= limits::EXPOSED_NAMES);
        let unique: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(unique.len(), names.len(), "a name twice");
        assert!(names.iter().all(|name| name.trim() == name && !name.is_empty()), "{names:?}");
    }
}

/// A manifest that says "off" wins over any file, and a file is never widened.
fn check_merge(layer: &AiLayer) {
    let off = AiLayer { mcp_servers: Exposure::Off, prompts: Exposure::Off, ..AiLayer::default() };
    let merged = merge(&off, Some(layer), None);
    assert_eq!((merged.mcp_servers.exposed, merged.prompts.exposed), (Exposed::None, Exposed::None));
    let merged = merge(&AiLayer::default(), Some(layer), None);
    let same = match (&layer.mcp_servers, &merged.mcp_servers.exposed) {
        (Exposure::Unset | Exposure::Off, Exposed::None) | (Exposure::All, Exposed::All) => true,
        (Exposure::List(a), Exposed::List(b)) => a == b,
        _ => false,
    };
    assert!(same, "{:?} became {:?}", layer.mcp_servers, merged.mcp_servers.exposed);
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
