//! One model call: what is sent, what comes, and what happens when it fails (agents §7).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use chatos_model::{
    Answer, Backoff, Class, Event, Message, ModelError, Params, Request, Stop, Tool, ToolCall, Usage,
    text_tokens,
};
use chatos_tool::{Fault, Text};
use chatos_wire::{RunEnd, Severity};
use futures_util::StreamExt;
use sha2::{Digest as _, Sha256};

use super::Turn;
use crate::compact;
use crate::context::{Said, conversation, tokens};
use crate::repeat::{NOTE, Repeating};
use crate::stage::{Answering, DeltaKind, Finished, RequestFacts, Retry};
use crate::transcript::Transcript;
use chatos_servers::Toolset;

/// The text is written to its row so often.
const FLUSH: Duration = Duration::from_millis(500);
/// An answer that is longer is a runaway (security T23).
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// As above, for one answer's calls together.
const CALLS_BYTES: usize = 8 * 1024 * 1024;
/// Told to the model in the last pass it has.
const LAST: &str = "This is the last step of this run and no tools are available any more. Finish now: answer with \
what you have, and say what is left to do.";
/// Stands for pictures where the model cannot see.
const UNSEEN: &str = "[an image that this model cannot see]";

/// What a pass is.
pub(super) struct Pass {
    /// An answer that was begun before a restart.
    pub(super) again: Option<String>,
    /// No tools any more.
    pub(super) last: bool,
    /// No tool was called yet.
    pub(super) first_round: bool,
    pub(super) repeating: Repeating,
    pub(super) seen: u64,
}

/// What the model could not take so far; stays for the rest of the run.
#[derive(Default)]
pub(super) struct Fit {
    /// The conversation is cut to so many tokens.
    budget: Option<u64>,
}

/// How a pass went.
pub(super) enum Answered {
    /// The answer is written.
    Whole(RunEnd),
    /// A correction came in between.
    Steered,
    /// There is none.
    Failed(ModelError),
}

/// How an attempt went.
enum Attempt {
    Whole(Box<Answer>),
    Steered(Box<Answer>),
    Failed(ModelError),
}

impl Turn {
    pub(super) async fn answer(
        &self,
        mut chat: Transcript,
        pass: Pass,
        fit: &mut Fit,
    ) -> Result<Answered, Fault> {
        let set = self.stage.tools().await?;
        let offered = self.model.tools && !pass.last && (pass.first_round || !self.model.tools_once);
        let system = self.stage.system(Arc::clone(&set)).await?;
        let tools = if offered { specs(&set) } else { Vec::new() };
        let mut answering: Option<Answering> = None;
        let mut compacted = false;
        let mut backoff = Backoff::new(self.limits.retries);
        let mut empty_before = false;
        loop {
            let (request, said) = self.request(&chat, &system, &tools, &pass, fit);
            let estimate = estimate(&request);
            let due = compact::is_due(estimate, self.limits.summary_tokens, self.model.context_tokens);
            if due && !compacted {
                compacted = true;
                if self.compact(&chat, &said, estimate).await? {
                    chat = self.stage.chat().await?;
                } else if self.model.context_tokens > 0 && estimate > self.model.context_tokens {
                    fit.budget = Some(self.model.context_tokens * 7 / 10);
                }
                continue;
            }
            let facts = RequestFacts {
                digest: digest(&request),
                messages: request.messages.len(),
                tools: request.tools.len(),
                estimate,
            };
            let begun = match answering.take() {
                Some(begun) => begun,
                None => self.stage.begin_answer(pass.again.clone(), facts).await?,
            };
            match self.attempt(&begun, request, pass.seen).await? {
                Attempt::Steered(partial) => {
                    let thought = thoughts(&partial);
                    self.stage.stop_answer(&begun, partial.text, thought, "steered").await?;
                    return Ok(Answered::Steered);
                }
                Attempt::Whole(answer) => {
                    let empty = answer.text.trim().is_empty() && answer.tool_calls.is_empty();
                    if empty && !empty_before && answer.stop != Some(Stop::ContentFilter) {
                        empty_before = true;
                        let retry = Retry { attempt: 1, class: "server", delay_ms: 0 };
                        self.stage.retry(&begun, retry).await?;
                        answering = Some(begun);
                        continue;
                    }
                    if empty {
                        let text = Text::fixed("the model gave an empty answer", "模型给出了空回答");
                        self.stage.notice(Severity::Warning, "empty_answer", &text);
                    }
                    return self.whole(&chat, &begun, *answer, estimate, offered, set).await;
                }
                Attempt::Failed(error) => {
                    let again = match error.class {
                        Class::ContextLength if !compacted => {
                            compacted = true;
                            if self.compact(&chat, &said, estimate).await? {
                                chat = self.stage.chat().await?;
                            } else {
                                fit.budget = Some(estimate / 2);
                            }
                            Some(Duration::ZERO)
                        }
                        Class::ContextLength if fit.budget.is_none() => {
                            fit.budget = Some(estimate / 2);
                            Some(Duration::ZERO)
                        }
                        class if class.retries() => {
                            let asked = error.retry_after_ms.map(Duration::from_millis);
                            backoff.next(asked, noise())
                        }
                        _ => None,
                    };
                    let Some(delay) = again else {
                        self.stage.stop_answer(&begun, String::new(), String::new(), "failed").await?;
                        return Ok(Answered::Failed(error));
                    };
                    let retry = Retry {
                        attempt: backoff.attempt().saturating_sub(1).max(1),
                        class: error.class.as_str(),
                        delay_ms: delay.as_millis() as u64,
                    };
                    self.stage.retry(&begun, retry).await?;
                    tokio::select! {
                        () = tokio::time::sleep(delay) => {}
                        () = self.steer.changed(pass.seen) => {
                            self.stage.stop_answer(&begun, String::new(), String::new(), "steered").await?;
                            return Ok(Answered::Steered);
                        }
                    }
                    answering = Some(begun);
                }
            }
        }
    }

    /// The request of this pass, and the conversation it came from.
    fn request(
        &self,
        chat: &Transcript,
        system: &[String],
        tools: &[Tool],
        pass: &Pass,
        fit: &Fit,
    ) -> (Request, Vec<Said>) {
        let mut said = conversation(chat, &self.run.id, &self.model.protocol);
        if let Some(budget) = fit.budget {
            let from = compact::trim(&said, budget);
            said.drain(..from);
        }
        let mut system = system.to_vec();
        if let Some(summary) = &chat.summary {
            system.push(format!("[conversation_summary]\n{}", summary.text));
        }
        if pass.repeating == Repeating::Tell {
            system.push(NOTE.to_owned());
        }
        if pass.last {
            system.push(LAST.to_owned());
        }
        let messages = said.iter().map(|said| self.seen(&said.message)).collect();
        let request = Request { system, messages, tools: tools.to_vec(), params: self.params(tools) };
        (request, said)
    }

    /// A message as this model can take it.
    fn seen(&self, message: &Message) -> Message {
        match message {
            Message::User { text, images } if !images.is_empty() && !self.model.vision => {
                let text = format!("{text}\n{UNSEEN}");
                Message::User { text, images: Vec::new() }
            }
            other => other.clone(),
        }
    }

    pub(super) fn params(&self, tools: &[Tool]) -> Params {
        Params {
            model: self.model.model.clone(),
            max_output_tokens: self.model.max_output_tokens,
            temperature: self.model.temperature,
            effort: self.model.effort,
            parallel_tools: (!tools.is_empty() && !self.model.parallel_tools).then_some(false),
            extra_body: self.model.extra_body.clone(),
        }
    }

    async fn attempt(&self, begun: &Answering, request: Request, seen: u64) -> Result<Attempt, Fault> {
        let cancel = self.cancel.child_token();
        let _ends = cancel.clone().drop_guard();
        let mut stream = self.provider.stream(request, cancel);
        let mut answer = Answer::default();
        let mut growth = Growth::default();
        let mut tick = tokio::time::interval_at(tokio::time::Instant::now() + FLUSH, FLUSH);
        let mut unwritten = false;
        loop {
            tokio::select! {
                biased;
                () = self.steer.changed(seen) => return Ok(Attempt::Steered(Box::new(answer))),
                event = stream.next() => match event {
                    None => {
                        let error = ModelError::new(Class::Network, "the answer ended in the middle");
                        return Ok(Attempt::Failed(error));
                    }
                    Some(Err(error)) => return Ok(Attempt::Failed(error)),
                    Some(Ok(event)) => {
                        unwritten |= growth.tell(self, begun, &event);
                        answer.take(&event);
                        if let Event::Done(stop) = event {
                            if stop == Stop::ContentFilter && answer.tool_calls.is_empty() {
                                let text = "the vendor cut this answer because of its content";
                                return Ok(Attempt::Failed(ModelError::new(Class::ContentFilter, text)));
                            }
                            return Ok(Attempt::Whole(Box::new(answer)));
                        }
                        if growth.is_runaway(&answer) {
                            answer.take(&Event::Done(Stop::Length));
                            return Ok(Attempt::Whole(Box::new(answer)));
                        }
                    }
                },
                _ = tick.tick() => {
                    if std::mem::take(&mut unwritten) {
                        self.stage.flush(begun, answer.text.clone(), growth.thought.clone()).await?;
                    }
                }
            }
        }
    }

    async fn whole(
        &self,
        chat: &Transcript,
        begun: &Answering,
        answer: Answer,
        estimate: u64,
        offered: bool,
        set: Arc<Toolset>,
    ) -> Result<Answered, Fault> {
        let stop = match answer.stop {
            Some(Stop::Length) => RunEnd::Length,
            Some(Stop::ContentFilter) => RunEnd::ContentFilter,
            Some(Stop::ToolUse | Stop::End) | None => RunEnd::End,
        };
        let usage = answer.usage.unwrap_or_else(|| Usage {
            input: estimate,
            output: text_tokens(&answer.text)
                + answer.tool_calls.iter().map(|call| text_tokens(&call.arguments)).sum::<u64>(),
            estimated: true,
            ..Usage::default()
        });
        // Calls in an answer that was offered no tools are talk.
        let calls = if offered { answer.tool_calls } else { Vec::new() };
        let calls = unique(calls, chat.call_ids(&self.run.id).map(str::to_owned).collect());
        let finished = Finished { text: answer.text, reasoning: answer.reasoning, calls, usage, stop, set };
        self.stage.finish_answer(begun, finished).await?;
        Ok(Answered::Whole(stop))
    }
}

/// How far an answer has grown, in the units of those who watch.
#[derive(Default)]
struct Growth {
    text: usize,
    reasoning: usize,
    thought: String,
    bytes: usize,
    call_bytes: usize,
}

impl Growth {
    /// Tells a delta; whether there is something to write.
    fn tell(&mut self, turn: &Turn, begun: &Answering, event: &Event) -> bool {
        match event {
            Event::Text(delta) if !delta.is_empty() => {
                turn.stage.delta(begun, DeltaKind::Text, delta, self.text);
                self.text += delta.encode_utf16().count();
                self.bytes += delta.len();
                true
            }
            Event::Reasoning(delta) if !delta.is_empty() => {
                turn.stage.delta(begun, DeltaKind::Reasoning, delta, self.reasoning);
                self.reasoning += delta.encode_utf16().count();
                self.bytes += delta.len();
                self.thought.push_str(delta);
                true
            }
            Event::ToolUse { args_delta, .. } => {
                self.call_bytes += args_delta.len();
                false
            }
            _ => false,
        }
    }

    fn is_runaway(&self, answer: &Answer) -> bool {
        self.bytes > ANSWER_BYTES || self.call_bytes > CALLS_BYTES || answer.tool_calls.len() > 4096
    }
}

/// Ids a vendor repeats or leaves out become ours: a result must belong to one call.
fn unique(calls: Vec<ToolCall>, mut used: HashSet<String>) -> Vec<ToolCall> {
    let named = calls.into_iter().filter(|call| !call.name.is_empty() || !call.arguments.is_empty());
    named
        .map(|mut call| {
            if call.id.trim().is_empty() || call.id.len() > 128 || used.contains(&call.id) {
                call.id = format!("call_{}", uuid::Uuid::now_v7().simple());
            }
            used.insert(call.id.clone());
            call
        })
        .collect()
}

fn specs(set: &Toolset) -> Vec<Tool> {
    set.specs()
        .map(|tool| Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.input_schema.clone(),
        })
        .collect()
}

fn thoughts(answer: &Answer) -> String {
    answer.reasoning.iter().map(|part| part.text.as_str()).collect()
}

/// Estimated tokens of a whole request.
pub(super) fn estimate(request: &Request) -> u64 {
    let system: u64 = request.system.iter().map(|block| text_tokens(block)).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| text_tokens(&tool.description) + tool.parameters.to_string().len() as u64 / 3 + 8)
        .sum();
    system + tools + request.messages.iter().map(tokens).sum::<u64>()
}

fn digest(request: &Request) -> String {
    let mut hash = Sha256::new();
    for block in &request.system {
        hash.update(block);
    }
    for message in &request.messages {
        hash.update(serde_json::to_vec(message).unwrap_or_default());
    }
    for tool in &request.tools {
        hash.update(&tool.name);
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// A number from 0 to 1 for jitter; its quality does not matter.
fn noise() -> f64 {
    f64::from(uuid::Uuid::new_v4().as_bytes()[15]) / 255.0
}

/// The failure for a person.
pub(super) fn words(error: &ModelError) -> Text {
    let zh = match error.class {
        Class::Auth => "密钥无效或缺失",
        Class::Permission => "没有使用该模型的权限",
        Class::NotFound => "模型或地址不存在",
        Class::RateLimited => "请求过于频繁",
        Class::Quota => "额度已用完",
        Class::ContextLength => "对话超出模型上下文长度",
        Class::InvalidRequest => "模型拒绝了请求",
        Class::Server => "模型服务出错",
        Class::Network => "无法连接模型服务",
        Class::Canceled => "调用已取消",
        Class::ContentFilter => "回答被内容过滤器拦截",
        Class::Config => "模型配置有误",
    };
    Text::new(error.to_string(), format!("{zh}：{}", error.message))
}
