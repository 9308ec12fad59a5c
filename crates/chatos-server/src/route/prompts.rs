//! The queue over HTTP: lists, one item, asking, answering, waiting, drafts, archive (ui-prompts §12.2).

use std::time::Duration;

use axum::http::header;
use chatos_inbox::{BulkReply, PromptReply, Questions, TogetherReply};
use chatos_prompts::Surface;
use chatos_tool::{Fault, Lang};
use chatos_wire::prompt::{
    AnswerTogether, AnsweredTogether, ArchiveOrder, BulkLook, BulkOrder, BulkPreview, PromptAnswer,
    PromptAsked, PromptAsker, PromptCheck, PromptClosed, PromptDraft, PromptDraftQuery, PromptEntries,
    PromptFindQuery, PromptIds, PromptList, PromptLogQuery, PromptName, PromptQuery, PromptRecorded,
    PromptRequest, PromptTaken, PromptText, PromptTextQuery, PromptView, PromptWait, PromptWaitQuery,
    PromptsArchived, PromptsTogether, SnoozeOrder,
};
use chatos_wire::status::Done;
use serde_json::{Value, json};

use crate::answer::typed;
use crate::api::ApiError;
use crate::app::App;
use crate::auth::SessionId;
use crate::blocking::blocking;
use crate::caller::Caller;
use crate::input::{Body, Members, Path, Query};
use crate::table::Routes;

/// security T2.8: questions and answers may carry results of this size.
const PROMPT_BYTES: usize = 8 * 1024 * 1024;
/// The longest a waiting call stays open; askers ask again.
const WAIT_MOST: Duration = Duration::from_secs(60);
const WAIT_DEFAULT: Duration = Duration::from_secs(25);

pub(crate) fn add(routes: &mut Routes) {
    routes.get("/api/v1/prompts", "Questions to the person", list);
    routes.post("/api/v1/prompts", "Ask the person", ask);
    routes.get("/api/v1/prompts/{id}", "One question with its answer", one);
    routes.get(
        "/api/v1/prompts/{id}/diff",
        "The whole text of a question, in parts; what was not given cannot be approved",
        text,
    );
    routes.post("/api/v1/prompts/{id}/response", "Answer a question; the first answer wins", answer);
    routes.post("/api/v1/prompts/{id}/snooze", "Put a question off for a while, or back", snooze);
    routes.get("/api/v1/prompts/{id}/together", "Open questions that are asked with this one", together);
    routes.post(
        "/api/v1/prompts/{id}/together",
        "Approve some of the questions asked together, and refuse the others",
        answer_together,
    );
    routes.post(
        "/api/v1/prompts/bulk/preview",
        "What one decision about many questions would answer, with a digest over it",
        look_at_many,
    );
    routes.post(
        "/api/v1/prompts/bulk",
        "Answer many questions, if they still are what was shown",
        answer_many,
    );
    routes.get("/api/v1/prompts/{id}/wait", "Wait for the verified answer", wait);
    routes.post("/api/v1/prompts/{id}/take", "Take the private values, exactly once", take);
    routes.post("/api/v1/prompts/{id}/close", "Withdraw a question", close);
    routes.post("/api/v1/prompts/{id}/consume", "Erase the private values of an app's question", consume);
    routes.get("/api/v1/prompts/{id}/draft", "What this browser had typed", read_draft);
    routes.put("/api/v1/prompts/{id}/draft", "Keep what was typed", write_draft);
    routes.delete("/api/v1/prompts/{id}/draft", "Forget what was typed", delete_draft);
    routes.post("/api/v1/prompts/archive", "Move old answered questions to the archive", archive);
    routes.get("/api/v1/prompts/log", "The log as entries", log);
    routes.get("/api/v1/prompts/find", "Ids that begin with a prefix", find);
    routes.get("/api/v1/prompts/check", "What is wrong with the log", check);
}

/// Runs work at the desk off the async threads, in the caller's language.
async fn at_desk<T: Send + 'static>(
    app: &App,
    lang: Lang,
    work: impl FnOnce(&Questions, Lang) -> Result<T, Fault> + Send + 'static,
) -> Result<T, ApiError> {
    blocking(app.host(), move |host| work(host.inbox().questions()?, lang)).await
}

/// Ids such as `..` cannot travel in a path; in the query they can.
pub(super) fn id_of(path: String, named: Option<String>) -> String {
    named.unwrap_or(path)
}

async fn list(app: App, cx: Caller, Query(wanted): Query<PromptQuery>) -> Result<PromptList, ApiError> {
    typed(at_desk(&app, cx.lang, move |desk, lang| desk.list(&wanted, lang)).await?)
}

async fn one(
    app: App,
    cx: Caller,
    (Path(path), Query(named)): (Path<String>, Query<PromptName>),
) -> Result<PromptView, ApiError> {
    let id = id_of(path, named.id);
    typed(at_desk(&app, cx.lang, move |desk, lang| desk.show(&id, lang)).await?)
}

async fn text(
    app: App,
    cx: Caller,
    (Path(path), Query(named)): (Path<String>, Query<PromptTextQuery>),
) -> Result<PromptText, ApiError> {
    let session = cx.session()?;
    let id = id_of(path, named.id);
    let (from, lines) = (named.from.unwrap_or_default(), named.lines.unwrap_or(usize::MAX));
    typed(at_desk(&app, cx.lang, move |desk, _| desk.text(&id, from, lines, &viewer(session))).await?)
}

/// Who looks: one signed-in browser, or the programs with the token of this start.
fn viewer(session: SessionId) -> String {
    session.0.to_string()
}

async fn ask(
    app: App,
    cx: Caller,
    Members(mut body, _): Members<PromptRequest, PROMPT_BYTES>,
) -> Result<PromptAsked, ApiError> {
    if let Some(caller) = &cx.app {
        // Who asks is known from the page; what the body says about it does not count (host-api §6.3).
        body.retain(|name, _| matches!(name.as_str(), "prompt" | "requestId" | "runId"));
        body.insert("owner".to_owned(), Value::from(caller.owner()));
    }
    let source = if from_page(&cx) { "ui" } else { "api" };
    typed(at_desk(&app, cx.lang, move |desk, lang| desk.request(&Value::Object(body), source, lang)).await?)
}

// A page names itself by its origin, which the guard has checked; everybody else is the API.
fn from_page(cx: &Caller) -> bool {
    cx.header(&header::ORIGIN).is_some()
}

async fn answer(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Members(mut body, _)): (
        Path<String>,
        Query<PromptName>,
        Members<PromptAnswer, PROMPT_BYTES>,
    ),
) -> Result<PromptRecorded, ApiError> {
    let session = cx.session()?;
    if let Some(caller) = &cx.app {
        body.retain(|name, _| matches!(name.as_str(), "response" | "runId" | "shown"));
        body.insert("app".to_owned(), Value::from(caller.key()));
    }
    let id = id_of(path, named.id);
    let surface = if from_page(&cx) { Surface::Ui } else { Surface::Api };
    let lang = cx.lang;
    let answered = blocking(app.host(), move |host| {
        let reply =
            PromptReply { viewer: viewer(session), ..PromptReply::from_payload(&Value::Object(body))? };
        host.inbox().answer(&id, &reply, surface, lang)
    });
    typed(answered.await?)
}

async fn snooze(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Body(body)): (Path<String>, Query<PromptName>, Body<SnoozeOrder>),
) -> Result<PromptView, ApiError> {
    let (id, lang) = (id_of(path, named.id), cx.lang);
    let put_off =
        blocking(app.host(), move |host| host.inbox().snooze(&id, body.until.as_deref(), lang)).await?;
    // What is shown of it elsewhere is taken back.
    app.host().reach().wake();
    typed(put_off)
}

async fn together(
    app: App,
    cx: Caller,
    (Path(path), Query(named)): (Path<String>, Query<PromptName>),
) -> Result<PromptsTogether, ApiError> {
    let id = id_of(path, named.id);
    typed(at_desk(&app, cx.lang, move |desk, lang| desk.together(&id, lang)).await?)
}

async fn answer_together(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Body(body)): (Path<String>, Query<PromptName>, Body<AnswerTogether>),
) -> Result<AnsweredTogether, ApiError> {
    let session = cx.session()?;
    let id = id_of(path, named.id);
    let surface = if from_page(&cx) { Surface::Ui } else { Surface::Api };
    let reply = TogetherReply {
        shown: body.shown,
        accepted: body.accepted,
        remark: body.remark,
        stop: body.stop,
        by: body.by,
        viewer: viewer(session),
        pid: body.pid,
    };
    typed(at_desk(&app, cx.lang, move |desk, lang| desk.answer_together(&id, &reply, surface, lang)).await?)
}

async fn look_at_many(app: App, cx: Caller, Body(body): Body<BulkLook>) -> Result<BulkPreview, ApiError> {
    typed(at_desk(&app, cx.lang, move |desk, lang| desk.bulk_preview(&body.select, body.action, lang)).await?)
}

async fn answer_many(
    app: App,
    cx: Caller,
    Body(body): Body<BulkOrder>,
) -> Result<AnsweredTogether, ApiError> {
    let session = cx.session()?;
    let surface = if from_page(&cx) { Surface::Ui } else { Surface::Api };
    let reply = BulkReply {
        select: body.select,
        action: body.action,
        digest: body.digest,
        remark: body.remark,
        until: body.until,
        by: body.by,
        viewer: viewer(session),
        pid: body.pid,
    };
    let answered =
        blocking(app.host(), move |host| host.inbox().answer_many(&reply, surface, cx.lang)).await?;
    // What is shown of them elsewhere is taken back.
    app.host().reach().wake();
    typed(answered)
}

async fn wait(
    app: App,
    cx: Caller,
    (Path(path), Query(named)): (Path<String>, Query<PromptWaitQuery>),
) -> Result<PromptWait, ApiError> {
    let id = id_of(path, named.id);
    if let Some(caller) = &cx.app {
        let (own, asked) = (caller.owner(), id.clone());
        at_desk(&app, cx.lang, move |desk, _| desk.owned_by(&asked, &own)).await?;
    }
    let patience = named.timeout_ms.map_or(WAIT_DEFAULT, Duration::from_millis).min(WAIT_MOST);
    let cancel = app.host().shutdown().child_token();
    let mut waited = app.host().inbox().questions()?.wait(&id, patience, &cancel).await?;
    if let (Some(caller), true) = (cx.app, waited["state"] == "closed") {
        let private =
            at_desk(&app, cx.lang, move |desk, _| desk.private_answer(&id, &caller.owner())).await?;
        if let Some(response) = private {
            waited["response"] = response;
        }
    }
    typed(waited)
}

async fn take(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Body(body)): (Path<String>, Query<PromptName>, Body<PromptAsker>),
) -> Result<PromptTaken, ApiError> {
    let id = id_of(path, named.id);
    let taken = at_desk(&app, cx.lang, move |desk, _| {
        desk.take(&id, &Value::from(body.owner), body.secrets.unwrap_or(true))
    });
    typed(taken.await?)
}

async fn consume(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Body(body)): (Path<String>, Query<PromptName>, Body<PromptAsker>),
) -> Result<Done, ApiError> {
    let id = id_of(path, named.id);
    let owner = cx.app.map_or(body.owner, |caller| caller.owner());
    let done = at_desk(&app, cx.lang, move |desk, _| desk.consume(&id, &Value::from(owner)));
    typed(done.await?)
}

async fn close(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Body(body)): (Path<String>, Query<PromptName>, Body<PromptAsker>),
) -> Result<PromptClosed, ApiError> {
    let id = id_of(path, named.id);
    let closed = at_desk(&app, cx.lang, move |desk, _| {
        desk.withdraw(&id, &Value::from(body.owner), body.code.as_deref().unwrap_or("aborted"))
    });
    typed(closed.await?)
}

async fn read_draft(
    app: App,
    cx: Caller,
    (Path(path), Query(named)): (Path<String>, Query<PromptDraftQuery>),
) -> Result<PromptDraft, ApiError> {
    let (id, client) = (id_of(path, named.id), named.client.unwrap_or_default());
    typed(at_desk(&app, cx.lang, move |desk, _| desk.draft(&id, &client)).await?)
}

async fn write_draft(
    app: App,
    cx: Caller,
    (Path(path), Query(named), Members(body, _)): (
        Path<String>,
        Query<PromptDraftQuery>,
        Members<PromptDraft>,
    ),
) -> Result<Done, ApiError> {
    let (id, client) = (id_of(path, named.id), named.client.unwrap_or_default());
    typed(
        at_desk(&app, cx.lang, move |desk, _| {
            desk.save_draft(&id, &client, body.get("draft").unwrap_or(&Value::Null))
        })
        .await?,
    )
}

async fn delete_draft(
    app: App,
    cx: Caller,
    (Path(path), Query(named)): (Path<String>, Query<PromptDraftQuery>),
) -> Result<Done, ApiError> {
    let (id, client) = (id_of(path, named.id), named.client.unwrap_or_default());
    typed(at_desk(&app, cx.lang, move |desk, _| desk.delete_draft(&id, &client)).await?)
}

async fn archive(app: App, cx: Caller, Body(body): Body<ArchiveOrder>) -> Result<PromptsArchived, ApiError> {
    typed(at_desk(&app, cx.lang, move |desk, _| desk.archive(body.before.as_deref())).await?)
}

async fn log(app: App, cx: Caller, Query(named): Query<PromptLogQuery>) -> Result<PromptEntries, ApiError> {
    let caller = cx.app;
    let (as_app, read_all) = match caller {
        Some(caller) => (Some(caller.key()), caller.has("prompts.readAll")),
        None => (named.app, named.read_all),
    };
    typed(at_desk(&app, cx.lang, move |desk, _| desk.log(as_app.as_deref(), read_all)).await?)
}

async fn check(app: App, cx: Caller, (): ()) -> Result<PromptCheck, ApiError> {
    typed(at_desk(&app, cx.lang, |desk, _| desk.check()).await?)
}

async fn find(app: App, cx: Caller, Query(named): Query<PromptFindQuery>) -> Result<PromptIds, ApiError> {
    let prefix = named.prefix.unwrap_or_default();
    typed(at_desk(&app, cx.lang, move |desk, _| Ok(json!({ "ids": desk.find(&prefix)? }))).await?)
}
