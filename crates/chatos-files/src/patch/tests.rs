//! Patches: both forms, lenient reading, strict placing; and properties against our own diff.

use proptest::prelude::*;

use super::*;
use crate::diff::diff;

fn one(text: &str, patch: &str) -> String {
    let parsed = parse(patch).unwrap();
    match apply("f", text, &parsed.files[0].hunks).unwrap() {
        Applied::Text { text, .. } => text,
        Applied::Already => "<already>".into(),
    }
}

fn fails(text: &str, patch: &str) -> String {
    let parsed = parse(patch).unwrap();
    match apply("f", text, &parsed.files[0].hunks) {
        Err(PlaceError::Failed(failures)) => failures[0].reason.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_unified_patch_is_read_with_all_its_headers() {
    let parsed = parse(
        "diff --git a/old name b/new name\nsimilarity index 90%\nrename from old name\nrename to new name\n\
         --- a/old name\t2024-01-01\n+++ b/new name\n@@ -1,2 +1,2 @@ fn x\n a\n-b\n+c\n\
         diff --git a/n.sh b/n.sh\nnew file mode 100755\n--- /dev/null\n+++ b/n.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+\n\
         diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
         diff --git \"a/caf\\303\\251\" \"b/caf\\303\\251\"\nold mode 100644\nnew mode 100755\n",
    )
    .unwrap();
    let shape: Vec<_> = parsed
        .files
        .iter()
        .map(|file| {
            (
                file.old.as_deref(),
                file.new.as_deref(),
                file.added.as_deref(),
                file.hunks.len(),
                file.executable,
            )
        })
        .collect();
    assert_eq!(
        shape,
        [
            (Some("a/old name"), Some("b/new name"), None, 1, None),
            (None, Some("b/n.sh"), Some("#!/bin/sh\n\n"), 0, Some(true)),
            (Some("a/d"), None, None, 1, None),
            (Some("a/café"), Some("b/café"), None, 0, Some(true)),
        ]
    );
}

#[test]
fn counts_that_do_not_fit_are_recomputed_and_blank_lines_are_context() {
    assert_eq!(one("a\n\nb\nc\n", "--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n a\n\n-b\n+B\n c\n"), "a\n\nB\nc\n");
    assert_eq!(one("a\n\nb\n", "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n\n"), "a\n\nB\n");
    // A removed line that looks like a header is a removed line while the counts ask for it.
    assert_eq!(one("-- x\n++ y\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n--- x\n-++ y\n+z\n+w\n"), "z\nw\n");
}

#[test]
fn words_fences_and_indentation_around_a_patch_are_removed_and_said() {
    let text = "Here it is:\n\n```diff\n  --- a/f\n  +++ b/f\n  @@ -1 +1 @@\n  -a\n  +b\n```\nDone.";
    let parsed = parse(text).unwrap();
    assert_eq!(parsed.notes.len(), 2, "{:?}", parsed.notes);
    assert_eq!(one("a\n", text), "b\n");
    // A patch of a document with fences in it is not cut at them.
    let inner = "*** Begin Patch\n*** Update File: f\n@@\n a\n+```\n+x\n+```\n*** End Patch";
    assert_eq!(one("a\n", inner), "a\n```\nx\n```\n");
    assert!(matches!(parse("just words"), Err(FileError::Invalid { key: "/patch", .. })));
    assert!(matches!(parse(""), Err(FileError::Invalid { .. })));
}

#[test]
fn the_friendly_form_adds_deletes_updates_and_moves() {
    let parsed = parse(
        "*** Begin Patch\n*** Add File: n\n+one\n+\n+two\n*** Delete File: d\n*** Update File: u\n*** Move to: v\n\
         @@ fn main\n a\n-b\n+c\n*** End of File\n*** End Patch\n",
    )
    .unwrap();
    assert_eq!(parsed.files[0].added.as_deref(), Some("one\n\ntwo\n"));
    assert_eq!((parsed.files[1].old.as_deref(), parsed.files[1].new.as_deref()), (Some("d"), None));
    let update = &parsed.files[2];
    assert_eq!((update.old.as_deref(), update.new.as_deref()), (Some("u"), Some("v")));
    assert_eq!(
        (update.hunks[0].anchors.as_slice(), update.hunks[0].at_end),
        (&["fn main".to_owned()][..], true)
    );
    let bare = parse("*** Add File: n\n+x\n\\ No newline at end of file\n").unwrap();
    assert_eq!(bare.files[0].added.as_deref(), Some("x"));
    assert!(parse("*** Begin Patch\n*** Update File: f\n@@\n+only added\n*** End Patch").is_err());
    assert!(parse("*** Begin Patch\n*** Update File: f\n*** End Patch").is_err());
    assert!(parse("*** Begin Patch\nnonsense\n*** End Patch").is_err());
}

#[test]
fn inserted_lines_are_whole_lines_directly_after_their_anchor() {
    let head = "*** Update File: f\n";
    assert_eq!(one("a\nb\n", &format!("{head}@@ a\n+x\n")), "a\nx\nb\n");
    assert_eq!(one("a\nb", &format!("{head}@@\n+x\n*** End of File\n")), "a\nb\nx");
    assert_eq!(one("a\nb\n", "--- a/f\n+++ b/f\n@@ -1,0 +2,1 @@\n+x\n"), "a\nx\nb\n");
    assert_eq!(one("", "--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+x\n"), "x\n");
    assert_eq!(one("a\n", "--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+x\n"), "x\na\n");
    assert_eq!(one("m\na\nm\na\n", &format!("{head}@@ m\n@@ m\n a\n+x\n")), "m\na\nm\na\nx\n");
}

#[test]
fn the_end_of_the_file_is_kept_or_changed_as_the_patch_says() {
    assert_eq!(
        one("a\nb", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n"),
        "A\nb"
    );
    let add = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n";
    assert_eq!(one("a\nb", add), "a\nb\n");
    let cut = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n";
    assert_eq!(one("a\nb\n", cut), "a\nb");
}

#[test]
fn a_hunk_goes_to_the_nearest_place_and_two_equal_places_are_refused() {
    let text = "x\ny\nx\ny\nx\ny\n";
    let at = |line: usize| format!("--- a/f\n+++ b/f\n@@ -{line},2 +{line},2 @@\n x\n-y\n+Z\n");
    assert_eq!(one(text, &at(3)), "x\ny\nx\nZ\nx\ny\n");
    assert!(fails(text, &at(2)).contains("2 places"));
    assert!(fails(text, "*** Update File: f\n@@\n x\n-y\n+Z\n").contains("3 places"));
    assert_eq!(one(text, &at(60)), "x\ny\nx\ny\nx\nZ\n");
    assert_eq!(one("1\n2\n3\na\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"), "1\n2\n3\na\nB\n");
}

#[test]
fn relaxations_are_reported_and_bounded() {
    let parsed = parse("--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n if x:\n     y\n+    z\n-w\n").unwrap();
    let text = "  if x:  \n      y\n  w\n";
    match apply("f", text, &parsed.files[0].hunks).unwrap() {
        Applied::Text { text, relaxed } => {
            assert_eq!(text, "  if x:  \n      y\n      z\n");
            assert!(relaxed[0].leading_space);
        }
        Applied::Already => panic!("already"),
    }
    let fuzzy = "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n wrong\n b\n-c\n+C\n d\n wrong too\n";
    assert_eq!(one("a\nb\nc\nd\ne\n", fuzzy), "a\nb\nC\nd\ne\n");
    let too_wrong = "--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n no\n nope\n nay\n-c\n+C\n d\n";
    assert!(fails("a\nb\nb\nc\nd\n", too_wrong).contains("not in the file"));
}

#[test]
fn what_is_there_already_is_said_and_never_reversed() {
    let patch = "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n";
    assert_eq!(one("a\nB\nc\n", patch), "<already>");
    let parsed = parse(&format!("{patch}@@ -10,2 +10,2 @@\n x\n-y\n+Y\n")).unwrap();
    let half = apply("f", "a\nB\nc\n1\n2\n3\n4\n5\n6\nx\ny\n", &parsed.files[0].hunks);
    assert_eq!(half, Err(PlaceError::AlreadyApplied(1)));
}

#[test]
fn hunks_keep_their_order_and_do_not_overlap() {
    let text = "a\nb\nc\nd\n";
    let twice = "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -2,2 +2,2 @@\n-b\n+X\n c\n";
    assert!(fails(text, twice).contains("not in the file"), "b belongs to the first hunk");
    let apart = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-d\n+D\n";
    assert_eq!(one(text, apart), "A\nb\nc\nD\n");
}

#[test]
fn one_strip_level_is_chosen_for_the_whole_patch() {
    let patch =
        |old: &str, new: &str| parse(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n")).unwrap();
    let level = |patch: &Patch, there: &[&str]| strip_level(patch, |path| there.contains(&path));
    assert_eq!(level(&patch("a/x/f", "b/x/f"), &["x/f"]).unwrap(), 1);
    assert_eq!(level(&patch("x/f", "x/f"), &["x/f"]).unwrap(), 0);
    assert_eq!(level(&patch("a/w/x/f", "b/w/x/f"), &["x/f"]).unwrap(), 2);
    assert!(level(&patch("a/f", "b/f"), &["f", "a/f"]).is_err());
    let add = |new: &str| parse(&format!("--- /dev/null\n+++ {new}\n@@ -0,0 +1 @@\n+b\n")).unwrap();
    assert_eq!(level(&add("b/x/new"), &[]).unwrap(), 1);
    assert_eq!(level(&add("x/new"), &[]).unwrap(), 0);
}

fn text_of(lines: &[String], terminated: bool) -> String {
    let mut text = lines.join("\n");
    if terminated && !lines.is_empty() {
        text.push('\n');
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Our own diff, applied by our own patch, gives the new text, for any two texts.
    #[test]
    fn a_diff_applied_is_the_new_text(
        old in prop::collection::vec("[abc ]{0,3}", 0..30),
        new in prop::collection::vec("[abc ]{0,3}", 0..30),
        old_end in any::<bool>(),
        new_end in any::<bool>(),
    ) {
        let (old, new) = (text_of(&old, old_end), text_of(&new, new_end));
        prop_assume!(old != new && !old.is_empty() && !new.is_empty());
        let made = diff("f", Some(old.as_bytes()), "f", Some(new.as_bytes())).text;
        let parsed = parse(&made).unwrap();
        match apply("f", &old, &parsed.files[0].hunks) {
            Ok(Applied::Text { text, relaxed }) => {
                prop_assert_eq!(text, new);
                prop_assert!(relaxed.is_empty());
            }
            other => prop_assert!(false, "{:?}\n{}", other, made),
        }
    }

    /// Nothing that is given as a patch makes the parser or the placing panic.
    #[test]
    fn any_text_is_read_without_a_panic(text in "([ +\\-@*ab\\\\]{0,6}|--- a/f|\\+\\+\\+ b/f|@@ -1,2 \\+1,2 @@|\\*\\*\\* Update File: f|\\*\\*\\* End of File|@@ a|diff --git a/f b/f)(\n([ +\\-@*ab\\\\]{0,6}|--- a/f|\\+\\+\\+ b/f|@@ -1,2 \\+1,2 @@|\\*\\*\\* End of File|@@ a)){0,12}", file in "[ab\n ]{0,20}") {
        if let Ok(parsed) = parse(&text) {
            for part in &parsed.files {
                drop(apply("f", &file, &part.hunks));
            }
        }
    }
}
