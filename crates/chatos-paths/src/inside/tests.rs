//! The escape matrix: every way out that the specification names, and what must stay allowed.

use super::*;
use std::io::Read;
use std::os::unix::fs::symlink;

fn fixture() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let plugin = dir.path().join("plugin");
    std::fs::create_dir_all(plugin.join("a..b")).unwrap();
    std::fs::create_dir_all(plugin.join("sub")).unwrap();
    std::fs::write(dir.path().join("secret.txt"), "secret").unwrap();
    std::fs::create_dir(dir.path().join("plugin-evil")).unwrap();
    std::fs::write(dir.path().join("plugin-evil/x.mjs"), "evil").unwrap();
    std::fs::write(plugin.join("index.mjs"), "ok").unwrap();
    std::fs::write(plugin.join("a..b/..foo.mjs"), "ok").unwrap();
    std::fs::write(plugin.join("we?ird#100%.mjs"), "ok").unwrap();
    symlink("../secret.txt", plugin.join("out")).unwrap();
    symlink("/etc/hostname", plugin.join("abs")).unwrap();
    symlink("index.mjs", plugin.join("in")).unwrap();
    symlink("..", plugin.join("updir")).unwrap();
    symlink("loop", plugin.join("loop")).unwrap();
    symlink("../gone", plugin.join("dangling-out")).unwrap();
    dir
}

fn open(dir: &tempfile::TempDir, path: &str) -> Result<Inside, InsideError> {
    Beneath::open(&dir.path().join("plugin")).unwrap().file(path)
}

#[test]
fn what_stays_inside_opens() {
    let dir = fixture();
    for path in ["index.mjs", "./index.mjs", "sub/../index.mjs", "a..b/..foo.mjs", "we?ird#100%.mjs", "in"] {
        let mut text = String::new();
        open(&dir, path).unwrap().into_file().read_to_string(&mut text).unwrap();
        assert_eq!(text, "ok", "{path}");
    }
}

#[test]
fn every_way_out_is_refused() {
    let dir = fixture();
    let outside = dir.path().join("secret.txt").display().to_string();
    for path in [
        "../secret.txt",
        "../plugin-evil/x.mjs",
        "sub/../../secret.txt",
        "out",
        "abs",
        "updir/secret.txt",
        "dangling-out",
        "loop",
        "/etc/passwd",
        outside.as_str(),
    ] {
        assert!(matches!(open(&dir, path), Err(InsideError::Outside(_))), "{path}: {:?}", open(&dir, path));
    }
    for path in
        ["", "~/x", "a\\b", "c:/x", "file:index.mjs", "https://h/x", "a\0b", "a\nb", &"x".repeat(1025)]
    {
        assert!(matches!(open(&dir, path), Err(InsideError::Invalid(_))), "{path:?}");
    }
}

#[test]
fn what_is_no_regular_file_is_named_so_and_never_blocks() {
    let dir = fixture();
    let fifo = dir.path().join("plugin/fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert_eq!(open(&dir, "fifo").unwrap_err(), InsideError::NotFile("fifo".into()));
    assert_eq!(open(&dir, "sub").unwrap_err(), InsideError::NotFile("sub".into()));
    assert_eq!(open(&dir, "nothing").unwrap_err(), InsideError::Missing("nothing".into()));
    assert_eq!(open(&dir, "index.mjs/x").unwrap_err(), InsideError::Missing("index.mjs/x".into()));
}
