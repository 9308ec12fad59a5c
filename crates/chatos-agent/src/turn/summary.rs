//! Summarising the beginning of a conversation with the run's own model (agents §9).

use chatos_model::{Answer, Event, Message, Request, Usage, text_tokens};
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;
use futures_util::StreamExt;

use super::Turn;
use super::answer::estimate;
use crate::compact::{INSTRUCTION, cut};
use crate::context::{Said, tokens};
use crate::stage::Compacted;
use crate::transcript::Transcript;

/// A summary that is longer helps nobody.
const LONGEST: usize = 64 * 1024;

impl Turn {
    /// Makes a summary; `false` when there is nothing to summarise or the model gave none. The
    /// transcript stays as it is either way.
    pub(super) async fn compact(&self, chat: &Transcript, said: &[Said], before: u64) -> Result<bool, Fault> {
        let Some(at) = cut(said) else { return Ok(false) };
        let (gone, kept) = said.split_at(at);
        let seqs = || gone.iter().map(|said| said.seq);
        let (Some(from_seq), Some(to_seq)) = (seqs().min(), seqs().max()) else { return Ok(false) };
        let step = self.stage.begin_compact(from_seq, to_seq).await?;
        let mut messages: Vec<Message> = Vec::new();
        if let Some(summary) = &chat.summary {
            let text = format!("[conversation_summary]\n{}", summary.text);
            messages.push(Message::User { text, images: Vec::new() });
        }
        messages.extend(gone.iter().map(|said| match &said.message {
            Message::User { text, .. } => Message::User { text: text.clone(), images: Vec::new() },
            other => other.clone(),
        }));
        messages.push(Message::User { text: INSTRUCTION.to_owned(), images: Vec::new() });
        let request = Request { system: Vec::new(), messages, tools: Vec::new(), params: self.params(&[]) };
        let asked = estimate(&request);
        let done = match self.whole_text(request).await {
            Ok(answer) if !answer.text.trim().is_empty() => {
                let text: String = answer.text.chars().take(LONGEST).collect();
                let tail: u64 = kept.iter().map(|said| tokens(&said.message)).sum();
                let usage = answer.usage.unwrap_or_else(|| Usage {
                    input: asked,
                    output: text_tokens(&text),
                    estimated: true,
                    ..Usage::default()
                });
                let tokens_after = text_tokens(&text) + tail;
                Some(Compacted { from_seq, to_seq, text, tokens_before: before, tokens_after, usage })
            }
            Ok(_) => None,
            Err(why) => {
                let text = Text::new(
                    format!("the conversation could not be summarised: {why}"),
                    format!("无法生成对话摘要：{why}"),
                );
                self.stage.notice(Severity::Warning, "compaction_failed", &text);
                None
            }
        };
        let made = done.is_some();
        self.stage.finish_compact(step, done).await?;
        Ok(made)
    }

    async fn whole_text(&self, request: Request) -> Result<Answer, String> {
        let cancel = self.cancel.child_token();
        let _ends = cancel.clone().drop_guard();
        let mut stream = self.provider.stream(request, cancel);
        let mut answer = Answer::default();
        while let Some(event) = stream.next().await {
            let event = event.map_err(|error| error.to_string())?;
            answer.take(&event);
            if matches!(event, Event::Done(_)) || answer.text.len() > 8 * LONGEST {
                return Ok(answer);
            }
        }
        Err("the answer ended in the middle".to_owned())
    }

    /// A summary because a person asked for one; `false` when there is nothing to summarise.
    pub async fn compact_now(&self) -> Result<bool, Fault> {
        let chat = self.stage.chat().await?;
        let said = crate::context::conversation(&chat, &self.run.id, &self.model.protocol);
        let before = said.iter().map(|said| tokens(&said.message)).sum();
        self.compact(&chat, &said, before).await
    }
}
