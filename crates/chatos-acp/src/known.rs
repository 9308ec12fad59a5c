//! The agents whose command is known, and which of them are on this machine. Nothing is started and nothing is
//! downloaded to find out (security T25).

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// An agent that speaks the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The word on the command line.
    pub id: &'static str,
    /// As people call it.
    pub title: &'static str,
    /// The program that speaks the protocol.
    pub program: &'static str,
    pub args: &'static [&'static str],
    /// The program people know, where another one speaks the protocol for it.
    pub base: Option<&'static str>,
    /// What installs the program that speaks the protocol.
    pub install: &'static str,
    /// How a person signs in, in their own terminal.
    pub sign_in: &'static str,
    /// Variables of the host's environment it knows its account by.
    pub pass_env: &'static [&'static str],
}

/// Variables by which every program finds a person's own files.
pub const PLACES: &[&str] = &[
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
];

/// Every agent whose command is known.
pub const TABLE: &[Known] = &[
    Known {
        id: "claude-code",
        title: "Claude Code",
        program: "claude-agent-acp",
        args: &[],
        base: Some("claude"),
        install: "npm install -g @agentclientprotocol/claude-agent-acp",
        sign_in: "claude /login",
        pass_env: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"],
    },
    Known {
        id: "codex",
        title: "codex",
        program: "codex-acp",
        args: &[],
        base: Some("codex"),
        install: "npm install -g @agentclientprotocol/codex-acp",
        sign_in: "codex login",
        pass_env: &["OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_HOME", "CODEX_PATH"],
    },
    Known {
        id: "opencode",
        title: "opencode",
        program: "opencode",
        args: &["acp"],
        base: None,
        install: "npm install -g opencode-ai",
        sign_in: "opencode auth login",
        pass_env: &["OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"],
    },
    Known {
        id: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        args: &["--acp"],
        base: None,
        install: "npm install -g @google/gemini-cli",
        sign_in: "gemini",
        pass_env: &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_CLOUD_PROJECT",
            "GOOGLE_GEMINI_BASE_URL",
            "GEMINI_CLI_HOME",
        ],
    },
    Known {
        id: "goose",
        title: "goose",
        program: "goose",
        args: &["acp"],
        base: None,
        install: "https://block.github.io/goose",
        sign_in: "goose configure",
        pass_env: &["GOOSE_PROVIDER", "GOOSE_MODEL"],
    },
];

/// The agent with this id.
pub fn known(id: &str) -> Option<&'static Known> {
    TABLE.iter().find(|known| known.id == id)
}

/// One agent of the table, as it is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub known: &'static Known,
    /// The file that speaks the protocol; `None`: it is missing.
    pub program: Option<PathBuf>,
    /// The program people know; `None` where there is none, or it is the same.
    pub base: Option<PathBuf>,
}

impl Found {
    /// Something of it is on this machine.
    pub fn is_here(&self) -> bool {
        self.program.is_some() || self.base.is_some()
    }
}

/// Looks on `path` and in npm's global folders below `home`.
pub fn detect(path: Option<&OsStr>, home: Option<&Path>) -> Vec<Found> {
    let mut folders: Vec<PathBuf> = path
        .map(|path| std::env::split_paths(path).filter(|dir| dir.is_absolute()).collect())
        .unwrap_or_default();
    if let Some(home) = home {
        let usual = [".npm-global/bin", ".local/bin", ".local/share/npm/bin", ".opencode/bin", ".bun/bin"];
        folders.extend(usual.iter().map(|folder| home.join(folder)));
    }
    let find = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|file| is_program(file));
    let look = |known: &'static Known| Found {
        known,
        program: find(known.program),
        base: known.base.and_then(find),
    };
    TABLE.iter().map(look).collect()
}

fn is_program(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_named_and_what_is_missing_too() {
        let home = tempfile::tempdir().unwrap();
        let bin = home.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        for (name, mode) in [("opencode", 0o755), ("codex", 0o755), ("gemini", 0o644)] {
            std::fs::write(bin.join(name), "#!/bin/sh\nexit 9\n").unwrap();
            std::fs::set_permissions(bin.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        let found = detect(Some(bin.as_os_str()), Some(home.path()));
        let of = |id: &str| found.iter().find(|one| one.known.id == id).unwrap();
        assert_eq!(of("opencode").program, Some(bin.join("opencode")));
        // codex is there, what speaks for it is not.
        assert!(of("codex").is_here() && of("codex").program.is_none());
        assert!(!of("gemini").is_here());
        // A folder of PATH that depends on where one stands is no place to look in.
        assert!(detect(Some(OsStr::new("bin:.")), None).iter().all(|one| !one.is_here()));
    }
}
