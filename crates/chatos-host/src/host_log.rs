//! The host's own log: JSON lines in `host-log.jsonl`, rotated, and readable lines on stderr.

use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chatos_store::now_iso;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::{Context, SubscriberExt};

const FILE_BYTES: u64 = 10 * 1024 * 1024;
const FILES: usize = 5;

/// Starts logging for this process. A second call in one process changes nothing.
pub(crate) fn start(path: &Path, level: &str, to_stderr: bool) {
    let level = match level {
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => LevelFilter::INFO,
    };
    let layer = JsonLines { path: path.to_owned(), file: Mutex::new(None), to_stderr };
    let subscriber = tracing_subscriber::registry().with(layer.with_filter(level));
    // Tests open several hosts in one process; the first one's log is then everybody's.
    tracing::subscriber::set_global_default(subscriber).ok();
}

/// For a process beside the host: what it has to say goes to stderr only.
pub fn log_to_stderr(verbose: bool) {
    let level = if verbose { LevelFilter::DEBUG } else { LevelFilter::WARN };
    // What a client does wrong is answered to the client; the library's view of it is for bug hunts.
    let ours = filter_fn(move |meta| verbose || !meta.target().starts_with("rmcp"));
    let subscriber = tracing_subscriber::registry().with(Stderr.with_filter(level).with_filter(ours));
    tracing::subscriber::set_global_default(subscriber).ok();
}

struct Stderr;

impl<S: Subscriber> Layer<S> for Stderr {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        readable(event.metadata().level().as_str(), &fields);
    }
}

/// One line for people.
fn readable(level: &str, fields: &Fields) {
    let mut text = format!("{}: {}", level.to_ascii_lowercase(), fields.message);
    for (name, value) in &fields.others {
        write!(text, " {name}={value}").ok();
    }
    writeln!(std::io::stderr(), "{text}").ok();
}

struct JsonLines {
    path: PathBuf,
    file: Mutex<Option<(File, u64)>>,
    to_stderr: bool,
}

impl<S: Subscriber> Layer<S> for JsonLines {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let meta = event.metadata();
        let level = meta.level().as_str().to_ascii_lowercase();
        let line = json!({
            "ts": now_iso(), "level": level, "target": meta.target(),
            "message": fields.message, "fields": fields.others,
        });
        // A log that cannot be written must not stop the host; stderr still has the line.
        self.write(&format!("{line}\n")).ok();
        if self.to_stderr {
            readable(&level, &fields);
        }
    }
}

impl JsonLines {
    fn write(&self, line: &str) -> std::io::Result<()> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_none_or(|(_, size)| size + line.len() as u64 > FILE_BYTES) {
            if slot.take().is_some() {
                rotate(&self.path)?;
            }
            let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
            let size = file.metadata()?.len();
            *slot = Some((file, size));
        }
        if let Some((file, size)) = slot.as_mut() {
            file.write_all(line.as_bytes())?;
            *size += line.len() as u64;
        }
        Ok(())
    }
}

/// `host-log.jsonl` → `.1` → `.2` …; the oldest falls off.
fn rotate(path: &Path) -> std::io::Result<()> {
    let numbered = |number: usize| PathBuf::from(format!("{}.{number}", path.display()));
    for number in (1..FILES).rev() {
        let from = if number == 1 { path.to_owned() } else { numbered(number - 1) };
        if from.exists() {
            std::fs::rename(from, numbered(number))?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        if field.name() == "message" {
            self.message = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        } else {
            self.others.insert(field.name().to_owned(), value);
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, Value::from(format!("{value:?}")));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, Value::from(value));
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, Value::from(value));
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, Value::from(value));
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, Value::from(value));
    }
}
