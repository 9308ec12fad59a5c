//! Another agent's hook asks in the queue and waits. "Yes" is only ever said for an answer that was used.

use std::sync::Arc;
use std::time::Duration;

use chatos_foreign::hook::{Answer, Asked, Call, SOURCE_OWNER, declined};
use chatos_layer::{AskRequest, PromptQueue, Redactor, Verdict, Withdraw};
use chatos_prompts::{Origin, Owner, RequestId, Status, whole};
use chatos_store::ClientRow;
use chatos_tool::{Lang, Text, Trace};
use tokio_util::sync::CancellationToken;

use crate::line::PATIENCE;
use crate::{Beside, Line, Queue, encode};

/// Between two looks at the program that waits for us.
const LOOK: Duration = Duration::from_millis(500);
/// The queue keeps the clock; a little later nobody does.
const LATE: Duration = Duration::from_secs(10);

/// The program's session with us: the same each time.
fn client(call: &Call, beside: &Beside) -> ClientRow {
    let name = format!("{}\0{}\0{}", call.program.word(), call.session, call.cwd.display());
    let digest = whole::sha256(name.as_bytes());
    ClientRow {
        id: format!("cl_{}", digest.trim_start_matches("sha256:").get(..32).unwrap_or(&digest)),
        kind: "hook".to_owned(),
        name: call.program.title().to_owned(),
        version: String::new(),
        root: call.cwd.to_string_lossy().into_owned(),
        label: call.session.clone(),
        process: Origin::here().map(|origin| (origin.pid, origin.pid_start)),
        seen_at: chatos_store::now_ms(),
        program: beside.program().unwrap_or_default(),
        root_from: "hook".to_owned(),
        ..ClientRow::default()
    }
}

/// Asks about a call and waits for the answer, until the program that started us is gone or `stop` is cancelled.
/// An error: nobody could be asked. `agent`: whose permissions profile counts before a person.
pub async fn ask(
    call: &Call,
    beside: &Arc<Beside>,
    stop: &CancellationToken,
    wait: Duration,
    agent: Option<&str>,
    lang: Lang,
) -> Result<Answer, Text> {
    if let Some(agent) = agent
        && let Some(refused) = refused(call, beside, agent, lang).await?
    {
        return Ok(Answer::Deny(refused));
    }
    let client = client(call, beside);
    let store = beside.store().map_err(|fault| fault.message)?;
    store.put_client(&client, chatos_inbox::clients::lives).map_err(|error| Text::same(error.to_string()))?;
    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    let question = call.question(&client.id, Some(wait_ms), lang).map_err(|unreadable| unreadable.0)?;
    let queue = Queue::new(Arc::clone(beside), Arc::new(Redactor::new()));
    let owner = Owner::host_server(SOURCE_OWNER);
    let asking = queue.ask(AskRequest {
        owner: owner.clone(),
        source: call.program.title().to_owned(),
        prompt: question.prompt.clone(),
        trace: Trace { session_id: Some(client.id.clone()), ..Trace::default() },
        id: Some(RequestId::mint()),
        effect: Some(question.effect.clone()),
        whole: question.whole.clone(),
        group: None,
    });
    let id = asking.await.map_err(|error| Text::same(error.to_string()))?;
    let verdict = tokio::select! {
        verdict = queue.wait(&id) => verdict.map_err(|error| Text::same(error.to_string()))?,
        () = stop.cancelled() => return withdrawn(&queue, &id, &owner, Withdraw::Gone, lang).await,
        () = gone(beside) => return withdrawn(&queue, &id, &owner, Withdraw::Gone, lang).await,
        () = tokio::time::sleep(wait + LATE) => return withdrawn(&queue, &id, &owner, Withdraw::Expired, lang).await,
    };
    decided(call, &question, &queue, &id, &client, &verdict, lang).await
}

/// Why the permissions profile of an agent forbids a call; `None` leaves it to a person. What we have no tool for is
/// always a person's.
async fn refused(call: &Call, beside: &Arc<Beside>, agent: &str, lang: Lang) -> Result<Option<String>, Text> {
    let Some((server, tool)) = call.like() else { return Ok(None) };
    let path = format!("/api/v1/tools?agent={}&waitMs=0", encode(agent));
    let listed =
        Line::new(Arc::clone(beside)).get(&path, lang, PATIENCE).await.map_err(|fault| fault.message)?;
    let granted = listed["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|each| each["granted"] == true && each["tool"] == tool && each["server"] == server);
    Ok((!granted).then(|| match lang {
        Lang::En => format!(
            "The permissions of the ChatOS agent {agent} do not allow this ({server}); nothing was done."
        ),
        Lang::Zh => format!("ChatOS 智能体 {agent} 的权限不允许此操作（{server}）；未执行任何操作。"),
    }))
}

/// Ends when the program that started us is no more.
async fn gone(beside: &Beside) {
    let Some(starter) = beside.started_by() else { return std::future::pending().await };
    while Origin::of(starter.pid) == Some(starter) {
        tokio::time::sleep(LOOK).await;
    }
}

async fn withdrawn(
    queue: &Queue,
    id: &RequestId,
    owner: &Owner,
    why: Withdraw,
    lang: Lang,
) -> Result<Answer, Text> {
    // It may have been answered at this moment; that answer is not used.
    queue.withdraw(id, owner, why).await.ok();
    let text = Text::fixed("nobody waited for the answer any more", "已无人等待答案");
    Ok(Answer::Deny(text.get(lang).to_owned()))
}

/// What the verdict means. A yes is used once, for what was shown.
async fn decided(
    call: &Call,
    question: &Asked,
    queue: &Queue,
    id: &RequestId,
    client: &ClientRow,
    verdict: &Verdict,
    lang: Lang,
) -> Result<Answer, Text> {
    let deny =
        |en: &'static str, zh: &'static str| Ok(Answer::Deny(Text::fixed(en, zh).get(lang).to_owned()));
    match verdict.status {
        Status::Timeout => {
            deny("nobody answered in time; nothing was done", "未及时得到回答；未执行任何操作")
        }
        Status::Error => deny("the question was closed; nothing was done", "问题已关闭；未执行任何操作"),
        Status::Canceled if verdict.response.contains_key("code") => {
            deny("the question was withdrawn; nothing was done", "问题已撤回；未执行任何操作")
        }
        _ if !question.agrees(&verdict.response) => {
            let remark = verdict.response.get("remark").and_then(serde_json::Value::as_str);
            let told = declined(remark, lang);
            let stop = verdict.response.get("stop") == Some(&serde_json::Value::Bool(true));
            Ok(if stop { Answer::Stop(told) } else { Answer::Deny(told) })
        }
        _ => {
            // As the world is now: a file that changed meanwhile is another question.
            let now = call.question(&client.id, None, lang).map_err(|unreadable| unreadable.0)?;
            match queue.use_approval(id, &now.effect).await {
                Ok(_) => Ok(Answer::Allow),
                Err(chatos_layer::QueueError::ShownMismatch) => deny(
                    "the files changed after the person had approved; nothing was done, try again",
                    "用户同意后文件又发生了变化；未执行任何操作，请重试",
                ),
                Err(error) => Err(Text::same(error.to_string())),
            }
        }
    }
}
