//! `chatos reach`.

use chatos_wire::channel::{Answering, ChannelType, Privacy};
use clap::{Args, Subcommand};

/// What `chatos reach` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Reach {
    /// List channels and whether they work
    List,
    /// Add a channel; its key, if it has one, is read from standard input
    Add(ReachAdd),
    /// Change how much a channel says and when, and what you can answer from there
    Change(ReachChange),
    /// Connect a Telegram channel to your chat: shows a link and waits until you press Start
    Connect {
        /// Channel ID or name
        channel: String,
    },
    /// Send a test
    Test {
        /// Channel ID or name
        channel: String,
    },
    /// Pause a channel: it sends nothing until you resume it
    Pause {
        /// Channel ID or name
        channel: String,
    },
    /// Resume a paused channel
    Resume {
        /// Channel ID or name
        channel: String,
    },
    /// Remove a channel and its key
    Remove {
        /// Channel ID or name
        channel: String,
    },
}

/// What `chatos reach add` is told.
#[derive(Debug, Args)]
pub(crate) struct ReachAdd {
    /// ntfy, telegram, webhook, slack or discord
    #[arg(value_name = "TYPE")]
    pub kind: ChannelType,
    /// Address; for ntfy with the topic, as in `https://ntfy.sh/my-topic`. Telegram needs none, unless you run a Bot API
    /// server of your own
    pub url: Option<String>,
    /// Name you will recognize it by
    #[arg(long)]
    pub name: Option<String>,
    /// Read its key from standard input: the token of a Telegram bot (always read), the access token of ntfy, or the key
    /// that signs a webhook
    #[arg(long)]
    pub key: bool,
    /// How much it says: count, tool, title or full
    #[arg(long, default_value = "tool")]
    pub privacy: Privacy,
    /// Only notify about what has waited longer than this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub delay: u32,
    /// The address is on this computer or its network
    #[arg(long)]
    pub on_my_network: bool,
    /// What you can answer from ntfy or Telegram: none, reject (also snooze) or direct (also approve)
    #[arg(long, default_value = "none")]
    pub answer: Answering,
}

/// What `chatos reach change` is told.
#[derive(Debug, Args)]
pub(crate) struct ReachChange {
    /// Channel ID or name
    pub channel: String,
    /// How much it says: count, tool, title or full
    #[arg(long)]
    pub privacy: Option<Privacy>,
    /// Only notify about what has waited longer than this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub delay: Option<u32>,
    /// What you can answer from there: none, reject (also snooze) or direct (also approve; needs `full`)
    #[arg(long)]
    pub answer: Option<Answering>,
}
