//! Models: their records with keys and presets ([`Models`]), and providers, one request and one stream of events,
//! whatever a vendor's API looks like.
//!
//! The protocols are bytes in, values out: one turns a [`Request`] into an HTTP body and a
//! [`Decoder`] turns the bytes of the answer into [`Event`]s, so that every fault of a stream can be
//! tested at every byte. A [`Provider`] is what a run talks to: a vendor over HTTP, or the demo
//! model, which needs nothing.

pub mod catalog;
mod demo;
mod error;
mod event;
mod http;
mod lines;
mod models;
mod protocol;
pub mod provider;
mod refusal;
mod replay;
mod request;
mod retry;
mod sse;
mod stream;
mod usage;

pub use demo::Demo;
pub use error::{Class, ModelError};
pub use event::{Event, Stop};
pub use http::{
    Connections, FindSecrets, HttpParts, HttpProvider, Patience, Secrets, SharedDialect, post_json,
};
pub use models::{
    CompleteOrder, Completion, ModelAnswer, ModelParts, ModelState, Models, PRESETS, Preset, Recognised,
    Source, Window, effort_of, prices_of, protocol_for, recognise, window_of,
};
pub use protocol::{Answer, Decoder, Dialect, Protocol, Wire, protocol_of};
pub use replay::replay_of;
pub use request::{Document, Effort, Image, Message, Params, Reasoning, Replay, Request, Tool, ToolCall};
pub use retry::{Backoff, retry_after};
pub use sse::{Frame, Sse, SseError};
pub use stream::{EventStream, Provider, from_events};
pub use usage::{Cost, Prices, Usage, text_tokens};
