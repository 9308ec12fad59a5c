//! What handlers give: a value as JSON, with the status that says what became of the request.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chatos_tool::{ErrorCode, Fault, Text, hex};
use chatos_wire::described::JsonSchema;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::api::{ApiError, bare, json_bytes};
use crate::caller::Caller;

/// An answer with its type.
pub(crate) trait Output: Send + 'static {
    /// As the document says.
    #[cfg(feature = "schema")]
    const STATUS: u16 = 200;
    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema;
    fn answer(self, caller: &Caller) -> Response;
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => json_bytes(status, bytes),
        Err(error) => {
            tracing::error!(%error, "an answer could not be written");
            bare(StatusCode::INTERNAL_SERVER_ERROR)
        }
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for T {
    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<T>()
    }

    fn answer(self, _: &Caller) -> Response {
        json(StatusCode::OK, &self)
    }
}

/// Reads what a part of the host still gives as JSON.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ApiError> {
    serde_json::from_value(value).map_err(|error| {
        let text = Text::fixed("an answer has another shape than documented", "回答的结构与说明不符");
        Fault::new(ErrorCode::Internal, text).caused_by(&error).into()
    })
}

/// A value, and what the browser is to keep.
pub(crate) struct WithCookie<T> {
    pub(crate) value: T,
    /// A `Set-Cookie` line.
    pub(crate) set_cookie: Option<String>,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for WithCookie<T> {
    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<T>()
    }

    fn answer(self, _: &Caller) -> Response {
        let mut response = json(StatusCode::OK, &self.value);
        if let Some(line) = self.set_cookie.and_then(|line| HeaderValue::from_str(&line).ok()) {
            response.headers_mut().insert(header::SET_COOKIE, line);
        }
        response
    }
}

/// Something new is there.
pub(crate) struct Created<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Created<T> {
    #[cfg(feature = "schema")]
    const STATUS: u16 = 201;

    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<T>()
    }

    fn answer(self, _: &Caller) -> Response {
        json(StatusCode::CREATED, &self.0)
    }
}

/// It was asked for; what becomes of it comes later.
pub(crate) struct Accepted<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Accepted<T> {
    #[cfg(feature = "schema")]
    const STATUS: u16 = 202;

    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<T>()
    }

    fn answer(self, _: &Caller) -> Response {
        json(StatusCode::ACCEPTED, &self.0)
    }
}

/// Something that is there now: new, or found where it was (200).
pub(crate) struct Kept<T> {
    pub(crate) new: bool,
    pub(crate) value: T,
}

impl<T: Serialize + JsonSchema + Send + 'static> Output for Kept<T> {
    #[cfg(feature = "schema")]
    const STATUS: u16 = 201;

    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<T>()
    }

    fn answer(self, _: &Caller) -> Response {
        json(if self.new { StatusCode::CREATED } else { StatusCode::OK }, &self.value)
    }
}

/// A snapshot with its tag; whoever has it already gets 304.
pub(crate) struct Tagged<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send + 'static> Output for Tagged<T> {
    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<T>()
    }

    fn answer(self, caller: &Caller) -> Response {
        let Ok(body) = serde_json::to_vec(&self.0) else { return bare(StatusCode::INTERNAL_SERVER_ERROR) };
        let tag = format!("\"{}\"", hex(&Sha256::digest(&body)[..12]));
        let known = caller.header(&header::IF_NONE_MATCH).unwrap_or_default();
        let mut response = if known.split(',').any(|known| known.trim() == tag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            json_bytes(StatusCode::OK, body)
        };
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}

/// What a person is given, or the narrower answer for an app.
pub(crate) enum Seen<Person, App> {
    ByPerson(Person),
    ByApp(App),
}

impl<P, A> Output for Seen<P, A>
where
    P: Serialize + JsonSchema + Send + 'static,
    A: Serialize + JsonSchema + Send + 'static,
{
    #[cfg(feature = "schema")]
    fn schema(schemas: &mut SchemaGenerator) -> Schema {
        let (person, app) = (schemas.subschema_for::<P>(), schemas.subschema_for::<A>());
        json_schema!({ "anyOf": [person, app] })
    }

    fn answer(self, _: &Caller) -> Response {
        match self {
            Self::ByPerson(value) => json(StatusCode::OK, &value),
            Self::ByApp(value) => json(StatusCode::OK, &value),
        }
    }
}
