//! Fuzz targets for the readers of untrusted bytes: a target takes any bytes and panics when a promise
//! is broken.
//!
//! libFuzzer calls them (`fuzz/fuzz_targets/`), and so does the bounded runner of CI (`main.rs`), which
//! needs no nightly compiler. See `docs/fuzzing.md`.

mod ai_config;
mod archive;
mod cmd_url;
mod manifest;
pub mod mutate;

pub use ai_config::ai_config;
pub use archive::archive;
pub use cmd_url::cmd_url;
pub use manifest::manifest;

/// A target by name, with words its format is made of.
pub struct Target {
    /// The name of its corpus folder.
    pub name: &'static str,
    /// Panics when a promise is broken.
    pub run: fn(&[u8]),
    /// Pieces that get a random input past the first character.
    pub words: &'static [&'static str],
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "manifest", run: manifest, words: manifest::WORDS },
    Target { name: "ai_config", run: ai_config, words: ai_config::WORDS },
    Target { name: "archive", run: archive, words: archive::WORDS },
    Target { name: "cmd_url", run: cmd_url, words: cmd_url::WORDS },
];
