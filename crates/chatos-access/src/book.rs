//! What is open in which project, kept in the database until a person takes it back.

use std::path::{Path, PathBuf};

use chatos_store::{Store, StoreError, iso_from_ms, now_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::access::{AccessKind, AccessView};

use crate::host::Host;
use crate::rows::{self, ProjectAccessRow};
use crate::wanted::{wrong_host, wrong_path};

/// What is open to the commands of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Granted {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
    pub hosts: Vec<Host>,
}

/// What is open to the commands of a project now. Blocks.
pub fn granted(store: &Store, root: &Path) -> Result<Granted, StoreError> {
    let rows = rows::project_access(store, &root.display().to_string())?;
    let mut granted = Granted::default();
    for row in &rows {
        match row.kind.as_str() {
            "read" => granted.read.push(PathBuf::from(&row.value)),
            "write" => granted.write.push(PathBuf::from(&row.value)),
            _ => granted.hosts.extend(Host::parse(&row.value)),
        }
    }
    if let Err(error) = rows::use_access(store, &rows, now_ms()) {
        tracing::debug!(%error, "the use of what is open to a project is not noted");
    }
    Ok(granted)
}

/// Opens something to the commands of a project; `request_id` is the question a person answered. Blocks.
pub fn allow(
    store: &Store,
    root: &Path,
    kind: AccessKind,
    value: &str,
    request_id: &str,
) -> Result<AccessView, Fault> {
    let value = value.trim();
    let wrong = if kind == AccessKind::Host { wrong_host(value) } else { wrong_path(value) };
    if let Some(text) = wrong {
        return Err(Fault::new(ErrorCode::InvalidArgument, text).code("bad_access"));
    }
    let value = match kind {
        AccessKind::Host => Host::parse(value).map(|host| host.to_string()).unwrap_or_default(),
        _ => value.to_owned(),
    };
    let row = ProjectAccessRow {
        id: format!("ac_{}", uuid::Uuid::now_v7().simple()),
        root: root.display().to_string(),
        kind: kind.as_str().to_owned(),
        value,
        granted_at: now_ms(),
        request_id: request_id.to_owned(),
        last_used_at: None,
    };
    Ok(view(rows::allow_access(store, row)?))
}

/// What is open, in one project or in all. Blocks.
pub fn list(store: &Store, root: Option<&Path>) -> Result<Vec<AccessView>, Fault> {
    let root = root.map(|root| root.display().to_string()).unwrap_or_default();
    Ok(rows::project_access(store, &root)?.into_iter().map(view).collect())
}

/// Takes something back. Blocks.
pub fn revoke(store: &Store, id: &str) -> Result<AccessView, Fault> {
    rows::revoke_access(store, id, now_ms())?.map(view).ok_or_else(|| {
        let shown: String = id.chars().take(80).collect();
        Fault::new(
            ErrorCode::NotFound,
            Text::new(format!("nothing is open as `{shown}`"), format!("没有编号为 `{shown}` 的开放项")),
        )
        .code("unknown_access")
        .hint(Text::fixed("`chatos access list` shows what is open", "`chatos access list` 会列出开放项"))
    })
}

fn view(row: ProjectAccessRow) -> AccessView {
    AccessView {
        id: row.id,
        root: row.root,
        kind: row.kind.parse().unwrap_or(AccessKind::Read),
        value: row.value,
        granted_at: iso_from_ms(row.granted_at),
        last_used_at: row.last_used_at.map(iso_from_ms),
        request_id: (!row.request_id.is_empty()).then_some(row.request_id),
    }
}
