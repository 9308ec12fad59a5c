//! One message and its reply, for pipes and scripts.

use std::io::{IsTerminal, Read as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::session::EventBatch;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;

use super::commands::{self, Line};
use super::files::File;
use super::screen::{Reader, Screen};
use super::talk::{End, How, Talk, end_of};
use crate::args::Thinking;
use crate::output::{Output, Paint};
use crate::prompts::{answer_here, input};

/// The most that is taken from a pipe.
const MOST: u64 = 2 * 1024 * 1024;
/// How long a pipe beside `-p` may stay silent before nobody is thought to write into it.
const SILENCE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };
/// How long a question may take into the queue after it was announced.
const ON_ITS_WAY: Duration = Duration::from_secs(10);
/// A question for a person was left open: a person is the missing resource.
const LEFT_OPEN: u8 = 5;

/// A message as it came in.
pub(super) struct Message {
    text: String,
    file: Option<File>,
    /// A person wrote it here: `/` and `@` mean what they mean in a conversation.
    typed: bool,
}

/// The message of the flags and of standard input: with `-p` data there is a file, alone it is the message.
pub(super) fn message(prompt: Option<&str>, keyboard: bool, output: &Output) -> Result<Message, Fault> {
    let Some(text) = prompt else {
        let bytes = read_pipe()?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("the message on standard input is not text", "标准输入中的消息不是文本"),
            )
            .hint(Text::fixed(
                "`-p TEXT` sends the data along as a file",
                "用 `-p 文本` 可将数据作为文件一并发送",
            ))
        })?;
        if text.trim().is_empty() {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("there is no message on standard input", "标准输入中没有消息"),
            )
            .hint(Text::fixed("use `chatos chat -p TEXT`", "请使用 `chatos chat -p 文本`")));
        }
        return Ok(Message { text: text.trim_end().to_owned(), file: None, typed: false });
    };
    let bytes = if keyboard || !speaks(output) { Vec::new() } else { read_pipe()? };
    let file = (!bytes.is_empty()).then(|| File::new("stdin.txt", bytes, None));
    Ok(Message { text: text.to_owned(), file, typed: true })
}

/// Whether somebody writes into the pipe, or has ended it. One that is open and silent is nobody's.
fn speaks(output: &Output) -> bool {
    let stdin = std::io::stdin();
    let mut watched = [PollFd::new(&stdin, PollFlags::IN)];
    // What cannot be watched, such as a file, can be read.
    let ready = poll(&mut watched, Some(&SILENCE)).map_or(true, |count| count > 0);
    if !ready {
        let note = Text::fixed(
            "nothing on standard input; going on without it (`< /dev/null` says so at once)",
            "标准输入没有内容，继续执行（可用 `< /dev/null` 立即说明）",
        );
        output.aside(Paint::Dim, note.get(output.lang));
    }
    ready
}

fn read_pipe() -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MOST + 1).read_to_end(&mut bytes).map_err(|error| {
        Fault::new(ErrorCode::Unavailable, Text::fixed("cannot read standard input", "无法读取标准输入"))
            .caused_by(&error)
    })?;
    if bytes.len() as u64 > MOST {
        return Err(Fault::new(
            ErrorCode::InvalidArgument,
            Text::fixed("more than 2 MiB on standard input", "标准输入超过 2 MiB"),
        )
        .code("attachment_too_large")
        .hint(Text::fixed("attach a file: `--attach FILE`", "请附加文件：`--attach 文件`")));
    }
    Ok(bytes)
}

pub(super) async fn run(
    talk: &mut Talk<'_>,
    message: Message,
    attended: bool,
    waits: bool,
) -> Result<ExitCode, Fault> {
    let output = talk.output;
    if attended {
        talk.api().attend();
        input::leave_at_interrupts();
    }
    talk.files.extend(message.file);
    let text = match commands::read(&message.text) {
        Line::Do(..) | Line::Fill(_) if message.typed => talk.filled(&message.text).await?,
        Line::Say(text) if message.typed => {
            talk.mention(&text).await?;
            text
        }
        _ => message.text,
    };
    let run = talk.send(&text, How::Queue).await?.run_id;
    let reader = if std::io::stdout().is_terminal() { Reader::Person(Thinking::Hide) } else { Reader::Pipe };
    let mut screen = Screen::new(output, reader);
    let mut stopping = false;
    loop {
        let batch = tokio::select! {
            batch = talk.events() => batch?,
            _ = tokio::signal::ctrl_c() => {
                // A second one does not wait for the end.
                if stopping {
                    return Ok(ExitCode::FAILURE);
                }
                stopping = true;
                if let Err(fault) = talk.stop().await {
                    output.fault(&fault);
                }
                continue;
            }
        };
        let EventBatch { events, resync, .. } = batch;
        for event in &events {
            if output.json {
                output.json_line(event);
            } else {
                screen.show(event);
            }
            if event["type"] == "prompt_waiting" && !stopping {
                screen.break_line();
                let id = event["requestId"].as_str().unwrap_or_default();
                if attended {
                    answer_here(talk.desk, output, id).await?;
                } else if is_open(talk, id).await? {
                    told_where(output, id);
                    if !waits {
                        return Ok(ExitCode::from(LEFT_OPEN));
                    }
                }
            }
            match end_of(event).filter(|(of, _)| *of == run) {
                None => {}
                Some((_, end)) => {
                    if !output.json {
                        screen.finish();
                    }
                    return Ok(match end {
                        End::Done => ExitCode::SUCCESS,
                        End::Stopped => ExitCode::FAILURE,
                        End::Failed(fault) => {
                            if !output.json {
                                output.fault(&fault);
                            }
                            ExitCode::FAILURE
                        }
                    });
                }
            }
        }
        if resync && talk.is_over(&run).await? {
            output.aside(
                Paint::Warn,
                Text::fixed("some events were missed", "遗漏了一些事件").get(output.lang),
            );
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// Whether a question waits for a person; a rule may have answered it already.
async fn is_open(talk: &Talk<'_>, id: &str) -> Result<bool, Fault> {
    let since = Instant::now();
    loop {
        match talk.desk.show(id, talk.lang()).await {
            Err(fault) if fault.code == "unknown_request" && since.elapsed() < ON_ITS_WAY => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(Value::Object(item)) => return Ok(item.get("state").is_some_and(|state| state == "pending")),
            Ok(_) => return Ok(false),
            Err(fault) => return Err(fault),
        }
    }
}

fn told_where(output: &Output, id: &str) {
    let note = Text::new(
        format!(
            "a question waits for you: {id}\nanswer it with `chatos prompts answer {id}`, or on the page"
        ),
        format!("有问题在等你回答：{id}\n请用 `chatos prompts answer {id}` 或在页面上回答"),
    );
    // Said even where little is said: without it the exit status cannot be understood.
    crate::output::plain_error(note.get(output.lang));
}
