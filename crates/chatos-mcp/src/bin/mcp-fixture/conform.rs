//! `mcp-fixture conform URL`: the client as the official conformance suite wants to see it.
//!
//! It does what a host does with any server: connects, lists, calls every tool with arguments that fit
//! its schema, answers what it is asked, and reads what else there is.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{
    Addresses, Auth, CallOutcome, CallRequest, Connection, Endpoint, Hooks, InputRequest, Offers, Pool,
    PoolOptions, Resume, ServerKey, ServerSpec, Times,
};
use serde_json::{Map, Value, json};

use crate::drive::{Obliging, answer, sample};

/// A question may lead to another one, but not for ever.
const ROUNDS: usize = 10;
const REQUEST: Duration = Duration::from_secs(20);

pub(crate) fn run(url: Option<String>) -> io::Result<()> {
    let url = url.ok_or_else(|| io::Error::other("expected the address of a server"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(visit(&url))
}

async fn visit(url: &str) -> io::Result<()> {
    let hooks: Arc<dyn Hooks> = Arc::new(Obliging);
    let pool = Pool::new(PoolOptions::new(hooks));
    let key = ServerKey::new("conformance");
    pool.put(ServerSpec {
        key: key.clone(),
        name: "conformance".to_owned(),
        endpoint: Endpoint::remote(url, &Auth::default(), Addresses::Private).map_err(io::Error::other)?,
        digest: String::new(),
        offers: Offers { elicitation: true, sampling: true, roots: true, tasks: false, views: false },
        times: Times::default(),
        idle: None,
    });
    let connection = pool.connect(&key).await.map_err(|error| io::Error::other(error.failure))?;
    let tools = connection.tools().await.map_err(io::Error::other)?;
    let wanted = wanted_calls();
    for (name, arguments) in &wanted {
        call(&connection, name, arguments.clone()).await;
    }
    for tool in tools.tools.iter().filter(|tool| wanted.iter().all(|(name, _)| *name != tool.name)) {
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        let mut arguments: Map<String, Value> =
            fields.map(|(name, field)| (name.clone(), sample(field))).collect();
        // This one wants to see the schema of its neighbour as it reached us.
        if let ("json_schema_echo", Some(other)) = (tool.name.as_str(), tools.get("json_schema_2020_12_tool"))
        {
            arguments.insert("schema".to_owned(), other.input_schema.clone());
        }
        call(&connection, &tool.name, arguments).await;
    }
    for (list, items, read, key) in [
        ("resources/list", "resources", "resources/read", "uri"),
        ("prompts/list", "prompts", "prompts/get", "name"),
    ] {
        let capability = connection.peer().capabilities.get(items).is_some();
        let Ok(found) =
            (if capability { connection.request(list, Map::new(), REQUEST).await } else { continue })
        else {
            continue;
        };
        for item in found.get(items).and_then(Value::as_array).into_iter().flatten() {
            let mut params = Map::new();
            params.insert(key.to_owned(), item[key].clone());
            // What it answers is the suite's business.
            connection.request(read, params, REQUEST).await.ok();
        }
    }
    pool.close().await;
    Ok(())
}

/// The calls a scenario prescribes, from the suite's own variable.
fn wanted_calls() -> Vec<(String, Map<String, Value>)> {
    let context = std::env::vars_os().find(|(name, _)| name == "MCP_CONFORMANCE_CONTEXT");
    let context: Value = context
        .and_then(|(_, value)| serde_json::from_str(&value.into_string().ok()?).ok())
        .unwrap_or(Value::Null);
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    calls
        .filter_map(|call| Some((call["name"].as_str()?.to_owned(), call["arguments"].as_object()?.clone())))
        .collect()
}

/// Calls a tool and goes on as long as the server asks for something.
async fn call(connection: &Connection, tool: &str, arguments: Map<String, Value>) {
    let mut resume = None;
    for _ in 0..ROUNDS {
        let request = CallRequest {
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            resume: resume.take(),
            ..CallRequest::default()
        };
        let Ok(CallOutcome::InputRequired(required)) = connection.call(request).await else { return };
        let answers =
            required.requests.into_iter().filter_map(|(key, ask)| Some((key, respond(ask)?))).collect();
        resume = Some(Resume { request_state: required.request_state, answers });
    }
}

fn respond(ask: InputRequest) -> Option<Value> {
    match ask {
        InputRequest::Elicitation(ask) => Some(answer(ask).to_json()),
        InputRequest::Sampling(_) => Some(crate::drive::sampled()),
        InputRequest::Roots => Some(json!({ "roots": [{ "uri": "file:///project" }] })),
        InputRequest::Unknown(_) => None,
    }
}
