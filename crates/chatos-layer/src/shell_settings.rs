//! The settings of the shell server, as one snapshot per call (state §4).

use std::path::PathBuf;
use std::time::Duration;

use chatos_settings::Settings;
use schemars::JsonSchema;
use serde::Serialize;

/// `shellSafetyMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SafetyMode {
    /// Writes only inside the root, reads only what programs need, no network unasked.
    Strict,
    /// Reads what the user can read, network on.
    Relaxed,
}

impl SafetyMode {
    /// The word in settings and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Relaxed => "relaxed",
        }
    }
}

/// `shellSandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxUse {
    /// What there is; without one, commands ask.
    Auto,
    /// Without one, nothing runs.
    Required,
    /// None; chosen by a person.
    Off,
}

/// `shellNetwork`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkUse {
    /// Never.
    Deny,
    /// When the call wants it and a person agrees.
    Ask,
    /// Always.
    Allow,
}

/// `shellConfirm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmUse {
    /// Only what nobody should do unasked.
    Never,
    /// Risky commands, too.
    Risky,
    /// Everything off the read-only list.
    Always,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolchainUse {
    /// Those that are found in the home directory work inside the sandbox.
    Auto,
    /// The home directory stays closed.
    Off,
}

/// One snapshot.
#[derive(Debug, Clone)]
pub struct ShellSettings {
    /// `shellSafetyMode`.
    pub mode: SafetyMode,
    /// `shellSandbox`.
    pub sandbox: SandboxUse,
    /// `shellNetwork`.
    pub network: NetworkUse,
    /// `shellConfirm`.
    pub confirm: ConfirmUse,
    /// `shellReadPaths`.
    pub read_paths: Vec<PathBuf>,
    /// `shellWritePaths`.
    pub write_paths: Vec<PathBuf>,
    pub toolchains: ToolchainUse,
    /// `shellTimeoutMs`.
    pub timeout: Duration,
    /// `shellMaxBufferBytes`, of each stream.
    pub buffer_bytes: usize,
    /// `shellKeepSessions`.
    pub keep_sessions: bool,
    /// `shellSessionLogBytes`.
    pub session_log_bytes: u64,
}

impl ShellSettings {
    /// Reads what is in force now.
    pub fn read(settings: &Settings) -> Self {
        let paths = |key: &str| -> Vec<PathBuf> {
            let value = settings.effective(key).map(|effective| effective.value);
            let list = value.as_ref().and_then(|value| value.as_array()).into_iter().flatten();
            list.filter_map(|path| path.as_str())
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .collect()
        };
        let number = |key: &str| u64::try_from(settings.int(key)).unwrap_or_default();
        Self {
            mode: match settings.text("shellSafetyMode").as_str() {
                "relaxed" => SafetyMode::Relaxed,
                _ => SafetyMode::Strict,
            },
            sandbox: match settings.text("shellSandbox").as_str() {
                "required" => SandboxUse::Required,
                "off" => SandboxUse::Off,
                _ => SandboxUse::Auto,
            },
            network: match settings.text("shellNetwork").as_str() {
                "deny" => NetworkUse::Deny,
                "allow" => NetworkUse::Allow,
                _ => NetworkUse::Ask,
            },
            confirm: match settings.text("shellConfirm").as_str() {
                "never" => ConfirmUse::Never,
                "always" => ConfirmUse::Always,
                _ => ConfirmUse::Risky,
            },
            toolchains: match settings.text("shellToolchains").as_str() {
                "off" => ToolchainUse::Off,
                _ => ToolchainUse::Auto,
            },
            read_paths: paths("shellReadPaths"),
            write_paths: paths("shellWritePaths"),
            timeout: Duration::from_millis(number("shellTimeoutMs")),
            buffer_bytes: usize::try_from(number("shellMaxBufferBytes")).unwrap_or(2 << 20),
            keep_sessions: settings.bool("shellKeepSessions"),
            session_log_bytes: number("shellSessionLogBytes"),
        }
    }
}

impl Default for ShellSettings {
    fn default() -> Self {
        Self {
            mode: SafetyMode::Strict,
            sandbox: SandboxUse::Auto,
            network: NetworkUse::Ask,
            confirm: ConfirmUse::Risky,
            toolchains: ToolchainUse::Auto,
            read_paths: Vec::new(),
            write_paths: Vec::new(),
            timeout: Duration::from_secs(300),
            buffer_bytes: 2 << 20,
            keep_sessions: false,
            session_log_bytes: 16 << 20,
        }
    }
}
