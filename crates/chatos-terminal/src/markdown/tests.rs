//! What Markdown looks like on a terminal, at once and letter by letter.

use super::*;

/// Without the sequences, and with them as `<1;4>`.
fn shown(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        plain.push_str(&rest[..at]);
        let end = rest[at..].find('m').unwrap() + at;
        plain.push_str(&format!("<{}>", &rest[at + 2..end]));
        rest = &rest[end + 1..];
    }
    plain + rest
}

fn bare(text: &str) -> String {
    let marked = shown(text);
    let mut plain = String::new();
    let mut inside = false;
    for c in marked.chars() {
        match c {
            '<' => inside = true,
            '>' if inside => inside = false,
            c if !inside => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// The same whether it comes at once or letter by letter.
fn check(source: &str, columns: usize, expected: &str) {
    let whole = Markdown::whole(source, columns);
    let mut slow = Markdown::new(columns);
    let mut pieces = String::new();
    for c in source.chars() {
        pieces.push_str(&slow.push(&c.to_string()));
    }
    pieces.push_str(&slow.end());
    assert_eq!(bare(&pieces), bare(&whole), "letter by letter: {source}");
    assert_eq!(shown(&whole), expected, "{source}");
}

#[test]
fn blocks_and_marks_become_looks() {
    for (source, expected) in [
        ("plain words\n", "plain words\n"),
        ("# Title it\n## Next", "<1;4>Title it<0>\n<1>Next<0>\n"),
        ("a **b** *c* `d` ~~e~~", "a <1>b<0> <3>c<0> <36>d<0> <9>e<0>\n"),
        ("> said\n> > deeper", "<2>▌ <0>said\n<2>▌ ▌ <0>deeper\n"),
        ("---", &format!("<2>{}<0>\n", "─".repeat(40))),
        ("[a](https://x.y)", "<4>a<0> <2>(https://x.y)<0>\n"),
        ("2 * 3 * 4 and snake_case_name", "2 * 3 * 4 and snake_case_name\n"),
        ("**never closed", "**never closed\n"),
        ("#hashtag and -5 and 3.14", "#hashtag and -5 and 3.14\n"),
        ("-5\n3.14", "-5\n3.14\n"),
        ("a\n\nb", "a\n\nb\n"),
        ("", ""),
    ] {
        check(source, 80, expected);
    }
}

#[test]
fn lists_keep_their_depth_and_hang() {
    check(
        "- one\n  - two words\n    - three\n- [x] done\n- [ ] open\n10. ten",
        80,
        "<2>• <0>one\n  <2>◦ <0>two words\n    <2>▪ <0>three\n<2>• <0>☑ done\n<2>• <0>☐ open\n<2>10. <0>ten\n",
    );
    check("- a long item here\n  goes on", 12, "<2>• <0>a long\n  item here\n  goes on\n");
    check("1. one\n\n   still one\n\nnot one", 80, "<2>1. <0>one\n\n   still one\n\nnot one\n");
    check("* **a**: b", 80, "<2>• <0><1>a<0>: b\n");
}

#[test]
fn code_is_as_it_was_written_and_differences_have_colours() {
    check(
        "```rust\nfn a() { *b }\n\n    # c\n```\nafter",
        80,
        "<2>```rust<0>\nfn a() { *b }\n\n    # c\n<2>```<0>\nafter\n",
    );
    check(
        "```diff\n--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n same\n```",
        80,
        "<2>```diff<0>\n<1>--- a<0>\n<1>+++ b<0>\n<33>@@ -1 +1 @@<0>\n<31>-old<0>\n<32>+new<0>\n same\n<2>```<0>\n",
    );
    check("````\n```\n````", 80, "<2>````<0>\n```\n<2>````<0>\n");
    check("text\n\n    indented *code*\n", 80, "text\n\n    indented *code*\n");
    check("> ```\n> a\n> ```\nout", 80, "<2>▌ ```<0>\n<2>▌ <0>a\n<2>▌ ```<0>\nout\n");
}

#[test]
fn an_open_block_is_shown_line_by_line_before_it_is_closed() {
    let mut text = Markdown::new(80);
    assert_eq!(bare(&text.push("Look:\n```sh\nls -l")), "Look:\n```sh\nls -l");
    assert_eq!(bare(&text.push("a\nsecond")), "a\nsecond");
    // Somebody else prints in between, and the block goes on.
    assert_eq!(text.pause(), "\n");
    assert_eq!(bare(&text.push(" half\n")), " half\n");
    assert_eq!(text.end(), "");
    // The next text begins outside of it.
    assert_eq!(shown(&text.push("**a** ")), "<1>a<0>");
}

#[test]
fn words_appear_as_they_come_and_open_marks_wait() {
    let mut text = Markdown::new(80);
    assert_eq!(text.push("one two thr"), "one two");
    assert_eq!(text.push("ee four **bo"), " three four");
    assert_eq!(shown(&text.push("ld** five ")), " <1>bold<0> five");
    assert_eq!(text.end(), "\n");
}

#[test]
fn a_table_comes_when_it_is_whole() {
    let mut text = Markdown::new(80);
    assert_eq!(text.push("| a | b |\n|---|---|\n| 1 | 2 |\n"), "");
    assert_eq!(bare(&text.push("after ")), "a │ b\n──┼──\n1 │ 2\nafter");
    text.end();
    check("| only | bars |\nword", 80, "| only | bars |\nword\n");
}

#[test]
fn lines_are_broken_by_the_width_of_letters() {
    check("一二三四五六七八九十", 10, "一二三四五\n六七八九十\n");
    // No line begins with what closes a phrase.
    check("一二三四五。六七", 10, "一二三四\n五。六七\n");
    check("👩‍👩‍👧 family 👍🏽 thumbs", 40, "👩‍👩‍👧 family 👍🏽 thumbs\n");
    check("aaa bbb ccc ddd", 11, "aaa bbb ccc\nddd\n");
    check(
        "https://example.org/a/very/long/address end",
        20,
        "https://example.org/a/very/long/address\nend\n",
    );
}

#[test]
fn a_text_hangs_beside_its_head() {
    assert_eq!(
        hung("  name  ", false, "one, two, three", false, 16),
        "  name  one,\n        two,\n        three"
    );
    assert_eq!(shown(&hung("a ", true, "b", true, 80)), "<1>a <0><2>b<0>");
}

#[test]
fn a_terminal_obeys_nothing_of_a_text() {
    let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}b \u{9b}31m \u{202e}c `\u{1b}[1m` \r\n```\n\u{1b}c\n```\n[x](\u{1b}[31m)";
    let shown = Markdown::whole(hostile, 80);
    let sequences: Vec<&str> = shown.split('\u{1b}').skip(1).collect();
    assert!(
        sequences.iter().all(|one| one.starts_with('[')
            && one[1..one.find('m').unwrap()].chars().all(|c| c.is_ascii_digit() || c == ';')),
        "{shown:?}"
    );
    assert!(!shown.contains(['\u{7}', '\u{9b}', '\r', '\u{202e}']), "{shown:?}");
    assert!(!shown.contains("\u{1b}[2J") && !shown.contains("\u{1b}[31m"), "{shown:?}");
}

#[test]
fn a_line_of_five_megabytes_is_nothing_special() {
    let five = 5 * 1024 * 1024;
    for (unit, bytes) in [("x", five), ("*a ", five), ("[", five / 40), ("字", five / 40), ("`", five / 40)]
    {
        let line = unit.repeat(bytes / unit.len());
        let shown = Markdown::whole(&line, 80);
        assert!(shown.len() >= line.len() / 2, "{unit}");
    }
}
