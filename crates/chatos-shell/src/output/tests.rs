//! Capturing, fitting and laying out.

use super::*;

fn capture(room: usize, pieces: &[&[u8]]) -> Capture {
    let mut capture = Capture::new(room);
    for piece in pieces {
        capture.push(piece);
    }
    capture
}

#[test]
fn small_output_is_whole() {
    let printed = capture(1000, &[b"one\n", b"two\n", b"three"]).finish(&Redactor::new());
    let stream = printed.stream(1000, Lang::En);
    assert_eq!(stream.text, "one\ntwo\nthree");
    assert_eq!((stream.bytes, stream.lines, stream.truncated), (13, 3, false));
}

#[test]
fn output_between_head_and_tail_room_joins_without_a_seam() {
    let text: String = (0..50).map(|n| format!("line {n}\n")).collect();
    for piece in [1, 7, 64, 1000] {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(piece).collect();
        let printed = capture(text.len(), &pieces).finish(&Redactor::new());
        assert_eq!(printed.stream(10_000, Lang::En).text, text);
    }
}

#[test]
fn a_flood_keeps_its_ends_in_bounded_memory_and_says_what_is_missing() {
    let mut flood = Capture::new(64 << 10);
    let mut lines = 0_u64;
    let mut bytes = 0_u64;
    while bytes < 20 << 20 {
        let line = format!("{lines:07} some text of a line\n");
        flood.push(line.as_bytes());
        lines += 1;
        bytes += line.len() as u64;
    }
    assert!(flood.head.capacity() + flood.tail.capacity() < 256 << 10);
    let stream = flood.finish(&Redactor::new()).stream(1 << 20, Lang::En);
    assert!(stream.text.starts_with("0000000 some text"));
    assert!(stream.text.ends_with(&format!("{:07} some text of a line\n", lines - 1)));
    assert_eq!((stream.bytes, stream.lines, stream.truncated), (bytes, lines, true));
    let shown = stream.text.lines().filter(|line| line.ends_with("of a line")).count() as u64;
    assert_eq!(shown + stream.omitted_lines, lines);
    assert!(
        stream.text.contains(&format!(
            "[… {} bytes, {} lines omitted …]",
            stream.omitted_bytes, stream.omitted_lines
        ))
    );
}

#[test]
fn a_cut_leaves_whole_characters() {
    let text = "中".repeat(10_000);
    let printed = capture(1000, &[text.as_bytes()]).finish(&Redactor::new());
    let stream = printed.stream(5000, Lang::Zh);
    assert!(!stream.text.contains('\u{fffd}'), "{}", stream.text);
    assert!(stream.truncated && stream.text.len() < 5000);
}

#[test]
fn fitting_keeps_both_ends() {
    let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
    let printed = capture(1 << 20, &[text.as_bytes()]).finish(&Redactor::new());
    for room in [200, 500, 2000] {
        let stream = printed.stream(room, Lang::En);
        assert!(stream.text.len() <= room, "{room}: {}", stream.text.len());
        assert!(stream.truncated && stream.text.ends_with("line 999\n"));
    }
    let mut small = Capture::new(4000);
    small.push(text.as_bytes());
    let printed = small.finish(&Redactor::new());
    let stream = printed.stream(1000, Lang::En);
    assert!(stream.text.starts_with("line 0\n") && stream.text.ends_with("line 999\n"));
    assert!(stream.text.len() <= 1000);
}

#[test]
fn binary_output_is_named_not_shown() {
    let printed = capture(1000, &[b"\x7fELF\0\0\0\x01", &[0; 500]]).finish(&Redactor::new());
    let stream = printed.stream(1000, Lang::En);
    assert_eq!(stream.text, "[binary output, 508 bytes]");
    assert!(stream.binary && stream.truncated);
}

#[test]
fn known_secrets_are_not_in_results() {
    let redactor = Redactor::new();
    redactor.learn("hunter2-hunter2");
    let printed = capture(1000, &[b"the word is hunter2-hunter2\n"]).finish(&redactor);
    assert_eq!(printed.stream(1000, Lang::En).text, "the word is [redacted:known]\n");
}

#[test]
fn room_is_shared_by_need() {
    assert_eq!(share(100, 10, 20), (10, 20));
    assert_eq!(share(100, 10, 500), (10, 90));
    assert_eq!(share(100, 500, 10), (90, 10));
    assert_eq!(share(100, 500, 500), (50, 50));
}
