//! Tests that cannot run on this machine: seen as skipped, never as passed.
//!
//! The runners know no skip at run time. So a test that needs what is missing here says so and ends; what it
//! said is written to the file that `cargo xtask ci` names, which takes it out of the passed ones and names it
//! with its reason.

use std::io::Write;

/// Names the file; one line per skipped test.
pub const SKIPPED_FILE: &str = "CHATOS_SKIPPED_TESTS";

/// Ends the calling test, or a test that returns nothing, as skipped for this reason.
#[macro_export]
macro_rules! skip {
    ($($reason:tt)+) => {{
        // The path of this function begins with that of the test.
        fn here() {}
        $crate::skipped(std::any::type_name_of_val(&here), &format!($($reason)+));
        return;
    }};
}

/// Says that a test is skipped. Called by [`skip!`].
pub fn skipped(place: &str, reason: &str) {
    let line = format!("{}: {reason}\n", name(place));
    let mut told = std::io::stderr().write_all(format!("skipped: {line}").as_bytes());
    #[expect(
        clippy::disallowed_methods,
        reason = "tests are no part of the host; CI tells them where to write"
    )]
    let file = std::env::var_os(SKIPPED_FILE);
    if let Some(file) = file {
        let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
        // One write, so that lines of tests that end at the same moment do not mix.
        told = open.and_then(|mut file| file.write_all(line.as_bytes()));
    }
    assert!(told.is_ok(), "a skipped test would pass for one that ran: {told:?}");
}

/// `crate::module::test::{{closure}}::here` → `crate::module::test`.
fn name(place: &str) -> String {
    let parts = place.split("::").filter(|part| !part.starts_with("{{"));
    let parts: Vec<&str> = parts.collect();
    parts[..parts.len().saturating_sub(1)].join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_gives_the_name_of_its_test() {
        assert_eq!(name("a::b::test::here"), "a::b::test");
        assert_eq!(name("a::test::{{closure}}::{{closure}}::here"), "a::test");
    }
}
