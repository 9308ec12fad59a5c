//! What goes in comes out for the same row and key only, and never lies in the file.

use chatos_keys::{KeyPlace, StateKey};

use super::*;
use crate::db::tests::options;

fn open(dir: &std::path::Path) -> (Store, SubKey) {
    let store = Store::open(options(dir)).unwrap();
    let place = KeyPlace::new(dir.join("keys"));
    let key = StateKey::open(&place, &store.instance_id().unwrap()).unwrap();
    (store, key.sub_key("secrets"))
}

#[test]
fn a_secret_is_set_changed_used_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let (store, key) = open(dir.path());
    assert!(store.set_secret(&key, "OPENAI_KEY", b"first", Some("mine".to_owned())).unwrap());
    assert!(!store.set_secret(&key, "openai_key", b"second", None).unwrap());
    let used = store.use_secret(&key, "OPENAI_KEY").unwrap().unwrap();
    assert_eq!(used.expose(), "second");
    let listed = store.list_secrets(&key).unwrap();
    assert_eq!(
        (listed.len(), listed[0].name.as_str(), listed[0].description.as_str()),
        (1, "OPENAI_KEY", "mine")
    );
    assert!(listed[0].openable && listed[0].last_used_at.is_some());
    assert!(store.remove_secret("OPENAI_KEY").unwrap());
    assert!(!store.remove_secret("OPENAI_KEY").unwrap());
    assert!(store.use_secret(&key, "OPENAI_KEY").unwrap().is_none());
}

#[test]
fn a_value_takes_the_place_of_the_expected_one_only() {
    let dir = tempfile::tempdir().unwrap();
    let (store, key) = open(dir.path());
    let swap = |expected: &str, value: Option<&[u8]>| {
        store.swap_secret(&key, "mcp-grant:x", |found| found == expected, value).unwrap()
    };
    let now = || store.look_at_secret(&key, "mcp-grant:x").unwrap().map(|value| value.expose().to_owned());
    assert!(!swap("first", Some(b"second")), "there is none");
    store.set_secret(&key, "mcp-grant:x", b"first", None).unwrap();
    assert!(swap("first", Some(b"second")));
    assert!(!swap("first", Some(b"third")) && !swap("first", None));
    assert_eq!(now().as_deref(), Some("second"));
    // Somebody is quicker between the look and the write.
    let quicker = |found: &str| {
        store.set_secret(&key, "mcp-grant:x", b"second", None).unwrap();
        found == "second"
    };
    assert!(!store.swap_secret(&key, "mcp-grant:x", quicker, None).unwrap());
    assert_eq!(now().as_deref(), Some("second"));
    assert!(swap("second", None));
    assert_eq!(now(), None);
}

#[test]
fn names_and_values_that_cannot_be_meant_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (store, key) = open(dir.path());
    for name in ["", "1A", "a-b", "a b", "é", &"x".repeat(129), "a\0b"] {
        assert_eq!(store.set_secret(&key, name, b"v", None).unwrap_err().kind, StoreErrorKind::Invalid);
    }
    for value in [&b""[..], &[0xff, 0xfe], &vec![b'x'; VALUE_BYTES + 1]] {
        assert_eq!(store.set_secret(&key, "A", value, None).unwrap_err().kind, StoreErrorKind::Invalid);
    }
    assert!(store.list_secrets(&key).unwrap().is_empty());
}

#[test]
fn swapped_values_cannot_be_opened_and_no_byte_of_a_value_is_on_disk() {
    let dir = tempfile::tempdir().unwrap();
    let (store, key) = open(dir.path());
    let value = "canary-0123456789abcdef-fedcba9876543210";
    store.set_secret(&key, "A", value.as_bytes(), None).unwrap();
    store.set_secret(&key, "B", b"something else entirely", None).unwrap();
    store
        .write(|connection| {
            connection.execute_batch(
                "CREATE TEMP TABLE t AS SELECT name, sealed FROM secrets;
                 UPDATE secrets SET sealed = (SELECT sealed FROM t WHERE t.name <> secrets.name);",
            )?;
            Ok(())
        })
        .unwrap();
    assert!(store.list_secrets(&key).unwrap().iter().all(|secret| !secret.openable));
    assert!(store.use_secret(&key, "A").is_err());
    store.close();
    for entry in std::fs::read_dir(dir.path()).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        let bytes = std::fs::read(entry.path()).unwrap();
        for window in value.as_bytes().windows(16) {
            assert!(!bytes.windows(16).any(|part| part == window), "{}", entry.path().display());
        }
    }
}

#[test]
fn secrets_of_the_host_itself_have_names_nobody_can_choose() {
    let dir = tempfile::tempdir().unwrap();
    let (store, key) = open(dir.path());
    let name = SecretKind::Grant.name_for("app:com.example.a/main");
    assert!(!is_secret_name(&name));
    assert!(store.set_secret(&key, &name, b"token", Some("weather".to_owned())).unwrap());
    store.set_secret(&key, "mcp_grant", b"other", None).unwrap();
    assert_eq!(store.look_at_secret(&key, &name).unwrap().unwrap().expose(), "token");
    assert_eq!(store.secret_names(SecretKind::Grant).unwrap(), [name.as_str()]);
    assert_eq!(store.secret_names(SecretKind::SignIn).unwrap(), [""; 0]);
    let listed = store.list_secrets(&key).unwrap();
    let used = |name: &str| listed.iter().find(|secret| secret.name == name).unwrap().last_used_at;
    assert_eq!(used(&name), None, "a look is no use");
    for bad in ["grant:x", "mcp-grant", "mcp-grant:\n"] {
        assert_eq!(
            store.set_secret(&key, bad, b"v", None).unwrap_err().kind,
            StoreErrorKind::Invalid,
            "{bad:?}"
        );
    }
}
