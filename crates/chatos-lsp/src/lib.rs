//! A language server and its pool: the server `lsp_bridge`, code intelligence for agents (servers §10;
//! docs/servers/lsp.md).
//!
//! A call is about a file (`place`), whose text is opened in the right server (`table`, `find`, `pool`, `session`,
//! `documents`), asked over a connection of our own (`frame`, `wire`, `shapes`; decision 0026) and answered in the
//! terms of tools (`desk`, `tools`). Changes become operations of the file engine (`edit`).

mod server;

mod find;
mod table;

mod frame;
mod position;
mod shapes;
mod uri;
mod wire;

mod documents;
mod news;
mod pool;
mod session;

mod desk;
mod edit;
mod place;
mod tools;

pub use find::program;
pub use server::{INFO, server, server_with};
pub use table::{ConfigError, LanguageServer, servers};
