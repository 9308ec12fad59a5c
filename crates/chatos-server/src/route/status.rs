//! What the host is and how it does; and stopping it.

use chatos_paths::resident_bytes;
use chatos_store::{iso_from_ms, now_ms};
use chatos_tool::Lang;
use chatos_wire::status::{Done, Empty, NodeView, NoticeView, Status, StatusCounts};

use crate::answer::Accepted;
use crate::api::ApiError;
use crate::app::App;
use crate::caller::Caller;
use crate::input::Body;
use crate::table::Routes;

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/status", "The running host", status);
    routes.post("/api/v1/stop", "Stop the host", stop);
}

async fn status(app: App, cx: Caller, (): ()) -> Result<Status, ApiError> {
    let host = app.host();
    let lang = cx.lang;
    Ok(Status {
        running: true,
        version: chatos_host::VERSION.to_owned(),
        pid: std::process::id(),
        started_at: iso_from_ms(host.started_at()),
        uptime_ms: now_ms() - host.started_at(),
        state_dir: host.dir().path().display().to_string(),
        project_root: host.project().display().to_string(),
        url: app.url(),
        host_app: host.places().host_app.clone(),
        remote: app.options().remote,
        rss_bytes: resident_bytes(),
        sqlite_version: host.sqlite_version().to_owned(),
        node: host
            .known_node()
            .map(|node| NodeView { path: node.path.display().to_string(), version: node.version }),
        counts: counts(&app),
        read_only: false,
        notices: notices(&app, lang),
    })
}

fn counts(app: &App) -> StatusCounts {
    // A queue that cannot be opened has its own finding; the status stays readable.
    let prompts = app.host().inbox().questions().map(|desk| desk.told_counts()).ok();
    let plugins = app.host().plugins().ok();
    StatusCounts {
        plugins: plugins.map_or(0, |desk| desk.snapshot().plugins.len() as u64),
        plugin_problems: plugins.map_or(0, |desk| desk.error_count() as u64),
        needs_you: prompts.as_ref().map_or(0, |counts| counts.needs_you as u64),
        results: prompts.as_ref().map_or(0, |counts| counts.results as u64),
        snoozed: prompts.as_ref().map_or(0, |counts| counts.snoozed as u64),
        running_chats: app.host().runs().running() as u64,
    }
}

fn notices(app: &App, lang: Lang) -> Vec<NoticeView> {
    app.host()
        .notices()
        .into_iter()
        .map(|notice| NoticeView {
            code: notice.code,
            severity: notice.severity.to_string(),
            message: notice.message.get(lang).to_owned(),
            hint: notice.hint.map(|hint| hint.get(lang).to_owned()),
        })
        .collect()
}

async fn stop(app: App, _: Caller, _: Body<Empty>) -> Result<Accepted<Done>, ApiError> {
    app.host().shutdown().cancel();
    Ok(Accepted(Done { ok: true }))
}
