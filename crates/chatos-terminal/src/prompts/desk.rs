//! Who answers: the running host over its API, or the queue opened by this process.

use std::time::Duration;

use chatos_host::{Visit, visit_inbox};
use chatos_inbox::{BulkReply, PromptReply, Questions, TogetherReply};
use chatos_paths::{Announcement, Environment};
use chatos_prompts::Surface;
use chatos_tool::{Fault, Lang};
use chatos_wire::prompt::{BulkLook, BulkOrder, PromptQuery};
use hyper::Method;
use serde_json::{Value, json};

use super::usage;
use crate::args::Global;
use crate::client::Api;
use chatos_desk::encode;

/// How long one waiting call stays open.
const WAIT: Duration = Duration::from_secs(25);
/// Lines of a long text that are loaded at once.
const PART: usize = 5_000;

pub struct Desk {
    who: Who,
    global: Global,
    environment: Environment,
}

enum Who {
    Host(Api),
    Here(Box<Questions>),
}

impl Desk {
    pub(super) fn open(global: &Global, environment: Environment, visit: Visit) -> Result<Self, Fault> {
        let who = match Api::running(global, &environment)? {
            Some(host) => Who::Host(Api::Remote(host)),
            None => match visit_inbox(&environment, global.state_dir.clone(), visit) {
                Ok(desk) => Who::Here(Box::new(desk)),
                // A host may have started in this very moment.
                Err(fault) => match Api::running(global, &environment)? {
                    Some(host) => Who::Host(Api::Remote(host)),
                    None => return Err(fault),
                },
            },
        };
        Ok(Self { who, global: global.clone(), environment })
    }

    /// The queue behind an API that is open already.
    pub fn over(api: Api, global: &Global, environment: Environment) -> Self {
        Self { who: Who::Host(api), global: global.clone(), environment }
    }

    /// The API that this queue is asked through, where a host answers.
    pub fn api(&self) -> Option<&Api> {
        match &self.who {
            Who::Host(api) => Some(api),
            Who::Here(_) => None,
        }
    }

    /// The same queue as it is served now, to go on with a wait.
    pub(super) fn again(&self) -> Result<Self, Fault> {
        Self::open(&self.global, self.environment.clone(), Visit::Write)
    }

    pub(super) fn is_host(&self) -> bool {
        matches!(self.who, Who::Host(_))
    }

    /// This process reads the queue itself although a host serves it by now.
    pub(super) fn is_superseded(&self) -> bool {
        matches!(self.who, Who::Here(_)) && self.host_that_started().is_some()
    }

    pub(crate) async fn list(&self, query: &[(&str, String)], lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => {
                api.queue_read().await?;
                let query: Vec<String> = query.iter().map(|(k, v)| format!("{k}={}", encode(v))).collect();
                api.get_json(&format!("/api/v1/prompts?{}", query.join("&")), lang).await
            }
            Who::Here(desk) => {
                let map: serde_json::Map<String, Value> = query
                    .iter()
                    .map(|(k, v)| {
                        let value =
                            if *k == "limit" { json!(v.parse::<usize>().unwrap_or(50)) } else { json!(v) };
                        ((*k).to_owned(), value)
                    })
                    .collect();
                let wanted: PromptQuery = serde_json::from_value(map.into())
                    .map_err(|error| usage(error.to_string(), error.to_string()))?;
                desk.prompts().ready().await;
                desk.prompts().catch_up();
                desk.list(&wanted, lang)
            }
        }
    }

    pub(crate) async fn show(&self, id: &str, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.get_json(&path(id, ""), lang).await,
            Who::Here(desk) => desk.show(id, lang),
        }
    }

    /// The id a person means: itself, or the one id that begins like this.
    pub(super) async fn resolve(&self, id: &str, lang: Lang) -> Result<String, Fault> {
        let fault = match self.show(id, lang).await {
            Ok(item) => return Ok(item["requestId"].as_str().unwrap_or(id).to_owned()),
            Err(fault) if fault.code == "unknown_request" => fault,
            Err(fault) => return Err(fault),
        };
        if id.chars().count() < 4 {
            return Err(fault);
        }
        let found = match &self.who {
            Who::Host(api) => {
                let found =
                    api.get_json(&format!("/api/v1/prompts/find?prefix={}", encode(id)), lang).await?;
                let ids = found["ids"].as_array().cloned().unwrap_or_default();
                ids.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Who::Here(desk) => desk.find(id)?,
        };
        match found.as_slice() {
            [] => Err(fault),
            [one] => Ok(one.clone()),
            several => Err(usage(
                format!("`{id}` could be {}", several.join(", ")),
                format!("`{id}` 可能是 {}", several.join("、")),
            )),
        }
    }

    /// Loads the text that a question shows only in part; then this terminal may confirm it. `None`: the
    /// question shows everything.
    pub(super) async fn whole(&self, id: &str, item: &Value, lang: Lang) -> Result<Option<String>, Fault> {
        let reference = &item["prompt"]["diffRef"];
        let cut = reference["shownLines"].as_u64() < reference["lines"].as_u64();
        if !cut || item["state"] != "pending" {
            return Ok(None);
        }
        let mut text = String::new();
        let mut from = 0;
        loop {
            let part = match &self.who {
                Who::Host(api) => {
                    let path = path(id, "/diff");
                    let mark = if path.contains('?') { '&' } else { '?' };
                    api.get_json(&format!("{path}{mark}from={from}&lines={PART}"), lang).await?
                }
                Who::Here(desk) => desk.text(id, from, PART, "")?,
            };
            text.push_str(part["text"].as_str().unwrap_or_default());
            let count =
                part["lines"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
            from += count;
            if count == 0 {
                return Ok(Some(text));
            }
        }
    }

    pub(super) async fn respond(&self, id: &str, body: &Value, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.call(Method::POST, &path(id, "/response"), Some(body), lang).await,
            Who::Here(desk) => {
                match desk.respond(id, &PromptReply::from_payload(body)?, Surface::Cli, lang) {
                    Err(fault) => match self.host_that_started() {
                        Some(host) => {
                            Api::Remote(host)
                                .call(Method::POST, &path(id, "/response"), Some(body), lang)
                                .await
                        }
                        None => Err(fault),
                    },
                    done => done,
                }
            }
        }
    }

    /// Puts a question off, or back without a moment. Gives it.
    pub(super) async fn snooze(&self, id: &str, until: Option<String>, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => {
                let body = serde_json::json!({ "until": until });
                api.call(Method::POST, &path(id, "/snooze"), Some(&body), lang).await
            }
            Who::Here(desk) => desk.snooze(id, until.as_deref(), lang),
        }
    }

    /// The open questions that are asked with one.
    pub(super) async fn together(&self, id: &str, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.get_json(&path(id, "/together"), lang).await,
            Who::Here(desk) => desk.together(id, lang),
        }
    }

    /// One answer to all of them.
    pub(super) async fn answer_together(&self, id: &str, body: &Value, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.call(Method::POST, &path(id, "/together"), Some(body), lang).await,
            Who::Here(desk) => {
                let text = |key: &str| body[key].as_str().map(str::to_owned);
                let accepted = body["accepted"].as_array().into_iter().flatten();
                let reply = TogetherReply {
                    shown: text("shown").unwrap_or_default(),
                    accepted: accepted.filter_map(Value::as_str).map(str::to_owned).collect(),
                    remark: text("remark"),
                    stop: body["stop"] == true,
                    by: text("by"),
                    viewer: String::new(),
                    pid: Some(std::process::id()),
                };
                desk.answer_together(id, &reply, Surface::Cli, lang)
            }
        }
    }

    /// What one answer to many would be about, with its digest.
    pub(super) async fn bulk_preview(&self, body: &Value, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => {
                api.queue_read().await?;
                api.call(Method::POST, "/api/v1/prompts/bulk/preview", Some(body), lang).await
            }
            Who::Here(desk) => {
                let look: BulkLook = read(body)?;
                desk.prompts().ready().await;
                desk.prompts().catch_up();
                desk.bulk_preview(&look.select, look.action, lang)
            }
        }
    }

    /// One answer to many, if they still are what the preview showed.
    pub(super) async fn bulk(&self, body: &Value, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.call(Method::POST, "/api/v1/prompts/bulk", Some(body), lang).await,
            Who::Here(desk) => {
                let order: BulkOrder = read(body)?;
                let reply = BulkReply {
                    select: order.select,
                    action: order.action,
                    digest: order.digest,
                    remark: order.remark,
                    until: order.until,
                    by: order.by,
                    viewer: String::new(),
                    pid: Some(std::process::id()),
                };
                desk.bulk(&reply, Surface::Cli, lang)
            }
        }
    }

    pub(super) async fn request(&self, payload: &Value, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.call(Method::POST, "/api/v1/prompts", Some(payload), lang).await,
            Who::Here(desk) => match desk.request(payload, "cli", lang) {
                Err(fault) => match self.host_that_started() {
                    Some(host) => {
                        Api::Remote(host).call(Method::POST, "/api/v1/prompts", Some(payload), lang).await
                    }
                    None => Err(fault),
                },
                done => done,
            },
        }
    }

    // The lock may be held because a host has started since this command began.
    fn host_that_started(&self) -> Option<Announcement> {
        Api::running(&self.global, &self.environment).ok().flatten()
    }

    /// Waits once; `{"state":"pending"}` when there is no answer yet.
    pub(super) async fn wait(&self, id: &str, limit: Option<Duration>, lang: Lang) -> Result<Value, Fault> {
        let limit = limit.unwrap_or(WAIT).min(WAIT);
        match &self.who {
            Who::Host(api) => {
                let call = format!("{}?timeoutMs={}", path(id, "/wait"), limit.as_millis());
                api.get_json(&call, lang).await
            }
            Who::Here(desk) => {
                let never = tokio_util::sync::CancellationToken::new();
                // Short steps: with no host running this process keeps the clock for what it asked.
                let step = limit.min(Duration::from_secs(1));
                let state = desk.wait(id, step, &never).await?;
                if state["state"] == "pending" {
                    desk.expire()?;
                }
                Ok(state)
            }
        }
    }

    /// The answer with its private values, for the person who asked.
    pub(super) async fn take(&self, id: &str, lang: Lang) -> Result<Value, Fault> {
        let body = json!({ "owner": "user" });
        match &self.who {
            Who::Host(api) => api.call(Method::POST, &path(id, "/take"), Some(&body), lang).await,
            Who::Here(desk) => desk.take(id, &body["owner"], true),
        }
    }

    pub(super) async fn archive(&self, before: &str, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => {
                let body = json!({ "before": before });
                api.call(Method::POST, "/api/v1/prompts/archive", Some(&body), lang).await
            }
            Who::Here(desk) => desk.archive(Some(before)),
        }
    }

    pub(super) async fn check(&self, lang: Lang) -> Result<Value, Fault> {
        match &self.who {
            Who::Host(api) => api.get_json("/api/v1/prompts/check", lang).await,
            Who::Here(desk) => desk.check(),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(body: &Value) -> Result<T, Fault> {
    serde_json::from_value(body.clone()).map_err(|error| usage(error.to_string(), error.to_string()))
}

// `.` and `..` cannot travel in a path; the id goes in the query, where anything can.
fn path(id: &str, rest: &str) -> String {
    if matches!(id, "." | "..") {
        return format!("/api/v1/prompts/_{rest}?id={}", encode(id));
    }
    format!("/api/v1/prompts/{}{rest}", encode(id))
}
