//! An install killed at any moment (acceptance 3): a real child process installs version after
//! version, is killed with SIGKILL at a random time, and after the repair of the next start the
//! plugin is one of the versions, whole, with its data untouched.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatos_contribution::DefaultLists;
use chatos_plugins::{InstallRequest, Installer, Phase, Progress};

use crate::support::{World, id, simple, write_files};

const CHILD: &str = "CHATOS_TEST_INSTALL_LOOP";
/// At least 200 by the acceptance; a little more costs nothing.
const KILLS: usize = 220;

fn version(dir: &Path, version: usize) {
    simple(dir, "com.example.killed", &["a", "b", "c"]);
    let text = version.to_string();
    for n in 0..3 {
        write_files(dir, &[(&format!("lib/{n}/code.mjs"), &text.repeat(1 + n * 40_000))]);
    }
    write_files(dir, &[("version.txt", &text)]);
}

/// Tells the parent when directories are about to be exchanged: the moment worth killing in.
struct Announce;

impl Progress for Announce {
    fn report(&self, phase: Phase, _: u64, _: Option<u64>) {
        if phase == Phase::Swapping {
            // Standard output is the pipe to the parent; print! would go to the test harness.
            std::io::stdout().write_all(b"swap\n").unwrap();
            std::io::stdout().flush().unwrap();
        }
    }

    fn is_canceled(&self) -> bool {
        false
    }
}

/// Not a test by itself: what the child process runs, until it is killed.
#[test]
fn child_that_installs_until_killed() {
    #[expect(clippy::disallowed_methods, reason = "how a test tells its own child what to do")]
    let Some(state) = std::env::var_os(CHILD) else { return };
    let state = PathBuf::from(state);
    let registry = crate::support::open_existing(&state);
    let first = usize::from(state.join("start-with-1").exists());
    for n in (first..).map(|n| n % 2) {
        let source = state.join(format!("source-{n}"));
        Installer::new(chatos_plugins::UiApps::of_state_dir(&state), DefaultLists::default())
            .install(&InstallRequest::new(source), &registry, &Announce)
            .unwrap();
    }
}

#[test]
fn killed_two_hundred_times() {
    let world = World::new();
    let state = world.temp.path();
    let mut digests: HashMap<String, usize> = HashMap::new();
    for n in 0..2 {
        let source = state.join(format!("source-{n}"));
        version(&source, n);
        digests.insert(chatos_plugins::content_of_directory(&source, &[]).unwrap().digest.to_string(), n);
    }
    simple(&world.user("com.example.bystander"), "com.example.bystander", &["x"]);
    let bystander = crate::support::tree(&world.user("com.example.bystander"));
    let data = world.ui_apps().data_of(&id("com.example.killed"));
    write_files(&data, &[("notes.md", "mine")]);
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(std::process::id()));
    let (mut seen, mut undone) = ([0_usize; 2], 0);
    for kill in 0..KILLS {
        // Children begin with either version, so that both are installed over each other.
        let marker = state.join("start-with-1");
        if random.below(2) == 0 {
            std::fs::write(&marker, "").unwrap();
        } else {
            std::fs::remove_file(&marker).ok();
        }
        let mut child = spawn(state);
        if random.below(4) > 0 {
            // Around the first, second or third exchange of directories.
            let mut swaps = 1 + random.below(3);
            let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
            while swaps > 0 {
                let mut line = String::new();
                assert!(output.read_line(&mut line).unwrap() > 0, "the child ended by itself");
                swaps -= u64::from(line.ends_with("swap\n"));
            }
            std::thread::sleep(Duration::from_micros(random.below(1_500)));
        } else {
            // Anywhere, from the start of the process on.
            std::thread::sleep(Duration::from_micros(random.below(60_000)));
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let report = Installer::new(world.ui_apps(), DefaultLists::default()).repair().unwrap();
        assert!(report.left.is_empty(), "kill {kill}: {report:?}");
        undone += report.undone.len();
        let snapshot = world.scan();
        assert_eq!(std::fs::read_to_string(data.join("notes.md")).unwrap(), "mine");
        assert_eq!(crate::support::tree(&world.user("com.example.bystander")), bystander);
        assert!(std::fs::read_dir(world.ui_apps().staging()).unwrap().next().is_none());
        match snapshot.plugin(&id("com.example.killed")) {
            // Only before the very first install was complete.
            None => assert_eq!(seen, [0, 0], "kill {kill}: the plugin is gone"),
            Some(plugin) => {
                let found = world.registry.inventory(plugin).unwrap().digest.to_string();
                let version = digests.get(&found).unwrap_or_else(|| panic!("kill {kill}: a mixture"));
                seen[*version] += 1;
            }
        }
    }
    assert!(
        seen[0] > 0 && seen[1] > 0 && undone > 0,
        "both versions were found: {seen:?}, {undone} swaps undone"
    );
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

#[expect(clippy::disallowed_methods, reason = "a test needs a process it can kill")]
fn spawn(state: &Path) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::child_that_installs_until_killed", "--nocapture", "--test-threads=1"])
        .env(CHILD, state)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap()
}
