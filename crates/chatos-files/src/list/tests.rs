//! Listing, finding and looking.

use std::os::unix::fs::symlink;

use super::*;
use crate::stop::Never;
use crate::testing::Fixture;

const SHOW: WalkOptions = WalkOptions { hidden: false, ignored: true, depth: 1 };

fn names(f: &Fixture, depth: usize, offset: usize, limit: usize) -> (Vec<String>, usize) {
    let options = WalkOptions { depth, ..SHOW };
    let listing = list(&f.root, ".", options, offset, limit, &Never).unwrap();
    (listing.entries.into_iter().map(|entry| entry.path).collect(), listing.total)
}

#[test]
fn a_listing_is_breadth_first_with_directories_first() {
    let f = Fixture::new();
    f.write("b/z", "12").write("a-file", "1").write("a/x/deep", "").write("c", "").write(".hidden", "");
    symlink("c", f.path("link")).unwrap();
    assert_eq!(names(&f, 1, 0, 100).0, ["a", "b", "a-file", "c", "link"]);
    assert_eq!(names(&f, 3, 0, 100).0, ["a", "b", "a-file", "c", "link", "a/x", "b/z", "a/x/deep"]);
    assert_eq!(names(&f, 3, 5, 2), (vec!["a/x".into(), "b/z".into()], 8));
    let listing = list(&f.root, ".", SHOW, 0, 100, &Never).unwrap();
    assert_eq!(listing.entries[4].target.as_deref(), Some("c"));
    assert_eq!((listing.entries[2].size_bytes, listing.entries[0].size_bytes), (Some(1), None));
    assert!(matches!(list(&f.root, "c", SHOW, 0, 1, &Never), Err(FileError::Invalid { .. })));
    assert!(matches!(list(&f.root, "nope", SHOW, 0, 1, &Never), Err(FileError::NotFound { .. })));
}

#[test]
fn finding_matches_paths_below_and_gives_the_newest_first() {
    let f = Fixture::new();
    for (name, age) in [("src/a.rs", 30), ("src/deep/b.rs", 10), ("c.rs", 20), ("d.txt", 5)] {
        f.write(name, "x");
        let time = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
        std::fs::File::options().write(true).open(f.path(name)).unwrap().set_modified(time).unwrap();
    }
    let options = WalkOptions { hidden: false, ignored: false, depth: usize::MAX };
    let found = |path: &str, pattern: &str| -> Vec<String> {
        let found = find(&f.root, path, pattern, options, 0, 100, &Never).unwrap();
        found.files.into_iter().map(|file| file.path).collect()
    };
    assert_eq!(found(".", "*.rs"), ["src/deep/b.rs", "c.rs", "src/a.rs"]);
    assert_eq!(found(".", "src/*.rs"), ["src/a.rs"]);
    assert_eq!(found("src", "**/*.{rs,txt}"), ["src/deep/b.rs", "src/a.rs"]);
    assert_eq!(found(".", "[cd].*"), ["d.txt", "c.rs"]);
    let page = find(&f.root, ".", "*", options, 1, 2, &Never).unwrap();
    assert_eq!((page.files.len(), page.total), (2, 4));
    assert!(matches!(
        find(&f.root, ".", "a[", options, 0, 1, &Never),
        Err(FileError::Invalid { key: "/pattern", .. })
    ));
}

#[test]
fn facts_of_files_links_and_missing_paths() {
    let f = Fixture::new();
    f.write("t", "a\nb\n").write("bin", b"\0");
    symlink("/etc/passwd", f.path("out")).unwrap();
    let cache = ScanCache::default();
    let look = |path: &str| stat(&f.root, &cache, path, &Never).unwrap();
    let file = look("t").there.unwrap();
    assert_eq!((file.kind, file.size_bytes, file.scan.unwrap().line_count), (Kind::File, 4, 2));
    assert!(look("bin").there.unwrap().scan.unwrap().binary);
    let link = look("out").there.unwrap();
    assert_eq!(
        (link.kind, link.target.as_deref(), link.scan.is_none()),
        (Kind::Symlink, Some("/etc/passwd"), true)
    );
    assert!(look("missing/deeper").there.is_none());
    assert!(matches!(stat(&f.root, &cache, "../x", &Never), Err(FileError::Denied { .. })));
    assert!(matches!(stat(&f.root, &cache, "out/x", &Never), Err(FileError::Denied { .. })));
}
