//! Apps with the real program: frame routes over raw HTTP, backends with a real Node.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by failing")]

mod backends;
mod callers;
mod frames;
mod rights;
mod support;
