//! What handlers take: values of the path, of the query, and a JSON body, each with its type.

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::described::JsonSchema;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{ApiError, BODY_BYTES, read_body};

/// What the document says a route takes.
#[cfg(feature = "schema")]
#[derive(Default)]
pub(crate) struct Takes {
    /// Name, what it is, schema.
    pub(crate) query: Vec<(String, String, Value)>,
    pub(crate) body: Option<Schema>,
}

/// Everything a handler takes from a request.
pub(crate) trait Input: Sized + Send + 'static {
    #[cfg(feature = "schema")]
    fn document(schemas: &mut SchemaGenerator, takes: &mut Takes);
    fn read(request: Request) -> impl Future<Output = Result<Self, ApiError>> + Send;
}

/// A part of it that needs no body.
pub(crate) trait Part: Sized + Send + 'static {
    #[cfg(feature = "schema")]
    fn document(takes: &mut Takes);
    fn read(parts: &mut Parts) -> impl Future<Output = Result<Self, ApiError>> + Send;
}

/// The values of the path: one text, or several.
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static> Part for Path<T> {
    // Their names stand in the path itself.
    #[cfg(feature = "schema")]
    fn document(_: &mut Takes) {}

    async fn read(parts: &mut Parts) -> Result<Self, ApiError> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, &()).await;
        read.map(|path| Self(path.0)).map_err(|_| ApiError::Status(StatusCode::BAD_REQUEST))
    }
}

/// The values of the query; what cannot be read is said in the caller's language.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Part for Query<T> {
    #[cfg(feature = "schema")]
    fn document(takes: &mut Takes) {
        // On its own: the names of a query are no type that anybody else needs.
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        let Some(Value::Object(members)) = schema.get("properties") else { return };
        for (name, member) in members {
            let text = member["description"].as_str().unwrap_or_default().to_owned();
            let kind = match &member["type"] {
                Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned(),
                Value::Null => None,
                kind => Some(kind.clone()),
            };
            let kind = kind.unwrap_or_else(|| Value::from("string"));
            takes.query.push((name.clone(), text, serde_json::json!({ "type": kind })));
        }
    }

    async fn read(parts: &mut Parts) -> Result<Self, ApiError> {
        let read = axum::extract::Query::<T>::try_from_uri(&parts.uri);
        read.map(|query| Self(query.0)).map_err(|error| {
            let text = error.body_text();
            ApiError::Malformed(
                Fault::new(
                    ErrorCode::InvalidArgument,
                    Text::new(
                        format!("the query cannot be read: {text}"),
                        format!("无法解析查询参数：{text}"),
                    ),
                )
                .hint(Text::fixed(
                    "use the names and values that the API description gives",
                    "请使用 API 说明中的名称和取值",
                )),
            )
        })
    }
}

/// A JSON body of at most `LIMIT` bytes.
pub(crate) struct Body<T, const LIMIT: usize = BODY_BYTES>(pub(crate) T);

impl<T: DeserializeOwned, const LIMIT: usize> Body<T, LIMIT> {
    pub(crate) async fn of(request: Request) -> Result<Self, ApiError> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("application/json") {
            return Err(ApiError::Status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        let bytes = read_body(request, LIMIT).await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| unreadable(&error))
    }
}

fn unreadable(error: &serde_json::Error) -> ApiError {
    let text = error.to_string();
    ApiError::Malformed(
        Fault::new(
            ErrorCode::InvalidArgument,
            Text::new(format!("the body cannot be read: {text}"), format!("无法解析请求内容：{text}")),
        )
        .hint(Text::fixed(
            "send the JSON object that the API description names",
            "请按 API 说明发送 JSON 对象",
        )),
    )
}

/// A body that is read as plain members and documented as `T`: what is absent stays as it is, and the part that
/// owns the record reads the members one by one.
pub(crate) struct Members<T, const LIMIT: usize = BODY_BYTES>(
    pub(crate) serde_json::Map<String, Value>,
    pub(crate) std::marker::PhantomData<fn() -> T>,
);

/// A request the handler reads itself, documented as one with the body `T`.
pub(crate) struct Upload<T>(pub(crate) Request, pub(crate) std::marker::PhantomData<fn() -> T>);

/// The request as it came, for what is not JSON.
impl Input for Request {
    #[cfg(feature = "schema")]
    fn document(_: &mut SchemaGenerator, _: &mut Takes) {}

    async fn read(request: Request) -> Result<Self, ApiError> {
        Ok(request)
    }
}

impl Input for () {
    #[cfg(feature = "schema")]
    fn document(_: &mut SchemaGenerator, _: &mut Takes) {}

    async fn read(_: Request) -> Result<Self, ApiError> {
        Ok(())
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static, const LIMIT: usize> Input for Body<T, LIMIT> {
    #[cfg(feature = "schema")]
    fn document(schemas: &mut SchemaGenerator, takes: &mut Takes) {
        takes.body = Some(schemas.subschema_for::<T>());
    }

    async fn read(request: Request) -> Result<Self, ApiError> {
        Self::of(request).await
    }
}

impl<T: JsonSchema + 'static, const LIMIT: usize> Input for Members<T, LIMIT> {
    #[cfg(feature = "schema")]
    fn document(schemas: &mut SchemaGenerator, takes: &mut Takes) {
        takes.body = Some(schemas.subschema_for::<T>());
    }

    async fn read(request: Request) -> Result<Self, ApiError> {
        let Body(members) = Body::<serde_json::Map<String, Value>, LIMIT>::of(request).await?;
        Ok(Self(members, std::marker::PhantomData))
    }
}

impl<T: JsonSchema + 'static> Input for Upload<T> {
    #[cfg(feature = "schema")]
    fn document(schemas: &mut SchemaGenerator, takes: &mut Takes) {
        takes.body = Some(schemas.subschema_for::<T>());
    }

    async fn read(request: Request) -> Result<Self, ApiError> {
        Ok(Self(request, std::marker::PhantomData))
    }
}

impl<P: Part> Input for P {
    #[cfg(feature = "schema")]
    fn document(_: &mut SchemaGenerator, takes: &mut Takes) {
        P::document(takes);
    }

    async fn read(request: Request) -> Result<Self, ApiError> {
        P::read(&mut request.into_parts().0).await
    }
}

/// Parts first, then the rest of the request.
impl<P: Part, I: Input> Input for (P, I) {
    #[cfg(feature = "schema")]
    fn document(schemas: &mut SchemaGenerator, takes: &mut Takes) {
        P::document(takes);
        I::document(schemas, takes);
    }

    async fn read(request: Request) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let first = P::read(&mut parts).await?;
        Ok((first, I::read(Request::from_parts(parts, body)).await?))
    }
}

impl<P: Part, Q: Part, I: Input> Input for (P, Q, I) {
    #[cfg(feature = "schema")]
    fn document(schemas: &mut SchemaGenerator, takes: &mut Takes) {
        P::document(takes);
        <(Q, I)>::document(schemas, takes);
    }

    async fn read(request: Request) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        let first = P::read(&mut parts).await?;
        let (second, rest) = <(Q, I)>::read(Request::from_parts(parts, body)).await?;
        Ok((first, second, rest))
    }
}
