//! Checks that must not delay the start and are told to the person when they find something.

use std::sync::Arc;

use chatos_events::Notice;
use chatos_files::Protected;
use chatos_files::commit::{Journals, Recovered, recover_everywhere};
use chatos_store::{CHECK_AT_OPEN, CheckDepth, CheckFinding, StoreError};
use chatos_tool::Text;
use chatos_wire::Severity;

use crate::host::Host;

impl Host {
    /// servers §2.5: what killed processes left beside files is put right in every folder they worked in, also
    /// where nobody calls a tool again. Blocks.
    pub(crate) fn settle_file_changes(&self) {
        let home = self.undo_home();
        let journals = Journals::new(home.state_dir.join("fs-journal"));
        let protected = Protected::new(home.protected.into_iter().chain([home.state_dir]));
        match recover_everywhere(&journals, &protected) {
            Ok(found) if found == Recovered::default() => {}
            Ok(found) => tracing::warn!(?found, "settled interrupted file changes"),
            Err(error) => tracing::warn!(%error, "cannot look for interrupted file changes"),
        }
    }

    /// working-day §1.1: private caches of commands that nobody used for long, or that are too large together, go. Blocks.
    pub(crate) fn prune_shell_caches(&self) {
        match chatos_shell::prune_caches(self.environment().variables(), false) {
            Ok(pruned) if pruned.caches == 0 => {}
            Ok(pruned) => tracing::info!(?pruned, "removed private caches of commands"),
            Err(error) => tracing::warn!(%error, "cannot look for old private caches of commands"),
        }
    }

    /// security §3.5: everything after an unclean stop, the structure of a database that is too large
    /// to be looked at while the person waits. Ends early when the host stops.
    pub(crate) async fn look_for_damage(self: &Arc<Self>) {
        let large = std::fs::metadata(self.store().path()).is_ok_and(|meta| meta.len() > CHECK_AT_OPEN);
        let depth = match (self.stopped_uncleanly(), large) {
            (true, _) => CheckDepth::Deep,
            (false, true) => CheckDepth::Quick,
            (false, false) => return,
        };
        let host = Arc::clone(self);
        let mut looking = chatos_blocking::run(move || host.store().check(depth));
        let looked = tokio::select! {
            looked = &mut looking => looked,
            () = self.shutdown().cancelled() => {
                self.store().stop_checks();
                return;
            }
        };
        match looked {
            Ok(result) => self.tell_damage(result),
            Err(error) => tracing::error!(%error, "the check of the database failed"),
        }
    }

    fn tell_damage(&self, result: Result<Vec<CheckFinding>, StoreError>) {
        let damage = match result {
            Ok(findings) => findings.into_iter().find_map(|finding| match finding {
                CheckFinding::Damaged(text) => Some(text),
                _ => None,
            }),
            Err(error) => Some(error.to_string()),
        };
        let Some(damage) = damage else {
            tracing::info!("the database was checked and is whole");
            return;
        };
        tracing::error!(%damage, "the database is damaged");
        self.notice(Notice {
            code: "database_damaged".to_owned(),
            severity: Severity::Warning,
            message: Text::new(
                format!("the database is damaged: {damage}"),
                format!("数据库已损坏：{damage}"),
            ),
            hint: Some(Text::fixed(
                "stop ChatOS and run `chatos state recover`",
                "请停止 ChatOS 后运行 `chatos state recover`",
            )),
        });
    }
}
