//! What the doctor says about servers: those that cannot start, those that failed, tools that wait.

use chatos_events::Finding;
use chatos_mcp::{Phase, Pool};
use chatos_store::PinState;
use chatos_tool::Text;
use chatos_wire::Severity;

use crate::parts::ServersParts;

impl ServersParts {
    /// What the doctor says: one line for all of them, and one per problem. Nothing is started for it; `pool` says how
    /// those are that were started.
    pub fn examine(&self, pool: Option<&Pool>) -> Vec<Finding> {
        let title = || Text::fixed("MCP servers", "MCP 服务器");
        let known = match crate::catalogue::make(self, self.node.known().as_ref()) {
            Ok(known) => known,
            Err(fault) => return vec![Finding::new(fault.code, Severity::Error, title(), fault.message)],
        };
        let usable = known.servers.iter().filter(|server| server.enabled && server.trusted).count();
        let all = known.servers.len();
        let mut findings = vec![Finding::new(
            "servers",
            Severity::Ok,
            title(),
            Text::new(
                format!("{all} servers, {usable} switched on"),
                format!("{all} 个服务器，{usable} 个已启用"),
            ),
        )];
        for server in known.servers.iter().filter(|server| server.enabled && server.trusted) {
            let name = server.name();
            if let Some(fault) = &server.problem {
                let message = Text::new(
                    format!("`{name}`: {}", fault.message.en),
                    format!("`{name}`：{}", fault.message.zh),
                );
                let mut finding = Finding::new(fault.code.clone(), Severity::Error, title(), message);
                finding.action = fault.hint.clone();
                findings.push(finding);
                continue;
            }
            let status = pool.and_then(|pool| pool.status(server.key()?));
            let troubled = |phase| matches!(phase, Phase::Failed | Phase::Waiting | Phase::SignIn);
            let Some(last) = status.filter(|status| troubled(status.phase)) else {
                continue;
            };
            let Some(error) = last.last_error else { continue };
            let said = error.failure.text();
            let redactor = &self.redactor;
            let message = Text::new(
                format!("`{name}`: {}", redactor.message(&said.en)),
                format!("`{name}`：{}", redactor.message(&said.zh)),
            );
            let mut finding = Finding::new(error.failure.domain_code(), Severity::Warning, title(), message);
            finding.action = error.failure.hint();
            findings.push(finding);
        }
        findings.extend(self.examine_sign_ins(&known));
        let waiting = self.store.tool_pins(None).unwrap_or_default();
        let waiting = waiting.iter().filter(|pin| pin.state != PinState::Approved).count();
        if waiting > 0 {
            findings.push(
                Finding::new(
                    "tools_waiting",
                    Severity::Warning,
                    title(),
                    Text::new(
                        format!("{waiting} new or changed tools are off until you approve them"),
                        format!("{waiting} 个新增或变化的工具在你同意前保持关闭"),
                    ),
                )
                .action(Text::fixed("chatos mcp servers pins", "chatos mcp servers pins")),
            );
        }
        findings
    }
}
