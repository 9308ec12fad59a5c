//! "Why can it, why can't it" for one tool, and what a change would change.

use chatos_contribution::ServerIdentity;
use serde::Serialize;

use crate::{Code, Grant, Outcome, Refusal, ToolDecision, Via, World};

/// The answer for one tool of one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Explanation {
    /// It may be called.
    Allowed {
        /// At once, or after a yes.
        ask: bool,
        /// The rule that granted the server.
        via: Via,
    },
    /// It may not.
    Refused(Refusal),
}

/// Explains one tool of `server`, as it stands in `outcome`.
pub fn explain(outcome: &Outcome, world: &World, server: &ServerIdentity, tool: &str) -> Explanation {
    if let Some(grant) = outcome.grants.get(server) {
        return match grant.tool(tool) {
            ToolDecision::Allow => Explanation::Allowed { ask: false, via: grant.via },
            ToolDecision::Ask => Explanation::Allowed { ask: true, via: grant.via },
            ToolDecision::Deny => {
                Explanation::Refused(refusal(outcome, Code::ToolFiltered, server, &grant.server, Some(tool)))
            }
        };
    }
    if let Some(refusal) = outcome.refusals.iter().find(|refusal| refusal.identity.as_ref() == Some(server)) {
        return Explanation::Refused(refusal.clone());
    }
    // Neither listed nor chosen.
    let (code, name) = match world.by_identity(server) {
        Some(facts) => (Code::NotInLandConfig, facts.name.as_str()),
        None => (Code::NotFound, server.as_str()),
    };
    Explanation::Refused(refusal(outcome, code, server, name, None))
}

fn refusal(
    outcome: &Outcome,
    code: Code,
    server: &ServerIdentity,
    name: &str,
    tool: Option<&str>,
) -> Refusal {
    Refusal {
        code,
        identity: Some(server.clone()),
        server: name.to_owned(),
        tool: tool.map(str::to_owned),
        role: outcome.role,
        land: outcome.land.clone(),
    }
}

/// One difference between what was and what would be granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Which server.
    pub identity: ServerIdentity,
    /// What people call it.
    pub server: String,
    /// The tool, when the server stays granted and only its filter changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What was decided; `None` is not granted at all.
    pub before: Option<ToolDecision>,
    /// What would be decided.
    pub after: Option<ToolDecision>,
}

/// What changes from `before` to `after`, for a person to see before saving. `tools` gives the
/// known tool names of a server; a server without any is compared as a whole.
pub fn changes(
    before: &Outcome,
    after: &Outcome,
    tools: impl Fn(&ServerIdentity) -> Vec<String>,
) -> Vec<Change> {
    let mut changes = Vec::new();
    let identities: std::collections::BTreeSet<_> =
        before.grants.keys().chain(after.grants.keys()).cloned().collect();
    for identity in identities {
        let (was, will) = (before.grants.get(&identity), after.grants.get(&identity));
        let Some(server) = will.or(was).map(|grant| grant.server.clone()) else { continue };
        let names = tools(&identity);
        if names.is_empty() || was.is_none() || will.is_none() {
            let whole = |grant: Option<&Grant>| grant.map(|_| ToolDecision::Allow);
            let (before, after) = (whole(was), whole(will));
            if before != after {
                changes.push(Change {
                    identity: identity.clone(),
                    server: server.clone(),
                    tool: None,
                    before,
                    after,
                });
            }
            if before != after || names.is_empty() {
                continue;
            }
        }
        for tool in names {
            let decide = |grant: Option<&Grant>| grant.map(|grant| grant.tool(&tool));
            let (before, after) = (decide(was), decide(will));
            if before != after {
                let (identity, server) = (identity.clone(), server.clone());
                changes.push(Change { identity, server, tool: Some(tool), before, after });
            }
        }
    }
    changes
}
