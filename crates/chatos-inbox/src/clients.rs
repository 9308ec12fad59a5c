//! Sessions of other programs as pages and terminals show them (other-agents §2.1): who is there, where it works, what
//! it asked last.

use std::collections::HashMap;

use chatos_prompts::Origin;
use chatos_store::{ClientGrantRow, ClientQuestionRow, ClientRow, Store, iso_from_ms};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::client::{ClientQuestion, ClientSession};
use serde_json::{Value, json};

/// Questions of one session that are shown.
const QUESTIONS: usize = 20;
/// Characters of a question's title.
const TITLE_CHARS: usize = 200;

/// Whether the process with this pid and start time is still there.
pub fn lives(pid: u32, start: u64) -> bool {
    Origin::of(pid) == Some(Origin { pid, pid_start: start })
}

/// All sessions, newest first. Blocks.
pub fn sessions(store: &Store) -> Result<Vec<ClientSession>, Fault> {
    let (grants, open) = (store.client_grants()?, store.open_client_questions()?);
    let rows = store.clients()?;
    Ok(rows
        .into_iter()
        .map(|row| view(row, &grants, |id| open.get(id).copied().unwrap_or(0) as usize))
        .collect())
}

/// One session with its last questions. Blocks.
pub fn session(store: &Store, id: &str) -> Result<(ClientSession, Vec<ClientQuestion>), Fault> {
    let row = store.client(id)?.ok_or_else(|| unknown(id))?;
    let (grants, open) = (store.client_grants()?, store.open_client_questions()?);
    let questions = store.client_questions(id, QUESTIONS)?.into_iter().map(question).collect();
    Ok((view(row, &grants, |id| open.get(id).copied().unwrap_or(0) as usize), questions))
}

fn view(row: ClientRow, grants: &[ClientGrantRow], waiting: impl Fn(&str) -> usize) -> ClientSession {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let told = row.view();
    let allowed = |grant: &ClientGrantRow| {
        let program = if grant.key.script.is_empty() { &grant.key.program } else { &grant.key.script };
        let here = grant.project.is_empty() || std::path::Path::new(&row.root).starts_with(&grant.project);
        grant.allowed_at.is_some() && grant.key.name == row.name && *program == row.program && here
    };
    ClientSession {
        may_decide: grants.iter().any(allowed),
        waiting: waiting(&row.id),
        connected: row.process.is_some_and(|(pid, start)| lives(pid, start)),
        project: told["project"].as_str().map(str::to_owned),
        version: some(&row.version),
        root: some(&row.root),
        root_from: some(&row.root_from),
        label: some(&row.label),
        program: some(&row.program),
        agent: some(&row.agent),
        pid: row.process.map(|(pid, _)| pid),
        first_at: iso_from_ms(row.first_at),
        seen_at: iso_from_ms(row.seen_at),
        number: row.number.max(1),
        unconfirmed: row.unconfirmed,
        kind: row.kind,
        name: row.name,
        id: row.id,
    }
}

fn question(row: ClientQuestionRow) -> ClientQuestion {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (entry, answer) = (read(&row.entry), row.answer.as_deref().map(read).unwrap_or_default());
    let text = |value: &Value, pointer: &str| {
        let text = value.pointer(pointer).and_then(Value::as_str);
        text.map(|text| text.chars().take(TITLE_CHARS).collect::<String>())
    };
    ClientQuestion {
        title: text(&entry, "/prompt/title").unwrap_or_default(),
        kind: text(&entry, "/prompt/kind"),
        asked_at: iso_from_ms(row.created_at),
        answered_at: row.answered_at.map(iso_from_ms),
        status: text(&answer, "/status"),
        code: text(&answer, "/code"),
        request_id: row.request_id,
    }
}

/// Records of calls say which program made them, where one did. Blocks.
pub fn name_calls(store: &Store, records: &mut [Value]) {
    let mut known: HashMap<String, Option<Value>> = HashMap::new();
    for record in records {
        let Some(id) = record["sessionId"].as_str().filter(|id| id.starts_with("cl_")) else { continue };
        let named = known.entry(id.to_owned()).or_insert_with(|| {
            let row = store.client(id).ok().flatten()?;
            Some(json!({ "id": row.id, "name": row.name, "root": row.root }))
        });
        if let Some(client) = named {
            record["client"] = client.clone();
        }
    }
}

/// No session has this id.
pub fn unknown(id: &str) -> Fault {
    let shown: String = id.chars().take(80).collect();
    Fault::new(
        ErrorCode::NotFound,
        Text::new(format!("no program was seen as `{shown}`"), format!("没有见过 `{shown}` 这个程序")),
    )
    .code("unknown_client")
    .hint(Text::fixed("`chatos clients list` shows them", "`chatos clients list` 会列出它们"))
}
