//! Somewhere a person is told: its record, and what makes a good one.

use chatos_net::{Addresses, Origin, refusal};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::card::CardRisk;
use chatos_wire::channel::{ChannelType, NewChannel, Privacy};
use serde::{Deserialize, Serialize};

/// The channel of this computer's own desktop; it cannot be removed.
pub(crate) const DESKTOP: &str = "desktop";
/// Longest name, in characters.
const NAME_CHARS: usize = 60;
/// The longest a notice waits for an answer before it is sent, in seconds.
const MOST_DELAY: u32 = 3600;

/// A channel as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Record {
    #[serde(rename = "type")]
    pub(crate) kind: ChannelType,
    pub(crate) name: String,
    /// Where to; of a Slack or Discord address only the host, because the rest of it is a key.
    #[serde(default)]
    pub(crate) url: String,
    /// The secret it is sent with.
    #[serde(default)]
    pub(crate) secret_name: Option<String>,
    pub(crate) privacy: Privacy,
    /// Seconds a question may take before this channel is told of it.
    pub(crate) delay: u32,
    pub(crate) min_risk: CardRisk,
    /// Addresses of this computer and its network are meant.
    #[serde(default)]
    pub(crate) on_my_network: bool,
}

impl Record {
    /// Reads a kept record; `None` when this program does not know what it is.
    pub(crate) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(crate) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The address is a key: whoever has it may write there.
    pub(crate) fn url_is_secret(&self) -> bool {
        matches!(self.kind, ChannelType::Slack | ChannelType::Discord)
    }

    pub(crate) fn addresses(&self) -> Addresses {
        if self.on_my_network { Addresses::Private } else { Addresses::Public }
    }

    /// A new channel as a person wants it, checked; and the secret it is sent with.
    pub(crate) fn wanted(new: &NewChannel, id: &str) -> Result<(Self, Option<String>), Fault> {
        if new.kind == ChannelType::Desktop {
            return Err(bad("type", "the desktop is there already", "桌面通知已内置"));
        }
        let name = chatos_wire::card::plain(new.name.trim());
        if name.is_empty() || name.chars().count() > NAME_CHARS {
            return Err(bad(
                "name",
                "give it a name of at most 60 characters",
                "请填写不超过 60 个字符的名称",
            ));
        }
        let mut record = Self {
            kind: new.kind,
            name,
            url: new.url.trim().to_owned(),
            secret_name: None,
            privacy: new.privacy.unwrap_or(Privacy::Tool),
            delay: new.delay.unwrap_or(60),
            min_risk: new.min_risk.unwrap_or(CardRisk::Low),
            on_my_network: new.on_my_network,
        };
        if record.delay > MOST_DELAY {
            return Err(bad("delay", "use at most 3600 seconds", "最多 3600 秒"));
        }
        let origin = usable(&record.url, record.addresses())?;
        if record.kind == ChannelType::Ntfy && topic(&record.url).is_none() {
            return Err(bad(
                "url",
                "end the address with a topic, as in https://ntfy.sh/my-topic",
                "地址应以主题结尾，例如 https://ntfy.sh/my-topic",
            ));
        }
        let mut secret = new.secret.clone().filter(|secret| !secret.is_empty());
        if record.url_is_secret() {
            secret = Some(std::mem::replace(&mut record.url, origin.target()));
        }
        if let Some(secret) = &secret {
            if secret.chars().any(char::is_control) {
                return Err(bad("secret", "a key is one line of text", "密钥应为一行文本"));
            }
            record.secret_name = Some(format!("CHANNEL_{}", id.replace('-', "_").to_uppercase()));
        }
        Ok((record, secret))
    }
}

/// The server and the topic of an ntfy address.
pub(crate) fn topic(url: &str) -> Option<(&str, &str)> {
    let (base, topic) = url.trim_end_matches('/').rsplit_once('/')?;
    let fits = (1..=64).contains(&topic.len())
        && topic.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (fits && base.contains("://") && !base.ends_with('/')).then_some((base, topic))
}

/// security T20: http and https only, and a private address only where a person said so.
fn usable(url: &str, addresses: Addresses) -> Result<Origin, Fault> {
    let address = || {
        bad(
            "url",
            "use an address that begins with https:// or http://",
            "请使用以 https:// 或 http:// 开头的地址",
        )
    };
    if url.len() > 2000 {
        return Err(address());
    }
    let uri: hyper::Uri = url.parse().map_err(|_| address())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(address());
    }
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(bad("url", "put the key into its own field", "请将密钥填入单独的字段"));
    }
    let origin = Origin::of(&uri).ok_or_else(address)?;
    let private = origin.host.parse().ok().and_then(|ip| refusal(ip, addresses));
    let named = (origin.host == "localhost" && addresses == Addresses::Public).then_some(("loopback", true));
    match private.or(named) {
        Some((_, true)) => Err(bad(
            "url",
            "it is an address of this computer or its network; tick “on my network” (--on-my-network) if you mean it",
            "这是本机或本地网络的地址；如确需使用，请勾选“位于我的网络”（--on-my-network）",
        )),
        Some((_, false)) => Err(bad("url", "that address is never used", "不允许使用该地址")),
        None if !origin.secure && addresses == Addresses::Public => Err(bad(
            "url",
            "use https://: everybody on the way could read plain http",
            "请使用 https://：明文 http 会被途经的任何人读取",
        )),
        None => Ok(origin),
    }
}

fn bad(field: &str, en: &'static str, zh: &'static str) -> Fault {
    Fault::new(
        ErrorCode::InvalidArgument,
        Text::new(format!("`{field}` cannot be used"), format!("`{field}` 无法使用")),
    )
    .code("channel_invalid")
    .hint(Text::fixed(en, zh))
    .details(serde_json::json!({ "errors": [{ "path": format!("/{field}"), "code": "channel_invalid", "message": en }] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(kind: ChannelType, url: &str, on_my_network: bool) -> NewChannel {
        NewChannel {
            kind,
            name: "phone".to_owned(),
            url: url.to_owned(),
            secret: None,
            privacy: None,
            delay: None,
            min_risk: None,
            on_my_network,
        }
    }

    #[test]
    fn addresses_follow_the_rules_for_outgoing_requests() {
        let made =
            |kind, url: &str, mine| Record::wanted(&new(kind, url, mine), "a").map(|(record, _)| record.url);
        for refused in [
            "ftp://a.example/x",
            "a.example",
            "http://a.example/hook",
            "https://me:key@a.example/hook",
            "https://127.0.0.1/hook",
            "https://[::1]/hook",
            "https://192.168.1.2/hook",
            "https://localhost/hook",
            "https://169.254.169.254/hook",
        ] {
            assert!(made(ChannelType::Webhook, refused, false).is_err(), "{refused}");
        }
        assert!(made(ChannelType::Webhook, "https://169.254.169.254/hook", true).is_err());
        assert!(made(ChannelType::Webhook, "http://192.168.1.2/hook", true).is_ok());
        assert!(made(ChannelType::Webhook, "https://a.example/hook", false).is_ok());
        assert!(made(ChannelType::Ntfy, "https://ntfy.example", false).is_err());
        assert!(made(ChannelType::Ntfy, "https://ntfy.example/my-topic", false).is_ok());
        assert!(made(ChannelType::Desktop, "", false).is_err());
    }

    #[test]
    fn an_address_that_is_a_key_is_kept_as_one() {
        let (record, secret) =
            Record::wanted(&new(ChannelType::Slack, "https://hooks.slack.com/services/T/B/K", false), "x-1")
                .unwrap();
        assert_eq!(record.url, "hooks.slack.com:443");
        assert_eq!(record.secret_name.as_deref(), Some("CHANNEL_X_1"));
        assert_eq!(secret.as_deref(), Some("https://hooks.slack.com/services/T/B/K"));
        assert!(!record.write().contains("services"));
    }
}
