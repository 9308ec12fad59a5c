//! The state as a whole: copies of it, taking over an older one, removing what is no longer wanted.

use chatos_archive::BackupOrder;
use chatos_store::iso_from_ms;
use chatos_tool::Fault;
use chatos_wire::operation::OperationView;
use chatos_wire::state::{BackupBody, PruneBody, PruneView, StateImportBody, StateImportView, StateImports};

use crate::answer::Accepted;
use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.post("/api/v1/state/import", "Take over the state of an older program", import);
    routes.post("/api/v1/state/backup", "Keep the whole state in a file", backup);
    routes.post("/api/v1/state/prune", "Remove old finished runs", prune);
    routes.get("/api/v1/state/imports", "What was taken over", imports);
}

async fn import(
    app: App,
    cx: Caller,
    Body(body): Body<StateImportBody>,
) -> Result<Accepted<OperationView>, ApiError> {
    let lang = cx.lang;
    let operation = app.host().archive().take_over(body.path)?;
    Ok(Accepted(operation.view(lang)))
}

async fn backup(
    app: App,
    cx: Caller,
    Body(body): Body<BackupBody>,
) -> Result<Accepted<OperationView>, ApiError> {
    let lang = cx.lang;
    let order = BackupOrder {
        target: body.path,
        blobs: !body.no_blobs,
        passphrase: body.passphrase.map(zeroize::Zeroizing::new),
        lang,
    };
    let operation = app.host().archive().backup(order)?;
    Ok(Accepted(operation.view(lang)))
}

async fn prune(app: App, _: Caller, Body(body): Body<PruneBody>) -> Result<PruneView, ApiError> {
    let dry_run = body.dry_run;
    let (before, pruned) =
        blocking(app.host(), move |host| host.archive().prune(&body.runs_before, body.dry_run)).await?;
    Ok(PruneView {
        dry_run,
        before: iso_from_ms(before),
        runs: pruned.runs,
        steps: pruned.steps,
        oldest: pruned.span.map(|(oldest, _)| iso_from_ms(oldest)),
        newest: pruned.span.map(|(_, newest)| iso_from_ms(newest)),
    })
}

async fn imports(app: App, _: Caller, (): ()) -> Result<StateImports, ApiError> {
    let rows =
        blocking(app.host(), |host| chatos_archive::imports(host.store()).map_err(Fault::from)).await?;
    let items = rows
        .into_iter()
        .map(|(source, at, counts, report)| StateImportView {
            source,
            imported_at: iso_from_ms(at),
            counts,
            report,
        })
        .collect();
    Ok(StateImports { items })
}
