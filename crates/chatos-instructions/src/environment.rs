//! Where and when a message was written: the date, the folder and its branch (working-day §5). It stands before the
//! message for ever, never in the system prompt, so that what was sent once stays the beginning of every later request.

use std::path::{Path, PathBuf};

use chatos_tool::Lang;

use crate::project::Project;

const FIRST: &str = "[environment]";
const LAST: &str = "[end of environment]";
/// Longest name of a branch that is told.
const BRANCH: usize = 100;
/// Bytes of a file of Git that are looked at.
const HEAD: u64 = 4_096;

/// The environment of a workspace now, as a model is told. Blocks on the disk.
pub fn environment(workspace: &Path, home: Option<&Path>, lang: Lang) -> String {
    let today = jiff::Zoned::now().date().to_string();
    let branch = Project::around(workspace, home).and_then(|project| branch_of(&project.root));
    words(&today, &workspace.display().to_string(), branch.as_deref(), lang)
}

fn words(today: &str, folder: &str, branch: Option<&str>, lang: Lang) -> String {
    let plain = |text: &str| chatos_mcp::plain_for_model(text).replace(['\n', '`'], " ");
    let folder = plain(folder);
    let branch = branch.map(plain);
    let mut lines = match lang {
        Lang::En => vec![format!("Today is {today}."), format!("You work in the folder `{folder}`.")],
        Lang::Zh => vec![format!("今天是 {today}。"), format!("工作目录是 `{folder}`。")],
    };
    if let Some(branch) = branch {
        lines.push(match lang {
            Lang::En => format!("Its Git branch is `{branch}`."),
            Lang::Zh => format!("所在的 Git 分支是 `{branch}`。"),
        });
    }
    let gap = if lang == Lang::En { " " } else { "" };
    format!("{FIRST} {} {LAST}", lines.join(gap))
}

/// The branch of a repository, by its files; a commit where none is checked out.
fn branch_of(root: &Path) -> Option<String> {
    let git = root.join(".git");
    let dir = if git.is_dir() {
        git
    } else {
        // A worktree names the place of its files.
        let place = PathBuf::from(read(&git)?.strip_prefix("gitdir:")?.trim());
        if place.is_absolute() { place } else { root.join(place) }
    };
    let head = read(&dir.join("HEAD"))?;
    let head = head.trim();
    if let Some(name) = head.strip_prefix("ref: refs/heads/") {
        let sound = !name.is_empty() && name.chars().count() <= BRANCH && !name.chars().any(char::is_control);
        return sound.then(|| name.to_owned());
    }
    let commit = head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    commit.then(|| head[..12].to_owned())
}

/// The beginning of a small text file; nothing of anything else.
fn read(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let file =
        std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))?;
    let mut text = String::new();
    file.take(HEAD).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_when_and_where_in_one_language() {
        assert_eq!(
            words("2026-01-31", "/w", Some("main"), Lang::En),
            "[environment] Today is 2026-01-31. You work in the folder `/w`. Its Git branch is `main`. [end of environment]"
        );
        assert_eq!(
            words("2026-01-31", "/w", None, Lang::Zh),
            "[environment] 今天是 2026-01-31。工作目录是 `/w`。 [end of environment]"
        );
        // Names are a stranger's: they do not end the block and begin no line.
        let odd = words("2026-01-31", "/a`b\nc", Some("x`y"), Lang::En);
        assert!(!odd.contains('\n') && odd.matches('`').count() == 4, "{odd}");
    }

    #[test]
    fn a_branch_is_known_by_the_files_of_git() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        assert_eq!(branch_of(root), None);
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(branch_of(root), None);
        for (head, branch) in [
            ("ref: refs/heads/work/day\n", Some("work/day")),
            ("0123456789abcdef0123456789abcdef01234567\n", Some("0123456789ab")),
            ("ref: refs/heads/\n", None),
            ("anything else", None),
        ] {
            std::fs::write(root.join(".git/HEAD"), head).unwrap();
            assert_eq!(branch_of(root).as_deref(), branch, "{head}");
        }
        let tree = root.join("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/other\n").unwrap();
        std::fs::write(tree.join(".git"), "gitdir: ../.git\n").unwrap();
        assert_eq!(branch_of(&tree).as_deref(), Some("other"));
    }
}
