//! The project journal for the page and the command line.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::routing::get;
use chatos_host::{ErrorCode, Fault, JournalEntry, NewJournalEntry, Text, iso_from_ms, now_iso, store_fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::{ApiError, Body, Query, Routes};
use crate::app::App;
use crate::route::tasks::blocking;

/// A page of entries.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryList {
    project_root: String,
    items: Vec<EntryView>,
    total: u64,
    next_cursor: Option<String>,
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EntryView {
    id: String,
    ts: String,
    title: String,
    tags: Vec<String>,
    summary: String,
    details: String,
    files: Vec<String>,
    highlights: Vec<String>,
    next_steps: Vec<String>,
    run_id: String,
    session_id: String,
}

/// Projects that have a journal, most recent first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Projects {
    items: Vec<Project>,
}

/// One of them.
#[derive(Debug, Serialize, JsonSchema)]
struct Project {
    root: String,
    entries: u64,
}

/// An entry to be added.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EntryInput {
    /// The host's project when absent.
    project_root: Option<String>,
    #[serde(default)]
    title: String,
    summary: String,
    #[serde(default)]
    details: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    highlights: Vec<String>,
    #[serde(default)]
    next_steps: Vec<String>,
    dedupe_key: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wanted {
    project_root: Option<String>,
    tag: String,
    q: String,
    limit: Option<u32>,
    cursor: Option<u32>,
}

pub(crate) fn add(routes: &mut Routes) {
    let query = &[
        ("projectRoot", "the host's project when absent"),
        ("tag", "exact"),
        ("q", "in all texts"),
        ("limit", "1 to 200"),
        ("cursor", "from the page before"),
    ];
    routes.read::<EntryList>(
        "/api/v1/journal",
        "Journal entries, newest first",
        query,
        get(list).post(create),
    );
    routes.document::<EntryInput, EntryView>(Method::POST, "/api/v1/journal", "Add an entry");
    routes.read::<Projects>("/api/v1/journal/projects", "Projects with a journal", &[], get(projects));
    let query = &[("projectRoot", "the host's project when absent")];
    routes.read::<EntryView>("/api/v1/journal/{id}", "One entry", query, get(read));
}

fn root_of(app: &App, given: Option<String>) -> String {
    given.filter(|root| !root.is_empty()).unwrap_or_else(|| app.host().project().display().to_string())
}

async fn list(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Json<EntryList>, ApiError> {
    let root = root_of(&app, wanted.project_root);
    let (limit, offset) = (wanted.limit.unwrap_or(50).clamp(1, 200), wanted.cursor.unwrap_or_default());
    let place = root.clone();
    let (entries, total) = blocking(&app, move |host| {
        host.store().list_journal(&place, &wanted.tag, &wanted.q, limit, offset).map_err(|e| store_fault(&e))
    })
    .await?;
    let next = u64::from(offset) + entries.len() as u64;
    Ok(Json(EntryList {
        project_root: root,
        items: entries.into_iter().map(view).collect(),
        total,
        next_cursor: (next < total).then(|| next.to_string()),
    }))
}

async fn projects(State(app): State<App>) -> Result<Json<Projects>, ApiError> {
    let found = blocking(&app, |host| host.store().journal_projects().map_err(|e| store_fault(&e))).await?;
    Ok(Json(Projects { items: found.into_iter().map(|(root, entries)| Project { root, entries }).collect() }))
}

async fn create(State(app): State<App>, Body(input): Body<EntryInput>) -> Result<Json<EntryView>, ApiError> {
    let root = root_of(&app, input.project_root);
    let title = if input.title.trim().is_empty() {
        input.tags.iter().fold(now_iso(), |title, tag| format!("{title} #{tag}"))
    } else {
        input.title
    };
    let entry = NewJournalEntry {
        title,
        summary: input.summary,
        details: input.details,
        tags: input.tags,
        files: input.files,
        highlights: input.highlights,
        next_steps: input.next_steps,
        run_id: String::new(),
        session_id: String::new(),
        dedupe_key: input.dedupe_key,
    };
    Ok(Json(view(blocking(&app, move |host| host.add_journal_entry(&root, entry)).await?.0)))
}

async fn read(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<EntryView>, ApiError> {
    let root = root_of(&app, wanted.project_root);
    let name = id.clone();
    let found =
        blocking(&app, move |host| host.store().get_journal_entry(&root, &name).map_err(|e| store_fault(&e)))
            .await?;
    found.map(|entry| Json(view(entry))).ok_or_else(|| {
        Fault::new(
            ErrorCode::NotFound,
            Text::new(format!("there is no journal entry `{id}`"), format!("没有日志条目 `{id}`")),
        )
        .into()
    })
}

fn view(entry: JournalEntry) -> EntryView {
    EntryView {
        id: entry.id,
        ts: iso_from_ms(entry.created_at),
        title: entry.title,
        tags: entry.tags,
        summary: entry.summary,
        details: entry.details,
        files: entry.files,
        highlights: entry.highlights,
        next_steps: entry.next_steps,
        run_id: entry.run_id,
        session_id: entry.session_id,
    }
}
