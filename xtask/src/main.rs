//! `cargo xtask`: the project's own build tool.
//!
//! One command per file; this one only knows their names. Nothing here is shipped.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a build tool speaks to a terminal")]

mod bench;
mod catalog;
mod ci;
mod codegen;
mod deny;
mod dist;
mod node_modules;
mod npm;
mod process;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;

use crate::workspace::Workspace;

const HELP: &str = "\
cargo xtask <command>

  ci [--only A,B] [--skip A,B] [--list]   everything CI runs, in CI's order
  nightly                                 what takes hours: every real agent, kills, long runs, Firefox ESR
  tidy [--root DIR] [--no-codegen]        layers, file headers and sizes, links, leaks, freshness
  codegen [--check] [--schema PATH]       write (or compare) the files generated from the code
  deny                                    licences, banned crates, sources, duplicates (deny.toml)
  node-modules [--check]                  the packages lent to plugins, from their lock file
  catalog DIR [--compare FILE]            facts about models, from an unpacked npm package
  bench [ARGS…]                           the benchmark, release build
  dist [--program TARGET=FILE]… [--out DIR] [--url URL]
                                          a release: packages, checksums, signature, licences, table
  dist build [TARGET…]                    only the program, static, for these systems
  dist key                                a new key to sign releases with
";

fn main() -> ExitCode {
    match run(std::env::args().skip(1).collect()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            for cause in error.chain().skip(1) {
                eprintln!("caused by: {cause}");
            }
            ExitCode::from(2)
        }
    }
}

/// Runs one command. `false` is an answer (a check failed), an error is a breakdown.
fn run(mut args: Vec<String>) -> Result<bool> {
    let command = if args.is_empty() { String::from("help") } else { args.remove(0) };
    match command.as_str() {
        "ci" => ci::run(&Workspace::find()?, ci::Options::parse(&args)?),
        "nightly" => ci::run(&Workspace::find()?, ci::Options::nightly()),
        "tidy" => tidy::run(&tidy::Options::parse(&args)?),
        "codegen" => codegen::run(&Workspace::find()?, &codegen::Options::parse(&args)?),
        "deny" => deny::run(&Workspace::find()?),
        "node-modules" => node_modules::run(&Workspace::find()?, &args),
        "dist" => dist::run(&Workspace::find()?, &args),
        "catalog" => catalog::run(&Workspace::find()?, &args),
        "bench" => bench::run(&Workspace::find()?, &args),
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(true)
        }
        other => anyhow::bail!("unknown command `{other}`; `cargo xtask help` lists them"),
    }
}
