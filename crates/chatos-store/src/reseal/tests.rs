//! A rotation of the state key over the rows of a database.

use chatos_keys::{KeyPlace, StateKey};

use super::*;
use crate::db::tests::options;

#[test]
fn a_rotation_reaches_every_handle_and_other_processes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let place = KeyPlace::new(dir.path().join("keys"));
    let key = StateKey::of(&place, &store).unwrap();
    let first = key.id();
    store.set_meta("key_id", &first).unwrap();
    let secrets = key.sub_key("secrets");
    store.set_secret(&secrets, "ONE", b"value", None).unwrap();
    let signature = key.sub_key("prompts").sign(&[b"line"]);
    let chained = key.sub_key("audit").sign(&[b"record 7"]);
    // Another process that holds the key from before.
    let beside = StateKey::of(&place, &store).unwrap();
    let old = beside.sub_key("secrets").as_of_now();
    let rotated = key.rotate(&store, 7).unwrap();
    assert_eq!((rotated.from.as_str(), rotated.resealed, rotated.left), (first.as_str(), 1, 0));
    assert_eq!(store.use_secret(&secrets, "ONE").unwrap().unwrap().expose(), "value");
    assert_eq!(store.look_at_secret(&beside.sub_key("secrets"), "ONE").unwrap().unwrap().expose(), "value");
    assert_eq!(beside.id(), rotated.to);
    // What the old key would seal is refused; what it signed still counts, up to its last record.
    assert_eq!(store.set_secret(&old, "TWO", b"x", None).unwrap_err().kind, StoreErrorKind::Conflict);
    assert!(store.look_at_secret(&old, "ONE").is_err());
    for state in [&key, &beside, &StateKey::of(&place, &store).unwrap()] {
        assert!(state.sub_key("prompts").verify(&[b"line"], &signature));
        assert_eq!(state.sub_key("audit").sign_as_of(7, &[b"record 7"]), chained);
        assert_ne!(state.sub_key("audit").sign_as_of(8, &[b"record 7"]), chained);
        assert_eq!((state.former(), state.id()), (1, rotated.to.clone()));
    }
    assert_eq!(std::fs::read_dir(dir.path().join("keys")).unwrap().count(), 1);
    // Values of a key that is lost stay, and are counted.
    let other = StateKey::open(&place, "elsewhere").unwrap().sub_key("secrets");
    let sealed = other.seal("anywhere", b"lost").unwrap();
    store
        .write(move |connection| {
            connection.execute("UPDATE secrets SET sealed = ?1", [sealed])?;
            Ok(())
        })
        .unwrap();
    let again = key.rotate(&store, 9).unwrap();
    assert_eq!((again.resealed, again.left), (0, 1));
    assert_eq!(key.sub_key("audit").sign_as_of(7, &[b"record 7"]), chained);
}
