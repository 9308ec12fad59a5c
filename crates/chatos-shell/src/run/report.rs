//! The result of a command: within the limits, with everything a model needs in its text.

use chatos_layer::consent::Consent;
use chatos_layer::{Body, CallCx, Outcome, Stop};
use chatos_tool::truncate::{Keep, Unit};
use chatos_tool::{Cut, Lang, Phase, ToolError};
use serde_json::{Value, json};

use super::{Data, Denied, Followed, Prepared, Ran};
use crate::changes::Changed;
use crate::check::{Finding, Grade};
use crate::denied::Denial;
use crate::output::{self, Printed, Stream, share};
use crate::server::signal_name;

/// The command as the first line shows it.
const SHOWN_COMMAND: usize = 300;

/// The result of a command that ran.
pub(super) fn outcome(
    cx: &CallCx,
    prepared: Prepared,
    followed: Followed,
    changed: Option<Vec<Changed>>,
) -> Outcome<Data> {
    let (stdout, stderr) = (&followed.stdout, &followed.stderr);
    let mut findings = prepared.checked.findings;
    findings.extend(followed.findings);
    let denied: Vec<Denial> = findings.iter().filter_map(|finding| finding.denied.clone()).collect();
    let opens = denied.iter().any(|denial| denial.opens.is_some());
    let root = cx.root.as_ref().filter(|_| opens);
    let root = root.map(|root| chatos_access::real(root.path()).display().to_string());
    let denied = (!denied.is_empty()).then_some(denied);
    let elapsed_ms = u64::try_from(followed.elapsed.as_millis()).unwrap_or(u64::MAX);
    let mut data = Data {
        command: prepared.command,
        cwd: prepared.dir.rel,
        shell: prepared.shell.path,
        mode: cx.settings.shell.mode,
        sandbox: Ran {
            level: followed.level,
            network: prepared.terms.network,
            hosts: reachable(prepared.pass.is_some(), &prepared.granted),
            denied,
            root,
        },
        exit_code: followed.exit_code,
        signal: followed.signal.map(signal_name),
        timed_out: followed.timed_out,
        elapsed_ms,
        stdout: empty(),
        stderr: empty(),
        findings,
        estimate: prepared.checked.estimate,
        input_hint: followed.input_hint,
        changed_files: changed,
        consent: prepared.consent,
    };
    let text = lay_out(cx, &mut data, stdout, stderr);
    let cuts = cuts(&data);
    let body = Body::content(data, text).truncated(cuts).keep(Keep::HeadTail);
    match (followed.stopped, followed.timed_out) {
        (Some(Stop::Caller | Stop::Shutdown), _) => Outcome::Failed(body, cx.stop_error()),
        (Some(Stop::Timeout { limit_ms }), _) => Outcome::Failed(body, timeout(limit_ms)),
        (None, true) => Outcome::Failed(body, timeout(elapsed_ms)),
        (None, false) => Outcome::Ok(body),
    }
}

fn reachable(through: bool, granted: &chatos_access::Granted) -> Option<Vec<String>> {
    through.then(|| granted.hosts.iter().map(ToString::to_string).collect())
}

fn timeout(limit_ms: u64) -> ToolError {
    ToolError::timeout(limit_ms, Phase::Run).hint(chatos_tool::Text::fixed(
        "everything the command started was ended; use a larger timeout_ms, or session_run for programs that keep running",
        "命令启动的一切都已结束；请增大 timeout_ms，或用 session_run 运行持续性的程序",
    ))
}

/// Writes the text and fills the streams: what the one shows of them the other holds.
fn lay_out(cx: &CallCx, data: &mut Data, stdout: &Printed, stderr: &Printed) -> String {
    let changed = data.consent.changed_line(cx.lang);
    let head = format!("{changed}{}", header(data, stdout.bytes() + stderr.bytes()));
    let tail = footer(data, cx.lang);
    let around = head.chars().count() + tail.chars().count() + 64;
    // Bytes never undercount characters, so what fits in bytes fits.
    let room = cx.settings.text.result_chars.saturating_sub(around);
    let (one, other) = share(room, stdout.wish(), stderr.wish());
    data.stdout = stdout.stream(one, cx.lang);
    data.stderr = stderr.stream(other, cx.lang);
    let body = output::sections(&data.stdout, &data.stderr);
    format!("{head}\n{}\n{body}{tail}", "-".repeat(40))
}

fn header(data: &Data, bytes: u64) -> String {
    let one_line: String =
        data.command.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_COMMAND).collect();
    let more = if data.command.chars().count() > SHOWN_COMMAND { "…" } else { "" };
    let mut parts = vec![format!("$ {one_line}{more}"), format!("cwd: {}", data.cwd)];
    match data.exit_code {
        Some(code) => parts.push(format!("exit code: {code}")),
        None => parts.push("exit code: -".to_owned()),
    }
    parts.extend(data.signal.as_ref().map(|signal| format!("signal: {signal}")));
    if data.timed_out {
        parts.push("timed out".to_owned());
    }
    parts.push(format!("elapsed: {}ms", data.elapsed_ms));
    parts.push(format!("bytes: {bytes}"));
    parts.push(format!("sandbox: {}", data.sandbox.level.as_str()));
    parts.join(" | ")
}

fn footer(data: &Data, lang: Lang) -> String {
    let pick = |en: &str, zh: &str| if lang == Lang::En { en.to_owned() } else { zh.to_owned() };
    let mut text = String::new();
    if let Some(hint) = &data.input_hint {
        text.push_str(&pick(
            &format!("\n\nSeems to have waited for input ({}): {}", hint.kind, hint.line),
            &format!("\n\n似乎在等待输入（{}）：{}", hint.kind, hint.line),
        ));
    }
    if let Some(changed) = data.changed_files.as_ref().filter(|changed| !changed.is_empty()) {
        let list: Vec<String> = changed
            .iter()
            .take(50)
            .map(|changed| format!("\n- {} ({})", changed.path, changed.change))
            .collect();
        let more = changed.len().saturating_sub(50);
        let more = if more > 0 {
            pick(&format!("\n- … and {more} more"), &format!("\n- … 另有 {more} 个"))
        } else {
            String::new()
        };
        text.push_str(&format!("\n\n{}{}{more}", pick("[Changed files]", "[更改的文件]"), list.concat()));
    }
    let warnings: Vec<&Finding> =
        data.findings.iter().filter(|finding| finding.level >= Grade::Warn).collect();
    if !warnings.is_empty() {
        text.push_str(&format!("\n\n{}", pick("[Warnings]", "[警告]")));
        for finding in warnings {
            let of = finding.text.as_ref().map(|text| format!(": {text}")).unwrap_or_default();
            text.push_str(&format!("\n- {} – {}{of}", finding.id, finding.message));
        }
    }
    text.push_str(&data.consent.line(lang));
    text
}

fn cuts(data: &Data) -> Vec<Cut> {
    let cut = |field: &str, stream: &Stream| {
        stream.truncated.then(|| Cut {
            field: field.to_owned(),
            unit: Unit::Bytes,
            keep: Keep::HeadTail,
            limit: stream.bytes - stream.omitted_bytes,
            kept: stream.bytes - stream.omitted_bytes,
            total: Some(stream.bytes),
            next: None,
        })
    };
    [cut("/stdout/text", &data.stdout), cut("/stderr/text", &data.stderr)].into_iter().flatten().collect()
}

fn empty() -> Stream {
    Printed::default().stream(0, Lang::En)
}

/// `data` of a command that was refused before it ran.
pub(super) fn denied(cx: &CallCx, command: &str, denied: Denied) -> Value {
    let data = Data {
        command: command.to_owned(),
        cwd: denied.cwd,
        shell: denied.shell,
        mode: cx.settings.shell.mode,
        sandbox: Ran {
            level: denied.terms.level,
            network: denied.terms.network,
            hosts: None,
            denied: None,
            root: None,
        },
        exit_code: None,
        signal: None,
        timed_out: false,
        elapsed_ms: 0,
        stdout: empty(),
        stderr: empty(),
        findings: denied.findings,
        estimate: None,
        input_hint: None,
        changed_files: None,
        consent: Consent::default(),
    };
    serde_json::to_value(data).unwrap_or_else(|_| json!(null))
}

/// The result of a command on a terminal that ended by itself or at its deadline.
pub(crate) fn on_terminal(
    cx: &CallCx,
    prepared: Prepared,
    printed: Printed,
    ended: (Option<i32>, Option<String>, bool, std::time::Duration),
) -> Outcome<Data> {
    let (exit_code, signal, timed_out, elapsed) = ended;
    let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let mut data = Data {
        command: prepared.command,
        cwd: prepared.dir.rel,
        shell: prepared.shell.path,
        mode: cx.settings.shell.mode,
        sandbox: Ran {
            level: prepared.terms.level,
            network: prepared.terms.network,
            hosts: reachable(prepared.pass.is_some(), &prepared.granted),
            denied: None,
            root: None,
        },
        exit_code,
        signal,
        timed_out,
        elapsed_ms,
        stdout: empty(),
        stderr: empty(),
        findings: prepared.checked.findings,
        estimate: prepared.checked.estimate,
        input_hint: None,
        changed_files: None,
        consent: prepared.consent,
    };
    let text = lay_out(cx, &mut data, &printed, &Printed::default());
    let cuts = cuts(&data);
    let body = Body::content(data, text).truncated(cuts).keep(Keep::HeadTail);
    if timed_out { Outcome::Failed(body, timeout(elapsed_ms)) } else { Outcome::Ok(body) }
}
