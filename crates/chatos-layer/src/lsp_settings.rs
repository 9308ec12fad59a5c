//! The settings of language servers, as one snapshot per call (state §4).

use std::time::Duration;

use chatos_settings::Settings;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LspSettings {
    pub timeout: Duration,
    /// `lspMaxBytes`: the largest file that is opened in a language server.
    pub max_bytes: u64,
    pub diagnostics_wait: Duration,
    /// `lspIdleStopMs`; nothing keeps them running.
    pub idle_stop: Option<Duration>,
    pub max_servers: usize,
}

impl LspSettings {
    /// Reads what is in force now.
    pub fn read(settings: &Settings) -> Self {
        let number = |key: &str| u64::try_from(settings.int(key)).unwrap_or_default();
        let time = |key: &str| Duration::from_millis(number(key));
        Self {
            timeout: time("lspTimeoutMs"),
            max_bytes: number("lspMaxBytes"),
            diagnostics_wait: time("lspDiagnosticsWaitMs"),
            idle_stop: Some(time("lspIdleStopMs")).filter(|idle| !idle.is_zero()),
            max_servers: usize::try_from(settings.int("lspMaxServers")).unwrap_or(1).max(1),
        }
    }
}

impl Default for LspSettings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_bytes: 512 << 10,
            diagnostics_wait: Duration::from_secs(3),
            idle_stop: Some(Duration::from_secs(600)),
            max_servers: 4,
        }
    }
}
