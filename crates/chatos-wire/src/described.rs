//! Which types have a JSON Schema: with the feature `schema` those that derive one, without it all of them, because
//! nobody asks (decision 0077).

#[cfg(feature = "schema")]
pub use schemars::JsonSchema;

#[cfg(not(feature = "schema"))]
pub use chatos_described::JsonSchema;

/// A type whose schema is not part of this build.
#[cfg(not(feature = "schema"))]
pub trait JsonSchema {}

#[cfg(not(feature = "schema"))]
impl<T: ?Sized> JsonSchema for T {}
