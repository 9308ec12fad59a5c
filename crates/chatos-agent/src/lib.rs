//! What happens when a model or a person acts: the tools of a run and the one function that calls them.
//!
//! A [`Toolset`] is what a run may use, built once per run and role from what the policy granted. A
//! [`Dispatcher`] makes every call of every tool, whoever asks for it: it looks the tool up, asks a
//! person where that is wanted, builds `_meta`, sends the call over the server's road, waits for a
//! result that comes later, and answers with an envelope that is logged and told.
//!
//! What it needs from the host is behind [`Ports`]; who wants to hear of a call gives a
//! [`CallObserver`].

mod dispatch;
mod toolset;

pub use dispatch::{
    Asker, BuiltInCall, CallContext, CallEnd, CallObserver, CallOrder, CallSettings, Dispatcher, NoObserver,
    OpenAsk, Ports, Question, Resumed, Sending, TaskHandle, TaskRow, ToolEvent, ToolRef, Verdict, WaitKind,
    elicit, file_uri,
};
pub use toolset::{
    AppPlace, CURRENT_TIME, GrantedTool, OfferedTool, RefusedTool, Road, ServerOffer, ServerRoute,
    SetProblem, Toolset, Word,
};
