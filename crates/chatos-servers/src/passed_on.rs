//! What granted servers offer beside their tools, for clients of the gateway (other-agents §3.4): under names and
//! addresses that no two of them share, and asked of the server it belongs to.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chatos_contribution::{ServerIdentity, names};
use chatos_mcp::{Prompt, Resource};
use chatos_policy::Outcome;
use chatos_tool::{ErrorCode, Fault, Lang, Text};
use chatos_wire::tool::{PassedEntry, PassedOn};
use serde_json::{Map, Value, json};

use crate::servers::Servers;

/// How long a server may take to answer a client.
const ANSWERING: Duration = Duration::from_secs(60);

impl Servers {
    /// Everything beside tools of the servers that tell it within `wait`.
    pub async fn passed_on(&self, outcome: &Outcome, wait: Duration, lang: Lang) -> Result<PassedOn, Fault> {
        let mut with_prompts = outcome.clone();
        with_prompts.grants.retain(|_, grant| grant.prompt.is_some());
        let (prompts, resources, instructions) = tokio::join!(
            self.prompts(&with_prompts, wait),
            self.resources(outcome, wait),
            self.instructions(outcome, lang)
        );
        let ((prompts, mut late), (resources, others)) = (prompts?, resources?);
        late.extend(others);
        late.sort();
        late.dedup();
        let catalogue = self.catalogue().await?;
        let normalized: HashMap<&str, (&ServerIdentity, &str)> = catalogue
            .servers
            .iter()
            .map(|known| (known.identity().as_str(), (known.identity(), known.route.normalized.as_str())))
            .collect();
        let lists: Vec<names::ServerTools<'_>> = prompts
            .iter()
            .filter_map(|of| {
                let (identity, normalized) = *normalized.get(of.identity.as_str())?;
                let tools = of.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
                Some(names::ServerTools { identity, normalized, tools })
            })
            .collect();
        let named: HashMap<(String, String), String> = names::offer_tools(&lists)
            .into_iter()
            .map(|one| ((one.identity.as_str().to_owned(), one.tool), one.name))
            .collect();
        let mut passed = PassedOn { late, instructions: instructions?, ..PassedOn::default() };
        for of in &prompts {
            for prompt in of.prompts.iter() {
                let Some(name) = named.get(&(of.identity.clone(), prompt.name.clone())) else { continue };
                passed.prompts.push(PassedEntry {
                    name: name.clone(),
                    server: of.identity.clone(),
                    own: prompt.name.clone(),
                    definition: definition(name, prompt),
                });
            }
        }
        let mut taken = HashSet::new();
        for of in &resources {
            let short = normalized.get(of.identity.as_str()).map_or(of.server.as_str(), |(_, name)| name);
            let mut entry = |key: &str, one: &Resource| {
                let free = taken.insert(one.uri.clone());
                let name = if free { one.uri.clone() } else { format!("chatos+{short}:{}", one.uri) };
                let mut definition = one.raw.clone();
                definition[key] = json!(name);
                PassedEntry { name, server: of.identity.clone(), own: one.uri.clone(), definition }
            };
            passed.resources.extend(of.list.resources.iter().map(|one| entry("uri", one)));
            passed.templates.extend(of.list.templates.iter().map(|one| entry("uriTemplate", one)));
        }
        Ok(passed)
    }

    /// Asks a granted server for a client: `prompts/get`, `resources/read` or `completion/complete`, nothing else.
    pub async fn pass_on(
        &self,
        outcome: &Outcome,
        server: &str,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Value, Fault> {
        if !matches!(method, "prompts/get" | "resources/read" | "completion/complete") {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::new(format!("`{method}` is not passed on"), format!("不转发 `{method}`")),
            ));
        }
        if method == "resources/read" {
            let mut fields = Map::new();
            fields.insert("server".to_owned(), json!(server));
            fields.insert("uri".to_owned(), params.get("uri").cloned().unwrap_or_default());
            self.parts().audit.note("resource_read", fields);
        }
        self.with_granted(outcome, server, |connection| async move {
            connection.request(method, params, ANSWERING).await
        })
        .await
    }
}

fn definition(name: &str, prompt: &Prompt) -> Value {
    let arguments: Vec<Value> = prompt
        .arguments
        .iter()
        .map(|one| json!({ "name": one.name, "description": one.description, "required": one.required }))
        .collect();
    let mut definition = json!({ "name": name, "description": prompt.description, "arguments": arguments });
    if let Some(title) = &prompt.title {
        definition["title"] = json!(title);
    }
    definition
}
