//! Reads, edits, search and listing.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::client::Client;
use super::start::Echo;
use super::{Place, row};
use crate::measure::{Times, human};

pub(crate) fn run(place: &Place) -> Result<()> {
    small_reads(place)?;
    large_reads(place)?;
    edit(place)?;
    tree(place)
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

fn small_reads(place: &Place) -> Result<()> {
    let path = place.root().join("small.txt");
    std::fs::write(&path, "a line of text\n".repeat(20))?;
    let arguments = json!({ "path": path });
    let whole = |result: &Value| text_of(result).matches("a line of text").count() == 20;
    let peers = place.peers();
    let (mut ours, _) = Client::start(&place.ours("project_files", &[]))?;
    let mut others: Vec<Client> =
        peers.iter().map(|peer| Ok(Client::start(peer)?.0)).collect::<Result<_>>()?;
    let mut cat = Echo::start()?;
    // What is opened once is opened here.
    ours.repeat(20, "read_file", &arguments, whole)?;
    let (mut own, mut limit) = (Vec::new(), Vec::new());
    let mut theirs: Vec<Vec<Duration>> = vec![Vec::new(); peers.len()];
    for _ in 0..20 {
        own.extend(ours.repeat(50, "read_file", &arguments, whole)?);
        for (index, client) in others.iter_mut().enumerate() {
            theirs[index].extend(client.repeat(50, peers[index].read, &arguments, whole)?);
        }
        for _ in 0..50 {
            limit.push(cat.turn()?);
        }
    }
    let own = Times::new(own);
    let named: Vec<(&str, Duration)> =
        peers.iter().zip(theirs).map(|(peer, times)| (peer.name, Times::new(times).median())).collect();
    row("small read p50, sequential", own.median(), &named, Some(("`cat`", Times::new(limit).median())));
    println!(
        "| small read p99 | {} | – | – | {:.1}× p50 |",
        human(own.at(99)),
        own.at(99).as_secs_f64() / own.median().as_secs_f64()
    );
    let rate = |time: Duration, count: usize| format!("{:.0}/s", count as f64 / time.as_secs_f64());
    let count = 5000;
    let own = rate(ours.flood(count, 64, "read_file", &arguments)?, count);
    let others: Vec<String> = others
        .iter_mut()
        .zip(&peers)
        .map(|(client, peer)| {
            Ok(format!("{} {}", peer.name, rate(client.flood(count, 64, peer.read, &arguments)?, count)))
        })
        .collect::<Result<_>>()?;
    println!("| small reads, 64 in flight | {own} | {} | – | – |", others.join(", "));
    Ok(())
}

fn large_reads(place: &Place) -> Result<()> {
    let line = "0123456789 a line of text that is about eighty characters long, more or less ok\n";
    let ten = place.root().join("ten.txt");
    std::fs::write(&ten, line.repeat(10_000_000 / line.len()))?;
    let lines = 100_000_000 / line.len();
    let hundred = place.root().join("hundred.txt");
    let mut text = String::with_capacity(100_000_000);
    for n in 0..lines {
        writeln!(text, "{n:010} {}", &line[11..line.len() - 1])?;
    }
    std::fs::write(&hundred, text)?;
    let flags = ["--max-bytes", "52428800", "--max-result-chars", "1000000"];
    let (mut ours, _) = Client::start(&place.ours("code_maintainer", &flags))?;
    let arguments = json!({"path": ten, "max_bytes": 50 << 20});
    // The text of one result is bounded; what is measured is reading and hashing all of it.
    let own = Times::new(ours.repeat(7, "read_file_raw", &arguments, |result| {
        result["structuredContent"]["data"]["size_bytes"] == ten.metadata().map_or(0, |meta| meta.len())
    })?);
    let cat = Times::new((0..7).map(|_| timed(&["cat", &ten.to_string_lossy()])).collect::<Result<_>>()?);
    row(
        "10 MB read, digest of all, 1 M characters returned",
        own.median(),
        &[],
        Some(("`cat`", cat.median())),
    );
    let from = lines - 150;
    let arguments = json!({"path": hundred, "start_line": from + 1, "end_line": from + 100});
    let exact = |result: &Value| {
        let text = text_of(result);
        text.contains(&format!("{from:010} "))
            && text.contains(&format!("{:010} ", from + 99))
            && !text.contains(&format!("{:010} ", from + 100))
    };
    let first = ours.repeat(1, "read_file", &arguments, exact)?;
    let again = Times::new(ours.repeat(20, "read_file", &arguments, exact)?);
    let head = format!("head -n {} '{}' | tail -n 100", from + 100, hundred.display());
    let limit = Times::new((0..3).map(|_| timed(&["sh", "-c", &head])).collect::<Result<_>>()?);
    row(
        "100 lines near the end of 100 MB, first time",
        first[0],
        &[],
        Some(("`head | tail`", limit.median())),
    );
    row("the same range again", again.median(), &[], None);
    Ok(())
}

/// The time of a program whose output goes nowhere.
fn timed(argv: &[&str]) -> Result<Duration> {
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "the limits are programs; each is waited for")]
    let output = Command::new(argv[0]).args(&argv[1..]).output()?;
    ensure!(output.status.success(), "{argv:?}");
    Ok(began.elapsed())
}

fn edit(place: &Place) -> Result<()> {
    let path = place.root().join("edited.txt");
    let text: String = (0..1000)
        .map(|n| format!("line {n:04} of a file that has about sixty-four kilobytes, padded\n"))
        .collect();
    std::fs::write(&path, &text)?;
    let peers = place.peers();
    let flags = ["--write", "--confirm-file-changes=false"];
    let (mut ours, _) = Client::start(&place.ours("code_writer", &flags))?;
    let mut others: Vec<Client> =
        peers.iter().map(|peer| Ok(Client::start(peer)?.0)).collect::<Result<_>>()?;
    let mut theirs: Vec<Vec<Duration>> = vec![Vec::new(); peers.len()];
    let (mut own, mut limit) = (Vec::new(), Vec::new());
    for n in 0..60 {
        let (old, new) =
            if n % 2 == 0 { ("line 0500 of", "LINE 0500 OF") } else { ("LINE 0500 OF", "line 0500 of") };
        std::fs::write(
            &path,
            if n % 2 == 0 { text.clone() } else { text.replace("line 0500 of", "LINE 0500 OF") },
        )?;
        let before = std::fs::read(&path)?;
        let began = Instant::now();
        let result = ours.call("edit_file", json!({"path": path, "old_string": old, "new_string": new}))?;
        own.push(began.elapsed());
        ensure!(result["structuredContent"]["data"]["warnings"] == json!([]), "{result}");
        ensure!(std::fs::read_to_string(&path)?.contains(new), "not edited");
        for (index, client) in others.iter_mut().enumerate() {
            std::fs::write(&path, &before)?;
            let edits = json!([{"oldText": old, "newText": new}]);
            let began = Instant::now();
            client.call(peers[index].edit, json!({"path": path, "edits": edits}))?;
            theirs[index].push(began.elapsed());
        }
        limit.push(bare_replace(&path, &before)?);
    }
    let named: Vec<(&str, Duration)> =
        peers.iter().zip(theirs).map(|(peer, times)| (peer.name, Times::new(times).median())).collect();
    row(
        "edit one line of 64 KB, with diff and change record",
        Times::new(own).median(),
        &named,
        Some(("write, fsync, rename", Times::new(limit).median())),
    );
    Ok(())
}

/// One durable replacement of a file: the least an atomic write can take.
fn bare_replace(path: &Path, bytes: &[u8]) -> Result<Duration> {
    use std::io::Write as _;
    let began = Instant::now();
    let draft = path.with_extension("draft");
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    std::fs::rename(&draft, path)?;
    std::fs::File::open(path.parent().context("no parent")?)?.sync_all()?;
    Ok(began.elapsed())
}

fn tree(place: &Place) -> Result<()> {
    let root = place.root().join("tree");
    let line = "fn something() { let value = compute(1, 2, 3); println!(\"{value}\"); } // filler filler\n";
    let body = line.repeat(2100 / line.len());
    for n in 0..place.tree_files {
        let dir = root.join(format!("d{:03}", n / 200));
        if n % 200 == 0 {
            std::fs::create_dir_all(&dir)?;
        }
        let text = if n % 1000 == 7 { format!("{body}needle_{n}\n") } else { body.clone() };
        std::fs::write(dir.join(format!("file_{n}.rs")), text)?;
    }
    let hits = place.tree_files.div_ceil(1000).min(200);
    let (mut ours, _) = Client::start(&place.ours("project_files", &[]))?;
    let search = json!({"query": "needle_", "path": "tree", "max_results": 200});
    let complete = |result: &Value| {
        let data = &result["structuredContent"]["data"];
        data["complete"] == true && data["matches"].as_array().is_some_and(|found| found.len() == hits)
    };
    ours.repeat(2, "search_text", &search, complete)?;
    let (mut own, mut limit) = (Vec::new(), Vec::new());
    let rg = Place::program(&["rg"]);
    for _ in 0..7 {
        own.extend(ours.repeat(1, "search_text", &search, complete)?);
        if let Some(rg) = &rg {
            limit.push(timed(&[&rg.to_string_lossy(), "-n", "needle_", &root.to_string_lossy()])?);
        }
    }
    let limit = (!limit.is_empty()).then(|| ("rg", Times::new(limit).median()));
    let size = place.tree_files;
    row(&format!("search {size} files, complete"), Times::new(own).median(), &[], limit);
    let find = json!({"pattern": "**/file_*7.rs", "path": "tree", "limit": 200});
    let sevens = (0..size).filter(|n| n % 10 == 7).count();
    let all = |result: &Value| result["structuredContent"]["data"]["total"] == sevens;
    ours.repeat(2, "find_files", &find, all)?;
    let fd = Place::program(&["fd", "fdfind"]);
    let (mut own, mut limit) = (Vec::new(), Vec::new());
    for _ in 0..7 {
        own.extend(ours.repeat(1, "find_files", &find, all)?);
        if let Some(fd) = &fd {
            limit.push(timed(&[&fd.to_string_lossy(), "-g", "file_*7.rs", &root.to_string_lossy()])?);
        }
    }
    let limit = (!limit.is_empty()).then(|| ("fd", Times::new(limit).median()));
    row(&format!("find by name in {size} files, complete"), Times::new(own).median(), &[], limit);
    Ok(())
}
