//! What a backend says: replies to calls, and what it asks of the host.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::AsyncRead;
use tokio_util::sync::CancellationToken;

use super::{BackendError, BackendPort, Lines, Process, lock, to_line};

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct WireError {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

impl Process {
    /// Reads until its channel ends; says why it did.
    pub(super) async fn read<R: AsyncRead + Unpin>(
        self: Arc<Self>,
        mut lines: Lines<R>,
        port: Arc<dyn BackendPort>,
    ) -> String {
        loop {
            match lines.next().await {
                Ok(Some(line)) => self.take(&line, &port),
                Ok(None) => return "it closed its channel".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    }

    /// One message. What cannot be read is counted as noise in the log and ignored.
    fn take(self: &Arc<Self>, line: &[u8], port: &Arc<dyn BackendPort>) {
        let incoming: Incoming<'_> = match serde_json::from_slice(line) {
            Ok(incoming) => incoming,
            Err(_) if line.is_empty() => return,
            Err(error) => {
                self.log.line("host", &format!("a message of the backend cannot be read: {error}"));
                return;
            }
        };
        match (&incoming.method, incoming.id) {
            (None, Some(id)) => {
                let Some(answer) = id.as_u64().and_then(|id| lock(&self.pending).calls.remove(&id)) else {
                    return;
                };
                let reply = match incoming.error {
                    Some(error) => {
                        let code =
                            error.data.as_ref().and_then(|data| data["code"].as_str()).unwrap_or_default();
                        Err(BackendError::thrown(code, &error.message))
                    }
                    None => Ok(incoming.result.unwrap_or(RawValue::NULL).to_owned()),
                };
                // A caller that is gone hears nothing.
                answer.send(reply).ok();
            }
            (Some(method), id) => self.asked(method, id, incoming.params, port),
            (None, None) => {}
        }
    }

    fn asked(
        self: &Arc<Self>,
        method: &str,
        id: Option<Value>,
        params: Option<&RawValue>,
        port: &Arc<dyn BackendPort>,
    ) {
        let params: Value =
            params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or(Value::Null);
        match (method, id) {
            ("llm.complete", Some(id)) => self.complete(id, params["payload"].clone(), port),
            ("$/cancel", _) => {
                if let Some(cancel) = lock(&self.asked).remove(&params["id"].to_string()) {
                    cancel.cancel();
                }
            }
            ("$/log", _) => {
                let level = params["level"].as_str().unwrap_or("info");
                self.log.line(level, params["text"].as_str().unwrap_or_default());
            }
            (_, Some(id)) => {
                let error = BackendError::new(
                    "not_supported",
                    format!("Unknown method: {method}"),
                    format!("未知方法：{method}"),
                );
                self.answer(&id, Err(error));
            }
            (_, None) => {}
        }
    }

    fn complete(self: &Arc<Self>, id: Value, payload: Value, port: &Arc<dyn BackendPort>) {
        let cancel = CancellationToken::new();
        let key = id.to_string();
        lock(&self.asked).insert(key.clone(), cancel.clone());
        let (process, port) = (Arc::clone(self), Arc::clone(port));
        tokio::spawn(async move {
            let work = async {
                let place = Arc::clone(&process.completions).acquire_owned().await;
                let done = port.complete(&process.plugin, payload, cancel.clone()).await;
                drop(place);
                done
            };
            let done = tokio::select! {
                done = work => done,
                () = cancel.cancelled() => return,
            };
            lock(&process.asked).remove(&key);
            process.answer(&id, done);
        });
    }

    fn answer(&self, id: &Value, done: Result<Value, BackendError>) {
        let message = match done {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error.to_wire() }),
        };
        if self.out.try_send(to_line(&message)).is_err() {
            self.log.line("host", "an answer could not be given: the backend does not read");
        }
    }
}
