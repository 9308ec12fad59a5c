//! Built-in default lists (seed 000 §5): for apps that say `true`, which servers and prompts that
//! means. They ship inside the binary and are looked up for any plugin id.

use chatos_manifest::{
    AiLayer, AppId, AppRef, PluginId, Problem, ProblemCode, Slot, Source, Text, parse_layer, quote,
};

use crate::parse_config;

/// Every file of `plugins/ui-apps-expose/`; a test keeps this list complete.
const EMBEDDED: &[(&str, &str)] = &[(
    "com.chatos.taskboard__board.yaml",
    include_str!("../../../plugins/ui-apps-expose/com.chatos.taskboard__board.yaml"),
)];

/// The lists of one host.
#[derive(Debug, Clone, Default)]
pub struct DefaultLists {
    files: Vec<(String, Vec<u8>)>,
}

impl DefaultLists {
    /// The lists that ship with the binary.
    pub fn embedded() -> Self {
        Self::new(EMBEDDED.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())))
    }

    /// Lists from file names and contents.
    pub fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Self {
        Self { files: files.into_iter().collect() }
    }

    /// The list for an app: the first of `.yaml`, `.yml`, `.json` that exists. Only `mcpServers` and
    /// `prompts` count; other keys are dropped with a warning.
    pub fn layer(&self, plugin: &PluginId, app: &AppId, index: usize) -> Option<(AiLayer, Vec<Problem>)> {
        let stem = format!("{}__{}", file_key(plugin.as_str()), file_key(app.as_str()));
        let (name, bytes) = ["yaml", "yml", "json"].iter().find_map(|extension| {
            let wanted = format!("{stem}.{extension}");
            self.files.iter().find(|(name, _)| *name == wanted)
        })?;
        let problem = |code, message| {
            Problem::new(code, format!("{name}#"), message)
                .source(Source::Ai)
                .of_plugin(plugin)
                .of_app(index, app)
        };
        let map = match parse_config(bytes, name) {
            Ok(map) => map,
            Err(fault) => return Some((AiLayer::default(), vec![problem(fault.code, fault.message)])),
        };
        let mut problems: Vec<Problem> = Vec::new();
        let mut known = map.clone();
        known.retain(|key, _| {
            let keep = matches!(key.as_str(), "mcpServers" | "prompts");
            if !keep {
                let message = Text::new(
                    format!("Default list {name}: key {} is ignored", quote(key)),
                    format!("默认清单 {name}：键 {} 被忽略", quote(key)),
                );
                problems.push(problem(ProblemCode::DefaultListKey, message));
            }
            keep
        });
        let app_ref = AppRef { index, id: Some(app.clone()) };
        let (layer, found) = parse_layer(&known, name, plugin, &app_ref);
        problems.extend(found);
        debug_assert!(
            layer.mcp == Slot::Absent && layer.mcp_prompt == Slot::Absent && layer.agent == Slot::Absent
        );
        Some((layer, problems))
    }
}

/// `k(x)`: lower case, runs outside `[a-z0-9._-]` become `_`, `_` stripped at the ends.
fn file_key(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    let mut in_run = false;
    for c in id.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-') {
            out.push(c);
            in_run = false;
        } else if !in_run {
            out.push('_');
            in_run = true;
        }
    }
    out.trim_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatos_manifest::Exposure;

    fn ids(plugin: &str, app: &str) -> (PluginId, AppId) {
        (PluginId::parse(plugin).unwrap(), AppId::parse(app).unwrap())
    }

    fn lists(files: &[(&str, &str)]) -> DefaultLists {
        DefaultLists::new(files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())))
    }

    #[test]
    fn lookup_order_and_file_names() {
        let all = lists(&[
            ("com.example.x__a.json", "{\"prompts\":[\"json\"]}"),
            ("com.example.x__a.yml", "prompts: [yml]"),
            ("com.example.x__a.yaml", "prompts: [yaml]"),
        ]);
        let (plugin, app) = ids("Com.Example.X", "A");
        let (layer, problems) = all.layer(&plugin, &app, 0).unwrap();
        assert_eq!((layer.prompts, problems.len()), (Exposure::List(vec!["yaml".into()]), 0));
        let (plugin, other) = ids("com.example.x", "b");
        assert!(all.layer(&plugin, &other, 0).is_none());
        assert_eq!(file_key("A b__c!!"), "a_b__c");
    }

    #[test]
    fn only_the_two_lists_count() {
        let all = lists(&[("p__a.yaml", "mcpServers: true\nmcp: {entry: x.mjs}\nagent: {name: n}\n")]);
        let (plugin, app) = ids("p", "a");
        let (layer, problems) = all.layer(&plugin, &app, 0).unwrap();
        assert_eq!((layer.mcp_servers, layer.mcp), (Exposure::All, Slot::Absent));
        assert!(problems.iter().all(|p| p.code == ProblemCode::DefaultListKey) && problems.len() == 2);
        let broken = lists(&[("p__a.yaml", "mcpServers: [")]);
        let (layer, problems) = broken.layer(&plugin, &app, 0).unwrap();
        assert_eq!((layer, problems[0].code), (AiLayer::default(), ProblemCode::ConfigSyntax));
    }

    #[test]
    fn every_shipped_list_is_embedded_and_valid() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/ui-apps-expose");
        let mut on_disk: Vec<String> = std::fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "README.md")
            .collect();
        on_disk.sort();
        let mut embedded: Vec<String> = EMBEDDED.iter().map(|(name, _)| (*name).to_owned()).collect();
        embedded.sort();
        assert_eq!(embedded, on_disk);
        for (name, text) in EMBEDDED {
            let stem = name.rsplit_once('.').unwrap().0;
            let (plugin, app) = stem.split_once("__").unwrap();
            let (plugin, app) = ids(plugin, app);
            let (_, problems) = lists(&[(name, text)]).layer(&plugin, &app, 0).unwrap();
            assert!(problems.is_empty(), "{name}: {problems:?}");
        }
    }
}
