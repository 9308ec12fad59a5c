//! The tools of a server for a person who calls by hand, made once for as long as nothing about them
//! changes.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use chatos_agent::{OfferedTool, Toolset, Word};
use chatos_contribution::ServerIdentity;
use chatos_tool::{Fault, Lang};

use super::toolset::{offer, start_fault, usable};
use super::{Known, ServerDesk, views};

/// Sets by server and language. A set counts as long as it was made of exactly the server and the offer
/// that are in force: both are made anew, never changed, when rows, plugins, settings, approvals or the
/// server's own list change.
#[derive(Default)]
pub(super) struct ByHand(Mutex<HashMap<(ServerIdentity, Lang), Made>>);

struct Made {
    known: Arc<Known>,
    offered: Arc<Vec<OfferedTool>>,
    set: Arc<Toolset>,
}

impl ByHand {
    fn get(&self, known: &Arc<Known>, offered: &Arc<Vec<OfferedTool>>, lang: Lang) -> Option<Arc<Toolset>> {
        let sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = sets.get(&(known.identity().clone(), lang))?;
        let same = Arc::ptr_eq(&made.known, known) && Arc::ptr_eq(&made.offered, offered);
        same.then(|| Arc::clone(&made.set))
    }

    fn keep(&self, lang: Lang, made: Made) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.insert((made.known.identity().clone(), lang), made);
    }

    /// Forgets servers that are no more.
    pub(super) fn retain(&self, known: &HashSet<&ServerIdentity>) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|(identity, _), _| known.contains(identity));
    }
}

impl ServerDesk {
    /// One server's tools for a person who calls by hand: everything that is switched on and approved.
    pub async fn toolset_of(&self, server: &str, lang: Lang) -> Result<Arc<Toolset>, Fault> {
        let shared = self.shared();
        let catalogue = shared.catalogue().await?;
        let known = catalogue.wanted(server)?;
        let host = shared.host()?;
        usable(known)?;
        let (offered, dropped) = match known.key() {
            None => (shared.built_in_tools(&host, known, lang)?, Vec::new()),
            Some(key) => {
                shared.offered(known, key, lang).await.map_err(|error| start_fault(&host, known, &error))?
            }
        };
        if let Some(set) = shared.by_hand.get(known, &offered, lang) {
            return Ok(set);
        }
        // Nobody granted a server the model here; by hand it gets none (ui-prompts §10.3).
        let mut offer = offer(known, &offered, false, |_| Word::Allow);
        // A person may call what its server keeps from models.
        for tool in &mut offer.tools {
            if matches!(tool.word, Word::Refuse { code: views::APP_ONLY, .. }) {
                tool.word = Word::Allow;
            }
        }
        let set = Arc::new(Toolset::build(vec![offer], dropped));
        shared.by_hand.keep(lang, Made { known: Arc::clone(known), offered, set: Arc::clone(&set) });
        Ok(set)
    }
}
