//! Model providers: one request and one stream of events, whatever a vendor's API looks like.
//!
//! Everything here is bytes in, values out: a protocol turns a [`Request`] into an HTTP body and a
//! [`Decoder`] turns the bytes of the answer into [`Event`]s. Whoever owns the sockets moves the
//! bytes. That way every fault of a stream can be tested at every byte.

mod error;
mod event;
mod protocol;
pub mod provider;
mod request;
mod retry;
mod sse;
mod usage;

pub use error::{Class, ModelError};
pub use event::{Event, Stop};
pub use protocol::{Answer, Decoder, Dialect, Protocol, Wire, protocol_of};
pub use request::{Effort, Image, Message, Params, Reasoning, Request, Tool, ToolCall};
pub use retry::{Backoff, retry_after};
pub use sse::{Frame, Sse, SseError};
pub use usage::{Cost, Prices, Usage};
