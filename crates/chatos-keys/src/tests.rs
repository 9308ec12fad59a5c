//! The key file, sealing to one place, signatures.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::*;

fn place(dir: &Path) -> KeyPlace {
    KeyPlace::new(dir.join("keys"))
}

#[test]
fn the_key_is_made_once_private_and_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let first = StateKey::open(&place(dir.path()), "inst").unwrap();
    let again = StateKey::open(&place(dir.path()), "inst").unwrap();
    assert!(first.created() && !again.created());
    assert_eq!(first.id(), again.id());
    let file = dir.path().join("keys/inst.key");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_ne!(StateKey::open(&place(dir.path()), "other").unwrap().id(), first.id());
}

#[test]
fn a_damaged_key_file_is_reported_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("keys")).unwrap();
    let file = dir.path().join("keys/inst.key");
    for content in ["", "zz", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
        std::fs::write(&file, content).unwrap();
        assert!(matches!(StateKey::open(&place(dir.path()), "inst"), Err(KeyProblem::Malformed { .. })));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), *content);
    }
}

#[test]
fn a_value_opens_only_in_its_own_place_with_its_own_key() {
    let dir = tempfile::tempdir().unwrap();
    let key = StateKey::open(&place(dir.path()), "inst").unwrap().sub_key("secrets");
    let sealed = key.seal("inst|secrets|1|sealed", b"hunter22").unwrap();
    assert!(!sealed.contains("hunter22"));
    assert_eq!(&**key.open("inst|secrets|1|sealed", &sealed).unwrap(), b"hunter22");
    assert_eq!(key.open("inst|secrets|2|sealed", &sealed), Err(SealError::Damaged));
    let other = StateKey::open(&place(dir.path()), "other").unwrap().sub_key("secrets");
    assert!(matches!(other.open("inst|secrets|1|sealed", &sealed), Err(SealError::OtherKey { .. })));
    for cut in 0..sealed.len() {
        assert!(key.open("inst|secrets|1|sealed", &sealed[..cut]).is_err());
    }
}

#[test]
fn signatures_verify_and_purposes_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let state = StateKey::open(&place(dir.path()), "inst").unwrap();
    let signature = state.sub_key("prompts").sign(&[b"a", b"b"]);
    assert!(state.sub_key("prompts").verify(&[b"ab"], &signature));
    assert!(!state.sub_key("audit").verify(&[b"ab"], &signature));
    assert!(!state.sub_key("prompts").verify(&[b"ab"], &signature[..31]));
}
