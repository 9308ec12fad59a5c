//! `chatos reach`.

use chatos_wire::channel::{ChannelType, Privacy};
use clap::{Args, Subcommand};

/// What `chatos reach` can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Reach {
    /// List channels and how they fare
    List,
    /// Add a channel; its key, if it has one, is read from standard input
    Add(ReachAdd),
    /// Send a test
    Test {
        /// Channel ID or name
        channel: String,
    },
    /// Pause a channel: it is told nothing until it is resumed
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
    /// ntfy, webhook, slack or discord
    #[arg(value_name = "TYPE")]
    pub kind: ChannelType,
    /// Address; of ntfy with the topic, as in `https://ntfy.sh/my-topic`
    pub url: String,
    /// Name you know it by
    #[arg(long)]
    pub name: Option<String>,
    /// Read its key from standard input: the access token of ntfy, or the key that signs a webhook
    #[arg(long)]
    pub key: bool,
    /// How much it is told: count, tool, title or full
    #[arg(long, default_value = "tool")]
    pub privacy: Privacy,
    /// Tell it only of what waits longer than this, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub delay: u32,
    /// The address is on this computer or its network
    #[arg(long)]
    pub on_my_network: bool,
}
