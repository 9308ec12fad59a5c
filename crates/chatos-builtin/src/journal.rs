//! The server `project_journal`: what was done in a project and what is known about it, per root
//! directory, in the database (servers §7).

mod legacy;
mod logging;
mod project;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use chatos_layer::{CallCx, Root, Server, ServerEnv, ServerInfo, store_error};
use chatos_store::{Store, StoreError};
use chatos_tool::{DenyRule, Text, ToolError};

/// `project_journal`.
pub static INFO: ServerInfo = ServerInfo {
    name: "project_journal",
    id: "9efd2c3e-435a-4aa5-8838-e4289f2b616a",
    title: Text::fixed("Project journal", "项目日志"),
    instructions: Text::fixed(
        "Remembers what was done in a project and facts about it, for later sessions. Read get_project_info and \
         list_exec_logs before you begin, add an entry with add_exec_log after each piece of work, keep the facts true \
         with set_project_info. Entries belong to the root directory of this server.",
        "为以后的会话记录项目中做过的工作和项目的基本信息。开始前先查看 get_project_info 和 list_exec_logs，每完成一项工作后用 \
         add_exec_log 添加记录，并用 set_project_info 保持信息准确。记录属于此服务的根目录。",
    ),
    needs_root: true,
    slots: 8,
    waits_hold_slot: false,
};

/// `project_journal` with its tools.
pub fn server(env: &ServerEnv) -> Server {
    let book = Arc::new(Book { env: env.clone(), seen: Mutex::default() });
    Server::new(&INFO)
        .with(logging::AddExecLog(book.clone()))
        .with(logging::ListExecLogs(book.clone()))
        .with(logging::SearchExecLogs(book.clone()))
        .with(logging::GetExecLog(book.clone()))
        .with(project::GetProjectInfo(book.clone()))
        .with(project::SetProjectInfo(book.clone()))
        .with(project::AddProjectIteration(book))
}

/// What the tools share.
struct Book {
    env: ServerEnv,
    /// Roots whose older files were looked for by this process.
    seen: Mutex<HashSet<String>>,
}

impl Book {
    /// Works with the journal of the call's root; the first call for a root takes over older files.
    async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        cx: &CallCx,
        work: impl FnOnce(&Store, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let root = root_of(cx)?.clone();
        let book = self.clone();
        self.env
            .store
            .run(cx, move |store| {
                let name = root.path().to_string_lossy().into_owned();
                let fresh = book.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
                if fresh && let Err(error) = legacy::take_over(store, &root, &name, &book.env.host_app) {
                    // The files stay where they are; the next process tries again.
                    tracing::warn!(%error, root = name, "an older journal could not be taken over");
                }
                work(store, &name)
            })
            .await
    }
}

impl Book {
    /// As [`Self::run`] for a look at a few rows: done where the call is read, unless the database or the
    /// journal of this root has to be opened first.
    async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        cx: &CallCx,
        work: impl FnOnce(&Store, &str) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let name = root_of(cx)?.path().to_string_lossy();
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).contains(&*name);
        match self.env.store.at_hand() {
            Some(store) if seen => work(&store, &name).map_err(|error| store_error(&error)),
            _ => self.run(cx, work).await,
        }
    }
}

fn root_of(cx: &CallCx) -> Result<&Arc<Root>, ToolError> {
    cx.root.as_ref().ok_or_else(|| {
        ToolError::denied(
            DenyRule::OutsideRoot,
            Text::fixed("this call has no root directory", "此次调用没有根目录"),
        )
    })
}

#[cfg(test)]
mod tests;
