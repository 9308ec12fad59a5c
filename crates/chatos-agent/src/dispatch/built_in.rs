//! Calls of the built-in servers: in this process, through their layer, which validates, logs and
//! envelopes them (tools §16.1).

use std::sync::Arc;

use chatos_tool::{Fault, Needed, ToolError, Transport};
use tokio::sync::mpsc;

use super::answer::Ended;
use super::ports::{BuiltInCall, ToolEvent};
use super::record::{self, Record};
use super::{Call, CallEnd, Resumed, Sending, meta};

impl Call<'_> {
    pub(super) async fn built_in(mut self) -> CallEnd {
        let approval = match self.approve().await {
            Ok(approval) => approval,
            Err(error) => return self.refuse(error),
        };
        let meta = meta::build(self.route, &self.order, &self.settings, None);
        let sending = Sending {
            call_id: self.order.call_id.clone(),
            identity: self.tool.identity.clone(),
            server: self.tool.server.clone(),
            tool: self.tool.tool.clone(),
            arguments: self.order.arguments.clone(),
            meta: meta.clone(),
            read_only: self.tool.read_only,
            idempotent: self.tool.idempotent,
            task: None,
            attempt: 1,
        };
        if let Some(member) = &self.order.together {
            // It may wait for a person and for others before it does anything: until then it is planned, no more.
            let observer = Arc::clone(&self.observer);
            member.before_acting(Box::new(move || {
                Box::pin(async move {
                    observer.sending(sending).await.map_err(|fault| fault.message.en.into_owned())
                })
            }));
        } else if let Err(fault) = self.observer.sending(sending).await {
            return self.refuse(not_sent(&fault));
        }
        let (progress, mut reports) = mpsc::channel(16);
        let call = BuiltInCall {
            server: self.tool.server.clone(),
            tool: self.tool.tool.clone(),
            arguments: self.order.arguments.clone(),
            meta,
            role: self.order.role,
            ask: self.tool.ask && self.tool.asks_itself,
            asked: match &self.order.resume {
                Some(Resumed::Asked { request_id }) => Some(request_id.clone()),
                // It asked together with others and had not begun.
                Some(Resumed::Prompt { request_id }) if self.tool.asks_itself => Some(request_id.clone()),
                _ => None,
            },
            approved: self.order.approved().map(str::to_owned),
            together: self.order.together.clone(),
            workdir: self.order.workdir.clone(),
            session: self.order.trace.session_id.clone().unwrap_or_default(),
            lang: self.order.lang,
            people: self.order.people,
            cancel: self.order.cancel.clone(),
            progress,
        };
        let work = self.ports.built_in(call, approval);
        tokio::pin!(work);
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut work => break ended,
                Some(report) = reports.recv() => {
                    self.observer.progress(&report);
                    let call_id = &self.order.call_id;
                    self.ports.event(ToolEvent::Progress { call_id, progress: &report });
                }
            }
        };
        match ended {
            // The layer has logged and told it.
            Ok(envelope) => {
                record::audit(self.ports, &envelope, &self.order.arguments);
                record::end_of(envelope, true)
            }
            Err(fault) => self.refuse(not_sent(&fault)),
        }
    }

    /// A call that ends before the server has seen it.
    pub(super) fn refuse(&self, error: ToolError) -> CallEnd {
        let record = Record::begin(
            self.ports,
            &self.settings,
            &self.order,
            &self.tool.server,
            &self.tool.tool,
            Transport::InProcess,
        );
        let waited = self.waits.over();
        record.finish(Ended::failed(error), self.started.elapsed(), waited)
    }
}

/// The journal or the layer could not take the call.
fn not_sent(fault: &Fault) -> ToolError {
    let mut error = ToolError::unavailable(Needed::Host, fault.message.clone());
    error.hint = fault.hint.clone();
    error
}
