//! Paths for which a person is asked each time, whatever the switches say (servers §2.3, security T9).

use std::path::Path;

/// Why a path is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitive {
    /// Inside `.git`.
    Git,
    /// A file a shell runs when it starts.
    ShellStart,
    /// Who may sign in.
    AuthorizedKeys,
    /// Programs that start with the session.
    Autostart,
    /// MCP configuration of this or another agent.
    McpConfig,
}

impl Sensitive {
    /// The word in the material of a question.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::ShellStart => "shell_start",
            Self::AuthorizedKeys => "authorized_keys",
            Self::Autostart => "autostart",
            Self::McpConfig => "mcp_config",
        }
    }
}

const SHELL_FILES: [&str; 25] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".inputrc",
    ".envrc",
    ".pam_environment",
    "config.fish",
];
const MCP_FILES: [&str; 9] = [
    ".mcp.json",
    "mcp.json",
    "mcp_config.json",
    "claude_desktop_config.json",
    ".claude.json",
    "cline_mcp_settings.json",
    "mcp-servers.json",
    "mcp_settings.json",
    "lsp-servers.json",
];
/// Directories of agents whose settings name programs to run.
const AGENT_DIRS: [&str; 7] = [".claude", ".codex", ".gemini", ".cursor", ".continue", ".kiro", ".windsurf"];

/// Whether a change of this absolute path needs a person each time.
pub fn sensitive(path: &Path) -> Option<Sensitive> {
    let parts: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            std::path::Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let has = |name: &str| parts.iter().any(|part| part == name);
    let name = parts.last().map_or("", String::as_str);
    if has(".git") {
        return Some(Sensitive::Git);
    }
    if SHELL_FILES.contains(&name) || (has("fish") && has("conf.d")) {
        return Some(Sensitive::ShellStart);
    }
    if name.starts_with("authorized_keys") || (has(".ssh") && (name == "rc" || name == "environment")) {
        return Some(Sensitive::AuthorizedKeys);
    }
    let follows =
        |first: &str, second: &str| parts.windows(2).any(|pair| pair[0] == first && pair[1] == second);
    if has("autostart") || has("launchagents") || follows("systemd", "user") {
        return Some(Sensitive::Autostart);
    }
    let settings = name.starts_with("settings") || name.starts_with("config") || name.starts_with("hooks");
    if MCP_FILES.contains(&name) || (settings && AGENT_DIRS.iter().any(|dir| has(dir))) {
        return Some(Sensitive::McpConfig);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_named_places_are_sensitive_and_others_are_not() {
        for (path, expected) in [
            ("/w/.git/hooks/pre-commit", Some(Sensitive::Git)),
            ("/w/.GIT/config", Some(Sensitive::Git)),
            ("/home/u/.bashrc", Some(Sensitive::ShellStart)),
            ("/home/u/.config/fish/config.fish", Some(Sensitive::ShellStart)),
            ("/home/u/.ssh/authorized_keys", Some(Sensitive::AuthorizedKeys)),
            ("/home/u/.config/autostart/x.desktop", Some(Sensitive::Autostart)),
            ("/home/u/.config/systemd/user/x.service", Some(Sensitive::Autostart)),
            ("/w/.mcp.json", Some(Sensitive::McpConfig)),
            ("/w/.claude/settings.local.json", Some(Sensitive::McpConfig)),
            ("/w/.cursor/mcp.json", Some(Sensitive::McpConfig)),
            ("/w/.gitignore", None),
            ("/w/src/config.rs", None),
            ("/w/.claude/notes.md", None),
            ("/w/systemd/users.rs", None),
        ] {
            assert_eq!(sensitive(Path::new(path)), expected, "{path}");
        }
    }
}
