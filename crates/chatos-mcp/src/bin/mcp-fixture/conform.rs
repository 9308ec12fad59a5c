//! `mcp-fixture conform URL`: the client as the official conformance suite wants to see it.
//!
//! It does what a host does with any server: connects, lists, calls every tool with arguments that fit
//! its schema, answers what it is asked, and reads what else there is. Where it has to sign in, it is its
//! own browser (`sign_in`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use chatos_mcp::{
    Addresses, Auth, CallOutcome, CallRequest, Connection, Endpoint, Failure, Hooks, InputRequest, Offers,
    Pool, PoolOptions, Resume, ServerKey, ServerSpec, Times,
};
use serde_json::{Map, Value, json};

use crate::drive::{Obliging, answer, sample};
use crate::sign_in::Person;

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
    let context = context();
    let person = Person::new(&context);
    let endpoint = Endpoint::remote(url, &Auth::default(), Addresses::Private).map_err(io::Error::other)?;
    let endpoint = endpoint.with_grants(person.grants());
    pool.put(ServerSpec {
        key: key.clone(),
        name: "conformance".to_owned(),
        endpoint: endpoint.clone(),
        digest: String::new(),
        offers: Offers { elicitation: true, sampling: true, roots: true, tasks: false, views: false },
        times: Times::default(),
        idle: None,
    });
    // A server may ask for a sign-in at any request, and for another one at the next.
    let visited = loop {
        match tour(&pool, &key, &context).await {
            Err(Failure::SignInNeeded { challenge, .. }) => {
                if let Err(error) = person.sign_in(&endpoint, &challenge).await {
                    break Err(error);
                }
                pool.restart(&key);
            }
            other => break other.map_err(io::Error::other),
        }
    };
    pool.close().await;
    visited
}

/// Everything once. Fails only where a sign-in is needed or there is no connection.
async fn tour(pool: &Pool, key: &ServerKey, context: &Value) -> Result<(), Failure> {
    let connection = pool.connect(key).await.map_err(|error| error.failure)?;
    let tools = connection.tools().await?;
    let wanted = wanted_calls(context);
    for (name, arguments) in &wanted {
        call(&connection, name, arguments.clone()).await?;
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
        call(&connection, &tool.name, arguments).await?;
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
    Ok(())
}

/// What a scenario prescribes, from the suite's own variable.
fn context() -> Value {
    let context = std::env::vars_os().find(|(name, _)| name == "MCP_CONFORMANCE_CONTEXT");
    let context = context.and_then(|(_, value)| serde_json::from_str(&value.into_string().ok()?).ok());
    context.unwrap_or(Value::Null)
}

/// The calls it prescribes.
fn wanted_calls(context: &Value) -> Vec<(String, Map<String, Value>)> {
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    calls
        .filter_map(|call| Some((call["name"].as_str()?.to_owned(), call["arguments"].as_object()?.clone())))
        .collect()
}

/// Calls a tool and goes on as long as the server asks for something.
async fn call(connection: &Connection, tool: &str, arguments: Map<String, Value>) -> Result<(), Failure> {
    let mut resume = None;
    for _ in 0..ROUNDS {
        let request = CallRequest {
            tool: tool.to_owned(),
            arguments: arguments.clone(),
            resume: resume.take(),
            ..CallRequest::default()
        };
        let required = match connection.call(request).await {
            Ok(CallOutcome::InputRequired(required)) => required,
            Err(error) if matches!(error.failure, Failure::SignInNeeded { .. }) => return Err(error.failure),
            // What else it answers is the suite's business.
            Ok(_) | Err(_) => return Ok(()),
        };
        let answers =
            required.requests.into_iter().filter_map(|(key, ask)| Some((key, respond(ask)?))).collect();
        resume = Some(Resume { request_state: required.request_state, answers });
    }
    Ok(())
}

fn respond(ask: InputRequest) -> Option<Value> {
    match ask {
        InputRequest::Elicitation(ask) => Some(answer(ask).to_json()),
        InputRequest::Sampling(_) => Some(crate::drive::sampled()),
        InputRequest::Roots => Some(json!({ "roots": [{ "uri": "file:///project" }] })),
        InputRequest::Unknown(_) => None,
    }
}
