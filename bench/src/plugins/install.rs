//! Installing a package of 50 MB beside copying and syncing the same bytes; memory of the process that
//! installs.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use chatos_contribution::DefaultLists;
use chatos_plugins::{InstallRequest, Installer, MemoryTrust, NoProgress, Registry, Roots, UiApps, pack};

use crate::measure::{Times, human, ratio};

const ROUNDS: usize = 5;
const FILES: usize = 50;
const FILE_BYTES: usize = 1_000_000;

pub(super) fn run() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let source = dir.path().join("source");
    make(&source)?;
    let zip = dir.path().join("large.zip");
    let report = pack(&source, Some(&zip), dir.path(), &DefaultLists::default())?;
    println!(
        "install of a zip of {} MB with {} files, {ROUNDS} rounds interleaved",
        report.bytes / 1_000_000,
        report.files
    );
    let (mut installs, mut copies, mut peak) = (Vec::new(), Vec::new(), 0);
    for round in 0..ROUNDS {
        copies.push(copy(&zip, &dir.path().join(format!("copy-{round}")))?);
        let (took, memory) = install(&zip, &dir.path().join(format!("state-{round}")))?;
        installs.push(took);
        peak = peak.max(memory);
    }
    let (installs, copies) = (Times::new(installs), Times::new(copies));
    println!(
        "  copy + fsync {} (best {}), install {} (best {}), ratio {:.1} (best to best {:.1}); peak memory {} MiB",
        human(copies.median()),
        human(copies.best()),
        human(installs.median()),
        human(installs.best()),
        ratio(installs.median(), copies.median()),
        ratio(installs.best(), copies.best()),
        peak / 1024,
    );
    println!("must: bound by the disk, peak memory < 64 MiB\n");
    ensure!(peak < 64 * 1024, "the install used {} MiB", peak / 1024);
    Ok(())
}

/// Bytes that do not compress, as images and bundles are.
fn make(dir: &Path) -> Result<()> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::fs::create_dir_all(dir.join("assets"))?;
    for n in 0..FILES {
        let bytes: Vec<u8> = (0..FILE_BYTES / 8)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()
            })
            .collect();
        std::fs::write(dir.join(format!("assets/{n}.bin")), bytes)?;
    }
    std::fs::write(dir.join("index.mjs"), "export function mount() {}\n")?;
    let manifest =
        r#"{"id":"com.example.large","name":"Large","apps":[{"id":"a","name":"A","entry":"index.mjs"}]}"#;
    std::fs::write(dir.join("plugin.json"), manifest)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<Duration> {
    let start = Instant::now();
    let (mut input, mut output) = (File::open(from)?, File::create(to)?);
    let mut buffer = vec![0; 256 << 10];
    loop {
        match input.read(&mut buffer)? {
            0 => break,
            count => output.write_all(&buffer[..count])?,
        }
    }
    output.sync_all()?;
    let took = start.elapsed();
    std::fs::remove_file(to)?;
    Ok(took)
}

/// In a process of its own, whose peak memory is then known.
#[expect(clippy::disallowed_methods, reason = "the peak memory of a process is that of its whole life")]
fn install(zip: &Path, state: &Path) -> Result<(Duration, u64)> {
    let output = Command::new(std::env::current_exe()?)
        .arg("plugins-install")
        .args([zip, state])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    ensure!(output.status.success(), "the install failed: {text}");
    let (nanos, memory) = text.trim().split_once(' ').context("no numbers from the install")?;
    std::fs::remove_dir_all(state)?;
    Ok((Duration::from_nanos(nanos.parse()?), memory.parse()?))
}

/// The other process: installs and says how long it took and how much memory it had at most (KiB).
pub(crate) fn child(zip: &Path, state: &Path) -> Result<()> {
    let user = UiApps::of_state_dir(state);
    let roots = Roots { builtin: None, user: user.clone(), dev: Vec::new() };
    let registry = Registry::open(roots, Arc::new(MemoryTrust::default()), DefaultLists::default());
    let installer = Installer::new(user, DefaultLists::default());
    let start = Instant::now();
    let report = installer.install(&InstallRequest::new(zip), &registry, &NoProgress)?;
    let took = start.elapsed();
    ensure!(report.plugins[0].files == FILES + 2, "the install is not complete");
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    println!("{} {}", took.as_nanos(), peak.trim().trim_end_matches(" kB").trim());
    Ok(())
}
