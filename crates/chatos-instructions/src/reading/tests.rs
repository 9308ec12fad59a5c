//! Instruction files on a real disk: order, shadows, links, odd bytes, sizes.

use super::*;

struct Disk {
    _dir: tempfile::TempDir,
    base: PathBuf,
}

impl Disk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join("home/repo/.git")).unwrap();
        std::fs::create_dir_all(base.join("state")).unwrap();
        Self { _dir: dir, base }
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.base.join("home/repo").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, workspace: &str) -> Reading {
        let names = ["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"].map(str::to_owned);
        let home = self.base.join("home");
        read(&home.join("repo").join(workspace), Some(&home), &self.base.join("state"), &names)
    }
}

fn texts(reading: &Reading) -> Vec<(&str, &str)> {
    let all = reading.candidates.iter();
    all.map(|one| {
        let text = match &one.content {
            Content::Text { text, .. } => text.as_str(),
            Content::Shadowed => "(shadowed)",
            Content::Unreadable(_) => "(unreadable)",
        };
        (if one.own { "own" } else { one.path.as_str() }, text)
    })
    .collect()
}

#[test]
fn every_folder_gives_one_file_from_the_root_to_the_workspace() {
    let disk = Disk::new();
    disk.put("AGENTS.md", "root");
    disk.put("CLAUDE.md", "other");
    disk.put("a/.claude/CLAUDE.md", "inner\n@../notes.md");
    disk.put("a/notes.md", "notes");
    disk.put("a/b/CLAUDE.md", "<!-- c -->\nnear");
    disk.put("a/b/c/AGENTS.md", "deeper");
    disk.put("a/b/c/CLAUDE.md", "deeper, too");
    disk.put("a/b/node_modules/x/AGENTS.md", "ignored");
    disk.put(".gitignore", "node_modules/\n");
    disk.put("z/AGENTS.md", "beside");
    disk.put(".claude/commands/plan.md", "x");
    disk.put("a/.agents/skills/deploy/SKILL.md", "x");
    disk.put("a/.agents/skills/none/README.md", "x");
    std::fs::write(disk.base.join("state/AGENTS.md"), "mine").unwrap();
    std::fs::write(disk.base.join("home/AGENTS.md"), "above").unwrap();
    let reading = disk.read("a/b");
    assert_eq!(
        texts(&reading),
        [
            ("own", "mine"),
            ("AGENTS.md", "root"),
            ("CLAUDE.md", "(shadowed)"),
            ("a/.claude/CLAUDE.md", "inner\nnotes"),
            ("a/b/CLAUDE.md", "near"),
        ]
    );
    assert_eq!(reading.nested, ["a/b/c/AGENTS.md"]);
    assert!(reading.has_project_text());
    assert_eq!((reading.skills, reading.commands), (1, 1));
    let home = disk.base.join("home");
    assert_eq!(read(&home.join("repo"), Some(&home), &disk.base.join("state"), &[]), Reading::default());
}

#[test]
fn links_out_devices_and_odd_bytes_are_left_out_and_links_inside_count() {
    let disk = Disk::new();
    let repo = disk.base.join("home/repo");
    std::fs::write(disk.base.join("secret"), "SECRET").unwrap();
    std::fs::create_dir_all(repo.join("out")).unwrap();
    std::os::unix::fs::symlink(disk.base.join("secret"), repo.join("out/AGENTS.md")).unwrap();
    std::fs::create_dir_all(repo.join("out/dir/AGENTS.md")).unwrap();
    disk.put("out/dir/nul/AGENTS.md", b"a\0b");
    disk.put("out/dir/nul/bytes/AGENTS.md", b"\xff\xfe");
    disk.put("out/dir/nul/bytes/AGENTS.md.txt", "x");
    disk.put("docs/rules.md", "rules");
    std::fs::create_dir_all(repo.join("out/dir/nul/bytes/in")).unwrap();
    let link = repo.join("out/dir/nul/bytes/in/AGENTS.md");
    std::os::unix::fs::symlink("../../../../../docs/rules.md", link).unwrap();
    let reading = disk.read("out/dir/nul/bytes/in");
    assert_eq!(
        texts(&reading),
        [
            ("out/AGENTS.md", "(unreadable)"),
            ("out/dir/AGENTS.md", "(unreadable)"),
            ("out/dir/nul/AGENTS.md", "(unreadable)"),
            ("out/dir/nul/bytes/AGENTS.md", "(unreadable)"),
            ("out/dir/nul/bytes/in/AGENTS.md", "rules"),
        ]
    );
    assert!(!format!("{reading:?}").contains("SECRET"));
}

#[test]
fn a_large_file_is_read_in_part_and_none_costs_nothing() {
    let disk = Disk::new();
    assert_eq!(disk.read(""), Reading { project: disk.read("").project, ..Reading::default() });
    assert!(!disk.read("").has_project_text());
    disk.put("AGENTS.md", "界".repeat(700_000));
    let reading = disk.read("");
    assert_eq!(reading.candidates[0].bytes, 2_100_000);
    let Content::Text { text, .. } = &reading.candidates[0].content else { panic!("{reading:?}") };
    assert!(text.len() <= MOST_READ && text.len() > MOST_READ - 4);
    assert!(disk.read("nowhere").project.is_none());
}
