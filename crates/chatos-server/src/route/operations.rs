//! Long work: how far it is, and stopping it.

use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::operation::{OperationList, OperationView};
use chatos_wire::status::Empty;

use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::{Body, Path};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/operations", "Long work of this start, newest first", list);
    routes.get("/api/v1/operations/{id}", "How far long work is", read);
    routes.post("/api/v1/operations/{id}/cancel", "Ask long work to stop", cancel);
}

async fn list(app: App, cx: Caller, (): ()) -> Result<OperationList, ApiError> {
    let lang = cx.lang;
    let operations = app.host().operations().list();
    Ok(OperationList { items: operations.iter().map(|operation| operation.view(lang)).collect() })
}

async fn read(app: App, cx: Caller, Path(id): Path<String>) -> Result<OperationView, ApiError> {
    let lang = cx.lang;
    let operation = app.host().operations().get(&id).ok_or_else(|| unknown(&id))?;
    Ok(operation.view(lang))
}

async fn cancel(
    app: App,
    cx: Caller,
    (Path(id), _): (Path<String>, Body<Empty>),
) -> Result<OperationView, ApiError> {
    let lang = cx.lang;
    let operation = app.host().operations().get(&id).ok_or_else(|| unknown(&id))?;
    operation.cancel();
    Ok(operation.view(lang))
}

fn unknown(id: &str) -> Fault {
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("there is no operation `{id}`"), format!("没有操作 `{id}`")),
    )
    .hint(Text::fixed("operations are forgotten when ChatOS stops", "ChatOS 停止后不再保留操作记录"))
}
