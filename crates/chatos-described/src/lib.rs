//! `#[derive(JsonSchema)]` of the program people install: it writes nothing.
//!
//! The types of the wire derive a JSON Schema, which only the generator of our documents reads (`xtask/schema`).
//! There `chatos-wire` has its feature `schema` and the derive is that of `schemars`; everywhere else it is this one,
//! so that five hundred functions which nobody calls are neither compiled nor shipped (decision 0077).

use proc_macro::TokenStream;

/// Takes the attributes `schemars` takes, and gives no code.
#[proc_macro_derive(JsonSchema, attributes(schemars))]
pub fn nothing(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
