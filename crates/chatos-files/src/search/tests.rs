//! Searching: complete, in order, bounded, and saying what was left out.

use super::*;
use crate::stop::Never;
use crate::testing::Fixture;

fn request(text: &str) -> Request {
    Request {
        query: Query { text: text.into(), mode: Mode::Literal, case_sensitive: true, whole_word: false },
        path: ".".into(),
        glob: Vec::new(),
        exclude_glob: Vec::new(),
        context_lines: 0,
        hidden: false,
        ignored: false,
        offset: 0,
        limit: 40,
        max_files: 50_000,
    }
}

fn places(f: &Fixture, request: &Request) -> Vec<String> {
    let found = search(&f.root, request, &Never).unwrap();
    found.hits.iter().map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.column)).collect()
}

#[test]
fn literal_regex_case_and_words() {
    let f = Fixture::new();
    f.write("a.rs", "fn main() {}\nlet a.b = 1;\nlet axb = Main;\n").write("b/c.rs", "main\n");
    assert_eq!(places(&f, &request("a.b")), ["a.rs:2:5"]);
    let mut any = request("a.b");
    any.query.mode = Mode::Regex;
    assert_eq!(places(&f, &any), ["a.rs:2:5", "a.rs:3:5"]);
    let mut folded = request("main");
    folded.query.case_sensitive = false;
    assert_eq!(places(&f, &folded), ["a.rs:1:4", "a.rs:3:11", "b/c.rs:1:1"]);
    let mut word = request("a");
    word.query.whole_word = true;
    assert_eq!(places(&f, &word), ["a.rs:2:5"]);
    let mut bad = request("a(b");
    bad.query.mode = Mode::Regex;
    match search(&f.root, &bad, &Never) {
        Err(FileError::Invalid { key: "/query", message, .. }) => {
            assert!(message.contains("position 2"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    let mut huge = request("(a{1000}){1000}");
    huge.query.mode = Mode::Regex;
    assert!(matches!(search(&f.root, &huge, &Never), Err(FileError::Invalid { .. })));
    let lines = request("{}\nlet");
    assert_eq!(places(&f, &lines), ["a.rs:1:1"]);
}

#[test]
fn columns_count_utf16_units_and_previews_show_the_hit() {
    let f = Fixture::new();
    f.write("u", "é\u{1f600}日x hit\n")
        .write("bom", b"\xef\xbb\xbfhit\n")
        .write("w", b"\xff\xfea\0 \0h\0i\0t\0\n\0");
    assert_eq!(places(&f, &request("hit")), ["bom:1:1", "u:1:7", "w:1:3"]);
    f.write("long", format!("{}hit{}\n", "a".repeat(5000), "b".repeat(5000)));
    let mut only = request("hit");
    only.path = "long".into();
    let found = search(&f.root, &only, &Never).unwrap();
    assert_eq!((found.hits[0].column, found.hits[0].text.chars().count()), (5001, 202));
    assert!(found.hits[0].text.contains("hit"));
}

#[test]
fn context_belongs_to_every_hit_beside_it() {
    let f = Fixture::new();
    f.write("t", "1\nhit a\n3\nhit b\n5\n6\n");
    let mut with = request("hit");
    with.context_lines = 2;
    let found = search(&f.root, &with, &Never).unwrap();
    assert_eq!(
        (found.hits[0].before.join("|"), found.hits[0].after.join("|")),
        ("1".into(), "3|hit b".into())
    );
    assert_eq!(
        (found.hits[1].before.join("|"), found.hits[1].after.join("|")),
        ("hit a|3".into(), "5|6".into())
    );
}

#[test]
fn pages_join_to_the_whole_in_every_run() {
    let f = Fixture::new();
    for n in 0..150 {
        f.write(&format!("d{}/f{n}", n % 7), "hit\nno\nhit hit\n".repeat(1 + n % 3));
    }
    let mut all = request("hit");
    all.limit = 10_000;
    let whole = places(&f, &all);
    assert_eq!(whole.len(), 600);
    let mut sorted = whole.clone();
    sorted.sort_by_key(|place| {
        let mut parts = place.split(':');
        (parts.next().unwrap().to_owned(), parts.next().unwrap().parse::<u64>().unwrap())
    });
    assert_eq!(whole, sorted);
    for limit in [7, 100] {
        let (mut joined, mut offset) = (Vec::new(), 0);
        loop {
            let page = Request { offset, limit, ..request("hit") };
            let found = search(&f.root, &page, &Never).unwrap();
            joined.extend(found.hits.iter().map(|hit| format!("{}:{}:{}", hit.path, hit.line, hit.column)));
            offset += limit;
            match found.ended {
                Some(Ended::Enough) => assert_eq!(found.hits.len(), limit),
                None => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(joined, whole, "{limit}");
    }
}

#[test]
fn what_is_not_searched_is_counted() {
    let f = Fixture::new();
    f.write("bin", b"hit\0")
        .write("t", "hit")
        .write("ignored.log", "hit")
        .write(".gitignore", "*.log")
        .write(".dot", "hit");
    std::fs::File::create(f.path("large")).unwrap().set_len(51 << 20).unwrap();
    let found = search(&f.root, &request("hit"), &Never).unwrap();
    assert_eq!(found.skipped, Skipped { binary: 1, too_large: 1, unreadable: 0 });
    assert_eq!((found.hits.len(), found.files_scanned, found.ended), (1, 3, None));
    let everything = Request { hidden: true, ignored: true, ..request("hit") };
    assert_eq!(places(&f, &everything), [".dot:1:1", "ignored.log:1:1", "t:1:1"]);
    let globbed =
        Request { glob: vec!["*.log".into(), "t".into()], exclude_glob: vec!["t".into()], ..everything };
    assert_eq!(places(&f, &globbed), ["ignored.log:1:1"]);
}

#[test]
fn limits_deadlines_and_cancels_end_a_search_and_say_so() {
    let f = Fixture::new();
    for n in 0..300 {
        f.write(&format!("f{n:03}"), "nothing");
    }
    f.write("f999", "hit");
    let few = Request { max_files: 100, ..request("hit") };
    let found = search(&f.root, &few, &Never).unwrap();
    assert_eq!((found.ended, found.files_scanned), (Some(Ended::Files), 100));
    let late = || Some(Stopped::Deadline);
    assert_eq!(search(&f.root, &request("hit"), &late).unwrap().ended, Some(Ended::Deadline));
    let canceled = || Some(Stopped::Canceled);
    assert!(matches!(
        search(&f.root, &request("hit"), &canceled),
        Err(FileError::Stopped(Stopped::Canceled))
    ));
}

#[test]
fn a_second_name_of_a_protected_file_is_not_searched() {
    let f = Fixture::with(crate::SymlinkPolicy::Deny, &["state"]);
    std::fs::create_dir(f.outside("state")).unwrap();
    std::fs::write(f.outside("state/host.json"), "needle in the token").unwrap();
    f.write("own", "needle");
    std::fs::hard_link(f.outside("state/host.json"), f.path("second")).unwrap();
    assert_eq!(places(&f, &request("needle")), ["own:1:1"]);
}
