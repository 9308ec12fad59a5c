//! Files that are part of the program: the built page (`ui/dist`), the built-in plugins (`plugins/`), and what
//! new plugins are made from (`plugins/templates`, `sdk`, `docs/schemas`).
//!
//! Nothing but the command line imports this crate; it hands the files to the host and the server. A changed page
//! therefore rebuilds this crate and the program, and a build may begin before the page is there.

/// Embedded files, sorted by name: path below its root with `/`, and content.
pub type Files = &'static [(&'static str, &'static [u8])];

mod made {
    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// The built-in plugins, one folder each.
pub const PLUGINS: Files = made::PLUGINS;

/// What `chatos plugin init` makes projects from, one folder per template.
pub const TEMPLATES: Files = made::TEMPLATES;

/// Types and schemas for authors of plugins, by their place in the project.
pub const TYPES: Files = made::TYPES;

/// The page; `<name>.gz` is the file `<name>`, compressed. Where it was not built before the program, one file that
/// says how to build it.
pub const PAGE: Files = if made::PAGE.is_empty() { PLACEHOLDER } else { made::PAGE };

const PLACEHOLDER: Files = &[("index.html", include_bytes!("placeholder.html"))];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_example_plugins_are_here_without_their_tests() {
        let names: Vec<&str> = PLUGINS.iter().map(|(name, _)| *name).collect();
        for wanted in ["com.chatos.notes/plugin.json", "com.chatos.taskboard/plugin.json"] {
            assert!(names.contains(&wanted), "{wanted}");
        }
        assert!(!names.iter().any(|name| name.contains("node_modules") || name.starts_with("tests/")));
    }

    #[test]
    fn every_template_has_its_words_and_a_manifest() {
        for name in ["async-task", "basic", "notepad", "server-only"] {
            for file in ["template.json", "plugin.json", "tests/plugin.test.mjs"] {
                let path = format!("{name}/{file}");
                assert!(TEMPLATES.iter().any(|(known, _)| *known == path), "{path}");
            }
        }
        for wanted in ["sdk/host.d.ts", "docs/schemas/plugin.schema.json", "docs/schemas/ai.schema.json"] {
            assert!(TYPES.iter().any(|(known, _)| *known == wanted), "{wanted}");
        }
    }

    #[test]
    fn there_is_always_a_page() {
        let found = PAGE.iter().find(|(name, _)| matches!(*name, "index.html" | "index.html.gz"));
        assert!(found.is_some_and(|(_, content)| !content.is_empty()));
    }

    #[test]
    fn what_has_a_compressed_copy_is_here_once() {
        let names: Vec<&str> = PAGE.iter().map(|(name, _)| *name).collect();
        for name in names.iter().filter_map(|name| name.strip_suffix(".gz")) {
            assert!(!names.contains(&name), "{name} is embedded twice");
        }
    }
}
