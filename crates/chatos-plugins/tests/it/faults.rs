//! The k-th change on disk fails, for every k (security §5): whatever happens, the old or the new
//! version is there, whole, and the data directory is untouched.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chatos_contribution::DefaultLists;
use chatos_plugins::{DataChoice, Fs, InstallRequest, Installer, NoProgress, RealFs};

use crate::support::{World, id, simple, tempdir, tree, write_files};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// This operation fails, later ones work.
    Once(i32),
    /// A write is cut short, then the disk is full.
    Short,
    /// Nothing works any more: the process died here.
    Stop,
}

struct FaultFs {
    count: AtomicU64,
    at: u64,
    fault: Fault,
}

impl FaultFs {
    fn new(at: u64, fault: Fault) -> Arc<Self> {
        Arc::new(Self { count: AtomicU64::new(0), at, fault })
    }

    fn check(&self) -> io::Result<()> {
        let n = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        match self.fault {
            Fault::Once(errno) if n == self.at => Err(io::Error::from_raw_os_error(errno)),
            Fault::Short if n == self.at => Err(io::ErrorKind::StorageFull.into()),
            Fault::Stop if n >= self.at => Err(io::Error::other("stopped")),
            _ => Ok(()),
        }
    }
}

impl Fs for FaultFs {
    fn make_dir(&self, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<()> {
        self.check()?;
        RealFs.make_dir(dir, name, mode)
    }
    fn create(&self, dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<OwnedFd> {
        self.check()?;
        RealFs.create(dir, name, mode)
    }
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.check() {
            if self.fault == Fault::Short && bytes.len() > 1 {
                RealFs.write(file, &bytes[..bytes.len() / 2])?;
            }
            return Err(error);
        }
        RealFs.write(file, bytes)
    }
    fn sync(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.check()?;
        RealFs.sync(fd)
    }
    fn sync_all(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.check()?;
        RealFs.sync_all(fd)
    }
    fn rename(
        &self,
        from: BorrowedFd<'_>,
        name: &OsStr,
        to: BorrowedFd<'_>,
        new_name: &OsStr,
    ) -> io::Result<()> {
        self.check()?;
        RealFs.rename(from, name, to, new_name)
    }
    fn replace(&self, dir: BorrowedFd<'_>, name: &OsStr, new_name: &OsStr) -> io::Result<()> {
        self.check()?;
        RealFs.replace(dir, name, new_name)
    }
    fn unlink(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        self.check()?;
        RealFs.unlink(dir, name)
    }
    fn remove_dir(&self, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        self.check()?;
        RealFs.remove_dir(dir, name)
    }
}

fn version(dir: &std::path::Path, plugin: &str, version: &str) {
    simple(dir, plugin, &["a", "b"]);
    write_files(dir, &[("lib/deep/code.mjs", version), ("data.txt", version), ("run*", version)]);
}

type Tree = Vec<(String, String)>;

fn kinds() -> [Fault; 4] {
    [Fault::Once(28 /* ENOSPC */), Fault::Once(5 /* EIO */), Fault::Short, Fault::Stop]
}

/// A package of two: one replaces an installed plugin, one is new.
fn package() -> tempfile::TempDir {
    let new = tempdir();
    version(&new.path().join("1"), "com.example.one", "new");
    version(&new.path().join("2"), "com.example.two", "new");
    new
}

fn installed() -> World {
    let world = World::new();
    version(&world.user("com.example.one"), "com.example.one", "old");
    simple(&world.user("com.example.bystander"), "com.example.bystander", &["x"]);
    write_files(&world.ui_apps().data_of(&id("com.example.one")), &[("mine", "precious")]);
    world
}

/// A folder somebody put there by hand lies where it was, or is kept, whole: whatever happens.
fn is_somewhere(world: &World, plugin: &str, wanted: &Tree) -> bool {
    let kept = std::fs::read_dir(world.ui_apps().kept()).into_iter().flatten().flatten();
    let mut places: Vec<_> = kept.map(|time| time.path().join(plugin)).collect();
    places.push(world.user(plugin));
    places.iter().any(|place| place.exists() && tree(place) == *wanted)
}

#[test]
fn install_with_the_kth_change_failing() {
    let new = package();
    let by_hand = tree(&installed().user("com.example.one"));
    let (old_tree, new_tree): (Tree, Tree) = {
        let clean = installed();
        let before = tree(&clean.ui_apps().plugins());
        Installer::new(clean.ui_apps(), DefaultLists::default())
            .install(&InstallRequest::new(new.path()), &clean.registry, &NoProgress)
            .unwrap();
        (before, tree(&clean.ui_apps().plugins()))
    };
    for fault in kinds() {
        for at in 1.. {
            let world = installed();
            let fs = FaultFs::new(at, fault);
            let result = Installer::new(world.ui_apps(), DefaultLists::default())
                .with_fs(Arc::clone(&fs) as Arc<dyn Fs>)
                .install(&InstallRequest::new(new.path()), &world.registry, &NoProgress);
            let reached = fs.count.load(Ordering::SeqCst) >= at;
            let what = format!("{fault:?} at {at}: {:?}", result.as_ref().err().map(ToString::to_string));
            if fault != Fault::Stop {
                // Nothing but one operation failed: an error means the old version, at once.
                let after = tree(&world.ui_apps().plugins());
                assert!(
                    after == if result.is_ok() { new_tree.clone() } else { old_tree.clone() },
                    "{what}: {after:?}"
                );
            }
            // The next start.
            let report = Installer::new(world.ui_apps(), DefaultLists::default()).repair().unwrap();
            assert!(report.left.is_empty(), "{what}: {report:?}");
            let after = tree(&world.ui_apps().plugins());
            assert!(after == old_tree || after == new_tree, "{what}: {after:?}");
            assert!(result.is_err() || after == new_tree, "{what}");
            assert!(
                is_somewhere(&world, "com.example.one", &by_hand),
                "{what}: a folder of a person is gone"
            );
            assert_eq!(
                tree(&world.ui_apps().data()),
                [("com.example.one/mine".to_owned(), "644 precious".to_owned())],
                "{what}"
            );
            assert!(std::fs::read_dir(world.ui_apps().staging()).unwrap().next().is_none(), "{what}");
            if !reached {
                assert!(result.is_ok());
                break;
            }
        }
    }
}

#[test]
fn a_repair_that_is_itself_interrupted() {
    // Stop in the middle of the swap, then stop the repair at every step, then repair.
    let new = package();
    let by_hand = tree(&installed().user("com.example.one"));
    for swap_at in 50.. {
        let world = installed();
        let before = tree(&world.ui_apps().plugins());
        let result = Installer::new(world.ui_apps(), DefaultLists::default())
            .with_fs(FaultFs::new(swap_at, Fault::Stop))
            .install(&InstallRequest::new(new.path()), &world.registry, &NoProgress);
        if result.is_ok() {
            break;
        }
        for repair_at in 1..12 {
            let repairing = Installer::new(world.ui_apps(), DefaultLists::default())
                .with_fs(FaultFs::new(repair_at, Fault::Stop));
            // Whether it got through or not, the last one must.
            drop(repairing.repair());
        }
        Installer::new(world.ui_apps(), DefaultLists::default()).repair().unwrap();
        let after = tree(&world.ui_apps().plugins());
        let is_new =
            after.iter().any(|(name, content)| name == "com.example.one/data.txt" && content == "644 new");
        let complete_new =
            is_new && after.iter().filter(|(name, _)| name.starts_with("com.example.two/")).count() == 6;
        assert!(after == before || complete_new, "swap stopped at {swap_at}: {after:?}");
        assert!(is_somewhere(&world, "com.example.one", &by_hand), "swap stopped at {swap_at}");
    }
}

#[test]
fn uninstall_with_the_kth_change_failing() {
    for fault in kinds() {
        for at in 1.. {
            let world = World::new();
            version(&world.user("com.example.one"), "com.example.one", "old");
            simple(&world.user("com.example.bystander"), "com.example.bystander", &["x"]);
            write_files(&world.ui_apps().data_of(&id("com.example.one")), &[("mine", "precious")]);
            write_files(&world.ui_apps().data_of(&id("com.example.bystander")), &[("theirs", "precious")]);
            world.trust("com.example.one");
            let before = tree(&world.user("com.example.one"));
            let fs = FaultFs::new(at, fault);
            let result = Installer::new(world.ui_apps(), DefaultLists::default())
                .with_fs(Arc::clone(&fs) as Arc<dyn Fs>)
                .uninstall(&id("com.example.one"), DataChoice::Delete, &world.registry, &NoProgress);
            Installer::new(world.ui_apps(), DefaultLists::default()).repair().unwrap();
            let what = format!("{fault:?} at {at}: {:?}", result.as_ref().err().map(ToString::to_string));
            let gone = !world.user("com.example.one").exists();
            assert!(is_somewhere(&world, "com.example.one", &before), "{what}: a folder of a person is gone");
            if !gone {
                assert_eq!(tree(&world.user("com.example.one")), before, "{what}");
                assert!(world.ui_apps().data_of(&id("com.example.one")).join("mine").exists(), "{what}");
            }
            if result.is_ok() {
                assert!(gone && !world.ui_apps().data_of(&id("com.example.one")).exists(), "{what}");
            }
            assert!(world.user("com.example.bystander/x.mjs").exists());
            assert!(world.ui_apps().data_of(&id("com.example.bystander")).join("theirs").exists());
            assert!(std::fs::read_dir(world.ui_apps().staging()).unwrap().next().is_none(), "{what}");
            if fs.count.load(Ordering::SeqCst) < at {
                assert!(result.is_ok());
                break;
            }
        }
    }
}

#[test]
fn a_full_disk_says_so_and_leaves_nothing() {
    let world = World::new();
    let new = tempdir();
    version(new.path(), "com.example.one", "new");
    let error = Installer::new(world.ui_apps(), DefaultLists::default())
        .with_fs(FaultFs::new(6, Fault::Short))
        .install(&InstallRequest::new(new.path()), &world.registry, &NoProgress)
        .unwrap_err();
    assert_eq!(error.code.as_str(), "resource_exhausted", "{error}");
    assert!(std::fs::read_dir(world.ui_apps().staging()).unwrap().next().is_none());
}
