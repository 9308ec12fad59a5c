//! One answer of a model without a chat: what plugin backends ask for (host-api §9.3).

use chatos_store::{UsageRow, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{Models, effort_of, prices_of};
use crate::error::Class;
use crate::event::{Event, Stop};
use crate::protocol::Answer;
use crate::request::{Message, Params, Reasoning, Request, Tool, ToolCall};
use crate::usage::{Usage, text_tokens};

/// What to ask.
#[derive(Debug, Clone, Default)]
pub struct CompleteOrder {
    /// Blocks of the system prompt.
    pub system: Vec<String>,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What it may call; the caller makes the calls.
    pub tools: Vec<Tool>,
    /// The default model when absent.
    pub model_id: Option<String>,
    /// Longest answer.
    pub max_output_tokens: Option<u32>,
    /// Randomness.
    pub temperature: Option<f64>,
    /// Who asks, for the sums.
    pub agent_id: String,
    /// The run it is charged to, where there is one.
    pub run_id: String,
    /// The run at the root of that one.
    pub root_run_id: String,
    /// Its chat.
    pub session_id: String,
}

/// What it said.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// What it wants called.
    pub tool_calls: Vec<ToolCall>,
    /// Thinking that goes back with the answers to those.
    pub reasoning: Vec<Reasoning>,
    /// Why it ended.
    pub stop: &'static str,
    /// Which model.
    pub model_id: String,
    /// Tokens.
    pub usage: Usage,
}

impl Models {
    /// Asks a model once. No history, and tools are only named back; counted like every call.
    pub async fn complete(
        &self,
        order: CompleteOrder,
        cancel: CancellationToken,
    ) -> Result<Completion, Fault> {
        let wanted = order.model_id.clone();
        let opening = self.clone();
        let (record, provider) = chatos_blocking::run(move || {
            let record = opening.resolve(wanted.as_deref())?;
            let provider = opening.open(&record)?;
            Ok::<_, Fault>((record, provider))
        })
        .await
        .map_err(|error| broken(&error))??;
        let request = Request {
            system: order.system,
            messages: order.messages,
            tools: order.tools,
            params: Params {
                model: record.model.clone(),
                max_output_tokens: order
                    .max_output_tokens
                    .or((record.max_output_tokens > 0).then_some(record.max_output_tokens)),
                temperature: order.temperature.or(record.temperature),
                effort: effort_of(&record),
                thinks: record.supports_reasoning,
                window: u32::try_from(self.window(&record).tokens).ok(),
                ..Params::default()
            },
        };
        let asked: u64 = request.messages.iter().map(|message| text_tokens(&format!("{message:?}"))).sum();
        let mut stream = provider.stream(request, cancel);
        let mut answer = Answer::default();
        while let Some(event) = stream.next().await {
            let event = event.map_err(|error| {
                let class = match error.class {
                    Class::RateLimited | Class::Quota => ErrorCode::RateLimited,
                    Class::Canceled => ErrorCode::Canceled,
                    Class::InvalidRequest => ErrorCode::InvalidArgument,
                    _ => ErrorCode::Unavailable,
                };
                let message = self.parts().redactor.message(&error.to_string()).into_owned();
                Fault::new(class, Text::same(message)).code(error.class.as_str())
            })?;
            answer.take(&event);
            if matches!(event, Event::Done(_)) {
                break;
            }
        }
        let usage = answer.usage.unwrap_or_else(|| Usage {
            input: asked,
            output: text_tokens(&answer.text),
            estimated: true,
            ..Usage::default()
        });
        let cost = prices_of(&record).cost(&usage);
        let row = UsageRow {
            id: uuid::Uuid::now_v7().to_string(),
            agent_id: order.agent_id,
            run_id: order.run_id,
            root_run_id: order.root_run_id,
            session_id: order.session_id,
            model_id: record.id.clone(),
            input: usage.input as i64,
            output: usage.output as i64,
            cache_read: usage.cache_read as i64,
            cache_write: usage.cache_write as i64,
            estimated: usage.estimated,
            currency: cost.as_ref().map(|cost| cost.currency.clone()).unwrap_or_default(),
            cost: cost.map(|cost| cost.amount),
            created_at: now_ms(),
            ..UsageRow::default()
        };
        let store = self.parts().store.clone();
        let counted = chatos_blocking::run(move || store.add_usage(row)).await;
        counted.map_err(|error| broken(&error))??;
        let stop = match answer.stop {
            Some(Stop::Length) => "length",
            Some(Stop::ContentFilter) => "content_filter",
            _ => "end",
        };
        let Answer { text, tool_calls, reasoning, .. } = answer;
        Ok(Completion { text, tool_calls, reasoning, stop, model_id: record.id, usage })
    }
}

/// Work that panicked.
fn broken(error: &chatos_blocking::WorkError) -> Fault {
    Fault::new(ErrorCode::Internal, Text::same("work of a model failed")).caused_by(error)
}
