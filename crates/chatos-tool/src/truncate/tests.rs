//! Cuts add up, divide nothing, and are announced.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn a_short_text_is_left_alone() {
    let parts = split("abc\n", Keep::HeadTail, Unit::Lines, 1);
    assert!(!parts.is_cut());
    assert_eq!(parts.join(None, Lang::En), "abc\n");
}

#[test]
fn lines_are_cut_whole() {
    let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
    let head = split(text, Keep::Head, Unit::Lines, 3);
    assert_eq!((head.head, head.tail), ("1\n2\n3\n", ""));
    let tail = split(text, Keep::Tail, Unit::Lines, 2);
    assert_eq!((tail.head, tail.tail), ("", "7\n8\n"));
    let both = split(text, Keep::HeadTail, Unit::Lines, 4);
    assert_eq!((both.head, both.tail), ("1\n", "6\n7\n8\n"));
    assert_eq!(
        both.join(Some("start_line=2"), Lang::En),
        "1\n[… 8 bytes, 4 lines omitted; continue with start_line=2 …]\n6\n7\n8\n"
    );
    assert_eq!(
        both.join(Some("start_line=2"), Lang::Zh),
        "1\n[… 省略 8 字节、4 行；使用 start_line=2 继续 …]\n6\n7\n8\n"
    );
}

#[test]
fn bytes_move_to_a_line_boundary_when_one_is_near() {
    let text = "first line\nsecond line\nthird";
    assert_eq!(split(text, Keep::Head, Unit::Bytes, 15).head, "first line\n");
    assert_eq!(split(text, Keep::Tail, Unit::Bytes, 8).tail, "third");
    let far = "x".repeat(2000);
    assert_eq!(split(&far, Keep::Head, Unit::Bytes, 1000).head.len(), 1000);
}

#[test]
fn a_crlf_pair_stays_together() {
    let text = format!("{}\r\n{}", "a".repeat(600), "b".repeat(600));
    let parts = split(&text, Keep::Head, Unit::Bytes, 601);
    assert_eq!(parts.head.len(), 600);
    let parts = split(&text, Keep::Tail, Unit::Bytes, 601);
    assert!(parts.tail.starts_with('b'));
}

#[test]
fn a_long_line_says_how_much_is_gone() {
    let text = format!("ok\r\n{}\r\nend", "é".repeat(12));
    assert_eq!(long_lines(&text, 10), format!("ok\r\n{} …(+2 chars)\r\nend", "é".repeat(10)));
    assert!(matches!(long_lines("ééé\nok", 5), Cow::Borrowed(_)), "characters count, not bytes");
    for text in ["", "\n", "12345", "12345\n", "12345\n12345", "1\n\n23\n45678\n9", "\n\n\n\n\n\n\n\n"] {
        assert!(lines_within(text.as_bytes(), 5), "{text:?}");
        let wanted = text.split('\n').all(|line| line.len() <= 4);
        assert_eq!(lines_within(text.as_bytes(), 4), wanted, "{text:?}");
    }
    assert!(!lines_within(b"1\n123456", 5) && !lines_within(b"123456\n1", 5) && lines_within(b"\n\n", 0));
}

#[test]
fn a_block_with_its_notice_is_within_the_limit() {
    let limits = TextLimits { result_chars: 1000, line_chars: 200 };
    let text = "line of text\n".repeat(500);
    for keep in [Keep::Head, Keep::Tail, Keep::HeadTail] {
        let (fitted, cut) = fit_text(&text, limits, keep, Lang::Zh).unwrap();
        let cut = cut.unwrap();
        assert!(fitted.chars().count() <= 1000);
        assert_eq!(cut.total, Some(6500));
        assert!(fitted.contains("省略"));
    }
    assert_eq!(fit_text("short", limits, Keep::Head, Lang::En), None);
}

#[test]
fn only_the_bulk_of_data_is_cut() {
    let mut data = json!({
        "path": "a/b.rs", "sha256": "9f2c", "exit_code": 3,
        "matches": (0..1000).map(|line| json!({"path": "a.rs", "line": line})).collect::<Vec<_>>(),
    });
    let cuts = fit_data(&mut data, 2000);
    assert!(compact_len(&data) <= 2000 + 20);
    assert_eq!(
        (&data["path"], &data["exit_code"], &data["truncated"]),
        (&json!("a/b.rs"), &json!(3), &json!(true))
    );
    assert_eq!(cuts.len(), 1);
    assert_eq!((cuts[0].field.as_str(), cuts[0].unit, cuts[0].total), ("/matches", Unit::Items, Some(1000)));
    assert_eq!(cuts[0].kept, data["matches"].as_array().unwrap().len() as u64);

    let mut text = json!({"contents": "é".repeat(10_000), "lines": [1, 2, 3]});
    let cuts = fit_data(&mut text, 3000);
    assert!(compact_len(&text) <= 3000 + 20);
    assert_eq!((cuts[0].field.as_str(), cuts[0].unit), ("/contents", Unit::Bytes));
    assert_eq!(text["lines"], json!([1, 2, 3]));

    let mut small = json!({"a": 1});
    assert!(fit_data(&mut small, 1).is_empty(), "nothing to cut is nothing to announce");
}

fn texts() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        prop_oneof![
            Just("\r\n"),
            Just("\n"),
            Just("\r"),
            Just("é"),
            Just("汉"),
            Just("😀"),
            Just("abc"),
            Just("x")
        ],
        0..900,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn the_three_parts_are_the_text_and_no_cut_divides_anything(
        text in texts(),
        limit in 0usize..700,
        keep in prop_oneof![Just(Keep::Head), Just(Keep::Tail), Just(Keep::HeadTail)],
        unit in prop_oneof![Just(Unit::Bytes), Just(Unit::Chars), Just(Unit::Lines)],
    ) {
        let parts = split(&text, keep, unit, limit);
        prop_assert_eq!(format!("{}{}{}", parts.head, parts.omitted, parts.tail), text.clone());
        if parts.is_cut() {
            let kept = |part: &str| match unit {
                Unit::Bytes => part.len(),
                Unit::Chars => part.chars().count(),
                _ => lines_in(part),
            };
            prop_assert!(kept(parts.head) + kept(parts.tail) <= limit);
            for (before, after) in [(parts.head, parts.omitted), (parts.omitted, parts.tail)] {
                prop_assert!(!(before.ends_with('\r') && after.starts_with('\n')));
            }
        }
    }

    #[test]
    fn long_lines_keeps_short_ones_and_every_line_end(text in texts(), max in 1usize..20) {
        let cut = long_lines(&text, max);
        prop_assert_eq!(cut.matches('\n').count(), text.matches('\n').count());
        for (before, after) in text.split('\n').zip(cut.split('\n')) {
            if before.strip_suffix('\r').unwrap_or(before).chars().count() <= max {
                prop_assert_eq!(before, after);
            }
        }
    }

    #[test]
    fn data_always_fits_when_its_bulk_can_be_cut(text in "[a-z\"\\\\é\n]{0,4000}", items in 0usize..300, max in 1100usize..3000) {
        let mut data = json!({"id": 7, "text": text, "list": vec!["item"; items]});
        let before = data.clone();
        let cuts = fit_data(&mut data, max);
        prop_assert!(compact_len(&data) <= max + ",\"truncated\":true".len());
        prop_assert_eq!(&data["id"], &json!(7));
        if cuts.is_empty() {
            prop_assert_eq!(data, before);
        } else {
            prop_assert_eq!(&data["truncated"], &json!(true));
        }
    }
}
