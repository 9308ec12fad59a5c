//! Reading: ranges, cuts, encodings, large and changing files.

use super::*;
use crate::digest::Digest;
use crate::stop::Never;
use crate::testing::Fixture;
use crate::text::Eol;

const WIDE: RangeLimits = RangeLimits {
    max_bytes: 50 << 20,
    max_chars: 1 << 30,
    max_lines: None,
    line_chars: 100_000,
    numbered: false,
};

fn lines(f: &Fixture, path: &str, start: u64, end: Option<u64>, limits: &RangeLimits) -> ReadText {
    read_lines(&f.root, &ScanCache::default(), path, LineRange { start, end }, limits, &Never).unwrap()
}

#[test]
fn ranges_and_facts_of_small_files() {
    let f = Fixture::new();
    f.write("a", "one\r\ntwo\r\nthree").write("empty", "").write("lf", "x\n\ny\n");
    let read = lines(&f, "a", 2, None, &WIDE);
    assert_eq!((read.lines.text.as_str(), read.lines.start, read.lines.end), ("two\nthree", 2, 3));
    assert_eq!((read.scan.line_count, read.scan.eol, read.scan.size_bytes), (3, Eol::Crlf, 15));
    assert_eq!(read.scan.sha256, Some(Digest::of(b"one\r\ntwo\r\nthree")));
    let numbered = RangeLimits { numbered: true, ..WIDE };
    assert_eq!(lines(&f, "lf", 1, None, &numbered).lines.text, "     1 | x\n     2 | \n     3 | y\n");
    assert_eq!(lines(&f, "lf", 2, Some(99), &WIDE).lines.end, 3);
    let empty = lines(&f, "empty", 1, None, &WIDE);
    assert_eq!((empty.lines.text.as_str(), empty.scan.line_count, empty.lines.truncated()), ("", 0, false));
    let beyond =
        read_lines(&f.root, &ScanCache::default(), "lf", LineRange { start: 4, end: None }, &WIDE, &Never);
    assert!(matches!(beyond, Err(FileError::Invalid { key: "/start_line", .. })));
}

#[test]
fn every_limit_cuts_at_a_line_and_says_where_to_go_on() {
    let f = Fixture::new();
    let text: String = (1..=100).fold(String::new(), |all, n| format!("{all}line {n:03}\n"));
    f.write("t", &text);
    for limits in [
        RangeLimits { max_lines: Some(7), ..WIDE },
        RangeLimits { max_bytes: 65, ..WIDE },
        RangeLimits { max_chars: 65, ..WIDE },
    ] {
        let mut next = 1;
        let mut all = String::new();
        loop {
            let read = lines(&f, "t", next, None, &limits);
            assert_eq!(read.lines.start, next);
            all.push_str(&read.lines.text);
            if !read.lines.truncated() {
                break;
            }
            assert!(read.lines.omitted_bytes > 0);
            next = read.lines.end + 1;
        }
        assert_eq!(all, text, "{limits:?}");
    }
    let one = RangeLimits { max_bytes: 1, line_chars: 4, ..WIDE };
    let read = lines(&f, "t", 5, None, &one);
    assert_eq!((read.lines.text.as_str(), read.lines.end), ("line …(+4 chars)\n", 5));
}

#[test]
fn lines_around_chunk_borders_are_exact() {
    let f = Fixture::new();
    let mut text = String::new();
    let mut number = 0;
    while text.len() < 3 * CHUNK {
        number += 1;
        text.extend([&number.to_string(), " ", &"é".repeat(number % 97), "\n"]);
    }
    text.push_str(&"x".repeat(CHUNK + 17));
    f.write("big", &text);
    let all: Vec<&str> = text.split('\n').collect();
    let cache = ScanCache::default();
    // Settled, so that the second read uses what the first one learned.
    std::thread::sleep(std::time::Duration::from_millis(80));
    for round in 0..2 {
        for start in [1, 2, number / 3, number / 3 + 1, number / 2, number - 1, number, number + 1] {
            let range = LineRange { start: start as u64, end: Some(start as u64 + 2) };
            let limits = RangeLimits { line_chars: 1 << 20, ..WIDE };
            let read = read_lines(&f.root, &cache, "big", range, &limits, &Never).unwrap();
            let expected = all[start - 1..(start + 2).min(all.len())].join("\n");
            assert_eq!(read.lines.text.trim_end_matches('\n'), expected, "round {round} line {start}");
            assert_eq!(read.scan.line_count, number as u64 + 1);
        }
    }
    assert_eq!(scan(&f.root, &cache, "big", &Never).unwrap().1, Digest::of(text.as_bytes()));
}

#[test]
fn a_line_of_many_chunks_is_cut_without_being_held() {
    let f = Fixture::new();
    f.write("long", [vec![b'a'; 5 * CHUNK], b"\nend\n".to_vec()].concat());
    let limits = RangeLimits { line_chars: 10, ..WIDE };
    let read = lines(&f, "long", 1, None, &limits);
    assert_eq!(read.lines.text, format!("aaaaaaaaaa …(+{} chars)\nend\n", 5 * CHUNK - 10));
    assert_eq!(read.lines.cut_lines, 1);
}

#[test]
fn encodings_are_told_apart() {
    let f = Fixture::new();
    f.write("latin", b"caf\xe9\n").write("bom", b"\xef\xbb\xbfhi\n").write("bin", b"a\0b");
    f.write("utf16", b"\xff\xfeh\0i\0\r\0\n\0\xe9\0");
    let latin = lines(&f, "latin", 1, None, &WIDE);
    assert_eq!((latin.lines.text.as_str(), latin.scan.encoding), ("caf\u{fffd}\n", Encoding::Unknown8Bit));
    let bom = lines(&f, "bom", 1, None, &WIDE);
    assert_eq!((bom.lines.text.as_str(), bom.scan.bom, bom.scan.encoding), ("hi\n", true, Encoding::Utf8));
    let wide = lines(&f, "utf16", 1, None, &WIDE);
    assert_eq!(
        (wide.lines.text.as_str(), wide.scan.encoding, wide.scan.eol),
        ("hi\né", Encoding::Utf16Le, Eol::Crlf)
    );
    assert_eq!(wide.scan.line_count, 2);
    let binary =
        read_lines(&f.root, &ScanCache::default(), "bin", LineRange { start: 1, end: None }, &WIDE, &Never);
    assert!(matches!(binary, Err(FileError::Unsupported { size: Some(3), .. })));
    // A character split between two chunks is one character.
    let mut split = vec![b'a'; CHUNK - 1];
    split.extend_from_slice("é\n".as_bytes());
    f.write("split", &split);
    assert_eq!(scan(&f.root, &ScanCache::default(), "split", &Never).unwrap().0.encoding, Encoding::Utf8);
}

#[test]
fn raw_parts_join_to_the_whole() {
    let f = Fixture::new();
    let text = "añb日本語\u{1f600}z".repeat(50);
    f.write("t", &text);
    for size in [4, 5, 7, 64] {
        let (mut at, mut all) = (0, String::new());
        while at < text.len() as u64 {
            let part = read_raw(&f.root, &ScanCache::default(), "t", at, size, &Never).unwrap();
            assert!(part.next > at);
            all.push_str(&part.text);
            at = part.next;
        }
        assert_eq!(all, text, "{size}");
    }
    assert!(matches!(
        read_raw(&f.root, &ScanCache::default(), "t", 1 << 40, 10, &Never),
        Err(FileError::Invalid { key: "/offset", .. })
    ));
}

#[test]
fn a_changed_file_is_never_answered_from_memory() {
    let f = Fixture::new();
    let cache = ScanCache::default();
    for round in 0..5_u8 {
        f.write("t", vec![b'a' + round; CHUNK * 2]);
        let (_, found) = scan(&f.root, &cache, "t", &Never).unwrap();
        assert_eq!(found, Digest::of(&vec![b'a' + round; CHUNK * 2]), "{round}");
    }
}

#[test]
fn a_sparse_file_of_gigabytes_is_binary_at_once_and_a_stop_is_heard() {
    let f = Fixture::new();
    let file = std::fs::File::create(f.path("huge")).unwrap();
    file.set_len(5 << 30).unwrap();
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let stop = || {
        let seen = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        (seen > 3).then_some(crate::error::Stopped::Canceled)
    };
    let range = LineRange { start: 1, end: None };
    let binary = read_lines(&f.root, &ScanCache::default(), "huge", range, &WIDE, &stop);
    assert!(matches!(binary, Err(FileError::Unsupported { size: Some(size), .. }) if size == 5 << 30));
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 0);
    let stopped = scan(&f.root, &ScanCache::default(), "huge", &stop);
    assert!(matches!(stopped, Err(FileError::Stopped(_))));
}
