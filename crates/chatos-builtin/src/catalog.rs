//! Every built-in server, by name. A server is built when somebody asks for it, not before.

use chatos_layer::{FileHome, Server, ServerEnv, ServerInfo};
use chatos_lsp as lsp;
use chatos_shell::{self as shell, ShellHome};
use chatos_tool::validation;

use crate::{files, journal, subagent, tasks, ui_prompt};

/// A server and how to build it from its surroundings. Building opens nothing.
struct Entry {
    info: &'static ServerInfo,
    build: fn(&ServerEnv) -> Server,
}

/// Sorted by name, the order of every list.
static ENTRIES: [Entry; 9] = [
    Entry { info: &files::CODE_MAINTAINER, build: |env| files::code_maintainer(&FileHome::of(env)) },
    Entry { info: &files::CODE_WRITER, build: |env| files::code_writer(&FileHome::of(env)) },
    Entry { info: &lsp::INFO, build: lsp::server },
    Entry { info: &files::PROJECT_FILES, build: |env| files::project_files(&FileHome::of(env)) },
    Entry { info: &journal::INFO, build: journal::server },
    Entry { info: &shell::INFO, build: |env| shell::server(&ShellHome::of(env)) },
    Entry { info: &subagent::INFO, build: subagent::server },
    Entry { info: &tasks::INFO, build: tasks::server },
    Entry { info: &ui_prompt::INFO, build: |_| ui_prompt::server() },
];

/// Names of all built-in servers.
pub fn server_names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.info.name)
}

/// What a server says about itself, without building it.
pub fn server_info(name: &str) -> Option<&'static ServerInfo> {
    ENTRIES.iter().find(|entry| entry.info.name == name).map(|entry| entry.info)
}

/// The server of this name.
pub fn find_server(name: &str, env: &ServerEnv) -> Option<Server> {
    ENTRIES.iter().find(|entry| entry.info.name == name).map(|entry| (entry.build)(env))
}

/// The server name that a mistyped one probably means.
pub fn nearest_server(name: &str) -> Option<&'static str> {
    let near = validation::nearest(name, server_names())?;
    server_names().find(|known| *known == near)
}

#[cfg(test)]
mod halves;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_keeps_the_rules_of_the_layer() {
        let env = ServerEnv { state_dir: Some("/nowhere".into()), write: true, ..ServerEnv::default() };
        assert!(server_names().is_sorted());
        for name in server_names() {
            let server = find_server(name, &env).unwrap();
            assert_eq!(server.info().name, name);
            assert_eq!(server_info(name).unwrap().id, server.info().id);
            assert_eq!(server.lint(), Vec::<String>::new(), "{name}");
            let uuid = uuid::Uuid::parse_str(server.info().id);
            assert!(uuid.is_ok(), "{name}: the id is fixed and well formed");
            for text in [&server.info().title, &server.info().instructions] {
                assert!(!text.en.is_empty() && !text.zh.is_empty() && text.en != text.zh, "{name}");
            }
        }
        assert_eq!(nearest_server("ui-promter"), Some("ui_prompter"));
        assert!(find_server("nonsense", &env).is_none() && server_info("nonsense").is_none());
    }

    #[test]
    fn tools_that_change_files_exist_only_with_write() {
        let reading = ServerEnv { state_dir: Some("/nowhere".into()), ..ServerEnv::default() };
        let writing = ServerEnv { write: true, ..reading.clone() };
        let names = |server: &str, env: &ServerEnv| -> Vec<&str> {
            find_server(server, env).unwrap().tool_names().collect()
        };
        let reads = ["find_files", "list_directory", "read_file", "search_text", "stat_path"];
        assert_eq!(names("project_files", &writing), reads);
        assert_eq!(names("code_writer", &reading), reads);
        let changes = ["apply_patch", "delete_path", "edit_file", "write_file"];
        assert!(changes.iter().all(|tool| names("code_writer", &writing).contains(tool)));
        let more = ["copy_path", "move_path", "read_file_range", "read_file_raw"];
        let all = names("code_maintainer", &writing);
        assert!(changes.iter().chain(&more).all(|tool| all.contains(tool)));
        assert!(!names("code_maintainer", &reading).contains(&"move_path"));
    }
}
