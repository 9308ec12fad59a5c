//! What a run talks to, whatever is behind it.

use futures_util::stream::{self, BoxStream, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::{Class, Event, ModelError, Request};

/// One answer as it comes. It ends after [`Event::Done`] or after the first error.
pub type EventStream = BoxStream<'static, Result<Event, ModelError>>;

/// A model that can be asked.
pub trait Provider: Send + Sync {
    /// Asks. Nothing is sent before the stream is first polled; dropping it ends the call, and so
    /// does `cancel`, with an error of class `canceled`.
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream;
}

/// An answer that is known as a whole, given piece by piece: other work runs in between, and the
/// call can be cancelled between two pieces.
pub fn from_events(events: Vec<Result<Event, ModelError>>, cancel: CancellationToken) -> EventStream {
    let start = (events.into_iter(), cancel, false);
    stream::unfold(start, |(mut events, cancel, ended)| async move {
        if ended {
            return None;
        }
        tokio::task::yield_now().await;
        if cancel.is_cancelled() {
            let error = ModelError::new(Class::Canceled, "the call was cancelled");
            return Some((Err(error), (events, cancel, true)));
        }
        let event = events.next()?;
        let ended = event.is_err();
        Some((event, (events, cancel, ended)))
    })
    .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;

    #[tokio::test]
    async fn pieces_come_in_order_and_a_cancel_ends_them() {
        let cancel = CancellationToken::new();
        let events = ["a", "b", "c"].map(|text| Ok(Event::Text(text.to_owned())));
        let mut stream =
            from_events(events.into_iter().chain([Ok(Event::Done(Stop::End))]).collect(), cancel.clone());
        assert_eq!(stream.next().await, Some(Ok(Event::Text("a".to_owned()))));
        cancel.cancel();
        assert_eq!(stream.next().await.map(|e| e.map_err(|e| e.class)), Some(Err(Class::Canceled)));
        assert_eq!(stream.next().await, None);
    }
}
