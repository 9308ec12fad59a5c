//! The tools of a server for a person who calls it directly, made once for as long as nothing about them
//! changes.

use std::sync::Arc;

use crate::toolset::{Toolset, Word};
use chatos_tool::{Fault, Lang};

use crate::memory::Made;
use crate::offer::{offer, start_fault, usable};
use crate::servers::Servers;
use crate::views;

impl Servers {
    /// One server's tools for a person who calls by hand: everything that is switched on and approved.
    pub async fn toolset_of(&self, server: &str, lang: Lang) -> Result<Arc<Toolset>, Fault> {
        let inner = self.inner();
        let catalogue = inner.catalogue().await?;
        let known = catalogue.wanted(server)?;
        let parts = inner.parts();
        usable(known)?;
        let (offered, dropped) = match known.key() {
            None => (inner.built_in_tools(known, lang)?, Vec::new()),
            Some(key) => {
                inner.offered(known, key, lang).await.map_err(|error| start_fault(&parts, known, &error))?
            }
        };
        if let Some(set) = inner.direct.get(known, &offered, lang) {
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
        let set = Arc::new(Toolset::build(vec![offer], dropped, lang));
        inner.direct.keep(lang, Made { known: Arc::clone(known), offered, set: Arc::clone(&set) });
        Ok(set)
    }
}
