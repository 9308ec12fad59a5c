//! What a start decides and tells before the host serves: the key, the project, what was noticed.

use std::path::PathBuf;

use chatos_events::Notice;
use chatos_keys::{KeyPlace, StateKey};
use chatos_paths::{Environment, LegacyWarning, Locations, StateDir, ensure_link};
use chatos_store::{Backup, Store, StoreError};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::Severity;

use super::{Host, HostConfig};

impl Host {
    /// The audit log is at most one group of records ahead of the database after a kill; when it is more,
    /// commits are missing, for example because the database's log was deleted.
    pub(super) fn tell_lost_commits(&self) {
        let ahead = self.audit.lost();
        if ahead == 0 {
            return;
        }
        self.notice(Notice {
            code: "database_behind".to_owned(),
            severity: Severity::Warning,
            message: Text::new(
                format!("the database is older than the audit log by {ahead} records; recent changes may be missing"),
                format!("数据库比审计日志旧 {ahead} 条记录；最近的更改可能丢失"),
            ),
            hint: Some(Text::fixed(
                "if you did not put an older copy in place yourself, look into the backups folder of the state directory",
                "如果不是你自己放回了旧副本，请查看状态文件夹的 backups 文件夹",
            )),
        });
    }

    /// The copy before the first start of this version; without it the start goes on, and says so.
    pub(super) fn tell_copied(&self, copied: Result<Option<Backup>, StoreError>) {
        match copied {
            Ok(None) => {}
            Ok(Some(copy)) => tracing::info!(path = %copy.path.display(), "copy before the first start of this version"),
            Err(error) => self.notice(Notice {
                code: "backup_failed".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!("no copy of the database could be made before the first start of this version: {error}"),
                    format!("此版本首次启动前未能备份数据库：{error}"),
                ),
                hint: Some(Text::fixed(
                    "check the free space on the disk; `chatos backup FILE` makes a copy now",
                    "请检查磁盘剩余空间；可用 `chatos backup 文件` 立即备份",
                )),
            }),
        }
    }

    pub(super) fn collect_notices(
        &self,
        moved: bool,
        legacy: Option<LegacyWarning>,
        paths: Vec<chatos_paths::Notice>,
        key: Option<Notice>,
        network: bool,
    ) {
        if moved {
            self.notice(Notice {
                code: "legacy_moved".to_owned(),
                severity: Severity::Info,
                message: Text::new(
                    format!("your data was moved to {}", self.dir.path().display()),
                    format!("你的数据已移动到 {}", self.dir.path().display()),
                ),
                hint: None,
            });
        }
        let link = if self.settings.bool("legacyLink") { ensure_link(&self.places) } else { None };
        for warning in [legacy, link].into_iter().flatten() {
            self.notice(legacy_notice(&warning));
        }
        for notice in paths {
            self.notice(Notice {
                code: notice.code.to_owned(),
                severity: Severity::Info,
                message: Text::new(
                    format!(
                        "others could read the state directory; that was changed: {}",
                        notice.path.display()
                    ),
                    format!("其他用户原本可以读取状态文件夹，现已收紧权限：{}", notice.path.display()),
                ),
                hint: None,
            });
        }
        if network {
            self.notice(Notice {
                code: "network_fs".to_owned(),
                severity: Severity::Warning,
                message: Text::fixed(
                    "the state directory is on a network file system; locks and durability are weaker there",
                    "状态文件夹位于网络文件系统，锁与持久性较弱",
                ),
                hint: None,
            });
        }
        if let Some(notice) = key {
            self.notice(notice);
        }
        if let Some(from) = self.store.migrated_from() {
            self.notice(Notice {
                code: "database_migrated".to_owned(),
                severity: Severity::Info,
                message: Text::new(
                    format!(
                        "the database was brought from schema {from} to {}",
                        chatos_store::SCHEMA_VERSION
                    ),
                    format!("数据库已从结构 {from} 升级到 {}", chatos_store::SCHEMA_VERSION),
                ),
                hint: None,
            });
        }
    }
}

/// Records beside the database say that it held something: an empty one is then a lost one.
pub(super) fn was_used(dir: &StateDir) -> bool {
    let holds = |folder: PathBuf| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    holds(dir.audit()) || holds(dir.backups())
}

pub(super) fn project_root(config: &HostConfig) -> Result<PathBuf, Fault> {
    let current = config.environment.current_dir();
    let asked = config.project.as_ref().map_or_else(|| current.to_owned(), |path| current.join(path));
    std::fs::canonicalize(&asked).ok().filter(|path| path.is_dir()).ok_or_else(|| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(
                format!("the project directory does not exist: {}", asked.display()),
                format!("项目文件夹不存在：{}", asked.display()),
            ),
        )
        .hint(Text::fixed("name an existing directory with --project", "请用 --project 指定已存在的目录"))
    })
}

pub(super) fn open_key(
    environment: &Environment,
    places: &Locations,
    store: &Store,
) -> Result<(StateKey, Option<Notice>), Fault> {
    let known = store.meta("key_id")?;
    let key = StateKey::of(&KeyPlace::of(environment, places), store)?;
    let id = key.id();
    let mut notice = None;
    if known.as_deref() != Some(id.as_str()) {
        // state §6: a lost or other key never stops the host; what it sealed stays sealed.
        if let Some(known) = known {
            notice = Some(Notice {
                code: "state_key_changed".to_owned(),
                severity: Severity::Warning,
                message: Text::new(
                    format!(
                        "the state key is another one ({id}, was {known}); older secrets cannot be opened"
                    ),
                    format!("状态密钥已改变（{id}，原为 {known}）；旧的密钥内容无法打开"),
                ),
                hint: Some(Text::new(
                    format!("put the former key file back into {}", places.key_dir.display()),
                    format!("请将原来的密钥文件放回 {}", places.key_dir.display()),
                )),
            });
        }
        store.set_meta("key_id", &id)?;
    }
    // A rotation or a move that was stopped is ended now; a file that stays in the way harms nothing.
    if let Err(error) = key.settle(store) {
        tracing::warn!(%error, "a former state key is still there");
    }
    Ok((key, notice))
}

fn legacy_notice(warning: &LegacyWarning) -> Notice {
    let (message, hint) = match warning {
        LegacyWarning::BothPresent { legacy, state_dir } => (
            Text::new(
                format!(
                    "an older state exists beside this one: {} and {}",
                    legacy.display(),
                    state_dir.display()
                ),
                format!("同时存在旧状态与当前状态：{} 与 {}", legacy.display(), state_dir.display()),
            ),
            Text::fixed(
                "nothing was moved; merge them by hand or remove the one you do not need",
                "没有移动任何内容；请手动合并或删除不需要的一个",
            ),
        ),
        LegacyWarning::Unexpected { legacy } => (
            Text::new(
                format!("the older state location is something unexpected: {}", legacy.display()),
                format!("旧状态位置不是预期的内容：{}", legacy.display()),
            ),
            Text::fixed("it was left alone", "已保持原样"),
        ),
        LegacyWarning::LinkFailed { legacy, reason } => (
            Text::new(
                format!("no link could be left at {}: {reason}", legacy.display()),
                format!("无法在 {} 创建链接：{reason}", legacy.display()),
            ),
            Text::fixed(
                "plugins that look there will not find their data; set legacyLink to false to stop trying",
                "在该位置查找数据的插件将找不到数据；可将 legacyLink 设为 false 停止尝试",
            ),
        ),
    };
    Notice { code: warning.code().to_owned(), severity: Severity::Warning, message, hint: Some(hint) }
}
