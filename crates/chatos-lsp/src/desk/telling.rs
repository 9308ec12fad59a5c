//! What language servers that run say after another tool changed files: they hear of the change, and the caller
//! hears of the problems there are now.

use std::sync::Arc;

use chatos_layer::{BoxFuture, CallCx, Insight};
use chatos_tool::Lang;
use serde_json::json;
use tokio::time::Instant;

use super::{Desk, Opened, Trouble};
use crate::session::Session;
use crate::shapes::{self, Diagnostic};
use crate::uri;

/// Files of one change that are looked at, and lines that are told.
const MAX_FILES: usize = 5;
const MAX_LINES: usize = 10;

impl Insight for Desk {
    fn after_change<'a>(&'a self, cx: &'a CallCx, paths: &'a [String]) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let root = Self::root(cx).ok()?;
            // One wait for everything: whoever changed ten files is not made to wait ten times.
            let until = Instant::now() + cx.settings.lsp.diagnostics_wait;
            let mut told: Vec<String> = Vec::new();
            for session in self.pool.running().into_iter().filter(|one| one.folder.starts_with(root)) {
                self.hear(&session, root, paths).await;
                let own = |path: &&String| {
                    session.server.fits(path) && session.server.folder(root, path) == session.folder
                };
                for path in paths.iter().filter(own).take(MAX_FILES) {
                    // A call that has to stop does not wait for this; its change is made.
                    let said = cx.unless_stopped(self.told(cx, &session, path, until)).await.ok()?;
                    told.extend(said);
                }
            }
            (!told.is_empty()).then(|| told.join("\n"))
        })
    }
}

impl Desk {
    /// Tells a server that files changed, also those it has not open.
    pub(crate) async fn hear(&self, session: &Session, root: &std::path::Path, paths: &[String]) {
        // Whether one is new is not known here; servers look at it either way.
        let kind = |path: &std::path::Path| if path.exists() { 2 } else { 3 };
        let changes: Vec<_> = paths
            .iter()
            .map(|path| root.join(path))
            .map(|path| json!({ "uri": uri::of(&path), "type": kind(&path) }))
            .collect();
        // One that is gone needs to hear nothing.
        session.wire.tell("workspace/didChangeWatchedFiles", json!({ "changes": changes })).await.ok();
    }

    async fn told(&self, cx: &CallCx, session: &Arc<Session>, path: &str, until: Instant) -> Option<String> {
        let root = Self::root(cx).ok()?;
        let file = self.read(cx, path).await.ok()?;
        let looked = async {
            let document = self.sync(root, session, file).await?;
            let opened = Opened { session: Arc::clone(session), document };
            let wait = until.saturating_duration_since(Instant::now());
            let findings = Self::diagnose(cx, &opened, wait).await?;
            Ok::<_, Trouble>((opened, findings))
        };
        // A server that dies in this takes nothing from a change that is made.
        let (opened, findings) = looked.await.ok()?;
        let problems: Vec<&Diagnostic> =
            findings.list.iter().filter(|one| matches!(one.severity, None | Some(1 | 2))).collect();
        let id = &session.server.id;
        let zh = cx.lang == Lang::Zh;
        let mut text = match (problems.len(), findings.fresh) {
            (0, true) if zh => format!("[{id}] {path}：没有错误或警告"),
            (0, true) => format!("[{id}] {path}: no errors or warnings"),
            (0, false) if zh => format!("[{id}] {path}：仍在分析，尚无结果（可用 lsp_get_diagnostics 再查）"),
            (0, false) => {
                format!("[{id}] {path}: still analysing, nothing known yet (lsp_get_diagnostics asks again)")
            }
            (count, fresh) => {
                let still = match (fresh, zh) {
                    (true, _) => "",
                    (false, true) => "（仍在分析）",
                    (false, false) => " (still analysing)",
                };
                if zh {
                    format!("[{id}] {path}：{count} 个问题{still}")
                } else {
                    format!("[{id}] {path}: {count} problems{still}")
                }
            }
        };
        for one in problems.iter().take(MAX_LINES) {
            text.push('\n');
            text.push_str(&line(&opened, one));
        }
        if problems.len() > MAX_LINES {
            text.push_str(&format!("\n… (+{})", problems.len() - MAX_LINES));
        }
        Some(text)
    }
}

/// A problem as a line of text.
pub(crate) fn line(opened: &Opened, one: &Diagnostic) -> String {
    let Opened { session, document } = opened;
    let range = super::convert(one.range, &document.text, &document.lines, session.wants.encoding);
    let message = shapes::text(&one.message);
    let message: String = message.trim().chars().take(500).collect();
    let code = match &one.code {
        serde_json::Value::String(code) if !code.is_empty() => format!(" [{code}]"),
        serde_json::Value::Number(code) => format!(" [{code}]"),
        _ => String::new(),
    };
    let source = one.source.as_deref().map(|source| format!(" {source}")).unwrap_or_default();
    let (line, column) = (range.start.line + 1, range.start.character + 1);
    let severity = shapes::severity(one.severity);
    format!("{}:{line}:{column} {severity}{source}{code}: {message}", document.path)
}
