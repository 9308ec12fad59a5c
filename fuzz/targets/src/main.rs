//! The bounded run of CI: every corpus file, then mutated inputs from a fixed seed, for a bounded time.
//!
//! `chatos-fuzz [--seconds N] [--seed N] [--corpus DIR] [TARGET…]`. A failing input is saved below
//! `artifacts/` beside the corpus, and its path is printed; `chatos-fuzz --file PATH TARGET` runs it again.
#![expect(clippy::print_stdout, reason = "a tool that speaks to the person who started it")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use chatos_fuzz::mutate::{Random, mutate};
use chatos_fuzz::{TARGETS, Target};

/// No input within the limits takes this long; one that does is a finding.
const SLOW: Duration = Duration::from_secs(10);

struct Options {
    seconds: u64,
    seed: u64,
    corpus: PathBuf,
    file: Option<PathBuf>,
    targets: Vec<&'static Target>,
}

fn main() -> Result<ExitCode> {
    let options = options()?;
    let share = Duration::from_secs(options.seconds) / u32::try_from(options.targets.len()).unwrap_or(1);
    let (mut passed, mut failed) = (0, 0);
    for target in &options.targets {
        let done = match &options.file {
            Some(file) => once(target, &options, &std::fs::read(file).with_context(|| shown(file))?),
            None => run(target, &options, share),
        };
        match done {
            Ok(line) => {
                passed += 1;
                println!("ok      {:<10} {line}", target.name);
            }
            Err(error) => {
                failed += 1;
                println!("FAILED  {:<10} {error:#}", target.name);
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn options() -> Result<Options> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    let mut options = Options { seconds: 40, seed: 1, corpus: beside, file: None, targets: Vec::new() };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--seconds" => options.seconds = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--corpus" => options.corpus = value()?.into(),
            "--file" => options.file = Some(value()?.into()),
            name => match TARGETS.iter().find(|target| target.name == name) {
                Some(target) => options.targets.push(target),
                None => {
                    let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                    bail!("no target is called `{name}`; there are {}", known.join(", "));
                }
            },
        }
    }
    if options.targets.is_empty() {
        options.targets.extend(TARGETS);
    }
    Ok(options)
}

fn shown(path: &Path) -> String {
    format!("cannot read: {}", path.display())
}

fn run(target: &Target, options: &Options, time: Duration) -> Result<String> {
    let corpus = corpus(&options.corpus.join(target.name))?;
    ensure!(!corpus.is_empty(), "the corpus is empty: {}", options.corpus.join(target.name).display());
    let started = Instant::now();
    for input in &corpus {
        once(target, options, input)?;
    }
    let mut random = Random::new(options.seed);
    let mut count = corpus.len();
    while started.elapsed() < time {
        once(target, options, &mutate(&mut random, &corpus, target.words))?;
        count += 1;
    }
    Ok(format!("{count} inputs, {} of them from the corpus, seed {}", corpus.len(), options.seed))
}

/// Files in order of their names, so that a seed means the same everywhere.
fn corpus(dir: &Path) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(|| shown(dir))? {
        names.push(entry?.path());
    }
    names.sort();
    names.iter().map(|path| std::fs::read(path).with_context(|| shown(path))).collect()
}

/// Runs one input. It is on disk meanwhile: a stack overflow leaves no other trace.
fn once(target: &Target, options: &Options, input: &[u8]) -> Result<String> {
    let artifacts = options.corpus.join("../artifacts").join(target.name);
    std::fs::create_dir_all(&artifacts).with_context(|| format!("cannot create: {}", artifacts.display()))?;
    let running = artifacts.join("running");
    std::fs::write(&running, input)?;
    let started = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let took = started.elapsed();
    let why = match result {
        Err(_) => "it panicked; the message is above".to_owned(),
        Ok(()) if took > SLOW => format!("it took {:.1} s", took.as_secs_f64()),
        Ok(()) => {
            std::fs::remove_file(&running)?;
            return Ok(format!("{} bytes", input.len()));
        }
    };
    let kept = artifacts.join(format!("crash-{:08x}", crc32fast::hash(input)));
    std::fs::rename(&running, &kept)?;
    bail!("{why}; the input is {} (run it again with --file)", kept.display());
}
