//! Entries, search in both languages, facts that keep their iterations.

use super::*;

fn open(dir: &std::path::Path) -> Store {
    Store::open(crate::OpenOptions {
        path: dir.join("state.db"),
        backups: dir.join("backups"),
        migrate: true,
        wal: true,
        used: false,
        check: false,
    })
    .unwrap()
}

fn entry(title: &str) -> NewJournalEntry {
    NewJournalEntry { title: title.into(), summary: "summary".into(), ..NewJournalEntry::default() }
}

#[test]
fn entries_are_kept_per_project_and_found_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for title in ["修复登录问题", "Added SEARCH", "三"] {
        let new =
            NewJournalEntry { tags: vec!["t".into()], files: vec!["src/main.rs".into()], ..entry(title) };
        store.add_journal_entry("/p", new, 30).unwrap();
    }
    store.add_journal_entry("/q", entry("elsewhere"), 30).unwrap();
    let titles = |query: &str| -> Vec<String> {
        store.list_journal("/p", "", query, 10, 0).unwrap().0.into_iter().map(|e| e.title).collect()
    };
    assert_eq!(titles(""), ["三", "Added SEARCH", "修复登录问题"]);
    assert_eq!(titles("登录问"), ["修复登录问题"]);
    assert_eq!(titles("登"), ["修复登录问题"]);
    assert_eq!(titles("search"), ["Added SEARCH"]);
    assert_eq!(titles("main.rs").len(), 3);
    assert_eq!(titles("a\" OR \"b"), Vec::<String>::new());
    assert_eq!(titles("%"), Vec::<String>::new());
    let (page, total) = store.list_journal("/p", "t", "", 1, 1).unwrap();
    assert_eq!((page[0].title.as_str(), total), ("Added SEARCH", 3));
    assert_eq!(store.get_journal_entry("/q", &page[0].id).unwrap(), None);
    assert_eq!(store.journal_projects().unwrap().len(), 2);
}

#[test]
fn every_entry_of_a_page_has_its_own_lists_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let texts =
        |name: &str, count: usize| -> Vec<String> { (0..count).map(|n| format!("{name}\"{n}")).collect() };
    let made: Vec<JournalEntry> = (0..12)
        .map(|n| {
            let new = NewJournalEntry {
                tags: texts("z", n % 3),
                files: texts("f", n % 4),
                highlights: texts("h", n % 2),
                next_steps: texts("a", n % 5),
                run_id: format!("r{n}"),
                ..entry(&format!("{n}"))
            };
            store.add_journal_entry("/p", new, 30).unwrap().0
        })
        .collect();
    let (page, total) = store.list_journal("/p", "", "", 20, 0).unwrap();
    assert_eq!((page.len(), total), (12, 12));
    assert!(page.iter().eq(made.iter().rev()), "what adding said is what is there");
    assert_eq!(store.get_journal_entry("/p", &made[11].id).unwrap().as_ref(), Some(&made[11]));
    assert_eq!(store.list_journal("/p", "", "", 20, 12).unwrap().0, []);
}

#[test]
fn a_key_makes_one_entry_per_project() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let keyed = || NewJournalEntry { dedupe_key: Some("k".into()), ..entry("one") };
    let (first, again) = store.add_journal_entry("/p", keyed(), 30).unwrap();
    assert!(!again);
    assert_eq!(store.add_journal_entry("/p", keyed(), 30).unwrap(), (first, true));
    assert!(!store.add_journal_entry("/q", keyed(), 30).unwrap().1);
}

#[test]
fn overwriting_facts_keeps_iterations_and_the_creation_time() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let patch = ProjectPatch {
        summary: Some("s".into()),
        git_url: Some("https://me:token@host/repo".into()),
        tags: Some(vec!["b".into(), "a".into(), "a".into()]),
        ..ProjectPatch::default()
    };
    let (info, changed) = store.set_project_info("/p", patch.clone()).unwrap();
    assert!(changed);
    assert_eq!((info.git_url.as_str(), info.tags.len()), ("https://host/repo", 2));
    assert!(!store.set_project_info("/p", patch).unwrap().1);
    let new = ProjectIteration { title: "it".into(), tags: vec!["x".into()], ..ProjectIteration::default() };
    let (made, _) = store.add_project_iteration("/p", new.clone(), Some("k".into()), 30).unwrap();
    assert_eq!(store.add_project_iteration("/p", new, Some("k".into()), 30).unwrap(), (made, true));
    let overwrite = ProjectPatch { notes: Some("n".into()), overwrite: true, ..ProjectPatch::default() };
    let (after, _) = store.set_project_info("/p", overwrite).unwrap();
    assert_eq!((after.summary.as_str(), after.notes.as_str(), after.created_at), ("", "n", info.created_at));
    let (_, iterations, total) = store.project_info("/p", 10).unwrap();
    assert_eq!((iterations.len(), total, iterations[0].tags.len()), (1, 1, 1));
}
