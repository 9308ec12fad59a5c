//! Commands: one that does nothing, and one that prints fifty megabytes.

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
    Ok(())
}
