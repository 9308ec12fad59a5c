//! `chatos restore`: a backup takes the place of a state that nobody uses (state §8).

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatos_keys::{KeyPlace, SealError, StateKey};
use chatos_paths::{Environment, FileLock, StateDir, free_bytes, sync_dir, take_lock};
use chatos_store::{SCHEMA_VERSION, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::file::{ArchiveError, Manifest, extract_archive, verify_archive};
use crate::salvage::damage_of;

/// A folder with this file in it is a restore that did not finish; one without it is a state.
const MARK: &str = ".restoring";

/// What to bring back.
pub struct RestoreOrder<'a> {
    /// The environment, for the default places.
    pub environment: &'a Environment,
    /// `--state-dir`.
    pub state_dir: Option<PathBuf>,
    /// `--into`: this folder instead of the state directory.
    pub into: Option<PathBuf>,
    /// The backup.
    pub archive: PathBuf,
    /// Only look.
    pub dry_run: bool,
    /// Asked for the passphrase when the backup holds a key that is needed here; `None` leaves it.
    pub passphrase: &'a mut dyn FnMut() -> Option<Zeroizing<String>>,
    /// Told how many bytes are done; `false` stops.
    pub progress: &'a mut dyn FnMut(u64) -> bool,
}

/// Brings a backup back. On any failure the state is as it was.
pub fn restore(order: RestoreOrder<'_>) -> Result<Value, Fault> {
    let places = order.environment.locations(order.state_dir)?;
    let wanted = order
        .into
        .as_ref()
        .map_or(places.state_dir.clone(), |into| order.environment.current_dir().join(into));
    let archive = order.environment.current_dir().join(&order.archive);
    let manifest = verify_archive(&archive, order.progress)?;
    refuse_newer(&manifest)?;
    let keys = KeyPlace::of(order.environment, &places);
    let present = StateKey::is_here(&keys, &manifest.instance_id, &manifest.key_id);
    let mut report = json!({
        "state": "verified", "file": archive, "target": wanted, "createdAt": manifest.created_at,
        "chatos": manifest.chatos, "schema": manifest.schema, "instanceId": manifest.instance_id,
        "files": manifest.file_count(), "bytes": manifest.total_bytes(), "blobs": manifest.blobs,
        "leftOut": manifest.left_out, "previous": null,
        "key": if present { "present" } else if manifest.key.is_some() { "in_backup" } else { "missing" },
    });
    if order.dry_run {
        return Ok(report);
    }
    // A state that is reached by a link is replaced where it really is.
    let target = std::fs::canonicalize(&wanted).unwrap_or(wanted);
    let _held = hold(&target)?;
    let staging = beside(&target, ".restoring");
    clear_staging(&staging, &target)?;
    enough_space(&target, manifest.total_bytes())?;
    let made = extract(&archive, &manifest, &staging, order.progress);
    if let Err(fault) = made {
        // Only what this call wrote; the mark says so.
        std::fs::remove_dir_all(&staging).ok();
        return Err(fault);
    }
    let mut key = report["key"].take();
    if key == "in_backup" {
        key = json!(unlock(&manifest, &keys, order.passphrase)?);
    }
    report["key"] = key;
    let previous = swap(&staging, &target)?;
    report["state"] = json!("restored");
    report["target"] = json!(target);
    report["previous"] = json!(previous);
    Ok(report)
}

fn refuse_newer(manifest: &Manifest) -> Result<(), Fault> {
    if manifest.schema <= SCHEMA_VERSION {
        return Ok(());
    }
    Err(Fault::new(
        ErrorCode::Unavailable,
        Text::new(
            format!(
                "the backup was made by a newer ChatOS (schema {}; this one knows {SCHEMA_VERSION})",
                manifest.schema
            ),
            format!("备份由更新版本的 ChatOS 生成（结构 {}；当前为 {SCHEMA_VERSION}）", manifest.schema),
        ),
    )
    .code("database_newer")
    .hint(Text::fixed("use that newer ChatOS; nothing was changed", "请使用更新版本的 ChatOS；没有任何更改")))
}

/// The lock of a state that exists; a running host is reported and nothing touched.
fn hold(target: &Path) -> Result<Option<FileLock>, Fault> {
    if target.symlink_metadata().is_err() {
        return Ok(None);
    }
    if !target.is_dir() {
        return Err(Fault::from(chatos_paths::PathError::NotADirectory { path: target.to_owned() }));
    }
    let dir = StateDir::existing(target)?;
    take_lock(&dir, Duration::from_secs(3)).map(Some)
}

fn beside(target: &Path, suffix: &str) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A staging folder of an earlier, killed restore: unfinished ones go, a former state is kept.
fn clear_staging(staging: &Path, target: &Path) -> Result<(), Fault> {
    let Ok(meta) = staging.symlink_metadata() else { return Ok(()) };
    let fail = |source| failed("make room for the restored state", staging, source);
    if meta.is_dir() && !staging.join(MARK).exists() {
        let kept = before_name(target);
        return std::fs::rename(staging, kept).map_err(fail);
    }
    let removed =
        if meta.is_dir() { std::fs::remove_dir_all(staging) } else { std::fs::remove_file(staging) };
    removed.map_err(fail)
}

fn before_name(target: &Path) -> PathBuf {
    beside(target, &format!(".before-restore-{}", iso_from_ms(now_ms()).replace([':', '.'], "-")))
}

fn enough_space(target: &Path, bytes: u64) -> Result<(), Fault> {
    let place = target.ancestors().find(|path| path.is_dir()).unwrap_or(Path::new("/"));
    // A file system that does not tell is tried.
    let free = free_bytes(place).unwrap_or(u64::MAX);
    if free > bytes {
        return Ok(());
    }
    Err(Fault::new(
        ErrorCode::ResourceExhausted,
        Text::new(
            format!("the restored state needs {} MiB, {} MiB are free", bytes >> 20, free >> 20),
            format!("恢复需要 {} MiB，可用 {} MiB", bytes >> 20, free >> 20),
        ),
    )
    .code("disk_full")
    .hint(Text::fixed(
        "free some space, or use --into on another disk",
        "请释放空间，或用 --into 恢复到其他磁盘",
    )))
}

fn extract(
    archive: &Path,
    manifest: &Manifest,
    staging: &Path,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Fault> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(staging);
    made.and_then(|()| std::fs::write(staging.join(MARK), ""))
        .map_err(|e| failed("restore into", staging, e))?;
    extract_archive(archive, manifest, staging, progress)?;
    let database = staging.join("state.db");
    let damage = if database.is_file() {
        damage_of(&database)?
    } else {
        Some("there is no database in it".to_owned())
    };
    match damage {
        None => Ok(()),
        Some(reason) => Err(ArchiveError::Damaged { path: archive.to_owned(), reason }.into()),
    }
}

fn unlock(
    manifest: &Manifest,
    keys: &KeyPlace,
    ask: &mut dyn FnMut() -> Option<Zeroizing<String>>,
) -> Result<&'static str, Fault> {
    let (Some(locked), Some(passphrase)) = (&manifest.key, ask()) else { return Ok("in_backup") };
    match StateKey::unlock_into(locked, &passphrase, &manifest.instance_id, keys)? {
        Ok(true) => Ok("restored"),
        Ok(false) => Ok("present"),
        Err(SealError::Damaged | SealError::OtherKey { .. } | SealError::NoRandom) => Err(Fault::new(
            ErrorCode::PermissionDenied,
            Text::fixed("the passphrase does not open the key in the backup", "口令无法打开备份中的密钥"),
        )
        .code("passphrase_wrong")
        .hint(Text::fixed(
            "try again, or leave it empty to restore without the key; nothing was changed",
            "请重试，或留空以不带密钥恢复；没有任何更改",
        ))),
    }
}

/// One step from the old state to the new one. Returns where the old one is kept.
fn swap(staging: &Path, target: &Path) -> Result<Option<PathBuf>, Fault> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let fail = |source: std::io::Error| failed("put the restored state into place", target, source);
    let parent = target.parent().unwrap_or(Path::new("/"));
    let unmark = || std::fs::remove_file(target.join(MARK)).and_then(|()| sync_dir(target)).map_err(fail);
    if target.symlink_metadata().is_err() {
        renameat_with(CWD, staging, CWD, target, RenameFlags::NOREPLACE).map_err(|e| fail(e.into()))?;
        sync_dir(parent).map_err(fail)?;
        unmark()?;
        return Ok(None);
    }
    if let Err(error) = renameat_with(CWD, staging, CWD, target, RenameFlags::EXCHANGE) {
        std::fs::remove_dir_all(staging).ok();
        return Err(fail(error.into()).hint(Text::fixed(
            "this file system cannot exchange folders in one step; restore into a new folder with --into and move it yourself",
            "该文件系统无法一步交换文件夹；请用 --into 恢复到新文件夹后自行移动",
        )));
    }
    sync_dir(parent).map_err(fail)?;
    unmark()?;
    // From here on the new state is in force; the old one only gets a better name.
    let kept = before_name(target);
    std::fs::rename(staging, &kept).and_then(|()| sync_dir(parent)).map_err(fail)?;
    Ok(Some(kept))
}

fn failed(action: &'static str, path: &Path, source: std::io::Error) -> Fault {
    ArchiveError::Io { action, path: path.to_owned(), source }.into()
}
