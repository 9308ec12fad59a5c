//! What a chat has of an agent's session, and choosing in it from outside a turn (other-agents §4.5): the running agent
//! is told at once, one that does not run when it is started next.

use std::time::Duration;

use chatos_store::Store;
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::agent::{AcpChosen, AcpSession, AcpTold};
use chatos_wire::card::plain;
use serde_json::{Value, json};

use crate::link::Refusal;
use crate::seat::Seats;
use crate::session::{self, Wanted};

/// How long an agent may take to take a choice.
const CHOOSING: Duration = Duration::from_secs(20);

/// What a chat has of this agent; a chat without a session yet shows what the agent told elsewhere. Blocks.
pub fn session(store: &Store, seats: &Seats, chat: &str, agent: &str) -> Result<AcpSession, Fault> {
    let own = store.acp_session(chat, agent)?;
    let told = |text: &str| serde_json::from_str::<AcpTold>(text).unwrap_or_default();
    let (program, mut told_of) = match &own {
        Some(row) => (row.program.clone(), told(&row.told)),
        None => (String::new(), AcpTold::default()),
    };
    if told_of == AcpTold::default()
        && let Some(row) = store.newest_acp_session(agent)?
    {
        told_of = AcpTold { cost: None, ..told(&row.told) };
        // What was chosen elsewhere is not chosen here.
        for option in &mut told_of.options {
            option.value.clear();
        }
    }
    let wanted: Wanted =
        own.map(|row| serde_json::from_str(&row.wanted).unwrap_or_default()).unwrap_or_default();
    let running = seats.live(chat).is_some();
    if !running {
        for option in &mut told_of.options {
            if let Some(value) = wanted.get(&option.id) {
                value.clone_into(&mut option.value);
            } else if session::is_unasked(option, &option.value) {
                // It is never set again by itself.
                option.value.clear();
            }
        }
    }
    Ok(AcpSession { agent_id: agent.to_owned(), program, running, told: told_of })
}

/// Chooses a value of an option. `true` beside the session: the agent stops asking with it.
pub async fn choose(
    store: Store,
    seats: Seats,
    chat: String,
    agent: String,
    order: AcpChosen,
) -> Result<(AcpSession, bool), Fault> {
    let (reading, look) = ((store.clone(), seats.clone()), (chat.clone(), agent.clone()));
    let found =
        crate::turn::blocking_fault(move || session(&reading.0, &reading.1, &look.0, &look.1)).await?;
    let invalid = |en: String, zh: String| Fault::new(ErrorCode::InvalidArgument, Text::new(en, zh));
    let mut told = found.told;
    let Some(option) = told.options.iter().find(|option| option.id == order.option).cloned() else {
        let name = plain(&order.option);
        return Err(invalid(
            format!("/option: this agent has no option `{name}`"),
            format!("/option：此智能体没有选项 `{name}`"),
        ));
    };
    if !option.choices.iter().any(|choice| choice.id == order.value) {
        let all: Vec<&str> = option.choices.iter().map(|choice| choice.id.as_str()).collect();
        let all = all.join(", ");
        return Err(invalid(format!("/value: one of {all}"), format!("/value：应为 {all} 之一")));
    }
    let unasked = session::is_unasked(&option, &order.value);
    if unasked && !order.confirmed {
        return Err(invalid(
            "/confirmed: with this the agent stops asking; it changes files and runs commands without you"
                .to_owned(),
            "/confirmed：选择后智能体将不再询问，会在未经你同意的情况下修改文件、运行命令".to_owned(),
        )
        .code("not_confirmed")
        .hint(Text::fixed("agree with `confirmed: true`", "用 `confirmed: true` 表示同意")));
    }
    let live = seats.live(&chat);
    let running = live.is_some();
    let mut answer = Value::Null;
    if let Some((link, id)) = live {
        let (method, params) = session::choosing(&id, &option, &order.value);
        answer = link.call(method, params, CHOOSING).await.map_err(|refusal| {
            let why = match refusal {
                Refusal::Said { message, .. } => plain(&message),
                Refusal::Silent => "it did not answer".to_owned(),
                Refusal::Gone(why) => why,
            };
            Fault::new(
                ErrorCode::Unavailable,
                Text::new(format!("the agent did not take it: {why}"), format!("智能体未接受：{why}")),
            )
            .code("agent_refused")
        })?;
    }
    session::chosen(&mut told, &option.id, &order.value, &answer);
    let (keeping, kept) = (store, told.clone());
    let (session_id, agent_id) = (chat, agent.clone());
    crate::turn::blocking_fault(move || {
        let row = keeping.acp_session(&session_id, &agent_id)?;
        let wanted = row.map(|row| row.wanted).unwrap_or_default();
        let mut wanted: Wanted = serde_json::from_str(&wanted).unwrap_or_default();
        if unasked && running {
            // Once, as long as this process lives. The next one has what there was before, also where the agent
            // keeps its mode itself.
            if option.value.is_empty() || session::is_unasked(&option, &option.value) {
                wanted.retain(|id, value| *id != order.option || !session::is_unasked(&option, value));
            } else {
                wanted.insert(order.option, option.value.clone());
            }
        } else {
            wanted.insert(order.option, order.value);
        }
        let (kept, wanted) = (json!(kept).to_string(), json!(wanted).to_string());
        keeping.keep_acp_told(&session_id, &agent_id, Some(&kept), Some(&wanted))?;
        Ok(())
    })
    .await?;
    Ok((AcpSession { agent_id: agent, program: found.program, running, told }, unasked))
}
