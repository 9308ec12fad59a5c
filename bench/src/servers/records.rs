//! Tasks and journal, end to end over stdio, at sizes that must not matter.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::Place;
use super::client::Client;
use super::table::{Bar, row};
use crate::measure::Times;

pub(crate) fn run(place: &Place) -> Result<()> {
    tasks(place)?;
    journal(place)
}

fn tasks(place: &Place) -> Result<()> {
    let (mut client, _) = Client::start(&place.ours("task_manager", &[]))?;
    let mut total = 0;
    for size in [100, 10_000] {
        while total < size {
            let batch: Vec<_> =
                (0..100.min(size - total)).map(|n| json!({"title": format!("task {total} {n}")})).collect();
            total += batch.len();
            client.call("add_task", json!({ "tasks": batch }))?;
        }
        let (mut times, written) = (Vec::new(), client.written()?);
        for n in 0..200 {
            let began = Instant::now();
            let arguments = json!({"title": "one more", "details": "enough details for a task", "dedupe_key": format!("{size}-{n}")});
            let added = client.call("add_task", arguments)?;
            times.push(began.elapsed());
            total += 1;
            ensure!(added["structuredContent"]["data"]["open"] == total, "{added}");
        }
        let bytes = (client.written()? - written) / 200;
        let own = Times::new(times).median();
        let must = Bar::at_most(own, Duration::from_micros(500));
        let aim = Bar::new("≤ 8 KB written", bytes <= 8192);
        row(
            &format!("add a task with a key at {size} tasks ({bytes} B written each)"),
            own,
            &[],
            Some(("write, fsync", durable_write(place)?)),
            Some(must),
            Some(aim),
        );
    }
    Ok(())
}

/// One durable append of a page: what a commit cannot go below.
fn durable_write(place: &Place) -> Result<Duration> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(place.dir.path().join("durable"))?;
    let mut times = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        times.push(began.elapsed());
    }
    Ok(Times::new(times).median())
}

fn journal(place: &Place) -> Result<()> {
    let (mut client, _) = Client::start(&place.ours("project_journal", &[]))?;
    let mut total: usize = 0;
    for size in [1_000_usize, 100_000] {
        let arguments =
            json!({"summary": "did something that took a while and is worth a line", "tags": ["bench"]});
        client.flood(size - total, 64, "add_exec_log", &arguments)?;
        total = size;
        let times = client.repeat(200, "list_exec_logs", &json!({}), |result| {
            let data = &result["structuredContent"]["data"];
            data["total"] == total && data["logs"].as_array().is_some_and(|logs| logs.len() == 10)
        })?;
        let own = Times::new(times).median();
        let must = Bar::at_most(own, Duration::from_micros(500));
        row(&format!("journal: last 10 of {size}"), own, &[], None, Some(must), None);
    }
    Ok(())
}
