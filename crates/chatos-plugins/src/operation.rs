//! An install as an operation: what is ordered, how it tells its progress, what it says at the end.

use std::path::PathBuf;

use chatos_events::{Lifetime, Operation};
use chatos_tool::{Lang, Text};
use serde_json::{Value, json};

use crate::fault::problems_json;
use crate::install::{InstallReport, KeptDir, Phase, Progress};

/// What to install.
#[derive(Debug, Clone)]
pub struct InstallOrder {
    /// A directory or zip file on this machine.
    pub source: PathBuf,
    /// "Install what works".
    pub allow_problems: bool,
    /// Say what would change, change nothing.
    pub dry_run: bool,
    /// Delete the source afterwards: it was uploaded.
    pub uploaded: bool,
    /// Language of the report.
    pub lang: Lang,
}

/// Tells an operation how an install goes, and the install that the operation was given up or the host stops.
pub struct InstallProgress<'a> {
    pub operation: &'a Operation,
    pub life: &'a Lifetime,
    /// Language of the messages.
    pub lang: Lang,
}

impl Progress for InstallProgress<'_> {
    fn report(&self, phase: Phase, done: u64, total: Option<u64>) {
        let message = match (phase, self.lang) {
            (Phase::Waiting, Lang::En) => "waiting for another install",
            (Phase::Waiting, Lang::Zh) => "正在等待另一个安装",
            (Phase::Reading, Lang::En) => "reading the package",
            (Phase::Reading, Lang::Zh) => "正在读取安装包",
            (Phase::Checking, Lang::En) => "checking",
            (Phase::Checking, Lang::Zh) => "正在检查",
            (Phase::Saving, Lang::En) => "saving",
            (Phase::Saving, Lang::Zh) => "正在保存",
            (Phase::Swapping, Lang::En) => "putting it into place",
            (Phase::Swapping, Lang::Zh) => "正在放到位",
        };
        self.operation.progress(done, total, "bytes", message);
    }

    fn is_canceled(&self) -> bool {
        self.operation.is_canceled() || self.life.is_over()
    }
}

/// A folder that was there and was not installed, as a warning of an install.
fn kept_json(kept: &KeptDir, lang: Lang) -> Value {
    let from = kept.from.display();
    let (message, hint) = match &kept.to {
        Some(to) => (
            Text::new(
                format!(
                    "a folder with this id that was not installed, or has changed since, was moved aside: {from}"
                ),
                format!("有一个同 id 的文件夹不是安装的（或安装后被修改过），已移到一旁：{from}"),
            ),
            Text::new(format!("it is kept at {}", to.display()), format!("它保存在 {}", to.display())),
        ),
        None => (
            Text::new(
                format!(
                    "a folder with this id that was not installed, or has changed since, would be moved aside: {from}"
                ),
                format!("有一个同 id 的文件夹不是安装的（或安装后被修改过），将会移到一旁：{from}"),
            ),
            Text::same(""),
        ),
    };
    json!({
        "path": "", "code": "folder_kept", "severity": "warning", "message": message.get(lang), "hint": hint.get(lang),
    })
}

/// The result of an install as it is documented.
pub fn install_report(report: &InstallReport, lang: Lang) -> Value {
    let plugins: Vec<Value> = report
        .plugins
        .iter()
        .map(|plugin| {
            let mut entry = json!({
                "id": plugin.id, "name": plugin.name, "version": plugin.version,
                "previousVersion": plugin.previous_version, "pluginDir": plugin.dir, "replaced": plugin.replaced,
                "trust": plugin.trust, "digest": plugin.digest, "files": plugin.files, "bytes": plugin.bytes,
                "excluded": plugin.excluded, "kept": plugin.kept,
            });
            if report.dry_run {
                entry["changes"] = json!(plugin.changes);
            }
            entry
        })
        .collect();
    let mut warnings = problems_json(&report.problems, lang);
    warnings.extend(report.plugins.iter().flat_map(|plugin| &plugin.kept).map(|kept| kept_json(kept, lang)));
    if report.ignored > 0 {
        let (en, zh) = (
            format!("{} files beside the plugins were not installed", report.ignored),
            format!("有 {} 个位于插件目录之外的文件未安装", report.ignored),
        );
        let message = Text::new(en, zh).get(lang).to_owned();
        warnings.push(json!({ "path": "", "code": "files_ignored", "severity": "warning", "message": message, "hint": "" }));
    }
    let mut value = json!({
        "ok": true, "logId": report.log_id, "pluginsRoot": report.plugins_root, "plugins": plugins, "warnings": warnings,
    });
    if report.dry_run {
        value["dryRun"] = json!(true);
    }
    value
}
