//! Traces to an OpenTelemetry collector: when a root run ends and the setting `otlpEndpoint` names one
//! (agents §14). In the program when it is built with the feature `otlp`.

use std::sync::Arc;
use std::time::Duration;

use chatos_events::Notice;
use chatos_model::{Class, ModelError, post_json};
use chatos_tool::Text;
use chatos_wire::Severity;

use super::parts::RunParts;

/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// A collector that is busy or away is asked again after these pauses.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// Where traces go below the address of a collector.
const PATH: &str = "v1/traces";

/// Sends a trace, beside everything else. Nothing waits for it.
pub(super) fn trace(parts: &Arc<RunParts>, trace_id: String) {
    let endpoint = parts.settings.text("otlpEndpoint").trim().to_owned();
    if endpoint.is_empty() {
        return;
    }
    let (life, stop) = (&parts.life, parts.life.stop().clone());
    let parts = Arc::clone(parts);
    life.spawn(Box::pin(async move {
        let sent = tokio::select! {
            () = stop.cancelled() => return,
            sent = send(&parts, &endpoint, trace_id) => sent,
        };
        if let Err(error) = sent {
            let message = parts.redactor.message(&error.to_string()).into_owned();
            tracing::warn!(error = message, "a trace was not exported");
            let known = parts.notices.list().iter().any(|notice| notice.code == "otlp_failed");
            if !known {
                parts.notices.add(failed(&message));
            }
        }
    }));
}

async fn send(parts: &Arc<RunParts>, endpoint: &str, trace_id: String) -> Result<(), ModelError> {
    let content = parts.settings.text("otlpContent") == "on";
    let reading = Arc::clone(parts);
    let made = chatos_blocking::run(move || {
        chatos_records::otlp_of_trace(&reading.store, &reading.redactor, &trace_id, content)
    });
    let lost = |error: String| ModelError::new(Class::Config, error);
    let document = made.await.map_err(|error| lost(error.to_string()))?;
    let document = document.map_err(|error| lost(error.to_string()))?;
    let base = endpoint.trim_end_matches('/');
    let base = base.strip_suffix(PATH).unwrap_or(base);
    let connections = parts.models.connections();
    let mut pauses = PAUSES.iter();
    loop {
        match post_json(connections, base, PATH, &document, PATIENCE).await {
            Ok(()) => return Ok(()),
            Err(error) => match pauses.next().filter(|_| error.class.retries()) {
                Some(pause) => tokio::time::sleep(*pause).await,
                None => return Err(error),
            },
        }
    }
}

fn failed(message: &str) -> Notice {
    Notice {
        code: "otlp_failed".to_owned(),
        severity: Severity::Warning,
        message: Text::new(
            format!("traces cannot be sent to the collector: {message}"),
            format!("无法将跟踪发送到收集器：{message}"),
        ),
        hint: Some(Text::fixed(
            "correct the setting otlpEndpoint, or clear it to switch the export off",
            "请修正设置 otlpEndpoint，或清空以关闭导出",
        )),
    }
}
