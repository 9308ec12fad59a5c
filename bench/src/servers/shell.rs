//! Commands: one that does nothing, one that prints fifty megabytes, and one that looks at ten thousand files, in a project
//! whose files that run later (hooks and the like) are looked at around every command that may change something.

use anyhow::Result;
use serde_json::{Value, json};

use super::Place;
use super::contest::Contest;
use super::files::timed;
use super::peer::{Kind, Peer};
use super::table::{Bar, row, words};

const FLOOD: &str =
    "yes 'a line that is repeated until fifty megabytes are full, no more and no less' | head -c 50000000";

pub(crate) fn run(place: &Place) -> Result<()> {
    let ours = place.ours("shell_tasks", &["--confirm-file-changes=false", "--confirm-shell=never"]);
    let peers: Vec<Peer> = place.peers().into_iter().filter(|peer| peer.kind == Kind::Commander).collect();
    let mut contest = Contest::new(&ours, &peers)?;
    let call = |command: &'static str| {
        move |kind: Kind, client: &mut super::client::Client| -> Option<Result<Value>> {
            Some(match kind {
                Kind::Ours => {
                    client.call("run_shell_command", json!({ "command": command, "shell": "bash" }))
                }
                _ => client.call("start_process", json!({ "command": command, "timeout_ms": 30_000 })),
            })
        }
    };
    let quick = contest.run(
        30,
        1,
        call("true"),
        |kind, reply| kind != Kind::Ours || reply["structuredContent"]["data"]["exit_code"] == 0,
        || timed(&["bash", "-c", "true"]),
    )?;
    let (own, limit) = (quick.ours.median(), quick.limit.median());
    let (must, aim) = (Bar::times(own, limit, 1.8), Bar::times(own, limit, 1.2));
    row("shell: `true`", own, &quick.peers, Some(("bash", limit)), Some(must), Some(aim));

    let before = contest.ours()?.peak()?;
    let flood = contest.run(
        5,
        1,
        call(FLOOD),
        |kind, reply| {
            let data = &reply["structuredContent"]["data"];
            kind != Kind::Ours || (data["stdout"]["bytes"] == 50_000_000 && data["exit_code"] == 0)
        },
        || timed(&["bash", "-c", FLOOD]),
    )?;
    let (own, limit) = (flood.ours.median(), flood.limit.median());
    let (must, aim) = (Bar::times(own, limit, 1.5), Bar::times(own, limit, 1.0));
    row(
        "shell: 50 MB of output, head and tail kept",
        own,
        &flood.peers,
        Some(("bash", limit)),
        Some(must),
        Some(aim),
    );
    let grown = contest.ours()?.peak()?.saturating_sub(before);
    let aim = Bar::new("≤ 4 MB", grown <= 4_000_000);
    words(
        "growth of the server's memory by it",
        &format!("{:.1} MB", grown as f64 / 1e6),
        "",
        "",
        "",
        None,
        Some(aim),
    );
    tar(place, &mut contest)
}

/// Files that `tar` packs, and files in the project that run later.
const FILES: usize = 10_000;
const HOOKS: usize = 20;

fn tar(place: &Place, contest: &mut Contest) -> Result<()> {
    let root = place.root();
    for number in 0..FILES {
        let dir = root.join(format!("packed/{}", number / 100));
        if number % 100 == 0 {
            std::fs::create_dir_all(&dir)?;
        }
        std::fs::write(
            dir.join(format!("{number}.txt")),
            format!("the contents of file {number}\n").repeat(20),
        )?;
    }
    let ours_only = |command: String| {
        move |kind: Kind, client: &mut super::client::Client| -> Option<Result<Value>> {
            let call = json!({ "command": command, "shell": "bash" });
            (kind == Kind::Ours).then(|| client.call("run_shell_command", call))
        }
    };
    let right = |kind: Kind, reply: &Value| {
        kind != Kind::Ours || reply["structuredContent"]["data"]["exit_code"] == 0
    };
    // Files that run later are there from the second row on; a command that may write has them looked at twice.
    let write = "echo x > written.txt".to_owned();
    let bare = format!("cd '{}' && {write}", root.display());
    for (what, hooks) in [("nothing that runs later", 0), ("20 hooks and an editor's files", HOOKS)] {
        for number in 0..hooks {
            std::fs::create_dir_all(root.join(".git/hooks"))?;
            std::fs::write(root.join(format!(".git/hooks/hook-{number}")), "#!/bin/sh\ntrue\n".repeat(100))?;
        }
        if hooks > 0 {
            std::fs::create_dir_all(root.join(".vscode"))?;
            std::fs::write(root.join(".vscode/tasks.json"), "{}")?;
            std::fs::write(root.join(".git/config"), "[core]\n\tbare = false\n")?;
        }
        let took = contest.run(30, 1, ours_only(write.clone()), right, || timed(&["bash", "-c", &bare]))?;
        let (own, limit) = (took.ours.median(), took.limit.median());
        row(&format!("shell: a small write, {what}"), own, &[], Some(("bash", limit)), None, None);
    }
    let pack = "tar -cf packed.tar packed".to_owned();
    let bare = format!("cd '{}' && {pack}", root.display());
    let took = contest.run(10, 1, ours_only(pack.clone()), right, || timed(&["bash", "-c", &bare]))?;
    let (own, limit) = (took.ours.median(), took.limit.median());
    // The bar is against its own time of the first build, which had the two looks at the files as well.
    row(&format!("shell: tar of {FILES} files"), own, &[], Some(("bash", limit)), None, None);
    Ok(())
}
