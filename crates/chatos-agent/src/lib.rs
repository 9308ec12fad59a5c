//! What happens when a model or a person acts: the tools of a run and the one function that calls them.
//!
//! A [toolset](chatos_servers::Toolset) is what a run may use, built once per run and role from what the policy granted. A
//! [`Dispatcher`] makes every call of every tool, whoever asks for it: it looks the tool up, asks a
//! person where that is wanted, builds `_meta`, sends the call over the server's road, waits for a
//! result that comes later, and answers with an envelope that is logged and told.
//!
//! A [`Turn`] is the loop of one run: it looks at what is written, does the next thing (asks the model,
//! makes calls, summarises) and writes it down through its [`Stage`], so that a run cut off anywhere goes
//! on from its journal. What is pure in that (what comes next, what a model is sent, what to do with a call
//! nobody heard of again) has a file each.
//!
//! What it needs from the host is behind [`Ports`]; who wants to hear of a call gives a
//! [`CallObserver`].

pub mod titles;

mod dispatch;

mod args;
mod compact;
mod context;
mod pictures;
mod repeat;
mod result;
mod resume;
mod room;
mod running;
mod stage;
mod steer;
mod transcript;
mod turn;
#[cfg(feature = "testing")]
mod weigh;

pub use dispatch::{
    Asker, BuiltInCall, CallContext, CallEnd, CallObserver, CallOrder, CallSettings, Dispatcher, NoObserver,
    OpenAsk, PageFor, Ports, Resumed, Sending, Standing, TaskHandle, TaskRow, TaskTime, ToolEvent, ToolRef,
    Trail, WaitKind, call_key, elicit,
};

pub use pictures::{blind as cannot_see, unseen, with_pictures};
pub use result::{cut as cut_result, plain as plain_result};
pub use resume::{Decision, StepFacts, decide};
pub use running::{CallState, Registered, Running};
pub use stage::{
    Answering, CallStep, CompactKind, Compacted, ContextFacts, DeltaKind, Finished, Limits, Mark, ModelFacts,
    PlannedCall, RequestFacts, Retry, RunFacts, Stage, Summariser, Word as PersonsWord,
};
pub use steer::{RunClock, Steer};
pub use transcript::{Entry, Marks, Next, Origin, Pending, Speaker, Summary, Transcript, WindowMark};
pub use turn::{End, Turn};
#[cfg(feature = "testing")]
pub use weigh::weigh;
