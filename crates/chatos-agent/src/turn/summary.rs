//! Summarising a conversation with a model (working-day §2): never as calls of tools, in pieces where it is
//! long, and by the host itself where no model makes one. A run never ends because summarising did.

mod text;

use std::time::Duration;

use chatos_model::{Answer, Class, Event, Message, ModelError, Provider, Request, Usage, text_tokens};
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;
use futures_util::StreamExt;

use super::Turn;
use super::fit::{Drawn, params};
use crate::compact::cut;
use crate::context::Said;
use crate::result::within;
use crate::room::Room;
use crate::stage::{CompactKind, Compacted, ModelFacts};
use crate::transcript::Transcript;

/// A summary that is longer helps nobody.
const LONGEST: usize = 64 * 1024;
/// Hundredths of the room that one request for a summary may fill.
const PIECE: u64 = 70;
/// Hundredths of the room a summary may fill.
const SUMMARY: u64 = 20;
const TRIES: u32 = 3;
/// More pieces than this are not worth their price.
const PIECES: usize = 8;
/// Longest wait a vendor may ask for in between.
const PATIENCE: Duration = Duration::from_secs(30);
/// Hundredths of the room that stay as they are.
const TAIL: u64 = 25;
/// The same in tokens, at most.
const LONGEST_TAIL: u64 = 40_000;

impl Turn {
    /// Makes a summary; `false` when there is nothing to summarise. The transcript stays as it is either way.
    pub(super) async fn compact(
        &self,
        chat: &Transcript,
        said: &[Said],
        drawn: &Drawn,
        tail: u64,
        kind: CompactKind,
        wish: &str,
    ) -> Result<bool, Fault> {
        let room = &drawn.room;
        let Some(found) = cut(said, room, tail) else { return Ok(false) };
        let (gone, kept) = said.split_at(found.at);
        let step = self.stage.begin_compact(kind, found.from_seq, found.to_seq).await?;
        let before = chat.summary.as_ref().map(|summary| summary.text.as_str());
        let most = room.bytes(room.share(SUMMARY)).clamp(1_000, LONGEST);
        let (made, usage) = self.summarise(before, gone, room, most, wish).await;
        let mechanical = made.is_none();
        let text = made.unwrap_or_else(|| text::mechanical(self.run.lang, before, gone, most));
        let task = text::task(self.run.lang, chat, &self.run.id, room.bytes(room.share(TAIL).min(20_000)));
        let standing = self.stage.standing().await?;
        let mut block = text::block(self.run.lang, &task, &text, &standing);
        // Where and when, and texts of the project, outlive a summary: they go on before it, unless they stand in what is
        // kept.
        let told = self.stage.instructions().await?;
        if !told.is_empty() && !kept.iter().any(|said| said.block.contains(&told)) {
            block = format!("{told}\n\n{block}");
        }
        let left: u64 = kept.iter().map(|said| room.tokens(&said.message)).sum();
        let done = Compacted {
            kind,
            mechanical,
            messages: gone.len(),
            left_out: chat.queued.clone(),
            from_seq: found.from_seq,
            to_seq: found.to_seq,
            text,
            tokens_before: drawn.estimate(),
            tokens_after: room.whole(left + room.of_text(&block)),
            block,
            usage,
        };
        self.stage.finish_compact(step, done).await?;
        Ok(true)
    }

    /// The usual tail of a conversation.
    pub(super) fn tail(room: &Room) -> u64 {
        room.share(TAIL).min(LONGEST_TAIL)
    }

    /// A summary by a model, and what asking used; `None` after three attempts.
    async fn summarise(
        &self,
        before: Option<&str>,
        gone: &[Said],
        room: &Room,
        most: usize,
        wish: &str,
    ) -> (Option<String>, Usage) {
        let mut usage = Usage::default();
        let mut why = String::new();
        for attempt in 0..TRIES {
            // A refusal may have been for length: each attempt asks with less.
            let piece = (room.bytes(room.share(PIECE)) >> attempt).max(2_000);
            match self.in_pieces(before, gone, piece, most, wish, &mut usage).await {
                Ok(text) => return (Some(text), usage),
                Err(error) => {
                    why = error.to_string();
                    let asked = error.retry_after_ms.map(Duration::from_millis);
                    let wait = match error.class {
                        class if class.retries() => Duration::from_secs(1 << attempt),
                        _ => Duration::ZERO,
                    };
                    if attempt + 1 < TRIES {
                        tokio::time::sleep(asked.unwrap_or(wait).min(PATIENCE)).await;
                    }
                }
            }
        }
        let text = Text::new(
            format!("no model summarised the conversation, so ChatOS listed what was done: {why}"),
            format!("没有模型生成对话摘要，已由 ChatOS 列出所做的事：{why}"),
        );
        self.stage.notice(Severity::Warning, "compaction_failed", &text);
        (None, usage)
    }

    async fn in_pieces(
        &self,
        before: Option<&str>,
        gone: &[Said],
        piece: usize,
        most: usize,
        wish: &str,
        usage: &mut Usage,
    ) -> Result<String, ModelError> {
        let pieces = text::pieces(before, gone, piece, PIECES);
        let mut parts = Vec::with_capacity(pieces.len());
        for part in &pieces {
            parts.push(self.ask_summary(part, most, wish, usage).await?);
        }
        if parts.len() > 1 {
            let all = parts.join("\n\n");
            let all = within(&all, piece, None);
            return self.ask_summary(&all, most, wish, usage).await;
        }
        parts.pop().ok_or_else(|| ModelError::new(Class::Server, "there was nothing to summarise"))
    }

    async fn ask_summary(
        &self,
        part: &str,
        most: usize,
        wish: &str,
        usage: &mut Usage,
    ) -> Result<String, ModelError> {
        let (provider, model): (&dyn Provider, &ModelFacts) = match &self.summariser {
            Some(other) => (&*other.provider, &other.model),
            None => (&*self.provider, &self.model),
        };
        let words = most / 8;
        let text = text::order(self.run.lang, part, words, wish);
        let asked = text_tokens(&text);
        let messages = vec![Message::user(text)];
        let request = Request { system: Vec::new(), messages, tools: Vec::new(), params: params(model, &[]) };
        let answer = self.whole_text(provider, request).await?;
        let made = answer.usage.unwrap_or_else(|| Usage {
            input: asked,
            output: text_tokens(&answer.text),
            estimated: true,
            ..Usage::default()
        });
        add(usage, &made);
        let text = answer.text.trim();
        if text.is_empty() {
            return Err(ModelError::new(Class::Server, "the summary is empty"));
        }
        if text.len() > LONGEST {
            return Err(ModelError::new(Class::Server, "the summary is too long"));
        }
        Ok(within(text, most, None))
    }

    async fn whole_text(&self, provider: &dyn Provider, request: Request) -> Result<Answer, ModelError> {
        let cancel = self.cancel.child_token();
        let _ends = cancel.clone().drop_guard();
        let mut stream = provider.stream(request, cancel);
        let mut answer = Answer::default();
        while let Some(event) = stream.next().await {
            let event = event?;
            answer.take(&event);
            if matches!(event, Event::Done(_)) || answer.text.len() > 8 * LONGEST {
                return Ok(answer);
            }
        }
        Err(ModelError::new(Class::Network, "the answer ended in the middle"))
    }

    /// The tail where a person asked for a summary: of a short conversation a third stays, so that there is something
    /// to summarise.
    pub(super) fn asked_tail(drawn: &Drawn) -> u64 {
        let used: u64 = drawn.said.iter().map(|said| drawn.room.tokens(&said.message)).sum();
        Self::tail(&drawn.room).min(used / 3)
    }

    /// A summary because a person asked for one; `false` when there is nothing to summarise.
    pub async fn compact_now(&self, wish: &str) -> Result<bool, Fault> {
        let (chat, drawn) = self.drawn_now().await?;
        let tail = Self::asked_tail(&drawn);
        self.compact(&chat, &drawn.said, &drawn, tail, CompactKind::Summary, wish).await
    }

    /// Whether [`Self::compact_now`] would find something to summarise.
    pub async fn can_compact(&self) -> Result<bool, Fault> {
        let (_, drawn) = self.drawn_now().await?;
        Ok(cut(&drawn.said, &drawn.room, Self::asked_tail(&drawn)).is_some())
    }

    /// The conversation as it would be sent now.
    async fn drawn_now(&self) -> Result<(Transcript, Drawn), Fault> {
        let chat = self.stage.chat().await?;
        let set = self.stage.tools().await?;
        let system = self.stage.system(std::sync::Arc::clone(&set)).await?;
        let drawn = self.draw(&chat, &system, &[], &super::answer::Pass::plain(), None);
        Ok((chat, drawn))
    }
}

fn add(sum: &mut Usage, more: &Usage) {
    sum.input += more.input;
    sum.output += more.output;
    sum.cache_read += more.cache_read;
    sum.cache_write += more.cache_write;
    sum.estimated |= more.estimated;
}
