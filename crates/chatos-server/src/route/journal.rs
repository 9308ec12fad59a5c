//! The project journal for the page and the command line.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::Method;
use axum::routing::get;
use chatos_host::{ErrorCode, Fault, JournalEntry, NewJournalEntry, Text, iso_from_ms, now_iso, store_fault};
use chatos_wire::journal::{JournalEntryView, JournalInput, JournalList, JournalProject, JournalProjects};
use serde::Deserialize;

use crate::api::{ApiError, Body, Query, Routes};
use crate::app::App;
use crate::route::tasks::blocking;

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
    routes.read::<JournalList>(
        "/api/v1/journal",
        "Journal entries, newest first",
        query,
        get(list).post(create),
    );
    routes.document::<JournalInput, JournalEntryView>(Method::POST, "/api/v1/journal", "Add an entry");
    routes.read::<JournalProjects>("/api/v1/journal/projects", "Projects with a journal", &[], get(projects));
    let query = &[("projectRoot", "the host's project when absent")];
    routes.read::<JournalEntryView>("/api/v1/journal/{id}", "One entry", query, get(read));
}

fn root_of(app: &App, given: Option<String>) -> String {
    given.filter(|root| !root.is_empty()).unwrap_or_else(|| app.host().project().display().to_string())
}

async fn list(State(app): State<App>, Query(wanted): Query<Wanted>) -> Result<Json<JournalList>, ApiError> {
    let root = root_of(&app, wanted.project_root);
    let (limit, offset) = (wanted.limit.unwrap_or(50).clamp(1, 200), wanted.cursor.unwrap_or_default());
    let place = root.clone();
    let (entries, total) = blocking(&app, move |host| {
        host.store().list_journal(&place, &wanted.tag, &wanted.q, limit, offset).map_err(|e| store_fault(&e))
    })
    .await?;
    let next = u64::from(offset) + entries.len() as u64;
    Ok(Json(JournalList {
        project_root: root,
        items: entries.into_iter().map(view).collect(),
        total,
        next_cursor: (next < total).then(|| next.to_string()),
    }))
}

async fn projects(State(app): State<App>) -> Result<Json<JournalProjects>, ApiError> {
    let found = blocking(&app, |host| host.store().journal_projects().map_err(|e| store_fault(&e))).await?;
    Ok(Json(JournalProjects {
        items: found.into_iter().map(|(root, entries)| JournalProject { root, entries }).collect(),
    }))
}

async fn create(
    State(app): State<App>,
    Body(input): Body<JournalInput>,
) -> Result<Json<JournalEntryView>, ApiError> {
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
) -> Result<Json<JournalEntryView>, ApiError> {
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

fn view(entry: JournalEntry) -> JournalEntryView {
    JournalEntryView {
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
