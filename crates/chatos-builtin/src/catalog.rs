//! Every built-in server, by name. A server is built when somebody asks for it, not before.

use chatos_tool::validation;

use crate::server::Server;
use crate::ui_prompt;

/// A server and how to build it.
struct Entry {
    name: &'static str,
    build: fn() -> Server,
}

const ENTRIES: [Entry; 1] = [Entry { name: ui_prompt::INFO.name, build: ui_prompt::server }];

/// Names of all built-in servers.
pub fn server_names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// The server of this name.
pub fn find_server(name: &str) -> Option<Server> {
    ENTRIES.iter().find(|entry| entry.name == name).map(|entry| (entry.build)())
}

/// The server name that a mistyped one probably means.
pub fn nearest_server(name: &str) -> Option<&'static str> {
    let near = validation::nearest(name, server_names())?;
    server_names().find(|known| *known == near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_keeps_the_rules_of_the_layer() {
        for name in server_names() {
            let server = find_server(name).unwrap();
            assert_eq!(server.info().name, name);
            assert_eq!(server.lint(), Vec::<String>::new(), "{name}");
            let uuid = uuid::Uuid::parse_str(server.info().id);
            assert!(uuid.is_ok(), "{name}: the id is fixed and well formed");
            for text in [&server.info().title, &server.info().instructions] {
                assert!(!text.en.is_empty() && !text.zh.is_empty() && text.en != text.zh, "{name}");
            }
        }
        assert_eq!(nearest_server("ui-promter"), Some("ui_prompter"));
        assert!(find_server("nonsense").is_none());
    }
}
