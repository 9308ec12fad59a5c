//! A person at a terminal, in a conversation: lines in, what happens out, Ctrl-C as working-day §9 says.

mod act;
mod may;

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::command::{CommandKind, CommandList};
use chatos_wire::{MessageRole, RunState};
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::editor::Editor;
use super::line::{LineEditor, Lookup, Quiet, Typed, key};
use super::screen::{Reader, Screen};
use super::talk::{End, Talk, end_of};
use crate::args::Thinking;
use crate::chats::{messages, print_message};
use crate::names::used;
use crate::output::{Output, Paint, visible};
use crate::prompts::{answer_here, input};

/// Within this time a second Ctrl-C leaves.
const AGAIN: Duration = Duration::from_secs(2);
/// Chats whose messages the arrow keys bring back, and how many messages of each.
const PAST: (usize, usize) = (5, 100);
/// Messages that are shown of a chat one comes back to.
const RECALLED: usize = 4;

const PROMPT: &str = "> ";

/// `edits`: the terminal can move the cursor.
pub(super) async fn run(
    talk: &mut Talk<'_>,
    thinking: Thinking,
    edits: bool,
    own: Editor,
) -> Result<ExitCode, Fault> {
    talk.api().attend();
    input::leave_at_interrupts();
    let watch = |kind| {
        signal(kind).map_err(|error| {
            Fault::new(ErrorCode::Unavailable, Text::fixed("cannot watch signals", "无法监听信号"))
                .caused_by(&error)
        })
    };
    let (editor, lookups) =
        LineEditor::start(past(talk).await?, commands(talk).await).map_err(|error| unreadable(&error))?;
    let output = talk.output;
    let mut live = Live {
        screen: Screen::new(output, Reader::Person(thinking)),
        editor,
        own,
        changes: HashSet::new(),
        approved: false,
        lookups,
        runs: Vec::new(),
        interrupted: None,
        status: String::new(),
        interrupts: watch(SignalKind::interrupt())?,
        terminations: watch(SignalKind::terminate())?,
        quiet: Quiet::begin().ok(),
        edits,
        output,
        talk,
    };
    live.recall().await?;
    output.say(&Text::fixed("/help lists commands, Ctrl-D leaves.", "/help 列出命令，Ctrl-D 离开。"));
    live.converse().await
}

struct Live<'t, 'a> {
    talk: &'t mut Talk<'a>,
    output: &'a Output,
    screen: Screen<'a>,
    editor: LineEditor,
    /// The person's own editor.
    own: Editor,
    /// Changes of files whose difference was shown.
    changes: HashSet<String>,
    /// A question of the call under way was answered here.
    approved: bool,
    /// What Tab behind an `@` asks.
    lookups: tokio::sync::mpsc::UnboundedReceiver<Lookup>,
    /// Runs whose end is waited for, in the order of their turns.
    runs: Vec<Run>,
    /// When Ctrl-C was pressed with nothing to clear.
    interrupted: Option<Instant>,
    /// The status line as it was shown last.
    status: String,
    interrupts: Signal,
    terminations: Signal,
    /// Keys pressed between two lines are for the next one; dropped, the terminal is as it was.
    quiet: Option<Quiet>,
    edits: bool,
}

struct Run {
    id: String,
    /// What was said, while it waits for its turn.
    waits: Option<String>,
}

const AGAIN_TO_LEAVE: Text = Text::fixed("Ctrl-C again to leave", "再按一次 Ctrl-C 离开");

/// Whether Ctrl-C was pressed a moment before, too.
fn is_again(before: &mut Option<Instant>) -> bool {
    let now = Instant::now();
    before.replace(now).is_some_and(|before| now.duration_since(before) < AGAIN)
}

/// Whether the conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Go,
    Leave,
}

/// What happened first while the agent works.
enum Heard {
    Events(Vec<Value>, bool),
    Key,
    Interrupt,
    Terminate,
}

impl Live<'_, '_> {
    async fn converse(&mut self) -> Result<ExitCode, Fault> {
        loop {
            let next = if self.runs.is_empty() { self.idle().await? } else { self.follow().await? };
            if next == Next::Leave {
                self.tell_leaving();
                return Ok(ExitCode::SUCCESS);
            }
        }
    }

    /// The agent is done: it is the person's turn.
    async fn idle(&mut self) -> Result<Next, Fault> {
        // What is wrong with the agent or the model can be mended from here.
        let status =
            self.talk.status().await.unwrap_or_else(|fault| fault.message.get(self.output.lang).to_owned());
        if status != self.status {
            self.output.say(&Text::same(self.output.paint(Paint::Dim, &status)));
            self.status = status;
        }
        match self.line().await? {
            Typed::Line(text) => {
                self.interrupted = None;
                Ok(self.act(&text).await)
            }
            Typed::Interrupted => Ok(self.interrupt()),
            Typed::End => Ok(Next::Leave),
        }
    }

    /// The first Ctrl-C says what a second one does.
    fn interrupt(&mut self) -> Next {
        if is_again(&mut self.interrupted) {
            return Next::Leave;
        }
        self.output.say(&AGAIN_TO_LEAVE);
        Next::Go
    }

    /// A line of the person.
    async fn line(&mut self) -> Result<Typed, Fault> {
        if !self.edits {
            // The terminal itself edits the line.
            self.quiet = None;
        }
        let typed = {
            let reading = self.editor.read(PROMPT);
            tokio::pin!(reading);
            loop {
                tokio::select! {
                    typed = &mut reading => break typed.map_err(|error| unreadable(&error)),
                    // Pressed just before the line began, or on a terminal that does not edit lines.
                    _ = self.interrupts.recv() => {
                        if is_again(&mut self.interrupted) {
                            break Ok(Typed::End);
                        }
                        self.output.say(&AGAIN_TO_LEAVE);
                    }
                    _ = self.terminations.recv() => break Ok(Typed::End),
                    Some(asked) = self.lookups.recv() => {
                        // Nobody waits for it any more when this fails.
                        asked.found.send(self.talk.mentions_like(&asked.word).await).ok();
                    }
                }
            }
        };
        self.hush();
        typed
    }

    /// From now on keys are for the next line.
    fn hush(&mut self) {
        if self.quiet.is_none() {
            self.quiet = Quiet::begin().ok();
        }
    }

    /// The agent works: what it does is shown, and what is typed meanwhile is heard.
    async fn follow(&mut self) -> Result<Next, Fault> {
        while !self.runs.is_empty() {
            let heard = tokio::select! {
                batch = self.talk.events() => batch.map(|batch| Heard::Events(batch.events, batch.resync))?,
                () = key(), if self.quiet.is_some() => Heard::Key,
                _ = self.interrupts.recv() => Heard::Interrupt,
                _ = self.terminations.recv() => Heard::Terminate,
            };
            let next = match heard {
                Heard::Events(events, resync) => {
                    for event in &events {
                        self.hear(event).await?;
                    }
                    if resync {
                        self.catch_up().await?;
                    }
                    Next::Go
                }
                Heard::Key => {
                    self.screen.break_line();
                    let typed = self.line().await?;
                    self.meanwhile(typed).await
                }
                Heard::Interrupt => self.stop().await,
                Heard::Terminate => Next::Leave,
            };
            if next == Next::Leave {
                return Ok(next);
            }
        }
        Ok(Next::Go)
    }

    /// Asks a question of the queue here; `false` when it is left open.
    async fn ask(&mut self, id: &str) -> Result<bool, Fault> {
        self.screen.break_line();
        // The form reads lines of its own.
        self.quiet = None;
        let answered = answer_here(self.talk.desk, self.output, id).await;
        self.hush();
        answered
    }

    async fn meanwhile(&mut self, typed: Typed) -> Next {
        match typed {
            Typed::Line(text) => {
                self.interrupted = None;
                self.act(&text).await
            }
            Typed::Interrupted => self.stop().await,
            Typed::End => Next::Leave,
        }
    }

    /// Ctrl-C while the agent works: it stops; a second one leaves.
    async fn stop(&mut self) -> Next {
        if is_again(&mut self.interrupted) {
            return Next::Leave;
        }
        self.screen.break_line();
        if let Err(fault) = self.talk.stop().await {
            self.output.fault(&fault);
        }
        Next::Go
    }

    async fn hear(&mut self, event: &Value) -> Result<(), Fault> {
        self.announce(event);
        self.screen.show(event);
        match event["type"].as_str().unwrap_or_default() {
            "usage" => {
                let share = event["context"]["share"].as_u64();
                self.talk.context = share.or(self.talk.context);
            }
            "tool_call" => self.approved = false,
            "tool_result" => self.show_changes(event).await,
            "prompt_waiting" => {
                let id = event["requestId"].as_str().unwrap_or_default();
                let answered = self.ask(id).await;
                self.approved = matches!(answered, Ok(true));
                if let Err(fault) = &answered {
                    self.output.fault(fault);
                }
                if matches!(answered, Ok(false)) {
                    self.output.say(&Text::fixed(
                        "Left open; `/prompts` asks again. The agent waits.",
                        "保持未答；`/prompts` 可再次作答。智能体在等待。",
                    ));
                }
            }
            _ => {}
        }
        if let Some((run, end)) = end_of(event) {
            self.screen.finish();
            let known = self.runs.len();
            self.runs.retain(|one| one.id != run);
            if known > self.runs.len() {
                match end {
                    End::Done => {}
                    End::Stopped => self.output.say(&Text::fixed("Stopped.", "已停止。")),
                    End::Failed(fault) => drop(self.output.fault(&fault)),
                }
            }
        }
        Ok(())
    }

    /// A message that waited is said when its turn comes.
    fn announce(&mut self, event: &Value) {
        let begins = matches!(event["type"].as_str(), Some("assistant_start" | "assistant_error"));
        let run = self.runs.iter_mut().find(|run| begins && event["runId"] == run.id.as_str());
        if let Some(text) = run.and_then(|run| run.waits.take()) {
            self.screen.break_line();
            self.output.line(&self.output.paint(Paint::Bold, &format!("{PROMPT}{}", visible(&text))));
        }
    }

    /// Events were missed: what is over is seen from the runs themselves.
    async fn catch_up(&mut self) -> Result<(), Fault> {
        self.output.say(&Text::fixed("(some events were missed)", "（遗漏了一些事件）"));
        let mut left = Vec::new();
        for run in std::mem::take(&mut self.runs) {
            if !self.talk.is_over(&run.id).await? {
                left.push(run);
            }
        }
        self.runs = left;
        Ok(())
    }

    /// The end of a chat one comes back to; a run under way is followed.
    async fn recall(&mut self) -> Result<(), Fault> {
        let session = self.talk.session().await?;
        if session.last_message_at.is_none() {
            return Ok(());
        }
        let title = if session.title.is_empty() { session.id.clone() } else { visible(&session.title) };
        self.output.line(&self.output.paint(Paint::Bold, &title));
        for message in messages(self.talk.api(), self.output, &session.id, Some(RECALLED)).await? {
            print_message(self.output, &message);
        }
        if session.running
            && let Some(run) = session.run
        {
            if run.state == RunState::WaitingPrompt {
                self.output.say(&Text::fixed(
                    "The agent waits for your answer; `/prompts` asks for it.",
                    "智能体在等你回答；`/prompts` 可作答。",
                ));
            }
            self.runs.push(Run { id: run.id, waits: None });
        }
        Ok(())
    }

    fn tell_leaving(&self) {
        if self.runs.is_empty() {
            return;
        }
        self.output.say(&if self.talk.api().is_remote() {
            Text::fixed(
                "The agent goes on; `chatos chat --session last` comes back to it.",
                "智能体会继续运行；`chatos chat --session last` 可返回。",
            )
        } else {
            Text::fixed(
                "The run is interrupted; `chatos runs list` shows it, `chatos runs resume` continues it.",
                "运行已中断；`chatos runs list` 可查看，`chatos runs resume` 可继续。",
            )
        });
    }
}

/// What the person said in the newest chats of this folder, oldest first. Nothing is kept for it, so that a chat which is
/// deleted is gone from it, too.
async fn past(talk: &Talk<'_>) -> Result<Vec<String>, Fault> {
    let mut chats = talk.names().chats(false).await?;
    let here = talk.session().await?.workspace_root;
    chats.retain(|chat| chat["workspaceRoot"].as_str().unwrap_or_default() == here);
    chats.sort_by(|a, b| used(b).cmp(used(a)));
    let mut said = Vec::new();
    for chat in chats.iter().take(PAST.0).rev() {
        let id = chat["id"].as_str().unwrap_or_default();
        let all = messages(talk.api(), talk.output, id, Some(PAST.1)).await?;
        said.extend(
            all.into_iter()
                .filter(|message| message.role == MessageRole::User)
                .map(|message| message.content),
        );
    }
    Ok(said)
}

/// The commands of the person, for the Tab key. No server is asked for this, and a chat without them is one, too.
async fn commands(talk: &Talk<'_>) -> Vec<String> {
    let path = format!("/api/v1/commands?session={}&waitMs=0", chatos_desk::encode(&talk.id));
    let known = talk.api().get::<CommandList>(&path, talk.lang()).await;
    let items = known.map(|known| known.body.items).unwrap_or_default();
    let own = items.into_iter().filter(|item| item.kind != CommandKind::BuiltIn);
    own.map(|item| format!("/{}", visible(&item.name))).collect()
}

fn unreadable(error: &std::io::Error) -> Fault {
    Fault::new(ErrorCode::Unavailable, Text::fixed("cannot read from the terminal", "无法从终端读取"))
        .caused_by(error)
}
