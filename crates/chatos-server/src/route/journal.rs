//! The project journal for the page and the command line.

use chatos_store::{JournalEntry, NewJournalEntry, iso_from_ms, now_iso};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::journal::{
    JournalEntryQuery, JournalEntryView, JournalInput, JournalList, JournalProject, JournalProjects,
    JournalQuery,
};

use crate::api::ApiError;
use crate::app::App;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Path, Query};
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/journal", "Journal entries, newest first", list);
    routes.post("/api/v1/journal", "Add an entry", create);
    routes.get("/api/v1/journal/projects", "Projects with a journal", projects);
    routes.get("/api/v1/journal/{id}", "One entry", read);
}

fn root_of(app: &App, given: Option<String>) -> String {
    given.filter(|root| !root.is_empty()).unwrap_or_else(|| app.host().project().display().to_string())
}

async fn list(app: App, _: Caller, Query(wanted): Query<JournalQuery>) -> Result<JournalList, ApiError> {
    let root = root_of(&app, wanted.project_root);
    let (limit, offset) = (wanted.limit.unwrap_or(50).clamp(1, 200), wanted.cursor.unwrap_or_default());
    let place = root.clone();
    let (entries, total) = blocking(app.host(), move |host| {
        host.store().list_journal(&place, &wanted.tag, &wanted.q, limit, offset).map_err(Fault::from)
    })
    .await?;
    let next = u64::from(offset) + entries.len() as u64;
    Ok(JournalList {
        project_root: root,
        items: entries.into_iter().map(view).collect(),
        total,
        next_cursor: (next < total).then(|| next.to_string()),
    })
}

async fn projects(app: App, _: Caller, (): ()) -> Result<JournalProjects, ApiError> {
    let found = blocking(app.host(), |host| host.store().journal_projects().map_err(Fault::from)).await?;
    Ok(JournalProjects {
        items: found.into_iter().map(|(root, entries)| JournalProject { root, entries }).collect(),
    })
}

async fn create(app: App, _: Caller, Body(input): Body<JournalInput>) -> Result<JournalEntryView, ApiError> {
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
    Ok(view(blocking(app.host(), move |host| host.add_journal_entry(&root, entry)).await?.0))
}

async fn read(
    app: App,
    _: Caller,
    (Path(id), Query(wanted)): (Path<String>, Query<JournalEntryQuery>),
) -> Result<JournalEntryView, ApiError> {
    let root = root_of(&app, wanted.project_root);
    let name = id.clone();
    let found =
        blocking(app.host(), move |host| host.store().get_journal_entry(&root, &name).map_err(Fault::from))
            .await?;
    found.map(view).ok_or_else(|| {
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
