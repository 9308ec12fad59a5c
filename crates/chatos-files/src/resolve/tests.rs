//! The escape matrix (security §4 F1, F2): every way out that is known, and what must stay allowed.

use std::os::unix::fs::symlink;

use proptest::prelude::*;
use rustix::fs::FileType;

use super::*;
use crate::root::Protected;
use crate::testing::Fixture;

fn fixture() -> Fixture {
    let f = Fixture::new();
    f.write("a.txt", "a").write("sub/b.txt", "b").write("..c/d..", "d");
    std::fs::write(f.outside("secret"), "s").unwrap();
    std::fs::create_dir(f.outside("root-evil")).unwrap();
    std::fs::write(f.outside("root-evil/x"), "x").unwrap();
    symlink("../secret", f.path("out")).unwrap();
    symlink("/etc/hostname", f.path("abs")).unwrap();
    symlink("a.txt", f.path("in")).unwrap();
    symlink("sub", f.path("dir")).unwrap();
    symlink("..", f.path("up")).unwrap();
    symlink("loop", f.path("loop")).unwrap();
    symlink("../new-outside", f.path("dangling-out")).unwrap();
    symlink("new-inside", f.path("dangling-in")).unwrap();
    symlink("/proc/self/environ", f.path("proc")).unwrap();
    f
}

fn rule(result: Result<Place>) -> String {
    match result {
        Ok(place) => format!("ok {} {:?}", place.rel, place.kind()),
        Err(FileError::Denied { rule, .. }) => rule.as_str().to_owned(),
        Err(FileError::Invalid { .. }) => "invalid".to_owned(),
        Err(FileError::NotFound { .. }) => "not_found".to_owned(),
        Err(other) => format!("{other:?}"),
    }
}

#[test]
fn every_way_out_is_refused_and_what_is_inside_resolves() {
    let f = fixture();
    let root_text = f.root.path().display().to_string();
    let evil = f.outside("root-evil/x").display().to_string();
    let cases = [
        ("a.txt", "ok a.txt Some(File)"),
        ("./sub/../a.txt", "ok a.txt Some(File)"),
        ("sub//b.txt", "ok sub/b.txt Some(File)"),
        ("..c/d..", "ok ..c/d.. Some(File)"),
        (".", "ok . Some(Directory)"),
        ("sub/..", "ok . Some(Directory)"),
        ("in", "ok a.txt Some(File)"),
        ("dir/b.txt", "ok sub/b.txt Some(File)"),
        ("dir/../a.txt", "ok a.txt Some(File)"),
        ("new/deep/file", "ok new/deep/file None"),
        ("dangling-in", "ok new-inside None"),
        ("..", "outside_root"),
        ("../secret", "outside_root"),
        ("sub/../../secret", "outside_root"),
        ("/etc/passwd", "outside_root"),
        ("/proc/self/environ", "outside_root"),
        ("/dev/zero", "outside_root"),
        ("/", "outside_root"),
        ("out", "symlink_escape"),
        ("abs", "symlink_escape"),
        ("up/secret", "symlink_escape"),
        ("up/new", "symlink_escape"),
        ("dangling-out", "symlink_escape"),
        ("loop", "symlink_escape"),
        ("loop/x", "symlink_escape"),
        ("proc", "symlink_escape"),
        ("new/../../secret", "not_found"),
        ("a.txt/x", "invalid"),
        ("", "invalid"),
        ("a\0b", "invalid"),
    ];
    for (path, expected) in cases {
        assert_eq!(rule(f.root.resolve(path, Last::Follow)), expected, "{path}");
    }
    assert_eq!(
        rule(f.root.resolve(&evil, Last::Follow)),
        "outside_root",
        "sibling with the root's name in front"
    );
    for (path, expected) in cases.into_iter().filter(|(path, _)| !path.starts_with('/') && !path.is_empty()) {
        let absolute = format!("{root_text}/{path}");
        assert_eq!(rule(f.root.resolve(&absolute, Last::Follow)), expected, "{absolute}");
    }
    assert_eq!(rule(f.root.resolve(&"x".repeat(256), Last::Follow)), "invalid");
    assert_eq!(rule(f.root.resolve(&format!("new/{}", "x".repeat(256)), Last::Follow)), "invalid");
    assert_eq!(rule(f.root.resolve(&"x/".repeat(2049), Last::Follow)), "invalid");
}

#[test]
fn an_absolute_path_is_known_by_the_directory_and_not_by_its_spelling() {
    let f = fixture();
    symlink(f.outside("root"), f.outside("alias")).unwrap();
    let alias = f.outside("alias/sub/b.txt").display().to_string();
    assert_eq!(rule(f.root.resolve(&alias, Last::Follow)), "ok sub/b.txt Some(File)");
    let escaping = f.outside("alias/../secret").display().to_string();
    assert_eq!(rule(f.root.resolve(&escaping, Last::Follow)), "outside_root");
    match f.root.resolve("/sub/b.txt", Last::Follow) {
        Err(FileError::Denied { instead, .. }) => assert_eq!(instead.as_deref(), Some("sub/b.txt")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_last_link_itself_can_be_meant() {
    let f = fixture();
    for (path, expected) in [
        ("out", "ok out Some(Symlink)"),
        ("abs", "ok abs Some(Symlink)"),
        ("loop", "ok loop Some(Symlink)"),
        ("up/secret", "symlink_escape"),
        ("dir/b.txt", "ok sub/b.txt Some(File)"),
    ] {
        assert_eq!(rule(f.root.resolve(path, Last::Itself)), expected, "{path}");
    }
}

#[test]
fn the_policy_allow_follows_links_out_but_never_dots() {
    let f = fixture();
    let root = Root::open(&f.outside("root"), SymlinkPolicy::Allow, Protected::default()).unwrap();
    assert_eq!(rule(root.resolve("out", Last::Follow)), "ok out Some(File)");
    assert_eq!(rule(root.resolve("up/secret", Last::Follow)), "ok up/secret Some(File)");
    assert_eq!(rule(root.resolve("dangling-out", Last::Follow)), "ok dangling-out None");
    assert_eq!(rule(root.resolve("../secret", Last::Follow)), "outside_root");
    assert_eq!(rule(root.resolve("/etc/passwd", Last::Follow)), "outside_root");
    // `proc` leads into a kernel file system.
    assert!(matches!(root.resolve("proc", Last::Follow), Err(FileError::Unsupported { .. })));
}

#[test]
fn protected_directories_are_refused_by_identity_also_before_they_exist() {
    let f = Fixture::with(SymlinkPolicy::Allow, &["root/state", "root/later/keys", "outside-state"]);
    f.write("state/state.db", "db").write("ok.txt", "ok");
    std::fs::create_dir(f.outside("outside-state")).unwrap();
    symlink("state", f.path("alias")).unwrap();
    symlink("../outside-state", f.path("out")).unwrap();
    for path in [
        "state",
        "state/state.db",
        "state/new",
        "alias/state.db",
        "out/x",
        "later",
        "LATER/keys/k",
        "./state/",
    ] {
        assert_eq!(rule(f.root.resolve(path, Last::Follow)), "protected_path", "{path}");
    }
    assert_eq!(rule(f.root.resolve("ok.txt", Last::Follow)), "ok ok.txt Some(File)");
    assert_eq!(rule(f.root.resolve("alias", Last::Itself)), "ok alias Some(Symlink)");
    f.write("later/other", "x");
    assert_eq!(rule(f.root.resolve("later/other", Last::Follow)), "ok later/other Some(File)");
    assert_eq!(rule(f.root.resolve("later/keys/k", Last::Follow)), "protected_path");
}

#[test]
fn special_files_are_refused_without_blocking() {
    let f = Fixture::new();
    rustix::fs::mknodat(rustix::fs::CWD, f.path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(f.path("socket")).unwrap();
    for path in ["fifo", "socket"] {
        assert!(matches!(f.root.open_file(path), Err(FileError::Unsupported { .. })), "{path}");
    }
    assert!(matches!(f.root.open_file("."), Err(FileError::Invalid { .. })));
}

#[test]
fn names_beside_a_missing_one_are_suggested() {
    let f = fixture();
    match f.root.existing("sub/c.txt", Last::Follow) {
        Err(FileError::NotFound { nearest, .. }) => assert_eq!(nearest, ["sub/b.txt"]),
        other => panic!("{other:?}"),
    }
    match f.root.existing("A.TXT", Last::Follow) {
        Err(FileError::NotFound { nearest, .. }) => assert_eq!(nearest, ["a.txt"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn opening_without_links_agrees_with_and_without_the_kernels_call() {
    let f = fixture();
    for path in
        ["a.txt", "sub/b.txt", "sub", "dir/b.txt", "in", "up/secret", "../secret", "sub/../../secret", "none"]
    {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let kernel = open_nofollow(f.root.handle(), path.as_bytes(), flags);
        let walked =
            walk_nofollow(f.root.handle(), path.as_bytes(), flags | OFlags::NOFOLLOW | OFlags::CLOEXEC);
        assert_eq!(kernel.is_ok(), walked.is_ok(), "{path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In a tree with random links, whatever resolves is what the kernel finds beneath the root, and
    /// whatever the kernel refuses is refused.
    #[test]
    fn resolution_agrees_with_the_kernel(
        links in prop::collection::vec(("[abc]{1}(/[abc]{1})?", "(\\.\\./)?(\\.\\./)?([abc]|\\.)(/[abc])?"), 0..6),
        paths in prop::collection::vec("(\\.\\./)?[abc](/([abc]|\\.\\.|\\.)){0,4}", 1..12),
    ) {
        let f = Fixture::new();
        std::fs::create_dir(f.outside("b")).unwrap();
        for dir in ["a", "a/b"] {
            std::fs::create_dir(f.path(dir)).unwrap();
        }
        f.write("a/c", "x");
        for (at, target) in &links {
            if f.path(at).symlink_metadata().is_err() && f.path(at).parent().is_some_and(|dir| dir.is_dir()) {
                symlink(target, f.path(at)).unwrap();
            }
        }
        for path in &paths {
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            let kernel = rustix::fs::openat2(f.root.handle(), path.as_str(), OFlags::PATH, Mode::empty(), resolve);
            let ours = f.root.resolve(path, Last::Follow);
            match kernel {
                Ok(fd) => {
                    let id = FileId::of(&rustix::fs::fstat(&fd).unwrap());
                    prop_assert_eq!(ours.unwrap().id(), Some(id), "{}", path);
                }
                Err(_) => prop_assert!(ours.is_err() || ours.unwrap().stat.is_none(), "{}", path),
            }
        }
    }
}

#[test]
fn a_second_name_of_a_protected_file_gives_nothing_away() {
    use crate::commit::Step;
    use crate::stop::Never;
    use crate::tree::{self, Purpose};
    let f = Fixture::with(SymlinkPolicy::Deny, &["state", "keys"]);
    std::fs::create_dir_all(f.outside("state/deep")).unwrap();
    std::fs::write(f.outside("state/deep/host.json"), "the token").unwrap();
    std::fs::write(f.outside("shared"), "anybody's").unwrap();
    f.write("dir/plain", "plain");
    std::fs::hard_link(f.outside("state/deep/host.json"), f.path("dir/second")).unwrap();
    std::fs::hard_link(f.outside("shared"), f.path("dir/other")).unwrap();
    symlink("dir/second", f.path("link")).unwrap();
    for path in ["dir/second", "link", "./dir/../dir/second"] {
        assert_eq!(rule(f.root.resolve(path, Last::Follow)), "protected_path", "{path}");
        assert!(f.root.open_file(path).is_err(), "{path}");
    }
    let content: crate::held::Held = b"new".as_slice().into();
    let put = |path: &str| Step::Put {
        path: path.to_owned(),
        expected: None,
        content: content.clone(),
        mode: None,
        like: None,
    };
    let copy = |from: &str| {
        let place = f.root.existing(from, Last::Itself)?;
        tree::measure(&f.root, &place, Purpose::Transfer, &Never)
    };
    assert!(matches!(f.commit(vec![put("dir/second")]), Err(FileError::Denied { .. })));
    assert!(matches!(copy("dir/second"), Err(FileError::Denied { .. })));
    assert!(matches!(copy("dir"), Err(FileError::Denied { .. })), "not in a tree either");
    // Other files with two names, and files with one, are as they were.
    for path in ["dir/other", "dir/plain"] {
        assert!(f.root.open_file(path).is_ok(), "{path}");
    }
    assert_eq!(std::fs::read_to_string(f.outside("state/deep/host.json")).unwrap(), "the token");
    // Once it is gone from there it is a file like any other.
    std::fs::remove_file(f.outside("state/deep/host.json")).unwrap();
    std::fs::hard_link(f.path("dir/second"), f.outside("elsewhere")).unwrap();
    assert!(f.root.open_file("dir/second").is_ok());
}
