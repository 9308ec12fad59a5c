//! The table of routes: each is registered once, with the types it takes and gives, and what a client is told
//! about it comes from those types. A handler of another type does not compile.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
#[cfg(feature = "schema")]
use schemars::SchemaGenerator;

use crate::answer::Output;
use crate::api::{ApiError, bare};
use crate::app::App;
use crate::caller::Caller;
use crate::input::Input;
#[cfg(feature = "schema")]
use crate::input::Takes;

/// A handler whose types are gone: all of them are one type, and axum sees only that one.
type Erased = Arc<dyn Fn(App, Request) -> BoxFuture<'static, Response> + Send + Sync>;

/// Every route with what it takes and gives; routing and the OpenAPI document come from it.
#[derive(Default)]
pub(crate) struct Routes {
    paths: BTreeMap<&'static str, Vec<(Method, Erased)>>,
    #[cfg(feature = "schema")]
    pub(crate) docs: Vec<RouteDoc>,
}

/// One route as documented.
#[cfg(feature = "schema")]
pub(crate) struct RouteDoc {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) status: u16,
    pub(crate) takes: fn(&mut SchemaGenerator, &mut Takes),
    pub(crate) gives: fn(&mut SchemaGenerator) -> schemars::Schema,
}

impl Routes {
    pub(crate) fn get<In: Input, Out: Output, F>(
        &mut self,
        path: &'static str,
        summary: &'static str,
        handler: fn(App, Caller, In) -> F,
    ) where
        F: Future<Output = Result<Out, ApiError>> + Send + 'static,
    {
        self.on(Method::GET, path, summary, handler);
    }

    pub(crate) fn post<In: Input, Out: Output, F>(
        &mut self,
        path: &'static str,
        summary: &'static str,
        handler: fn(App, Caller, In) -> F,
    ) where
        F: Future<Output = Result<Out, ApiError>> + Send + 'static,
    {
        self.on(Method::POST, path, summary, handler);
    }

    pub(crate) fn put<In: Input, Out: Output, F>(
        &mut self,
        path: &'static str,
        summary: &'static str,
        handler: fn(App, Caller, In) -> F,
    ) where
        F: Future<Output = Result<Out, ApiError>> + Send + 'static,
    {
        self.on(Method::PUT, path, summary, handler);
    }

    pub(crate) fn patch<In: Input, Out: Output, F>(
        &mut self,
        path: &'static str,
        summary: &'static str,
        handler: fn(App, Caller, In) -> F,
    ) where
        F: Future<Output = Result<Out, ApiError>> + Send + 'static,
    {
        self.on(Method::PATCH, path, summary, handler);
    }

    pub(crate) fn delete<In: Input, Out: Output, F>(
        &mut self,
        path: &'static str,
        summary: &'static str,
        handler: fn(App, Caller, In) -> F,
    ) where
        F: Future<Output = Result<Out, ApiError>> + Send + 'static,
    {
        self.on(Method::DELETE, path, summary, handler);
    }

    /// The one registration of a route that speaks JSON.
    fn on<In: Input, Out: Output, F>(
        &mut self,
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(App, Caller, In) -> F,
    ) where
        F: Future<Output = Result<Out, ApiError>> + Send + 'static,
    {
        #[cfg(not(feature = "schema"))]
        let _ = summary;
        #[cfg(feature = "schema")]
        self.docs.push(RouteDoc {
            method: method.clone(),
            path,
            summary,
            status: Out::STATUS,
            takes: In::document,
            gives: Out::schema,
        });
        let erased: Erased = Arc::new(move |app, request| {
            Box::pin(async move {
                let caller = Caller::of(&request, app.host().lang());
                let answered = match In::read(request).await {
                    Ok(input) => handler(app, caller.clone(), input).await,
                    Err(error) => Err(error),
                };
                match answered {
                    Ok(out) => out.answer(&caller),
                    Err(error) => error.into_response(),
                }
            })
        });
        self.paths.entry(path).or_default().push((method, erased));
    }

    /// A route that gives something else than JSON: bytes, a stream, a page. It has no entry in the document.
    pub(crate) fn bytes<In: Input, F>(&mut self, path: &'static str, handler: fn(App, Caller, In) -> F)
    where
        F: Future<Output = Result<Response, ApiError>> + Send + 'static,
    {
        self.paths.entry(path).or_default().push((Method::GET, bytes(handler)));
    }

    /// The router; what no route takes goes to `other`. The application comes with each request, so that the
    /// router, which the application keeps, does not keep the application.
    pub(crate) fn into_router<F>(self, other: fn(App, Caller, Request) -> F) -> Router
    where
        F: Future<Output = Result<Response, ApiError>> + Send + 'static,
    {
        let mut router = Router::new();
        for (path, methods) in self.paths {
            router = router.route_service(path, Endpoint { methods: methods.into(), any: None });
        }
        router.fallback_service(Endpoint { methods: [].into(), any: Some(bytes(other)) })
    }
}

fn bytes<In: Input, F>(handler: fn(App, Caller, In) -> F) -> Erased
where
    F: Future<Output = Result<Response, ApiError>> + Send + 'static,
{
    Arc::new(move |app, request| {
        Box::pin(async move {
            let caller = Caller::of(&request, app.host().lang());
            let answered = match In::read(request).await {
                Ok(input) => handler(app, caller, input).await,
                Err(error) => Err(error),
            };
            answered.unwrap_or_else(IntoResponse::into_response)
        })
    })
}

/// All methods of one path.
#[derive(Clone)]
struct Endpoint {
    methods: Arc<[(Method, Erased)]>,
    /// Takes whatever method no handler is for.
    any: Option<Erased>,
}

impl Endpoint {
    /// Whoever asks for the head of an answer gets the answer; the connection leaves out its body.
    fn find(&self, method: &Method) -> Option<&Erased> {
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        let found = self.methods.iter().find(|(method, _)| method == wanted).map(|(_, handler)| handler);
        found.or(self.any.as_ref())
    }

    fn refused(&self) -> Response {
        let mut names: Vec<&str> = self.methods.iter().map(|(method, _)| method.as_str()).collect();
        if names.contains(&"GET") {
            names.push("HEAD");
        }
        let mut response = bare(StatusCode::METHOD_NOT_ALLOWED);
        if let Ok(names) = HeaderValue::from_str(&names.join(",")) {
            response.headers_mut().insert(header::ALLOW, names);
        }
        response
    }
}

impl tower::Service<Request> for Endpoint {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let handler = self.find(request.method()).cloned();
        let refused = if handler.is_none() { Some(self.refused()) } else { None };
        let app = request.extensions_mut().remove::<App>();
        Box::pin(async move {
            Ok(match (handler, app) {
                (Some(handler), Some(app)) => handler(app, request).await,
                (None, _) => refused.unwrap_or_else(|| bare(StatusCode::METHOD_NOT_ALLOWED)),
                (Some(_), None) => bare(StatusCode::INTERNAL_SERVER_ERROR),
            })
        })
    }
}
