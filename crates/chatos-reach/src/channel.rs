//! Somewhere a person is told: its record, and what makes a good one.

use chatos_net::{Addresses, Origin, refusal};
use chatos_tool::{ErrorCode, Fault, Text};
use chatos_wire::card::CardRisk;
use chatos_wire::channel::{Answering, ChannelType, NewChannel, Privacy};
use serde::{Deserialize, Serialize};

/// The channel of this computer's own desktop; it cannot be removed.
pub(crate) const DESKTOP: &str = "desktop";
/// Longest name, in characters.
const NAME_CHARS: usize = 60;
/// The longest a notice waits for an answer before it is sent, in seconds.
const MOST_DELAY: u32 = 3600;
/// Where bots of Telegram are spoken to, unless a person has a server of their own.
const TELEGRAM: &str = "https://api.telegram.org";

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
    /// What may be answered from there.
    #[serde(default = "nothing")]
    pub(crate) answer: Answering,
    /// Where the buttons of ntfy write to: a topic nobody could guess.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) reply_topic: String,
    /// The bot of Telegram, by its name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) bot: String,
    /// The chat in which somebody pressed Start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) chat: Option<Chat>,
}

/// A chat of Telegram, and the one person whose buttons count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chat {
    pub(crate) id: i64,
    pub(crate) user: i64,
    /// The name they have there.
    pub(crate) person: String,
}

fn nothing() -> Answering {
    Answering::None
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
            answer: new.answer.unwrap_or(Answering::None),
            reply_topic: String::new(),
            bot: String::new(),
            chat: None,
        };
        if record.kind == ChannelType::Telegram && record.url.is_empty() {
            TELEGRAM.clone_into(&mut record.url);
        }
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
        record.settle_answer()?;
        let mut secret = new.secret.clone().filter(|secret| !secret.is_empty());
        if record.kind == ChannelType::Telegram && !secret.as_deref().is_some_and(is_bot_token) {
            return Err(bad(
                "secret",
                "give the token of your bot, as @BotFather shows it: digits, a colon, letters",
                "请提供 @BotFather 给出的机器人令牌：数字、冒号、字母",
            ));
        }
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

    /// inbox §5.2: what may be answered from a channel of this kind, with what it is told. Makes the reply topic.
    pub(crate) fn settle_answer(&mut self) -> Result<(), Fault> {
        if self.answer == Answering::None {
            return Ok(());
        }
        if !matches!(self.kind, ChannelType::Ntfy | ChannelType::Telegram) {
            return Err(bad(
                "answer",
                "only ntfy and Telegram have buttons that answer",
                "只有 ntfy 和 Telegram 带有可以回答的按钮",
            ));
        }
        if self.answer == Answering::Direct {
            if self.is_shared_ntfy() {
                return Err(bad(
                    "answer",
                    "approving needs an ntfy server of your own: on ntfy.sh others could press the button",
                    "同意需要你自己的 ntfy 服务器：在 ntfy.sh 上，别人也可能按下按钮",
                ));
            }
            if self.privacy != Privacy::Full {
                return Err(bad(
                    "privacy",
                    "approving needs `full`: what you approve has to be on the screen",
                    "同意需要 `full`：所同意的内容必须显示在屏幕上",
                ));
            }
        }
        if self.kind == ChannelType::Ntfy && self.reply_topic.is_empty() {
            self.reply_topic = format!("chatos-{}", random()?.get(..40).unwrap_or_default());
        }
        Ok(())
    }

    /// The public ntfy server, which is not the person's own.
    fn is_shared_ntfy(&self) -> bool {
        let host = self.url.parse().ok().and_then(|uri| Origin::of(&uri)).map(|origin| origin.host);
        self.kind == ChannelType::Ntfy
            && host.is_none_or(|host| {
                let host = host.trim_end_matches('.');
                host == "ntfy.sh" || host.ends_with(".ntfy.sh")
            })
    }
}

/// 256 random bits as 64 characters.
pub(crate) fn random() -> Result<String, Fault> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        Fault::new(
            ErrorCode::Internal,
            Text::fixed("this computer gives no random bytes", "此计算机未提供随机数"),
        )
        .caused_by(&error)
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// It becomes part of an address, so it holds nothing that could lead elsewhere.
fn is_bot_token(text: &str) -> bool {
    let fits = |part: &str| part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    text.split_once(':').is_some_and(|(bot, key)| {
        (1..=20).contains(&bot.len())
            && bot.bytes().all(|b| b.is_ascii_digit())
            && (10..=100).contains(&key.len())
            && fits(key)
    })
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
            answer: None,
        }
    }

    #[test]
    fn only_where_it_is_your_own_and_told_whole_something_may_be_approved() {
        let may = |kind, url: &str, privacy, answer| {
            let secret = (kind == ChannelType::Telegram).then(|| "1234:abcdefghijklmnop".to_owned());
            let wanted =
                NewChannel { privacy: Some(privacy), answer: Some(answer), secret, ..new(kind, url, false) };
            Record::wanted(&wanted, "a").is_ok()
        };
        use Answering::{Direct, Reject};
        use Privacy::{Full, Title};
        assert!(may(ChannelType::Telegram, "", Full, Direct));
        assert!(!may(ChannelType::Telegram, "", Title, Direct));
        assert!(may(ChannelType::Telegram, "", Title, Reject));
        assert!(may(ChannelType::Ntfy, "https://ntfy.example/mine", Full, Direct));
        for shared in ["https://ntfy.sh/mine", "https://NTFY.sh./mine", "https://eu.ntfy.sh/mine"] {
            assert!(!may(ChannelType::Ntfy, shared, Full, Direct), "{shared}");
            assert!(may(ChannelType::Ntfy, shared, Full, Reject), "{shared}");
        }
        for kind in [ChannelType::Webhook, ChannelType::Slack, ChannelType::Discord] {
            assert!(!may(kind, "https://a.example/hook", Full, Reject), "{kind}");
        }
    }

    #[test]
    fn a_bot_token_leads_nowhere_else() {
        for bad in
            ["", "x", "12:short", "12:abcdefghijkl/../x", "ab:abcdefghijklmnop", "12:abcdefghijkl mnop"]
        {
            assert!(!is_bot_token(bad), "{bad}");
        }
        assert!(is_bot_token("110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"));
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
