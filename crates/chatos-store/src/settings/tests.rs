//! Precedence, ranges, families, what survives a restart.

use chatos_settings::{SettingSource, nearest_setting};
use serde_json::json;

use super::*;

fn store(dir: &std::path::Path) -> Store {
    Store::open(crate::OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

fn env(pairs: &[(&str, &str)]) -> SettingsInput {
    let env = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    SettingsInput { flags: BTreeMap::new(), env }
}

#[test]
fn flag_beats_environment_beats_setting_beats_default() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let settings = store.load_settings(SettingsInput::default()).unwrap();
    assert_eq!(settings.effective("retry").unwrap().source, SettingSource::Default);
    store.set_setting(&settings, "retry", &json!(5), "test").unwrap();
    assert_eq!(settings.int("retry"), 5);
    let settings = store.load_settings(env(&[("CHATOS_SET_RETRY", "7")])).unwrap();
    assert_eq!(settings.effective("retry").unwrap().source, SettingSource::Env("CHATOS_SET_RETRY".into()));
    assert_eq!(settings.int("retry"), 7);
    let mut input = env(&[("CHATOS_SET_RETRY", "7")]);
    input.flags.insert("retry".into(), json!(9));
    assert_eq!(store.load_settings(input).unwrap().int("retry"), 9);
}

#[test]
fn older_environment_names_lose_to_the_new_one_and_garbage_is_ignored_with_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let read =
        |pairs: &[(&str, &str)], key: &str| store.load_settings(env(pairs)).unwrap().effective(key).unwrap();
    assert_eq!(read(&[("MODEL_CLI_ALLOW_UNSAFE_SHELL", "1")], "shellSafetyMode").value, json!("relaxed"));
    assert_eq!(read(&[("MODEL_CLI_ALLOW_UNSAFE_SHELL", "0")], "shellSafetyMode").value, json!("strict"));
    assert_eq!(
        read(&[("MODEL_CLI_ALLOW_SYMLINK_ESCAPE", "1")], "filesystemSymlinkPolicy").value,
        json!("allow")
    );
    let both = [("CHATOS_SET_TOOL_LOG_LEVEL", "off"), ("MODEL_CLI_MCP_LOG_LEVEL", "debug")];
    assert_eq!(read(&both, "toolLogLevel").value, json!("off"));
    let garbage = read(&[("CHATOS_SET_RETRY", "lots")], "retry");
    assert_eq!((garbage.value, garbage.source), (json!(3), SettingSource::Default));
    assert!(garbage.warning.unwrap().en.contains("CHATOS_SET_RETRY"));
    let large = read(&[("CHATOS_SET_RETRY", "99")], "retry");
    assert_eq!(large.value, json!(10));
    assert!(large.warning.is_some());
}

#[test]
fn what_is_out_of_range_is_refused_with_the_range_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let settings = store.load_settings(SettingsInput::default()).unwrap();
    for (key, value, code) in [
        ("retry", json!(11), "range"),
        ("retry", json!("3"), "type"),
        ("retry", json!(1.5), "type"),
        ("retry", json!(null), "type"),
        ("shellSafetyMode", json!("yolo"), "enum"),
        ("confirmFileChanges", json!("yes"), "type"),
        ("shellReadPaths", json!(["relative"]), "format"),
        ("confirmTimeoutMs", json!(5), "range"),
        ("mcpTimeoutMs", json!(14_000_000), "exclusive"),
        ("toolServerConcurrency", json!({ "a/b": 0 }), "range"),
    ] {
        let SettingError::Refused(issues) = store.set_setting(&settings, key, &value, "test").unwrap_err()
        else {
            panic!("{key} {value}")
        };
        assert_eq!(issues[0].code, code, "{key} {value}");
        assert_eq!(settings.effective(key).unwrap().source, SettingSource::Default);
    }
    let unknown = store.set_setting(&settings, "nope", &json!(1), "test").unwrap_err();
    assert!(matches!(unknown, SettingError::Store(StoreError { kind: StoreErrorKind::NotFound, .. })));
    assert_eq!(nearest_setting("shell_timeout_ms"), Some("shellTimeoutMs"));
    assert_eq!(nearest_setting("completely different"), None);
}

#[test]
fn aliases_units_and_families_are_stored_in_normal_form() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let settings = store.load_settings(SettingsInput::default()).unwrap();
    store.set_setting(&settings, "shellSafetyMode", &json!("unsafe"), "test").unwrap();
    assert_eq!(settings.text("shellSafetyMode"), "relaxed");
    let spec = find_setting("shellMaxBufferBytes").unwrap();
    assert_eq!(spec.parse("4MiB").unwrap(), json!(4 * 1024 * 1024));
    assert_eq!(find_setting("shellReadPaths").unwrap().parse("/a:/b").unwrap(), json!(["/a", "/b"]));
    store.set_setting(&settings, "pluginEnv.com.example.a", &json!(["PATH_X"]), "test").unwrap();
    assert_eq!(settings.stored_family_keys(), ["pluginEnv.com.example.a"]);
    store.set_setting(&settings, "shellSafetyMode", &json!("strict"), "test").unwrap();
    assert_eq!(settings.effective("shellSafetyMode").unwrap().source, SettingSource::Default);
    let again = store.load_settings(SettingsInput::default()).unwrap();
    assert_eq!(again.effective("pluginEnv.com.example.a").unwrap().value, json!(["PATH_X"]));
}

#[test]
fn a_stored_value_that_no_longer_fits_is_clamped_or_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    store
        .write(|c| {
            c.execute_batch(
                "INSERT INTO settings VALUES ('retry', '500', 0, 'x'), ('toolLogLevel', '\"loud\"', 0, 'x'),
                 ('futureThing', '{}', 0, 'x')",
            )?;
            Ok(())
        })
        .unwrap();
    let settings = store.load_settings(SettingsInput::default()).unwrap();
    assert_eq!(settings.int("retry"), 10);
    assert_eq!(settings.text("toolLogLevel"), "info");
    assert!(settings.effective("toolLogLevel").unwrap().warning.is_some());
    let kept: i64 = store
        .read(|c| Ok(c.query_row("SELECT count(*) FROM settings WHERE key='futureThing'", [], |r| r.get(0))?))
        .unwrap();
    assert_eq!(kept, 1);
}
