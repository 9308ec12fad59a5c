//! Problems of TypeScript: its language server publishes none where a change leaves a file as clean as it was, so that
//! waiting for them never ends. It passes on requests to the compiler's own service, which answers exactly.

use std::sync::Arc;

use chatos_layer::CallCx;
use serde_json::{Value, json};

use super::{Findings, Trouble};
use crate::documents::Document;
use crate::session::Session;
use crate::shapes;
use crate::uri;

const COMMAND: &str = "typescript.tsserverRequest";

/// Whether a server passes requests on to the compiler's service.
pub(super) fn answers(session: &Session) -> bool {
    let known = session.abilities["executeCommandProvider"]["commands"].as_array();
    known.is_some_and(|known| known.iter().any(|one| one == COMMAND))
}

/// The problems of an open text; nothing where the service gives no list.
pub(super) async fn ask(
    cx: &CallCx,
    session: &Arc<Session>,
    document: &Document,
) -> Result<Option<Findings>, Trouble> {
    let Some(file) = uri::path(&document.uri) else { return Ok(None) };
    let mut all = Vec::new();
    for kind in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
        let params = json!({ "command": COMMAND, "arguments": [kind, { "file": file }] });
        let answer = session.request("workspace/executeCommand", params, cx.settings.lsp.timeout).await;
        let answer = answer.map_err(|refusal| Trouble::Refused(Arc::clone(session), refusal))?;
        let Some(list) = answer["body"].as_array() else { return Ok(None) };
        all.extend(list.iter().map(problem));
    }
    let list = shapes::diagnostics(&Value::Array(all));
    let busy = session.news.busy();
    Ok(Some(Findings { list, fresh: busy.is_none(), busy }))
}

/// In the terms of the protocol; the service counts from 1.
fn problem(one: &Value) -> Value {
    let place = |at: &Value| {
        let number = |key: &str| at[key].as_u64().unwrap_or(1).saturating_sub(1);
        json!({ "line": number("line"), "character": number("offset") })
    };
    let severity = match one["category"].as_str() {
        Some("warning") => 2,
        Some("suggestion") => 4,
        Some("message") => 3,
        _ => 1,
    };
    json!({
        "range": { "start": place(&one["start"]), "end": place(&one["end"]) },
        "severity": severity,
        "code": one["code"],
        "source": one["source"].as_str().unwrap_or("typescript"),
        "message": one["text"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_of_the_service_are_those_of_the_protocol() {
        let said = json!({
            "start": { "line": 3, "offset": 14 }, "end": { "line": 3, "offset": 19 },
            "text": "Type 'number' is not assignable to type 'string'.", "code": 2322, "category": "error",
        });
        let [one] = shapes::diagnostics(&json!([problem(&said)])).try_into().unwrap();
        assert_eq!((one.range.start.line, one.range.start.character, one.range.end.character), (2, 13, 18));
        assert_eq!(
            (one.severity, one.code, one.source.as_deref()),
            (Some(1), json!(2322), Some("typescript"))
        );
        assert!(shapes::text(&one.message).contains("not assignable"));
    }
}
