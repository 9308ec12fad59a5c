//! The modes of what belongs to this user alone: state directory, key, token and database are looked at all
//! the time, because no rule of the kernel keeps a command from widening them (working-day §1.7).
//!
//! What was open for a moment may have been read: the modes are narrowed, the token of the API is made anew,
//! and the person is told.

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chatos_events::Notice;
use chatos_keys::KeyWhere;
use chatos_paths::Announcement;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::Severity;
use serde_json::{Map, json};

use crate::announced::{Announced, TokenKeeper};
use crate::host::Host;

/// How often they are looked at: what is wide is narrow again within a second.
const LOOK: Duration = Duration::from_millis(500);

/// Something that belongs to this user alone.
struct Own {
    path: PathBuf,
    /// Its mode when nobody touched it.
    mode: u32,
    /// What this host itself needs of it.
    needed: u32,
}

impl Own {
    fn dir(path: &Path) -> Self {
        Self { path: path.to_owned(), mode: 0o700, needed: 0o700 }
    }

    fn file(path: PathBuf) -> Self {
        Self { path, mode: 0o600, needed: 0o600 }
    }

    /// Puts the mode right; says whether it was open to others. What is not there, or is a link, is left alone.
    fn narrow(&self) -> std::io::Result<bool> {
        let Ok(meta) = self.path.symlink_metadata() else { return Ok(false) };
        let mode = meta.permissions().mode() & 0o777;
        let wide = mode & 0o077 != 0;
        if meta.is_symlink() || (!wide && mode & self.needed == self.needed) {
            return Ok(false);
        }
        std::fs::set_permissions(&self.path, std::fs::Permissions::from_mode(self.mode))?;
        Ok(wide)
    }
}

impl Host {
    /// Tells other processes of this user how to reach the host; `keeper` makes the token anew when it may
    /// have been read by somebody else.
    pub fn announce(
        &self,
        announcement: Announcement,
        keeper: impl TokenKeeper + 'static,
    ) -> Result<(), Fault> {
        announcement.publish(self.dir()).map_err(|error| {
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(
                    format!("cannot write host.json: {}", self.dir().host_json().display()),
                    format!("无法写入 host.json：{}", self.dir().host_json().display()),
                ),
            )
            .caused_by(&error)
        })?;
        *self.announced() = Some(Announced { announcement, keeper: Box::new(keeper), is_stale: false });
        Ok(())
    }

    /// The directories come first: a file in a closed one cannot be looked at.
    fn own_places(&self) -> Vec<Own> {
        let mut own = vec![Own::dir(self.dir().path())];
        if let KeyWhere::File(key) = self.key().place() {
            let is_ours = key.parent() == Some(self.places().key_dir.as_path());
            own.extend(is_ours.then(|| Own { needed: 0o500, ..Own::dir(&self.places().key_dir) }));
            own.push(Own { needed: 0o400, ..Own::file(key) });
        }
        own.push(Own::file(self.dir().host_json()));
        let database = self.dir().database();
        for end in ["", "-wal", "-shm"] {
            let mut name = database.clone().into_os_string();
            name.push(end);
            own.push(Own::file(name.into()));
        }
        own
    }

    /// Narrows what is wide and says what was. A place that cannot be narrowed is told once, in the log.
    fn narrow_modes(&self, told: &mut HashSet<PathBuf>) -> Vec<PathBuf> {
        let mut wide = Vec::new();
        for own in self.own_places() {
            match own.narrow() {
                Ok(true) => wide.push(own.path),
                Ok(false) => {}
                Err(error) if told.insert(own.path.clone()) => {
                    tracing::error!(path = %own.path.display(), %error, "a mode cannot be narrowed");
                }
                Err(_) => {}
            }
        }
        wide
    }

    /// Before anybody is let in: the token is new at every start.
    pub(crate) fn narrow_at_start(&self) {
        let mut wide = self.narrow_modes(&mut HashSet::new());
        if !wide.is_empty() {
            self.tell_widened(&wide, false);
        }
        // Taking possession of the directory has narrowed and told it already.
        if self.notices().iter().any(|notice| notice.code == "mode_narrowed") {
            wide.insert(0, self.dir().path().to_owned());
        }
        self.audit_widened(&wide, false);
    }

    /// Looks until the host stops.
    pub(crate) async fn watch_modes(self: Arc<Self>) {
        let mut tick = tokio::time::interval(LOOK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut told = HashSet::new();
        // When everything was known to be closed.
        let mut closed_at = Instant::now();
        loop {
            tokio::select! {
                () = self.shutdown().cancelled() => return,
                _ = tick.tick() => {}
            }
            let host = Arc::clone(&self);
            let look = chatos_blocking::run(move || {
                let began = Instant::now();
                host.publish_again();
                let wide = host.narrow_modes(&mut told);
                if !wide.is_empty() {
                    let renewed = host.renew_token(closed_at);
                    host.audit_widened(&wide, renewed);
                    host.tell_widened(&wide, renewed);
                }
                (told, began)
            });
            match look.await {
                Ok(looked) => (told, closed_at) = looked,
                Err(error) => {
                    tracing::error!(%error, "the look at the modes failed");
                    told = HashSet::new();
                }
            }
        }
    }

    /// The new token is in its file before the former one ends, so that a command that is refused finds it.
    fn renew_token(&self, since: Instant) -> bool {
        let mut announced = self.announced();
        let Some(known) = announced.as_mut() else { return false };
        known.announcement.token = known.keeper.next();
        known.is_stale = true;
        drop(announced);
        self.publish_again();
        if let Some(known) = self.announced().as_ref() {
            known.keeper.end_former(since);
        }
        true
    }

    fn publish_again(&self) {
        let mut announced = self.announced();
        let Some(known) = announced.as_mut().filter(|known| known.is_stale) else { return };
        match known.announcement.publish(self.dir()) {
            Ok(()) => known.is_stale = false,
            Err(error) => tracing::error!(%error, "the new token cannot be written down"),
        }
    }

    fn audit_widened(&self, wide: &[PathBuf], renewed: bool) {
        if wide.is_empty() {
            return;
        }
        let mut fields = Map::new();
        fields.insert("paths".to_owned(), json!(wide));
        fields.insert("tokenRenewed".to_owned(), json!(renewed));
        self.audit("modes_widened", fields);
    }

    fn tell_widened(&self, wide: &[PathBuf], renewed: bool) {
        let paths = wide.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        tracing::warn!(%paths, renewed, "modes were widened and are narrow again");
        let (en, zh) =
            if renewed { ("; the sign-in token was renewed", "；登录令牌已更新") } else { ("", "") };
        let notice = Notice {
            code: "modes_widened".to_owned(),
            severity: Severity::Warning,
            message: Text::new(
                format!("somebody opened files of ChatOS to other users; they are closed again{en}: {paths}"),
                format!("有程序把 ChatOS 的文件开放给了其他用户，现已重新收紧{zh}：{paths}"),
            ),
            hint: Some(Text::fixed(
                "a command or script of this user did that; look at what ran last",
                "这是当前用户的某个命令或脚本所为；请检查最近运行过什么",
            )),
        };
        // However often it happens, one line says it.
        self.notice_once(notice);
    }
}
