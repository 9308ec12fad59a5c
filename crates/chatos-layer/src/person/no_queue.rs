//! No queue: nobody can be asked but the connected client.

use chatos_prompts::{Approval, Effect, Object, Owner, RequestId};
use chatos_tool::Text;
use serde_json::Value;

use super::{AskRequest, PromptQueue, QueueError, Reach, Verdict, Withdraw};
use crate::tool::BoxFuture;

/// For servers without a state directory: fixtures and measurements.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoQueue;

fn none<T: Send + 'static>() -> BoxFuture<'static, Result<T, QueueError>> {
    Box::pin(async { Err(QueueError::Unknown) })
}

impl PromptQueue for NoQueue {
    fn reach(&self) -> BoxFuture<'_, Reach> {
        Box::pin(async { Reach::None(Text::fixed("there is no queue here", "此处没有队列")) })
    }

    fn ask(&self, _: AskRequest) -> BoxFuture<'_, Result<RequestId, QueueError>> {
        none()
    }

    fn wait<'a>(&'a self, _: &'a RequestId) -> BoxFuture<'a, Result<Verdict, QueueError>> {
        none()
    }

    fn verdict<'a>(&'a self, _: &'a RequestId) -> BoxFuture<'a, Result<Option<Verdict>, QueueError>> {
        none()
    }

    fn take<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Owner,
        _: bool,
    ) -> BoxFuture<'a, Result<Option<Object>, QueueError>> {
        none()
    }

    fn withdraw<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Owner,
        _: Withdraw,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        none()
    }

    fn answer<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Value,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), QueueError>> {
        none()
    }

    fn use_approval<'a>(
        &'a self,
        _: &'a RequestId,
        _: &'a Effect,
    ) -> BoxFuture<'a, Result<Approval, QueueError>> {
        none()
    }
}
