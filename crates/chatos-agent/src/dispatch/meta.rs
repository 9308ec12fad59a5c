//! `_meta` of a call (ai-contributions §10): the order of its layers is `chatos-contribution`'s; who the
//! call is about is said here.

use chatos_contribution::AsyncTask;
use chatos_contribution::call_meta::{self, CallIds, Server, UiApp};
use serde_json::{Map, Value};

use super::ports::CallSettings;
use super::{CallOrder, ServerRoute};

/// Keys a person may not set by hand either: they say who is asking, and that is the host's to say.
const HOST_OWNED: [&str; 3] = ["chatos", "traceparent", "progressToken"];

/// The whole `_meta` but for the progress token, which the client adds.
pub(super) fn build(
    route: &ServerRoute,
    order: &CallOrder,
    settings: &CallSettings,
    task: Option<(&AsyncTask, &str)>,
) -> Map<String, Value> {
    let trace = &order.trace;
    let ids = CallIds {
        session_id: trace.session_id.as_deref(),
        run_id: trace.run_id.as_deref(),
        user_message_id: order.user_message_id.as_deref(),
        tool_call_id: Some(&order.call_id),
    };
    let record = call_meta::Trace {
        trace_id: trace.trace_id.as_deref(),
        span_id: trace.span_id.as_deref(),
        parent_span_id: trace.parent_span_id.as_deref(),
        root_agent_id: trace.root_agent_id.as_deref(),
        agent_id: trace.agent_id.as_deref(),
        sub_agent_id: trace.sub_agent_id.as_deref(),
        run_id: trace.run_id.as_deref(),
        session_id: trace.session_id.as_deref(),
        tool_name: trace.tool_name.as_deref(),
    };
    let workdir = order.workdir.to_string_lossy();
    let app = route.app.as_ref().map(|app| UiApp {
        plugin_id: app.plugin_id.clone(),
        app_id: app.app_id.clone(),
        plugin_dir: app.plugin_dir.to_string_lossy().into_owned(),
        data_dir: app.data_dir.to_string_lossy().into_owned(),
        state_dir: settings.state_dir.to_string_lossy().into_owned(),
        session_root: settings.session_root.to_string_lossy().into_owned(),
        project_root: workdir.clone().into_owned(),
    });
    let server = match &app {
        Some(app) => Server::App(app),
        None => Server::Other { workdir: &workdir },
    };
    let mut meta = call_meta::build_meta(server, &ids, route.call_meta.as_ref(), &record, None);
    // A person who calls by hand adds to the call; who asks and where it belongs stays the host's.
    for (key, value) in &order.extra_meta {
        if !HOST_OWNED.contains(&key.as_str()) {
            meta.insert(key.clone(), value.clone());
        }
    }
    if let Some((config, id)) = task {
        meta.insert(config.task_id_key.clone(), Value::from(id));
        meta.insert("stream".to_owned(), Value::Bool(false));
    }
    meta
}
