//! The shipped JSON Schemas are the ones this crate generates, and they say what the parser says.

use std::path::Path;

use chatos_manifest::schema::{ai_schema_text, plugin_schema_text};
use serde_json::Value;

#[test]
fn the_committed_schemas_are_fresh() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    for (name, fresh) in [("plugin.schema.json", plugin_schema_text()), ("ai.schema.json", ai_schema_text())]
    {
        let file = folder.join(name);
        if std::fs::read_to_string(&file).unwrap_or_default() != fresh {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &fresh).unwrap();
            panic!("docs/schemas/{name} was out of date and has been rewritten; commit it");
        }
    }
}

/// `plugins/tests/schemas.test.mjs` reads the same manifests with a validator of JSON Schema.
#[test]
fn the_parser_agrees_with_the_schema_about_these_manifests() {
    let all: Value = serde_json::from_str(include_str!("fixtures/manifests.json")).unwrap();
    for (list, good) in [("good", true), ("bad", false)] {
        for manifest in all[list].as_array().unwrap() {
            let parsed = chatos_manifest::parse(manifest.to_string().as_bytes());
            let errors: Vec<&str> = parsed
                .problems
                .iter()
                .filter(|problem| problem.is_error())
                .map(|p| p.code.as_str())
                .collect();
            assert_eq!(errors.is_empty(), good, "{manifest}: {errors:?}");
        }
    }
}

#[test]
fn the_key_of_editors_is_no_surprise() {
    let parsed = chatos_manifest::parse(br#"{"$schema":"./types/plugin.schema.json","id":"a.b","name":"A"}"#);
    assert_eq!(parsed.problems, []);
}
