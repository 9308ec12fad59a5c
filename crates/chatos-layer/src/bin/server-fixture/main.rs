//! The server that the official conformance suite is run against: the tools, documents and prompts it
//! looks for, on our own layer, connection and HTTP transport.
//!
//! Listens on a free port of this machine, prints the address, and ends when its input is closed.

mod offers;
mod tools;

use std::io::{Error, Read, Write};
use std::sync::{Arc, OnceLock};

use chatos_layer::{
    Access, Endpoint, EndpointOptions, FixedSettings, Gate, HttpListener, Layer, LayerParts, NoQueue, Nobody,
    Redactor, ServerInfo, ToolSettings, serve_http,
};
use chatos_tool::{Lang, Text};
use tokio_util::sync::CancellationToken;

static INFO: ServerInfo = ServerInfo {
    name: "server_fixture",
    id: "6d1f0e6a-52a7-4a0e-8b6c-0a52f3c0a7d4",
    title: Text::fixed("Fixture", "测试服务"),
    instructions: Text::fixed("Answers the conformance suite.", "用于一致性测试套件。"),
    needs_root: false,
    slots: 16,
    waits_hold_slot: false,
};

/// For the tools that change a list.
static ENDPOINT: OnceLock<Arc<Endpoint>> = OnceLock::new();

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let settings = ToolSettings { lang: Lang::En, ..ToolSettings::default() };
    let layer = Layer::new(LayerParts {
        settings: Arc::new(FixedSettings::new(settings)),
        log: None,
        redactor: Arc::new(Redactor::new()),
        queue: Arc::new(NoQueue),
        observer: Arc::new(Nobody),
    });
    let options =
        EndpointOptions { name: None, version: "0.1.0".to_owned(), access: Access::All, root: None };
    let endpoint = Endpoint::new(tools::server(&INFO), Arc::new(layer), options).offering(offers::features());
    let endpoint = Arc::clone(ENDPOINT.get_or_init(|| Arc::new(endpoint)));
    let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await?;
    let address = listener.address();
    let gate = Gate::without_token(address).ok_or_else(|| Error::other("not a loopback address"))?;
    writeln!(std::io::stdout(), "http://{address}/mcp")?;
    let stop = CancellationToken::new();
    let ended = stop.clone();
    std::thread::spawn(move || {
        // Whoever started it closes our input to end it; a read that fails means the same.
        std::io::stdin().read_to_end(&mut Vec::new()).ok();
        ended.cancel();
    });
    Box::pin(serve_http(endpoint, listener, gate, stop)).await;
    Ok(())
}
