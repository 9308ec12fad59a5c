//! Signing in at the authorization server of a server over HTTP (decision 0015).
//!
//! Three steps with a person in the middle: [`begin`] finds out where to sign in and makes the address a
//! browser has to open, the person signs in there, and [`finish`] turns what the browser brings back
//! into a [`Grant`]. From then on the connection of the server uses and renews the grant by itself
//! ([`Keeper`]). Nothing here opens a browser.
//!
//! Whatever a server says about its authorization server is a stranger's word: every address passes the
//! policy of [`fetch`], every document is bounded, and a grant belongs to the issuer that gave it.

mod authorize;
mod challenge;
mod discovery;
mod error;
mod fetch;
mod form;
mod grant;
mod keeper;
mod options;
mod registration;
mod scopes;
mod sign_in;
mod token;

pub use authorize::Pending;
pub use challenge::Challenge;
pub use error::SignInError;
pub use grant::{Grant, Grants, Secret, Turn};
pub use options::SignInOptions;
pub use sign_in::{begin, finish, revoke};

pub(crate) use discovery::offers_sign_in;
pub(crate) use keeper::{Bearer, Keeper};
