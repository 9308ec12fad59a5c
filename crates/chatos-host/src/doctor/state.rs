//! What the doctor looks at in the state directory besides the database, and the lossless repairs.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chatos_events::Finding;
use chatos_keys::KeyWhere;
use chatos_paths::{ensure_link, read_announcement};
use chatos_store::{KeyState, SecretInfo};
use chatos_tool::{Fault, Text};
use chatos_wire::Severity;

use crate::host::Host;

/// Younger files may belong to work under way.
const OLD_ENOUGH: Duration = Duration::from_secs(3600);
/// Folders whose files are ours alone; plugins decide the modes of their own.
const OWN_FOLDERS: [&str; 5] = ["audit", "backups", "import", "prompt-archive", "runtime"];

impl Host {
    pub(super) fn examine_state(&self, deep: bool) -> Vec<Finding> {
        let mut findings = vec![self.examine_key(), self.examine_secrets()];
        findings.push(self.examine_blobs(deep));
        findings.extend(self.examine_link());
        findings.extend(self.examine_leftovers());
        findings.extend(self.examine_announcement());
        findings
    }

    /// Where the key is kept, and who may read it.
    fn examine_key(&self) -> Finding {
        let title = Text::fixed("State key", "状态密钥");
        let KeyState { id, place, former } = self.keys().state();
        let before = match former {
            0 => Text::same(String::new()),
            _ => Text::new(format!(", rotated {former} times"), format!("，已更换 {former} 次")),
        };
        let ok = |en: &str, zh: &str| {
            let message = Text::new(format!("{id} {en}{}", before.en), format!("{id}，{zh}{}", before.zh));
            Finding::new("state_key", Severity::Ok, title.clone(), message)
        };
        let path = match place {
            KeyWhere::Named(_) => {
                return ok("in the file CHATOS_MASTER_KEY_FILE names", "由 CHATOS_MASTER_KEY_FILE 指定");
            }
            KeyWhere::Keychain => return ok("in the keychain", "保存在钥匙串中"),
            KeyWhere::File(path) => path,
        };
        match mode_of(&path) {
            Some(mode) if mode & 0o077 != 0 => {
                let mut finding = Finding::new(
                    "state_key_wide",
                    Severity::Warning,
                    title,
                    Text::new(format!("others may read it (mode {mode:o})"), format!("其他用户可以读取（权限 {mode:o}）")),
                )
                .at(path)
                .action(narrows());
                finding.fixable = true;
                finding
            }
            Some(_) => ok("in a file", "保存在文件中").at(path),
            None => Finding::new(
                "state_key_gone",
                Severity::Error,
                title,
                Text::fixed("the key file is gone; this process still has the key", "密钥文件已消失；当前进程仍持有密钥"),
            )
            .at(path)
            .action(Text::fixed(
                "put the file back from a copy before ChatOS stops; `chatos backup --with-key` keeps the key too",
                "请在 ChatOS 停止前从副本放回该文件；`chatos backup --with-key` 也会保存密钥",
            )),
        }
    }

    fn key_path(&self) -> Option<PathBuf> {
        match self.key().place() {
            KeyWhere::File(path) => Some(path),
            KeyWhere::Named(_) | KeyWhere::Keychain => None,
        }
    }

    fn examine_secrets(&self) -> Finding {
        let title = Text::fixed("Secrets", "密钥");
        let secrets = match self.secrets().list() {
            Ok(secrets) => secrets,
            Err(fault) => return failed(fault, title),
        };
        let sealed: Vec<&SecretInfo> = secrets.iter().filter(|secret| !secret.openable).collect();
        if sealed.is_empty() {
            let message = Text::new(
                format!("{} set, all can be opened", secrets.len()),
                format!("已设置 {} 个，均可打开", secrets.len()),
            );
            return Finding::new("secrets", Severity::Ok, title, message);
        }
        let names = sealed.iter().map(|secret| secret.name.as_str()).collect::<Vec<_>>().join(", ");
        Finding::new(
            "secrets_sealed",
            Severity::Warning,
            title,
            Text::new(format!("cannot be opened: {names}"), format!("无法打开：{names}")),
        )
        .action(Text::fixed(
            "put the former key file back, or set them again with `chatos secrets set`",
            "请放回原来的密钥文件，或用 `chatos secrets set` 重新设置",
        ))
    }

    fn examine_blobs(&self, deep: bool) -> Finding {
        let title = Text::fixed("Kept contents", "保存的内容");
        let state = match self.store().blob_state(deep) {
            Ok(state) => state,
            Err(error) => return failed(Fault::from(error), title),
        };
        let folder = self.dir().blobs();
        if let Some(first) = state.missing.first() {
            let count = state.missing.len();
            return Finding::new(
                "blobs_missing",
                Severity::Error,
                title,
                Text::new(
                    format!("{count} are missing or damaged, such as {first}"),
                    format!("{count} 个缺失或损坏，例如 {first}"),
                ),
            )
            .at(folder)
            .action(Text::fixed("restore a backup if you need them", "如需要请恢复备份"));
        }
        if state.miscounted > 0 {
            let mut finding = Finding::new(
                "blobs_miscounted",
                Severity::Warning,
                title,
                Text::new(
                    format!("{} have a wrong number of references", state.miscounted),
                    format!("{} 个的引用计数不正确", state.miscounted),
                ),
            )
            .at(folder)
            .action(Text::fixed(
                "`chatos doctor --fix` counts them anew",
                "`chatos doctor --fix` 会重新计数",
            ));
            finding.fixable = true;
            return finding;
        }
        Finding::new(
            "blobs",
            Severity::Ok,
            title,
            Text::new(format!("{} whole", state.rows), format!("{} 个完好", state.rows)),
        )
    }

    fn examine_link(&self) -> Option<Finding> {
        if !self.settings().bool("legacyLink") {
            return None;
        }
        let legacy = self.places().legacy_dir.as_ref()?;
        if legacy.symlink_metadata().is_ok() {
            return None;
        }
        let mut finding = Finding::new(
            "legacy_link_missing",
            Severity::Warning,
            Text::fixed("Older location", "旧位置"),
            Text::fixed("the link to the state directory is missing", "指向状态文件夹的链接缺失"),
        )
        .at(legacy)
        .action(Text::fixed("`chatos doctor --fix` makes it", "`chatos doctor --fix` 会创建它"));
        finding.fixable = true;
        Some(finding)
    }

    fn examine_leftovers(&self) -> Option<Finding> {
        let left = leftovers(self.dir().path(), OLD_ENOUGH);
        let first = left.first()?.clone();
        let mut finding = Finding::new(
            "leftovers",
            Severity::Warning,
            Text::fixed("Leftovers", "残留文件"),
            Text::new(
                format!("{} unfinished copies of something that was stopped", left.len()),
                format!("{} 个中断操作留下的未完成副本", left.len()),
            ),
        )
        .at(first)
        .action(Text::fixed("`chatos doctor --fix` removes them", "`chatos doctor --fix` 会删除它们"));
        finding.fixable = true;
        Some(finding)
    }

    /// This process holds the lock and does not serve: an announcement is somebody's who was killed.
    fn examine_announcement(&self) -> Option<Finding> {
        if self.is_serving() {
            return None;
        }
        let stale = read_announcement(self.dir())?;
        let mut finding = Finding::new(
            "host_json_stale",
            Severity::Info,
            Text::fixed("Last host", "上次的主机"),
            Text::new(
                format!("it was killed (pid {})", stale.pid),
                format!("上次的主机被强制结束（进程 {}）", stale.pid),
            ),
        )
        .at(self.dir().host_json())
        .action(Text::fixed("nothing to do; the next start replaces it", "无需处理；下次启动会替换它"));
        finding.fixable = true;
        Some(finding)
    }

    /// Repairs that lose nothing: modes, counts, unfinished copies, the link, a stale announcement.
    pub(super) fn repair(&self) {
        let mut paths = wide_files(self.dir().path()).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
        paths.extend(self.key_path().filter(|path| mode_of(path).is_some_and(|mode| mode & 0o077 != 0)));
        for path in paths {
            let mode = if path.is_dir() { 0o700 } else { 0o600 };
            if let Err(error) = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)) {
                tracing::warn!(path = %path.display(), %error, "cannot narrow a mode");
            }
        }
        if let Err(error) = self.store().recount_blobs() {
            tracing::warn!(%error, "cannot count references");
        }
        remove_leftovers(self.dir().path(), OLD_ENOUGH);
        if self.settings().bool("legacyLink")
            && let Some(warning) = ensure_link(self.places())
        {
            tracing::warn!(code = warning.code(), "cannot make the link at the older location");
        }
        if !self.is_serving() && read_announcement(self.dir()).is_some() {
            // Failing costs nothing: the lock decides who runs.
            std::fs::remove_file(self.dir().host_json()).ok();
        }
    }
}

fn failed(fault: Fault, title: Text) -> Finding {
    let mut finding = Finding::new(fault.code, Severity::Error, title, fault.message);
    finding.action = fault.hint;
    finding
}

pub(super) fn narrows() -> Text {
    Text::fixed("`chatos doctor --fix` narrows it", "`chatos doctor --fix` 会收紧权限")
}

fn mode_of(path: &Path) -> Option<u32> {
    path.symlink_metadata().ok().map(|meta| meta.permissions().mode() & 0o777)
}

/// Files and folders of ours that others may read or write.
pub(super) fn wide_files(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mut wide = Vec::new();
    for folder in std::iter::once(dir.to_owned()).chain(OWN_FOLDERS.iter().map(|name| dir.join(name))) {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        wide.extend(entries.flatten().filter_map(|entry| {
            let meta = entry.path().symlink_metadata().ok()?;
            let mode = meta.permissions().mode() & 0o777;
            (!meta.is_symlink() && mode & 0o077 != 0).then(|| (entry.path(), mode))
        }));
    }
    wide.sort();
    wide
}

/// Unfinished copies that a kill left: each is a draft of something that exists elsewhere or was never
/// acknowledged.
fn leftovers(dir: &Path, age: Duration) -> Vec<PathBuf> {
    let is_left = |folder: &str, name: &str| match folder {
        "backups" => name.starts_with(".archive-") || name.ends_with(".partial"),
        "import" => name.starts_with(".copy-") || name.ends_with(".partial"),
        _ => {
            name.starts_with("state.db.copy-")
                || (name.starts_with('.') && name.contains(".tmp-"))
                || name.starts_with(".probe-")
        }
    };
    let mut left = Vec::new();
    for folder in ["", "backups", "import"] {
        let Ok(entries) = std::fs::read_dir(dir.join(folder)) else { continue };
        for entry in entries.flatten() {
            let old = entry
                .metadata()
                .and_then(|meta| meta.modified())
                .is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age));
            if old && is_left(folder, &entry.file_name().to_string_lossy()) {
                left.push(entry.path());
            }
        }
    }
    left.sort();
    left
}

/// Removes unfinished copies. At a start, with the lock just taken, all of them are somebody's who died.
pub(crate) fn remove_leftovers(dir: &Path, age: Duration) {
    for path in leftovers(dir, age) {
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        if let Err(error) = removed {
            tracing::warn!(path = %path.display(), %error, "cannot remove a leftover");
        }
    }
}
