//! Browsers that stay signed in (inbox §7): a cookie and a key of the browser, both together, give a token.
//!
//! Cookies ignore the port, so every other server on this computer may see ours: the cookie alone opens nothing, and
//! neither does the key. Who is let in with a token, and how long that one lasts, is the server's business.

mod browsers;
mod cookie;
mod life;
mod proof;

pub use browsers::{Browsers, MOST_BROWSERS, Refusal, Renewal, Renewed, SignInError};
pub use life::Moment;
pub use proof::statement;
