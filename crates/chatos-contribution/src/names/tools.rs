//! The names under which tools are offered to models (ai-contributions §4.1–4.3): unique over all
//! servers of a run, at most 64 bytes, never parsed back.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use super::{ServerIdentity, normalize_tool};

/// Longest tool name that model APIs take.
const MAX_BYTES: usize = 64;
/// What is kept of a longer one: 57 bytes, `_`, 6 hex digits.
const KEPT_BYTES: usize = 57;

/// One server with its tools in `tools/list` order.
#[derive(Debug, Clone)]
pub struct ServerTools<'a> {
    /// Identity.
    pub identity: &'a ServerIdentity,
    /// Its allocated normalized name.
    pub normalized: &'a str,
    /// The server's own tool names.
    pub tools: Vec<&'a str>,
}

/// A tool under its offered name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedTool {
    /// What the model calls.
    pub name: String,
    /// Whose tool it is.
    pub identity: ServerIdentity,
    /// The server's own name for it.
    pub tool: String,
}

/// Names for all tools of all servers; later ones in (identity, list order) get suffixes.
pub fn offer_tools(servers: &[ServerTools<'_>]) -> Vec<OfferedTool> {
    let mut order: Vec<&ServerTools<'_>> = servers.iter().collect();
    order.sort_by(|a, b| a.identity.cmp(b.identity));
    let mut taken: HashSet<String> = HashSet::new();
    let mut offered = Vec::new();
    for server in order {
        for tool in &server.tools {
            let base = format!("mcp_{}_{}", server.normalized, normalize_tool(tool));
            let mut name = fit(base.clone(), server.identity, tool, 1);
            let mut n = 1_u64;
            while taken.contains(&name) {
                n += 1;
                name = fit(format!("{base}_{n}"), server.identity, tool, n);
            }
            taken.insert(name.clone());
            offered.push(OfferedTool { name, identity: server.identity.clone(), tool: (*tool).to_owned() });
        }
    }
    offered
}

/// Shortens a name that is too long. `attempt` > 1 is mixed in, because two suffixed names may be
/// equal in their first 57 bytes.
fn fit(name: String, identity: &ServerIdentity, tool: &str, attempt: u64) -> String {
    if name.len() <= MAX_BYTES {
        return name;
    }
    let mut hash = Sha256::new();
    hash.update(identity.as_str());
    hash.update([0]);
    hash.update(tool);
    if attempt > 2 {
        hash.update([0]);
        hash.update(attempt.to_le_bytes());
    }
    let digest = hash.finalize();
    // Normalized names are ASCII, so every byte is a boundary.
    format!("{}_{:02x}{:02x}{:02x}", &name[..KEPT_BYTES], digest[0], digest[1], digest[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn identity(text: &str) -> ServerIdentity {
        serde_json::from_value(text.into()).unwrap()
    }

    fn names(servers: &[(&str, &str, &[&str])]) -> Vec<String> {
        let ids: Vec<ServerIdentity> = servers.iter().map(|(id, ..)| identity(id)).collect();
        let servers: Vec<ServerTools<'_>> = servers
            .iter()
            .zip(&ids)
            .map(|((_, n, tools), identity)| ServerTools { identity, normalized: n, tools: tools.to_vec() })
            .collect();
        offer_tools(&servers).into_iter().map(|tool| tool.name).collect()
    }

    #[test]
    fn the_long_example() {
        let found = names(&[(
            "app:com.example.enterprise-reporting/quarterly-dashboard",
            "com_example_enterprise-reporting_quarterly-dashboard",
            &["export_quarterly_report_as_pdf"],
        )]);
        assert_eq!(found, ["mcp_com_example_enterprise-reporting_quarterly-dashboard__e5384f"]);
        assert_eq!(found[0].len(), 64);
    }

    #[test]
    fn collisions_within_and_between_servers() {
        assert_eq!(
            names(&[("app:p/x", "p_x", &["数据库", "查询", "a b", "a_b"])]),
            ["mcp_p_x_tool", "mcp_p_x_tool_2", "mcp_p_x_a_b", "mcp_p_x_a_b_2"]
        );
        assert_eq!(
            names(&[("app:q/y", "a_b", &["c"]), ("app:p/x", "a", &["b_c"])]),
            ["mcp_a_b_c", "mcp_a_b_c_2"]
        );
        assert_eq!(names(&[("app:p/x", "p", &["db.query.run"])]), ["mcp_p_db_query_run"]);
    }

    proptest! {
        /// Every tool gets a name of its own that fits, whatever the server says.
        #[test]
        fn unique_and_short(tools in prop::collection::vec(".{0,90}", 0..40), n in "[a-z_-]{1,70}") {
            let identity = identity("app:p/x");
            let offered = offer_tools(&[ServerTools { identity: &identity, normalized: &n, tools: tools.iter().map(String::as_str).collect() }]);
            prop_assert_eq!(offered.len(), tools.len());
            let names: HashSet<&String> = offered.iter().map(|tool| &tool.name).collect();
            prop_assert_eq!(names.len(), tools.len());
            for tool in &offered {
                prop_assert!(tool.name.len() <= 64);
                prop_assert!(tool.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
            }
        }
    }
}
