//! What is written down of a program that talks to a process beside the host (other-agents §2.1): a row per session,
//! renewed while it is used, so that questions name it and people see who is there.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chatos_prompts::Origin;
use chatos_store::ClientRow;
use chatos_tool::{Fault, Lang};
use hyper::Method;
use serde_json::json;

use crate::{Beside, HostApi};

/// A row is renewed when it was written longer ago.
const RENEWED: Duration = Duration::from_secs(60);

/// Which sessions this process has written down.
#[derive(Default)]
pub(crate) struct Clients {
    written: Mutex<HashMap<(String, String), Instant>>,
}

/// A row for the program that started this process.
pub(crate) fn row(beside: &Beside, id: String, kind: &str, (name, version): (&str, &str)) -> ClientRow {
    let program = beside.program().unwrap_or_default();
    let of_process = || {
        let file = Path::new(&program).file_name().map(|name| name.to_string_lossy().into_owned());
        file.unwrap_or_else(|| "MCP client".to_owned())
    };
    let unconfirmed = chatos_store::clean_client_text(name, 64).is_empty();
    ClientRow {
        id,
        kind: kind.to_owned(),
        name: if unconfirmed { of_process() } else { name.to_owned() },
        version: version.to_owned(),
        process: Origin::here().map(|origin| (origin.pid, origin.pid_start)),
        seen_at: chatos_store::now_ms(),
        program,
        unconfirmed,
        ..ClientRow::default()
    }
}

impl Clients {
    /// Writes a session down, unless that was done just now. A state that cannot be written loses the name on cards,
    /// not the call.
    pub(crate) async fn note(&self, beside: &Arc<Beside>, row: ClientRow) {
        let key = (row.id.clone(), row.root.clone());
        {
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            if written.get(&key).is_some_and(|at| at.elapsed() < RENEWED) {
                return;
            }
            written.insert(key, Instant::now());
        }
        let (id, at) = (row.id.clone(), Arc::clone(beside));
        let put = chatos_blocking::run(move || {
            at.store()?.put_client(&row, chatos_inbox::clients::lives).map_err(Fault::from)
        });
        if let Ok(Err(fault)) = put.await {
            tracing::warn!(%fault, "questions of this client do not name it");
            return;
        }
        let beside = Arc::clone(beside);
        // Pages that show programs look again; without a host nobody does.
        tokio::spawn(async move {
            let host = chatos_blocking::run(move || beside.running()).await.ok().flatten();
            if let Some(host) = host {
                let body = json!({ "id": id });
                let told = HostApi::new(host)
                    .call(Method::POST, "/api/v1/clients/seen", Some(&body), Lang::En)
                    .await;
                if let Err(fault) = told {
                    tracing::debug!(%fault, "the host was not told of a client");
                }
            }
        });
    }
}
