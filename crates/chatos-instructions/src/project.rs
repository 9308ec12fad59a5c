//! Which folders belong to a project: from the repository's root down to the workspace (packages §4.1).

use std::path::{Path, PathBuf};

/// A workspace and the project around it, as real paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder in which the agent of a chat works.
    pub workspace: PathBuf,
    /// The nearest folder from there upwards that holds `.git`, else the workspace.
    pub root: PathBuf,
}

impl Project {
    /// Looks upwards from a workspace, never above the home directory and never at `/`. A folder that is not there has
    /// no project. Blocks on the disk.
    pub fn around(workspace: &Path, home: Option<&Path>) -> Option<Self> {
        let workspace = workspace.canonicalize().ok().filter(|path| path.is_dir())?;
        let home = home.and_then(|home| home.canonicalize().ok());
        let beyond = |folder: &Path| {
            folder.parent().is_none()
                || home.as_deref().is_some_and(|home| home != folder && home.starts_with(folder))
        };
        if beyond(&workspace) {
            return None;
        }
        let inside = workspace.ancestors().take_while(|folder| !beyond(folder));
        let root = inside.into_iter().find(|folder| folder.join(".git").symlink_metadata().is_ok());
        let root = root.unwrap_or(&workspace).to_owned();
        Some(Self { workspace, root })
    }

    /// The folders of the project from its root to the workspace, relative to the root; the first is empty.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![PathBuf::new()];
        if let Ok(below) = self.workspace.strip_prefix(&self.root) {
            for part in below.components() {
                let next = folders.last().map(|last| last.join(part)).unwrap_or_default();
                folders.push(next);
            }
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_repository_counts_and_nothing_above_the_home() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let home = base.join("home");
        std::fs::create_dir_all(home.join("work/app/src")).unwrap();
        let around = |path: &Path| Project::around(path, Some(&home)).map(|project| project.root);
        let src = home.join("work/app/src");
        assert_eq!(around(&src), Some(src.clone()));
        // A repository above the home directory is not looked at.
        std::fs::create_dir(base.join(".git")).unwrap();
        assert_eq!(around(&src), Some(src.clone()));
        assert_eq!(around(&home), Some(home.clone()));
        assert_eq!(around(&base), None);
        assert_eq!(around(Path::new("/")), None);
        assert_eq!(Project::around(Path::new("/"), None), None);
        assert_eq!(around(&home.join("nowhere")), None);
        // Of a worktree `.git` is a file.
        std::fs::write(home.join("work/.git"), "gitdir: x").unwrap();
        assert_eq!(around(&src), Some(home.join("work")));
        std::fs::create_dir(home.join("work/app/.git")).unwrap();
        let project = Project::around(&src, Some(&home)).unwrap();
        assert_eq!(project.root, home.join("work/app"));
        assert_eq!(project.folders(), [PathBuf::new(), PathBuf::from("src")]);
        // A workspace outside the home has its own repository.
        let other = base.join("other/deep");
        std::fs::create_dir_all(&other).unwrap();
        assert_eq!(around(&other), Some(other));
    }
}
