//! What rules answered: the audit log knows each use, and History shows the last of them, so that nothing a rule did goes
//! unseen (inbox §4.2 point 5).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use chatos_prompts::Effect;
use chatos_store::now_ms;
use chatos_tool::{ErrorCode, Fault, Lang, Redactor, Text, Trace};
use chatos_wire::card::{Deed, plain};
use serde_json::{Map, Value, json};

use crate::inbox::Inbox;

/// How far back is looked, in bytes of the newest file.
const TAIL: u64 = 4 << 20;
/// Most uses that are shown.
const MOST: usize = 200;
/// Longest text of a use that is kept.
const MAX_ABOUT: usize = 400;

/// Says in an audit record what a rule answered: enough to find it again, nothing that looks like a secret.
pub(super) fn describe(fields: &mut Map<String, Value>, name: &str, effect: &Effect, trace: &Trace) {
    let material = &effect.material;
    let deed = Deed::of(&effect.name, material);
    let about = match effect.name.as_str() {
        "command" => material["command"]["text"].as_str().unwrap_or_default(),
        "file_change" => material["files"][0]["path"].as_str().unwrap_or_default(),
        _ => "",
    };
    let about: String = about.chars().take(MAX_ABOUT).collect();
    fields.insert("name".to_owned(), json!(name));
    fields.insert("kind".to_owned(), json!(effect.name));
    fields.insert("deed".to_owned(), json!(deed));
    fields.insert("about".to_owned(), Redactor::new().value(&json!(about), MAX_ABOUT * 4));
    fields.insert("project".to_owned(), material["root"]["path"].clone());
    fields.insert("sessionId".to_owned(), json!(trace.session_id));
}

impl Inbox {
    /// `GET /rules/uses`: the last answers that rules gave, newest first; blocks on the file.
    pub fn rule_uses(&self, lang: Lang) -> Result<Value, Fault> {
        let now = now_ms();
        let answering: Vec<String> = self
            .kept_rules()?
            .into_iter()
            .filter_map(|kept| kept.rule)
            .filter(|rule| !rule.paused && rule.until.is_none_or(|until| now < until))
            .map(|rule| rule.id)
            .collect();
        let folder = self.parts().dir.audit();
        let text = tail(&folder).map_err(|error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("the audit log cannot be read: {error}"),
                    format!("无法读取审计日志：{error}"),
                ),
            )
            .code("audit_unreadable")
        })?;
        let records = text.lines().rev().filter(|line| line.contains("\"rule_used\""));
        let records = records.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let used = records.filter(|record| record["type"] == "rule_used").take(MOST);
        let uses: Vec<Value> = used.map(|record| view(&record, &answering, lang)).collect();
        Ok(json!({ "uses": uses }))
    }
}

fn view(record: &Value, answering: &[String], lang: Lang) -> Value {
    let rule = record["decision"].as_str().and_then(|text| text.strip_prefix("rule:")).unwrap_or_default();
    let deed: Option<Deed> = serde_json::from_value(record["deed"].clone()).ok();
    let title = deed.and_then(|deed| deed.title(None, None));
    let about = record["about"].as_str().unwrap_or_default();
    let changes = record["kind"] == "file_change" && record["effect"] == "allow" && !about.is_empty();
    json!({
        "seq": record["seq"].as_u64().unwrap_or_default(),
        "at": record["ts"].as_str().unwrap_or_default(),
        "rule": rule,
        "name": plain(record["name"].as_str().unwrap_or(rule)),
        "active": answering.iter().any(|id| id == rule),
        "decision": record["effect"].as_str().unwrap_or_default(),
        "title": title.map_or_else(String::new, |title| title.get(lang).to_owned()),
        "about": about,
        "tool": record["tool"].as_str().unwrap_or_default(),
        "project": record["project"].as_str(),
        "runId": record["runId"].as_str(),
        "sessionId": record["sessionId"].as_str(),
        "path": changes.then_some(about),
    })
}

/// The whole lines at the end of the newest files.
fn tail(folder: &Path) -> std::io::Result<String> {
    let mut files: Vec<PathBuf> = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())).collect(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    // One file a year: at its beginning the year before is looked at as well.
    let mut text = String::new();
    for path in files.iter().rev().take(2).rev() {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        let read = String::from_utf8_lossy(&bytes);
        // The first line of a part may be half of one.
        let whole =
            if from == 0 { read.as_ref() } else { read.split_once('\n').map_or("", |(_, rest)| rest) };
        text.push_str(whole);
    }
    Ok(text)
}
