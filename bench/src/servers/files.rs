//! Reads, edits, search and listing.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::Place;
use super::contest::Contest;
use super::peer::Kind;
use super::start::Echo;
use super::table::{Bar, row, words};
use crate::measure::{Times, human, ratio};

pub(crate) fn run(place: &Place) -> Result<()> {
    small_reads(place)?;
    whole_file(place)?;
    far_lines(place)?;
    edit(place)?;
    tree(place)
}

/// Everything a reply says.
fn text_of(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}

fn small_reads(place: &Place) -> Result<()> {
    let path = place.root().join("small.txt");
    std::fs::write(&path, "a line of text\n".repeat(20))?;
    let whole = |_: Kind, result: &Value| text_of(result).matches("a line of text").count() >= 20;
    let mut contest = Contest::new(&place.ours("project_files", &[]), &place.peers())?;
    let mut cat = Echo::start()?;
    let read = |kind: Kind, client: &mut super::client::Client| Some(kind.read(client, &path));
    let outcome = contest.run(20, 50, read, whole, || cat.turn())?;
    let (own, limit) = (outcome.ours.median(), outcome.limit.median());
    let must = Bar::rust(own, outcome.of(Kind::Rust), 1.25);
    let late = ratio(outcome.ours.at(99), own);
    let aim = Bar::times(own, limit, 1.5).and(Some(Bar::new("p99 ≤ 3× p50", late <= 3.0)));
    row("small read p50, sequential", own, &outcome.peers, Some(("`cat`", limit)), must, Some(aim));
    let p99 = human(outcome.ours.at(99));
    words("small read p99", &p99, "", "", &format!("{late:.1}× p50"), None, None);
    in_flight(&path, &mut contest, &mut cat)
}

fn in_flight(path: &Path, contest: &mut Contest, cat: &mut Echo) -> Result<()> {
    const COUNT: usize = 2000;
    let per_second = |time: Duration| COUNT as f64 / time.as_secs_f64();
    let mut rates: Vec<(Kind, Vec<f64>)> = Vec::new();
    let mut limit = Vec::new();
    for _ in 0..3 {
        for (kind, client) in contest.all() {
            // It needs seconds for what the others do in one.
            let count = if *kind == Kind::Commander { COUNT / 10 } else { COUNT };
            let tool = match kind {
                Kind::Ours | Kind::Commander => "read_file",
                Kind::Official | Kind::Rust => "read_text_file",
            };
            let time = client.flood(count, 64, tool, &json!({ "path": path }))?;
            let rate = per_second(time) * count as f64 / COUNT as f64;
            match rates.iter_mut().find(|(known, _)| known == kind) {
                Some((_, rates)) => rates.push(rate),
                None => rates.push((*kind, vec![rate])),
            }
        }
        limit.push(per_second(cat.flood(COUNT, 64)?));
    }
    let middle = |rates: &mut Vec<f64>| {
        rates.sort_unstable_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    let limit = middle(&mut limit);
    let mut medians: Vec<(Kind, f64)> =
        rates.iter_mut().map(|(kind, rates)| (*kind, middle(rates))).collect();
    let (_, own) = medians.remove(0);
    let peers: Vec<String> =
        medians.iter().map(|(kind, rate)| format!("{} {rate:.0}/s", kind.name())).collect();
    let rust = medians.iter().find(|(kind, _)| *kind == Kind::Rust).map(|(_, rate)| *rate);
    let must = rust.map(|rust| Bar::new("≥ 1× rust-mcp-fs", own >= rust));
    let aim = Bar::new("≥ 2/3 of limit", own >= limit * 2.0 / 3.0);
    let (ours, share) = (format!("{own:.0}/s"), format!("{:.2}×", own / limit));
    let limit = format!("`cat` {limit:.0}/s");
    words("small reads, 64 in flight", &ours, &peers.join(", "), &limit, &share, must, Some(aim));
    Ok(())
}

const LINE: &str = "0123456789 a line of text that is about eighty characters long, more or less ok\n";

fn whole_file(place: &Place) -> Result<()> {
    let path = place.root().join("ten.txt");
    let lines = 10_000_000 / LINE.len();
    std::fs::write(&path, LINE.repeat(lines))?;
    let size = path.metadata()?.len();
    // What one result may hold is bounded with us: the file is read in as few parts as there are.
    let flags = ["--max-bytes", "52428800", "--max-result-chars", "1000000"];
    let mut contest = Contest::new(&place.ours("code_maintainer", &flags), &place.peers())?;
    let outcome = contest.run(
        7,
        1,
        |kind, client| match kind {
            Kind::Ours => Some(in_parts(client, &path)),
            Kind::Commander => Some(client.call("read_file", json!({ "path": path, "length": lines + 1 }))),
            Kind::Official | Kind::Rust => Some(kind.read(client, &path)),
        },
        |kind, reply| match kind {
            Kind::Ours => reply["bytes"] == size,
            _ => text_of(reply).len() as u64 >= size,
        },
        || timed(&["cat", &path.to_string_lossy()]),
    )?;
    let (own, limit) = (outcome.ours.median(), outcome.limit.median());
    let must = Bar::rust(own, outcome.of(Kind::Rust), 1.0);
    let aim = Bar::times(own, limit, 3.5);
    row("read 10 MB, whole", own, &outcome.peers, Some(("`cat`", limit)), must, Some(aim));
    Ok(())
}

/// All parts of a file; the bytes that came.
fn in_parts(client: &mut super::client::Client, path: &Path) -> Result<Value> {
    let mut bytes = 0;
    loop {
        let part =
            client.call("read_file_raw", json!({ "path": path, "offset": bytes, "max_bytes": 990_000 }))?;
        let text = part["content"][0]["text"].as_str().context("no text")?;
        let cut = part["_meta"]["chatos"]["truncated"][0]["next"]["offset"].as_u64();
        match cut {
            Some(next) => bytes = next,
            None => return Ok(json!({ "bytes": bytes + text.len() as u64 })),
        }
    }
}

fn far_lines(place: &Place) -> Result<()> {
    let lines = 100_000_000 / LINE.len();
    let path = place.root().join("hundred.txt");
    let mut text = String::with_capacity(100_000_000);
    for n in 0..lines {
        writeln!(text, "{n:010} {}", &LINE[11..LINE.len() - 1])?;
    }
    std::fs::write(&path, text)?;
    let from = lines - 150;
    let exact = |result: &Value| {
        let text = text_of(result);
        text.contains(&format!("{from:010} "))
            && text.contains(&format!("{:010} ", from + 99))
            && !text.contains(&format!("{:010} ", from + 100))
            && !text.contains(&format!("{:010} ", from - 1))
    };
    let head = format!("head -n {} '{}' | tail -n 100", from + 100, path.display());
    let peers = place.peers();
    let (mut first, mut again, mut limit) = (Vec::new(), Vec::new(), Vec::new());
    let mut theirs: Vec<(Kind, Option<Vec<Duration>>)> = Vec::new();
    for _ in 0..5 {
        // A server that has not seen the file yet.
        let (mut ours, _) = super::client::Client::start(&place.ours("project_files", &[]))?;
        for times in [&mut first, &mut again] {
            let began = Instant::now();
            let reply = Kind::Ours.lines(&mut ours, &path, from, 100).context("lines")??;
            times.push(began.elapsed());
            ensure!(exact(&reply), "not the lines that were asked for");
        }
        for peer in &peers {
            let (mut client, _) = super::client::Client::start(peer)?;
            let began = Instant::now();
            let Some(reply) = peer.kind.lines(&mut client, &path, from, 100) else { continue };
            let time = reply.is_ok_and(|reply| exact(&reply)).then(|| began.elapsed());
            match theirs.iter_mut().find(|(kind, _)| *kind == peer.kind) {
                None => theirs.push((peer.kind, time.map(|time| vec![time]))),
                Some((_, times)) => match (times.as_mut(), time) {
                    (Some(times), Some(time)) => times.push(time),
                    _ => *times = None,
                },
            }
        }
        limit.push(timed(&["sh", "-c", &head])?);
    }
    let theirs: Vec<(Kind, Option<Duration>)> = theirs
        .into_iter()
        .map(|(kind, times)| (kind, times.map(|times| Times::new(times).median())))
        .collect();
    let (own, limit) = (Times::new(first).median(), Times::new(limit).median());
    let must = Bar::times(own, limit, 0.4);
    row(
        "100 lines near the end of 100 MB, exact",
        own,
        &theirs,
        Some(("`head | tail`", limit)),
        Some(must),
        None,
    );
    let again = Times::new(again).median();
    let aim = Bar::at_most(again, Duration::from_millis(1));
    row("the same range again", again, &[], None, None, Some(aim));
    std::fs::remove_file(&path)?;
    Ok(())
}

/// The time of a program whose output is read to its end.
pub(crate) fn timed(argv: &[&str]) -> Result<Duration> {
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "the limits are programs; each is waited for")]
    let output = Command::new(argv[0]).args(&argv[1..]).output()?;
    ensure!(output.status.success(), "{argv:?}");
    Ok(began.elapsed())
}

fn edit(place: &Place) -> Result<()> {
    let path = place.root().join("edited.txt");
    let lines: String = (1..1000)
        .map(|n| format!("line {n:04} of a file that has about sixty-four kilobytes, padded\n"))
        .collect();
    // Other contents each time: what a server has kept already must not help it.
    let round = std::cell::Cell::new(0_u32);
    let text = || {
        round.set(round.get() + 1);
        format!("line 0000 of the edit {:04} in a file of sixty-four kilobytes\n{lines}", round.get())
    };
    let flags = ["--write", "--confirm-file-changes=false"];
    let mut contest = Contest::new(&place.ours("code_writer", &flags), &place.peers())?;
    let outcome = contest.run(
        40,
        1,
        |kind, client| {
            // Put back beside the clock's view would be better still; it costs the same for all.
            let prepared = std::fs::write(&path, text()).map_err(Into::into);
            Some(prepared.and_then(|()| kind.edit(client, &path, "line 0500 of", "LINE 0500 OF")))
        },
        |kind, reply| {
            let edited = std::fs::read_to_string(&path).is_ok_and(|text| text.contains("LINE 0500 OF"));
            edited && (kind != Kind::Ours || reply["structuredContent"]["data"]["warnings"] == json!([]))
        },
        || {
            let text = text();
            std::fs::write(&path, &text)?;
            bare_replace(&path, text.as_bytes())
        },
    )?;
    let (own, limit) = (outcome.ours.median(), outcome.limit.median());
    let rust = outcome.of(Kind::Rust);
    let name = Some(("write, fsync, rename", limit));
    let (must, aim) = (Bar::rust(own, rust, 1.5), Bar::rust(own, rust, 1.0));
    row("edit one line of 64 KB, with diff and change record", own, &outcome.peers, name, must, aim);
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
    let size = place.tree_files;
    for n in 0..size {
        let dir = root.join(format!("d{:03}", n / 200));
        if n % 200 == 0 {
            std::fs::create_dir_all(&dir)?;
        }
        let text = if n % 1000 == 7 { format!("{body}needle_{n}\n") } else { body.clone() };
        std::fs::write(dir.join(format!("file_{n}.rs")), text)?;
    }
    let hits = (0..size).filter(|n| n % 1000 == 7).count();
    let sevens = (0..size).filter(|n| n % 10 == 7).count();
    let mut contest = Contest::new(&place.ours("project_files", &[]), &place.peers())?;
    let place_of = root.to_string_lossy().into_owned();
    let bare = |argv: Vec<&str>| timed(&argv);

    let rg = Place::program(&["rg"]).context("rg is not on PATH")?.to_string_lossy().into_owned();
    let searched = contest.run(
        7,
        1,
        |kind, client| kind.search(client, &root, "needle_"),
        |kind, reply| {
            let whole = kind != Kind::Ours || reply["structuredContent"]["data"]["complete"] == true;
            whole && text_of(reply).matches("needle_").count() >= hits
        },
        || bare(vec![&rg, "-n", "needle_", &place_of]),
    )?;
    let (own, limit) = (searched.ours.median(), searched.limit.median());
    let (must, aim) = (Bar::times(own, limit, 1.5), Bar::times(own, limit, 1.1));
    let name = format!("search {size} files, complete");
    row(&name, own, &searched.peers, Some(("rg", limit)), Some(must), Some(aim));

    let fd = Place::program(&["fd", "fdfind"]).context("fd is not on PATH")?.to_string_lossy().into_owned();
    let found = contest.run(
        5,
        1,
        |kind, client| Some(kind.find(client, &root, "file_*7.rs")),
        |kind, reply| match kind {
            Kind::Ours => reply["structuredContent"]["data"]["total"] == sevens,
            _ => text_of(reply).matches("7.rs").count() >= sevens,
        },
        || bare(vec![&fd, "-g", "file_*7.rs", &place_of]),
    )?;
    let (own, limit) = (found.ours.median(), found.limit.median());
    let (must, aim) = (Bar::times(own, limit, 2.0), Bar::times(own, limit, 1.2));
    let name = format!("find by name in {size} files, complete");
    row(&name, own, &found.peers, Some(("fd", limit)), Some(must), Some(aim));

    let entries = size + size.div_ceil(200);
    let listed = contest.run(
        5,
        1,
        |kind, client| Some(kind.tree(client, &root)),
        |kind, reply| match kind {
            Kind::Ours => reply["structuredContent"]["data"]["total"] == entries,
            _ => text_of(reply).matches(".rs").count() >= size,
        },
        || bare(vec![&fd, ".", &place_of]),
    )?;
    let (own, limit) = (listed.ours.median(), listed.limit.median());
    let (must, aim) = (Bar::times(own, limit, 2.0), Bar::times(own, limit, 1.2));
    let name = format!("tree of {size} files, counted whole");
    row(&name, own, &listed.peers, Some(("fd", limit)), Some(must), Some(aim));
    Ok(())
}
