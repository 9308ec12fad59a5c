//! Every row of the table in plugins §1.2, and resuming after a stop at each step.

use super::*;
use crate::state_dir::PathInputs;

const NOW: &str = "2026-01-11T00:00:00.000Z";

fn places(home: &Path) -> Locations {
    Locations::resolve(&PathInputs {
        home: Some(home.to_owned()),
        current_dir: home.to_owned(),
        ..PathInputs::default()
    })
    .unwrap()
}

fn with_legacy() -> (tempfile::TempDir, Locations) {
    let home = tempfile::tempdir().unwrap();
    let places = places(home.path());
    let legacy = places.legacy_dir.clone().unwrap();
    fs::create_dir_all(legacy.join("ui_apps/data/com.example.a")).unwrap();
    fs::write(legacy.join("ui-prompts.jsonl"), "line\n").unwrap();
    fs::write(legacy.join("ui_apps/data/com.example.a/x"), "data").unwrap();
    (home, places)
}

fn assert_moved(places: &Locations) {
    let legacy = places.legacy_dir.as_ref().unwrap();
    assert_eq!(fs::read(places.state_dir.join("ui_apps/data/com.example.a/x")).unwrap(), b"data");
    assert!(places.state_dir.join(DONE).is_file());
    assert_eq!(fs::read_link(legacy).unwrap(), places.state_dir);
    assert_eq!(fs::read(legacy.join("ui-prompts.jsonl")).unwrap(), b"line\n");
    assert!(!places.state_root.as_ref().unwrap().join(".migrating-chatos.json").exists());
}

#[test]
fn a_real_directory_moves_to_an_absent_or_empty_one() {
    for make_empty in [false, true] {
        let (_home, places) = with_legacy();
        if make_empty {
            fs::create_dir_all(&places.state_dir).unwrap();
        }
        assert!(move_legacy(&places, NOW).unwrap().moved);
        assert_eq!(ensure_link(&places), None);
        assert_moved(&places);
        // A second start finds the link and does nothing.
        assert_eq!(move_legacy(&places, NOW).unwrap(), LegacyOutcome::default());
        assert_eq!(ensure_link(&places), None);
    }
}

#[test]
fn two_states_are_both_left_alone() {
    let (_home, places) = with_legacy();
    fs::create_dir_all(&places.state_dir).unwrap();
    fs::write(places.state_dir.join("state.db"), "mine").unwrap();
    let outcome = move_legacy(&places, NOW).unwrap();
    assert!(!outcome.moved);
    assert_eq!(outcome.warning.unwrap().code(), "legacy_both_present");
    assert_eq!(ensure_link(&places), None);
    assert!(is_real_dir(places.legacy_dir.as_ref().unwrap()));
    assert_eq!(fs::read(places.state_dir.join("state.db")).unwrap(), b"mine");
}

#[test]
fn an_absent_older_place_gets_the_link_and_anything_else_a_warning() {
    let home = tempfile::tempdir().unwrap();
    let places = places(home.path());
    assert_eq!(move_legacy(&places, NOW).unwrap(), LegacyOutcome::default());
    assert_eq!(ensure_link(&places), None);
    let legacy = places.legacy_dir.as_ref().unwrap();
    assert_eq!(fs::read_link(legacy).unwrap(), places.state_dir);
    fs::remove_file(legacy).unwrap();
    std::os::unix::fs::symlink("/somewhere", legacy).unwrap();
    assert_eq!(move_legacy(&places, NOW).unwrap().warning.unwrap().code(), "legacy_unexpected");
    assert_eq!(ensure_link(&places).unwrap().code(), "legacy_unexpected");
    assert_eq!(fs::read_link(legacy).unwrap(), Path::new("/somewhere"));
}

/// Leaves the tree as a stop after each step of each method would, then starts again.
#[test]
fn a_stopped_move_is_finished_by_the_next_start() {
    for method in [Method::Rename, Method::Copy] {
        for stopped_after in 0..4 {
            let (_home, places) = with_legacy();
            let legacy = places.legacy_dir.clone().unwrap();
            let root = places.state_root.clone().unwrap();
            fs::create_dir_all(&root).unwrap();
            let marker =
                Marker { from: legacy.clone(), to: places.state_dir.clone(), started_at: NOW.into(), method };
            fs::write(root.join(".migrating-chatos.json"), serde_json::to_vec(&marker).unwrap()).unwrap();
            let partial = root.join("chatos.partial");
            match (method, stopped_after) {
                (_, 0) => {}
                (Method::Rename, 1) => fs::rename(&legacy, &places.state_dir).unwrap(),
                (Method::Rename, _) => by_rename(&marker).unwrap(),
                (Method::Copy, 1) => {
                    fs::create_dir_all(&partial).unwrap();
                    fs::write(partial.join("half"), "x").unwrap();
                }
                (Method::Copy, 2) => {
                    copy_tree(&legacy, &partial).unwrap();
                    write_done(&partial, &marker).unwrap();
                    fs::rename(&partial, &places.state_dir).unwrap();
                    fs::remove_file(legacy.join("ui-prompts.jsonl")).unwrap();
                }
                (Method::Copy, _) => by_copy(&marker).unwrap(),
            }
            assert!(move_legacy(&places, NOW).unwrap().moved, "{method:?} {stopped_after}");
            assert_eq!(ensure_link(&places), None);
            assert_moved(&places);
            assert!(!partial.exists());
            assert!(!places.state_dir.join("half").exists());
        }
    }
}

/// A marker of a copy that never finished must not let somebody else's new state pass for it.
#[test]
fn a_stale_copy_marker_never_removes_the_source_without_a_finished_copy() {
    let (_home, places) = with_legacy();
    let legacy = places.legacy_dir.clone().unwrap();
    let root = places.state_root.clone().unwrap();
    fs::create_dir_all(&places.state_dir).unwrap();
    fs::write(places.state_dir.join("state.db"), "new").unwrap();
    let marker = Marker {
        from: legacy.clone(),
        to: places.state_dir.clone(),
        started_at: NOW.into(),
        method: Method::Copy,
    };
    fs::write(root.join(".migrating-chatos.json"), serde_json::to_vec(&marker).unwrap()).unwrap();
    assert_eq!(move_legacy(&places, NOW).unwrap().warning.unwrap().code(), "legacy_both_present");
    assert_eq!(fs::read(legacy.join("ui-prompts.jsonl")).unwrap(), b"line\n");
    assert_eq!(fs::read(places.state_dir.join("state.db")).unwrap(), b"new");
}
