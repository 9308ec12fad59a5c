//! The files as they are now, compared with what is to be undone: steps of a commit, or a refusal.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

use chatos_files::change::{ChangeKind, Content, FileChange, MAX_KEPT_BYTES};
use chatos_files::commit::Step;
use chatos_files::entry::{FileId, Kind, size_of};
use chatos_files::held::Held;
use chatos_files::plan::{Before, PlannedFile};
use chatos_files::read::{self, ScanCache};
use chatos_files::stop::Never;
use chatos_files::{DenyRule, FileError, Last, Protected, Root, SymlinkPolicy, walk};
use chatos_store::{ContentState, Store};
use chatos_tool::Fault;

use super::net::{Net, Side};
use super::{UndoAction, UndoHome, UndoStep, refuse};

/// Contents that one undo holds in memory.
const MOST_BYTES: usize = 256 << 20;
/// Later changes that a refusal names.
const MOST_NAMED: usize = 20;

/// Opens the root of recorded changes: the same directory as then, by its real path.
pub(super) fn open_root(home: &UndoHome, root: &str) -> Result<Root, Fault> {
    let protected = Protected::new(home.protected.iter().cloned().chain([home.state_dir.clone()]));
    let open = if Path::new(root).is_absolute() {
        Root::open(Path::new(root), SymlinkPolicy::Deny, protected)
    } else {
        Err(std::io::Error::from(std::io::ErrorKind::NotFound))
    };
    let open = open.map_err(|error| refuse::root_gone(root, &error))?;
    if open.path() != Path::new(root) {
        return Err(refuse::root_elsewhere(root, &open.path().display().to_string()));
    }
    // Beneath the root the engine looks at every directory; above it nobody else does.
    let ids = open.protected();
    let inside = open
        .path()
        .ancestors()
        .any(|dir| rustix::fs::stat(dir).is_ok_and(|stat| ids.contains(FileId::of(&stat))));
    if inside {
        return Err(refuse::file(FileError::denied(DenyRule::ProtectedPath, root)));
    }
    Ok(open)
}

/// A look at the disk for one undo.
pub(super) struct Look<'a> {
    pub(super) store: &'a Store,
    pub(super) root: &'a Root,
    /// The newest of the changes to be undone.
    pub(super) newest: i64,
}

/// What is at a path.
enum Now {
    Absent,
    /// A file; its bytes when they are few enough to be recorded.
    File(Before),
    /// A link, a directory, something else.
    Other(Kind),
}

type Work = (Vec<Step>, Vec<(UndoStep, FileChange)>);

impl Look<'_> {
    /// The steps that bring every path back.
    pub(super) fn compare(&self, nets: &[Net]) -> Result<Work, Fault> {
        let by_path: BTreeMap<&str, &Net> = nets.iter().map(|net| (net.path.as_str(), net)).collect();
        let mut done: HashSet<&str> = HashSet::new();
        let (mut steps, mut work) = (Vec::new(), Vec::new());
        let mut room = MOST_BYTES;
        // Moves first: they take two paths at once.
        for net in nets.iter().filter(|net| net.from.is_some()) {
            let origin = net.from.as_deref().and_then(|from| by_path.get(from)).copied();
            let Some(origin) = origin.filter(|origin| {
                origin.last == Side::Absent && origin.first != Side::Absent && net.first == Side::Absent
            }) else {
                continue;
            };
            if done.contains(origin.path.as_str()) {
                continue;
            }
            self.move_back(origin, net, &mut room, &mut steps, &mut work)?;
            done.extend([origin.path.as_str(), net.path.as_str()]);
        }
        for net in nets.iter().filter(|net| !done.contains(net.path.as_str())) {
            self.bring_back(net, &mut room, &mut steps, &mut work)?;
        }
        // What goes, goes last: a file that comes back may take its attributes from it.
        steps.sort_by_key(|step| matches!(step, Step::Remove { .. }));
        Ok((steps, work))
    }

    /// One path whose content changed, came or went.
    fn bring_back(
        &self,
        net: &Net,
        room: &mut usize,
        steps: &mut Vec<Step>,
        work: &mut Vec<(UndoStep, FileChange)>,
    ) -> Result<(), Fault> {
        let path = &net.path;
        let wanted = match &net.first {
            Side::Absent => None,
            first => Some(self.content(path, first, room)?),
        };
        if net.last == Side::Unknown {
            return Err(refuse::unknown(path));
        }
        let now = self.expect(net)?;
        let expected = now.expected();
        let (action, kind) = match (&now, &wanted) {
            (Before::Absent, _) => (UndoAction::Recreated, ChangeKind::Created),
            (_, None) => (UndoAction::Removed, ChangeKind::Deleted),
            _ => (UndoAction::Restored, ChangeKind::Modified),
        };
        steps.push(match &wanted {
            Some(content) => {
                Step::Put { path: path.clone(), expected, content: content.clone(), mode: None, like: None }
            }
            None => Step::Remove { path: path.clone(), expected },
        });
        let file = planned(path, None, kind, now, wanted);
        work.push((UndoStep { path: path.clone(), action, changes: net.ids.clone() }, file.change()));
        Ok(())
    }

    /// A file that is at another path now.
    fn move_back(
        &self,
        origin: &Net,
        net: &Net,
        room: &mut usize,
        steps: &mut Vec<Step>,
        work: &mut Vec<(UndoStep, FileChange)>,
    ) -> Result<(), Fault> {
        let mut changes = net.ids.clone();
        changes.extend(origin.ids.iter().filter(|id| !net.ids.contains(id)).cloned());
        let shown = UndoStep { path: origin.path.clone(), action: UndoAction::MovedBack, changes };
        self.expect(origin)?;
        let rename = Step::Rename { from: net.path.clone(), to: origin.path.clone(), overwrite: false };
        let moved = |before: Content, after: Content| FileChange {
            kind: ChangeKind::Moved,
            path: origin.path.clone(),
            mode: "undo",
            before,
            after,
            diff: format!("rename from {}\nrename to {}\n", net.path, origin.path),
        };
        if net.last == Side::Unknown && origin.first == Side::Unknown {
            // A link or an empty directory goes back as it is: nothing in it can be lost.
            self.movable(&net.path)?;
            steps.push(rename);
            work.push((shown, moved(Content::Absent, Content::Absent)));
            return Ok(());
        }
        if net.last == Side::Unknown {
            return Err(refuse::unknown(&net.path));
        }
        let now = self.expect(net)?;
        let same = match &origin.first {
            Side::Content { sha256, .. } => now.digest().is_some_and(|digest| digest.as_str() == sha256),
            _ => false,
        };
        if same {
            let content = now.content();
            steps.push(rename);
            work.push((shown, moved(content.clone(), content)));
            return Ok(());
        }
        let wanted = self.content(&origin.path, &origin.first, room)?;
        steps.push(Step::Put {
            path: origin.path.clone(),
            expected: None,
            content: wanted.clone(),
            mode: None,
            like: Some(net.path.clone()),
        });
        steps.push(Step::Remove { path: net.path.clone(), expected: now.expected() });
        let file = planned(&origin.path, Some(net.path.clone()), ChangeKind::Moved, now, Some(wanted));
        work.push((shown, file.change()));
        Ok(())
    }

    /// The bytes to bring back.
    fn content(&self, path: &str, side: &Side, room: &mut usize) -> Result<Held, Fault> {
        let Side::Content { sha256, state, .. } = side else { return Err(refuse::not_kept(path, false)) };
        if *state != ContentState::Kept {
            return Err(refuse::not_kept(path, *state == ContentState::Omitted));
        }
        let bytes = self.store.blob(sha256).ok_or_else(|| refuse::not_kept(path, false))?;
        *room = room.checked_sub(bytes.len()).ok_or_else(|| refuse::too_much(MOST_BYTES))?;
        Ok(bytes.into())
    }

    /// What is there, when it is what the newest change left; else why not.
    fn expect(&self, net: &Net) -> Result<Before, Fault> {
        let changed = || Ok(refuse::changed(&net.path, &self.later(&net.path)?));
        let known = match &net.last {
            Side::Content { size, .. } => *size,
            _ => None,
        };
        match (&net.last, self.now(&net.path, known)?) {
            (Side::Absent, Now::Absent) => Ok(Before::Absent),
            (Side::Absent, _) => Err(refuse::exists(&net.path)),
            (Side::Content { sha256, .. }, Now::File(before))
                if before.digest().is_some_and(|digest| digest.as_str() == sha256) =>
            {
                Ok(before)
            }
            _ => changed().and_then(Err),
        }
    }

    /// What is at a path. A large file is only read to its end when it has the size that is wanted.
    fn now(&self, path: &str, wanted: Option<u64>) -> Result<Now, Fault> {
        let place = match self.root.resolve(path, Last::Itself) {
            Ok(place) => place,
            // A file stands where a directory of it was.
            Err(FileError::Invalid { .. }) => return Err(refuse::changed(path, &[])),
            Err(error) => return Err(refuse::file(error)),
        };
        // A path was recorded with every link resolved; another place now means that a link came between.
        if place.rel() != path {
            return Err(refuse::changed(path, &[]));
        }
        match place.kind() {
            None => return Ok(Now::Absent),
            Some(Kind::File) => {}
            Some(other) => return Ok(Now::Other(other)),
        }
        let opened = self.root.open_file(path).map_err(refuse::file)?;
        let size = size_of(&opened.stat);
        if size > MAX_KEPT_BYTES as u64 {
            if wanted.is_some_and(|wanted| wanted != size) {
                return Err(refuse::changed(path, &self.later(path)?));
            }
            let (_, digest) =
                read::scan(self.root, &ScanCache::default(), path, &Never).map_err(refuse::file)?;
            return Ok(Now::File(Before::Large(digest, size)));
        }
        let bytes = read::read_whole(&opened, MAX_KEPT_BYTES as u64).map_err(|error| match error {
            FileError::Exhausted { path, .. } => refuse::changed(&path, &[]),
            other => refuse::file(other),
        })?;
        Ok(Now::File(Before::Bytes(bytes.into())))
    }

    /// Whether an entry without a recorded content may go back as it is.
    fn movable(&self, path: &str) -> Result<(), Fault> {
        match self.now(path, None)? {
            Now::Other(Kind::Symlink) => Ok(()),
            Now::Other(Kind::Directory) => {
                let mut entries = 0_usize;
                let opened = self.root.open_dir_nofollow(path.as_bytes());
                let read = opened.and_then(|dir| walk::read_dir(&dir, |_, _| entries += 1));
                read.map_err(|errno| refuse::file(FileError::os("list", path, errno)))?;
                if entries == 0 { Ok(()) } else { Err(refuse::unknown(path)) }
            }
            Now::Absent => Err(refuse::changed(path, &self.later(path)?)),
            _ => Err(refuse::unknown(path)),
        }
    }

    fn later(&self, path: &str) -> Result<Vec<String>, Fault> {
        let root = self.root.path().display().to_string();
        self.store.later_changes(&root, path, self.newest, MOST_NAMED).map_err(|error| {
            Fault::new(chatos_tool::ErrorCode::Unavailable, chatos_tool::Text::same(error.message))
        })
    }
}

fn planned(
    path: &str,
    from: Option<String>,
    kind: ChangeKind,
    before: Before,
    after: Option<Held>,
) -> PlannedFile {
    PlannedFile { path: path.to_owned(), from, kind, mode: "undo", before, after, made: OnceLock::new() }
}
