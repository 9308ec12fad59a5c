//! What is told to everybody: the event stream, long work with its progress, notices of this start, and the
//! life of the host that all background tasks share.
//!
//! It knows nobody who tells and nobody who listens. [`Events::publish`] is the only way onto the stream.

mod finding;
mod lifetime;
mod notices;
mod operations;
mod stream;

pub use finding::Finding;
pub use lifetime::Lifetime;
pub use notices::{Notice, Notices};
pub use operations::{Operation, Operations};
pub use stream::{Events, Frame, Resume, Subscription};
