//! Edits: strategies in order, counts as expected, indentation kept; and properties.

use proptest::prelude::{ProptestConfig, prop_assert_eq, prop_assert_ne, proptest};

use super::*;

fn done(text: &str, old: &str, new: &str) -> (String, Strategy) {
    let edited = apply(text, old, new, 1, true).unwrap();
    (edited.text, edited.strategy)
}

#[test]
fn each_strategy_is_tried_only_when_the_one_before_found_nothing() {
    assert_eq!(done("a b\nc\n", "b\nc", "X"), ("a X\n".into(), Strategy::Exact));
    assert_eq!(
        done("  if x {\n    y();\n  }\n", "if x {\n  y();\n}", "if z {\n  y();\n}"),
        ("  if z {\n    y();\n  }\n".into(), Strategy::Flexible)
    );
    assert_eq!(
        done("foo( a,\n     b )\n", "foo( a, b )", "bar( a )"),
        ("bar( a )\n".into(), Strategy::Regex)
    );
    let exact_only = apply("  if x\n", "if  x", "y", 1, false).unwrap_err();
    assert_eq!(exact_only.found, 0);
}

#[test]
fn the_replacement_takes_the_blocks_indentation() {
    let text = "class A:\n        def f(self):\n            return 1\n\n        x = 2\n";
    let (new, strategy) =
        done(text, "def f(self):\n    return 1\n", "def f(self):\n    if y:\n        return 2\n");
    assert_eq!(strategy, Strategy::Flexible);
    assert_eq!(
        new,
        "class A:\n        def f(self):\n            if y:\n                return 2\n\n        x = 2\n"
    );
    assert_eq!(done("\tone\n\ttwo\n", "  one\n  two", "  one\n  three").0, "\tone\n\tthree\n");
    assert_eq!(done("a\nb\n", "    a\n    b\n", "    c\n      d\n").0, "c\n  d\n");
}

#[test]
fn the_number_of_matches_must_be_the_expected_one() {
    let text = "x = 1\ny\nx = 1\nx = 1\n";
    let wrong = apply(text, "x = 1", "x = 2", 1, true).unwrap_err();
    assert_eq!((wrong.found, wrong.lines.as_slice(), wrong.nearest), (3, &[1, 3, 4][..], None));
    let right = apply(text, "x = 1", "x = 2", 3, true).unwrap();
    assert_eq!(
        (right.text.as_str(), right.occurrences, right.lines),
        ("x = 2\ny\nx = 2\nx = 2\n", 3, vec![1, 3, 4])
    );
    assert_eq!(apply("aaaa", "aa", "b", 2, true).unwrap().text, "bb");
    let none = apply("let alpha = 1;\nlet beta = 2;\n", "let beta = 3;", "", 1, true).unwrap_err();
    assert_eq!(none.nearest, Some(Nearest { line: 2, text: "let beta = 2;".into() }));
    let blank = apply("a\n\n\nb", "   ", "x", 1, true).unwrap_err();
    assert_eq!(blank.found, 0, "white space alone is never matched tolerantly");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A unique exact match is replaced and nothing else changes, whatever surrounds it.
    #[test]
    fn an_exact_edit_changes_only_its_match(before in "[a-d \n\té]{0,40}", after in "[a-d \n\té]{0,40}", new in "[x-z\n ]{0,20}") {
        let text = format!("{before}UNIQUE{after}");
        let edited = apply(&text, "UNIQUE", &new, 1, true).unwrap();
        prop_assert_eq!(edited.text, format!("{before}{new}{after}"));
    }

    /// No input makes it panic, and a success replaces exactly as often as expected.
    #[test]
    fn any_edit_is_total(text in "[ab \n\té]{0,60}", old in "[ab \n\té]{1,12}", new in "[ab \n\té]{0,12}", expected in 1_usize..4) {
        match apply(&text, &old, &new, expected, true) {
            Ok(edited) => prop_assert_eq!(edited.occurrences, expected),
            Err(mismatch) => prop_assert_ne!(mismatch.found, expected),
        }
    }

    /// A block indented deeper is found and keeps its depth.
    #[test]
    fn a_deeper_block_is_found(depth in 1_usize..9) {
        let pad = " ".repeat(depth);
        let text = format!("top\n{pad}begin\n{pad}  body\n{pad}end\nrest\n");
        let edited = apply(&text, "begin\n  body\nend\n", "begin\n  other\nend\n", 1, true).unwrap();
        prop_assert_eq!(edited.text, format!("top\n{pad}begin\n{pad}  other\n{pad}end\nrest\n"));
    }
}
