//! A question to a language server: repeated once when it dies, patient while it still looks at the project.

use std::sync::Arc;
use std::time::Duration;

use chatos_layer::CallCx;
use chatos_tool::{Issue, IssueCode, Needed, Phase, Reason, Text, ToolError};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Desk, Opened, Trouble};
use crate::place::Spot;
use crate::position::Position;
use crate::session::Session;
use crate::shapes;
use crate::wire::{CONTENT_MODIFIED, METHOD_NOT_FOUND, Refusal, SERVER_CANCELLED};

/// How long to wait before the same question again.
const AGAIN: Duration = Duration::from_millis(100);
/// How long an answer of a server that has just started and is still at work is not taken for its last word.
const SETTLING: Duration = Duration::from_secs(10);
/// How often progress is told while a server is busy.
const TELL: Duration = Duration::from_millis(500);

pub(crate) const RENAME: &str = "textDocument/rename";

pub(crate) struct Question {
    pub(crate) method: &'static str,
    /// Where the server says that it can do it.
    pub(crate) ability: &'static str,
    pub(crate) params: Value,
}

pub(crate) struct Answered {
    pub(crate) opened: Opened,
    pub(crate) value: Value,
    /// The server was still at this: the answer may be incomplete.
    pub(crate) busy: Option<String>,
}

impl Desk {
    /// Opens a file and asks about it. A server that dies is started again and asked again, once.
    pub(crate) async fn ask(
        &self,
        cx: &CallCx,
        path: &str,
        id: Option<&str>,
        question: impl Fn(&Opened) -> Question,
    ) -> Result<Answered, ToolError> {
        let question = &question;
        surviving(cx, || async move {
            let opened = self.open(cx, path, id).await?;
            let (value, busy) = put(cx, &opened.session, &question(&opened)).await?;
            Ok(Answered { opened, value, busy })
        })
        .await
    }

    /// The same about a place in a file; `more` goes into the question besides the place.
    pub(crate) async fn ask_at(
        &self,
        cx: &CallCx,
        spot: &Spot,
        (method, ability): (&'static str, &'static str),
        more: Value,
    ) -> Result<(Answered, Position), ToolError> {
        let more = &more;
        surviving(cx, || async move {
            let opened = self.open(cx, &spot.path, spot.server_id.as_deref()).await?;
            let at = aim(cx, &opened, spot).await?;
            let mut params = json!({ "textDocument": { "uri": opened.document.uri }, "position": at });
            if let (Some(params), Value::Object(more)) = (params.as_object_mut(), more.clone()) {
                params.extend(more);
            }
            let (value, busy) = put(cx, &opened.session, &Question { method, ability, params }).await?;
            Ok((Answered { opened, value, busy }, at))
        })
        .await
    }
}

/// Does something with a server; once more with another one when it died in that.
pub(crate) async fn surviving<T, F>(cx: &CallCx, once: impl Fn() -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, Trouble>>,
{
    let work = async {
        match once().await {
            Err(Trouble::Refused(_, Refusal::Gone)) => once().await,
            done => done,
        }
    };
    cx.unless_stopped(work).await?.map_err(|trouble| explain(cx, trouble))
}

/// The place that is meant. A name without a line is what the file declares by that name, before any other text that
/// reads the same, such as a comment.
async fn aim(cx: &CallCx, opened: &Opened, spot: &Spot) -> Result<Position, Trouble> {
    let Opened { session, document } = opened;
    let encoding = session.wants.encoding;
    let ability = "/documentSymbolProvider";
    if let (None, Some(symbol)) = (spot.line, &spot.symbol)
        && session.offers(ability)
    {
        let params = json!({ "textDocument": { "uri": document.uri } });
        let question = Question { method: "textDocument/documentSymbol", ability, params };
        let listed = match put(cx, session, &question).await {
            Ok((value, _)) => shapes::each(value),
            Err(gone @ Trouble::Refused(_, Refusal::Gone)) => return Err(gone),
            // Then the text has to do.
            Err(_) => Vec::new(),
        };
        if let Some(line) = shapes::declared(&listed, symbol)
            && let Ok(at) = spot.in_line(line).find(document, encoding)
        {
            return Ok(at);
        }
    }
    Ok(spot.find(document, encoding)?)
}

/// Asks a server that is there already.
pub(crate) async fn put(
    cx: &CallCx,
    session: &Arc<Session>,
    question: &Question,
) -> Result<(Value, Option<String>), Trouble> {
    if !session.offers(question.ability) {
        return Err(unable(session, question.method).into());
    }
    let began = Instant::now();
    let until = began + cx.settings.lsp.timeout;
    // A rename by a server that does not know all files yet would leave uses of the old name behind.
    let settling = if question.method == RENAME { cx.settings.lsp.timeout } else { SETTLING };
    let mut watch = session.news.watch();
    // What it said before it was asked once more.
    let mut earlier = None;
    loop {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        if let Some(value) = earlier.take_if(|_| left < AGAIN) {
            // Too short for another answer; a server that cannot give one in it does not hang.
            return Ok((value, session.news.busy()));
        }
        let ends = session.news.ends();
        let answer = session.request(question.method, question.params.clone(), left).await;
        let late = Instant::now() + AGAIN >= until;
        match answer {
            Err(Refusal::Server { code: CONTENT_MODIFIED | SERVER_CANCELLED, .. }) if !late => {
                tokio::time::sleep(AGAIN).await;
            }
            Ok(value) => {
                let busy = session.news.busy();
                // It was still at work when it answered, and is not any more.
                let ended = session.news.ends() != ends;
                // Nothing found by a server that has not looked at everything yet means nothing; what one says while it
                // starts is often only what the file itself tells.
                let early = match busy {
                    Some(_) => is_empty(&value) || (!session.news.settled() && began.elapsed() < settling),
                    None => is_empty(&value) && (session.is_reading() || ended),
                };
                if !early || late {
                    return Ok((value, busy));
                }
                if let Some(what) = &busy {
                    tell(cx, session, what);
                }
                earlier = Some(value);
                watch.mark_unchanged();
                if !ended {
                    // Whichever comes first: news, or a while without.
                    tokio::time::timeout(TELL.min(left), watch.changed()).await.ok();
                }
                tokio::time::sleep(AGAIN.min(left)).await;
            }
            Err(refusal) => match (refusal, earlier) {
                (Refusal::Timeout { .. }, Some(value)) => return Ok((value, session.news.busy())),
                (refusal, _) => return Err(Trouble::Refused(Arc::clone(session), refusal)),
            },
        }
    }
}

/// What a server is at, for those who wait.
pub(crate) fn tell(cx: &CallCx, session: &Session, what: &str) {
    let id = &session.server.id;
    cx.progress(None, None, &Text::new(format!("{id}: {what}"), format!("{id}：{what}")), None);
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.get("items").and_then(Value::as_array).is_some_and(Vec::is_empty),
        _ => false,
    }
}

pub(crate) fn unable(session: &Session, method: &str) -> ToolError {
    let id = &session.server.id;
    ToolError::new(
        Reason::NotSupported { what: method.to_owned() },
        Text::new(
            format!("the language server `{id}` does not offer {method}"),
            format!("语言服务器 `{id}` 不支持 {method}"),
        ),
    )
}

/// What a refusal means for the caller.
pub(crate) fn explain(cx: &CallCx, trouble: Trouble) -> ToolError {
    let (session, refusal) = match trouble {
        Trouble::Tool(error) => return *error,
        Trouble::Refused(session, refusal) => (session, refusal),
    };
    let id = &session.server.id;
    match refusal {
        Refusal::Gone => session.gone(),
        Refusal::Timeout { heard } => {
            let limit = cx.settings.lsp.timeout.as_millis() as u64;
            let busy = session.news.busy().map(|what| format!(" ({what})")).unwrap_or_default();
            let mut error = ToolError::timeout(limit, Phase::Run);
            error.message = Text::new(
                format!("the language server `{id}` did not answer within {limit} ms{busy}"),
                format!("语言服务器 `{id}` 未在 {limit} 毫秒内响应{busy}"),
            );
            error.hint(if heard || session.news.busy().is_some() {
                Text::fixed("it may still look at the project; try again", "它可能仍在分析项目；请稍后重试")
            } else {
                Text::fixed(
                    "it hung and was ended; the next call starts it again",
                    "它已无响应并被结束；下次调用会重新启动",
                )
            })
        }
        Refusal::Server { code: METHOD_NOT_FOUND, .. } => unable(&session, "this"),
        // InvalidParams, RequestFailed and an unknown reason: the server says why this place or name will not do.
        Refusal::Server { code: -32602 | -32803 | -32001, message } => {
            ToolError::invalid(vec![Issue::new("", IssueCode::Format, Text::same(message))])
        }
        Refusal::Server { message, .. } => ToolError::unavailable(
            Needed::LanguageServer,
            Text::new(
                format!("the language server `{id}` failed: {message}"),
                format!("语言服务器 `{id}` 出错：{message}"),
            ),
        ),
    }
}
