//! Where a person is told that a question waits (inbox §5).

use crate::described::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::CardRisk;
use crate::words::words;

words! {
    /// How a channel is reached.
    ChannelType {
        /// Notifications of this computer's desktop.
        Desktop = "desktop",
        /// A topic of an ntfy server.
        Ntfy = "ntfy",
        /// JSON to an address, signed where a key is given.
        Webhook = "webhook",
        Slack = "slack",
        Discord = "discord",
        /// A bot of Telegram, in the chat of the person who pressed Start.
        Telegram = "telegram",
    }
}

words! {
    /// What may be answered from a channel.
    Answering {
        /// Nothing: it only tells.
        None = "none",
        /// A question may be rejected or put off.
        Reject = "reject",
        /// Also approved: a command of low or medium risk that was told whole.
        Direct = "direct",
    }
}

words! {
    /// How much a channel is told.
    Privacy {
        /// How many questions wait.
        Count = "count",
        /// Also agent, tool and risk.
        Tool = "tool",
        /// Also the title of the question and the folder.
        Title = "title",
        /// Also the command or the path, at most 300 characters.
        Full = "full",
    }
}

words! {
    /// How a channel fares.
    ChannelState {
        Ok = "ok",
        Paused = "paused",
        /// Three notices in a row did not get through.
        Failing = "failing",
        /// This computer has no desktop to tell.
        Unavailable = "unavailable",
        /// Nobody pressed Start in its chat yet.
        Waiting = "waiting",
    }
}

/// All channels, the oldest one first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ChannelList {
    pub items: Vec<ChannelView>,
}

/// A channel and how it fares.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelView {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: ChannelType,
    pub name: String,
    /// Where to; of an address that is a key only the host.
    pub url: String,
    /// A key is kept for it.
    pub has_secret: bool,
    pub privacy: Privacy,
    /// Seconds a question may take before this channel is told of it.
    pub delay: u32,
    /// Questions below this risk are not told.
    pub min_risk: CardRisk,
    /// Addresses of this computer and its network are meant.
    pub on_my_network: bool,
    /// What may be answered from there.
    pub answer: Answering,
    /// Who pressed Start, by the name they have there.
    pub person: Option<String>,
    /// How a person connects their chat, while that is waited for.
    pub connect: Option<ChannelConnect>,
    pub paused: bool,
    pub state: ChannelState,
    /// What went wrong last.
    pub problem: Option<String>,
    /// When it was told last.
    pub last_sent_at: Option<String>,
}

/// How a person connects their chat with a channel: the link, or the words to send to the bot. Good once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChannelConnect {
    /// The bot, by its name.
    pub bot: String,
    /// Opens the chat with a Start button.
    pub url: String,
    /// What Start sends; may be typed as well.
    pub text: String,
    /// Until when it is good.
    pub expires_at: String,
}

/// A channel to be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewChannel {
    #[serde(rename = "type")]
    pub kind: ChannelType,
    pub name: String,
    /// `https://…`; an ntfy address ends with the topic. Telegram needs none unless you have a Bot API server of your own.
    #[serde(default)]
    pub url: String,
    /// The token of a Telegram bot, the access token of ntfy, or the key that signs a webhook; kept as a secret.
    #[serde(default)]
    pub secret: Option<String>,
    /// How much it is told; `tool` when absent.
    #[serde(default)]
    pub privacy: Option<Privacy>,
    /// Seconds, 0 to 3600; 60 when absent.
    #[serde(default)]
    pub delay: Option<u32>,
    /// `low` when absent: every question is told.
    #[serde(default)]
    pub min_risk: Option<CardRisk>,
    #[serde(default)]
    pub on_my_network: bool,
    /// What may be answered from there; `none` when absent.
    #[serde(default)]
    pub answer: Option<Answering>,
}

/// What is changed about a channel; what is absent stays.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChannelPatch {
    #[serde(default)]
    pub paused: Option<bool>,
    #[serde(default)]
    pub privacy: Option<Privacy>,
    #[serde(default)]
    pub delay: Option<u32>,
    #[serde(default)]
    pub min_risk: Option<CardRisk>,
    #[serde(default)]
    pub answer: Option<Answering>,
}

/// Whether a person is at a page; then other channels keep silent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresenceOrder {
    /// A name the page gave itself.
    pub page: String,
    /// In view and used just now; false when it went out of sight.
    pub visible: bool,
}
