//! One model call: what is sent, what comes, and what happens when it fails (agents §7).

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use chatos_model::{
    Answer, Backoff, Class, Event, ModelError, Request, Stop, Tool, ToolCall, Usage, text_tokens,
};
use chatos_tool::{Fault, Text};
use chatos_wire::{RunEnd, Severity};
use futures_util::StreamExt;
use sha2::{Digest as _, Sha256};

use super::Turn;
use super::fit::Drawn;
use super::overflow::{Measure, Tried, is_shortened};
use crate::compact;
use crate::repeat::Repeating;
use crate::stage::{Answering, CompactKind, DeltaKind, Finished, RequestFacts, Retry};
use crate::transcript::Transcript;
use chatos_servers::Toolset;

/// The text is written to its row so often.
const FLUSH: Duration = Duration::from_millis(500);
/// An answer that is longer is a runaway (security T23).
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// As above, for one answer's calls together.
const CALLS_BYTES: usize = 8 * 1024 * 1024;
/// A model that is being loaded is waited for, two seconds at a time.
const LOADING: u32 = 60;
/// An empty answer is asked for once more, at once.
const EMPTY: &str = "the model gave an empty answer";

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

impl Pass {
    /// One that nothing is special about.
    pub(super) fn plain() -> Self {
        Self { again: None, last: false, first_round: true, repeating: Repeating::No, seen: 0 }
    }
}

/// How a pass went.
pub(super) enum Answered {
    /// The answer is written.
    Whole(RunEnd),
    /// A correction came in between.
    Steered,
    /// There is none.
    Failed(ModelError),
    /// It cannot even be asked for: a code, and why.
    Refused(&'static str, Text),
}

/// How an attempt went.
enum Attempt {
    Whole(Box<Answer>),
    Steered(Box<Answer>),
    Failed(ModelError),
}

/// What goes with every request of a pass.
struct Given {
    set: Arc<Toolset>,
    system: Vec<String>,
    tools: Vec<Tool>,
    offered: bool,
}

/// What was done so far to get an answer.
struct Efforts {
    backoff: Backoff,
    tried: Tried,
    most_output: Option<u32>,
    empty_before: bool,
    pruned: bool,
    summarised: bool,
    loading: u32,
    fewer_tools: bool,
}

impl Turn {
    async fn given(&self, pass: &Pass) -> Result<Given, Fault> {
        let set = self.stage.tools().await?;
        let offered = self.model.tools && !pass.last && (pass.first_round || !self.model.tools_once);
        let system = self.stage.system(Arc::clone(&set)).await?;
        let tools = if offered { specs(&set) } else { Vec::new() };
        Ok(Given { set, system, tools, offered })
    }

    pub(super) async fn answer(&self, mut chat: Transcript, pass: Pass) -> Result<Answered, Fault> {
        let mut given = self.given(&pass).await?;
        let mut efforts = Efforts {
            backoff: Backoff::new(self.limits.retries),
            tried: Tried::default(),
            most_output: None,
            empty_before: false,
            pruned: false,
            summarised: false,
            loading: 0,
            fewer_tools: false,
        };
        let mut answering: Option<Answering> = None;
        loop {
            let drawn = self.draw(&chat, &given.system, &given.tools, &pass, efforts.most_output);
            if let Some(why) = drawn.too_small() {
                return Ok(Answered::Refused("window_too_small", why));
            }
            if self.made_smaller(&chat, &drawn, &mut efforts).await? {
                chat = self.stage.chat().await?;
                continue;
            }
            let begun = match answering.take() {
                Some(begun) => begun,
                None => self.stage.begin_answer(pass.again.clone(), facts(&drawn)).await?,
            };
            let error = match self.attempt(&begun, drawn.request.clone(), pass.seen).await? {
                Attempt::Steered(partial) => {
                    let thought = thoughts(&partial);
                    self.stage.stop_answer(&begun, partial.text, thought, "steered").await?;
                    return Ok(Answered::Steered);
                }
                Attempt::Whole(answer) => match self.judge(&answer, &drawn, &mut efforts) {
                    Some(error) => error,
                    None => return self.whole(&chat, &begun, *answer, &drawn, given).await,
                },
                Attempt::Failed(error) => error,
            };
            let most =
                most_tools(&error).filter(|most| !efforts.fewer_tools && *most < given.tools.len() as u64);
            let again = match most {
                Some(most) => {
                    efforts.fewer_tools = true;
                    self.stage.fewer_tools(most).await?;
                    given = self.given(&pass).await?;
                    Some(Duration::ZERO)
                }
                None => self.again(&error, &mut chat, &drawn, &mut efforts).await?,
            };
            let Some(delay) = again else {
                self.stage.stop_answer(&begun, String::new(), String::new(), "failed").await?;
                return Ok(Answered::Failed(error));
            };
            let retry = Retry {
                attempt: efforts.backoff.attempt().saturating_sub(1).max(1),
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

    /// Makes the context smaller where that is due; each way once in a pass. True when it is.
    async fn made_smaller(
        &self,
        chat: &Transcript,
        drawn: &Drawn,
        efforts: &mut Efforts,
    ) -> Result<bool, Fault> {
        let room = &drawn.room;
        let wish = self.steer.take_compact();
        if wish.is_none() && !efforts.pruned && compact::may_prune(drawn.used, room) {
            efforts.pruned = true;
            if let Some(found) = compact::prune(&drawn.said, room, compact::Keep::usual(room)) {
                self.mark_pruned(drawn, found, CompactKind::Prune).await?;
                return Ok(true);
            }
        }
        let (share, threshold) = (self.limits.compact_share, self.limits.summary_tokens);
        let due = !efforts.summarised && compact::is_due(drawn.used, room, share, threshold);
        if wish.is_none() && !due {
            return Ok(false);
        }
        efforts.summarised = true;
        let tail = if wish.is_some() { Self::asked_tail(drawn) } else { Self::tail(room) };
        let wish = wish.unwrap_or_default();
        self.compact(chat, &drawn.said, drawn, tail, CompactKind::Summary, &wish).await
    }

    /// What is wrong with an answer that came whole; once.
    fn judge(&self, answer: &Answer, drawn: &Drawn, efforts: &mut Efforts) -> Option<ModelError> {
        let cut_off = answer.stop == Some(Stop::Length);
        if let Some(usage) = &answer.usage
            && is_shortened(drawn, usage, cut_off, self.model.origin.protocol == "ollama")
            && !efforts.tried.is_over()
        {
            return Some(ModelError::new(
                Class::ContextLength,
                "the request was longer than the model's window",
            ));
        }
        let empty = answer.text.trim().is_empty() && answer.tool_calls.is_empty();
        if empty && !efforts.empty_before && answer.stop != Some(Stop::ContentFilter) {
            efforts.empty_before = true;
            return Some(ModelError::new(Class::Server, EMPTY));
        }
        if empty {
            let text = Text::fixed("the model gave an empty answer", "模型给出了空回答");
            self.stage.notice(Severity::Warning, "empty_answer", &text);
        }
        None
    }

    /// After how long it is asked again; `None` when it is not.
    async fn again(
        &self,
        error: &ModelError,
        chat: &mut Transcript,
        drawn: &Drawn,
        efforts: &mut Efforts,
    ) -> Result<Option<Duration>, Fault> {
        Ok(match error.class {
            Class::ContextLength => match self.overflow(&mut efforts.tried, error, chat, drawn).await? {
                Measure::Answer(most) => {
                    efforts.most_output = Some(most);
                    *chat = self.stage.chat().await?;
                    Some(Duration::ZERO)
                }
                Measure::Smaller => {
                    *chat = self.stage.chat().await?;
                    Some(Duration::ZERO)
                }
                Measure::Nothing => None,
            },
            Class::Server if error.message == EMPTY => Some(Duration::ZERO),
            // A local server reads its model from the disk first.
            Class::Server if error.status == Some(503) && error.message.contains("Loading model") => {
                efforts.loading += 1;
                (efforts.loading <= LOADING).then_some(Duration::from_secs(2))
            }
            class if class.retries() => {
                let asked = error.retry_after_ms.map(Duration::from_millis);
                efforts.backoff.next(asked, noise())
            }
            _ => None,
        })
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
                            if growth.bytes > ANSWER_BYTES {
                                cut(&mut answer.text);
                                let text = Text::fixed("the reply was cut off at 4 MiB", "回复达到 4 MiB，已截断");
                                self.stage.notice(Severity::Warning, "answer_cut", &text);
                            }
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
        drawn: &Drawn,
        given: Given,
    ) -> Result<Answered, Fault> {
        let stop = match answer.stop {
            Some(Stop::Length) => RunEnd::Length,
            Some(Stop::ContentFilter) => RunEnd::ContentFilter,
            Some(Stop::ToolUse | Stop::End) | None => RunEnd::End,
        };
        let usage = answer.usage.unwrap_or_else(|| Usage {
            input: drawn.estimate(),
            output: text_tokens(&answer.text)
                + answer.tool_calls.iter().map(|call| text_tokens(&call.arguments)).sum::<u64>(),
            estimated: true,
            ..Usage::default()
        });
        // Calls in an answer that was offered no tools are talk.
        let calls = if given.offered { answer.tool_calls } else { Vec::new() };
        let calls = unique(calls, chat.call_ids(&self.run.id).map(str::to_owned).collect());
        let finished = Finished {
            text: answer.text,
            reasoning: answer.reasoning,
            calls,
            usage,
            stop,
            set: given.set,
            measured: drawn.measured(&usage),
            context: drawn.context(&usage),
        };
        self.stage.finish_answer(begun, finished).await?;
        Ok(Answered::Whole(stop))
    }
}

/// The request for the journal.
fn facts(drawn: &Drawn) -> RequestFacts {
    RequestFacts {
        digest: digest(&drawn.request),
        messages: drawn.request.messages.len(),
        tools: drawn.request.tools.len(),
        estimate: drawn.estimate(),
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

/// One piece may be larger than a whole answer should be.
fn cut(text: &mut String) {
    let mut end = text.len().min(ANSWER_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

/// Ids a vendor repeats or leaves out become ours: a result must belong to one call.
/// How many tools a vendor takes that refused a request for having more.
fn most_tools(error: &ModelError) -> Option<u64> {
    let about_tools = error.class == Class::InvalidRequest && error.param.as_deref() == Some("tools");
    error.limit.filter(|_| about_tools)
}

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
    set.listed()
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
