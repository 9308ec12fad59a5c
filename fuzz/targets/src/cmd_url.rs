//! `cmd://`: reading what was built gives the same words, for every way to build and to read.

use chatos_contribution::cmd_url::{build, parse};

pub(crate) const WORDS: &[&str] = &[
    "cmd://",
    "node ",
    "\"",
    "'",
    "\\",
    "\\\"",
    "\t",
    "\n",
    "\r",
    "$(id)",
    "; rm",
    "`",
    "\u{a0}",
    "\u{2028}",
    "\u{200b}",
    "数据.mjs",
    "a\"b c\"d",
    "''",
];

/// As an address, and as a list of arguments separated by NUL.
pub fn cmd_url(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(argv) = parse(&text) {
        assert!(argv.first().is_some_and(|program| !program.is_empty()), "no program");
        assert!(argv.iter().all(|word| !word.contains('\0')), "a NUL in a word");
        round_trip(&argv);
    }
    let argv: Vec<String> = text.split('\0').map(str::to_owned).collect();
    if argv.first().is_some_and(|program| !program.is_empty()) {
        round_trip(&argv);
    } else {
        assert!(build(&argv).is_err(), "an address without a program");
    }
}

fn round_trip(argv: &[String]) {
    let built = build(argv).unwrap_or_else(|error| panic!("{argv:?} cannot be written: {error:?}"));
    let read = parse(&built).unwrap_or_else(|error| panic!("{built:?} cannot be read: {error:?}"));
    assert_eq!(read, argv, "through {built:?}");
    assert_eq!(build(&read).ok().as_deref(), Some(built.as_str()), "written differently the second time");
}
