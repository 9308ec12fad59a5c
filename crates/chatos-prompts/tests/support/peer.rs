//! A second process for the tests.
fn main() {}
