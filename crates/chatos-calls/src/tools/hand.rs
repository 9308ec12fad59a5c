//! Calls by hand: `POST tools/call` and `chatos tools call`, through the same dispatcher as every agent's.

use std::sync::Arc;

use chatos_agent::{
    CallEnd, CallObserver, CallOrder, Resumed, Sending, TaskHandle, ToolRef, Trail, WaitKind,
};
use chatos_mcp::{Block, Later, Progress};
use chatos_policy::Role;
use chatos_prompts::Owner;
use chatos_servers::{FIND_TOOLS, SIGN_IN, Toolset, ToolsetOrder};
use chatos_tool::{ErrorCode, Fault, IdSource, Text, Trace};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{ToolCall, Tools, client_root};
use crate::Calls;
use crate::whole::whole;

impl Calls {
    /// Runs a call by hand from its beginning to its end, on whichever server. Dropping the future
    /// withdraws the call.
    pub async fn call(&self, call: ToolCall) -> Result<Value, Fault> {
        let set = toolset(self, &call).await?;
        self.call_with(set, call).await
    }

    /// As [`Calls::call`], of a set of tools that was made for the caller.
    pub async fn call_with(&self, set: Arc<Toolset>, call: ToolCall) -> Result<Value, Fault> {
        let direct = if searches(&call) {
            ToolRef::Name(FIND_TOOLS.to_owned())
        } else {
            ToolRef::Direct { server: call.server.clone(), tool: call.tool.clone() }
        };
        if call.agent.is_none() && set.name_of(&call.server, &call.tool).is_none() {
            return Err(unknown(&set, &call));
        }
        let call_id = call.call_id.clone().unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let cancel = CancellationToken::new();
        let _registered = self.tools().register(&call_id, &cancel)?;
        if call.for_client {
            let tool = chatos_acp::OurTool { server: call.server.clone(), tool: call.tool.clone() };
            self.parts().seats.gateway_called(&call.session, tool);
        }
        let (is_agents, wants_trail) = (call.agent.is_some(), call.trail);
        let refused = if call.for_client { client_root::check(self, &set, &call).await? } else { None };
        let (server, tool) = (set.route_of(&call.server).map(|route| route.name.clone()), call.tool.clone());
        let resume = resumed(self, &call, server.as_deref()).await;
        let mut order = order(self, call, call_id.clone(), direct, cancel.clone())?;
        order.resume = resume;
        if let Some(error) = refused {
            let server = server.unwrap_or_default();
            let ended = self.dispatcher().refuse(&order, &server, &tool, error);
            return Ok(result(&ended, &call_id));
        }
        // Whoever goes away withdraws the call; it still ends in order and is logged.
        let gone = cancel.drop_guard();
        let trail = wants_trail.then(Trail::begin).map(Arc::new);
        let observer =
            Caller { tools: Arc::clone(self.tools()), call_id: call_id.clone(), trail: trail.clone() };
        let dispatcher = Arc::clone(self.dispatcher());
        let ended = whole(async move { dispatcher.call(&set, order, Arc::new(observer)).await }).await;
        drop(gone.disarm());
        let ended = ended?;
        if is_agents {
            self.look_at_end(&ended);
        }
        let mut result = result(&ended, &call_id);
        if let Some(trail) = trail {
            result["trail"] = trail.told();
        }
        Ok(result)
    }
}

/// Whoever called by hand can be told what the call waits for, and what was sent.
struct Caller {
    tools: Arc<Tools>,
    call_id: String,
    trail: Option<Arc<Trail>>,
}

impl CallObserver for Caller {
    fn sending(&self, sending: Sending) -> Later<Result<(), Fault>> {
        if let Some(trail) = &self.trail {
            trail.sent(sending);
        }
        Box::pin(async { Ok(()) })
    }

    fn task(&self, handle: TaskHandle) -> Later<Result<(), Fault>> {
        if let Some(trail) = &self.trail {
            trail.acknowledged(&handle);
        }
        Box::pin(async { Ok(()) })
    }

    fn progress(&self, progress: &Progress) {
        self.tools.call_says(&self.call_id, progress);
    }

    fn waiting(&self, request_id: &str, _kind: WaitKind) {
        self.tools.call_waits(&self.call_id, request_id);
    }
}

/// The question the call had asked before the host stopped, if it is one of this client's: of the call path, or of the
/// built-in server itself. Anything else is asked anew.
async fn resumed(calls: &Calls, call: &ToolCall, server: Option<&str>) -> Option<Resumed> {
    let request_id = call.resume.clone()?;
    let (store, id) = (calls.parts().store.clone(), request_id.clone());
    let row = chatos_blocking::run(move || store.prompt(&id)).await.ok()?.ok()??;
    let entry: Value = serde_json::from_str(&row.entry).ok()?;
    let session = call.meta.get("sessionId")?;
    if entry.pointer("/chatos/sessionId") != Some(session) {
        return None;
    }
    if row.owner == Owner::host_run().as_str() {
        return Some(Resumed::Prompt { request_id });
    }
    let own = chatos_builtin::server_info(server?)
        .is_some_and(|info| row.owner == Owner::host_server(info.name).as_str());
    own.then_some(Resumed::Asked { request_id })
}

async fn toolset(calls: &Calls, call: &ToolCall) -> Result<Arc<Toolset>, Fault> {
    let servers = calls.parts().servers.open();
    let Some(agent) = call.agent.clone() else { return servers.toolset_of(&call.server, call.lang).await };
    let agents = calls.parts().agents.clone();
    let outcome = chatos_blocking::run(move || agents.outcome(&agents.find(&agent)?, Role::Main));
    let outcome = outcome.await.map_err(|error| {
        Fault::new(ErrorCode::Internal, Text::same("the grants failed")).caused_by(&error)
    })??;
    let mut set = servers.toolset(ToolsetOrder::new(&outcome, call.lang)).await?;
    if searches(call) {
        set.searchable(call.lang);
    }
    for problem in set.problems().iter().filter(|problem| problem.code == SIGN_IN) {
        servers.ask_to_sign_in(&problem.server);
    }
    Ok(Arc::new(set))
}

/// Another program looks for tools of its agent, as models do.
fn searches(call: &ToolCall) -> bool {
    call.for_client && call.agent.is_some() && call.server == "chatos" && call.tool == FIND_TOOLS
}

fn order(
    calls: &Calls,
    call: ToolCall,
    call_id: String,
    tool: ToolRef,
    cancel: CancellationToken,
) -> Result<CallOrder, Fault> {
    let mut meta = call.meta;
    let mut warnings = Vec::new();
    let mut trace = Trace::from_meta(&meta, &call.tool, &mut NewIds, &mut warnings);
    let text = |meta: &Map<String, Value>, names: [&str; 2]| {
        let found = names.iter().find_map(|name| meta.get(*name).and_then(Value::as_str));
        found.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    trace.run_id = text(&meta, ["runId", "run_id"]).or(trace.run_id);
    trace.session_id = text(&meta, ["sessionId", "session_id"]).or(trace.session_id);
    let user_message_id = text(&meta, ["userMessageId", "user_message_id"]);
    let own = call.root.as_os_str().is_empty() && !call.for_client;
    let root = if own { calls.parts().project.clone() } else { call.root };
    let workdir = match text(&meta, ["workdir", "workdir"]) {
        // Another program's call works in its folder or in none.
        Some(path) if !call.for_client => root.join(path),
        _ => root,
    };
    // What is said elsewhere in the order, or is the host's to say.
    for key in [
        "chatos.lang",
        "chatos.peopleLang",
        "runId",
        "run_id",
        "sessionId",
        "session_id",
        "toolCallId",
        "tool_call_id",
    ] {
        meta.remove(key);
    }
    let arguments = match call.arguments {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => {
            return Err(Fault::new(
                ErrorCode::InvalidArgument,
                Text::fixed("/arguments: a JSON object is needed", "/arguments：需要 JSON 对象"),
            ));
        }
    };
    Ok(CallOrder {
        tool,
        arguments,
        raw_arguments: None,
        trace,
        call_id,
        user_message_id,
        role: Role::Main,
        workdir,
        lang: call.lang,
        // Who calls by hand is who is asked; another program is not.
        people: if call.for_client { calls.parts().lang() } else { call.lang },
        cancel,
        extra_meta: meta,
        resume: None,
        to_queue: false,
        together: None,
    })
}

/// The result as MCP clients get it; how it went is in `_meta.chatos`, for tools of every maker in the same words.
fn result(end: &CallEnd, call_id: &str) -> Value {
    let mut content: Vec<Value> = end.blocks.iter().map(block_json).collect();
    for (block, extra) in content.iter_mut().zip(&end.extra.blocks) {
        if let Some(block) = block.as_object_mut() {
            block.extend(extra.clone());
        }
    }
    let mut chatos =
        json!({ "status": end.envelope.status, "code": end.envelope.code, "certain": end.certain });
    if let (Some(chatos), Value::Object(context)) = (chatos.as_object_mut(), end.envelope.context()) {
        chatos.extend(context);
    }
    let mut result = json!({
        "callId": call_id, "content": content, "isError": end.is_error, "_meta": { "chatos": chatos },
    });
    if let Some(Value::Object(meta)) = &end.extra.meta {
        for (key, value) in meta.iter().filter(|(key, _)| *key != "chatos") {
            result["_meta"][key] = value.clone();
        }
    }
    if let Some(structured) = &end.structured {
        result["structuredContent"] = structured.clone();
    }
    result
}

/// A block as it came.
fn block_json(block: &Block) -> Value {
    match block {
        Block::Text(text) => json!({ "type": "text", "text": text }),
        Block::Image { data, mime } => json!({ "type": "image", "data": data, "mimeType": mime }),
        Block::Audio { data, mime } => json!({ "type": "audio", "data": data, "mimeType": mime }),
        Block::ResourceLink { raw, .. } | Block::Resource { raw, .. } | Block::Unknown(raw) => raw.clone(),
    }
}

/// A person mistyped: an error of the request, not a result.
fn unknown(set: &Toolset, call: &ToolCall) -> Fault {
    let (server, tool) = (&call.server, &call.tool);
    let own: Vec<&str> = set.specs().map(|granted| granted.tool.as_str()).collect();
    let nearest = chatos_tool::validation::nearest(tool, own.iter().copied());
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("`{server}` has no tool `{tool}`"), format!("`{server}` 没有工具 `{tool}`")),
    )
    .hint(match nearest {
        Some(near) => Text::new(format!("did you mean `{near}`?"), format!("是否指 `{near}`？")),
        None => Text::new(
            format!("`chatos tools show {server}` lists its tools"),
            format!("`chatos tools show {server}` 会列出其工具"),
        ),
    })
}

/// Ids for a call that brought none.
struct NewIds;

impl IdSource for NewIds {
    fn trace_id(&mut self) -> [u8; 16] {
        *uuid::Uuid::new_v4().as_bytes()
    }

    fn span_id(&mut self) -> [u8; 8] {
        let mut id = [0; 8];
        id.copy_from_slice(&uuid::Uuid::new_v4().as_bytes()[8..]);
        id
    }
}
