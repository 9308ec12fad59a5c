//! A server on loopback with the shape of Telegram's Bot API: the other end of a bot, and the hands of whoever is in its
//! chats.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::receiver::read_request;

/// The token of the bot that this server knows.
pub const BOT_TOKEN: &str = "4711:test-token-of-a-bot-0123456789";

/// A message of the bot as the person sees it now.
#[derive(Debug, Clone)]
pub struct BotMessage {
    pub id: i64,
    pub chat: i64,
    pub text: String,
    /// Words and data of its buttons.
    pub buttons: Vec<(String, String)>,
    pub edited: bool,
    pub deleted: bool,
}

impl BotMessage {
    /// What the button with these words carries.
    pub fn button(&self, words: &str) -> Option<String> {
        self.buttons.iter().find(|(known, _)| known == words).map(|(_, data)| data.clone())
    }
}

#[derive(Default)]
struct State {
    messages: Vec<BotMessage>,
    updates: Vec<Value>,
    replies: Vec<String>,
    last_update: i64,
    polls: usize,
    hangs: bool,
    over: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The server; it ends when this is dropped.
pub struct Telegram {
    port: u16,
    stop: Arc<AtomicBool>,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Telegram {
    /// Starts it.
    pub fn start() -> Self {
        let listener = match TcpListener::bind(("127.0.0.1", 0)) {
            Ok(listener) => listener,
            Err(error) => panic!("no port for a Bot API server: {error}"),
        };
        let port = listener.local_addr().map(|address| address.port()).unwrap_or_default();
        let (stop, shared) = (Arc::new(AtomicBool::new(false)), Arc::<Shared>::default());
        let (ended, kept) = (Arc::clone(&stop), Arc::clone(&shared));
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), kept) = (stream, Arc::clone(&kept)) else { continue };
                std::thread::spawn(move || serve(stream, &kept).ok());
            }
        });
        Self { port, stop, shared, accepting: Some(accepting) }
    }

    /// Its address, as a person gives it for a server of their own.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Somebody writes to the bot.
    pub fn say(&self, user: i64, text: &str) {
        self.say_in(user, "private", text);
    }

    /// As [`Telegram::say`], in another sort of chat.
    pub fn say_in(&self, user: i64, chat_type: &str, text: &str) {
        self.update(json!({ "message": {
            "message_id": 900 + user, "date": 0, "text": text, "chat": { "id": user, "type": chat_type },
            "from": { "id": user, "is_bot": false, "first_name": "Anna", "username": format!("user{user}") },
        }}));
    }

    /// Somebody presses a button that carries `data`.
    pub fn press(&self, user: i64, chat: i64, data: &str) {
        self.update(json!({ "callback_query": {
            "id": format!("query-{user}"), "from": { "id": user, "is_bot": false, "first_name": "Anna" },
            "message": { "message_id": 1, "date": 0, "chat": { "id": chat, "type": "private" } }, "data": data,
        }}));
    }

    /// Anything at all as an update.
    pub fn update(&self, mut update: Value) {
        let mut state = self.shared.lock();
        state.last_update += 1;
        if update.is_object() && update["update_id"].is_null() {
            update["update_id"] = state.last_update.into();
        }
        state.updates.push(update);
        self.shared.news.notify_all();
    }

    /// Takes calls from now on and answers none, or answers again.
    pub fn hang(&self, hangs: bool) {
        self.shared.lock().hangs = hangs;
        self.shared.news.notify_all();
    }

    /// Every message of the bot, oldest first.
    pub fn messages(&self) -> Vec<BotMessage> {
        self.shared.lock().messages.clone()
    }

    /// What was said to those who pressed buttons.
    pub fn replies(&self) -> Vec<String> {
        self.shared.lock().replies.clone()
    }

    /// How often news were asked for.
    pub fn polls(&self) -> usize {
        self.shared.lock().polls
    }
}

impl Drop for Telegram {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.shared.lock().over = true;
        self.shared.news.notify_all();
        TcpStream::connect(("127.0.0.1", self.port)).ok();
        if let Some(accepting) = self.accepting.take() {
            accepting.join().ok();
        }
    }
}

fn serve(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let request = read_request(&stream)?;
    let body = request.json();
    let method = request.path.strip_prefix(&format!("/bot{BOT_TOKEN}/"));
    let (status, answer) = match method {
        None => (401, json!({ "ok": false, "error_code": 401, "description": "Unauthorized" })),
        Some(method) => match call(shared, method, &body) {
            Ok(result) => (200, json!({ "ok": true, "result": result })),
            Err(about) => (400, json!({ "ok": false, "error_code": 400, "description": about })),
        },
    };
    let text = answer.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
}

fn call(shared: &Shared, method: &str, body: &Value) -> Result<Value, String> {
    let mut state = shared.lock();
    while state.hangs && !state.over {
        state = shared.news.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    match method {
        "getMe" => {
            Ok(json!({ "id": 4711, "is_bot": true, "first_name": "Test", "username": "chatos_test_bot" }))
        }
        "sendMessage" => {
            let id = i64::try_from(state.messages.len()).unwrap_or_default() + 1;
            let message = BotMessage {
                id,
                chat: body["chat_id"].as_i64().ok_or("Bad Request: chat_id is empty")?,
                text: text(body)?,
                buttons: buttons(body)?,
                edited: false,
                deleted: false,
            };
            state.messages.push(message);
            Ok(json!({ "message_id": id, "date": 0, "chat": { "id": body["chat_id"] } }))
        }
        "editMessageText" => {
            let (text, buttons) = (text(body)?, buttons(body)?);
            let message = message(&mut state, body)?;
            (message.text, message.buttons, message.edited) = (text, buttons, true);
            Ok(json!(true))
        }
        "deleteMessage" => {
            message(&mut state, body)?.deleted = true;
            Ok(json!(true))
        }
        "answerCallbackQuery" => {
            let said = body["text"].as_str().unwrap_or_default().to_owned();
            state.replies.push(said);
            Ok(json!(true))
        }
        "getUpdates" => {
            state.polls += 1;
            let (offset, limit) = (body["offset"].as_i64().unwrap_or_default(), body["limit"].as_u64());
            let until = Instant::now() + Duration::from_secs(body["timeout"].as_u64().unwrap_or_default());
            loop {
                // What was confirmed is gone; the rest is given again.
                state.updates.retain(|update| update["update_id"].as_i64().is_none_or(|id| id >= offset));
                let left = until.saturating_duration_since(Instant::now());
                if !state.updates.is_empty() || left.is_zero() || state.over {
                    let most = usize::try_from(limit.unwrap_or(100)).unwrap_or(100);
                    let given: Vec<Value> = state.updates.iter().take(most).cloned().collect();
                    return Ok(given.into());
                }
                (state, _) = shared.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            }
        }
        other => Err(format!("Not Found: method {other}")),
    }
}

fn text(body: &Value) -> Result<String, String> {
    let text = body["text"].as_str().unwrap_or_default();
    if text.is_empty() || text.encode_utf16().count() > 4096 {
        return Err("Bad Request: message text is empty or too long".to_owned());
    }
    Ok(text.to_owned())
}

fn buttons(body: &Value) -> Result<Vec<(String, String)>, String> {
    let rows = body["reply_markup"]["inline_keyboard"].as_array().cloned().unwrap_or_default();
    let buttons = rows.iter().flat_map(|row| row.as_array().cloned().unwrap_or_default());
    let read = |button: Value| {
        let data = button["callback_data"].as_str().unwrap_or_default().to_owned();
        if data.is_empty() || data.len() > 64 {
            return Err("Bad Request: BUTTON_DATA_INVALID".to_owned());
        }
        Ok((button["text"].as_str().unwrap_or_default().to_owned(), data))
    };
    buttons.map(read).collect()
}

fn message<'a>(state: &'a mut State, body: &Value) -> Result<&'a mut BotMessage, String> {
    let (chat, id) = (body["chat_id"].as_i64(), body["message_id"].as_i64());
    let found = state.messages.iter_mut().find(|known| Some(known.id) == id && Some(known.chat) == chat);
    found.filter(|known| !known.deleted).ok_or_else(|| "Bad Request: message to edit not found".to_owned())
}
