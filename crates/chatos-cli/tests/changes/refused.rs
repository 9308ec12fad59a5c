//! What cannot be undone stays as it is, and bad input is said clearly in both languages.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{Ground, done, steps};

/// Refused with this status and code, in words of both languages; gives the error.
fn refused(ground: &Ground, body: &Value, status: u16, code: &str) -> Value {
    let (english, chinese) =
        (ground.undo(body), ground.in_chinese("POST", "/api/v1/changes/undo", Some(body)));
    said(&english, &chinese, status, code)
}

fn said(
    english: &chatos_testkit::Answer,
    chinese: &chatos_testkit::Answer,
    status: u16,
    code: &str,
) -> Value {
    let (en, zh) = (english.json()["error"].take(), chinese.json()["error"].take());
    assert_eq!((english.status, &en["code"]), (status, &json!(code)), "{}", english.text());
    assert_eq!((chinese.status, &zh["code"]), (status, &json!(code)), "{}", chinese.text());
    let is_chinese = |text: &Value| {
        text.as_str().is_some_and(|text| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c)))
    };
    assert!(en["message"].is_string() && !is_chinese(&en["message"]), "{en}");
    assert!(is_chinese(&zh["message"]), "{zh}");
    en
}

#[test]
fn what_changed_since_became_a_link_or_lost_its_root_is_left_alone() {
    let ground = Ground::new();
    let mut writer = ground.server("code_writer");
    let mut put = |path: &str, text: &str| {
        done(&writer.call("write_file", json!({ "path": path, "contents": text })));
        ground.newest(path)
    };
    let (first, second) = (put("a.txt", "1\n"), put("a.txt", "2\n"));
    let later = refused(&ground, &json!({ "ids": [first] }), 409, "changed_on_disk");
    assert!(later["hint"].as_str().unwrap().contains(&second), "{later}");
    assert_eq!(later["details"]["later"], json!([second]));
    ground.write("a.txt", "mine\n");
    refused(&ground, &json!({ "ids": [first, second] }), 409, "changed_on_disk");
    assert_eq!(ground.read("a.txt"), "mine\n");
    assert_eq!(ground.detail(&second)["undo"]["possible"], false);

    // The same bytes, but behind a link; and a directory on the way is one.
    ground.write("twin.txt", "2\n");
    fs::remove_file(ground.path("a.txt")).unwrap();
    symlink("twin.txt", ground.path("a.txt")).unwrap();
    refused(&ground, &json!({ "ids": [second] }), 409, "changed_on_disk");
    assert_eq!(ground.read("twin.txt"), "2\n");
    let deep = put("d/x.txt", "x\n");
    let outside = ground.sandbox.root().join("outside");
    fs::rename(ground.path("d"), &outside).unwrap();
    symlink(&outside, ground.path("d")).unwrap();
    refused(&ground, &json!({ "ids": [deep] }), 403, "symlink_escape");
    assert_eq!(fs::read_to_string(outside.join("x.txt")).unwrap(), "x\n");

    // The root is gone, or something else is in its place.
    let last = put("last.txt", "1\n");
    let (root, away) = (std::path::PathBuf::from(ground.root()), ground.sandbox.root().join("away"));
    fs::rename(&root, &away).unwrap();
    refused(&ground, &json!({ "ids": [last] }), 404, "root_gone");
    symlink(&away, &root).unwrap();
    refused(&ground, &json!({ "ids": [last] }), 409, "changed_on_disk");
    assert_eq!(fs::read_to_string(away.join("last.txt")).unwrap(), "1\n");
    fs::remove_file(&root).unwrap();
    fs::create_dir(&root).unwrap();
    refused(&ground, &json!({ "ids": [last] }), 409, "changed_on_disk");
    fs::remove_dir(&root).unwrap();
    fs::rename(&away, &root).unwrap();
    let (did, _) = ground.undone(&json!({ "ids": [last] }));
    assert_eq!(did, steps(&[("last.txt", "removed")]));
}

#[test]
fn what_was_too_large_to_keep_cleaned_up_or_has_no_name_in_text_says_so() {
    let ground = Ground::new();
    let large = "x".repeat((5 << 20) + 1);
    ground.write("large.txt", &large);
    let mut writer = ground.server("code_writer");
    done(&writer.call("write_file", json!({ "path": "large.txt", "contents": "small\n" })));
    let id = ground.newest("large.txt");
    let change = &ground.detail(&id)["change"];
    assert_eq!(
        (&change["before"]["state"], &change["before"]["size"]),
        (&json!("omitted"), &json!(large.len()))
    );
    let error = refused(&ground, &json!({ "ids": [id] }), 501, "not_supported");
    assert_eq!(error["details"]["reason"], "omitted");
    let path = format!("/api/v1/changes/{id}/content/before");
    said(&ground.get(&path), &ground.in_chinese("GET", &path, None), 404, "content_omitted");

    // A content that somebody removed from the state.
    ground.write("kept.txt", "kept\n");
    done(&writer.call("write_file", json!({ "path": "kept.txt", "contents": "other\n" })));
    let id = ground.newest("kept.txt");
    let digest = ground.detail(&id)["change"]["before"]["sha256"].as_str().unwrap().to_owned();
    // Cleaning up what nobody needs any more takes nothing of this away.
    let pruned = ground.sandbox.run(&["state", "prune", "--runs-before", "2999-01-01", "--yes"]);
    assert_eq!(pruned.status, 0, "{pruned:?}");
    assert_eq!(ground.detail(&id)["undo"]["possible"], true);
    fs::remove_file(ground.sandbox.state().join("blobs").join(&digest[..2]).join(&digest)).unwrap();
    assert_eq!(ground.detail(&id)["change"]["before"]["state"], "lost");
    let error = refused(&ground, &json!({ "ids": [id] }), 501, "not_supported");
    assert_eq!(error["details"]["reason"], "lost");
    let path = format!("/api/v1/changes/{id}/content/before");
    said(&ground.get(&path), &ground.in_chinese("GET", &path, None), 404, "content_lost");
    assert_eq!(ground.read("kept.txt"), "other\n");

    // A deleted file whose name is not text: it would come back under another one.
    fs::create_dir(ground.path("tree")).unwrap();
    fs::write(ground.path("tree").join(std::ffi::OsStr::from_bytes(b"odd\xff")), "odd\n").unwrap();
    done(&writer.call("delete_path", json!({ "path": "tree" })));
    let error = refused(&ground, &json!({ "ids": [ground.newest("tree")] }), 501, "not_supported");
    assert_eq!(error["details"]["reason"], "name_unknown");
    assert!(!ground.path("tree").exists());
}

#[test]
fn bad_input_is_refused_in_both_languages() {
    let ground = Ground::new();
    ground.host_call("write_file", json!({ "path": "a.txt", "contents": "1" }), "run-1");
    let id = ground.newest("a.txt");
    for body in
        [json!({}), json!({ "ids": [] }), json!({ "ids": [id], "runId": "run-1" }), json!({ "runId": "" })]
    {
        refused(&ground, &body, 422, "invalid_argument");
    }
    for body in [json!({ "ids": "x" }), json!({ "id": [id] }), json!({ "ids": [1] })] {
        refused(&ground, &body, 400, "invalid_argument");
    }
    refused(&ground, &json!({ "ids": [id, "nothing"] }), 404, "not_found");
    refused(&ground, &json!({ "runId": "nothing" }), 404, "not_found");
    assert_eq!(ground.read("a.txt"), "1", "nothing was undone by any of this");
    let long = "x".repeat(4097);
    let ask = |query: &str| {
        let path = format!("/api/v1/changes{query}");
        (ground.get(&path), ground.in_chinese("GET", &path, None))
    };
    for (query, status, code) in [
        ("?change=renamed".to_owned(), 422, "invalid_argument"),
        ("?limit=0".to_owned(), 422, "invalid_argument"),
        ("?limit=201".to_owned(), 422, "invalid_argument"),
        ("?limit=many".to_owned(), 400, "invalid_argument"),
        ("?limit=-1".to_owned(), 400, "invalid_argument"),
        ("?colour=red".to_owned(), 400, "invalid_argument"),
        (format!("?path={long}"), 422, "invalid_argument"),
        ("?before=nothing".to_owned(), 404, "not_found"),
        ("/nothing".to_owned(), 404, "not_found"),
        ("/nothing/content/after".to_owned(), 404, "not_found"),
        ("/..%2F..%2Fstate.db/content/after".to_owned(), 404, "not_found"),
        ("/%00".to_owned(), 404, "not_found"),
    ] {
        let (english, chinese) = ask(&query);
        said(&english, &chinese, status, code);
    }
    assert_eq!(ground.list("path=%00").len(), 0);
}
