//! The messages of each kind of channel.

use chatos_wire::channel::ChannelType;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::channel::{Record, topic};
use crate::http::post;
use crate::words::Said;

/// Longest a chat program takes.
const MOST: usize = 1_900;

/// Sends a notice over HTTP. `notice` names it, so that a receiver can tell a repetition.
pub(crate) async fn send(
    record: &Record,
    secret: Option<&str>,
    notice: &str,
    said: &Said,
) -> Result<(), String> {
    let mut headers: Vec<(&str, String)> = Vec::new();
    let (url, body) = match record.kind {
        ChannelType::Desktop => return Err("the desktop is not reached over HTTP".to_owned()),
        ChannelType::Ntfy => {
            let (base, topic) = topic(&record.url).ok_or("the address has no topic")?;
            headers.extend(secret.map(|key| ("authorization", format!("Bearer {key}"))));
            let message = if said.body.is_empty() { &said.title } else { &said.body };
            (base.to_owned(), json!({ "topic": topic, "title": said.title, "message": message }))
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
    post(&url, record.addresses(), &headers, bytes).await.map(drop)
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
