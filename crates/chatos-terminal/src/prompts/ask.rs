//! `chatos prompts request`: asks, and waits for the answer where that is wanted.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Value, json};

use super::desk::Desk;
use super::{finish, show, usage};
use crate::output::Output;

/// Largest file that is read; the limit of a line is lower and is checked where it counts.
const MAX_FILE: u64 = 16 << 20;

pub(super) async fn run(
    desk: &Desk,
    output: &Output,
    file: &Path,
    wait: bool,
    timeout: Option<Duration>,
) -> Result<ExitCode, Fault> {
    let mut payload = match payload(file) {
        Ok(payload) => payload,
        Err(fault) => return Ok(finish(output, &fault)),
    };
    if let (Some(timeout), Value::Object(prompt)) = (timeout, &mut payload["prompt"]) {
        // The queue itself gives up then, whoever keeps the clock.
        let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        prompt.entry("timeoutMs").or_insert(ms.into());
    }
    if let Value::Object(prompt) = &mut payload["prompt"] {
        let blank =
            prompt.get("source").and_then(Value::as_str).is_none_or(|source| source.trim().is_empty());
        if blank && prompt.get("source").is_none_or(Value::is_string) {
            prompt.insert("source".to_owned(), "cli".into());
        }
    }
    let asked = desk.request(&payload, output.lang).await?;
    let id = asked["requestId"].as_str().unwrap_or_default().to_owned();
    if !wait {
        if output.json {
            output.json_line(&asked);
        } else {
            output.say(&Text::new(format!("Asked: {id}"), format!("已提问：{id}")));
            show::warnings(output, &asked["warnings"]);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !output.json {
        output.say(&Text::new(format!("Asked: {id}; waiting…"), format!("已提问：{id}；正在等待…")));
        show::warnings(output, &asked["warnings"]);
    }
    let mut asker = Asker { first: desk, now: None };
    let answer = asker.answer(output, &id, timeout).await?;
    let answer = private(asker.desk(), output, &id, answer).await?;
    let ok = answer["response"]["status"] == "ok";
    if output.json {
        output.json_line(&json!({
            "requestId": id,
            "response": answer["response"],
            "by": answer["by"],
            "at": answer["at"],
        }));
    } else {
        show::response(output, &answer["response"]);
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Who waits. The question outlives the host it was given to, and so does the wait: when the host is
/// gone, whoever serves the queue next is asked, or the queue itself.
struct Asker<'a> {
    first: &'a Desk,
    now: Option<Desk>,
}

impl Asker<'_> {
    fn desk(&self) -> &Desk {
        self.now.as_ref().unwrap_or(self.first)
    }

    async fn answer(&mut self, output: &Output, id: &str, timeout: Option<Duration>) -> Result<Value, Fault> {
        // The host writes the timeout; a little longer than that and it is not going to.
        let deadline = timeout.map(|timeout| Instant::now() + timeout + Duration::from_secs(10));
        loop {
            match self.desk().wait(id, None, output.lang).await {
                Ok(answer) if answer["state"] == "closed" => return Ok(answer),
                Ok(_) => {
                    if self.desk().is_superseded() {
                        self.again().await;
                    }
                }
                // The host that was asked is gone, stops, or has not read its log yet.
                Err(fault) if fault.class == ErrorCode::Unavailable && self.desk().is_host() => {
                    self.again().await;
                }
                Err(fault) => return Err(fault),
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(Fault::new(
                    ErrorCode::Timeout,
                    Text::new(format!("no answer to `{id}` in time"), format!("`{id}` 未及时得到回答")),
                )
                .hint(Text::fixed(
                    "the question stays in the queue; see `chatos prompts list`",
                    "问题仍在队列中；可用 `chatos prompts list` 查看",
                )));
            }
        }
    }

    // Whoever serves the queue now. A host that is just starting or stopping is tried again.
    async fn again(&mut self) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        match self.first.again() {
            Ok(desk) => self.now = Some(desk),
            // Tried again by the loop, with whom it has.
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

// Secret values, and everything in minimal log mode, come separately and once.
async fn private(desk: &Desk, output: &Output, id: &str, mut answer: Value) -> Result<Value, Fault> {
    if answer["private"] == json!(true) {
        match desk.take(id, output.lang).await {
            Ok(mut taken) => answer["response"] = taken["response"].take(),
            Err(fault) if fault.class == ErrorCode::NotFound => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(answer)
}

fn payload(file: &Path) -> Result<Value, Fault> {
    let value = read_json(file)?;
    if !value.is_object() {
        return Err(usage(
            format!("the file must hold an object: {}", file.display()),
            format!("文件内容必须是对象：{}", file.display()),
        ));
    }
    // The prompt itself is accepted too: it has a kind, a payload has not.
    Ok(if value.get("prompt").is_none() && value.get("kind").is_some() {
        json!({ "prompt": value })
    } else {
        value
    })
}

/// JSON from a file, or from standard input.
pub(super) fn read_json(file: &Path) -> Result<Value, Fault> {
    let text = read_text(file)?;
    serde_json::from_str(&text).map_err(|error| {
        usage(
            format!("not JSON: {error}: {}", file.display()),
            format!("不是 JSON：{error}：{}", file.display()),
        )
    })
}

/// Text from a file, or from standard input.
pub(super) fn read_text(file: &Path) -> Result<String, Fault> {
    let failed = |error: &std::io::Error| {
        usage(
            format!("cannot read {}: {error}", file.display()),
            format!("无法读取 {}：{error}", file.display()),
        )
    };
    let mut bytes = Vec::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().lock().take(MAX_FILE + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(failed(&std::io::Error::other("larger than 16 MiB")));
    }
    String::from_utf8(bytes).map_err(|_| failed(&std::io::Error::other("not UTF-8 text")))
}
