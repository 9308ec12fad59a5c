//! Names instead of ids: with `?resolve=1` the place of an id, in an address or a body, takes what people call the thing, by the one rule of
//! [`chatos_tool::names`]. Without it, and for apps, an id is an id. Servers answer to their names anyway.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{Uri, header};
use chatos_host::Host;
use chatos_store::ModelRecord;
use chatos_tool::names::{Named, Noun, pick, unknown};
use chatos_tool::{ErrorCode, Fault, Text};
use serde_json::Value;

use crate::api::{ApiError, read_body};
use crate::blocking::blocking;
use crate::narrow::AppCaller;

/// Chats that are read at once.
const PAGE: u32 = 500;

/// Words that stand in the place of an id and are none.
const WORDS: [&str; 9] =
    ["preview", "presets", "recognise", "detect", "test", "offered", "refresh", "schema", "search"];

/// Members of bodies and of queries that hold an id, and whose.
const MEMBERS: [(&str, &str); 7] = [
    ("agentId", "agents"),
    ("agent", "agents"),
    ("modelId", "models"),
    ("landConfigId", "land-configs"),
    ("sessionId", "sessions"),
    ("session", "sessions"),
    ("chat", "sessions"),
];
/// The largest body of any route: a message with its files.
const BODY: usize = 80 * 1024 * 1024;

/// The request with ids where names stood: in its path, in its query and in the members of its body.
pub(crate) async fn resolved(host: &Arc<Host>, mut request: Request) -> Result<Request, ApiError> {
    let wanted = request.uri().query().is_some_and(|query| query.split('&').any(|part| part == "resolve=1"));
    if !wanted || request.extensions().get::<AppCaller>().is_some() {
        return Ok(request);
    }
    let mut path = request.uri().path().to_owned();
    if let Some((list, rest)) = path.strip_prefix("/api/v1/").and_then(|path| path.split_once('/')) {
        let (written, behind) =
            rest.split_once('/').map_or((rest, String::new()), |(id, rest)| (id, format!("/{rest}")));
        if !WORDS.contains(&written)
            && let Some(id) = id_of(host, list, decoded(written)?).await?
        {
            path = format!("/api/v1/{list}/{}{behind}", encoded(&id));
        }
    }
    let mut query = Vec::new();
    for part in request.uri().query().unwrap_or_default().split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let list = MEMBERS.iter().find(|(member, _)| *member == name).filter(|_| !value.is_empty());
        let id = match list {
            Some((_, list)) => id_of(host, list, decoded(&value.replace('+', " "))?).await?,
            None => None,
        };
        query.push(id.map_or_else(|| part.to_owned(), |id| format!("{name}={}", encoded(&id))));
    }
    let address = format!("{path}?{}", query.join("&"));
    let mut parts = request.uri().clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(address).map_err(|error| odd(&error.to_string()))?);
    *request.uri_mut() = Uri::from_parts(parts).map_err(|error| odd(&error.to_string()))?;
    in_body(host, request).await
}

/// The request with ids in the members of its body. What is no object is left to the route.
async fn in_body(host: &Arc<Host>, request: Request) -> Result<Request, ApiError> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/json")) {
        return Ok(request);
    }
    let (mut parts, body) = request.into_parts();
    let request = Request::from_parts(parts.clone(), body);
    let mut bytes = read_body(request, BODY).await?;
    if let Ok(Value::Object(mut members)) = serde_json::from_slice::<Value>(&bytes) {
        let mut changed = false;
        for (member, list) in MEMBERS {
            let written = members.get(member).and_then(Value::as_str).filter(|name| !name.is_empty());
            let Some(written) = written.map(str::to_owned) else { continue };
            if let Some(id) = id_of(host, list, written).await? {
                members.insert(member.to_owned(), Value::String(id));
                changed = true;
            }
        }
        if changed && let Ok(written) = serde_json::to_vec(&members) {
            bytes = written.into();
            parts.headers.remove(header::CONTENT_LENGTH);
        }
    }
    Ok(Request::from_parts(parts, Body::from(bytes)))
}

/// The id of what people call `name`; nothing in lists that have no names.
async fn id_of(host: &Arc<Host>, list: &str, name: String) -> Result<Option<String>, ApiError> {
    let id = match list {
        "agents" => blocking(host, move |host| Ok(host.agents().find(&name)?.id)).await?,
        "models" => blocking(host, move |host| model(&name, &host.models().list()?)).await?,
        "land-configs" => {
            let pick_profile = move |host: &Arc<Host>| {
                let known = host.agents().land_configs()?;
                let known: Vec<Named> = known.iter().map(|land| Named::new(&land.id, [&land.name])).collect();
                Ok(pick(Noun::PROFILE, &name, &known)?.id.clone())
            };
            blocking(host, pick_profile).await?
        }
        "sessions" => chat(host, &name).await?,
        _ => return Ok(None),
    };
    Ok(Some(id))
}

/// The id of a model; `default` is the default one.
fn model(written: &str, known: &[ModelRecord]) -> Result<String, Fault> {
    if let Some(default) = known.iter().find(|model| written == "default" && model.is_default) {
        return Ok(default.id.clone());
    }
    let named: Vec<Named> =
        known.iter().map(|model| Named::new(&model.id, [&model.name, &model.model])).collect();
    Ok(pick(Noun::MODEL, written, &named)?.id.clone())
}

/// The id of a chat; `last` is the one that was used last.
async fn chat(host: &Arc<Host>, written: &str) -> Result<String, ApiError> {
    let runs = host.runs();
    if runs.session(written).await.is_ok() {
        return Ok(written.to_owned());
    }
    let mut known = Vec::new();
    for archived in [false, true] {
        let mut offset = 0;
        loop {
            let page = runs.sessions(archived, PAGE, offset).await?;
            let more = page.len() == PAGE as usize;
            known.extend(page);
            if !more {
                break;
            }
            offset += PAGE;
        }
        if written == "last" {
            let used = |chat: &chatos_wire::session::SessionView| {
                chat.last_message_at.clone().unwrap_or_else(|| chat.updated_at.clone())
            };
            let newest = known.into_iter().max_by_key(used);
            return Ok(newest.ok_or_else(|| unknown(Noun::CHAT, written, None))?.id);
        }
    }
    let named: Vec<Named> = known.iter().map(|chat| Named::new(&chat.id, [&chat.title])).collect();
    Ok(pick(Noun::CHAT, written, &named)?.id.clone())
}

/// The text that a part of an address writes with `%`.
fn decoded(written: &str) -> Result<String, ApiError> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
            return Err(odd(written));
        };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| odd(written))
}

fn encoded(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    id.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn odd(what: &str) -> ApiError {
    let fault = Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("the address cannot be read: {what}"), format!("无法解析地址：{what}")),
    );
    ApiError::Fault(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_through_addresses() {
        for name in ["plain", "My helper", "写作 助手", "a/b?c%"] {
            assert_eq!(decoded(&encoded(name)).ok().as_deref(), Some(name));
        }
        assert!(decoded("%zz").is_err() && decoded("%").is_err() && decoded("%ff").is_err());
    }
}
