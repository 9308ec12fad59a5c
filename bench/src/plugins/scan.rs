//! A scan of many plugins beside a plain walk that reads the same manifests.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use chatos_contribution::DefaultLists;
use chatos_plugins::{MemoryTrust, Refresh, Registry, Roots, UiApps};

use crate::measure::{Times, human, ratio};

const ROUNDS: usize = 9;
const SIZES: [usize; 4] = [250, 500, 1000, 2000];

pub(super) fn run() -> Result<()> {
    println!(
        "scan of plugins, page cache warm, {ROUNDS} rounds interleaved with a walk that reads every plugin.json"
    );
    println!(
        "{:>8}  {:>10}  {:>10}  {:>6}  {:>10}  {:>12}  {:>14}",
        "plugins", "walk", "cold", "ratio", "cached", "one changed", "cold / plugin"
    );
    for size in SIZES {
        let dir = tempfile::tempdir()?;
        let user = UiApps::of_state_dir(dir.path());
        user.prepare()?;
        for n in 0..size {
            write(&user.plugins().join(format!("com.example.p{n:05}")), n, 0)?;
        }
        settle();
        measure(&user, size)?;
    }
    println!("must at 1000: cold ≤ 60 ms, cached ≤ 15 ms; cold / plugin flat over the sizes\n");
    Ok(())
}

fn write(dir: &Path, n: usize, version: usize) -> Result<()> {
    std::fs::create_dir_all(dir.join("app"))?;
    let manifest = format!(
        r#"{{"manifestVersion":1,"id":"com.example.p{n:05}","name":"Plugin {n}","version":"1.{version}","description":"One of many",
  "backend":{{"entry":"app/backend.mjs"}},
  "apps":[{{"id":"main","name":"Main {n}","icon":"P","entry":{{"type":"module","path":"app/index.mjs"}},
    "ai":{{"mcp":{{"entry":"app/server.mjs"}},"mcpPrompt":{{"zh":"app/zh.md"}}}}}}]}}"#
    );
    std::fs::write(dir.join("plugin.json"), manifest)?;
    for name in ["index.mjs", "backend.mjs", "server.mjs", "zh.md"] {
        std::fs::write(dir.join("app").join(name), "export function mount() {}\n")?;
    }
    Ok(())
}

/// Files that changed a moment ago are read once more, whatever their times say; that is not measured here.
fn settle() {
    std::thread::sleep(Duration::from_millis(200));
}

fn open(user: &UiApps) -> Registry {
    let roots = Roots { builtin: None, user: user.clone(), dev: Vec::new() };
    Registry::open(roots, Arc::new(MemoryTrust::default()), DefaultLists::default())
}

fn measure(user: &UiApps, size: usize) -> Result<()> {
    walk(&user.plugins(), size)?;
    let (mut walks, mut colds, mut cached, mut changed) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        walks.push(walk(&user.plugins(), size)?);
        let registry = open(user);
        let start = Instant::now();
        let snapshot = registry.refresh(&Refresh::Check);
        colds.push(start.elapsed());
        ensure!(snapshot.plugins.len() == size && snapshot.problems.is_empty(), "{:?}", snapshot.problems);
        let start = Instant::now();
        let again = registry.refresh(&Refresh::Check);
        cached.push(start.elapsed());
        ensure!(again.revision == snapshot.revision, "nothing changed");
        write(&user.plugins().join("com.example.p00007"), 7, round + 1)?;
        let start = Instant::now();
        let after = registry.refresh(&Refresh::Check);
        changed.push(start.elapsed());
        let same = snapshot
            .plugins
            .iter()
            .zip(&after.plugins)
            .filter(|(a, b)| Arc::ptr_eq(&a.loaded, &b.loaded))
            .count();
        ensure!(same == size - 1, "{} plugins were read again", size - same);
        settle();
    }
    let [walks, colds, cached, changed] = [walks, colds, cached, changed].map(Times::new);
    println!(
        "{size:>8}  {:>10}  {:>10}  {:>6.1}  {:>10}  {:>12}  {:>14}",
        human(walks.median()),
        human(colds.median()),
        ratio(colds.median(), walks.median()),
        human(cached.median()),
        human(changed.median()),
        human(colds.median() / u32::try_from(size)?),
    );
    Ok(())
}

/// What anybody must do: list the root, read each manifest.
fn walk(root: &Path, size: usize) -> Result<Duration> {
    let start = Instant::now();
    let (mut found, mut bytes) = (0, 0);
    for entry in std::fs::read_dir(root)? {
        bytes += std::fs::read(entry?.path().join("plugin.json"))?.len();
        found += 1;
    }
    let took = start.elapsed();
    ensure!(found == size && bytes > 0, "the walk found {found}");
    Ok(took)
}
