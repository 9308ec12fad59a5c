//! What happens in a chat, as lines of a terminal or a pipe.

use chatos_tool::Text;
use serde_json::Value;

use super::refused;
use crate::args::Thinking;
use crate::markdown::{Markdown, clean};
use crate::output::{Output, Paint, columns, visible};

/// Columns of a call's arguments that are shown.
const ARGS: usize = 200;

/// Who reads what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// A person, who sees everything in order.
    Person(Thinking),
    /// A program: the reply on stdout, the rest on stderr.
    Pipe,
}

pub(super) struct Screen<'a> {
    output: &'a Output,
    reader: Reader,
    /// Something stands on the line right now.
    open: bool,
    /// It is a thought.
    thinking: bool,
    /// The reply as it looks, where looks mean something.
    reply: Option<Markdown>,
}

impl<'a> Screen<'a> {
    pub(super) fn new(output: &'a Output, reader: Reader) -> Self {
        let looks = output.paints() && matches!(reader, Reader::Person(_));
        let reply = looks.then(|| Markdown::new(columns()));
        Self { output, reader, open: false, thinking: false, reply }
    }

    pub(super) fn show(&mut self, event: &Value) {
        let text = |name: &str| visible(event[name].as_str().unwrap_or_default());
        match event["type"].as_str().unwrap_or_default() {
            "assistant_delta" => {
                if std::mem::take(&mut self.thinking) {
                    self.break_line();
                }
                self.reply(event["delta"].as_str().unwrap_or_default());
            }
            "assistant_reasoning_delta" => self.think(event["delta"].as_str().unwrap_or_default()),
            "assistant_retry" => self.aside(Paint::Warn, &format!("[{} …]", text("class"))),
            "tool_call" => {
                self.finish();
                let args: String = text("args").chars().take(ARGS).collect();
                self.aside(Paint::Dim, &format!("→ {} {} {args}", text("server"), text("tool")));
            }
            "tool_progress" if !text("message").is_empty() => {
                self.aside(Paint::Dim, &format!("… {}", text("message")));
            }
            "tool_result" => {
                let message = &event["message"];
                let first =
                    message["content"].as_str().unwrap_or_default().lines().next().unwrap_or_default();
                let status = message["status"].as_str().unwrap_or_default();
                self.aside(Paint::Dim, &format!("← {} {}", visible(status), visible(first)));
                for line in refused::lines(event, self.output.lang) {
                    self.aside(Paint::Warn, &line);
                }
            }
            "notice" => self.aside(Paint::Warn, &text("message")),
            "context_compacted" => {
                let (before, after) = (&event["beforeTokens"], &event["afterTokens"]);
                let note = Text::new(
                    format!("Context compacted: {before} → {after} tokens"),
                    format!("上下文已压缩：{before} → {after} 个 token"),
                );
                self.aside(Paint::Dim, note.get(self.output.lang));
            }
            _ => {}
        }
    }

    fn reply(&mut self, delta: &str) {
        match &mut self.reply {
            Some(reply) => {
                reply.set_columns(columns());
                let shown = reply.push(delta);
                if !shown.is_empty() {
                    self.output.piece(&shown);
                }
            }
            None => {
                self.output.piece(&clean(delta));
                if !delta.is_empty() {
                    self.open = !delta.ends_with('\n');
                }
            }
        }
    }

    /// The reply has ended, or something else begins: all of it is shown.
    pub(super) fn finish(&mut self) {
        if let Some(reply) = &mut self.reply {
            let rest = reply.end();
            if !rest.is_empty() {
                self.output.piece(&rest);
            }
        }
        self.break_line();
    }

    fn think(&mut self, delta: &str) {
        let Reader::Person(how) = self.reader else { return };
        match how {
            Thinking::Hide => {}
            Thinking::Fold if !self.thinking => {
                let note = Text::fixed("Thinking…", "思考中…");
                self.aside(Paint::Dim, note.get(self.output.lang));
                self.thinking = true;
            }
            Thinking::Fold => {}
            Thinking::Show => {
                if !self.thinking {
                    self.break_line();
                }
                self.thinking = true;
                self.output.piece(&self.output.paint(Paint::Dim, &clean(delta)));
                self.open = !delta.ends_with('\n');
            }
        }
    }

    /// A line beside the reply.
    pub(super) fn aside(&mut self, paint: Paint, line: &str) {
        self.break_line();
        self.thinking = false;
        match self.reader {
            Reader::Person(_) => self.output.line(&self.output.paint(paint, line)),
            Reader::Pipe => self.output.aside(paint, line),
        }
    }

    /// What comes next begins a line.
    pub(super) fn break_line(&mut self) {
        if let Some(reply) = &mut self.reply {
            let rest = reply.pause();
            if !rest.is_empty() {
                self.output.piece(&rest);
            }
        }
        if std::mem::take(&mut self.open) {
            self.output.line("");
        }
    }
}
