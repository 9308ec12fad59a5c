//! `kind="task_confirm"`: a list of tasks to edit, reorder, add to and accept (seed 004 §7).

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::Checker;
use crate::ids::RequestId;
use crate::json::Object;
use crate::problem::{Code, Problem, quoted};

pub const MAX_TASKS: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct TaskConfirm {
    pub tasks: Vec<Task>,
}

/// One task card, in its normal form.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub draft_id: String,
    pub title: String,
    pub details: String,
    pub priority: String,
    pub status: String,
    pub tags: Vec<String>,
    /// Keys this host does not know, as given.
    pub extra: Object,
}

impl Task {
    pub fn to_json(&self) -> Value {
        let mut map = json!({
            "draftId": self.draft_id,
            "title": self.title,
            "details": self.details,
            "priority": self.priority,
            "status": self.status,
            "tags": self.tags,
        });
        if let Value::Object(map) = &mut map {
            map.extend(self.extra.clone());
        }
        map
    }
}

pub(super) fn check(ck: &mut Checker, prompt: &Object, id: &RequestId, normal: &mut Object) -> TaskConfirm {
    const AT: &str = "/prompt/tasks";
    let mut tasks = Vec::new();
    match prompt.get("tasks") {
        None => {}
        Some(Value::Array(given)) => {
            if given.len() > MAX_TASKS {
                ck.repairable(Problem::new(Code::TasksType, AT));
            }
            tasks = list(ck, given, AT, Code::TaskDraftDuplicate, |i| filled_id(id, i));
        }
        Some(_) => ck.repairable(Problem::new(Code::TasksType, AT)),
    }
    normal.insert("tasks".into(), tasks.iter().map(Task::to_json).collect::<Vec<_>>().into());
    ck.text(prompt, "defaultRemark", "/prompt", normal);
    TaskConfirm { tasks }
}

/// Checks a list of tasks, of a request or of an answer; `mint` names the ones without a draft id.
pub(crate) fn list(
    ck: &mut Checker,
    given: &[Value],
    at: &str,
    duplicate: Code,
    mint: impl Fn(usize) -> String,
) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::with_capacity(given.len().min(MAX_TASKS));
    for (i, value) in given.iter().enumerate().take(MAX_TASKS) {
        let at = format!("{at}/{i}");
        let Some(map) = value.as_object() else {
            ck.repairable(Problem::new(Code::TaskObject, at).arg(i + 1));
            continue;
        };
        let mut task = task(ck, map, i, &at);
        if !task.draft_id.is_empty() && tasks.iter().any(|t| t.draft_id == task.draft_id) {
            let problem = Problem::new(duplicate, format!("{at}/draftId")).arg(quoted(&task.draft_id));
            ck.repairable(problem);
            task.draft_id = String::new();
        }
        if task.draft_id.is_empty() {
            task.draft_id = mint(i);
        }
        tasks.push(task);
    }
    tasks
}

fn task(ck: &mut Checker, map: &Object, i: usize, at: &str) -> Task {
    const KNOWN: [&str; 6] = ["draftId", "title", "details", "priority", "status", "tags"];
    let mut ignored = Object::new();
    let draft_id = ck.text(map, "draftId", at, &mut ignored).unwrap_or_default().trim().to_owned();
    let title = ck.text(map, "title", at, &mut ignored).unwrap_or_default();
    let details = ck.text(map, "details", at, &mut ignored).unwrap_or_default();
    let mut one_of = |key: &str, code: Code, allowed: &[&str], default: &str| match map.get(key) {
        None => default.to_owned(),
        Some(Value::String(text)) if allowed.contains(&text.as_str()) => text.clone(),
        Some(_) => {
            ck.repairable(Problem::new(code, at).arg(i + 1));
            default.to_owned()
        }
    };
    let priority = one_of("priority", Code::TaskPriority, &["high", "medium", "low"], "medium");
    let status = one_of("status", Code::TaskStatus, &["todo", "doing", "blocked", "done"], "todo");
    let tags = match map.get("tags") {
        None => Vec::new(),
        Some(value) => {
            let texts =
                value.as_array().and_then(|t| t.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
            if let Some(texts) = texts {
                texts.into_iter().map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect()
            } else {
                ck.repairable(Problem::new(Code::TaskTags, format!("{at}/tags")).arg(i + 1));
                Vec::new()
            }
        }
    };
    let extra = map.iter().filter(|(k, _)| !KNOWN.contains(&k.as_str())).map(|(k, v)| (k.clone(), v.clone()));
    Task { draft_id, title, details, priority, status, tags, extra: extra.collect() }
}

// A repeat of the same request must be the same prompt (`id_conflict`, §5), so the filled-in id is
// derived from the request id and not random. Laid out as a version 8 UUID.
fn filled_id(id: &RequestId, index: usize) -> String {
    let hash = Sha256::digest(format!("chatos draft {index} {id}").as_bytes());
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hash[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}
