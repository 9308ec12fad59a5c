//! The shipped JSON Schema is the one this crate generates.

use std::path::Path;

#[test]
fn the_committed_schema_is_fresh() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas/plugin.schema.json");
    let fresh = chatos_manifest::schema::plugin_schema_text();
    if std::fs::read_to_string(&file).unwrap_or_default() != fresh {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &fresh).unwrap();
        panic!("docs/schemas/plugin.schema.json was out of date and has been rewritten; commit it");
    }
}
