//! No queue: nobody can be asked here but the client.

use chatos_builtin::{AskRequest, BoxFuture, PromptQueue, QueueError, Reach, Verdict, Withdraw};
use chatos_prompts::{Object, Owner, RequestId};
use chatos_tool::Text;
use serde_json::Value;

pub(super) struct NoQueue;

fn none<T: Send + 'static>() -> BoxFuture<'static, Result<T, QueueError>> {
    Box::pin(async { Err(QueueError::Unknown) })
}

impl PromptQueue for NoQueue {
    fn reach(&self) -> BoxFuture<'_, Reach> {
        Box::pin(async { Reach::None(Text::fixed("a fixture has no queue", "测试服务没有队列")) })
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

    fn answer<'a>(&'a self, _: &'a RequestId, _: &'a Value) -> BoxFuture<'a, Result<(), QueueError>> {
        none()
    }
}
