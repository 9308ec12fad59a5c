//! Changes over the API: listed, shown, downloaded, undone, done again, and told to who listens.

use std::fs;

use serde_json::{Value, json};

use crate::socket;
use crate::support::{Ground, done, steps};

#[test]
fn changes_of_other_processes_and_of_the_host_are_seen_downloaded_undone_and_done_again() {
    let ground = Ground::new();
    ground.write("a.txt", "one\r\ntwo\r\n");
    ground.write("gone.txt", [0xff, 0x00, b'x']);
    ground.write("here.txt", "here\n");
    let mut events = socket::open(&ground.host, "?topics=admin");
    let mut writer = ground.server("code_writer");
    done(&writer.call("edit_file", json!({ "path": "a.txt", "old_string": "two", "new_string": "zwei" })));
    // A server of its own changed a file, and the page of the host hears of it.
    assert_eq!(events.event_of("file_changes_changed")["data"], json!({ "ids": [] }));
    done(&writer.call("write_file", json!({ "path": "new/b.txt", "contents": "new\n" })));
    done(&writer.call("delete_path", json!({ "path": "gone.txt" })));
    let mut maintainer = ground.server("code_maintainer");
    done(&maintainer.call("move_path", json!({ "from": "here.txt", "to": "new/there.txt" })));
    ground.host_call("write_file", json!({ "path": "host.txt", "contents": "host\n" }), "run-1");

    let list = ground.list("");
    let shown: Vec<(&str, &str, &str)> = list
        .iter()
        .map(|change| {
            let text = |name: &str| change[name].as_str().unwrap();
            (text("server"), text("change"), text("path"))
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("code_maintainer", "created", "host.txt"),
            ("code_maintainer", "moved", "new/there.txt"),
            ("code_writer", "deleted", "gone.txt"),
            ("code_writer", "created", "new/b.txt"),
            ("code_writer", "modified", "a.txt"),
        ]
    );
    assert_eq!(list[1]["from"], "here.txt");
    assert_eq!((&list[4]["added"], &list[4]["removed"]), (&json!(1), &json!(1)));
    assert_eq!((&list[0]["runId"], &list[4]["runId"]), (&json!("run-1"), &json!("")));
    assert_eq!(list[4]["root"], ground.root());
    assert_eq!(list[2]["after"], json!({ "state": "absent", "sha256": null, "size": null }));

    // Each filter, and pages.
    let count = |query: &str| ground.list(query).len();
    assert_eq!(count("server=code_writer"), 3);
    assert_eq!(count("tool=move_path"), 1);
    assert_eq!(count("change=created"), 2);
    assert_eq!(count("runId=run-1"), 1);
    assert_eq!(count("path=NEW%2F"), 2, "case does not matter");
    assert_eq!(count("path=%25"), 0, "a sign of the database is a letter here");
    assert_eq!(count(&format!("root={}", ground.root())), 5);
    assert_eq!(count("root=%2F"), 0);
    let page = ground.get("/api/v1/changes?limit=2").json();
    let next = page["next"].as_str().unwrap();
    assert_eq!(ground.list(&format!("limit=200&before={next}")).len(), 3);
    assert_eq!(ground.get(&format!("/api/v1/changes?limit=3&before={next}")).json()["next"], Value::Null);

    // One with its diff and its contents, which no browser shows.
    let id = |index: usize| list[index]["id"].as_str().unwrap();
    let detail = ground.detail(id(4));
    assert!(detail["diff"].as_str().unwrap().contains("-two"), "{detail}");
    assert_eq!(detail["undo"], json!({ "possible": true, "code": null, "reason": null, "hint": null }));
    let content = |index: usize, side: &str| {
        ground.get(&format!("/api/v1/changes/{}/content/{side}", list[index]["id"].as_str().unwrap()))
    };
    let before = content(4, "before");
    assert_eq!((before.status, before.body.as_slice()), (200, b"one\r\ntwo\r\n".as_slice()));
    assert_eq!(before.header("content-disposition"), Some("attachment; filename=\"a.txt\""));
    assert_eq!(before.header("content-type"), Some("application/octet-stream"));
    assert_eq!(content(2, "before").body, [0xff, 0x00, b'x']);
    assert_eq!(content(1, "before").header("content-disposition"), Some("attachment; filename=\"here.txt\""));
    let absent = content(3, "before");
    assert_eq!((absent.status, absent.json()["error"]["code"].clone()), (404, json!("content_absent")));
    assert_eq!(content(3, "between").status, 404);

    // All five at once, then all of it back.
    let ids: Vec<&str> = (0..5).map(id).collect();
    let dry = ground.undo(&json!({ "ids": ids, "dryRun": true })).json();
    assert_eq!((dry["steps"].as_array().unwrap().len(), &dry["changes"]), (5, &json!([])));
    assert_eq!(ground.read("a.txt"), "one\r\nzwei\r\n", "a look changes nothing");
    assert_eq!(ground.list("").len(), 5);
    let (did, undos) = ground.undone(&json!({ "ids": ids }));
    assert_eq!(
        did,
        steps(&[
            ("a.txt", "restored"),
            ("gone.txt", "recreated"),
            ("here.txt", "moved_back"),
            ("host.txt", "removed"),
            ("new/b.txt", "removed"),
        ])
    );
    assert_eq!((ground.read("a.txt"), ground.read("here.txt")), ("one\r\ntwo\r\n".into(), "here\n".into()));
    assert_eq!(fs::read(ground.path("gone.txt")).unwrap(), [0xff, 0x00, b'x']);
    assert!(!ground.path("host.txt").exists() && !ground.path("new/there.txt").exists());
    let told = loop {
        let told = events.event_of("file_changes_changed");
        if told["data"]["ids"] != json!([]) {
            break told;
        }
    };
    assert_eq!(told["data"]["ids"], json!(undos));
    let undone = ground.detail(id(4));
    assert!(undos.contains(&undone["change"]["undoneBy"].as_str().unwrap().to_owned()));
    assert_eq!(undone["undo"]["code"], "already_undone");
    let newest = &ground.list("limit=1")[0];
    assert_eq!((&newest["server"], &newest["tool"]), (&json!("chatos"), &json!("undo")));
    assert_eq!(newest["undoes"].as_array().unwrap().len(), 1);
    ground.undone(&json!({ "ids": undos }));
    assert_eq!((ground.read("a.txt"), ground.read("host.txt")), ("one\r\nzwei\r\n".into(), "host\n".into()));
    assert!(!ground.path("gone.txt").exists() && !ground.path("here.txt").exists());
    assert_eq!(ground.detail(id(4))["change"]["undoneBy"], Value::Null);

    // What a person did is in the audit log, and the chain holds.
    let logs = fs::read_dir(ground.sandbox.state().join("audit")).unwrap();
    let log: String = logs.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok()).collect();
    let undos: Vec<Value> = log
        .lines()
        .filter(|line| line.contains("file_changes_undone"))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(undos.len(), 2, "{log}");
    assert!(undos[0].to_string().contains(id(4)) && undos[0].to_string().contains(&ground.root()));
    assert_eq!(ground.sandbox.run(&["audit", "verify"]).status, 0);
}

#[test]
fn a_run_is_undone_as_a_whole_and_only_what_is_left_of_it() {
    let ground = Ground::new();
    ground.write("a.txt", "0\n");
    let put = |path: &str, text: &str, run: &str| {
        ground.host_call("write_file", json!({ "path": path, "contents": text }), run);
    };
    put("a.txt", "1\n", "run-1");
    put("a.txt", "2\n", "run-1");
    put("b.txt", "b\n", "run-1");
    put("c.txt", "c\n", "run-2");
    ground.undone(&json!({ "ids": [ground.newest("b.txt")] }));
    let (did, _) = ground.undone(&json!({ "runId": "run-1" }));
    assert_eq!(did, steps(&[("a.txt", "restored")]), "what is undone stays so");
    assert_eq!((ground.read("a.txt"), ground.read("c.txt")), ("0\n".into(), "c\n".into()));
    let again = ground.undo(&json!({ "runId": "run-1" }));
    assert_eq!((again.status, again.json()["error"]["code"].clone()), (409, json!("nothing_to_undo")));
}

#[test]
fn a_patch_of_several_files_is_undone_completely_or_not_at_all() {
    let ground = Ground::new();
    ground.write("a.txt", "a\n");
    ground.write("b.txt", "b\n");
    let mut writer = ground.server("code_writer");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Update File: b.txt\n*** Move to: \
                 moved.txt\n@@\n-b\n+B\n*** Add File: c.txt\n+c\n*** End Patch\n";
    done(&writer.call("apply_patch", json!({ "patch": patch })));
    let ids: Vec<Value> = ground.list("tool=apply_patch").iter().map(|change| change["id"].clone()).collect();
    assert_eq!(ids.len(), 3);
    // One of them is not as it was left: nobody's work is lost, and the others stay, too.
    ground.write("c.txt", "mine\n");
    let refused = ground.undo(&json!({ "ids": ids }));
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (409, &json!("changed_on_disk")));
    assert_eq!(
        (ground.read("a.txt"), ground.read("moved.txt"), ground.read("c.txt")),
        ("A\n".into(), "B\n".into(), "mine\n".into())
    );
    assert_eq!(ground.list("").len(), 3, "nothing is recorded");
    ground.write("c.txt", "c\n");
    let (did, _) = ground.undone(&json!({ "ids": ids }));
    assert_eq!(did, steps(&[("a.txt", "restored"), ("b.txt", "moved_back"), ("c.txt", "removed")]));
    assert_eq!((ground.read("a.txt"), ground.read("b.txt")), ("a\n".into(), "b\n".into()));
    assert!(!ground.path("moved.txt").exists() && !ground.path("c.txt").exists());
    let left: Vec<_> =
        fs::read_dir(ground.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "no other file is left: {left:?}");
}

#[test]
fn two_undos_of_the_same_change_at_once_do_it_once() {
    let ground = Ground::new();
    ground.write("a.txt", "0\n");
    let mut writer = ground.server("code_writer");
    for round in 0..5 {
        done(&writer.call("write_file", json!({ "path": "a.txt", "contents": format!("{round}!\n") })));
        let body = json!({ "ids": [ground.newest("a.txt")] });
        let statuses = std::thread::scope(|scope| {
            let both: Vec<_> = (0..4).map(|_| scope.spawn(|| ground.undo(&body).status)).collect();
            both.into_iter().map(|undo| undo.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
        assert_eq!(ground.read("a.txt"), "0\n");
    }
}

#[test]
fn a_rename_over_files_by_a_language_server_is_undone_as_it_was_made() {
    let ground = Ground::new();
    let script = ground.path("fixture.mjs");
    fs::write(&script, include_str!("../../../chatos-lsp/tests/bridge/fixture.mjs")).unwrap();
    let path = std::env::vars_os().find(|(name, _)| name == "PATH").unwrap().1;
    let node = std::env::split_paths(&path).map(|dir| dir.join("node")).find(|node| node.is_file()).unwrap();
    let fake = json!({ "command": node, "args": [script, "files"], "fileExtensions": ["fk"] });
    let config = json!({ "servers": { "fake": fake } });
    fs::write(ground.sandbox.state().join("lsp-servers.json"), config.to_string()).unwrap();
    ground.write("one.fk", "alpha beta\n");
    ground.write("two.fk", "other\n");
    let mut server = ground.server("lsp_bridge");
    // It changes one text, moves it, makes another file and removes a third.
    let rename = json!({ "path": "one.fk", "symbol": "beta", "new_name": "delta", "apply": true });
    done(&server.call("lsp_rename", rename));
    assert_eq!(
        (ground.read("deep/renamed.fk").as_str(), ground.read("made.fk").as_str()),
        ("alpha delta\n", "made\n")
    );
    assert!(!ground.path("one.fk").exists() && !ground.path("two.fk").exists());
    let list = ground.list("server=lsp_bridge");
    assert!(list.iter().all(|change| change["tool"] == "lsp_apply_text_edits"), "{list:?}");
    let ids: Vec<&Value> = list.iter().map(|change| &change["id"]).collect();
    ground.undone(&json!({ "ids": ids }));
    assert_eq!((ground.read("one.fk").as_str(), ground.read("two.fk").as_str()), ("alpha beta\n", "other\n"));
    assert!(!ground.path("deep/renamed.fk").exists() && !ground.path("made.fk").exists());
}
