//! The server `lsp_bridge` with its tools (servers §10).

use chatos_layer::{Server, ServerEnv, ServerInfo};
use chatos_shell::ShellHome;
use chatos_tool::Text;

use crate::desk::Desk;
use crate::tools::{calls, changing, diagnostics, looking, servers, symbols};

pub static INFO: ServerInfo = ServerInfo {
    name: "lsp_bridge",
    id: "ba246952-8140-4f8e-ab46-33757b209585",
    title: Text::fixed("Understand code", "理解代码"),
    instructions: Text::fixed(
        "Asks language servers about code inside one root directory: types and documentation, definitions, \
         references, symbols, problems, renames, formatting, code actions, calls. The right server starts by itself on \
         the first call and is shared. Point with line and symbol (the text of the name in that line) rather than \
         counting columns. Prefer it to text search for questions about names; use search_text where no server is \
         installed. Changes are previews until apply is true; then all files change or none, a person may be asked \
         first, and they can be undone.",
        "就一个根目录内的代码询问语言服务器：类型与文档、定义、引用、符号、问题、重命名、格式化、代码操作、调用关系。\
         合适的服务器会在首次调用时自动启动并被共享。请用 line 加 symbol（该行中名称的文本）定位，不必数列号。\
         关于名称的问题优先使用它，而不是文本搜索；未安装服务器时使用 search_text。apply 为 true 之前更改只是预览；\
         应用时要么全部文件更改，要么都不更改，可能先请用户确认，并且可以撤销。",
    ),
    needs_root: true,
    slots: 8,
    waits_hold_slot: false,
};

/// `lsp_bridge` with its tools.
pub fn server(env: &ServerEnv) -> Server {
    server_with(env, &ShellHome::of(env))
}

/// The same, with language servers started as this home says.
pub fn server_with(env: &ServerEnv, shell: &ShellHome) -> Server {
    let desk = Desk::new(env, shell);
    Server::new(&INFO)
        .with(servers::ListServers(desk.clone()))
        .with(servers::StartServer(desk.clone()))
        .with(servers::StopServer(desk.clone()))
        .with(looking::Hover(desk.clone()))
        .with(looking::Definition(desk.clone()))
        .with(looking::References(desk.clone()))
        .with(looking::Completion(desk.clone()))
        .with(symbols::DocumentSymbols(desk.clone()))
        .with(symbols::WorkspaceSymbols(desk.clone()))
        .with(calls::CallHierarchy(desk.clone()))
        .with(diagnostics::GetDiagnostics(desk.clone()))
        .with(changing::FormatDocument(desk.clone()))
        .with(changing::Rename(desk.clone()))
        .with(changing::CodeActions(desk))
}
