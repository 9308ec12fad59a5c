//! Blocks give what plain feeding gives, whatever stands at their edges.

use std::io::Write;

use chatos_lines::DiskFs;

use super::*;

#[derive(Debug, Default, PartialEq)]
struct Seen(Vec<String>);

impl Sink for Seen {
    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
        let head = Head { hash: None, repeats: false, ..head.clone() };
        self.0.push(format!("{at} {} {head:?}", raw.len()));
    }

    fn fault(&mut self, at: u64, fault: LineFault) {
        self.0.push(format!("{at} {fault:?}"));
    }
}

fn plainly(bytes: &[u8]) -> Seen {
    let mut seen = Seen::default();
    let mut tail = Tail::default();
    tail.feed(bytes, &mut seen);
    tail.settle(&mut seen);
    seen
}

fn in_blocks(bytes: &[u8], size: u64, threads: usize) -> (Seen, u64) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let mut seen = Seen::default();
    let mut tail = Tail::default();
    let long = Long { fs: &DiskFs, file: &file, end: size, hasher: IdHasher::default(), threads };
    let mut steps = 0;
    long.read(&mut tail, &mut seen, |_, _| steps += 1).unwrap();
    tail.settle(&mut seen);
    assert!(steps > 0);
    (seen, tail.offset())
}

fn request(id: &str, run: &str, title: &str) -> String {
    format!(
        r#"{{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"{id}","runId":"{run}","prompt":{{"kind":"kv","title":"{title}"}}}}"#
    )
}

// Some three blocks of everything a log may hold.
fn log() -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..9_000 {
        let line = request(&format!("a{i}"), &format!("run{}", i / 7), &"标".repeat(i % 40));
        match i % 50 {
            10 => bytes.extend_from_slice(&line.as_bytes()[..line.len() / 2]),
            20 => bytes.extend_from_slice(line.as_bytes()),
            30 => bytes.extend_from_slice(format!("\0\0{line} \r\n").as_bytes()),
            31 => bytes.extend_from_slice(b"\xff\n\n[]\n{\"type\":\"other\"}\n"),
            32 => bytes.extend_from_slice(line.replace("\"runId\"", "\"x\":1,\"runId\"").as_bytes()),
            33 => bytes.extend_from_slice(
                format!(
                    "{}\n",
                    line.replace("request\"", "response\"")
                        .replace("\"prompt\":{", "\"response\":{\"status\":\"ok\",")
                )
                .as_bytes(),
            ),
            _ => bytes.extend_from_slice(format!("{line}\n").as_bytes()),
        }
        // A line longer than two blocks.
        if i == 4_000 {
            bytes.extend_from_slice(format!("{}\n", request("long", "r", &"x".repeat(3 * BLOCK))).as_bytes());
        }
    }
    bytes
}

#[test]
fn the_same_entries_and_faults_in_the_same_order() {
    let bytes = log();
    assert!(bytes.len() > 5 * BLOCK);
    let expected = plainly(&bytes);
    for threads in [1, 3] {
        let (seen, end) = in_blocks(&bytes, bytes.len() as u64, threads);
        assert_eq!(end, bytes.len() as u64);
        assert!(seen == expected, "{threads} threads");
    }
}

#[test]
fn newlines_at_the_edges_of_blocks() {
    for shift in 0..4 {
        let mut bytes = Vec::new();
        let mut i = 0;
        while bytes.len() < 3 * BLOCK {
            let line = format!("{}\n", request(&format!("b{i}"), "r", ""));
            let edge = bytes.len().next_multiple_of(BLOCK);
            // The last line before an edge ends just before, at, or just after it.
            if bytes.len() + 2 * line.len() > edge && bytes.len() + line.len() < edge {
                let title = "y".repeat(edge + shift - 1 - bytes.len() - line.len());
                bytes.extend_from_slice(format!("{}\n", request(&format!("b{i}"), "r", &title)).as_bytes());
            } else {
                bytes.extend_from_slice(line.as_bytes());
            }
            i += 1;
        }
        let (seen, _) = in_blocks(&bytes, bytes.len() as u64, 2);
        assert!(seen == plainly(&bytes), "shift {shift}");
        assert_eq!(seen.0.len(), i);
    }
}

#[test]
fn a_file_without_newlines_and_one_that_got_shorter() {
    let endless = vec![b'x'; 3 * BLOCK];
    let (seen, end) = in_blocks(&endless, endless.len() as u64, 2);
    assert_eq!((seen, end), (plainly(&endless), endless.len() as u64));
    let bytes = log();
    let (seen, end) = in_blocks(&bytes, bytes.len() as u64 + 4 * BLOCK as u64, 2);
    assert_eq!(end, bytes.len() as u64, "stops where the file ends now");
    assert!(seen == plainly(&bytes));
}

#[test]
fn an_unreadable_block_is_an_error_and_nobody_waits_for_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    std::fs::write(&path, log()).unwrap();
    let file = File::options().append(true).open(&path).unwrap();
    let long =
        Long { fs: &DiskFs, file: &file, end: 5 * BLOCK as u64, hasher: IdHasher::default(), threads: 2 };
    // Opened for writing only.
    let error = long.read(&mut Tail::default(), &mut Seen::default(), |_, _| ()).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(9), "{error}");
}
