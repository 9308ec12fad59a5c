//! `chatos runs`, `chatos trace` and `chatos usage`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use chatos_paths::Environment;
use chatos_records::Reopened;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::run::{RunPage, RunView, SpanView, TraceView, UsageList};
use chatos_wire::session::SessionView;
use chatos_wire::{RunKind, RunState, StepKind};
use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::args::{Global, Runs, TraceCommand, Usage};
use chatos_desk::encode;
use chatos_terminal::client::{Answer, Api, block_on, typed};
use chatos_terminal::names::Names;
use chatos_terminal::output::{Output, Paint, pad, visible};
use chatos_terminal::prompts::input;

pub(crate) fn run(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: Runs,
) -> Result<ExitCode, Fault> {
    match &action {
        Runs::Show { id } if is_file(id) => {
            let opened = Reopened::read(Path::new(id))?;
            let run = opened.run().cloned().unwrap_or_default();
            if output.json {
                output.json_line(&run);
            } else {
                show(output, &typed::<RunView>(run)?.body);
            }
            return Ok(ExitCode::SUCCESS);
        }
        Runs::Replay { id, speed, step } if is_file(id) => {
            let opened = Reopened::read(Path::new(id))?;
            return block_on(async {
                play(output, &opened.lines, *speed, *step).await?;
                Ok(ExitCode::SUCCESS)
            });
        }
        _ => {}
    }
    let api = Api::connect(global, environment)?;
    block_on(async {
        let lang = output.lang;
        match action {
            Runs::List { session, state, programs, limit } => {
                let session = match session {
                    Some(written) => Some(Names::new(&api, lang).chat(&written).await?),
                    None => None,
                };
                let mut path = format!("/api/v1/runs?limit={limit}");
                let kind = programs.then(|| RunKind::Client.to_string());
                for (name, value) in [("sessionId", session), ("state", state), ("kind", kind)] {
                    if let Some(value) = value {
                        path.push_str(&format!("&{name}={}", encode(&value)));
                    }
                }
                let list = api.get::<RunPage>(&path, lang).await?;
                if output.json {
                    output.json_line(&list.raw);
                } else {
                    list.items.iter().for_each(|run| output.line(&summary(output, run)));
                }
            }
            Runs::Show { id } => {
                let run = api.get::<RunView>(&format!("/api/v1/runs/{}", encode(&id)), lang).await?;
                if output.json { output.json_line(&run.raw) } else { show(output, &run) }
            }
            Runs::Abort { id } => act(&api, output, &id, "abort", &json!({})).await?,
            Runs::Resume { id } => {
                act(&api, output, &id, "resume", &json!({})).await?;
                // Without a host this process is the host: it stays until the run is over.
                if matches!(api, Api::Embedded(_)) {
                    finished(&api, output, &id).await?;
                }
            }
            Runs::Discard { id } => act(&api, output, &id, "discard", &json!({})).await?,
            Runs::Steer { id, text } => act(&api, output, &id, "steer", &json!({ "text": text })).await?,
            Runs::Replay { id, speed, step } => replay(&api, output, &id, speed, step).await?,
            Runs::Branch { id, at } => {
                let path = format!("/api/v1/runs/{}/branch", encode(&id));
                let body = json!({ "step": at });
                let session = api.ask::<SessionView>(Method::POST, &path, Some(&body), lang).await?;
                if output.json {
                    output.json_line(&session.raw);
                } else {
                    let id = &session.id;
                    output.say(&Text::new(format!("New chat {id}."), format!("新会话 {id}。")));
                }
            }
            Runs::Export { id, format, output: file } => export(&api, output, &id, &format, file).await?,
        }
        api.finish().await;
        Ok(ExitCode::SUCCESS)
    })
}

async fn act(api: &Api, output: &Output, id: &str, what: &str, body: &Value) -> Result<(), Fault> {
    let path = format!("/api/v1/runs/{}/{what}", encode(id));
    let done = api.call(Method::POST, &path, Some(body), output.lang).await?;
    if output.json {
        output.json_line(&done);
    } else {
        output.say(&Text::new(format!("Done: {what} {id}."), format!("完成：{what} {id}。")));
    }
    Ok(())
}

async fn finished(api: &Api, output: &Output, id: &str) -> Result<(), Fault> {
    loop {
        let run = api.get::<RunView>(&format!("/api/v1/runs/{}", encode(id)), output.lang).await?;
        if run.state.is_over() || matches!(run.state, RunState::WaitingPrompt | RunState::Interrupted) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn replay(api: &Api, output: &Output, id: &str, speed: f64, step: bool) -> Result<(), Fault> {
    let path = format!("/api/v1/runs/{}/export?format=jsonl&wrap=true", encode(id));
    let exported = api.get::<Exported>(&path, output.lang).await?;
    play(output, exported.lines.as_deref().unwrap_or_default(), speed, step).await
}

/// An exported run instead of an id: read where it lies, nothing is taken over (agents §14).
fn is_file(id: &str) -> bool {
    let path = Path::new(id);
    path.extension().is_some_and(|kind| kind == "chatosrun") || (id.contains('/') && path.is_file())
}

/// A run as a file inside an answer: bytes, lines, or a document that is the answer itself.
#[derive(Deserialize)]
struct Exported {
    base64: Option<String>,
    lines: Option<Vec<Value>>,
}

/// What replay shows of a line; the line itself is printed as it came.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Played {
    at: Option<f64>,
    #[serde(rename = "type")]
    kind: String,
    summary: String,
}

async fn play(output: &Output, lines: &[Value], speed: f64, step: bool) -> Result<(), Fault> {
    let mut before: Option<f64> = None;
    for line in lines {
        let shown = Played::deserialize(line).unwrap_or_default();
        let at = shown.at;
        if let (Some(from), Some(to)) = (before, at)
            && speed > 0.0
        {
            let wait = ((to - from) / 1000.0 / speed).clamp(0.0, 60.0);
            tokio::time::sleep(Duration::from_secs_f64(wait)).await;
        }
        before = at.or(before);
        if output.json {
            output.json_line(line);
        } else {
            let kind = output.paint(Paint::Dim, &pad(&visible(&shown.kind), 14));
            output.line(&format!("{kind} {}", visible(&shown.summary)));
        }
        if step {
            input::line("").map_err(|error| {
                Fault::new(
                    ErrorCode::Unavailable,
                    Text::fixed("cannot read from the terminal", "无法从终端读取"),
                )
                .caused_by(&error)
            })?;
        }
    }
    Ok(())
}

async fn export(
    api: &Api,
    output: &Output,
    id: &str,
    format: &str,
    file: Option<std::path::PathBuf>,
) -> Result<(), Fault> {
    let path = format!("/api/v1/runs/{}/export?format={}&wrap=true", encode(id), encode(format));
    let exported = api.get::<Exported>(&path, output.lang).await?;
    let bytes = match (&exported.base64, &exported.lines) {
        (Some(text), _) => decode(text)?,
        (None, Some(lines)) => lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes(),
        (None, None) => exported.raw.to_string().into_bytes(),
    };
    let Some(file) = file else {
        if exported.base64.is_some() {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("a chatosrun file is binary", "chatosrun 文件为二进制"),
            )
            .hint(Text::fixed("name a file with `-o FILE`", "请用 `-o 文件` 指定文件")));
        }
        output.line(String::from_utf8_lossy(&bytes).trim_end());
        return Ok(());
    };
    std::fs::write(&file, bytes).map_err(|error| {
        Fault::new(
            ErrorCode::Unavailable,
            Text::new(format!("cannot write {}", file.display()), format!("无法写入 {}", file.display())),
        )
        .caused_by(&error)
    })?;
    output.say(&Text::new(format!("Written to {}.", file.display()), format!("已写入 {}。", file.display())));
    Ok(())
}

fn decode(text: &str) -> Result<Vec<u8>, Fault> {
    chatos_host::decode_base64(text)
        .ok_or_else(|| Fault::new(ErrorCode::Internal, Text::same("the export cannot be read")))
}

fn summary(output: &Output, run: &RunView) -> String {
    let paint = match run.state {
        RunState::Done => Paint::Dim,
        RunState::Failed | RunState::Interrupted => Paint::Warn,
        RunState::Running => Paint::Good,
        _ => Paint::Bold,
    };
    let task: String = visible(&run.task).chars().take(60).collect();
    format!(
        "{} {} {} {}",
        output.paint(paint, &pad(run.state.as_str(), 14)),
        output.paint(Paint::Dim, &visible(&run.created_at)),
        visible(&run.id),
        task
    )
}

fn show(output: &Output, run: &RunView) {
    output.line(&summary(output, run));
    if let Some(error) = &run.error {
        output.line(&output.paint(Paint::Warn, &visible(&error.message)));
    }
    for step in run.steps.iter().flatten() {
        let elapsed = step.elapsed_ms.map(|ms| format!(" {ms} ms")).unwrap_or_default();
        let status = visible(step.status.as_deref().unwrap_or_default());
        // What a question was about.
        let said = step.input.as_ref().filter(|_| step.kind == StepKind::Prompt);
        let said = said.and_then(|input| input["text"].as_str());
        output.line(&format!(
            "{} {} {} {}{elapsed}",
            pad(&step.seq.to_string(), 5),
            pad(step.kind.as_str(), 10),
            pad(&format!("{} {status}", step.state), 18),
            visible(step.tool.as_deref().or(said).unwrap_or_default()),
        ));
    }
    // The calls of another program have a trace each.
    if !run.trace_id.is_empty() {
        output.line(&output.paint(Paint::Dim, &format!("trace {}", run.trace_id)));
    }
}

pub(crate) fn trace(
    global: &Global,
    environment: Environment,
    output: &Output,
    action: &TraceCommand,
) -> Result<ExitCode, Fault> {
    let TraceCommand::Show { id } = action;
    if is_file(id) {
        let opened = Reopened::read(Path::new(id))?;
        let trace = json!({ "traceId": opened.manifest.get("traceId"), "spans": spans_in(&opened.trace) });
        print_trace(output, &typed(trace)?);
        return Ok(ExitCode::SUCCESS);
    }
    let api = Api::connect(global, environment)?;
    block_on(async {
        let lang = output.lang;
        let trace_id = match api.get::<RunView>(&format!("/api/v1/runs/{}", encode(id)), lang).await {
            Ok(run) => run.body.trace_id,
            Err(_) => id.clone(),
        };
        let trace = api.get(&format!("/api/v1/traces/{}", encode(&trace_id)), lang).await?;
        print_trace(output, &trace);
        Ok(ExitCode::SUCCESS)
    })
}

fn spans_in(trace: &Value) -> &Value {
    trace.get("spans").unwrap_or(trace)
}

fn print_trace(output: &Output, trace: &Answer<TraceView>) {
    if output.json {
        output.json_line(&trace.raw);
        return;
    }
    let spans = &trace.spans;
    let known: Vec<&str> = spans.iter().map(|span| span.span_id.as_str()).collect();
    let roots = spans
        .iter()
        .filter(|span| span.parent_span_id.as_deref().is_none_or(|parent| !known.contains(&parent)));
    for root in roots {
        tree(output, spans, root, 0);
    }
}

fn tree(output: &Output, spans: &[SpanView], span: &SpanView, depth: usize) {
    let time = span.duration_ms.map(|ms| format!("{ms} ms")).unwrap_or_default();
    output.line(&format!(
        "{}{} {} {} {}",
        "  ".repeat(depth),
        output.paint(Paint::Bold, &visible(&span.kind)),
        visible(&span.name),
        visible(&span.status),
        output.paint(Paint::Dim, &time)
    ));
    if depth > 50 {
        return;
    }
    for child in spans.iter().filter(|child| child.parent_span_id.as_ref() == Some(&span.span_id)) {
        tree(output, spans, child, depth + 1);
    }
}

pub(crate) fn usage(
    global: &Global,
    environment: Environment,
    output: &Output,
    options: &Usage,
) -> Result<ExitCode, Fault> {
    let api = Api::connect(global, environment)?;
    block_on(async {
        let mut path = format!("/api/v1/usage?by={}", encode(&options.by));
        if let Some(since) = &options.since {
            path.push_str(&format!("&since={}", encode(since)));
        }
        let sums = api.get::<UsageList>(&path, output.lang).await?;
        if output.json {
            output.json_line(&sums.raw);
            return Ok(ExitCode::SUCCESS);
        }
        for sum in &sums.items {
            let name = sum.name.as_ref().unwrap_or(&sum.key);
            let pick = |en: &'static str, zh: &'static str| Text::fixed(en, zh).get(output.lang).to_owned();
            let cost = match (sum.cost, &sum.currency) {
                (Some(cost), Some(currency)) => format!("{cost:.4} {currency}"),
                _ => pick("cost unknown", "费用未知"),
            };
            let asked = sum.input + sum.cache_read + sum.cache_write;
            let cached = match sum.cache_read.checked_mul(100).and_then(|read| read.checked_div(asked)) {
                Some(share @ 1..) => format!(" ({share} % {})", pick("from cache", "来自缓存")),
                _ => String::new(),
            };
            output.line(&format!(
                "{} {:>6} {} {asked:>10} {}{cached} {:>10} {}  {cost}",
                pad(&visible(name), 28),
                sum.calls,
                pick("calls", "次调用"),
                pick("in", "输入"),
                sum.output,
                pick("out", "输出"),
            ));
        }
        Ok(ExitCode::SUCCESS)
    })
}
