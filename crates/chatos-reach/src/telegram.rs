//! The Bot API of Telegram, as much of it as telling and answering needs. Only outgoing connections: what people press
//! is asked for. The token is part of each address, so no error names one.

use std::time::Duration;

use chatos_tool::Lang;
use chatos_wire::card::plain;
use serde_json::{Value, json};

use crate::buttons::label;
use crate::channel::{Chat, Record};
use crate::http::ask;
use crate::tokens::Button;

/// One call.
const TIME: Duration = Duration::from_secs(20);
/// How long the server holds a call that asks for news, and the call itself.
const HELD_S: u64 = 25;
const HELD: Duration = Duration::from_secs(40);
/// Updates of one call, and the bytes of them that are read.
const UPDATES: u64 = 20;
const ANSWER: usize = 1 << 20;
/// The longest message Telegram takes, in UTF-16 units; said with a little room.
const TEXT: usize = 4_000;

/// Something happened in a chat of the bot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Update {
    pub(crate) id: i64,
    pub(crate) what: News,
}

/// What happened, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum News {
    /// Somebody wrote in a chat with nobody but the bot.
    Said {
        chat: Chat,
        text: String,
    },
    /// Somebody pressed a button.
    Pressed {
        query: String,
        user: i64,
        chat: i64,
        data: String,
    },
    Other,
}

/// The name of the bot; fails where the token is wrong.
pub(crate) async fn name(record: &Record, token: &str) -> Result<String, String> {
    let me = call(record, token, "getMe", &json!({}), TIME).await?;
    let name = me["username"].as_str().unwrap_or_default();
    let fits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    fits.then(|| name.to_owned()).ok_or_else(|| "Telegram names no bot for this token".to_owned())
}

/// Sends a message; gives what Telegram calls it.
pub(crate) async fn send(
    record: &Record,
    token: &str,
    text: &str,
    buttons: &[Button],
    lang: Lang,
) -> Result<String, String> {
    let chat = record.chat.as_ref().ok_or("nobody pressed Start in its chat yet")?;
    let mut message = worded(chat.id, text);
    if !buttons.is_empty() {
        let row: Vec<Value> = buttons
            .iter()
            .map(|button| json!({ "text": label(button.action, lang), "callback_data": button.token }))
            .collect();
        // The two that decide stand side by side, what puts off below.
        let split = row.len().saturating_sub(1).max(1);
        let (first, rest) = row.split_at(split);
        let rows: Vec<&[Value]> = [first, rest].into_iter().filter(|row| !row.is_empty()).collect();
        message["reply_markup"] = json!({ "inline_keyboard": rows });
    }
    let sent = call(record, token, "sendMessage", &message, TIME).await?;
    sent["message_id"].as_i64().map(|id| id.to_string()).ok_or_else(|| "Telegram names no message".to_owned())
}

/// Puts other words in place of a message, without buttons.
pub(crate) async fn edit(record: &Record, token: &str, message: &str, text: &str) -> Result<(), String> {
    let (Some(chat), Ok(message)) = (&record.chat, message.parse::<i64>()) else { return Ok(()) };
    let mut edited = worded(chat.id, text);
    edited["message_id"] = message.into();
    edited["reply_markup"] = json!({ "inline_keyboard": [] });
    call(record, token, "editMessageText", &edited, TIME).await.map(drop)
}

/// Takes a message away.
pub(crate) async fn delete(record: &Record, token: &str, message: &str) -> Result<(), String> {
    let (Some(chat), Ok(message)) = (&record.chat, message.parse::<i64>()) else { return Ok(()) };
    let body = json!({ "chat_id": chat.id, "message_id": message });
    call(record, token, "deleteMessage", &body, TIME).await.map(drop)
}

/// Says to whoever pressed a button what became of it.
pub(crate) async fn reply(record: &Record, token: &str, query: &str, text: &str) -> Result<(), String> {
    let body = json!({ "callback_query_id": query, "text": text });
    call(record, token, "answerCallbackQuery", &body, TIME).await.map(drop)
}

/// What happened since; waits for it a while.
pub(crate) async fn updates(record: &Record, token: &str, offset: i64) -> Result<Vec<Update>, String> {
    let mut body = json!({
        "timeout": HELD_S, "limit": UPDATES, "allowed_updates": ["message", "callback_query"],
    });
    if offset > 0 {
        body["offset"] = offset.into();
    }
    let news = call(record, token, "getUpdates", &body, HELD).await?;
    let news = news.as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(news.iter().take(100).filter_map(update).collect())
}

fn update(value: &Value) -> Option<Update> {
    let id = value["update_id"].as_i64()?;
    let said = || {
        let message = &value["message"];
        let from = &message["from"];
        (message["chat"]["type"] == "private").then_some(())?;
        let name = [&from["first_name"], &from["last_name"]].into_iter().filter_map(Value::as_str);
        let name = name.collect::<Vec<_>>().join(" ");
        let person = match from["username"].as_str() {
            Some(user) => format!("{name} @{user}"),
            None => name,
        };
        let chat = Chat {
            id: message["chat"]["id"].as_i64()?,
            user: from["id"].as_i64()?,
            person: plain(person.trim()),
        };
        Some(News::Said { chat, text: message["text"].as_str()?.to_owned() })
    };
    let pressed = || {
        let query = &value["callback_query"];
        Some(News::Pressed {
            query: query["id"].as_str()?.to_owned(),
            user: query["from"]["id"].as_i64()?,
            chat: query["message"]["chat"]["id"].as_i64()?,
            data: query["data"].as_str()?.to_owned(),
        })
    };
    Some(Update { id, what: said().or_else(pressed).unwrap_or(News::Other) })
}

fn worded(chat: i64, text: &str) -> Value {
    let mut left = TEXT;
    let fits = |c: &char| {
        let fits = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        fits
    };
    let text: String = text.chars().take_while(fits).collect();
    json!({ "chat_id": chat, "text": text, "link_preview_options": { "is_disabled": true } })
}

async fn call(
    record: &Record,
    token: &str,
    method: &str,
    body: &Value,
    time: Duration,
) -> Result<Value, String> {
    let url = format!("{}/bot{token}/{method}", record.url.trim_end_matches('/'));
    let bytes = body.to_string().into_bytes();
    let answer = ask(&url, record.addresses(), &[], bytes, time, ANSWER).await?;
    let mut said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if said["ok"] == true && (200..300).contains(&answer.status) {
        return Ok(said["result"].take());
    }
    let about: String = plain(said["description"].as_str().unwrap_or_default()).replace(token, "…");
    Err(match (answer.status, about.is_empty()) {
        (status, true) => format!("the server says {status}"),
        (_, false) => format!("Telegram says: {about}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_read_and_odd_ones_passed_over() {
        let start = json!({ "update_id": 7, "message": { "text": "/start x", "chat": { "id": 5, "type": "private" },
            "from": { "id": 6, "first_name": "A\u{202e}nna", "username": "anna" } } });
        let chat = Chat { id: 5, user: 6, person: "A\u{fffd}nna @anna".to_owned() };
        let said = News::Said { chat, text: "/start x".to_owned() };
        assert_eq!(update(&start), Some(Update { id: 7, what: said }));
        let mut group = start.clone();
        group["message"]["chat"]["type"] = json!("group");
        assert_eq!(update(&group).map(|update| update.what), Some(News::Other));
        for odd in [json!({}), json!([]), json!({ "update_id": "7" }), json!(null)] {
            assert_eq!(update(&odd), None, "{odd}");
        }
        let press = json!({ "update_id": 8, "callback_query": { "id": "q", "from": { "id": 6 },
            "message": { "chat": { "id": 5 } }, "data": "t" } });
        let pressed = News::Pressed { query: "q".to_owned(), user: 6, chat: 5, data: "t".to_owned() };
        assert_eq!(update(&press), Some(Update { id: 8, what: pressed }));
    }

    #[test]
    fn a_message_is_never_longer_than_telegram_takes() {
        let text = worded(1, &"𝒳".repeat(10_000))["text"].as_str().unwrap_or_default().to_owned();
        assert_eq!(text.encode_utf16().count(), 4_000);
    }
}
