//! Lending shared Node modules to programs of plugins that import them without having them (packages §10.1).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_tool::{ErrorCode, Fault, Text};

use crate::registry::Plugin;

/// Entries remembered; a host with more looks at some of them again.
const REMEMBERED: usize = 1024;

/// Whether a person switched it off.
type IsOff = Box<dyn Fn() -> bool + Send + Sync>;

/// The modules this program lends. Clones are the same.
#[derive(Clone)]
pub struct Lending(Arc<Inner>);

struct Inner {
    runtime: PathBuf,
    is_off: IsOff,
    /// Held while the modules are put in their place, so that it happens once.
    place: Mutex<Option<String>>,
    /// Which entry of which bytes needs them.
    needed: Mutex<HashMap<(PathBuf, String), bool>>,
}

impl Lending {
    /// Lends from below `runtime`, unless `is_off` says that a person does not want it.
    pub fn new(runtime: PathBuf, is_off: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let (place, needed) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Inner { runtime, is_off: Box::new(is_off), place, needed }))
    }

    /// What `node --import` is given for this entry of a plugin; nothing where it needs nothing. Blocks on disk.
    pub fn to(&self, plugin: &Plugin, entry: &Path) -> Result<Option<String>, Fault> {
        if (self.0.is_off)() || !self.needs_modules(plugin, entry) {
            return Ok(None);
        }
        let mut place = self.0.place.lock().unwrap_or_else(PoisonError::into_inner);
        if place.is_none() {
            *place = Some(chatos_modules::lend(&self.0.runtime).map_err(|error| not_lent(&error))?);
            chatos_modules::tidy_up(&self.0.runtime);
        }
        Ok(place.clone())
    }

    fn needs_modules(&self, plugin: &Plugin, entry: &Path) -> bool {
        let look = || !chatos_modules::needs(&plugin.loaded.dir, entry).lent.is_empty();
        // Without a digest nothing says whether the files are still the same.
        let Some(digest) = plugin.trust.digest.as_ref() else { return look() };
        let key = (entry.to_owned(), digest.to_string());
        let known = || self.0.needed.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = known().get(&key).copied();
        remembered.unwrap_or_else(|| {
            let needed = look();
            let mut known = known();
            if known.len() >= REMEMBERED {
                known.clear();
            }
            known.insert(key, needed);
            needed
        })
    }
}

fn not_lent(error: &chatos_modules::LendError) -> Fault {
    Fault::new(
        ErrorCode::Unavailable,
        Text::fixed(
            "it needs modules that ChatOS lends, and they cannot be put in their place",
            "它需要 ChatOS 提供的模块，但无法将其放到位",
        ),
    )
    .code("modules_not_lent")
    .hint(Text::fixed(
        "make room on the disk that holds the state directory, or check who may write there, and start it again",
        "请在状态文件夹所在的磁盘上腾出空间，或检查其写入权限，然后重新启动它",
    ))
    .caused_by(error)
}
