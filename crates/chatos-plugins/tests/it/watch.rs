//! Edits on disk reach the snapshot by themselves.

use std::fs;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use chatos_plugins::{Snapshot, TrustState, Watcher};

use crate::support::{World, simple, write_files};

/// Waits for a snapshot that fits; a deadline far beyond any debounce fails the test.
fn wait(changes: &mpsc::Receiver<Arc<Snapshot>>, fits: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    loop {
        let snapshot = changes.recv_timeout(Duration::from_secs(20)).expect("a snapshot in time");
        if fits(&snapshot) {
            return snapshot;
        }
    }
}

fn start(world: &World) -> (Watcher, mpsc::Receiver<Arc<Snapshot>>) {
    let (send, receive) = mpsc::channel();
    let watcher =
        Watcher::start(Arc::clone(&world.registry), move |snapshot| drop(send.send(snapshot))).unwrap();
    (watcher, receive)
}

#[test]
fn adding_editing_and_removing_a_plugin() {
    let world = World::new();
    world.scan();
    let (watcher, changes) = start(&world);
    simple(&world.user("a"), "com.example.a", &["x"]);
    wait(&changes, |s| s.plugins.len() == 1);
    simple(&world.user("a"), "com.example.a", &["x", "y"]);
    wait(&changes, |s| s.plugins.first().is_some_and(|p| p.loaded.apps.len() == 2));
    // A file in a directory that was made after the watch began.
    write_files(&world.user("a"), &[("deep/er/index.mjs", "")]);
    let text =
        r#"{"id":"com.example.a","name":"A","apps":[{"id":"d","name":"D","entry":"deep/er/index.mjs"}]}"#;
    write_files(&world.user("a"), &[("plugin.json", text)]);
    wait(&changes, |s| s.plugins[0].loaded.apps.len() == 1);
    fs::remove_file(world.user("a").join("deep/er/index.mjs")).unwrap();
    wait(&changes, |s| s.plugins[0].loaded.apps.is_empty());
    write_files(&world.user("a"), &[("plugin.json", "{")]);
    wait(&changes, |s| s.plugins.is_empty() && s.problems.len() == 1);
    fs::remove_dir_all(world.user("a")).unwrap();
    wait(&changes, |s| s.plugins.is_empty() && s.problems.is_empty());
    watcher.stop();
}

#[test]
fn a_changed_byte_of_a_trusted_plugin_is_noticed() {
    let world = World::new();
    simple(&world.user("a"), "com.example.a", &["x"]);
    write_files(&world.user("a"), &[("lib/deep/code.mjs", "1")]);
    world.trust("com.example.a");
    let (watcher, changes) = start(&world);
    fs::write(world.user("a").join("lib/deep/code.mjs"), "2").unwrap();
    wait(&changes, |s| s.plugins[0].trust.state == TrustState::Changed);
    fs::write(world.user("a").join("lib/deep/code.mjs"), "1").unwrap();
    wait(&changes, |s| s.plugins[0].trust.state == TrustState::Trusted);
    watcher.stop();
}

#[test]
fn what_was_written_between_the_first_listing_and_the_watch_is_noticed() {
    let world = World::new();
    world.scan();
    let (watcher, changes) = start(&world);
    let outside = world.ui_apps().plugins().with_file_name("outside");
    simple(&outside, "com.example.a", &["x"]);
    fs::rename(&outside, world.user("a")).unwrap();
    // Somebody lists it before the watcher has had its moment of quiet.
    world.scan();
    simple(&world.user("a"), "com.example.a", &["x", "y"]);
    wait(&changes, |s| s.plugins.first().is_some_and(|p| p.loaded.apps.len() == 2));
    watcher.stop();
}

#[test]
fn a_root_that_is_removed_and_made_again() {
    let world = World::new();
    simple(&world.user("a"), "com.example.a", &["x"]);
    world.scan();
    let (_watcher, changes) = start(&world);
    fs::remove_dir_all(world.ui_apps().plugins()).unwrap();
    wait(&changes, |s| s.plugins.is_empty());
    simple(&world.user("b"), "com.example.b", &["x"]);
    wait(&changes, |s| s.plugins.len() == 1);
}
