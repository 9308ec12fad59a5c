//! A server of another maker's library in this process: both sides agree on the newest protocol.

use std::sync::Arc;

use chatos_mcp::{Endpoint, Era, InProcess};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::io::DuplexStream;

use crate::support::{call, pool_of, text, within};

#[derive(Debug)]
struct Library;

impl InProcess for Library {
    fn serve(&self, stream: DuplexStream) {
        tokio::spawn(async move {
            if let Ok(running) = rmcp::serve_server(Handler, stream).await {
                running.waiting().await.ok();
            }
        });
    }
}

struct Handler;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema: Value = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let tool = json!({ "name": "shout", "description": "louder", "inputSchema": schema });
        let tool: Tool = serde_json::from_value(tool).unwrap();
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_uppercase();
        assert!(context.meta.get_progress_token().is_some());
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::test]
async fn a_library_server_in_this_process_works_in_the_newest_era() {
    let (pool, key) = pool_of(Endpoint::InProcess(Arc::new(Library)));
    let list = within(pool.tools(&key)).await.unwrap();
    assert_eq!(list.tools[0].name, "shout");
    assert_eq!(text(&pool, &key, "shout", json!({ "text": "hey" })).await, "HEY");
    let status = pool.status(&key).unwrap();
    assert_eq!((status.kind, status.peer.unwrap().era), ("in-process", Era::Modern));
    for n in 0..200 {
        assert_eq!(text(&pool, &key, "shout", json!({ "text": format!("n{n}") })).await, format!("N{n}"));
    }
    let large = "x".repeat(2_000_000);
    assert_eq!(text(&pool, &key, "shout", json!({ "text": large })).await.len(), 2_000_000);
    within(pool.stop(&key)).await;
    assert!(call(&pool, &key, "shout", json!({})).await.is_err());
    pool.close().await;
}
