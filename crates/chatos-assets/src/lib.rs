//! Files that are part of the program: the built page (`ui/dist`) and the built-in plugins (`plugins/`).
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

/// The page. Where it was not built before the program, one file that says how to build it.
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
    fn there_is_always_a_page() {
        assert!(PAGE.iter().any(|(name, content)| *name == "index.html" && !content.is_empty()));
    }
}
