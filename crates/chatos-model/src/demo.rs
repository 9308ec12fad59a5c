//! The built-in model (agents §1.4): offline, deterministic, and honest about what it is.

use tokio_util::sync::CancellationToken;

use crate::{Event, EventStream, Provider, Request, Stop, from_events};

/// The demo model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Demo;

impl Provider for Demo {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        from_events(answer(&request).into_iter().map(Ok).collect(), cancel)
    }
}

/// The whole answer to a request; it depends on nothing else.
fn answer(_request: &Request) -> Vec<Event> {
    vec![
        Event::Text("I am the demo model of ChatOS: a few rules, no intelligence.".to_owned()),
        Event::Done(Stop::End),
    ]
}
