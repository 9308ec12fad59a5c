//! The programs whose hooks are known.

use std::path::{Path, PathBuf};

/// A program that asks through its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Program {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

/// Where programs keep their files, as the environment says.
#[derive(Debug, Clone, Default)]
pub struct Homes {
    pub home: PathBuf,
    pub claude: Option<PathBuf>,
    pub codex: Option<PathBuf>,
    pub config: Option<PathBuf>,
}

impl Program {
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// As people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "opencode",
        }
    }

    /// The file that names the hook, for all projects of this person or for one project.
    pub fn config_file(self, homes: &Homes, project: Option<&Path>) -> PathBuf {
        match (self, project) {
            (Self::Claude, None) => {
                homes.claude.clone().unwrap_or_else(|| homes.home.join(".claude")).join("settings.json")
            }
            (Self::Claude, Some(project)) => project.join(".claude/settings.json"),
            (Self::Codex, None) => {
                homes.codex.clone().unwrap_or_else(|| homes.home.join(".codex")).join("hooks.json")
            }
            (Self::Codex, Some(project)) => project.join(".codex/hooks.json"),
            (Self::Gemini, None) => homes.home.join(".gemini/settings.json"),
            (Self::Gemini, Some(project)) => project.join(".gemini/settings.json"),
            (Self::Opencode, None) => homes
                .config
                .clone()
                .unwrap_or_else(|| homes.home.join(".config"))
                .join("opencode/plugins/chatos.js"),
            (Self::Opencode, Some(project)) => project.join(".opencode/plugins/chatos.js"),
        }
    }
}
