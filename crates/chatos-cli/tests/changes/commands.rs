//! `chatos changes`: what a person and a script see, with and without a host.

use std::fs;
use std::os::unix::ffi::OsStrExt;

use serde_json::json;

use crate::support::{Ground, done};
use crate::terminal::Terminal;

#[test]
fn changes_are_listed_shown_and_undone_with_and_without_a_host() {
    let ground = Ground::new();
    ground.write("a.txt", "one\n");
    let mut server = ground.server("code_maintainer");
    done(&server.call("edit_file", json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })));
    done(&server.call("move_path", json!({ "from": "a.txt", "to": "b.txt" })));
    drop(server);
    let Ground { sandbox, host } = ground;
    let mut host = Some(host);
    let file = |name: &str| fs::read_to_string(sandbox.root().join("work").join(name)).ok();
    for round in 0..2 {
        if round == 1 {
            assert!(host.take().unwrap().stop().success());
        }
        let list =
            sandbox.run(&["changes", "list", "--json", "--path", ".txt", "--server", "code_maintainer"]);
        let list = list.json()["changes"].take();
        assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
        let (moved, edited) = (list[0]["id"].as_str().unwrap(), list[1]["id"].as_str().unwrap());
        let shown = sandbox.run(&["changes", "list", "--lang", "en"]).stdout;
        assert!(shown.contains("a.txt → b.txt") && shown.contains(moved) && shown.contains("+1 −1 a.txt"));
        let chinese = sandbox.run(&["changes", "list", "--lang", "zh", "--change", "moved"]).stdout;
        assert!(chinese.contains("移动") && !chinese.contains(edited), "{chinese}");
        let older = sandbox.run(&["changes", "list", "--limit", "1", "--lang", "en"]).stdout;
        assert!(older.contains("There are older ones: --before "), "{older}");
        let before = sandbox.run(&["changes", "list", "--before", moved, "--json"]).json();
        assert_eq!(before["changes"][0]["id"], edited);

        let one = sandbox.run(&["changes", "show", moved, "--lang", "en"]).stdout;
        assert!(one.contains(&format!("To undo it: chatos changes undo {moved}")), "{one}");
        let other = sandbox.run(&["changes", "show", edited, "--lang", "zh"]).stdout;
        assert!(other.contains("-one") && other.contains("+two") && other.contains("无法撤销"), "{other}");
        assert_eq!(sandbox.run(&["changes", "show", moved, "--json"]).json()["undo"]["possible"], true);

        // A script has to say yes beforehand; a look needs no yes.
        for more in [["--lang", "en"].as_slice(), &["--lang", "zh"], &["--json"]] {
            let mut args = vec!["changes", "undo", moved];
            args.extend(more);
            let asked = sandbox.run(&args);
            assert_eq!(asked.status, 1, "{asked:?}");
            assert!(format!("{}{}", asked.stdout, asked.stderr).contains("--yes"), "{asked:?}");
        }
        let dry = sandbox.run(&["changes", "undo", moved, edited, "--dry-run", "--lang", "en"]);
        assert_eq!((dry.status, dry.stdout.trim()), (0, "move back  a.txt"), "{dry:?}");
        let dry = sandbox.run(&["changes", "undo", moved, "--dry-run", "--json"]).json();
        assert_eq!((&dry["steps"][0]["action"], &dry["changes"]), (&json!("moved_back"), &json!([])));
        assert_eq!((file("a.txt"), file("b.txt").as_deref()), (None, Some("two\n")));
        let refused = sandbox.run(&["changes", "undo", edited, "--yes", "--json"]);
        assert_eq!((refused.status, refused.code().as_str()), (1, "changed_on_disk"), "{refused:?}");

        let done = sandbox.run(&["changes", "undo", edited, moved, "--yes", "--lang", "en"]);
        assert_eq!(done.status, 0, "{done:?}");
        assert!(
            done.stdout.contains("moved back a.txt") && done.stdout.contains("1 file(s) are as they were")
        );
        assert_eq!((file("a.txt").as_deref(), file("b.txt")), (Some("one\n"), None));
        assert!(sandbox.run(&["changes", "list", "--lang", "zh"]).stdout.contains("（已撤销）"));
        // And back, with the command that was named.
        let words = done.stdout.rsplit("chatos changes undo ").next().unwrap().trim().to_owned();
        let redone = sandbox.run(&["changes", "undo", &words, "--yes", "--json"]);
        assert_eq!(redone.status, 0, "{redone:?}");
        assert_eq!((file("a.txt"), file("b.txt").as_deref()), (None, Some("two\n")));
    }
    for (args, status) in [
        (["changes", "show", "nothing"].as_slice(), 4),
        (&["changes", "list", "--before", "nothing"], 4),
        (&["changes", "undo", "nothing", "--yes"], 4),
        (&["changes", "undo", "--run", "nothing", "--yes"], 4),
        (&["changes", "list", "--change", "renamed"], 2),
        (&["changes", "list", "--limit", "0"], 2),
        (&["changes", "list", "--limit", "201"], 2),
        (&["changes", "undo"], 2),
        (&["changes", "undo", "x", "--run", "y", "--yes"], 2),
        (&["changes", "undo", "x", "--dry-run", "--yes"], 2),
    ] {
        let outcome = sandbox.run(args);
        assert_eq!(outcome.status, status, "{args:?}: {outcome:?}");
    }
    assert!(sandbox.run(&["changes", "list", "--run", "none", "--lang", "en"]).stdout.contains("No file"));
}

#[test]
fn a_person_at_the_terminal_sees_what_happens_and_is_asked() {
    let ground = Ground::new();
    ground.host_call("write_file", json!({ "path": "a.txt", "contents": "1\n" }), "run-1");
    ground.host_call("write_file", json!({ "path": "b.txt", "contents": "1\n" }), "run-1");
    let args = ["changes", "undo", "--run", "run-1", "--lang", "en"];
    for (answer, lang) in [("n", "en"), ("", "zh")] {
        let mut no = Terminal::start(&ground.sandbox, &["changes", "undo", "--run", "run-1", "--lang", lang]);
        no.expect("a.txt").expect("b.txt").expect("[y/N]").enter(answer);
        assert_eq!(no.end().0, Some(1));
        assert!(ground.path("a.txt").exists() && ground.path("b.txt").exists());
    }
    let mut yes = Terminal::start(&ground.sandbox, &args);
    yes.expect("remove")
        .expect("a.txt")
        .expect("Undo this? [y/N]")
        .enter("y")
        .expect("2 file(s) are as they were");
    assert_eq!(yes.end().0, Some(0));
    assert!(!ground.path("a.txt").exists() && !ground.path("b.txt").exists());
}

#[test]
fn names_and_contents_cannot_spoil_the_terminal() {
    let ground = Ground::new();
    let name = "\u{1b}[2Jred\u{202e}\nfake line \u{9b}31m.txt";
    let mut server = ground.server("code_maintainer");
    let contents = "\u{1b}]0;title\u{7}\u{1b}[31mred\rover\u{202e}";
    done(&server.call("write_file", json!({ "path": name, "contents": contents, "exact": true })));
    let other = "moved\u{1b}[2J\nfake line.txt";
    done(&server.call("move_path", json!({ "from": name, "to": other })));
    let moved = ground.newest("moved");
    done(&server.call("move_path", json!({ "from": other, "to": name })));
    fs::create_dir(ground.path("tree")).unwrap();
    fs::write(ground.path("tree").join(std::ffi::OsStr::from_bytes(b"odd\xff\x1b[5m")), "odd\n").unwrap();
    done(&server.call("delete_path", json!({ "path": "tree" })));
    let id = ground.list("tool=write_file")[0]["id"].as_str().unwrap().to_owned();
    let tree = ground.newest("tree");
    let outputs = [
        ground.sandbox.run(&["changes", "list"]),
        ground.sandbox.run(&["changes", "list", "--path", "fake line"]),
        ground.sandbox.run(&["changes", "show", &id]),
        ground.sandbox.run(&["changes", "show", &tree]),
        ground.sandbox.run(&["changes", "show", &moved]),
        ground.sandbox.run(&["changes", "undo", &tree, "--yes"]),
        ground.sandbox.run(&["changes", "undo", &id, "--dry-run"]),
        ground.sandbox.run(&["changes", "undo", &id, "--yes"]),
    ];
    for output in &outputs {
        for text in [&output.stdout, &output.stderr] {
            let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(bad, None, "{output:?}");
            assert!(!text.lines().any(|line| line.starts_with("fake line")), "{output:?}");
        }
    }
    assert_eq!(outputs[1].stdout.lines().count(), 3, "a line each: {}", outputs[1].stdout);
    assert_eq!((outputs[5].status, outputs[7].status), (5, 0), "{outputs:?}");
    assert!(!ground.path(name).exists());
    // For programs the name is as it is.
    let list = ground.sandbox.run(&["changes", "list", "--json", "--path", "fake line"]);
    assert!(!list.stdout.trim().chars().any(|c| c.is_control() || c == '\u{202e}'), "{list:?}");
    assert_eq!(list.json()["changes"][0]["path"], name);
}
