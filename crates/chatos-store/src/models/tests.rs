//! One default, always; the built-in model is nobody's to delete.

use super::*;
use crate::db::tests::options;

fn open(dir: &std::path::Path) -> Store {
    let store = Store::open(options(dir)).unwrap();
    seed(&store);
    store
}

fn seed(store: &Store) {
    let mut demo = ModelRecord::new("Demo", "demo", "demo");
    (demo.id, demo.source) = (DEMO_MODEL.to_owned(), "builtin".to_owned());
    store.seed_demo_model(demo).unwrap();
}

fn default_of(store: &Store) -> String {
    let all = store.models().unwrap();
    let defaults: Vec<_> = all.iter().filter(|model| model.is_default).collect();
    assert_eq!(defaults.len(), 1, "exactly one default");
    defaults[0].name.clone()
}

#[test]
fn the_default_moves_only_by_the_documented_rules() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    assert_eq!(default_of(&store), "Demo");
    let first = store.add_model(ModelRecord::new("A", "openai", "a")).unwrap();
    assert!(first.is_default, "the first added one becomes default");
    let second = store.add_model(ModelRecord::new("B", "openai", "b")).unwrap();
    assert!(!second.is_default, "nothing else does by itself");
    store.set_default_model(&second.id).unwrap();
    assert_eq!(default_of(&store), "B");
    store.update_model(ModelRecord { enabled: false, ..second.clone() }).unwrap();
    assert_eq!(default_of(&store), "Demo", "a default that is switched off hands over");
    assert_eq!(store.set_default_model(&second.id).unwrap_err().kind, StoreErrorKind::Conflict);
    store.set_default_model(&first.id).unwrap();
    assert!(store.remove_model(&first.id).unwrap());
    assert_eq!(default_of(&store), "Demo");
    assert!(!store.remove_model(DEMO_MODEL).unwrap());
    seed(&store);
    assert_eq!(default_of(&store), "Demo");
}

#[test]
fn names_are_unique_whatever_their_case_and_everything_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut full = ModelRecord::new("Full", "anthropic", "m-1");
    full.temperature = Some(0.5);
    full.extra_headers.insert("x-team".to_owned(), Value::from("secret:TEAM"));
    full.extra_body.insert("top_k".to_owned(), Value::from(3));
    (full.price_input, full.currency) = (Some(1.5), "USD".to_owned());
    (full.context_tokens, full.supports_vision) = (200_000, true);
    let saved = store.add_model(full.clone()).unwrap();
    let expected =
        ModelRecord { is_default: true, created_at: saved.created_at, updated_at: saved.updated_at, ..full };
    assert_eq!(saved, expected);
    assert_eq!(store.model("fULL").unwrap().unwrap().id, saved.id);
    let twice = store.add_model(ModelRecord::new("full", "openai", "x")).unwrap_err();
    assert_eq!(twice.kind, StoreErrorKind::Conflict);
    let test = ModelTest {
        ok: false,
        class: "auth".to_owned(),
        message: "no".to_owned(),
        latency_ms: 5,
        tested_at: 7,
    };
    store.put_model_test(&saved.id, test.clone()).unwrap();
    store.put_model_test("gone", test.clone()).unwrap();
    store.update_model(saved.clone()).unwrap();
    assert_eq!(store.model_tests().unwrap(), [(saved.id, test)], "an edit keeps the last test");
}
