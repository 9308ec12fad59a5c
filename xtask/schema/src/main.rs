//! Prints what `cargo xtask codegen` writes down: the OpenAPI document, or the schema of the event stream.
//!
//! The one program of the workspace that is built with the schemas of the wire (decision 0077).

use std::io::Write as _;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let document = match name.as_str() {
        "openapi" => chatos_server::openapi_document(),
        "events" => chatos_wire::schema::schema(),
        _ => bail!("usage: chatos-schema openapi|events"),
    };
    let text = serde_json::to_string_pretty(&document)?;
    Ok(writeln!(std::io::stdout(), "{text}")?)
}
