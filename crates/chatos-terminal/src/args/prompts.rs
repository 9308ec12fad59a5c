//! `chatos prompts`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `chatos prompts …`.
#[derive(Debug, Subcommand)]
pub enum Prompts {
    /// List what is waiting for you, oldest first
    List(PromptsList),
    /// Show a question as it would be asked
    Show {
        /// Question ID, or at least its first 4 characters
        id: String,
        /// Show the full text, including what the question shows only in part
        #[arg(long)]
        diff: bool,
    },
    /// Answer a question; without flags, it is asked in this terminal
    Answer(Box<PromptsAnswer>),
    /// Snooze a question: it leaves the inbox, whoever asked keeps waiting, and you are told when it is back
    Snooze {
        /// Question ID, or at least its first 4 characters
        id: String,
        /// How long, such as 15m, 1h or 2d; `tomorrow` (9:00), a time such as 2030-01-31T09:00:00Z, or `off`
        #[arg(value_name = "WHEN", default_value = "1h")]
        until: String,
    },
    /// Ask a question
    Request {
        /// JSON file with {"prompt":{…}} or the prompt itself; - reads stdin
        #[arg(long, value_name = "FILE")]
        file: PathBuf,
        /// Wait for the answer and print it
        #[arg(long)]
        wait: bool,
        /// Give up after this time, such as 60s, 5m or 2h
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        timeout: Option<std::time::Duration>,
    },
    /// Watch the inbox
    Watch {
        /// Ask each new question in this terminal
        #[arg(long)]
        answer: bool,
    },
    /// Move old answered questions out of the log
    Archive {
        /// Answered before this: a date, or days such as 30d
        #[arg(long, default_value = "30d", value_name = "WHEN")]
        before: String,
    },
    /// Check the log for problems
    Check,
}

/// `chatos prompts list`.
#[derive(Debug, Args)]
pub struct PromptsList {
    /// Open questions, results and history
    #[arg(long)]
    pub all: bool,
    /// Unread results
    #[arg(long, conflicts_with = "all")]
    pub results: bool,
    /// Snoozed questions
    #[arg(long, conflicts_with_all = ["all", "results", "history"])]
    pub snoozed: bool,
    /// Answered questions, newest first
    #[arg(long, conflicts_with_all = ["all", "results"])]
    pub history: bool,
    /// Only from this run
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Only from this source
    #[arg(long)]
    pub source: Option<String>,
    /// Only this kind: kv, choice, task_confirm, file_change_confirm, result
    #[arg(long)]
    pub kind: Option<String>,
    /// Only from this agent
    #[arg(long)]
    pub agent: Option<String>,
    /// Only in this folder: its path, or the last part of it
    #[arg(long, value_name = "DIR")]
    pub folder: Option<String>,
    /// Only from this other program
    #[arg(long)]
    pub client: Option<String>,
    /// Only this risk: low, medium, high
    #[arg(long)]
    pub risk: Option<String>,
    /// Only with this text in it
    #[arg(long, allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Maximum number of results
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub limit: u32,
}

/// `chatos prompts answer`.
#[derive(Debug, Args)]
pub struct PromptsAnswer {
    /// Question ID, or at least its first 4 characters
    #[arg(required_unless_present = "filter")]
    pub id: Option<String>,
    /// Answer every question that matches, such as 'project=shop kind=command'; shows them first
    #[arg(long = "where", value_name = "FILTER", conflicts_with_all = ["id", "decline"])]
    pub filter: Option<String>,
    /// With --where: digest of what you saw earlier (`--json` without it prints the questions and the digest)
    #[arg(long, value_name = "DIGEST", requires = "filter")]
    pub digest: Option<String>,
    /// Approve, with the values given
    #[arg(long, conflicts_with_all = ["cancel", "decline"])]
    pub ok: bool,
    /// Reject or cancel the question
    #[arg(long, conflicts_with = "decline")]
    pub cancel: bool,
    /// Decline an MCP server's question
    #[arg(long)]
    pub decline: bool,
    /// Reject it and stop the run that asks
    #[arg(long, requires = "cancel", conflicts_with = "filter")]
    pub stop: bool,
    /// Answer everything asked together with it
    #[arg(long)]
    pub together: bool,
    /// Of what is asked together, approve only this number, path or command, and reject the rest; repeatable
    #[arg(long, value_name = "ITEM", requires = "ok", allow_hyphen_values = true)]
    pub only: Vec<String>,
    /// Field value, as key=value; repeatable
    #[arg(long, value_name = "K=V", requires = "ok", allow_hyphen_values = true)]
    pub value: Vec<String>,
    /// Field value from a file, as key=path; repeatable
    #[arg(long, value_name = "K=PATH", requires = "ok")]
    pub value_file: Vec<String>,
    /// Secret field, typed hidden in the terminal or read from stdin; repeatable
    #[arg(long, value_name = "K", requires = "ok")]
    pub secret: Vec<String>,
    /// Option to choose; repeatable
    #[arg(long, value_name = "V", requires = "ok", allow_hyphen_values = true)]
    pub select: Vec<String>,
    /// Tasks as JSON; - reads stdin
    #[arg(long, value_name = "FILE", requires = "ok")]
    pub tasks_file: Option<PathBuf>,
    /// Note to whoever asked
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub remark: Option<String>,
    /// Digest of what you saw earlier (`show --json`)
    #[arg(long, value_name = "DIGEST")]
    pub shown: Option<String>,
    /// Run this command instead of the one it asks about
    #[arg(long, value_name = "COMMAND", requires = "ok", allow_hyphen_values = true)]
    pub command: Option<String>,
    /// Print the full text before approving; needed if the question shows only part of it
    #[arg(long, requires = "ok")]
    pub diff: bool,
    /// Approve even though some files can't be shown
    #[arg(long, requires = "ok")]
    pub without_seeing: bool,
}

pub fn parse_time(text: &str) -> Result<std::time::Duration, String> {
    let (number, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let number: u64 = number.parse().map_err(|_| "use a number with s, m or h, as in 60s".to_owned())?;
    let seconds = match unit {
        "s" => Some(number),
        "m" => number.checked_mul(60),
        "h" => number.checked_mul(3600),
        _ => None,
    };
    match seconds {
        // The limits of `timeoutMs`.
        Some(seconds @ 1..=2_147_483) => Ok(std::time::Duration::from_secs(seconds)),
        _ => Err("use 1s to 2147483s, or m and h".to_owned()),
    }
}
