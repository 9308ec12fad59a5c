//! Questions of a server: who asks, and whether to open a page for it (ui-prompts §10.2).

use chatos_prompts::{Effect, Object, Owner};
use chatos_tool::{Lang, Trace, in_both};
use serde_json::{Value, json};

use crate::question::Question;

/// A server that asks, and where its question belongs.
#[derive(Debug, Clone)]
pub struct ServerVoice {
    pub identity: String,
    /// What people call it.
    pub server: String,
    /// The call it works on; empty for a question of no call.
    pub trace: Trace,
    /// The language of our own words.
    pub lang: Lang,
}

impl ServerVoice {
    /// In whose name it asks.
    pub fn owner(&self) -> Owner {
        Owner::mcp(&self.identity)
    }

    /// A question of it; `effect` is what an answer decides.
    pub fn question(&self, prompt: Value, effect: Option<Effect>) -> Question {
        Question {
            id: None,
            kept: false,
            prompt,
            owner: self.owner(),
            source: format!("mcp:{}", self.server),
            trace: self.trace.clone(),
            effect,
            whole: None,
        }
    }
}

/// A question whether to open a page, or why it cannot be asked.
pub fn page_question(asker: &ServerVoice, message: &str, url: &str) -> Result<Question, String> {
    let host = allowed_host(url)?;
    let effect = Some(page_effect(&asker.identity, url));
    let prompt = in_both(asker.lang, |lang| page_prompt(asker, message, url, &host, lang));
    Ok(asker.question(prompt, effect))
}

/// What opening a page for a server is.
pub fn page_effect(identity: &str, url: &str) -> Effect {
    Effect::new("url", Object::new()).with("identity", json!(identity)).with("url", json!(url))
}

/// ui-prompts §10.2: `https:`, and `http:` on this machine only.
fn allowed_host(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").ok_or("`url` is not a web address")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("`url` holds a user name".to_owned());
    }
    let host = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((inside, _)) => inside.to_owned(),
        None => authority.split(':').next().unwrap_or_default().to_ascii_lowercase(),
    };
    if host.is_empty() {
        return Err("`url` names no host".to_owned());
    }
    let here = host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Ok(host),
        "http" if here => Ok(host),
        _ => Err("`url` is neither https nor on this machine".to_owned()),
    }
}

fn page_prompt(asker: &ServerVoice, message: &str, url: &str, host: &str, lang: Lang) -> Value {
    let server = &asker.server;
    let odd = host.split('.').any(|label| label.starts_with("xn--"));
    let (title, note, warning, open, decline) = match lang {
        Lang::En => (
            format!("{server} wants you to open a page"),
            format!("Host: **{host}**"),
            "The name of this host holds characters that may look like others (xn--).",
            "Open the page",
            "Decline",
        ),
        Lang::Zh => (
            format!("{server} 希望你打开一个网页"),
            format!("主机：**{host}**"),
            "该主机名包含可能与其他字符混淆的字符（xn--）。",
            "打开网页",
            "拒绝",
        ),
    };
    let mut text = format!("{message}\n\n{note}\n\n`{url}`");
    if odd {
        text = format!("{text}\n\n{warning}");
    }
    json!({
        "kind": "choice", "title": title, "message": text, "url": url,
        "options": [{ "value": "open", "label": open }, { "value": "decline", "label": decline }],
    })
}
