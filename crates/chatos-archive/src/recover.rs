//! `chatos state recover`: a damaged database is kept, and the person chooses what takes its place.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatos_paths::{Environment, FileLock, StateDir, sync_dir, take_lock};
use chatos_store::{StoreErrorKind, iso_from_ms, list_backups, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Value, json};

use crate::salvage::{Salvage, damage_of, salvage};

/// What can take the place of a damaged database. The state is locked while this exists.
pub struct Recovery {
    dir: StateDir,
    _lock: FileLock,
    damage: String,
    salvage: Result<Salvage, String>,
    backup: Option<(PathBuf, Duration)>,
}

/// What the person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoverChoice {
    /// What could be read.
    Salvaged,
    /// The newest good copy.
    Backup,
}

/// Looks at a state that does not start; `None` when its database is whole.
pub fn examine_damage(
    environment: &Environment,
    state_dir: Option<PathBuf>,
) -> Result<Option<Recovery>, Fault> {
    let places = environment.locations(state_dir)?;
    if !places.state_dir.is_dir() {
        return Err(Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("there is no state at {}", places.state_dir.display()),
                format!("{} 处没有状态", places.state_dir.display()),
            ),
        )
        .hint(Text::fixed("name it with --state-dir", "请用 --state-dir 指定")));
    }
    let dir = StateDir::existing(&places.state_dir)?;
    let lock = take_lock(&dir, Duration::from_secs(3))?;
    let database = source_of(&dir);
    let damage = match damage_of(&database) {
        Ok(None) if database == dir.database() => return Ok(None),
        Ok(damage) => damage.unwrap_or_else(|| "an earlier rescue did not finish".to_owned()),
        Err(error) if error.kind == StoreErrorKind::Unavailable && !database.exists() => {
            "the file is missing".to_owned()
        }
        // Newer and foreign databases are not damaged: nothing here is ours to rescue.
        Err(error) => return Err(Fault::from(error)),
    };
    let rescued = dir.path().join("state.db.recovered");
    let salvage = salvage(&database, &rescued).map_err(|error| error.message);
    let backup = list_backups(&dir.backups()).into_iter().find(|(path, _)| {
        matches!(damage_of(path), Ok(None)) && path.metadata().is_ok_and(|meta| meta.len() > 0)
    });
    Ok(Some(Recovery { dir, _lock: lock, damage, salvage, backup }))
}

/// A rescue killed between its steps left the log with the kept files: then those are the source.
fn source_of(dir: &StateDir) -> PathBuf {
    let database = dir.database();
    let Ok(own) = database.metadata() else { return newest_kept(dir).unwrap_or(database) };
    if suffixed(&database, "-wal").exists() {
        return database;
    }
    match newest_kept(dir) {
        Some(kept) if kept.metadata().is_ok_and(|meta| meta.ino() == own.ino()) => kept,
        _ => database,
    }
}

fn newest_kept(dir: &StateDir) -> Option<PathBuf> {
    let mut kept: Vec<PathBuf> = std::fs::read_dir(dir.path())
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            name.starts_with("state.db.corrupt-") && !name.ends_with("-wal") && !name.ends_with("-shm")
        })
        .collect();
    kept.sort();
    kept.pop()
}

impl Recovery {
    /// What was found, table by table, and what there is to choose from.
    pub fn report(&self) -> Value {
        let salvaged = match &self.salvage {
            Ok(salvage) => {
                let tables: Vec<_> = salvage
                    .tables
                    .iter()
                    .map(|table| json!({ "name": table.name, "rows": table.rows, "refused": table.refused, "damaged": table.damaged }))
                    .collect();
                json!({ "rows": salvage.rows(), "complete": salvage.complete(), "identity": salvage.identity, "tables": tables })
            }
            Err(reason) => {
                json!({ "rows": 0, "complete": false, "identity": false, "tables": [], "reason": reason })
            }
        };
        let backup = self.backup.as_ref().map(|(path, age)| {
            let made = now_ms() - i64::try_from(age.as_millis()).unwrap_or_default();
            json!({ "file": path, "madeAt": iso_from_ms(made) })
        });
        json!({
            "state": "damaged", "database": self.dir.database(), "damage": self.damage,
            "salvaged": salvaged, "backup": backup,
        })
    }

    /// What can be chosen: only what holds something.
    pub fn can(&self, choice: RecoverChoice) -> bool {
        match choice {
            RecoverChoice::Salvaged => self.salvage.as_ref().is_ok_and(|salvage| salvage.rows() > 0),
            RecoverChoice::Backup => self.backup.is_some(),
        }
    }

    /// Puts the chosen database into place. The damaged one is kept with its log under another name.
    pub fn apply(self, choice: RecoverChoice) -> Result<Value, Fault> {
        if !self.can(choice) {
            return Err(nothing_there(choice));
        }
        let mut report = self.report();
        let new = self.dir.path().join("state.db.recovered");
        if choice == RecoverChoice::Backup
            && let Some((backup, _)) = &self.backup
        {
            let copied = std::fs::copy(backup, &new)
                .and_then(|_| std::fs::File::open(&new))
                .and_then(|file| file.sync_all());
            copied.map_err(|error| failed(&new, &error))?;
        }
        let kept = self.keep_damaged()?;
        let database = self.dir.database();
        // A log beside a database it does not belong to would be worked into it.
        for suffix in ["-wal", "-shm"] {
            match std::fs::remove_file(suffixed(&database, suffix)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(failed(&database, &error));
                }
                _ => {}
            }
        }
        std::fs::rename(&new, &database)
            .and_then(|()| sync_dir(self.dir.path()))
            .map_err(|error| failed(&database, &error))?;
        report["state"] = json!("recovered");
        report["used"] = json!(if choice == RecoverChoice::Salvaged { "salvaged" } else { "backup" });
        report["kept"] = json!(kept);
        Ok(report)
    }

    /// Further names for the damaged files, so that no moment exists without them.
    fn keep_damaged(&self) -> Result<Option<PathBuf>, Fault> {
        let database = self.dir.database();
        let Ok(own) = database.metadata() else { return Ok(newest_kept(&self.dir)) };
        if let Some(kept) = newest_kept(&self.dir)
            && kept.metadata().is_ok_and(|meta| meta.ino() == own.ino())
        {
            return Ok(Some(kept));
        }
        let stamp = iso_from_ms(now_ms()).replace([':', '.'], "-");
        let kept = suffixed(&database, &format!(".corrupt-{stamp}"));
        for suffix in ["-wal", "-shm", ""] {
            let from = suffixed(&database, suffix);
            if from.exists() {
                keep(&from, &suffixed(&kept, suffix)).map_err(|error| failed(&from, &error))?;
            }
        }
        sync_dir(self.dir.path()).map_err(|error| failed(&kept, &error))?;
        Ok(Some(kept))
    }
}

impl Drop for Recovery {
    fn drop(&mut self) {
        // Not chosen: nothing stays behind. After `apply` it is no longer there.
        std::fs::remove_file(self.dir.path().join("state.db.recovered")).ok();
    }
}

fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(from, to) {
        // A file system without links gets a copy.
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::Unsupported | std::io::ErrorKind::PermissionDenied
            ) =>
        {
            std::fs::copy(from, to).and_then(|_| std::fs::File::open(to)).and_then(|file| file.sync_all())
        }
        other => other,
    }
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn nothing_there(choice: RecoverChoice) -> Fault {
    let message = match choice {
        RecoverChoice::Salvaged => {
            Text::fixed("nothing could be read from the damaged database", "无法从损坏的数据库中读取任何内容")
        }
        RecoverChoice::Backup => Text::fixed("there is no good backup", "没有完好的备份"),
    };
    Fault::new(ErrorCode::NotFound, message).code("nothing_to_use").hint(Text::fixed(
        "`chatos state recover` shows what there is; `chatos restore FILE` brings back a backup of yours",
        "`chatos state recover` 会列出可用内容；`chatos restore FILE` 可恢复你的备份",
    ))
}

fn failed(path: &Path, error: &std::io::Error) -> Fault {
    let full = error.kind() == std::io::ErrorKind::StorageFull;
    let class = if full { ErrorCode::ResourceExhausted } else { ErrorCode::Unavailable };
    Fault::new(
        class,
        Text::new(
            format!("cannot put the rescued database into place: {}", path.display()),
            format!("无法放置恢复的数据库：{}", path.display()),
        ),
    )
    .code(if full { "disk_full" } else { "recover_failed" })
    .caused_by(error)
    .hint(Text::fixed(
        "the damaged files are still there; free space or mend the permissions and try again",
        "损坏的文件仍在原处；请释放空间或修正权限后重试",
    ))
}
