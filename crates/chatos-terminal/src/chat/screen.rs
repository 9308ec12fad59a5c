//! What happens in a chat, as lines of a terminal or a pipe.

use chatos_tool::Text;
use serde_json::Value;

use crate::args::Thinking;
use crate::output::{Output, Paint, visible};

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
}

impl<'a> Screen<'a> {
    pub(super) fn new(output: &'a Output, reader: Reader) -> Self {
        Self { output, reader, open: false, thinking: false }
    }

    pub(super) fn show(&mut self, event: &Value) {
        let text = |name: &str| visible(event[name].as_str().unwrap_or_default());
        match event["type"].as_str().unwrap_or_default() {
            "assistant_delta" => {
                if std::mem::take(&mut self.thinking) {
                    self.break_line();
                }
                let delta = event["delta"].as_str().unwrap_or_default();
                self.output.piece(&plain(delta));
                if !delta.is_empty() {
                    self.open = !delta.ends_with('\n');
                }
            }
            "assistant_reasoning_delta" => self.think(event["delta"].as_str().unwrap_or_default()),
            "assistant_retry" => self.aside(Paint::Warn, &format!("[{} …]", text("class"))),
            "tool_call" => {
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
                self.output.piece(&self.output.paint(Paint::Dim, &plain(delta)));
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
        if std::mem::take(&mut self.open) {
            self.output.line("");
        }
    }
}

/// Model text on a terminal: line breaks stay, codes that move the cursor do not.
fn plain(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect()
}
