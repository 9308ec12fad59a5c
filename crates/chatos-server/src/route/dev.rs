//! `chatos dev`: what only a sandbox has. Everywhere else these are not found; what a panel of its page shows
//! besides comes from the routes every host has (decision 0029).

use std::sync::Arc;

use axum::http::StatusCode;
use chatos_dev::Sandbox;
use chatos_wire::dev::{AsyncTestInput, AsyncTestResult, DevInfo, DevProblems};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/dev", "What is under development here, and where (`chatos dev` only)", info);
    routes.get(
        "/api/v1/dev/problems",
        "What `chatos plugin validate` says about the files as they are (`chatos dev` only)",
        problems,
    );
    routes.post(
        "/api/v1/dev/async-test",
        "Write the result of a made-up task and wait for it as a tool call does (`chatos dev` only)",
        async_test,
    );
}

fn sandbox(app: &App) -> Result<Arc<Sandbox>, ApiError> {
    app.options().dev.clone().ok_or(ApiError::Status(StatusCode::NOT_FOUND))
}

async fn info(app: App, _: Caller, (): ()) -> Result<DevInfo, ApiError> {
    let sandbox = sandbox(&app)?;
    blocking(app.host(), move |_| sandbox.info()).await
}

async fn problems(app: App, cx: Caller, (): ()) -> Result<DevProblems, ApiError> {
    Ok(sandbox(&app)?.problems(cx.lang).await?)
}

async fn async_test(
    app: App,
    _: Caller,
    Body(input): Body<AsyncTestInput>,
) -> Result<AsyncTestResult, ApiError> {
    Ok(sandbox(&app)?.async_test(&input).await?)
}
