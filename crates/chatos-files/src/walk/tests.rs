//! Walks: order, ignore files, links, protected directories, many directories at once.

use std::os::unix::fs::symlink;

use super::*;
use crate::root::SymlinkPolicy;
use crate::stop::Never;
use crate::testing::Fixture;

fn paths(f: &Fixture, start: &str, options: WalkOptions) -> Vec<String> {
    let mut all = Vec::new();
    walk(&f.root, start, options, &Never).unwrap().visit(|entry| {
        if entry.kind != Kind::Directory {
            all.push(String::from_utf8_lossy(&entry.rel()).into_owned());
        }
    });
    all
}

const ALL: WalkOptions = WalkOptions { hidden: true, ignored: true, depth: usize::MAX };
const SEEN: WalkOptions = WalkOptions { hidden: false, ignored: false, depth: usize::MAX };

#[test]
fn the_order_is_that_of_full_paths_with_any_number_of_threads() {
    let f = Fixture::new();
    for dir in 0..60 {
        for file in 0..5 {
            f.write(&format!("d{dir}/s{file}/f"), "x");
        }
    }
    f.write("d1-x", "x").write("d1.y", "x").write("d1z", "x");
    let found = paths(&f, ".", ALL);
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(found.len(), 303);
    assert_eq!(found, sorted);
    for _ in 0..5 {
        assert_eq!(paths(&f, ".", ALL), found);
    }
}

#[test]
fn ignore_files_hold_at_every_level_without_a_repository() {
    let f = Fixture::new();
    f.write(".gitignore", "*.log\n/build/\nnode_modules\n!keep.log\n")
        .write("a.log", "")
        .write("keep.log", "");
    f.write("build/x", "").write("sub/build/y", "").write("sub/node_modules/z", "").write("sub/b.log", "");
    f.write("sub/.gitignore", "!b.log\nsecret*\n").write("sub/secret.txt", "").write("sub/ok", "");
    f.write("sub/.ignore", "ok2\n").write("sub/ok2", "").write(".hidden/h", "").write(".git/config", "");
    assert_eq!(paths(&f, ".", SEEN), ["keep.log", "sub/b.log", "sub/build/y", "sub/ok"]);
    // Started below, the rules of the directories above still hold.
    assert_eq!(paths(&f, "sub", SEEN), ["sub/b.log", "sub/build/y", "sub/ok"]);
    let hidden = WalkOptions { hidden: true, ..SEEN };
    assert!(paths(&f, ".", hidden).contains(&".hidden/h".to_owned()));
    assert!(!paths(&f, ".", hidden).iter().any(|path| path.starts_with(".git/")));
    assert!(paths(&f, ".", ALL).contains(&".git/config".to_owned()));
    // Another repository inside has its own rules only, and its exclude file counts.
    f.write("inner/.git/info/exclude", "x.txt\n").write("inner/x.txt", "").write("inner/y.log", "");
    let found = paths(&f, "inner", SEEN);
    assert_eq!(found, ["inner/y.log"]);
}

#[test]
fn links_are_listed_and_never_followed_under_either_policy() {
    for policy in [SymlinkPolicy::Deny, SymlinkPolicy::Allow] {
        let f = Fixture::with(policy, &[]);
        f.write("real/x", "x");
        symlink("real", f.path("alias")).unwrap();
        symlink("..", f.path("up")).unwrap();
        symlink("/", f.path("slash")).unwrap();
        assert_eq!(paths(&f, ".", ALL), ["alias", "real/x", "slash", "up"]);
    }
}

#[test]
fn protected_directories_are_left_out_and_said() {
    let f = Fixture::with(SymlinkPolicy::Deny, &["root/state"]);
    f.write("state/secret", "s").write("a", "");
    let tree = walk(&f.root, ".", ALL, &Never).unwrap();
    assert_eq!(tree.protected, 1);
    assert_eq!(paths(&f, ".", ALL), ["a"]);
}

#[test]
fn a_directory_that_becomes_a_link_in_the_middle_leads_nowhere() {
    let f = Fixture::new();
    std::fs::create_dir(f.outside("target")).unwrap();
    std::fs::write(f.outside("target/leak"), "x").unwrap();
    for n in 0..40 {
        f.write(&format!("d{n:02}/in/file"), "x");
    }
    let (root, outside) = (f.path(""), f.outside("target"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let (dir, kept) = (root.join("d20/in"), root.join("d20/kept"));
                std::fs::rename(&dir, &kept).unwrap();
                symlink(&outside, &dir).unwrap();
                std::fs::remove_file(&dir).unwrap();
                std::fs::rename(&kept, &dir).unwrap();
            }
        });
        for _ in 0..200 {
            let found = paths(&f, ".", ALL);
            assert!(!found.iter().any(|path| path.ends_with("leak")), "{found:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}
