//! `chatos runs`, `chatos trace` and `chatos usage`.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use chatos_host::{Environment, ErrorCode, Fault, Reopened, Text};
use hyper::Method;
use serde_json::{Value, json};

use super::prompts::input;
use crate::args::{Global, Runs, TraceCommand, Usage};
use crate::client::{Api, block_on, encode};
use crate::output::{Output, Paint, pad, visible};

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
                show(output, &run);
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
            Runs::List { session, state, limit } => {
                let mut path = format!("/api/v1/runs?limit={limit}");
                for (name, value) in [("sessionId", session), ("state", state)] {
                    if let Some(value) = value {
                        path.push_str(&format!("&{name}={}", encode(&value)));
                    }
                }
                let list = api.get(&path, lang).await?;
                if output.json {
                    output.json_line(&list);
                } else {
                    list["items"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .for_each(|run| output.line(&summary(output, run)));
                }
            }
            Runs::Show { id } => {
                let run = api.get(&format!("/api/v1/runs/{}", encode(&id)), lang).await?;
                if output.json { output.json_line(&run) } else { show(output, &run) }
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
                let session = api.call(Method::POST, &path, Some(&json!({ "step": at })), lang).await?;
                if output.json {
                    output.json_line(&session);
                } else {
                    let id = session["id"].as_str().unwrap_or_default();
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
        let run = api.get(&format!("/api/v1/runs/{}", encode(id)), output.lang).await?;
        let over = matches!(
            run["state"].as_str(),
            Some("done" | "failed" | "aborted" | "discarded" | "waiting_prompt" | "interrupted")
        );
        if over {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn replay(api: &Api, output: &Output, id: &str, speed: f64, step: bool) -> Result<(), Fault> {
    let path = format!("/api/v1/runs/{}/export?format=jsonl&wrap=true", encode(id));
    let exported = api.get(&path, output.lang).await?;
    play(output, exported["lines"].as_array().map(Vec::as_slice).unwrap_or_default(), speed, step).await
}

/// An exported run instead of an id: read where it lies, nothing is taken over (agents §14).
fn is_file(id: &str) -> bool {
    let path = Path::new(id);
    path.extension().is_some_and(|kind| kind == "chatosrun") || (id.contains('/') && path.is_file())
}

async fn play(output: &Output, lines: &[Value], speed: f64, step: bool) -> Result<(), Fault> {
    let mut before: Option<f64> = None;
    for line in lines {
        let at = line["at"].as_f64();
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
            let text = |name: &str| visible(line[name].as_str().unwrap_or_default());
            output.line(&format!(
                "{} {}",
                output.paint(Paint::Dim, &pad(&text("type"), 14)),
                text("summary")
            ));
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
    let exported = api.get(&path, output.lang).await?;
    let bytes = match exported["base64"].as_str() {
        Some(text) => decode(text)?,
        None => match exported["lines"].as_array() {
            Some(lines) => lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes(),
            None => exported.to_string().into_bytes(),
        },
    };
    let Some(file) = file else {
        if exported["base64"].is_string() {
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

fn summary(output: &Output, run: &Value) -> String {
    let text = |name: &str| visible(run[name].as_str().unwrap_or_default());
    let paint = match run["state"].as_str() {
        Some("done") => Paint::Dim,
        Some("failed" | "interrupted") => Paint::Warn,
        Some("running") => Paint::Good,
        _ => Paint::Bold,
    };
    let task: String = text("task").chars().take(60).collect();
    format!(
        "{} {} {} {}",
        output.paint(paint, &pad(&text("state"), 14)),
        output.paint(Paint::Dim, &text("createdAt")),
        text("id"),
        task
    )
}

fn show(output: &Output, run: &Value) {
    output.line(&summary(output, run));
    if let Some(message) = run["error"]["message"].as_str() {
        output.line(&output.paint(Paint::Warn, &visible(message)));
    }
    for step in run["steps"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let text = |name: &str| visible(step[name].as_str().unwrap_or_default());
        let elapsed = step["elapsedMs"].as_i64().map(|ms| format!(" {ms} ms")).unwrap_or_default();
        output.line(&format!(
            "{} {} {} {}{elapsed}",
            pad(&step["seq"].to_string(), 5),
            pad(&text("kind"), 10),
            pad(&format!("{} {}", text("state"), text("status")), 18),
            text("tool"),
        ));
    }
    let trace = run["traceId"].as_str().unwrap_or_default();
    output.line(&output.paint(Paint::Dim, &format!("trace {trace}")));
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
        let trace = json!({ "traceId": opened.manifest["traceId"], "spans": spans_in(&opened.trace) });
        print_trace(output, &trace);
        return Ok(ExitCode::SUCCESS);
    }
    let api = Api::connect(global, environment)?;
    block_on(async {
        let lang = output.lang;
        let trace_id = match api.get(&format!("/api/v1/runs/{}", encode(id)), lang).await {
            Ok(run) => run["traceId"].as_str().unwrap_or(id).to_owned(),
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

fn print_trace(output: &Output, trace: &Value) {
    if output.json {
        output.json_line(trace);
        return;
    }
    let spans = trace["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    let known: Vec<&str> = spans.iter().filter_map(|span| span["spanId"].as_str()).collect();
    let roots = spans
        .iter()
        .filter(|span| span["parentSpanId"].as_str().is_none_or(|parent| !known.contains(&parent)));
    for root in roots {
        tree(output, spans, root, 0);
    }
}

fn tree(output: &Output, spans: &[Value], span: &Value, depth: usize) {
    let text = |name: &str| visible(span[name].as_str().unwrap_or_default());
    let time = span["durationMs"].as_i64().map(|ms| format!("{ms} ms")).unwrap_or_default();
    output.line(&format!(
        "{}{} {} {} {}",
        "  ".repeat(depth),
        output.paint(Paint::Bold, &text("kind")),
        text("name"),
        text("status"),
        output.paint(Paint::Dim, &time)
    ));
    if depth > 50 {
        return;
    }
    for child in spans.iter().filter(|child| child["parentSpanId"] == span["spanId"]) {
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
        let sums = api.get(&path, output.lang).await?;
        if output.json {
            output.json_line(&sums);
            return Ok(ExitCode::SUCCESS);
        }
        for sum in sums["items"].as_array().map(Vec::as_slice).unwrap_or_default() {
            let name = sum["name"].as_str().or(sum["key"].as_str()).unwrap_or_default();
            let cost = match (sum["cost"].as_f64(), sum["currency"].as_str()) {
                (Some(cost), Some(currency)) => format!("{cost:.4} {currency}"),
                _ => "cost unknown".to_owned(),
            };
            output.line(&format!(
                "{} {:>6} calls {:>10} in {:>10} out  {cost}",
                pad(&visible(name), 28),
                sum["calls"],
                sum["input"],
                sum["output"]
            ));
        }
        Ok(ExitCode::SUCCESS)
    })
}
