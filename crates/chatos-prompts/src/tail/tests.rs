//! The reading table of `ui-prompts §3.3`, row by row, and the same bytes cut at every place.

use super::*;
use crate::entry::Action;

#[derive(Debug, Default, PartialEq, Eq, Clone)]
struct Seen {
    entries: Vec<(u64, String, bool)>,
    faults: Vec<(u64, &'static str)>,
}

impl Sink for Seen {
    fn entry(&mut self, at: u64, raw: &[u8], head: &Head<'_>) {
        assert!(raw.starts_with(b"{") && raw.ends_with(b"}"));
        self.entries.push((at, head.id.to_string(), head.action == Action::Request));
    }

    fn fault(&mut self, at: u64, fault: LineFault) {
        self.faults.push((at, fault.as_str()));
    }
}

fn read(bytes: &[u8]) -> Seen {
    let mut seen = Seen::default();
    let mut tail = Tail::default();
    tail.feed(bytes, &mut seen);
    tail.settle(&mut seen);
    assert_eq!(tail.offset(), bytes.len() as u64);
    seen
}

// Cut anywhere, and byte by byte, with a settle in between: the same entries, each once.
fn check(bytes: &[u8], ids: &[&str], faults: &[&str]) {
    let whole = read(bytes);
    let got: Vec<&str> = whole.entries.iter().map(|(_, id, _)| id.as_str()).collect();
    assert_eq!(got, ids, "{}", String::from_utf8_lossy(bytes));
    let got: Vec<&str> = whole.faults.iter().map(|(_, f)| *f).collect();
    assert_eq!(got, faults, "{}", String::from_utf8_lossy(bytes));
    for cut in 0..=bytes.len() {
        let mut seen = Seen::default();
        let mut tail = Tail::default();
        for piece in [&bytes[..cut], &bytes[cut..]] {
            tail.feed(piece, &mut seen);
            tail.settle(&mut seen);
        }
        assert_eq!(seen, whole, "cut at {cut}");
    }
    let mut seen = Seen::default();
    let mut tail = Tail::default();
    for byte in bytes {
        tail.feed(&[*byte], &mut seen);
        tail.settle(&mut seen);
    }
    assert_eq!(seen, whole, "byte by byte");
}

fn req(id: &str) -> String {
    format!(
        r#"{{"ts":"2026-01-11T00:00:00.000Z","type":"ui_prompt","action":"request","requestId":"{id}","prompt":{{"kind":"kv","title":"中","fields":[{{"key":"a"}}]}}}}"#
    )
}

fn res(id: &str) -> String {
    format!(r#"{{"type":"ui_prompt","action":"response","requestId":"{id}","response":{{"status":"ok"}}}}"#)
}

#[test]
fn plain_lines() {
    check(format!("{}\n{}\n", req("a"), res("a")).as_bytes(), &["a", "a"], &[]);
    check(b"", &[], &[]);
    check(b"\n\n  \n", &[], &[]);
}

#[test]
fn a_last_line_without_newline_counts_once() {
    check(req("a").as_bytes(), &["a"], &[]);
    check(format!("{}\n{}", req("a"), req("b")).as_bytes(), &["a", "b"], &[]);
    let unfinished = req("a");
    check(&unfinished.as_bytes()[..unfinished.len() - 1], &[], &[]);
}

#[test]
fn several_objects_on_a_line() {
    check(format!("{}{}\n", req("a"), res("a")).as_bytes(), &["a", "a"], &["glued"]);
    check(
        format!("{} \t{}{}", req("a"), req("b"), req("c")).as_bytes(),
        &["a", "b", "c"],
        &["glued", "glued"],
    );
}

#[test]
fn a_torn_front_is_salvaged_behind() {
    let torn = req("torn");
    let line = format!("{}{}\n{}\n", &torn[..40], req("a"), req("b"));
    check(line.as_bytes(), &["a", "b"], &["bad_json", "salvaged"]);
    let two = format!("{}{}{}\n", &torn[..60], req("a"), res("a"));
    check(two.as_bytes(), &["a", "a"], &["bad_json", "salvaged", "salvaged"]);
    let front = format!("{}{}{}\n", req("x"), &torn[..60], req("a"));
    check(front.as_bytes(), &["x", "a"], &["bad_json", "salvaged"]);
}

#[test]
fn a_tear_inside_a_character_hides_only_itself() {
    let torn = req("torn");
    let cut = torn.find('中').unwrap() + 1;
    let mut bytes = torn.as_bytes()[..cut].to_vec();
    bytes.extend_from_slice(format!("{}\n{}\n", req("a"), req("b")).as_bytes());
    check(&bytes, &["a", "b"], &["bad_utf8", "salvaged"]);
}

#[test]
fn a_glued_entry_with_many_inner_objects_is_found() {
    let options: Vec<String> = (0..200).map(|i| format!(r#"{{"value":"{i}"}}"#)).collect();
    let big = format!(
        r#"{{"type":"ui_prompt","action":"request","requestId":"big","prompt":{{"kind":"choice","options":[{}]}}}}"#,
        options.join(",")
    );
    let seen = read(format!("{}{big}\n", &req("torn")[..30]).as_bytes());
    assert_eq!(seen.entries.len(), 1);
    assert_eq!(seen.entries[0].1, "big");
}

#[test]
fn crlf_bom_and_nuls_are_stripped() {
    check(format!("\u{feff}{}\r\n{}\r\n", req("a"), req("b")).as_bytes(), &["a", "b"], &[]);
    check(format!("\0\0\0\u{feff}{}\n\0\0{}\0\0\n", req("a"), req("b")).as_bytes(), &["a", "b"], &[]);
    check(format!("{}\0\0\0{}\n", req("a"), req("b")).as_bytes(), &["a", "b"], &["glued"]);
    check(b"\0\0\0\0\n", &[], &[]);
}

#[test]
fn bad_lines_hide_nothing_else() {
    for (line, fault) in [
        (&b"not json"[..], "bad_json"),
        (b"[1,2]", "bad_json"),
        (b"\"text\"", "bad_json"),
        (b"null", "bad_json"),
        (b"{\"a\":1", "bad_json"),
        (b"{\"type\":\"ui_prompt\",\"x\":\"\xff\xfe\"}", "bad_utf8"),
        (b"{\"type\":\"ui_prompt\"}", "bad_entry"),
        (br#"{"type":"ui_prompt","action":"ask","requestId":"x","prompt":{}}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"request","requestId":" ","prompt":{}}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"request","requestId":7,"prompt":{}}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"request","requestId":"a\u0007","prompt":{}}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"request","requestId":"a\ud800","prompt":{}}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"request","requestId":"x","prompt":[]}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"response","requestId":"x","response":"ok"}"#, "bad_entry"),
        (br#"{"type":"ui_prompt","action":"response","requestId":"x","response":{}}"#, "bad_entry"),
        (
            br#"{"type":"ui_prompt","action":"response","requestId":"x","response":{"status":""}}"#,
            "bad_entry",
        ),
        (br#"{"type":"ui_prompt","action":"response","requestId":"x","response":{"status":1}}"#, "bad_entry"),
    ] {
        let mut bytes = line.to_vec();
        bytes.extend_from_slice(format!("\n{}\n", req("a")).as_bytes());
        check(&bytes, &["a"], &[fault]);
    }
}

#[test]
fn other_types_are_ignored_in_silence() {
    check(format!("{{\"type\":\"note\"}}\n{{}}\n{{\"type\":5}}\n{}\n", req("a")).as_bytes(), &["a"], &[]);
}

#[test]
fn deep_nesting_is_one_bad_line() {
    let mut bytes = vec![b'['; 200_000];
    bytes.splice(0..0, br#"{"type":"ui_prompt","a":"#.iter().copied());
    bytes.extend_from_slice(format!("\n{}\n", req("a")).as_bytes());
    let seen = read(&bytes);
    assert_eq!(seen.faults, [(0, "bad_json")]);
    assert_eq!(seen.entries.len(), 1);
}

#[test]
fn an_endless_line_costs_constant_memory() {
    let mut tail = Tail::default();
    let mut seen = Seen::default();
    let chunk = vec![b'x'; 1 << 20];
    tail.feed(b"{\"a\":\"", &mut seen);
    for _ in 0..100 {
        tail.feed(&chunk, &mut seen);
        tail.settle(&mut seen);
        assert!(tail.carry.capacity() <= 2 * MAX_LINE + (2 << 20));
    }
    tail.feed(format!("\"}}\n{}\n", req("a")).as_bytes(), &mut seen);
    assert_eq!(seen.faults, [(0, "too_long")]);
    assert_eq!(seen.entries.len(), 1);
    assert_eq!(seen.entries[0].1, "a");
}

#[test]
fn exactly_the_limit_is_read_and_one_byte_more_is_not() {
    let line = |total: usize| {
        let frame = r#"{"type":"ui_prompt","action":"request","requestId":"a","prompt":{"kind":"result","markdown":""}}"#;
        let text = "x".repeat(total - frame.len());
        frame.replace(r#""markdown":"""#, &format!(r#""markdown":"{text}""#)) + "\n"
    };
    assert_eq!(read(line(MAX_LINE).as_bytes()).entries.len(), 1);
    let over = read(line(MAX_LINE + 1).as_bytes());
    // Whole at the front of the line when its limit is passed: taken, and noted as too long.
    assert_eq!(over.faults, [(0, "too_long")]);
}

#[test]
fn a_slow_writer_is_not_scanned_again_and_again() {
    let inner: Vec<String> = (0..2000).map(|i| format!(r#"{{"k{i}":{{}}}}"#)).collect();
    let line = format!(
        r#"{{"type":"ui_prompt","action":"request","requestId":"slow","prompt":{{"kind":"result","content":[{}]}}}}"#,
        inner.join(",")
    );
    let mut tail = Tail::default();
    let mut seen = Seen::default();
    for byte in line.as_bytes() {
        tail.feed(&[*byte], &mut seen);
        tail.settle(&mut seen);
    }
    assert_eq!(seen.entries.len(), 1);
}
