//! All language servers of one process: one per server and folder, started by whoever needs it first, shared by
//! everybody, stopped when idle, restarted when they die (servers §10).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chatos_layer::CallCx;
use chatos_shell::Launcher;
use chatos_tool::{Reason, Resource, Text, ToolError};
use tokio::time::Instant;

use crate::session::{Death, Session, Start, ended};
use crate::table::LanguageServer;

/// servers §10: after this many deaths in this time it is left alone for as long.
const DEATHS: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);

pub(crate) struct Pool {
    pub(crate) launcher: Launcher,
    state_dir: Option<PathBuf>,
    slots: Mutex<HashMap<(String, PathBuf), Arc<Slot>>>,
    // Whoever starts one makes room first; two must not make the same room.
    gate: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Slot {
    // Held while one is started: everybody else waits for that one.
    session: tokio::sync::Mutex<Option<Arc<Session>>>,
    // The same for those who only look.
    shown: Mutex<Option<Arc<Session>>>,
    deaths: Mutex<Vec<(Instant, Death)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    /// Too many deaths lately: the last one.
    fn resting(&self) -> Option<Death> {
        let mut deaths = lock(&self.deaths);
        deaths.retain(|(at, _)| at.elapsed() < WINDOW);
        (deaths.len() >= DEATHS).then(|| deaths.last().map(|(_, death)| death.clone())).flatten()
    }
}

impl Pool {
    pub(crate) fn new(launcher: Launcher, state_dir: Option<PathBuf>) -> Self {
        Self { launcher, state_dir, slots: Mutex::default(), gate: tokio::sync::Mutex::default() }
    }

    /// The server for a folder, started where it does not run.
    pub(crate) async fn get(
        &self,
        cx: &CallCx,
        server: &Arc<LanguageServer>,
        root: &Path,
        folder: PathBuf,
    ) -> Result<Arc<Session>, ToolError> {
        let slot = {
            let mut slots = lock(&self.slots);
            Arc::clone(slots.entry((server.id.clone(), folder.clone())).or_default())
        };
        let mut place = slot.session.lock().await;
        if let Some(session) = place.as_ref().filter(|session| session.is_alive()) {
            if session.server == *server {
                session.touch(cx.settings.lsp.idle_stop);
                return Ok(Arc::clone(session));
            }
            // A person changed its entry.
            session.stop(false).await;
        }
        if let Some(death) = slot.resting() {
            return Err(ended(server, Some(&death)).hint(Text::fixed(
                "it died three times within a minute and is left alone for a minute; start_lsp_server with force \
                 tries at once",
                "它在一分钟内退出了三次，将暂停一分钟；可用 start_lsp_server 并设置 force 立即重试",
            )));
        }
        let opening = self.gate.lock().await;
        self.make_room(cx.settings.lsp.max_servers).await?;
        let deaths = Arc::downgrade(&slot);
        let on_death = Box::new(move |death: Death| {
            if let Some(slot) = deaths.upgrade() {
                lock(&slot.deaths).push((Instant::now(), death));
            }
        });
        let start = Start {
            launcher: &self.launcher,
            server: Arc::clone(server),
            root,
            folder,
            state_dir: self.state_dir.as_deref(),
            on_death,
        };
        let session = Session::start(cx, start).await?;
        drop(opening);
        *lock(&slot.shown) = Some(Arc::clone(&session));
        *place = Some(Arc::clone(&session));
        Ok(session)
    }

    /// Ends the least recently used one nobody waits for, as long as there are too many.
    async fn make_room(&self, most: usize) -> Result<(), ToolError> {
        loop {
            let running = self.running();
            if running.len() < most {
                return Ok(());
            }
            let free = running.iter().filter(|session| session.wire.waiting() == 0);
            let Some(oldest) = free.min_by_key(|session| session.used()) else {
                let limit = Some(most as u64);
                return Err(ToolError::new(
                    Reason::ResourceExhausted { resource: Resource::Sessions, limit, actual: None },
                    Text::new(
                        format!("{most} language servers are at work (lspMaxServers)"),
                        format!("{most} 个语言服务器正在工作（lspMaxServers）"),
                    ),
                )
                .hint(Text::fixed("try again when one is done", "请在其中一个完成后重试")));
            };
            oldest.stop(false).await;
        }
    }

    /// Forgets former deaths, so that the next start is tried at once.
    pub(crate) fn forgive(&self, id: &str) {
        for (_, slot) in lock(&self.slots).iter().filter(|((own, _), _)| own == id) {
            lock(&slot.deaths).clear();
        }
    }

    pub(crate) fn running(&self) -> Vec<Arc<Session>> {
        let slots = lock(&self.slots);
        let shown = slots.values().filter_map(|slot| lock(&slot.shown).clone());
        shown.filter(|session| session.is_alive()).collect()
    }

    /// Servers of an id that run for a root or something inside it.
    pub(crate) fn running_in(&self, id: Option<&str>, root: &Path) -> Vec<Arc<Session>> {
        let mut all = self.running();
        all.retain(|one| one.folder.starts_with(root) && id.is_none_or(|id| one.server.id == id));
        all
    }
}
