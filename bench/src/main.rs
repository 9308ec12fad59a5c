//! Measures ChatOS beside the physical limit, interleaved in one run, and prints ratios.
//!
//! `cargo run --release -p chatos-bench -- prompts`. Every reply is checked before it counts. No test
//! depends on these numbers: a busy machine makes them worse, never wrong.
#![expect(clippy::print_stdout, reason = "a benchmark speaks to the person who started it")]

mod chat;
mod context;
mod lists;
mod mcp;
mod measure;
mod plugins;
mod prompts;
mod servers;
mod start;
mod tree;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["prompts", only @ ..] => prompts::run(only),
        ["servers", words @ ..] => servers::run(words),
        ["chat", path @ ..] => chat::run(path),
        ["context", path @ ..] => context::run(path),
        ["lists", path @ ..] => lists::run(path),
        ["tree", path @ ..] => tree::run(path),
        ["mcp"] => mcp::run(),
        // A second process for the measurements; see `prompts::latency`.
        ["prompts-writer", log, bare] => prompts::writer(log.as_ref(), bare.as_ref()),
        ["start", path @ ..] => start::run(path),
        // The limit beside a start; see `start::bare_listener`.
        ["listen"] => start::listen(),
        ["plugins", only @ ..] => plugins::run(only),
        // A second process for the measurements; see `plugins::install`.
        ["plugins-install", zip, state] => plugins::install_child(zip.as_ref(), state.as_ref()),
        _ => {
            println!("usage: chatos-bench prompts [latency|fold|append] [LINES]");
            println!("       chatos-bench plugins [scan|install]");
            println!(
                "       chatos-bench servers [start|files|shell|records|inside|lsp] [--peers DIR] [--files N]"
            );
            println!("       chatos-bench mcp");
            println!("       chatos-bench start [PROGRAM]");
            println!("       chatos-bench chat [PROGRAM]");
            println!("       chatos-bench context [PROGRAM]");
            println!("       chatos-bench lists [PROGRAM]");
            println!("       chatos-bench tree [PROGRAM]");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
