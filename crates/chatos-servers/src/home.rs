//! The servers of one host before anybody needed them: what they are made of, and the moment they are made.

use std::sync::{Arc, OnceLock};

use chatos_child::Spawning;

use crate::parts::ServersParts;
use crate::servers::Servers;

/// How children are started; the first question may start a warden.
type HowToSpawn = Arc<dyn Fn() -> Spawning + Send + Sync>;

/// The servers of one host, made when the first of them is needed. Clones are the same.
#[derive(Clone)]
pub struct ServerHome {
    parts: Arc<ServersParts>,
    spawning: HowToSpawn,
    made: Arc<OnceLock<Servers>>,
}

impl ServerHome {
    /// Nothing is started for it.
    pub fn new(
        parts: ServersParts,
        spawning: impl Fn() -> Spawning + Send + Sync + 'static,
        made: Arc<OnceLock<Servers>>,
    ) -> Self {
        Self { parts: Arc::new(parts), spawning: Arc::new(spawning), made }
    }

    /// The servers. Nothing of them is started before somebody needs it. Must be called on the runtime.
    pub fn open(&self) -> &Servers {
        self.made.get_or_init(|| Servers::new(Arc::clone(&self.parts), (self.spawning)()))
    }

    /// The servers, where something of them was needed already.
    pub fn opened(&self) -> Option<&Servers> {
        self.made.get()
    }

    /// What the servers are made of; what needs none of them running asks here.
    pub fn parts(&self) -> &ServersParts {
        &self.parts
    }
}
