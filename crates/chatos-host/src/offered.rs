//! What an agent may use, as tools: its grants, and the tools of the servers they name.

use std::sync::Arc;

use chatos_events::Resume;
use chatos_policy::{Outcome, Role};
use chatos_servers::{SetProblem, ToolsetOrder};
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::tool::{ToolNews, ToolTold, ToolsetView};
use serde_json::Value;

use crate::host::Host;

impl Host {
    /// What the policy grants an agent in a role.
    pub async fn outcome_of(self: &Arc<Self>, agent: String, role: Role) -> Result<Outcome, Fault> {
        let host = Arc::clone(self);
        let work = chatos_blocking::run(move || {
            let agents = host.agents();
            agents.outcome(&agents.find(&agent)?, role)
        });
        work.await.map_err(|error| {
            Fault::new(ErrorCode::Internal, Text::same("the grants failed")).caused_by(&error)
        })?
    }

    /// The tools of an agent in a role, granted or not, with the reasons.
    pub async fn tools_of_agent(
        self: &Arc<Self>,
        agent: &str,
        role: Role,
        lang: Lang,
        patience: Option<std::time::Duration>,
    ) -> Result<(Vec<ToolsetView>, Vec<SetProblem>), Fault> {
        let outcome = self.outcome_of(agent.to_owned(), role).await?;
        let mut order = ToolsetOrder::new(&outcome, lang);
        order.patience = patience.unwrap_or(order.patience).min(order.patience);
        let set = self.servers().toolset(order).await?;
        let granted = set.specs().map(|tool| ToolsetView {
            name: tool.name.clone(),
            identity: tool.identity.to_string(),
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            granted: true,
            ask: tool.ask,
            read_only: tool.read_only,
            code: None,
            why: None,
            input_schema: Some(tool.input_schema.clone()),
            annotations: Some(tool.annotations.clone()).filter(Value::is_object),
            told: Some(ToolTold {
                description: tool.told.description.clone(),
                output_schema: tool.told.output_schema.clone(),
                icons: tool.told.icons.clone(),
                meta: tool.told.meta.clone(),
            }),
        });
        let refused = set.refusals().map(|(name, tool)| ToolsetView {
            name: name.to_owned(),
            identity: tool.identity.to_string(),
            server: tool.server.clone(),
            tool: tool.tool.clone(),
            title: None,
            description: String::new(),
            granted: false,
            ask: false,
            read_only: false,
            code: Some(tool.code.to_owned()),
            why: Some(tool.why.get(lang).to_owned()),
            input_schema: None,
            annotations: None,
            told: None,
        });
        let mut all: Vec<ToolsetView> = granted.chain(refused).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok((all, set.problems().to_vec()))
    }

    /// Waits until tools, servers, grants or plugins changed after `since`; 0 only tells the position.
    pub async fn tool_news(&self, since: u64, wait: std::time::Duration) -> ToolNews {
        const TELLS: [&str; 6] = [
            "\"tools_changed\"",
            "\"server_changed\"",
            "\"server_removed\"",
            "\"agents_changed\"",
            "\"land_configs_changed\"",
            "\"plugins_changed\"",
        ];
        let mut subscription = self.events().subscribe((since > 0).then_some(since));
        let resync = subscription.resume == Resume::Resync;
        if since == 0 || resync {
            return ToolNews { next: subscription.seq, changed: resync };
        }
        let deadline = tokio::time::Instant::now() + wait;
        let mut next = since;
        loop {
            let frame = tokio::select! {
                frame = subscription.next() => frame,
                () = tokio::time::sleep_until(deadline) => return ToolNews { next, changed: false },
                () = self.shutdown().cancelled() => return ToolNews { next, changed: false },
            };
            let Some(frame) = frame else { return ToolNews { next: 0, changed: true } };
            next = next.max(frame.seq);
            let head: String = frame.text.chars().take(200).collect();
            if TELLS.iter().any(|word| head.contains(word)) {
                return ToolNews { next, changed: true };
            }
        }
    }

    /// The schemas of our own tools and of those that were offered so far, with the tools' names.
    pub fn tool_schemas(&self) -> Vec<(String, Value)> {
        let mut schemas: Vec<(String, Value)> = Vec::new();
        let env = chatos_layer::ServerEnv { write: true, ..chatos_layer::ServerEnv::default() };
        for server in
            chatos_builtin::server_names().filter_map(|name| chatos_builtin::find_server(name, &env))
        {
            for mut tool in server.definitions(&chatos_layer::Access::All, Lang::En) {
                let name = tool["name"].as_str().unwrap_or_default().to_owned();
                schemas.push((name, tool["inputSchema"].take()));
            }
        }
        schemas
            .extend(self.server_home().opened().map(|servers| servers.offered_schemas()).unwrap_or_default());
        schemas
    }
}
