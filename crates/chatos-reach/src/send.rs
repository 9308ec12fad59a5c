//! The messages of each kind of channel.

use chatos_wire::channel::ChannelType;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::buttons::label;
use crate::channel::{Record, topic};
use crate::http::post;
use crate::telegram;
use crate::tokens::Button;
use crate::words::Said;
use chatos_tool::Lang;

/// Longest a chat program takes.
const MOST: usize = 1_900;

/// A notice as it goes out.
pub(crate) struct Letter<'a> {
    /// Names it, so that a receiver can tell a repetition.
    pub(crate) notice: &'a str,
    pub(crate) said: &'a Said,
    pub(crate) buttons: &'a [Button],
    pub(crate) lang: Lang,
}

/// Sends a notice over HTTP. Gives what the channel calls it, where it can be changed later.
pub(crate) async fn send(
    record: &Record,
    secret: Option<&str>,
    letter: &Letter<'_>,
) -> Result<String, String> {
    let Letter { notice, said, buttons, lang } = *letter;
    let mut headers: Vec<(&str, String)> = Vec::new();
    let (url, body) = match record.kind {
        ChannelType::Desktop => return Err("the desktop is not reached over HTTP".to_owned()),
        ChannelType::Telegram => {
            let token = secret.ok_or("its key is gone; add the channel again")?;
            return telegram::send(record, token, &timed(&said.text(), buttons, lang), buttons, lang).await;
        }
        ChannelType::Ntfy => {
            let (base, topic) = topic(&record.url).ok_or("the address has no topic")?;
            headers.extend(secret.map(|key| ("authorization", format!("Bearer {key}"))));
            let message = if said.body.is_empty() { &said.title } else { &said.body };
            let message = timed(message, buttons, lang);
            let mut body = json!({ "topic": topic, "title": said.title, "message": message });
            if !buttons.is_empty() {
                body["actions"] = actions(&format!("{base}/{}", record.reply_topic), buttons, lang);
            }
            (base.to_owned(), body)
        }
        ChannelType::Slack => (sealed_url(secret)?, json!({ "text": slack(&cut(&said.text())) })),
        ChannelType::Discord => {
            let text = cut(&said.text());
            // Nobody is called by a name that stands in a question.
            (sealed_url(secret)?, json!({ "content": text, "allowed_mentions": { "parse": [] } }))
        }
        ChannelType::Webhook => (
            record.url.clone(),
            json!({ "v": 1, "notice": notice, "text": said.text(), "count": said.count }),
        ),
    };
    let bytes = Value::to_string(&body).into_bytes();
    if let (ChannelType::Webhook, Some(key)) = (record.kind, secret) {
        headers.push(("x-chatos-signature", signature(key, &bytes)?));
    }
    post(&url, record.addresses(), &headers, bytes).await.map(|_| String::new())
}

/// One line to the topic of the person.
pub(crate) async fn tell_ntfy(record: &Record, key: &str, text: &str) -> Result<(), String> {
    let said = Said { title: "ChatOS".to_owned(), body: text.to_owned(), count: 0 };
    let letter = Letter { notice: "", said: &said, buttons: &[], lang: Lang::En };
    send(record, Some(key).filter(|key| !key.is_empty()), &letter).await.map(drop)
}

/// Buttons of ntfy: each posts what it carries to the reply topic. The access token is in none of them, since whoever
/// reads the topic could take it.
fn actions(url: &str, buttons: &[Button], lang: Lang) -> Value {
    let one = |button: &Button| {
        json!({
            "action": "http", "label": label(button.action, lang), "url": url, "method": "POST",
            "body": button.token, "clear": true,
        })
    };
    buttons.iter().map(one).collect()
}

/// Says how long buttons work.
fn timed(text: &str, buttons: &[Button], lang: Lang) -> String {
    match (buttons, lang) {
        ([], _) => text.to_owned(),
        (_, Lang::Zh) => format!("{text}\n按钮 15 分钟内有效。"),
        _ => format!("{text}\nThe buttons work for 15 minutes."),
    }
}

fn sealed_url(secret: Option<&str>) -> Result<String, String> {
    secret.map(str::to_owned).ok_or_else(|| "its key is gone; add the channel again".to_owned())
}

/// `sha256=` and the HMAC of the body.
fn signature(key: &str, body: &[u8]) -> Result<String, String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key.as_bytes()).map_err(|error| error.to_string())?;
    mac.update(body);
    let digits: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("sha256={digits}"))
}

/// What Slack would read as a link or a mention.
fn slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn cut(text: &str) -> String {
    text.chars().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_signed_as_others_check_it() {
        // RFC 4231, test case 2.
        assert_eq!(
            signature("Jefe", b"what do ya want for nothing?").unwrap(),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }
}
