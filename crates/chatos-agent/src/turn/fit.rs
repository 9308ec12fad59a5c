//! What is sent in a pass: the conversation in its shape, and how much of the window it fills.

use chatos_model::{Message, Params, Request, Tool, Usage};
use chatos_tool::Text;

use super::Turn;
use super::answer::Pass;
use crate::context::{Said, Shape, conversation};
use crate::repeat::{NOTE, Repeating};
use crate::room::{Fixed, Room};
use crate::stage::{ContextFacts, ModelFacts};
use crate::transcript::Transcript;

/// Told to the model in the last pass it has.
const LAST: &str = "This is the last step of this run and no tools are available any more. Finish now: answer with \
what you have, and say what is left to do.";
/// Stands for pictures where the model cannot see.
const UNSEEN: &str = "[an image that this model cannot see]";
/// An answer needs at least this much.
const SHORTEST_ANSWER: u64 = 1_024;

/// A request and what it was made of.
pub(super) struct Drawn {
    pub(super) request: Request,
    /// The conversation behind the summary, in its shape.
    pub(super) said: Vec<Said>,
    pub(super) room: Room,
    /// Tokens of all messages.
    pub(super) used: u64,
    /// Tokens of the block a summary became.
    summary: u64,
    results: u64,
}

impl Turn {
    /// The request of this pass.
    pub(super) fn draw(
        &self,
        chat: &Transcript,
        system: &[String],
        tools: &[Tool],
        pass: &Pass,
        most_output: Option<u32>,
    ) -> Drawn {
        let mut system = system.to_vec();
        if pass.repeating == Repeating::Tell {
            system.push(NOTE.to_owned());
        }
        if pass.last {
            system.push(LAST.to_owned());
        }
        let room = self.room(chat, &system, tools);
        let said = self.shaped(chat, &room);
        let mut messages: Vec<Message> = said.iter().map(|said| self.sent(said)).collect();
        let mut summary = 0;
        if let Some(made) = &chat.summary {
            summary = room.of_text(&made.block);
            put_first(&mut messages, &made.block);
        }
        let used: u64 = messages.iter().map(|message| room.tokens(message)).sum();
        let results = messages
            .iter()
            .filter(|message| matches!(message, Message::Tool { .. }))
            .map(|message| room.tokens(message))
            .sum();
        let mut params = params(&self.model, tools);
        params.cache_key.clone_from(&self.run.trace.session_id);
        // What is left of the window is the longest answer there can be, with the thinking before it.
        let left = room.window.tokens.saturating_sub(room.whole(used) + room.window.tokens / 50);
        let left = u32::try_from(left.max(SHORTEST_ANSWER)).unwrap_or(u32::MAX);
        let left = most_output.map_or(left, |most| most.min(left));
        params.room = Some(left);
        params.max_output_tokens = most_output.or(params.max_output_tokens).map(|most| most.min(left));
        let request = Request { system, messages, tools: tools.to_vec(), params };
        Drawn { request, said, room, used, summary, results }
    }

    /// The room of a pass.
    pub(super) fn room(&self, chat: &Transcript, system: &[String], tools: &[Tool]) -> Room {
        let model = &self.model;
        let fixed = Fixed { system, tools };
        Room::new(model.window, model.max_output_tokens, chat, (&model.id, &model.origin), &fixed)
    }

    /// The conversation as requests have it.
    pub(super) fn shaped(&self, chat: &Transcript, room: &Room) -> Vec<Said> {
        let shape = Shape::new(room, self.limits.result_chars, &chat.marks);
        conversation(chat, &self.run.id, &self.model.origin, &shape)
    }

    /// A message as it is sent: behind what ChatOS put before it.
    fn sent(&self, said: &Said) -> Message {
        match self.seen(&said.message) {
            Message::User { text, images, documents } if !said.block.is_empty() => {
                Message::User { text: format!("{}\n\n{text}", said.block), images, documents }
            }
            message => message,
        }
    }

    /// A message as this model can take it.
    fn seen(&self, message: &Message) -> Message {
        match message {
            Message::User { text, images, documents } if !images.is_empty() && !self.model.vision => {
                let text = format!("{text}\n{UNSEEN}");
                Message::User { text, images: Vec::new(), documents: documents.clone() }
            }
            Message::Tool { call_id, name, content, is_error, images }
                if !images.is_empty() && !self.model.vision =>
            {
                let (call_id, name, is_error) = (call_id.clone(), name.clone(), *is_error);
                let content = format!("{content}\n{UNSEEN}");
                Message::Tool { call_id, name, content, is_error, images: Vec::new() }
            }
            other => other.clone(),
        }
    }
}

impl Drawn {
    /// Estimated tokens of the whole request.
    pub(super) fn estimate(&self) -> u64 {
        self.room.whole(self.used)
    }

    /// Bytes of the request and the tokens the vendor counted for them.
    pub(super) fn measured(&self, usage: &Usage) -> Option<(u64, u64)> {
        let counted = usage.input + usage.cache_read + usage.cache_write;
        let (bytes, pictures) = self.room.request_bytes(&self.request.messages);
        (!usage.estimated && counted > pictures).then(|| (bytes, counted - pictures))
    }

    /// What the vendor counted for the request that this one goes on from; `None` where part of it is shorter now.
    pub(super) fn before(&self) -> Option<(u64, u64)> {
        let counted = self.room.counted?;
        let messages = &self.request.messages;
        // A summary may stand before what was said as a message of its own.
        let known = self.said.iter().take_while(|said| said.seq < counted.until).count();
        let known = known + messages.len().saturating_sub(self.said.len());
        let (bytes, _) = self.room.request_bytes(messages.get(..known)?);
        (bytes == counted.bytes).then_some((counted.bytes, counted.tokens))
    }

    /// How full the window is, by the vendor's count where there is one.
    pub(super) fn context(&self, usage: &Usage) -> ContextFacts {
        let counted = usage.input + usage.cache_read + usage.cache_write;
        let used = if usage.estimated { self.estimate() } else { counted };
        ContextFacts {
            used: used + usage.output,
            window: self.room.window,
            system: self.room.system,
            tools: self.room.tools,
            summary: self.summary,
            messages: self.used.saturating_sub(self.summary + self.results),
            results: self.results,
        }
    }

    /// Why a conversation cannot even begin.
    pub(super) fn too_small(&self) -> Option<Text> {
        let room = &self.room;
        room.is_too_small.then(|| {
            let (window, source) = (room.window.tokens, room.window.source.as_str());
            let (system, tools) = (room.system, room.tools);
            Text::new(
                format!(
                    "the model's window of {window} tokens ({source}) is too small: the system prompt takes about \
                     {system} and the tools {tools}; choose a model with a larger window, set its window under \
                     Models, or give the agent fewer tools"
                ),
                format!(
                    "模型的上下文窗口为 {window} tokens（来源：{source}），太小：系统提示词约占 {system}，工具约占 \
                     {tools}；请选择窗口更大的模型、在“模型”中设置其窗口，或减少智能体的工具"
                ),
            )
        })
    }
}

/// How a model is asked.
pub(super) fn params(model: &ModelFacts, tools: &[Tool]) -> Params {
    Params {
        model: model.model.clone(),
        max_output_tokens: model.max_output_tokens,
        temperature: model.temperature,
        effort: model.effort,
        thinks: model.thinks,
        room: None,
        window: u32::try_from(model.window.tokens).ok(),
        cache_key: None,
        parallel_tools: (!tools.is_empty() && !model.parallel_tools).then_some(false),
        replay: model.replay,
        extra_body: model.extra_body.clone(),
    }
}

/// Puts the block of a summary before everything else. Two messages of one side in a row are refused by some
/// models, so it joins one of the person that follows.
fn put_first(messages: &mut Vec<Message>, block: &str) {
    if let Some(Message::User { text, .. }) = messages.first_mut() {
        *text = format!("{block}\n\n{text}");
    } else {
        messages.insert(0, Message::user(block));
    }
}
