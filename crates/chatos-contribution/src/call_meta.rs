//! `callMeta` and the `_meta` of every `tools/call` (ai-contributions §9–10). The steps and their
//! order are here; minting ids and sending are not.

use chatos_manifest::AsyncTask;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The seven values of `chatos.uiApp`, which are also the variables of `callMeta`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names of the protocol")]
pub struct UiApp {
    pub plugin_id: String,
    pub app_id: String,
    pub plugin_dir: String,
    pub data_dir: String,
    pub state_dir: String,
    pub session_root: String,
    pub project_root: String,
}

impl UiApp {
    fn variable(&self, name: &str) -> Option<&str> {
        Some(match name {
            "pluginId" => &self.plugin_id,
            "appId" => &self.app_id,
            "pluginDir" => &self.plugin_dir,
            "dataDir" => &self.data_dir,
            "stateDir" => &self.state_dir,
            "sessionRoot" => &self.session_root,
            "projectRoot" => &self.project_root,
            _ => return None,
        })
    }
}

/// `value` with the variables replaced in its string values at any depth, in one pass. Keys are
/// untouched, unknown names stay as written, and inserted text is not looked at again.
pub fn expand(value: &Value, vars: &UiApp) -> Value {
    match value {
        Value::String(text) => Value::String(expand_text(text, vars)),
        Value::Array(items) => Value::Array(items.iter().map(|item| expand(item, vars)).collect()),
        Value::Object(map) => Value::Object(expand_map(map, vars)),
        other => other.clone(),
    }
}

/// [`expand`] for a whole `callMeta`.
pub fn expand_map(map: &Map<String, Value>, vars: &UiApp) -> Map<String, Value> {
    map.iter().map(|(key, value)| (key.clone(), expand(value, vars))).collect()
}

fn expand_text(text: &str, vars: &UiApp) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let length = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        match vars.variable(&after[..length]) {
            Some(value) => out.push_str(value),
            None => out.push_str(&rest[at..=at + length]),
        }
        rest = &after[length..];
    }
    out.push_str(rest);
    out
}

/// Merges `over` into `base`: objects key by key; arrays, scalars and `null` replace.
pub fn deep_merge(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Object(inner)), Value::Object(over)) => deep_merge(inner, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Which kind of server is called; it decides the defaults.
#[derive(Debug, Clone, Copy)]
pub enum Server<'a> {
    /// An app's own server.
    App(&'a UiApp),
    /// A built-in or user-added server; `workdir` is the chat's workspace root, empty where there is none.
    Other {
        /// Workspace root.
        workdir: &'a str,
    },
}

/// Ids of the call's surroundings; what does not exist is left out.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the names of the protocol")]
pub struct CallIds<'a> {
    pub session_id: Option<&'a str>,
    pub run_id: Option<&'a str>,
    pub user_message_id: Option<&'a str>,
    pub tool_call_id: Option<&'a str>,
}

/// The trace record: nine keys, always all there, unknown = `null`.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names of the protocol")]
pub struct Trace<'a> {
    pub trace_id: Option<&'a str>,
    pub span_id: Option<&'a str>,
    pub parent_span_id: Option<&'a str>,
    pub root_agent_id: Option<&'a str>,
    pub agent_id: Option<&'a str>,
    pub sub_agent_id: Option<&'a str>,
    pub run_id: Option<&'a str>,
    pub session_id: Option<&'a str>,
    pub tool_name: Option<&'a str>,
}

/// Keys that exist in both spellings.
const TWINS: &[(&str, &str)] = &[("userMessageId", "user_message_id"), ("toolCallId", "tool_call_id")];

/// `_meta` of one call, steps 1–5 of §10 (the client adds `progressToken`). `call_meta` is the
/// unexpanded declaration; `task` the id the host minted for a call that `async_task` covers.
pub fn build_meta(
    server: Server<'_>,
    ids: &CallIds<'_>,
    call_meta: Option<&Map<String, Value>>,
    trace: &Trace<'_>,
    task: Option<(&AsyncTask, &str)>,
) -> Map<String, Value> {
    let mut meta = defaults(server, ids);
    if let (Some(call_meta), Server::App(vars)) = (call_meta, server) {
        let expanded = expand_map(call_meta, vars);
        let twins = twins_of(&expanded);
        deep_merge(&mut meta, expanded);
        meta.extend(twins);
    } else if let Some(call_meta) = call_meta {
        // A user-added server has no plugin whose variables could be meant.
        let twins = twins_of(call_meta);
        deep_merge(&mut meta, call_meta.clone());
        meta.extend(twins);
    }
    host_owned(&mut meta, trace);
    if let Some((config, id)) = task {
        meta.insert(config.task_id_key.clone(), json!(id));
        meta.insert("stream".to_owned(), json!(false));
    }
    meta
}

fn defaults(server: Server<'_>, ids: &CallIds<'_>) -> Map<String, Value> {
    let mut meta = Map::new();
    match server {
        Server::App(app) => {
            meta.insert("chatos".to_owned(), json!({ "uiApp": app }));
            meta.insert("workdir".to_owned(), json!(app.data_dir));
            meta.insert("stateDir".to_owned(), json!(app.state_dir));
            meta.insert("dataDir".to_owned(), json!(app.data_dir));
        }
        Server::Other { workdir } => {
            if !workdir.is_empty() {
                meta.insert("workdir".to_owned(), json!(workdir));
            }
        }
    }
    for (keys, value) in [
        (&["sessionId"][..], ids.session_id),
        (&["runId"], ids.run_id),
        (&["userMessageId", "user_message_id"], ids.user_message_id),
        (&["toolCallId", "tool_call_id"], ids.tool_call_id),
    ] {
        for key in keys {
            if let Some(value) = value {
                meta.insert((*key).to_owned(), json!(value));
            }
        }
    }
    meta
}

/// The spellings callMeta did not write of the ones it did.
fn twins_of(call_meta: &Map<String, Value>) -> Vec<(String, Value)> {
    TWINS
        .iter()
        .flat_map(|(camel, snake)| [(camel, snake), (snake, camel)])
        .filter_map(|(set, other)| match (call_meta.get(*set), call_meta.get(*other)) {
            (Some(value), None) => Some(((*other).to_owned(), value.clone())),
            _ => None,
        })
        .collect()
}

/// `chatos.trace` and `traceparent` are the host's whatever callMeta says.
fn host_owned(meta: &mut Map<String, Value>, trace: &Trace<'_>) {
    let record = json!(trace);
    match meta.get_mut("chatos") {
        Some(Value::Object(chatos)) => {
            chatos.insert("trace".to_owned(), record);
        }
        _ => {
            meta.insert("chatos".to_owned(), json!({ "trace": record }));
        }
    }
    match (trace.trace_id, trace.span_id) {
        (Some(trace_id), Some(span_id)) => {
            meta.insert("traceparent".to_owned(), json!(format!("00-{trace_id}-{span_id}-01")));
        }
        _ => {
            meta.shift_remove("traceparent");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatos_manifest::{AppId, AppRef, PluginId, Slot, parse_layer};

    fn vars() -> UiApp {
        UiApp {
            plugin_id: "com.example.tools".into(),
            app_id: "db-client".into(),
            plugin_dir: "/home/u/.chatos/chatos/ui_apps/plugins/com.example.tools".into(),
            data_dir: "/home/u/.chatos/chatos/ui_apps/data/com.example.tools".into(),
            state_dir: "/home/u/.chatos/chatos".into(),
            session_root: "/home/u".into(),
            project_root: "/home/u/work/shop".into(),
        }
    }

    fn async_task(value: Value) -> (Map<String, Value>, AsyncTask) {
        let layer = json!({"mcp": {"entry": "s.mjs", "callMeta": value}});
        let app = AppRef { index: 0, id: Some(AppId::parse("a").unwrap()) };
        let (layer, _) = parse_layer(layer.as_object().unwrap(), "x", &PluginId::parse("p").unwrap(), &app);
        let Slot::Present(mcp) = layer.mcp else { panic!() };
        (mcp.call_meta.unwrap(), mcp.async_task.unwrap())
    }

    #[test]
    fn variables() {
        let vars = UiApp { data_dir: "/d/$appId".into(), ..vars() };
        for (text, expected) in [
            ("$dataDir/cache/$appId", "/d/$appId/cache/db-client"),
            ("$dataDirX", "$dataDirX"),
            ("$foo $ $$appId $$", "$foo $ $db-client $$"),
            ("$appId1", "db-client1"),
            ("a$pluginId.b", "acom.example.tools.b"),
            ("${appId}", "${appId}"),
            ("$APPID", "$APPID"),
            ("数$appId据", "数db-client据"),
            ("", ""),
        ] {
            assert_eq!(expand_text(text, &vars), expected, "{text:?}");
        }
        let value = json!({"$appId": ["$appId", {"k": "$pluginId", "n": 1, "z": null}]});
        assert_eq!(
            expand(&value, &vars),
            json!({"$appId": ["db-client", {"k": "com.example.tools", "n": 1, "z": null}]})
        );
    }

    const TRACE: Trace<'static> = Trace {
        trace_id: Some("4bf92f3577b34da6a3ce929d0e0e4736"),
        span_id: Some("00f067aa0ba902b7"),
        parent_span_id: Some("b7ad6b7169203331"),
        root_agent_id: Some("ag_1"),
        agent_id: Some("ag_1"),
        sub_agent_id: None,
        run_id: Some("run_7"),
        session_id: Some("ses_3"),
        tool_name: Some("report_run"),
    };
    const IDS: CallIds<'static> = CallIds {
        session_id: Some("ses_3"),
        run_id: Some("run_7"),
        user_message_id: Some("msg_9"),
        tool_call_id: Some("call_2"),
    };

    #[test]
    fn the_full_example() {
        let (call_meta, task) = async_task(
            json!({"workdir": "$dataDir/work", "team": "a", "asyncTask": {"tools": ["report_run"]}}),
        );
        let app = vars();
        let id = "task_7c1f0e52-9a34-4d0b-8e6f-2b9d61a7c3f4";
        let meta = build_meta(Server::App(&app), &IDS, Some(&call_meta), &TRACE, Some((&task, id)));
        assert_eq!(
            Value::Object(meta),
            json!({ "chatos": {
                "uiApp": { "pluginId": "com.example.tools", "appId": "db-client",
                  "pluginDir": "/home/u/.chatos/chatos/ui_apps/plugins/com.example.tools",
                  "dataDir": "/home/u/.chatos/chatos/ui_apps/data/com.example.tools",
                  "stateDir": "/home/u/.chatos/chatos", "sessionRoot": "/home/u", "projectRoot": "/home/u/work/shop" },
                "trace": { "traceId": "4bf92f3577b34da6a3ce929d0e0e4736", "spanId": "00f067aa0ba902b7", "parentSpanId": "b7ad6b7169203331",
                  "rootAgentId": "ag_1", "agentId": "ag_1", "subAgentId": null, "runId": "run_7", "sessionId": "ses_3", "toolName": "report_run" } },
              "workdir": "/home/u/.chatos/chatos/ui_apps/data/com.example.tools/work",
              "stateDir": "/home/u/.chatos/chatos", "dataDir": "/home/u/.chatos/chatos/ui_apps/data/com.example.tools",
              "sessionId": "ses_3", "runId": "run_7",
              "userMessageId": "msg_9", "user_message_id": "msg_9", "toolCallId": "call_2", "tool_call_id": "call_2",
              "team": "a", "asyncTask": { "tools": ["report_run"] },
              "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
              "taskId": "task_7c1f0e52-9a34-4d0b-8e6f-2b9d61a7c3f4", "stream": false })
        );
    }

    #[test]
    fn call_meta_wins_over_defaults_and_the_host_over_call_meta() {
        let (call_meta, task) = async_task(json!({
            "chatos": {"trace": {"traceId": "forged"}, "uiApp": {"pluginId": "other"}}, "traceparent": "forged",
            "toolCallId": "mine", "sessionId": null, "taskId": "fixed", "stream": true, "stateDir": [1],
            "asyncTask": {"tools": ["*"]}}));
        let app = vars();
        let meta = build_meta(Server::App(&app), &IDS, Some(&call_meta), &TRACE, Some((&task, "task_1")));
        assert_eq!(meta["chatos"]["uiApp"]["pluginId"], "other");
        assert_eq!(meta["chatos"]["uiApp"]["appId"], "db-client", "objects merge key by key");
        assert_eq!(meta["chatos"]["trace"]["traceId"], TRACE.trace_id.unwrap());
        assert!(meta["traceparent"].as_str().unwrap().starts_with("00-4bf9"));
        assert_eq!((&meta["toolCallId"], &meta["tool_call_id"]), (&json!("mine"), &json!("mine")));
        assert_eq!((&meta["sessionId"], &meta["stateDir"]), (&Value::Null, &json!([1])));
        assert_eq!((&meta["taskId"], &meta["stream"]), (&json!("task_1"), &json!(false)));
    }

    #[test]
    fn other_servers_and_missing_ids() {
        let meta =
            build_meta(Server::Other { workdir: "/w" }, &CallIds::default(), None, &Trace::default(), None);
        let trace = &meta["chatos"]["trace"];
        assert_eq!(trace.as_object().unwrap().len(), 9);
        assert!(trace.as_object().unwrap().values().all(Value::is_null));
        assert_eq!(meta.keys().collect::<Vec<_>>(), ["workdir", "chatos"]);
        // A scalar in the host's place does not remove the host's record.
        let call_meta = json!({"chatos": 5, "traceparent": "x", "user_message_id": "m"});
        let meta = build_meta(
            Server::Other { workdir: "/w" },
            &CallIds::default(),
            call_meta.as_object(),
            &Trace::default(),
            None,
        );
        assert!(meta["chatos"]["trace"].is_object() && !meta.contains_key("traceparent"));
        assert_eq!(meta["userMessageId"], "m");
    }
}
