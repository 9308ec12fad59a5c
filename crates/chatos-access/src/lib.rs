//! What commands may use beyond their sandbox because a person said so (working-day §1.6): paths and machines, asked for
//! by a call, kept per project; what stays closed whatever is open around it (§1.2); the proxy through which a command reaches the machines it may reach and no other; and
//! files of a project that run later, seen before and after a command (§1.8).

mod book;
mod closed;
mod host;
mod later;
mod proxy;
mod rows;
mod wanted;

pub use book::{Granted, allow, granted, list, revoke};
pub use closed::{closed, expand, is_closed, real};
pub use host::Host;
pub use later::{Changed, Later};
pub use proxy::{Pass, Proxy, Refused};
pub use wanted::{Access, MAX_REASON, MAX_VALUES, unopenable};
