//! A server that misbehaves on request, and the launcher of children: what the tests of this crate
//! run as real processes. Never shipped.
//!
//! `mcp-fixture serve [SWITCH…]` is a server over standard streams, `mcp-fixture launch PARENT PROGRAM
//! …` becomes another program the way the host's launcher does, `mcp-fixture drive` runs our client
//! against servers of other makers (`tests/mcp-servers`), and `mcp-fixture conform` against the official
//! conformance suite. `mcp-fixture host` is a host to be killed, with `mcp-fixture warden` beside it.

mod conform;
mod drive;
mod server;
mod sign_in;
mod tools;

use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    let command = words.next().unwrap_or_default();
    let outcome = match command.to_str() {
        Some("serve") => server::run(words.filter_map(|word| word.into_string().ok()).collect()),
        Some("launch") => Err(chatos_mcp::exec(words)),
        Some("warden") => chatos_mcp::watch(std::io::stdin().lock()),
        Some("host") => drive::hold(),
        Some("drive") => drive::run(),
        Some("conform") => conform::run(words.last().and_then(|word| word.into_string().ok())),
        _ => Err(std::io::Error::other("expected `serve`, `launch`, `warden`, `host`, `drive` or `conform`")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(std::io::stderr(), "mcp-fixture: {error}").ok();
            ExitCode::from(127)
        }
    }
}
