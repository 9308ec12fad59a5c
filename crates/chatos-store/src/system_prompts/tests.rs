//! Built-in texts follow the binary until a person edits them.

use super::*;
use crate::db::tests::options;

fn built_in(content: &str) -> SystemPrompt {
    SystemPrompt {
        id: "prompt_default".to_owned(),
        name: "default".to_owned(),
        title: "Default".to_owned(),
        content: content.to_owned(),
        kind: "system".to_owned(),
        lang: "zh".to_owned(),
        allow_main: true,
        allow_sub: true,
        builtin: true,
        locked: false,
        source: "builtin".to_owned(),
        plugin_id: String::new(),
        app_id: String::new(),
        edited: false,
        created_at: 0,
        updated_at: 0,
    }
}

#[test]
fn an_edit_survives_every_new_binary_until_it_is_reset() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let content = |store: &Store| store.system_prompt("Default").unwrap().unwrap();
    store.seed_system_prompts(vec![built_in("one")]).unwrap();
    store.seed_system_prompts(vec![built_in("two")]).unwrap();
    assert_eq!((content(&store).content.as_str(), content(&store).edited), ("two", false));
    store.put_system_prompt(SystemPrompt { content: "mine".to_owned(), ..content(&store) }, false).unwrap();
    store.seed_system_prompts(vec![built_in("three")]).unwrap();
    assert_eq!((content(&store).content.as_str(), content(&store).edited), ("mine", true));
    assert!(store.reset_system_prompt("prompt_default").unwrap());
    assert_eq!((content(&store).content.as_str(), content(&store).edited), ("three", false));
    assert!(!store.remove_system_prompt("prompt_default").unwrap(), "built-in ones stay");
}

#[test]
fn a_built_in_text_takes_its_name_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(options(dir.path())).unwrap();
    let own =
        SystemPrompt { id: "u1".to_owned(), builtin: false, source: "user".to_owned(), ..built_in("mine") };
    store.put_system_prompt(own, true).unwrap();
    store.seed_system_prompts(vec![built_in("one")]).unwrap();
    assert_eq!(store.system_prompt("default").unwrap().unwrap().id, "prompt_default");
    assert_eq!(store.system_prompt("u1").unwrap().unwrap().name, "default (2)");
    assert!(store.remove_system_prompt("u1").unwrap());
}
