//! The settings the layer reads, as one snapshot per call. Tools read no settings store themselves
//! (tools §1.3).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatos_settings::{Settings, SettingsInput};
use chatos_tool::{Lang, LogLevel, LogRules, TextLimits, limits};

use crate::env::StoreHandle;
use crate::lsp_settings::LspSettings;
use crate::shell_settings::ShellSettings;
use crate::tool::BoxFuture;

/// Who gives the settings in force: the host's own, or the database of a process beside it.
pub trait SettingsSource: Send + Sync {
    /// The values for a call that begins now. Cheap when nothing changed.
    fn current(&self) -> Arc<ToolSettings>;

    /// The values for a call that was here at this time: a look since then is enough.
    fn current_for(&self, _arrived: Instant) -> Arc<ToolSettings> {
        self.current()
    }

    /// Makes what the first call needs besides: a process that only lists its tools leaves no traces.
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// How a person is reached (`uiPromptBackend`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptBackend {
    /// All roads that are open; the first answer wins.
    Auto,
    /// The queue, also when no host runs.
    File,
    /// The terminal of a foreground command.
    Tty,
    /// The connected client.
    Elicitation,
}

impl PromptBackend {
    fn parse(word: &str) -> Self {
        match word {
            "file" => Self::File,
            "tty" => Self::Tty,
            "elicitation" => Self::Elicitation,
            _ => Self::Auto,
        }
    }
}

/// One snapshot.
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// `toolResultChars`, `toolLineMaxChars`.
    pub text: TextLimits,
    /// `mcpTimeoutMs`: without progress.
    pub idle: Duration,
    /// `mcpMaxTimeoutMs`: in all.
    pub total: Duration,
    /// `toolLogLevel`, `toolLogMaxFieldChars`.
    pub log: LogRules,
    /// `toolLogMaxBytes`, `toolLogMaxLines`, `toolLogKeepFiles`.
    pub rotation: Rotation,
    /// `toolMaxConcurrent`.
    pub concurrent: usize,
    /// `toolQueueMax`.
    pub queue: usize,
    /// `toolServerConcurrency`.
    pub server_slots: BTreeMap<String, usize>,
    /// `promptLanguage`: of definitions and results.
    pub lang: Lang,
    /// `language`: of questions to a person.
    pub people: Lang,
    /// `uiPromptBackend`.
    pub backend: PromptBackend,
    /// `promptSecretsToModel`.
    pub secrets_to_model: bool,
    /// `confirmTimeoutMs`; 0 waits for ever.
    pub confirm_timeout_ms: u64,
    /// `confirmFileChanges`.
    pub confirm_file_changes: bool,
    /// `confirmMainTaskCreate`.
    pub confirm_main_tasks: bool,
    /// `confirmSubTaskCreate`.
    pub confirm_sub_tasks: bool,
    /// `taskDedupeTtlDays`.
    pub task_key_days: u32,
    /// `journalDedupeTtlDays`.
    pub journal_key_days: u32,
    /// `gatewayTaskTtlHours`.
    pub gateway_task_ttl: Duration,
    /// `gatewayTools`.
    pub gateway_tools: String,
    /// `filesystem…`.
    pub files: FileSettings,
    /// `shell…`.
    pub shell: ShellSettings,
    /// Language servers: the settings whose names begin with `lsp`.
    pub lsp: LspSettings,
}

/// Limits and rules of the file tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSettings {
    /// `filesystemMaxFileBytes`: the most one read returns.
    pub max_file_bytes: u64,
    /// `filesystemMaxWriteBytes`: the largest result of one write.
    pub max_write_bytes: u64,
    /// `filesystemMaxSearchResults`: hits when the call says nothing.
    pub max_search_results: usize,
    /// `filesystemSearchMaxFiles`: files one search looks at.
    pub search_max_files: usize,
    /// `filesystemSymlinkPolicy` is `allow`.
    pub follow_links_out: bool,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            max_file_bytes: 256 << 10,
            max_write_bytes: 5 << 20,
            max_search_results: 40,
            search_max_files: 50_000,
            follow_links_out: false,
        }
    }
}

/// When the tool log begins a new file; 0 switches a limit off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Largest file.
    pub max_bytes: u64,
    /// Most lines of a file.
    pub max_lines: u64,
    /// Former files that stay.
    pub keep_files: usize,
}

impl ToolSettings {
    /// Reads what is in force now.
    pub fn read(settings: &Settings) -> Self {
        let number = |key: &str| u64::try_from(settings.int(key)).unwrap_or_default();
        let size = |key: &str| usize::try_from(settings.int(key)).unwrap_or_default();
        let days = |key: &str| u32::try_from(settings.int(key)).unwrap_or(1).max(1);
        let slots = settings.effective("toolServerConcurrency").map(|effective| effective.value);
        let server_slots = slots.as_ref().and_then(|value| value.as_object()).into_iter().flatten();
        let server_slots = server_slots
            .filter_map(|(name, value)| Some((name.clone(), usize::try_from(value.as_u64()?).ok()?)))
            .collect();
        let idle = Duration::from_millis(number("mcpTimeoutMs"));
        let languages = settings.languages();
        Self {
            text: TextLimits { result_chars: size("toolResultChars"), line_chars: size("toolLineMaxChars") },
            idle,
            total: Duration::from_millis(number("mcpMaxTimeoutMs")).max(idle),
            log: LogRules {
                level: LogLevel::parse(&settings.text("toolLogLevel")),
                field_chars: size("toolLogMaxFieldChars"),
            },
            rotation: Rotation {
                max_bytes: number("toolLogMaxBytes"),
                max_lines: number("toolLogMaxLines"),
                keep_files: size("toolLogKeepFiles"),
            },
            concurrent: size("toolMaxConcurrent").max(1),
            queue: size("toolQueueMax"),
            server_slots,
            lang: languages.models,
            people: languages.people,
            backend: PromptBackend::parse(&settings.text("uiPromptBackend")),
            secrets_to_model: settings.bool("promptSecretsToModel"),
            confirm_timeout_ms: number("confirmTimeoutMs"),
            confirm_file_changes: settings.bool("confirmFileChanges"),
            confirm_main_tasks: settings.bool("confirmMainTaskCreate"),
            confirm_sub_tasks: settings.bool("confirmSubTaskCreate"),
            task_key_days: days("taskDedupeTtlDays"),
            journal_key_days: days("journalDedupeTtlDays"),
            gateway_task_ttl: Duration::from_secs(number("gatewayTaskTtlHours") * 3_600),
            gateway_tools: settings.text("gatewayTools").clone(),
            files: FileSettings {
                max_file_bytes: number("filesystemMaxFileBytes"),
                max_write_bytes: number("filesystemMaxWriteBytes"),
                max_search_results: size("filesystemMaxSearchResults").max(1),
                search_max_files: size("filesystemSearchMaxFiles").max(1),
                follow_links_out: settings.text("filesystemSymlinkPolicy") == "allow",
            },
            shell: ShellSettings::read(settings),
            lsp: LspSettings::read(settings),
        }
    }
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            text: TextLimits::default(),
            idle: Duration::from_millis(limits::IDLE_MS),
            total: Duration::from_millis(limits::TOTAL_MS),
            log: LogRules::default(),
            rotation: Rotation { max_bytes: 16 << 20, max_lines: 0, keep_files: 10 },
            concurrent: limits::CONCURRENT,
            queue: limits::QUEUE,
            server_slots: BTreeMap::new(),
            lang: Lang::En,
            people: Lang::En,
            backend: PromptBackend::Auto,
            secrets_to_model: false,
            confirm_timeout_ms: 0,
            confirm_file_changes: true,
            confirm_main_tasks: false,
            confirm_sub_tasks: false,
            task_key_days: 7,
            journal_key_days: 30,
            gateway_task_ttl: Duration::from_secs(168 * 3_600),
            gateway_tools: "auto".to_owned(),
            files: FileSettings::default(),
            shell: ShellSettings::default(),
            lsp: LspSettings::default(),
        }
    }
}

/// Settings that never change: tests, and processes that have no database.
#[derive(Debug, Clone, Default)]
pub struct FixedSettings(Arc<ToolSettings>);

impl FixedSettings {
    /// These settings.
    pub fn new(settings: ToolSettings) -> Self {
        Self(Arc::new(settings))
    }
}

impl SettingsSource for FixedSettings {
    fn current(&self) -> Arc<ToolSettings> {
        Arc::clone(&self.0)
    }
}

/// The settings of the state directory, for a process beside the host: read again whenever anybody
/// changed the database, so that a switch counts from the next call on (tools §13).
pub struct StoreSettings {
    store: StoreHandle,
    settings: Settings,
    last: Mutex<Last>,
}

/// What was read last: of which version of the database, and what was made of which revision.
#[derive(Default)]
struct Last {
    // When the look began that found them.
    looked: Option<Instant>,
    version: Option<i64>,
    made: Option<(u64, Arc<ToolSettings>)>,
}

impl StoreSettings {
    /// Settings under these flags and this environment.
    pub fn new(store: StoreHandle, input: SettingsInput) -> Self {
        Self { store, settings: Settings::unstored(input), last: Mutex::default() }
    }

    /// Flags and environment alone: what can be said before a database is opened.
    pub fn unstored(&self) -> ToolSettings {
        ToolSettings::read(&self.settings)
    }

    /// The version of the database, after reading what changed. A database that cannot be read leaves
    /// what was read last: a call must not get weaker limits because the disk is slow.
    fn refresh(&self, known: Option<i64>) -> Option<i64> {
        let store = match self.store.get() {
            Ok(store) => store?,
            Err(error) => {
                tracing::warn!(%error, "the settings cannot be read");
                return known;
            }
        };
        let read = store.data_version().and_then(|version| {
            if known != Some(version) {
                store.reload_settings(&self.settings)?;
            }
            Ok(version)
        });
        read.map_err(|error| tracing::warn!(%error, "the settings cannot be read")).ok().or(known)
    }
}

impl SettingsSource for StoreSettings {
    fn current(&self) -> Arc<ToolSettings> {
        self.current_for(Instant::now())
    }

    fn current_for(&self, arrived: Instant) -> Arc<ToolSettings> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(looked), Some((_, settings))) = (last.looked, &last.made)
            && looked >= arrived
        {
            return Arc::clone(settings);
        }
        last.looked = Some(Instant::now());
        last.version = self.refresh(last.version);
        // Most changes of the database are no change of settings.
        let revision = self.settings.revision();
        if let Some((known, settings)) = &last.made
            && *known == revision
        {
            return Arc::clone(settings);
        }
        let settings = Arc::new(ToolSettings::read(&self.settings));
        last.made = Some((revision, Arc::clone(&settings)));
        settings
    }
}

#[cfg(test)]
mod tests {
    use chatos_store::{OpenOptions, Store};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_switch_of_another_process_counts_from_the_next_call_on() {
        let dir = tempfile::tempdir().unwrap();
        let options = OpenOptions {
            path: dir.path().join("state.db"),
            backups: dir.path().join("backups"),
            migrate: true,
            wal: true,
            used: false,
            check: false,
        };
        let place = options.clone();
        let handle = StoreHandle::later(move || {
            if place.path.exists() { Store::open(place.clone()).map(Some) } else { Ok(None) }
        });
        let input = SettingsInput {
            flags: [("toolQueueMax".to_owned(), json!(5))].into(),
            env: [("CHATOS_SET_TOOL_MAX_CONCURRENT".to_owned(), "7".to_owned())].into(),
        };
        let source = StoreSettings::new(handle, input);
        let first = source.current();
        assert_eq!((first.queue, first.concurrent, first.confirm_file_changes), (5, 7, true));
        assert!(!dir.path().join("state.db").exists(), "looking creates nothing");
        let other = Store::open(options).unwrap();
        let person = other.load_settings(SettingsInput::default()).unwrap();
        assert!(source.current().confirm_file_changes);
        other.set_setting(&person, "confirmFileChanges", &json!(false), "test").unwrap();
        other.set_setting(&person, "toolQueueMax", &json!(9), "test").unwrap();
        let second = source.current();
        assert_eq!((second.queue, second.confirm_file_changes), (5, false), "a flag wins over the database");
        assert!(Arc::ptr_eq(&second, &source.current()), "nothing changed, nothing is read");
        other.set_meta("a", "1").unwrap();
        assert!(Arc::ptr_eq(&second, &source.current()), "another change is no change of settings");
        let arrived = Instant::now();
        assert!(!source.current_for(arrived).confirm_file_changes);
        other.reset_setting(&person, "confirmFileChanges").unwrap();
        assert!(!source.current_for(arrived).confirm_file_changes, "it was here before the switch");
        assert!(source.current_for(Instant::now()).confirm_file_changes);
        assert!(source.current_for(arrived).confirm_file_changes, "the newest look counts");
        other.set_setting(&person, "confirmFileChanges", &json!(false), "test").unwrap();
        assert!(!source.current().confirm_file_changes);
    }
}
