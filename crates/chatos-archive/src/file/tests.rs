//! What is written comes back; whatever is changed in it is found.

use super::*;

fn sample(dir: &Path) -> (PathBuf, Manifest) {
    std::fs::create_dir_all(dir.join("from/deep/er")).unwrap();
    let mut files = Vec::new();
    for (index, size) in [0_usize, 1, 511, 512, 513, 100_000].into_iter().enumerate() {
        let name = format!("deep/er/{}file-{index}", "n".repeat(index * 30));
        let source = dir.join("from").join(&name);
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 + index) as u8).collect();
        std::fs::write(&source, bytes).unwrap();
        files.push(ArchiveFile { name, source, upto: None });
    }
    std::fs::write(dir.join("from/log"), "one\ntwo\nthr").unwrap();
    files.push(ArchiveFile { name: "log".to_owned(), source: dir.join("from/log"), upto: Some(8) });
    files.push(ArchiveFile { name: "gone".to_owned(), source: dir.join("from/gone"), upto: None });
    let target = dir.join("a.tar.zst");
    let manifest = Manifest::new("now".to_owned(), "0".to_owned());
    let (manifest, bytes) = write_archive(&target, manifest, files, &mut |_| true).unwrap();
    assert_eq!(std::fs::metadata(&target).unwrap().len(), bytes);
    (target, manifest)
}

#[test]
fn what_was_kept_comes_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, written) = sample(dir.path());
    assert_eq!(written.file_count(), 7);
    let manifest = verify_archive(&archive, &mut |_| true).unwrap();
    assert_eq!(manifest.total_bytes(), written.total_bytes());
    let into = dir.path().join("into");
    std::fs::create_dir(&into).unwrap();
    extract_archive(&archive, &manifest, &into, &mut |_| true).unwrap();
    for file in &manifest.files {
        let (from, to) = (dir.path().join("from").join(&file.path), into.join(&file.path));
        let expected = std::fs::read(from).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), expected[..file.size as usize], "{}", file.path);
        assert_eq!(std::fs::metadata(&to).unwrap().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_to_string(into.join("log")).unwrap(), "one\ntwo\n");
}

#[test]
fn a_file_is_never_overwritten_and_nothing_is_left_beside() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, manifest) = sample(dir.path());
    let before = std::fs::read(&archive).unwrap();
    let again = write_archive(&archive, manifest.clone(), Vec::new(), &mut |_| true);
    assert!(matches!(again, Err(ArchiveError::Exists { .. })));
    assert_eq!(std::fs::read(&archive).unwrap(), before);
    let file = ArchiveFile { name: "x".to_owned(), source: archive.clone(), upto: None };
    let stopped = write_archive(&dir.path().join("b"), manifest, vec![file], &mut |_| false);
    assert!(matches!(stopped, Err(ArchiveError::Canceled)));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn what_lies_under_the_name_of_the_growing_file_is_neither_followed_nor_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (target, partial) = (dir.path().join("b.tar.zst"), dir.path().join("b.tar.zst.partial"));
    let write = || {
        let manifest = Manifest::new("now".to_owned(), "0".to_owned());
        write_archive(&target, manifest, Vec::new(), &mut |_| true)
    };
    // A link is somebody's trap: what it leads to keeps its content, and the link stays.
    let precious = dir.path().join("precious");
    std::fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, &partial).unwrap();
    assert!(matches!(write(), Err(ArchiveError::Exists { path }) if path == partial));
    assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    assert!(partial.is_symlink() && !target.exists());
    std::fs::remove_file(&partial).unwrap();
    // One that is being written by another backup stays its own.
    std::fs::write(&partial, "half").unwrap();
    let other = File::open(&partial).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(matches!(write(), Err(ArchiveError::Exists { .. })));
    assert_eq!(std::fs::read_to_string(&partial).unwrap(), "half");
    drop(other);
    // What a killed backup left is replaced, and nobody who could read that reads the new one.
    std::fs::set_permissions(&partial, std::fs::Permissions::from_mode(0o644)).unwrap();
    let reader = File::open(&partial).unwrap();
    write().unwrap();
    assert_eq!(std::fs::metadata(&target).unwrap().mode() & 0o777, 0o600);
    assert_eq!(io::read_to_string(reader).unwrap(), "half");
    assert!(!partial.exists());
}

#[test]
fn every_changed_byte_and_every_cut_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (archive, _) = sample(dir.path());
    let whole = std::fs::read(&archive).unwrap();
    let damaged = dir.path().join("damaged");
    let mut refused = 0;
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        std::fs::write(&damaged, &bytes).unwrap();
        // A flipped bit in a checksum field of zstd itself may be the only one that changes no content.
        match verify_archive(&damaged, &mut |_| true) {
            Err(_) => refused += 1,
            Ok(manifest) => assert_eq!(manifest.file_count(), 7),
        }
    }
    assert!(refused * 10 >= whole.len() / 7 * 9, "{refused} of {}", whole.len() / 7);
    for length in (0..whole.len() - 1).step_by(13) {
        std::fs::write(&damaged, &whole[..length]).unwrap();
        assert!(verify_archive(&damaged, &mut |_| true).is_err(), "{length}");
    }
    std::fs::write(&damaged, "just some text").unwrap();
    assert!(matches!(verify_archive(&damaged, &mut |_| true), Err(ArchiveError::NotABackup { .. })));
}

#[test]
fn a_newer_format_and_a_foreign_archive_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, manifest: &str| {
        let path = dir.path().join(name);
        let mut packer = zstd::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
        tar::write_header(&mut packer, MANIFEST, manifest.len() as u64, 0o600).unwrap();
        packer.write_all(manifest.as_bytes()).unwrap();
        tar::write_padding(&mut packer, manifest.len() as u64).unwrap();
        tar::write_end(&mut packer).unwrap();
        packer.finish().unwrap();
        verify_archive(&path, &mut |_| true)
    };
    let newer = write("newer", r#"{"format":"chatos-backup","version":2}"#);
    assert!(matches!(newer, Err(ArchiveError::Newer { version: 2, .. })));
    assert!(matches!(write("other", r#"{"format":"x"}"#), Err(ArchiveError::NotABackup { .. })));
    assert!(matches!(
        write("cut", r#"{"format":"chatos-backup","version":1}"#),
        Err(ArchiveError::Damaged { .. })
    ));
}
